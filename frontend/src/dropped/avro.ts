// Avro object container files (Avro 1.12 specification: "Object Container Files", "Binary encoding").

import { Inflate } from "fflate";
import { Decompress } from "fzstd";
import SnappyJS from "snappyjs";
import { intOf, isObject, readJson, text, type Int, type Json } from "./json";

// A file that is not what it should be; `message` says why, without the file's name.
export class Unreadable extends Error {}

// Why something cannot be read, whatever was thrown: a stranger's file can make any part fail.
export function causeOf(error: unknown): string {
  if (error instanceof Unreadable) return error.message;
  if (error instanceof RangeError && /call stack/i.test(error.message)) return "it is nested too deeply";
  return `it cannot be read: ${(error instanceof Error ? error.message : String(error)).slice(0, 200)}`;
}

export interface Container {
  schema: Json;
  metadata: Map<string, string>;
  blocks: { count: number; data: Uint8Array }[];
  damage: string;  // why the blocks end where they do; "" at the end of the file
}

type Read = (at: Cursor) => unknown;

const DEEPEST = 64, UNPACKED = 1 << 29, UNPACKED_ANYWAY = 32 << 20, DENSEST = 64, PORTION = 1 << 16, LONGEST_FIXED = 1 << 20;
const EACH_BYTE = 20, ANYWAY = 1_000_000;
const OTHERS = new Map([
  ["PAR1", "it is a Parquet file, as format version 4 has them: this page does not read it"], ["PARE", "it is encrypted"], ["AGS1", "it is encrypted"],
]);
const words = new TextDecoder("utf-8", { fatal: true });

// What reading a file may cost: values without bytes could be read for ever.
class Steps {
  private left: number;

  constructor(bytes: number) {
    this.left = ANYWAY + EACH_BYTE * bytes;
  }

  take(): void {
    if (--this.left < 0) throw new Unreadable("it has far more values than bytes");
  }
}

export class Cursor {
  at = 0;
  private readonly view: DataView;

  constructor(readonly data: Uint8Array, readonly steps = new Steps(data.length)) {
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
    if (size < 0 || size > this.left) throw new Unreadable("it is cut off");
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
      while (count-- > 0) {
        this.steps.take();
        item(this);
      }
    }
  }
}

// Open a file of at most so many bytes, unpacked.
export function openContainer(data: Uint8Array, most = UNPACKED): Container {
  const cursor = new Cursor(data);
  const mark = String.fromCharCode(...data.subarray(0, 4));
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
  let room = Math.min(most, UNPACKED, UNPACKED_ANYWAY + DENSEST * data.length);
  try {
    while (cursor.left) {
      const count = Number(cursor.long()), data = unpack(codec, cursor.bytes(cursor.size()), room);
      room -= data.length;
      if (count < 0 || count > data.length) throw new Unreadable(`${count} records are announced in ${data.length} bytes`);
      if (cursor.bytes(16).some((byte, i) => byte !== sync[i])) throw new Unreadable("its sync marker is not the file's");
      container.blocks.push({ count, data });
    }
  } catch (error) {
    container.damage = `block ${container.blocks.length}: ${causeOf(error)}`;
  }
  return container;
}

function unpack(codec: string, data: Uint8Array, room: number): Uint8Array {
  if (codec === "null" && data.length <= room) return data;
  try {
    if (codec === "deflate") return inPortions(data, room, (given) => new Inflate(given));
    if (codec === "zstandard") return inPortions(data, room, (given) => new Decompress(given));
    if (codec === "snappy") return checked(SnappyJS.uncompress(data.subarray(0, -4), room), new DataView(data.buffer, data.byteOffset + data.length - 4, 4).getUint32(0));
  } catch (error) {
    throw new Unreadable(`a block cannot be unpacked (${codec}): ${causeOf(error)}`);
  }
  throw new Unreadable(`this page does not read the codec ${codec.slice(0, 40)}`);
}

const CRC = Array.from({ length: 256 }, (_, n) => {
  for (let bit = 0; bit < 8; bit++) n = n & 1 ? (n >>> 1) ^ 0xedb88320 : n >>> 1;
  return n;
});

// Bytes whose checksum (CRC-32) is that which was written beside them.
export function checked(data: Uint8Array, expected: number): Uint8Array {
  let crc = -1;
  for (const byte of data) crc = (CRC[(crc ^ byte) & 255] ?? 0) ^ (crc >>> 8);
  if ((crc ^ -1) >>> 0 !== expected) throw new Unreadable("its checksum is wrong: the bytes were changed");
  return data;
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

  // Remember a type by its name, with its namespace too.
  function name(type: Json, made: { read?: Read; skip?: Read }): void {
    const own = text(type["name"]), space = text(type["namespace"]);
    for (const one of new Set([own, space ? `${space}.${own}` : own, own.slice(own.lastIndexOf(".") + 1)])) named.set(one, { ...named.get(one), ...made });
  }

  function record(type: Json, depth: number, inside: string | null): Read {
    const fields = (Array.isArray(type["fields"]) ? type["fields"] : []).filter(isObject);
    const steps = fields.map((field) => {
      const name = inside === null ? null : of(field, inside);
      return { name, read: compile(field["type"], depth + 1, name) };
    });
    return (at) => {
      at.steps.take();
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
    if (!isObject(type)) return simple(text(type), keeps);
    const kind = type["type"];
    if (kind === "record") {
      const made: Read = record(type, depth, inside);
      name(type, { [keeps ? "read" : "skip"]: made });
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
      if (!Number.isInteger(size) || size < 0 || size > LONGEST_FIXED) throw new Unreadable("its schema has a fixed type of a wrong size");
      name(type, { read: made, skip: made });
      return made;
    }
    if (kind === "enum") {
      const made: Read = (at) => at.long();
      name(type, { read: made, skip: made });
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
  const all: unknown[] = [], steps = new Steps(container.blocks.reduce((sum, block) => sum + block.data.length, 0));
  if (container.damage) problem(container.damage);
  for (const [n, { count, data }] of container.blocks.entries()) {
    const at = new Cursor(data, steps), rows: unknown[] = [];
    try {
      for (let i = 0; i < count; i++) rows.push(read(at));
      if (at.left) throw new Unreadable(`${at.left} bytes are left over`);
    } catch (error) {
      problem(`block ${n}: ${causeOf(error)}`);
      continue;
    }
    for (const row of rows) all.push(row);
  }
  return all;
}
