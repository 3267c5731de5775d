// Rows of any version through Spark, and SQL over versions. A row leads to its file and deletes in the graph.

import { parseArguments } from "./place";
import { useState } from "preact/hooks";
import { Asked } from "./answer";
import { noteHistory, readHistory } from "./completion";
import { Editor } from "./editor";
import { QuestionForm, type Arguments } from "./form";
import { GraphView, InspectorView } from "./graph-view";
import { IconButton, Message, Tabs } from "./parts";
import { draw, go, graph, header, hello, isInspectorOpen, place, question } from "./store";
import { shortPath } from "./words";

interface Read {
  n: number;
  table: string;
  arguments: Arguments;
}

export function RowsView() {
  const [shown, setShown] = useState("");
  const tabs = [{ id: "", title: "Read" }, ...(hello.value?.rights.sql ? [{ id: "sql", title: "SQL" }] : [])];
  const tab = tabs.find(({ id }) => id === place.value.tab)?.id ?? "";
  const show = (snapshot: unknown) => (kind: string, key: string) => {
    setShown(key);
    isInspectorOpen.value = true;
    void draw({ type: "show", kind, key, ...(typeof snapshot === "string" && snapshot ? { snapshot } : {}) });
  };
  if (!header.value) return null;
  return (
    <div class="rows-view">
      <Tabs label="Rows" names={tabs} active={tab} choose={(id) => go({ tab: id, arguments: "" })} />
      <div class="rows-answer">{tab === "sql" ? <SqlView show={show} /> : <ReadView show={show} />}</div>
      {shown && (
        <div class="rows-graph">
          <div class="rows-graph-head">
            <h2>{`${shortPath(shown)}, with the deletes that apply to it`}</h2>
            <IconButton icon="close" name="Close the graph" press={() => setShown("")} />
          </div>
          <div class="mode-graph">
            <GraphView mode="table" />
            {isInspectorOpen.value && graph.value && <InspectorView />}
          </div>
        </div>
      )}
    </div>
  );
}

type Show = (snapshot: unknown) => (kind: string, key: string) => void;

function ReadView({ show }: { show: Show }) {
  const form = question("rows"), { table, snapshot, arguments: text } = place.value;
  const [read, setRead] = useState<Read | null>(null);
  if (!form) return null;
  const given: Arguments = text ? parseArguments(text) : { provenance: true, limit: 1000, ...(snapshot ? { snapshot } : {}) };
  return (
    <>
      <QuestionForm form={form} given={given} submit="Read" ask={(next) => {
        go({ arguments: JSON.stringify(next) });
        setRead((before) => ({ n: (before?.n ?? 0) + 1, table, arguments: next }));
      }} />
      {read?.table === table
        ? <Asked key={read.n} question={{ question: form.name, table, arguments: read.arguments }} form={form} open={show(read.arguments["snapshot"])} />
        : <p class="empty">Spark reads the rows; it starts when it is first needed. With provenance, press a row to see its file and deletes in the graph.</p>}
    </>
  );
}

function SqlView({ show }: { show: Show }) {
  const form = question("sql"), { table } = place.value, names = header.value?.snapshots ?? [];
  const first = names.at(-1)?.name ?? "main", last = names[0]?.name ?? "main";
  const history = readHistory("sql");
  const [text, setText] = useState(history[0] ?? `SELECT 'gone' AS what, * FROM (SELECT * FROM t@${first} EXCEPT ALL SELECT * FROM t@${last})`);
  const [limit, setLimit] = useState(1000), [read, setRead] = useState<Read | null>(null);
  if (!form) return <Message level="warning">SQL is not run here: the server was started without --allow-sql.</Message>;
  const run = (typed: string) => {
    const query = typed.trim();
    if (!query) return;
    noteHistory("sql", query);
    setRead((before) => ({ n: (before?.n ?? 0) + 1, table, arguments: { query, limit } }));
  };
  return (
    <>
      <Editor kind="sql" label="Query: t is the table, t@snapshot-1 or db.other@tag is a version" value={text} columns={header.value?.columns ?? []}
        change={setText} enter={run} />
      <div class="fields">
        <button type="button" class="primary" title="Ctrl+Enter" onClick={() => run(text)}>Run</button>
        <label class="field"><span>Limit</span>
          <input type="number" min={1} value={limit} onChange={(event) => setLimit(event.currentTarget.valueAsNumber || 1000)} /></label>
        {history.length > 0 && (
          <label class="field history"><span>History</span>
            <select value="" onChange={(event) => setText(history[Number(event.currentTarget.value)] ?? text)}>
              <option value="">Queries that were run…</option>
              {history.map((one, at) => <option key={one} value={at}>{one.replace(/\s+/g, " ").slice(0, 120)}</option>)}
            </select></label>
        )}
        <span class="muted">Read-only: every part of the query is checked.</span>
      </div>
      {read?.table === table && <Asked key={read.n} question={{ question: form.name, table, arguments: read.arguments }} form={form} open={show("")} />}
    </>
  );
}
