// What the page knows: where it is, what the server told, and the answers that are shown.

import { batch, computed, effect, signal } from "@preact/signals";
import type { Connection, GraphState, Header, Hello, Link, Progress } from "./protocol";
import { RequestError } from "./protocol";
import { MODES } from "./modes";
import { isStep, NOWHERE, parseArguments, type Place } from "./place";

export const link = signal<Link>("connecting");
export const hello = signal<Hello | null>(null);
export const place = signal<Place>(NOWHERE);
export const header = signal<Header | null>(null);
export const graph = signal<GraphState | null>(null);
export const graphProgress = signal<Progress | null>(null);
export const isOpening = signal(false);
export const problem = signal("");
// What the server last refused, and the texts that were entered for it: their editors show it where it stands.
export const refusal = signal<{ texts: string[]; message: string; position?: number | undefined } | null>(null);
// What answers lack, since files of the table could not be read.
export const incomplete = signal("");
export const isInspectorOpen = signal(false);
export const isCatalogOpen = signal(false);
export const isPaletteOpen = signal(false);
export const isHelpOpen = signal(false);
// Whether the table is looked at again and again, for new commits.
export const isFollowed = signal(false);

// The graph of a mode; modes without one show an answer alone.
export const GRAPH_OF: Record<string, string> = {
  "": "table", plan: "plan", compare: "diff", deletes: "deletes", findings: "findings", rows: "table",
};
const GRAPH_IN_LAB: Record<string, string> = { "": "lab", statement: "table", conflict: "conflict" };

// The graph of a place; empty where it has none.
export function graphOf({ mode, tab }: Place): string {
  return (mode === "lab" ? GRAPH_IN_LAB[tab] : GRAPH_OF[mode]) ?? "";
}

export const graphMode = computed(() => graphOf(place.value));
// Whether the graph has nodes of metadata files and manifest lists: the texts of teaching tables are about them.
export const hasAllLevels = computed(() => (place.value.levels ? place.value.levels === "all" : Boolean(header.value?.teaches)));
export const question = (name: string) => hello.value?.questions.find((one) => one.name === name);

// What is around the app: a page of its own, or a page of somebody else, in which it is an element.
export interface Surroundings {
  isPage: boolean;
  // What fills the screen when a person presents.
  frame: Element;
  // Where keys are heard.
  keys: EventTarget;
  // Whether the wheel is for the graph, and not for the page around it.
  wheel(): boolean;
}
export let surroundings: Surroundings = {
  isPage: true, frame: globalThis.document?.documentElement, keys: globalThis.document, wheel: () => true,
};

let connection: Connection;
let remember: (place: Place, step: boolean) => void = () => {};

// Connect the store with what carries requests, with what keeps the place (the URL, or nothing), and what is around.
export function start(with_: Connection, keep: (place: Place, step: boolean) => void, around = surroundings): void {
  connection = with_;
  remember = keep;
  surroundings = around;
}

export function server(): Connection {
  return connection;
}

// Go to another place; what is not named stays. A table that is not open is opened.
export function go(change: Partial<Place>): void {
  const from = place.value;
  const isOther = (["list", "mode", "question"] as const).some((name) => change[name] !== undefined && change[name] !== from[name]);
  const same = isOther ? { ...from, match: "", sort: "" } : from; // other rows have an order of their own
  const to = change.table !== undefined && change.table !== from.table ? { ...NOWHERE, ...change } : { ...same, ...change };
  if (JSON.stringify(from) === JSON.stringify(to)) return;
  remember(to, isStep(from, to));
  arrive(to);
}

// Be at a place, which Back, Forward or a link led to.
export function arrive(given: Place): void {
  const from = place.value, isKnown = MODES.some(({ id }) => id === given.mode);
  const to = isKnown ? given : { ...given, mode: "", tab: "" };
  batch(() => {
    place.value = to;
    problem.value = isKnown ? "" : `There is no mode ${given.mode}. This is the graph.`;
    if (graphOf(from) !== graphOf(to) && (from.mode === "lab" || to.mode === "lab")) graph.value = null; // another table's
  });
  if (isOpening.value && to.table === from.table && to.snapshot === from.snapshot) return; // what it is then drawn as
  if (to.table && (to.table !== from.table || header.value === null)) void open();
  else if (to.table) {
    const isOther = graphOf(from) !== graphOf(to) || differs(from, to, ["snapshot", "before", "filter", "mode", "levels"]);
    if (isOther || (graphOf(to) === "conflict" && from.arguments !== to.arguments)) void draw();
    if (from.snapshot !== to.snapshot) void readFacts();
  }
}

// Read the facts of the table as of the snapshot in view.
async function readFacts(): Promise<void> {
  const { table, snapshot } = place.value;
  try {
    const told = await server().request<Header>("facts", { table, snapshot }, "facts");
    if (place.value.table === table) header.value = told;
  } catch (error) {
    fail(error);
  }
}

// What could not be read counts in the header, too.
effect(() => {
  if (incomplete.value && header.peek() && place.peek().table) void readFacts();
});

function differs(from: Place, to: Place, names: (keyof Place)[]): boolean {
  return names.some((name) => from[name] !== to[name]);
}

let openings = 0;

export async function open(): Promise<void> {
  const { table, snapshot } = place.value, opening = (openings += 1);
  batch(() => {
    isOpening.value = true;
    graph.value = null;
    header.value = null;
    incomplete.value = "";
  });
  try {
    const told = await server().request<Header>("open", { table, snapshot, moves: moves.value }, "open", (now) => (graphProgress.value = now));
    batch(() => {
      header.value = told;
      isOpening.value = false;
      graphProgress.value = null;
    });
    noteTable(table);
    await draw();
  } catch (error) {
    if (opening !== openings) return; // a newer one has taken its place
    fail(error);
    batch(() => {
      isOpening.value = false;
      graphProgress.value = null;
    });
  }
}

// Give up opening the table, or drawing its graph.
export function stop(): void {
  for (const channel of ["open", "graph"]) server().cancelChannel(channel);
}

// The connection is now connecting, open or lost. Once it is back, the table is looked at again.
let isLost = false;

export function connectionIs(now: Link): void {
  link.value = now;
  if (now === "lost") isLost = true;
  if (now !== "open" || !isLost) return;
  isLost = false;
  const { table } = place.value, names = [...ownCredentials.value], needsThem = isOwn(table);
  ownCredentials.value = new Set();
  if (names.length) problem.value = `With the connection, the server forgot the credentials of ${names.join(", ")}: give them again.`;
  if (table && !needsThem) void renew();
}

// Look at the table as it is now; what is shown stays until that is known.
export async function renew(): Promise<void> {
  if (isOpening.value) return; // its request is sent again with the others
  const { table, snapshot } = place.value;
  try {
    header.value = await server().request<Header>("open", { table, snapshot, moves: moves.value }, "open");
    await draw();
  } catch (error) {
    fail(error);
  }
}

// What names a graph to the server: that of a mode, at this place.
export function graphFields(mode: string): Record<string, unknown> {
  const { table, snapshot, before, filter, arguments: given } = place.value;
  if (mode === "lab") return { table: "", mode };
  return { table, mode, snapshot, before, filter, ...(mode === "conflict" ? { arguments: parseArguments(given) } : {}) };
}

// Draw the graph of the mode, or carry out an action on it.
export async function draw(action?: Record<string, unknown>): Promise<void> {
  const { table, filter, node, arguments: given } = place.value, mode = graphMode.value;
  if (!mode || (!table && mode !== "lab")) return;
  if ((mode === "plan" && !filter) || (mode === "conflict" && !given)) {
    graph.value = null;
    return;
  }
  const fields = { ...graphFields(mode), levels: hasAllLevels.value, ...(action ? { action } : {}) };
  try {
    const drawn = await server().request<GraphState>("graph", fields, "graph", (now) => (graphProgress.value = now));
    refusal.value = null;
    incomplete.value = drawn.lacks ?? "";
    if (!drawn.same) {
      batch(() => {
        graph.value = drawn;
        if (drawn.message) problem.value = drawn.message;
        if (drawn.details) isInspectorOpen.value = true;
      });
      if (drawn.snapshot && ["snapshot", "focus"].includes(String(action?.["type"]))) settle(drawn);
      if (mode === "table" && drawn.asked.levels !== undefined && drawn.asked.levels !== hasAllLevels.value) {
        place.value = { ...place.value, levels: drawn.asked.levels ? "all" : "few" };
        remember(place.value, false);
      }
      if (!action && node && !drawn.selected.includes(node)) await draw({ type: "select", ids: [node] });
      if (action?.["type"] === "select" && node && !drawn.selected.includes(node)) problem.value = `Nothing in this graph is named ${node}.`;
    }
  } catch (error) {
    refuse(error, [filter]);
    if (mode !== "plan" || refusal.value?.position === undefined) fail(error); // else the answer says it, too
  } finally {
    graphProgress.value = null;
  }
}

// Look whether there is a newer state of the table; where there is, show it, and its facts.
export async function look(): Promise<void> {
  const before = graph.value, { table } = place.value;
  if (!before || graphMode.value !== "table" || graphProgress.value) return;
  try {
    const fields = { ...graphFields("table"), levels: hasAllLevels.value, action: { type: "look" } };
    const drawn = await server().request<GraphState>("graph", fields, "look");
    if (drawn.same || place.value.table !== table) return;
    graph.value = drawn;
    await readFacts();
  } catch (error) {
    fail(error);
  }
}

// The tree went to another snapshot: so does the URL.
function settle(drawn: GraphState): void {
  const current = header.value?.current === drawn.snapshot ? "" : drawn.snapshot;
  const to = { ...place.value, snapshot: current };
  const isOther = to.snapshot !== place.value.snapshot;
  remember(to, isStep(place.value, to));
  place.value = to;
  if (isOther) void readFacts();
}

// Keep what is wrong with texts that were entered.
export function refuse(error: unknown, texts: unknown[]): void {
  if (!(error instanceof RequestError) || error.kind === "cancelled") return;
  const entered = texts.flat().filter((one): one is string => typeof one === "string" && one !== "");
  if (entered.length) refusal.value = { texts: entered, message: error.message, position: error.position };
}

export function fail(error: unknown): void {
  if (error instanceof RequestError && error.kind === "cancelled") return;
  problem.value = error instanceof Error ? error.message : String(error);
}

// Pairs OLD=NEW: what the metadata places below OLD is read below NEW. They hold for tables that are opened from now on.
export const moves = signal<string[]>([]);

// Where answers are saved from; empty where the host has no such place.
export const downloads = signal("");

// Catalogs for which this page gave credentials. The server keeps those for the connection alone.
export const ownCredentials = signal<ReadonlySet<string>>(new Set());

const isOwn = (table: string): boolean => [...ownCredentials.value].some((name) => table.startsWith(`${name}.`));

// Whether answers about a table or catalog can be saved: a link to a file carries no credentials of this page.
export function isSaved({ table = "", catalog = "" }: { table?: string; catalog?: string }): boolean {
  return Boolean(downloads.value) && !isOwn(table) && !ownCredentials.value.has(catalog);
}

// The address of a file with the answer to a question.
export function fileOf(one: { question: string; table?: string; catalog?: string; arguments?: Record<string, unknown> }, format: string, block = 0): string {
  const given = new URLSearchParams({ question: one.question, format, arguments: JSON.stringify(one.arguments ?? {}) });
  if (one.table) given.set("table", one.table);
  if (block) given.set("block", String(block));
  if (one.catalog) given.set("catalog", one.catalog);
  return `${downloads.value}?${given}`;
}

// ---- tables that were open ----------------------------------------------------------------------------------------
const RECENT = "icedive-recent", PINNED = "icedive-pinned", MOST = 8, MOST_PINNED = 50;
export const recent = signal<string[]>(readNames(RECENT));
export const pinned = signal<string[]>(readNames(PINNED));

function readNames(key: string): string[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(key) ?? "[]");
    return Array.isArray(kept) ? kept.filter((one): one is string => typeof one === "string").slice(0, MOST_PINNED) : [];
  } catch {
    return [];
  }
}

function keepNames(key: string, names: string[]): void {
  try {
    localStorage.setItem(key, JSON.stringify(names));
  } catch {
    // a page that may not keep anything, keeps nothing
  }
}

// Pin a table, or let go of one that is pinned.
export function pin(table: string): void {
  const others = pinned.value.filter((one) => one !== table);
  pinned.value = others.length < pinned.value.length ? others : [...others, table].slice(-MOST_PINNED);
  keepNames(PINNED, pinned.value);
}

function noteTable(table: string): void {
  recent.value = [table, ...recent.value.filter((one) => one !== table)].slice(0, MOST);
  keepNames(RECENT, recent.value);
}
