// What colours, shapes and signs mean, in the words that Python sent.

import { colour, html, svg } from "./dom.js";
import { legendRows } from "./pure.js";

export function legendOf(vocabulary, picture) {
  return legendRows(vocabulary, picture).map((row) => {
    const line = html("div", "ix-legend-row ix-ink");
    colour(line, row.ink);
    line.append(row.glyph ? shape(row.glyph) : html("b", "ix-mark", row.sign), document.createTextNode(row.text));
    return line;
  });
}

function shape(glyph) {
  const picture = svg("svg", { class: "ix-swatch", viewBox: "8 5 16 17" });
  picture.append(svg("path", { class: "ix-shape", d: glyph }));
  return picture;
}
