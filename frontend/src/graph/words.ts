// Words and choices of words: what needs no page.

import type { Item } from "./geometry";
import type { Ink, Picture, PictureEdge, Section, TimelineData, Value, Vocabulary } from "./types";

/** What a map of ours has under a stranger's word; nothing that every object has. */
export function own<T>(map: Record<string, T>, key: string): T | undefined {
  return Object.hasOwn(map, key) ? map[key] : undefined;
}

const TAIL = 6, CLAUSE = 16;

/**
 * A text in three parts: where there is no room the third is left out first, then the first is cut. Both ends of a name
 * tell it apart, but its extension does not. A range has two ends, of a time the clock says most. A sentence is read from
 * its beginning, and its last short clause stays.
 */
export function ends(text: string): [start: string, end: string, extension: string] {
  const range = text.indexOf(" … "), time = /^(\d{4}-\d\d-\d\d)( \d\d:\d\d:\d\d)( UTC)$/.exec(text);
  if (time) return [time[1] ?? "", time[2] ?? "", time[3] ?? ""];
  if (range > 0) return [text.slice(0, range), text.slice(range), ""];
  if (/ .* /.test(text)) {
    const clause = text.lastIndexOf(", ");
    return clause > 0 && text.length - clause <= CLAUSE ? [text.slice(0, clause), text.slice(clause), ""] : [text, "", ""];
  }
  const extension = /(\.[a-z]{2,10})?$/.exec(text)?.[0] ?? "", name = text.slice(0, text.length - extension.length);
  const at = Math.max(Math.ceil(name.length / 2), name.length - TAIL);
  return [name.slice(0, at), name.slice(at), extension];
}

/** The colour of a thing by day and by night, as CSS. */
export function ink({ color, night }: Ink): string {
  return night && night !== color ? `light-dark(${color}, ${night})` : color;
}

export function looks(...entries: ({ look: string } | undefined)[]): string[] {
  return entries.flatMap((entry) => (entry?.look ? [`look-${entry.look}`] : []));
}

/** The names of some things, and how many more there are. */
export function someOf(names: string[], most = 5): string {
  const more = names.length - most;
  return names.slice(0, most).join(", ") + (more > 0 ? ` and ${more} more` : "");
}

export function matches(item: Item, text: string): boolean {
  if (!text || !item.node) return false;
  const { node } = item, chips = node.card?.chips?.map((chip) => chip.join("=")).join(" ") ?? "";
  return `${item.label} ${item.title} ${chips}`.toLowerCase().includes(text.toLowerCase());
}

export interface Found {
  count: number;
  /** Which of them is in view, from 1 on; 0 where there is none. */
  at: number;
}

/** What was found of what is drawn; so many manifests with more of it are `folded`. */
export function foundWords({ count, at }: Found, folded = 0): string {
  const more = folded ? `, and ${folded.toLocaleString("en")} more manifest${folded === 1 ? " has" : "s have"} a match` : "";
  return count ? `${at} of ${count.toLocaleString("en")}${more}` : `Nothing found${more}`;
}

export interface LegendRow {
  text: string;
  ink: string;
  glyph?: string;
  sign?: string;
  edge?: "applies" | "spared" | "dashed";
}

/** Edges that need words: all others are containment. */
const DELETES: Record<string, LegendRow["edge"]> = {
  "deletes from": "applies", applies: "applies", "does not apply": "spared", "rewritten into": "dashed",
};

// The spec writes statuses in capital letters; cards do not.
function words(title: string): string {
  return title === title.toUpperCase() ? title.toLowerCase() : title;
}

/** What the legend says of a picture: its kinds, operations, statuses, marks and edges. */
export function legendRows(vocabulary: Vocabulary, picture: Picture): LegendRow[] {
  const { kinds, statuses, marks, operations, operation_marks: signs } = vocabulary;
  const drawn = new Set(picture.nodes.map((node) => node.kind)), lines = new Set(picture.edges.map((edge) => edge.kind));
  const dead = picture.nodes.some((node) => node.card?.dead);
  const met = new Set(picture.nodes.filter((node) => !node.card?.dead).map((node) => node.status));
  const marked = new Set(picture.nodes.map((node) => node.mark));
  const done = new Set<string>(picture.nodes.filter((node) => node.kind === "snapshot").map((node) => node.card?.operation ?? ""));
  return [
    ...Object.entries(kinds).filter(([name]) => drawn.has(name) && (name !== "snapshot" || done.has("")))
      .map(([, kind]) => ({ text: kind.title, glyph: kind.glyph, ink: ink(kind) })),
    ...Object.entries(operations).filter(([name]) => done.has(name))
      .map(([name, color]) => ({ text: `${name} (snapshot)`, sign: signs[name] ?? "", ink: color })),
    ...Object.entries(statuses).filter(([name]) => met.has(name))
      .map(([, status]) => ({ text: words(status.title), sign: status.sign, ink: ink(status) })),
    ...(dead ? [{ text: "delete that applies to no file", sign: "∅", ink: "var(--muted)" }] : []),
    ...Object.entries(marks).filter(([name]) => marked.has(name))
      .map(([name, mark]) => ({ text: `${name}: ${mark.title}`, sign: name.slice(0, 1).toUpperCase(), ink: ink(mark) })),
    ...Object.entries(DELETES).filter(([name]) => lines.has(name))
      .map(([name, edge]): LegendRow => ({ text: name, ink: own(vocabulary.edges, name)?.color || "var(--muted)", ...(edge && { edge }) })),
  ];
}

/** What leads to a node and what it leads to, in sentences. */
export function relations(id: string, edges: PictureEdge[], label: (id: string) => string): string[] {
  const told = (kinds: string[], incoming: boolean): string[] => edges
    .filter((edge) => kinds.includes(edge.kind) && (incoming ? edge.t : edge.s) === id)
    .map((edge) => label(incoming ? edge.s : edge.t) + (edge.why ? ` (${edge.why})` : ""));
  const sentences: [string, string[]][] = [
    ["held by", told(["contains", "points to"], true)],
    ["rows hidden by", told(["applies", "deletes from"], true)],
    ["not hidden by", told(["does not apply"], true)],
    ["applies to", told(["applies", "deletes from"], false)],
    ["does not apply to", told(["does not apply"], false)],
    ["parent", told(["parent"], false)],
    ["rewritten into", told(["rewritten into"], false)],
  ];
  return sentences.filter(([, names]) => names.length).map(([words, names]) => `${words} ${someOf(names)}`);
}

export interface SnapshotWords {
  refs: number;
  number: number;
  title: string;
  label: string;
  where: string;
}

/** What the timeline says of its i-th snapshot. */
export function snapshotWords(timeline: TimelineData, i: number): SnapshotWords {
  const refs = timeline.refs[i] ?? [], before = timeline.before ?? 0, number = before + i + 1;
  const operation = timeline.operations[i] ?? "", about = [operation, timeline.times[i] ?? ""];
  const refNames = refs.length ? [refs.join(", ")] : [];
  return {
    refs: refs.length,
    number,
    title: [`snapshot-${number} ${timeline.ids[i] ?? ""}`, about.join(" · "), ...refNames].join("\n"),
    label: `snapshot-${number}, ${operation}`,
    where: [`snapshot-${number} of ${before + timeline.ids.length}`, ...about, ...refNames].join(" · "),
  };
}

const LETTER = 6.2, CHIP = 14;

/**
 * How many chips of values fit on a card in so many pixels beside other chips, and whether with their names. The first
 * is always there: it is cut where it is too long.
 */
export function chipsThatFit(values: readonly (readonly [string, string])[], room: number, beside: readonly string[]): { count: number; named: boolean } {
  const wide = (text: string): number => text.length * LETTER + CHIP, sum = (all: number[]): number => all.reduce((a, b) => a + b, 0);
  const free = room - sum(beside.map(wide));
  if (sum(values.map(([name, value]) => wide(`${name} ${value}`))) <= free) return { count: values.length, named: true };
  if (sum(values.map(([, value]) => wide(value))) <= free) return { count: values.length, named: false };
  let count = 0, left = free - wide(`+${values.length}`);
  for (const [, value] of values) {
    left -= wide(value);
    if (left < 0) break;
    count += 1;
  }
  return { count: Math.min(values.length, Math.max(1, count)), named: false };
}

/** How wide a chip is that has the word of its operation. */
export const WIDE_CHIP = 118;

/** How wide a chip is: with the word of its operation, where there is room for all of them; else as wide as numbers. */
export function chipWidth(room: number, count: number, last = count): number {
  return count * WIDE_CHIP <= room ? WIDE_CHIP : 35 + 8 * String(last).length;
}

/** The chips in sight, and two more at either end: [first, last). */
export function chipsInSight(left: number, room: number, count: number, width: number): [number, number] {
  return [Math.max(0, Math.floor(left / width) - 2), Math.min(count, Math.ceil((left + room) / width) + 2)];
}

/** Whether the last column says why a row is as it is. */
export function explains(section: Section): boolean {
  return section.columns?.at(-1) === "why";
}

/** Whether each row has its first value, a long name, on a line of its own: the values beside it need the room. */
export function namesRows(section: Section): boolean {
  return explains(section) || (section.columns?.[0] === "file" && section.columns.length > 4);
}

/**
 * The rows of a table by their numbers. Of a comparison (see `explains`) those whose values differ come first, and those
 * without any value are told apart.
 */
export function rowsThatTell(section: Section): { told: number[]; empty: number[] } {
  const rows = section.rows ?? [], numbers = rows.map((_, i) => i);
  if (!explains(section)) return { told: numbers, empty: [] };
  const values = (i: number): Value[] => (rows[i] ?? []).slice(1, -1);
  const differs = (i: number): number => (new Set(values(i).map(String)).size > 1 ? 0 : 1);
  const empty = numbers.filter((i) => values(i).every((value) => value === null));
  const told = numbers.filter((i) => !empty.includes(i)).sort((a, b) => differs(a) - differs(b) || a - b);
  return { told, empty };
}
