// Avro object container files (Avro 1.12 specification: "Object Container Files", "Binary encoding").

import { Inflate } from "fflate";
import { Decompress } from "fzstd";
import SnappyJS from "snappyjs";
import { intOf, isObject, readJson, type Int, type Json } from "./json";

// A file that is not what it should be; `message` says why, without the file's name.
export class Unreadable extends Error {}

export interface Container {
  schema: Json;
  metadata: Map<string, string>;
  blocks: { count: number; data: Uint8Array }[];
  damage: string;  // why the blocks end where they do; "" at the end of the file
}

type Read = (at: Cursor) => unknown;

const DEEPEST = 64, UNPACKED = 1 << 29, PORTION = 1 << 16;
const OTHERS = new Map([
  ["PAR1", "it is a Parquet file, as format version 4 has them: this page does not read it"], ["PARE", "it is encrypted"], ["AGS1", "it is encrypted"],
]);
const words = new TextDecoder("utf-8");

export class Cursor {
  at = 0;
  private readonly view: DataView;

  constructor(readonly data: Uint8Array) {
    this.view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  }

  get left(): number {
    return this.data.length - this.at;
  }

  long(): Int {
    let low = 0;
    for (let shift = 0; shift < 28; shift += 7) {
      const byte = this.byte();
      low |= (byte & 127) << shift;
      if (byte < 128) return (low >>> 1) ^ -(low & 1);
    }
    let value = BigInt(low);
    for (let shift = 28n; shift < 70n; shift += 7n) {
      const byte = this.byte();
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return intOf(BigInt.asIntN(64, (value >> 1n) ^ -(value & 1n)));
    }
    throw new Unreadable("an integer has more than 64 bits");
  }

  // A number of bytes or items.
  size(): number {
    const size = Number(this.long());
    if (size < 0 || size > this.left) throw new Unreadable(`it is cut off: ${size} bytes are announced, ${this.left} are left`);
    return size;
  }

  byte(): number {
    const byte = this.data[this.at++];
    if (byte === undefined) throw new Unreadable("it is cut off");
    return byte;
  }

  bytes(size: number): Uint8Array {
    if (size > this.left) throw new Unreadable("it is cut off");
    return this.data.subarray(this.at, (this.at += size));
  }

  float(): number {
    this.bytes(4);
    return this.view.getFloat32(this.at - 4, true);
  }

  double(): number {
    this.bytes(8);
    return this.view.getFloat64(this.at - 8, true);
  }

  // The items of an array or map.
  items(item: (at: Cursor) => void): void {
    for (;;) {
      let count = Number(this.long());
      if (count === 0) return;
      if (count < 0) {
        count = -count;
        this.long();
      }
      if (count > this.left) throw new Unreadable("an array has more items than bytes");
      while (count-- > 0) item(this);
    }
  }
}

export function openContainer(data: Uint8Array): Container {
  const cursor = new Cursor(data);
  const mark = words.decode(data.subarray(0, 4));
  if (mark !== "Obj\x01") throw new Unreadable(data.length ? OTHERS.get(mark) ?? "it is no Avro file" : "it is empty");
  cursor.at = 4;
  const metadata = new Map<string, string>();
  cursor.items((at) => {
    const name = words.decode(at.bytes(at.size()));
    metadata.set(name, words.decode(at.bytes(at.size())));
  });
  const sync = cursor.bytes(16), codec = metadata.get("avro.codec") ?? "null";
  const schema = readJson(metadata.get("avro.schema") ?? "null");
  if (!isObject(schema)) throw new Unreadable("its Avro schema is no record");
  const container: Container = { schema, metadata, blocks: [], damage: "" };
  let room = UNPACKED;
  try {
    while (cursor.left) {
      const count = Number(cursor.long()), data = unpack(codec, cursor.bytes(cursor.size()), room);
      room -= data.length;
      if (count < 0 || count > data.length) throw new Unreadable(`${count} records are announced in ${data.length} bytes`);
      if (cursor.bytes(16).some((byte, i) => byte !== sync[i])) throw new Unreadable("its sync marker is not the file's");
      container.blocks.push({ count, data });
    }
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    container.damage = `block ${container.blocks.length}: ${error.message}`;
  }
  return container;
}

function unpack(codec: string, data: Uint8Array, room: number): Uint8Array {
  if (codec === "null" && data.length <= room) return data;
  try {
    if (codec === "deflate") return inPortions(data, room, (given) => new Inflate(given));
    if (codec === "zstandard") return inPortions(data, room, (given) => new Decompress(given));
    if (codec === "snappy") return SnappyJS.uncompress(data.subarray(0, -4), room);
  } catch (error) {
    throw new Unreadable(`a block cannot be unpacked (${codec}): ${String(error)}`);
  }
  throw new Unreadable(`this page does not read the codec ${codec.slice(0, 40)}`);
}

type Unpacker = { push(data: Uint8Array, isLast: boolean): unknown };

// Unpack a stream some bytes at a time, so that a small one that becomes gigabytes ends early.
export function inPortions(data: Uint8Array, room: number, make: (given: (part: Uint8Array) => void) => Unpacker): Uint8Array {
  const parts: Uint8Array[] = [];
  let size = 0;
  const unpacker = make((part) => {
    size += part.length;
    if (size > room) throw new Unreadable("it is greater than this page reads, unpacked");
    parts.push(part);
  });
  for (let at = 0; at === 0 || at < data.length; at += PORTION) unpacker.push(data.subarray(at, at + PORTION), at + PORTION >= data.length);
  if (parts.length === 1 && parts[0]) return parts[0];
  const whole = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

// A reader of the file's records. `of` is told each field of a record, and the name of the field that the record is in
// ("" for the file's own); it says under which name the field is kept, or null where it is passed over.
export function readerOf(schema: unknown, of: (field: Json, inside: string) => string | null): Read {
  const named = new Map<string, { read?: Read; skip?: Read }>();

  function record(type: Json, depth: number, inside: string | null): Read {
    const fields = (Array.isArray(type["fields"]) ? type["fields"] : []).filter(isObject);
    const steps = fields.map((field) => {
      const name = inside === null ? null : of(field, inside);
      return { name, read: compile(field["type"], depth + 1, name) };
    });
    return (at) => {
      const row: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
      for (const { name, read } of steps) {
        const value = read(at);
        if (name !== null) row[name] = value;
      }
      return row;
    };
  }

  // `inside` is the name of the field that a value is kept in; null where it is passed over.
  function compile(type: unknown, depth: number, inside: string | null): Read {
    const keeps = inside !== null;
    if (depth > DEEPEST) throw new Unreadable("its schema is nested too deeply");
    if (Array.isArray(type)) {
      const options = type.map((one: unknown) => compile(one, depth + 1, inside));
      return (at) => {
        const read = options[Number(at.long())];
        if (!read) throw new Unreadable("a union has no such branch");
        return read(at);
      };
    }
    if (!isObject(type)) return simple(String(type), keeps);
    const kind = type["type"];
    if (kind === "record") {
      const made: Read = record(type, depth, inside);
      named.set(String(type["name"]), { ...named.get(String(type["name"])), [keeps ? "read" : "skip"]: made });
      return made;
    }
    if (kind === "array" || kind === "map") {
      const item = compile(type[kind === "array" ? "items" : "values"], depth + 1, inside);
      return (at) => {
        const values: unknown[] = [];
        at.items((next) => {
          const key = kind === "map" ? words.decode(next.bytes(next.size())) : "";
          const value = item(next);
          if (keeps) values.push(kind === "map" ? [key, value] : value);
        });
        return values;
      };
    }
    if (kind === "fixed") {
      const size = Number(type["size"]), made: Read = (at) => at.bytes(size);
      named.set(String(type["name"]), { read: made, skip: made });
      return made;
    }
    if (kind === "enum") {
      const made: Read = (at) => at.long();
      named.set(String(type["name"]), { read: made, skip: made });
      return made;
    }
    return compile(kind, depth + 1, inside);
  }

  function simple(name: string, keeps: boolean): Read {
    switch (name) {
      case "null": return () => null;
      case "boolean": return (at) => at.byte() !== 0;
      case "int": case "long": return (at) => at.long();
      case "float": return (at) => at.float();
      case "double": return (at) => at.double();
      case "bytes": return (at) => at.bytes(at.size());
      case "string": return keeps ? (at) => words.decode(at.bytes(at.size())) : (at) => at.bytes(at.size());
    }
    const known = named.get(name), made = keeps ? known?.read : known?.skip;
    if (!made) throw new Unreadable(`its schema names an unknown type ${name.slice(0, 40)}`);
    return made;
  }

  return compile(schema, 0, "");
}

// The records of a file, those of a damaged block left out. `problem` is told what is wrong with one.
export function records(container: Container, read: Read, problem: (cause: string) => void): unknown[] {
  const all: unknown[] = [];
  if (container.damage) problem(container.damage);
  for (const [n, { count, data }] of container.blocks.entries()) {
    const at = new Cursor(data), rows: unknown[] = [];
    try {
      for (let i = 0; i < count; i++) rows.push(read(at));
      if (at.left) throw new Unreadable(`${at.left} bytes are left over`);
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error;
      problem(`block ${n}: ${error.message}`);
      continue;
    }
    for (const row of rows) all.push(row);
  }
  return all;
}
