// The way from the table to what is selected: each part of it can be selected, and comes into sight.

import { cutText, html } from "./dom";
import type { PictureNode } from "./types";

export class Way {
  readonly element = html("nav", "graph-way");

  /** `go(id)` selects a node. */
  constructor(private readonly go: (id: string) => void) {
    this.element.setAttribute("aria-label", "Way from the table to the selected node");
  }

  /** `nodes` from the first to the last on the way: see `wayTo`. */
  show(nodes: PictureNode[]): void {
    this.element.replaceChildren(...nodes.map((node, i) => this.part(node, i === nodes.length - 1)));
  }

  private part(node: PictureNode, last: boolean): HTMLElement {
    const part = html("button", "graph-way-part");
    part.append(cutText("", node.label));
    part.type = "button";
    part.title = node.title;
    if (last) part.setAttribute("aria-current", "true");
    part.addEventListener("click", () => this.go(node.id));
    return part;
  }
}
