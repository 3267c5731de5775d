// Copies of teaching tables, by their names.

// The teaching table that a table is, or was copied from; empty if neither.
export function teachingNameOf(title: string): string {
  return /^sandbox\.(?:demo\.(.+)|lab\.(.+)_\d+)$/.exec(title)?.slice(1).find(Boolean) ?? "";
}

// Whether a table is a copy of a teaching table.
export function isCopy(title: string): boolean {
  return /^sandbox\.lab\..+_\d+$/.test(title) && teachingNameOf(title) !== "";
}
