// Elements, with text as text; and whether the page that we are in is dark.

import { clip, inks, isDark } from "./pure.js";

const NS = "http://www.w3.org/2000/svg";

export function html(tag, className, text) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text !== undefined) node.textContent = text;
  return node;
}

export function svg(tag, attributes, text) {
  const node = document.createElementNS(NS, tag);
  for (const [name, value] of Object.entries(attributes || {})) node.setAttribute(name, value);
  if (text !== undefined) node.textContent = text;
  return node;
}

// A text in so many pixels, whatever the fonts of a machine: as it is, or drawn narrower, or its middle left out.
const pen = document.createElement("canvas").getContext("2d");
const FONT = 'system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';
const HINTED = 1.02;  // what is drawn in SVG may be that much wider than what a canvas measures
const NARROWER = 1.2;  // more than that is hard to read
const DATED = /^\d{4}-\d\d-\d\d (\d\d:\d\d:\d\d UTC)$/;  // of which the time says more than both ends
const LONGEST = 200;  // letters that are measured: no card has room for more
export function fitting(tag, attributes, whole, size, width) {
  const text = clip(whole, LONGEST);
  pen.font = `${size} ${FONT}`;
  const wide = (some) => pen.measureText(some).width * HINTED;
  const squeezed = { ...attributes, textLength: width, lengthAdjust: "spacingAndGlyphs" };
  if (wide(text) > width && wide(text) <= width * NARROWER) return svg(tag, squeezed, text);
  const time = DATED.exec(text);
  return svg(tag, attributes, clipped(time && wide(text) > width ? time[1] : text, width, wide));
}

function clipped(text, width, wide) {
  let most = text.length;
  while (most > 4 && wide(clip(text, most)) > width) {
    most = Math.max(4, Math.min(most - 1, Math.floor((most * width) / wide(clip(text, most)))));
  }
  return clip(text, most);
}

// By how much an element and all in it is zoomed: its pixels, and those of the pointer.
export function zoomOf(element) {
  return element.getBoundingClientRect().width / element.offsetWidth || 1;
}

export function button(text, title, action) {
  const node = html("button", "ix-button", text);
  node.type = "button";
  node.title = title;
  node.setAttribute("aria-label", title);
  node.addEventListener("click", action);
  return node;
}

// Set the colours of an element with the class ix-ink; see `inks`.
export function colour(node, entries) {
  for (const [name, value] of inks(entries)) node.style.setProperty(name, value);
}

// Follow the page: the nearest background that one sees decides. Returns what ends it.
export function followTheme(el, root, changed) {
  const look = () => {
    let node = el, dark = null;
    while (node && dark === null) {
      dark = node instanceof Element ? isDark(getComputedStyle(node).backgroundColor) : null;
      node = node.parentNode instanceof ShadowRoot ? node.parentNode.host : node.parentNode;
    }
    if (dark !== null) root.classList.toggle("ix-dark", dark);
    changed();
  };
  const watch = new MutationObserver(() => setTimeout(look, 60));
  for (const node of [document.documentElement, document.body]) watch.observe(node, { attributes: true });
  look();
  return () => watch.disconnect();
}
