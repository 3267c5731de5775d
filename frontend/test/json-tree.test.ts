import { expect, test } from "vitest";
import { brief, firstOpen, rowsOf, treeOf } from "../src/json-tree";

const OLDER = { "format-version": "2", snapshots: [{ "snapshot-id": "1", summary: { operation: '"append"' } }], properties: { a: '"x"', gone: '"y"' } };
const NEWER = {
  "format-version": "2", properties: { a: '"z"' },
  snapshots: [{ "snapshot-id": "2", summary: { operation: '"delete"' } }, { "snapshot-id": "1", summary: { operation: '"append"' } }],
};
const lines = (rows: ReturnType<typeof rowsOf>["rows"]) => rows.map(({ node, level, isOpen }) => `${level}${isOpen ? "-" : " "}${node.name}`);

test("lines unfold", () => {
  const root = treeOf(NEWER);
  expect(lines(rowsOf(root, new Set()).rows)).toEqual(["1 format-version", "1 properties", "1 snapshots"]);
  expect(lines(rowsOf(root, new Set(["/properties"])).rows)).toEqual(["1 format-version", "1-properties", "2 a", "1 snapshots"]);
  expect([...firstOpen(root)]).toEqual(["/properties", "/snapshots"]);
  expect(root.children.map(brief)).toEqual(["0 fields", '1 field · a: "z"', "2 items"]);
});

test("a search shows what has the text and what leads there, and what was found can be folded", () => {
  const root = treeOf(NEWER), { rows, found } = rowsOf(root, new Set(), "DELETE");
  expect(lines(rows)).toEqual(["1-snapshots", "2-snapshot-id 2", "3-summary", "4 operation"]);
  expect(found).toBe(1);
  expect(lines(rowsOf(root, new Set(["/snapshots"]), "delete").rows)).toEqual(["1 snapshots"]);
  expect(rowsOf(root, new Set(), "no such")).toEqual({ rows: [], found: 0 });
});

test("two versions are compared by ids, whatever their order", () => {
  const root = treeOf(NEWER, OLDER), open = firstOpen(root);
  expect(root.children.map(({ name, change }) => [name, change])).toEqual([["format-version", ""], ["properties", "changed"], ["snapshots", "changed"]]);
  const { rows } = rowsOf(root, open, "", true);
  expect(rows.map(({ node }) => [node.name, node.change, node.before, node.text])).toEqual([
    ["properties", "changed", "", ""], ["a", "changed", '"x"', '"z"'], ["gone", "removed", '"y"', ""],
    ["snapshots", "changed", "", ""], ["snapshot-id 2", "added", "", ""],
  ]);
  expect(treeOf(NEWER, NEWER).change).toBe("");
});
