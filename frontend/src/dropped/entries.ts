// What manifest entries inherit, and what their status means as of a snapshot: the rules of explorer/spec/entries
// (spec: "Manifest Entry Fields", "Sequence Number Inheritance", "First Row ID Assignment").

import { intOf, type Int } from "./json";
import type { Manifest, Snapshot, Stored, Table } from "./table";
import { partitionText } from "./values";

// An entry as of a snapshot: what it inherits, what its status means, and why.
export interface Entry extends Omit<Stored, "partition"> {
  logical_status: "ADDED" | "EXISTING" | "DELETED" | null;
  reason: string;
  partition: string;
  spec_id: number;
  manifest_path: string;
  ordinal: number;
}

export const DELETED = 2;
const STATUS = ["EXISTING", "ADDED", "DELETED"] as const;

export function fileKind({ content, file_format }: { content: number; file_format: string }): string {
  if (content === 1) return file_format.toLowerCase() === "puffin" ? "deletion_vector" : "position_deletes";
  return content === 2 ? "equality_deletes" : "data_file";
}

// A partition as `name=value/name=value`, by the table's spec.
export function partitionPath(table: Table, manifest: Manifest, entry: Stored): string {
  const spec = table.spec(manifest.spec);
  return entry.partition.map(({ id, value, kind }) => {
    const field = spec.get(id);
    return field ? `${field.name}=${partitionText(value, field.transform, field.type, kind)}` : `field ${id}=${partitionText(value, "identity", undefined, kind)}`;
  }).join("/");
}

// All entries of a manifest, as of a snapshot that lists it.
export function entriesAsOf(table: Table, manifest: Manifest, stored: readonly Stored[], snapshot: Snapshot): Entry[] {
  const isOwn = manifest.addedBy === snapshot.id;
  let rowsBefore = 0n;
  return stored.map((entry, ordinal) => {
    const inherits = manifest.sequence === 0 || entry.status === 1;  // version 1 has no sequence numbers: they are 0
    let firstRowId: Int | null = entry.first_row_id;
    if (firstRowId === null && manifest.firstRowId !== null && manifest.content === 0 && entry.status !== DELETED) {
      firstRowId = intOf(BigInt(manifest.firstRowId) + rowsBefore);
      rowsBefore += BigInt(entry.record_count ?? 0);
    }
    return {
      ...entry, ...meaning(entry.status, manifest, isOwn), ordinal, first_row_id: firstRowId, spec_id: manifest.spec, manifest_path: manifest.path,
      snapshot_id: entry.snapshot_id ?? manifest.addedBy, partition: partitionPath(table, manifest, entry),
      sequence_number: entry.sequence_number ?? (inherits ? manifest.sequence : null),
      file_sequence_number: entry.file_sequence_number ?? (inherits ? manifest.sequence : null),
    };
  });
}

function meaning(status: number, manifest: Manifest, isOwn: boolean): Pick<Entry, "logical_status" | "reason"> {
  const name = STATUS[status];
  if (name === undefined) return { logical_status: null, reason: "the stored status is not 0, 1 or 2, so the entry is invalid" };
  if (isOwn) return { logical_status: name, reason: `stored ${name}; this snapshot added the manifest, so the stored status stands` };
  const by = `an earlier snapshot (${manifest.addedBy ?? "None"}) added the manifest`;
  if (name === "DELETED") return { logical_status: null, reason: `stored DELETED, filtered out: ${by}, so the file was gone before this snapshot` };
  return { logical_status: "EXISTING", reason: name === "ADDED" ? `stored ADDED, reads as EXISTING: ${by}` : `stored EXISTING: ${by}` };
}

// All entries of a snapshot's manifests, as of it.
export async function entriesOf(table: Table, snapshot: Snapshot | null): Promise<Entry[]> {
  const all: Entry[] = [];
  if (!snapshot) return all;
  for (const manifest of await table.manifests(snapshot)) {
    for (const entry of entriesAsOf(table, manifest, (await table.stored(manifest)) ?? [], snapshot)) all.push(entry);
  }
  return all;
}
