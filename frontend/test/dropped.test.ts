import { expect, test } from "vitest";
import { Cursor, openContainer, Unreadable } from "../src/dropped/avro";
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
