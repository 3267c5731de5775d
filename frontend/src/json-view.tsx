// JSON as a tree that unfolds, with search, the meaning of its names, and an older version beside it.

import { useMemo, useRef, useState } from "preact/hooks";
import type { TargetedKeyboardEvent } from "preact";
import { brief, firstOpen, matches, rowsOf, treeOf, type JsonNode, type JsonRow } from "./json-tree";
import type { Block } from "./protocol";
import { hello } from "./store";

const MOST = 2_000;
const SIGNS: Record<string, string> = { added: "+", removed: "−", changed: "≠" };

export function JsonView({ block }: { block: Extract<Block, { kind: "json" }> }) {
  const root = useMemo(() => treeOf(block.value, block.older), [block]), isCompared = block.older !== null;
  const [open, setOpen] = useState<ReadonlySet<string>>(() => firstOpen(root)), [search, setSearch] = useState(""), [onlyChanges, setOnly] = useState(isCompared);
  const [active, setActive] = useState(0), box = useRef<HTMLDivElement>(null);
  const [pressed, setPressed] = useState<ReadonlySet<string>>(new Set()), isSearched = search.trim() !== ""; // while something is searched
  const { rows, found } = useMemo(() => rowsOf(root, isSearched ? pressed : open, search, onlyChanges), [root, open, pressed, search, onlyChanges]);
  const terms = hello.value?.vocabulary.terms ?? {}, wanted = search.trim().toLowerCase();
  const toggle = ({ path, kind }: JsonNode): void => {
    if (kind === "value") return;
    (isSearched ? setPressed : setOpen)((before) => {
      const next = new Set(before);
      if (!next.delete(path)) next.add(path);
      return next;
    });
  };
  const all = (): void => {
    const paths = new Set<string>(), visit = (node: JsonNode): void => node.children.forEach((one) => {
      if (one.kind === "value") return;
      paths.add(one.path);
      visit(one);
    });
    visit(root);
    setOpen(paths);
  };
  const go = (to: number): void => {
    const at = Math.max(0, Math.min(Math.min(rows.length, MOST) - 1, to));
    setActive(at);
    box.current?.children[at]?.scrollIntoView({ block: "nearest" });
  };
  const keys = (event: TargetedKeyboardEvent<HTMLDivElement>): void => {
    const row = rows[active];
    const acts: Record<string, () => void> = {
      ArrowDown: () => go(active + 1), ArrowUp: () => go(active - 1), Home: () => go(0), End: () => go(rows.length),
      Enter: () => row && toggle(row.node), " ": () => row && toggle(row.node),
      ArrowRight: () => (row && !row.isOpen ? toggle(row.node) : go(active + 1)),
      ArrowLeft: () => (row?.isOpen ? toggle(row.node) : go(rows.slice(0, active).map(({ level }) => level).lastIndexOf((row?.level ?? 1) - 1))),
    };
    const act = acts[event.key];
    if (!act) return;
    act();
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <section class="json" aria-label={block.title}>
      <div class="json-bar">
        <b>{block.title}</b>{isCompared && <span class="muted">beside {block.older_title}</span>}
        <input type="search" class="grid-filter" aria-label="Search the JSON" placeholder="Search names and values" value={search} spellcheck={false}
          onInput={(event) => {
            setSearch(event.currentTarget.value);
            setPressed(new Set());
            setActive(0);
          }} />
        <span class="muted" role="status">{wanted && (found ? `${found.toLocaleString("en")} found` : "Nothing found: look for another name or value.")}</span>
        {isCompared && <label class="check"><input type="checkbox" checked={onlyChanges} onChange={() => setOnly(!onlyChanges)} />Only changes</label>}
        <button type="button" onClick={all}>Unfold all</button>
        <button type="button" onClick={() => setOpen(new Set())}>Fold all</button>
      </div>
      {isCompared && root.change === "" && <p class="muted">Both metadata files are the same.</p>}
      <div class="json-tree" role="tree" aria-label={block.title} tabIndex={0} ref={box} onKeyDown={keys}
        aria-activedescendant={rows[active] ? `json-${active}` : undefined}>
        {rows.slice(0, MOST).map((row, at) => (
          <Line key={row.node.path} row={row} at={at} isActive={at === active} isCompared={isCompared} term={Object.hasOwn(terms, row.node.name) ? terms[row.node.name] : undefined}
            isFound={wanted !== "" && matches(row.node, wanted)} press={() => {
              setActive(at);
              toggle(row.node);
            }} />
        ))}
      </div>
      {rows.length > MOST && <p class="muted">{(rows.length - MOST).toLocaleString("en")} more lines: search, or fold what is above.</p>}
    </section>
  );
}

function Line({ row, at, isActive, isCompared, isFound, term, press }: {
  row: JsonRow; at: number; isActive: boolean; isCompared: boolean; isFound: boolean; term: string | undefined; press: () => void;
}) {
  const { node, level, isOpen } = row, isLeaf = node.kind === "value", sign = SIGNS[node.change];
  const names = ["json-line", ...(isActive ? ["active"] : []), ...(isFound ? ["found"] : []), ...(isCompared && node.change ? [`json-${node.change}`] : [])];
  return (
    <div id={`json-${at}`} class={names.join(" ")} role="treeitem" aria-level={level} aria-expanded={isLeaf ? undefined : isOpen}
      aria-posinset={row.position} aria-setsize={row.size} aria-selected={isActive} style={{ paddingLeft: `${(level - 1) * 18 + 4}px` }} onClick={press}>
      <span class="json-fold" aria-hidden="true">{isLeaf ? "" : isOpen ? "▾" : "▸"}</span>
      {isCompared && <span class="json-sign" aria-label={node.change || undefined}>{sign}</span>}
      <span class={term ? "json-name inspector-term" : "json-name"} title={term}>{node.name}</span>
      {isLeaf ? <Value node={node} isCompared={isCompared} /> : !isOpen && <span class="muted json-brief">{brief(node)}</span>}
    </div>
  );
}

function Value({ node, isCompared }: { node: JsonNode; isCompared: boolean }) {
  const { text, before, change } = node;
  if (!isCompared || change === "" || change === "added") return <span class={look(text)} title={hint(node.name, text)}>{text}</span>;
  return <><del class={look(before)} title={hint(node.name, before)}>{before}</del>{change === "changed" && text && <ins class={look(text)} title={hint(node.name, text)}>{text}</ins>}</>;
}

function look(text: string): string {
  return `json-value ${text.startsWith('"') ? "json-text" : text === "null" ? "json-null" : "json-number"}`;
}

// A time in milliseconds as one that people read.
function hint(name: string, text: string): string | undefined {
  const time = /(?:^|-)ms$/.test(name) && /^\d{12,14}$/.test(text) ? new Date(Number(text)) : null;
  return time ? `${time.toISOString().replace("T", " ").replace("Z", " UTC")}` : undefined;
}
