// A table of many rows: those near what is seen are fetched, sorted and filtered on the server.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { TargetedKeyboardEvent } from "preact";
import type { Column, Question, RowPage } from "./protocol";
import { RequestError } from "./protocol";
import { downloads, fileOf, question as formOf, server } from "./store";
import { Message } from "./parts";
import { AROUND, MOST_PIXELS, PAGE, pagesFor, ROW_HEIGHT, shiftAt, tsv } from "./row-window";
import { shortPath } from "./words";

const LOW = 48;

interface Props {
  question: Question;
  block: number;
  columns: Column[];
  first: RowPage;
  what: string;
  selected?: string;
  open?: (kind: string, key: string) => void;
}

export function Grid({ question, block, columns, first, what, selected, open }: Props) {
  const [isWhole, setWhole] = useState(false);
  const [sort, setSort] = useState<{ name: string; descending: boolean } | null>(null);
  const [filter, setFilter] = useState("");
  const [total, setTotal] = useState(first.total);
  const [pages, setPages] = useState(new Map<number, (string | null)[][]>());
  const [view, setView] = useState({ first: 0, last: 40 });
  const [problem, setProblem] = useState("");
  const [active, setActive] = useState(-1);
  const box = useRef<HTMLDivElement>(null), pending = useRef(new Set<number>());
  const isFirst = sort === null && filter === "";
  const shown = useMemo(() => columns.map((column, at) => ({ ...column, at })).filter((one) => isWhole || one.first), [columns, isWhole]);
  const about = { ...question, block, sort: sort?.name ?? "", descending: sort?.descending ?? false, filter };
  const key = JSON.stringify(about);

  // What was read belongs to one order and one filter.
  useEffect(() => {
    pending.current = new Set();
    setPages(new Map());
    setProblem("");
    setActive(-1);
    if (isFirst) setTotal(first.total);
    if (!isFirst || first.total === null) void count();
    if (!isFirst) void fetchPage(0);
    box.current?.scrollTo({ top: 0 });
  }, [key]);

  async function count(): Promise<void> {
    try {
      const told = await server().request<RowPage>("rows", { ...about, start: 0, count: 0 }, `count ${key}`);
      setTotal(told.total);
    } catch (error) {
      refuse(error);
    }
  }

  async function fetchPage(number: number): Promise<void> {
    if (pending.current.has(number)) return;
    const mine = pending.current;
    mine.add(number);
    try {
      const page = await server().request<RowPage>("rows", { ...about, start: number * PAGE, count: PAGE });
      if (mine !== pending.current) return;
      setPages((before) => new Map(before).set(number, page.rows));
      if (page.total !== null) setTotal(page.total);
    } catch (error) {
      refuse(error);
    }
  }

  function refuse(error: unknown): void {
    if (error instanceof RequestError && error.kind === "cancelled") return;
    setProblem(error instanceof Error ? error.message : String(error));
  }

  const known = total ?? Math.max(first.rows.length, ...[...pages].map(([number, rows]) => number * PAGE + rows.length));
  const rowAt = (at: number) => pages.get(Math.floor(at / PAGE))?.[at % PAGE] ?? (isFirst ? first.rows[at] : undefined);

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

  const order = (name: string) => setSort((before) =>
    before?.name !== name ? { name, descending: false } : before.descending ? null : { name, descending: true });
  const copyRows = () => {
    const rows = Array.from({ length: known }, (_, at) => rowAt(at)).filter((row) => row !== undefined);
    void navigator.clipboard.writeText(tsv(shown.map((one) => one.name), rows.map((row) => shown.map((one) => row[one.at] ?? null))));
  };
  const keys = (event: TargetedKeyboardEvent<HTMLDivElement>) => {
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 15, PageUp: -15, Home: -known, End: known }[event.key];
    if (event.key === "Enter" && active >= 0) press(active);
    else if (step === undefined) return;
    else {
      const to = Math.max(0, Math.min(known - 1, active + step));
      setActive(to);
      const element = box.current;
      if (element) {
        const above = to * ROW_HEIGHT - shift, below = above + 2 * ROW_HEIGHT;
        if (above < element.scrollTop) element.scrollTop += above - element.scrollTop;
        else if (below > element.scrollTop + element.clientHeight) element.scrollTop = below - element.clientHeight;
      }
    }
    event.preventDefault();
    event.stopPropagation();
  };
  const press = (at: number) => {
    setActive(at);
    const row = rowAt(at), about = shown.find((one) => one.link && row?.[one.at]);
    if (row && about) open?.(about.link, row[about.at] ?? "");
  };

  const visible = [];
  for (let at = view.first; at <= Math.min(view.last, known - 1); at += 1) visible.push(at);
  const words = total === null ? `more than ${first.rows.length.toLocaleString("en")}` : total.toLocaleString("en");
  return (
    <div class="grid">
      <div class="grid-bar">
        <span class="count" role="status">{`${words} ${what}`}{filter && " match"}</span>
        <input
          type="search" class="grid-filter" aria-label={`Filter ${what}`} placeholder="Filter, such as record_count > 1000" spellcheck={false}
          onChange={(event) => setFilter(event.currentTarget.value.trim())}
        />
        {shown.length < columns.length || isWhole
          ? <label class="check"><input type="checkbox" checked={isWhole} onChange={() => setWhole(!isWhole)} />All {columns.length} columns</label>
          : null}
        <button type="button" onClick={copyRows} title="Copy the rows that were read, for a spreadsheet">Copy</button>
        {downloads.value && !formOf(question.question)?.writes && ["csv", "parquet"].map((format) => (
          <a key={format} class="save" href={fileOf(question, format, block)} download="" title="Save all rows of this list">{format.toUpperCase()}</a>
        ))}
      </div>
      {problem && <Message level="error">{problem}</Message>}
      <div class="grid-box" ref={box} onScroll={scroll} tabIndex={0} role="grid" aria-label={what} aria-rowcount={known + 1}
        aria-colcount={shown.length} aria-activedescendant={active >= 0 ? `row-${block}-${active}` : undefined} onKeyDown={keys}>
        <div class="grid-head" role="row" aria-rowindex={1}>
          {shown.map((column) => (
            <div key={column.name} role="columnheader" class={`cell cell-${column.kind} ${wide(column)}`}
              aria-sort={sort?.name === column.name ? (sort.descending ? "descending" : "ascending") : "none"}>
              <button type="button" tabIndex={-1} onClick={() => order(column.name)} title={`Sort by ${column.name}`}>
                {column.name}{sort?.name === column.name && <span aria-hidden="true">{sort.descending ? " ↓" : " ↑"}</span>}
              </button>
            </div>
          ))}
        </div>
        <div class="grid-rows" style={{ height: `${height}px` }} role="rowgroup">
          {visible.map((at) => {
            const row = rowAt(at);
            const isSelected = selected !== undefined && selected !== "" && row?.includes(selected);
            return (
              <div key={at} id={`row-${block}-${at}`} role="row" aria-rowindex={at + 2} aria-selected={isSelected}
                class={`grid-row${at === active ? " active" : ""}${isSelected ? " selected" : ""}`}
                style={{ transform: `translateY(${at * ROW_HEIGHT - shift}px)` }} onClick={() => press(at)}>
                {shown.map((column) => {
                  const value = row?.[column.at];
                  return (
                    <div key={column.name} role="gridcell" class={`cell cell-${column.kind} ${wide(column)}${value === null ? " null" : ""}${column.link ? " link" : ""}`}
                      title={value && value.length > LOW / 2 ? value : undefined}>
                      {row === undefined ? "…" : value === null ? "null" : column.link ? shortPath(value ?? "") : value}
                    </div>
                  );
                })}
              </div>
            );
          })}
        </div>
        {known === 0 && <p class="empty">{filter ? `No ${what} match this filter.` : `There are no ${what}.`}</p>}
      </div>
    </div>
  );
}

function wide(column: Column): string {
  return /reason|because|summary|partitions?$|detail|message|path|list$|file$/.test(column.name) ? "wide" : "";
}
