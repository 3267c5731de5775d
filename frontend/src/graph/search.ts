// What was searched for, and found in a picture.

import type { Item } from "./geometry";
import { matches } from "./words";
import type { Found } from "./words";

export class Search {
  private text = "";
  private list: string[] = [];
  ids = new Set<string>();
  private at = 0;

  /** Search for something else; none of it is in view yet. */
  start(text: string, items: Item[]): void {
    this.text = text.trim();
    this.at = 0;
    this.again(items);
  }

  /** Search the items of another picture. */
  again(items: Item[]): void {
    const hits = items.filter((item) => matches(item, this.text));
    this.list = hits.sort((a, b) => a.x - b.x || a.y - b.y).map((item) => item.id);
    this.ids = new Set(this.list);
    this.at = Math.min(this.at, this.list.length);
  }

  /** Go to the next (1) or previous (-1), round and round. */
  step(by: number): Found {
    const count = this.list.length, from = this.at ? this.at - 1 : by < 0 ? 0 : -1;
    this.at = count ? ((((from + by) % count) + count) % count) + 1 : 0;
    return { count, at: this.at };
  }

  /** What is in view of it. */
  current(): string | undefined {
    return this.list[this.at - 1];
  }
}
