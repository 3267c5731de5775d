// The question that is on screen, for those who take it elsewhere: a notebook's cell asks it again.

import { MODES, type At, type Mode, type Tab } from "./modes";
import { parseArguments } from "./place";
import type { Question } from "./protocol";
import { header, hello, place, question } from "./store";

// The id of a snapshot, branch or tag by the name that a page shows.
export function idOf(name: string): string {
  const told = header.value;
  return told?.snapshots.find((one) => one.name === name)?.id ?? told?.refs.find((one) => one.name === name)?.snapshot ?? name;
}

// Where the page is, as the tabs of a mode need it.
export function atPlace(): At {
  const told = header.value, at = place.value, snapshots = told?.snapshots ?? [], current = told?.current ?? "";
  const viewed = idOf(at.snapshot) || current;
  return { place: at, current, parent: snapshots[snapshots.findIndex((one) => one.id === viewed) + 1]?.id ?? "none" };
}

// The tabs of a mode that are offered here, and the one that is shown.
export function tabsOf(mode: Mode): { tabs: Tab[]; tab: Tab | undefined } {
  const tabs = mode.tabs.filter(({ writes }) => !writes || hello.value?.rights.lab);
  return { tabs, tab: tabs.find(({ id }) => id === place.value.tab) ?? tabs[0] };
}

// The question on screen; its name is empty where only a table is shown.
export function asked(): Question {
  const at = place.value, { table, snapshot } = at, given = parseArguments(at.arguments);
  const ofSnapshot = snapshot ? { snapshot } : {};
  if (at.mode === "ask") return { question: at.question, table, arguments: given };
  if (at.mode === "rows") return at.arguments ? { question: at.tab === "sql" ? "sql" : "rows", table, arguments: given } : { question: "", table, arguments: {} };
  const mode = MODES.find(({ id }) => id === at.mode), tab = mode && tabsOf(mode).tab;
  if (tab && !(mode.needs === "filter" && !at.filter)) return { question: tab.question, table, arguments: tab.arguments(atPlace()) };
  if (at.list) {
    const parameters = question(at.list)?.parameters ?? [], ofList = parameters.some(({ name }) => name === "snapshot") ? ofSnapshot : {};
    const isReady = parameters.every(({ required, name }) => !required || name in given);
    if (isReady) return { question: at.list, table, arguments: { ...ofList, ...given } };
  }
  return { question: snapshot ? "show" : "", table, arguments: ofSnapshot };
}
