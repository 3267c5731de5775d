// What a person does with the wheel, the pointer and the keys, on the stage.

import { zoomOf } from "./dom";
import type { Point } from "./geometry";
import { own } from "./words";

/** So many pixels is a line of a wheel; and so far is a pointer dragged, not held unsteadily. */
const LINE = 16, DRAGS = 4;

export interface Hands {
  /** Whether the wheel is for the graph, and not for the page around it. */
  wheel(): boolean;
  zoom(by: number, at: Point): void;
  /** Move the graph by so many pixels of the stage. */
  pan(across: number, down: number): void;
  /** The node at a point of the stage, where nodes are not in the document. */
  hit(at: Point): string | undefined;
  hover(id: string | null): void;
  /** A click on a node, or beside all; `more`: to have it beside others. */
  click(id: string | undefined, more: boolean): void;
  open(id: string, double: boolean): void;
  /** What keys do, by their names. */
  keys(): Record<string, () => void>;
}

export function listen(stage: HTMLElement, hands: Hands): void {
  const pointOf = (event: MouseEvent): Point => {
    const area = stage.getBoundingClientRect(), zoom = zoomOf(stage);
    return { x: (event.clientX - area.left) / zoom, y: (event.clientY - area.top) / zoom };
  };
  const idOf = (event: MouseEvent): string | undefined => {
    const card = event.target instanceof Element ? event.target.closest<HTMLElement>(".graph-card") : null;
    return card ? card.dataset["id"] : hands.hit(pointOf(event));
  };
  const onFold = (event: MouseEvent): boolean => event.target instanceof Element && event.target.closest(".graph-fold") !== null;

  stage.addEventListener("wheel", (event) => {
    const zooms = event.ctrlKey || event.metaKey;
    if (!zooms && !hands.wheel()) return;
    event.preventDefault();
    event.stopPropagation();
    const pixels = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? LINE : 1, across = event.deltaX * pixels, down = event.deltaY * pixels;
    if (zooms) hands.zoom(Math.exp(-down * 0.002), pointOf(event));
    else if (event.shiftKey) hands.pan(-(down || across), 0);
    else hands.pan(-across, -down);
  }, { passive: false });

  let drag: Point | null = null, dragged = false;
  const fingers = new Map<number, Point>();
  stage.addEventListener("pointerdown", (event) => {
    dragged = false;
    if (event.button === 0) drag = { x: event.clientX, y: event.clientY };
    if (event.pointerType === "touch") fingers.set(event.pointerId, pointOf(event));
  });
  // Two fingers zoom, about the point between them, and move the graph along.
  const pinch = (event: PointerEvent): boolean => {
    const before = fingers.get(event.pointerId), now = pointOf(event);
    const other = [...fingers].find(([id]) => id !== event.pointerId)?.[1];
    if (!before) return false;
    fingers.set(event.pointerId, now);
    if (!other) return false;
    dragged = true;
    hands.zoom(apart(other, now) / apart(other, before), { x: (other.x + now.x) / 2, y: (other.y + now.y) / 2 });
    hands.pan((now.x - before.x) / 2, (now.y - before.y) / 2);
    return true;
  };
  stage.addEventListener("pointermove", (event) => {
    if (pinch(event)) {
      drag = null;
      return;
    }
    if (!drag || !event.buttons) return hands.hover(idOf(event) ?? null);
    const zoom = zoomOf(stage), across = (event.clientX - drag.x) / zoom, down = (event.clientY - drag.y) / zoom;
    if (!dragged && Math.hypot(across, down) < DRAGS) return;
    if (!dragged) {
      dragged = true;
      stage.setPointerCapture(event.pointerId);
      stage.classList.add("graph-drag");
    }
    drag = { x: event.clientX, y: event.clientY };
    hands.pan(across, down);
  });
  for (const end of ["pointerup", "pointercancel"] as const) {
    stage.addEventListener(end, (event) => {
      drag = null;
      fingers.delete(event.pointerId);
      stage.classList.remove("graph-drag");
    });
  }
  stage.addEventListener("pointerleave", () => hands.hover(null));
  // The first click of two opens the inspector, and the graph moves, perhaps from under a button that is held down: a
  // browser then tells of no second click. The button's release means the first click's node, wherever it happens.
  let first: string | undefined, folds = false;
  const release = (event: MouseEvent): void => {
    if (event.detail === 2 && first !== undefined && !folds && !dragged) hands.open(first, true);
  };
  stage.addEventListener("click", (event) => {
    const id = idOf(event), isFirst = event.detail < 2;
    if (dragged) return;
    if (isFirst) {
      [first, folds] = [id, onFold(event)];
      document.addEventListener("mouseup", release, { capture: true, once: true });
    }
    if (id !== undefined && folds && onFold(event)) hands.open(id, false);
    else if (isFirst) hands.click(id, event.shiftKey || event.ctrlKey || event.metaKey);
  });
  stage.addEventListener("keydown", (event) => {
    const act = own(hands.keys(), event.key);
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
    act();
    event.preventDefault();
    event.stopPropagation();
  });
}

function apart(one: Point, other: Point): number {
  return Math.max(1, Math.hypot(one.x - other.x, one.y - other.y));
}
