// Edges as they are drawn: one by one, or, where many lead from one node to one column, as one trunk.

import type { Item } from "./geometry";
import type { Box, PictureEdge } from "./types";

/** As many edges from one node to one column are drawn one by one. */
export const MOST_SINGLE = 10;
const SPINE = 12, LANE = 4, LANES = 4;

/** A line that is drawn: a single edge, or a trunk with the edges in it. */
export interface Wire {
  id: string;
  source: string;
  kind: string;
  status: string;
  edges: PictureEdge[];
  /** Trunks into one column stand side by side. */
  lane: number;
}

export function isTrunk(wire: Wire): boolean {
  return wire.edges.length > 1;
}

export function bundle(edges: PictureEdge[], items: Map<string, Item>): Wire[] {
  const groups = new Map<string, PictureEdge[]>(), lanes = new Map<number, number>(), wires: Wire[] = [];
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
      for (const edge of group) wires.push({ id: `${source} ${kind} ${edge.t}`, source, kind, status: edge.status, edges: [edge], lane: 0 });
      continue;
    }
    const x = items.get(first.t)?.x ?? 0, lane = lanes.get(x) ?? 0;
    lanes.set(x, (lane + 1) % LANES);
    const status = group.every((edge) => edge.status === first.status) ? first.status : "";
    wires.push({ id: key, source, kind, status, edges: group, lane });
  }
  return wires;
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
