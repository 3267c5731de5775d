"""Edits of small tables, one by one: what Spark says to each stands in spark_answers.json.

A row is (version of the format, kind, edit): of a metadata file, of the newest manifest list, of a data manifest, of
the text of the metadata file, or a function that makes the table."""

from __future__ import annotations

import copy
import json
import struct
import zlib
from datetime import date
from pathlib import Path
from typing import Any

from tests.cases.mini import Table
from tests.robustness.editing import edit_avro, edit_json

ANSWERS: dict[str, list[str]] = json.loads((Path(__file__).parent / "spark_answers.json").read_text())
"""By row: what Spark 4.1 with Iceberg Java 1.12 said to it (`reads` or `refuses`), and the doctor's rule for what it
refuses. Rows without an answer cannot be written, or lead outside their folder."""
Rows = dict[str, tuple[int, str, Any]]
R: Rows = {}


def md(name, f, version=2):
    R[name] = (version, "md", f)


def ls(name, f, version=2):
    R[f"list: {name}"] = (version, "list", f)


def mf(name, f, version=2):
    R[f"entry: {name}"] = (version, "manifest", f)


def mk(name, f):
    R[name] = (0, "make", f)


def plain(folder, version=2, **kw):
    t = Table(
        folder,
        [(1, "id", "long", True), (2, "v", "string"), (3, "d", "date")],
        [(3, 1000, "d_m", "month")],
        version=version,
        **kw,
    )
    p = lambda m: {"partition": {"d_m": m}}
    a = t.parquet("a.parquet", {"id": [1, 2], "v": ["a", "b"], "d": [date(2024, 1, 1), date(2024, 1, 2)]}, **p(648))
    t.append(a)
    b = t.parquet("b.parquet", {"id": [3], "v": ["c"], "d": [date(2024, 2, 1)]}, **p(649))
    t.append(b)
    if version == 2:
        t.delta(deletes=[t.position_delete("p.parquet", [(a["file_path"], 0)], **p(648))], operation="delete")
    return t


md("ok", lambda d: None)
md("ok3", lambda d: None, 3)
md("ok1", lambda d: None, 1)
for k in [
    "format-version",
    "table-uuid",
    "location",
    "last-sequence-number",
    "last-updated-ms",
    "last-column-id",
    "schemas",
    "current-schema-id",
    "partition-specs",
    "default-spec-id",
    "last-partition-id",
    "sort-orders",
    "default-sort-order-id",
    "properties",
    "current-snapshot-id",
    "snapshots",
    "refs",
    "snapshot-log",
    "metadata-log",
    "statistics",
    "partition-statistics",
]:
    md(f"drop {k}", lambda d, k=k: d.pop(k))
    md(f"null {k}", lambda d, k=k: d.update({k: None}))
    md(f"text {k}", lambda d, k=k: d.update({k: "x"}))
    md(f"object {k}", lambda d, k=k: d.update({k: {}}))
    md(f"array {k}", lambda d, k=k: d.update({k: []}))
    md(f"big {k}", lambda d, k=k: d.update({k: 1 << 70}))
for k in [
    "table-uuid",
    "last-sequence-number",
    "schemas",
    "current-schema-id",
    "partition-specs",
    "default-spec-id",
    "last-partition-id",
    "sort-orders",
    "default-sort-order-id",
]:
    md(f"v1 drop {k}", lambda d, k=k: d.pop(k, None), 1)
md("v3 drop next-row-id", lambda d: d.pop("next-row-id"), 3)
md("v3 text next-row-id", lambda d: d.update({"next-row-id": "x"}), 3)
md("v3 next-row-id negative", lambda d: d.update({"next-row-id": -1}), 3)
md("v3 next-row-id low", lambda d: d.update({"next-row-id": 1}), 3)
md("last-column-id 33 bit", lambda d: d.update({"last-column-id": 1 << 33}))
md("last-updated float", lambda d: d.update({"last-updated-ms": 1.5}))
md("last-updated float whole", lambda d: d.update({"last-updated-ms": float(d["last-updated-ms"])}))
md("property number", lambda d: d["properties"].update({"a": 1}))
md("property null", lambda d: d["properties"].update({"a": None}))
md("version 4", lambda d: d.update({"format-version": 4}))
md("version 0", lambda d: d.update({"format-version": 0}))
md("version 5", lambda d: d.update({"format-version": 5}))
md("uuid odd", lambda d: d.update({"table-uuid": "abc"}))
# schemas
S = lambda d: d["schemas"][0]
F = lambda d, n=0: d["schemas"][0]["fields"][n]
md("schema without type", lambda d: S(d).pop("type"))
md("schema type list", lambda d: S(d).update({"type": "list"}))
md("schema without fields", lambda d: S(d).pop("fields"))
md("schema without id", lambda d: S(d).pop("schema-id"))
md("schema id text", lambda d: S(d).update({"schema-id": "0"}))
md("schema twice", lambda d: d["schemas"].append(copy.deepcopy(S(d))))
md(
    "second schema bad type",
    lambda d: d["schemas"].append(
        {"type": "struct", "schema-id": 1, "fields": [{"id": 9, "name": "x", "required": False, "type": "thing"}]}
    ),
)
md(
    "second schema no required",
    lambda d: d["schemas"].append(
        {"type": "struct", "schema-id": 1, "fields": [{"id": 9, "name": "x", "type": "int"}]}
    ),
)
for k in ["id", "name", "required", "type"]:
    md(f"field without {k}", lambda d, k=k: F(d).pop(k))
md("field id text", lambda d: F(d).update({"id": "1"}))
md("field id 33 bit", lambda d: F(d, 1).update({"id": 1 << 33}))
md("field id negative", lambda d: F(d, 1).update({"id": -5}))
md("field id 0", lambda d: F(d, 1).update({"id": 0}))
md("field id reserved", lambda d: F(d, 1).update({"id": 2147483546}))
md("field id twice", lambda d: F(d, 1).update({"id": 1}))
md("field name twice", lambda d: F(d, 1).update({"name": "id"}))
md("field name twice by case", lambda d: F(d, 1).update({"name": "ID"}))
md("field name empty", lambda d: F(d, 1).update({"name": ""}))
md("field name number", lambda d: F(d, 1).update({"name": 5}))
md("field required text", lambda d: F(d, 1).update({"required": "false"}))
md("field doc number", lambda d: F(d, 1).update({"doc": 5}))
for t in [
    "thing",
    "INT",
    "decimal(39,2)",
    "decimal(5, 2)",
    "decimal(5,9)",
    "decimal(0,0)",
    "fixed[0]",
    "fixed[-1]",
    "fixed[5]",
    " fixed[5]",
    "timestamp_ns",
    "variant",
    "unknown",
    "geometry",
    "geometry(srid:1)",
    "geography",
    "geography(srid:1, spherical)",
    "geography(srid:1, foo)",
    "timestamp_s",
    "Timestamp",
    "string ",
    "bigint",
]:
    md(
        f"type {t}",
        lambda d, t=t: d["schemas"][0]["fields"].append({"id": 9, "name": "x", "required": False, "type": t}),
    )
    md(
        f"v3 type {t}",
        lambda d, t=t: d["schemas"][0]["fields"].append({"id": 9, "name": "x", "required": False, "type": t}),
        3,
    )
md(
    "unknown required v3",
    lambda d: d["schemas"][0]["fields"].append({"id": 9, "name": "x", "required": True, "type": "unknown"}),
    3,
)


def nested(name, t, v=2):
    md(name, lambda d: d["schemas"][0]["fields"].append({"id": 9, "name": "x", "required": False, "type": t}), v)


nested("list", {"type": "list", "element-id": 10, "element": "int", "element-required": False})
nested("list no element-id", {"type": "list", "element": "int", "element-required": False})
nested("list no element-required", {"type": "list", "element-id": 10, "element": "int"})
nested("list no element", {"type": "list", "element-id": 10, "element-required": False})
nested("map no value-required", {"type": "map", "key-id": 10, "key": "string", "value-id": 11, "value": "int"})
nested("map no key-id", {"type": "map", "key": "string", "value-id": 11, "value": "int", "value-required": False})
nested(
    "map same ids",
    {"type": "map", "key-id": 10, "key": "string", "value-id": 10, "value": "int", "value-required": False},
)
nested("struct no fields", {"type": "struct"})
nested("struct empty", {"type": "struct", "fields": []})
nested("struct null fields", {"type": "struct", "fields": None})
nested("object without type", {"fields": []})
nested("nested same id", {"type": "struct", "fields": [{"id": 1, "name": "y", "required": False, "type": "int"}]})
nested(
    "nested name twice",
    {
        "type": "struct",
        "fields": [
            {"id": 10, "name": "y", "required": False, "type": "int"},
            {"id": 11, "name": "y", "required": False, "type": "int"},
        ],
    },
)
nested("dotted name", "int")
md(
    "dotted collision",
    lambda d: d["schemas"][0]["fields"].extend(
        [
            {
                "id": 9,
                "name": "x",
                "required": False,
                "type": {"type": "struct", "fields": [{"id": 10, "name": "y", "required": False, "type": "int"}]},
            },
            {"id": 11, "name": "x.y", "required": False, "type": "int"},
        ]
    ),
)
md(
    "old schema field twice",
    lambda d: d["schemas"].append(
        {
            "type": "struct",
            "schema-id": 1,
            "fields": [
                {"id": 1, "name": "x", "required": False, "type": "int"},
                {"id": 1, "name": "y", "required": False, "type": "int"},
            ],
        }
    ),
)
md(
    "old schema name twice",
    lambda d: d["schemas"].append(
        {
            "type": "struct",
            "schema-id": 1,
            "fields": [
                {"id": 1, "name": "x", "required": False, "type": "int"},
                {"id": 2, "name": "x", "required": False, "type": "int"},
            ],
        }
    ),
)
md("v3 default wrong type", lambda d: F(d, 1).update({"initial-default": 5}), 3)
md("v3 initial default null", lambda d: F(d, 1).update({"initial-default": None}), 3)
md("v3 write default null", lambda d: F(d, 1).update({"write-default": None}), 3)
md("v3 default ok", lambda d: F(d, 1).update({"initial-default": "q"}), 3)
md("v2 initial default", lambda d: F(d, 1).update({"initial-default": "q"}))
md("v2 write default", lambda d: F(d, 1).update({"write-default": "q"}))
md("v3 write default wrong", lambda d: F(d, 1).update({"write-default": 5}), 3)
md("v3 date default number", lambda d: F(d, 2).update({"initial-default": 5}), 3)
md("v3 date default text", lambda d: F(d, 2).update({"initial-default": "2024-01-01"}), 3)
md("v3 date default bad", lambda d: F(d, 2).update({"initial-default": "2024-13-01"}), 3)
md("identifier ok", lambda d: S(d).update({"identifier-field-ids": [1]}))
md("identifier missing", lambda d: S(d).update({"identifier-field-ids": [7]}))
md("identifier optional", lambda d: S(d).update({"identifier-field-ids": [2]}))
md("identifier text", lambda d: S(d).update({"identifier-field-ids": ["1"]}))
md("identifier not list", lambda d: S(d).update({"identifier-field-ids": 1}))
md("identifier null", lambda d: S(d).update({"identifier-field-ids": None}))
md(
    "identifier double",
    lambda d: (
        S(d).update({"identifier-field-ids": [9]}),
        d["schemas"][0]["fields"].append({"id": 9, "name": "x", "required": True, "type": "double"}),
    ),
)
md(
    "identifier in old schema",
    lambda d: d["schemas"].append(
        {
            "type": "struct",
            "schema-id": 1,
            "identifier-field-ids": [7],
            "fields": [{"id": 1, "name": "x", "required": False, "type": "int"}],
        }
    ),
)
md("current schema missing", lambda d: d.update({"current-schema-id": 7}))
# specs
P = lambda d: d["partition-specs"][0]
PF = lambda d: d["partition-specs"][0]["fields"][0]
for k in ["spec-id", "fields"]:
    md(f"spec without {k}", lambda d, k=k: P(d).pop(k))
for k in ["source-id", "field-id", "name", "transform"]:
    md(f"partition without {k}", lambda d, k=k: PF(d).pop(k))
md("spec twice", lambda d: d["partition-specs"].append(copy.deepcopy(P(d))))
md("spec empty list", lambda d: d.update({"partition-specs": []}))
md("default spec missing", lambda d: d.update({"default-spec-id": 9}))
md("partition source missing", lambda d: PF(d).update({"source-id": 77}))
md(
    "old spec source missing",
    lambda d: d["partition-specs"].append(
        {"spec-id": 1, "fields": [{"source-id": 77, "field-id": 1001, "name": "z", "transform": "identity"}]}
    ),
)
md(
    "old spec source missing void",
    lambda d: d["partition-specs"].append(
        {"spec-id": 1, "fields": [{"source-id": 77, "field-id": 1001, "name": "z", "transform": "void"}]}
    ),
)
md("partition name of a column", lambda d: PF(d).update({"name": "v"}))
md("partition name of other identity", lambda d: PF(d).update({"name": "v", "transform": "identity"}))
md("partition name empty", lambda d: PF(d).update({"name": ""}))
md(
    "partition name twice",
    lambda d: P(d)["fields"].append({"source-id": 2, "field-id": 1001, "name": "d_m", "transform": "identity"}),
)
md(
    "partition id twice",
    lambda d: P(d)["fields"].append({"source-id": 2, "field-id": 1000, "name": "v", "transform": "identity"}),
)
md(
    "partition redundant",
    lambda d: P(d)["fields"].append({"source-id": 3, "field-id": 1001, "name": "d_m2", "transform": "month"}),
)
md(
    "partition redundant time",
    lambda d: P(d)["fields"].append({"source-id": 3, "field-id": 1001, "name": "d_y", "transform": "year"}),
)
md("partition hour of date", lambda d: PF(d).update({"transform": "hour"}))
md("partition year of string", lambda d: PF(d).update({"transform": "year", "source-id": 2}))
md("partition unknown transform", lambda d: PF(d).update({"transform": "zorder"}))
md(
    "old partition unknown transform",
    lambda d: d["partition-specs"].append(
        {"spec-id": 1, "fields": [{"source-id": 2, "field-id": 1001, "name": "z", "transform": "zorder"}]}
    ),
)
md("partition bucket[0]", lambda d: PF(d).update({"transform": "bucket[0]"}))
md("partition truncate[0]", lambda d: PF(d).update({"transform": "truncate[0]"}))
md("partition bucket text", lambda d: PF(d).update({"transform": "bucket[x]"}))
md(
    "old partition bucket[0]",
    lambda d: d["partition-specs"].append(
        {"spec-id": 1, "fields": [{"source-id": 2, "field-id": 1001, "name": "z", "transform": "bucket[0]"}]}
    ),
)
md("partition transform case", lambda d: PF(d).update({"transform": "MONTH"}))
md("partition id 1", lambda d: PF(d).update({"field-id": 1}))
md("partition id 3", lambda d: PF(d).update({"field-id": 3}))
md("partition id 100", lambda d: PF(d).update({"field-id": 100}))
md("partition id 137", lambda d: PF(d).update({"field-id": 137}))
md("partition id 999", lambda d: PF(d).update({"field-id": 999}))
md("partition id negative", lambda d: PF(d).update({"field-id": -3}))
md(
    "partition id of old spec 100",
    lambda d: d["partition-specs"].append(
        {"spec-id": 1, "fields": [{"source-id": 2, "field-id": 100, "name": "z", "transform": "identity"}]}
    ),
)
md(
    "partition of struct",
    lambda d: (
        d["schemas"][0]["fields"].append(
            {"id": 9, "name": "x", "required": False, "type": {"type": "struct", "fields": []}}
        ),
        PF(d).update({"source-id": 9, "transform": "identity"}),
    ),
)
md(
    "partition in list",
    lambda d: (
        d["schemas"][0]["fields"].append(
            {
                "id": 9,
                "name": "x",
                "required": False,
                "type": {"type": "list", "element-id": 10, "element": "int", "element-required": False},
            }
        ),
        PF(d).update({"source-id": 10, "transform": "identity", "name": "z"}),
    ),
)
md("source-ids only", lambda d: (PF(d).update({"source-ids": [3]}), PF(d).pop("source-id")))
md("v3 source-ids only", lambda d: (PF(d).update({"source-ids": [3]}), PF(d).pop("source-id")), 3)
md("field ids partly", lambda d: P(d)["fields"].append({"source-id": 2, "name": "z", "transform": "identity"}))
md(
    "partition id of two",
    lambda d: d["partition-specs"].append(
        {"spec-id": 1, "fields": [{"source-id": 2, "field-id": 1000, "name": "z", "transform": "identity"}]}
    ),
)


# sort orders
def so(order):
    return lambda d: d["sort-orders"].append(order)


G = {"transform": "identity", "source-id": 1, "direction": "asc", "null-order": "nulls-first"}
md("sort ok", so({"order-id": 1, "fields": [G]}))
md("sort 0 with fields", lambda d: d["sort-orders"][0].update({"fields": [G]}))
md("sort 1 without fields", so({"order-id": 1, "fields": []}))
md("sort twice", so({"order-id": 0, "fields": []}))
md("sort empty list", lambda d: d.update({"sort-orders": []}))
md("sort default missing", lambda d: d.update({"default-sort-order-id": 9}))
for k in G:
    md(f"sort without {k}", so({"order-id": 1, "fields": [{x: y for x, y in G.items() if x != k}]}))
md("sort direction odd", so({"order-id": 1, "fields": [{**G, "direction": "up"}]}))
md("sort direction upper", so({"order-id": 1, "fields": [{**G, "direction": "ASC"}]}))
md("sort null-order odd", so({"order-id": 1, "fields": [{**G, "null-order": "first"}]}))
md("sort null-order upper", so({"order-id": 1, "fields": [{**G, "null-order": "NULLS-FIRST"}]}))
md("sort transform odd", so({"order-id": 1, "fields": [{**G, "transform": "zorder"}]}))
md("sort source missing", so({"order-id": 1, "fields": [{**G, "source-id": 77}]}))
md(
    "sort default source missing",
    lambda d: (so({"order-id": 1, "fields": [{**G, "source-id": 77}]})(d), d.update({"default-sort-order-id": 1})),
)
md(
    "sort default transform odd",
    lambda d: (
        so({"order-id": 1, "fields": [{**G, "transform": "zorder"}]})(d),
        d.update({"default-sort-order-id": 1}),
    ),
)
md(
    "sort default hour of long",
    lambda d: (so({"order-id": 1, "fields": [{**G, "transform": "hour"}]})(d), d.update({"default-sort-order-id": 1})),
)
md("sort hour of long", so({"order-id": 1, "fields": [{**G, "transform": "hour"}]}))
md("sort without order-id", so({"fields": [G]}))
# snapshots
N = lambda d, n=-1: d["snapshots"][n]
for k in [
    "snapshot-id",
    "sequence-number",
    "timestamp-ms",
    "summary",
    "manifest-list",
    "schema-id",
    "parent-snapshot-id",
]:
    md(f"snapshot without {k}", lambda d, k=k: N(d).pop(k))
    md(f"snapshot null {k}", lambda d, k=k: N(d).update({k: None}))
    md(f"snapshot text {k}", lambda d, k=k: N(d).update({k: "x"}))
    md(f"old snapshot without {k}", lambda d, k=k: N(d, 0).pop(k, None))
md("snapshot twice", lambda d: d["snapshots"].append(copy.deepcopy(N(d, 0))))
md("snapshot id 65 bits", lambda d: N(d, 0).update({"snapshot-id": 1 << 64}))
md("snapshot schema missing", lambda d: N(d).update({"schema-id": 9}))
md("old snapshot schema missing", lambda d: N(d, 0).update({"schema-id": 9}))
md("snapshot empty summary", lambda d: N(d).update({"summary": {}}))
md("snapshot summary without operation", lambda d: N(d)["summary"].pop("operation"))
md("snapshot odd operation", lambda d: N(d)["summary"].update({"operation": "merge"}))
md("snapshot summary number", lambda d: N(d)["summary"].update({"added-records": 5}))
md("snapshot summary null", lambda d: N(d)["summary"].update({"added-records": None}))
md("snapshot sequence above last", lambda d: d.update({"last-sequence-number": 1}))
md("snapshot sequence negative", lambda d: N(d, 0).update({"sequence-number": -1}))
md("snapshot parent missing", lambda d: N(d, 0).update({"parent-snapshot-id": 55}))
md("snapshot cycle", lambda d: N(d, 0).update({"parent-snapshot-id": d["snapshots"][-1]["snapshot-id"]}))
md("snapshot manifests inline v2", lambda d: (N(d).pop("manifest-list"), N(d).update({"manifests": []})))
md("snapshot both lists", lambda d: N(d).update({"manifests": []}))
md("first-row-id without added-rows", lambda d: N(d).pop("added-rows"), 3)
md("first-row-id negative", lambda d: N(d).update({"first-row-id": -1}), 3)
md("added-rows negative", lambda d: N(d).update({"added-rows": -1}), 3)
md("added-rows without first-row-id", lambda d: N(d).pop("first-row-id"), 3)
md("no lineage", lambda d: (N(d).pop("first-row-id"), N(d).pop("added-rows")), 3)
md("v2 first-row-id without added-rows", lambda d: N(d).update({"first-row-id": 0}))
md("v2 old first-row-id text", lambda d: N(d).update({"first-row-id": "x"}))
md("timestamp seconds", lambda d: N(d).update({"timestamp-ms": N(d)["timestamp-ms"] // 1000}))
md("sequence twice", lambda d: N(d).update({"sequence-number": 2}))
# refs
for k in ["snapshot-id", "type"]:
    md(f"ref without {k}", lambda d, k=k: d["refs"]["main"].pop(k))
md("ref type odd", lambda d: d["refs"].update({"x": {"snapshot-id": 101, "type": "twig"}}))
md("ref type upper", lambda d: d["refs"].update({"x": {"snapshot-id": 101, "type": "TAG"}}))
md("ref dangling", lambda d: d["refs"].update({"x": {"snapshot-id": 5, "type": "tag"}}))
md("ref main tag", lambda d: d["refs"]["main"].update({"type": "tag"}))
md("ref main differs", lambda d: d["refs"]["main"].update({"snapshot-id": 101}))
md("ref no main", lambda d: d.update({"refs": {"x": {"snapshot-id": 101, "type": "tag"}}}))
md("refs empty", lambda d: d.update({"refs": {}}))
md("ref main without current", lambda d: d.pop("current-snapshot-id"))
md("current -1 with main", lambda d: d.update({"current-snapshot-id": -1}))
md("current missing snapshot", lambda d: (d.update({"current-snapshot-id": 9}), d.pop("refs")))
for k in ["min-snapshots-to-keep", "max-snapshot-age-ms", "max-ref-age-ms"]:
    for v in (0, -1, "x", 1 << 40, None):
        md(f"branch {k} {v}", lambda d, k=k, v=v: d["refs"]["main"].update({k: v}))
        md(f"tag {k} {v}", lambda d, k=k, v=v: d["refs"].update({"x": {"snapshot-id": 101, "type": "tag", k: v}}))
# logs
md("snapshot-log backwards", lambda d: d["snapshot-log"][0].update({"timestamp-ms": 1 << 45}))
md(
    "snapshot-log backwards 30s",
    lambda d: d["snapshot-log"][0].update({"timestamp-ms": d["snapshot-log"][1]["timestamp-ms"] + 30000}),
)
md("snapshot-log after update", lambda d: d.update({"last-updated-ms": 7}))
md("snapshot-log of missing", lambda d: d["snapshot-log"].insert(0, {"snapshot-id": 5, "timestamp-ms": 1}))
md("snapshot-log other end", lambda d: d["snapshot-log"].pop())
md("snapshot-log without id", lambda d: d["snapshot-log"][0].pop("snapshot-id"))
md("metadata-log backwards", lambda d: d["metadata-log"][0].update({"timestamp-ms": 1 << 45}))
md("metadata-log without file", lambda d: d["metadata-log"][0].pop("metadata-file"))
md("metadata-log missing file", lambda d: d["metadata-log"][0].update({"metadata-file": "/none"}))
# statistics
ST = {
    "snapshot-id": 101,
    "statistics-path": "/x",
    "file-size-in-bytes": 9,
    "file-footer-size-in-bytes": 9,
    "blob-metadata": [],
}
md("statistics ok", lambda d: d.update({"statistics": [ST]}))
for k in ST:
    md(f"statistics without {k}", lambda d, k=k: d.update({"statistics": [{x: y for x, y in ST.items() if x != k}]}))
BL = {"type": "t", "snapshot-id": 1, "sequence-number": 1, "fields": [1]}
for k in BL:
    md(
        f"blob without {k}",
        lambda d, k=k: d.update({"statistics": [{**ST, "blob-metadata": [{x: y for x, y in BL.items() if x != k}]}]}),
    )
PS = {"snapshot-id": 101, "statistics-path": "/x", "file-size-in-bytes": 9}
for k in PS:
    md(
        f"partition statistics without {k}",
        lambda d, k=k: d.update({"partition-statistics": [{x: y for x, y in PS.items() if x != k}]}),
    )
md("statistics of missing snapshot", lambda d: d.update({"statistics": [{**ST, "snapshot-id": 5}]}))
md("encryption-keys text", lambda d: d.update({"encryption-keys": "x"}))
md("encryption-keys bad", lambda d: d.update({"encryption-keys": [{}]}))
R["duplicate key"] = (2, "text", lambda s: s.replace('"format-version": 2', '"format-version": 2, "format-version": 2'))
R["trailing text"] = (2, "text", lambda s: s + "x")
R["nan"] = (2, "text", lambda s: s.replace('"last-updated-ms":', '"z": NaN, "last-updated-ms":'))
R["comment"] = (2, "text", lambda s: "// hi\n" + s)
R["bom"] = (2, "text", lambda s: "\ufeff" + s)
ls("ok", lambda r: None)


def setl(n=0, **kw):
    return lambda r: r[n].update(kw)


ls("list length 7", setl(manifest_length=7))
ls("list length 0", setl(manifest_length=0))
ls("list length -1", setl(manifest_length=-1))
ls("list length long", setl(manifest_length=1 << 20))
ls("spec unknown", setl(partition_spec_id=7))
ls("content 1", setl(content=1))
ls("content 2", setl(content=2))
ls("deletes content 0", setl(2, content=0))
ls("sequence 70", setl(sequence_number=70))
ls("sequence -1", setl(sequence_number=-1))
ls("min seq 70", setl(min_sequence_number=70))
ls("added files 0", setl(added_files_count=0))
ls("added files 7", setl(added_files_count=7))
ls("added files -1", setl(added_files_count=-1))
ls("added rows 70", setl(added_rows_count=70))
ls("snapshot id other", setl(added_snapshot_id=999))
ls("missing manifest", setl(manifest_path="file:///tmp/b/none.avro"))
ls("summaries none", setl(partitions=None))
ls("summaries empty", setl(partitions=[]))
ls("summaries two", lambda r: r[0]["partitions"].append(r[0]["partitions"][0]))
ls("summary bounds short", lambda r: r[0]["partitions"][0].update(lower_bound=b"\1", upper_bound=b"\1"))
ls("summary bounds empty", lambda r: r[0]["partitions"][0].update(lower_bound=b"", upper_bound=b""))
ls("summary inverted", lambda r: r[0]["partitions"][0].update(lower_bound=b"\xff\xff\xff\x7f", upper_bound=b"\0\0\0\0"))
ls("manifest twice", lambda r: [*r, r[0]])
ls("list empty", lambda r: r.clear() or [])
ls("v3 first row id none", setl(first_row_id=None), 3)
ls("v3 first row id neg", setl(first_row_id=-5), 3)


def sete(n=0, **kw):
    return lambda r: r[n].update(kw)


def setf(n=0, **kw):
    return lambda r: r[n]["data_file"].update(kw)


mf("status 7", sete(status=7))
mf("status -1", sete(status=-1))
mf("existing null seq", sete(status=0, sequence_number=None))
mf("existing null file seq", sete(status=0, sequence_number=1, file_sequence_number=None))
mf("deleted null seq", sete(status=2))
mf("entry snapshot other", sete(snapshot_id=77))
mf("entry seq above", sete(sequence_number=70))
mf("entry seq negative", sete(sequence_number=-1))
mf("content 1 in data", setf(content=1))
mf("content 2 in data", setf(content=2))
mf("content 5", setf(content=5))
mf("path empty", setf(file_path=""))
mf(
    "path no scheme",
    lambda r: r[0]["data_file"].update(file_path=r[0]["data_file"]["file_path"].replace("file://", "")),
)
mf("format text", setf(file_format="TEXT"))
mf("format lower", setf(file_format="parquet"))
mf("format orc", setf(file_format="ORC"))
mf("format avro", setf(file_format="AVRO"))
mf("format puffin", setf(file_format="PUFFIN"))
mf("format metadata", setf(file_format="METADATA"))
mf("records -1", setf(record_count=-1))
mf("records 0", setf(record_count=0))
mf("records more", setf(record_count=9))
mf("size 0", setf(file_size_in_bytes=0))
mf("size -1", setf(file_size_in_bytes=-1))
mf("size less", lambda r: r[0]["data_file"].update(file_size_in_bytes=r[0]["data_file"]["file_size_in_bytes"] - 5))
mf("size more", lambda r: r[0]["data_file"].update(file_size_in_bytes=r[0]["data_file"]["file_size_in_bytes"] + 500))
mf("splits far", setf(split_offsets=[1 << 40]))
mf("splits negative", setf(split_offsets=[-4]))
mf("splits unsorted", setf(split_offsets=[50, 4]))
mf("splits empty", setf(split_offsets=[]))
mf("sort order 9", setf(sort_order_id=9))
mf("equality ids on data", setf(equality_ids=[1]))
mf("equality ids unknown on data", setf(equality_ids=[99]))
mf("bound short", setf(lower_bounds=[{"key": 1, "value": b"\1"}]))
mf("bound empty", setf(lower_bounds=[{"key": 1, "value": b""}]))
mf("bound of unknown column", setf(lower_bounds=[{"key": 99, "value": b"\1"}]))
mf(
    "bound key twice",
    setf(lower_bounds=[{"key": 1, "value": struct.pack("<q", 1)}, {"key": 1, "value": struct.pack("<q", 1)}]),
)
mf("first_row_id negative", setf(first_row_id=-2), 3)
mf("referenced on data", setf(referenced_data_file="x"))
mf("partition null", lambda r: r[0]["data_file"].update(partition={"d_m": None}))
mf("partition other", lambda r: r[0]["data_file"].update(partition={"d_m": 5}))
mf("entry twice", lambda r: [*r, r[0]])
mf("data missing file", lambda r: r[0]["data_file"].update(file_path=r[0]["data_file"]["file_path"] + ".none.parquet"))
mf("key metadata", setf(key_metadata=b"abc"))


# deletes
def table(v=2, spec=(3, 1000, "d_m", "month"), fields=None):
    def make(folder):
        return Table(
            folder,
            fields or [(1, "id", "long", True), (2, "v", "string"), (3, "d", "date")],
            [spec] if spec else [],
            version=v,
        )

    return make


P648 = {"partition": {"d_m": 648}}
P649 = {"partition": {"d_m": 649}}


def base(folder, v=2, spec=(3, 1000, "d_m", "month")):
    t = table(v, spec)(folder)
    a = t.parquet("a.parquet", {"id": [1, 2], "v": ["a", "b"], "d": [date(2024, 1, 1), date(2024, 1, 2)]}, **P648)
    b = t.parquet("b.parquet", {"id": [3], "v": ["c"], "d": [date(2024, 2, 1)]}, **P649)
    t.append(a, b)
    return t, a, b


def delete(name, f, v=2, spec=(3, 1000, "d_m", "month")):
    def make(folder):
        t, a, b = base(folder, v, spec)
        ds = f(t, a, b)
        if ds is not None:
            t.delta(deletes=ds, operation="delete")
        return t

    mk(name, make)


delete("pos ok", lambda t, a, b: [t.position_delete("p.parquet", [(a["file_path"], 0)], **P648)])
delete("pos other partition by bounds", lambda t, a, b: [t.position_delete("p.parquet", [(a["file_path"], 0)], **P649)])
delete(
    "pos other partition by reference",
    lambda t, a, b: [
        t.position_delete(
            "p.parquet",
            [(a["file_path"], 0)],
            referenced_data_file=a["file_path"],
            lower_bounds=None,
            upper_bounds=None,
            **P649,
        )
    ],
)
delete(
    "pos other partition two files",
    lambda t, a, b: [t.position_delete("p.parquet", [(a["file_path"], 0), (b["file_path"], 0)], **P649)],
)
delete(
    "pos no bounds other partition",
    lambda t, a, b: [
        t.position_delete("p.parquet", [(a["file_path"], 0)], lower_bounds=None, upper_bounds=None, **P649)
    ],
)


def otherspec(t, a, b):
    t.set_spec([(1, 1001, "id_b", "identity")])
    return [t.position_delete("p.parquet", [(a["file_path"], 0)], partition={"id_b": 1})]


delete("pos other spec by bounds", otherspec)


def staleDelete(folder):
    t = table()(folder)
    t.append(t.parquet("z.parquet", {"id": [9], "v": ["a"], "d": [date(2024, 2, 1)]}, **P649))
    path = f"{t.location}/data/a.parquet"
    t.delta(deletes=[t.position_delete("p.parquet", [(path, 0)], **P649)], operation="delete")
    a = t.parquet("a.parquet", {"id": [1, 2], "v": ["a", "b"], "d": [date(2024, 1, 1), date(2024, 1, 2)]}, **P648)
    t.append(a)
    return t


mk("pos other partition but older", staleDelete)
delete("eq ok", lambda t, a, b: [t.equality_delete("e.parquet", {"id": [1]}, **P648)])
delete("eq no ids", lambda t, a, b: [t.equality_delete("e.parquet", {"id": [1]}, **{**P648, "equality_ids": None})])
delete("eq empty ids", lambda t, a, b: [t.equality_delete("e.parquet", {"id": [1]}, **{**P648, "equality_ids": []})])
delete("eq unknown id", lambda t, a, b: [t.equality_delete("e.parquet", {"id": [1]}, **{**P648, "equality_ids": [99]})])
delete(
    "eq unknown id other partition",
    lambda t, a, b: [t.equality_delete("e.parquet", {"id": [1]}, **{"partition": {"d_m": 1}, "equality_ids": [99]})],
)
delete(
    "eq id of dropped column",
    lambda t, a, b: (lambda e: (t.set_schema([(1, "id", "long", True), (3, "d", "date")]), [e])[1])(
        t.equality_delete("e.parquet", {"v": ["a"]}, **P648)
    ),
)
delete("delete content 0", lambda t, a, b: [t.equality_delete("e.parquet", {"id": [1]}, **{**P648, "content": 0})])
delete("delete content 7", lambda t, a, b: [t.equality_delete("e.parquet", {"id": [1]}, **{**P648, "content": 7})])


def eqlong(folder):
    t, _a, _b = base(folder)
    e = t.equality_delete("e.parquet", {"id": [1]}, **P648)

    def edit(schema):
        df = schema["fields"][-1]["type"]["fields"]
        f = next(x for x in df if x["name"] == "equality_ids")
        f["type"] = ["null", {"type": "array", "items": "long", "element-id": 136}]

    m = t.manifest(f"{t.uid()}-m1.avro", [(1, e)], content=1, edit_schema=edit)
    t.snapshot("delete", [*t.lists[101], m], {"added-delete-files": "1"})
    return t


mk("equality ids long", eqlong)


# vectors
def dv(folder, mutate=lambda d: None, two=False, older=False, part=P648):
    t, a, _b = base(folder, 3)
    # roaring 64: one bitmap, key 0, position 0
    roaring = (
        struct.pack("<q", 1)
        + struct.pack("<I", 0)
        + struct.pack("<I", 12346)
        + struct.pack("<I", 1)
        + struct.pack("<HH", 0, 0)
        + struct.pack("<I", 16)
        + struct.pack("<H", 0)
    )
    magic = bytes([0xD1, 0xD3, 0x39, 0x64])
    body = magic + roaring
    blob = struct.pack(">I", len(body)) + body + struct.pack(">I", zlib.crc32(body))
    footer = json.dumps(
        {
            "blobs": [
                {
                    "type": "deletion-vector-v1",
                    "fields": [],
                    "snapshot-id": -1,
                    "sequence-number": -1,
                    "offset": 4,
                    "length": len(blob),
                    "properties": {"referenced-data-file": a["file_path"], "cardinality": "1"},
                }
            ],
            "properties": {},
        }
    ).encode()
    f = t.folder / "data" / "dv.puffin"
    f.write_bytes(b"PFA1" + blob + b"PFA1" + footer + struct.pack("<I", len(footer)) + b"\0\0\0\0" + b"PFA1")
    d = {
        "content": 1,
        "file_path": f"{t.location}/data/dv.puffin",
        "file_format": "PUFFIN",
        **part,
        "record_count": 1,
        "file_size_in_bytes": f.stat().st_size,
        "referenced_data_file": a["file_path"],
        "content_offset": 4,
        "content_size_in_bytes": len(blob),
    }
    mutate(d)
    ds = [d, dict(d)] if two else [d]
    if older:
        m = t.manifest(f"{t.uid()}-m1.avro", [(1, d, {"sequence_number": 0})], content=1)
        t.snapshot("delete", [*t.lists[101], m], {"added-delete-files": "1"})
    else:
        t.delta(deletes=ds, operation="delete")
    return t


mk("dv ok", dv)
mk("dv two", lambda f: dv(f, two=True))
mk("dv older", lambda f: dv(f, older=True))
mk("dv other partition", lambda f: dv(f, part=P649))
mk("dv no reference", lambda f: dv(f, lambda d: d.pop("referenced_data_file")))
mk("dv no offset", lambda f: dv(f, lambda d: d.pop("content_offset")))
mk("dv no size", lambda f: dv(f, lambda d: d.pop("content_size_in_bytes")))
mk("dv offset wrong", lambda f: dv(f, lambda d: d.update(content_offset=5)))
mk("dv size wrong", lambda f: dv(f, lambda d: d.update(content_size_in_bytes=3)))
mk("dv cardinality wrong", lambda f: dv(f, lambda d: d.update(record_count=5)))
mk("dv reference unknown", lambda f: dv(f, lambda d: d.update(referenced_data_file="x")))
mk("dv content 0", lambda f: dv(f, lambda d: d.update(content=0)))
mk("dv content 2", lambda f: dv(f, lambda d: d.update(content=2, equality_ids=[1])))
mk("dv size in bytes wrong", lambda f: dv(f, lambda d: d.update(file_size_in_bytes=9)))


# avro schemas and headers
def schema(name, edit, v=2, header=None, what="manifest"):
    def make(folder):
        t = table(v)(folder)
        a = t.parquet("a.parquet", {"id": [1, 2], "v": ["a", "b"], "d": [date(2024, 1, 1), date(2024, 1, 2)]}, **P648)

        def e(s):
            df = s["fields"][-1]["type"]["fields"] if what == "manifest" else s["fields"]
            byname = {x["name"]: x for x in (df if what == "manifest" else s["fields"])}
            byname |= {x["name"]: x for x in s["fields"]}
            return edit(s, byname)

        m = t.manifest(
            f"{t.uid()}-m0.avro",
            [(1, a)],
            edit_schema=e if what == "manifest" else None,
            header=header if what == "manifest" else None,
        )
        t.snapshot(
            "append",
            [m],
            {"added-data-files": "1", "added-records": "2"},
            edit_list=e if what == "list" else None,
            list_header=header if what == "list" else None,
        )
        return t

    mk(f"{what}: {name}", make)


def drop(n, where="file"):
    def e(s, b):
        fs = s["fields"][-1]["type"]["fields"] if where == "file" else s["fields"]
        fs[:] = [x for x in fs if x["name"] != n]

    return e


def typ(n, t):
    def e(s, b):
        b[n]["type"] = t
        b[n].pop("default", None)

    return e


def noid(n):
    def e(s, b):
        b[n].pop("field-id")

    return e


schema("ok", lambda s, b: None)
for n in [
    "content",
    "file_path",
    "file_format",
    "partition",
    "record_count",
    "file_size_in_bytes",
    "column_sizes",
    "value_counts",
    "lower_bounds",
    "split_offsets",
    "equality_ids",
    "sort_order_id",
    "key_metadata",
    "referenced_data_file",
]:
    schema(f"no {n}", drop(n))
    schema(f"no id of {n}", noid(n))
for n in ["status", "snapshot_id", "sequence_number", "file_sequence_number", "data_file"]:
    schema(f"no {n}", drop(n, "top"))
    schema(f"no id of {n}", noid(n))
schema("v3 no first_row_id", drop("first_row_id"), v=3)
L, I, ST_, BY = ["long"], ["int"], ["string"], ["bytes"]
for n, ts in {
    "status": ["long", ["null", "int"], "string"],
    "snapshot_id": ["long", ["null", "int"], ["null", "string"]],
    "sequence_number": ["long", ["null", "int"]],
    "content": ["long", ["null", "int"]],
    "file_path": [["null", "string"], "bytes"],
    "file_format": [["null", "string"]],
    "record_count": ["int", ["null", "long"], "double"],
    "file_size_in_bytes": ["int", ["null", "long"]],
    "sort_order_id": [["null", "long"], "int"],
    "split_offsets": [
        ["null", {"type": "array", "items": "int", "element-id": 133}],
        ["null", {"type": "array", "items": "long"}],
        ["null", {"type": "array", "items": ["null", "long"], "element-id": 133}],
    ],
    "equality_ids": [
        ["null", {"type": "array", "items": "int"}],
        ["null", {"type": "array", "items": ["null", "int"], "element-id": 136}],
    ],
    "key_metadata": [["null", "string"]],
}.items():
    for x in ts:
        schema(f"{n} as {json.dumps(x)}", typ(n, x))


def partunion(s, b):
    b["partition"]["type"] = ["null", b["partition"]["type"]]


schema("partition union", partunion)


def dfunion(s, b):
    b["data_file"]["type"] = ["null", b["data_file"]["type"]]


schema("data_file union", dfunion)


def pfield(f):
    def e(s, b):
        f(b["partition"]["type"]["fields"][0])

    return e


schema("partition field no id", pfield(lambda f: f.pop("field-id")))
schema("partition field other id", pfield(lambda f: f.update({"field-id": 1005})))
schema("partition field other name", pfield(lambda f: f.update({"name": "d_m"})))
schema("partition field long", pfield(lambda f: f.update({"type": ["null", "long"]})))
schema("partition field required", pfield(lambda f: (f.update({"type": "int"}), f.pop("default"))))
schema("partition field date", pfield(lambda f: f.update({"type": ["null", {"type": "int", "logicalType": "date"}]})))
schema("partition field renamed", lambda s, b: None)


def nullsecond(s, b):
    b["sort_order_id"]["type"] = ["int", "null"]
    b["sort_order_id"].pop("default")


schema("null second", nullsecond)


def mapids(s, b):
    t = b["value_counts"]["type"][1]["items"]["fields"]
    [x.pop("field-id") for x in t]


schema("map no ids", mapids)


def maplogical(s, b):
    b["value_counts"]["type"][1].pop("logicalType")


schema("map no logical type", maplogical)


def mapvalint(s, b):
    b["value_counts"]["type"][1]["items"]["fields"][1]["type"] = "int"


schema("map values int", mapvalint)


def mapopt(s, b):
    b["value_counts"]["type"][1]["items"]["fields"][1]["type"] = ["null", "long"]


schema("map values optional", mapopt)


def noids(s, b):
    def walk(x):
        if isinstance(x, dict):
            for k in ("field-id", "element-id", "key-id", "value-id"):
                x.pop(k, None)
            for y in x.values():
                walk(y)
        elif isinstance(x, list):
            for y in x:
                walk(y)

    walk(s)


schema("no ids at all", noids)


def extra(s, b):
    s["fields"].append({"name": "more", "type": ["null", "string"], "default": None, "field-id": 9999})


schema("extra field", extra)


def extra2(s, b):
    s["fields"].append({"name": "more", "type": ["null", "string"], "default": None})


schema("extra field no id", extra2)
H = ("schema", "schema-id", "partition-spec", "partition-spec-id", "format-version", "content")
for h in H:
    schema(f"header no {h}", lambda s, b: None, header={h: None})
    schema(f"header odd {h}", lambda s, b: None, header={h: "odd"})
schema("header none", lambda s, b: None, header=dict.fromkeys(H))
schema("header content deletes", lambda s, b: None, header={"content": "deletes"})
schema("header spec id 5", lambda s, b: None, header={"partition-spec-id": "5"})
schema("header version 9", lambda s, b: None, header={"format-version": "9"})
# lists
for n in [
    "manifest_path",
    "manifest_length",
    "partition_spec_id",
    "content",
    "sequence_number",
    "min_sequence_number",
    "added_snapshot_id",
    "added_files_count",
    "existing_files_count",
    "deleted_files_count",
    "added_rows_count",
    "existing_rows_count",
    "deleted_rows_count",
    "partitions",
    "key_metadata",
]:
    schema(f"no {n}", drop(n, "top"), what="list")
    schema(f"no id of {n}", noid(n), what="list")
for n, ts in {
    "manifest_length": ["int", ["null", "long"]],
    "partition_spec_id": ["long", ["null", "int"]],
    "content": ["long"],
    "sequence_number": ["int", ["null", "long"]],
    "added_snapshot_id": [["null", "long"], "int", "string"],
    "added_files_count": ["long", ["null", "int"]],
    "added_rows_count": ["int", ["null", "long"]],
}.items():
    for x in ts:
        schema(f"{n} as {json.dumps(x)}", typ(n, x), what="list")
schema("no ids at all", noids, what="list")
schema(
    "header none",
    lambda s, b: None,
    header={"snapshot-id": None, "sequence-number": None, "format-version": None},
    what="list",
)
schema("header snapshot 5", lambda s, b: None, header={"snapshot-id": "5"}, what="list")
schema("v3 no first_row_id", drop("first_row_id", "top"), v=3, what="list")

N = lambda d, n=-1: d["snapshots"][n]
md("v1 no summary", lambda d: N(d).pop("summary"), 1)
md("v1 empty summary", lambda d: N(d).update({"summary": {}}), 1)
md("v1 no operation", lambda d: N(d)["summary"].pop("operation"), 1)
md(
    "v1 conflict",
    lambda d: d["partition-specs"].append(
        {"spec-id": 1, "fields": [{"source-id": 2, "field-id": 1000, "name": "z", "transform": "identity"}]}
    ),
    1,
)
md(
    "v1 conflict void",
    lambda d: d["partition-specs"].append(
        {"spec-id": 1, "fields": [{"source-id": 3, "field-id": 1000, "name": "d_m", "transform": "void"}]}
    ),
    1,
)
md(
    "v2 conflict void other source",
    lambda d: d["partition-specs"].append(
        {"spec-id": 1, "fields": [{"source-id": 2, "field-id": 1000, "name": "z", "transform": "void"}]}
    ),
)
md(
    "v2 same id other name",
    lambda d: d["partition-specs"].append(
        {"spec-id": 1, "fields": [{"source-id": 3, "field-id": 1000, "name": "zz", "transform": "month"}]}
    ),
)
md(
    "two ids same name in specs",
    lambda d: d["partition-specs"].append(
        {"spec-id": 1, "fields": [{"source-id": 2, "field-id": 1001, "name": "d_m", "transform": "identity"}]}
    ),
)
md(
    "old spec conflict source missing",
    lambda d: d["partition-specs"].append(
        {"spec-id": 1, "fields": [{"source-id": 77, "field-id": 1000, "name": "z", "transform": "identity"}]}
    ),
)
md(
    "old spec id twice",
    lambda d: d["partition-specs"].append(
        {
            "spec-id": 1,
            "fields": [
                {"source-id": 2, "field-id": 1001, "name": "z", "transform": "identity"},
                {"source-id": 1, "field-id": 1001, "name": "y", "transform": "identity"},
            ],
        }
    ),
)
md(
    "old spec name twice",
    lambda d: d["partition-specs"].append(
        {
            "spec-id": 1,
            "fields": [
                {"source-id": 2, "field-id": 1001, "name": "z", "transform": "identity"},
                {"source-id": 1, "field-id": 1002, "name": "z", "transform": "identity"},
            ],
        }
    ),
)
md(
    "old spec hour of string",
    lambda d: d["partition-specs"].append(
        {"spec-id": 1, "fields": [{"source-id": 2, "field-id": 1001, "name": "z", "transform": "hour"}]}
    ),
)
md(
    "old spec bucket of double",
    lambda d: (
        d["schemas"][0]["fields"].append({"id": 9, "name": "x", "required": False, "type": "double"}),
        d["partition-specs"].append(
            {"spec-id": 1, "fields": [{"source-id": 9, "field-id": 1001, "name": "z", "transform": "bucket[4]"}]}
        ),
    ),
)
md(
    "default spec bucket of double",
    lambda d: (
        d["schemas"][0]["fields"].append({"id": 9, "name": "x", "required": False, "type": "double"}),
        d["partition-specs"][0]["fields"].append(
            {"source-id": 9, "field-id": 1001, "name": "z", "transform": "bucket[4]"}
        ),
    ),
)
md(
    "old spec name of column",
    lambda d: d["partition-specs"].append(
        {"spec-id": 1, "fields": [{"source-id": 3, "field-id": 1001, "name": "v", "transform": "month"}]}
    ),
)
md(
    "old spec name of column dropped source",
    lambda d: d["partition-specs"].append(
        {"spec-id": 1, "fields": [{"source-id": 77, "field-id": 1001, "name": "v", "transform": "month"}]}
    ),
)
md("transform d named d", lambda d: d["partition-specs"][0]["fields"][0].update({"name": "d"}))
md(
    "void named v",
    lambda d: d["partition-specs"].append(
        {"spec-id": 1, "fields": [{"source-id": 3, "field-id": 1001, "name": "v", "transform": "void"}]}
    ),
)


def st(t):
    return lambda d: d["schemas"][0]["fields"].append({"id": 9, "name": "x", "required": False, "type": t})


md(
    "nested names by case",
    st(
        {
            "type": "struct",
            "fields": [
                {"id": 10, "name": "y", "required": False, "type": "int"},
                {"id": 11, "name": "Y", "required": False, "type": "int"},
            ],
        }
    ),
)
md("list nanos", st({"type": "list", "element-id": 10, "element": "timestamptz_ns", "element-required": False}), 3)
md(
    "old schema nanos",
    lambda d: d["schemas"].append(
        {
            "type": "struct",
            "schema-id": 1,
            "fields": [{"id": 9, "name": "x", "required": False, "type": "timestamp_ns"}],
        }
    ),
    3,
)
md(
    "old schema names by case",
    lambda d: d["schemas"].append(
        {
            "type": "struct",
            "schema-id": 1,
            "fields": [
                {"id": 9, "name": "x", "required": False, "type": "int"},
                {"id": 10, "name": "X", "required": False, "type": "int"},
            ],
        }
    ),
)
for c in [
    "OGC:CRS84",
    "EPSG:4326",
    "EPSG:3857",
    "srid:4326",
    "srid:0",
    "srid:3857",
    "OGC:CRS27",
    "projjson:x",
    "EPSG:27700",
    "4326",
    "ogc:crs84",
]:
    md("geometry " + c, st(f"geometry({c})"), 3)
    md("geography " + c, st(f"geography({c})"), 3)
md("geography alg", st("geography(OGC:CRS84, spherical)"), 3)
md("geography vincenty", st("geography(OGC:CRS84, vincenty)"), 3)
md("time column", st("time"), 3)
md("uuid column", st("uuid"), 3)
md("fixed column", st("fixed[5]"), 3)
md("variant in list", st({"type": "list", "element-id": 10, "element": "variant", "element-required": False}), 3)
md(
    "map key required false ok",
    st(
        {
            "type": "map",
            "key-id": 10,
            "key": {"type": "struct", "fields": []},
            "value-id": 11,
            "value": "int",
            "value-required": False,
        }
    ),
)
md(
    "field id of list reserved",
    st({"type": "list", "element-id": 2147483646, "element": "int", "element-required": False}),
)
md(
    "field _file",
    lambda d: d["schemas"][0]["fields"].append({"id": 9, "name": "_file", "required": False, "type": "string"}),
)
md(
    "field _pos",
    lambda d: d["schemas"][0]["fields"].append({"id": 9, "name": "_pos", "required": False, "type": "long"}),
)
md("column id 2147483546 only", st("int"))
md("name-mapping broken", lambda d: d["properties"].update({"schema.name-mapping.default": "{"}))
md("name-mapping bad shape", lambda d: d["properties"].update({"schema.name-mapping.default": "[{}]"}))
md("split size text", lambda d: d["properties"].update({"read.split.target-size": "x"}))
md("split size 0", lambda d: d["properties"].update({"read.split.target-size": "0"}))
md("split size neg", lambda d: d["properties"].update({"read.split.target-size": "-1"}))
md("lookback 0", lambda d: d["properties"].update({"read.split.planning-lookback": "0"}))
md("open cost neg", lambda d: d["properties"].update({"read.split.open-file-cost": "-1"}))
md("vectorization text", lambda d: d["properties"].update({"read.parquet.vectorization.batch-size": "x"}))
md("io impl", lambda d: d["properties"].update({"io-impl": "x.Y"}))
md("metadata log null", lambda d: d.update({"metadata-log": [None]}))
md("snapshot log null", lambda d: d.update({"snapshot-log": [None]}))
md("snapshots null element", lambda d: d["snapshots"].append(None))
md("schemas null element", lambda d: d["schemas"].append(None))
md("specs null element", lambda d: d["partition-specs"].append(None))
md("sort null element", lambda d: d["sort-orders"].append(None))
md("refs null element", lambda d: d["refs"].update({"x": None}))
md(
    "no snapshots at all",
    lambda d: (d.update({"snapshots": [], "refs": {}, "snapshot-log": []}), d.pop("current-snapshot-id")),
)
md(
    "default sort order unknown transform of dropped",
    lambda d: (
        d["sort-orders"].append(
            {
                "order-id": 1,
                "fields": [{"transform": "zorder", "source-id": 77, "direction": "asc", "null-order": "nulls-first"}],
            }
        ),
        d.update({"default-sort-order-id": 1}),
    ),
)
md(
    "sort by struct",
    lambda d: (
        st({"type": "struct", "fields": []})(d),
        d["sort-orders"].append(
            {
                "order-id": 1,
                "fields": [{"transform": "identity", "source-id": 9, "direction": "asc", "null-order": "nulls-first"}],
            }
        ),
        d.update({"default-sort-order-id": 1}),
    ),
)
for t, v in [
    ("int", 5),
    ("int", "5"),
    ("int", 5.0),
    ("long", 1 << 40),
    ("long", 1 << 70),
    ("float", 1.5),
    ("float", 1),
    ("double", "x"),
    ("boolean", True),
    ("boolean", 1),
    ("decimal(5,2)", "1.50"),
    ("decimal(5,2)", "1.5"),
    ("decimal(5,2)", 1.5),
    ("decimal(5,2)", "1.5E0"),
    ("decimal(5,2)", "123456.00"),
    ("uuid", "f79c3e09-677c-4bbd-a479-3f349cb785e7"),
    ("uuid", "x"),
    ("time", "10:00:00"),
    ("time", "10:00"),
    ("time", "25:00:00"),
    ("time", "10:00:00.1234567"),
    ("timestamp", "2024-01-01T10:00:00"),
    ("timestamp", "2024-01-01 10:00:00"),
    ("timestamp", "2024-01-01T10:00:00+00:00"),
    ("timestamptz", "2024-01-01T10:00:00+00:00"),
    ("timestamptz", "2024-01-01T10:00:00Z"),
    ("timestamptz", "2024-01-01T10:00:00+01:00"),
    ("timestamptz", "2024-01-01T10:00:00"),
    ("binary", "0aFF"),
    ("binary", "0a F"),
    ("binary", "0"),
    ("fixed[2]", "0aff"),
    ("fixed[2]", "0a"),
    ("date", "+12024-01-01"),
    ("date", "-0001-01-01"),
    ("date", "2023-02-29"),
    ("date", "2024-1-1"),
    ("string", ""),
    ("unknown", "x"),
    ({"type": "list", "element-id": 10, "element": "int", "element-required": False}, []),
    ({"type": "struct", "fields": []}, {}),
    ("variant", "x"),
    ("geometry", "x"),
    ("int", None),
]:
    md(
        f"default {t if isinstance(t, str) else t['type']} {v!r}",
        (
            lambda t, v: (
                lambda d: d["schemas"][0]["fields"].append(
                    {"id": 9, "name": "x", "required": False, "type": t, "initial-default": v}
                )
            )
        )(t, v),
        3,
    )


def older2(folder):
    t = table(3)(folder)
    b = t.parquet("b.parquet", {"id": [3], "v": ["c"], "d": [date(2024, 2, 1)]}, **P649)
    t.append(b)
    t2 = None
    a = t.parquet("a.parquet", {"id": [1, 2], "v": ["a", "b"], "d": [date(2024, 1, 1), date(2024, 1, 2)]}, **P648)
    t.append(a)
    d = {
        "content": 1,
        "file_path": f"{t.location}/data/dv.puffin",
        "file_format": "PUFFIN",
        **P648,
        "record_count": 1,
        "file_size_in_bytes": 9,
        "referenced_data_file": a["file_path"],
        "content_offset": 4,
        "content_size_in_bytes": 5,
    }
    m = t.manifest(f"{t.uid()}-m1.avro", [(1, d, {"sequence_number": 1})], content=1)
    t.snapshot("delete", [*t.lists[102], m], {"added-delete-files": "1"})
    return t


mk("dv older than its file", older2)


def make_edited(name: str, folder: Path) -> Path:
    """Write the table of a row.

    Args:
        name: The row's name in R.
        folder: The table's folder.

    Returns:
        The metadata file.
    """
    version, kind, edit = R[name]
    table = edit(folder) if kind == "make" else plain(folder, version)
    path = Path(folder) / "metadata" / table.last
    if kind == "md":
        edit_json(path, lambda data: (edit(data), None)[1])
    elif kind == "text":
        path.write_text(edit(path.read_text()))
    elif kind != "make":
        newest = table.lists[max(table.lists)]
        of_list = next(s["manifest-list"] for s in table.md["snapshots"] if s["snapshot-id"] == max(table.lists))
        edit_avro(Path((of_list if kind == "list" else newest[0]["manifest_path"]).removeprefix("file://")), edit)
    return path
