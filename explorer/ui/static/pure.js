// What needs no page: words, geometry and choices. tests/unit/pure.test.mjs holds it to account.

export const CHIP = 36;
const HEADER = 30, ROW_GAP = 12, GAP = 46, BLANK = 332, NEAR = BLANK / 2;  // as graph/layout.py has them
const CLOSE = { edges: 44, gap: 17, first: 156, least: 188 };
const MAP_EDGE = 8, MAP_ROOM = { width: 640, height: 360 };
const SIZES = { least: 0.05, most: 4, small: 0.1, readable: 1, large: 1.15 };  // text is 12 pixels high, or more

// What a map of ours has under a stranger's word; nothing that every object has.
export function own(map, key) {
  return Object.hasOwn(map, key) ? map[key] : undefined;
}

// A text in so many letters: of a name both ends, which tell names apart; of a sentence its beginning.
export function clip(text, width) {
  if (text.length <= width) return text;
  const left = / .* /.test(text) ? width - 1 : Math.floor((width - 1) / 2);
  return text.slice(0, left) + "…" + text.slice(text.length - (width - 1 - left));
}

// A curve from one box to another: sideways between columns, along the left side within one.
export function edgePath(a, b) {
  const y1 = a.y + a.h / 2, y2 = b.y + b.h / 2;
  if (Math.abs(a.x - b.x) < 1) return `M${a.x},${y1} C${a.x - 18},${y1} ${a.x - 18},${y2} ${a.x},${y2}`;
  const [x1, x2] = b.x > a.x ? [a.x + a.w, b.x] : [a.x, b.x + b.w], m = (x1 + x2) / 2;
  return `M${x1},${y1} C${m},${y1} ${m},${y2} ${x2},${y2}`;
}

export function extent(boxes) {
  let width = 0, height = 0;
  for (const box of boxes) {
    width = Math.max(width, box.x + box.w);
    height = Math.max(height, box.y + box.h);
  }
  return { width, height };
}

// How far a movement has come at a share `t` of its time: slow, fast, slow.
export function eased(t) {
  return t < 0.5 ? 2 * t * t : 1 - (2 - 2 * t) ** 2 / 2;
}

export function between(from, to, t) {
  return { x: from.x + (to.x - from.x) * t, y: from.y + (to.y - from.y) * t, w: to.w, h: to.h };
}

// Where a card starts to move from: where it was, else from what leads to it, else where it will be.
export function origin(item, places, parents) {
  const known = places.get(item.id) || places.get(parents.get(item.id));
  return known ? { ...known } : { x: item.x, y: item.y };
}

// The snapshot in view.
export function focusOf(picture) {
  return picture?.nodes.find((n) => n.focus);
}

// The nodes on the way to a node (or, without one, to the snapshot in view), the table first. Of several that lead to
// one: by the snapshot in view, else by what is current. What nothing leads to is come to as what is current beside it.
export function wayTo(picture, edgeKinds, id) {
  const items = new Map(picture.nodes.map((n) => [n.id, n])), focus = focusOf(picture), up = new Map(), way = [];
  for (const { s, t, kind } of picture.edges) {
    if (!edgeKinds[kind].dashed && items.get(s).x <= items.get(t).x) up.set(t, [...(up.get(t) || []), items.get(s)]);
  }
  const above = (item) => {
    const all = up.get(item.id) || [], left = all.filter((one) => one.x < item.x);
    return left.length ? left : all;
  };
  const inView = (item) => item === focus || above(item).some((one) => one.x < item.x && inView(one));
  const next = (item) => above(item).find(inView) || above(item).find((one) => one.current) || above(item)[0];
  for (let at = items.get(id) || focus; at && !way.includes(at);) {
    way.unshift(at);
    const peer = picture.nodes.find((n) => n.current && n.x === way[0].x && n !== way[0]);
    at = next(at) || (peer && next(peer));
  }
  return way;
}

// What leads to each card: an edge downwards, or the node that a group of hidden ones belongs to.
export function leading(picture, edgeKinds) {
  const down = picture.edges.filter((e) => !edgeKinds[e.kind].back && !edgeKinds[e.kind].dashed);
  return new Map([...down.map((e) => [e.t, e.s]), ...picture.more.map((m) => [m.id, m.parent])]);
}

// The view that shows a graph: all of it, or as wide as the stage but in text of at least 12 pixels. What there is no
// room for then is left of the stage, as far as the column that begins at `main`. Null where there is no room at all.
export function fitted(graph, room, all, main = 0) {
  if (!room.width || !graph.width) return null;
  let k = Math.min(SIZES.large, Math.max((room.width - CLOSE.edges) / graph.width, all ? SIZES.small : SIZES.readable));
  if (all) k = Math.min(k, (room.height - 16) / graph.height);
  return { k, x: Math.max(26 - main * k, Math.min(26, room.width - 18 - graph.width * k)), y: 8 };
}

// A picture whose columns move closer where there is no room for them all in readable text: first the gaps shrink, then
// what stands before the column in focus, then the rest. No card is narrower than its words allow.
export function closer(picture, room) {
  const items = drawn(picture), wide = new Map(), sum = (numbers) => numbers.reduce((a, b) => a + b, 0);
  for (const { x, w } of items) wide.set(x, Math.max(w, wide.get(x) || 0));
  const xs = [...wide.keys()].sort((a, b) => a - b), gaps = xs.length - 1, free = room - CLOSE.edges;
  if (!room || gaps < 1 || extent(items).width <= free) return picture;
  const main = focusOf(picture)?.x ?? xs[0], first = xs.filter((x) => x < main).length;
  const rest = Math.floor((free - gaps * CLOSE.gap - first * CLOSE.first) / (xs.length - first));
  const widths = xs.map((x, i) => Math.min(wide.get(x), i < first ? CLOSE.first : Math.max(CLOSE.least, rest)));
  const gap = Math.max(CLOSE.gap, Math.min(GAP, Math.floor((free - sum(widths)) / gaps)));
  const at = new Map(xs.map((x, i) => [x, { x: sum(widths.slice(0, i)) + gap * i, w: widths[i] }]));
  const put = (item) => ({ ...item, ...at.get(item.x) });
  const columns = picture.columns.map((column) => ({ ...column, x: at.get(column.x)?.x ?? column.x }));
  return { ...picture, columns, nodes: picture.nodes.map(put), more: picture.more.map(put) };
}

// Whether a line of a card, with its baseline at y, stands beside the sign that folds it.
export function besideFold(item, y) {
  return Boolean(item.fold) && y + 3 > item.h / 2 - 8 && y - 10 < item.h / 2 + 8;
}

// How wide the inspector is, of what a person would have it: both it and the graph stay of use.
export function sideWidth(wanted, room) {
  return Math.round(Math.max(260, Math.min(wanted, room - 300)));
}

// The same point of the graph stays under (cx, cy).
export function zoomed(view, by, cx, cy) {
  const k = Math.min(SIZES.most, Math.max(SIZES.least, view.k * by));
  return { k, x: cx - (cx - view.x) * (k / view.k), y: cy - (cy - view.y) * (k / view.k) };
}

function inside(start, length, room, edge) {
  if (start < edge) return edge - start;
  return start + length > room - edge ? room - edge - start - length : 0;
}

// The view moved as little as shows a box whole.
export function revealed(view, box, room) {
  return {
    k: view.k,
    x: view.x + inside(view.x + box.x * view.k, box.w * view.k, room.width, 16),
    y: view.y + inside(view.y + box.y * view.k, box.h * view.k, room.height, 24),
  };
}

// The view in which what has moved down by so much stands where it stood.
export function steady(view, by) {
  return { ...view, y: view.y - by * view.k };
}

// The view moved so that a box is clear of the small map, which stands in the lower right corner: up, or to the left
// where it would leave the stage.
export function cleared(view, box, room, map) {
  const right = view.x + (box.x + box.w) * view.k - (room.width - map.width - 2 * MAP_EDGE);
  const low = view.y + (box.y + box.h) * view.k - (room.height - map.height - 2 * MAP_EDGE);
  if (!map.width || right <= 0 || low <= 0) return view;
  return view.y + box.y * view.k - low >= MAP_EDGE ? { ...view, y: view.y - low } : { ...view, x: view.x - right };
}

// Whether a small map is of use: the graph does not fit, and the stage is so large that the map hides little of it.
export function mapped({ width, height }, k, room) {
  const large = room.width >= MAP_ROOM.width && room.height >= MAP_ROOM.height;
  return large && (width * k > room.width * 1.1 || height * k > room.height * 1.3);
}

// The node that an arrow key leads to from a chosen one, or undefined.
export function neighbour(key, item, items, edges, edgeKinds) {
  const down = edges.filter((e) => !edgeKinds[e.kind].back);
  if (key === "ArrowRight") return down.find((e) => e.s === item.id)?.t;
  if (key === "ArrowLeft") return down.find((e) => e.t === item.id)?.s;
  const column = items.filter((n) => n.x === item.x && !n.hidden).sort((a, b) => a.y - b.y);
  return column[column.findIndex((n) => n.id === item.id) + (key === "ArrowDown" ? 1 : -1)]?.id;
}

// What a picture with everything unfolded shows while some of its nodes are `folded` and some are out of the question:
// what only these lead to is left out, and the rest closes up.
export function unfolded(picture, edgeKinds, folded, out = () => false) {
  const x = new Map(picture.nodes.map((n) => [n.id, n.x])), snapshots = picture.columns[1]?.x ?? Infinity;
  const kids = new Map(), led = new Set(), down = picture.edges.filter((e) => !edgeKinds[e.kind].dashed);
  for (const { s, t } of down) {
    if (x.get(s) < snapshots || x.get(t) <= x.get(s)) continue;
    kids.set(s, [...(kids.get(s) || []), t]);
    led.add(t);
  }
  const gone = new Set(picture.nodes.filter(out).map((n) => n.id)), seen = new Set();
  const waiting = picture.nodes.filter((n) => !led.has(n.id)).map((n) => n.id);
  while (waiting.length) {
    const id = waiting.pop();
    if (seen.has(id) || gone.has(id)) continue;
    seen.add(id);
    if (!folded.has(id)) waiting.push(...(kids.get(id) || []));
  }
  const fold = (id) => (kids.has(id) ? (folded.has(id) ? "folded" : "open") : "");
  return arranged({
    ...picture,
    nodes: picture.nodes.filter((n) => seen.has(n.id)).map((n) => ({ ...n, fold: fold(n.id) })),
    edges: picture.edges.filter((e) => seen.has(e.s) && seen.has(e.t)),
    more: picture.more.filter((m) => seen.has(m.parent) && !folded.has(m.parent)),
  }, snapshots, edgeKinds);
}

// The tree below the snapshots placed anew, as graph/layout.py does: beside what added a thing (`row`), or led there.
function arranged(picture, snapshots, edgeKinds) {
  const items = new Map(drawn(picture).map((item) => [item.id, { ...item }])), led = new Map(), kids = new Map();
  const under = (parent, child, before = false) => {
    const known = kids.get(parent) || [];
    kids.set(parent, before ? [child, ...known] : [...known, child]);
    led.set(child.id, items.get(parent));
  };
  for (const { s, t, kind } of picture.edges) {
    const item = items.get(t);
    if (!edgeKinds[kind].dashed && item.x > items.get(s).x && !led.has(t)) under(s, item);
  }
  for (const group of picture.more) if (group.x > snapshots) under(group.parent, items.get(group.id), group.before);
  const placed = [...items.values()].filter((item) => item.x <= snapshots);
  const sweep = (column, bottom = HEADER) => {
    for (const item of column) {
      item.y = Math.max(bottom, Math.min(item.wanted, Math.max(bottom, item.least) + BLANK));
      bottom = item.y + item.h + ROW_GAP;
    }
    return bottom;
  };
  const xs = [...new Set(picture.columns.map((c) => c.x))].filter((x) => x > snapshots).sort((a, b) => a - b);
  for (const x of xs) {
    const here = [];
    for (const parent of [...placed].sort((a, b) => a.y - b.y)) {
      const siblings = (kids.get(parent.id) || []).filter((item) => item.x === x);
      for (const item of siblings) {
        item.least = parent.y;
        item.wanted = Math.max(parent.y - NEAR, item.row ?? parent.y);
      }
      const last = siblings.at(-1);
      if (last?.hidden && last === kids.get(parent.id).at(-1)) {
        last.wanted = Math.max(...siblings.map((item) => item.wanted));
      }
      here.push(...siblings);
    }
    const bottom = sweep(here.sort((a, b) => a.wanted - b.wanted));
    const alone = picture.nodes.filter((n) => n.x === x && !led.has(n.id)).map((n) => items.get(n.id));
    for (const item of alone) item.least = item.wanted = bottom;
    sweep(alone, bottom);
    placed.push(...here, ...alone);
  }
  const own = new Map(placed.map((item) => [item.id, item.wanted]));
  for (const x of xs.slice(1, -1).reverse()) {  // what had no room near what leads to it takes that along
    const here = placed.filter((item) => item.x === x).sort((a, b) => a.y - b.y);
    for (const item of here) {
      const first = [...(kids.get(item.id) || [])].sort((a, b) => a.y - b.y)[0];
      const pushed = first ? first.y - own.get(first.id) : 0;
      item.least = item.wanted = item.y + (pushed > NEAR ? pushed : 0);
    }
    sweep(here);
  }
  const put = (item) => ({ ...item, y: items.get(item.id).y });
  return { ...picture, nodes: picture.nodes.map(put), more: picture.more.map(put) };
}

// Cards and groups of hidden nodes, in one list.
export function drawn(picture) {
  return [...picture.nodes, ...picture.more.map((m) => ({ ...m, hidden: true, lines: [], title: m.label }))];
}

export function matches(item, text) {
  return Boolean(text) && !item.hidden && `${item.label} ${item.title || ""}`.toLowerCase().includes(text);
}

// Custom properties for the colours of what a thing is (k), means (s) and is marked as (m), by day and by night.
export function inks(entries) {
  return Object.entries(entries).flatMap(([letter, entry]) => {
    const { color = "", night = "" } = entry || {};
    return [[`--${letter}-day`, color], [`--${letter}-night`, night || color]];
  });
}

export function looks(...entries) {
  return entries.filter((entry) => entry?.look).map((entry) => `ix-look-${entry.look}`);
}

// What the legend says of a picture: every kind, the statuses of a table, a diff or a plan, and marks if there are any.
export function legendRows(vocabulary, picture) {
  const of = picture.nodes.map((n) => vocabulary.statuses[n.status]?.of).find((of) => of && of !== "entry") || "entry";
  const marked = picture.nodes.some((n) => n.mark);
  const statuses = Object.values(vocabulary.statuses).filter((s) => s.of === of);
  return [
    ...Object.values(vocabulary.kinds).map((kind) => ({ text: kind.title, glyph: kind.glyph, ink: { k: kind } })),
    ...statuses.map((status) => ({ text: status.title, sign: status.sign, ink: { s: status } })),
    ...(marked ? Object.entries(vocabulary.marks) : []).map(([name, mark]) => (
      { text: `${name}: ${mark.title}`, sign: name.slice(0, 1).toUpperCase(), ink: { s: mark } })),
  ];
}

// What the timeline says of its i-th snapshot. A page of its own may hold the newest only: `before` are older.
export function snapshotWords(timeline, i) {
  const refs = timeline.refs[i] || [], before = timeline.before || 0, number = before + i + 1;
  const about = [timeline.operations[i], timeline.times[i]], named = refs.length ? [refs.join(", ")] : [];
  return {
    refs: refs.length,
    number,
    title: [`snapshot-${number} ${timeline.ids[i]}`, about.join(" · "), ...named].join("\n"),
    label: `snapshot-${number}, ${timeline.operations[i]}`,
    where: [`snapshot-${number} of ${before + timeline.ids.length}`, ...about, ...named].join(" · "),
  };
}

// The chips in sight, and two more at either end: [first, last).
export function chipsInSight(left, width, count) {
  return [Math.max(0, Math.floor(left / CHIP) - 2), Math.min(count, Math.ceil((left + width) / CHIP) + 2)];
}

// Whether a background colour is dark; null if it is none that one sees. Browsers compute rgb(…) in 0 to 255, and
// color(srgb …), into which they turn mixed colours, in 0 to 1; of other spaces the lightness comes first.
export function isDark(color) {
  const [, name, space = ""] = color.match(/^([\w-]+)\((?:(srgb|srgb-linear|display-p3)\s)?/) || [];
  const given = color.slice(name ? name.length + 1 + space.length : 0);
  const [a, b, c, alpha = 1] = (given.match(/[+-]?[\d.]+(?:e[+-]?\d+)?/gi) || []).map(Number);
  if (c === undefined || alpha < 0.5) return null;
  if (/^(ok)?l(ab|ch)$/.test(name)) return a / (name.startsWith("ok") ? 1 : 100) < 0.45;
  return (0.3 * a + 0.59 * b + 0.11 * c) * (name === "color" ? 255 : 1) < 110;
}
