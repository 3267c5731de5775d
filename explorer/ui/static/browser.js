// What the page has of the browser: its address bar, which says where the page is and tells when a person goes back
// or forward; its keys, for tabs, lists and presenting; and whether it is dark.
import { savedAsSvg } from "./figures.js";
import { pointed, typed } from "./grids.js";

const within = (root, name, found = []) => {
  for (const element of root.querySelectorAll("*")) {
    if (element.classList.contains(name)) found.push(element);
    if (element.shadowRoot) within(element.shadowRoot, name, found);
  }
  return found;
};

const chosen = (key, tab, tabs) => {
  const at = tabs.indexOf(tab);
  if (key === "Enter" || key === " ") return tab;
  if (key === "ArrowRight") return tabs[(at + 1) % tabs.length];
  if (key === "ArrowLeft") return tabs[(at + tabs.length - 1) % tabs.length];
  if (key === "Home") return tabs[0];
  return key === "End" ? tabs[tabs.length - 1] : null;
};

// Enter and Space choose the focused tab, arrows, Home and End its neighbours; and tabs come before what they show,
// in the order of the Tab key too. They are drawn anew when one is chosen: until the next click or step with the Tab
// key the focus that is lost with the old one goes to the new one, and a key that comes before it is back is the new
// one's.
let kept = null;
const lost = () => !document.activeElement || document.activeElement === document.body;
const restored = () => {
  const tab = kept && lost() ? kept.tabs()[kept.at] : null;
  if (tab) tab.focus();
  return tab;
};
const pressed = (event) => {
  if (event.type !== "keydown") {
    kept = null;
    return;
  }
  const tab = restored() || event.composedPath()[0];
  if (event.key === "Tab") {
    kept = null;
    for (const header of within(document, "bk-header")) {
      const root = header.getRootNode();
      if (root.firstElementChild !== header) root.prepend(header);
    }
    return;
  }
  if (!tab.classList || !tab.classList.contains("bk-tab")) return;
  const root = tab.getRootNode();
  const tabs = () => [...root.querySelectorAll(".bk-header .bk-tab")];
  const next = chosen(event.key, tab, tabs());
  if (!next) return;
  event.preventDefault();
  const mine = kept = { tabs, at: tabs().indexOf(next) };
  next.click();
  const settle = (times) => {
    if (kept !== mine) return;
    restored();
    if (times) setTimeout(() => settle(times - 1), 50);
  };
  next.focus();
  settle(120);
};

// Presented, the page fills the screen: no header, tree or tabs, and all that is left larger. Keys go to the graph.
const PRESENTED = "html:fullscreen { --chrome: none; --bar: hidden; --scale: 1.5; }";
// What figures tell under the mouse has the page's colours, by day and night.
const TOLD = `.bk-Tooltip {
  --tooltip-color: Canvas; --tooltip-text: CanvasText; --tooltip-border: GrayText; --tooltip-arrow-color: Canvas;
  --tooltip-arrow-inner-color: Canvas; background: Canvas; color: CanvasText; border-color: GrayText; }`;
const present = () => {
  if (document.fullscreenElement) document.exitFullscreen();
  else document.documentElement.requestFullscreen().then(() => {
    within(document, "ix-root").find((root) => root.clientWidth)?.focus({ preventScroll: true });
  });
};
const typing = (target) => target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName);
const presenting = (event) => {
  const left = event.key === "Escape" && document.fullscreenElement, { ctrlKey, metaKey, altKey } = event;
  if (!left && (event.key !== "p" || ctrlKey || metaKey || altKey || typing(event.composedPath()[0]))) return;
  event.preventDefault();
  event.stopPropagation();
  present();
};

// Dark as the system is, until a person chooses: that is remembered. The server reads it before the page is made.
const LOOK = "icedive-look";
const look = () => (document.cookie.match(new RegExp(`${LOOK}=([a-z-]+)`)) || ["", ""])[1];
const keep = (value) => {
  document.cookie = `${LOOK}=${value}; path=${location.pathname}; max-age=31536000; samesite=strict`;
};
const followDark = (model) => {
  const dark = matchMedia("(prefers-color-scheme: dark)").matches, system = dark ? "auto-dark" : "auto-light";
  if (/^(auto.*)?$/.test(look()) && look() !== system) {
    keep(system);
    if (look() === system && dark !== model.get("dark")) location.reload();
  }
  model.on("change:dark", () => keep(model.get("dark") ? "dark" : "light"));
};

// A page that is small, or becomes so (by zooming, too), is without the tree at the left until a person opens it.
const SMALL = matchMedia("(max-width: 900px)");
const makeRoom = () => {
  if (!SMALL.matches) return;
  within(document, "MuiIconButton-root").find((b) => b.getAttribute("aria-label") === "Close drawer")?.click();
};

// What stood here first (first.js) goes once the page's own view has been drawn; at once where it showed none.
const LONGEST_MS = 5000;
const uncover = (model) => {
  const first = document.getElementById("first"), gone = () => first?.remove();
  const drawn = () => model.get("seen") && requestAnimationFrame(() => requestAnimationFrame(gone));
  if (first?.classList.contains("fx-bare")) gone();
  model.on("change:seen", drawn);
  drawn();
  setTimeout(gone, LONGEST_MS);
};

export default {
  render({ model }) {
    followDark(model);
    uncover(model);
    const sheet = document.createElement("style");
    sheet.textContent = PRESENTED + TOLD;
    document.head.append(sheet);
    setTimeout(() => {
      makeRoom();
      SMALL.addEventListener("change", makeRoom);
      // Material's edge of the sidebar has a name, and no role that may have one
      for (const box of within(document, "MuiBox-root")) {
        if (box.getAttribute("aria-label") === "Resize sidebar") box.setAttribute("role", "separator");
      }
    });
    let first = true;
    let going = false; // back or forward, until the page is there or is asked for something else
    const say = () => {
      const search = model.get("search");
      if (!search || search === location.search) going = false;
      else if (!going) {
        const url = location.pathname + search + location.hash;
        if (first) history.replaceState({}, "", url);
        else history.pushState({}, "", url);
      }
      if (search) first = false;
    };
    const went = () => {
      going = true;
      model.set("went", { search: location.search, at: Date.now() });
      model.save_changes();
    };
    const asked = () => {
      going = false;
    };
    model.on("change:search", say);
    const heard = [["popstate", went], ["pointerdown", asked], ["keydown", asked], ["keydown", pressed],
      ["pointerdown", pressed], ["keydown", presenting], ["present", present],
      ["pointermove", pointed], ["keydown", typed], ["click", savedAsSvg],
      ["keydown", savedAsSvg]];
    for (const [kind, act] of heard) window.addEventListener(kind, act, true);
    say();
    return () => {
      for (const [kind, act] of heard) window.removeEventListener(kind, act, true);
      sheet.remove();
      SMALL.removeEventListener("change", makeRoom);
    };
  },
};
