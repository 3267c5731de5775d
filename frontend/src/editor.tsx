// The field of a filter or of SQL: a plain one until its editor (code-editor.ts) is loaded, which takes its place.

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
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
  const [editors, setEditors] = useState<typeof import("./code-editor") | null>(null), hadFocus = useRef(false);
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
    // Without it, or in a host whose script cannot load another, the plain field stays.
    if (typeof HAS_CODE_EDITOR === "undefined" || HAS_CODE_EDITOR) {
      void import("./code-editor").then((module) => isHere && setEditors(module), () => {});
    }
    return () => {
      isHere = false;
      made.current?.close();
      made.current = null;
    };
  }, []);
  const field = plain.current;
  if (editors && field) hadFocus.current = (field.getRootNode() as Document | ShadowRoot).activeElement === field;
  // In the same rendering that takes the plain field away, so that nothing is typed in between.
  useLayoutEffect(() => {
    if (!editors || !box.current) return;
    made.current = editors.edit({
      parent: box.current, text: now.current.text, label, hint, hasLines: kind === "sql", changed: told, enter: entered, history: () => readHistory(kind),
      offersAt: (text, at) => (kind === "sql" ? sqlOffersAt(text, at, columnsOf(now.current.columns), versions()) : offersAt(text, at, columnsOf(now.current.columns))),
    });
    if (hadFocus.current) made.current.focus();
    underline(made.current, now.current.text);
  }, [editors]);
  // While it is drawn: later would take away what was typed meanwhile.
  useLayoutEffect(() => {
    const root = box.current?.getRootNode() as Document | ShadowRoot | undefined, active = root?.activeElement ?? null;
    if (value === now.current.text || box.current?.contains(active) || (active && active === plain.current)) return;
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
      {!editors && <textarea ref={plain} rows={isSql ? 3 : 1} aria-label={label} defaultValue={value} placeholder={hint} spellcheck={false} autocomplete="off"
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
