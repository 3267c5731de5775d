import { beforeEach, expect, test } from "vitest";
import { asked } from "../src/asked";
import { isOpened, placeOfFile } from "../lab/src/files";
import { NOWHERE } from "../src/place";
import type { Header, Hello } from "../src/protocol";
import { header, hello, place } from "../src/store";
import { cellText } from "../lab/src/kernel";

const parameter = { label: "", help: "", form: "text", choices: [], several: false, offer: "", default: null, least: null, is_filter: false, is_sql: false };
const form = (name: string, names: string[], required = "") => ({
  name, group: "", subject: "table", summary: "", description: "", writes: false,
  parameters: names.map((one) => ({ ...parameter, name: one, required: one === required })),
});

beforeEach(() => {
  hello.value = {
    questions: [form("inspect files", ["snapshot"]), form("inspect snapshots", []), form("data history", ["where"], "where")],
    rights: { sql: true, lab: true, moves: true, catalogs: true },
  } as unknown as Hello;
  header.value = { current: "30", snapshots: [{ id: "30", name: "snapshot-3" }, { id: "20", name: "snapshot-2" }], refs: [] } as unknown as Header;
});

const at = (where: object) => {
  place.value = { ...NOWHERE, table: "db.t", ...where };
  return asked();
};

test("the question on screen is that of the mode, the tab or the list", () => {
  expect(at({})).toEqual({ question: "", table: "db.t", arguments: {} });
  expect(at({ snapshot: "20" })).toEqual({ question: "show", table: "db.t", arguments: { snapshot: "20" } });
  expect(at({ mode: "plan" }).question).toBe("");
  expect(at({ mode: "plan", filter: "id = 1" })).toEqual({ question: "plan", table: "db.t", arguments: { where: "id = 1" } });
  expect(at({ mode: "compare" }).arguments).toEqual({ before: "20", after: "30" });
  expect(at({ mode: "health", tab: "storage" }).question).toBe("storage");
  expect(at({ list: "inspect files", snapshot: "20" })).toEqual({ question: "inspect files", table: "db.t", arguments: { snapshot: "20" } });
  expect(at({ list: "inspect snapshots", snapshot: "20" }).arguments).toEqual({});
  expect(at({ list: "data history" }).question).toBe("");
  expect(at({ list: "data history", arguments: '{"where":"id = 1"}' }).arguments).toEqual({ where: "id = 1" });
  expect(at({ mode: "ask", question: "count", arguments: '{"a":1}' })).toEqual({ question: "count", table: "db.t", arguments: { a: 1 } });
  expect(at({ mode: "rows", tab: "sql", arguments: '{"query":"SELECT 1"}' }).question).toBe("sql");
});

test("files and folders of a table lead to it", () => {
  const folder = { folder: "/lake/t/metadata", tables: [] };
  expect(placeOfFile("00001-a.metadata.json", false, folder)).toEqual({ table: "/lake/t/metadata/00001-a.metadata.json" });
  expect(placeOfFile("snap-12-1-ab.avro", false, folder)).toEqual({ table: "/lake/t", snapshot: "12" });
  expect(placeOfFile("ab-m10.avro", false, folder)).toEqual({ table: "/lake/t", find: "ab-m10.avro" });
  expect(placeOfFile("t", true, { folder: "/lake", tables: ["t"] })).toEqual({ table: "/lake/t" });
  expect(placeOfFile("metadata", true, { folder: "/lake/t", tables: ["metadata"] })).toEqual({ table: "/lake/t" });
  for (const name of ["data.avro", "snap.avro", "metadata.json", "x.json", "m0.avro.txt"]) expect(isOpened(name, false, [])).toBe(false);
  for (const name of ["v3.metadata.json", "v3.metadata.json.gz", "snap-1-2.avro", "a-m0.avro"]) expect(isOpened(name, false, [])).toBe(true);
  expect(isOpened("t", true, [])).toBe(false);
  expect(isOpened("t", true, ["t"])).toBe(true);
});

test("a table's name in a cell cannot turn its line around or end it", () => {
  expect(cellText("größe.t")).toBe('"größe.t"');
  expect(cellText('a"\n\u202eb\u2028\u{e0001}')).toBe('"a\\"\\n\\u202eb\\u2028\\U000e0001"');
});

test("a manifest opens in the snapshot that wrote it, and in the current one where that snapshot's list is gone", () => {
  const folder = { folder: "/lake/fruit/metadata", tables: [] }, table = "/lake/fruit";
  const others = ["00001-aa.metadata.json", "snap-11-1-aa-1.avro", "snap-22-2-bb-2.avro", "aa-1-m0.avro", "bb-2-m0.avro", "bb-2-m1.avro"];
  expect(placeOfFile("aa-1-m0.avro", false, folder, others)).toEqual({ table, find: "aa-1-m0.avro", snapshot: "11" });
  expect(placeOfFile("bb-2-m1.avro", false, folder, others)).toEqual({ table, find: "bb-2-m1.avro", snapshot: "22" });
  expect(placeOfFile("cc-3-m0.avro", false, folder, others)).toEqual({ table, find: "cc-3-m0.avro" });
});
