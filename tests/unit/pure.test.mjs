// The pure part of the graph's script, by Node's own runner (test_static.py runs it; by hand: node --test tests/unit).

import assert from "node:assert/strict";
import test from "node:test";

import * as pure from "../../explorer/ui/static/pure.js";

const EDGES = {
  contains: { dashed: false, back: false },
  before: { dashed: true, back: true },
  hides: { dashed: true, back: false },
};
const box = (id, x, y, more = {}) => ({ id, x, y, w: 200, h: 50, label: id, lines: [], ...more });

test("own: only what a map of ours has", () => {
  assert.equal(pure.own({ append: "#009e73" }, "append"), "#009e73");
  for (const word of ["constructor", "__proto__", "toString", ""]) assert.equal(pure.own({}, word), undefined);
});

test("clip: at most so long, and both ends stay", () => {
  assert.equal(pure.clip("data-1.parquet", 14), "data-1.parquet");
  assert.equal(pure.clip("0123456789", 7), "012…789");
  assert.equal(pure.clip("dropped: it held only DELETED entries", 12), "dropped: it…");  // a sentence by its beginning
  for (let width = 3; width < 30; width++) {
    const clipped = pure.clip("00000-0-abcdef-0123456789.parquet", width);
    assert.equal(clipped.length, width);
    assert.ok(clipped.includes("…"));
    assert.ok("00000-0-abcdef-0123456789.parquet".startsWith(clipped.split("…")[0]));
    assert.ok("00000-0-abcdef-0123456789.parquet".endsWith(clipped.split("…")[1]));
  }
});

test("edgePath: from the side that faces the other box; along the left within a column", () => {
  const a = box("a", 0, 0), b = box("b", 250, 100);
  assert.equal(pure.edgePath(a, b), "M200,25 C225,25 225,125 250,125");
  assert.equal(pure.edgePath(b, a), "M250,125 C225,125 225,25 200,25");
  assert.equal(pure.edgePath(a, box("c", 0, 100)), "M0,25 C-18,25 -18,125 0,125");
});

test("extent and fitted: everything is in sight, nothing is blown up, and no room is no view", () => {
  const graph = pure.extent([box("a", 0, 0), box("b", 1000, 3000)]);
  assert.deepEqual(graph, { width: 1200, height: 3050 });
  assert.deepEqual(pure.extent([]), { width: 0, height: 0 });
  const room = { width: 800, height: 600 };
  const all = pure.fitted(graph, room, true);
  assert.ok(graph.width * all.k <= room.width && graph.height * all.k <= room.height);
  assert.equal(pure.fitted({ width: 680, height: 10 }, room, false, 245).k, (800 - 44) / 680);
  assert.equal(pure.fitted({ width: 680, height: 10 }, room, false, 245).x, 26);
  assert.equal(pure.fitted({ width: 1e6, height: 10 }, room, true).k, 0.1);
  const wide = pure.fitted({ width: 1e6, height: 10 }, room, false, 245);
  assert.equal(wide.k, 1);  // readable
  assert.equal(wide.x + 245 * wide.k, 26);  // the column that matters is the first in sight, or the last one whole
  const last = pure.fitted({ width: 800, height: 10 }, room, false, 245);
  assert.ok(Math.abs(last.x + 800 * last.k - (800 - 18)) < 1e-9);
  assert.equal(pure.fitted({ width: 100, height: 10 }, room, false).k, 1.15);
  assert.equal(pure.fitted(graph, { width: 0, height: 0 }, true), null);
  assert.equal(pure.fitted({ width: 0, height: 0 }, room, true), null);
});

test("closer: all columns in readable text where they fit, in the order they had; else as close as words allow", () => {
  const at = (id, x, focus = false) => ({ ...box(id, x, 0), w: 208, label: id, focus });
  const nodes = [at("m", 0), at("s", 254, true), at("l", 508), at("n", 762), at("f", 1016)];
  const more = [{ id: "e", parent: "n", label: "others", x: 1016, y: 80, w: 208, h: 26 }];
  const given = { nodes, edges: [], more, columns: nodes.map(({ x }) => ({ x })) };
  assert.equal(pure.closer(given, 1400), given);
  assert.equal(pure.closer(given, 0), given);
  for (const room of [1240, 1100, 1025]) {
    const { nodes: now, more: [group], columns } = pure.closer(given, room);
    assert.ok(pure.extent(now).width <= room - 44);
    for (const [i, node] of now.entries()) assert.ok(i === 0 || node.x >= now[i - 1].x + now[i - 1].w + 17);
    assert.deepEqual([group.x, group.w], [now[4].x, now[4].w]);
    assert.deepEqual(columns.map(({ x }) => x), now.map(({ x }) => x));
  }
  assert.deepEqual(pure.closer(given, 640).nodes.map(({ w }) => w), [156, 188, 188, 188, 188]);
  assert.equal(pure.besideFold({ h: 71, fold: "open" }, 35), true);
  assert.equal(pure.besideFold({ h: 71, fold: "open" }, 65), false);
  assert.equal(pure.besideFold({ h: 71, fold: "" }, 35), false);
});

test("sideWidth: as wide as wanted, and neither it nor the graph too narrow", () => {
  assert.deepEqual([[380, 1026], [100, 1026], [900, 1026], [380, 400]].map((a) => pure.sideWidth(...a)),
    [380, 260, 726, 260]);
});

test("zoomed: what is under the pointer stays there, within limits", () => {
  const view = { x: 26, y: 8, k: 1 }, at = (v) => [(300 - v.x) / v.k, (200 - v.y) / v.k];
  for (const by of [0.5, 1.25, 3]) assert.deepEqual(at(pure.zoomed(view, by, 300, 200)), at(view));
  assert.equal(pure.zoomed(view, 1000, 0, 0).k, 4);
  assert.equal(pure.zoomed(view, 0.0001, 0, 0).k, 0.05);
});

test("wayTo: by the snapshot in view to what is chosen, from the table on; else to that snapshot", () => {
  const node = (id, column, kind, more = {}) => ({ ...box(id, 250 * column, 0), kind, ...more });
  const edge = (s, t, kind = "contains") => ({ s, t, kind });
  const picture = {
    nodes: [
      node("table", 0, "catalog"), node("old", 0, "metadata"), node("new", 0, "metadata", { current: true }),
      node("main", 1, "ref"),
      node("s2", 1, "snapshot", { current: true }), node("s1", 1, "snapshot", { focus: true }),
      node("l2", 2, "manifest_list"),
      node("l1", 2, "manifest_list"), node("m", 3, "data_manifest"), node("f", 4, "data_file"),
    ],
    edges: [
      edge("table", "new"), edge("new", "old", "before"), edge("main", "s2"), edge("old", "s1"),
      edge("new", "s2"), edge("new", "s1"), edge("s2", "s1", "before"), edge("s2", "l2"), edge("s1", "l1"),
      edge("l2", "m"), edge("l1", "m"), edge("m", "f"),
    ],
    more: [],
  };
  const way = (id) => pure.wayTo(picture, EDGES, id).map((n) => n.id).join(" ");
  assert.equal(way("f"), "table new s1 l1 m f");
  assert.equal(way("l2"), "table new s2 l2");
  assert.equal(way("old"), "table old");
  assert.equal(way("main"), "table new main");
  assert.equal(way("table"), "table");
  assert.equal(way(undefined), "table new s1");
  assert.deepEqual(pure.wayTo({ ...picture, nodes: [], edges: [] }, EDGES), []);
});

test("steady: what is drawn lower by some stands on the screen where it stood", () => {
  const view = { x: 5, y: 40, k: 0.5 }, on = (of, y) => of.y + y * of.k;
  assert.equal(on(pure.steady(view, 1082), 1475), on(view, 393));
});

test("cleared: what is chosen is not under the small map, and stays on the stage", () => {
  const view = { x: 0, y: 0, k: 1 }, room = { width: 1000, height: 600 }, map = { width: 120, height: 100 };
  assert.deepEqual(pure.cleared(view, box("a", 700, 500), room, { width: 0, height: 0 }), view);
  assert.deepEqual(pure.cleared(view, box("a", 600, 500), room, map), view);  // beside it
  assert.deepEqual(pure.cleared(view, box("a", 700, 400), room, map), view);  // above it
  assert.deepEqual(pure.cleared(view, box("a", 700, 500), room, map), { x: 0, y: -66, k: 1 });
  assert.deepEqual(pure.cleared(view, { ...box("a", 700, 20), h: 570 }, room, map), { x: -36, y: 0, k: 1 });
});

test("mapped: a small map where the graph does not fit, and the stage is not small itself", () => {
  const graph = { width: 2000, height: 3000 };
  assert.equal(pure.mapped(graph, 1, { width: 1000, height: 600 }), true);
  assert.equal(pure.mapped(graph, 0.2, { width: 1000, height: 600 }), false);
  assert.equal(pure.mapped(graph, 1, { width: 600, height: 600 }), false);
  assert.equal(pure.mapped(graph, 1, { width: 1000, height: 300 }), false);
});

test("revealed: moves as little as shows the box, and not at all if it is in sight", () => {
  const room = { width: 800, height: 600 }, view = { x: 0, y: 0, k: 1 };
  assert.deepEqual(pure.revealed(view, box("a", 100, 100), room), view);
  assert.deepEqual(pure.revealed(view, box("a", 900, 100), room), { k: 1, x: 800 - 16 - 900 - 200, y: 0 });
  assert.deepEqual(pure.revealed(view, box("a", 100, -40), room), { k: 1, x: 0, y: 64 });
  const half = { x: 0, y: 0, k: 0.5 };
  assert.deepEqual(pure.revealed(half, box("a", 1368, 1102), room), half);  // up to the edge, 16 and 24 away from it
  assert.deepEqual(pure.revealed(half, box("a", 1388, 1122), room), { k: 0.5, x: -10, y: -10 });
  assert.deepEqual(pure.revealed(half, box("a", 12, 28), room), { k: 0.5, x: 10, y: 10 });
});

test("eased and between: from the start to the end, never back", () => {
  assert.equal(pure.eased(0), 0);
  assert.equal(pure.eased(1), 1);
  for (let t = 0; t < 1; t += 0.05) assert.ok(pure.eased(t + 0.05) >= pure.eased(t));
  assert.deepEqual([0.25, 0.5, 0.75].map(pure.eased), [0.125, 0.5, 0.875]);
  assert.deepEqual(pure.between({ x: 20, y: 10 }, box("a", 100, 30), 0.5), { x: 60, y: 20, w: 200, h: 50 });
});

test("origin and leading: a card comes from where it was, else out of what leads to it", () => {
  const picture = {
    edges: [
      { s: "a", t: "b", kind: "contains" }, { s: "c", t: "b", kind: "hides" }, { s: "d", t: "a", kind: "before" },
    ],
    more: [{ id: "m", parent: "a" }],
  };
  const parents = pure.leading(picture, EDGES);
  assert.deepEqual([...parents], [["b", "a"], ["m", "a"]]);
  const places = new Map([["a", { x: 1, y: 2 }]]);
  assert.deepEqual(pure.origin(box("a", 9, 9), places, parents), { x: 1, y: 2 });
  assert.deepEqual(pure.origin(box("b", 9, 9), places, parents), { x: 1, y: 2 });
  assert.deepEqual(pure.origin(box("z", 9, 9), places, parents), { x: 9, y: 9 });
});

test("neighbour: left and right along edges that lead on, up and down within a column, past hidden ones", () => {
  const items = [box("a", 0, 0), box("b", 300, 100), box("c", 300, 0), box("m", 300, 50, { hidden: true })];
  const edges = [{ s: "a", t: "x", kind: "before" }, { s: "a", t: "b", kind: "contains" }];
  const to = (key, i) => pure.neighbour(key, items[i], items, edges, EDGES);
  assert.equal(to("ArrowRight", 0), "b");
  assert.equal(to("ArrowLeft", 1), "a");
  assert.equal(to("ArrowLeft", 0), undefined);
  assert.equal(to("ArrowUp", 1), "c");
  assert.equal(to("ArrowDown", 2), "b");
  assert.equal(to("ArrowDown", 1), undefined);
  assert.equal(to("ArrowUp", 2), undefined);
});

test("drawn and matches: hidden ones are drawn but never a hit", () => {
  const nodes = [box("data-1", 0, 0, { title: "/w/Data-1.parquet" })];
  const [node, hidden] = pure.drawn({ nodes, more: [{ id: "m", label: "2 more" }] });
  assert.ok(hidden.hidden && hidden.title === "2 more");
  assert.ok(pure.matches(node, "parquet"));
  assert.equal(pure.matches(hidden, "more"), false);
  assert.equal(pure.matches(node, ""), false);
});

test("inks and looks: colours for day and night, and none that is not there", () => {
  const entry = { color: "#111", night: "", look: "gone" }, other = { color: "#222", night: "#eee", look: "" };
  assert.deepEqual(pure.inks({ k: entry, s: other, m: undefined }), [
    ["--k-day", "#111"], ["--k-night", "#111"], ["--s-day", "#222"], ["--s-night", "#eee"],
    ["--m-day", ""], ["--m-night", ""],
  ]);
  assert.deepEqual(pure.looks(entry, other, undefined), ["ix-look-gone"]);
});

test("legendRows: statuses of what is looked at, and marks only if there are any", () => {
  const vocabulary = {
    kinds: { file: { title: "a file", glyph: "M0,0" } },
    statuses: { LIVE: { title: "live", sign: "+", of: "entry" }, both: { title: "in both", sign: "=", of: "diff" } },
    marks: { lost: { title: "nothing leads to it" } },
  };
  const texts = (...nodes) => pure.legendRows(vocabulary, { nodes }).map((row) => row.text);
  assert.deepEqual(texts({ status: "", mark: "" }), ["a file", "live"]);
  assert.deepEqual(texts({ status: "LIVE", mark: "lost" }), ["a file", "live", "lost: nothing leads to it"]);
  const { sign, ink } = pure.legendRows(vocabulary, { nodes: [{ status: "", mark: "lost" }] }).at(-1);
  assert.deepEqual([sign, ink], ["L", { s: vocabulary.marks.lost }]);
  assert.deepEqual(texts({ status: "both", mark: "" }, { status: "", mark: "" }), ["a file", "in both"]);
});

test("the timeline: what it says, and which chips it draws", () => {
  const timeline = {
    ids: ["7", "8"], operations: ["append", "delete"], times: ["t1", "t2"], refs: [[], ["branch main"]],
  };
  assert.equal(pure.snapshotWords(timeline, 0).where, "snapshot-1 of 2 · append · t1");
  assert.equal(pure.snapshotWords(timeline, 1).where, "snapshot-2 of 2 · delete · t2 · branch main");
  assert.equal(pure.snapshotWords(timeline, 1).label, "snapshot-2, delete");
  assert.deepEqual([0, 1].map((i) => pure.snapshotWords(timeline, i).refs), [0, 1]);
  assert.equal(pure.snapshotWords(timeline, 1).title, "snapshot-2 8\ndelete · t2\nbranch main");
  assert.deepEqual(pure.chipsInSight(0, 300, 1000), [0, 11]);
  assert.deepEqual(pure.chipsInSight(3000, 300, 1000), [81, 94]);
  assert.deepEqual(pure.chipsInSight(0, 300, 3), [0, 3]);
});

test("isDark: of colours that one sees", () => {
  assert.equal(pure.isDark("rgb(255, 255, 255)"), false);
  assert.equal(pure.isDark("rgb(20, 24, 31)"), true);
  assert.equal(pure.isDark("rgb(111, 111, 111)"), false);
  assert.equal(pure.isDark("rgb(109, 109, 109)"), true);
  for (const [color, dark] of [["rgb(255, 0, 0)", true], ["rgb(0, 255, 0)", false], ["rgb(0, 0, 255)", true]]) {
    assert.equal(pure.isDark(color), dark);  // as bright as an eye sees it
  }
  for (const [color, dark] of [  // as browsers compute mixed and wide colours
    ["color(srgb 1 1 1)", false], ["color(srgb 0.07 0.09 0.12)", true], ["color(display-p3 0.98 0.98 0.97)", false],
    ["color(srgb 1e-7 0 0 / 0.2)", null], ["oklab(0.98 0 0)", false], ["oklch(0.2 0.02 260)", true],
    ["lab(97 0 0)", false], ["lch(12 3 270)", true],
  ]) assert.equal(pure.isDark(color), dark, color);
  assert.equal(pure.isDark("rgba(0, 0, 0, 0.5)"), true);
  assert.equal(pure.isDark("rgba(0, 0, 0, 0)"), null);
  assert.equal(pure.isDark(""), null);
});

test("unfolded: what folded nodes lead to is gone, what others lead to as well stays, and the rest closes up", () => {
  const node = (id, column, y) => ({ ...box(id, 250 * column, y), w: 200, focus: id === "s" });
  const edge = (s, t) => ({ s, t, kind: "contains" });
  const picture = {
    columns: [{ x: 0 }, { x: 250 }, { x: 500 }, { x: 750 }],
    nodes: [node("j", 0, 30), node("s", 1, 30), node("l", 2, 92), node("m", 2, 216), node("a", 3, 30), node("b", 3, 92),
            node("c", 3, 154)],
    edges: [
      edge("j", "s"), edge("s", "l"), edge("s", "m"), edge("l", "a"), edge("l", "b"), edge("m", "b"), edge("m", "c"),
    ],
    more: [{ id: "more", parent: "m", before: false, label: "7 more", ...box("more", 750, 216), h: 26 }],
  };
  const shown = (folded, out) => pure.unfolded(picture, EDGES, new Set(folded), out);
  const ids = (of) => pure.drawn(of).map((n) => n.id).join(" ");
  assert.equal(ids(shown([])), "j s l m a b c more");
  assert.deepEqual(shown([]).nodes.map((n) => n.fold), ["", "open", "open", "open", "", "", ""]);
  assert.equal(ids(shown(["l"])), "j s l m b c more");  // the other manifest has b too
  assert.equal(ids(shown(["m"])), "j s l m a b");
  assert.deepEqual(shown(["m"]).nodes.map((n) => n.fold), ["", "open", "open", "folded", "", ""]);
  assert.equal(ids(shown(["s"])), "j s");
  assert.equal(ids(shown(["j"])), "j s l m a b c more");  // what leads to snapshots has no fold
  assert.equal(ids(shown([], (n) => n.id === "c")), "j s l m a b more");
  const closed = shown(["l", "m"]);
  assert.deepEqual(closed.nodes.slice(2).map((n) => n.y), [30, 92]);
});
