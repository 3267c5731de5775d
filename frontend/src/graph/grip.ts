// The edge of a panel beside the graph: a person drags it, or presses arrows, to widen the panel.

import { html, zoomOf } from "./dom";
import { sideWidth } from "./geometry";

const WIDTH = 360, STEP = 24, KEPT = "icedive-inspector";

export class Grip {
  readonly element = html("div", "graph-grip");
  private wanted = keptWidth();

  /** It stands right before the panel, in the same row. */
  constructor(private readonly panel: HTMLElement) {
    const { element } = this, told = { role: "separator", "aria-orientation": "vertical", "aria-label": "Width of the inspector" };
    element.tabIndex = 0;
    element.title = "Drag, or press arrows, to widen the inspector";
    for (const [name, value] of Object.entries(told)) element.setAttribute(name, value);
    element.addEventListener("pointerdown", (event) => element.setPointerCapture(event.pointerId));
    element.addEventListener("pointermove", (event) => {
      if (!element.hasPointerCapture(event.pointerId)) return;
      const { right } = panel.getBoundingClientRect();
      this.widen((right - event.clientX) / zoomOf(panel) - panel.offsetWidth);
    });
    element.addEventListener("keydown", (event) => {
      const by = event.key === "ArrowLeft" ? STEP : event.key === "ArrowRight" ? -STEP : 0;
      if (!by) return;
      this.widen(by);
      event.preventDefault();
      event.stopPropagation();
    });
  }

  /** Make the panel so much wider, as far as there is room; by 0: as wide as it was wanted, after the page has changed. */
  widen(by = 0): void {
    const room = this.panel.parentElement?.clientWidth ?? 0;
    if (by) keepWidth(this.wanted = sideWidth(this.panel.offsetWidth + by, room));
    const width = sideWidth(this.wanted, room);
    this.panel.style.width = `${width}px`;
    this.element.setAttribute("aria-valuenow", String(width));
  }
}

// The browser keeps the width, if it keeps anything for this page.
function keptWidth(): number {
  try {
    return Number(localStorage.getItem(KEPT)) || WIDTH;
  } catch {
    return WIDTH;
  }
}

function keepWidth(width: number): void {
  try {
    localStorage.setItem(KEPT, String(width));
  } catch { /* then as long as the page is there */ }
}
