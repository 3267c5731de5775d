// Texts that are made in the browser.

// The end of a path, which tells it from others; any other text as it is.
export function shortPath(path: string): string {
  return /[/\\]/.test(path) ? path.slice(path.lastIndexOf("/") + 1) || path : path;
}

// A question's words as a title: "inspect files" is "Files".
export function titleOf(words: string): string {
  const last = words.split(" ").at(-1) ?? words;
  return last.slice(0, 1).toUpperCase() + last.slice(1).replaceAll("-", " ");
}

// What is counted, of one in the singular: "1 data file".
export function counted(what: string, value: string): string {
  return value.replace(/^\D+/, "") === "1" ? what.replace(/s$/, "") : what;
}

// The parts of a table's name, of which those with dots are in backticks.
export function partsOf(name: string): string[] {
  return [...name.matchAll(/(?:^|\.)(`(?:[^`]|``)*`|[^.]*)/g)].map(([, part = ""]) => (/^`.*`$/.test(part) ? part.slice(1, -1).replaceAll("``", "`") : part));
}
