// The graph on its stage: cards and edges, how they move from one picture to the next, panning, zooming, selecting and
// searching. Only what is near the stage is in the document; from afar the graph is drawn on a canvas.

import { isTrunk, wirePath } from "./bundle";
import type { Wire } from "./bundle";
import { paint } from "./card";
import { html, svg } from "./dom";
import { Palette, paintFar } from "./far";
import {
  HEAD_HEIGHT, LOW_ZOOM, areaInSight, around, between, contains, eased, edgeEnd, edgePath, extent, fitted, levelAt, origin,
  overlaps, revealed, spaced, steady, zoomed,
} from "./geometry";
import type { Item, Level, Point, Size, View } from "./geometry";
import { listen } from "./hands";
import type { Hands } from "./hands";
import { Scene } from "./scene";
import { Search } from "./search";
import { Strip } from "./strip";
import { watchTheme } from "./theme";
import { neighbour } from "./tree";
import type { Box, Picture, PictureEdge, Vocabulary } from "./types";
import { ink, looks, own } from "./words";
import type { Found } from "./words";

const MOVE_MS = 380, FLASH_MS = 1500, ZOOM_STEP = 1.25, LEGIBLE = 0.8;
/** Pixels around the stage in which cards are in the document, and as many edges of one node light up. */
const MARGIN = 400, MOST_LIT = 60;
/** So many pixels sideways are a hand that is not steady; and a column's head of fewer says nothing. */
const SIDEWAYS = 40, LEAST_HEAD = 30;

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

const NOTHING: Picture = { title: "", snapshot: "", columns: [], nodes: [], edges: [], more: [] };

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
  private scene: Scene;
  private now = new Map<string, Box>();

  private readonly cards = new Map<string, HTMLElement>();
  private readonly lines = new Map<string, SVGPathElement>();
  /** The part of the graph that is in the document. */
  private area: Box | null = null;
  private moving: { item: Item; from: Point }[] = [];
  private fresh = new Set<string>();
  private changed = new Set<string>();

  private selected = new Set<string>();
  private hovered: string | null = null;
  private readonly search = new Search();
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
    this.scene = new Scene(NOTHING, vocabulary);
    listen(this.stage, this.hands());
    this.size = new ResizeObserver(() => this.resize());
    this.size.observe(frame);
  }

  // ---- drawing -----------------------------------------------------------------------------------------------------
  show(given: Picture): void {
    const before = this.scene, scene = new Scene(spaced(given, this.room().width), this.vocabulary);
    const same = this.home !== null && before.picture.title === scene.picture.title; // and it was in a page
    this.given = given;
    this.unwatch ??= watchTheme(this.element, () => this.recolour()); // it is in a page by now
    const opened = same ? this.opened(scene) : undefined, by = same ? this.steady(scene, opened) : 0;
    const places = new Map([...this.now].map(([id, box]): [string, Point] => [id, { x: box.x, y: box.y + by }]));
    this.scene = scene;
    this.moving = [];
    this.fresh = new Set();
    this.changed = new Set();
    this.now = new Map();
    for (const item of scene.list) {
      const from = same ? origin(item, places, scene.parents) : item, old = before.item(item.id);
      this.now.set(item.id, between(from, item, 0));
      if (from.x !== item.x || from.y !== item.y) this.moving.push({ item, from });
      if (!same) continue;
      if (!old) this.fresh.add(item.id);
      if (!old || old.node?.status !== item.node?.status || old.node?.mark !== item.node?.mark) this.changed.add(item.id);
    }
    this.selected = new Set([...this.selected].filter((id) => scene.items.has(id)));
    this.search.again(scene.list);
    this.drawHeads();
    this.redraw();
    if (same) {
      this.flash();
      this.animate();
      const wider = scene.size.width !== before.size.width;
      if ((this.strip.offer(scene.size, this.view.k, this.room()) || wider) && !this.moved) this.refit();
      this.drawStrip();
      const item = scene.item(opened);
      if (item) this.reveal(item, false);
      else this.revealFocus();
    } else {
      cancelAnimationFrame(this.frame);
      this.fit();
    }
  }

  // What a click has opened, of what is drawn next: the node, or what a group of hidden nodes belonged to.
  private opened(next: Scene): string | undefined {
    const asked = this.scene.item(this.asked);
    this.asked = "";
    return asked && [asked.id, asked.group?.parent ?? ""].find((id) => next.items.has(id));
  }

  // What was opened, else selected, else in focus stays on the screen where it is: how much lower it is drawn next.
  private steady(next: Scene, opened: string | undefined): number {
    const ids = [opened, this.last(), this.scene.focus()?.id];
    const id = ids.find((one) => next.item(one) && this.scene.item(one));
    const by = (next.item(id)?.y ?? 0) - (this.scene.item(id)?.y ?? 0);
    this.view = steady(this.view, by);
    return by;
  }

  // Draw all that is near the stage anew.
  private redraw(): void {
    this.area = null;
    for (const [id, card] of this.cards) {
      const item = this.scene.item(id);
      if (item) this.paint(card, item);
      else this.unmount(id, card);
    }
    for (const line of this.lines.values()) line.remove();
    this.lines.clear();
    this.look(this.view);
  }

  private paint(card: HTMLElement, item: Item): void {
    const { scene } = this, { position, size, level } = scene.place(item);
    paint(card, item, this.vocabulary, { fan: scene.fan(item.id), share: scene.share(item), relations: scene.relations(item.id) });
    card.setAttribute("aria-level", String(level));
    card.setAttribute("aria-posinset", String(position));
    card.setAttribute("aria-setsize", String(size));
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
    card.classList.toggle("graph-found", this.search.ids.has(id));
    card.classList.toggle("graph-hit", this.search.current() === id);
  }

  // ---- what is in the document -------------------------------------------------------------------------------------
  // Bring into the document what is near the stage, and take from it what is not.
  private mount(): void {
    const area = this.area = areaInSight(this.view, this.room(), MARGIN);
    const active = this.last(), item = this.scene.item(active);
    if (active === undefined) this.stage.removeAttribute("aria-activedescendant");
    else this.stage.setAttribute("aria-activedescendant", this.prefix + active);
    if (this.level === "box") { // where only the active card is there, for those who hear it
      this.cards.clear();
      this.cardLayer.replaceChildren(...(item ? [this.newCard(item)] : []));
      this.wireLayer.replaceChildren();
      this.litLayer.replaceChildren();
      this.lines.clear();
      return;
    }
    for (const item of this.scene.list) {
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
    for (const wire of this.scene.wires) {
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
    const mark = own(marks, this.scene.item(target)?.node?.mark ?? "");
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
      const edges = this.scene.edgesOf(id), few = edges.length <= MOST_LIT; // of more there is a trunk
      for (const edge of edges.slice(0, 10 * MOST_LIT)) {
        const source = this.now.get(edge.s), target = this.now.get(edge.t), other = edge.s === id ? edge.t : edge.s;
        if (!source || !target || !this.area || !overlaps(around([source, target]), this.area)) continue;
        if (!lit.has(other)) lit.set(other, edge.kind === "does not apply" ? "spared" : edge.kind === "applies" || edge.kind === "deletes from" ? "reached" : "near");
        if (few && drawn.length < 2 * MOST_LIT) drawn.push(...this.litLines(edge, source, target));
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
    for (const wire of this.scene.wires) {
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
    const { area } = this, much = area !== null && area.w * view.k > 3 * (room.width + 2 * MARGIN); // after zooming in
    if (area === null || much || !contains(area, areaInSight(view, room))) this.mount();
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
      const rings = new Map([...this.search.ids].map((id): [string, string] => [id, palette.token("--ink")]));
      for (const id of this.selected) rings.set(id, palette.token("--accent"));
      paintFar(this.far, {
        items: this.scene.list, wires: this.scene.wires, rings, place: (id) => this.now.get(id),
        share: (item) => this.scene.share(item),
      }, this.view, room, areaInSight(this.view, room), palette);
    });
  }

  private drawHeads(): void {
    this.heads.replaceChildren(...this.scene.picture.columns.map((column) => html("span", "graph-head", column.name)));
    this.lookHeads();
  }

  private lookHeads(): void {
    const columns = this.scene.picture.columns, { x, k } = this.view;
    columns.forEach((column, i) => {
      const head = this.heads.children[i];
      if (!(head instanceof HTMLElement)) return;
      const next = columns[i + 1]?.x ?? this.scene.size.width, wide = Math.max(0, (next - column.x) * k - 4);
      head.style.transform = `translateX(${x + column.x * k}px)`;
      head.style.maxWidth = `${wide}px`;
      head.hidden = wide < LEAST_HEAD;
    });
  }

  private drawStrip(): void {
    if (this.strip.element.hidden) return;
    const palette = new Palette(this.stage, this.vocabulary);
    this.strip.draw(this.scene.size, this.scene.list, (item) => palette.item(item));
    this.strip.look(this.view, this.room());
  }

  private recolour(): void {
    this.drawStrip();
    if (this.level === "box") this.drawFar();
  }

  /** Show the graph as wide as the stage; where it is so, all of it. */
  fitNext(): void {
    this.fit(this.home !== null && !this.moved && !this.fitsAll);
  }

  /** Show the graph as wide as the stage, or all of it; from now on it is refitted when the stage changes its size. */
  fit(all = false): void {
    this.fitsAll = all;
    this.moved = false;
    this.home = null;
    this.refit();
    if (!all) this.revealFocus();
  }

  // Fit as before; how far down a person is stays, unless all is in sight. It does not become smaller than `least` by that.
  private refit(least = 0): void {
    const main = this.scene.focus()?.x, { fitsAll, home } = this, { y, k } = this.view;
    let view = fitted(this.scene.size, this.room(), fitsAll, main);
    if (!view) return;
    if (this.strip.offer(this.scene.size, view.k, this.room())) view = fitted(this.scene.size, this.room(), fitsAll, main) ?? view;
    const legible = Math.min(least, k);
    if (view.k < legible) view = zoomed(view, legible / view.k, 0, HEAD_HEIGHT);
    this.home = view;
    this.look(home && !fitsAll && y < home.y ? { ...view, y: HEAD_HEIGHT - ((HEAD_HEIGHT - y) / k) * view.k } : view);
    this.drawStrip();
  }

  /** The stage has another size. What is selected stays in sight. */
  resize(): void {
    const { width } = this.room();
    if (!this.given || !width) return;
    const { nodes, more } = spaced(this.given, width);
    if (extent([...nodes, ...more]).width !== this.scene.size.width) this.show(this.given);
    this.area = null;
    if (this.moved) {
      if (this.strip.offer(this.scene.size, this.view.k, this.room())) this.area = null;
      this.look(this.view);
      this.drawStrip();
    } else if (this.home) this.refit(this.last() ? LEGIBLE : 0); // beside the inspector, names stay readable
    else this.fit();
    const item = this.scene.item(this.last());
    if (item) this.reveal(item);
  }

  /** Zoom in (`by` > 1) or out; the middle of the stage, or the point (x, y) on it, stays where it is. */
  zoom(by: number, x = this.room().width / 2, y = this.room().height / 2): void {
    this.moved = true;
    this.look(zoomed(this.view, by, x, y));
    if (this.strip.offer(this.scene.size, this.view.k, this.room())) this.drawStrip();
  }

  private pan(view: View): void {
    const { home } = this, far = (now: number, then: number): boolean => Math.abs(now - then) > SIDEWAYS;
    if (!home || far(view.x, home.x) || (this.fitsAll && far(view.y, home.y))) this.moved = true;
    this.look(view);
  }

  // An item comes into sight, and beside it, where there is room for both, what it leads to, at most half a stage down.
  private reveal(item: Item, down = true): void {
    const room = this.room(), { k } = this.view, { width, height } = extent([item, ...this.scene.below(item)]);
    const w = (width - item.x + 40) * k < room.width ? width - item.x : item.w;
    const h = down ? Math.max(item.h, Math.min(height - item.y, room.height / k / 2)) : item.h;
    this.look(revealed(this.view, { ...item, w, h }, room));
  }

  // The snapshot in view, with what it lists.
  private revealFocus(): void {
    const focus = this.scene.focus();
    if (!focus) return;
    const list = this.scene.edgesOf(focus.id).find((edge) => edge.s === focus.id), listed = this.scene.item(list?.t);
    if (listed) this.reveal(listed);
    this.reveal(focus);
  }

  // ---- a person's hands --------------------------------------------------------------------------------------------
  private hands(): Hands {
    return {
      wheel: () => this.handlers.wheel?.() ?? true,
      zoom: (by, { x, y }) => this.zoom(by, x, y),
      pan: (across, down) => this.pan({ ...this.view, x: this.view.x + across, y: this.view.y + down }),
      hit: (at) => (this.level === "box" ? this.hit(at) : undefined),
      hover: (id) => this.hover(id),
      click: (id, more) => (id === undefined ? this.choose([]) : this.pick(id, more)),
      open: (id, double) => this.open(id, double),
      keys: () => this.keys(),
    };
  }

  private keys(): Record<string, () => void> {
    const open = (): void => this.open(this.last() ?? "", false);
    const walk = (...names: string[]): [string, () => void][] => names.map((name) => [name, () => this.walk(name)]);
    return {
      ...Object.fromEntries(walk("ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "Home", "End")),
      ...(this.selected.size ? { Escape: () => this.choose([]) } : {}), // else it is somebody else's
      Enter: open,
      " ": open,
      "+": () => this.zoom(ZOOM_STEP),
      "-": () => this.zoom(1 / ZOOM_STEP),
      f: () => this.fitNext(),
    };
  }

  private hit(at: Point): string | undefined {
    const { x, y, k } = this.view, point = { x: (at.x - x) / k, y: (at.y - y) / k, w: 0, h: 0 };
    return this.scene.list.find((item) => overlaps(item, point))?.id;
  }

  private hover(id: string | null): void {
    if (id === this.hovered) return;
    this.hovered = id;
    this.stage.title = this.level === "box" && id !== null ? (this.scene.item(id)?.label ?? "") : "";
    this.light();
    this.handlers.hover(id);
  }

  // ---- selecting ---------------------------------------------------------------------------------------------------
  private last(): string | undefined {
    return [...this.selected].at(-1);
  }

  // What a click does: select a node, beside others if `more`; a group of hidden nodes comes up.
  private pick(id: string, more: boolean): void {
    if (this.scene.item(id)?.group) return this.open(id, false);
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
    this.mount();
    this.dressAll();
  }

  private dressAll(): void {
    for (const [id, card] of this.cards) this.dress(card, id);
    if (this.level === "box") this.drawFar();
  }

  /** Select nodes, as something other than the graph wants it; the last of them comes into sight. */
  select(ids: string[]): void {
    this.setSelected(ids.filter((id) => this.scene.items.has(id)));
    const item = this.scene.item(this.last());
    if (item) this.reveal(item);
  }

  private open(id: string, double: boolean): void {
    const item = this.scene.item(id);
    if (!item) return;
    this.asked = id;
    if (!item.group) {
      if (item.node?.fold || double) this.handlers.toggle(id, double);
    } else if (item.group.action && !double) this.handlers.page(id); // of a double click the first click did it
  }

  /** Select the neighbour that a key leads to: an arrow, Home or End. */
  walk(key: string): void {
    const { scene } = this, item = scene.item(this.last());
    const next = item ? neighbour(key, item, scene.list, scene.edgesOf(item.id), this.vocabulary.edges) : scene.focus()?.id;
    const target = scene.item(next) ?? (item ? undefined : scene.list[0]);
    if (!target) return;
    this.choose([target.id]);
    this.reveal(target);
  }

  // ---- searching ---------------------------------------------------------------------------------------------------
  /** Mark what has the text in its label, path or partition, and bring the first of it into sight. */
  find(text: string): Found {
    this.search.start(text, this.scene.list);
    return this.findNext(1);
  }

  /** Bring the next (1) or previous (-1) of what was found into sight. */
  findNext(step: number): Found {
    const found = this.search.step(step), item = this.scene.item(this.search.current());
    if (item) this.reveal(item, false);
    this.dressAll();
    return found;
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
