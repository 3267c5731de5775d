// What leads to what: neighbours, places in the tree, and a picture while some of its nodes are folded.

import { itemsOf } from "./geometry";
import type { Item } from "./geometry";
import type { Box, EdgeKinds, Picture, PictureEdge, PictureNode } from "./types";

const HEADER = 30, ROW_GAP = 12, BLANK = 332, NEAR = BLANK / 2; // as explorer/graph/layout.py has them

/** Append to the list that a map has under a key. */
export function push<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  const known = map.get(key);
  if (known) known.push(value);
  else map.set(key, [value]);
}

/** What leads to each card: an edge downwards, or the node that a group of hidden ones belongs to. */
export function parentsOf(picture: Picture, kinds: EdgeKinds): Map<string, string> {
  const down = picture.edges.filter((edge) => !kinds[edge.kind]?.back && !kinds[edge.kind]?.dashed);
  return new Map([
    ...down.map((edge): [string, string] => [edge.t, edge.s]),
    ...picture.more.map((group): [string, string] => [group.id, group.parent]),
  ]);
}

export interface Rank {
  position: number;
  size: number;
}

/** The place of each item among those of its column that the same parent has, as a screen reader tells it. */
export function ranks(items: Item[], parents: Map<string, string>): Map<string, Rank> {
  const families = new Map<string, Item[]>();
  for (const item of items) push(families, `${item.x}|${parents.get(item.id) ?? ""}`, item);
  const told = new Map<string, Rank>();
  for (const family of families.values()) {
    family.sort((a, b) => a.y - b.y).forEach((item, i) => told.set(item.id, { position: i + 1, size: family.length }));
  }
  return told;
}

/** The node that an arrow key leads to from a chosen one. */
export function neighbour(key: string, item: Item, items: Item[], edges: PictureEdge[], kinds: EdgeKinds): string | undefined {
  const down = edges.filter((edge) => !kinds[edge.kind]?.back);
  const beside = (side: number) => edges.map((edge) => items.find(({ id }) => id === (edge.s === item.id ? edge.t : edge.s)))
    .find((one) => one && (one.x - item.x) * side > 0)?.id; // whichever way the edge goes: a delete stands right of its files
  if (key === "ArrowRight") return down.find((edge) => edge.s === item.id && edge.t !== item.id)?.t ?? beside(1);
  if (key === "ArrowLeft") return down.find((edge) => edge.t === item.id)?.s ?? beside(-1);
  const column = items.filter((one) => one.x === item.x && one.node).sort((a, b) => a.y - b.y);
  if (key === "Home") return column[0]?.id;
  if (key === "End") return column.at(-1)?.id;
  return column[column.findIndex((one) => one.id === item.id) + (key === "ArrowDown" ? 1 : -1)]?.id;
}

/**
 * What a picture with everything unfolded shows while some of its nodes are `folded` and some are `out` of the
 * question: what only these lead to is left out, and the rest moves up.
 */
export function unfolded(picture: Picture, kinds: EdgeKinds, folded: Set<string>, out: (node: PictureNode) => boolean = () => false): Picture {
  const x = new Map(picture.nodes.map((node) => [node.id, node.x])), snapshots = picture.columns[1]?.x ?? Infinity;
  const children = new Map<string, string[]>(), led = new Set<string>(), older = new Set<string>();
  for (const { id, x: at, fold } of picture.nodes) if (fold && at < snapshots) older.add(id); // metadata files
  for (const { s, t, kind } of picture.edges) {
    const from = x.get(s) ?? 0;
    if (kinds[kind]?.dashed || from < snapshots || (x.get(t) ?? 0) <= from) continue;
    push(children, s, t);
    led.add(t);
  }
  const gone = new Set(picture.nodes.filter(out).map((node) => node.id)), seen = new Set<string>();
  const waiting = picture.nodes.filter((node) => !led.has(node.id)).map((node) => node.id);
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    if (seen.has(id) || gone.has(id)) continue;
    seen.add(id);
    if (!folded.has(id)) waiting.push(...(children.get(id) ?? []));
  }
  const fold = (id: string): PictureNode["fold"] => (children.has(id) || older.has(id) ? (folded.has(id) ? "folded" : "open") : "");
  const leads = ({ s, kind }: PictureEdge): boolean => !older.has(s) || !folded.has(s) || Boolean(kinds[kind]?.dashed);
  return arranged({
    ...picture,
    nodes: picture.nodes.filter((node) => seen.has(node.id)).map((node) => ({ ...node, fold: fold(node.id) })),
    edges: picture.edges.filter((edge) => seen.has(edge.s) && seen.has(edge.t) && leads(edge)),
    more: picture.more.filter((group) => seen.has(group.parent) && !folded.has(group.parent)),
  }, snapshots, kinds);
}

interface Placed extends Box {
  id: string;
  row?: number;
  hidden: boolean;
  least: number;
  wanted: number;
}

// The tree below the snapshots placed anew, as graph/layout.py does: beside what added a thing (`row`), or led there.
function arranged(picture: Picture, snapshots: number, kinds: EdgeKinds): Picture {
  const items = new Map(itemsOf(picture).map((item): [string, Placed] => {
    const row = (item.node ?? item.group)?.row;
    return [item.id, { ...item, ...(row === undefined ? {} : { row }), hidden: Boolean(item.group), least: 0, wanted: 0 }];
  }));
  const led = new Set<string>(), children = new Map<string, Placed[]>();
  for (const { s, t, kind } of picture.edges) {
    const source = items.get(s), target = items.get(t);
    if (!source || !target || kinds[kind]?.dashed || target.x <= source.x || led.has(t)) continue;
    push(children, s, target);
    led.add(t);
  }
  for (const group of picture.more) {
    const item = items.get(group.id);
    if (!item || group.x <= snapshots) continue;
    if (group.before) children.set(group.parent, [item, ...(children.get(group.parent) ?? [])]);
    else push(children, group.parent, item);
    led.add(group.id);
  }
  const placed = [...items.values()].filter((item) => item.x <= snapshots);
  const sweep = (column: Placed[], from = HEADER): number => {
    let bottom = from;
    for (const item of column) {
      item.y = Math.max(bottom, Math.min(item.wanted, Math.max(bottom, item.least) + BLANK));
      bottom = item.y + item.h + ROW_GAP;
    }
    return bottom;
  };
  const xs = [...new Set(picture.columns.map((column) => column.x))].filter((x) => x > snapshots).sort((a, b) => a - b);
  for (const x of xs) {
    const here: Placed[] = [];
    for (const parent of [...placed].sort((a, b) => a.y - b.y)) {
      const all = children.get(parent.id) ?? [], siblings = all.filter((item) => item.x === x);
      for (const item of siblings) {
        item.least = parent.y;
        item.wanted = Math.max(parent.y - NEAR, item.row ?? parent.y);
      }
      const last = siblings.at(-1);
      if (last?.hidden && last === all.at(-1)) last.wanted = Math.max(...siblings.map((item) => item.wanted));
      here.push(...siblings);
    }
    const bottom = sweep(here.sort((a, b) => a.wanted - b.wanted));
    const alone = [...items.values()].filter((item) => item.x === x && !item.hidden && !led.has(item.id));
    for (const item of alone) item.least = item.wanted = bottom;
    sweep(alone, bottom);
    placed.push(...here, ...alone);
  }
  const wanted = new Map(placed.map((item) => [item.id, item.wanted]));
  for (const x of xs.slice(1, -1).reverse()) { // what had no room near what leads to it takes that along
    const here = placed.filter((item) => item.x === x).sort((a, b) => a.y - b.y);
    for (const item of here) {
      const first = [...(children.get(item.id) ?? [])].sort((a, b) => a.y - b.y)[0];
      const pushed = first ? first.y - (wanted.get(first.id) ?? 0) : 0;
      item.least = item.wanted = item.y + (pushed > NEAR ? pushed : 0);
    }
    sweep(here);
  }
  const put = <T extends Box & { id: string }>(item: T): T => ({ ...item, y: items.get(item.id)?.y ?? item.y });
  return { ...picture, nodes: picture.nodes.map(put), more: picture.more.map(put) };
}
