// What hosts do with the screen and the keys.

// Fill the screen with an element, larger and without what is around it; or end that.
export function fillScreen(element: Element): void {
  if (document.fullscreenElement) void document.exitFullscreen();
  else void element.requestFullscreen().catch(() => {});
}

// Whether a key is typed into a field, or is for a dialog or a table.
export function isTyped(event: Event): boolean {
  return event.target instanceof Element && event.target.closest("input,textarea,select,dialog,[contenteditable],[role=grid]") !== null;
}
