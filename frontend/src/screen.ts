// What hosts do with the screen, the paper and the keys.

import { signal } from "@preact/signals";

// Whether the page is laid out for paper: then lists have all rows that were read.
export const printed = signal(false);
const paper = globalThis.matchMedia?.("print");
paper?.addEventListener("change", () => (printed.value = paper.matches));

// Fill the screen with an element, larger and without what is around it; or end that.
export function fillScreen(element: Element): void {
  if (document.fullscreenElement) void document.exitFullscreen();
  else void element.requestFullscreen().catch(() => {});
}

// Whether a key is typed into a field, or is for a dialog or a table.
export function isTyped(event: Event): boolean {
  return event.target instanceof Element && event.target.closest("input,textarea,select,dialog,[contenteditable],[role=grid]") !== null;
}
