// The graph on its stage: cards and edges, how they move from one picture to the next, panning, zooming, selecting and
// searching. Only what is near the stage is in the document; from afar the graph is drawn on a canvas.

import { bundle, isTrunk, wirePath } from "./bundle";
import type { Wire } from "./bundle";
import { paint } from "./card";
import { html, svg, zoomOf } from "./dom";
import { Palette, paintFar } from "./far";
import {
  HEAD_HEIGHT, LOW_ZOOM, areaInSight, around, between, spaced, contains, eased, edgeEnd, edgePath, extent, fitted, focusOf, itemsOf,
  levelAt, origin, overlaps, revealed, steady, zoomed,
} from "./geometry";
import type { Item, Level, Point, Size, View } from "./geometry";
import { Strip } from "./strip";
import { watchTheme } from "./theme";
import { neighbour, parentsOf, ranks } from "./tree";
import type { Rank } from "./tree";
import type { Box, Picture, PictureEdge, PictureNode, Vocabulary } from "./types";
import { ink, looks, matches, own, relations } from "./words";
import type { Found } from "./words";

const MOVE_MS = 380, FLASH_MS = 1500, ZOOM_STEP = 1.25;
/** Pixels around the stage in which cards are in the document, and as many edges of one node light up. */
const MARGIN = 400, MOST_LIT = 60;
/** So many pixels sideways are a hand that is not steady; and of so many is a line of a wheel. */
const SIDEWAYS = 40, LINE = 16;

export interface GraphHandlers {
  /** A person has selected these nodes; none when they clicked beside all. */
  select(ids: string[]): void;
  /** A person wants a node unfolded or folded; `double`: by a double click, see the kind's `double`. */
  toggle(id: string, double: boolean): void;
  /** A person wants a group of hidden nodes. */
  page(id: string): void;
  /** The pointer is over a node, or over none. */
  hover(id: string | null): void;
  /** The zoom has changed, to so many per cent. */
  zoom?(percent: number): void;
  /** Whether the wheel moves the graph and not the page around it; always, without this. */
  wheel?(): boolean;
}

let count = 0;

// What the bars on cards compare.
function amountOf({ card }: PictureNode): number {
  return card?.bytes ?? card?.rows ?? 0;
}

export class GraphCanvas {
  readonly element = html("div", "graph");
  private readonly stage = html("div", "graph-stage");
  private readonly far = html("canvas", "graph-far");
  private readonly world = html("div", "graph-world");
  private readonly cardLayer = html("div", "graph-cards");
  private readonly wireLayer = svg("g");
  private readonly litLayer = svg("g", { class: "graph-lit" });
  private readonly heads = html("div", "graph-heads");
  private readonly strip: Strip;
  private readonly prefix = `graph-${++count}-`;
  private unwatch: (() => void) | undefined;
  private readonly size: ResizeObserver;

  private view: View = { x: 26, y: HEAD_HEIGHT, k: 1 };
  private level: Level = "full";
  /** Whether a person has zoomed, or moved the graph sideways: then nothing but `fit` refits. */
  private moved = false;
  private fitsAll = false;
  private home: View | null = null;

  private given: Picture | null = null;
  private picture: Picture | null = null;
  private items = new Map<string, Item>();
  private graph: Size = { width: 0, height: 0 };
  private now = new Map<string, Box>();
  private largest = new Map<string, number>();
  private parents = new Map<string, string>();
  private ranks = new Map<string, Rank>();
  private edgesOf = new Map<string, PictureEdge[]>();
  private wires: Wire[] = [];
  private fans = new Map<string, number>();

  private readonly cards = new Map<string, HTMLElement>();
  private readonly lines = new Map<string, SVGPathElement>();
  /** The part of the graph that is in the document. */
  private area: Box | null = null;
  private moving: { item: Item; from: Point }[] = [];
  private fresh = new Set<string>();
  private changed = new Set<string>();

  private selected = new Set<string>();
  private dimmed = new Set<string>();
  private hovered: string | null = null;
  private found: string[] = [];
  private foundIds = new Set<string>();
  private at = 0;
  private text = "";
  /** What a click is to open. */
  private asked = "";
  private frame = 0;
  private farFrame = 0;
  private flashing: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly vocabulary: Vocabulary, private readonly handlers: GraphHandlers) {
    const lines = svg("svg", { class: "graph-wires", "aria-hidden": "true" });
    lines.append(this.wireLayer, this.litLayer);
    this.far.setAttribute("aria-hidden", "true");
    this.far.hidden = true;
    this.world.append(lines, this.cardLayer);
    for (const part of [this.world, this.cardLayer]) part.setAttribute("role", "presentation");
    this.stage.append(this.far, this.world);
    this.stage.tabIndex = 0;
    this.stage.setAttribute("role", "tree");
    this.stage.setAttribute("aria-multiselectable", "true");
    this.stage.setAttribute("aria-label", "Metadata graph");
    this.heads.setAttribute("aria-hidden", "true");
    this.strip = new Strip((y) => this.pan({ ...this.view, y: this.room().height / 2 - y * this.view.k }));
    const frame = html("div", "graph-frame");
    frame.append(this.stage, this.heads);
    this.element.append(frame, this.strip.element);
    const { applies } = vocabulary.edges;
    if (applies) this.element.style.setProperty("--hides", ink(applies));
    this.listen();
    this.size = new ResizeObserver(() => this.resize());
    this.size.observe(frame);
  }

  // ---- drawing -----------------------------------------------------------------------------------------------------
  show(given: Picture): void {
    const next = spaced(given, this.room().width), before = this.items, { width } = this.graph;
    const same = this.home !== null && this.picture?.title === next.title; // and it was in a page
    this.given = given;
    this.unwatch ??= watchTheme(this.element, () => this.recolour()); // it is in a page by now
    const list = itemsOf(next), items = new Map(list.map((item) => [item.id, item]));
    const opened = same ? this.opened(items) : undefined, by = same ? this.steady(items, opened) : 0;
    const places = new Map([...this.now].map(([id, box]): [string, Point] => [id, { x: box.x, y: box.y + by }]));
    this.picture = next;
    this.items = items;
    this.index(list);
    this.moving = [];
    this.fresh = new Set();
    this.changed = new Set();
    this.now = new Map();
    for (const item of list) {
      const from = same ? origin(item, places, this.parents) : item, old = before.get(item.id);
      this.now.set(item.id, between(from, item, 0));
      if (from.x !== item.x || from.y !== item.y) this.moving.push({ item, from });
      if (!same) continue;
      if (!old) this.fresh.add(item.id);
      if (!old || old.node?.status !== item.node?.status || old.node?.mark !== item.node?.mark) this.changed.add(item.id);
    }
    this.selected = new Set([...this.selected].filter((id) => items.has(id)));
    this.search();
    this.drawHeads();
    this.redraw();
    if (same) {
      this.flash();
      this.animate();
      if ((this.strip.offer(this.graph, this.view.k, this.room()) || this.graph.width !== width) && !this.moved) this.refit();
      this.drawStrip();
      const item = opened === undefined ? undefined : items.get(opened);
      if (item) this.reveal(item, false);
      else this.revealFocus();
    } else {
      cancelAnimationFrame(this.frame);
      this.fit();
    }
  }

  // What is looked up while the picture is drawn.
  private index(list: Item[]): void {
    const picture = this.picture;
    if (!picture) return;
    this.graph = extent(list);
    this.parents = parentsOf(picture, this.vocabulary.edges);
    this.ranks = ranks(list, this.parents);
    this.wires = bundle(picture.edges, this.items);
    this.fans = new Map();
    for (const wire of this.wires) {
      if ((isTrunk(wire) || wire.stub) && wire.kind !== "does not apply") this.fans.set(wire.source, (this.fans.get(wire.source) ?? 0) + wire.edges.length);
    }
    this.edgesOf = new Map();
    for (const edge of picture.edges) {
      for (const id of [edge.s, edge.t]) {
        const known = this.edgesOf.get(id);
        if (known) known.push(edge);
        else this.edgesOf.set(id, [edge]);
      }
    }
    this.largest = new Map();
    for (const node of picture.nodes) {
      this.largest.set(node.kind, Math.max(amountOf(node), this.largest.get(node.kind) ?? 0));
    }
  }

  private share(item: Item): number | null {
    const amount = item.node && amountOf(item.node), largest = this.largest.get(item.node?.kind ?? "");
    return amount && largest ? amount / largest : null;
  }

  // What a click has opened, of what is drawn next: the node, or what a group of hidden nodes belonged to.
  private opened(next: Map<string, Item>): string | undefined {
    const asked = this.items.get(this.asked);
    this.asked = "";
    return asked && [asked.id, asked.group?.parent ?? ""].find((id) => next.has(id));
  }

  // What was opened, else selected, else in focus stays on the screen where it is: how much lower it is drawn next.
  private steady(next: Map<string, Item>, opened: string | undefined): number {
    const id = [opened, this.last(), focusOf(this.picture)?.id].find((one) => one !== undefined && next.has(one) && this.items.has(one));
    const by = id === undefined ? 0 : (next.get(id)?.y ?? 0) - (this.items.get(id)?.y ?? 0);
    this.view = steady(this.view, by);
    return by;
  }

  // Draw all that is near the stage anew.
  private redraw(): void {
    this.area = null;
    for (const [id, card] of this.cards) {
      const item = this.items.get(id);
      if (item) this.paint(card, item);
      else this.unmount(id, card);
    }
    for (const line of this.lines.values()) line.remove();
    this.lines.clear();
    this.look(this.view);
  }

  private paint(card: HTMLElement, item: Item): void {
    const edges = this.edgesOf.get(item.id) ?? [], label = (id: string): string => this.items.get(id)?.label ?? "";
    paint(card, item, this.vocabulary, { fan: this.fans.get(item.id) ?? 0, share: this.share(item), relations: relations(item.id, edges, label) });
    const rank = this.ranks.get(item.id), column = this.picture?.columns.findIndex((one) => one.x === item.x) ?? 0;
    card.setAttribute("aria-level", String(Math.max(1, column + 1)));
    card.setAttribute("aria-posinset", String(rank?.position ?? 1));
    card.setAttribute("aria-setsize", String(rank?.size ?? 1));
    card.classList.toggle("graph-new", this.fresh.has(item.id));
    card.classList.toggle("graph-changed", this.changed.has(item.id));
    this.dress(card, item.id);
    this.put(card, item.id);
  }

  private put(card: HTMLElement, id: string): void {
    const box = this.now.get(id);
    if (box) card.style.transform = `translate(${box.x}px,${box.y}px)`;
  }

  // What a person does with a card shows on it.
  private dress(card: HTMLElement, id: string): void {
    const selected = this.selected.has(id);
    card.setAttribute("aria-selected", String(selected));
    card.classList.toggle("graph-selected", selected);
    card.classList.toggle("graph-found", this.foundIds.has(id));
    card.classList.toggle("graph-hit", this.at > 0 && this.found[this.at - 1] === id);
    card.classList.toggle("graph-dim", this.dimmed.has(id));
  }

  // ---- what is in the document -------------------------------------------------------------------------------------
  // Bring into the document what is near the stage, and take from it what is not.
  private mount(): void {
    const area = this.area = areaInSight(this.view, this.room(), MARGIN);
    if (this.level === "box") {
      this.cardLayer.replaceChildren();
      this.wireLayer.replaceChildren();
      this.litLayer.replaceChildren();
      this.cards.clear();
      this.lines.clear();
      return;
    }
    const active = this.last();
    for (const item of this.items.values()) {
      const now = this.now.get(item.id), near = item.id === active || overlaps(item, area) || (now !== undefined && overlaps(now, area));
      const card = this.cards.get(item.id);
      if (near && !card) this.cardLayer.append(this.newCard(item));
      else if (!near && card) this.unmount(item.id, card);
    }
    this.mountWires(area);
    this.light();
  }

  private newCard(item: Item): HTMLElement {
    const card = html("div");
    card.id = this.prefix + item.id;
    card.setAttribute("role", "treeitem");
    this.cards.set(item.id, card);
    this.paint(card, item);
    return card;
  }

  private unmount(id: string, card: HTMLElement): void {
    card.remove();
    this.cards.delete(id);
  }

  private mountWires(area: Box): void {
    for (const wire of this.wires) {
      const boxes = this.boxesOf(wire), near = boxes.length > 1 && overlaps(around(boxes), area);
      let line = this.lines.get(wire.id);
      if (!near) {
        line?.remove();
        this.lines.delete(wire.id);
        continue;
      }
      if (!line) {
        line = this.newLine(wire.kind, wire.status, wire.edges[0]?.t ?? "");
        line.classList.toggle("graph-trunk", isTrunk(wire));
        this.lines.set(wire.id, line);
        this.wireLayer.append(line);
      }
      line.setAttribute("d", this.pathOf(wire, boxes));
    }
  }

  private boxesOf(wire: Wire): Box[] {
    const source = this.now.get(wire.source);
    return source ? [source, ...wire.edges.flatMap((edge) => this.now.get(edge.t) ?? [])] : [];
  }

  private pathOf(wire: Wire, boxes: Box[]): string {
    return wirePath(wire, boxes, this.area ?? undefined);
  }

  private newLine(kind: string, status: string, target: string): SVGPathElement {
    const { edges, statuses, marks } = this.vocabulary, look = own(edges, kind), meaning = own(statuses, status);
    const mark = own(marks, this.items.get(target)?.node?.mark ?? "");
    const names = ["graph-edge", ...(look?.dashed ? ["graph-dashed"] : []), ...looks(meaning, mark)];
    const line = svg("path", { class: names.join(" "), "data-kind": kind });
    if (look?.color) line.style.setProperty("--k", ink(look));
    if (meaning) line.style.setProperty("--s", ink(meaning));
    if (mark) line.style.setProperty("--m", ink(mark));
    return line;
  }

  // The edges of what the pointer is over and of what is selected, one by one, and the cards at their other ends.
  private light(): void {
    const lit = new Map<string, string>(), drawn: SVGPathElement[] = [];
    const ids = new Set([...(this.hovered === null ? [] : [this.hovered]), ...this.selected]);
    for (const id of ids) {
      for (const edge of (this.edgesOf.get(id) ?? []).slice(0, 10 * MOST_LIT)) {
        const source = this.now.get(edge.s), target = this.now.get(edge.t), other = edge.s === id ? edge.t : edge.s;
        if (!source || !target || !this.area || !overlaps(around([source, target]), this.area)) continue;
        if (!lit.has(other)) lit.set(other, edge.kind === "does not apply" ? "spared" : edge.kind === "applies" || edge.kind === "deletes from" ? "reached" : "near");
        if (drawn.length < 2 * MOST_LIT) drawn.push(...this.litLines(edge, source, target));
      }
    }
    this.litLayer.replaceChildren(...drawn);
    for (const [id, card] of this.cards) {
      for (const how of ["near", "reached", "spared"]) card.classList.toggle(`graph-${how}`, !ids.has(id) && lit.get(id) === how);
      card.classList.toggle("graph-hover", id === this.hovered);
    }
  }

  private litLines(edge: PictureEdge, source: Box, target: Box): SVGPathElement[] {
    const line = this.newLine(edge.kind, edge.status, edge.t), end = svg("path", { class: "graph-edge-end", "data-kind": edge.kind });
    line.setAttribute("d", edgePath(source, target));
    const color = line.style.getPropertyValue("--k");
    if (color) end.style.setProperty("--k", color);
    end.setAttribute("d", edgeEnd(source, target, edge.kind !== "does not apply"));
    return [line, end];
  }

  // ---- movement ----------------------------------------------------------------------------------------------------
  private place(t: number): void {
    for (const { item, from } of this.moving) {
      this.now.set(item.id, between(from, item, t));
      const card = this.cards.get(item.id);
      if (card) this.put(card, item.id);
    }
    if (!this.moving.length) return;
    for (const wire of this.wires) {
      const line = this.lines.get(wire.id);
      if (line) line.setAttribute("d", this.pathOf(wire, this.boxesOf(wire)));
    }
  }

  private animate(): void {
    cancelAnimationFrame(this.frame);
    const still = document.hidden || matchMedia("(prefers-reduced-motion: reduce)").matches, begun = performance.now();
    const tick = (time: number): void => {
      const t = still ? 1 : Math.max(0, Math.min(1, (time - begun) / MOVE_MS));
      this.place(eased(t));
      if (this.level === "box") this.drawFar();
      if (t < 1) this.frame = requestAnimationFrame(tick);
      else {
        this.moving = [];
        this.fresh.clear();
        this.mount();
      }
    };
    this.litLayer.replaceChildren();
    tick(begun);
  }

  private flash(): void {
    clearTimeout(this.flashing);
    this.flashing = setTimeout(() => {
      this.changed.clear();
      for (const card of this.cards.values()) card.classList.remove("graph-changed", "graph-new");
    }, FLASH_MS);
  }

  // ---- looking -----------------------------------------------------------------------------------------------------
  private room(): Size {
    return { width: this.stage.clientWidth, height: this.stage.clientHeight };
  }

  get zoomPercent(): number {
    return Math.round(this.view.k * 100);
  }

  private look(view: View): void {
    const before = this.view.k, level = levelAt(view.k), room = this.room();
    this.view = view;
    const sharp = (pixels: number): number => Math.round(pixels * devicePixelRatio) / devicePixelRatio;
    this.world.style.transform = `translate(${sharp(view.x)}px,${sharp(view.y)}px)`;
    if (before !== view.k || this.area === null) {
      for (const layer of [this.cardLayer, this.wireLayer.parentElement]) {
        layer?.style.setProperty("transform", `scale(${view.k})`);
      }
      this.world.style.setProperty("--zoom", String(view.k));
    }
    if (level !== this.level || this.area === null) this.area = null;
    this.level = level;
    this.stage.dataset["level"] = level;
    this.stage.classList.toggle("graph-tight", view.k < LOW_ZOOM);
    if (this.area === null || before !== view.k || !contains(this.area, areaInSight(view, room))) this.mount();
    this.far.hidden = level !== "box";
    if (level === "box") this.drawFar();
    this.lookHeads();
    this.strip.look(view, room);
    if (before !== view.k) this.handlers.zoom?.(this.zoomPercent);
  }

  private drawFar(): void {
    cancelAnimationFrame(this.farFrame);
    this.farFrame = requestAnimationFrame(() => {
      if (this.level !== "box") return;
      const palette = new Palette(this.stage, this.vocabulary), room = this.room();
      const rings = new Map([...this.foundIds].map((id): [string, string] => [id, palette.token("--ink")]));
      for (const id of this.selected) rings.set(id, palette.token("--accent"));
      paintFar(this.far, {
        items: this.items.values(), wires: this.wires, rings, place: (id) => this.now.get(id),
        share: (item) => this.share(item), faded: (id) => this.dimmed.has(id),
      }, this.view, room, areaInSight(this.view, room), palette);
    });
  }

  private drawHeads(): void {
    this.heads.replaceChildren(...(this.picture?.columns ?? []).map((column) => html("span", "graph-head", column.name)));
    this.lookHeads();
  }

  private lookHeads(): void {
    const columns = this.picture?.columns ?? [], { x, k } = this.view;
    columns.forEach((column, i) => {
      const head = this.heads.children[i];
      if (!(head instanceof HTMLElement)) return;
      const next = columns[i + 1]?.x ?? this.graph.width;
      head.style.transform = `translateX(${x + column.x * k}px)`;
      head.style.maxWidth = `${Math.max(0, (next - column.x) * k - 4)}px`;
    });
  }

  private drawStrip(): void {
    if (this.strip.element.hidden) return;
    const palette = new Palette(this.stage, this.vocabulary);
    this.strip.draw(this.graph, this.items.values(), (item) => palette.item(item));
    this.strip.look(this.view, this.room());
  }

  private recolour(): void {
    this.drawStrip();
    if (this.level === "box") this.drawFar();
  }

  /** Show the graph as wide as the stage, or all of it; from now on it is refitted when the stage changes its size. */
  fit(all = false): void {
    this.fitsAll = all;
    this.moved = false;
    this.home = null;
    this.refit();
    if (!all) this.revealFocus();
  }

  // Fit as before; how far down a person is stays, unless all is in sight.
  private refit(): void {
    const main = focusOf(this.picture)?.x, { fitsAll, home } = this, { y, k } = this.view;
    let view = fitted(this.graph, this.room(), fitsAll, main);
    if (!view) return;
    if (this.strip.offer(this.graph, view.k, this.room())) view = fitted(this.graph, this.room(), fitsAll, main) ?? view;
    this.home = view;
    this.look(home && !fitsAll && y < home.y ? { ...view, y: HEAD_HEIGHT - ((HEAD_HEIGHT - y) / k) * view.k } : view);
    this.drawStrip();
  }

  /** The stage has another size. What is selected stays in sight. */
  resize(): void {
    const { width } = this.room();
    if (!this.given || !this.picture || !width) return;
    if (extent(itemsOf(spaced(this.given, width))).width !== this.graph.width) this.show(this.given);
    this.area = null;
    if (this.moved) {
      if (this.strip.offer(this.graph, this.view.k, this.room())) this.area = null;
      this.look(this.view);
      this.drawStrip();
    } else if (this.home) this.refit();
    else this.fit();
    const item = this.items.get(this.last() ?? "");
    if (item) this.reveal(item);
  }

  /** Zoom in (`by` > 1) or out; the middle of the stage, or the point (x, y) on it, stays where it is. */
  zoom(by: number, x = this.room().width / 2, y = this.room().height / 2): void {
    this.moved = true;
    this.look(zoomed(this.view, by, x, y));
    if (this.strip.offer(this.graph, this.view.k, this.room())) this.drawStrip();
  }

  private pan(view: View): void {
    const { home } = this, far = (now: number, then: number): boolean => Math.abs(now - then) > SIDEWAYS;
    if (!home || far(view.x, home.x) || (this.fitsAll && far(view.y, home.y))) this.moved = true;
    this.look(view);
  }

  // An item comes into sight, and beside it, where there is room for both, what it leads to, at most half a stage down.
  private reveal(item: Item, down = true): void {
    const edges = this.edgesOf.get(item.id) ?? [], room = this.room(), { k } = this.view;
    const below = edges.flatMap((edge) => (edge.s === item.id ? this.items.get(edge.t) ?? [] : [])).filter((one) => one.x > item.x);
    const { width, height } = extent([item, ...below]);
    const w = (width - item.x + 40) * k < room.width ? width - item.x : item.w;
    const h = down ? Math.max(item.h, Math.min(height - item.y, room.height / k / 2)) : item.h;
    this.look(revealed(this.view, { ...item, w, h }, room));
  }

  // The snapshot in view, with what it lists.
  private revealFocus(): void {
    const focus = this.items.get(focusOf(this.picture)?.id ?? "");
    if (!focus) return;
    const list = this.edgesOf.get(focus.id)?.find((edge) => edge.s === focus.id), listed = this.items.get(list?.t ?? "");
    if (listed) this.reveal(listed);
    this.reveal(focus);
  }

  // ---- a person's hands --------------------------------------------------------------------------------------------
  private listen(): void {
    const { stage } = this;
    stage.addEventListener("wheel", (event) => {
      const zooms = event.ctrlKey || event.metaKey;
      if (!zooms && this.handlers.wheel && !this.handlers.wheel()) return;
      event.preventDefault();
      event.stopPropagation();
      const at = this.pointOf(event), { k, x, y } = this.view, pixels = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? LINE : 1;
      const across = event.deltaX * pixels, down = event.deltaY * pixels;
      if (zooms) this.zoom(Math.exp(-down * 0.002), at.x, at.y);
      else if (event.shiftKey) this.pan({ k, x: x - (down || across), y });
      else this.pan({ k, x: x - across, y: y - down });
    }, { passive: false });
    let drag: { x: number; y: number; view: View; on: boolean } | null = null, dragged = false;
    stage.addEventListener("pointerdown", (event) => {
      dragged = false;
      if (event.button === 0) drag = { x: event.clientX, y: event.clientY, view: this.view, on: false };
    });
    stage.addEventListener("pointermove", (event) => {
      if (!drag || !event.buttons) {
        if (this.level === "box") this.hover(this.hit(event)?.id ?? null);
        return;
      }
      const zoom = zoomOf(stage), dx = (event.clientX - drag.x) / zoom, dy = (event.clientY - drag.y) / zoom;
      if (!drag.on && Math.hypot(dx, dy) < 4) return;
      if (!drag.on) {
        drag.on = dragged = true;
        stage.setPointerCapture(event.pointerId);
        stage.classList.add("graph-drag");
      }
      this.pan({ k: drag.view.k, x: drag.view.x + dx, y: drag.view.y + dy });
    });
    for (const end of ["pointerup", "pointercancel"] as const) {
      stage.addEventListener(end, () => {
        drag = null;
        stage.classList.remove("graph-drag");
      });
    }
    stage.addEventListener("click", (event) => {
      if (dragged) return;
      const id = this.idOf(event);
      if (id === undefined) this.choose([]);
      else if (event.target instanceof Element && event.target.closest(".graph-fold")) this.open(id);
      else this.pick(id, event.shiftKey || event.ctrlKey || event.metaKey);
    });
    stage.addEventListener("dblclick", (event) => {
      const id = this.idOf(event), onFold = event.target instanceof Element && event.target.closest(".graph-fold");
      if (id !== undefined && !onFold && this.items.get(id)?.node) this.open(id, true);
    });
    stage.addEventListener("pointerover", (event) => this.hover(this.idOf(event) ?? null));
    stage.addEventListener("pointerleave", () => this.hover(null));
    stage.addEventListener("keydown", (event) => this.press(event));
  }

  private press(event: KeyboardEvent): void {
    const keys: Record<string, () => void> = {
      Enter: () => this.open(this.last() ?? ""),
      " ": () => this.open(this.last() ?? ""),
      "+": () => this.zoom(ZOOM_STEP),
      "-": () => this.zoom(1 / ZOOM_STEP),
      f: () => this.fit(true),
    };
    if (this.selected.size) keys["Escape"] = () => this.choose([]); // else it is somebody else's
    for (const key of ["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "Home", "End"]) keys[key] = () => this.walk(key);
    const act = own(keys, event.key);
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
    act();
    event.preventDefault();
    event.stopPropagation();
  }

  private pointOf(event: MouseEvent): Point {
    const area = this.stage.getBoundingClientRect(), zoom = zoomOf(this.stage);
    return { x: (event.clientX - area.left) / zoom, y: (event.clientY - area.top) / zoom };
  }

  // What the pointer is over, from afar.
  private hit(event: MouseEvent): Item | undefined {
    const at = this.pointOf(event), { x, y, k } = this.view;
    const point = { x: (at.x - x) / k, y: (at.y - y) / k, w: 0, h: 0 };
    for (const item of this.items.values()) if (overlaps(item, point)) return item;
    return undefined;
  }

  private idOf(event: MouseEvent): string | undefined {
    if (this.level === "box") return this.hit(event)?.id;
    const card = event.target instanceof Element ? event.target.closest(".graph-card") : null;
    return card instanceof HTMLElement ? card.dataset["id"] : undefined;
  }

  private hover(id: string | null): void {
    if (id === this.hovered) return;
    this.hovered = id;
    this.stage.title = this.level === "box" && id !== null ? (this.items.get(id)?.label ?? "") : "";
    this.light();
    this.handlers.hover(id);
  }

  // ---- selecting ---------------------------------------------------------------------------------------------------
  private last(): string | undefined {
    return [...this.selected].at(-1);
  }

  // What a click does: select a node, beside others if `more`; a group of hidden nodes comes up.
  private pick(id: string, more: boolean): void {
    if (this.items.get(id)?.group) return this.open(id);
    const ids = new Set(more ? this.selected : []);
    if (!ids.delete(id)) ids.add(id);
    this.choose([...ids]);
  }

  private choose(ids: string[]): void {
    this.setSelected(ids);
    this.handlers.select(ids);
  }

  private setSelected(ids: string[]): void {
    this.selected = new Set(ids);
    const last = this.last();
    if (last === undefined) this.stage.removeAttribute("aria-activedescendant");
    else this.stage.setAttribute("aria-activedescendant", this.prefix + last);
    this.mount();
    this.dressAll();
  }

  private dressAll(): void {
    for (const [id, card] of this.cards) this.dress(card, id);
    if (this.level === "box") this.drawFar();
  }

  /** Select nodes, as something other than the graph wants it; the last of them comes into sight. */
  select(ids: string[]): void {
    this.setSelected(ids.filter((id) => this.items.has(id)));
    const item = this.items.get(this.last() ?? "");
    if (item) this.reveal(item);
  }

  /** Draw nodes faintly; null: none. */
  dim(ids: string[] | null): void {
    this.dimmed = new Set(ids ?? []);
    this.dressAll();
  }

  private open(id: string, double = false): void {
    const item = this.items.get(id);
    if (!item) return;
    this.asked = id;
    if (item.group) {
      if (item.group.action) this.handlers.page(id);
    } else if (item.node?.fold || double) this.handlers.toggle(id, double);
  }

  /** Select the neighbour that a key leads to: an arrow, Home or End. */
  walk(key: string): void {
    const item = this.items.get(this.last() ?? ""), picture = this.picture;
    if (!picture) return;
    const first = focusOf(picture) ?? picture.nodes[0];
    const next = item ? neighbour(key, item, [...this.items.values()], this.edgesOf.get(item.id) ?? [], this.vocabulary.edges) : first?.id;
    const target = this.items.get(next ?? "");
    if (!target) return;
    this.choose([target.id]);
    this.reveal(target);
  }

  // ---- searching ---------------------------------------------------------------------------------------------------
  /** Mark what has the text in its label, path or partition, and bring the first of it into sight. */
  find(text: string): Found {
    this.text = text.trim();
    this.at = 0;
    this.search();
    return this.findNext(this.found.length ? 1 : 0);
  }

  /** Bring the next (1) or previous (-1) of what was found into sight. */
  findNext(step: number): Found {
    const many = this.found.length;
    this.at = many ? ((this.at - 1 + step + (this.at ? 0 : step < 0 ? 1 : 0)) % many + many) % many + 1 : 0;
    const item = this.items.get(this.found[this.at - 1] ?? "");
    if (item) this.reveal(item, false);
    this.dressAll();
    return { count: many, at: this.at };
  }

  private search(): void {
    const hits = [...this.items.values()].filter((item) => matches(item, this.text));
    this.found = hits.sort((a, b) => a.x - b.x || a.y - b.y).map((item) => item.id);
    this.foundIds = new Set(this.found);
    this.at = Math.min(this.at, this.found.length);
  }

  close(): void {
    cancelAnimationFrame(this.frame);
    cancelAnimationFrame(this.farFrame);
    clearTimeout(this.flashing);
    this.size.disconnect();
    this.unwatch?.();
    this.element.remove();
  }
}
