"""Tables damaged on purpose, one place at a time: which mutation of which file should break which rule, and whether the
doctor says so with the file named. A mutation that another writer could have made lawfully is none.

    python -m tests.robustness.corpus [--cases N] [--seed S] [--out docs/robustness.md]"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import io
import json
import os
import random
import shutil
import tempfile
import threading
import time
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import fastavro
import psutil
import pyarrow.parquet as pq

from explorer.errors import ExplorerError
from explorer.lab.scenarios import NAMESPACE
from explorer.progress import Watch
from explorer.storage.paths import local_path
from tests.robustness.editing import edit_avro, edit_json
from tests.support import direct

TABLES = (
    "three_inserts", "manifest_lifecycle", "manifest_lifecycle_fast_append", "tracked_delete", "copy_on_write_update",
    "position_deletes", "equality_deletes", "deletion_vectors", "upgraded_v1", "hidden_partitioning",
    "partition_evolution", "schema_evolution", "branches_and_tags", "compaction_bin_pack", "column_statistics",
    "wide_table",
)  # fmt: skip
SLOW_S, MEMORY = 10.0, 1 << 30
MOST = 1 << 20
"""Bytes of a file of these tables; a bomb has more."""
ANY = frozenset[str]()
NUMBERS = ("int", "long", "date", "timestamp", "timestamptz")


@dataclass(frozen=True)
class Case:
    """One mutation of one file. `damage` changes it in place. `rules` are those of which one must speak (any, if there
    are none); `file` is what must be named, if only by its name."""

    kind: str
    mutation: str
    file: Path
    damage: Callable[[Path], Any]
    rules: frozenset[str] = ANY
    during: bool = False
    """The damage is done while the doctor reads."""


@dataclass(frozen=True)
class Outcome:
    """What the doctor made of a case."""

    table: str
    case: Case
    found: tuple[str, ...]
    seconds: float
    crashed: str = ""
    named: bool = False
    """Whether a finding names the file that was damaged."""

    @property
    def detected(self) -> bool:
        """Whether a rule spoke that should. A length that is another after every edit says nothing by itself, nor does
        what could not be looked at."""
        spoke = set(self.found)
        if not self.case.rules:
            spoke -= {"not-checked", *(["manifest-length"] if self.case.kind == "manifest" else [])}
        return bool(spoke) and (not self.case.rules or bool(self.case.rules & spoke))


# -- bytes ------------------------------------------------------------------------------------------------------------
def _cut(sixteenths: int) -> Callable[[Path], None]:
    def cut(path: Path) -> None:
        data = path.read_bytes()
        path.write_bytes(data[: len(data) * sixteenths // 16])

    return cut


def _flip(draw: random.Random, part: str = "") -> Callable[[Path], None]:
    """One bit, in an Avro file in its header or after it."""
    where, bit = draw.random(), 1 << draw.randrange(8)

    def flip(path: Path) -> None:
        data = bytearray(path.read_bytes())
        start, end = 0, len(data)
        if part:
            header = data.index(data[-16:]) + 16  # the sync marker ends the header, and each block
            start, end = (0, header) if part == "header" else (header, end)
        data[min(end - 1, start + int(where * (end - start)))] ^= bit
        path.write_bytes(bytes(data))

    return flip


def _start(data: bytes) -> Callable[[Path], None]:
    return lambda path: path.write_bytes(data + path.read_bytes()[len(data) :]) and None


def _swapped(other: Path) -> Callable[[Path], None]:
    return lambda path: path.write_bytes(other.read_bytes()) and None


def _whole_file(
    kind: str, path: Path, others: Sequence[Path], rules: frozenset[str], draw: random.Random
) -> Iterator[Case]:
    """What may become of any file."""
    yield Case(kind, "missing", path, Path.unlink, rules)
    yield Case(kind, "empty", path, lambda p: p.write_bytes(b""), rules)
    for part in sorted(draw.sample(range(1, 16), 4)):
        yield Case(kind, "cut off", path, _cut(part), rules)
    yield Case(kind, "wrong magic", path, _start(b"XXXX"), rules)
    yield Case(kind, "another kind of file", path, lambda p: p.write_bytes(b'{"a": 1}'), rules)
    yield Case(kind, "a folder in its place", path, lambda p: (p.unlink(), p.mkdir()), rules)
    yield Case(kind, "a pipe in its place, that never answers", path, lambda p: (p.unlink(), os.mkfifo(p)), rules)
    outside = rules | {"path-outside", "not-checked", "could-not-run"}
    yield Case(kind, "a link out of the table", path, lambda p: (p.unlink(), p.symlink_to("/etc/hostname")), outside)
    if os.geteuid():  # root may read everything
        yield Case(kind, "no permission to read", path, lambda p: p.chmod(0), rules)
    if others:
        yield Case(kind, "swapped with another", path, _swapped(draw.choice(others)), ANY)


def _bomb(path: Path) -> None:
    """An Avro block that unpacks to two gigabytes, after the file's own header."""
    data = path.read_bytes()
    sync = data[-16:]
    deflate = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = b"".join(deflate.compress(bytes(1 << 20)) for _ in range(2048)) + deflate.flush()
    header = data[: data.index(sync) + 16].replace(b"\x08null", b"\x0edeflate")
    path.write_bytes(header + _long(1000) + _long(len(packed)) + packed + sync)


def _long(number: int) -> bytes:
    """Avro's varint of a number that is not negative."""
    number <<= 1
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


def _nested(path: Path) -> None:
    path.write_bytes(b'{"a": ' + b"[" * 200_000 + b"]" * 200_000 + b"}")


# -- metadata.json ----------------------------------------------------------------------------------------------------
def _set(*way: Any, to: Any) -> Callable[[dict[str, Any]], None]:
    def change(data: dict[str, Any]) -> None:
        *path, last = way
        holder: Any = data
        for key in path:
            holder = holder[key]
        if to is DROP:
            del holder[last]
        else:
            holder[last] = to(holder[last]) if callable(to) else to

    return change


DROP: Any = object()


def _metadata(path: Path, draw: random.Random) -> Iterator[Case]:
    data = path.read_bytes()
    meta = json.loads(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
    snapshots = meta.get("snapshots", [])
    n, version = draw.randrange(len(snapshots)), meta["format-version"]
    now = next(i for i, s in enumerate(snapshots) if s["snapshot-id"] == meta["current-snapshot-id"])

    def case(mutation: str, *rules: str, change: Callable[[dict[str, Any]], Any]) -> Case:
        def damage(p: Path) -> None:
            edit_json(p, lambda d: (change(d), None)[1])

        return Case("metadata.json", mutation, path, damage, frozenset(rules))

    for name in ("location", "last-updated-ms", "last-column-id", "schemas", "current-schema-id", "partition-specs",
                 "default-spec-id", "sort-orders", "default-sort-order-id", "last-partition-id", "table-uuid",
                 "last-sequence-number"):  # fmt: skip
        if name in meta and (version > 1 or name in ("location", "last-updated-ms", "last-column-id")):
            yield case(f"{name} dropped", change=_set(name, to=DROP))
            yield case(
                f"{name} of another type", "metadata-field", "metadata-unreadable", change=_set(name, to={"x": 1})
            )
    yield case("format-version unknown", "format-version-unknown", change=_set("format-version", to=9))
    yield case("format-version lowered", change=_set("format-version", to=version - 1)) if version > 1 else case(
        "format-version dropped", "metadata-unreadable", change=_set("format-version", to=DROP))  # fmt: skip
    yield case("UUID changed", "uuid-changed", change=_set("table-uuid", to="9c12d441-03fe-4693-9a96-a0705ddf69c1"))
    yield case("current schema unknown", "current-schema-missing", change=_set("current-schema-id", to=99))
    yield case("default spec unknown", "default-missing", change=_set("default-spec-id", to=99))
    yield case("default order unknown", "default-missing", change=_set("default-sort-order-id", to=99))
    yield case("last-column-id low", "last-column-id-low", change=_set("last-column-id", to=0))
    if version > 1:
        yield case("last-sequence-number low", "sequence-above-last", change=_set("last-sequence-number", to=0))
    yield case("last-updated-ms early", "time-out-of-order", change=_set("last-updated-ms", to=7))
    yield case("field id twice", "field-id-conflict", change=_set("schemas", 0, "fields", -1, "id", to=1))
    yield case("field id reserved", "field-id-conflict", change=_set("schemas", 0, "fields", 0, "id", to=2147483600))
    yield case("field type unknown", change=_set("schemas", 0, "fields", 0, "type", to="thing"))
    yield case(
        "field type changed",
        change=_set("schemas", 0, "fields", 0, "type", to=lambda t: "int" if t != "int" else "string"),
    )
    yield case("field renamed", "schema-rebound", change=_set("schemas", 0, "fields", 0, "name", to="other"))
    yield case("schema twice", "schema-rebound", change=lambda d: d["schemas"].append(d["schemas"][0]))
    if version > 1:  # whose `schema` stands in
        yield case("schema removed", change=_set("schemas", to=lambda s: s[1:]))
    yield case(
        "current snapshot unknown", "ref-dangling", "current-unlike-main", change=_set("current-snapshot-id", to=77)
    )
    yield case("current snapshot none", change=_set("current-snapshot-id", to=-1))
    yield case("ref dangling", "ref-dangling", change=
               lambda d: d["refs"].update({"lost": {"snapshot-id": 77, "type": "tag"}}))  # fmt: skip
    yield case(
        "main elsewhere", "ref-dangling", "current-unlike-main", change=_set("refs", "main", "snapshot-id", to=77)
    )
    yield case("ref of no type", "metadata-field", change=_set("refs", "main", "type", to="twig"))
    yield case("snapshot removed", change=lambda d: d["snapshots"].pop(now))
    yield case("snapshot twice", "snapshot-twice", change=lambda d: d["snapshots"].append(d["snapshots"][n]))
    yield case("snapshot is its own parent", "parent-cycle",
               change=_set("snapshots", n, to=lambda s: s | {"parent-snapshot-id": s["snapshot-id"]}))  # fmt: skip
    yield case("parent unknown", change=_set("snapshots", n, to=lambda s: s | {"parent-snapshot-id": 77}))
    yield case("sequence number high", change=_set("snapshots", n, to=lambda s: s | {"sequence-number": 900}))
    yield case("snapshot's time early", change=_set("snapshots", n, "timestamp-ms", to=7))
    yield case("snapshot's time late", change=_set("snapshots", n, "timestamp-ms", to=1 << 45))
    yield case("snapshot's schema unknown", "snapshot-schema-missing", change=_set("snapshots", n, "schema-id", to=99))
    yield case("manifest list elsewhere", change=_set("snapshots", n, "manifest-list", to=lambda p: p + "x"))
    if len(snapshots) > 1:
        other = snapshots[n - 1]
        yield case("manifest list of another snapshot",
                   change=_set("snapshots", n, "manifest-list", to=other["manifest-list"]))  # fmt: skip
        yield case("two snapshots' ids swapped", change=lambda d: _swap(d["snapshots"], n, "snapshot-id"))
    yield case("operation changed", change=_set("snapshots", n, "summary", "operation",
                                                to=lambda o: "delete" if o == "append" else "append"))  # fmt: skip
    yield case("operation unknown", change=_set("snapshots", n, "summary", "operation", to="merge"))
    for name in ("total-records", "total-data-files", "total-delete-files", "added-records", "added-data-files",
                 "deleted-data-files", "total-files-size"):  # fmt: skip
        if name in snapshots[n].get("summary", {}):
            yield case(f"{name} changed", "totals-differ", "snapshot-twice",
                       change=_set("snapshots", n, "summary", name, to="4711"))  # fmt: skip
    yield case("snapshot log backwards", change=_set("snapshot-log", 0, "timestamp-ms", to=1 << 45))
    yield case("snapshot log of nothing", "log-of-expired", change=_set("snapshot-log", 0, "snapshot-id", to=77))
    yield case("secret in properties", "property-unsafe", change=lambda d: d["properties"].update({"password": "x"}))
    if meta.get("next-row-id"):
        yield case("next-row-id low", "next-row-id", change=_set("next-row-id", to=0))
        yield case("first-row-id low", change=_set("snapshots", -1, "first-row-id", to=0))
    for spec, where in ((s, i) for i, s in enumerate(meta.get("partition-specs", [])) if s["fields"]):
        way = ("partition-specs", where, "fields", 0)
        yield case("partition transform changed", change=_set(*way, "transform", to=_other_transform(spec)))
        yield case("partition source of no schema", change=_set(*way, "source-id", to=77))
        yield case("partition field id changed", change=_set(*way, "field-id", to=1500))
    for place in range(0, 16, 3):
        yield Case("metadata.json", "cut off", path, _cut(place or 1), frozenset({"metadata-unreadable"}))


def _other_transform(spec: Any) -> str:
    return "bucket[7]" if spec["fields"][0]["transform"] != "bucket[7]" else "bucket[8]"


def _swap(snapshots: list[dict[str, Any]], n: int, key: str) -> None:
    snapshots[n][key], snapshots[n - 1][key] = snapshots[n - 1][key], snapshots[n][key]


# -- manifest lists and manifests -------------------------------------------------------------------------------------
def _records(path: Path) -> list[dict[str, Any]]:
    return list(fastavro.reader(io.BytesIO(path.read_bytes())))  # type: ignore[arg-type]


def _avro(kind: str, path: Path, mutation: str, change: Callable[[list[Any]], Any], *rules: str) -> Case:
    return Case(kind, mutation, path, lambda p: edit_avro(p, change), frozenset(rules))


def _list(path: Path, draw: random.Random) -> Iterator[Case]:
    records = _records(path)
    if not records:
        return
    n = draw.randrange(len(records))

    def case(mutation: str, *rules: str, **fields: Any) -> Case:
        def change(some: list[Any]) -> None:
            for name, value in fields.items():
                if name in some[n]:  # version 1 has fewer
                    some[n][name] = value(some[n][name]) if callable(value) else value

        return _avro("manifest list", path, mutation, change, *rules)

    yield case("length changed", "manifest-length", "copied-or-edited", manifest_length=lambda v: v + 1)
    yield case("spec id unknown", "spec-unknown", partition_spec_id=55)
    yield case("content flipped", "manifest-content", content=lambda v: 1 - v)
    yield case("sequence number high", "sequence-above-last", sequence_number=900)
    yield case("sequence number low", sequence_number=lambda v: v - 1)
    yield case("min sequence number high", "min-sequence", min_sequence_number=800)
    yield case("added snapshot changed", added_snapshot_id=4711)
    for name in ("added_files_count", "existing_files_count", "deleted_files_count", "added_rows_count",
                 "existing_rows_count", "deleted_rows_count"):  # fmt: skip
        if name in records[n]:
            yield case(f"{name} changed", "manifest-counts", **{name: lambda v: (v or 0) + 1})
    yield case("path of nothing", manifest_path=lambda p: p + "x")
    if len(records) > 1:
        yield case("path of another manifest", manifest_path=records[n - 1]["manifest_path"])
        yield _avro("manifest list", path, "manifest left out", lambda some: some[1:])
    yield _avro("manifest list", path, "manifest twice", lambda some: [*some, some[0]], "manifest-twice")
    if any(s.get("lower_bound") for s in records[n].get("partitions") or ()):
        bounds = [dict(s) for s in records[n]["partitions"]]
        at = next(i for i, s in enumerate(bounds) if s.get("lower_bound"))
        low, high = bounds[at]["lower_bound"], bounds[at]["upper_bound"]
        if low != b"\x7f" * len(low):
            bounds[at] |= {"lower_bound": _above(high), "upper_bound": _above(high)}
            yield case("partition summary narrowed", "partition-summary", partitions=bounds)
    if records[n].get("first_row_id") is not None:
        yield case("first_row_id changed", first_row_id=lambda v: v + 1000)


def _above(value: bytes) -> bytes:
    """A bound above another one of the same kind."""
    return value + b"~" if len(value) not in (4, 8) else value[:-1] + b"\x7f"


def _manifest(path: Path, draw: random.Random, kinds: dict[int, Any]) -> Iterator[Case]:
    records = _records(path)
    live = [n for n, record in enumerate(records) if record["status"] != 2]
    if not records:
        return
    n = draw.choice(live or range(len(records)))
    file = records[n]["data_file"]

    def case(mutation: str, *rules: str, inside: bool = True, **fields: Any) -> Case:
        def change(some: list[Any]) -> None:
            holder = some[n]["data_file"] if inside else some[n]
            for name, value in fields.items():
                holder[name] = value(holder[name]) if callable(value) else value

        return _avro("manifest", path, mutation, change, *rules)

    status = records[n]["status"]
    yield case("status unknown", "entry-invalid", inside=False, status=7)
    for other in {0, 1, 2} - {status}:
        yield case(f"status {status} to {other}", inside=False, status=other)
    yield case("snapshot id changed", inside=False, snapshot_id=4711)
    if "sequence_number" in records[n]:
        yield case("sequence number high", inside=False, sequence_number=900)
    yield case("record_count changed", "manifest-counts", record_count=lambda v: v + 5)
    yield case("record_count negative", record_count=-1)
    if status == 2:
        return
    yield case("size zero", "entry-invalid", file_size_in_bytes=0)
    yield case("size changed", "file-missing", "totals-differ", file_size_in_bytes=lambda v: v + 1)
    yield case("path of nothing", "file-missing", "vector-wrong", file_path=lambda p: p + "x")
    yield case("format unknown", "entry-invalid", file_format="CSV")
    yield _avro("manifest", path, "entry twice", lambda some: [*some, some[n]])
    yield _avro("manifest", path, "entry left out", lambda some: some[1:] or some.clear() or some)
    if "content" in file:
        yield case("content changed", content=lambda v: (v + 1) % 3)
    if True:
        if file.get("split_offsets"):
            yield case("split offset beyond", "split-offsets", split_offsets=[1 << 40])
            yield case("split offset wrong", "split-offsets", split_offsets=[3])
        for name in ("lower_bounds", "upper_bounds"):
            if file.get(name) and any(kinds.get(b["key"]) in NUMBERS for b in file[name]):
                at = next(i for i, b in enumerate(file[name]) if kinds.get(b["key"]) in NUMBERS)
                least = b"\x7f" if name[0] == "l" else b"\x80"
                value = b"\xff" * (len(file[name][at]["value"]) - 1) + least
                changed = [b | {"value": value} if i == at else b for i, b in enumerate(file[name])]
                yield case(f"{name} excludes data", "metrics-wrong", "partition-value", **{name: changed})
                short = [b | {"value": b["value"][:3]} if i == at else b for i, b in enumerate(file[name])]
                yield case(f"{name} too short", "metrics-wrong", **{name: short})
        if file.get("null_value_counts"):
            many = [b | {"value": 900} for b in file["null_value_counts"]]
            yield case("nulls exceed values", "metrics-wrong", null_value_counts=many)
        if file.get("content_offset") is not None:
            yield case("vector's offset changed", "vector-wrong", content_offset=lambda v: v + 1)
            yield case("vector's size changed", "vector-wrong", content_size_in_bytes=lambda v: v - 1)
            yield case("vector's target changed", referenced_data_file=lambda p: p + "x")
            yield case("vector without target", "entry-invalid", referenced_data_file=None)
        if file.get("equality_ids"):
            yield case("equality id unknown", "equality-id-unknown", equality_ids=[99])
            yield case("no equality ids", "equality-id-unknown", equality_ids=None)
        if file.get("partition") and isinstance(next(iter(file["partition"].values())), int):
            name = next(iter(file["partition"]))
            moved = {**file["partition"], name: file["partition"][name] + 1}
            yield case("partition changed", partition=moved)


def cases(folder: Path, draw: random.Random) -> Iterator[Case]:
    """All cases of a table."""
    table = direct.open_table(str(folder))

    def local(paths: Iterator[str] | list[str]) -> list[Path]:
        found = [Path(str(local_path(table.reader.storage.resolve(p)))) for p in dict.fromkeys(paths)]
        return [p for p in found if p.is_file()]

    meta = Path(str(local_path(table.metadata.metadata_location)))
    for case in _whole_file("metadata.json", meta, [], frozenset({"metadata-unreadable"}), draw):
        # where no catalog points to it, the file before it is taken: what is newer is left over
        yield replace(case, rules=case.rules | {"orphan-files"}) if case.mutation == "missing" else case
    yield Case("metadata.json", "bit flipped", meta, _flip(draw), ANY)
    yield Case("metadata.json", "nested 200,000 deep", meta, _nested, frozenset({"metadata-unreadable"}))
    yield from _metadata(meta, draw)
    lists = local([s.manifest_list or "" for s in table.metadata.snapshots])
    for path in draw.sample(lists, min(2, len(lists))):
        others = [p for p in lists if p != path]
        yield from _whole_file("manifest list", path, others, frozenset({"manifest-list-missing"}), draw)
        yield Case("manifest list", "bit flipped in the header", path, _flip(draw, "header"), ANY)
        yield Case("manifest list", "bit flipped in the data", path, _flip(draw, "data"), ANY)
        yield Case("manifest list", "unpacks to two gigabytes", path, _bomb, frozenset({"manifest-list-missing"}))
        yield from _list(path, draw)
    kinds = {i: f.type for schema in table.metadata.schemas for i, f in schema.by_id.items()}
    records = {m.manifest_path: m for s in table.metadata.snapshots for m in table.tree.manifests(s)}
    manifests = local(list(records))
    for path in draw.sample(manifests, min(2, len(manifests))):
        others = [p for p in manifests if p != path]
        yield from _whole_file("manifest", path, others, frozenset({"manifest-missing"}), draw)
        yield Case("manifest", "bit flipped in the header", path, _flip(draw, "header"), ANY)
        yield Case("manifest", "bit flipped in the data", path, _flip(draw, "data"), ANY)
        yield Case("manifest", "unpacks to two gigabytes", path, _bomb, frozenset({"manifest-missing"}))
        yield from _manifest(path, draw, kinds)
    by_kind: dict[str, list[str]] = defaultdict(list)
    for file in table.files():
        kind = "data file" if not file["content"] else "vector" if file["content_offset"] is not None else "delete file"
        by_kind[kind].append(file["file_path"])
    for kind, named in by_kind.items():
        files = local(named)
        path = draw.choice(files)
        rules = frozenset({"file-missing", "vector-wrong", "record-count", "statistics-file"})
        yield from _whole_file(kind, path, [p for p in files if p != path], rules, draw)
        yield Case(kind, "expired while the doctor reads", path, Path.unlink, rules, during=True)
        yield Case(kind, "bit flipped", path, _flip(draw), ANY)
        yield Case(kind, "bytes added", path, lambda p: p.write_bytes(p.read_bytes() + b"more"), rules)
    for statistics in local([s.path for s in table.metadata.statistics]):
        yield from _whole_file("statistics", statistics, [], frozenset({"statistics-file"}), draw)


def copied(name: str, target: Path) -> Path:
    """A teaching table's folder, copied, with one metadata file: the table opens there, and reads nothing else."""
    source = direct.open_table(f"{NAMESPACE}.{name}")
    folder = target / name
    shutil.copytree(str(local_path(str(source.metadata.location))), folder)
    return folder


def said(folder: Path) -> list[tuple[str, str, str, int]]:
    """What the doctor says of a table, apart from what a copy is."""
    report = direct.doctor(str(folder), deep=True)
    left = [("not-checked", said, "", 1) for said in report.not_checked]
    return [*((f.rule, f.file, f.location, f.count) for f in report.findings), *left]


def meaning(path: Path) -> Any:
    """What a file says to readers, whatever it looks like; None where it cannot be read."""
    if path.is_symlink() or not path.is_file() or path.stat().st_size > MOST:
        return None
    try:
        if path.name.endswith((".json", ".json.gz")):
            data = path.read_bytes()
            return json.loads(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
        if path.suffix == ".avro":
            reader: Any = fastavro.reader(io.BytesIO(path.read_bytes()))
            known = {k: v for k, v in reader.metadata.items() if not k.startswith(("avro.", "iceberg."))}
            return known, _without_names(reader.writer_schema), [_values(record) for record in reader]
        if path.suffix == ".parquet":
            with pq.ParquetFile(path) as file:
                return file.read().to_pylist(), file.schema_arrow
    except Exception:
        return None
    return None


def _without_names(schema: Any) -> Any:
    """A schema as those see it who go by field ids."""
    if isinstance(schema, dict):
        return {k: _without_names(v) for k, v in schema.items() if k not in ("doc", "name", "__fastavro_parsed__")}
    return [_without_names(v) for v in schema] if isinstance(schema, list) else schema


def _values(record: Any) -> Any:
    if isinstance(record, dict):
        return [_values(v) for v in record.values()]
    return [_values(v) for v in record] if isinstance(record, list) else record


class Meanwhile(Watch):
    """Does something once, as soon as the work that it watches has begun."""

    def __init__(self, act: Callable[[], Any]) -> None:
        super().__init__()
        self.act: Callable[[], Any] | None = act

    def tell(self, done: int, total: int, what: str) -> None:
        if self.act is not None:
            self.act()
            self.act = None


def run(folder: Path, name: str, case: Case, before: set[Any]) -> Outcome | None:
    """Damage, ask, mend; None where the damage changed nothing that anybody reads."""
    kept, meant = case.file.read_bytes(), meaning(case.file)
    started = time.perf_counter()
    meanwhile = Meanwhile(partial(case.damage, case.file) if case.during else lambda: None)
    try:
        if not case.during:
            case.damage(case.file)
        if not case.during and meant is not None and meaning(case.file) == meant:
            return None
        started = time.perf_counter()
        try:
            with meanwhile.listening():
                found, crashed = [f for f in said(folder) if f not in before], ""
        except ExplorerError as error:  # it could not run, and says why
            found, crashed = [("could-not-run", str(error), "", 1)], ""
        except BaseException as error:
            found, crashed = [], f"{type(error).__name__}: {error}"[:300]
    finally:
        seconds = time.perf_counter() - started
        if case.file.is_dir():
            case.file.rmdir()
        else:
            case.file.unlink(missing_ok=True)
        case.file.write_bytes(kept)
    named = any(case.file.name in f"{file} {place}" for _, file, place, _ in found)
    return Outcome(name, case, tuple(dict.fromkeys(rule for rule, *_ in found)), seconds, crashed, named)


def outcomes(target: Path, tables: Sequence[str], seed: int, share: float = 1.0) -> Iterator[Outcome]:
    """The corpus, or a share of it."""
    for name in tables:
        draw = random.Random(f"{seed}/{name}")
        folder = copied(name, target)
        before = set(said(folder))
        chosen = [case for case in cases(folder, draw) if draw.random() < share]
        yield from filter(None, (run(folder, name, case, before) for case in chosen))
        shutil.rmtree(folder)


ABOUT = (
    "A case is detected if one of the rules for this damage reports it. If several rules may report it, any rule",
    "counts that was silent on the undamaged table. Every edit changes the length of a manifest, so this does not",
    "count for its records. Damage that no reader notices (names of Avro fields, docs, unread keys) is not a case.",
    "",
    "No reader could detect the other cases. A metadata file is missing, no catalog names it, and the one before it is",
    "intact. Or one bit changed in a text, a count or a bound that nothing else repeats (Avro's deflate has no",
    "checksum).",
)


def render(results: Sequence[Outcome], seed: int, memory: int) -> str:
    """docs/robustness.md."""
    total, hit = len(results), sum(o.detected for o in results)
    lines = [
        "# Robustness", "",
        "One run of `make robustness`. It damages tables on purpose, one place of one file at a time, and runs the",
        f"doctor (`--deep`). Seed {seed}; {len({o.table for o in results})} tables, {total:,} cases: {hit:,} detected",
        f"({hit / total:.1%}), {sum(bool(o.crashed) for o in results)} crashes, "
        f"{sum(o.seconds > SLOW_S for o in results)} over {SLOW_S:.0f} s (slowest "
        f"{max(o.seconds for o in results):.1f} s), {memory >> 20} MiB at most.",
        f"In {sum(o.named for o in results) / total:.1%} a finding names the damaged file.", "", *ABOUT, "",
        "| file | mutation | cases | detected | rules that reported it |", "|---|---|---:|---:|---|",
    ]  # fmt: skip
    groups: dict[tuple[str, str], list[Outcome]] = defaultdict(list)
    for outcome in results:
        groups[outcome.case.kind, outcome.case.mutation].append(outcome)
    for (kind, mutation), some in groups.items():
        spoke = Counter(rule for o in some for rule in o.found).most_common(4)
        told = ", ".join(rule for rule, _ in spoke)
        lines.append(f"| {kind} | {mutation} | {len(some)} | {sum(o.detected for o in some)} | {told} |")
    lines += ["", "## Not detected", "", "| file | mutation | tables | what was reported |", "|---|---|---|---|"]
    for (kind, mutation), some in groups.items():
        missed = [o for o in some if not o.detected]
        if missed:
            heard = ", ".join(sorted({r for o in missed for r in o.found})) or "nothing"
            where = ", ".join(sorted({o.table for o in missed}))
            lines.append(f"| {kind} | {mutation} | {where} | {heard} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--share", type=float, default=1.0)
    options.add_argument("--seed", type=int, default=16)
    options.add_argument("--tables", default=",".join(TABLES))
    options.add_argument("--out", type=Path)
    chosen = options.parse_args()
    most = [0]
    stop = threading.Event()

    def watch() -> None:
        while not stop.wait(0.2):
            with contextlib.suppress(psutil.Error):
                most[0] = max(most[0], psutil.Process(os.getpid()).memory_info().rss)

    threading.Thread(target=watch, daemon=True).start()
    results = []
    with tempfile.TemporaryDirectory() as folder:
        for outcome in outcomes(Path(folder), chosen.tables.split(","), chosen.seed, chosen.share):
            results.append(outcome)
            if outcome.crashed or not outcome.detected:
                print(f"{outcome.table}: {outcome.case.kind}, {outcome.case.mutation}, {outcome.case.file.name}: "
                      f"{outcome.crashed or list(outcome.found)}", flush=True)  # fmt: skip
    stop.set()
    text = render(results, chosen.seed, most[0])
    print(text.splitlines()[3], text.splitlines()[4])
    if chosen.out:
        chosen.out.write_text(text)


if __name__ == "__main__":
    main()
