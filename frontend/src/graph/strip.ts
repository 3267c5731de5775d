// The whole graph in a strip beside the stage, and which part of it is in sight. It has a place of its own, so it never
// covers a card; it is there only when much of the graph is out of sight.

import { html, zoomOf } from "./dom";
import { areaInSight, needsMap } from "./geometry";
import type { Item, Size, View } from "./geometry";

const WIDTH = 48;

export class Strip {
  readonly element = html("div", "graph-strip");
  private readonly canvas = html("canvas");
  private readonly sight = html("div", "graph-strip-sight");
  private graph: Size = { width: 0, height: 0 };

  /** `go(y)` moves the middle of what is in sight to that height of the graph. */
  constructor(go: (y: number) => void) {
    this.element.hidden = true;
    this.element.title = "The whole graph: click or drag to move";
    this.element.setAttribute("aria-hidden", "true");
    this.element.append(this.canvas, this.sight);
    const move = (event: PointerEvent): void => {
      const top = this.element.getBoundingClientRect().top, pixels = (event.clientY - top) / zoomOf(this.element);
      go(pixels / this.scale());
    };
    this.element.addEventListener("pointerdown", (event) => {
      this.element.setPointerCapture(event.pointerId);
      move(event);
    });
    this.element.addEventListener("pointermove", (event) => {
      if (event.buttons && this.element.hasPointerCapture(event.pointerId)) move(event);
    });
  }

  private scale(): number {
    return this.graph.height ? Math.min(this.element.clientHeight / this.graph.height, 1) : 1;
  }

  /** Draw a picture of this size; `color` of each item. */
  draw(graph: Size, items: Iterable<Item>, color: (item: Item) => string): void {
    this.graph = graph;
    const ratio = devicePixelRatio || 1, height = this.element.clientHeight, pen = this.canvas.getContext("2d");
    if (!height || !graph.width || !pen) return;
    this.canvas.width = WIDTH * ratio;
    this.canvas.height = height * ratio;
    const across = (WIDTH - 8) / graph.width, down = this.scale();
    pen.setTransform(ratio, 0, 0, ratio, 4 * ratio, 0);
    for (const item of items) {
      pen.fillStyle = color(item);
      pen.fillRect(item.x * across, item.y * down, Math.max(2, item.w * across), Math.max(1, item.h * down));
    }
  }

  /** Whether it is there changes the room that the stage has: returns whether it did. */
  offer(graph: Size, zoom: number, room: Size): boolean {
    const there = !this.element.hidden;
    const hidden = !needsMap(graph, zoom, { ...room, width: room.width + (there ? WIDTH : 0) }, there);
    const changed = hidden !== this.element.hidden;
    this.element.hidden = hidden;
    return changed;
  }

  look(view: View, room: Size): void {
    if (this.element.hidden) return;
    const area = areaInSight(view, room), scale = this.scale();
    this.sight.style.transform = `translateY(${Math.max(0, area.y * scale)}px)`;
    this.sight.style.height = `${Math.max(4, area.h * scale)}px`;
  }
}
