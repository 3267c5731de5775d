// Where a page is: everything that a link to it has. It is in the URL, so Back, Forward and copied links work.

export interface Place {
  table: string;
  mode: string;
  tab: string;
  snapshot: string;
  before: string;
  filter: string;
  list: string;
  question: string;
  arguments: string;
  node: string;
  // Whether the graph has metadata files and manifest lists: all, few, or as is usual for the table.
  levels: string;
  // The filter and the order of the rows of a list: "name" or, descending, "-name".
  match: string;
  sort: string;
  // What is searched for in the graph when the table opens.
  find: string;
}

export const NOWHERE: Place = {
  table: "", mode: "", tab: "", snapshot: "", before: "", filter: "", list: "", question: "", arguments: "", node: "", levels: "", match: "", sort: "", find: "",
};
const NAMES = Object.keys(NOWHERE) as (keyof Place)[];
// Views of the dashboard before this page, and where they are now.
const OLD_VIEWS: Record<string, Partial<Place>> = {
  overview: {}, graph: {}, plan: { mode: "plan" }, diff: { mode: "compare" }, deletes: { mode: "deletes" },
  problems: { mode: "findings" }, doctor: { mode: "findings" }, health: { mode: "health" },
  files: { list: "inspect files" }, entries: { list: "inspect entries" }, manifests: { list: "inspect manifests" },
  snapshots: { list: "inspect snapshots" }, partitions: { list: "inspect partitions" },
  rows: { mode: "rows" }, sql: { mode: "rows", tab: "sql" }, fate: { mode: "ask", question: "data history" },
  lifecycle: { mode: "ask", question: "history lifecycle" }, commits: { mode: "ask", question: "history commits" },
  maintain: { mode: "health", tab: "maintenance" }, undo: { mode: "health", tab: "undo" }, lab: { mode: "lab" },
  statement: { mode: "lab", tab: "statement" }, conflict: { mode: "lab", tab: "conflict" }, race: { mode: "lab", tab: "race" },
  tables: { mode: "ask", question: "catalog health" }, history: { mode: "ask", question: "history lineage" },
  metadata: { mode: "ask", question: "inspect metadata" }, "row-diff": { mode: "compare", tab: "rows" },
};

// The place that a URL's query names; unknown parameters are left out, links to old views lead to what they became.
export function placeOf(query: string): Place {
  const given = new URLSearchParams(query), place = { ...NOWHERE };
  for (const name of NAMES) place[name] = given.get(name) ?? "";
  const view = given.get("view"), compare = given.get("compare");
  if (compare) place.before = compare;
  return view && Object.hasOwn(OLD_VIEWS, view) ? { ...place, ...OLD_VIEWS[view] } : place;
}

// The query of a URL that leads to a place.
export function queryOf(place: Place): string {
  const given = new URLSearchParams();
  for (const name of NAMES) if (place[name]) given.set(name, place[name]);
  const text = given.toString();
  return text ? `?${text}` : "";
}

// Whether going from one place to another is a step that Back undoes: what is selected, how rows are ordered and which
// levels are drawn is not.
export function isStep(from: Place, to: Place): boolean {
  return NAMES.some((name) => !["node", "levels", "match", "sort", "find"].includes(name) && from[name] !== to[name]);
}

// The arguments that a place has as text.
export function parseArguments(text: string): Record<string, unknown> {
  try {
    const given: unknown = JSON.parse(text || "{}");
    return typeof given === "object" && given !== null && !Array.isArray(given) ? (given as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
