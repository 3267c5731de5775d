// Ids and paths in lists can be copied: by a sign in their cells, and by keyboard, which also goes from cell to cell.
import { copies } from "./copy.js";

const COPIED = "ix-copied";
// The text of a cell that has no element of its own for it: what is copied has not the words of the button.
const wrapped = (cell) => {
  const text = document.createElement("span");
  text.append(...cell.childNodes);
  cell.append(text);
  return text;
};

// The button of a cell, made when it is needed. (It has the focus that its cell cannot have: Tabulator takes it away
// from cells that are not edited.)
const signed = (cell) => {
  const there = cell.querySelector("button");
  if (there || !cell.textContent.trim()) return there;
  const button = document.createElement("button");
  Object.assign(button, { type: "button", title: "Copy", tabIndex: -1 });
  button.setAttribute("aria-label", `Copy ${cell.getAttribute("tabulator-field") || "it"}`);
  copies(button, cell.firstElementChild ?? wrapped(cell));
  button.addEventListener("click", (event) => event.stopPropagation()); // or else the row is clicked, too
  cell.append(button);
  return button;
};

// The cell that an arrow leads to, from a cell or from the list itself.
const beside = (cell, list, key) => {
  const rows = [...list.querySelectorAll(".tabulator-row")];
  const cells = (row) => [...(row ? row.querySelectorAll(`.${COPIED}`) : [])];
  if (!cell) return key === "ArrowDown" || key === "ArrowRight" ? cells(rows[0])[0] : null;
  const row = cell.closest(".tabulator-row"), mine = cells(row), at = mine.indexOf(cell);
  const step = { ArrowLeft: -1, ArrowRight: 1 }[key];
  if (step) return mine[at + step];
  return cells(rows[rows.indexOf(row) + (key === "ArrowDown" ? 1 : -1)])[at];
};

// (Of a move, not of an entrance: that from one place to another within one shadow tree is not heard outside it.)
export function pointed(event) {
  const cell = event.composedPath().find((element) => element.classList?.contains(COPIED));
  if (cell) signed(cell);
}

export function typed(event) {
  const from = event.composedPath()[0], list = from.closest?.(".tabulator-tableholder");
  if (!list) return;
  const cell = from.closest(`.${COPIED}`), { key, ctrlKey, metaKey } = event;
  if (key.startsWith("Arrow")) {
    const next = beside(cell, list, key);
    if (!next) return;
    signed(next)?.focus();
  } else if (cell && key === "c" && (ctrlKey || metaKey)) {
    if (from.dataset.chosen) return; // the browser copies what is selected, as the button says
    signed(cell)?.click();
  } else return;
  event.preventDefault();
  event.stopPropagation();
}
