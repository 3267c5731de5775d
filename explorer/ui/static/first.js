// What a page shows until its own view is there (ui/first.py): where it is, and the overview, the graph or the page to
// begin with. Tabs are links; what is asked of the graph meanwhile its successor carries out (view.js).

import { html } from "./dom.js";
import { mount } from "./view.js";

const LATE_MS = 30000;
const data = JSON.parse(document.getElementById("data").textContent), first = document.getElementById("first");

function link(text, change, here = false) {
  const search = new URLSearchParams(location.search), node = html("a", here ? "fx-here" : "", text);
  for (const [name, value] of Object.entries(change)) search.set(name, value);
  node.href = `?${search}`;
  return node;
}

// Each with its texts as children of a class each.
function boxes(className, all, names) {
  return all.map((texts) => {
    const box = html("div", className);
    box.append(...texts.map((text, i) => html("div", names[i], text)));
    return box;
  });
}

const bar = html("div", "fx-bar"), body = html("div", "fx-body"), main = html("div", "fx-main");
const starting = html("span", "fx-starting", "Starting…");
starting.setAttribute("role", "status");
bar.append(html("span", "fx-title", "Iceberg metadata explorer"), html("span", "fx-where", data.where || ""), starting);
for (const row of data.rooms.filter((each) => each.length)) {
  const tabs = html("nav", "fx-tabs");
  tabs.append(...row.map(({ title, view, here }) => link(title, { view }, here)));
  main.append(tabs);
}
main.append(body);
first.append(bar, html("div", "fx-side"), main);
if (data.graph) {
  body.classList.add("fx-graph");
  const app = mount(body, data.vocabulary, (request) => (window.ixAsked = request));
  app.setTimeline(data.timeline);
  app.show(data.graph);
} else if (data.tiles) {
  const tiles = html("div", "fx-tiles"), facts = html("div", "fx-facts");
  tiles.append(...boxes("fx-tile", data.tiles, ["fx-small", "fx-number", "fx-small"]));
  facts.append(...boxes("fx-fact", data.facts, ["fx-soft", ""]));
  body.append(tiles, html("p", "fx-heading", "What it is"), facts);
} else if (data.welcome) {
  body.append(...data.welcome.map((sentence) => html("p", "", sentence)));
  const list = html("dl");
  for (const [table, teaches] of data.tables) {
    const term = html("dt");
    term.append(link(table, { table }));
    list.append(term, html("dd", "", teaches));
  }
  body.append(list);
} else {
  first.classList.add("fx-bare");
}
setTimeout(() => {
  starting.textContent = "This page has not started. Is its server still there? Reload to try again.";
}, LATE_MS);
