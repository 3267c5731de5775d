// The graph on its stage: cards and edges, how they move from one picture to the next, panning, zooming and choosing.

import { paint } from "./card.js";
import { colour, html, svg, zoomOf } from "./dom.js";
import { Minimap } from "./minimap.js";
import {
  between, cleared, closer, drawn, eased, edgePath, extent, fitted, focusOf, leading, looks, matches, neighbour, origin,
  revealed, steady, zoomed,
} from "./pure.js";

const MOVE_MS = 380, FLASH_MS = 1500;

export class Canvas {
  // `on` has what a person does: choose(ids) and open(item, double); and marked(), when something else is chosen or
  // drawn. `wheel` says whether the wheel moves the graph and not the page.
  constructor(vocabulary, on, wheel) {
    Object.assign(this, { vocabulary, on, wheel });
    this.element = html("div", "ix-stage");
    this.world = svg("g", { class: "ix-world" });
    this.heads = svg("g");
    this.edgeLayer = svg("g");
    this.nodeLayer = svg("g");
    this.world.append(this.heads, this.edgeLayer, this.nodeLayer);
    const canvas = svg("svg", { class: "ix-svg", role: "tree", "aria-label": "metadata graph" });
    canvas.append(this.world);
    canvas.addEventListener("click", () => this.choose([]));
    this.minimap = new Minimap((x, y) => {
      const { width, height } = this.room(), { k } = this.view;
      this.look({ k, x: width / 2 - x * k, y: height / 2 - y * k });
    });
    this.element.append(canvas, this.minimap.element);
    this.view = { x: 20, y: 8, k: 1 };
    this.moved = false;
    this.cards = new Map();
    this.edges = [];
    this.given = this.picture = null;
    this.asked = "";  // what a click is to open
    this.selected = new Set();
    this.frame = 0;
    this.listen();
  }

  // ---- drawing -----------------------------------------------------------------------------------------------------
  show(given) {
    const next = closer(given, this.room().width);
    this.given = given;
    const before = this.picture, same = before !== null && before.title === next.title;
    const parents = leading(next, this.vocabulary.edges), fresh = new Map(), items = drawn(next);
    const opened = same ? this.opened(items) : undefined, by = same ? this.steady(items, opened) : 0;
    const places = new Map([...this.cards].map(([id, { now }]) => [id, { ...now, y: now.y + by }]));
    this.picture = next;
    for (const item of items) {
      const old = this.cards.get(item.id), g = old ? old.g : this.card(item.id);
      const from = origin(item, places, parents);
      const changed = old ? old.item.status !== item.status || old.item.mark !== item.mark : same;
      if (changed) setTimeout(() => flash(g));
      if (!old) this.nodeLayer.append(g);
      paint(g, item, this.vocabulary);
      fresh.set(item.id, { item, g, from, now: { ...from }, fades: !old && same });
    }
    for (const [id, old] of this.cards) if (!fresh.has(id)) old.g.remove();
    this.cards = fresh;
    this.drawEdges();
    this.heads.replaceChildren(...next.columns.map((c) => svg("text", { class: "ix-column", x: c.x, y: 14 }, c.name)));
    this.selected = new Set([...this.selected].filter((id) => fresh.has(id)));
    this.mark();
    if (!same) {
      cancelAnimationFrame(this.frame);
      this.place(1);
      this.fit(false);
    } else {
      this.animate();
      if (opened) this.reveal(this.item(opened), false);
      else this.revealFocus();
    }
  }

  // What a click has opened, of what is drawn next: the node, or what a group of hidden nodes belonged to.
  opened(items) {
    const asked = this.item(this.asked), ids = [this.asked, asked?.parent];
    this.asked = "";
    return asked && ids.find((id) => items.some((item) => item.id === id));
  }

  // What was opened, else chosen, else in focus stays on the screen where it is: how much lower it is drawn next.
  steady(items, opened) {
    const there = new Map(items.map((item) => [item.id, item]));
    const id = [opened, this.last(), focusOf(this.picture)?.id].find((id) => there.has(id) && this.item(id));
    const by = id ? there.get(id).y - this.item(id).y : 0;
    this.view = steady(this.view, by);
    return by;
  }

  card(id) {
    const g = svg("g", { role: "treeitem", tabindex: "-1" });
    g.dataset.id = id;
    g.addEventListener("click", (event) => {
      event.stopPropagation();
      if (event.target.closest(".ix-fold")) this.open(id);
      else this.pick(id, event.shiftKey || event.ctrlKey || event.metaKey);
    });
    g.addEventListener("dblclick", (event) => {
      event.stopPropagation();
      if (!this.item(id).hidden && !event.target.closest(".ix-fold")) this.open(id, true);
    });
    g.addEventListener("mouseenter", () => this.light(id, true));
    g.addEventListener("mouseleave", () => this.light(id, false));
    return g;
  }

  drawEdges() {
    this.edges = this.picture.edges.filter((e) => this.cards.has(e.s) && this.cards.has(e.t)).map((e) => {
      const kind = this.vocabulary.edges[e.kind], status = this.vocabulary.statuses[e.status];
      const mark = this.vocabulary.marks[this.cards.get(e.t).item.mark];
      const is = { "ix-dashed": kind.dashed, "ix-own": kind.color };
      const states = Object.keys(is).filter((name) => is[name]);
      const path = svg("path", { class: ["ix-edge", "ix-ink", ...states, ...looks(status, mark)].join(" ") });
      path.dataset.kind = e.kind;
      colour(path, { k: kind, s: status, m: mark });
      return { ...e, path };
    });
    this.edgeLayer.replaceChildren(...this.edges.map((e) => e.path));
  }

  place(t) {
    for (const card of this.cards.values()) {
      card.now = between(card.from, card.item, t);
      card.g.setAttribute("transform", `translate(${card.now.x},${card.now.y})`);
      card.g.style.opacity = card.fades ? String(t) : "1";
    }
    for (const edge of this.edges) {
      edge.path.setAttribute("d", edgePath(this.cards.get(edge.s).now, this.cards.get(edge.t).now));
    }
  }

  animate() {
    cancelAnimationFrame(this.frame);
    const still = document.hidden || matchMedia("(prefers-reduced-motion: reduce)").matches;
    const begun = performance.now();
    const tick = (now) => {
      const t = still ? 1 : Math.max(0, Math.min(1, (now - begun) / MOVE_MS));
      this.place(eased(t));
      if (t < 1) this.frame = requestAnimationFrame(tick);
      else this.drawMap();
    };
    tick(begun);
  }

  light(id, on) {
    for (const edge of this.edges) {
      if (edge.s !== id && edge.t !== id) continue;
      edge.path.classList.toggle("ix-lit", on);
      for (const end of [edge.s, edge.t]) this.cards.get(end)?.g.classList.toggle("ix-lit", on);
    }
  }

  // Light up what has the text in its label or path; whether anything has.
  find(text) {
    const wanted = text.toLowerCase();
    let hits = 0;
    for (const { item, g } of this.cards.values()) {
      const hit = matches(item, wanted);
      g.classList.toggle("ix-found", hit);
      hits += hit ? 1 : 0;
    }
    return hits > 0;
  }

  // ---- looking -----------------------------------------------------------------------------------------------------
  room() {
    return { width: this.element.clientWidth, height: this.element.clientHeight };
  }

  look(view) {
    this.view = view;
    this.world.setAttribute("transform", `translate(${view.x},${view.y}) scale(${view.k})`);
    this.drawMap();
  }

  drawMap() {
    this.minimap.draw([...this.cards.values()], this.view, this.room());
  }

  fit(all) {
    const main = focusOf(this.picture)?.x;
    const view = fitted(extent([...this.cards.values()].map((card) => card.item)), this.room(), all, main);
    if (!view) return;
    this.moved = all;
    this.look(view);
    if (!all) this.revealFocus();
  }

  // What is chosen stays in sight.
  resized() {
    const wide = this.picture && extent(drawn(this.picture)).width;
    if (wide && extent(drawn(closer(this.given, this.room().width))).width !== wide) this.show(this.given);
    if (!this.moved) this.fit(false);
    this.reveal(this.item(this.last()));
    this.drawMap();
  }

  zoom(by, cx = this.room().width / 2, cy = this.room().height / 2) {
    this.moved = true;
    this.look(zoomed(this.view, by, cx, cy));
  }

  // An item comes into sight, and beside it, where there is room for both, what it leads to, at most half a stage down.
  reveal(item, down = true) {
    if (!item) return;
    const below = this.edges.filter((e) => e.s === item.id && this.item(e.t).x > item.x).map((e) => this.item(e.t));
    const { k } = this.view, room = this.room(), { width, height } = extent([item, ...below]);
    const w = (width - item.x + 40) * k < room.width ? width - item.x : item.w;
    const h = down ? Math.max(item.h, Math.min(height - item.y, room.height / k / 2)) : item.h;
    this.look(cleared(revealed(this.view, { ...item, w, h }, room), item, room, this.minimap.size()));
  }

  // The snapshot in view, with what it lists.
  revealFocus() {
    const focus = focusOf(this.picture), list = focus && this.edges.find((e) => e.s === focus.id);
    if (list) this.reveal(this.item(list.t));
    this.reveal(focus);
  }

  listen() {
    const stage = this.element;
    stage.addEventListener("wheel", (event) => {
      const zooms = event.ctrlKey || event.metaKey;
      if (!zooms && !this.wheel()) return;
      event.preventDefault();
      event.stopPropagation();
      const area = stage.getBoundingClientRect(), zoom = zoomOf(stage), { k, x, y } = this.view;
      const at = [event.clientX - area.left, event.clientY - area.top].map((n) => n / zoom);
      if (zooms) this.zoom(Math.exp(-event.deltaY * 0.002), ...at);
      else if (event.shiftKey) this.look({ k, x: x - (event.deltaY || event.deltaX), y });
      else this.look({ k, x: x - event.deltaX, y: y - event.deltaY });
    }, { passive: false });
    let drag = null;
    stage.addEventListener("pointerdown", (event) => {
      if (event.target.closest(".ix-map,.ix-legend")) return;
      drag = { x: event.clientX, y: event.clientY, view: this.view, on: false };
    });
    stage.addEventListener("pointermove", (event) => {
      if (!drag || !event.buttons) return;
      const [dx, dy] = [event.clientX - drag.x, event.clientY - drag.y].map((n) => n / zoomOf(stage));
      if (!drag.on && Math.hypot(dx, dy) < 4) return;
      if (!drag.on) {
        drag.on = true;
        stage.setPointerCapture(event.pointerId);
        stage.classList.add("ix-drag");
      }
      this.moved = true;
      this.look({ k: drag.view.k, x: drag.view.x + dx, y: drag.view.y + dy });
    });
    stage.addEventListener("pointerup", () => {
      drag = null;
      stage.classList.remove("ix-drag");
    });
  }

  // ---- choosing ----------------------------------------------------------------------------------------------------
  last() {
    return [...this.selected].at(-1);
  }

  item(id) {
    return this.cards.get(id)?.item;
  }

  mark() {
    for (const { item, g } of this.cards.values()) {
      g.classList.toggle("ix-selected", this.selected.has(item.id));
      g.setAttribute("aria-selected", this.selected.has(item.id));
    }
    this.on.marked();
  }

  // What a click does: choose a node, beside others if `more`; a group of hidden nodes comes up.
  pick(id, more = false) {
    if (this.item(id).hidden) {
      this.open(id);
      return;
    }
    const ids = new Set(more ? this.selected : []);
    if (!ids.delete(id)) ids.add(id);
    this.choose([...ids]);
  }

  choose(ids) {
    this.selected = new Set(ids);
    this.mark();
    this.on.choose(ids);
  }

  // The same, but that it was chosen elsewhere.
  chosen(ids) {
    this.selected = new Set(ids.filter((id) => this.cards.has(id)));
    this.mark();
    this.reveal(this.item(this.last()));
  }

  open(id, double = false) {
    const item = this.item(id);
    if (!item) return;
    this.asked = id;
    this.on.open(item, double);
  }

  // To a node: it is chosen, and comes into sight.
  go(id) {
    this.choose([id]);
    this.reveal(this.item(id));
  }

  // To the neighbour that an arrow key leads to.
  walk(key) {
    const items = [...this.cards.values()].map((card) => card.item), item = this.item(this.last());
    const first = focusOf(this.picture) || this.picture.nodes[0];
    const next = item ? neighbour(key, item, items, this.edges, this.vocabulary.edges) : first?.id;
    if (next) this.go(next);
  }

  close() {
    cancelAnimationFrame(this.frame);
  }
}

function flash(g) {
  g.classList.add("ix-changed");
  setTimeout(() => g.classList.remove("ix-changed"), FLASH_MS);
}
