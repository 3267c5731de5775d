// What is known of the node chosen last: its fields, tables and raw text, and what can be asked of it.

import { button, html } from "./dom.js";

const HINT = "Click a node to see its fields. Double-click a snapshot to look at the table as of it. "
  + "Drag to pan, scroll to move, Ctrl+scroll to zoom.";

export class Inspector {
  // `act(type)` asks for more about the node; null where nobody answers.
  constructor(act) {
    this.act = act;
    this.element = html("aside", "ix-side ix-closed");  // opens with the first node a person chooses
    this.element.setAttribute("aria-label", "inspector");
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
    if (!details) {
      this.element.replaceChildren(html("p", "ix-hint", HINT));
      return;
    }
    this.element.replaceChildren(
      html("h3", "ix-title", details.title), html("p", "ix-kind", details.kind),
      ...details.problems.map((problem) => html("p", "ix-problem", `⚠ ${problem}`)),
      ...(this.act && details.actions?.length ? [this.actions(details.actions)] : []),
      ...details.sections.map(sectionBox),
    );
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

function fieldList(fields) {
  const list = html("dl", "ix-fields");
  for (const [key, value, hint] of fields) {
    const cell = valueIn("dd", value);
    if (hint) cell.append(html("span", "ix-from", hint));
    list.append(html("dt", "", key), cell);
  }
  return list;
}

function tableOf(section) {
  const wrap = html("div", "ix-tablewrap"), table = html("table", "ix-table"), head = html("tr");
  head.append(...section.columns.map((name) => html("th", "", name)));
  table.append(head);
  for (const [i, row] of section.rows.entries()) {
    const line = html("tr", section.struck?.includes(i) ? "ix-struck" : "");
    line.append(...row.map((value) => valueIn("td", value)));
    table.append(line);
  }
  wrap.append(table);
  return wrap;
}

function rawText(text) {
  const pre = html("pre", "ix-raw", text);
  const copy = button("copy", "Copy the raw text", async () => {
    try {
      await navigator.clipboard.writeText(text);
      copy.textContent = "copied";
    } catch {
      const range = document.createRange();
      range.selectNodeContents(pre);
      getSelection().removeAllRanges();
      getSelection().addRange(range);
      copy.textContent = "selected: press Ctrl+C";
    }
    setTimeout(() => (copy.textContent = "copy"), 2000);
  });
  return [copy, pre];
}
