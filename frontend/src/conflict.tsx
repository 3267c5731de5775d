// Would a commit that began at an older snapshot succeed now? From metadata alone; what stands against it is lit.

import { Asked } from "./answer";
import { nameBeforeCurrent, NoTable } from "./changing";
import { parseArguments, QuestionForm, type Arguments } from "./form";
import { GraphView, InspectorView } from "./graph-view";
import { choices } from "./lab-state";
import { draw, go, graph, isInspectorOpen, place, question } from "./store";

export function ConflictView() {
  const form = question("check conflict"), at = place.value;
  if (!form || !at.table) return <NoTable />;
  const isAsked = at.arguments !== "";
  const given: Arguments = isAsked ? parseArguments(at.arguments) : { base: nameBeforeCurrent(), operation: "cow-update" };
  const without = Array.isArray(given["without"]) ? given["without"].map(String) : [];
  const ask = (next: Record<string, unknown>) => {
    const rest = { ...next };
    delete rest["without"];
    const kept = next["operation"] === given["operation"] ? without : [];
    go({ arguments: JSON.stringify({ ...rest, ...(kept.length ? { without: kept } : {}) }) });
  };
  const operation = choices.value?.operations.find(({ name }) => name === given["operation"]);
  const checks = operation?.usual[String(given["isolation"] || "serializable")] ?? [];
  const toggle = (name: string) => {
    const next = without.includes(name) ? without.filter((one) => one !== name) : [...without, name];
    go({ arguments: JSON.stringify({ ...given, without: next }) });
  };
  return (
    <div class="lab-view">
      <p class="muted">Nothing is written. Enter where the commit began, what it does, and which rows it is about (empty: all).</p>
      <QuestionForm form={form} given={given} hidden={["without"]} submit="Explain" ask={ask} />
      {checks.length > 0 && (
        <details class="lab-validations" open={without.length > 0}>
          <summary>Validations</summary>
          <fieldset>
            <legend>{String(given["operation"])}</legend>
            {checks.map((name) => (
              <label key={name} class="check lab-check">
                <input type="checkbox" checked={!without.includes(name)} onChange={() => toggle(name)} />
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
