"""Tables of one size in one dimension: all that the author of a table can write more of, as data.

A dimension is a function that makes a small table larger: `n` times as large in that dimension, everything else as it
is. Tests double each of them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import fastavro

from tests.cases.mini import T0, Table

Make = Callable[[Table, int], None]
DIMENSIONS: dict[str, Make] = {}
OLD_PATH = "file:///elsewhere/data/old.parquet"


def base(folder: Path) -> Table:
    """A table of two appends and a delete, with a data file in each of two partitions."""
    table = Table(
        folder,
        [(1, "id", "long", True), (2, "v", "string"), (3, "d", "date")],
        [(3, 1000, "d_m", "month")],
    )
    for name, month, rows in (
        ("a", 648, {"id": [1, 2], "v": ["a", "b"], "d": [date(2024, 1, 1), date(2024, 1, 2)]}),
        ("b", 649, {"id": [3], "v": ["c"], "d": [date(2024, 2, 1)]}),
    ):
        table.append(table.parquet(f"{name}.parquet", rows, partition={"d_m": month}))
    first = f"{table.location}/data/a.parquet"
    table.delta(deletes=[table.position_delete("p.parquet", [(first, 0)], partition={"d_m": 648})], operation="delete")
    return table


def make(folder: Path, name: str, n: int) -> Path:
    """The base table, with so many more of something, or of each of TOGETHER; without a name the base alone."""
    table = base(folder)
    table.save = lambda: None  # type: ignore[method-assign]  # else each commit writes all snapshots again
    for each in TOGETHER.get(name, (name,) if name else ()):
        DIMENSIONS[each](table, n)
    table.write()
    return folder


def dimension(name: str) -> Callable[[Make], Make]:
    def known(function: Make) -> Make:
        DIMENSIONS[name] = function
        return function

    return known


def metadata(name: str, change: Callable[[dict[str, Any], int], Any]) -> None:
    """A dimension of the metadata file."""
    DIMENSIONS[name] = lambda table, n: change(table.md, n)


# -- snapshots, refs and logs -----------------------------------------------------------------------------------------
def chain(md: dict[str, Any], n: int, parent: Callable[[int], int | None] = lambda i: i - 1, refs: bool = True) -> None:
    """So many snapshots after the last one, which becomes their manifest list's; the first of them is 1,000."""
    last = md["snapshots"][-1]
    for i in range(1000, 1000 + n):
        named = last["snapshot-id"] if i == 1000 else parent(i)
        more = {"snapshot-id": i, "parent-snapshot-id": named, "timestamp-ms": last["timestamp-ms"] + i}
        md["snapshots"].append({**last, **more, "sequence-number": last["sequence-number"] + i - 999})
    if refs:
        md |= {"current-snapshot-id": 999 + n, "last-sequence-number": last["sequence-number"] + n}
        md["refs"]["main"]["snapshot-id"] = 999 + n
        md["snapshot-log"] += [{"snapshot-id": i, "timestamp-ms": T0 + i} for i in range(1000, 1000 + n)]


def branch(i: int, snapshot: int, **more: Any) -> dict[str, Any]:
    return {f"b{i}": {"snapshot-id": snapshot, "type": "branch", **more}}


def old(md: dict[str, Any]) -> None:
    """All snapshots are older than any policy keeps, but for each branch's own."""
    for snapshot in md["snapshots"]:
        snapshot["timestamp-ms"] -= 10**12


def branches_on_a_chain(md: dict[str, Any], n: int, **policy: Any) -> None:
    chain(md, n)
    for i in range(n):
        md["refs"] |= branch(i, 999 + n, **policy)


def log_of(md: dict[str, Any], ids: list[int]) -> None:
    times = [{"snapshot-id": own, "timestamp-ms": T0 + 10_000_000 + i} for i, own in enumerate(ids)]
    md["snapshot-log"] += times


def back_and_forth(md: dict[str, Any], n: int) -> None:
    chain(md, n)
    log_of(md, [1000, 999 + n] * (n // 2))


def jumps(md: dict[str, Any], n: int) -> None:
    chain(md, n, lambda i: i - 2 if i > 1001 else 103)
    log_of(md, [999 + n, 998 + n] * (n // 2))


def log_backwards(md: dict[str, Any], n: int) -> None:
    md["snapshot-log"] += [{"snapshot-id": 101, "timestamp-ms": T0 - i} for i in range(n)]


metadata("snapshots", chain)
metadata("snapshots of one parent", lambda md, n: chain(md, n, lambda _: 103))
metadata("snapshots without a ref", lambda md, n: chain(md, n, refs=False))
metadata("old snapshots", lambda md, n: (chain(md, n), old(md)))
metadata("snapshots whose parents have expired", lambda md, n: chain(md, n, lambda i: i + 10**6))
metadata("snapshots without parents", lambda md, n: chain(md, n, lambda _: None))
metadata(
    "snapshots in a circle", lambda md, n: (chain(md, n), md["snapshots"][3].update({"parent-snapshot-id": 999 + n}))
)
metadata("snapshots of one id", lambda md, n: md["snapshots"].extend([md["snapshots"][-1]] * n))
metadata("staged snapshots", lambda md, n: (
    chain(md, n, lambda _: 103, refs=False),
    [s.update(summary={**s["summary"], "wap.id": f"w{i}"}) for i, s in enumerate(md["snapshots"][3:])],
))  # fmt: skip
metadata("tags", lambda md, n: md["refs"].update({f"t{i}": {"snapshot-id": 101, "type": "tag"} for i in range(n)}))
metadata("branches", lambda md, n: [md["refs"].update(branch(i, 103)) for i in range(n)])
metadata("refs that lead nowhere", lambda md, n: [md["refs"].update(branch(i, 10**6 + i)) for i in range(n)])
metadata("branches on a chain", branches_on_a_chain)
metadata("branches on a chain, of many ages", lambda md, n: (
    branches_on_a_chain(md, n), old(md),
    [md["refs"][f"b{i}"].update({"max-snapshot-age-ms": i + 1, "min-snapshots-to-keep": i + 1}) for i in range(n)],
))  # fmt: skip
metadata("a branch on each of a chain", lambda md, n: (
    chain(md, n), [md["refs"].update(branch(i, 1000 + i)) for i in range(n)]
))  # fmt: skip
metadata("tags on a chain", lambda md, n: (
    chain(md, n), md["refs"].update({f"t{i}": {"snapshot-id": 1000 + i, "type": "tag"} for i in range(n)})
))  # fmt: skip
metadata("the snapshot log", lambda md, n: log_of(md, [101, 103] * (n // 2)))
metadata("a log that goes back and forth", back_and_forth)
metadata("a log that jumps", jumps)
metadata("a log whose times run backwards", log_backwards)
metadata("a log of snapshots that have expired", lambda md, n: log_of(md, list(range(10**6, 10**6 + n))))
metadata("the metadata log", lambda md, n: md["metadata-log"].extend(
    {"metadata-file": f"{md['location']}/metadata/v{i}.metadata.json", "timestamp-ms": T0 + i} for i in range(n)
))  # fmt: skip


# -- schemas, specs, properties ---------------------------------------------------------------------------------------
def fields(n: int, kind: Any = "long", first: int = 100) -> list[dict[str, Any]]:
    return [{"id": first + i, "name": f"f{i}", "required": False, "type": kind} for i in range(n)]


def nested(md: dict[str, Any], n: int) -> None:
    kind: Any = "long"
    for i in range(n):
        kind = {"type": "struct", "fields": [{"id": 100 + i, "name": "s", "required": False, "type": kind}]}
    md["schemas"][0]["fields"].append({"id": 99, "name": "deep", "required": False, "type": kind})


def many_schemas(md: dict[str, Any], n: int, change: bool) -> None:
    for i in range(1, n + 1):
        schema = json.loads(json.dumps(md["schemas"][0]))
        schema["schema-id"] = i
        schema["fields"] += fields(1, first=100 + i) if change else []
        md["schemas"].append(schema)
    md["current-schema-id"] = n
    md["snapshots"][-1]["schema-id"] = n


def many_specs(md: dict[str, Any], n: int) -> None:
    md["partition-specs"] += [
        {"spec-id": i, "fields": [{"source-id": 1, "field-id": 1000 + i, "name": f"p{i}", "transform": f"bucket[{i}]"}]}
        for i in range(1, n + 1)
    ]


def statistics(n: int) -> list[dict[str, Any]]:
    blob = {"type": "apache-datasketches-theta-v1", "snapshot-id": 103, "sequence-number": 3, "fields": [1]}
    return [
        {"snapshot-id": 103, "statistics-path": f"/elsewhere/{i}.puffin", "file-size-in-bytes": 9,
         "file-footer-size-in-bytes": 9, "blob-metadata": [blob]} for i in range(n)
    ]  # fmt: skip


def mapping(n: int) -> str:
    return json.dumps([{"field-id": i, "names": [f"n{i}"]} for i in range(n)])


NAME = "--.=x'\"/:@% -"
metadata("fields", lambda md, n: md["schemas"][0]["fields"].extend(fields(n)))
metadata("fields of one name", lambda md, n: md["schemas"][0]["fields"].extend({**f, "name": "x"} for f in fields(n)))
metadata("fields of one id", lambda md, n: md["schemas"][0]["fields"].extend({**f, "id": 100} for f in fields(n)))
metadata("nesting", lambda md, n: nested(md, n))
metadata("identifier fields", lambda md, n: md["schemas"][0].update({"identifier-field-ids": [1] * n}))
metadata("schemas", lambda md, n: many_schemas(md, n, change=True))
metadata("schemas that are the same", lambda md, n: many_schemas(md, n, change=False))
metadata("specs", many_specs)
metadata("fields of a spec", lambda md, n: md["partition-specs"].append({"spec-id": 1, "fields": [
    {"source-id": 1, "field-id": 1001 + i, "name": f"p{i}", "transform": "identity"} for i in range(n)]}))  # fmt: skip
metadata("sort orders", lambda md, n: md["sort-orders"].extend(
    {"order-id": i + 1, "fields": [
        {"source-id": 1, "transform": "identity", "direction": "asc", "null-order": "nulls-first"}]}
    for i in range(n)))  # fmt: skip
metadata("properties", lambda md, n: md["properties"].update({f"p{i}": "x" for i in range(n)}))
metadata("a property's length", lambda md, n: md["properties"].update({"p": NAME * n, NAME * n: "p"}))
metadata("a name mapping", lambda md, n: md["properties"].update({"schema.name-mapping.default": mapping(n)}))
metadata("metrics of columns", lambda md, n: md["properties"].update(
    {f"write.metadata.metrics.column.c{i}": "full" for i in range(n)}))  # fmt: skip
metadata("statistics", lambda md, n: md["statistics"].extend(statistics(n)))
metadata("partition statistics", lambda md, n: md["partition-statistics"].extend(statistics(n)))
metadata("blobs of statistics", lambda md, n: md["statistics"].append(
    {**statistics(1)[0], "blob-metadata": statistics(1)[0]["blob-metadata"] * n}))  # fmt: skip
metadata("encryption keys", lambda md, n: md.update({"encryption-keys": [
    {"key-id": f"k{i}", "encrypted-key-metadata": "eA=="} for i in range(n)]}))  # fmt: skip
metadata("unknown fields", lambda md, n: md.update({f"unknown-{i}": [i, {"a": "b"}] for i in range(n)}))
metadata("a summary", lambda md, n: md["snapshots"][-1]["summary"].update({f"k{i}": "x" for i in range(n)}))
metadata("summaries' lengths", lambda md, n: [s["summary"].update(note=NAME * n) for s in md["snapshots"]])
metadata("a ref's name", lambda md, n: md["refs"].update({NAME * n: {"snapshot-id": 101, "type": "branch"}}))
metadata("a column's name", lambda md, n: md["schemas"][0]["fields"][1].update(name=NAME * n))
metadata("the location's length", lambda md, n: md["properties"].update({"write.data.path": "/a" * n}))
metadata("a list's path", lambda md, n: md["snapshots"][-1].update({"manifest-list": "/a" * n}))

# -- problems ---------------------------------------------------------------------------------------------------------
metadata("snapshots that are no objects", lambda md, n: md["snapshots"].extend([1] * n))
metadata("refs that are no objects", lambda md, n: md["refs"].update({f"x{i}": 1 for i in range(n)}))
metadata("schemas that are no objects", lambda md, n: md["schemas"].extend([1] * n))
metadata("numbers that are texts", lambda md, n: (
    chain(md, n), [s.update({"sequence-number": "x", "schema-id": "y"}) for s in md["snapshots"][3:]]
))  # fmt: skip
metadata("lists that are not there", lambda md, n: (
    chain(md, n),
    [s.update({"manifest-list": f"{md['location']}/gone-{i}.avro"}) for i, s in enumerate(md["snapshots"][3:])],
))  # fmt: skip


# -- lists, manifests, entries ----------------------------------------------------------------------------------------
def data_file(table: Table, i: int, **more: Any) -> dict[str, Any]:
    """A data file that is not there."""
    return {
        "content": 0, "file_path": f"{table.location}/data/x{i:06}.parquet", "file_format": "PARQUET",
        "partition": {"d_m": 600 + i}, "record_count": 10, "file_size_in_bytes": 1000,
        "value_counts": {1: 10}, "null_value_counts": {1: 0},
        "lower_bounds": {1: i.to_bytes(8, "little")}, "upper_bounds": {1: (i + 5).to_bytes(8, "little")}, **more,
    }  # fmt: skip


def delete_file(table: Table, i: int, **more: Any) -> dict[str, Any]:
    nothing = dict.fromkeys(("lower_bounds", "upper_bounds", "value_counts", "null_value_counts"))
    return data_file(table, i, content=1, file_path=f"{table.location}/data/d{i:06}.parquet", **nothing, **more)


@dimension("lists")
def _lists(table: Table, n: int) -> None:
    listed = table.lists[table.md["current-snapshot-id"]]
    for _ in range(n):
        table.snapshot("append", listed, parent="current")


@dimension("manifests of a list")
def _manifests(table: Table, n: int) -> None:
    written = [table.manifest(f"m{i}.avro", [(1, data_file(table, i))]) for i in range(n)]
    table.snapshot("append", [*table.lists[table.md["current-snapshot-id"]], *written])


@dimension("a manifest named again and again")
def _repeats(table: Table, n: int) -> None:
    listed = table.lists[table.md["current-snapshot-id"]]
    table.snapshot("append", [*listed, *listed[:1] * n])


@dimension("manifests in the metadata file")
def _inline(table: Table, n: int) -> None:
    path = table.lists[table.md["current-snapshot-id"]][0]["manifest_path"]
    table.md["snapshots"][-1] |= {"manifests": [path] * n}
    del table.md["snapshots"][-1]["manifest-list"]


@dimension("commits, a manifest each")
def _commits(table: Table, n: int) -> None:
    """Each replaces what was there, or the lists together would grow by the square."""
    for i in range(n):
        table.snapshot("overwrite", [table.manifest(f"c{i}.avro", [(1, data_file(table, i))])])


@dimension("entries")
def _entries(table: Table, n: int) -> None:
    table.append(*(data_file(table, i) for i in range(n)))


@dimension("entries of one path")
def _same(table: Table, n: int) -> None:
    table.append(*(data_file(table, 1) for _ in range(n)))


@dimension("entries that are deleted")
def _deleted(table: Table, n: int) -> None:
    more = {"sequence_number": 2, "file_sequence_number": 2}
    written = table.manifest("gone.avro", [(2, data_file(table, i), more) for i in range(n)])
    table.snapshot("delete", [*table.lists[table.md["current-snapshot-id"]], written])


@dimension("metrics of an entry")
def _metrics(table: Table, n: int) -> None:
    counts = {100 + i: 1 for i in range(n)}
    bounds = {100 + i: b"\0" * 8 for i in range(n)}
    table.md["schemas"][0]["fields"] += fields(n)
    table.append(data_file(table, 1, value_counts=counts, lower_bounds=bounds, upper_bounds=bounds))


@dimension("data and delete files")
def _pairs(table: Table, n: int) -> None:
    table.delta([data_file(table, i) for i in range(n)])
    table.delta(deletes=[delete_file(table, i) for i in range(n)])


@dimension("delete files of all partitions")
def _global(table: Table, n: int) -> None:
    whole = [{**delete_file(table, i), "content": 2, "equality_ids": [1]} for i in range(n)]
    table.delta(deletes=whole)


@dimension("blocks")
def _blocks(table: Table, n: int) -> None:
    table.append(*(data_file(table, i) for i in range(n)))
    newest = max((table.folder / "metadata").glob("*-m0.avro"), key=lambda path: path.stat().st_mtime_ns)
    with newest.open("rb") as file:
        reader: Any = fastavro.reader(file)
        header = {key: value for key, value in reader.metadata.items() if not key.startswith("avro.")}
        schema, records = reader.writer_schema, list(reader)
    with newest.open("wb") as file:
        fastavro.writer(file, schema, records, metadata=header, sync_interval=1)


@dimension("metadata files beside")
def _beside(table: Table, n: int) -> None:
    for i in range(n):
        path = table.folder / "metadata" / f"{i + 100:05}-{i:08}-0000-0000-0000-000000000000.metadata.json"
        path.write_text(json.dumps({**table.md, "last-updated-ms": 1}))


@dimension("files that nothing leads to")
def _orphans(table: Table, n: int) -> None:
    for i in range(n):
        shutil.copy(table.folder / "data" / "a.parquet", table.folder / "data" / f"orphan-{i}.parquet")


# -- many dimensions at once ------------------------------------------------------------------------------------------
TOGETHER: dict[str, tuple[str, ...]] = {
    "history": ("branches on a chain, of many ages", "a log that goes back and forth", "tags", "the metadata log",
                "refs that lead nowhere", "a log whose times run backwards", "staged snapshots", "statistics"),
    "definitions": ("schemas", "specs", "fields", "fields of one name", "fields of one id",
                    "fields of a spec", "sort orders", "properties",
                    "identifier fields", "a name mapping", "metrics of columns", "nesting", "encryption keys",
                    "unknown fields", "partition statistics", "blobs of statistics", "metrics of an entry"),
    "lengths": ("a property's length", "a summary", "summaries' lengths", "a ref's name", "a column's name",
                "the location's length", "metadata files beside"),
    "problems": ("snapshots of one id", "a log of snapshots that have expired", "a list's path",
                 "snapshots that are no objects", "refs that are no objects", "schemas that are no objects"),
    "manifests": ("lists", "manifests of a list", "a manifest named again and again", "commits, a manifest each"),
    "files": ("blocks", "entries of one path", "entries that are deleted",
              "data and delete files", "files that nothing leads to"),
}  # fmt: skip
"""Dimensions that do not hide each other, made larger together: what takes the square of one, or the product of two,
shows in the sum. Each alone takes a quarter of an hour."""
