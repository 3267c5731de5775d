// One statement, or one operation of the table API, on a copy of a teaching table: what it wrote, and the graph with it.

import { signal } from "@preact/signals";
import { useState } from "preact/hooks";
import { Asked } from "./answer";
import { CopyFirst, NoTable, ResetCopy } from "./changing";
import { GraphView, InspectorView } from "./graph-view";
import { choices } from "./lab-state";
import { go, graph, header, isInspectorOpen, place, question, renew } from "./store";

// What was typed: it stays when a copy is made, or another view is looked at.
const statement = signal("");

export function StatementView() {
  const form = question("lab observe"), told = header.value, { table } = place.value;
  const [run, setRun] = useState<{ n: number; table: string; arguments: Record<string, unknown> } | null>(null);
  const [api, setApi] = useState("");
  if (!form || !table) return <NoTable />;
  if (!told) return null;
  const chosen = api || (choices.value?.api[0]?.name ?? ""), first = told.columns[0] ?? "c", text = statement.value || `DELETE FROM t WHERE ${first} IS NULL`;
  const isAllowed = told.writing === "here", ask = (given: Record<string, unknown>) =>
    setRun((before) => ({ n: (before?.n ?? 0) + 1, table, arguments: given }));
  const shown = run?.table === table ? run : null;
  return (
    <div class="lab-view">
      <div class="statement">
        <label class="field tall wide"><span>{`Statement: t is ${told.title}, with columns ${told.columns.join(", ")}; {name} is its name for CALL`}</span>
          <textarea rows={3} spellcheck={false} maxLength={20_000} value={text} onInput={(event) => (statement.value = event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && isAllowed) ask({ statement: statement.value || text });
            }} /></label>
        <div class="fields">
          <button type="button" class="primary" disabled={!isAllowed} onClick={() => ask({ statement: text })}>Run</button>
          <label class="field"><span>Or an operation of the table API</span>
            <select value={chosen} onChange={(event) => setApi(event.currentTarget.value)}>
              {choices.value?.api.map(({ name, title }) => <option key={name} value={name}>{title}</option>)}
            </select></label>
          <button type="button" disabled={!isAllowed} onClick={() => ask({ api: chosen })}>Call</button>
          <ResetCopy />
          <button type="button" onClick={() => go({ mode: "compare", tab: "", snapshot: "", before: "", arguments: "" })}>What changed</button>
        </div>
        <CopyFirst />
      </div>
      {shown && (
        <section class="mode-answer" aria-label="What the statement did">
          <Asked key={shown.n} question={{ question: form.name, table, arguments: shown.arguments }} form={form} done={() => void renew()} />
        </section>
      )}
      <div class="mode-graph">
        <GraphView mode="table" />
        {isInspectorOpen.value && graph.value && <InspectorView />}
      </div>
    </div>
  );
}
