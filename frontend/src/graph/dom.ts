// Elements, with text as text.

import { ends } from "./words";

const NS = "http://www.w3.org/2000/svg";

export function html<K extends keyof HTMLElementTagNameMap>(tag: K, className = "", text?: string): HTMLElementTagNameMap[K] {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text !== undefined) node.textContent = text;
  return node;
}

export function svg<K extends keyof SVGElementTagNameMap>(tag: K, attributes: Record<string, string | number> = {}): SVGElementTagNameMap[K] {
  const node = document.createElementNS(NS, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, String(value));
  return node;
}

export function button(text: string, title: string, action?: (button: HTMLButtonElement) => void): HTMLButtonElement {
  const node = html("button", "graph-button", text);
  node.type = "button";
  node.title = title;
  node.setAttribute("aria-label", title);
  if (action) node.addEventListener("click", () => action(node));
  return node;
}

/** A text that keeps both ends where there is no room for it. */
export function cutText(className: string, text: string): HTMLSpanElement {
  const [start, end, extension] = ends(text), span = html("span", `graph-cut ${className}`), name = html("span", "graph-both-ends");
  name.append(html("span", "graph-start", start));
  if (end) name.append(html("span", "graph-end", end));
  span.append(name);
  if (extension) span.append(html("span", "graph-extension", extension));
  return span;
}

/** A sign of a kind: its shape, in the colour of the text around it. */
export function glyph(path: string): SVGSVGElement {
  const picture = svg("svg", { class: "graph-glyph", viewBox: "8 5 16 17", "aria-hidden": "true" });
  picture.append(svg("path", { d: path, fill: "currentColor" }));
  return picture;
}

/** By how much an element and all in it is zoomed: its pixels, and those of the pointer. */
export function zoomOf(element: HTMLElement): number {
  return element.getBoundingClientRect().width / element.offsetWidth || 1;
}
