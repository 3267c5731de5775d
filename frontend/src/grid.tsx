// A table of many rows: those near what is seen are fetched, sorted and filtered on the server.

import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { TargetedKeyboardEvent, TargetedMouseEvent, TargetedPointerEvent } from "preact";
import type { Column, Question, RowPage } from "./protocol";
import { RequestError } from "./protocol";
import { printed } from "./screen";
import { fileOf, incomplete, isSaved, question as formOf, server } from "./store";
import { Menu, Message } from "./parts";
import { AROUND, inList, jsonOf, MOST_PIXELS, PAGE, pagesFor, ROW_HEIGHT, shiftAt, tsv, widthFor } from "./row-window";
import { counted as countedOf, shortPath } from "./words";

const LOW = 48, MOST_COPIED = 10_000, LEAST_WIDTH = 40, MOST_PRINTED = 2_000;

interface Props {
  question: Question;
  block: number;
  columns: Column[];
  first: RowPage;
  what: string;
  selected?: string;
  open?: (kind: string, key: string) => void;
  choice?: RowsChoice;
}

// The filter and the order of rows, as a place has them, and what keeps a change of them.
export interface RowsChoice {
  match: string;
  sort: string;
  keep(change: { match?: string; sort?: string }): void;
}

function orderOf(text: string): { name: string; descending: boolean } | null {
  return text === "" ? null : text.startsWith("-") ? { name: text.slice(1), descending: true } : { name: text, descending: false };
}

interface Row {
  cells: (string | null)[];
  exact(at: number): string | null;
}

type Shown = Column & { at: number };

export function Grid({ question, block, columns, first, what, selected, open, choice: kept }: Props) {
  const names = columns.map(({ name }) => name).join("\n");
  const [choice, setChoice] = useState<{ of: string; names: ReadonlySet<string> } | null>(null); // it belongs to these columns
  const chosen = useMemo(() => (choice?.of === names ? choice.names : new Set(columns.filter((one) => one.first).map(({ name }) => name))), [choice, names]);
  const [widths, setWidths] = useState<Record<string, number>>({});
  const [sort, setSort] = useState(() => orderOf(kept?.sort ?? ""));
  const [filter, setFilter] = useState(kept?.match ?? "");
  useLayoutEffect(() => {
    if (!kept) return;
    setSort(orderOf(kept.sort));
    setFilter(kept.match);
    if (filterField.current) filterField.current.value = kept.match;
  }, [kept?.sort, kept?.match]);
  const [total, setTotal] = useState(first.total);
  const [pages, setPages] = useState(new Map<number, RowPage>());
  const [view, setView] = useState({ first: 0, last: 40 });
  const [problem, setProblem] = useState(""), [copied, setCopied] = useState("");
  const [active, setActive] = useState(-1), [column, setColumn] = useState(0);
  const walked = useRef(-1);  // the active row, at once: two keys may come before one rendering
  const go = (to: number) => {
    walked.current = to;
    setActive(to);
  };
  const [picked, setPicked] = useState<ReadonlySet<number>>(new Set());
  const box = useRef<HTMLDivElement>(null), filterField = useRef<HTMLInputElement>(null), pending = useRef(new Set<number>()), anchor = useRef(-1);
  const isFirst = sort === null && filter === "";
  const shown = useMemo(() => columns.map((one, at): Shown => ({ ...one, at })).filter(({ name }) => chosen.has(name)), [names, chosen]);
  const usual = useMemo(() => Object.fromEntries(columns.map(({ name, link }, at) => {
    const values = first.rows.slice(0, 60).map((row) => row[at] ?? null);
    return [name, widthFor(name, link ? values.map((one) => one && shortPath(one)) : values)];
  })), [columns, first]);
  const widthOf = (name: string): number => widths[name] ?? usual[name] ?? 120;
  const about = { ...question, block, sort: sort?.name ?? "", descending: sort?.descending ?? false, filter };
  const key = JSON.stringify(about), leads = open !== undefined && columns.some(({ link }) => link);

  // What was read belongs to one order and one filter.
  useEffect(() => {
    pending.current = new Set();
    setPages(new Map());
    setProblem("");
    go(-1);
    setPicked(new Set());
    if (isFirst) setTotal(first.total);
    if (isFirst && first.total === null) void count();
    if (!isFirst) void fetchPage(0).then((page) => (page?.total === null ? count() : undefined));
    box.current?.scrollTo({ top: 0 });
  }, [key]);

  async function count(): Promise<void> {
    try {
      const told = await server().request<RowPage>("rows", { ...about, start: 0, count: 0 }, `count ${key}`);
      incomplete.value = told.lacks ?? "";
      setTotal(told.total);
    } catch (error) {
      refuse(error);
    }
  }

  async function fetchPage(number: number): Promise<RowPage | undefined> {
    if (pending.current.has(number)) return undefined;
    const mine = pending.current;
    mine.add(number);
    try {
      const page = await server().request<RowPage>("rows", { ...about, start: number * PAGE, count: PAGE });
      if (mine !== pending.current) return undefined;
      incomplete.value = page.lacks ?? "";
      setPages((before) => new Map(before).set(number, page));
      if (page.total !== null) setTotal(page.total);
      return page;
    } catch (error) {
      refuse(error);
      return undefined;
    }
  }

  function refuse(error: unknown): void {
    if (error instanceof RequestError && error.kind === "cancelled") return;
    setProblem(error instanceof Error ? error.message : String(error));
  }

  const isRefused = problem !== "" && filter !== "" && !pages.size;
  const known = isRefused ? 0 : total ?? Math.max(first.rows.length, ...[...pages].map(([number, page]) => number * PAGE + page.rows.length));
  const rowAt = (at: number): Row | undefined => {
    const page = pages.get(Math.floor(at / PAGE)), from = page ?? (isFirst ? first : undefined), place = page ? at % PAGE : at;
    const cells = from?.rows[place];
    return from && cells && { cells, exact: (one) => from.exact[one]?.[place] ?? null };
  };

  useEffect(() => {
    for (const number of pagesFor(view.first, Math.min(view.last, known - 1))) {
      const start = number * PAGE, end = Math.min(start + PAGE, known);
      const has = pages.has(number) || (isFirst && end <= first.rows.length);
      if (!has && known > 0) void fetchPage(number);
    }
  }, [view, known, key, pages]);

  const height = Math.min(known * ROW_HEIGHT, MOST_PIXELS), [top, setTop] = useState(0);
  const shift = shiftAt(top, known, box.current?.clientHeight ?? 0);
  const scroll = () => {
    const element = box.current;
    if (!element) return;
    const at = element.scrollTop + shiftAt(element.scrollTop, known, element.clientHeight);
    const from = Math.floor(at / ROW_HEIGHT), to = Math.ceil((at + element.clientHeight) / ROW_HEIGHT);
    setTop(element.scrollTop);
    setView({ first: Math.max(0, from - AROUND), last: Math.min(known - 1, to + AROUND) });
  };
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const size = new ResizeObserver(scroll);
    size.observe(element);
    scroll();
    return () => size.disconnect();
  }, [known]);

  const order = (name: string) => {
    const next = sort?.name !== name ? { name, descending: false } : sort.descending ? null : { name, descending: true };
    setSort(next);
    kept?.keep({ sort: next ? `${next.descending ? "-" : ""}${next.name}` : "" });
  };
  const narrow = (text: string) => {
    setFilter(text);
    kept?.keep({ match: text });
  };

  // The rows that are picked, or else all that were read, with exact values.
  const taken = async (): Promise<(string | null)[][]> => {
    const numbers = picked.size ? [...picked].sort((a, b) => a - b) : Array.from({ length: known }, (_, at) => at).filter((at) => rowAt(at));
    const some = numbers.slice(0, MOST_COPIED), read = new Map<number, RowPage>();
    for (const number of new Set(some.filter((at) => !rowAt(at)).map((at) => Math.floor(at / PAGE)))) {
      const page = await fetchPage(number);
      if (page) read.set(number, page);
    }
    return some.flatMap((at) => {
      const page = read.get(Math.floor(at / PAGE)), cells = page?.rows[at % PAGE];
      const row = rowAt(at) ?? (page && cells && { cells, exact: (one: number) => page.exact[one]?.[at % PAGE] ?? null });
      return row ? [shown.map((one) => valueOf(row, one))] : [];
    });
  };
  const kinds = shown.map((one) => ({ name: one.name, isNumber: one.kind !== "text" }));
  const copy = async (form: "TSV" | "JSON" | "SQL"): Promise<void> => {
    const rows = await taken(), at = Math.min(column, shown.length - 1), one = kinds[at];
    const text = form === "TSV" ? tsv(kinds.map(({ name }) => name), rows) : form === "JSON" ? jsonOf(kinds, rows) : one ? inList(one, rows.map((row) => row[at] ?? null)) : "";
    await navigator.clipboard.writeText(text);
    setCopied(`${rows.length.toLocaleString("en")} row${rows.length === 1 ? "" : "s"} copied`);
    setTimeout(() => setCopied(""), 3_000);
  };

  const show = (at: number) => {
    const element = box.current;
    if (!element) return;
    const above = at * ROW_HEIGHT - shift, below = above + 2 * ROW_HEIGHT;
    if (above < element.scrollTop) element.scrollTop += above - element.scrollTop;
    else if (below > element.scrollTop + element.clientHeight) element.scrollTop = below - element.clientHeight;
  };
  const pick = (at: number, more: boolean, through: boolean) => {
    if (through && anchor.current >= 0) {
      const [from, to] = [Math.min(anchor.current, at), Math.max(anchor.current, at)];
      setPicked(new Set(Array.from({ length: Math.min(MOST_COPIED, to - from + 1) }, (_, one) => from + one)));
      return;
    }
    anchor.current = at;
    setPicked((before) => {
      const next = new Set(more ? before : []);
      if (!next.delete(at)) next.add(at);
      return next;
    });
  };
  const keys = (event: TargetedKeyboardEvent<HTMLDivElement>) => {
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 15, PageUp: -15, Home: -known, End: known }[event.key];
    const across = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const active = walked.current;
    if (event.key === "Enter" && active >= 0) press(active);
    else if (event.key === " " && active >= 0) box.current?.querySelector(".grid-row.active .cell.active")?.dispatchEvent(new CustomEvent("preview", { bubbles: true }));
    else if ((event.ctrlKey || event.metaKey) && event.key === "a") setPicked(new Set(Array.from({ length: Math.min(known, MOST_COPIED) }, (_, at) => at)));
    else if ((event.ctrlKey || event.metaKey) && event.key === "c") void copy("TSV");
    else if (event.key === "s" && shown[column]) order(shown[column].name);
    else if (across) setColumn(Math.max(0, Math.min(shown.length - 1, column + across)));
    else if (step === undefined) return;
    else {
      const to = Math.max(0, Math.min(known - 1, active + step));
      if (event.shiftKey) {
        if (anchor.current < 0) anchor.current = Math.max(0, active);
        pick(to, false, true);
      }
      go(to);
      show(to);
    }
    event.preventDefault();
    event.stopPropagation();
  };
  // Open what the cell names, or else what the first cell of the row names that names something.
  const press = (at: number, place = column) => {
    go(at);
    const row = rowAt(at), names = (one: Shown | undefined): boolean => Boolean(one?.link && row?.cells[one.at]);
    const about = names(shown[place]) ? shown[place] : shown.find(names);
    if (row && about) open?.(about.link, row.cells[about.at] ?? "");
  };
  const click = (event: TargetedMouseEvent<HTMLDivElement>, at: number) => {
    const cell = event.target instanceof Element ? event.target.closest<HTMLElement>("[data-column]") : null, place = Number(cell?.dataset["column"] ?? column);
    setColumn(place);
    if (event.shiftKey || event.ctrlKey || event.metaKey) {
      go(at);
      pick(at, event.ctrlKey || event.metaKey, event.shiftKey);
      return;
    }
    anchor.current = at;
    setPicked(new Set());
    press(at, place);
  };
  const drag = (event: TargetedPointerEvent<HTMLElement>, name: string) => {
    const from = event.clientX, wide = widthOf(name), grip = event.currentTarget;
    grip.setPointerCapture(event.pointerId);
    const move = (to: PointerEvent) => setWidths((before) => ({ ...before, [name]: Math.max(LEAST_WIDTH, wide + to.clientX - from) }));
    grip.addEventListener("pointermove", move);
    grip.addEventListener("pointerup", () => grip.removeEventListener("pointermove", move), { once: true });
    event.preventDefault();
  };

  const visible = [], isPrinted = printed.value, last = Math.min(isPrinted ? MOST_PRINTED - 1 : view.last, known - 1);
  for (let at = isPrinted ? 0 : view.first; at <= last; at += 1) if (!isPrinted || rowAt(at)) visible.push(at);
  const words = total === null ? `more than ${first.rows.length.toLocaleString("en")}` : total.toLocaleString("en");
  const counted = isRefused ? `No ${what} are shown` : filter && !pages.size ? "Filtering…" : filter ? `${words} ${countedOf(what, words)} ${words === "1" ? "matches" : "match"}${first.total === null ? "" : `, of ${first.total.toLocaleString("en")}`}` : `${words} ${countedOf(what, words)}`;
  const clear = () => {
    narrow("");
    if (filterField.current) filterField.current.value = "";
  };
  return (
    <div class="grid">
      <div class="grid-bar">
        <span class="count" role="status">{copied || [counted, picked.size ? `${picked.size.toLocaleString("en")} selected` : ""].filter(Boolean).join(" · ")}</span>
        <input
          type="search" class="grid-filter" aria-label={`Filter ${what}`} placeholder={exampleOf(shown, first.rows)} spellcheck={false} ref={filterField}
          defaultValue={filter} onChange={(event) => narrow(event.currentTarget.value.trim())}
        />
        <Menu name={chosen.size < columns.length ? `Columns: ${shown.length} of ${columns.length}` : "Columns"} hint="Which columns are shown">
          {columns.map(({ name }) => (
            <label key={name} class="check"><input type="checkbox" checked={chosen.has(name)} disabled={chosen.has(name) && chosen.size === 1} onChange={() => {
              const next = new Set(chosen);
              if (!next.delete(name)) next.add(name);
              setChoice({ of: names, names: next });
            }} />{name}</label>
          ))}
          <span class="menu-row">
            <button type="button" onClick={() => setChoice({ of: names, names: new Set(columns.map(({ name }) => name)) })}>All</button>
            <button type="button" onClick={() => setChoice(null)}>Show the usual ones</button>
          </span>
        </Menu>
        <Menu name="Copy" hint={picked.size ? "The selected rows" : "The rows that were read; Shift+click selects some"}>
          <button type="button" onClick={() => void copy("TSV")}>As a table (TSV)</button>
          <button type="button" onClick={() => void copy("JSON")}>As JSON</button>
          <button type="button" onClick={() => void copy("SQL")}>{`${shown[column]?.name ?? ""} as SQL: IN (…)`}</button>
        </Menu>
        {isSaved(question) && !formOf(question.question)?.writes && ["csv", "parquet"].map((format) => (
          <a key={format} class="save" href={fileOf(question, format, block)} download="" title="Save all rows of this list">{format.toUpperCase()}</a>
        ))}
      </div>
      {problem && <Message level="error">{problem}</Message>}
      <div class={leads ? "grid-box leads" : "grid-box"} ref={box} onScroll={scroll} tabIndex={0} role="grid" aria-label={what} aria-rowcount={known + 1}
        aria-multiselectable="true" aria-colcount={shown.length} aria-activedescendant={active >= 0 ? `row-${block}-${active}` : undefined} onKeyDown={keys}>
        <div class="grid-head" role="row" aria-rowindex={1}>
          {shown.map((one, at) => (
            <div key={one.name} role="columnheader" class={cellClass(one, at)} style={{ width: `${widthOf(one.name)}px` }}
              aria-sort={sort?.name === one.name ? (sort.descending ? "descending" : "ascending") : "none"}>
              <button type="button" tabIndex={-1} onClick={() => order(one.name)} title={`Sort by ${one.name}`}>
                {one.name}{sort?.name === one.name && <span aria-hidden="true">{sort.descending ? " ↓" : " ↑"}</span>}
              </button>
              <span class="cell-grip" aria-hidden="true" onPointerDown={(event) => drag(event, one.name)} onDblClick={() => setWidths(({ [one.name]: _, ...rest }) => rest)} />
            </div>
          ))}
        </div>
        <div class="grid-rows" style={{ height: `${height}px` }} role="rowgroup">
          {visible.map((at) => {
            const row = rowAt(at), isSelected = Boolean(selected) && row?.cells.includes(selected ?? ""), isPicked = picked.has(at);
            return (
              <div key={at} id={`row-${block}-${at}`} role="row" aria-rowindex={at + 2} aria-selected={isSelected || isPicked}
                class={`grid-row${at === active ? " active" : ""}${isSelected ? " selected" : ""}${isPicked ? " picked" : ""}`}
                style={{ transform: `translateY(${at * ROW_HEIGHT - shift}px)` }} onClick={(event) => click(event, at)}>
                {shown.map((one, place) => <Cell key={one.name} row={row} column={one} place={place} width={widthOf(one.name)} isActive={at === active && place === column} leads={leads} />)}
              </div>
            );
          })}
        </div>
        {isPrinted && visible.length < known && <p class="muted">{(known - visible.length).toLocaleString("en")} more rows were not read here: save the list as CSV.</p>}
        {known === 0 && (
          <p class="empty">{filter ? <>{isRefused ? "The filter was not applied." : `No ${what} match this filter.`} <button type="button" onClick={clear}>Show all {what}</button></> : `There are no ${what} here.`}</p>
        )}
      </div>
    </div>
  );
}

function Cell({ row, column, place, width, isActive, leads }: { row: Row | undefined; column: Shown; place: number; width: number; isActive: boolean; leads: boolean }) {
  const value = row?.cells[column.at], exact = row?.exact(column.at), isLink = leads && column.link !== "" && Boolean(value);
  const text = row === undefined ? "…" : value === null || value === undefined ? "null" : column.link ? shortPath(value) : showBlanks(value);
  const title = exact && exact !== value ? `${Number(exact).toLocaleString("en")}${column.kind === "bytes" ? " bytes" : " ms since 1970"}` : value && (column.link || value.length > LOW / 2) ? value : undefined;
  return (
    <div role="gridcell" class={`${cellClass(column, place)}${value === null ? " null" : ""}${isLink ? " link" : ""}${isActive ? " active" : ""}`} style={{ width: `${width}px` }} title={title}
      data-column={place} {...(isLink ? { "data-link-kind": column.link, "data-link-key": value ?? "" } : {})}>{text}</div>
  );
}

function cellClass({ kind }: Column, place: number): string {
  return `cell cell-${kind}${place === 0 ? " pinned" : ""}`;
}

// A value as it is stored: sizes and times as numbers.
// Blanks at the ends of a value, which nobody would see; what is copied has them as they are.
function showBlanks(text: string): string {
  let start = 0, end = text.length;
  while (start < end && text[start] === " ") start += 1;
  while (end > start && text[end - 1] === " ") end -= 1;
  return "␣".repeat(start) + text.slice(start, end) + "␣".repeat(text.length - end);
}

function valueOf(row: Row, { at, kind }: Shown): string | null {
  const value = row.cells[at] ?? null;
  return kind === "number" ? value && value.replaceAll(",", "") : row.exact(at) ?? value;
}

function exampleOf(shown: readonly Shown[], rows: RowPage["rows"]): string {
  const values = shown.map(({ at }) => rows[0]?.[at] ?? null);
  const text = shown.findIndex(({ kind, link }, i) => kind === "text" && !link && /^[A-Za-z][\w-]{0,20}$/.test(values[i] ?? ""));
  if (text >= 0 && !["True", "False"].includes(values[text] ?? "")) return `Filter, such as ${shown[text]?.name} = '${values[text]}'`;
  const number = shown.findIndex(({ kind }, i) => kind === "number" && values[i]);
  return number >= 0 ? `Filter, such as ${shown[number]?.name} >= ${values[number]?.replaceAll(",", "")}` : shown[0] ? `Filter, such as ${shown[0].name} IS NOT NULL` : "Filter";
}
