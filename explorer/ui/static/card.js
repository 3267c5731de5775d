// One card: a node, or a group of hidden ones.

import { colour, fitting, svg } from "./dom.js";
import { besideFold, looks } from "./pure.js";

// Draw a card anew into its <g>.
export function paint(g, item, vocabulary) {
  if (item.hidden) paintHidden(g, item);
  else paintNode(g, item, vocabulary);
}

function box(item, rx) {
  return svg("rect", { class: "ix-box", width: item.w, height: item.h, rx });
}

function paintHidden(g, item) {
  g.setAttribute("class", `ix-node ix-hidden-nodes${item.action ? "" : " ix-inert"}`);
  Object.assign(g.dataset, { kind: "more", label: item.label });
  g.setAttribute("aria-label", item.label);
  const label = fitting("text", { class: "ix-more", x: 9, y: 17 }, item.label, "italic 12px", item.w - 14);
  g.replaceChildren(box(item, 6), label);
}

function paintNode(g, item, vocabulary) {
  const { kinds, statuses, marks } = vocabulary;
  const kind = kinds[item.kind], status = statuses[item.status], mark = marks[item.mark];
  const is = { "ix-current": item.current, "ix-bad": item.bad, "ix-focus": item.focus };
  const states = Object.keys(is).filter((name) => is[name]);
  g.setAttribute("class", ["ix-node", "ix-ink", ...looks(kind, status, mark), ...states].join(" "));
  colour(g, { k: kind, s: status, m: mark });
  Object.assign(g.dataset, { kind: item.kind, label: item.label, status: item.status, mark: item.mark });
  const said = [item.label, kind.title, item.status, item.mark, ...item.lines];
  g.setAttribute("aria-label", said.filter((word) => word).join(", "));
  const title = [kind.title, item.title || item.label, item.problem].filter((line) => line).join("\n");
  g.replaceChildren(
    svg("title", {}, title), box(item, kind.look === "round" ? 12 : 6),
    svg("path", { class: "ix-shape", d: kind.glyph }), head(item, status),
    ...item.lines.map((line, i) => {
      const y = 35 + 15 * i, room = item.w - (besideFold(item, y) ? 38 : 18);
      return fitting("text", { class: "ix-line", x: 12, y }, line, "12px", room);
    }),
    ...(item.warn ? [svg("text", { class: "ix-warn", x: item.w - 30, y: 18 }, "⚠")] : []),
    ...(mark ? [svg("text", { class: "ix-note-mark", x: item.w - 3, y: -3, "text-anchor": "end" }, item.mark)] : []),
    ...(item.fold ? [fold(item)] : []),
  );
}

function head(item, status) {
  const line = svg("text", { class: "ix-head", x: 30, y: 18 });
  const room = item.w - (status ? 56 : 42) - (besideFold(item, 18) ? 14 : 0);
  if (status) line.append(svg("tspan", { class: "ix-mark" }, `${status.sign} `));
  line.append(fitting("tspan", { class: "ix-label" }, item.label, "600 12.5px", room));
  return line;
}

function fold(item) {
  const open = item.fold === "open", x = item.w - 13, y = item.h / 2;
  const sign = svg("g", { class: "ix-fold", role: "button", "aria-label": open ? "fold" : "unfold" });
  const text = svg("text", { x, y: y + 4.5, "text-anchor": "middle" }, open ? "−" : "+");
  sign.append(svg("circle", { cx: x, cy: y, r: 8 }), text);
  return sign;
}
