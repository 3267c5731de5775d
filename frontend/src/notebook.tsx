// The app within a page of somebody else: a notebook, a Panel app, or a tab of JupyterLab. It stands in a shadow root, so neither page has the
// other's styles.

import "./style/tokens.css";
import "./style/app.css";
import { render, type ComponentChildren } from "preact";
import { App } from "./app";
import { fillScreen, isTyped } from "./screen";
import { followTheme } from "./graph";
import { GraphAlone, QuestionAlone } from "./alone";
import { asked } from "./asked";
import { NOWHERE, type Place } from "./place";
import { Connection, type Connect, type Hello, type Told } from "./protocol";
import { arrive, connectionIs, downloads, fail, hello, server, start } from "./store";

const SHOWS: Record<Told["shows"], () => ComponentChildren> = {
  app: () => <App />, question: () => <QuestionAlone />, graph: () => <GraphAlone />,
};

export default {
  // The question on screen.
  asked,

  // Show the app in an element. Who gives `keep` is told each place that the app goes to. Returns what ends it.
  render(el: HTMLElement, told: Told, connect: Connect, keep: (place: Place) => void = () => {}): () => void {
    const box = document.createElement("div"), root = document.createElement("div"), sheet = new CSSStyleSheet();
    const shadow = box.attachShadow({ mode: "open" });
    sheet.replaceSync(told.style);
    shadow.adoptedStyleSheets = [sheet];
    shadow.append(root);
    box.className = "icedive";
    box.dataset["lmSuppressShortcuts"] = "true"; // JupyterLab's keys, of which `d d` deletes the cell, are not ours
    for (const name of ["keydown", "keyup", "keypress"]) box.addEventListener(name, (event) => event.stopPropagation());
    if (told.shows !== "app") root.addEventListener("keydown", (event) => {
      if (event.key === "p" && !event.ctrlKey && !event.metaKey && !event.altKey && !isTyped(event)) fillScreen(root);
    });
    const isTab = told.downloads !== undefined;
    root.className = `ice ${isTab ? "" : "embedded "}shows-${told.shows}`;
    downloads.value = told.downloads ?? "";
    root.tabIndex = -1; // a click within it takes the keys
    root.setAttribute("role", "group");
    root.setAttribute("aria-label", told.label);
    if (told.height) root.style.height = told.height;
    el.replaceChildren(box);

    // The page scrolls with the wheel until a person is at work here.
    const connection = new Connection(connect, connectionIs);
    start(connection, keep, { isPage: false, frame: root, keys: root, wheel: () => isTab || shadow.activeElement !== null });
    render(SHOWS[told.shows](), root);
    let unfollow = () => {};
    const size = new ResizeObserver(() => { // it has come into the page, too
      unfollow();
      unfollow = followTheme(root);
    });
    size.observe(root);
    server().request<Hello>("hello").then((known) => {
      hello.value = known;
      arrive({ ...NOWHERE, ...told.place });
    }, fail);
    return () => {
      size.disconnect();
      unfollow();
      render(null, root);
      box.remove();
    };
  },
};
