import { expect, test } from "vitest";
import { MOST_SINGLE, bundle, isTrunk, stubPath, trunkPath } from "../src/graph/bundle";
import * as geometry from "../src/graph/geometry";
import type { Item } from "../src/graph/geometry";
import { isDarkColor } from "../src/graph/theme";
import * as tree from "../src/graph/tree";
import type { EdgeKinds, HiddenGroup, Picture, PictureEdge, PictureNode, Section, Vocabulary } from "../src/graph/types";
import * as words from "../src/graph/words";

const EDGES: EdgeKinds = {
  contains: { dashed: false, back: false, color: "" },
  before: { dashed: true, back: true, color: "" },
  hides: { dashed: true, back: false, color: "" },
};
const BOX = { w: 200, h: 50 };
function node(id: string, x: number, y: number, more: Partial<PictureNode> = {}): PictureNode {
  return {
    id, x, y, ...BOX, kind: "data_file", label: id, lines: [], status: "", fold: "", current: false, bad: false, warn: false,
    title: id, problem: "", focus: false, mark: "", ...more,
  };
}
function group(id: string, parent: string, x: number, y: number): HiddenGroup {
  return { id, parent, label: "7 more", action: "page", before: false, x, y, w: 200, h: 26 };
}
function edge(s: string, t: string, kind = "contains"): PictureEdge {
  return { s, t, kind, status: "" };
}
function picture(nodes: PictureNode[], edges: PictureEdge[] = [], more: HiddenGroup[] = []): Picture {
  const columns = [...new Set(nodes.map(({ x }) => x))].map((x) => ({ name: "", x }));
  return { title: "t", snapshot: "1", columns, nodes, edges, more };
}
const itemsOf = (nodes: PictureNode[], more: HiddenGroup[] = []): Item[] => geometry.itemsOf(picture(nodes, [], more));

test("own: only what a map of ours has", () => {
  expect(words.own({ append: "#009e73" }, "append")).toBe("#009e73");
  for (const word of ["constructor", "__proto__", "toString", ""]) expect(words.own({}, word)).toBe(undefined);
});

test("ends: both ends of a name, without its extension; of a sentence the beginning and its last short clause", () => {
  expect(words.ends("part-01196.parquet")).toEqual(["part-", "01196", ".parquet"]);
  expect(words.ends("manifest-298.m1")).toEqual(["manifest-", "298.m1", ""]);
  expect(words.ends("2024-02-04")).toEqual(["2024-", "02-04", ""]);
  expect(words.ends("dropped: it held only DELETED entries")).toEqual(["dropped: it held only DELETED entries", "", ""]);
  expect(words.ends("added by snapshot-12345, existing now")).toEqual(["added by snapshot-12345", ", existing now", ""]);
  expect(words.ends("africa … oceania")).toEqual(["africa", " … oceania", ""]);
  expect(words.ends("2026-11-28 00:22:55 UTC")).toEqual(["2026-11-28", " 00:22:55", " UTC"]);
  for (const text of ["", "a", "ab", "00000-0-abcdef-0123456789.parquet", "ts_day=2024-01-01/region=region-01"]) {
    expect(words.ends(text).join("")).toBe(text);
  }
});

test("edgePath: from the side that faces the other box; along the left within a column", () => {
  const a = node("a", 0, 0), b = node("b", 250, 100);
  expect(geometry.edgePath(a, b)).toBe("M200,25 C225,25 225,125 250,125");
  expect(geometry.edgePath(b, a)).toBe("M250,125 C225,125 225,25 200,25");
  expect(geometry.edgePath(a, node("c", 0, 100))).toBe("M0,25 C-18,25 -18,125 0,125");
});

test("edgeEnd: an arrow on the box that an edge reaches, a bar before the box that it does not reach", () => {
  const a = node("a", 0, 0), b = node("b", 250, 100);
  expect(geometry.edgeEnd(a, b, true)).toBe("M250,125 l-8,-5 v10 z");
  expect(geometry.edgeEnd(b, a, true)).toBe("M200,25 l8,-5 v10 z");
  expect(geometry.edgeEnd(a, b, false)).toBe("M245,118 v14");
});

test("fitted: what is a little too high is shown whole, and what is much too high is not made small", () => {
  const room = { width: 1044, height: 532 }, k = (height: number) => geometry.fitted({ width: 1000, height }, room, false)?.k ?? 0;
  expect(k(400)).toBe(1);
  expect(k(560)).toBeCloseTo(500 / 530);
  expect(geometry.HEAD_HEIGHT + 8 - 30 * k(560) + 560 * k(560)).toBeCloseTo(room.height);
  expect(k(700)).toBe(1);
});

test("fitted: the width first; all of it if asked; never blown up, and no room is no view", () => {
  const graph = geometry.extent([node("a", 0, 0), node("b", 1000, 3000)]), room = { width: 800, height: 600 };
  expect(graph).toEqual({ width: 1200, height: 3050 });
  expect(geometry.extent([])).toEqual({ width: 0, height: 0 });
  const wide = geometry.fitted(graph, room, false);
  expect(wide?.k).toBe((800 - 44) / 1200);
  const all = geometry.fitted(graph, room, true);
  expect(graph.width * (all?.k ?? 1)).toBeLessThanOrEqual(room.width);
  expect(graph.height * (all?.k ?? 1)).toBeLessThanOrEqual(room.height);
  expect(geometry.fitted({ width: 1e6, height: 1e6 }, room, true)?.k).toBe(0.1);
  const titles = geometry.fitted({ width: 1e6, height: 10 }, room, false, 245);
  expect(titles?.k).toBe(0.3);
  expect((titles?.x ?? 0) + 245 * 0.3).toBeCloseTo(26); // the column that matters is the first in sight
  expect(geometry.fitted({ width: 100, height: 10 }, room, false)?.k).toBe(1.15);
  expect(geometry.fitted(graph, { width: 0, height: 0 }, true)).toBe(null);
  expect(geometry.fitted({ width: 0, height: 0 }, room, true)).toBe(null);
});

test("levelAt: no text is smaller than 9 pixels", () => {
  expect([1, 0.75, 0.74, 0.3, 0.29].map(geometry.levelAt)).toEqual(["full", "full", "title", "title", "box"]);
  expect(12 * geometry.FULL_ZOOM).toBeGreaterThanOrEqual(9);
});

test("spaced: all columns where they fit, in the order they had; as close as words allow, wider where there is room", () => {
  const at = (id: string, x: number, focus = false): PictureNode => node(id, x, 0, { w: 208, focus });
  const nodes = [at("m", 0), at("s", 254, true), at("l", 508), at("n", 762), at("f", 1016)];
  const given = picture(nodes, [], [{ ...group("e", "n", 1016, 80), w: 208 }]);
  expect(geometry.spaced(given, 1400)).toBe(given);
  expect(geometry.spaced(given, 0)).toBe(given);
  for (const room of [1240, 1100, 1025]) {
    const { nodes: now, more, columns } = geometry.spaced(given, room);
    expect(geometry.extent(now).width).toBeLessThanOrEqual(room - 44);
    now.slice(1).forEach((one, i) => expect(one.x).toBeGreaterThanOrEqual((now[i]?.x ?? 0) + (now[i]?.w ?? 0) + 17));
    expect([more[0]?.x, more[0]?.w]).toEqual([now[4]?.x, now[4]?.w]);
    expect(columns.map(({ x }) => x)).toEqual(now.map(({ x }) => x));
  }
  const wide = geometry.spaced(given, 1900);
  expect(wide.nodes.every(({ w }) => w > 208)).toBe(true);
  expect(geometry.extent(wide.nodes).width * 1.15).toBeLessThanOrEqual(1900 - 44);
  expect(geometry.spaced(given, 9000).nodes.map(({ x, w }) => [x, w])[1]).toEqual([412, 272]); // not without end
  expect(geometry.spaced(given, 640).nodes.map(({ w }) => w)).toEqual([156, 188, 188, 188, 188]);
});

test("sideWidth: as wide as wanted, and neither it nor the graph too narrow", () => {
  const told = [[380, 1026], [100, 1026], [900, 1026], [380, 400]].map(([wanted = 0, room = 0]) => geometry.sideWidth(wanted, room));
  expect(told).toEqual([380, 260, 726, 260]);
});

test("zoomed: what is under the pointer stays there, within limits", () => {
  const view = { x: 26, y: 8, k: 1 }, at = (v: geometry.View): number[] => [(300 - v.x) / v.k, (200 - v.y) / v.k];
  for (const by of [0.5, 1.25, 3]) expect(at(geometry.zoomed(view, by, 300, 200))).toEqual(at(view));
  expect(geometry.zoomed(view, 1000, 0, 0).k).toBe(4);
  expect(geometry.zoomed(view, 0.0001, 0, 0).k).toBe(0.02);
});

test("steady: what is drawn lower by some stands on the screen where it stood", () => {
  const view = { x: 5, y: 40, k: 0.5 }, on = (of: geometry.View, y: number): number => of.y + y * of.k;
  expect(on(geometry.steady(view, 1082), 1475)).toBe(on(view, 393));
});

test("needsMap: where much of the graph is out of sight, and the stage is not small itself", () => {
  const graph = { width: 2000, height: 3000 }, room = { width: 1000, height: 600 };
  expect(geometry.needsMap(graph, 1, room)).toBe(true);
  expect(geometry.needsMap(graph, 0.2, room)).toBe(false);
  expect(geometry.needsMap(graph, 1, { width: 400, height: 600 })).toBe(false);
  expect(geometry.needsMap({ width: 5000, height: 300 }, 1, room)).toBe(false);
});

test("revealed: moves as little as shows the box below the heads, and not at all if it is in sight", () => {
  const room = { width: 800, height: 600 }, view = { x: 0, y: 0, k: 1 };
  expect(geometry.revealed(view, node("a", 100, 100), room)).toEqual(view);
  expect(geometry.revealed(view, node("a", 900, 100), room)).toEqual({ k: 1, x: 800 - 16 - 900 - 200, y: 0 });
  expect(geometry.revealed(view, node("a", 100, -40), room)).toEqual({ k: 1, x: 0, y: 72 });
  expect(geometry.revealed({ ...view, k: 0.5 }, node("a", 1388, 1122), room)).toEqual({ k: 0.5, x: -10, y: -10 });
  const tall = geometry.revealed(view, { x: 20, y: 100, w: 200, h: 5000 }, room);
  expect(tall.y).toBeGreaterThanOrEqual(-100); // its upper end, not its lower one
});

test("eased and between: from the start to the end, never back", () => {
  expect([0, 1].map(geometry.eased)).toEqual([0, 1]);
  for (let t = 0; t < 1; t += 0.05) expect(geometry.eased(t + 0.05)).toBeGreaterThanOrEqual(geometry.eased(t));
  expect([0.25, 0.5, 0.75].map(geometry.eased)).toEqual([0.125, 0.5, 0.875]);
  expect(geometry.between({ x: 20, y: 10 }, { x: 100, y: 30, ...BOX }, 0.5)).toEqual({ x: 60, y: 20, ...BOX });
});

test("origin and parentsOf: a card comes from where it was, else out of what leads to it", () => {
  const drawn = picture([], [edge("a", "b"), edge("c", "b", "hides"), edge("d", "a", "before")], [group("m", "a", 0, 0)]);
  const parents = tree.parentsOf(drawn, EDGES), places = new Map([["a", { x: 1, y: 2 }]]);
  expect([...parents]).toEqual([["b", "a"], ["m", "a"]]);
  for (const id of ["a", "b"]) expect(geometry.origin(node(id, 9, 9), places, parents)).toEqual({ x: 1, y: 2 });
  expect(geometry.origin(node("z", 9, 9), places, parents)).toEqual({ x: 9, y: 9 });
});

test("neighbour: left and right along edges that lead on, up and down within a column, past hidden ones", () => {
  const items = itemsOf([node("a", 0, 0), node("b", 300, 100), node("c", 300, 0)], [group("m", "a", 300, 50)]);
  const edges = [edge("a", "x", "before"), edge("a", "b")];
  const to = (key: string, id: string): string | undefined => {
    const item = items.find((one) => one.id === id);
    return item && tree.neighbour(key, item, items, edges, EDGES);
  };
  expect(to("ArrowRight", "a")).toBe("b");
  expect(to("ArrowLeft", "b")).toBe("a");
  expect(to("ArrowLeft", "a")).toBe(undefined);
  expect(to("ArrowUp", "b")).toBe("c");
  expect(to("ArrowDown", "c")).toBe("b");
  expect(to("ArrowDown", "b")).toBe(undefined);
  expect(to("Home", "b")).toBe("c");
  expect(to("End", "c")).toBe("b");
});

test("ranks: each item's place among those that the same parent has", () => {
  const items = itemsOf([node("a", 0, 0), node("b", 300, 100), node("c", 300, 0), node("d", 300, 200)], [group("m", "a", 300, 300)]);
  const told = tree.ranks(items, new Map([["b", "a"], ["c", "a"], ["m", "a"], ["d", "z"]]));
  expect(told.get("c")).toEqual({ position: 1, size: 3 });
  expect(told.get("m")).toEqual({ position: 3, size: 3 });
  expect(told.get("d")).toEqual({ position: 1, size: 1 });
});

test("matches: a label, a path or a partition; hidden ones are never a hit", () => {
  const found = node("data-1", 0, 0, { title: "/w/Data-1.parquet", card: { chips: [["day", "2024-02-04"]] } });
  const [first, hidden] = itemsOf([found], [group("m", "data-1", 0, 0)]);
  if (!first || !hidden) throw new Error("two items");
  for (const text of ["PARQUET", "day=2024-02", "data-1"]) expect(words.matches(first, text)).toBe(true);
  expect(words.matches(first, "")).toBe(false);
  expect(words.matches(hidden, "more")).toBe(false);
  expect(words.foundWords({ count: 1200, at: 3 })).toBe("3 of 1,200");
  expect(words.foundWords({ count: 0, at: 0 })).toBe("Nothing found");
});

test("ink and looks: colours for day and night, and none that is not there", () => {
  expect(words.ink({ color: "#111", night: "" })).toBe("#111");
  expect(words.ink({ color: "#222", night: "#eee" })).toBe("light-dark(#222, #eee)");
  expect(words.looks({ look: "gone" }, { look: "" }, undefined)).toEqual(["look-gone"]);
});

const VOCABULARY: Vocabulary = {
  kinds: { data_file: { title: "a file", glyph: "M0,0", color: "#111", look: "", double: "toggle" } },
  statuses: {
    LIVE: { title: "LIVE", sign: "+", of: "entry", color: "#111", look: "" },
    both: { title: "in both", sign: "=", of: "diff", color: "#111", look: "" },
  },
  marks: { lost: { title: "nothing leads to it", color: "#333", look: "loose" } },
  edges: { ...EDGES, applies: { dashed: false, back: false, color: "#d55e00" }, "does not apply": { dashed: true, back: false, color: "" } },
  terms: {}, operations: { append: "#0a0" }, operation: "#00f", operation_marks: { append: "●" }, operation_mark: "○",
};

test("isDarkColor: of colours that one sees", () => {
  const told: [string, boolean | null][] = [
    ["rgb(255, 255, 255)", false], ["rgb(20, 24, 31)", true], ["rgb(111, 111, 111)", false], ["rgb(109, 109, 109)", true],
    ["rgb(255, 0, 0)", true], ["rgb(0, 255, 0)", false], ["rgb(0, 0, 255)", true], // as bright as an eye sees it
    ["color(srgb 1 1 1)", false], ["color(srgb 0.07 0.09 0.12)", true], ["color(display-p3 0.98 0.98 0.97)", false],
    ["color(srgb 1e-7 0 0 / 0.2)", null], ["oklab(0.98 0 0)", false], ["oklch(0.2 0.02 260)", true],
    ["lab(97 0 0)", false], ["lch(12 3 270)", true], ["rgba(0, 0, 0, 0.5)", true], ["rgba(0, 0, 0, 0)", null], ["", null],
  ];
  for (const [color, dark] of told) expect(isDarkColor(color), color).toBe(dark);
});

test("legendRows: kinds, operations, statuses, marks and edges of what is drawn", () => {
  const texts = (nodes: PictureNode[], edges: PictureEdge[] = []): string[] =>
    words.legendRows(VOCABULARY, picture(nodes, edges)).map((row) => row.text);
  expect(texts([node("a", 0, 0)])).toEqual(["a file"]);
  expect(texts([node("a", 0, 0, { status: "LIVE", mark: "lost" })])).toEqual(["a file", "live", "lost: nothing leads to it"]);
  expect(texts([node("a", 0, 0, { status: "both" }), node("b", 0, 0)])).toEqual(["a file", "in both"]);
  const snapshot = node("s", 0, 0, { kind: "snapshot", card: { operation: "append" } });
  expect(texts([snapshot])).toEqual(["append (snapshot)"]);
  expect(texts([node("d", 0, 0, { status: "LIVE", card: { dead: true } })])).toEqual(["a file", "delete that applies to no file"]);
  const edges = [edge("a", "b", "applies"), edge("a", "c", "does not apply")];
  const rows = words.legendRows(VOCABULARY, picture([node("a", 0, 0)], edges)).slice(-2);
  expect(rows.map((row) => [row.text, row.edge, row.ink])).toEqual([
    ["applies", "applies", "#d55e00"], ["does not apply", "spared", "var(--muted)"],
  ]);
});

test("relations: what holds a node, which deletes hide its rows, which do not and why", () => {
  const edges = [
    edge("m", "f"), edge("d1", "f", "applies"), { ...edge("d2", "f", "does not apply"), why: "2 = 2" }, edge("f", "x", "before"),
  ];
  expect(words.relations("f", edges, (id) => `<${id}>`)).toEqual(["held by <m>", "rows hidden by <d1>", "not hidden by <d2> (2 = 2)"]);
  expect(words.relations("d1", edges, (id) => id)).toEqual(["applies to f"]);
  expect(words.someOf(["a", "b", "c"], 2)).toBe("a, b and 1 more");
});

test("the timeline: what it says, and which chips it draws", () => {
  const timeline = { ids: ["7", "8"], operations: ["append", "delete"], times: ["t1", "t2"], refs: [[], ["branch main"]] };
  expect(words.snapshotWords(timeline, 0).where).toBe("snapshot-1 of 2 · append · t1");
  expect(words.snapshotWords(timeline, 1).where).toBe("snapshot-2 of 2 · delete · t2 · branch main");
  expect(words.snapshotWords(timeline, 1).label).toBe("snapshot-2, delete");
  expect([0, 1].map((i) => words.snapshotWords(timeline, i).refs)).toEqual([0, 1]);
  expect(words.snapshotWords(timeline, 1).title).toBe("snapshot-2 8\ndelete · t2\nbranch main");
  expect(words.snapshotWords({ ...timeline, before: 10 }, 0).where).toBe("snapshot-11 of 12 · append · t1");
  expect(words.chipsInSight(0, 300, 1000, 36)).toEqual([0, 11]);
  expect(words.chipsInSight(3000, 300, 1000, 36)).toEqual([81, 94]);
  expect(words.chipsInSight(0, 300, 3, 36)).toEqual([0, 3]);
  expect([words.chipWidth(600, 4), words.chipWidth(600, 300)]).toEqual([words.WIDE_CHIP, 59]);
});

test("unfolded: what folded nodes lead to is gone, what others lead to as well stays, and the rest moves up", () => {
  const at = (id: string, column: number, y: number): PictureNode => node(id, 250 * column, y, { focus: id === "s" });
  const nodes = [at("j", 0, 30), at("s", 1, 30), at("l", 2, 92), at("m", 2, 216), at("a", 3, 30), at("b", 3, 92), at("c", 3, 154)];
  const edges = [edge("j", "s"), edge("s", "l"), edge("s", "m"), edge("l", "a"), edge("l", "b"), edge("m", "b"), edge("m", "c")];
  const drawn = picture(nodes, edges, [group("more", "m", 750, 216)]);
  const shown = (folded: string[], out?: (one: PictureNode) => boolean): Picture => tree.unfolded(drawn, EDGES, new Set(folded), out);
  const ids = (of: Picture): string => geometry.itemsOf(of).map((item) => item.id).join(" ");
  expect(ids(shown([]))).toBe("j s l m a b c more");
  expect(shown([]).nodes.map((one) => one.fold)).toEqual(["", "open", "open", "open", "", "", ""]);
  expect(ids(shown(["l"]))).toBe("j s l m b c more"); // the other manifest has b too
  expect(ids(shown(["m"]))).toBe("j s l m a b");
  expect(shown(["m"]).nodes.map((one) => one.fold)).toEqual(["", "open", "open", "folded", "", ""]);
  expect(ids(shown(["s"]))).toBe("j s");
  expect(ids(shown(["j"]))).toBe("j s l m a b c more"); // what leads to snapshots has no fold
  expect(ids(shown([], (one) => one.id === "c"))).toBe("j s l m a b more");
  expect(shown(["l", "m"]).nodes.slice(2).map((one) => one.y)).toEqual([30, 92]);
});

test("bundle: many edges from one node to one column are one trunk, few are single", () => {
  const files = Array.from({ length: MOST_SINGLE + 1 }, (_, i) => node(`f${i}`, 500, 60 * i)), manifest = node("m", 250, 0);
  const items = new Map(itemsOf([node("l", 0, 0), manifest, ...files]).map((item) => [item.id, item]));
  const edges = [edge("l", "m"), ...files.map((file) => edge("m", file.id)), edge("m", "not drawn")];
  const wires = bundle(edges, items);
  expect(wires.map((wire) => wire.edges.length)).toEqual([1, MOST_SINGLE + 1]);
  expect(wires.map(isTrunk)).toEqual([false, true]);
  expect(bundle(edges.slice(0, -2), items).every((wire) => !isTrunk(wire))).toBe(true);
  const many = ["p", "q", "r", "s", "t"].map((id) => node(id, 250, 0)), all = new Map(itemsOf([...many, ...files]).map((item) => [item.id, item]));
  const crossing = bundle(many.flatMap(({ id }) => files.map((file) => edge(id, file.id))), all);
  expect(crossing.map((wire) => [wire.lane, wire.stub])).toEqual([[0, true], [1, true], [2, true], [3, true], [0, true]]); // a band: signs alone
  expect(stubPath(node("a", 250, 0), node("b", 500, 0))).toBe("M450,25 h10");
  expect(stubPath(node("a", 250, 0), node("b", 0, 0))).toBe("M250,25 h-10");
  const second = files.map((file) => edge("l", file.id));
  expect(bundle([...edges, ...second], items).filter(isTrunk).map((wire) => wire.stub)).toEqual([false, false]);
});

test("trunkPath: a spine before the column, a short line to each target, and only what is in the area", () => {
  const targets = [node("a", 250, 0), node("b", 250, 100), node("c", 250, 1000)], source = node("s", 0, 100);
  expect(trunkPath(source, targets, 0)).toBe("M200,125 C219,125 219,125 238,125 M238,25 V1025 M238,25 H250 M238,125 H250 M238,1025 H250");
  expect(trunkPath(source, targets, 0, { x: 0, y: 50, w: 500, h: 200 })).toBe("M200,125 C219,125 219,125 238,125 M238,50 V250 M238,125 H250");
  expect(trunkPath(node("s", 500, 100), targets, 0)).toContain("M462,25 V1025 M462,25 H450"); // from the right
  expect(trunkPath(node("s", 250, 500), targets, 0)).toContain("M250,525 H238"); // within a column
  expect(trunkPath(source, [], 0)).toBe("");
});

test("areas: what is in sight, and whether it is in what is drawn already", () => {
  const view = { x: -100, y: -200, k: 2 }, room = { width: 400, height: 300 };
  expect(geometry.areaInSight(view, room)).toEqual({ x: 50, y: 100, w: 200, h: 150 });
  const drawn = geometry.areaInSight(view, room, 100);
  expect(geometry.contains(drawn, geometry.areaInSight({ ...view, x: -180 }, room))).toBe(true);
  expect(geometry.contains(drawn, geometry.areaInSight({ ...view, x: -220 }, room))).toBe(false);
  expect(geometry.around([node("a", 10, 20), node("b", 300, 0)])).toEqual({ x: 10, y: 0, w: 490, h: 70 });
});

test("rowsThatTell: what differs leads, what is null on both sides is put away", () => {
  const section: Section = {
    title: "entry", columns: ["field", "stored", "as of snapshot-3", "why"],
    rows: [["first_row_id", null, null, ""], ["snapshot_id", "7", "7", ""], ["status", "ADDED", "EXISTING", "earlier"], ["sequence", null, 2, "inherited"]],
  };
  expect(words.rowsThatTell(section)).toEqual({ told: [2, 3, 1], empty: [0] });
  const table: Section = { title: "rows", columns: ["id", "name"], rows: [[2, null], [1, "a"]] };
  expect(words.rowsThatTell(table)).toEqual({ told: [0, 1], empty: [] }); // a row of data with a null
});

test("chips that do not fit on a card are counted, and no value is clipped", () => {
  const day: [string, string] = ["ts_day", "2024-01-01 … 2024-01-03"], region: [string, string] = ["region", "region-00 … region-19"];
  expect(words.chipsThatFit([["id", "4"]], 180, [])).toEqual({ count: 1, named: true });
  expect(words.chipsThatFit([day, region], 400, [])).toEqual({ count: 2, named: true });
  expect(words.chipsThatFit([day, region], 320, [])).toEqual({ count: 2, named: false });
  expect(words.chipsThatFit([day, region], 200, [])).toEqual({ count: 1, named: false });
  expect(words.chipsThatFit([day, region], 100, ["added"])).toEqual({ count: 1, named: false }); // it is cut
  expect(words.chipsThatFit([], 100, [])).toEqual({ count: 0, named: true });
});

test("the name of a manifest's file has a line of its own: the columns beside it need the room", () => {
  const columns = ["file", "stored status", "as of snapshot-2", "stored sequence", "inherited"];
  expect(words.namesRows({ title: "entries", columns, rows: [] })).toBe(true);
  expect(words.namesRows({ title: "entries", columns: columns.slice(0, 4), rows: [] })).toBe(false);
  expect(words.namesRows({ title: "manifests", columns: ["manifest", ...columns.slice(1)], rows: [] })).toBe(false);
  expect(words.namesRows({ title: "what is read", columns: ["field", "stored", "why"], rows: [] })).toBe(true);
});
