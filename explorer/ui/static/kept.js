// Tables that a person has opened last, and those that were pinned. The browser keeps their names; the page tells which
// of them there are, and opens them.
const KEY = `icedive-tables ${location.pathname}`;
const MOST = { recent: 6, pinned: 30 }, LONGEST = 300;

const names = (list, most) => {
  const texts = Array.isArray(list) ? list.filter((name) => typeof name === "string" && name.length <= LONGEST) : [];
  return [...new Set(texts)].slice(0, most);
};
const read = () => {
  let found = {};
  try {
    found = JSON.parse(localStorage.getItem(KEY)) || {};
  } catch { /* nothing is kept, or nothing of ours */ }
  return { recent: names(found.recent, MOST.recent), pinned: names(found.pinned, MOST.pinned) };
};
const write = (kept) => {
  try {
    localStorage.setItem(KEY, JSON.stringify(kept));
  } catch { /* it may keep nothing: then as long as the page is there */ }
};

const LOOK = `
  :host { font: 13px/1.4 Roboto, system-ui, "DejaVu Sans", sans-serif; }
  h2 { margin: 2px 14px; font: inherit; font-size: 12px; opacity: .75; }
  section { max-height: 106px; overflow-y: auto; }
  .line { display: flex; align-items: center; padding: 0 8px 0 10px; }
  button { border: 0; padding: 3px 4px; background: none; color: inherit; font: inherit; cursor: pointer;
    border-radius: 4px; }
  button:hover { background: color-mix(in srgb, currentColor 10%, transparent); }
  .name { flex: 1; min-width: 0; text-align: left; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
  .pin { font-size: 15px; line-height: 1; }
  .pin[aria-pressed="true"] { color: #d18e00; }`;

export default {
  render({ model, el }) {
    const sheet = document.createElement("style"), head = document.createElement("h2");
    const list = document.createElement("section");
    sheet.textContent = LOOK;
    head.textContent = "Pinned and recent";
    el.append(sheet, head, list);
    let kept = read();
    const button = (name, title, text, act) => {
      const made = document.createElement("button");
      Object.assign(made, { type: "button", className: name, title, textContent: text });
      made.setAttribute("aria-label", title);
      made.addEventListener("click", act);
      return made;
    };
    const line = ([name, short]) => {
      const row = document.createElement("div"), pinned = kept.pinned.includes(name);
      const pin = button("pin", `${pinned ? "Unpin" : "Pin"} ${name}`, pinned ? "★" : "☆", () => {
        const others = kept.pinned.filter((other) => other !== name);
        keep({ ...read(), pinned: pinned ? others : [...others, name] });
      });
      pin.setAttribute("aria-pressed", String(pinned));
      row.className = "line";
      row.append(pin, button("name", `Open ${name}`, short, () => {
        model.set("chosen", { name, at: Date.now() });
        model.save_changes();
      }));
      return row;
    };
    const draw = () => {
      const shown = model.get("shown");
      head.hidden = shown.length === 0;
      list.replaceChildren(...shown.map(line));
    };
    const tell = () => {
      model.set("kept", kept);
      model.save_changes();
      draw();
    };
    const keep = (next) => {
      kept = { recent: names(next.recent, MOST.recent), pinned: names(next.pinned, MOST.pinned) };
      write(kept);
      tell();
    };
    const opened = () => {
      const now = read(), name = model.get("opened");
      if (name && now.recent[0] !== name) keep({ ...now, recent: [name, ...now.recent] });
    };
    const elsewhere = (event) => {  // another page of this person's
      if (event.key !== KEY) return;
      kept = read();
      tell();
    };
    model.on("change:shown", draw);
    model.on("change:opened", opened);
    window.addEventListener("storage", elsewhere);
    tell();
    opened();
    return () => window.removeEventListener("storage", elsewhere);
  },
};
