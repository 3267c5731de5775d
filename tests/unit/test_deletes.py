"""Verdicts, delete contents, damaged delete files, row changes and SQL versions, on small made tables."""

from __future__ import annotations

import math
import struct
import time
import uuid
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyiceberg.types import StringType

from explorer.errors import NotFoundInTable, UnreadableFile
from explorer.queries import matching_rows, row_reader
from explorer.queries.versions import reading, sql_request
from explorer.render.delete_picture import layers_svg, place_layers
from explorer.render.row_views import delete_lines, delete_rows, render_row_diff, row_diff_json
from explorer.spec.deletes.delete_layers import delete_layers
from explorer.spec.deletes.deletes import PATH_ID
from explorer.spec.deletes.snapshot_deletes import Deletes
from explorer.spec.entries.live_files import LiveFile
from explorer.spec.rows.row_diff import deals, row_changes
from explorer.spec.snapshots.lineage import newer
from explorer.storage import rows as contents
from explorer.storage.storage import Storage
from explorer.table import Table
from tests.support import direct
from tests.support.paper_tables import applicability, counted_of, deletes_of, on_paper
from tests.support.small_tables import make_table, new_table, partitioned, writable


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Table:
    return direct.open_table(str(make_table(tmp_path_factory.mktemp("deletes"), commits=2)))


DATA = LiveFile("data.parquet", "data_file", 0, {}, 5, 5, 10, 100, "m1")


def delete(kind: str, sequence: int | None = 5, **more: Any) -> LiveFile:
    base: dict[str, Any] = {"file_format": "PUFFIN" if kind == "deletion_vector" else "PARQUET"}
    base |= {"path": "delete", "spec_id": 0, "partition": {}}
    return LiveFile(kind=kind, sequence_number=sequence, file_sequence_number=sequence, record_count=1, size=10,
                    manifest_path="m2", **(base | more))  # fmt: skip


def verdict(table: Table, data: LiveFile, *deletes: LiveFile) -> list[bool]:
    return [v.applies for v in applicability(table.metadata, [data, *deletes]).of(data)]


def test_sequence_numbers_decide(table: Table) -> None:
    assert verdict(table, DATA, delete("position_deletes")) == [True]  # its own commit may delete from it
    assert verdict(table, DATA, delete("position_deletes", 4)) == [False]
    assert verdict(table, DATA, delete("equality_deletes", 5, equality_ids=(1,))) == [False]  # strictly less
    assert verdict(table, DATA, delete("equality_deletes", 6, equality_ids=(1,))) == [True]
    assert verdict(table, DATA, delete("position_deletes", None)) == [False]
    assert verdict(table, DATA, delete("deletion_vector", referenced_data_file="data.parquet", content_offset=4)) == [
        True
    ]


def test_deletes_lie_above_what_they_apply_to() -> None:
    """In the picture of layers: of every pair that applies, the delete is higher and at least as wide."""
    specs = [{"spec-id": 0, "fields": []}, {"spec-id": 1, "fields": [
        {"field-id": 1000, "name": "part", "transform": "identity", "source-id": 1}]}]  # fmt: skip
    metadata = on_paper([None, 1], change=lambda data: data.update({"partition-specs": specs}))
    data = [
        replace(DATA, path=f"{at}.parquet", sequence_number=at, spec_id=1, partition={"1000": at % 3})
        for at in range(9)
    ]
    of = {"spec_id": 1, "partition": {"1000": 1}}
    vector = delete("deletion_vector", 4, **of, path="v", referenced_data_file="4.parquet", content_offset=4)
    deletes = [
        delete("position_deletes", 7, **of, path="p"), delete("equality_deletes", 7, **of, path="e", equality_ids=(1,)),
        delete("equality_deletes", 5, path="global", equality_ids=(1,)), vector, replace(vector, path="stray",
        referenced_data_file="gone.parquet"),
    ]  # fmt: skip
    known = deletes_of(applicability(metadata, [*data, *deletes]))
    rows = [
        {"file_path": f.path, "content": 0, "partition": {"part": f.partition["1000"]}, "spec_id": 1,
         "sequence_number": f.sequence_number, "record_count": 10, "file_size_in_bytes": 100,
         "manifest_path": "manifest of 1"} for f in data
    ]  # fmt: skip
    layers = delete_layers([pa.Table.from_pylist(rows)], known)
    boxes = {layer.path: (left, right, row) for layer, left, right, row in place_layers(layers)[0]}
    pairs = [(v.data.path, v.delete.path) for v in known.verdicts if v.applies]
    assert {name for _, name in pairs} == {"p", "e", "global", "v"}
    for below, above in pairs:
        (left, right, row), (from_left, to_right, higher) = boxes[below], boxes[above]
        assert row < higher
        assert from_left <= left < right <= to_right
    assert [layer.path for layer in layers if not layer.applied] == ["stray", "5.parquet", "6.parquet", "8.parquet"]
    drawn = layers_svg(layers)
    assert drawn.count("data-key=") == len(layers)
    assert "applies to no data file" in drawn
    several = [replace(file, path=f"{n}-{file.path}") for file in data for n in range(7)]
    grown = [row | {"file_path": f"{n}-{row['file_path']}"} for row in rows for n in range(7)]
    grown.append(grown[-1] | {"content": 1, "file_path": "p"})  # which is among the deletes
    known = deletes_of(applicability(metadata, [*several, *deletes]))
    whole = pa.Table.from_pylist(grown)
    many = [delete_layers([whole.slice(at, size) for at in range(0, len(whole), size)], known) for size in (99, 1, 5)]
    assert many[1:] == [many[0]] * 2
    assert sum(layer.files for layer in many[0]) == len(several) + len(deletes)
    groups = [layer for layer in many[0] if layer.kind == "data_file"]
    assert {layer.files for layer in groups} == {7}
    applied = known.counts_by_file.to_pylist()
    assert sum(layer.applied for layer in groups) == len(applied)
    pairs = [v.data.path for v in known.verdicts if v.applies]
    assert {row["file_path"]: row["deletes"] for row in applied} == {path: pairs.count(path) for path in pairs}


def test_of_a_manifest_that_is_listed_twice_the_same_applies_twice() -> None:
    metadata = on_paper([None, 1])
    data, deletes = [DATA, replace(DATA, path="2", sequence_number=9)], [delete("position_deletes", 7)]
    [(path, counted)] = counted_of(applicability(metadata, [*data, *deletes]))
    files = applicability(metadata, [*data * 3, *deletes])
    known = Deletes(files, [(path, counted), ("other", counted), (path, counted)])
    columns = {"content": [0, 0, 1], "file_path": ["a", "b", "d"]}
    parts = [pa.table({**columns, "manifest_path": [name] * 3}) for name in (path, "other", path, "unknown")]
    assert [n.tolist() for _, n in known.beside(parts)] == [[1, 0, 0], [1, 0, 0], [1, 0, 0], [0, 0, 0]]
    assert len(known.verdicts) == 6
    assert [(cost.data.path, cost.deletes) for cost in known.costs] == [(DATA.path, 1)] * 3 + [("2", 0)] * 3
    assert [file.path for file in known.hit] == [DATA.path] * 3


def test_of_many_partitions_those_with_the_most_deletes_are_told_apart() -> None:
    specs = [{"spec-id": 0, "fields": [{"field-id": 1000, "name": "part", "transform": "identity", "source-id": 1}]}]
    metadata = on_paper([None, 1], change=lambda data: data.update({"partition-specs": specs}))
    files = [replace(DATA, path=f"{at}-{n}", partition={"1000": at}) for at in range(50) for n in range(5 if at else 1)]
    known = deletes_of(applicability(metadata, [*files, delete("position_deletes", partition={"1000": 0})]))
    rows = [
        {"file_path": f.path, "content": 0, "partition": {"part": f.partition["1000"]}, "spec_id": 0,
         "sequence_number": f.sequence_number, "record_count": 10, "file_size_in_bytes": 100,
         "manifest_path": "manifest of 0"} for f in files
    ]  # fmt: skip
    told = {layer.partition for layer in delete_layers([pa.Table.from_pylist(rows)], known)}
    assert len(told) < 50
    assert "part=0" in told


def test_a_vector_replaces_position_deletes(table: Table) -> None:
    vector = delete("deletion_vector", referenced_data_file="data.parquet", content_offset=4)
    found = applicability(
        table.metadata, [DATA, vector, delete("position_deletes"), delete("equality_deletes", 9, equality_ids=(1,))]
    ).of(DATA)
    assert [(v.delete.kind, v.applies) for v in found] == [
        ("deletion_vector", True),
        ("position_deletes", False),
        ("equality_deletes", True),
    ]
    assert "replaces it" in found[1].against


def test_paths_and_bounds_rule_out(table: Table) -> None:
    other = delete("position_deletes", referenced_data_file="elsewhere.parquet")
    assert (
        applicability(table.metadata, [DATA, other]).of(DATA) == []
    )  # it names another file: no pair that could matter
    bounds = {PATH_ID: b"e"}
    assert verdict(table, DATA, delete("position_deletes", lower=bounds, upper=bounds)) == []
    around = delete("position_deletes", lower={PATH_ID: b"a"}, upper={PATH_ID: b"dat"})  # cut short
    assert verdict(table, DATA, around) == [True]

    def known(low: int, high: int, nulls: int) -> dict[str, Any]:
        return {
            "lower": {1: struct.pack("<q", low)},
            "upper": {1: struct.pack("<q", high)},
            "nulls": {1: nulls},
            "values": {1: 10},
        }

    data = replace(DATA, **known(1, 9, 0))
    assert verdict(table, data, delete("equality_deletes", 6, equality_ids=(1,), **known(10, 12, 0))) == [False]
    assert verdict(table, data, delete("equality_deletes", 6, equality_ids=(1,), **known(9, 12, 0))) == [True]
    holed = replace(DATA, **known(1, 9, 2))
    assert verdict(table, holed, delete("equality_deletes", 6, equality_ids=(1,), **known(10, 12, 1))) == [
        True
    ]  # null equals null
    assert verdict(table, holed, delete("equality_deletes", 6, equality_ids=(1,), nulls={1: 1}, values={1: 1})) == [
        True
    ]
    assert verdict(table, data, delete("equality_deletes", 6, equality_ids=(1,), nulls={1: 1}, values={1: 1})) == [
        False
    ]


def test_a_position_delete_that_names_no_data_file_hides_nothing(table: Table) -> None:
    data, stray = replace(DATA, path="s3://b/t/data/a.parquet"), delete("position_deletes")
    files = applicability(table.metadata, [data, replace(data, path="s3://b/t/data/b.parquet"), stray])
    (decided,) = files.of(data)
    assert decided.applies
    assert files.holding(decided, {"s3://b/t/data/b.parquet", "elsewhere"}) is decided  # another file's
    assert files.holding(decided, ()) is decided
    held = files.holding(decided, {"s3a://b/t/data/c.parquet", "s3a://b/t/data/a.parquet"})
    assert not held.applies
    assert held.against == "it names no data file of this snapshot, but 's3a://b/t/data/a.parquet': it hides nothing"


def test_manifests_say_that_a_delete_names_no_data_file(table: Table) -> None:
    def called(path: str, sequence: int = 5, **more: Any) -> LiveFile:
        return replace(delete("position_deletes", sequence, **more), path=path)

    def bounded(path: bytes, low: bytes, high: bytes) -> LiveFile:
        return called(path.decode(), lower={PATH_ID: low}, upper={PATH_ID: high})

    exact = bounded(b"exact", b"data.parquet", b"data.parquet")
    longer = bounded(b"longer", b"data.par", b"data.par")  # equal bounds are not cut short
    stray = bounded(b"stray", b"s3a://b/data.parquet", b"s3a://b/data.parquet")
    apart = bounded(b"apart", b"e", b"f")
    named = called("named", referenced_data_file="gone.parquet")
    late = called("late", 4, referenced_data_file="data.parquet")
    known = deletes_of(applicability(table.metadata, [DATA, exact, longer, stray, apart, named, late]))
    assert known.applying == 2
    assert [v.delete.path for v in known.verdicts if v.applies] == ["exact", "apart"]
    said = {r["delete_file"]: r["reasons"][0]["words"] for r in delete_rows(known) if r["data_file"] is None}
    none = "it applies to no data file of this snapshot"
    nothing = "it names {!r}, which is no data file of this snapshot: it hides nothing"
    assert said == {
        "longer": nothing.format("data.par"),
        "stray": nothing.format("s3a://b/data.parquet"),
        "named": nothing.format("gone.parquet"),
        "late": none,
    }
    assert f"    - {nothing.format('gone.parquet')}" in list(delete_lines(known))


def test_costs_count_what_applies(table: Table) -> None:
    files = applicability(
        table.metadata, [DATA, delete("position_deletes"), delete("equality_deletes", 5, equality_ids=(1,))]
    )
    [cost] = deletes_of(files).costs
    assert (cost.position, cost.equality, cost.vectors, cost.delete_bytes) == (1, 0, 0, 10)


def puffin(folder: Path, blob: bytes, offset: int = 4, length: int | None = None) -> tuple[Storage, LiveFile]:
    import json

    footer = json.dumps(
        {"blobs": [{"type": "deletion-vector-v1", "offset": offset, "length": len(blob) if length is None else length}]}
    ).encode()
    path = folder / "v.puffin"
    path.write_bytes(b"PFA1" + blob + b"PFA1" + footer + struct.pack("<i", len(footer)) + bytes(4) + b"PFA1")
    file = delete("deletion_vector", content_offset=4, content_size=len(blob))
    return Storage([str(folder)]), replace(file, path=str(path), record_count=3)


def vector(positions: list[int]) -> bytes:
    from pyroaring import BitMap64

    body = contents.VECTOR_MAGIC + BitMap64(positions).serialize()
    return struct.pack(">I", len(body)) + body + struct.pack(">I", zlib.crc32(body))


def test_deletion_vectors_are_read_and_checked(tmp_path: Path) -> None:
    good = vector([1, 5, 2**33])
    storage, file = puffin(tmp_path, good)
    assert contents.deletion_vector(storage, file).to_pylist() == [1, 5, 2**33]
    Path(file.path).write_bytes(b"xxxx" + good)  # without its container, as some writers leave it
    assert contents.deletion_vector(storage, file).to_pylist() == [1, 5, 2**33]
    damaged = good[:12] + bytes([good[12] ^ 1]) + good[13:]
    for blob, words in (
        (damaged, "checksum"),
        (good[:4] + b"nope" + good[8:], "its magic is"),
        (struct.pack(">I", 7) + good[4:], "claims 7 bytes"),
    ):
        storage, file = puffin(tmp_path, blob)
        with pytest.raises(UnreadableFile, match=words):
            contents.deletion_vector(storage, file)
    storage, file = puffin(tmp_path, good, length=9)
    with pytest.raises(UnreadableFile, match="the Puffin footer has blobs at"):
        contents.deletion_vector(storage, file)
    storage, file = puffin(tmp_path, good)
    with pytest.raises(UnreadableFile, match="holds 3 positions, the manifest says 7"):
        contents.deletion_vector(storage, replace(file, record_count=7))


def test_damaged_data_and_delete_files_say_which(table: Table, tmp_path: Path) -> None:
    storage = Storage([str(tmp_path)])
    path = tmp_path / "x.parquet"
    path.write_text("nothing like it")
    with pytest.raises(UnreadableFile, match="not a Parquet file"):
        contents.position_deletes(storage, replace(DATA, path=str(path)))
    pq.write_table(pa.table({"a": [1]}), path)
    with pytest.raises(UnreadableFile, match="lacks the required column file_path"):
        contents.position_deletes(storage, replace(DATA, path=str(path)))
    schema = contents.read_schema(table.metadata, None)
    with pytest.raises(UnreadableFile, match="not an Avro file: it starts with b'PAR1'"):
        contents.data_rows(storage, replace(DATA, path=str(path), file_format="AVRO"), schema, table.metadata)
    rows = contents.data_rows(storage, replace(DATA, path=str(path)), schema, table.metadata)  # without field ids
    assert rows.to_pylist() == [{"id": 1, "fruit": None}]
    with pytest.raises(UnreadableFile, match="does not exist"):
        contents.data_rows(storage, replace(DATA, path=str(tmp_path / "gone.parquet")), schema, table.metadata)


def test_a_missing_data_file_is_named_and_others_are_read(tmp_path: Path) -> None:
    folder = make_table(tmp_path, commits=3)
    first = direct.open_table(str(folder)).files("snapshot-1")[0]["file_path"]
    victim = next(path for path in (folder / "data").glob("*.parquet") if path.name not in first)
    victim.unlink()
    table = direct.open_table(str(folder))
    with pytest.raises(UnreadableFile, match=victim.name):
        table.row_diff("snapshot-1", "snapshot-3")
    history = table.row_history("")
    assert victim.name in "".join(history.matching.unreadable)
    assert history.rows
    other = next(f["file_path"] for f in table.files() if victim.name not in f["file_path"])
    assert len(table.file_rows(other)) == 2
    assert len(table.deletes().verdicts) == 0


def frame(*rows: tuple[Any, ...]) -> pa.Table:
    return pa.table(
        {"k": pa.array([r[0] for r in rows], pa.int64()), "v": pa.array([r[1] for r in rows], pa.float64())}
    )


def test_rows_are_dealt_by_their_values() -> None:
    rows = pa.table({"k": [1, None, 2, 1, None], "v": ["a", "b", "c", "d", "e"]})
    dealt = dict(deals(["k"], ["k", "v"], 1000, rows))
    assert sorted(v for some in dealt.values() for v in some["v"].to_pylist()) == ["a", "b", "c", "d", "e"]
    assert ["a", "d"] in [some["v"].to_pylist() for some in dealt.values()]
    assert len(dealt) == 4, "what has no key is spread"
    assert [some.num_rows for _, some in deals([], [], 7, rows)] == [5]
    assert not list(deals(["k"], ["k"], 7, rows.slice(0, 0)))


def test_row_changes_are_multisets_with_updates() -> None:
    before = frame((1, 1.0), (1, 1.0), (2, math.nan), (3, 0.0), (4, None), (5, 5.0))
    after = frame((1, 1.0), (2, math.nan), (3, -0.0), (4, None), (5, 6.0), (7, 7.0))
    found = row_changes(before, after, ["k", "v"])
    assert found.deleted.to_pylist() == [{"k": 1, "v": 1.0}, {"k": 5, "v": 5.0}]
    assert found.inserted.to_pylist() == [{"k": 5, "v": 6.0}, {"k": 7, "v": 7.0}]
    found = row_changes(before, after, ["k", "v"], ["k"])
    assert (found.updated_before["v"].to_pylist(), found.updated_after["v"].to_pylist()) == ([5.0], [6.0])
    assert (found.deleted["k"].to_pylist(), found.inserted["k"].to_pylist()) == ([1], [7])
    assert [getattr(found.first(0), kind).num_rows for kind in found.kinds()] == [0] * 4
    assert found.first(1) == found
    twice = row_changes(frame((1, 1.0), (1, 2.0)), frame((1, 3.0)), ["k", "v"], ["k"])
    assert twice.updated_after.num_rows == 0  # two rows with the key: no telling which became which
    nested = pa.table({"s": pa.array([{"a": [1]}, None], pa.struct([("a", pa.list_(pa.int64()))]))})
    assert row_changes(nested, nested, ["s"]).deleted.num_rows == 0


def test_versions_in_sql(table: Table) -> None:
    request = sql_request(
        "select 't@x', \"a@b\" from t@snapshot-1 join t@main using (id);",
        "db.t",
        table.reader,
        5,
    )
    assert request.sql == "select 't@x', \"a@b\" from `version_0` join `version_1` using (id)"
    assert [v.version for v in request.views.values()] == ["main", str(table.metadata.snapshots[0].snapshot_id), "main"]
    with pytest.raises(NotFoundInTable, match="t@nothing: 'nothing' is no snapshot"):
        sql_request("select 1 from t@nothing", "db.t", table.reader, 5)
    began = time.process_time()
    assert sql_request("a." * 50_000, "db.t", table.reader, 5).sql == "a." * 50_000
    assert time.process_time() - began < 5


def test_a_read_says_which_version_and_schema(table: Table) -> None:
    assert "a branch is read with the table's current schema" in reading(table.reader, None).words
    assert (
        "number 1 of this table's snapshots; a snapshot is read with its own schema, 0"
        in reading(table.reader, "snapshot-1").words
    )
    moment = str(table.metadata.snapshot_log[0].timestamp_ms)
    assert "the last change of the snapshot log" in reading(table.reader, moment).words


def test_filters_that_do_not_fit_say_so(table: Table) -> None:
    for where in ("nothing = 1", "id = ", "id = 'x'"):
        with pytest.raises(NotFoundInTable, match="does not fit"):
            table.row_history(where)
    with pytest.raises(NotFoundInTable, match="no column 'z'"):
        table.row_history("id = 1", ["z"])
    assert [e.what for e in table.row_history("id = 1").events] == ["appeared"]
    assert table.row_history("id = 12345").explain(table.metadata.snapshots[-1])[-1].startswith("No data file")


def test_a_row_that_may_lie_where_nothing_can_be_read(tmp_path: Path) -> None:
    folder = make_table(tmp_path)
    first = min((folder / "metadata").glob("*-m0.avro"), key=lambda file: file.stat().st_mtime)
    whole = direct.open_table(str(folder))
    assert not any(
        "could not" in line for line in whole.row_history("id = 12345").explain(whole.metadata.snapshots[-1])
    )
    first.write_text("no manifest")
    table = direct.open_table(str(folder))
    *_, none, lacks = table.row_history("id = 0").explain(table.metadata.snapshots[-1])
    assert none == "No data file of those that could be read has such a row."
    assert lacks == (
        "⚠ 1 file of this table could not be read whole, and answers that need it lack what is lost there: "
        f"{first.name}."
    )
    for other in (folder / "metadata").glob("*.avro"):
        other.write_text("nothing")
    table = direct.open_table(str(folder))
    told = table.row_history("id = 0").explain(table.metadata.snapshots[-1])[-1]
    assert told.startswith("⚠ 3 files")
    assert told.count(".avro") == 3


def test_bounds_keep_a_fate_from_reading_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matching_rows, "SKIPPED_FILES", 2)
    folder = make_table(tmp_path, commits=4)  # ids n and n + 100 in file n
    table = direct.open_table(str(folder))
    told = table.row_history("id = 103")
    assert [e.what for e in told.events] == ["appeared"]
    read = {key[1] for key in table.row_reader._kept if key[0] == "rows"}
    assert len(read) == 1


def test_without_sequence_numbers_lineage_says_which_schema_is_newer(tmp_path: Path) -> None:
    """v1: a column that came later must not be left out of the comparison, whichever side is asked for first."""
    small = pa.table({"id": pa.array([1, 2], pa.int64())})
    table = new_table(tmp_path / "t", small.schema, **{"format-version": "1"})
    table.append(small)
    with table.update_schema() as change:
        change.add_column("color", StringType())
    table.overwrite(pa.table({"id": pa.array([1, 2], pa.int64()), "color": ["red", "blue"]}))
    opened = direct.open_table(str(tmp_path / "t"))
    first, *_, last = opened.metadata.snapshots
    assert first.schema_id != last.schema_id
    assert {s.sequence_number for s in opened.metadata.snapshots} == {0}
    for before, after in ((first, last), (last, first)):
        diff = opened.row_diff(before.snapshot_id, after.snapshot_id)
        assert diff.columns == ("id", "color")
        assert (diff.changes.inserted.num_rows, diff.changes.deleted.num_rows) == (2, 2)


def test_the_newer_of_two_snapshots_by_lineage_log_and_time() -> None:
    def change(raw: dict[str, Any]) -> None:
        for snapshot in raw["snapshots"]:
            snapshot["sequence-number"] = 0
        raw["snapshot-log"] = [{"timestamp-ms": 1, "snapshot-id": i} for i in (2, 3, 2)]

    metadata = on_paper([None, 1, 1, 3], change=change)
    one, two, three, four = metadata.snapshots
    for newest, other, reason in (
        (two, one, "lineage"),
        (four, one, "lineage"),
        (two, three, "log"),
        (four, two, "time"),
    ):
        assert newer(metadata, newest, other) is newest, reason
        assert newer(metadata, other, newest) is newest, reason
    assert newer(metadata, None, one) is one
    assert newer(metadata, None, None) is None


def test_row_histories_and_keys_inside_structs(tmp_path: Path) -> None:
    """Filters and keys by path, of lists for null, of UUIDs; two fields of one name in different structs."""
    ids = [uuid.UUID(int=i) for i in (1, 2)]
    place, person = pa.struct([("name", pa.string()), ("zip", pa.int64())]), pa.struct([("name", pa.string())])
    kinds = pa.schema([("u", pa.uuid()), ("place", place), ("person", person), ("tags", pa.list_(pa.string()))])
    rows = [
        {"u": ids[0].bytes, "place": {"name": "Bern", "zip": 3000}, "person": {"name": "ann"}, "tags": ["x"]},
        {"u": ids[1].bytes, "place": {"name": "ann", "zip": None}, "person": None, "tags": None},
    ]
    table = new_table(tmp_path / "t", kinds)
    table.append(pa.Table.from_pylist(rows, kinds))
    rows[0]["place"] = {"name": "Thun", "zip": 3600}
    table.overwrite(pa.Table.from_pylist(rows, kinds))
    opened = direct.open_table(str(tmp_path / "t"))
    for where, count in (
        ("place.name = 'ann'", 1), ("person.name = 'ann'", 1), ("place.zip is null", 1), ("person is null", 1),
        ("tags is null", 1), (f"u = '{str(ids[1]).upper()}'", 1), (f"u in ('{ids[0]}', '{ids[1]}')", 2),
        ("place.zip > 10 and not person.name = 'x'", 1), ("person.name != 'ann'", 0), ("place.name like 'T%'", 1),
        ("place.zip >= 3600 or u < '00000000-0000-0000-0000-000000000000'", 1),
    ):  # fmt: skip
        fate = opened.row_history(where)
        assert len(fate.by_snapshot[opened.metadata.current_snapshot.snapshot_id].visible) == count, where
    changed = [e for e in opened.row_history("person.name = 'ann'", ["person.name"]).events if e.what == "changed"]
    assert not changed  # the overwrite was a delete and an append
    first, last = opened.metadata.snapshots[0], opened.metadata.snapshots[-1]
    diff = opened.row_diff(first.snapshot_id, last.snapshot_id, ["person.name"])
    assert [r["place"]["name"] for r in diff.changes.updated_after.to_pylist()] == ["Thun"]
    with pytest.raises(NotFoundInTable, match=r"place\.nothing"):
        opened.row_history("place.nothing = 1")


def test_rows_that_python_has_no_values_for_are_told(tmp_path: Path) -> None:
    """Times beyond the year 9999, also inside lists, and maps by structs: in rows, diffs, fates, as text and JSON."""
    inner = pa.map_(pa.struct([("k", pa.int64())]), pa.list_(pa.timestamp("us", "UTC")))
    kinds = pa.schema([("id", pa.int64()), ("day", pa.date32()), ("m", inner)])
    far = [pa.array([1]), pa.array([10**7], pa.date32()), pa.array([[({"k": 1}, [1 << 55])]], inner)]
    table = new_table(tmp_path / "t", kinds, **{"write.metadata.metrics.default": "none"})
    table.append(pa.Table.from_arrays(far, schema=kinds))
    opened = direct.open_table(str(tmp_path / "t"))
    rows = opened.file_rows(opened.files()[0]["file_path"])
    assert "29349-01-26" in repr(rows)
    told = {"id": 1, "day": "29349-01-26", "m": [[{"k": 1}, ["3111-09-16T23:10:18.963968+00:00"]]]}
    assert {k: rows.to_json()[0][k] for k in told} == told
    diff = opened.row_diff(None, "snapshot-1")
    assert "29349-01-26" in render_row_diff(diff)
    assert {k: row_diff_json(diff)["inserted"][0][k] for k in told} == told
    assert [e.row["day"] for e in opened.row_history("id = 1").events] == ["29349-01-26"]


def test_columns_that_differ_by_case_alone(tmp_path: Path) -> None:
    rows = pa.table({"id": [1, 2], "ID": ["one", "two"]})
    table = new_table(tmp_path / "t", rows.schema)
    table.append(rows)
    table.overwrite(pa.table({"id": [1, 2], "ID": ["one", "zwei"]}))
    opened = direct.open_table(str(tmp_path / "t"))
    diff = opened.row_diff("snapshot-1", "main", ["id"])
    assert diff.changes.updated_after.select(["id", "ID"]).to_pylist() == [{"id": 2, "ID": "zwei"}]
    assert {e.row["ID"] for e in opened.row_history("ID = 'zwei' or id = 1").events} == {"one", "zwei"}


def test_a_file_that_was_added_again_is_read_again(tmp_path: Path) -> None:
    """It has another sequence number, so that deletes in between do not apply to it any more."""
    rows = pa.table({"id": pa.array([1, 2], pa.int64())})
    made = new_table(tmp_path / "w" / "t", rows.schema)
    pq.write_table(rows, tmp_path / "w" / "f.parquet")
    made.add_files([f"file://{tmp_path}/w/f.parquet"])
    made.delete("id > 0")
    made.add_files([f"file://{tmp_path}/w/f.parquet"])
    folder = made.metadata.location.removeprefix("file://")
    table = direct.open_table(folder, roots=[str(tmp_path / "w")])
    found = table.row_diff("snapshot-1", "main")
    assert (found.files_read, found.files, found.changes.inserted.num_rows, found.changes.deleted.num_rows) == (
        1, 1, 0, 0,
    )  # fmt: skip
    assert table.row_diff("main", "main").files_read == 0


def test_a_file_of_another_kind_than_its_manifests_is_told(tmp_path: Path) -> None:
    table = direct.open_table(str(make_table(tmp_path / "t", commits=2)))
    snapshot = table.metadata.current_snapshot
    assert snapshot is not None
    first, second = table.tree.manifests(snapshot)
    odd = replace(second, content=1)  # the list says that it holds deletes
    table.tree.manifests = lambda at: [first, odd] if at else []  # type: ignore[method-assign]
    deletes = table.deletes()
    assert (len(deletes.files.data), len(deletes.files.deletes), deletes.dangling) == (1, 0, ())
    assert [p.file for p in table.problems] == [second.manifest_path]
    told = "lists other files than delete files, though the manifest list says that it is a delete manifest"
    assert told in str(table.problems[0])


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The paths of the files that are made one by one."""
    paths: list[str] = []
    of_entries = row_reader.live_files

    def told(entries: pa.Table, spec_id: int, manifest_path: str) -> list[LiveFile]:
        paths.extend(entries["file_path"].to_pylist())
        return of_entries(entries, spec_id, manifest_path)

    for module in (row_reader, matching_rows):
        monkeypatch.setattr(module, "live_files", told)
    return paths


def test_a_fate_makes_only_the_files_that_may_match(
    tmp_path: Path, made: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    table = direct.open_table(str(partitioned(tmp_path)))
    monkeypatch.setattr(matching_rows, "SKIPPED_FILES", 100)
    nothing = table.row_history("id = -1")
    assert nothing.events == []
    assert made == []
    assert nothing.explain(table.metadata.snapshots[-1])[1:] == [
        "No data file of those that a scan with this filter reads has such a row.",
        "⚠ 130 data files that the filter excludes by partition values, counts or bounds were not read. Read every "
        "file to be sure: --every-file, in Python every_file=True.",
    ]
    assert [e.row["id"] for e in table.row_history("id = 7").events] == [7]
    assert len(made) == 1
    assert len(table.row_history("id = 8 or id = 9").events) == 2
    assert [e.row["id"] for e in table.row_history("id = 7", every_file=True).events] == [7]
    assert len(set(made)) == 130


def test_a_row_diff_makes_only_the_files_that_differ(tmp_path: Path, made: list[str]) -> None:
    place = partitioned(tmp_path)
    writable(place).append(pa.table({"id": pa.array([1], pa.int64()), "kind": ["<b>"]}))
    table = direct.open_table(str(place))
    diff = table.row_diff("snapshot-1", "main")
    assert (diff.files_read, diff.files, diff.counts["inserted"], len(made)) == (1, 131, 1, 1)
    assert sum(counts["inserted"] for counts in diff.partitions.values()) == 1
    whole = table.row_diff(None, "main")
    assert (whole.files_read, whole.files, whole.counts["inserted"]) == (131, 131, 131)
    assert len(whole.partitions) == 131


def test_which_deletes_dangle_cannot_be_told_of_a_part(table: Table) -> None:
    """Of a snapshot some of whose manifests could not be read: the files that a delete applies to may be there."""
    files = applicability(table.metadata, [DATA, delete("position_deletes", 4)])
    whole = deletes_of(files)
    assert [d.path for d in whole.dangling] == ["delete"]
    part = Deletes(files, counted_of(files), 1, whole=False)
    assert part.dangling == ()
    assert [d.path for d in part.alone] == ["delete"]
    assert "it may not dangle" in part.why_alone(part.alone[0])
    assert next(line for line in delete_lines(part) if "dangling" in line).startswith("perhaps dangling: ")
    assert [row["reasons"][0]["clause"] for row in delete_rows(part)][-1] == "unknown"
