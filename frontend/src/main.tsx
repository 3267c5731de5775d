// The page of `icedive serve`.

import "./style/tokens.css";
import "./style/app.css";
import { render } from "preact";
import { App } from "./app";
import { placeOf, queryOf } from "./place";
import { Connection, socketTo, type Hello } from "./protocol";
import { arrive, connectionIs, downloads, fail, hello, start } from "./store";

function wanted(): string {
  try {
    const kept = localStorage.getItem("icedive-theme");
    if (kept === "light" || kept === "dark") return kept;
  } catch {
    // follow the system
  }
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

document.documentElement.dataset["theme"] = wanted();
const root = document.getElementById("app");
if (root) {
  const url = new URL("ws", location.href);
  url.protocol = location.protocol === "https:" ? "wss:" : "ws:";
  url.search = url.hash = "";
  const connection = new Connection(socketTo(url), connectionIs);
  start(connection, (to, step) => history[step ? "pushState" : "replaceState"](null, "", queryOf(to) || location.pathname));
  downloads.value = new URL("download", location.href).pathname;
  addEventListener("popstate", () => arrive(placeOf(location.search)));
  root.replaceChildren();
  render(<App />, root);
  connection.request<Hello>("hello").then((told) => {
    hello.value = told;
    const here = placeOf(location.search);
    arrive(here.table || here.mode || !told.table ? here : { ...here, table: told.table });
  }, fail);
}
