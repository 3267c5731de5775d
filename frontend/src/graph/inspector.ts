// What is known of the selected node: a summary, its fields, tables and raw text, and what can be asked of it.

import { copies } from "./copy";
import { button, html } from "./dom";
import type { Details, Field, Section, Value } from "./types";
import { explains, namesRows, own, rowsThatTell } from "./words";

const HINT = "Click a node to see its fields. Double-click a snapshot to look at the table as of it. "
  + "Drag to pan, scroll to move, Ctrl+scroll to zoom.";

export interface InspectorHandlers {
  /** Ask for more about the node that is shown: one of its actions. */
  act(type: string): void;
}

export class Inspector {
  readonly element = html("aside", "inspector");
  /** What a screen reader is told when another node is shown. */
  private readonly spoken = html("p", "graph-spoken");

  /** `terms` are what the names of fields mean. */
  constructor(private readonly terms: Record<string, string>, private readonly handlers: InspectorHandlers) {
    this.element.setAttribute("aria-label", "Inspector");
    this.spoken.setAttribute("role", "status");
    this.show(null);
  }

  show(details: Details | null): void {
    if (!details) {
      this.spoken.textContent = "";
      this.element.replaceChildren(this.spoken, html("p", "inspector-hint", HINT));
      return;
    }
    const fields = (details.summary ?? []).map(([name, value, hint]) => `${name} ${value === null ? "null" : value}${hint ? `, ${hint}` : ""}`);
    this.spoken.textContent = [...details.problems, ...fields].join("; ");
    this.element.replaceChildren(
      this.spoken, html("h3", "inspector-title", details.title), html("p", "inspector-kind", details.kind),
      ...details.problems.map((problem) => html("p", "inspector-problem", `⚠ ${problem}`)),
      ...(details.summary?.length ? [this.summary(details.summary)] : []),
      ...(details.actions?.length ? [this.actions(details.actions)] : []),
      ...details.sections.map((section) => this.section(section)),
    );
  }

  private summary(fields: Field[]): HTMLElement {
    const list = html("dl", "inspector-summary");
    for (const [name, value, hint] of fields) {
      const cell = valueIn("dd", value);
      if (hint) cell.append(html("span", "inspector-from", hint));
      list.append(html("dt", "", name), cell);
    }
    return list;
  }

  private actions(offers: [string, string][]): HTMLElement {
    const row = html("p", "inspector-actions");
    for (const [type, text] of offers) {
      row.append(button(text, text, (pressed) => {
        pressed.disabled = true;
        pressed.textContent = `${text} …`;
        this.handlers.act(type);
      }));
    }
    return row;
  }

  private section(section: Section): HTMLElement {
    const box = html("details", "inspector-section");
    box.open = section.open !== false;
    box.append(html("summary", "", section.title));
    if (section.note) box.append(html("p", "inspector-note", section.note));
    if (section.fields) box.append(this.fields(section.fields));
    if (section.columns) box.append(...tables(section));
    if (section.raw !== undefined) box.append(...rawText(section.raw));
    return box;
  }

  private fields(fields: Field[]): HTMLElement {
    const list = html("dl", "inspector-fields");
    for (const [name, value, hint] of fields) {
      const cell = valueIn("dd", value), term = html("dt", "", name), meaning = own(this.terms, name);
      if (isTaken(name, value)) {
        const shown = html("span", "", cell.textContent ?? ""), copy = button("copy", `Copy ${name}`);
        copy.classList.add("inspector-copy");
        copies(copy, shown);
        cell.replaceChildren(shown, copy);
      }
      if (hint) cell.append(html("span", "inspector-from", hint));
      if (meaning !== undefined) {
        term.title = meaning;
        term.classList.add("inspector-term");
      }
      list.append(term, cell);
    }
    return list;
  }
}

function valueIn(tag: "td" | "dd", value: Value): HTMLElement {
  return html(tag, value === null ? "inspector-null" : "", value === null ? "null" : String(value));
}

// What one takes elsewhere: ids, and paths.
const LONG_ID = /^-?\d{9,}$/, PATH = /^\S+\/\S+$/;
function isTaken(name: string, value: Value): boolean {
  return (/(^|[-_ ])id$/.test(name) ? LONG_ID : PATH).test(String(value));
}

// A table of the rows that say something; those without any value are folded below it.
function tables(section: Section): HTMLElement[] {
  const { told, empty } = rowsThatTell(section);
  if (!empty.length) return [tableOf(section, told)];
  const rest = html("details", "inspector-empty"), many = `${empty.length} ${empty.length > 1 ? "rows" : "row"}`;
  rest.append(html("summary", "", `${many} without values`), tableOf(section, empty));
  return told.length ? [tableOf(section, told), rest] : [rest];
}

function tableOf(section: Section, numbers: number[]): HTMLElement {
  const wrap = html("div", "inspector-scroll"), table = html("table", "inspector-table"), head = html("tr"), body = html("tbody");
  const why = explains(section), named = namesRows(section);
  const cells = <T>(row: T[]): T[] => row.slice(named ? 1 : 0, why ? -1 : undefined);
  head.append(...cells(section.columns ?? []).map((name) => {
    const cell = html("th", "", name);
    cell.scope = "col";
    return cell;
  }));
  for (const i of numbers) {
    const row = section.rows?.[i] ?? [], line = html("tr", section.struck?.includes(i) ? "inspector-struck" : "");
    line.append(...cells(row).map((value) => valueIn("td", value)));
    for (const cell of line.children) cell.classList.toggle("inspector-id", LONG_ID.test(cell.textContent ?? ""));
    if (named) body.append(about(row[0] ?? null, why ? row.at(-1) ?? null : null, line));
    else if (line.firstElementChild) breakable(line.firstElementChild);
    body.append(line);
  }
  const top = html("thead");
  top.append(head);
  table.append(top, body);
  wrap.tabIndex = 0; // what scrolls can be reached by keys
  wrap.setAttribute("role", "group");
  wrap.setAttribute("aria-label", section.title);
  wrap.append(table);
  return wrap;
}

// What a row is about, and why it is so: a line above it, so that the values to be compared have the room.
function about(name: Value, why: Value, row: HTMLElement): HTMLElement {
  const line = html("tr", row.className), cell = html("th", "inspector-about", String(name));
  cell.colSpan = row.children.length;
  cell.scope = "rowgroup";
  breakable(cell);
  if (why) cell.append(html("span", "inspector-from", String(why)));
  line.append(cell);
  return line;
}

// A name such as sequence_number breaks behind its underscores, and one of a file behind its dashes and before its ending.
function breakable(cell: Element): void {
  const parts = (cell.textContent ?? "").split(/(?<=[_…-])(?=.)|(?=\.\w+$)/);
  cell.replaceChildren(...parts.flatMap((part, i) => (i ? [html("wbr"), part] : [part])));
}

function rawText(text: string): HTMLElement[] {
  const raw = html("pre", "inspector-raw", text), copy = button("copy", "Copy the raw text");
  raw.tabIndex = 0;
  copies(copy, raw);
  return [copy, raw];
}
