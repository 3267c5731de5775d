// @vitest-environment happy-dom
import { beforeEach, expect, test } from "vitest";
import { columnText, noteHistory, offersAt, pathText, placeIn, readHistory, sqlOffersAt, stateAfter } from "../src/completion";

const COLUMNS = [{ name: "id", type: "int" }, { name: "name", type: "string" }, { name: "a b", type: "long" }];
const labels = (text: string) => offersAt(text, text.length, COLUMNS)?.offers.map(({ label }) => label) ?? [];

test.each([
  ["", "operand"], ["id ", "operator"], ["id = ", "value"], ["id = 3 ", "connective"], ["id = 3 AND ", "operand"], ["NOT ", "operand"],
  ["(id = 3 ", "connective"], ["(id = 3) ", "connective"], ["id IS ", "operator"], ["id IS NULL ", "connective"], ["id NOT ", "operator"],
  ["id IN (1, ", "value"], ["id IN (1, 2) ", "connective"], ["id BETWEEN 1 ", "connective"], ["id BETWEEN 1 AND ", "value"], ["id BETWEEN 1 AND 9 ", "connective"],
  ["day(", "operand"], ["day(ts) ", "operator"], ["bucket(16, ", "operand"], ["bucket(16, id) = 3 ", "connective"], ["truncate(name, ", "value"],
  ["3 < ", "value"], ["3 < id ", "connective"], ["name = 'ja", "text"], ["name = 'it''s' ", "connective"], ['"a b" ', "operator"], ["a.b ", "operator"],
])("after %o comes: %s", (before, state) => expect(stateAfter(before)).toBe(state));

test("columns come with their types, then functions; operators after a column; AND after a comparison", () => {
  expect(offersAt("", 0, COLUMNS)?.offers[0]).toEqual({ label: "id", detail: "int", text: "id ", kind: "column" });
  expect(labels("")).toContain("bucket(…)");
  expect(labels("na")).toEqual(["name"]);
  expect(labels("name ")).toContain("LIKE '…%'");
  expect(labels("name = 'jack' ")).toEqual(["AND", "OR"]);
  expect(labels("name = 'ja")).toEqual([]);
  expect(labels("name = ")).toEqual([]);
  expect(labels("id IS NOT NULL")).toEqual([]); // what stands there is not offered
  expect(pathText("a b")).toBe("`a b`");
  expect(pathText("address.city")).toBe("address.city");
  expect(pathText("a.in")).toBe("`a.in`");
  expect(columnText("address.city")).toBe("`address.city`");
  expect(columnText("Is")).toBe("`Is`");
  expect(columnText("a`b")).toBe("`a``b`");
});

test("SQL offers columns, functions and versions of the table", () => {
  const at = (text: string) => sqlOffersAt(text, text.length, COLUMNS, ["main", "snapshot-1"])?.offers.map(({ label }) => label) ?? [];
  expect(at("SELECT na")).toContain("name");
  expect(at("SELECT cou")).toContain("count");
  expect(at("SELECT * FROM t@sn")).toEqual(["snapshot-1"]);
  expect(at("SELECT 'na")).toEqual([]);
});

test("an error is underlined where it stands", () => {
  expect(placeIn("id === 3", "", 3)).toEqual({ from: 3, to: 4 });
  expect(placeIn("id = 3 nam", "", 7)).toEqual({ from: 7, to: 10 });
  expect(placeIn("id =", "", 4)).toEqual({ from: 3, to: 4 });
  expect(placeIn("SELECT\n  x FORM t", "Syntax error (line 2, pos 4)")).toEqual({ from: 11, to: 15 });
  expect(placeIn("id = 3", "no place is told")).toEqual({ from: 0, to: 6 });
});

beforeEach(() => localStorage.clear());
test("what was entered comes back, the newest first, each once", () => {
  for (const text of ["a = 1", "b = 2", "a = 1", " "]) noteHistory("filter", text);
  expect(readHistory("filter")).toEqual(["a = 1", "b = 2"]);
  localStorage.setItem("icedive-history-filter", '[1, "a", null]');
  expect(readHistory("filter")).toEqual(["a"]);
  localStorage.setItem("icedive-history-filter", "{");
  expect(readHistory("filter")).toEqual([]);
});
