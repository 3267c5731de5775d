// A statement, and a button that copies it.

import { copies } from "./copy.js";

const LOOK = `
  figure { display: flex; gap: 10px; align-items: flex-start; margin: 0; }
  code { font: 13px/1.5 monospace; user-select: all; overflow-wrap: anywhere; min-width: 0; }
  button { flex: none; font: 13px/1.4 system-ui, "DejaVu Sans", sans-serif; padding: 1px 9px; border: 1px solid #8899;
    border-radius: 4px; background: none; color: inherit; cursor: pointer; }`;

export default {
  render({ model, el }) {
    const sheet = document.createElement("style"), row = document.createElement("figure");
    const text = document.createElement("code"), button = document.createElement("button");
    sheet.textContent = LOOK;
    text.textContent = model.get("text");
    Object.assign(button, { type: "button", textContent: "copy", title: "Copy this statement" });
    button.setAttribute("aria-label", "Copy this statement");
    copies(button, text);
    row.append(button, text);
    el.append(sheet, row);
    return () => row.remove();  // Panel calls it, whatever it is
  },
};
