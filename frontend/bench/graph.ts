// A page with the graph of a table of 10,000 files, and a measure of its frames while it is panned. Bundled and run by
// benchmarks/frames.py, which gives it the vocabulary.

import { GraphCanvas } from "../src/graph/index";
import "../src/style/tokens.css";
import type { Picture, PictureEdge, PictureNode, Vocabulary } from "../src/graph/types";

const ROW = 83, COLUMN = 254;

function node(id: string, kind: string, column: number, y: number, more: Partial<PictureNode> = {}): PictureNode {
  return {
    id, kind, label: id, x: COLUMN * column, y, w: 208, h: 71, lines: [], status: "", fold: "", current: false, bad: false, warn: false,
    title: `/warehouse/db/t/data/${id}.parquet`, problem: "", focus: false, mark: "", ...more,
  };
}

/** A picture of so many nodes: one snapshot, its manifests, and files with partitions and sizes. */
function largePicture(count: number, manifests: number): Picture {
  const files = count - manifests - 3, nodes = [
    node("t", "catalog", 0, 30), node("snapshot-1", "snapshot", 1, 30, { focus: true, current: true, fold: "open" }),
    node("manifest list 1", "manifest_list", 2, 30, { fold: "open" }),
  ];
  const edges: PictureEdge[] = [];
  const lead = (s: string, t: string, status = ""): number => edges.push({ s, t, kind: "contains", status });
  lead("t", "snapshot-1");
  lead("snapshot-1", "manifest list 1");
  for (let m = 0; m < manifests; m++) {
    const first = Math.floor((files * m) / manifests), last = Math.floor((files * (m + 1)) / manifests), id = `manifest-${m}`;
    nodes.push(node(id, "data_manifest", 3, 30 + ROW * first, { fold: "open" }));
    lead("manifest list 1", id);
    for (let f = first; f < last; f++) {
      const card = {
        measures: `${f + 1} rows · ${f % 900} KiB · sequence ${m}`, rows: f, bytes: 1 + ((f * 7919) % 1000),
        chips: [["day", `2024-01-${String(1 + (f % 28)).padStart(2, "0")}`], ["region", `region-${f % 40}`]] as [string, string][],
      };
      nodes.push(node(`part-${String(f).padStart(5, "0")}`, "data_file", 4, 30 + ROW * f, { status: "EXISTING", fold: "folded", card }));
      lead(id, `part-${String(f).padStart(5, "0")}`, "EXISTING");
    }
  }
  const columns = ["metadata", "snapshots", "manifest lists", "manifests", "files"].map((name, i) => ({ name, x: COLUMN * i }));
  return { title: "t", snapshot: "1", columns, nodes, edges, more: [] };
}

interface Frames {
  perSecond: number;
  slowest: number;
  cards: number;
}

/** Turn the wheel a little in each frame, for some seconds; with Ctrl it zooms, out and in again. */
function measure(stage: HTMLElement, pixels: number, seconds: number, ctrlKey = false): Promise<Frames> {
  const area = stage.getBoundingClientRect(), times: number[] = [];
  let cards = 0;
  return new Promise((done) => {
    const begun = performance.now();
    const tick = (now: number): void => {
      times.push(now);
      cards = Math.max(cards, stage.querySelectorAll(".graph-card").length);
      const deltaY = ctrlKey && times.length % 120 > 60 ? -pixels : pixels;
      stage.dispatchEvent(new WheelEvent("wheel", { deltaY, ctrlKey, clientX: area.x + 50, clientY: area.y + 50, bubbles: true, cancelable: true }));
      if (now - begun < 1000 * seconds) requestAnimationFrame(tick);
      else {
        const gaps = times.slice(1).map((time, i) => time - (times[i] ?? 0));
        done({ perSecond: Math.round((1000 * gaps.length) / (now - begun)), slowest: Math.round(Math.max(...gaps)), cards });
      }
    };
    requestAnimationFrame(tick);
  });
}

declare global {
  var bench: (vocabulary: Vocabulary, count: number, manifests: number, seconds: number) => Promise<Record<string, Frames | number>>;
}

globalThis.bench = async (vocabulary, count, manifests, seconds) => {
  const nothing = (): void => undefined, begun = performance.now();
  const graph = new GraphCanvas(vocabulary, { select: nothing, toggle: nothing, page: nothing, hover: nothing });
  document.body.style.cssText = "margin:0;height:100vh";
  document.body.replaceChildren(graph.element);
  graph.show(largePicture(count, manifests));
  const shown = Math.round(performance.now() - begun), stage = graph.element.querySelector<HTMLElement>("[role=tree]");
  if (!stage) throw new Error("no stage");
  const slow = await measure(stage, 12, seconds), fast = await measure(stage, 120, seconds);
  const zooms = await measure(stage, 12, seconds, true);
  graph.fit();
  graph.zoom(0.5);
  const titles = await measure(stage, 30, seconds);
  graph.fit(true);
  graph.zoom(4); // 8 %
  const boxes = await measure(stage, 30, seconds);
  return { shown, slow, fast, zooms, titles, boxes };
};
