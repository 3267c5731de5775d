// What became of every manifest, snapshot by snapshot, and what two snapshots differ in: the rules of
// explorer/spec/snapshots/lifecycle.py and diff.py.

import { Unreadable } from "./avro";
import { DELETED, fileKind, partitionPath } from "./entries";
import { baseName } from "./files";
import type { Int } from "./json";
import { snapshotKey, type Manifest, type Snapshot, type Stored, type Table } from "./table";

export interface Cell {
  manifest_path: string;
  manifest: string;
  snapshot_id: Int;
  snapshot: string;
  state: "created" | "carried" | "rewritten" | "merged" | "dropped";
  into: string[];
  reason: string;
}

export interface Change {
  file_path: string;
  kind: string;
  record_count: Int | null;
  file_size_in_bytes: Int | null;
  partition: string;
  manifest_path: string;
}

export interface Difference {
  added: Change[];
  removed: Change[];
  kept: string[];
  added_manifests: string[];
  rewritten: { sources: string[]; into: string[]; reason: string }[];
  dropped: { manifest_path: string; reason: string }[];
}

interface Comparison {
  live: [Map<number, number>, Map<number, number>];  // live entries of each manifest that can be read, on both sides
  alone: [[Manifest, Stored][], [Manifest, Stored][]];  // live entries of one side that the other has not
  shared: Map<number, Set<number>>;  // which manifests of the second side name a file of one of the first
}

// Names of manifests, no two alike: manifest-3 is that which snapshot-3 added, manifest-3.m1 its second.
export function manifestNames(table: Table, manifests: Iterable<Manifest>): Map<string, string> {
  const names = new Map<string, string>(), alike = new Map<string, string[]>();
  for (const { path, addedBy } of manifests) {
    const ordinal = addedBy === null ? undefined : table.ordinals.get(addedBy), part = /-m(\d+)\.avro$/.exec(path)?.[1] ?? "0";
    names.set(path, `manifest-${ordinal ?? `…${String(addedBy ?? "None").slice(-4)}`}${part === "0" ? "" : `.m${part}`}`);
  }
  for (const [path, name] of names) {
    const same = alike.get(name);
    if (same) same.push(path);
    else alike.set(name, [path]);
  }
  for (const [name, paths] of alike) {
    if (paths.length < 2) continue;
    const stems = paths.map((path) => baseName(path).replace(/-m(\d+)\.avro$/, "").replace(/\.avro$/, ""));
    const ends = [4, 8, 12, 36].map((n) => stems.map((stem) => stem.slice(-n))).find((some) => new Set(some).size === paths.length);
    paths.forEach((path, at) => names.set(path, `${name}~${ends?.[at] ?? at + 1}`));
  }
  return names;
}

// The manifests of one side that the other does not list, each once.
function only(manifests: readonly Manifest[], other: readonly Manifest[]): Manifest[] {
  const theirs = new Set(other.map(({ path }) => path));
  return [...new Map(manifests.filter(({ path }) => !theirs.has(path)).map((one) => [one.path, one])).values()];
}

function key(entry: Stored): string {
  return JSON.stringify([entry.file_path, String(entry.content_offset ?? -1), String(entry.content_size_in_bytes ?? -1)]);
}

async function compare(table: Table, gone: readonly Manifest[], added: readonly Manifest[]): Promise<Comparison> {
  const live: Comparison["live"] = [new Map(), new Map()], shared: Comparison["shared"] = new Map();
  const sides: { manifest: Manifest; at: number; entry: Stored; key: string; isLive: boolean }[][] = [];
  for (const [side, manifests] of [gone, added].entries()) {
    const rows = [];
    for (const [at, manifest] of manifests.entries()) {
      const stored = await table.stored(manifest);
      if (!stored) continue;
      live[side === 0 ? 0 : 1].set(at, stored.filter(({ status }) => status !== DELETED).length);
      for (const entry of stored) rows.push({ manifest, at, entry, key: key(entry), isLive: entry.status !== DELETED });
    }
    sides.push(rows);
  }
  const [first = [], second = []] = sides, holders = new Map<string, Set<number>>();
  for (const row of second) {
    const known = holders.get(row.key);
    if (known) known.add(row.at);
    else holders.set(row.key, new Set([row.at]));
  }
  for (const row of first) {
    for (const at of holders.get(row.key) ?? []) shared.set(row.at, (shared.get(row.at) ?? new Set()).add(at));
  }
  const alone = (own: typeof first, other: typeof first): [Manifest, Stored][] => {
    const theirs = new Set(other.filter(({ isLive }) => isLive).map((row) => row.key));
    return own.filter((row) => row.isLive && !theirs.has(row.key)).map(({ manifest, entry }) => [manifest, entry]);
  };
  return { live, alone: [alone(first, second), alone(second, first)], shared };
}

// What became of each manifest that is no longer listed: rewritten or merged into which, or dropped, and why.
function explain(gone: readonly Manifest[], added: readonly Manifest[], { live, shared }: Comparison): Pick<Difference, "rewritten" | "dropped"> {
  const into = new Map<string, { into: string[]; sources: string[] }>(), dropped: Difference["dropped"] = [];
  for (const [at, { path }] of gone.entries()) {
    const holders = shared.get(at);
    if (holders) {
      const targets = [...holders].map((one) => added[one]?.path ?? "").sort(byCodePoint), same = JSON.stringify(targets);
      const known = into.get(same);
      if (known) known.sources.push(path);
      else into.set(same, { into: targets, sources: [path] });
      continue;
    }
    const count = live[0].get(at);
    const reason = count === undefined ? "it cannot be read, so what became of its entries is not known"
      : count ? "none of its files is in any manifest of the other snapshot" : "it holds only DELETED entries, which no later snapshot reads";
    dropped.push({ manifest_path: path, reason });
  }
  const rewritten = [...into.values()].map((one) => ({
    ...one, reason: one.sources.length > 1 ? `${one.sources.length.toLocaleString("en")} manifests were merged` : "its entries were written anew, with changed statuses",
  }));
  return { rewritten, dropped };
}

function byCodePoint(a: string, b: string): number {
  const one = [...a], other = [...b], at = one.findIndex((sign, i) => sign !== other[i]);
  return at < 0 ? one.length - other.length : (one[at]?.codePointAt(0) ?? 0) - (other[at]?.codePointAt(0) ?? -1);
}

// The cells of the matrix manifests by snapshots. Each snapshot is held against its parent.
export async function lifecycle(table: Table): Promise<Cell[]> {
  const snapshots = [...table.ordinals].sort((a, b) => a[1] - b[1]).map(([id]) => table.snapshot(id)).filter((one) => one !== null);
  const every: Manifest[] = [];
  for (const snapshot of snapshots) every.push(...(await table.manifests(snapshot)));
  const names = manifestNames(table, every), cells: Cell[] = [];
  for (const snapshot of snapshots) {
    const here = await table.manifests(snapshot), parent = table.snapshot(snapshot.parent), before = await table.manifests(parent);
    const listed = new Map(before.map((one) => [one.path, one]));
    const label = table.snapshotName(snapshot.id);
    const cell = (path: string, state: Cell["state"], reason: string, into: string[] = []): void => {
      cells.push({ manifest_path: path, manifest: names.get(path) ?? "", snapshot_id: snapshot.id, snapshot: label, state, into, reason });
    };
    for (const { path, addedBy } of here) {
      if (listed.has(path)) cell(path, "carried", "not touched by this commit, so the same file is listed again");
      else if (addedBy === snapshot.id) cell(path, "created", `written by ${label}`);
      else cell(path, "carried", `written by ${table.snapshotName(addedBy)}, and not in the parent's list: its parent has expired, or it came from another branch`);
    }
    const gone = only(before, here);
    if (!gone.length) continue;
    const added = only(here, before), { rewritten, dropped } = explain(gone, added, await compare(table, gone, added));
    for (const { sources, into, reason } of rewritten) {
      const called = into.map((path) => names.get(path) ?? "");
      for (const path of sources) cell(path, sources.length > 1 ? "merged" : "rewritten", `${reason}: ${firstOf(called)}`, called);
    }
    for (const one of dropped) cell(one.manifest_path, "dropped", one.reason);
  }
  return cells;
}

export function firstOf(names: readonly string[], most = 20): string {
  const more = names.length > most ? ` and ${(names.length - most).toLocaleString("en")} more` : "";
  return names.slice(0, most).join(", ") + more;
}

// What it takes to get from one snapshot to another; null is the table before its first. It is not known where one of the
// files that it depends on cannot be read: then this throws.
export async function difference(table: Table, before: Snapshot | null, after: Snapshot | null): Promise<Difference> {
  const first = await table.manifests(before), second = await table.manifests(after);
  const gone = only(first, second), added = only(second, first), comparison = await compare(table, gone, added);
  const sides = [before, after].filter((one) => one !== null);
  const needed = [...sides.flatMap((one) => [snapshotKey(one), one.list, ...one.inline]), ...[...gone, ...added].map(({ path }) => path)];
  const unread = needed.find((path) => path && table.whyUnread(path));
  if (unread) throw new Unreadable(`The difference is not known, since ${unread} cannot be read: ${table.whyUnread(unread)}`);
  const changes = (rows: [Manifest, Stored][]): Change[] => rows.map(([manifest, entry]) => ({
    file_path: entry.file_path, kind: fileKind(entry), record_count: entry.record_count, file_size_in_bytes: entry.file_size_in_bytes,
    partition: partitionPath(table, manifest, entry), manifest_path: manifest.path,
  }));
  const there = new Set(first.map(({ path }) => path));
  return {
    added: changes(comparison.alone[1]), removed: changes(comparison.alone[0]), ...explain(gone, added, comparison),
    kept: second.filter(({ path }) => there.has(path)).map(({ path }) => path), added_manifests: added.map(({ path }) => path),
  };
}
