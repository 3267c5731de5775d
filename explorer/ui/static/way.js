// The way from the table to what is chosen: each part of it can be chosen, and comes into sight.

import { html } from "./dom.js";

export class Way {
  // `go(id)` chooses a node.
  constructor(go) {
    this.go = go;
    this.element = html("nav", "ix-way");
    this.element.setAttribute("aria-label", "way from the table to what is chosen");
  }

  // `items` are nodes of a picture, from the first to the last on the way.
  show(items) {
    this.element.replaceChildren(...items.map((item, i) => this.part(item, i === items.length - 1)));
  }

  part(item, last) {
    const part = html("button", "ix-part", item.label);
    part.type = "button";
    part.title = item.title;
    if (last) part.setAttribute("aria-current", "true");
    part.addEventListener("click", () => this.go(item.id));
    return part;
  }
}
