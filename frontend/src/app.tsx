// The whole page: header, rail, facts, timeline, the mode's graph and answer, the drawer of lists.

import { useEffect, useState } from "preact/hooks";
import { Asked, IncompleteNote } from "./answer";
import { atPlace, idOf, tabsOf } from "./asked";
import { CatalogPanel, openTable, Welcome } from "./catalog";
import { pathText } from "./completion";
import { Editor } from "./editor";
import { exampleFilter, QuestionForm, useOffer, type Arguments } from "./form";
import { canvas, GraphView, InspectorView, select, stepTimeline, TimelineView } from "./graph-view";
import type { RowsChoice } from "./grid";
import { Icon } from "./icons";
import { IconButton, Dialog, Field, Message, Tabs, Working } from "./parts";
import { parseArguments } from "./place";
import { LabView } from "./lab";
import { LayoutsView } from "./layouts";
import { MaintenanceView, UndoView } from "./maintenance";
import { LISTS, MODES, type Mode, type Tab } from "./modes";
import { Previews } from "./preview";
import type { Question } from "./protocol";
import {
  draw, go, graph, graphMode, header, hello, isCatalogOpen, isHelpOpen, isInspectorOpen, isOpening, isPaletteOpen, link, place,
  problem, question, surroundings,
} from "./store";
import { RowsView } from "./rows";
import { fillScreen, isTyped } from "./screen";
import { counted, partsOf, titleOf } from "./words";

// Modes that fill the page, and tabs with a view of their own.
const WHOLE: Record<string, () => preact.ComponentChildren> = { ask: QuestionsView, lab: LabView, rows: RowsView };
const TAB_VIEWS = { maintenance: MaintenanceView, undo: UndoView, layouts: LayoutsView };

export function App() {
  const told = hello.value;
  useEffect(() => listen(surroundings.keys), []);
  useEffect(() => {
    if (surroundings.isPage) document.title = header.value ? `${header.value.title} – Iceberg metadata explorer` : "Iceberg metadata explorer";
  }, [header.value?.title]);
  if (!told) return <div class="app starting"><Working text="Connecting…" /></div>;
  const isTableOpen = Boolean(place.value.table) && (header.value !== null || isOpening.value);
  return (
    <div class="app">
      <HeaderBar />
      {link.value === "lost" && <div class="banner" role="status">The connection to the server was lost. What is shown stays; the page connects again.</div>}
      <div class="body">
        <Rail />
        {isCatalogOpen.value && <CatalogPanel />}
        {isTableOpen ? <TableView /> : needsNoTable() ? <main class="table"><WholeView /></main> : <Welcome />}
      </div>
      {isPaletteOpen.value && <Palette />}
      {isHelpOpen.value && <Help />}
      <Previews />
    </div>
  );
}

function needsNoTable(): boolean {
  return !place.value.table && Boolean(MODES.find(({ id }) => id === place.value.mode)?.needsNoTable);
}

function WholeView() {
  const View = WHOLE[place.value.mode];
  return View ? <View /> : null;
}

// ---- header -------------------------------------------------------------------------------------------------------
function HeaderBar() {
  const told = header.value, { snapshot, before, mode } = place.value;
  const names = told ? [...told.refs.map(({ name }) => name), ...told.snapshots.map(({ name }) => name)] : [];
  const shown = told && (nameOf(snapshot || told.current) || snapshot);
  const parts = told ? partsOf(told.title) : [];
  return (
    <header class="header">
      <a class="brand" href="?" onClick={(event) => {
        event.preventDefault();
        go({ table: "" });
        header.value = null;
      }} aria-label="Iceberg metadata explorer: start">◆</a>
      <button type="button" class="crumb" aria-expanded={isCatalogOpen.value} onClick={() => (isCatalogOpen.value = !isCatalogOpen.value)}>
        {told ? parts.map((part, at) => <span key={at}>{at > 0 && <i> / </i>}{at === parts.length - 1 ? <b>{part}</b> : part}</span>) : "Tables"}
        <span aria-hidden="true"> ▾</span>
      </button>
      {told && (
        <>
          <VersionField label="Snapshot" value={shown ?? ""} names={names} enter={(name) => goToVersion(name)} />
          {mode === "compare" && (
            <VersionField label="Compare with" value={before ? nameOf(before) || before : ""} hint="its parent" names={["none", ...names]}
              enter={(name) => go({ before: idOf(name) })} />
          )}
        </>
      )}
      <span class="gap" />
      <button type="button" class="search-button" onClick={() => (isPaletteOpen.value = true)}><span>Go to…</span><kbd>Ctrl K</kbd></button>
      {told && told.problems.length > 0 && (
        <button type="button" class="warn-button" onClick={() => go({ mode: "findings", tab: "" })} title={told.problems.join("\n")}>
          ⚠ {told.problems.length}
        </button>
      )}
      {surroundings.isPage && <IconButton icon="moon" name="Light or dark" press={toggleTheme} />}
      <IconButton icon="help" name="Keys and help (?)" press={() => (isHelpOpen.value = true)} />
    </header>
  );
}

function VersionField({ label, value, names, enter, hint = "" }: {
  label: string; value: string; names: readonly string[]; enter: (name: string) => void; hint?: string;
}) {
  return <div class="version"><Field label={label} value={value} options={names} enter={enter} hint={hint} width="13rem" /></div>;
}

function nameOf(id: string): string {
  return header.value?.snapshots.find((one) => one.id === id)?.name ?? "";
}

function goToVersion(name: string): void {
  const id = idOf(name), told = header.value;
  go({ snapshot: id === told?.current ? "" : id });
}

function toggleTheme(): void {
  const root = document.documentElement, isDark = getComputedStyle(root).colorScheme === "dark";
  root.dataset["theme"] = isDark ? "light" : "dark";
  try {
    localStorage.setItem("icedive-theme", root.dataset["theme"]);
  } catch {
    // a page that may not keep anything follows the system again
  }
}

// ---- rail ---------------------------------------------------------------------------------------------------------
function Rail() {
  const { mode, table } = place.value;
  return (
    <nav class="rail" aria-label="Modes">
      <ul>
        {MODES.map((one) => (
          <li key={one.id}>
            <button type="button" class="rail-button" aria-current={one.id === mode ? "page" : undefined} title={one.hint}
              disabled={!table && !one.needsNoTable} onClick={() => go({ mode: one.id, tab: "", question: "", arguments: "" })}>
              <Icon name={one.icon} />
              <span>{one.title}</span>
            </button>
          </li>
        ))}
      </ul>
    </nav>
  );
}

// ---- a table ------------------------------------------------------------------------------------------------------
function TableView() {
  const mode = MODES.find((one) => one.id === place.value.mode) ?? MODES[0];
  const told = header.value;
  if (!mode) return null;
  return (
    <main class="table">
      {told ? <Facts /> : <Working text="Opening…" />}
      {problem.value && <Message level="warning">{problem.value}</Message>}
      <IncompleteNote />
      {mode.isWhole ? <WholeView /> : told && <ModeView mode={mode} />}
      {told && !mode.isWhole && !mode.tabs.some(({ id, view }) => view && id === place.value.tab) && <Drawer />}
    </main>
  );
}

function Facts() {
  const told = header.value;
  const [isOpen, setOpen] = useState(false);
  if (!told) return null;
  const caption = graph.value?.caption;
  return (
    <>
      <div class="facts">
        <ul class="plain tiles">
          {told.tiles.map(([what, value, more]) => <li key={what} title={more}><b>{value}</b> {counted(what, value)}</li>)}
          <li>v{told.format_version}</li>
        </ul>
        {told.teaches && <details class="teaches"><summary><Icon name="help" />What it shows</summary><span>{told.teaches}</span></details>}
        <button type="button" class="quiet" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>Details</button>
      </div>
      {isOpen && <dl class="details-list">{told.facts.map(([name, value]) => <div key={name}><dt>{name}</dt><dd>{value}</dd></div>)}
        <div><dt>opened</dt><dd>{told.why}</dd></div></dl>}
      {graphMode.value && !["lab", "conflict"].includes(graphMode.value) && graph.value &&
        <div class="timeline-row"><TimelineView />{caption && <p class="caption" title={caption}>{caption}</p>}</div>}
    </>
  );
}

function ModeView({ mode }: { mode: Mode }) {
  const at = place.value, here = atPlace(), { tabs, tab } = tabsOf(mode);
  const form = tab && question(tab.question), View = tab?.view && TAB_VIEWS[tab.view];
  const lacks = mode.needs === "filter" && !at.filter;
  const asked: Question | null = tab && form && !lacks
    ? { question: tab.question, table: at.table, arguments: tab.arguments(here) } : null;
  const hasGraph = Boolean(graphMode.value) && !lacks && (at.tab === "" || mode.tabs.length === 0);
  return (
    <div class="mode">
      {mode.needs === "filter" && <FilterBar />}
      {lacks && <FilterExamples />}
      {asked && tabs.length > 1 && (
        <Tabs label={mode.title} names={tabs} active={tab?.id ?? ""} choose={(id) => go(isOwn(tab, tabs.find((one) => one.id === id)) ? { tab: id, arguments: "", list: "" } : { tab: id })} controls="mode-answer" />
      )}
      {asked && View && <section id="mode-answer" class="mode-answer alone" aria-label={mode.title}><View /></section>}
      {asked && form && !View && (
        <section id="mode-answer" class={hasGraph ? "mode-answer" : "mode-answer alone"} aria-label={mode.title}>
          {tab?.above && <Asked question={{ ...asked, arguments: tab.above(here) }} form={form} open={showInGraph} />}
          <Asked question={asked} form={form} open={showInGraph} besideGraph={hasGraph} {...(selectedKey() ? { selected: selectedKey() } : {})} />
        </section>
      )}
      {hasGraph && (
        <div class="mode-graph">
          <GraphView mode={graphMode.value} />
          {isInspectorOpen.value && <InspectorView />}
        </div>
      )}
    </div>
  );
}

// Whether one of some tabs has arguments of its own.
function isOwn(...tabs: readonly (Tab | undefined)[]): boolean {
  return tabs.some((one) => one?.view);
}

// The path or id of the selected node, as lists have it.
function selectedKey(): string {
  const fields = graph.value?.details?.sections.flatMap((one) => one.fields ?? []) ?? [];
  const found = fields.find(([name]) => name === "path" || name === "file_path" || name === "manifest_path" || name === "snapshot-id");
  return found ? String(found[1]) : "";
}

function showInGraph(kind: string, key: string): void {
  if (kind === "snapshot") {
    goToVersion(key);
    return;
  }
  isInspectorOpen.value = true;
  void showHere(kind, key);
}

// Show it in the graph of the mode, or else in the tree.
async function showHere(kind: string, key: string): Promise<void> {
  if (canvas && graph.value && graphMode.value !== "table") {
    await draw({ type: "show", kind, key });
    if (graph.value.selected.length) return;
  }
  if (graphMode.value !== "table") go({ mode: "", tab: "" });
  await draw({ type: "show", kind, key });
}

function FilterBar() {
  const { filter } = place.value, columns = useOffer("columns");
  return (
    <div class="filter-bar">
      <Editor kind="filter" label="Filter" value={filter} hint={exampleFilter()} width="44rem" columns={columns} enter={(text) => go({ filter: text })} />
      <span class="muted">From metadata alone. Enter plans, Shift+Enter is a new line, ↑ is what you entered before.</span>
    </div>
  );
}

function FilterExamples() {
  const columns = header.value?.columns.slice(0, 4) ?? [];
  return (
    <div class="empty">
      <p>Enter a filter to see which manifests and files a scan reads, and the comparison that decides.</p>
      <p>Examples:</p>
      <ul>
        {columns.map((name) => {
          const filter = `${pathText(name)} IS NOT NULL`;
          return <li key={name}><button type="button" class="quiet" onClick={() => go({ filter })}>{filter}</button></li>;
        })}
      </ul>
    </div>
  );
}

// The filter and the order of the rows of a list, as the URL has them.
function rowsChoice(): RowsChoice {
  const { match, sort } = place.value;
  return { match, sort, keep: go };
}

// ---- lists --------------------------------------------------------------------------------------------------------
function Drawer() {
  const { list, table, snapshot, filter, arguments: text } = place.value, one = LISTS.find((each) => each.question === list);
  const form = one && question(one.question);
  const snapshots = form?.parameters.some(({ name }) => name === "snapshot") && snapshot ? { snapshot } : {};
  const given: Arguments = { ...snapshots, ...parseArguments(text) };
  const needs = form?.parameters.filter(({ required }) => required) ?? [];
  const isReady = needs.every(({ name }) => name in given);
  return (
    <section class={one ? "drawer open" : "drawer"} aria-label="Lists">
      <div class="drawer-head">
        <Tabs label="Lists" names={LISTS.map(({ question: id, title }) => ({ id, title }))} active={list}
          choose={(id) => go({ list: id === list ? "" : id, arguments: "" })} />
        {one && <IconButton icon="down" name="Close the list" press={() => go({ list: "", arguments: "" })} />}
      </div>
      {one && form && (
        <div class="drawer-body">
          {needs.length > 0 && <QuestionForm form={form} given={{ ...(filter ? { where: filter } : {}), ...given }} hidden={["engine"]} ask={(next) => go({ arguments: JSON.stringify(next) })} />}
          {isReady ? <Asked question={{ question: one.question, table, arguments: given }} form={form} open={showInGraph} rows={rowsChoice()}
            {...(selectedKey() ? { selected: selectedKey() } : {})} /> : <p class="empty">{form.summary}</p>}
        </div>
      )}
    </section>
  );
}

// ---- every question -----------------------------------------------------------------------------------------------
function QuestionsView() {
  const told = hello.value, at = place.value, form = at.question ? question(at.question) : undefined;
  const [sent, setSent] = useState("");
  if (!told) return null;
  // What writes is carried out when a person sends it here: a link, a reload and a tab that is there again do not.
  const given = parseArguments(at.arguments), keyOf = (text: string): string => JSON.stringify([at.table, at.question, text]);
  const isAsked = form?.writes ? sent === keyOf(at.arguments) : true;
  const about = form?.subject === "table" || form?.subject === "place" ? { table: at.table } : {};
  const lacks = (form?.subject === "table" || form?.subject === "place") && !at.table;
  const needs = form?.parameters.some(({ required, name }) => required && !(name in given));
  return (
    <div class="questions">
      <nav class="question-list" aria-label="Questions">
        {told.groups.map((group) => {
          const mine = told.questions.filter((one) => one.group === group.name);
          if (mine.length === 0) return null;
          return (
            <div key={group.name}>
              <h3 title={group.title}>{group.name ? titleOf(group.name) : "Everyday"}</h3>
              <ul class="plain">
                {mine.map((one) => (
                  <li key={one.name}>
                    <button type="button" class="tree-button" aria-current={one.name === at.question ? "true" : undefined} title={one.summary}
                      onClick={() => go({ mode: "ask", question: one.name, arguments: "" })}>{titleOf(one.name)}</button>
                  </li>
                ))}
              </ul>
            </div>
          );
        })}
      </nav>
      <div class="question-view">
        {!form && <Contents />}
        {form && (
          <>
            <h2>{form.summary}</h2>
            {form.description && <p class="muted">{form.description}</p>}
            {lacks ? <Message level="warning">This question is about a table: open one first.</Message> : (
              <>
                <QuestionForm key={form.name} form={form} given={given} ask={(next) => {
                  setSent(keyOf(JSON.stringify(next)));
                  go({ arguments: JSON.stringify(next) });
                }} />
                {isAsked && !needs && (
                  <Asked question={{ question: form.name, ...about, arguments: given }} form={form} open={showInGraph} rows={rowsChoice()} />
                )}
              </>
            )}
          </>
        )}
      </div>
    </div>
  );
}

/** Every question with the sentence that says what it answers. */
function Contents() {
  const told = hello.value;
  return (
    <div class="contents">
      {told?.groups.map((group) => {
        const mine = told.questions.filter((one) => one.group === group.name);
        return mine.length > 0 && (
          <section key={group.name} aria-label={group.name || "Everyday"}>
            <h3>{group.title}</h3>
            <ul class="plain">
              {mine.map((one) => (
                <li key={one.name}>
                  <button type="button" class="tree-button" onClick={() => go({ mode: "ask", question: one.name, arguments: "" })}>{one.summary}</button>
                </li>
              ))}
            </ul>
          </section>
        );
      })}
    </div>
  );
}

// ---- go to --------------------------------------------------------------------------------------------------------
interface Target {
  kind: string;
  name: string;
  act: () => void;
}

function Palette() {
  const [text, setText] = useState(""), [at, setAt] = useState(0);
  const close = () => (isPaletteOpen.value = false);
  const targets = targetsOf().filter(({ name, kind }) => `${kind} ${name}`.toLowerCase().includes(text.toLowerCase())).slice(0, 60);
  const run = (one: Target | undefined) => {
    if (!one) return;
    close();
    one.act();
  };
  return (
    <Dialog title="Go to" close={close}>
      <input type="text" list={undefined} class="palette-input" aria-label="Go to" placeholder="A table, snapshot, mode or question" value={text} autofocus role="combobox"
        aria-expanded="true" aria-controls="palette-list" aria-activedescendant={targets[at] ? `target-${at}` : undefined}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setAt(0);
        }}
        onKeyDown={(event) => {
          if (event.key === "ArrowDown") setAt(Math.min(targets.length - 1, at + 1));
          else if (event.key === "ArrowUp") setAt(Math.max(0, at - 1));
          else if (event.key === "Enter") run(targets[at]);
          else return;
          event.preventDefault();
        }} />
      <ul class="plain palette" role="listbox" id="palette-list" aria-label="Where to">
        {targets.map((one, i) => (
          <li key={`${one.kind} ${one.name}`} id={`target-${i}`} role="option" aria-selected={i === at} onClick={() => run(one)}>
            <span class="muted">{one.kind}</span> {one.name}
          </li>
        ))}
        {targets.length === 0 && <li class="muted">Nothing has this name.</li>}
      </ul>
    </Dialog>
  );
}

function targetsOf(): Target[] {
  const told = header.value, known = hello.value;
  const modes = MODES.filter((one) => place.value.table || one.needsNoTable).map((one) =>
    ({ kind: "mode", name: one.title, act: () => go({ mode: one.id, tab: "", question: "", arguments: "" }) }));
  const snapshots = told?.snapshots.slice(0, 200).map((one) => ({ kind: "snapshot", name: one.name, act: () => goToVersion(one.name) })) ?? [];
  const refs = told?.refs.map((one) => ({ kind: one.type, name: one.name, act: () => goToVersion(one.name) })) ?? [];
  const questions = known?.questions.map((one) => ({ kind: "question", name: `${titleOf(one.name)}: ${one.summary}`,
    act: () => go({ mode: "ask", question: one.name, arguments: "" }) })) ?? [];
  const tables = known?.teaching.map((one) => ({ kind: "table", name: one.table, act: () => openTable(one.table) })) ?? [];
  return [...modes, ...refs, ...snapshots, ...questions, ...tables];
}

// ---- keys ---------------------------------------------------------------------------------------------------------
const KEYS: readonly [string, string][] = [
  ["Ctrl K", "Go to a table, snapshot, mode or question"], ["?", "This help"], ["f", "Fit the graph: its width, then all of it"], ["+ −", "Zoom"],
  ["← → ↑ ↓", "Move in the graph"], ["Enter, Space", "Unfold or fold the selected node"], ["[ ] Page Up Down", "Previous and next snapshot"], ["p", "Present: fill the screen"],
  ["Space on a link", "What it leads to, in a few words"], ["Shift, Ctrl + click", "Select rows of a list, to copy them"], ["s in a list", "Sort it by the column of the active cell"], ["Escape", "Close, or select nothing"],
];

function Help() {
  return (
    <Dialog title="Keys and help" close={() => (isHelpOpen.value = false)}>
      <h2>Keys</h2>
      <dl class="keys">{KEYS.map(([key, what]) => <div key={key}><dt><kbd>{key}</kbd></dt><dd>{what}</dd></div>)}</dl>
      <button type="button" onClick={() => (isHelpOpen.value = false)}>Close</button>
    </Dialog>
  );
}

function listen(keys: EventTarget): () => void {
  const press = (given: Event) => {
    const event = given as KeyboardEvent;
    const target = event.target instanceof Element ? event.target : null;
    if ((event.ctrlKey || event.metaKey) && event.key === "k") {
      isPaletteOpen.value = true;
      event.preventDefault();
      return;
    }
    const closes = event.key === "Escape" && Boolean(target?.closest("[role=grid]"));
    if (event.ctrlKey || event.metaKey || event.altKey || (isTyped(event) && !closes)) return;
    const acts: Record<string, () => void> = {
      "?": () => (isHelpOpen.value = true),
      p: () => fillScreen(surroundings.frame),
      f: () => canvas?.fitNext(),
      "+": () => canvas?.zoom(1.25),
      "-": () => canvas?.zoom(1 / 1.25),
      "[": () => stepTimeline(-1),
      PageUp: () => stepTimeline(-1),
      PageDown: () => stepTimeline(1),
      "]": () => stepTimeline(1),
      Escape: () => {
        isInspectorOpen.value = false;
        canvas?.select([]);
        select([]);
      },
    };
    if (!target?.closest("button,a,summary,[role=tab]") || event.key === "Escape") {
      for (const key of ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"]) acts[key] = () => canvas?.walk(key);
    }
    const act = Object.hasOwn(acts, event.key) ? acts[event.key] : undefined;
    if (!act) return;
    act();
    event.preventDefault();
  };
  keys.addEventListener("keydown", press);
  return () => keys.removeEventListener("keydown", press);
}
