// Rows of long lists: which pages are needed, where each row stands, and how they are copied. No page is needed for it.

export const ROW_HEIGHT = 26, PAGE = 200, AROUND = 20;
// Browsers draw no element that is much higher: the rows of a longer list move faster than the scroll bar.
export const MOST_PIXELS = 10_000_000;

// The pages of rows that a view needs, by their number.
export function pagesFor(first: number, last: number): number[] {
  const from = Math.floor(first / PAGE), to = Math.floor(Math.max(first, last) / PAGE);
  return Array.from({ length: to - from + 1 }, (_, at) => from + at);
}

// How much further the rows have moved than the scroll bar, where they are higher together than MOST_PIXELS.
export function shiftAt(top: number, rows: number, room: number): number {
  const height = rows * ROW_HEIGHT;
  if (height <= MOST_PIXELS) return 0;
  return top * ((height - room) / (MOST_PIXELS - room) - 1);
}

// Rows as text that spreadsheets take: tabs and line ends within a value become spaces.
export function tsv(columns: readonly string[], rows: readonly (readonly (string | null)[])[]): string {
  const cell = (value: string | null) => (value ?? "").replace(/[\t\r\n]+/g, " ");
  return [columns, ...rows].map((row) => row.map(cell).join("\t")).join("\n");
}
