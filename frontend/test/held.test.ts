import { beforeEach, expect, test } from "vitest";
import { connectTo, Held, type HeldData } from "../src/held";
import type { Picture, PictureNode, Vocabulary } from "../src/graph/types";
import { Connection, RequestError, type GraphState, type Hello } from "../src/protocol";

const BOX = { w: 200, h: 50, y: 0 };
function node(id: string, x: number, more: Partial<PictureNode> = {}): PictureNode {
  return { id, x, ...BOX, kind: "file", label: id, lines: [], status: "", fold: "", current: false, bad: false, warn: false, title: id,
    problem: "", focus: false, mark: "", ...more };
}
function picture(snapshot: string, files: PictureNode[]): Picture {
  const nodes = [node("table", 0), node(`s${snapshot}`, 300, { title: snapshot }), node("manifest", 600), ...files];
  const edges = [["table", `s${snapshot}`], [`s${snapshot}`, "manifest"], ...files.map(({ id }) => ["manifest", id])];
  return {
    title: `t ${snapshot}`, snapshot, columns: [0, 300, 600, 900].map((x) => ({ name: "", x })), nodes, more: [],
    edges: edges.map(([s = "", t = ""]) => ({ s, t, kind: "contains", status: "" })),
  };
}
const vocabulary = { kinds: { file: { title: "data file" } }, edges: { contains: { dashed: false, back: false } } } as unknown as Vocabulary;
const DATA: HeldData = {
  vocabulary, header: null, first: "2", folded: ["manifest"], elsewhere: "Install it.", lesson: null, pages: {},
  timeline: { ids: ["1", "2"], operations: ["append", "append"], times: ["", ""], refs: [[], []] },
  pictures: {
    1: { picture: picture("1", [node("apple", 900), node("fig", 900, { status: "filtered" })]), caption: "one" },
    2: { picture: picture("2", [node("apple", 900)]), caption: "two", details: { manifest: 0 } },
  },
  changes: { 2: { picture: picture("2", []), told: { title: "changed", kind: "", problems: [], sections: [] } } },
  known: [{ title: "manifest", kind: "data manifest", problems: [], sections: [1] }],
  sections: [{ title: "not this" }, { title: "entries" }],
};
let held: Held;
beforeEach(() => {
  held = new Held(DATA);
});
const ask = (action: Record<string, unknown> = {}, snapshot = "", mode = "table"): GraphState => held.graph({ table: "t", mode, snapshot, action });
const ids = (state: GraphState): string[] => state.picture.nodes.map(({ id }) => id);

test("a node unfolds and folds", () => {
  expect(ids(ask())).toEqual(["table", "s2", "manifest"]);
  expect(ids(ask({ type: "toggle", id: "manifest" }))).toContain("apple");
  expect(ids(ask({ type: "toggle", id: "manifest" }))).not.toContain("apple");
});

test("an older metadata file unfolds: its edges show the snapshots that it knows", () => {
  const shown = picture("2", []), edges = [...shown.edges, { s: "older", t: "s2", kind: "contains", status: "" }];
  const nodes = [...shown.nodes, node("older", 0, { fold: "open" })];
  const files = new Held({ ...DATA, folded: ["older"], pictures: { 2: { picture: { ...shown, nodes, edges } } } });
  const seen = (action: Record<string, unknown> = {}): [string | undefined, number] => {
    const { picture: now } = files.graph({ table: "t", mode: "table", snapshot: "", action });
    return [now.nodes.find(({ id }) => id === "older")?.fold, now.edges.filter(({ s }) => s === "older").length];
  };
  expect(seen()).toEqual(["folded", 0]);
  expect(seen({ type: "toggle", id: "older" })).toEqual(["open", 1]);
  expect(seen({ type: "toggle", id: "older" })).toEqual(["folded", 0]);
});

test("a snapshot is gone to by its chip, its card or the place", () => {
  expect(ask({ type: "snapshot", id: "1" })).toMatchObject({ snapshot: "1", caption: "one" });
  expect(ask({ type: "focus", id: "s2" }, "2").snapshot).toBe("2");
  expect(ask({}, "1").snapshot).toBe("1");
  expect(() => ask({}, "3")).toThrow(RequestError);
  expect(() => ask({}, "__proto__")).toThrow(RequestError);
});

test("what is searched for is unfolded; where it is not, the snapshots that have it are named", () => {
  expect(ids(ask({ type: "search", text: " APPLE " }))).toContain("apple");
  expect(ask({ type: "search", text: "fig" }).message).toBe("Nothing here has fig; it is in snapshot-1.");
  expect(ask({ type: "search", text: "none" }).message).toBe("Nothing here has none.");
  expect(ask({ type: "search", text: "" }).message).toBe("");
});

test("filtered entries can be left out", () => {
  ask({ type: "toggle", id: "manifest" });
  expect(ids(ask({}, "1"))).toContain("fig");
  expect(ids(ask({ type: "filtered", value: false }, "1"))).not.toContain("fig");
});

test("the inspector has what is known of a node, or what its card says", () => {
  expect(ask({ type: "select", ids: ["manifest"] }).details).toEqual({
    title: "manifest", kind: "data manifest", problems: [], sections: [{ title: "entries" }],
  });
  expect(ask({ type: "select", ids: ["table"] }).details?.kind).toBe("data file");
  expect(ask({ type: "select", ids: ["gone"] }).selected).toEqual([]);
});

test("what a snapshot changed has a picture and a text of its own", () => {
  expect([held.hasChange(""), held.hasChange("1")]).toEqual([true, false]);
  expect(ask({}, "", "diff")).toMatchObject({ offers: ["search"], details: { title: "changed" } });
});

test("it answers as a server does, and says of other questions where they are answered", async () => {
  const connection = new Connection(connectTo(held, DATA), () => {});
  expect((await connection.request<Hello>("hello")).questions).toEqual([]);
  expect((await connection.request<GraphState>("graph", { table: "t", mode: "table" })).snapshot).toBe("2");
  await expect(connection.request("ask", { question: "doctor" })).rejects.toThrow("Install it.");
});
