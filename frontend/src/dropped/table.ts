// A dropped table: its metadata file now, manifest lists and manifests when they are asked for (spec: "Table Metadata
// Fields", "Manifest Lists", "Manifests"). What cannot be read is a problem, and the rest stays.

import { openContainer, readerOf, records, Unreadable, type Container } from "./avro";
import { baseName, folderOf, METADATA_NAME, textOf, type DroppedFile } from "./files";
import { compareInts, int, isObject, objects, readJson, text, type Int, type Json } from "./json";
import { chooseState, type Head } from "./state";

export interface Snapshot {
  id: Int;
  parent: Int | null;
  sequence: Int;
  time: Int | null;
  operation: string;
  list: string;
  inline: string[];
}

// One record of a manifest list. A count that is null is unknown.
export interface Manifest {
  path: string;
  spec: number;
  content: number;
  sequence: Int;
  addedBy: Int | null;
  added: Int | null;
  existing: Int | null;
  deleted: Int | null;
  firstRowId: Int | null;
}

// A manifest entry as it is stored.
export interface Stored {
  status: number;
  snapshot_id: Int | null;
  sequence_number: Int | null;
  file_sequence_number: Int | null;
  content: number;
  file_path: string;
  file_format: string;
  record_count: Int | null;
  file_size_in_bytes: Int | null;
  first_row_id: Int | null;
  referenced_data_file: string | null;
  content_offset: Int | null;
  content_size_in_bytes: Int | null;
  partition: { id: number; value: unknown }[];
}

export interface SpecField {
  name: string;
  transform: string;
  type: unknown;
}

export interface Problem {
  file: string;
  cause: string;
}

const LIST_IDS = {
  manifest_path: 500, partition_spec_id: 502, added_snapshot_id: 503, added_files_count: 504, existing_files_count: 505,
  deleted_files_count: 506, sequence_number: 515, content: 517, first_row_id: 520,
};
const ENTRY_IDS = {
  status: 0, snapshot_id: 1, data_file: 2, sequence_number: 3, file_sequence_number: 4, file_path: 100, file_format: 101,
  partition: 102, record_count: 103, file_size_in_bytes: 104, content: 134, first_row_id: 142, referenced_data_file: 143,
  content_offset: 144, content_size_in_bytes: 145,
};
const MOST_ENTRIES = 500_000, MOST_TEXT = 1 << 28, DEEPEST_ENDING = 12;

export class Table {
  readonly name: string;
  readonly uuid: string;
  readonly version: number;
  readonly location: string;
  readonly snapshots: Snapshot[];
  readonly current: Snapshot | null;
  readonly refs: { name: string; type: string; snapshot: Int | null }[];
  readonly ordinals = new Map<Int, number>();
  readonly problems: Problem[] = [];
  private readonly byId = new Map<Int, Snapshot>();
  private readonly specs = new Map<number, Map<number, SpecField>>();
  private readonly lists = new Map<Int, Promise<Manifest[]>>();
  private readonly entries = new Map<string, Promise<Stored[] | null>>();
  private readonly places = new Map<string, DroppedFile | null>();
  private readonly unread = new Map<string, string>();
  private read = 0;

  //   root: the table's folder in what was dropped. file: the metadata file. reason: why it and no other.
  constructor(raw: Json, readonly root: string, readonly file: string, readonly reason: string, files: readonly DroppedFile[]) {
    this.location = text(raw["location"]).replace(/\/+$/, "");
    this.name = baseName(root) || baseName(this.location) || "table";
    this.uuid = text(raw["table-uuid"]);
    this.version = Number(raw["format-version"]);
    this.snapshots = objects(raw["snapshots"]).flatMap((one) => {
      const id = int(one["snapshot-id"]);
      if (id === null) this.problem(file, "a snapshot has no snapshot-id: it is left out");
      const summary = isObject(one["summary"]) ? one["summary"] : {};
      return id === null ? [] : [{
        id, parent: int(one["parent-snapshot-id"]), sequence: int(one["sequence-number"]) ?? 0, time: int(one["timestamp-ms"]),
        operation: text(summary["operation"]), list: text(one["manifest-list"]), inline: (Array.isArray(one["manifests"]) ? one["manifests"] : []).map(text),
      }];
    });
    for (const snapshot of this.snapshots) if (!this.byId.has(snapshot.id)) this.byId.set(snapshot.id, snapshot);
    this.current = this.snapshot(int(raw["current-snapshot-id"]));
    [...this.snapshots].sort((a, b) => compareInts(a.sequence, b.sequence)).forEach((snapshot, at) => {
      if (this.byId.get(snapshot.id) === snapshot) this.ordinals.set(snapshot.id, at + 1);
    });
    this.refs = Object.entries(isObject(raw["refs"]) ? raw["refs"] : {}).filter((pair): pair is [string, Json] => isObject(pair[1]))
      .map(([name, ref]) => ({ name, type: text(ref["type"]), snapshot: int(ref["snapshot-id"]) }));
    this.readSpecs(raw);
    for (const one of files) {
      this.places.set(one.path, one);
      const parts = one.path.split("/").slice(-DEEPEST_ENDING);
      for (let n = 0; n < parts.length; n++) {
        const ending = `/${parts.slice(n).join("/")}`;
        this.places.set(ending, this.places.has(ending) ? null : one);  // of two with one ending neither is meant
      }
    }
  }

  private readSpecs(raw: Json): void {
    const types = new Map<number, unknown>(), current = int(raw["current-schema-id"]);
    const schemas = [...objects(raw["schemas"]).reverse(), ...objects([raw["schema"]])];
    schemas.sort((a, b) => Number(b["schema-id"] === current) - Number(a["schema-id"] === current));
    const visit = (type: unknown): void => {
      if (!isObject(type)) return;
      for (const field of objects(type["fields"])) {
        if (!types.has(Number(field["id"]))) types.set(Number(field["id"]), field["type"]);
        visit(field["type"]);
      }
      for (const part of ["element", "key", "value"]) {
        if (type[`${part}-id`] !== undefined && !types.has(Number(type[`${part}-id`]))) types.set(Number(type[`${part}-id`]), type[part]);
        visit(type[part]);
      }
    };
    schemas.forEach(visit);
    const specs = objects(raw["partition-specs"]);
    for (const [id, fields] of specs.length ? specs.map((one) => [Number(one["spec-id"]), one["fields"]] as const) : [[0, raw["partition-spec"]] as const]) {
      if (this.specs.has(id)) continue;
      this.specs.set(id, new Map(objects(fields).map((field, at) => {
        const source = Array.isArray(field["source-ids"]) ? (field["source-ids"] as unknown[])[0] : field["source-id"];
        return [Number(field["field-id"] ?? 1000 + at), { name: text(field["name"]), transform: text(field["transform"]), type: types.get(Number(source)) }];
      })));
    }
  }

  // Why a manifest list or manifest was not read whole; "" where it was.
  whyUnread(path: string): string {
    return this.unread.get(path) ?? "";
  }

  problem(file: string, cause: string): void {
    this.unread.set(file, cause);
    if (!this.problems.some((one) => one.file === file && one.cause === cause)) this.problems.push({ file, cause });
  }

  snapshot(id: Int | null): Snapshot | null {
    return id === null ? null : this.byId.get(id) ?? null;
  }

  spec(id: number): ReadonlyMap<number, SpecField> {
    return this.specs.get(id) ?? new Map<number, SpecField>();
  }

  snapshotName(id: Int | null): string {
    if (id === null) return "no snapshot";
    const ordinal = this.ordinals.get(id);
    return ordinal === undefined ? `expired …${String(id).slice(-4)}` : `snapshot-${ordinal}`;
  }

  // The dropped file that a path of the metadata means: that below the table's location, or else the only one that ends
  // as the path does.
  private find(path: string): DroppedFile {
    const plain = path.replace(/^[a-zA-Z][\w+.-]*:(\/\/[^/]*)?/, ""), own = this.location.replace(/^[a-zA-Z][\w+.-]*:(\/\/[^/]*)?/, "");
    if (own && plain.startsWith(`${own}/`)) {
      const there = this.places.get(`${this.root ? `${this.root}/` : ""}${plain.slice(own.length + 1)}`);
      if (there) return there;
    }
    const parts = plain.split("/").slice(-DEEPEST_ENDING);
    for (let n = 0; n < parts.length; n++) {
      const there = this.places.get(`/${parts.slice(n).join("/")}`);
      if (there) return there;
    }
    throw new Unreadable("it is not among the files that were dropped");
  }

  private async open(path: string): Promise<Container> {
    return withIdsByName(openContainer(await this.find(path).read()));
  }

  // The manifests of a snapshot, in the order of its manifest list. None where it cannot be read.
  manifests(snapshot: Snapshot | null): Promise<Manifest[]> {
    if (!snapshot) return Promise.resolve([]);
    const known = this.lists.get(snapshot.id);
    if (known) return known;
    const reading = this.readList(snapshot).catch((error: unknown) => {
      if (!(error instanceof Unreadable)) throw error;
      this.problem(snapshot.list, error.message);
      return [];
    });
    this.lists.set(snapshot.id, reading);
    return reading;
  }

  private async readList(snapshot: Snapshot): Promise<Manifest[]> {
    if (!snapshot.list) {
      const read = snapshot.inline.map(async (path): Promise<Manifest[]> => {
        try {
          const spec = Number((await this.open(path)).metadata.get("partition-spec-id") ?? 0);
          return [{ path, spec, content: 0, sequence: 0, addedBy: snapshot.id, added: null, existing: null, deleted: null, firstRowId: null }];
        } catch (error) {
          if (!(error instanceof Unreadable)) throw error;
          this.problem(path, error.message);
          return [];
        }
      });
      return (await Promise.all(read)).flat();
    }
    const container = await this.open(snapshot.list), name = nameOf(LIST_IDS);
    const read = readerOf(container.schema, (field, inside) => (inside === "" ? name(field) : null));
    return records(container, read, (cause) => this.problem(snapshot.list, cause)).map((record) => {
      const row = record as Record<string, unknown>, path = row["manifest_path"];
      if (typeof path !== "string") throw new Unreadable("it is no manifest list: no field has the id 500 (manifest_path)");
      return {
        path, spec: Number(row["partition_spec_id"] ?? 0), content: Number(row["content"] ?? 0), sequence: int(row["sequence_number"]) ?? 0,
        addedBy: int(row["added_snapshot_id"]), added: int(row["added_files_count"]), existing: int(row["existing_files_count"]),
        deleted: int(row["deleted_files_count"]), firstRowId: int(row["first_row_id"]),
      };
    });
  }

  // The entries of a manifest as they are stored; null where it cannot be read.
  stored(manifest: Manifest): Promise<Stored[] | null> {
    const known = this.entries.get(manifest.path);
    if (known) return known;
    const reading = this.readManifest(manifest).catch((error: unknown) => {
      if (!(error instanceof Unreadable)) throw error;
      this.problem(manifest.path, error.message);
      return null;
    });
    this.entries.set(manifest.path, reading);
    return reading;
  }

  private async readManifest(manifest: Manifest): Promise<Stored[]> {
    const container = await this.open(manifest.path), name = nameOf(ENTRY_IDS);
    this.read += container.blocks.reduce((sum, { count }) => sum + count, 0);
    if (this.read > MOST_ENTRIES) throw new Unreadable(`this page reads at most ${MOST_ENTRIES.toLocaleString("en")} entries; the installed product reads millions`);
    const read = readerOf(container.schema, (field, inside) => (inside === "partition" ? String(field["field-id"]) : name(field)));
    return records(container, read, (cause) => this.problem(manifest.path, cause)).map((record) => entryOf(record as Record<string, unknown>));
  }
}

function entryOf(record: Record<string, unknown>): Stored {
  const file = record["data_file"];
  if (!isObject(file) || typeof file["file_path"] !== "string") throw new Unreadable("it is no manifest: no field has the id 2 (data_file)");
  const partition = isObject(file["partition"]) ? Object.entries(file["partition"]) : [];
  return {
    status: Number(record["status"]), snapshot_id: int(record["snapshot_id"]), sequence_number: int(record["sequence_number"]),
    file_sequence_number: int(record["file_sequence_number"]), content: Number(file["content"] ?? 0), file_path: file["file_path"],
    file_format: text(file["file_format"]), record_count: int(file["record_count"]), file_size_in_bytes: int(file["file_size_in_bytes"]),
    first_row_id: int(file["first_row_id"]), referenced_data_file: typeof file["referenced_data_file"] === "string" ? file["referenced_data_file"] : null,
    content_offset: int(file["content_offset"]), content_size_in_bytes: int(file["content_size_in_bytes"]),
    partition: partition.map(([id, value]) => ({ id: Number(id), value })),
  };
}

function nameOf(ids: Record<string, number>): (field: Json) => string | null {
  const names = new Map(Object.entries(ids).map(([name, id]) => [id, name]));
  return (field) => names.get(Number(field["field-id"])) ?? null;
}

// A file in which no field has an id, with ids by the names of the spec, as Iceberg Java reads it.
function withIdsByName(container: Container): Container {
  const hasIds = (node: unknown): boolean => Array.isArray(node) ? node.some(hasIds)
    : isObject(node) && ("field-id" in node || ["type", "items", "values", "fields"].some((part) => hasIds(node[part])));
  if (hasIds(container.schema)) return container;
  const isManifest = objects(container.schema["fields"]).some((field) => field["name"] === "data_file"), ids: Record<string, number> = isManifest ? ENTRY_IDS : LIST_IDS;
  const spec = new Map(objects(readSpec(container)).map((field) => [text(field["name"]), Number(field["field-id"])]));
  const give = (node: unknown, inPartition: boolean): unknown => {
    if (Array.isArray(node)) return node.map((one) => give(one, inPartition));
    if (!isObject(node) || !Array.isArray(node["fields"])) return node;
    return { ...node, fields: objects(node["fields"]).map((field) => {
      const name = text(field["name"]), id = inPartition ? spec.get(name) : ids[name];
      const inside = name === "data_file" || name === "partition" ? give(field["type"], name === "partition") : field["type"];
      return { ...field, type: inside, ...(id === undefined ? {} : { "field-id": id }) };
    }) };
  };
  return { ...container, schema: give(container.schema, false) as Json };
}

function readSpec(container: Container): unknown {
  try {
    return readJson(container.metadata.get("partition-spec") ?? "[]");
  } catch {
    return [];
  }
}

// A table that was found among dropped files: its folder, and the metadata files in it.
export interface Place {
  root: string;
  metadata: DroppedFile[];
  hint: DroppedFile | undefined;
}

export function findTables(files: readonly DroppedFile[]): Place[] {
  const folders = new Map<string, DroppedFile[]>();
  for (const file of files) {
    if (METADATA_NAME.test(baseName(file.path))) folders.set(folderOf(file.path), [...(folders.get(folderOf(file.path)) ?? []), file]);
  }
  return [...folders].map(([folder, metadata]) => ({
    root: baseName(folder) === "metadata" ? folderOf(folder) : folder, metadata,
    hint: files.find(({ path }) => path === (folder ? `${folder}/` : "") + "version-hint.text"),
  })).sort((a, b) => (a.root < b.root ? -1 : 1));
}

// Open a table at its state, or at the metadata file of that name.
export async function openTable(place: Place, files: readonly DroppedFile[], named = ""): Promise<Table> {
  const raws = new Map<string, Json>(), heads = new Map<string, Head>(), causes = new Map<string, string>();
  let size = 0;
  const read = async (file: DroppedFile): Promise<void> => {
    try {
      const source = textOf(await file.read());
      if ((size += source.length) > MOST_TEXT) throw new Unreadable("the metadata files are greater than this page reads");
      const raw = readJson(source);
      if (isObject(raw) && "view-uuid" in raw) throw new Unreadable("this is the metadata of a view, which has no snapshots or files");
      if (!isObject(raw) || !("format-version" in raw)) throw new Unreadable("this is JSON, but not Iceberg table metadata: it has no `format-version`");
      raws.set(file.path, raw);
      heads.set(baseName(file.path), {
        uuid: text(raw["table-uuid"]), updated: int(raw["last-updated-ms"]) ?? -1,
        earlier: objects(raw["metadata-log"]).map((one) => text(one["metadata-file"])).filter(Boolean),
      });
    } catch (error) {
      causes.set(file.path, error instanceof Error ? error.message : String(error));
    }
  };
  for (const file of place.metadata) await read(file);
  const hint = place.hint && textOf(await place.hint.read()).split(/[\r\n]/, 1)[0];
  const chosen = named ? { name: named, reason: "you chose it" } : chooseState(place.metadata.map(({ path }) => baseName(path)), hint ?? null, heads);
  const file = place.metadata.find(({ path }) => baseName(path) === chosen.name), raw = file && raws.get(file.path);
  if (!file || !raw) throw new Unreadable(`${chosen.name}: ${(file && causes.get(file.path)) ?? "it is not there"}`);
  const table = new Table(raw, place.root, file.path, chosen.reason, files);
  for (const [path, cause] of causes) table.problem(path, cause);
  return table;
}
