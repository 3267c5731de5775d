// Edges as they are drawn: one by one, or, where many lead from one node to one column, as one trunk.

import { around, edgePath } from "./geometry";
import type { Item } from "./geometry";
import type { Box, PictureEdge } from "./types";

/** As many edges from one node to one column are drawn one by one. */
export const MOST_SINGLE = 10;
const SPINE = 12, LANE = 4, LANES = 4, STUB = 10;

/** A line that is drawn: a single edge, or a trunk with the edges in it. */
export interface Wire {
  id: string;
  source: string;
  kind: string;
  status: string;
  edges: PictureEdge[];
  /** Trunks into one column stand side by side. */
  lane: number;
  /** Where more trunks would overlap than have room, edges are drawn only when they light up: this is a sign of them. */
  stub: boolean;
}

export function isTrunk(wire: Wire): boolean {
  return wire.edges.length > 1;
}

export function bundle(edges: PictureEdge[], items: Map<string, Item>): Wire[] {
  const groups = new Map<string, PictureEdge[]>(), lanes = new Map<string, number[]>(), wires: Wire[] = [], dense = new Set<string>();
  const pair = (edge: PictureEdge): string => `${items.get(edge.s)?.x ?? 0} ${items.get(edge.t)?.x ?? 0}`;
  for (const edge of edges) {
    const target = items.get(edge.t);
    if (!target || !items.has(edge.s)) continue;
    const key = `${edge.s} ${edge.kind} ${target.x}`, group = groups.get(key);
    if (group) group.push(edge);
    else groups.set(key, [edge]);
  }
  for (const [key, group] of groups) {
    const [first] = group;
    if (!first) continue;
    const { s: source, kind } = first;
    if (group.length <= MOST_SINGLE) {
      for (const edge of group) wires.push({ id: `${source} ${kind} ${edge.t}`, source, kind, status: edge.status, edges: [edge], lane: 0, stub: false });
      continue;
    }
    const status = group.every((edge) => edge.status === first.status) ? first.status : "";
    wires.push({ id: key, source, kind, status, edges: group, lane: 0, stub: false });
  }
  const reach = (wire: Wire): Box => around([wire.source, ...wire.edges.map((edge) => edge.t)].flatMap((id) => items.get(id) ?? []));
  const trunks = wires.filter(isTrunk).map((wire) => ({ wire, box: reach(wire) })).sort((a, b) => a.box.y - b.box.y);
  for (const { wire, box } of trunks) { // in the first lane where it overlaps with none
    const [first] = wire.edges, key = first ? pair(first) : "", ends = lanes.get(key) ?? [];
    const free = ends.findIndex((end) => end < box.y), lane = free < 0 ? ends.length : free;
    ends[lane] = box.y + box.h;
    lanes.set(key, ends);
    wire.lane = lane % LANES;
    if (lane >= LANES) dense.add(key);
  }
  for (const wire of wires) wire.stub = wire.edges.some((edge) => dense.has(pair(edge)));
  return wires;
}

/** The sign of edges that are not drawn. */
export function stubPath(source: Box, target: Box): string {
  const y = source.y + source.h / 2, back = target.x < source.x + 1;
  return `M${back ? source.x : source.x + source.w},${y} h${back ? -STUB : STUB}`;
}

/** A wire's path, from the boxes of its source and its targets. */
export function wirePath(wire: Wire, [source, ...targets]: Box[], area?: Box): string {
  const [first] = targets;
  if (!source || !first) return "";
  if (wire.stub) return stubPath(source, first);
  return isTrunk(wire) ? trunkPath(source, targets, wire.lane, area) : edgePath(source, first);
}

/**
 * A trunk: a curve from the source to a spine before the targets' column, the spine, and a short line to each target.
 * Only what is in `area` is drawn of spine and short lines.
 */
export function trunkPath(source: Box, targets: Box[], lane: number, area?: Box): string {
  const [first] = targets;
  if (!first) return "";
  const within = Math.abs(first.x - source.x) < 1, back = !within && first.x < source.x, away = back ? 1 : -1;
  const from = within ? source.x : back ? source.x : source.x + source.w;
  const to = back ? first.x + first.w : first.x;
  const room = within ? Infinity : Math.abs(to - from);
  const spine = to + away * Math.min(SPINE + LANE * lane, room * 0.6), y = source.y + source.h / 2;
  const middles = targets.map((box) => box.y + box.h / 2);
  const [least, most] = area ? [area.y, area.y + area.h] : [-Infinity, Infinity];
  const top = Math.min(...middles), bottom = Math.max(...middles), enter = Math.max(top, Math.min(bottom, y)), half = (from + spine) / 2;
  const ends = within ? [Math.min(top, y), Math.max(bottom, y)] : [top, bottom];
  const [a = 0, b = 0] = ends.map((end) => Math.max(least, Math.min(most, end)));
  return [
    within ? `M${from},${y} H${spine}` : `M${from},${y} C${half},${y} ${half},${enter} ${spine},${enter}`,
    ...(a < b ? [`M${spine},${a} V${b}`] : []),
    ...middles.filter((middle) => middle >= least && middle <= most).map((middle) => `M${spine},${middle} H${to}`),
  ].join(" ");
}
