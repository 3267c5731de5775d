// Ctrl+K: a list of tables, views and versions to go to, by a few letters of their names. ?: which keys there are, and
// what words mean.
const SHOWN = 40;
const KEYS = [
  ["Ctrl+K", "go to a table, view, snapshot or file"], ["?", "this"], ["Tab, arrows, Home, End", "rooms and views"],
  ["Enter in the tree", "open the table"], ["arrows in the graph", "walk it"], ["Enter in the graph", "fold, unfold"],
  ["[ and ], Page Up and Down", "the snapshot before, and after"], ["f", "fit the graph"], ["+ and -", "zoom"],
  ["/", "search the graph"],
  ["p", "present: the page alone, and larger; the same or Escape leaves"], ["Escape", "clear, close"],
];
const PRESENT = ["action", "Present the page (p)"];
const FILES = "search files and manifests for";
const LOOK = `
  dialog { visibility: visible; width: min(620px, 90vw); padding: 0; border: 1px solid #8899; border-radius: 8px;
    margin-top: 12vh; background: Canvas; color: CanvasText; font: 14px system-ui, "DejaVu Sans", sans-serif; }
  input { width: 100%; box-sizing: border-box; padding: 11px 14px; font: inherit; font-size: 16px; border: 0;
    border-bottom: 1px solid #8899; background: inherit; color: inherit; outline: none; }
  ul, dl { list-style: none; margin: 0; padding: 6px; max-height: 50vh; overflow: auto; }
  li { padding: 6px 10px; border-radius: 5px; cursor: pointer; overflow-wrap: anywhere; }
  li[aria-selected="true"] { background: #0b66c3; color: #fff; }
  li small { opacity: .75; margin-right: 10px; }
  dl { display: grid; grid-template-columns: max-content 1fr; gap: 7px 18px; padding: 14px 18px; }
  dt { font-weight: 600; max-width: 13em; } dd { margin: 0; }
  h3 { grid-column: 1 / -1; margin: 4px 0 0; font-size: 15px; }`;

const made = (tag, attributes = {}, text = "") => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.textContent = text;
  return element;
};

const typing = () => {
  let at = document.activeElement;
  while (at && at.shadowRoot && at.shadowRoot.activeElement) at = at.shadowRoot.activeElement;
  return at && (at.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(at.tagName));
};

export default {
  render({ model, el }) {
    const field = made("input", { role: "combobox", "aria-expanded": "true", "aria-controls": "found",
      "aria-label": "Go to a table, view or snapshot", placeholder: "Go to a table, view, snapshot or file" });
    const list = made("ul", { role: "listbox", id: "found" }), help = made("dl");
    const search = made("div"), dialog = made("dialog", { "aria-label": "Go to, and keys" });
    const told = (pairs) => pairs.flatMap(([name, text]) => [made("dt", {}, name), made("dd", {}, text)]);
    help.append(made("h3", {}, "Keys"), ...told(KEYS));
    help.append(made("h3", {}, "Words"), ...told(Object.entries(model.get("words"))));
    search.append(field, list);
    dialog.append(search, help);
    el.append(made("style", {}, LOOK), dialog);
    let found = [], at = 0;
    const mark = () => [...list.children].forEach((line, i) => {
      line.setAttribute("aria-selected", String(i === at));
      if (i === at) line.scrollIntoView({ block: "nearest" });
    });
    const draw = () => {
      const words = field.value.toLowerCase().split(/\s+/);
      const places = model.get("places"), text = field.value.trim();
      const opened = places.some(([kind]) => kind === "action");
      const all = [...places, PRESENT].filter(([kind, name]) => (
        words.every((word) => `${kind} ${name}`.toLowerCase().includes(word))));
      found = [...all.slice(0, SHOWN), ...(text && opened ? [[FILES, text]] : [])];
      at = 0;
      list.replaceChildren(...found.map(([kind, name], i) => {
        const line = made("li", { role: "option" });
        line.append(made("small", {}, kind), document.createTextNode(name));
        line.addEventListener("click", () => take(i));
        return line;
      }));
      if (!found.length) list.append(made("li", {}, "nothing has that name"));
      if (all.length > SHOWN) list.append(made("li", {}, `… ${all.length - SHOWN} more: write more letters`));
      mark();
    };
    const take = (i) => {
      if (!found[i]) return;
      dialog.close();
      if (found[i] === PRESENT) window.dispatchEvent(new Event("present"));
      else go(i);
    };
    const go = (i) => {
      model.set("chosen", { kind: found[i][0], name: found[i][1], at: Date.now() });
      model.save_changes();
    };
    const open = (keys) => {
      help.hidden = !keys;
      help.style.display = keys ? "" : "none";
      search.style.display = keys ? "none" : "";
      const [red, green, blue] = getComputedStyle(document.body).backgroundColor.match(/[\d.]+/g).map(Number);
      dialog.style.colorScheme = red + green + blue < 380 ? "dark" : "light";
      if (!dialog.open) dialog.showModal();
      if (keys) return;
      field.value = "";
      model.set("asked", Date.now());
      model.save_changes();
      draw();
      field.focus();
    };
    const pressed = (event) => {
      const palette = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k";
      if (!palette && (event.key !== "?" || typing())) return;
      event.preventDefault();
      event.stopPropagation();
      open(!palette);
    };
    field.addEventListener("input", draw);
    dialog.addEventListener("keydown", (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (step) at = Math.max(0, Math.min(found.length - 1, at + step));
      if (event.key === "Enter") take(at);
      if (step || event.key === "Enter") event.preventDefault();
      if (step) mark();
      event.stopPropagation();
    });
    model.on("change:places", draw);
    window.addEventListener("keydown", pressed, true);
    return () => window.removeEventListener("keydown", pressed, true);
  },
};
