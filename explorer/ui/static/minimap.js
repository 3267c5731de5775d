// The whole graph, small, and which part of it is in sight; shown when it does not fit.

import { html, zoomOf } from "./dom.js";
import { extent, mapped } from "./pure.js";

export class Minimap {
  // `go(x, y)` moves the middle of what is in sight to that point of the graph.
  constructor(go) {
    this.element = html("canvas", "ix-map");
    this.scale = 1;
    this.element.addEventListener("pointerdown", (event) => {
      event.stopPropagation();
      const area = this.element.getBoundingClientRect();
      const scale = this.scale * zoomOf(this.element);
      go((event.clientX - area.left) / scale, (event.clientY - area.top) / scale);
    });
  }

  // How much of the stage it takes.
  size() {
    return { width: this.element.offsetWidth, height: this.element.offsetHeight };
  }

  // `cards` are {item, g}; `room` is the stage's width and height.
  draw(cards, view, room) {
    const map = this.element, graph = extent(cards.map((card) => card.item)), { width, height } = graph;
    const needed = mapped(graph, view.k, room);
    map.classList.toggle("ix-open", needed);
    if (!needed) return;
    map.width = 120;
    map.height = Math.max(40, Math.min(150, (120 * height) / width));
    const k = this.scale = Math.min(map.width / width, map.height / height), pen = map.getContext("2d");
    for (const { item, g } of cards) {
      pen.fillStyle = getComputedStyle(g.querySelector(".ix-box")).stroke || "#888";
      pen.fillRect(item.x * k, item.y * k, Math.max(2, item.w * k), Math.max(1.5, item.h * k));
    }
    pen.strokeStyle = "#e0245e";
    pen.lineWidth = 1.5;
    const [x, y, w, h] = [-view.x, -view.y, room.width, room.height].map((n) => (n / view.k) * k);
    pen.strokeRect(x, y, w, h);
  }
}
