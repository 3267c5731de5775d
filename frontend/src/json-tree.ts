// JSON as a tree whose lines unfold: what is compared, found and shown. No page is needed for it.

import type { Json } from "./protocol";

export type Change = "" | "added" | "removed" | "changed";

export interface JsonNode {
  // What leads to it, as a page tells nodes apart.
  path: string;
  name: string;
  kind: "object" | "list" | "value";
  // Of a value: its JSON text, now and in the older version.
  text: string;
  before: string;
  change: Change;
  children: JsonNode[];
}

export interface JsonRow {
  node: JsonNode;
  level: number;
  isOpen: boolean;
  position: number;
  size: number;
}

// By these fields items of lists are the same in two versions.
const KEYS = ["snapshot-id", "schema-id", "spec-id", "order-id", "id", "field-id", "metadata-file", "statistics-path"];

// The tree of a value; with an older version beside it, of both.
export function treeOf(value: Json, older: Json | null = null, name = "", path = ""): JsonNode {
  return older === null ? nodeOf(value, value, name, path) : nodeOf(value, older, name, path);
}

function nodeOf(value: Json | undefined, older: Json | undefined, name: string, path: string): JsonNode {
  const shown = value ?? older ?? "", kind = typeof shown === "string" ? "value" : Array.isArray(shown) ? "list" : "object";
  const other = kindOf(older) === kind ? older : undefined; // a value that became an object was replaced
  const children = kind === "value" ? [] : pairs(kindOf(value) === kind ? value : undefined, other)
    .map(([key, now, was]) => nodeOf(now, was, key, `${path}/${key.replaceAll("/", "~1")}`));
  const [text, before] = [typeof value === "string" ? value : "", typeof older === "string" ? older : ""];
  let change: Change = value === undefined ? "removed" : older === undefined ? "added" : "";
  if (!change && (text !== before || kindOf(older) !== kind || children.some((one) => one.change))) change = "changed";
  return { path, name, kind, text, before, change, children };
}

function kindOf(value: Json | undefined): string {
  return value === undefined ? "" : typeof value === "string" ? "value" : Array.isArray(value) ? "list" : "object";
}

// The names of both, with the value of each: items of lists go by their ids where they have one, else by their place.
function pairs(value: Json | undefined, older: Json | undefined): [string, Json | undefined, Json | undefined][] {
  const now = named(value), was = named(older);
  return [...new Set([...now.keys(), ...was.keys()])].map((key) => [key, now.get(key), was.get(key)]);
}

function named(value: Json | undefined): Map<string, Json> {
  if (value === undefined || typeof value === "string") return new Map();
  if (!Array.isArray(value)) return new Map(Object.entries(value));
  const key = KEYS.find((one) => value.every((item) => typeof item === "object" && !Array.isArray(item) && typeof item[one] === "string"));
  const names = value.map((item, at) => (key ? `${key} ${String((item as Record<string, Json>)[key])}` : String(at)));
  return new Set(names).size === names.length ? new Map(value.map((item, at) => [names[at] ?? "", item])) : new Map(value.map((item, at) => [String(at), item]));
}

// Whether a node's own name or value has the text.
export function matches({ name, text, before }: JsonNode, wanted: string): boolean {
  return `${name}\n${text}\n${before}`.toLowerCase().includes(wanted);
}

// The lines to show: what is open; or, of a search, what has the text and what leads there, unfolded unless it was folded
// (`open` has then what was pressed). Only what has changed, if that is wanted.
export function rowsOf(root: JsonNode, open: ReadonlySet<string>, search = "", onlyChanges = false): { rows: JsonRow[]; found: number } {
  const wanted = search.trim().toLowerCase(), rows: JsonRow[] = [];
  let found = 0;
  const holds = new Map<JsonNode, boolean>();
  const look = (node: JsonNode): boolean => {
    const own = matches(node, wanted);
    if (own) found += 1;
    const below = node.children.map(look).includes(true);
    holds.set(node, own || below);
    return own || below;
  };
  if (wanted) for (const child of root.children) look(child);
  const add = (siblings: JsonNode[], level: number, isWithin = false): void => {
    const kept = siblings.filter((one) => (!onlyChanges || one.change) && (!wanted || isWithin || holds.get(one)));
    kept.forEach((node, at) => {
      const hasFound = Boolean(wanted) && node.children.some((one) => holds.get(one));
      const isOpen = node.kind !== "value" && (open.has(node.path) !== hasFound);
      rows.push({ node, level, isOpen, position: at + 1, size: kept.length });
      if (isOpen) add(node.children, level + 1, !hasFound);
    });
  };
  add(root.children, 1);
  return { rows, found };
}

// What is open at first: the way to what has changed, or the short parts of the first level.
export function firstOpen(root: JsonNode): Set<string> {
  const open = new Set<string>(), compared = root.change !== "";
  const visit = (node: JsonNode): void => {
    for (const child of node.children) {
      if (child.kind === "value") continue;
      const opens = compared ? child.change === "changed" : node === root && child.children.length <= 8;
      if (opens) open.add(child.path);
      if (opens && compared) visit(child);
    }
  };
  visit(root);
  return open;
}

// What a folded object or list has: "3 items", or its first values.
export function brief(node: JsonNode): string {
  const many = node.children.length, noun = node.kind === "list" ? "item" : "field";
  const values = node.children.filter((one) => one.kind === "value").slice(0, 3).map((one) => `${one.name}: ${one.text || one.before}`).join(", ");
  const count = `${many.toLocaleString("en")} ${noun}${many === 1 ? "" : "s"}`;
  return values && node.kind === "object" ? `${count} · ${values.length > 90 ? `${values.slice(0, 89)}…` : values}` : count;
}
