// What is known of the node chosen last: its fields, tables and raw text, and what can be asked of it.

import { copies } from "./copy.js";
import { button, html, zoomOf } from "./dom.js";
import { sideWidth } from "./pure.js";

const WIDTH = 380, STEP = 24, KEPT = "icedive-inspector";
const HINT = "Click a node to see its fields. Double-click a snapshot to look at the table as of it. "
  + "Drag to pan, scroll to move, Ctrl+scroll to zoom.";

export class Inspector {
  // `act(type)` asks for more about the node.
  // `terms` are what the names of fields mean.
  constructor(terms, act) {
    Object.assign(this, { terms, act });
    this.element = html("aside", "ix-side ix-closed");  // opens with the first node a person chooses
    this.element.setAttribute("aria-label", "inspector");
    this.grip = html("div", "ix-grip");
    this.grip.tabIndex = 0;
    this.grip.title = "Drag, or press arrows, to widen the inspector";
    for (const [name, value] of [["role", "separator"], ["aria-orientation", "vertical"]]) {
      this.grip.setAttribute(name, value);
    }
    this.grip.setAttribute("aria-label", "width of the inspector");
    this.wanted = keptWidth();
    this.listen();
  }

  // Its edge is dragged, or moved by arrows.
  listen() {
    this.grip.addEventListener("pointerdown", (event) => this.grip.setPointerCapture(event.pointerId));
    this.grip.addEventListener("pointermove", (event) => {
      if (!this.grip.hasPointerCapture(event.pointerId)) return;
      const { right } = this.element.getBoundingClientRect();
      this.widen((right - event.clientX) / zoomOf(this.element) - this.element.offsetWidth);
    });
    this.grip.addEventListener("keydown", (event) => {
      const by = { ArrowLeft: STEP, ArrowRight: -STEP }[event.key];
      if (!by) return;
      this.widen(by);
      event.preventDefault();
      event.stopPropagation();
    });
  }

  // Where it stands beside the graph it is so much wider than it was, as far as there is room.
  widen(by) {
    const { clientWidth } = this.element.parentElement;
    if (by) keepWidth(this.wanted = sideWidth(this.element.offsetWidth + by, clientWidth));
    const width = sideWidth(this.wanted, clientWidth);
    this.element.style.setProperty("--side", `${width}px`);
    this.grip.setAttribute("aria-valuenow", String(width));
  }

  toggle() {
    this.element.classList.toggle("ix-closed");
  }

  // Open it; whether it was closed.
  open() {
    const closed = this.element.classList.contains("ix-closed");
    this.element.classList.remove("ix-closed");
    return closed;
  }

  show(details) {
    this.element.classList.toggle("ix-empty", !details);
    if (!details) {
      this.element.replaceChildren(html("p", "ix-hint", HINT));
      return;
    }
    this.element.replaceChildren(
      html("h3", "ix-title", details.title), html("p", "ix-kind", details.kind),
      ...details.problems.map((problem) => html("p", "ix-problem", `⚠ ${problem}`)),
      ...(details.actions?.length ? [this.actions(details.actions)] : []),
      ...details.sections.map(sectionBox),
    );
    for (const name of this.element.querySelectorAll("dt")) {
      if (!Object.hasOwn(this.terms, name.textContent)) continue;
      name.title = this.terms[name.textContent];
      name.classList.add("ix-term");
    }
  }

  actions(offers) {
    const row = html("p", "ix-actions");
    for (const [type, text] of offers) {
      row.append(button(text, text, (event) => {
        event.target.disabled = true;
        event.target.textContent += " …";
        this.act(type);
      }));
    }
    return row;
  }
}

// The browser keeps how wide a person made it, if it keeps anything for this page.
function keptWidth() {
  try {
    return Number(localStorage.getItem(KEPT)) || WIDTH;
  } catch {
    return WIDTH;
  }
}

function keepWidth(width) {
  try {
    localStorage.setItem(KEPT, String(width));
  } catch { /* then as long as the page is there */ }
}

function sectionBox(section) {
  const box = html("details", "ix-section");
  box.open = section.open !== false;
  box.append(html("summary", "", section.title));
  if (section.note) box.append(html("p", "ix-note", section.note));
  if (section.fields) box.append(fieldList(section.fields));
  if (section.columns) box.append(tableOf(section));
  if (section.raw !== undefined) box.append(...rawText(section.raw));
  return box;
}

function valueIn(tag, value) {
  return html(tag, value === null ? "ix-null" : "", value === null ? "null" : String(value));
}

// A name such as sequence_number breaks behind its underscores.
function breakable(cell) {
  const parts = cell.textContent.split(/(?<=_)(?=.)/);
  cell.replaceChildren(...parts.flatMap((part, i) => (i ? [html("wbr"), part] : [part])));
}

// What one takes elsewhere: ids, and paths.
const LONG_ID = /^-?\d{9,}$/, PATH = /^\S+\/\S+$/;
const isTaken = (key, value) => (/(^|[-_ ])id$/.test(key) ? LONG_ID : PATH).test(String(value));

function fieldList(fields) {
  const list = html("dl", "ix-fields");
  for (const [key, value, hint] of fields) {
    const cell = valueIn("dd", value);
    if (isTaken(key, value)) {
      const shown = html("span", "", cell.textContent), copy = button("copy", `Copy ${key}`);
      copy.classList.add("ix-copy");
      copies(copy, shown);
      cell.replaceChildren(shown, copy);
    }
    if (hint) cell.append(html("span", "ix-from", hint));
    list.append(html("dt", "", key), cell);
  }
  return list;
}

// What a row is about, and why it is so: a line above it, so that the values to be compared have the room.
function about(row, wide) {
  const line = html("tr"), cell = html("th", "ix-about", String(row[0]));
  cell.colSpan = wide;
  cell.scope = "rowgroup";
  if (row.at(-1)) cell.append(html("span", "ix-from", String(row.at(-1))));
  line.append(cell);
  return line;
}

function tableOf(section) {
  const wrap = html("div", "ix-tablewrap"), table = html("table", "ix-table"), head = html("tr");
  const explains = section.columns.at(-1) === "why", cells = (row) => (explains ? row.slice(1, -1) : row);
  head.append(...cells(section.columns).map((name) => html("th", "", name)));
  table.append(head);
  for (const [i, row] of section.rows.entries()) {
    const line = html("tr", section.struck?.includes(i) ? "ix-struck" : "");
    line.append(...cells(row).map((value) => valueIn("td", value)));
    for (const cell of line.children) cell.classList.toggle("ix-id", LONG_ID.test(cell.textContent));
    if (explains) table.append(about(row, line.children.length));
    else breakable(line.firstChild);
    table.append(line);
  }
  wrap.append(table);
  return wrap;
}

function rawText(text) {
  const pre = html("pre", "ix-raw", text);
  const copy = button("copy", "Copy the raw text");
  copies(copy, pre);
  return [copy, pre];
}
