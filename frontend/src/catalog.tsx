// Catalogs, namespaces and tables, listed as they are unfolded; tables that were open; and a field for any other.

import { useState } from "preact/hooks";
import { CatalogForm, CredentialsForm } from "./add-catalog";
import { go, hello, isCatalogOpen, moves, open, ownCredentials, pin, pinned, place, problem, recent, server } from "./store";
import { Field, IconButton, Working } from "./parts";

const SANDBOX = "sandbox", NEW = "a new catalog"; // which is no name of one

interface Loaded<T> {
  isOpen: boolean;
  items: T[] | null;
  problem: string;
}

function useList<T>(load: () => Promise<T[]>): [Loaded<T>, () => void] {
  const [state, setState] = useState<Loaded<T>>({ isOpen: false, items: null, problem: "" });
  const toggle = () => {
    setState((before) => ({ ...before, isOpen: !before.isOpen }));
    if (state.isOpen || state.items) return;
    load().then(
      (items) => setState((before) => ({ ...before, items, problem: "" })),
      (error: unknown) => setState((before) => ({ ...before, problem: error instanceof Error ? error.message : String(error) })),
    );
  };
  return [state, toggle];
}

function Branch<T>({ name, level, load, render, beside }: {
  name: string; level: number; load: () => Promise<T[]>; render: (item: T) => preact.ComponentChildren; beside?: preact.ComponentChildren;
}) {
  const [state, toggle] = useList(load);
  return (
    <li role="treeitem" aria-expanded={state.isOpen} aria-level={level}>
      <button type="button" class="tree-button" onClick={toggle}><span aria-hidden="true">{state.isOpen ? "▾" : "▸"}</span> {name}</button>
      {beside}
      {state.isOpen && (
        <ul role="group">
          {state.problem && <li class="muted">{state.problem}</li>}
          {!state.problem && !state.items && <li><Working text="Reading…" /></li>}
          {state.items?.length === 0 && <li class="muted">empty</li>}
          {state.items?.map(render)}
        </ul>
      )}
    </li>
  );
}

export function openTable(table: string): void {
  isCatalogOpen.value = false;
  go({ table });
}

export function CatalogPanel() {
  const [text, setText] = useState(""), [form, setForm] = useState("");
  const told = hello.value;
  if (!told) return null;
  const wanted = text.toLowerCase();
  const matches = (name: string) => name.toLowerCase().includes(wanted);
  return (
    <aside class="catalog" aria-label="Tables">
      <div class="catalog-head"><h2>Tables</h2><IconButton icon="close" name="Close the list of tables" press={() => (isCatalogOpen.value = false)} /></div>
      <Field label="Open" value="" hint="db.table, a folder or a metadata.json" enter={(name) => name && openTable(name)} />
      <label class="field"><span>Filter tables</span>
        <input type="search" value={text} onInput={(event) => setText(event.currentTarget.value)} /></label>
      {told.rights.moves && (
        <details class="moves">
          <summary>Places that moved</summary>
          <textarea rows={2} spellcheck={false} aria-label="Places that moved, OLD=NEW, one a line" placeholder="s3://bucket/house=/mirror/house"
            value={moves.value.join("\n")} onChange={(event) => {
              moves.value = event.currentTarget.value.split("\n").map((line) => line.trim()).filter(Boolean);
              if (place.value.table) void open();
            }} />
        </details>
      )}
      {pinned.value.length > 0 && <h3>Pinned</h3>}
      <ul class="plain">{pinned.value.filter(matches).map((name) => <TableItem key={name} name={name} />)}</ul>
      {recent.value.length > 0 && <h3>Recent</h3>}
      <ul class="plain">{recent.value.filter(matches).map((name) => <TableItem key={name} name={name} />)}</ul>
      <h3>Catalogs</h3>
      <ul class="plain tree" role="tree" aria-label="Catalogs">
        {told.catalogs.map((catalog) => (
          <Branch<string[]> key={`${catalog} ${ownCredentials.value.has(catalog)}`} name={catalog} level={1}
            beside={catalog !== SANDBOX && (
              <IconButton icon="key" name={`Credentials for ${catalog}`} pressed={ownCredentials.value.has(catalog)} press={() => setForm(catalog)} />
            )}
            load={async () => (await server().request<{ namespaces: string[][] }>("catalogs", { catalog })).namespaces}
            render={(space) => (
              <Branch<string> key={space.join(".")} name={space.join(".")} level={2}
                load={async () => (await server().request<{ tables: string[] }>("catalogs", { catalog, namespace: space })).tables}
                render={(name) => matches(name) && <TableItem key={name} name={name} short />} />
            )} />
        ))}
      </ul>
      {form === "" && told.rights.catalogs && <button type="button" onClick={() => setForm(NEW)}>Add a catalog…</button>}
      {form === NEW ? <CatalogForm done={() => setForm("")} /> : form !== "" && <CredentialsForm key={form} catalog={form} done={() => setForm("")} />}
    </aside>
  );
}

function TableItem({ name, short }: { name: string; short?: boolean }) {
  const isHere = place.value.table === name, isPinned = pinned.value.includes(name);
  return (
    <li class="table-item" role={short ? "treeitem" : undefined} aria-level={short ? 3 : undefined}>
      <button type="button" class="tree-button" aria-current={isHere ? "true" : undefined} title={name} onClick={() => openTable(name)}>
        {short ? name.slice(name.lastIndexOf(".") + 1) : name}
      </button>
      <button type="button" class="pin" aria-pressed={isPinned} aria-label={`Pin ${name}`} title={isPinned ? "Unpin" : "Pin"} onClick={() => pin(name)}>
        {isPinned ? "★" : "☆"}
      </button>
    </li>
  );
}

// The page of who has opened nothing.
export function Welcome() {
  const told = hello.value;
  return (
    <main class="welcome">
      <h1>What is in your Iceberg table?</h1>
      <p>
        An Iceberg table is a tree of files: a metadata file names snapshots, each snapshot a list of manifests, and each manifest data
        and delete files. This page shows that tree, how each commit changed it, which rows are visible and why, and what a query reads.
        It writes to no table of yours.
      </p>
      {problem.value && <p class="message message-error" role="alert"><b>Error: </b>{problem.value}</p>}
      <div class="welcome-open">
        <Field label="Open a table" value={place.value.table} hint="catalog.db.table, a folder or a metadata.json" width="28rem" enter={(name) => name && openTable(name)} />
        <button type="button" onClick={() => (isCatalogOpen.value = true)}>Browse catalogs</button>
      </div>
      <h2>Or begin with a teaching table</h2>
      {told?.teaching.length === 0 && <p class="muted">They are not there yet: run <code>icedive demo</code>, which makes them, and load this page again.</p>}
      <ul class="cards">
        {told?.teaching.map((one) => (
          <li key={one.table}>
            <button type="button" onClick={() => openTable(one.table)}><b>{one.name}</b><span>{one.teaches}</span></button>
          </li>
        ))}
      </ul>
    </main>
  );
}
