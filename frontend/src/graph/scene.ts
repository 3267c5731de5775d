// A picture, with what is looked up while it is drawn.

import { bundle, isTrunk } from "./bundle";
import type { Wire } from "./bundle";
import { extent, focusOf, itemsOf } from "./geometry";
import type { Item, Size } from "./geometry";
import { parentsOf, push, ranks } from "./tree";
import type { Rank } from "./tree";
import type { Picture, PictureEdge, PictureNode, Vocabulary } from "./types";
import { relations } from "./words";

export class Scene {
  readonly list: Item[];
  readonly items: Map<string, Item>;
  readonly size: Size;
  readonly parents: Map<string, string>;
  readonly wires: Wire[];
  private readonly ranks: Map<string, Rank>;
  private readonly edges = new Map<string, PictureEdge[]>();
  private readonly fans = new Map<string, number>();
  private readonly largest = new Map<string, number>();

  constructor(readonly picture: Picture, vocabulary: Vocabulary) {
    this.list = itemsOf(picture);
    this.items = new Map(this.list.map((item) => [item.id, item]));
    this.size = extent(this.list);
    this.parents = parentsOf(picture, vocabulary.edges);
    this.ranks = ranks(this.list, this.parents);
    this.wires = bundle(picture.edges, this.items);
    for (const wire of this.wires) {
      const counts = (isTrunk(wire) || wire.stub) && wire.kind !== "does not apply";
      if (counts) this.fans.set(wire.source, this.fan(wire.source) + wire.edges.length);
    }
    for (const edge of picture.edges) for (const id of [edge.s, edge.t]) push(this.edges, id, edge);
    for (const node of picture.nodes) {
      this.largest.set(node.kind, Math.max(amountOf(node), this.largest.get(node.kind) ?? 0));
    }
  }

  item(id: string | undefined): Item | undefined {
    return id === undefined ? undefined : this.items.get(id);
  }

  /** The item of the snapshot in view. */
  focus(): Item | undefined {
    return this.item(focusOf(this.picture)?.id);
  }

  /** The edges from and to an item. */
  edgesOf(id: string): PictureEdge[] {
    return this.edges.get(id) ?? [];
  }

  /** What an item leads to in columns further right. */
  below(item: Item): Item[] {
    const targets = this.edgesOf(item.id).flatMap((edge) => (edge.s === item.id ? this.item(edge.t) ?? [] : []));
    return targets.filter((target) => target.x > item.x);
  }

  /** How many nodes an item leads to by trunks. */
  fan(id: string): number {
    return this.fans.get(id) ?? 0;
  }

  /** How much an item has of the most that one of its kind has. */
  share(item: Item): number | null {
    const amount = item.node && amountOf(item.node), largest = this.largest.get(item.node?.kind ?? "");
    return amount && largest ? amount / largest : null;
  }

  relations(id: string): string[] {
    return relations(id, this.edgesOf(id), (other) => this.items.get(other)?.label ?? "");
  }

  /** Where an item is in the tree, as a screen reader tells it. */
  place(item: Item): Rank & { level: number } {
    const column = this.picture.columns.findIndex((one) => one.x === item.x);
    return { ...(this.ranks.get(item.id) ?? { position: 1, size: 1 }), level: Math.max(0, column) + 1 };
  }
}

// What the bars on cards compare.
function amountOf({ card }: PictureNode): number {
  return card?.bytes ?? card?.rows ?? 0;
}
