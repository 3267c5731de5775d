// A dropped table: its metadata file now, manifest lists and manifests when they are asked for (spec: "Table Metadata
// Fields", "Manifest Lists", "Manifests"). What cannot be read is a problem, and the rest stays.

import { causeOf, openContainer, readerOf, records, Unreadable, type Container } from "./avro";
import { baseName, folderOf, METADATA_NAME, textOf, type DroppedFile } from "./files";
import { compareInts, int, isObject, objects, readJson, text, type Int, type Json } from "./json";
import { chooseState, versionOf, type Head } from "./state";

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
  partition: { id: number; value: unknown; kind: string }[];  // `kind` is the type that Avro has for it
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
const MOST_ENTRIES = 500_000, MOST_LISTED = 250_000, MOST_TEXT = 1 << 28, MOST_UNPACKED = 1 << 30, DEEPEST_ENDING = 12;

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
  private readonly told = new Set<string>();
  private read = 0;
  private unpacked = 0;

  //   root: the table's folder in what was dropped. file: the metadata file. reason: why it and no other. files: those that
  //   may be the table's.
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
    for (const snapshot of this.snapshots) {
      if (!this.byId.has(snapshot.id)) this.byId.set(snapshot.id, snapshot);
      else this.problem(file, `several snapshots have the id ${snapshot.id}: the first of them is shown`);
    }
    this.current = this.snapshot(int(raw["current-snapshot-id"]));
    [...this.snapshots].sort((a, b) => compareInts(a.sequence, b.sequence)).forEach((snapshot, at) => {
      if (this.byId.get(snapshot.id) === snapshot) this.ordinals.set(snapshot.id, at + 1);
    });
    this.refs = Object.entries(isObject(raw["refs"]) ? raw["refs"] : {}).filter((pair): pair is [string, Json] => isObject(pair[1]))
      .map(([name, ref]) => ({ name, type: text(ref["type"]), snapshot: int(ref["snapshot-id"]) }));
    this.readSpecs(raw);
    for (const one of files) {
      this.places.set(one.path, one);
      const parts = one.path.split("/").slice(-DEEPEST_ENDING), least = folderOf(one.path) === folderOf(file) ? 1 : 2;
      for (let n = 0; n <= parts.length - least; n++) {  // a name alone is enough beside the metadata file
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
    const told = JSON.stringify([file, cause]);
    if (this.told.has(told)) return;
    this.told.add(told);
    this.problems.push({ file, cause });
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
    if (this.unpacked >= MOST_UNPACKED) throw new Unreadable("this page reads at most 1 GiB of a table's metadata, unpacked");
    const container = openContainer(await this.find(path).read(), MOST_UNPACKED - this.unpacked);
    this.unpacked += container.blocks.reduce((sum, { data }) => sum + data.length, 0);
    return withIdsByName(container);
  }

  // The manifests of a snapshot, in the order of its manifest list. None where it cannot be read.
  manifests(snapshot: Snapshot | null): Promise<Manifest[]> {
    if (!snapshot) return Promise.resolve([]);
    const known = this.lists.get(snapshot.id);
    if (known) return known;
    const reading = this.readList(snapshot).catch((error: unknown) => {
      this.problem(snapshot.list || this.file, causeOf(error));
      this.unread.set(snapshotKey(snapshot), causeOf(error));
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
          this.problem(path, causeOf(error));
          return [];
        }
      });
      if (!snapshot.inline.length) throw new Unreadable(`snapshot ${snapshot.id} has neither \`manifest-list\` nor \`manifests\``);
      return (await Promise.all(read)).flat();
    }
    const container = await this.open(snapshot.list), name = nameOf(LIST_IDS);
    const count = countOf(container);
    if (count > MOST_LISTED) throw new Unreadable(`it has ${count.toLocaleString("en")} manifests; this page reads at most ${MOST_LISTED.toLocaleString("en")}`);
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
      this.problem(manifest.path, causeOf(error));
      return null;
    });
    this.entries.set(manifest.path, reading);
    return reading;
  }

  private async readManifest(manifest: Manifest): Promise<Stored[]> {
    const container = await this.open(manifest.path), name = nameOf(ENTRY_IDS);
    const count = countOf(container), kinds = new Map<string, string>();
    if (this.read + count > MOST_ENTRIES) throw new Unreadable(`this page reads at most ${MOST_ENTRIES.toLocaleString("en")} entries; the installed product reads millions`);
    this.read += count;
    const read = readerOf(container.schema, (field, inside) => {
      if (inside !== "partition") return name(field);
      const key = `field ${String(Number(field["field-id"]))}`;  // no number alone: those an object would put in order
      kinds.set(key, kindOf(field["type"]));
      return key;
    });
    return records(container, read, (cause) => this.problem(manifest.path, cause)).map((record) => entryOf(record as Record<string, unknown>, kinds));
  }
}

function countOf(container: Container): number {
  return container.blocks.reduce((sum, { count }) => sum + count, 0);
}

// What a snapshot's manifests are called where one says why they are not known.
export function snapshotKey(snapshot: Snapshot): string {
  return `snapshot ${snapshot.id}`;
}

// The type that Avro has for a partition's value: its logical type if there is one, timestamps in UTC apart.
function kindOf(type: unknown): string {
  if (Array.isArray(type)) return kindOf(type.find((one) => one !== "null"));
  if (!isObject(type)) return text(type);
  const logical = text(type["logicalType"]);
  if (logical === "decimal") return `decimal ${Number(type["scale"] ?? 0)}`;
  return logical ? logical + (type["adjust-to-utc"] === true ? " in UTC" : "") : text(type["type"]) || kindOf(type["type"]);
}

function entryOf(record: Record<string, unknown>, kinds: ReadonlyMap<string, string>): Stored {
  const file = record["data_file"];
  if (!isObject(file) || typeof file["file_path"] !== "string") throw new Unreadable("it is no manifest: no field has the id 2 (data_file)");
  const partition = isObject(file["partition"]) ? Object.entries(file["partition"]) : [];
  return {
    status: Number(record["status"]), snapshot_id: int(record["snapshot_id"]), sequence_number: int(record["sequence_number"]),
    file_sequence_number: int(record["file_sequence_number"]), content: Number(file["content"] ?? 0), file_path: file["file_path"],
    file_format: text(file["file_format"]), record_count: int(file["record_count"]), file_size_in_bytes: int(file["file_size_in_bytes"]),
    first_row_id: int(file["first_row_id"]), referenced_data_file: typeof file["referenced_data_file"] === "string" ? file["referenced_data_file"] : null,
    content_offset: int(file["content_offset"]), content_size_in_bytes: int(file["content_size_in_bytes"]),
    partition: partition.map(([key, value]) => ({ id: Number(key.slice("field ".length)), value, kind: kinds.get(key) ?? "" })),
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
    root: baseName(folder) === "metadata" ? folderOf(folder) : folder,
    metadata: metadata.sort((a, b) => versionOf(baseName(b.path)) - versionOf(baseName(a.path)) || (a.path < b.path ? 1 : -1)),
    hint: files.find(({ path }) => path === (folder ? `${folder}/` : "") + "version-hint.text"),
  })).sort((a, b) => (a.root < b.root ? -1 : 1));
}

// Open a table at its state, or at the metadata file of that name.
//   files: all that was dropped. others: where other tables were found in it, whose files are not this one's.
export async function openTable(place: Place, files: readonly DroppedFile[], others: readonly Place[], named = ""): Promise<Table> {
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
      causes.set(file.path, causeOf(error));
    }
  };
  for (const file of place.metadata) await read(file);
  const hint = place.hint && new TextDecoder().decode(await place.hint.read()).split(/[\r\n]/, 1)[0];
  const chosen = named ? { name: named, reason: "you chose it" } : chooseState(place.metadata.map(({ path }) => baseName(path)), hint ?? null, heads);
  const file = place.metadata.find(({ path }) => baseName(path) === chosen.name), raw = file && raws.get(file.path);
  if (!file || !raw) throw new Unreadable(`${chosen.name}: ${(file && causes.get(file.path)) ?? "it is not there"}`);
  const deeper = others.map(({ root }) => root).filter((root) => root !== place.root && root.length > 0 && (!place.root.startsWith(`${root}/`) || root.startsWith(`${place.root}/`)));
  const own = files.filter(({ path }) => !deeper.some((root) => path.startsWith(`${root}/`)));
  const table = new Table(raw, place.root, file.path, chosen.reason, own);
  for (const [path, cause] of causes) table.problem(path, cause);
  return table;
}
