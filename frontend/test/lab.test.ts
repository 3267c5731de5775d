// @vitest-environment happy-dom
import { beforeEach, expect, test } from "vitest";
import * as lab from "../src/lab-state";
import type { Lane, LaneChoice, Run } from "../src/lab-state";
import { isCopy, teachingNameOf } from "../src/copies";
import { hiddenFields, isOnlyLookedAt } from "../src/operations";
import { graphOf } from "../src/store";
import { NOWHERE, placeOf } from "../src/place";
import { Connection, type Wire } from "../src/protocol";

const OPERATIONS: LaneChoice[] = [
  { name: "append", title: "append: INSERT", engines: ["java", "pyiceberg"], reads: false, validations: [], isolation: "serializable", usual: { serializable: [], snapshot: [] } },
  { name: "update", title: "update: UPDATE", engines: ["java"], reads: false, validations: ["a", "b", "c"], isolation: "serializable", usual: { serializable: ["a", "b"], snapshot: ["a"] } },
];

function lane(name: string, state: string, over = false): Lane {
  return { name, operation: "append", words: "append", state, over, reads: false };
}

function run(lanes: Lane[], last = ""): Run {
  const steps = last ? [{ n: 1, writer: last, step: "load", outcome: "ok", words: "", files: [] }] : [];
  return { version: 2, said: "", lanes, picture: "", rows: [], loads: [], predictions: [], refusals: [], left: [], steps, saved: "{}" };
}

beforeEach(() => {
  lab.lanes.value = [lab.laneOf("append@java"), lab.laneOf("update@java"), lab.laneOf(lab.NOBODY)];
});

test("a lane is an operation by an engine", () => {
  expect(lab.laneOptions(OPERATIONS).map(({ value }) => value)).toEqual(["append@java", "append@pyiceberg", "update@java"]);
  expect(lab.laneOptions(OPERATIONS)[1]?.title).toBe("append: INSERT, by pyiceberg");
  expect(lab.laneOf("append@pyiceberg")).toEqual({ operation: "append", engine: "pyiceberg", validations: null });
});

test("a validation is switched from what its isolation level sets; pyiceberg sets its own", () => {
  const [, update] = lab.lanes.value;
  expect(update && lab.validationsOf(update, "snapshot", OPERATIONS)).toEqual({ all: ["a", "b", "c"], on: ["a"] });
  expect(lab.validationsOf(lab.laneOf("append@pyiceberg"), "serializable", OPERATIONS)).toEqual({ all: [], on: [] });
  lab.lanes.value = lab.switched(lab.lanes.value, 1, "b", "serializable", OPERATIONS);
  expect(lab.lanes.value[1]?.validations).toEqual(["a"]);
  lab.lanes.value = lab.switched(lab.lanes.value, 1, "c", "serializable", OPERATIONS);
  expect(lab.runArguments()).toEqual({
    lanes: [{ operation: "append", engine: "java" }, { operation: "update", engine: "java", validations: ["a", "c"] }],
    isolation: "serializable", version: 2,
  });
});

test("lanes take turns, those that are over are left out", () => {
  const two = [lane("A", "load"), lane("B", "load")];
  expect(lab.nextLane(run(two))).toBe("A");
  expect(lab.nextLane(run(two, "A"))).toBe("B");
  expect(lab.nextLane(run(two, "B"))).toBe("A");
  expect(lab.nextLane(run([lane("A", "committed", true), lane("B", "load")], "B"))).toBe("B");
  expect(lab.nextLane(run([lane("A", "committed", true)]))).toBe("");
});

test("an answer can only be lost at the swap, and only then a writer begins again without looking", () => {
  const tokens = (state: string, over = false) => lab.faultsOf(lane("A", state, over)).map(({ token }) => token);
  expect(tokens("write")).toEqual(["!"]);
  expect(tokens("swap")).toEqual(["!", "?"]);
  expect(tokens("check")).toEqual(["!", "+"]);
  expect(tokens("committed", true)).toEqual([]);
});

test("a copy is known by its name", () => {
  expect(teachingNameOf("sandbox.demo.three_inserts")).toBe("three_inserts");
  expect(teachingNameOf("sandbox.lab.three_inserts_12")).toBe("three_inserts");
  expect(teachingNameOf("other.demo.t")).toBe("");
  expect(isCopy("sandbox.lab.three_inserts_12")).toBe(true);
  expect(isCopy("sandbox.demo.three_inserts")).toBe(false);
});

test("an operation has the fields that mean something to it", () => {
  expect(hiddenFields("maintain preview", "compact")).toEqual(["engine", "sort_by", "retain_last"]);
  expect(hiddenFields("maintain preview", "expire")).toEqual(["engine", "sort_by", "where"]);
  expect(hiddenFields("refs preview", "drop")).toEqual(["snapshot"]);
  expect(hiddenFields("refs preview", "rollback")).toEqual(["name"]);
  expect(isOnlyLookedAt("next-append")).toBe(true);
});

test("each view of the lab has its graph, and old links lead to it", () => {
  expect(graphOf({ ...NOWHERE, mode: "lab" })).toBe("lab");
  expect(graphOf(placeOf("?view=statement&table=t"))).toBe("table");
  expect(graphOf(placeOf("?view=conflict&table=t"))).toBe("conflict");
  expect(graphOf(placeOf("?view=race"))).toBe("");
  expect(placeOf("?view=maintain&table=t")).toMatchObject({ mode: "health", tab: "maintenance" });
  expect(placeOf("?view=sql&table=t")).toMatchObject({ mode: "rows", tab: "sql" });
});

test("what is asked because the connection is back is sent once, and what was to happen once is given up", async () => {
  const sent: string[] = [];
  let handlers: { open(): void; lost(): void } | undefined;
  const wire: Wire = { send: (text) => sent.push(String((JSON.parse(text) as { type: string }).type)), close: () => {} };
  const connection: Connection = new Connection((given) => {
    handlers = given;
    return wire;
  }, (link) => {
    if (link === "open" && sent.length) void connection.request("hello", {}, "", undefined, true);
  });
  handlers?.open();
  const step = connection.request("lab", {}, "", undefined, true), graph = connection.request("graph");
  void graph;
  handlers?.lost();
  handlers?.open();
  await expect(step).rejects.toThrow("Look whether this was carried out");
  expect(sent).toEqual(["lab", "graph", "hello", "graph"]);
});
