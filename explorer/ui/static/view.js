// Draws one table's metadata graph, its snapshot timeline and the inspector, in JupyterLab (anywidget), on the dashboard
// (Panel's AnyWidgetComponent) and in an exported page. All text is set as text, never as markup.

const NS = "http://www.w3.org/2000/svg";
const KINDS = {
  catalog: "catalog pointer", metadata: "metadata file", ref: "branch or tag", snapshot: "snapshot",
  manifest_list: "manifest list", data_manifest: "data manifest", delete_manifest: "delete manifest",
  data_file: "data file", position_deletes: "position deletes", equality_deletes: "equality deletes",
  deletion_vector: "deletion vector", statistics: "statistics file", row_group: "row group", problem: "unreadable",
};
const MARKS = { ADDED: "+", EXISTING: "=", DELETED: "−", filtered: "∅", added: "+", kept: "=", removed: "−" };
const MEANS = { filtered: "filtered out: deleted by an earlier snapshot", added: "only in the later one", kept: "in both", removed: "only in the earlier one" };
const NOTES = { staged: "staged: written, not committed", orphan: "orphan: left behind, nothing leads to it", conflict: "what a commit is refused for" };
const CHIP = 30;
const MOVE_MS = 380;

function html(tag, className, text) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text !== undefined) node.textContent = text;
  return node;
}

function svg(tag, attributes) {
  const node = document.createElementNS(NS, tag);
  for (const [name, value] of Object.entries(attributes || {})) node.setAttribute(name, value);
  return node;
}

function button(text, title, action) {
  const node = html("button", "ix-button", text);
  node.type = "button";
  node.title = title;
  node.setAttribute("aria-label", title);
  node.addEventListener("click", action);
  return node;
}

function clip(text, width) {
  if (text.length <= width) return text;
  const left = Math.floor((width - 1) / 2);
  return text.slice(0, left) + "…" + text.slice(text.length - (width - 1 - left));
}

function edgePath(a, b) {
  const y1 = a.y + a.h / 2, y2 = b.y + b.h / 2;
  if (Math.abs(a.x - b.x) < 1) return `M${a.x},${y1} C${a.x - 18},${y1} ${a.x - 18},${y2} ${a.x},${y2}`;
  const x1 = b.x > a.x ? a.x + a.w : a.x, x2 = b.x > a.x ? b.x : b.x + b.w, m = (x1 + x2) / 2;
  return `M${x1},${y1} C${m},${y1} ${m},${y2} ${x2},${y2}`;
}

// `send` takes requests to Python; without it (an exported page) folding, paging and stepping are not offered.
export function mount(el, picture, send, options = {}) {
  const root = html("div", "ix-root");
  root.tabIndex = 0;
  const bar = html("div", "ix-bar");
  const strip = html("div", "ix-strip");
  const body = html("div", "ix-body");
  const stage = html("div", "ix-stage");
  const canvas = svg("svg", { class: "ix-svg", role: "tree", "aria-label": "metadata graph" });
  const world = svg("g", { class: "ix-world" });
  const heads = svg("g"), edgeLayer = svg("g"), nodeLayer = svg("g");
  world.append(heads, edgeLayer, nodeLayer);
  canvas.append(world);
  const map = html("canvas", "ix-map");
  const legend = html("div", "ix-legend");
  const busy = html("div", "ix-busy", "Reading…");
  const message = html("div", "ix-message");
  message.setAttribute("role", "alert");
  stage.append(canvas, map, legend, busy, message);
  const side = html("aside", "ix-side");
  side.setAttribute("aria-label", "inspector");
  body.append(stage, side);
  root.append(bar, strip, body);
  el.replaceChildren(root);

  let view = { x: 20, y: 8, k: 1 }, moved = false;
  let shown = new Map(), edges = [], current = picture, timeline = null;
  let selected = new Set(), frame = 0, playing = null;

  // ---- toolbar -----------------------------------------------------------------------------------------------------
  const name = html("span", "ix-name");
  const search = html("input", "ix-search");
  search.type = "search";
  search.placeholder = "search files, manifests, snapshots";
  search.setAttribute("aria-label", "search");
  let waiting = 0;
  search.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => (send ? ask({ type: "search", text: search.value }) : markFound()), 250);
  });
  search.addEventListener("keydown", (event) => event.stopPropagation());
  const filtered = html("label", "ix-check");
  const filteredBox = html("input");
  filteredBox.type = "checkbox";
  filteredBox.checked = true;
  filteredBox.addEventListener("change", () => ask({ type: "filtered", value: filteredBox.checked }));
  filtered.append(filteredBox, document.createTextNode(" filtered entries"));
  filtered.title = "Also draw entries that are filtered out as of this snapshot, struck through";
  bar.append(name, search);
  if (send) bar.append(filtered);
  bar.append(
    html("span", "ix-gap"),
    button("−", "Zoom out", () => zoom(1 / 1.25)), button("+", "Zoom in", () => zoom(1.25)),
    button("fit", "Fit the graph (f)", () => fit(true)),
    button("legend", "What colours, shapes and marks mean", () => legend.classList.toggle("ix-open")),
  );
  if (send) {
    const reload = button("reload", "Read the table again, as its catalog or folder has it now", () => ask({ type: "reload" }));
    reload.classList.add("ix-reload");
    bar.append(reload);
  }
  if (send) bar.append(button("inspector", "Show or hide the inspector", () => side.classList.toggle("ix-closed")));
  side.classList.add("ix-closed");  // opens with the first node a person chooses

  for (const [kind, words] of Object.entries(KINDS)) {
    const row = html("div", "ix-legend-row");
    row.append(html("span", `ix-swatch ix-k-${kind}`), document.createTextNode(words));
    legend.append(row);
  }
  for (const [status, mark] of Object.entries(MARKS)) {
    const row = html("div", `ix-legend-row ${["added", "kept", "removed"].includes(status) ? "ix-if-compare" : "ix-unless-compare"}`);
    row.append(html("b", `ix-mark ix-s-${status}`, mark), document.createTextNode(MEANS[status] || status));
    legend.append(row);
  }

  for (const [mark, words] of Object.entries(NOTES)) {
    const row = html("div", "ix-legend-row ix-if-marks");
    row.append(html("b", `ix-note-mark ix-m-${mark}`, mark.slice(0, 1).toUpperCase()), document.createTextNode(words));
    legend.append(row);
  }

  function ask(request) {
    if (!send) return;
    busy.classList.add("ix-open");
    send(request);
  }

  // ---- timeline ----------------------------------------------------------------------------------------------------
  const chips = html("div", "ix-chips");
  const chipLine = html("div", "ix-chipline");
  chips.append(chipLine);
  const play = button("▶", "Play the history", () => (playing ? stop() : start()));
  const where = html("span", "ix-where");
  strip.append(button("◀", "Previous snapshot ([)", () => step(-1)), play, button("▶|", "Next snapshot (])", () => step(1)), chips, where);
  chips.addEventListener("scroll", drawChips);

  function at() {
    return timeline && current ? timeline.ids.indexOf(current.snapshot) : -1;
  }
  function step(by) {
    if (!timeline) return;
    const next = at() + by;
    if (next >= 0 && next < timeline.ids.length) ask({ type: "snapshot", id: timeline.ids[next] });
    else stop();
  }
  function start() {
    play.textContent = "❚❚";
    if (timeline && at() === timeline.ids.length - 1) ask({ type: "snapshot", id: timeline.ids[0] });
    playing = setInterval(() => step(1), 1400);
  }
  function stop() {
    clearInterval(playing);
    playing = null;
    play.textContent = "▶";
  }
  function drawChips() {
    if (!timeline) return;
    const first = Math.max(0, Math.floor(chips.scrollLeft / CHIP) - 2);
    const last = Math.min(timeline.ids.length, Math.ceil((chips.scrollLeft + chips.clientWidth) / CHIP) + 2);
    const here = at(), drawn = [];
    for (let i = first; i < last; i++) {
      const refs = timeline.refs[i] || [];
      const chip = html("button", `ix-chip ix-op-${timeline.operations[i]}${i === here ? " ix-here" : ""}${refs.length ? " ix-hasref" : ""}`, String(i + 1));
      chip.type = "button";
      chip.style.left = `${i * CHIP}px`;
      chip.dataset.snapshot = timeline.ids[i];
      chip.title = `snapshot-${i + 1} ${timeline.ids[i]}\n${timeline.operations[i]} · ${timeline.times[i]}${refs.length ? "\n" + refs.join(", ") : ""}`;
      chip.setAttribute("aria-label", `snapshot-${i + 1}, ${timeline.operations[i]}`);
      chip.addEventListener("click", () => { stop(); ask({ type: "snapshot", id: timeline.ids[i] }); });
      drawn.push(chip);
    }
    chipLine.replaceChildren(...drawn);
    where.textContent = here < 0 ? "" : `snapshot-${here + 1} of ${timeline.ids.length} · ${timeline.operations[here]} · ${timeline.times[here]}${(timeline.refs[here] || []).length ? " · " + timeline.refs[here].join(", ") : ""}`;
  }
  function setTimeline(data) {
    timeline = data && data.ids && data.ids.length ? data : null;
    strip.classList.toggle("ix-hidden", !timeline);
    if (timeline) chipLine.style.width = `${timeline.ids.length * CHIP}px`;
    showChip();
  }
  function showChip() {
    const here = at();
    if (here >= 0) {
      const left = here * CHIP, width = chips.clientWidth || 400;
      if (left < chips.scrollLeft || left + CHIP > chips.scrollLeft + width) chips.scrollLeft = left - width / 2;
    }
    drawChips();
  }

  // ---- drawing -----------------------------------------------------------------------------------------------------
  function card(item) {
    const g = svg("g", { class: "ix-node", role: "treeitem", tabindex: "-1" });
    g.dataset.id = item.id;
    g.addEventListener("click", (event) => {
      event.stopPropagation();
      if (event.target.closest(".ix-fold")) return toggle(item.id);
      select(item.id, event.shiftKey || event.ctrlKey || event.metaKey);
    });
    g.addEventListener("dblclick", (event) => {
      event.stopPropagation();
      const node = shown.get(item.id);
      if (node && node.item.kind === "snapshot" && send) ask({ type: "focus", id: item.id });
      else toggle(item.id);
    });
    g.addEventListener("mouseenter", () => light(item.id, true));
    g.addEventListener("mouseleave", () => light(item.id, false));
    return g;
  }

  function paint(g, item) {
    g.setAttribute("class", `ix-node ix-k-${item.kind}${item.status ? " ix-s-" + item.status : ""}${item.current ? " ix-current" : ""}${item.problem ? " ix-bad" : ""}${item.focus ? " ix-focus" : ""}${item.mark ? " ix-m-" + item.mark : ""}${selected.has(item.id) ? " ix-selected" : ""}`);
    Object.assign(g.dataset, { kind: item.kind, label: item.label, status: item.status || "", mark: item.mark || "" });
    g.setAttribute("aria-label", [item.label, KINDS[item.kind] || "", item.status || "", item.mark || "", ...item.lines].filter((word) => word).join(", "));
    g.setAttribute("aria-selected", selected.has(item.id));
    const parts = [];
    const title = svg("title");
    title.textContent = `${KINDS[item.kind] || ""}\n${item.title || item.label}${item.problem ? "\n" + item.problem : ""}`;
    parts.push(title, svg("rect", { class: "ix-box", width: item.w, height: item.h, rx: item.kind === "ref" ? 12 : 6 }), shape(item));
    const head = svg("text", { class: "ix-head", x: 30, y: 18 });
    if (item.status) {
      const mark = svg("tspan", { class: "ix-mark" });
      mark.textContent = MARKS[item.status] + " ";
      head.append(mark);
    }
    const label = svg("tspan", { class: "ix-label" });
    label.textContent = clip(item.label, item.kind === "statistics" || item.status ? 19 : 20);
    head.append(label);
    parts.push(head);
    item.lines.forEach((line, i) => {
      const text = svg("text", { class: "ix-line", x: 12, y: 35 + 15 * i });
      text.textContent = clip(line, item.fold ? 30 : 34);
      parts.push(text);
    });
    if (item.problem && item.kind !== "problem") {
      const warn = svg("text", { class: "ix-warn", x: item.w - 30, y: 18 });
      warn.textContent = "⚠";
      parts.push(warn);
    }
    if (item.mark) {
      const note = svg("text", { class: "ix-note-mark", x: item.w - 3, y: -3, "text-anchor": "end" });
      note.textContent = item.mark;
      parts.push(note);
    }
    if (item.fold && send) {
      const fold = svg("g", { class: "ix-fold", role: "button", "aria-label": item.fold === "open" ? "fold" : "unfold" });
      const sign = svg("text", { x: item.w - 13, y: item.h / 2 + 4.5, "text-anchor": "middle" });
      sign.textContent = item.fold === "open" ? "−" : "+";
      fold.append(svg("circle", { cx: item.w - 13, cy: item.h / 2, r: 8 }), sign);
      parts.push(fold);
    }
    g.replaceChildren(...parts);
  }

  // One shape per kind, at the left of the title.
  function shape(item) {
    const path = {
      catalog: "M10,10 a6,2.5 0 1,1 12,0 v8 a6,2.5 0 1,1 -12,0 z", metadata: "M11,7 h7 l4,4 v10 h-11 z", ref: "M10,8 h8 l5,4.5 -5,4.5 h-8 z",
      snapshot: "M16,7 a6.5,6.5 0 1,0 0.01,0 z", manifest_list: "M10,8 h12 v2.5 h-12 z M10,12.5 h12 v2.5 h-12 z M10,17 h12 v2.5 h-12 z",
      data_manifest: "M10,8 h5 l2,2.5 h5 v9 h-12 z", delete_manifest: "M10,8 h5 l2,2.5 h5 v9 h-12 z M13,13 h6 v2 h-6 z",
      data_file: "M10,8 h12 v11 h-12 z", position_deletes: "M16,6.5 l7,7 -7,7 -7,-7 z", equality_deletes: "M16,7 l7,12.5 h-14 z",
      deletion_vector: "M12.5,7.5 h7 l3.5,6 -3.5,6 h-7 l-3.5,-6 z", statistics: "M10,20 v-6 h3 v6 z M14.5,20 v-12 h3 v12 z M19,20 v-9 h3 v9 z",
      row_group: "M10,9 h12 v4 h-12 z M10,15 h12 v4 h-12 z", problem: "M13,7 h6 l4,4 v5 l-4,4 h-6 l-4,-4 v-5 z",
    }[item.kind];
    return svg("path", { class: "ix-shape", d: path || "M10,8 h12 v11 h-12 z" });
  }

  function update(next, first) {
    busy.classList.remove("ix-open");
    const before = current;
    current = next;
    name.textContent = next.title;
    const items = [...next.nodes, ...next.more.map((m) => ({ ...m, kind: "more", lines: [], status: "", fold: "", title: m.label }))];
    const parents = new Map(next.edges.filter((e) => e.kind === "contains").map((e) => [e.t, e.s]));
    next.more.forEach((m) => parents.set(m.id, m.parent));
    const fresh = new Map();
    for (const item of items) {
      const old = shown.get(item.id);
      const g = old ? old.g : card(item);
      const from = old ? { ...old.now } : shown.get(parents.get(item.id)) ? { ...shown.get(parents.get(item.id)).now } : { x: item.x, y: item.y };
      if (old ? old.item.status !== item.status || (old.item.mark || "") !== (item.mark || "") : !first && before && before.title === next.title) setTimeout(() => flash(g));
      if (!old) {
        g.style.opacity = first ? "1" : "0";
        nodeLayer.append(g);
      }
      if (item.kind === "more") {
        const text = svg("text", { class: "ix-more", x: 12, y: 17 });
        text.textContent = `… ${item.label}`;
        g.setAttribute("class", "ix-node ix-k-more");
        g.dataset.kind = "more";
        g.dataset.label = item.label;
        g.setAttribute("aria-label", item.label);
        g.replaceChildren(svg("rect", { class: "ix-box", width: item.w, height: item.h, rx: 6 }), text);
      } else paint(g, item);
      fresh.set(item.id, { item, g, from, now: { ...from }, isNew: !old });
    }
    for (const [id, old] of shown) if (!fresh.has(id)) old.g.remove();
    shown = fresh;
    edges = next.edges.filter((e) => shown.has(e.s) && shown.has(e.t)).map((e) => {
      const path = svg("path", { class: `ix-edge ix-e-${e.kind.replaceAll(" ", "-")}${e.status ? " ix-s-" + e.status : ""}${shown.get(e.t).item.mark ? " ix-m-" + shown.get(e.t).item.mark : ""}` });
      return { ...e, path };
    });
    root.classList.toggle("ix-marks", next.nodes.some((n) => n.mark));
    edgeLayer.replaceChildren(...edges.map((e) => e.path));
    heads.replaceChildren(...next.columns.map((c) => {
      const text = svg("text", { class: "ix-column", x: c.x, y: 14 });
      text.textContent = c.name;
      return text;
    }));
    selected = new Set([...selected].filter((id) => shown.has(id)));
    const still = first || document.hidden || matchMedia("(prefers-reduced-motion: reduce)").matches;
    if (first || !before || before.title !== next.title) { place(1); fit(false); } else { animate(still); reveal(next.nodes.find((n) => n.focus)); }
    showChip();
    markFound();
  }

  function flash(g) {
    g.classList.add("ix-changed");
    setTimeout(() => g.classList.remove("ix-changed"), 1500);
  }

  function place(t) {
    for (const node of shown.values()) {
      const { item, from } = node;
      node.now = { x: from.x + (item.x - from.x) * t, y: from.y + (item.y - from.y) * t, w: item.w, h: item.h };
      node.g.setAttribute("transform", `translate(${node.now.x},${node.now.y})`);
      if (node.isNew) node.g.style.opacity = String(t);
    }
    for (const edge of edges) edge.path.setAttribute("d", edgePath(shown.get(edge.s).now, shown.get(edge.t).now));
  }

  function animate(still) {
    cancelAnimationFrame(frame);
    if (still) { place(1); drawMap(); return; }
    const begun = performance.now();
    const tick = (now) => {
      const t = Math.min(1, (now - begun) / MOVE_MS), eased = t < 0.5 ? 2 * t * t : 1 - (2 - 2 * t) ** 2 / 2;
      place(eased);
      if (t < 1) frame = requestAnimationFrame(tick);
      else drawMap();
    };
    frame = requestAnimationFrame(tick);
  }

  function light(id, on) {
    for (const edge of edges) {
      if (edge.s !== id && edge.t !== id) continue;
      edge.path.classList.toggle("ix-lit", on);
      for (const end of [edge.s, edge.t]) shown.get(end)?.g.classList.toggle("ix-lit", on);
    }
  }

  function markFound() {
    const text = search.value.toLowerCase();
    let hits = 0;
    for (const { item, g } of shown.values()) {
      const found = text && item.kind !== "more" && (item.label + " " + (item.title || "")).toLowerCase().includes(text);
      g.classList.toggle("ix-found", Boolean(found));
      hits += found ? 1 : 0;
    }
    search.classList.toggle("ix-none", Boolean(text) && !hits);
  }

  // ---- looking -----------------------------------------------------------------------------------------------------
  function apply() {
    world.setAttribute("transform", `translate(${view.x},${view.y}) scale(${view.k})`);
    drawMap();
  }
  function bounds() {
    let width = 0, height = 0;
    for (const { item } of shown.values()) { width = Math.max(width, item.x + item.w); height = Math.max(height, item.y + item.h); }
    return { width, height };
  }
  function fit(all) {
    const { width, height } = bounds(), W = stage.clientWidth, H = stage.clientHeight;
    if (!W || !width) return;
    const wide = (W - 44) / width;
    let k = Math.min(1.15, Math.max(wide, all ? 0.1 : 0.62));
    if (all) k = Math.min(k, (H - 16) / height);
    view = { k, x: 26, y: 8 };
    moved = all;
    apply();
  }
  function zoom(by, cx = stage.clientWidth / 2, cy = stage.clientHeight / 2) {
    const k = Math.min(4, Math.max(0.05, view.k * by));
    view = { k, x: cx - (cx - view.x) * (k / view.k), y: cy - (cy - view.y) * (k / view.k) };
    moved = true;
    apply();
  }
  function reveal(item) {
    if (!item) return;
    const inside = (start, length, room, edge) => start < edge ? edge - start : start + length > room - edge ? room - edge - start - length : 0;
    view.x += inside(view.x + item.x * view.k, item.w * view.k, stage.clientWidth, 16);
    view.y += inside(view.y + item.y * view.k, item.h * view.k, stage.clientHeight, 24);
    apply();
  }
  stage.addEventListener("wheel", (event) => {
    const zooms = event.ctrlKey || event.metaKey;
    const focus = root.getRootNode().activeElement;
    if (options.height && !zooms && !(focus && root.contains(focus))) return;  // in a notebook the page scrolls until the widget has the focus
    event.preventDefault();
    event.stopPropagation();
    const box = stage.getBoundingClientRect();
    if (zooms) zoom(Math.exp(-event.deltaY * 0.002), event.clientX - box.left, event.clientY - box.top);
    else if (event.shiftKey) { view.x -= event.deltaY || event.deltaX; apply(); }
    else { view.x -= event.deltaX; view.y -= event.deltaY; apply(); }
  }, { passive: false });
  let drag = null;
  stage.addEventListener("pointerdown", (event) => {
    if (event.target.closest(".ix-map,.ix-legend")) return;
    drag = { x: event.clientX, y: event.clientY, vx: view.x, vy: view.y, on: false };
  });
  stage.addEventListener("pointermove", (event) => {
    if (!drag || !event.buttons) return;
    const dx = event.clientX - drag.x, dy = event.clientY - drag.y;
    if (!drag.on && Math.hypot(dx, dy) < 4) return;
    if (!drag.on) { drag.on = true; stage.setPointerCapture(event.pointerId); stage.classList.add("ix-drag"); }
    view.x = drag.vx + dx;
    view.y = drag.vy + dy;
    moved = true;
    apply();
  });
  stage.addEventListener("pointerup", () => { drag = null; stage.classList.remove("ix-drag"); });
  canvas.addEventListener("click", () => select(null));
  map.addEventListener("pointerdown", (event) => {
    event.stopPropagation();
    const box = map.getBoundingClientRect(), { width, height } = bounds();
    const k = Math.min(map.width / width, map.height / height);
    view.x = stage.clientWidth / 2 - ((event.clientX - box.left) / k) * view.k;
    view.y = stage.clientHeight / 2 - ((event.clientY - box.top) / k) * view.k;
    apply();
  });

  function drawMap() {
    const { width, height } = bounds(), W = stage.clientWidth, H = stage.clientHeight;
    const needed = width * view.k > W * 1.1 || height * view.k > H * 1.3;
    map.classList.toggle("ix-open", needed);
    if (!needed) return;
    map.width = 120;
    map.height = Math.max(40, Math.min(150, (120 * height) / width));
    const k = Math.min(map.width / width, map.height / height), pen = map.getContext("2d");
    pen.clearRect(0, 0, map.width, map.height);
    for (const { item, g } of shown.values()) {
      pen.fillStyle = item.kind === "more" ? "#bbb" : getComputedStyle(g.firstElementChild.nextElementSibling || g).stroke || "#888";
      pen.fillRect(item.x * k, item.y * k, Math.max(2, item.w * k), Math.max(1.5, item.h * k));
    }
    pen.strokeStyle = "#e0245e";
    pen.lineWidth = 1.5;
    pen.strokeRect((-view.x / view.k) * k, (-view.y / view.k) * k, (W / view.k) * k, (H / view.k) * k);
  }

  // ---- choosing ----------------------------------------------------------------------------------------------------
  function select(id, more) {
    const item = id && shown.get(id)?.item;
    if (item && item.kind === "more") return ask({ type: "page", id: item.id });
    if (!more) selected = new Set();
    if (id) more && selected.has(id) ? selected.delete(id) : selected.add(id);
    for (const node of shown.values()) {
      node.g.classList.toggle("ix-selected", selected.has(node.item.id));
      node.g.setAttribute("aria-selected", selected.has(node.item.id));
    }
    if (id) {
      root.focus({ preventScroll: true });
      if (send && side.classList.contains("ix-closed")) { side.classList.remove("ix-closed"); setTimeout(() => reveal(shown.get(id)?.item), 60); }
    }
    if (send) send({ type: "select", ids: [...selected] });
  }
  function toggle(id) {
    const node = shown.get(id);
    if (node && node.item.kind === "more") ask({ type: "page", id });
    else if (node && node.item.fold) ask({ type: "toggle", id });
  }
  function go(id) {
    if (!id) return;
    select(id);
    reveal(shown.get(id).item);
  }
  root.addEventListener("keydown", (event) => {
    if (event.target.closest("input,button,select,textarea") || event.ctrlKey || event.metaKey || event.altKey) return;
    const id = [...selected].at(-1), item = id && shown.get(id)?.item;
    const key = event.key;
    if (key === "f") fit(true);
    else if (key === "+") zoom(1.25);
    else if (key === "-") zoom(1 / 1.25);
    else if (key === "/") search.focus();
    else if (key === "[") step(-1);
    else if (key === "]") step(1);
    else if (key === "Escape") select(null);
    else if (key === "Enter" || key === " ") { if (id) toggle(id); }
    else if (key.startsWith("Arrow")) {
      if (!item) go((current.nodes.find((n) => n.focus) || current.nodes[0])?.id);
      else if (key === "ArrowRight") go(edges.find((e) => e.s === id && e.kind !== "parent" && e.kind !== "previous")?.t);
      else if (key === "ArrowLeft") go(edges.find((e) => e.t === id && e.kind !== "parent" && e.kind !== "previous")?.s);
      else {
        const column = [...shown.values()].map((n) => n.item).filter((n) => n.x === item.x && n.kind !== "more").sort((a, b) => a.y - b.y);
        go(column[column.findIndex((n) => n.id === id) + (key === "ArrowDown" ? 1 : -1)]?.id);
      }
    } else return;
    event.preventDefault();
    event.stopPropagation();
  });

  // ---- inspector ---------------------------------------------------------------------------------------------------
  function inspect(details) {
    if (!details) {
      const hint = html("p", "ix-hint", "Click a node to see its fields. Double-click a snapshot to look at the table as of it. Drag to pan, scroll to move, Ctrl+scroll to zoom.");
      side.replaceChildren(hint);
      return;
    }
    const parts = [html("h3", "ix-title", details.title), html("p", "ix-kind", details.kind)];
    for (const note of details.problems || []) parts.push(html("p", "ix-problem", "⚠ " + note));
    if (send && details.actions) {
      const row = html("p", "ix-actions");
      for (const [type, words] of details.actions) row.append(button(words, words, (event) => { event.target.disabled = true; event.target.textContent += " …"; send({ type, id: [...selected].at(-1) }); }));
      parts.push(row);
    }
    for (const section of details.sections) {
      const box = html("details", "ix-section");
      box.open = section.open !== false;
      box.append(html("summary", "", section.title));
      if (section.note) box.append(html("p", "ix-note", section.note));
      if (section.fields) {
        const list = html("dl", "ix-fields");
        for (const [key, value, hint] of section.fields) {
          const cell = html("dd", value === null ? "ix-null" : "", value === null ? "null" : String(value));
          if (hint) cell.append(html("span", "ix-from", hint));
          list.append(html("dt", "", key), cell);
        }
        box.append(list);
      }
      if (section.columns) {
        const wrap = html("div", "ix-tablewrap"), table = html("table", "ix-table"), head = html("tr");
        section.columns.forEach((c) => head.append(html("th", "", c)));
        table.append(head);
        for (const [i, row] of section.rows.entries()) {
          const line = html("tr", (section.struck || []).includes(i) ? "ix-struck" : "");
          row.forEach((v) => line.append(html("td", v === null ? "ix-null" : "", v === null ? "null" : String(v))));
          table.append(line);
        }
        wrap.append(table);
        box.append(wrap);
      }
      if (section.raw !== undefined) {
        const copy = button("copy", "Copy the raw text", async () => {
          try { await navigator.clipboard.writeText(section.raw); copy.textContent = "copied"; }
          catch { const range = document.createRange(); range.selectNodeContents(pre); getSelection().removeAllRanges(); getSelection().addRange(range); copy.textContent = "selected: press Ctrl+C"; }
          setTimeout(() => (copy.textContent = "copy"), 2000);
        });
        const pre = html("pre", "ix-raw", section.raw);
        box.append(copy, pre);
      }
      parts.push(box);
    }
    side.replaceChildren(...parts);
  }

  function say(text) {
    message.textContent = text || "";
    message.classList.toggle("ix-open", Boolean(text));
    if (text) busy.classList.remove("ix-open");
  }

  // ---- theme: follow the page we are in ----------------------------------------------------------------------------
  function theme() {
    let node = el, color = "";
    while (node) {
      color = node instanceof Element ? getComputedStyle(node).backgroundColor : "";
      const parts = color.match(/[\d.]+/g);
      if (parts && !(parts.length > 3 && Number(parts[3]) < 0.5)) {
        root.classList.toggle("ix-dark", 0.3 * parts[0] + 0.59 * parts[1] + 0.11 * parts[2] < 110);
        break;
      }
      node = node.parentNode instanceof ShadowRoot ? node.parentNode.host : node.parentNode;
    }
    drawMap();
  }
  const watch = new MutationObserver(() => setTimeout(theme, 60));
  for (const node of [document.documentElement, document.body]) watch.observe(node, { attributes: true });
  const size = new ResizeObserver(() => { root.classList.toggle("ix-narrow", root.clientWidth < 1150); if (!moved) fit(false); else drawMap(); showChip(); });
  size.observe(stage);
  size.observe(root);

  if (options.height) root.style.height = options.height;
  inspect(null);
  setTimeline(null);
  theme();
  if (picture) update(picture, true);
  return {
    update, inspect, setTimeline, say,
    compare(on) { root.classList.toggle("ix-compare", on); },
    choose(ids) { if (ids.length) side.classList.remove("ix-closed"); selected = new Set(ids); for (const n of shown.values()) n.g.classList.toggle("ix-selected", selected.has(n.item.id)); if (ids.length) reveal(shown.get(ids.at(-1))?.item); },
    close() { stop(); watch.disconnect(); size.disconnect(); cancelAnimationFrame(frame); },
  };
}

// anywidget and Panel: both give a model with get, set, on and save_changes.
function render({ model, el }) {
  let count = 0, last = null, line = null;
  const send = (request) => {
    model.set("request", { ...request, n: ++count, at: Date.now() });
    model.save_changes();
  };
  const app = mount(el, null, send, { height: typeof model.get("height") === "string" ? model.get("height") : "" });
  const show = () => {
    const state = model.get("state");
    if (!state || !state.picture) return;
    app.compare(Boolean(state.compares));
    app.update(state.picture, last === null);
    if (model.get("timeline") !== line) app.setTimeline((line = model.get("timeline")));
    if (!last || last.n !== state.n) app.choose(state.selected || []);
    app.inspect(state.details);
    app.say(state.message);
    last = state;
  };
  const details = () => app.inspect(model.get("details"));
  model.on("change:state", show);
  model.on("change:details", details);
  model.on("change:timeline", () => app.setTimeline((line = model.get("timeline"))));
  show();
  return () => app.close();
}

export default { render };
