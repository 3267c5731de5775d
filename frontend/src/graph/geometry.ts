// Boxes, curves and views: what needs no page.

import type { Box, Column, HiddenGroup, Picture, PictureNode } from "./types";

const GAP = 46; // between columns, as explorer/graph/layout.py has it
const CLOSE = { edges: 44, gap: 17, first: 156, least: 188 }, WIDE = { gap: 140, more: 64 };
/** The head of each column stays at the top of the stage. */
export const HEAD_HEIGHT = 24;
/** `whole` is the least that fitting comes to: smaller boxes are dots. */
const SIZES = { least: 0.02, most: 4, narrow: 0.3, whole: 0.1, large: 1.15, phone: 0.8 };
/** On a stage narrower than so many pixels, cards stay readable and the rest is dragged into sight. */
const PHONE_WIDTH = 560;
/** A graph that is a little too high for its stage is shown whole, at no less than so much of its size. */
const NEARLY = 0.85;
/** From these zooms on a card has room for all its lines (12 px each), or for its title, in text of 9 px or more. */
export const FULL_ZOOM = 0.75;
export const TITLE_ZOOM = 0.3;
/** Below this zoom the lowest cards have no room for a title. */
export const LOW_ZOOM = 0.5;

export interface Point {
  x: number;
  y: number;
}

export interface Size {
  width: number;
  height: number;
}

/** Where the graph's origin is on the stage, and how many pixels of the stage one of its own is. */
export interface View extends Point {
  k: number;
}

/** How much of a card is drawn: all, its title, or a coloured box. */
export type Level = "full" | "title" | "box";

export interface Item extends Box {
  id: string;
  label: string;
  title: string;
  row?: number;
  /** The node, or the group of nodes that are not drawn. */
  node?: PictureNode;
  group?: HiddenGroup;
}

export function levelAt(zoom: number): Level {
  return zoom >= FULL_ZOOM ? "full" : zoom >= TITLE_ZOOM ? "title" : "box";
}

/** Cards and groups of hidden nodes, in one list. */
export function itemsOf(picture: Picture): Item[] {
  const nodes = picture.nodes.map((node): Item => ({ ...boxOf(node), id: node.id, label: node.label, title: node.title, node }));
  const groups = picture.more.map((group): Item => ({ ...boxOf(group), id: group.id, label: group.label, title: group.label, group }));
  return [...nodes, ...groups];
}

function boxOf({ x, y, w, h }: Box): Box {
  return { x, y, w, h };
}

/** The snapshot in view. */
export function focusOf(picture: Picture | null): PictureNode | undefined {
  return picture?.nodes.find((node) => node.focus);
}

/** A curve from one box to another: sideways between columns, along the left side within one. */
export function edgePath(a: Box, b: Box): string {
  const y1 = a.y + a.h / 2, y2 = b.y + b.h / 2;
  if (Math.abs(a.x - b.x) < 1) return `M${a.x},${y1} C${a.x - 18},${y1} ${a.x - 18},${y2} ${a.x},${y2}`;
  const [x1, x2] = b.x > a.x ? [a.x + a.w, b.x] : [a.x, b.x + b.w], m = (x1 + x2) / 2;
  return `M${x1},${y1} C${m},${y1} ${m},${y2} ${x2},${y2}`;
}

/** The end of such a curve: an arrow on the box that it reaches, or a bar before the box that it does not reach. */
export function edgeEnd(a: Box, b: Box, reaches: boolean): string {
  const back = b.x < a.x - 1, x = back ? b.x + b.w : b.x, y = b.y + b.h / 2, away = back ? 1 : -1;
  return reaches ? `M${x},${y} l${8 * away},-5 v10 z` : `M${x + 5 * away},${y - 7} v14`;
}

export function extent(boxes: Iterable<Box>): Size {
  let width = 0, height = 0;
  for (const box of boxes) {
    width = Math.max(width, box.x + box.w);
    height = Math.max(height, box.y + box.h);
  }
  return { width, height };
}

export function overlaps(a: Box, b: Box): boolean {
  return a.x <= b.x + b.w && b.x <= a.x + a.w && a.y <= b.y + b.h && b.y <= a.y + a.h;
}

/** The smallest box that holds some boxes. */
export function around(boxes: Iterable<Box>): Box {
  let left = Infinity, top = Infinity, right = -Infinity, bottom = -Infinity;
  for (const { x, y, w, h } of boxes) {
    left = Math.min(left, x);
    top = Math.min(top, y);
    right = Math.max(right, x + w);
    bottom = Math.max(bottom, y + h);
  }
  return { x: left, y: top, w: right - left, h: bottom - top };
}

/** The part of the graph that is in sight, and `margin` pixels of the stage around it. */
export function areaInSight(view: View, room: Size, margin = 0): Box {
  return {
    x: (-view.x - margin) / view.k, y: (-view.y - margin) / view.k,
    w: (room.width + 2 * margin) / view.k, h: (room.height + 2 * margin) / view.k,
  };
}

export function contains(outer: Box, inner: Box): boolean {
  return outer.x <= inner.x && outer.y <= inner.y
    && outer.x + outer.w >= inner.x + inner.w && outer.y + outer.h >= inner.y + inner.h;
}

/** How far a movement has come at a share `t` of its time: slow, fast, slow. */
export function eased(t: number): number {
  return t < 0.5 ? 2 * t * t : 1 - (2 - 2 * t) ** 2 / 2;
}

export function between(from: Point, to: Box, t: number): Box {
  return { x: from.x + (to.x - from.x) * t, y: from.y + (to.y - from.y) * t, w: to.w, h: to.h };
}

/** Where a card starts to move from: where it was, else from what leads to it, else where it will be. */
export function origin(item: Box & { id: string }, places: Map<string, Point>, parents: Map<string, string>): Point {
  const known = places.get(item.id) ?? places.get(parents.get(item.id) ?? "");
  return known ? { x: known.x, y: known.y } : { x: item.x, y: item.y };
}

/**
 * The view that shows a graph as wide as the stage, or `all` of it; all of it, too, where little is missing. Where it is
 * too wide even for titles alone, what stands left of the column that begins at `main` is left of the stage. Null where
 * there is no room at all.
 */
export function fitted(graph: Size, room: Size, all: boolean, main = 0): View | null {
  if (!room.width || !graph.width) return null;
  const least = all ? SIZES.whole : room.width < PHONE_WIDTH ? SIZES.phone : SIZES.narrow;
  let k = Math.min(SIZES.large, Math.max((room.width - CLOSE.edges) / graph.width, least));
  const whole = (room.height - HEAD_HEIGHT - 8) / (graph.height - 30); // topOf(k) + graph.height * k is the stage's height
  if (all) k = Math.max(SIZES.whole, Math.min(k, (room.height - HEAD_HEIGHT) / graph.height));
  else if (whole < k && whole >= NEARLY * k) k = Math.max(whole, least);
  const x = all ? (room.width - graph.width * k) / 2 : Math.max(26 - main * k, Math.min(26, room.width - 18 - graph.width * k));
  return { k, x, y: topOf(k) };
}

/** Where the graph's upper edge is: its first row stands right below the heads of the columns. */
function topOf(k: number): number {
  return HEAD_HEIGHT + 8 - 30 * k;
}

/**
 * A picture whose columns move closer where there is no room for them all in readable text: first the gaps shrink, then
 * what stands before the column in focus, then the rest. No card is narrower than its words allow. Where there is room
 * to spare, cards and gaps are wider.
 */
export function spaced(picture: Picture, room: number): Picture {
  const items = [...picture.nodes, ...picture.more], wide = new Map<number, number>();
  for (const { x, w } of items) wide.set(x, Math.max(w, wide.get(x) ?? 0));
  const xs = [...wide.keys()].sort((a, b) => a - b), gaps = xs.length - 1, free = room - CLOSE.edges, { width } = extent(items);
  const spare = free / SIZES.large - width;
  if (!room || gaps < 1 || (width <= free && spare <= 0)) return picture;
  if (spare > 0) {
    const more = Math.floor(Math.min(WIDE.more, (spare * 0.6) / xs.length));
    const gap = Math.floor(Math.max(GAP, Math.min(WIDE.gap, GAP + (spare - more * xs.length) / gaps)));
    return placed(picture, xs, xs.map((x) => (wide.get(x) ?? 0) + more), gap);
  }
  const main = focusOf(picture)?.x ?? xs[0] ?? 0, first = xs.filter((x) => x < main).length;
  const rest = Math.floor((free - gaps * CLOSE.gap - first * CLOSE.first) / (xs.length - first));
  const widths = xs.map((x, i) => Math.min(wide.get(x) ?? 0, i < first ? CLOSE.first : Math.max(CLOSE.least, rest)));
  const sum = widths.reduce((a, b) => a + b, 0);
  const gap = Math.max(CLOSE.gap, Math.min(GAP, Math.floor((free - sum) / gaps)));
  return placed(picture, xs, widths, gap);
}

// The columns that begin at `xs` as wide as `widths`, with a gap between them.
function placed(picture: Picture, xs: number[], widths: number[], gap: number): Picture {
  const at = new Map<number, { x: number; w: number }>();
  let left = 0;
  xs.forEach((x, i) => {
    const w = widths[i] ?? 0;
    at.set(x, { x: left, w });
    left += w + gap;
  });
  const put = <T extends Box>(item: T): T => ({ ...item, ...at.get(item.x) });
  const columns = picture.columns.map((column): Column => ({ ...column, x: at.get(column.x)?.x ?? column.x }));
  return { ...picture, columns, nodes: picture.nodes.map(put), more: picture.more.map(put) };
}

/** How wide a panel is, of what a person would have it: both it and the graph stay of use. */
export function sideWidth(wanted: number, room: number): number {
  return Math.round(Math.max(260, Math.min(wanted, room - 300)));
}

/** The same point of the graph stays under (cx, cy). */
export function zoomed(view: View, by: number, cx: number, cy: number): View {
  const k = Math.min(SIZES.most, Math.max(SIZES.least, view.k * by));
  return { k, x: cx - (cx - view.x) * (k / view.k), y: cy - (cy - view.y) * (k / view.k) };
}

function inside(start: number, length: number, from: number, to: number): number {
  if (start < from) return from - start;
  return start + length > to ? to - start - length : 0;
}

/** The view moved as little as shows a box completely; its upper end where it is larger than the stage. */
export function revealed(view: View, box: Box, room: Size): View {
  const w = Math.min(box.w * view.k, room.width - 32), h = Math.min(box.h * view.k, room.height - HEAD_HEIGHT - 32);
  return {
    k: view.k,
    x: view.x + inside(view.x + box.x * view.k, w, 16, room.width - 16),
    y: view.y + inside(view.y + box.y * view.k, h, HEAD_HEIGHT + 8, room.height - 24),
  };
}

/** The view in which what has moved down by so much stands where it stood. */
export function steady(view: View, by: number): View {
  return { ...view, y: view.y - by * view.k };
}

/**
 * Whether a map beside the stage helps: much of the graph is above or below what is in sight. One that is `there` takes
 * room, so that the graph is a little smaller; it does not go for that.
 */
export function needsMap(graph: Size, zoom: number, room: Size, there = false): boolean {
  return room.width >= 480 && room.height >= 240 && graph.height * zoom > room.height * (there ? 1.1 : 1.3);
}
