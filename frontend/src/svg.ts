// Pictures from the server: SVG of ours, of which only known elements and attributes are taken, whatever is in it.

const ELEMENTS = new Set([
  "svg", "g", "path", "rect", "circle", "ellipse", "line", "polyline", "polygon", "text", "tspan", "title", "desc",
  "defs", "pattern", "marker", "clippath", "lineargradient", "stop", "use",
]);
const ATTRIBUTES = /^(?:(?:aria|stroke|fill|font|text|dominant|marker|pattern|gradient|stop|clip|alignment|letter|data)(?:-[a-z]+)*|viewbox|width|height|[xyr]|[xy][12]|[cdr][xy]|d|points|transform|opacity|role|id|class|style|offset|orient|ref[xy]|preserveaspectratio|href|xmlns|overflow|patternunits|patterntransform|markerwidth|markerheight|markerunits|gradientunits|clippathunits|textlength|lengthadjust|paint-order|shape-rendering|visibility|vector-effect|rotate)$/;
const STYLE = /^[\w\s:;#.,%()-]*$/;

// The picture as an element; null if the text is no SVG.
export function pictureOf(text: string): SVGSVGElement | null {
  const parsed = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
  if (parsed.localName !== "svg") return null;
  return copy(parsed) as SVGSVGElement;
}

function copy(from: Element): SVGElement | null {
  if (!ELEMENTS.has(from.localName.toLowerCase())) return null;
  const to = document.createElementNS("http://www.w3.org/2000/svg", from.localName);
  for (const { name, value } of from.attributes) {
    const lower = name.toLowerCase();
    if (!ATTRIBUTES.test(lower) || lower === "xmlns") continue;
    if (lower === "href" && !value.startsWith("#")) continue;
    if (/url\(\s*["']?(?!#)/i.test(value) || (lower === "style" && !STYLE.test(value))) continue;
    to.setAttribute(name, value);
  }
  for (const child of from.childNodes) {
    if (child.nodeType === Node.TEXT_NODE) to.append(child.textContent ?? "");
    else if (child instanceof Element) {
      const made = copy(child);
      if (made) to.append(made);
    }
  }
  return to;
}
