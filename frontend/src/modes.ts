// The modes of the page: each is a way to look at a table, with a graph, an answer, or both.

import type { IconName } from "./icons";
import type { Place } from "./place";

// One of the answers of a mode: a question, with its arguments at a place.
export interface Tab {
  id: string;
  title: string;
  question: string;
  arguments(at: At): Record<string, unknown>;
  // Other arguments with which the question is asked first, and shown above.
  above?(at: At): Record<string, unknown>;
  // A view of its own, which asks by itself.
  view?: "maintenance" | "undo" | "layouts";
  // Whether it is only for those who may write.
  writes?: boolean;
}

export interface Mode {
  id: string;
  title: string;
  icon: IconName;
  hint: string;
  tabs: readonly Tab[];
  // What must be entered before anything is asked.
  needs: "" | "filter";
  // Whether it fills the page: without lists.
  isWhole?: boolean;
  // Whether it makes sense without a table.
  needsNoTable?: boolean;
}

// A place, with the current snapshot and the parent of the snapshot in view.
export interface At {
  place: Place;
  current: string;
  parent: string;
}

const snapshot = ({ place }: At): Record<string, unknown> => (place.snapshot ? { snapshot: place.snapshot } : {});
const where = (at: At): Record<string, unknown> => ({ where: at.place.filter, ...snapshot(at) });
const pair = ({ place, current, parent }: At): Record<string, unknown> =>
  ({ before: place.before || parent, after: place.snapshot || current });

export const MODES: readonly Mode[] = [
  { id: "", title: "Graph", icon: "graph", hint: "The tree of metadata, manifests and files", tabs: [], needs: "" },
  {
    id: "plan", title: "Plan", icon: "plan", hint: "What a filter reads and skips, and why", needs: "filter",
    tabs: [
      { id: "", title: "Summary", question: "plan", arguments: where },
      { id: "why", title: "Why", question: "plan", above: (at) => ({ ...where(at), stage: "manifests" }), arguments: (at) => ({ ...where(at), stage: "files" }) },
      { id: "where", title: "Where", question: "inspect map", arguments: where },
      { id: "cost", title: "Cost", question: "plan", arguments: (at) => ({ ...where(at), stage: "tasks" }) },
      { id: "help", title: "What would help", question: "scan estimate", arguments: (at) => ({ ...where(at), where: [at.place.filter] }) },
      { id: "layouts", title: "Layouts", question: "scan estimate", arguments: where, view: "layouts", writes: true },
    ],
  },
  {
    id: "compare", title: "Compare", icon: "compare", hint: "What changed between two snapshots", needs: "",
    tabs: [
      { id: "", title: "Files", question: "diff", arguments: pair },
      { id: "rows", title: "Rows", question: "data diff", arguments: pair },
      { id: "commits", title: "Commits", question: "history commits", arguments: () => ({}) },
      { id: "manifests", title: "Manifests", question: "history lifecycle", arguments: () => ({}) },
    ],
  },
  {
    id: "deletes", title: "Deletes", icon: "deletes", hint: "Which delete hides rows of which file", needs: "",
    tabs: [
      { id: "", title: "Pairs", question: "inspect deletes", arguments: snapshot },
      { id: "layers", title: "Layers", question: "inspect deletes", arguments: (at) => ({ ...snapshot(at), show: "layers" }) },
      { id: "count", title: "Visible rows", question: "count", arguments: snapshot },
    ],
  },
  {
    id: "findings", title: "Findings", icon: "findings", hint: "What the doctor finds", needs: "",
    tabs: [{ id: "", title: "Findings", question: "doctor", arguments: snapshot }],
  },
  {
    id: "health", title: "Health", icon: "health", hint: "Measures of the table, and what to do", needs: "",
    tabs: [
      { id: "", title: "Measures", question: "health", arguments: snapshot },
      { id: "storage", title: "Storage", question: "storage", arguments: () => ({}) },
      { id: "columns", title: "Column statistics", question: "inspect columns", arguments: snapshot },
      { id: "clustering", title: "Clustering", question: "inspect columns", arguments: (at) => ({ ...snapshot(at), show: "clustering" }) },
      { id: "map", title: "Map of files", question: "inspect map", arguments: snapshot },
      { id: "maintenance", title: "Maintenance", question: "maintain preview", arguments: snapshot, view: "maintenance" },
      { id: "undo", title: "Branches and undo", question: "refs preview", arguments: snapshot, view: "undo" },
    ],
  },
  { id: "rows", title: "Rows", icon: "rows", hint: "Rows of any version, and SQL, through Spark", tabs: [], needs: "", isWhole: true },
  { id: "lab", title: "Lab", icon: "lab", hint: "Conflicting commits, step by step", tabs: [], needs: "", isWhole: true, needsNoTable: true },
  {
    id: "ask", title: "All questions", icon: "ask", hint: "Every question that the product answers", tabs: [], needs: "", isWhole: true,
    needsNoTable: true,
  },
];

export interface List {
  question: string;
  title: string;
}

// The lists of the drawer.
export const LISTS: readonly List[] = [
  { question: "inspect snapshots", title: "Snapshots" },
  { question: "inspect manifests", title: "Manifests" },
  { question: "inspect files", title: "Files" },
  { question: "inspect entries", title: "Entries" },
  { question: "inspect partitions", title: "Partitions" },
  { question: "data history", title: "Why is a row gone?" },
  { question: "inspect columns", title: "Columns" },
];
