import { expect, test } from "vitest";
import { isStep, NOWHERE, placeOf, queryOf } from "../src/place";
import { placeBeside } from "../src/preview";
import { inList, jsonOf, MOST_PIXELS, PAGE, pagesFor, ROW_HEIGHT, shiftAt, tsv, widthFor } from "../src/row-window";
import { counted, partsOf, shortPath, titleOf } from "../src/words";

test("a place goes into a URL and comes back", () => {
  const place = { ...NOWHERE, table: "a.b c", mode: "plan", filter: "name = 'x & y'", tab: "why" };
  expect(placeOf(queryOf(place))).toEqual(place);
  expect(queryOf(NOWHERE)).toBe("");
  expect(placeOf("?unknown=1&table=t")).toEqual({ ...NOWHERE, table: "t" });
});

test("links to views of the dashboard lead to what they became", () => {
  expect(placeOf("?table=t&view=problems").mode).toBe("findings");
  expect(placeOf("?table=t&view=fate")).toMatchObject({ mode: "ask", question: "data history" });
  expect(placeOf("?table=t&view=diff&compare=snapshot-1")).toMatchObject({ mode: "compare", before: "snapshot-1" });
  expect(placeOf("?table=t&view=constructor")).toEqual({ ...NOWHERE, table: "t" });
});

test("what is selected is no step of its own", () => {
  expect(isStep(NOWHERE, { ...NOWHERE, node: "n1" })).toBe(false);
  expect(isStep(NOWHERE, { ...NOWHERE, mode: "plan" })).toBe(true);
});

test("the pages of rows that are near what is seen", () => {
  expect(pagesFor(0, 40)).toEqual([0]);
  expect(pagesFor(PAGE - 1, PAGE)).toEqual([0, 1]);
  expect(pagesFor(0, -1)).toEqual([0]);
});

test("every row of a long list can be reached, and the last one is at the bottom", () => {
  const room = 500, rows = 10_000_000;
  expect(shiftAt(0, rows, room)).toBe(0);
  expect(shiftAt(300, 1_000, room)).toBe(0);
  const bottom = MOST_PIXELS - room;
  expect(bottom + shiftAt(bottom, rows, room) + room).toBeCloseTo(rows * ROW_HEIGHT, 3);
});

test("rows are copied as a spreadsheet takes them", () => {
  expect(tsv(["a", "b"], [["1", null], ["x\ty", "l1\nl2"]])).toBe("a\tb\n1\t\nx y\tl1 l2");
});

test("words", () => {
  expect(shortPath("s3://b/data/f.parquet")).toBe("f.parquet");
  expect(shortPath("snapshot-1")).toBe("snapshot-1");
  expect(titleOf("data history")).toBe("History");
  expect([counted("data files", "1"), counted("data files", "21"), counted("rows", "≤ 1")]).toEqual(["data file", "data files", "row"]);
});

test("rows are copied as JSON and as a condition, with exact values", () => {
  const id = { name: "id", isNumber: true }, name = { name: "a name", isNumber: false };
  expect(JSON.parse(jsonOf([id, name], [["7", "x"], ["9007199254740993", null]]))).toEqual([{ id: 7, "a name": "x" }, { id: "9007199254740993", "a name": null }]);
  expect(inList(id, ["1", "2", "1"])).toBe("id IN (1, 2)");
  expect(inList(name, ["it's", null])).toBe("(`a name` IN ('it''s') OR `a name` IS NULL)");
  expect(inList(id, [null])).toBe("id IS NULL");
});

test("a column is as wide as what it has, within bounds", () => {
  expect(widthFor("id", ["1"])).toBe(56);
  expect(widthFor("file_path", ["x".repeat(500)])).toBe(340);
  expect(widthFor("n", ["1,234,567", null])).toBeGreaterThan(widthFor("n", ["1"]));
});

test("a preview stands below its link, or above it at the bottom of the window", () => {
  const room = { width: 1000, height: 800 };
  expect(placeBeside({ left: 100, top: 80, bottom: 100 }, room)).toEqual({ left: 100, top: 104 });
  expect(placeBeside({ left: 900, top: 700, bottom: 720 }, room)).toEqual({ left: 612, bottom: 104 });
});

test("a table's name has parts, those with dots in backticks", () => {
  expect(partsOf("sandbox.demo.t")).toEqual(["sandbox", "demo", "t"]);
  expect(partsOf("odd.db.`with.dot`")).toEqual(["odd", "db", "with.dot"]);
  expect(partsOf("odd.db.`a``b`")).toEqual(["odd", "db", "a`b"]);
  expect(partsOf("big200k")).toEqual(["big200k"]);
});
