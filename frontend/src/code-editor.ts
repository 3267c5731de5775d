// A text field for filters and SQL, with completion, history and errors at their place. It is a bundle of its own: it is
// loaded when a page first has such a field.

import { autocompletion, acceptCompletion, closeBrackets, closeBracketsKeymap, completionKeymap, completionStatus, startCompletion } from "@codemirror/autocomplete";
import type { Completion, CompletionContext, CompletionResult } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { StandardSQL, sql } from "@codemirror/lang-sql";
import { HighlightStyle, bracketMatching, syntaxHighlighting } from "@codemirror/language";
import { setDiagnostics } from "@codemirror/lint";
import { EditorState, Prec } from "@codemirror/state";
import { EditorView, drawSelection, keymap, placeholder } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import type { Offer } from "./completion";

export interface EditorOptions {
  parent: HTMLElement;
  text: string;
  label: string;
  hint: string;
  // Whether Enter is a new line, and Ctrl+Enter enters.
  hasLines: boolean;
  offersAt(text: string, at: number): { from: number; offers: Offer[] } | null;
  changed(text: string): void;
  enter(text: string): void;
  history(): string[];
}

export interface CodeEditor {
  setText(text: string): void;
  // Underline what is wrong; null: nothing is.
  setProblem(problem: { from: number; to: number; message: string } | null): void;
  focus(): void;
  close(): void;
}

const COLORS = syntaxHighlighting(HighlightStyle.define([
  { tag: tags.keyword, color: "var(--accent)" }, { tag: tags.string, color: "var(--added)" }, { tag: [tags.number, tags.bool, tags.null], color: "var(--warn)" },
  { tag: tags.comment, color: "var(--muted)" },
]));

const LOOK = EditorView.theme({
  "&": { border: "1px solid var(--line-strong)", borderRadius: "var(--radius-small)", backgroundColor: "var(--ground)", color: "var(--ink)" },
  "&.cm-focused": { outline: "2px solid var(--accent)", outlineOffset: "1px" },
  ".cm-scroller": { fontFamily: "var(--mono)", fontSize: "var(--text-small)", lineHeight: "1.5", maxHeight: "14rem", overflow: "auto" },
  ".cm-content": { padding: "3px 0", caretColor: "var(--ink)" },
  ".cm-line": { padding: "0 7px" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  ".cm-placeholder": { color: "var(--muted)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": { background: "var(--accent-ground)" },
  ".cm-matchingBracket": { backgroundColor: "var(--accent-ground)" },
  ".cm-tooltip": { border: "1px solid var(--line)", borderRadius: "var(--radius-small)", backgroundColor: "var(--raised)", color: "var(--ink)", boxShadow: "var(--shadow)" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": { fontFamily: "var(--mono)", fontSize: "var(--text-small)", maxHeight: "16rem" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li": { padding: "2px 8px" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { backgroundColor: "var(--accent-ground)", color: "var(--ink)" },
  ".cm-completionDetail": { color: "var(--muted)", fontStyle: "normal", marginLeft: "1em" },
  ".cm-completionMatchedText": { textDecoration: "none", fontWeight: "700" },
  ".cm-diagnostic": { fontFamily: "var(--font)", maxWidth: "60ch" },
});

export function edit(options: EditorOptions): CodeEditor {
  let at = -1, draft = "", isGiven = false; // which of what was entered before is shown, and what stood there before it
  const text = (view: EditorView): string => view.state.doc.toString();
  const replace = (view: EditorView, to: string): void => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: to }, selection: { anchor: to.length } });
  const back = (step: number) => (view: EditorView): boolean => {
    const kept = options.history(), { main } = view.state.selection, line = view.state.doc.lineAt(main.head).number;
    if (completionStatus(view.state) === "active" || line !== (step > 0 ? 1 : view.state.doc.lines)) return false;
    const to = at + step;
    if (to < -1 || to >= kept.length) return to >= kept.length;
    if (at === -1) draft = text(view);
    at = to;
    replace(view, to === -1 ? draft : kept[to] ?? "");
    return true;
  };
  const enter = (view: EditorView): boolean => {
    at = -1;
    options.enter(text(view).trim());
    return true;
  };
  const newLine = (view: EditorView): boolean => {
    view.dispatch(view.state.replaceSelection("\n"));
    return true;
  };
  const complete = (context: CompletionContext): CompletionResult | null => {
    const { state, pos, explicit } = context, found = options.offersAt(state.doc.toString(), pos);
    if (!found || (!explicit && found.from === pos && !/[\s(]$/.test(state.sliceDoc(0, pos)))) return null;
    return { from: found.from, options: found.offers.map(completionOf), filter: false };
  };
  const view = new EditorView({
    parent: options.parent,
    state: EditorState.create({
      doc: options.text,
      extensions: [
        Prec.highest(keymap.of([
          ...(options.hasLines ? [{ key: "Mod-Enter", run: enter }] : [{ key: "Shift-Enter", run: newLine }]),
          { key: "Tab", run: (target) => completionStatus(target.state) === "active" && (acceptCompletion(target) || selectFirst(target)) },
        ])),
        keymap.of(completionKeymap),
        keymap.of([
          ...(options.hasLines ? [] : [{ key: "Enter", run: enter }]),
          { key: "ArrowUp", run: back(1) }, { key: "ArrowDown", run: back(-1) }, { key: "Ctrl-Space", run: startCompletion },
          ...closeBracketsKeymap, ...historyKeymap, ...defaultKeymap,
        ]),
        history(), drawSelection(), bracketMatching(), closeBrackets(), COLORS, LOOK, EditorView.lineWrapping, placeholder(options.hint),
        sql({ dialect: StandardSQL }),
        autocompletion({ override: [complete], selectOnOpen: false, interactionDelay: 0, icons: false, defaultKeymap: false }),
        EditorView.contentAttributes.of({ "aria-label": options.label, spellcheck: "false", autocorrect: "off", autocapitalize: "off" }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged && !isGiven) options.changed(update.state.doc.toString());
        }),
      ],
    }),
  });
  return {
    setText: (to) => {
      isGiven = true;
      if (to !== text(view)) replace(view, to);
      isGiven = false;
    },
    setProblem: (problem) => view.dispatch(setDiagnostics(view.state, problem ? [{ ...problem, severity: "error" }] : [])),
    focus: () => view.focus(),
    close: () => view.destroy(),
  };
}

// Without a choice Tab takes the first of what is offered.
function selectFirst(view: EditorView): boolean {
  const next = completionKeymap.find(({ key }) => key === "ArrowDown");
  return Boolean(next?.run?.(view)) && acceptCompletion(view);
}

function completionOf({ label, detail, text, kind }: Offer): Completion {
  const at = text.indexOf("¦"), written = text.replace("¦", "");
  return {
    label, detail, type: kind,
    apply: (view, _, from, to) => view.dispatch({ changes: { from, to, insert: written }, selection: { anchor: from + (at < 0 ? written.length : at) }, userEvent: "input.complete" }),
  };
}
