// One card: a node, or a group of nodes that are not drawn.

import { cutText, glyph, html } from "./dom";
import type { Item } from "./geometry";
import type { PictureNode, Status, Vocabulary } from "./types";
import { chipsThatFit, ink, looks, own } from "./words";

const TITLE_HEIGHT = 24, LINE_HEIGHT = 15, LOW = 30;
/** What a card has beside its chips, and from where on a value may lose its middle, in pixels and letters. */
const BESIDE = 24, SHORT_VALUE = 12;

/** What a card shows that its node does not know. */
export interface Around {
  /** Edges of its trunks: how many nodes it leads to. */
  fan: number;
  /** Its bytes, or else rows, as a share of the most of its kind. */
  share: number | null;
  /** What leads to it and what it leads to, in sentences. */
  relations: string[];
}

/** Draw a card anew into its element. States that change without a new picture are not touched. */
export function paint(card: HTMLElement, item: Item, vocabulary: Vocabulary, around: Around): void {
  card.style.width = `${item.w}px`;
  card.style.height = `${item.h}px`;
  card.dataset["id"] = item.id;
  if (item.node) paintNode(card, item.node, vocabulary, around);
  else if (item.group) paintGroup(card, item.group.label, item.group.action !== "");
}

function paintGroup(card: HTMLElement, label: string, acts: boolean): void {
  setLook(card, ["look-group", ...(acts ? [] : ["look-inert"])]);
  card.setAttribute("aria-label", label);
  card.title = "";
  card.replaceChildren(html("span", "graph-more", label));
}

// Classes named look-… belong to the picture; others to what a person does.
function setLook(card: HTMLElement, names: string[]): void {
  const kept = [...card.classList].filter((name) => !name.startsWith("look-"));
  card.className = [...new Set([...kept, "graph-card", ...names])].join(" ");
}

function paintNode(card: HTMLElement, node: PictureNode, vocabulary: Vocabulary, around: Around): void {
  const kind = own(vocabulary.kinds, node.kind), status = own(vocabulary.statuses, node.status);
  const mark = own(vocabulary.marks, node.mark), operation = node.card?.operation ?? "";
  const states = {
    current: node.current, focus: node.focus, bad: node.bad, dead: node.card?.dead ?? false,
    low: node.h < LOW, short: node.h < 50, fold: node.fold !== "",
  };
  const on = Object.entries(states).filter(([, is]) => is).map(([name]) => `look-${name}`);
  setLook(card, [...looks(kind, status, mark), ...on]);
  const color = operation ? (own(vocabulary.operations, operation) ?? vocabulary.operation) : kind ? ink(kind) : "";
  card.style.setProperty("--k", color);
  card.style.setProperty("--s", status ? ink(status) : "");
  card.style.setProperty("--m", mark ? ink(mark) : "");
  Object.assign(card.dataset, { kind: node.kind, label: node.label, status: node.status });
  const words = [node.label, kind?.title, statusWords(node, status), node.mark, node.current && "current", node.focus && "in view"];
  const said = [...words, ...linesOf(node), ...chipsOf(node).map((chip) => chip.join(" "))];
  card.setAttribute("aria-label", said.filter(Boolean).join(", "));
  if (around.relations.length) card.setAttribute("aria-description", around.relations.join("; "));
  else card.removeAttribute("aria-description");
  if (node.fold) card.setAttribute("aria-expanded", String(node.fold === "open"));
  else card.removeAttribute("aria-expanded");
  card.title = [kind?.title, node.title || node.label, node.problem, ...around.relations].filter(Boolean).join("\n");
  card.replaceChildren(...contentOf(node, vocabulary, around));
}

function contentOf(node: PictureNode, vocabulary: Vocabulary, around: Around): HTMLElement[] {
  const kind = own(vocabulary.kinds, node.kind), status = own(vocabulary.statuses, node.status);
  const title = html("div", "graph-title"), content: HTMLElement[] = [title], operation = node.card?.operation ?? "";
  if (operation) title.append(html("span", "graph-operation", operationMark(operation, vocabulary)));
  else if (kind) title.append(glyph(kind.glyph));
  if (status) title.append(html("b", "graph-sign", status.sign));
  title.append(cutText("graph-label", node.label));
  if (node.current) title.append(html("span", "graph-tag", "current"));
  if (node.warn) title.append(html("span", "graph-warn", "⚠"));
  if (node.h >= LOW) content.push(...wordsOf(node, status));
  if (around.share !== null) {
    const share = html("i", "graph-share");
    share.style.width = `${Math.round(around.share * 100)}%`;
    content.push(share);
  }
  if (node.mark) content.push(html("span", "graph-mark", node.mark));
  if (around.fan) content.push(html("span", "graph-fan", `×${around.fan}`));
  if (node.fold) {
    const fold = html("span", "graph-fold", node.fold === "open" ? "−" : "+");
    fold.setAttribute("aria-hidden", "true");
    content.push(fold);
  }
  return content;
}

// What a card says below its title.
function wordsOf(node: PictureNode, status: Status | undefined): HTMLElement[] {
  const operation = node.card?.operation ?? "", content: HTMLElement[] = [];
  const [measures, ...notes] = linesOf(node), chips = html("div", "graph-chips"), left: string[] = [];
  if (measures) content.push(cutText("graph-measures", measures));
  if (operation) chips.append(chip("graph-chip-operation", operation));
  if (status) chips.append(chip("graph-chip-status", statusWords(node, status)));
  const room = Math.floor((node.h - TITLE_HEIGHT) / LINE_HEIGHT), hasChips = room > 1; // else the sign says it
  const lines = room - 1 - (hasChips && (chips.firstChild || chipsOf(node).length) ? 1 : 0);
  for (const note of notes) {
    if (lines >= notes.length) content.push(noteOf(note, lines));
    else left.push(note); // no line is left for it
  }
  const values = chipsOf(node), used = [...chips.children].map((one) => one.textContent ?? "");
  const { count, named } = chipsThatFit(values, node.w - BESIDE, used);
  const shown = values.slice(0, count), rest = [...values.slice(count).map((pair) => pair.join("=")), ...left];
  for (const [name, value] of shown) chips.append(valueChip(named ? name : "", value, `${name}=${value}`));
  if (count < values.length) chips.append(chip("", `+${values.length - count}`));
  if (rest.length) chips.title = rest.join("\n");
  if (hasChips && chips.firstChild) content.push(chips);
  return content;
}

// A sentence on one line, both its ends, or on more where there is room.
function noteOf(text: string, lines: number): HTMLElement {
  if (lines === 1) return cutText("graph-note", text);
  const note = html("div", "graph-note graph-note-long", text);
  note.style.setProperty("--lines", String(lines));
  return note;
}

/** What a card says in lines: one of measures, then sentences. */
function linesOf(node: PictureNode): string[] {
  return node.card ? [node.card.measures ?? "", node.card.note ?? ""].filter(Boolean) : node.lines;
}

function chipsOf(node: PictureNode): [string, string][] {
  return node.card?.chips ?? [];
}

function statusWords(node: PictureNode, status: Status | undefined): string {
  if (!status) return "";
  return node.card?.dead ? "applies to no file" : node.status.toLowerCase();
}

function operationMark(operation: string, vocabulary: Vocabulary): string {
  return own(vocabulary.operation_marks, operation) ?? vocabulary.operation_mark;
}

function chip(className: string, text: string): HTMLElement {
  return html("span", `graph-chip ${className}`, text);
}

// The value survives where there is no room for both.
function valueChip(name: string, value: string, title: string): HTMLElement {
  const whole = html("span", "graph-chip graph-chip-value");
  whole.title = title;
  if (name) whole.append(html("span", "graph-chip-name", name));
  whole.append(value.length > SHORT_VALUE ? cutText("graph-chip-text", value) : html("span", "graph-chip-text", value));
  return whole;
}
