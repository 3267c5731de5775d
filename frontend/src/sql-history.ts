// Queries that were run, the newest first, kept by the browser.

const HISTORY = "icedive-sql", MOST = 30, LONGEST = 20_000;

export function readHistory(): string[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(HISTORY) ?? "[]");
    return Array.isArray(kept) ? kept.filter((one): one is string => typeof one === "string" && one.length <= LONGEST).slice(0, MOST) : [];
  } catch {
    return [];
  }
}

// The history with a query in front; each query is there once.
export function withQuery(before: readonly string[], query: string): string[] {
  return [query, ...before.filter((one) => one !== query)].slice(0, MOST);
}

export function keepHistory(queries: readonly string[]): void {
  try {
    localStorage.setItem(HISTORY, JSON.stringify(queries));
  } catch {
    // a page that may not keep anything, keeps nothing
  }
}
