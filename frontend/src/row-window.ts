// Rows of long lists: which pages are needed, where each row stands, and how they are copied. No page is needed for it.

import { columnText } from "./completion";

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

// How wide a column is, in pixels, for what its first rows have: from its longest value, within bounds.
export function widthFor(name: string, values: readonly (string | null)[]): number {
  const longest = values.reduce((most, value) => Math.max(most, value === null ? 4 : value.length), 0);
  return Math.round(Math.max(56, Math.min(340, Math.max(name.length * 8.2 + 34, longest * 8.1 + 24))));
}

export interface CopiedColumn {
  name: string;
  isNumber: boolean;
}

// Rows as JSON: objects, with numbers that JavaScript has exactly as numbers.
export function jsonOf(columns: readonly CopiedColumn[], rows: readonly (readonly (string | null)[])[]): string {
  const value = (text: string | null, isNumber: boolean): unknown => {
    const number = Number(text);
    return text !== null && text !== "" && isNumber && (Number.isSafeInteger(number) || /[.e]/i.test(text)) ? number : text;
  };
  return JSON.stringify(rows.map((row) => Object.fromEntries(columns.map(({ name, isNumber }, at) => [name, value(row[at] ?? null, isNumber)]))), null, 2);
}

// The values of a column as a condition: each once, nulls too.
export function inList({ name, isNumber }: CopiedColumn, values: readonly (string | null)[]): string {
  const column = columnText(name), texts = new Set(values.filter((one): one is string => one !== null));
  const listed = [...texts].map((one) => (isNumber ? one : `'${one.replaceAll("'", "''")}'`)).join(", "), hasNull = values.includes(null);
  if (!texts.size) return `${column} IS NULL`;
  return hasNull ? `(${column} IN (${listed}) OR ${column} IS NULL)` : `${column} IN (${listed})`;
}
