// Would a commit that began at an older snapshot succeed now? From metadata alone; what stands against it is lit.

import { parseArguments } from "./place";
import { Asked } from "./answer";
import { nameBeforeCurrent, NoTable } from "./changing";
import { QuestionForm, type Arguments } from "./form";
import { GraphView, InspectorView } from "./graph-view";
import { choices } from "./lab-state";
import { draw, go, graph, header, isInspectorOpen, place, question } from "./store";

// The validations that are on: those of the isolation level, with what a person has switched.
function checksOf(given: Arguments, usual: readonly string[]): string[] {
  const names = (value: unknown) => (Array.isArray(value) ? value.map(String) : []);
  const without = names(given["without"]);
  return [...usual.filter((name) => !without.includes(name)), ...names(given["also"])];
}

export function ConflictView() {
  const form = question("check conflict"), at = place.value;
  if (!form || !at.table) return <NoTable />;
  if (!header.value) return null;  // which says where a commit may begin
  const isAsked = at.arguments !== "";
  const given: Arguments = isAsked ? parseArguments(at.arguments) : { base: nameBeforeCurrent(), operation: "cow-update" };
  const operation = choices.value?.operations.find(({ name }) => name === given["operation"]);
  const usual = operation?.usual[String(given["isolation"] || operation?.isolation)] ?? [], all = operation?.validations ?? [];
  const on = checksOf(given, usual);
  const ask = ({ without, also, ...next }: Arguments) => {
    const isSame = next["operation"] === given["operation"] && next["isolation"] === given["isolation"];
    go({ arguments: JSON.stringify({ ...next, ...(isSame ? { without, also } : {}) }) });
  };
  const toggle = (name: string) => {
    const next = on.includes(name) ? on.filter((one) => one !== name) : [...on, name];
    go({ arguments: JSON.stringify({ ...given, without: usual.filter((one) => !next.includes(one)), also: next.filter((one) => !usual.includes(one)) }) });
  };
  return (
    <div class="lab-view">
      <p class="muted">Nothing is written. Enter where the commit began, what it does, and which rows it is about (empty: all).</p>
      <QuestionForm form={form} given={given} hidden={["without", "also"]} submit="Explain" ask={ask} />
      {all.length > 0 && (
        <details class="lab-validations">
          <summary>Validations</summary>
          <fieldset>
            <legend>{String(given["operation"])}</legend>
            {all.map((name) => (
              <label key={name} class="check lab-check">
                <input type="checkbox" checked={on.includes(name)} onChange={() => toggle(name)} />
                <span><b>{name}</b> {choices.value?.protects[name]}</span>
              </label>
            ))}
          </fieldset>
        </details>
      )}
      {isAsked && (
        <>
          <section class="mode-answer" aria-label="Conflict">
            <Asked question={{ question: form.name, table: at.table, arguments: given }} form={form}
              open={(kind, key) => void draw({ type: "show", kind, key })} />
          </section>
          <div class="mode-graph">
            <GraphView mode="conflict" />
            {isInspectorOpen.value && graph.value && <InspectorView />}
          </div>
        </>
      )}
    </div>
  );
}
