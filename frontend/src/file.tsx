// An exported file: a table's graph, timeline and inspector, and what each snapshot changed, from what the file holds.

import { render } from "preact";
import { useEffect } from "preact/hooks";
import { canvas, GraphView, InspectorView, stepTimeline, TimelineView } from "./graph-view";
import { connectTo, Held, type HeldData, type Lesson, type Page } from "./held";
import { IconButton, Message, Tabs, Working } from "./parts";
import { NOWHERE } from "./place";
import { Connection, type Hello } from "./protocol";
import { fillScreen, isTyped } from "./screen";
import { arrive, fail, go, graph, graphMode, header, hello, isInspectorOpen, place, problem, start } from "./store";
import { counted } from "./words";

const data = JSON.parse(document.getElementById("data")?.textContent ?? "") as HeldData;
const held = new Held(data);
// On a smaller screen what the table teaches is folded: the graph needs the room.
const PHONE = 700, LOW = 640;

function FileApp() {
  useEffect(() => {
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, []);
  const told = header.value, { snapshot, mode } = place.value;
  if (!hello.value) return <Working text="Opening…" />;
  const names = [{ id: "", title: "Graph" }, ...(held.hasChange(snapshot) ? [{ id: "compare", title: "What this snapshot changed" }] : [])];
  return (
    <div class="app">
      <header class="header">
        <b class="crumb">{told?.title || graph.value?.title}</b>
        {told && <ul class="plain tiles">{told.tiles.map(([what, value, more]) => <li key={what} title={more}><b>{value}</b> {counted(what, value)}</li>)}</ul>}
        <span class="gap" />
        <Pages {...data.pages} />
        <IconButton icon="moon" name="Light or dark" press={() => shade(document.documentElement.dataset["theme"] === "light")} />
      </header>
      {data.lesson && <Taught {...data.lesson} />}
      {"ids" in data.timeline && <div class="timeline-row"><TimelineView /><p class="caption" title={graph.value?.caption}>{graph.value?.caption}</p></div>}
      {names.length > 1 && <Tabs label="Views" names={names} active={mode} choose={(id) => go({ mode: id })} controls="graph" />}
      {problem.value && <Message level="warning">{problem.value}</Message>}
      <div class="mode-graph" id="graph">
        <GraphView mode={graphMode.value} />
        {isInspectorOpen.value && <InspectorView />}
      </div>
      <details class="file-more"><summary>Other questions</summary><p>{data.elsewhere}</p></details>
    </div>
  );
}

function Pages({ previous, index, next }: HeldData["pages"]) {
  const short = ({ title }: Page): string => title.slice(title.lastIndexOf(".") + 1);
  if (!index) return null;
  return (
    <nav class="pages" aria-label="Other pages">
      {previous && <a href={previous.file} rel="prev" title="The page before this">← {short(previous)}</a>}
      <a href={index.file}>{index.title}</a>
      {next && <a href={next.file} rel="next" title="The page after this">{short(next)} →</a>}
    </nav>
  );
}

// What a table teaches, what to watch for, and questions whose answers unfold.
function Taught({ teaches, source, watch, questions }: Lesson) {
  return (
    <details class="lesson" open={innerWidth > PHONE && innerHeight > LOW}>
      <summary><b>{teaches}</b></summary>
      <p class="muted">Figure or source: {source}</p>
      <p><b>Watch for:</b> {watch}</p>
      {questions.map(({ question, answer }) => (
        <details key={question} class="page-question"><summary>{question}</summary><p>{answer}</p></details>
      ))}
    </details>
  );
}

function press(event: KeyboardEvent): void {
  if (isTyped(event) || event.ctrlKey || event.metaKey || event.altKey) return;
  const acts: Record<string, () => void> = {
    f: () => canvas?.fit(true), "+": () => canvas?.zoom(1.25), "-": () => canvas?.zoom(1 / 1.25),
    "[": () => stepTimeline(-1), "]": () => stepTimeline(1), Escape: () => (isInspectorOpen.value = false),
    p: () => fillScreen(document.documentElement),
  };
  if (!Object.hasOwn(acts, event.key)) return;
  acts[event.key]?.();
  event.preventDefault();
}

function shade(isDark: boolean): void {
  document.documentElement.dataset["theme"] = isDark ? "dark" : "light";
}

shade(matchMedia("(prefers-color-scheme: dark)").matches);
const connection = new Connection(connectTo(held, data), () => {});
start(connection, () => {});
connection.request<Hello>("hello").then((told) => {
  hello.value = told;
  arrive({ ...NOWHERE, table: "file" });
  const root = document.getElementById("app");
  if (root) render(<FileApp />, root);
}, fail);
