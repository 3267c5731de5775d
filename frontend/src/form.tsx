// The form of a question, made from its parameters.

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Form, Parameter } from "./protocol";
import { header, place, server } from "./store";
import { pathText } from "./completion";
import { Editor } from "./editor";
import { Field } from "./parts";

export type Arguments = Record<string, unknown>;

// What a text field has, as the value of a parameter; undefined where it is empty.
export function valueOf(parameter: Parameter, text: string): unknown {
  if (text === "") return undefined;
  if (parameter.form === "pairs" || parameter.form === "numbers") {
    const pairs = text.split(/[\n,]/).map((one) => one.trim()).filter(Boolean).map((one) => one.split("=", 2) as [string, string?]);
    return Object.fromEntries(pairs.map(([name, value = ""]) => [name.trim(), parameter.form === "numbers" ? Number(value) : value.trim()]));
  }
  if (parameter.several) return text.split("\n").map((one) => one.trim()).filter(Boolean);
  if (parameter.form === "number" || parameter.form === "decimal") return Number(text);
  if (parameter.form === "count") return text === "all" ? undefined : Number(text);
  return text;
}

// The value of a parameter as text.
export function textOf(value: unknown): string {
  if (value === undefined || value === null) return "";
  if (Array.isArray(value)) return value.join("\n");
  if (typeof value === "object") return Object.entries(value).map(([name, one]) => `${name}=${one}`).join("\n");
  return String(value);
}

// The fields of a question; `ask` is called with its arguments. Those that most people never need unfold. A form that
// is live has no button: it asks whenever something was entered.
export function QuestionForm({ form, given, ask, hidden = [], submit, isLive }: {
  form: Form; given: Arguments; ask: (given: Arguments) => void; hidden?: readonly string[]; submit?: string; isLive?: boolean;
}) {
  const [draft, setDraft] = useState<Arguments>(given);
  const latest = useRef(given);  // the draft, at once: two fields may change before one rendering
  const keep = (next: Arguments) => {
    latest.current = next;
    setDraft(next);
  };
  const key = JSON.stringify(given), before = useRef(given);
  useLayoutEffect(() => {
    // What a person typed stays, unless its own parameter was given a new value.
    const next = { ...latest.current };
    for (const name of new Set([...Object.keys(before.current), ...Object.keys(given)])) {
      if (JSON.stringify(given[name]) !== JSON.stringify(before.current[name])) next[name] = given[name];
    }
    before.current = given;
    keep(next);
  }, [key]);
  const shown = form.parameters.filter((one) => !hidden.includes(one.name));
  const isGiven = (value: unknown) => value !== undefined && value !== "" && value !== false;
  const send = (all: Arguments) => ask(Object.fromEntries(Object.entries(all).filter(([, value]) => isGiven(value))));
  const set = (name: string, value: unknown) => {
    keep({ ...latest.current, [name]: value });
    if (isLive) send(latest.current);
  };
  const field = (one: Parameter) => (
    <ParameterField key={one.name} parameter={one} value={draft[one.name]} keep={(value) => keep({ ...latest.current, [one.name]: value })} set={(value) => set(one.name, value)}
      submit={(value) => send({ ...latest.current, [one.name]: value })} />
  );
  const first = shown.filter((one) => one.required || one.is_filter || one.name in given).slice(0, 6);
  const others = shown.filter((one) => !first.includes(one));
  return (
    <form class="question-form" onSubmit={(event) => {
      event.preventDefault();
      send(latest.current);
    }}>
      <div class="fields">
        {first.map(field)}
        {!isLive && <button type="submit" class="primary">{submit ?? (form.writes ? "Run" : "Ask")}</button>}
      </div>
      {others.length > 0 && (
        <details class="more-fields" open={first.length === 0}>
          <summary>{first.length ? "More options" : "Options"}</summary>
          <div class="fields">
            {others.map(field)}
          </div>
        </details>
      )}
    </form>
  );
}

function ParameterField({ parameter, value, set, keep, submit }: {
  parameter: Parameter; value: unknown; set: (value: unknown) => void; keep: (value: unknown) => void; submit: (value: unknown) => void;
}) {
  const offered = useOffer(parameter.offer);
  if (parameter.form === "flag") {
    return (
      <label class="check" title={parameter.help}>
        <input type="checkbox" checked={value === true} onChange={(event) => set(event.currentTarget.checked)} />
        {parameter.label}
      </label>
    );
  }
  if (parameter.form === "choice" && !parameter.several) {
    return (
      <label class="field" title={parameter.help}>
        <span>{parameter.label}</span>
        <select value={textOf(value ?? parameter.default)} onChange={(event) => set(event.currentTarget.value)}>
          {!(value ?? parameter.default) && !parameter.choices.includes("") && <option value="" disabled>Choose one</option>}
          {parameter.choices.map((one) => <option key={one} value={one}>{one || "–"}</option>)}
        </select>
      </label>
    );
  }
  if (!parameter.several && (parameter.is_filter || parameter.is_sql)) {
    return (
      <div title={parameter.help} class="wide-field">
        <Editor kind={parameter.is_sql ? "sql" : "filter"} label={parameter.label} value={textOf(value)} columns={offered}
          hint={parameter.is_sql ? "SELECT * FROM t" : exampleFilter()} change={(text) => keep(text.trim())} enter={(text) => submit(text)} />
      </div>
    );
  }
  const isNumber = ["number", "count", "decimal"].includes(parameter.form);
  const hint = parameter.is_filter ? exampleFilter() : parameter.default ? textOf(parameter.default) : isNumber ? "a number" : "";
  if (parameter.several || parameter.form === "pairs" || parameter.form === "numbers") {
    return (
      <label class="field tall" title={parameter.help}>
        <span>{`${parameter.label}, one a line`}</span>
        <textarea rows={2} spellcheck={false} value={textOf(value)} placeholder={hint}
          onChange={(event) => set(valueOf(parameter, event.currentTarget.value))} />
      </label>
    );
  }
  return <div title={parameter.help}><Field label={parameter.label} value={textOf(value)} hint={hint} options={offered} required={parameter.required}
    enter={(text) => set(valueOf(parameter, text))} /></div>;
}

// A filter with a column of the open table, to begin with.
export function exampleFilter(): string {
  const column = header.value?.columns[0];
  return column ? `${pathText(column)} = …` : "";
}

// What can be entered for a kind of parameter, once it is known.
export function useOffer(kind: string): string[] {
  const [values, setValues] = useState<string[]>([]);
  const { table } = place.value;
  useEffect(() => {
    setValues([]);
    if (!kind || !table) return;
    let isHere = true;
    server().request<{ values: string[] }>("offer", { table, kind }).then((told) => isHere && setValues(told.values), () => {});
    return () => {
      isHere = false;
    };
  }, [kind, table]);
  return values;
}
