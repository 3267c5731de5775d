// @vitest-environment happy-dom
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { GraphCanvas } from "../src/graph/canvas";
import type { GraphHandlers } from "../src/graph/canvas";
import { Grip } from "../src/graph/grip";
import { Inspector } from "../src/graph/inspector";
import { Timeline } from "../src/graph/timeline";
import type { Picture, PictureNode, Vocabulary } from "../src/graph/types";

const VOCABULARY: Vocabulary = {
  kinds: {
    snapshot: { title: "snapshot", glyph: "M0,0", color: "#56b4e9", look: "", double: "focus" },
    data_file: { title: "data file", glyph: "M0,0", color: "#44aa77", look: "", double: "toggle" },
  },
  statuses: { ADDED: { title: "ADDED", sign: "+", of: "entry", color: "#007a4d", look: "new" } },
  marks: {}, edges: { contains: { dashed: false, back: false, color: "" }, "does not apply": { dashed: true, back: false, color: "" } },
  terms: {}, operations: { append: "#009e73" }, operation: "#56b4e9", operation_marks: { append: "●" }, operation_mark: "○",
};
const FILES = 500;
function node(id: string, x: number, y: number, more: Partial<PictureNode> = {}): PictureNode {
  return {
    id, x, y, w: 208, h: 71, kind: "data_file", label: id, lines: [], status: "ADDED", fold: "", current: false, bad: false,
    warn: false, title: `/data/${id}.parquet`, problem: "", focus: false, mark: "", ...more,
  };
}
function picture(): Picture {
  const files = Array.from({ length: FILES }, (_, i) => node(`file-${i}`, 254, 30 + 83 * i));
  const card = { measures: "+1 file", operation: "append" };
  return {
    title: "t", snapshot: "1", columns: [{ name: "snapshots", x: 0 }, { name: "files", x: 254 }],
    nodes: [node("s", 0, 30, { kind: "snapshot", status: "", focus: true, current: true, fold: "open", card }), ...files],
    edges: files.map((file) => ({ s: "s", t: file.id, kind: "contains", status: "ADDED" })), more: [],
  };
}

const room = { width: 1000, height: 600 };
const asked = { select: vi.fn(), toggle: vi.fn(), page: vi.fn(), hover: vi.fn(), zoom: vi.fn() } satisfies GraphHandlers;
let graph: GraphCanvas;
const cards = (): HTMLElement[] => [...graph.element.querySelectorAll<HTMLElement>(".graph-card")];
const card = (id: string): HTMLElement | undefined => cards().find((one) => one.dataset["id"] === id);
const stage = (): HTMLElement => {
  const found = graph.element.querySelector<HTMLElement>("[role=tree]");
  if (!found) throw new Error("no tree");
  return found;
};

beforeEach(() => {
  for (const mock of Object.values(asked)) mock.mockClear();
  vi.spyOn(HTMLElement.prototype, "clientWidth", "get").mockImplementation(() => room.width);
  vi.spyOn(HTMLElement.prototype, "clientHeight", "get").mockImplementation(() => room.height);
  Object.assign(room, { width: 1000, height: 600 });
  graph = new GraphCanvas(VOCABULARY, asked);
  document.body.append(graph.element);
  graph.show(picture());
});
afterEach(() => {
  graph.close();
  vi.restoreAllMocks();
});

test("only what is near the stage is in the document", () => {
  expect(cards().length).toBeGreaterThan(5);
  expect(cards().length).toBeLessThan(30);
  expect(card("file-499")).toBe(undefined);
  graph.select(["file-499"]);
  expect(card("file-499")).toBeDefined();
  expect(card("file-0")).toBe(undefined);
});

test("a snapshot has the colour and mark of its operation", () => {
  expect(card("s")?.style.getPropertyValue("--k")).toBe("#009e73");
  expect(card("s")?.querySelector(".graph-operation")?.textContent).toBe("●");
});

test("one trunk, with a count, instead of five hundred lines", () => {
  expect(graph.element.querySelectorAll(".graph-wires > g:first-child path").length).toBe(1);
  expect(card("s")?.querySelector(".graph-fan")?.textContent).toBe("×500");
});

test("a stage of another size is fitted again, until a person pans or zooms", () => {
  const before = graph.zoomPercent;
  room.width = 300;
  graph.resize();
  expect(graph.zoomPercent).toBeLessThan(before);
  room.width = 1000;
  graph.resize();
  expect(graph.zoomPercent).toBe(before);
  stage().dispatchEvent(new WheelEvent("wheel", { deltaY: 500, bubbles: true, cancelable: true })); // further down
  room.width = 300;
  graph.resize();
  expect(graph.zoomPercent).toBeLessThan(before);
  room.width = 1000;
  graph.resize();
  graph.zoom(1 / 2);
  const chosen = graph.zoomPercent;
  room.width = 600;
  graph.resize();
  expect(graph.zoomPercent).toBe(chosen);
  graph.fit();
  expect(graph.zoomPercent).not.toBe(chosen);
});

test("a picture that was shown before there was room is fitted when there is", () => {
  room.width = 0;
  const early = new GraphCanvas(VOCABULARY, asked);
  early.show(picture());
  room.width = 1000;
  early.resize();
  expect(early.zoomPercent).toBe(graph.zoomPercent);
  early.close();
});

test("levels of detail: all, titles, boxes on a canvas", () => {
  expect(stage().dataset["level"]).toBe("full");
  graph.zoom(0.5);
  expect(stage().dataset["level"]).toBe("title");
  expect(cards().length).toBeGreaterThan(0);
  graph.zoom(0.1);
  expect(stage().dataset["level"]).toBe("box");
  expect(cards()).toEqual([]);
  graph.fit();
  expect(cards().length).toBeGreaterThan(0);
});

test("search counts, goes round, and says that nothing was found", () => {
  expect(graph.find("FILE-49")).toEqual({ count: 11, at: 1 });
  expect(card("file-49")?.classList.contains("graph-hit")).toBe(true);
  expect(graph.findNext(1)).toEqual({ count: 11, at: 2 });
  expect(card("file-490")?.classList.contains("graph-found")).toBe(true);
  expect(graph.findNext(-1)).toEqual({ count: 11, at: 1 });
  expect(graph.findNext(-1)).toEqual({ count: 11, at: 11 });
  expect(graph.findNext(1)).toEqual({ count: 11, at: 1 });
  expect(graph.find("nowhere")).toEqual({ count: 0, at: 0 });
  expect(graph.findNext(1)).toEqual({ count: 0, at: 0 });
});

test("a click selects and tells; what is selected elsewhere is not told", () => {
  graph.select(["file-1"]);
  expect(card("file-1")?.getAttribute("aria-selected")).toBe("true");
  expect(asked.select).not.toHaveBeenCalled();
  card("file-2")?.dispatchEvent(new MouseEvent("click", { bubbles: true }));
  expect(asked.select).toHaveBeenLastCalledWith(["file-2"]);
  card("file-3")?.dispatchEvent(new MouseEvent("click", { bubbles: true, ctrlKey: true }));
  expect(asked.select).toHaveBeenLastCalledWith(["file-2", "file-3"]);
  stage().dispatchEvent(new MouseEvent("click", { bubbles: true }));
  expect(asked.select).toHaveBeenLastCalledWith([]);
});

test("a click on the sign folds, a double click asks for the kind's own request", () => {
  card("s")?.querySelector(".graph-fold")?.dispatchEvent(new MouseEvent("click", { bubbles: true }));
  expect(asked.toggle).toHaveBeenLastCalledWith("s", false);
  card("s")?.dispatchEvent(new MouseEvent("click", { bubbles: true, detail: 1 }));
  document.body.dispatchEvent(new MouseEvent("mouseup", { bubbles: true, detail: 2 }));  // the graph has moved meanwhile
  expect(asked.toggle).toHaveBeenLastCalledWith("s", true);
  const before = vi.mocked(asked.toggle).mock.calls.length;
  card("s")?.dispatchEvent(new MouseEvent("click", { bubbles: true, detail: 1 }));
  document.body.dispatchEvent(new MouseEvent("mouseup", { bubbles: true, detail: 1 }));  // of another, later click
  document.body.dispatchEvent(new MouseEvent("mouseup", { bubbles: true, detail: 2 }));
  expect(asked.toggle).toHaveBeenCalledTimes(before);
});

test("a tree for the keyboard and for screen readers", () => {
  const press = (key: string): boolean => stage().dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  press("ArrowRight");
  expect(asked.select).toHaveBeenLastCalledWith(["s"]);
  press("Enter");
  expect(asked.toggle).toHaveBeenLastCalledWith("s", false);
  press("ArrowRight");
  const first = card("file-0");
  expect(stage().getAttribute("aria-activedescendant")).toBe(first?.id);
  const told = ["role", "aria-level", "aria-posinset", "aria-setsize", "aria-description"].map((name) => first?.getAttribute(name));
  expect(told).toEqual(["treeitem", "2", "1", "500", "held by s"]);
  expect(card("s")?.getAttribute("aria-expanded")).toBe("true");
  press("End");
  expect(asked.select).toHaveBeenLastCalledWith(["file-499"]);
  expect(card("file-499")?.getAttribute("aria-posinset")).toBe("500");
});

test("all text is text", () => {
  const evil = "<img src=x onerror=alert(1)>", nodes = [node(evil, 0, 30, { label: evil, lines: [evil], title: evil, problem: evil })];
  graph.show({ title: evil, snapshot: evil, columns: [{ name: evil, x: 0 }], nodes, edges: [], more: [] });
  expect(graph.element.querySelector("img")).toBe(null);
  expect(card(evil)?.textContent).toContain(evil);
  const inspector = new Inspector({}, { act: () => undefined });
  inspector.show({
    title: evil, kind: evil, problems: [evil], summary: [[evil, evil, evil]], actions: [["life", evil]],
    sections: [{ title: evil, note: evil, fields: [[evil, evil, evil]], columns: [evil], rows: [[evil]], raw: evil }],
  });
  expect(inspector.element.querySelector("img")).toBe(null);
  expect(inspector.element.textContent).toContain(evil);
});

test("the inspector has its summary first, and puts away what is null on both sides", () => {
  const act = vi.fn(), inspector = new Inspector({ rows: "how many" }, { act });
  inspector.show({
    title: "data-1", kind: "data file", problems: [], summary: [["rows", 3]], actions: [["life", "Tell its life"]],
    sections: [{ title: "entry", columns: ["field", "stored", "read", "why"], rows: [["first_row_id", null, null, ""], ["status", "ADDED", "EXISTING", "x"]] }],
  });
  const [summary, section] = ["dl.inspector-summary", "details.inspector-section"].map((one) => inspector.element.querySelector(one));
  expect(summary?.textContent).toBe("rows3");
  expect(summary && section && summary.compareDocumentPosition(section) & Node.DOCUMENT_POSITION_FOLLOWING).toBeTruthy();
  expect(inspector.element.querySelector(".inspector-empty summary")?.textContent).toBe("1 row without values");
  inspector.element.querySelector("button")?.click();
  expect(act).toHaveBeenCalledWith("life");
});

test("the grip widens its panel, by arrows too, and remembers it", () => {
  const row = document.createElement("div"), panel = document.createElement("div"), grip = new Grip(panel);
  row.append(grip.element, panel);
  vi.spyOn(panel, "offsetWidth", "get").mockImplementation(() => Number.parseInt(panel.style.width, 10));
  grip.widen();
  expect(panel.style.width).toBe("360px");
  grip.element.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowLeft" }));
  expect([panel.style.width, grip.element.getAttribute("aria-valuenow")]).toEqual(["384px", "384"]);
  expect(new Grip(panel).element.title).toContain("arrows");
  localStorage.clear();
});

test("the timeline steps to the ends and stops there", () => {
  const go = vi.fn(), timeline = new Timeline(VOCABULARY, go);
  timeline.set({ ids: ["1", "2"], operations: ["append", "merge"], times: ["a", "b"], refs: [[], []] });
  timeline.show("1");
  timeline.step(-1);
  expect(go).not.toHaveBeenCalled();
  timeline.step(1);
  expect(go).toHaveBeenLastCalledWith("2");
  expect([...timeline.element.querySelectorAll(".timeline-mark")].map((mark) => mark.textContent)).toEqual(["●", "○"]);
  expect(timeline.element.querySelector("[aria-current]")?.getAttribute("aria-label")).toBe("snapshot-1, append");
  timeline.set(null);
  expect(timeline.element.hidden).toBe(true);
  timeline.close();
});
