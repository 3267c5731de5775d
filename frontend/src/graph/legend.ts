// What colours, shapes and signs mean, in the words that Python sent.

import { glyph, html, svg } from "./dom";
import type { Picture, Vocabulary } from "./types";
import { legendRows } from "./words";
import type { LegendRow } from "./words";

export function legend(vocabulary: Vocabulary, picture: Picture): HTMLElement {
  const list = html("ul", "graph-legend");
  for (const row of legendRows(vocabulary, picture)) {
    const line = html("li"), sign = html("span", "graph-legend-sign");
    sign.style.setProperty("color", row.ink);
    sign.append(row.glyph ? glyph(row.glyph) : row.edge ? stroke(row.edge) : (row.sign ?? ""));
    line.append(sign, row.text);
    list.append(line);
  }
  return list;
}

function stroke(look: NonNullable<LegendRow["edge"]>): SVGSVGElement {
  const picture = svg("svg", { class: "graph-glyph", viewBox: "0 0 22 16", "aria-hidden": "true" });
  const dash = { applies: "none", spared: "1.5 3", dashed: "4 3" }[look];
  picture.append(svg("path", { d: "M1,8 H16", stroke: "currentColor", "stroke-width": 2, "stroke-dasharray": dash }));
  if (look === "applies") picture.append(svg("path", { d: "M22,8 l-8,-5 v10 z", fill: "currentColor" }));
  if (look === "spared") picture.append(svg("path", { d: "M18,2 v12", stroke: "currentColor", "stroke-width": 2 }));
  return picture;
}
