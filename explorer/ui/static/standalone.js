// A page without a kernel: what the graph's script asks is answered from what the page holds (ui/standalone.py).

import { button } from "./dom.js";
import { leading, matches, own, unfolded } from "./pure.js";
import { mount } from "./view.js";

const data = JSON.parse(document.getElementById("data").textContent);
const folded = new Set(data.folded), ids = data.timeline.ids || [];
let at = data.first, changed = false, filtered = true, text = "", chosen = [];

// What is in view: the table as of a snapshot, or what that snapshot changed.
const shown = () => (changed && data.changes[at]) || data.pictures[at];

// What the inspector shows of a node; of one that nothing more is known of, what its card says.
function detailsOf(id) {
  const { picture, details = {} } = shown(), known = data.known[details[id]];
  if (known) return { ...known, sections: known.sections.map((i) => data.sections[i]) };
  const item = picture.nodes.find((n) => n.id === id);
  if (!item) return changed ? shown().told : null;
  const about = [["", item.title || item.label, ""], ...item.lines.map((line) => ["", line, ""])];
  const { title } = data.vocabulary.kinds[item.kind];
  return { title: item.label, kind: title, problems: [], sections: [{ title: "in the graph", fields: about }] };
}

// Nodes of a picture that have the text.
function found(picture) {
  return picture.nodes.filter((n) => matches(n, text.toLowerCase()));
}

// What must be open for them to be seen. What has the text as its parent has it (a file's parts) stays folded.
function above(picture) {
  const parents = leading(picture, data.vocabulary.edges), open = new Set(), all = found(picture);
  const ids = new Set(all.map((n) => n.id));
  for (const item of all.filter((n) => !ids.has(parents.get(n.id)))) {
    for (let id = parents.get(item.id); id && !open.has(id); id = parents.get(id)) open.add(id);
  }
  return open;
}

function message() {
  if (!text || found(shown().picture).length) return "";
  const there = (id) => found(data.pictures[id].picture).length > 0;
  const others = ids.flatMap((id, i) => (there(id) ? [`snapshot-${data.timeline.before + i + 1}`] : []));
  return `nothing here has ${text}${others.length ? `; it is in ${others.slice(0, 12).join(", ")}` : ""}`;
}

function show() {
  const { picture } = shown(), open = above(picture);
  const closed = new Set([...folded].filter((id) => !open.has(id)));
  const out = (n) => !filtered && n.status === "filtered";
  const seen = changed ? picture : unfolded(picture, data.vocabulary.edges, closed, out);
  const selected = chosen.filter((id) => seen.nodes.some((n) => n.id === id));
  app.show({
    picture: { ...seen, snapshot: at }, selected, details: detailsOf(selected.at(-1)), message: message(),
    offers: changed ? ["search"] : ["search", "filtered"], asked: { search: text, filtered },
    caption: data.pictures[at].caption,
  });
}

function toggle(id) {
  if (!folded.delete(id)) folded.add(id);
}

const answers = {
  select: (request) => {
    chosen = request.ids;
    app.inspect(detailsOf(chosen.at(-1)));
  },
  toggle: (request) => toggle(request.id),
  focus: (request) => {
    const { title } = shown().picture.nodes.find((n) => n.id === request.id);
    if (own(data.pictures, title)) at = title;  // a snapshot's title is its id
    else toggle(request.id);
  },
  snapshot: (request) => (at = request.id),
  search: (request) => (text = request.text.trim()),
  filtered: (request) => (filtered = request.value),
};

function send(request) {
  answers[request.type]?.(request);
  if (request.type !== "select") show();
}

const compare = button("changes", "What this snapshot changed, or the whole table as of it", () => {
  changed = !changed;
  chosen = [];
  compare.classList.toggle("ix-on", changed);
  compare.setAttribute("aria-pressed", String(changed));
  show();
});
const more = Object.keys(data.changes).length ? [compare] : [];
const app = mount(document.getElementById("graph"), data.vocabulary, send, { more });
app.setTimeline(data.timeline);
show();
document.querySelector(".ix-root").focus();  // keys work at once
