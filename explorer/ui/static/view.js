// One table's metadata graph with its bar, timeline and inspector, in JupyterLab (anywidget), on the dashboard (Panel's
// AnyWidgetComponent) and in an exported page. All text is set as text, never as markup. What kinds, statuses and marks
// there are, and how they look, Python sends (`vocabulary`).

import { Canvas } from "./canvas.js";
import { button, followTheme, html } from "./dom.js";
import { Inspector } from "./inspector.js";
import { legendOf } from "./legend.js";
import { wayTo } from "./pure.js";
import { Timeline } from "./timeline.js";
import { Way } from "./way.js";

const NARROW = 900, LOOK_MS = 1000, TYPING_MS = 250, READING = "Reading…";

// `send` takes requests to who answers them: Python, or the page (standalone.js), whose own controls are `more`.
export function mount(el, vocabulary, send, { height = "", more = [] } = {}) {
  const root = html("div", "ix-root"), body = html("div", "ix-body"), bar = html("div", "ix-bar");
  root.tabIndex = 0;
  root.style.height = height;
  const told = html("div", "ix-caption"), legend = html("div", "ix-legend"), busy = html("div", "ix-busy");
  const doing = html("span", "", READING);
  busy.append(doing, button("cancel", "Give up what is being read", () => send({ type: "cancel" })));
  const message = html("div", "ix-message");
  message.setAttribute("role", "alert");

  // Whether something is being read, and how far it is; what takes long can be given up.
  function working(now, text = "") {
    busy.classList.toggle("ix-open", now);
    busy.classList.toggle("ix-long", now && text !== "");
    doing.textContent = text || READING;
  }
  function say(text) {
    message.textContent = text;
    message.classList.toggle("ix-open", text !== "");
  }
  function ask(request) {
    working(true);
    say("");
    send(request);
  }
  const canvas = new Canvas(vocabulary, {
    choose(ids) {
      if (ids.length) root.focus({ preventScroll: true });
      if (ids.length) inspector.open();
      send({ type: "select", ids });
    },
    marked: () => way.show(wayTo(canvas.picture, vocabulary.edges, canvas.last())),
    open(item, double) {
      if (item.hidden && item.action) ask({ type: "page", id: item.id });
      else if (item.fold) ask({ type: double ? vocabulary.kinds[item.kind].double : "toggle", id: item.id });
    },
  }, () => {  // in a notebook the page scrolls until the widget has the focus
    const focus = root.getRootNode().activeElement;
    return !height || (focus !== null && root.contains(focus));
  });
  const timeline = new Timeline(vocabulary, (id) => ask({ type: "snapshot", id }));
  const way = new Way((id) => canvas.go(id));
  const inspector = new Inspector(vocabulary.terms, (type) => send({ type, id: canvas.last() }));
  canvas.element.append(busy, message);
  body.append(canvas.element, inspector.grip, inspector.element);
  root.append(bar, timeline.element, told, way.element, legend, body);
  root.dataset.lmSuppressShortcuts = "true"; // JupyterLab's keys, of which `d d` deletes the cell, are not ours
  el.replaceChildren(root);

  // ---- bar ---------------------------------------------------------------------------------------------------------
  const name = html("span", "ix-name"), search = html("input", "ix-search");
  search.type = "search";
  search.placeholder = "search files, manifests, snapshots";
  search.setAttribute("aria-label", "search");
  const find = () => search.classList.toggle("ix-none", !canvas.find(search.value) && search.value !== "");
  let waiting = 0;
  search.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => ask({ type: "search", text: search.value }), TYPING_MS);
  });
  search.addEventListener("keydown", (event) => event.stopPropagation());
  const filtered = html("label", "ix-check"), tick = html("input");
  tick.type = "checkbox";
  tick.checked = true;
  tick.addEventListener("change", () => ask({ type: "filtered", value: tick.checked }));
  filtered.append(tick, document.createTextNode(" filtered entries"));
  filtered.title = "Also draw entries that are filtered out as of this snapshot, struck through";
  const again = "Read the table again, as its catalog or folder has it now";
  const reload = button("reload", again, () => ask({ type: "reload" }));
  let looking = 0;
  const following = (on) => {  // a table that is followed still is when one comes back to the graph
    clearInterval(looking);
    looking = on ? setInterval(() => document.hidden || send({ type: "look" }), LOOK_MS) : 0;
    window.ixFollowed = on ? name.textContent : "";
    follow.classList.toggle("ix-on", on);
    follow.textContent = on ? `follow · ${seconds}` : "follow";
    follow.setAttribute("aria-pressed", String(on));
  };
  const seconds = `${LOOK_MS / 1000} s`, look = `Look for commits every ${seconds}, and light what they change`;
  const follow = button("follow", look, () => following(!looking));
  bar.append(
    name, search, filtered, ...more, html("span", "ix-gap"),
    button("−", "Zoom out", () => canvas.zoom(1 / 1.25)), button("+", "Zoom in", () => canvas.zoom(1.25)),
    button("fit", "Fit the graph (f)", () => canvas.fit(true)),
    button("legend", "What colours, shapes and marks mean", () => legend.classList.toggle("ix-open")), reload, follow,
    button("inspector", "Show or hide the inspector", () => inspector.toggle()),
  );
  const offered = { search, filtered, reload, follow };

  // ---- keys --------------------------------------------------------------------------------------------------------
  const keys = {
    f: () => canvas.fit(true),
    "+": () => canvas.zoom(1.25),
    "-": () => canvas.zoom(1 / 1.25),
    "/": () => search.focus(),
    "[": () => timeline.step(-1),
    "]": () => timeline.step(1),
    PageUp: () => timeline.step(-1),
    PageDown: () => timeline.step(1),
    p: () => (document.fullscreenElement ? document.exitFullscreen() : root.requestFullscreen()),
    Escape: () => (document.fullscreenElement ? document.exitFullscreen() : canvas.choose([])),
    Enter: () => canvas.open(canvas.last()),
    " ": () => canvas.open(canvas.last()),
  };
  for (const key of ["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"]) keys[key] = () => canvas.walk(key);
  root.addEventListener("keydown", (event) => {
    const elsewhere = event.target.closest("input,button,select,textarea,summary");
    if (elsewhere || event.ctrlKey || event.metaKey || event.altKey || !Object.hasOwn(keys, event.key)) return;
    keys[event.key]();
    event.preventDefault();
    event.stopPropagation();
  });

  const unfollow = followTheme(el, root, () => canvas.drawMap());
  const size = new ResizeObserver(() => {
    root.classList.toggle("ix-narrow", root.clientWidth < NARROW);
    inspector.widen(0);
    canvas.resized();
    timeline.show(timeline.current);
  });
  size.observe(canvas.element);
  size.observe(root);
  inspector.show(null);

  return {
    // `state` has a picture; and from a host what is selected, its details, a message, what the bar offers and was
    // asked, and what the snapshot did, in a sentence.
    show({ picture, selected = [], details = null, message: said = "", offers = ["search"], asked = {}, caption }) {
      working(false);
      name.textContent = name.title = picture.title;
      for (const [offer, control] of Object.entries(offered)) {
        control.classList.toggle("ix-hidden", !offers.includes(offer));
      }
      if (looking && !offers.includes("follow")) following(false);
      if (!looking && offers.includes("follow") && window.ixFollowed === picture.title) following(true);
      const typing = root.getRootNode().activeElement === search;
      if ("search" in asked && !typing) search.value = asked.search;
      if ("filtered" in asked) tick.checked = asked.filtered;
      legend.replaceChildren(...legendOf(vocabulary, picture));
      canvas.show(picture);
      find();
      timeline.show(picture.snapshot);
      told.textContent = told.title = caption || "";
      if (selected.length) inspector.open();
      canvas.chosen(selected);
      inspector.show(details);
      say(said);
    },
    // `busy`: a request is under way, and so far; else it is over, and `text` says why it was not carried out.
    progress({ busy: now = false, text = "" }) {
      working(now, text);
      if (!now && text) say(text);
    },
    ask,
    inspect: (details) => inspector.show(details),
    setTimeline: (data) => timeline.set(data),
    close() {
      clearInterval(looking);
      timeline.stop();
      canvas.close();
      unfollow();
      size.disconnect();
    },
  };
}

// anywidget and Panel: both give a model with get, set, on and save_changes.
function render({ model, el }) {
  let count = 0;
  const send = (request) => {
    model.set("request", { ...request, n: ++count, at: Date.now() });
    model.save_changes();
  };
  const given = model.get("height");
  const app = mount(el, model.get("vocabulary"), send, { height: typeof given === "string" ? given : "" });
  const show = () => {
    const state = model.get("state");
    if (!state?.picture) return;
    app.show(state);
    const early = window.ixAsked;  // before we were there (first.js)
    if (early) (early.type === "select" ? send : app.ask)(early);  // what selects draws nothing anew
    delete window.ixAsked;
  };
  const on = {
    "change:state": show,
    "change:details": () => app.inspect(model.get("details").details),
    "change:progress": () => app.progress(model.get("progress")),
    "change:timeline": () => app.setTimeline(model.get("timeline")),
  };
  for (const [event, action] of Object.entries(on)) model.on(event, action);
  app.setTimeline(model.get("timeline"));
  show();
  return () => {
    for (const [event, action] of Object.entries(on)) model.off?.(event, action);
    app.close();
  };
}

export default { render };
