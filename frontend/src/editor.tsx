// The field of a filter or of SQL: a plain one until its editor (code-editor.ts) is loaded, which takes its place.

import { useEffect, useRef, useState } from "preact/hooks";
import type { CodeEditor } from "./code-editor";
import { noteHistory, offersAt, placeIn, readHistory, sqlOffersAt, type NamedColumn } from "./completion";
import { header, refusal } from "./store";

declare const HAS_CODE_EDITOR: boolean | undefined;

export function Editor({ kind, label, value, hint = "", change, enter, columns = [], width = "100%" }: {
  kind: "filter" | "sql"; label: string; value: string; hint?: string; columns?: readonly string[]; width?: string;
  // What is called with each change, and when the text is entered.
  change?: (text: string) => void; enter?: (text: string) => void;
}) {
  const box = useRef<HTMLDivElement>(null), plain = useRef<HTMLTextAreaElement>(null), made = useRef<CodeEditor | null>(null);
  const [isLoaded, setLoaded] = useState(false);
  const now = useRef({ text: value, change, enter, columns });
  now.current = { ...now.current, change, enter, columns };
  const told = (text: string): void => {
    now.current.text = text;
    now.current.change?.(text);
  };
  const entered = (text: string): void => {
    noteHistory(kind, text);
    now.current.enter?.(text);
  };
  useEffect(() => {
    let isHere = true;
    const take = ({ edit }: typeof import("./code-editor")): void => {
      const parent = box.current, field = plain.current;
      if (!isHere || !parent || !field) return;
      const hadFocus = document.activeElement === field;
      made.current = edit({
        parent, text: field.value, label, hint, hasLines: kind === "sql", changed: told, enter: entered, history: () => readHistory(kind),
        offersAt: (text, at) => (kind === "sql" ? sqlOffersAt(text, at, columnsOf(now.current.columns), versions()) : offersAt(text, at, columnsOf(now.current.columns))),
      });
      setLoaded(true);
      if (hadFocus) made.current.focus();
      underline(made.current, now.current.text);
    };
    // Without it, or in a host whose script cannot load another, the plain field stays.
    if (typeof HAS_CODE_EDITOR === "undefined" || HAS_CODE_EDITOR) void import("./code-editor").then(take, () => {});
    return () => {
      isHere = false;
      made.current?.close();
      made.current = null;
    };
  }, []);
  useEffect(() => {
    const root = box.current?.getRootNode() as Document | ShadowRoot | undefined;
    if (value === now.current.text || box.current?.contains(root?.activeElement ?? null)) return;
    now.current.text = value;
    made.current?.setText(value);
    if (plain.current) plain.current.value = value;
  }, [value]);
  const problem = refusal.value;
  useEffect(() => {
    if (made.current) underline(made.current, now.current.text);
  }, [problem]);
  const isSql = kind === "sql";
  return (
    <div class={isSql ? "field editor tall" : "field editor"} style={{ width }}>
      <span>{label}</span>
      <div ref={box} />
      {!isLoaded && <textarea ref={plain} rows={isSql ? 3 : 1} aria-label={label} defaultValue={value} placeholder={hint} spellcheck={false} autocomplete="off"
        onInput={(event) => told(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || (isSql ? !event.ctrlKey : event.shiftKey)) return;
          event.preventDefault();
          entered(event.currentTarget.value.trim());
        }} />}
    </div>
  );
}

// What the server refused, underlined where it stands.
function underline(editor: CodeEditor, text: string): void {
  const problem = refusal.value, mine = problem?.texts.find((one) => one === text.trim());
  editor.setProblem(problem && mine ? { ...placeIn(text, problem.message, problem.position), message: problem.message } : null);
}

function columnsOf(offered: readonly string[]): NamedColumn[] {
  const told = header.value, types = new Map(told?.columns.map((name, at) => [name, told.types[at] ?? ""]));
  return [...new Set([...(told?.columns ?? []), ...offered])].map((name) => ({ name, type: types.get(name) ?? "" }));
}

function versions(): string[] {
  const told = header.value;
  return told ? [...told.refs.map(({ name }) => name), ...told.snapshots.map(({ name }) => name)] : [];
}
