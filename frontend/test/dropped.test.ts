import { deflateSync, zipSync } from "fflate";
import { expect, test } from "vitest";
import { Cursor, openContainer, Unreadable } from "../src/dropped/avro";
import { filesOfList } from "../src/dropped/files";
import { compareInts, intOf, readJson } from "../src/dropped/json";
import { chooseState, versionOf } from "../src/dropped/state";
import { partitionText } from "../src/dropped/values";

// A browser of today tells the source of a number; the Node of some distributions does not.
test.skipIf(!("rawJSON" in JSON))("integers of 64 bits stay exact", () => {
  expect(readJson('{"a": 9223372036854775807, "b": -1, "c": 1.5, "d": 9007199254740991}')).toEqual({ a: 9223372036854775807n, b: -1, c: 1.5, d: 9007199254740991 });
  expect([intOf(5n), intOf(2n ** 60n)]).toEqual([5, 2n ** 60n]);
  expect([2n ** 60n, 7, -3].sort(compareInts)).toEqual([-3, 7, 2n ** 60n]);
});

test("Avro's longs", () => {
  const read = (...bytes: number[]) => new Cursor(new Uint8Array(bytes)).long();
  expect([read(0), read(1), read(2), read(0x80, 1), read(0xfe, 0xff, 0xff, 0xff, 0x0f)]).toEqual([0, -1, 1, 64, 2147483647]);
  expect(read(...Array<number>(9).fill(0xff), 1)).toBe(-(2n ** 63n));
  expect(read(0xfe, ...Array<number>(8).fill(0xff), 1)).toBe(2n ** 63n - 1n);
  expect(() => read(...Array<number>(11).fill(0xff))).toThrow(Unreadable);
  expect(() => read(0x80)).toThrow("cut off");
});

test("what is no Avro file is told", () => {
  expect(() => openContainer(new Uint8Array())).toThrow("it is empty");
  expect(() => openContainer(new TextEncoder().encode("PAR1"))).toThrow("it is a Parquet file");
  expect(() => openContainer(new TextEncoder().encode("AGS1..."))).toThrow("it is encrypted");
  expect(() => openContainer(new TextEncoder().encode("other"))).toThrow("it is no Avro file");
});

// Expected values are those of explorer.spec.values.values.partition_value.
test.each([
  ["hour", "timestamp", 2147483647, "246953-10-09-07"], ["hour", "timestamp", -2147483648, "-243014-03-24-16"], ["hour", "timestamp", -1, "1969-12-31-23"],
  ["day", "date", 3000000, "10183-09-21"], ["day", "timestamp", -800000, "-221-09-04"], ["identity", "date", -800000, "-0221-09-04"],
  ["identity", "date", 0, "1970-01-01"], ["identity", "timestamp", 4611686018427387904n, "148108-07-06 14:00:27.387904"],
  ["identity", "timestamptz", -4611686018427387904n, "-144169-06-28 09:59:32.612096Z"], ["identity", "timestamp", -1, "1969-12-31T23:59:59.999999"],
  ["identity", "timestamptz", 1000000, "1970-01-01T00:00:01+00:00"], ["identity", "timestamp_ns", 1, "1970-01-01T00:00:00.000000001"],
  ["year", "date", 9000, "10970"], ["year", "date", -3000, "-1030"], ["month", "date", 100000, "10303-05"], ["month", "date", -30000, "-530-01"],
  ["identity", "time", -5, "23:59:59.999995"], ["identity", "double", 1e22, "1e+22"], ["identity", "double", -1e-7, "-1e-07"],
  ["identity", "float", 0.1, "0.1"], ["identity", "double", 2, "2.0"], ["identity", "long", 1152921504606846976n, "1152921504606846976"],
  ["bucket[4]", "uuid", 3, "3"], ["void", "int", null, "null"], ["identity", "string", null, "null"], ["identity", "boolean", true, "true"],
])("a partition by %s of %s with %s reads %s", (transform, type, value, words) => {
  expect(partitionText(value, transform, type)).toBe(words);
});

test("the state of a folder is that which readers open", () => {
  const head = (uuid: string, updated: number, ...earlier: string[]) => ({ uuid, updated, earlier });
  expect([versionOf("v3.metadata.json"), versionOf("00012-ab.gz.metadata.json"), versionOf("other.json")]).toEqual([3, 12, -1]);
  expect(chooseState(["v1.metadata.json", "v2.metadata.json", "v3.metadata.json"], "2", new Map()).name).toBe("v3.metadata.json");
  expect(chooseState(["v1.metadata.json", "v3.metadata.json"], "1", new Map()).name).toBe("v1.metadata.json");
  const names = ["00001-a.metadata.json", "00002-b.metadata.json", "00009-c.metadata.json"];
  const heads = new Map([[names[0] ?? "", head("t", 1)], [names[1] ?? "", head("t", 5, `x/${names[0] ?? ""}`)], [names[2] ?? "", head("other", 2)]]);
  expect(chooseState(names, null, heads)).toMatchObject({ name: names[1], reason: expect.stringContaining("2 tables") as string });
});

// A zip whose directory says of one deflated stream that it is several files, each of `size` bytes.
function zipOf(data: Uint8Array, size: number, names: string[]): Uint8Array {
  const packed = deflateSync(data, { level: 9 }), one = names[0] ?? "", text = new TextEncoder();
  const local = new DataView(new ArrayBuffer(30)), parts: Uint8Array[] = [new Uint8Array(local.buffer), text.encode(one), packed];
  local.setUint32(0, 0x04034b50, true);
  local.setUint16(26, one.length, true);
  for (const name of names) {
    const listed = new DataView(new ArrayBuffer(46));
    listed.setUint32(0, 0x02014b50, true);
    listed.setUint16(10, 8, true);
    listed.setUint32(20, packed.length, true);
    listed.setUint32(24, size, true);
    listed.setUint16(28, name.length, true);
    parts.push(new Uint8Array(listed.buffer), text.encode(name));
  }
  const end = new DataView(new ArrayBuffer(22));
  end.setUint32(0, 0x06054b50, true);
  end.setUint32(16, 30 + one.length + packed.length, true);
  return new Uint8Array([...parts, new Uint8Array(end.buffer)].flatMap((part) => [...part]));
}

const dropped = (zip: Uint8Array) => filesOfList([new File([zip.slice().buffer], "t.zip")]);
const METADATA = ["t/metadata/v1.metadata.json", "t/metadata/v2.metadata.json"];

test("the files of a zip", async () => {
  const text = new TextEncoder().encode("{}".repeat(100));
  const files = await dropped(zipSync({ "t/metadata/v1.metadata.json": text, "t/data/a.parquet": text, "t\\metadata\\ä.avro": [text, { level: 0 }], "__MACOSX/._v1.metadata.json": text }));
  expect(files.map(({ path }) => path)).toEqual(["t/metadata/v1.metadata.json", "t/metadata/ä.avro"]);
  expect(await Promise.all(files.map(async (file) => [...await file.read()]))).toEqual([[...text], [...text]]);
  await expect(dropped(new Uint8Array([80, 75]))).rejects.toThrow("no zip");
});

test.each([10, 0, 1 << 20])("a file of a zip unpacks to no more than the %d bytes that the zip says", async (size) => {
  const [file] = await dropped(zipOf(new Uint8Array(64 << 20), size, METADATA.slice(0, 1)));
  await expect(file?.read()).rejects.toThrow("greater than this page reads");
});

test("files of a zip that share their bytes are not read", async () => {
  await expect(dropped(zipOf(new Uint8Array(1 << 20), 1 << 20, [...METADATA, ...METADATA, ...METADATA]))).rejects.toThrow("share their bytes");
});
