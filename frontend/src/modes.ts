// The modes of the page: each is a way to look at a table, with a graph, an answer, or both.

import type { IconName } from "./icons";
import type { Place } from "./place";

export interface Mode {
  id: string;
  title: string;
  icon: IconName;
  hint: string;
  question: string;
  // The arguments of the question at a place; null where something must be entered first.
  arguments(place: Place, current: string, parent: string): Record<string, unknown> | null;
  needs: readonly ("filter" | "before")[];
}

const at = (place: Place): Record<string, unknown> => (place.snapshot ? { snapshot: place.snapshot } : {});

export const MODES: readonly Mode[] = [
  { id: "", title: "Graph", icon: "graph", hint: "The tree of metadata, manifests and files", question: "", arguments: () => null, needs: [] },
  {
    id: "plan", title: "Plan", icon: "plan", hint: "What a filter reads and skips, and why", question: "plan", needs: ["filter"],
    arguments: (place) => (place.filter ? { where: place.filter, ...at(place) } : null),
  },
  {
    id: "compare", title: "Compare", icon: "compare", hint: "What changed between two snapshots", question: "diff", needs: ["before"],
    arguments: (place, current, parent) => ({ before: place.before || parent, after: place.snapshot || current }),
  },
  {
    id: "deletes", title: "Deletes", icon: "deletes", hint: "Which delete hides rows of which file", question: "inspect deletes", needs: [],
    arguments: at,
  },
  {
    id: "findings", title: "Findings", icon: "findings", hint: "What the doctor finds", question: "doctor", needs: [],
    arguments: at,
  },
  {
    id: "health", title: "Health", icon: "health", hint: "Measures of the table, and what to do", question: "health", needs: [],
    arguments: at,
  },
  { id: "ask", title: "All questions", icon: "ask", hint: "Every question that the product answers", question: "", arguments: () => null, needs: [] },
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
