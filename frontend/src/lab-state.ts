// The lab of this page: what its forms offer, its run, every order of it, and what is under way.

import { computed, effect, signal } from "@preact/signals";
import type { Progress } from "./protocol";
import { RequestError } from "./protocol";
import { hello, link, server } from "./store";

export interface LaneChoice {
  name: string;
  title: string;
  engines: string[];
  reads: boolean;
  validations: string[];
  usual: Record<string, string[]>;
  /** The isolation level where a statement names none. */
  isolation: string;
}

export interface Choices {
  operations: LaneChoice[];
  isolation: string[];
  protects: Record<string, string>;
  api: { name: string; title: string }[];
}

export interface Lane {
  name: string;
  operation: string;
  words: string;
  state: string;
  over: boolean;
  reads: boolean;
}

export interface Step {
  n: number;
  writer: string;
  step: string;
  outcome: string;
  words: string;
  files: string[];
}

export interface Told {
  writer: string;
  outcome: string;
  words: string;
}

export interface Run {
  version: number;
  said: string;
  lanes: Lane[];
  picture: string;
  rows: string[][];
  loads: { lane: string; table: string; snapshot: string; rows: string }[];
  predictions: Told[];
  refusals: Told[];
  left: { writer: string; file: string }[];
  steps: Step[];
  saved: string;
}

export interface Orders {
  summary: string[];
  picture: string;
  orders: { order: string; outcomes: string; rows: string; equals: string; anomaly: string }[];
  serial: { order: string; rows: string }[];
}

// What a person has chosen for a lane: an operation, its engine, and the validations that they have changed.
export interface LaneForm {
  operation: string;
  engine: string;
  validations: string[] | null;
}

export const NOBODY = "";
export const choices = signal<Choices | null>(null);
export const run = signal<Run | null>(null);
export const orders = signal<Orders | null>(null);
export const lanes = signal<LaneForm[]>([
  { operation: "append", engine: "java", validations: null }, { operation: "append", engine: "java", validations: null },
  { operation: NOBODY, engine: "java", validations: null },
]);
export const isolation = signal("serializable");
export const version = signal(2);
export const isPlaying = signal(false);
export const problem = signal("");
export const notice = signal("");
// What is under way, in words; empty if nothing is.
export const doing = signal("");
export const progress = signal<Progress | null>(null);
export const isBusy = computed(() => doing.value !== "");

// What a lane can be, as one value of a select: an operation by an engine.
export function laneOptions(operations: readonly LaneChoice[]): { value: string; title: string }[] {
  return operations.flatMap(({ name, title, engines }) =>
    engines.map((engine) => ({ value: `${name}@${engine}`, title: engine === "java" ? title : `${title}, by ${engine}` })));
}

export function laneOf(value: string): LaneForm {
  const [operation = "", engine = "java"] = value.split("@");
  return { operation, engine, validations: null };
}

// The validations that a lane has: those that a person chose, or those of its isolation level. pyiceberg sets its own.
export function validationsOf(lane: LaneForm, level: string, operations: readonly LaneChoice[]): { all: string[]; on: string[] } {
  const one = operations.find(({ name }) => name === lane.operation);
  if (!one || lane.engine !== "java") return { all: [], on: [] };
  return { all: one.validations, on: lane.validations ?? one.usual[level] ?? [] };
}

// The lanes with one validation of one of them switched.
export function switched(all: readonly LaneForm[], at: number, name: string, level: string, operations: readonly LaneChoice[]): LaneForm[] {
  return all.map((lane, i) => {
    if (i !== at) return lane;
    const { all: names, on } = validationsOf(lane, level, operations);
    return { ...lane, validations: names.filter((one) => (one === name ? !on.includes(one) : on.includes(one))) };
  });
}

// What the server is asked for: lanes in which somebody is.
export function runArguments(): Record<string, unknown> {
  const taken = lanes.value.filter(({ operation }) => operation !== NOBODY);
  return {
    lanes: taken.map(({ operation, engine, validations }) => ({ operation, engine, ...(validations ? { validations } : {}) })),
    isolation: isolation.value, version: version.value,
  };
}

// Whose turn it is when a run plays: the lanes take turns; empty when all are over.
export function nextLane(now: Run): string {
  const waiting = now.lanes.filter(({ over }) => !over).map(({ name }) => name);
  const last = now.steps.at(-1)?.writer ?? "";
  return waiting.find((name) => name > last) ?? waiting[0] ?? "";
}

// What can befall a lane now, as the end of a step's token and in words.
export function faultsOf(lane: Lane): { token: string; title: string; hint: string }[] {
  if (lane.over) return [];
  const kill = { token: "!", title: "Kill", hint: "The process ends; it removes nothing of what it wrote" };
  if (lane.state === "swap") {
    return [kill, { token: "?", title: "Lose answer", hint: "The catalog swaps, and the writer never learns of it" }];
  }
  if (lane.state === "check") return [kill, { token: "+", title: "Begin again", hint: "It takes the missing answer for a failure, and does not look" }];
  return [kill];
}

// Have the lab do something; what it tells is shown. Where it may be cancelled, `cancels` says so.
export async function act(action: string, given: Record<string, unknown>, words: string): Promise<boolean> {
  if (isBusy.value) return false;
  doing.value = words;
  problem.value = notice.value = "";
  try {
    const told = await server().request<Partial<Orders> & { run?: Run | null }>(
      "lab", { action, arguments: given }, "lab", (now) => (progress.value = now), true);
    if (told.run !== undefined) run.value = told.run;
    orders.value = told.orders ? (told as Orders) : null;
    return true;
  } catch (error) {
    isPlaying.value = false;
    if (!(error instanceof RequestError && error.kind === "cancelled")) problem.value = error instanceof Error ? error.message : String(error);
    return false;
  } finally {
    doing.value = "";
    progress.value = null;
  }
}

export const CANCELLED_BY_A_PERSON: ReadonlySet<string> = new Set(["Running every order…", "Replaying…"]);

export function cancel(): void {
  server().endChannel("lab");
}

export const newRun = () => act("new", runArguments(), "A new table…");
export const step = (token: string) => act("step", { token }, "Working…");
export const replay = (given: { saved?: string; order?: string }) => act("replay", given, "Replaying…");
export const everyOrder = () => act("orders", runArguments(), "Running every order…");

export async function learnChoices(): Promise<void> {
  if (!choices.value) choices.value = await server().request<Choices>("lab", { action: "choices", arguments: {} });
}

// A run ends with the connection: it is played again in the new one.
let wasLost = false;
effect(() => {
  if (link.value === "lost") wasLost = true;
  if (link.value !== "open" || !wasLost) return;
  wasLost = false;
  const saved = run.peek()?.saved;
  if (saved && hello.peek()?.rights.lab) {
    void replay({ saved }).then((isThere) => {
      if (isThere) notice.value = "The connection was lost, and the run with it. It was played again.";
    });
  }
});
