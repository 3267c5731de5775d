// The graph, its timeline and its inspector (graph/), within the app.

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { GraphCanvas, Grip, Inspector, legend, Timeline, foundWords } from "./graph";
import type { GraphState } from "./protocol";
import type { Vocabulary } from "./graph";
import { draw, go, graph, graphFields, graphMode, graphProgress, hasAllLevels, header, hello, isFollowed, isInspectorOpen, look, open, place, server, stop, surroundings } from "./store";
import { IconButton, Working } from "./parts";

const TYPING_MS = 250, LOOK_MS = 1_000;

// The canvas that the page has now: keys and the palette use it.
export let canvas: GraphCanvas | null = null;

export function select(ids: string[]): void {
  const mode = currentMode();
  go({ node: ids.at(-1) ?? "" });
  server().request<GraphState>("graph", { ...graphFields(mode), action: { type: "select", ids } }, "select").then(
    (drawn) => {
      if (graph.value) graph.value = { ...graph.value, selected: drawn.selected, details: drawn.details };
    },
    () => {},
  );
}

// Each waits for those before it: no two of them are drawn as one, and none is given up for the next.
let folding = Promise.resolve();

// Unfold or fold a node. It is said which of both: the server may hear it twice, or have forgotten what was folded.
function toggle(id: string): Promise<void> {
  const node = graph.value?.picture.nodes.find((one) => one.id === id);
  return draw({ type: "toggle", id, open: node?.fold !== "open" });
}

let currentMode = (): string => "table";

export function GraphView({ mode }: { mode: string }) {
  currentMode = () => mode;
  const told = hello.value;
  return told ? <Mounted key={told.version} mode={mode} vocabulary={told.vocabulary} /> : null;
}

function Mounted({ mode, vocabulary }: { mode: string; vocabulary: Vocabulary }) {
  const box = useRef<HTMLDivElement>(null), drawn = useRef<GraphCanvas | null>(null);
  const typing = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const [percent, setPercent] = useState(100), [found, setFound] = useState(""), [isLegendOpen, setLegend] = useState(false);
  const [filteredChoice, setFilteredChoice] = useState<boolean | null>(null);
  const key = useRef<HTMLDivElement>(null), state = graph.value;

  useLayoutEffect(() => {
    const made = new GraphCanvas(vocabulary, {
      select: (ids) => {
        isInspectorOpen.value = ids.length > 0;
        select(ids);
      },
      toggle: (id, double) => {
        const kind = graph.value?.picture.nodes.find((one) => one.id === id)?.kind;
        const type = double && kind ? vocabulary.kinds[kind]?.double ?? "toggle" : "toggle";
        if (type === "focus") void draw({ type, id });
        else void (folding = folding.then(() => toggle(id)));
      },
      page: (id) => void draw({ type: "page", id }),
      hover: () => {},
      zoom: setPercent,
      wheel: () => surroundings.wheel(),
    });
    drawn.current = canvas = made;
    box.current?.replaceChildren(made.element);
    return () => {
      canvas = null;
      made.close();
    };
  }, [vocabulary]);

  useLayoutEffect(() => { // before what waits for the picture, such as a search, goes on
    const made = drawn.current;
    if (!made || !state) return;
    made.show(state.picture);
    made.select(state.selected);
    key.current?.replaceChildren(legend(vocabulary, state.picture));
  }, [state?.picture, state?.selected]);

  const find = (text: string) => {
    const tell = () => setFound(text ? foundWords(drawn.current?.find(text) ?? { count: 0, at: 0 }, graph.value?.asked.folded) : "");
    if (graph.value?.offers.includes("search")) void draw({ type: "search", text }).then(tell);
    tell();
  };
  const wanted = mode === "table" && state ? place.value.find : "";
  useEffect(() => {
    if (wanted) find(wanted);
    else setFound(""); // of another graph
  }, [wanted]);

  const isLooking = isFollowed.value && state?.offers.includes("follow") === true;
  useEffect(() => {
    if (!isLooking) return;
    const timer = setInterval(() => document.hidden || void look(), LOOK_MS);
    return () => clearInterval(timer);
  }, [isLooking]);

  const progress = graphProgress.value;
  return (
    <div class="stage">
      <div class="stage-graph" ref={box} />
      <div class="stage-tools" role="toolbar" aria-label="Graph">
        <input type="search" aria-label="Search the graph" placeholder="Search the graph" spellcheck={false}
          defaultValue={wanted} onInput={(event) => {
            const text = event.currentTarget.value;
            clearTimeout(typing.current);
            typing.current = setTimeout(() => find(text), TYPING_MS);
          }}
          onKeyDown={(event) => {
            if (event.key !== "Enter") return;
            const at = drawn.current?.findNext(event.shiftKey ? -1 : 1);
            if (at) setFound(foundWords(at, state?.asked.folded));
          }} />
        <span class="found" role="status">{found}</span>
        {state?.offers.includes("filtered") && (
          <label class="check" title="Also draw entries that are filtered out as of this snapshot, struck through">
            <input type="checkbox" checked={filteredChoice ?? state.asked.filtered ?? true} onChange={(event) => {
              const value = event.currentTarget.checked;
              setFilteredChoice(value); // the box shows it while the graph is drawn
              void draw({ type: "filtered", value }).finally(() => setFilteredChoice(null));
            }} />
            Filtered entries
          </label>
        )}
        {state?.asked.levels !== undefined && mode === "table" && (
          <label class="check" title="Draw metadata files and manifest lists as cards of their own">
            <input type="checkbox" checked={hasAllLevels.value} onChange={(event) => go({ levels: event.currentTarget.checked ? "all" : "few" })} />
            All levels
          </label>
        )}
        {state?.offers.includes("reload") && <button type="button" title="Read the table again, as its catalog or folder has it now"
          onClick={() => void open()}>Reload</button>}
        {state?.offers.includes("follow") && <button type="button" aria-pressed={isFollowed.value} title="Look for commits every second"
          onClick={() => (isFollowed.value = !isFollowed.value)}>Follow</button>}
        <IconButton icon="fit" name="Fit the graph (f)" press={() => drawn.current?.fitNext()} />
        <button type="button" class="icon-button" aria-label="Zoom out (-)" title="Zoom out (-)" onClick={() => drawn.current?.zoom(1 / 1.25)}>−</button>
        <span class="percent">{Math.round(percent)} %</span>
        <button type="button" class="icon-button" aria-label="Zoom in (+)" title="Zoom in (+)" onClick={() => drawn.current?.zoom(1.25)}>+</button>
        <button type="button" aria-expanded={isLegendOpen} onClick={() => setLegend(!isLegendOpen)}>Legend</button>
        <IconButton icon="inspector" name="Show or hide the inspector" pressed={isInspectorOpen.value}
          press={() => (isInspectorOpen.value = !isInspectorOpen.value)} />
      </div>
      <div class="stage-legend" hidden={!isLegendOpen} ref={key} />
      {progress && <div class="stage-working"><Working text={progress.text} done={progress.done} total={progress.total}
        cancel={stop} /></div>}
    </div>
  );
}

export function InspectorView() {
  const box = useRef<HTMLDivElement>(null), panel = useRef<HTMLDivElement>(null), shown = useRef<Inspector | null>(null);
  const terms = hello.value?.vocabulary.terms, details = graph.value?.details ?? null;
  useEffect(() => {
    if (!terms) return;
    const made = new Inspector(terms, { act: (type) => void draw({ type, id: place.value.node }) });
    shown.current = made;
    box.current?.replaceChildren(made.element);
  }, [terms]);
  useEffect(() => shown.current?.show(details), [details, terms]);
  useEffect(() => {
    if (!panel.current) return;
    const grip = new Grip(panel.current);
    panel.current.before(grip.element);
    grip.widen();
    return () => grip.element.remove();
  }, []);
  return (
    <div class="inspector-box" ref={panel}>
      <IconButton icon="close" name="Close the inspector" press={() => {
        isInspectorOpen.value = false;
        select([]);
      }} />
      <div ref={box} />
    </div>
  );
}

export function TimelineView() {
  const box = useRef<HTMLDivElement>(null), shown = useRef<Timeline | null>(null);
  const vocabulary = hello.value?.vocabulary, state = graph.value;
  useEffect(() => {
    if (!vocabulary) return;
    const made = new Timeline(vocabulary, lookAt);
    shown.current = made;
    box.current?.replaceChildren(made.element);
    return () => made.close();
  }, [vocabulary]);
  const data = state?.timeline, ids = JSON.stringify((data as { ids?: string[] } | undefined)?.ids ?? []);
  useEffect(() => {
    if (data) shown.current?.set(data);
  }, [ids, vocabulary]);
  useEffect(() => {
    if (state) shown.current?.show(state.snapshot);
  }, [state?.snapshot, ids, vocabulary]);
  return <div class="timeline-box" ref={box} />;
}

// The tree goes from snapshot to snapshot; any other graph is that of another question then.
function lookAt(id: string): void {
  if (["table", "findings"].includes(graphMode.value)) void draw({ type: "snapshot", id });
  else go({ snapshot: id === header.value?.current ? "" : id });
}

export function stepTimeline(by: number): void {
  const state = graph.value, ids = (state?.timeline as { ids?: string[] } | undefined)?.ids;
  if (!state || !ids) return;
  const to = ids[ids.indexOf(state.snapshot) + by];
  if (to) lookAt(to);
}
