// Parts of the app that stand alone in a notebook: one question with its form and answer, or one graph.

import { useState } from "preact/hooks";
import { Asked, IncompleteNote } from "./answer";
import { QuestionForm, type Arguments } from "./form";
import { GraphView, InspectorView, TimelineView } from "./graph-view";
import { Message, Working } from "./parts";
import { parseArguments } from "./place";
import { go, graph, graphMode, header, hello, isInspectorOpen, open, place, problem, question } from "./store";

export function QuestionAlone() {
  const at = place.value, form = question(at.question), [count, setCount] = useState(0);
  if (!hello.value || !form) return <Working text="Connecting…" />;
  const given = parseArguments(at.arguments), lacks = form.parameters.some(({ required, name }) => required && !(name in given));
  const about = at.table ? { table: at.table } : {};
  const ask = (next: Arguments) => {
    go({ arguments: JSON.stringify(next) });
    setCount(count + 1); // asked again, also where nothing was changed
  };
  return (
    <section class="app alone" aria-label={form.summary}>
      <div class="alone-head">
        <h3>{form.summary}</h3>
        {at.table && (
          <button type="button" onClick={() => void open().then(() => setCount((before) => before + 1))}
            title="Read the table again, as its catalog or folder has it now">Read again</button>
        )}
      </div>
      {problem.value && <Message level="error">{problem.value}</Message>}
      <IncompleteNote />
      {form.parameters.length > 0 && <QuestionForm form={form} given={given} ask={ask} />}
      {!lacks && (!at.table || header.value) && <Asked key={count} question={{ question: form.name, ...about, arguments: given }} form={form} />}
    </section>
  );
}

export function GraphAlone() {
  if (!hello.value) return <Working text="Connecting…" />;
  return (
    <section class="app alone" aria-label={graph.value?.title ?? "Graph"}>
      <p class="alone-title"><b>{graph.value?.title}</b> <span class="muted">{graph.value?.caption}</span></p>
      {problem.value && <Message level="warning">{problem.value}</Message>}
      <IncompleteNote />
      {graphMode.value === "table" && <TimelineView />}
      <div class="mode-graph">
        <GraphView mode={graphMode.value} />
        {isInspectorOpen.value && <InspectorView />}
      </div>
    </section>
  );
}
