// The graph from afar, where there is no text: coloured boxes and lines on a canvas.

import { wirePath } from "./bundle";
import type { Wire } from "./bundle";
import { around, overlaps } from "./geometry";
import type { Item, Size, View } from "./geometry";
import { isDark } from "./theme";
import type { Box, Ink, Vocabulary } from "./types";
import { own } from "./words";

/** Colours as a canvas takes them: CSS has them by day and by night at once. */
export class Palette {
  private readonly dark: boolean;
  private readonly style: CSSStyleDeclaration;

  constructor(element: Element, private readonly vocabulary: Vocabulary) {
    this.dark = isDark(element);
    this.style = getComputedStyle(element);
  }

  token(name: string): string {
    return this.style.getPropertyValue(name).trim() || "#888";
  }

  item(item: Item): string {
    const { node } = item;
    if (!node) return this.token("--line-strong");
    if (node.bad) return this.token("--bad");
    const status = own(this.vocabulary.statuses, node.status);
    if (status?.look === "out" || node.card?.dead) return this.token("--line-strong");
    const operation = node.card?.operation;
    if (operation) return own(this.vocabulary.operations, operation) ?? this.vocabulary.operation;
    return this.pick(own(this.vocabulary.kinds, node.kind)) || this.token("--muted");
  }

  edge(kind: string): string {
    return this.pick(own(this.vocabulary.edges, kind)) || this.token("--line-strong");
  }

  private pick(ink: Ink | undefined): string {
    return ink ? (this.dark && ink.night ? ink.night : ink.color) : "";
  }
}

export interface FarPicture {
  items: Iterable<Item>;
  wires: Wire[];
  place(id: string): Box | undefined;
  share(item: Item): number | null;
  /** Nodes with a ring around them: selected, and found. */
  rings: Map<string, string>;
}

/** Draw what is in sight; boxes are filled as far as their share goes. */
export function paintFar(canvas: HTMLCanvasElement, scene: FarPicture, view: View, room: Size, area: Box, palette: Palette): void {
  const pen = canvas.getContext("2d"), ratio = devicePixelRatio || 1;
  if (!pen) return;
  canvas.width = room.width * ratio;
  canvas.height = room.height * ratio;
  pen.setTransform(ratio * view.k, 0, 0, ratio * view.k, ratio * view.x, ratio * view.y);
  pen.lineWidth = 1 / view.k;
  pen.globalAlpha = 0.6;
  for (const { wire, boxes } of inArea(scene, area)) {
    pen.strokeStyle = palette.edge(wire.kind);
    pen.stroke(new Path2D(wirePath(wire, boxes, area)));
  }
  for (const item of scene.items) {
    const box = scene.place(item.id);
    if (!box || !overlaps(box, area)) continue;
    const share = scene.share(item), ring = scene.rings.get(item.id);
    pen.fillStyle = palette.item(item);
    pen.globalAlpha = share === null ? 0.75 : 0.3;
    pen.fillRect(box.x, box.y, box.w, box.h);
    pen.globalAlpha = 1;
    if (share !== null) pen.fillRect(box.x, box.y, box.w * share, box.h);
    if (ring) {
      pen.strokeStyle = ring;
      pen.lineWidth = 3 / view.k;
      pen.strokeRect(box.x - 2 / view.k, box.y - 2 / view.k, box.w + 4 / view.k, box.h + 4 / view.k);
      pen.lineWidth = 1 / view.k;
    }
  }
}

function* inArea(scene: FarPicture, area: Box): Generator<{ wire: Wire; boxes: Box[] }> {
  for (const wire of scene.wires) {
    const boxes = [wire.source, ...wire.edges.map((edge) => edge.t)].flatMap((id) => scene.place(id) ?? []);
    if (boxes.length > 1 && overlaps(around(boxes), area)) yield { wire, boxes };
  }
}
