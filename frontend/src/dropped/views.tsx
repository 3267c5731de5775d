// The four views of a dropped table.

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Working } from "../parts";
import { SmallTable } from "../small-table";
import { shortPath } from "../words";
import { entriesAsOf, entriesOf, fileKind, type Entry } from "./entries";
import { isObject, type Int } from "./json";
import { difference, firstOf, lifecycle, manifestNames, type Cell, type Change, type Difference } from "./snapshots";
import { snapshotKey, type Manifest, type Snapshot, type Table } from "./table";

type View = { table: Table; told: () => void };
const AT_ONCE = 500, COLUMNS = 200, LONGEST = 400;
const KINDS: Record<string, string> = { data_file: "data", position_deletes: "position deletes", equality_deletes: "equality deletes", deletion_vector: "deletion vector" };

// What takes time, and then what it gives. `told` is called afterwards: there may be problems more.
function useAnswer<T>(ask: () => Promise<T>, asked: readonly unknown[], told: () => void): { value: T | null; failure: string } {
  const [answer, setAnswer] = useState<{ value: T | null; failure: string }>({ value: null, failure: "" });
  useEffect(() => {
    let isWanted = true;
    setAnswer({ value: null, failure: "" });
    const give = (value: T | null, failure: string): void => {
      if (!isWanted) return;
      setAnswer({ value, failure });
      told();
    };
    ask().then((value) => give(value, ""), (error: unknown) => give(null, error instanceof Error ? error.message : String(error)));
    return () => {
      isWanted = false;
    };
  }, asked);
  return answer;
}

function number(value: Int | null): string {
  return value === null ? "unknown" : value.toLocaleString("en");
}

function newestFirst(table: Table): Snapshot[] {
  return [...table.ordinals].sort((a, b) => b[1] - a[1]).map(([id]) => table.snapshot(id)).filter((one) => one !== null);
}

function snapshotWords(table: Table, snapshot: Snapshot): string {
  const refs = table.refs.filter((ref) => ref.snapshot === snapshot.id).map(({ name }) => name);
  const current = snapshot === table.current ? " (current)" : "";
  return `${table.snapshotName(snapshot.id)}${current} ${snapshot.operation}${refs.length ? `, ${refs.join(", ")}` : ""}`;
}

function moment(snapshot: Snapshot): string {
  const date = new Date(Number(snapshot.time ?? NaN));
  return Number.isNaN(date.getTime()) ? "" : `${date.toISOString().slice(0, 19).replace("T", " ")} UTC`;
}

// A text that is shown: of a long one its beginning and its end.
function cut(words: string): string {
  return words.length > LONGEST ? `${words.slice(0, LONGEST / 2)}…${words.slice(-LONGEST / 2)}` : words;
}

// All rows, some at a time.
function Rows({ label, head, rows }: { label: string; head: readonly string[]; rows: readonly (readonly string[])[] }) {
  const [shown, setShown] = useState(AT_ONCE);
  return (
    <>
      <SmallTable label={label} head={head} rows={rows.slice(0, shown).map((row) => row.map(cut))} />
      {rows.length > shown && (
        <p>{shown.toLocaleString("en")} of {rows.length.toLocaleString("en")} are shown. <button type="button" onClick={() => setShown(shown + 10 * AT_ONCE)}>Show more</button></p>
      )}
    </>
  );
}

function Branch({ words, note, children }: { words: string; note: string; children: () => ComponentChildren }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="dropped-branch" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary><b>{cut(words)}</b> <span class="muted">{cut(note)}</span></summary>
      {isOpen && children()}
    </details>
  );
}

export function TreeView({ table, told }: View) {
  const snapshots = newestFirst(table), [shown, setShown] = useState(AT_ONCE);
  if (!snapshots.length) return <p>The table has no snapshots: nothing was committed, or all were removed.</p>;
  return (
    <>
      {snapshots.slice(0, shown).map((snapshot) => (
        <Branch key={String(snapshot.id)} words={snapshotWords(table, snapshot)} note={`${moment(snapshot)}, id ${snapshot.id}, sequence number ${snapshot.sequence}`}>
          {() => <ManifestsOf table={table} snapshot={snapshot} told={told} />}
        </Branch>
      ))}
      {snapshots.length > shown && <p>{shown} of {snapshots.length} snapshots are shown. <button type="button" onClick={() => setShown(shown + AT_ONCE)}>Show more</button></p>}
    </>
  );
}

function ManifestsOf({ table, snapshot, told }: View & { snapshot: Snapshot }) {
  const { value, failure } = useAnswer(() => table.manifests(snapshot), [snapshot], told);
  if (failure) return <p role="alert">{failure}</p>;
  if (!value) return <Working text="Reading the manifest list…" />;
  const names = manifestNames(table, value);
  return (
    <div class="dropped-inside">
      <p class="muted">Manifest list: {shortPath(snapshot.list) || "none: the metadata file names the manifests"}; {value.length === 1 ? "one manifest" : `${value.length} manifests`}</p>
      {value.map((manifest, at) => (
        <Branch key={at} words={names.get(manifest.path) ?? ""} note={`${manifest.content ? "delete files" : "data files"}: ${number(manifest.added)} added, ${number(manifest.existing)} existing, ${number(manifest.deleted)} deleted; ${shortPath(manifest.path)}`}>
          {() => <EntriesOfManifest table={table} snapshot={snapshot} manifest={manifest} told={told} />}
        </Branch>
      ))}
    </div>
  );
}

function EntriesOfManifest({ table, snapshot, manifest, told }: View & { snapshot: Snapshot; manifest: Manifest }) {
  const { value, failure } = useAnswer(async () => entriesAsOf(table, manifest, (await table.stored(manifest)) ?? [], snapshot), [manifest, snapshot], told);
  if (failure) return <p role="alert">{failure}</p>;
  return value ? <EntryTable entries={value} names={null} /> : <Working text="Reading the manifest…" />;
}

function EntryTable({ entries, names }: { entries: readonly Entry[]; names: Map<string, string> | null }) {
  const head = ["As of the snapshot", "Stored", "Kind", "File", "Partition", "Rows", "Bytes", "Sequence number", "Why", ...(names ? ["Manifest"] : [])];
  const rows = entries.map((one) => [
    one.logical_status ?? "filtered out", ["EXISTING", "ADDED", "DELETED"][one.status] ?? String(one.status), KINDS[fileKind(one)] ?? "", shortPath(one.file_path),
    one.partition, number(one.record_count), number(one.content_size_in_bytes ?? one.file_size_in_bytes), one.sequence_number === null ? "null" : String(one.sequence_number),
    one.reason, ...(names ? [names.get(one.manifest_path) ?? ""] : []),
  ]);
  return <Rows label="Entries" head={head} rows={rows} />;
}

export function Choice({ label, value, options, choose }: {
  label: string; value: string; options: readonly (readonly [string, string])[]; choose: (value: string) => void;
}) {
  return (
    <label class="field dropped-choice">
      <span>{label}</span>
      <select value={value} onChange={(event) => choose(event.currentTarget.value)}>
        {options.map(([id, words]) => <option key={id} value={id}>{cut(words)}</option>)}
      </select>
    </label>
  );
}

function SnapshotChoice({ table, label, value, choose, hasNothing }: {
  table: Table; label: string; value: Snapshot | null; choose: (snapshot: Snapshot | null) => void; hasNothing?: boolean;
}) {
  const options = newestFirst(table).map((one) => [String(one.id), snapshotWords(table, one)] as const);
  return (
    <Choice label={label} value={value ? String(value.id) : ""} options={[...options, ...(hasNothing ? [["", "nothing: before the first"] as const] : [])]}
      choose={(id) => choose(newestFirst(table).find((one) => String(one.id) === id) ?? null)} />
  );
}

export function EntriesView({ table, told }: View) {
  const [snapshot, setSnapshot] = useState(table.current ?? newestFirst(table)[0] ?? null);
  const { value, failure } = useAnswer(() => entriesOf(table, snapshot), [snapshot], told);
  const listed = useAnswer(async () => table.manifests(snapshot), [snapshot], () => {});
  const isWhole = ![snapshot ? snapshotKey(snapshot) : "", snapshot?.list ?? "", ...(snapshot?.inline ?? []), ...(listed.value ?? []).map(({ path }) => path)].some((path) => table.whyUnread(path));
  const count = (status: string | null): number => value?.filter((one) => one.logical_status === status).length ?? 0;
  return (
    <>
      <SnapshotChoice table={table} label="As of" value={snapshot} choose={setSnapshot} />
      {failure && <p role="alert">{failure}</p>}
      {!value && !failure && <Working text="Reading manifests…" />}
      {value && <p>A reader of this snapshot sees {!isWhole && "at least "}{count("ADDED") + count("EXISTING")} of {value.length} entries: {count("ADDED")} ADDED, {count("EXISTING")} EXISTING; {count("DELETED")} DELETED, {count(null)} filtered out.</p>}
      {value && <EntryTable entries={value} names={manifestNames(table, listed.value ?? [])} />}
    </>
  );
}

export function LifecycleView({ table, told }: View) {
  const { value, failure } = useAnswer(() => lifecycle(table), [table], told);
  if (failure) return <p role="alert">{failure}</p>;
  if (!value) return <Working text="Reading manifests…" />;
  const columns = [...new Set(value.map(({ snapshot }) => snapshot))], shown = columns.slice(-COLUMNS), rows = new Map<string, Map<string, Cell>>();
  for (const cell of value) {
    const cells = rows.get(cell.manifest) ?? new Map<string, Cell>();
    rows.set(cell.manifest, cells.set(cell.snapshot, cell));
  }
  const drawn = [...rows].filter(([, cells]) => shown.some((name) => cells.has(name)));
  return (
    <>
      {columns.length > shown.length && <p>The last {shown.length} of {columns.length} snapshots are shown. “Save all as JSON” has all.</p>}
      <div class="small-table-box">
        <table class="small-table dropped-matrix" aria-label="Lifecycle of manifests">
          <thead><tr><th scope="col">Manifest</th>{shown.map((name) => <th key={name} scope="col">{name}</th>)}</tr></thead>
          <tbody>
            {drawn.slice(0, AT_ONCE).map(([name, cells]) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                {shown.map((at) => {
                  const cell = cells.get(at);
                  return <td key={at} class={cell ? `state-${cell.state}` : ""} title={cell?.reason}>{cell?.state ?? ""}{cell?.into.length ? ` → ${cell.into.join(", ")}` : ""}</td>;
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {drawn.length > AT_ONCE && <p>The first {AT_ONCE} of {drawn.length} manifests are shown. “Save all as JSON” has all.</p>}
    </>
  );
}

export function DifferenceView({ table, told }: View) {
  const newest = table.current ?? newestFirst(table)[0] ?? null;
  const [before, setBefore] = useState(table.snapshot(newest?.parent ?? null)), [after, setAfter] = useState(newest);
  const { value, failure } = useAnswer(() => difference(table, before, after), [before, after], told);
  const listed = useAnswer(async () => manifestNames(table, [...(await table.manifests(before)), ...(await table.manifests(after))]), [before, after], () => {});
  const name = (snapshot: Snapshot | null): string => (snapshot ? table.snapshotName(snapshot.id) : "nothing");
  return (
    <>
      <div class="fields">
        <SnapshotChoice table={table} label="From" value={before} choose={setBefore} hasNothing />
        <SnapshotChoice table={table} label="To" value={after} choose={setAfter} hasNothing />
      </div>
      {failure && <p role="alert">{failure}</p>}
      {!value && !failure && <Working text="Reading manifests…" />}
      {value && <Differences found={value} words={`From ${name(before)} to ${name(after)}`} names={listed.value ?? new Map<string, string>()} />}
    </>
  );
}

function Differences({ found, words, names }: { found: Difference; words: string; names: Map<string, string> }) {
  const rows = (side: string, changes: readonly Change[]): string[][] => changes.map((one) => [
    side, KINDS[one.kind] ?? one.kind, shortPath(one.file_path), one.partition, number(one.record_count), number(one.file_size_in_bytes), named(one.manifest_path),
  ]);
  const named = (path: string): string => names.get(path) ?? shortPath(path);
  const files = (count: number): string => (count === 1 ? "1 file" : `${count.toLocaleString("en")} files`);
  return (
    <>
      <p>{words}: {files(found.added.length)} added, {files(found.removed.length)} removed. Both sides list {found.kept.length} of the same manifests.</p>
      {found.added.length + found.removed.length > 0 && (
        <Rows label="Files" head={["", "Kind", "File", "Partition", "Rows", "Bytes", "Manifest"]} rows={[...rows("added", found.added), ...rows("removed", found.removed)]} />
      )}
      {found.rewritten.length + found.dropped.length > 0 && (
        <Rows label="Manifests that went" head={["Manifests", "What became of them", "Into"]} rows={[
          ...found.rewritten.map(({ sources, into, reason }) => [firstOf(sources.map(named)), reason, firstOf(into.map(named))]),
          ...found.dropped.map(({ manifest_path, reason }) => [named(manifest_path), reason, ""]),
        ]} />
      )}
    </>
  );
}

// Hand all answers to the person as a JSON file: the entries of the current snapshot, the lifecycle, and what each snapshot
// differs in from its parent.
export async function save(table: Table): Promise<void> {
  const snapshots = newestFirst(table).reverse(), differences = [];
  for (const snapshot of snapshots) {
    const before = table.snapshot(snapshot.parent), sides = { before: before?.id ?? null, after: snapshot.id };
    const found = await difference(table, before, snapshot).catch((error: unknown) => ({ refused: error instanceof Error ? error.message : String(error) }));
    differences.push({ ...sides, ...found });
  }
  const answers = { file: table.file, reason: table.reason, uuid: table.uuid, entries: await entriesOf(table, table.current), lifecycle: await lifecycle(table), differences, problems: table.problems };
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([jsonOf(answers)], { type: "application/json" }));
  link.download = `${table.name}.json`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

function jsonOf(value: unknown): string {
  if (typeof value === "bigint") return String(value);
  if (Array.isArray(value)) return `[${value.map(jsonOf).join(",")}]`;
  if (isObject(value)) return `{${Object.entries(value).map(([name, one]) => `${JSON.stringify(name)}:${jsonOf(one)}`).join(",")}}`;
  return JSON.stringify(value) ?? "null";
}
