"""Bounds, partition values and metric maps as people read them (spec: "Appendix D", "Partition Transforms"), and which
deletes reach which files."""

from __future__ import annotations

import datetime
import struct
import uuid
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest

from explorer.model.metadata import TableMetadata
from explorer.spec.deletes.deletes import PATH_ID
from explorer.spec.entries.entries import as_of_snapshot, inherit
from explorer.spec.entries.live_files import LiveFile, files_of, live_files
from explorer.spec.rows.row_diff import row_changes
from explorer.spec.values import values
from explorer.spec.values.values import row_dicts
from tests.support.paper_tables import applicability, deletes_of, entries, manifest, on_paper

DAY_US = 86_400 * 1_000_000


@pytest.mark.parametrize(
    ("value", "kind", "expected"),
    [
        (0, "date", "1970-01-01"), (-1, "date", "1969-12-31"), (2_932_896, "date", "9999-12-31"),
        (2_932_897, "date", "10000-01-01"), (-719_162, "date", "0001-01-01"),
        (-719_163, "date", "0000-12-31"), (True, "boolean", True),
        (DAY_US + 1, "timestamp", "1970-01-02 00:00:00.000001"), (DAY_US, "timestamptz", "1970-01-02 00:00:00Z"),
        (DAY_US * 1000, "timestamp_ns", "1970-01-02 00:00:00"),
        (DAY_US * 1000, "timestamptz_ns", "1970-01-02 00:00:00Z"),
        (253_402_300_799_999_999, "timestamp", "9999-12-31 23:59:59.999999"),
        (10**18, "timestamp", "33658-09-27 01:46:40.000000"),
        (-62_135_596_800_000_001, "timestamptz", "0000-12-31 23:59:59.999999Z"), (2**80, "timestamptz", f"{2**80}"),
        (3_600_000_001, "time", "01:00:00.000001"), (b"\x01\xff", "binary", "0x01ff"), (1.5, "double", 1.5),
        ("x", "string", "x"),
        (None, "int", None), ("not a number", "date", "not a number"), ([1], "list", "[1]"),
    ],
)  # fmt: skip
def test_readable(value: Any, kind: str, expected: Any) -> None:
    assert values.readable(value, kind) == expected


def test_bounds_order_as_icebergs_do() -> None:
    assert values.comparable_bound(struct.pack("<q", -5), "long") == -5
    low, high = (values.comparable_bound(text.encode(), "string") for text in ("z", "\N{GRINNING FACE}"))
    assert (low, low < high) == (b"z", True)  # by UTF-8 bytes
    assert values.comparable_bound("é".encode(), "string") > values.comparable_bound(b"z", "string")
    for data, kind in ((None, "long"), (b"\x01", "long"), (b"x", "something-new"), (b"x", {"type": "list"})):
        assert values.comparable_bound(data, kind) is None
    assert values.decode_bound(b"\x01", {"type": "list"}) == "0x01"
    assert values.decode_bound(b"\x01", "struct<>") == "0x01"


def test_partition_values_given_as_dates_and_times() -> None:
    assert values.partition_value(datetime.date(2024, 3, 6), "identity", "date") == "2024-03-06"
    moment = datetime.datetime(2024, 3, 6, 14, 30)
    assert values.partition_value(moment, "identity", "timestamp") == "2024-03-06T14:30:00"
    zoned = moment.replace(tzinfo=datetime.timezone.utc)
    assert values.partition_value(zoned, "identity", "timestamptz") == "2024-03-06T14:30:00+00:00"
    assert values.partition_value(datetime.time(1, 2, 3, 4), "identity", "time") == "01:02:03.000004"
    assert values.partition_value(5, "identity", {"type": "list"}) == "5"
    own = uuid.UUID("00112233-4455-6677-8899-aabbccddeeff")
    assert (
        values.partition_value(own.bytes, "identity", "uuid")
        == values.partition_value(own, "identity", "uuid")
        == str(own)
    )
    assert values.partition_value(-1, "identity", "timestamp_ns") == "1969-12-31T23:59:59.999999999"
    assert values.partition_value(10**9, "identity", "timestamptz_ns") == "1970-01-01T00:00:01+00:00"
    assert values.partition_value(-2_000_000, "identity", "date") == "-3506-03-09"


def partitioned(data: dict[str, Any]) -> None:
    fields = [
        {"id": 1, "name": "id", "type": "long", "required": False},
        {"id": 2, "name": "d", "type": "date", "required": False},
        {"id": 3, "name": "x", "type": "double", "required": False},
        {"id": 4, "name": "tags", "required": False, "type": {
            "type": "list", "element-id": 5, "element": "string", "element-required": False}},
    ]  # fmt: skip
    data["schemas"] = [{"type": "struct", "schema-id": 0, "fields": fields}]
    data["partition-specs"] = [
        {"spec-id": 0, "fields": []},
        {"spec-id": 1, "fields": [
            {"field-id": 1000, "source-id": 2, "name": "d_month", "transform": "month"},
            {"field-id": 1001, "source-id": 1, "name": "bucket", "transform": "bucket[4]"}]},
        {"spec-id": 2, "fields": [{"field-id": 1002, "source-id": 77, "name": "bucket", "transform": "identity"}]},
    ]  # fmt: skip


TABLE = on_paper([None, 1], change=partitioned)


def test_partitions_as_paths() -> None:
    spec = TABLE.spec(1)
    assert values.partition_path({"1000": 650, "1001": 3}, spec, TABLE) == "d_month=2024-03/bucket=3"
    assert values.partition_path({"1000": None, "1009": 3}, spec, TABLE) == "d_month=null/field 1009=3"
    assert values.partition_path({"1000": 650}, None, TABLE) == "field 1000=650"
    assert values.partition_path({}, spec, TABLE) == values.partition_path(None, spec, TABLE) == ""
    assert values.partition_path({"1002": 7}, TABLE.spec(2), TABLE) == "bucket=7"  # its source column was dropped
    named = {"d_month": 650, "bucket_1001": 3, "bucket_1002": 7}
    assert values.partition_path_by_name(named, spec, TABLE) == "d_month=2024-03/bucket=3"
    assert values.partition_path_by_name(named, None, TABLE) == values.partition_path_by_name(None, spec, TABLE) == ""


def test_summaries_are_of_the_transforms_result() -> None:
    assert values.result_type("bucket[4]", "string") == "int"
    assert values.result_type("identity", "string") == "string"
    assert values.result_type("month", {"type": "list"}) is None
    assert values.summary_bound(struct.pack("<i", 3), "bucket[4]", "string") == "3"
    assert values.summary_bound(None, "month", "date") is None
    assert values.summary_bound(b"\x01", "month", "date") == "0x01"
    assert values.summary_bound(b"\x01", "month", None) == "0x01"


def test_one_partition_type_for_all_specs() -> None:
    def of(*fields: tuple[str, pa.DataType]) -> pa.Table:
        kind = pa.struct(list(fields))
        return pa.table({"partition": pa.array([{name: None for name, _ in fields}], kind)})

    one, two = of(("1000", pa.int32()), ("1001", pa.int32())), of(("1002", pa.int64()), ("1077", pa.string()))
    unified = values.common_partition_type(TABLE, [one.schema, two.schema])
    assert {f.name: f.type for f in unified} == {
        "d_month": pa.int32(), "bucket_1001": pa.int32(), "bucket_1002": pa.int64(), "field_1077": pa.string(),
    }  # fmt: skip
    rows = pa.table({"partition": pa.array([{"1002": 7, "1077": "x"}], two.schema.field("partition").type)})
    assert values.conform_partition(rows, unified).to_pylist() == [
        {"d_month": None, "bucket_1001": None, "bucket_1002": 7, "field_1077": "x"}
    ]
    narrow = pa.table({"partition": pa.array([{"1002": 7}], pa.struct([("1002", pa.int32())]))})
    assert values.conform_partition(narrow, unified).to_pylist()[0]["bucket_1002"] == 7
    assert values.conform_partition(rows.slice(0, 0), unified).to_pylist() == []
    assert values.conform_partition(of(), pa.struct([])).to_pylist() == [{}]


def test_metrics_a_row_for_each_column() -> None:
    row = {
        "value_counts": [(1, 10), (5, 4)], "null_value_counts": {1: 2}, "column_sizes": [(1, 50)],
        "nan_value_counts": [(3, 1)],
        "lower_bounds": [(2, struct.pack("<i", 0)), (PATH_ID, b"/t/a")],
        "upper_bounds": [(2147483545, struct.pack("<q", 9)), (88, b"x")],
    }  # fmt: skip
    rows = {r["field_id"]: r for r in values.decode_metrics(row, TABLE)}
    assert list(rows) == [1, 2, 3, 5, 88, 2147483545, PATH_ID]
    counts = ("column_size", "value_count", "null_value_count", "nan_value_count")
    assert [rows[1][n] for n in counts] == [50, 10, 2, None]
    assert (rows[3]["nan_value_count"], rows[2]["lower_bound"], rows[2]["upper_bound"]) == (1, "1970-01-01", None)
    assert (rows[5]["name"], rows[5]["type"]) == ("tags.element", "string")
    assert (rows[PATH_ID]["name"], rows[PATH_ID]["type"], rows[PATH_ID]["lower_bound"]) == (
        "file_path",
        "string",
        "/t/a",
    )
    assert (rows[2147483545]["name"], rows[2147483545]["upper_bound"]) == ("pos", 9)
    assert (rows[88]["name"], rows[88]["type"], rows[88]["upper_bound"]) == ("(field 88, in no schema)", None, "0x78")
    assert values.decode_metrics({}, TABLE) == []


# -- which deletes reach which files ----------------------------------------------------------------------------------
DATA = LiveFile("d.parquet", "data_file", 1, {"1000": 650, "1001": 3}, 5, 5, 10, 100, "m1")


def delete(kind: str, sequence: int | None = 6, **more: Any) -> LiveFile:
    return replace(
        DATA, path="x", kind=kind, sequence_number=sequence, record_count=1, size=10, manifest_path="m2", **more
    )


def applies(data: LiveFile, *deletes: LiveFile, table: TableMetadata = TABLE) -> list[bool]:
    return [v.applies for v in applicability(table, [data, *deletes]).of(data)]


def against(data: LiveFile, one: LiveFile) -> str:
    [verdict] = applicability(TABLE, [data, one]).of(data)
    return verdict.against


def refused(data: LiveFile, one: LiveFile) -> str:
    """Why Iceberg Java 1.12 refuses to scan a data file that other readers apply a delete to."""
    [verdict] = applicability(TABLE, [data, one]).of(data)
    assert verdict.applies
    [reason] = [r for r in verdict.reasons if r.refused]
    words, _, rest = reason.words.partition(": Iceberg Java 1.12 refuses")
    assert verdict.is_refused, rest
    return words


def long(n: int) -> bytes:
    return struct.pack("<q", n)


def test_partitions_rule_out() -> None:
    elsewhere = {"1000": 651, "1001": 3}
    assert applies(DATA, delete("position_deletes", partition=elsewhere)) == []  # no pair that could matter
    assert applies(DATA, delete("equality_deletes", partition=elsewhere, equality_ids=(1,))) == []
    everywhere = delete("equality_deletes", spec_id=0, partition={}, equality_ids=(1,))
    assert applies(DATA, everywhere) == [True]  # an unpartitioned equality delete is global
    assert applies(DATA, replace(everywhere, kind="position_deletes")) == []
    named = delete("position_deletes", partition=elsewhere, referenced_data_file="d.parquet")
    assert refused(DATA, named) == "the delete is in partition d_month=2024-04/bucket=3, the data file in " + (
        "d_month=2024-03/bucket=3"
    )
    other_spec = delete("position_deletes", spec_id=2, partition={"1002": 1}, referenced_data_file="d.parquet")
    assert refused(DATA, other_spec) == "the delete is of partition spec 2, the data of spec 1"
    equal = {PATH_ID: b"d.parquet"}
    by_bounds = delete("position_deletes", partition=elsewhere, lower=equal, upper=equal)
    assert refused(DATA, by_bounds) == refused(DATA, named)
    assert "is not <=" in against(replace(DATA, sequence_number=7), named)  # then Java does not look at partitions
    vector = delete("deletion_vector", 4, referenced_data_file="d.parquet", content_offset=4, content_size=9)
    assert "5 is not <= the delete's 4" in against(DATA, vector)
    assert "(unknown)" in against(replace(DATA, sequence_number=None), replace(vector, sequence_number=5))
    [reason] = [
        r
        for v in applicability(TABLE, [DATA, delete("position_deletes")]).of(DATA)
        for r in v.reasons
        if r.clause == "partition"
    ]
    assert reason.words == "both are of partition spec 1 and in d_month=2024-03/bucket=3"


def test_path_bounds_of_position_deletes() -> None:
    def bounds(low: bytes, high: bytes) -> LiveFile:
        return delete("position_deletes", lower={PATH_ID: low}, upper={PATH_ID: high})

    assert applies(DATA, bounds(b"d.parquet", b"d.parquet")) == [True]
    assert applies(DATA, bounds(b"a", b"d.parque")) == [True]
    assert applies(DATA, bounds(b"e", b"f")) == [True]  # readers open it, whatever unequal bounds say
    assert applies(DATA, bounds(b"e", b"e")) == []  # equal ones name a file
    assert applies(DATA, replace(bounds(b"e", b"f"), upper={})) == [True]


def test_bounds_of_equality_deletes() -> None:
    def known(field: int, low: bytes, high: bytes, nulls: int | None = 0, **more: Any) -> dict[str, Any]:
        counts = {} if nulls is None else {"nulls": {field: nulls}}
        return {"lower": {field: low}, "upper": {field: high}, "values": {field: 10}, **counts, **more}

    data = replace(DATA, **known(1, long(10), long(20)))

    def hits(low: int, high: int, nulls: int | None = 0, mine: LiveFile = data) -> bool:
        one = delete("equality_deletes", equality_ids=(1,), **known(1, long(low), long(high), nulls))
        return applies(mine, one) == [True]

    assert [hits(*b) for b in ((20, 30), (21, 30), (0, 10), (0, 9))] == [True, False, True, False]
    assert hits(21, 30, nulls=3) is False  # the data has no null, so only bounds matter
    unknown = replace(data, nulls={})
    assert hits(21, 30, nulls=3, mine=unknown)
    assert not hits(21, 30, nulls=0, mine=unknown)
    assert "ends at 20 in the data file, and begins at 21" in against(
        data, delete("equality_deletes", equality_ids=(1,), **known(1, long(21), long(30))))  # fmt: skip
    assert "begins at 10 in the data file, and ends at 9" in against(
        data, delete("equality_deletes", equality_ids=(1,), **known(1, long(0), long(9))))  # fmt: skip
    null = replace(DATA, nulls={1: 10}, values={1: 10})
    assert "null in all rows of the data file" in against(
        null, delete("equality_deletes", equality_ids=(1,), nulls={1: 0})
    )
    some = replace(DATA, nulls={1: 9}, values={1: 10})
    assert applies(some, delete("equality_deletes", equality_ids=(1,), nulls={1: 0})) == [True]
    assert applies(replace(DATA, nulls={1: 10}), delete("equality_deletes", equality_ids=(1,), nulls={1: 0})) == [True]
    one, two = struct.pack("<d", 1.0), struct.pack("<d", 2.0)
    numbers = replace(DATA, **known(3, one, one))
    nan = delete("equality_deletes", equality_ids=(3,), **known(3, two, two))
    assert applies(numbers, nan) == [True]  # bounds do not cover NaN
    assert applies(numbers, replace(nan, nans={3: 0})) == applies(replace(numbers, nans={3: 0}), nan) == [False]
    text = replace(DATA, **known(5, b"a", b"b"))
    assert "'b' in the data file, and begins at 'c'" in against(
        text, delete("equality_deletes", equality_ids=(5,), **known(5, b"c", b"d")))  # fmt: skip
    [verdict] = applicability(TABLE, [DATA, delete("equality_deletes", equality_ids=(1, 77))]).of(DATA)
    assert verdict.reasons[-1].words == "the bounds of id, field 77 do not rule it out"


def test_what_dangles_and_what_reading_costs() -> None:
    hit, late = delete("position_deletes"), replace(delete("position_deletes", 4), path="late")
    vector = delete(
        "deletion_vector", referenced_data_file="b.parquet", content_offset=4, content_size=7, file_format="PUFFIN"
    )
    second = replace(DATA, path="b.parquet")
    files = applicability(
        TABLE, [DATA, second, hit, late, vector, replace(hit, path="y", kind="equality_deletes", equality_ids=(1,))]
    )
    deletes = deletes_of(files)
    assert deletes.dangling == (late,)
    costs = {c.data.path: c for c in deletes.costs}
    mine, other = costs["d.parquet"], costs["b.parquet"]
    assert (mine.position, mine.equality, mine.vectors, mine.deletes, mine.delete_rows, mine.delete_bytes) == (
        1,
        1,
        0,
        2,
        2,
        20,
    )
    assert (other.position, other.equality, other.vectors, other.delete_bytes) == (
        0,
        1,
        1,
        17,
    )  # the vector replaces them
    assert [c.data.path for c in deletes.costs] == ["d.parquet", "b.parquet"]


def test_files_of_a_manifest() -> None:
    stored = entries(
        {"status": 1, "file_path": "a", "equality_ids": [1, 2], "content": 2},
        {"status": 0, "file_path": "b", "sequence_number": 3},
        {"status": 2, "file_path": "c", "sequence_number": 1},
        {"status": 1, "file_path": "v", "content": 1, "file_format": "PUFFIN", "content_offset": 4,
         "content_size_in_bytes": 9, "referenced_data_file": "a"},
    )  # fmt: skip
    logical = as_of_snapshot(stored, manifest("m", 8), 8)
    found = {f.path: f for f in live_files(logical, 1, "m")}
    assert {p: (f.kind, f.sequence_number) for p, f in found.items()} == {
        "a": ("equality_deletes", 8), "b": ("data_file", 3), "v": ("deletion_vector", 8),
    }  # fmt: skip
    assert (found["a"].equality_ids, found["b"].record_count, found["b"].size, found["b"].spec_id) == (
        (1, 2),
        10,
        100,
        1,
    )
    assert (found["v"].key, found["v"].content_size, found["v"].referenced_data_file) == (("v", 4), 9, "a")
    assert [f.path for f in files_of(logical, 1, "m", ("DELETED",))] == ["c"]


# -- more of inheritance and of rows ----------------------------------------------------------------------------------
def test_origins_are_told() -> None:
    row = inherit(entries({"status": 0, "file_path": "a"}), manifest("m", None, sequence_number=4)).to_pylist()[0]
    assert row["snapshot_id_origin"] == "null: the manifest list has no added_snapshot_id"
    assert row["sequence_number_origin"].startswith("null: only ADDED entries may inherit it")
    assert row["first_row_id_origin"] == "null: no row lineage"
    old = inherit(entries({"status": 0, "file_path": "a"}), manifest("m", 3, sequence_number=0)).to_pylist()[0]
    assert old["sequence_number_origin"] == "inherited: 0, since version 1 has no sequence numbers"
    assert old["snapshot_id_origin"] == "inherited: the manifest list's added_snapshot_id for this manifest"
    new = inherit(entries({"status": 1, "file_path": "a"}), manifest("m", 3, first_row_id=7)).to_pylist()[0]
    assert (new["inherited_first_row_id"], new["first_row_id_origin"][:9]) == (7, "inherited")


def test_rows_are_equal_as_values_are() -> None:
    def same(a: Any, b: Any, kind: pa.DataType) -> bool:
        left, right = (pa.table({"k": [1], "v": pa.array([x], kind)}) for x in (a, b))
        found = row_changes(left, right, ["k", "v"])
        return found.inserted.num_rows == found.deleted.num_rows == 0

    pairs = pa.map_(pa.string(), pa.int64())
    assert same([("a", 1), ("b", 2)], [("b", 2), ("a", 1)], pairs)
    assert not same([("a", 1)], [("a", 2)], pairs)
    assert not same([1, 2], [2, 1], pa.list_(pa.int64()))
    assert same([0.0, float("nan")], [-0.0, float("nan")], pa.list_(pa.float64()))
    assert same({"x": None}, {"x": None}, pa.struct([("x", pa.int64())]))
    assert not same(None, {"x": None}, pa.struct([("x", pa.int64())]))
    assert same(b"ab", b"ab", pa.binary(2))
    assert not same(b"ab", b"ac", pa.binary(2))
    assert same(None, None, pa.null())
    assert same(None, None, pa.int64())
    assert not same(None, 0, pa.int64())


FAR = 2932897
"""Days to the year 10000, which Python lacks."""


def test_a_values_type_does_not_depend_on_its_neighbours() -> None:
    near, days = datetime.date(1970, 1, 2), pa.array([1, FAR], pa.date32())
    pairs = pa.map_(pa.date32(), pa.list_(pa.date32()))
    structs = pa.map_(pa.struct([("k", pa.int64())]), pa.int64())
    table = pa.table({
        "day": days, "inside": pa.StructArray.from_arrays([days, days.take([1, 0])], ["a", "b"]),
        "map": pa.array([[(1, [FAR, 1])], [(1, None)]], pairs), "keys": pa.array([[({"k": 1}, 2)], []], structs),
        "text": pa.array([[("a", 1)], []], pa.map_(pa.string(), pa.int64())),
    })  # fmt: skip
    far = "10000-01-01"
    assert row_dicts(table, "lossy") == [
        {"day": near, "inside": {"a": near, "b": far}, "map": {near: [far, near]}, "keys": [({"k": 1}, 2)],
         "text": {"a": 1}},
        {"day": far, "inside": {"a": far, "b": near}, "map": {near: None}, "keys": {}, "text": {}},
    ]  # fmt: skip
    assert row_dicts(table.slice(0, 1))[0]["map"] == [(near, [far, near])]
    for kind in (pa.timestamp("us"), pa.timestamp("us", "UTC"), pa.time64("us")):
        beyond = row_dicts(pa.table({"v": pa.array([1 << 62, 0], pa.int64()).cast(kind, safe=False)}))
        assert [type(row["v"]) is str for row in beyond] == [True, False]


def test_deletes_of_a_partition_apply_beside_one_beyond_the_year_9999() -> None:
    def day(*days: int) -> pa.StructArray:
        return pa.StructArray.from_arrays([pa.array(days, pa.date32())], ["1000"])

    data = entries({"status": 1, "file_path": "near"}, {"status": 1, "file_path": "far"})
    data = data.set_column(data.schema.get_field_index("partition"), "partition", day(1, FAR))
    deletes = entries({"status": 1, "file_path": "delete", "content": 1})
    deletes = deletes.set_column(deletes.schema.get_field_index("partition"), "partition", day(1))
    near, _, delete = (f for t in (data, deletes) for f in live_files(as_of_snapshot(t, manifest("m", 8), 8), 1, "m"))
    assert near.place == delete.place


def test_lists_with_values_that_python_lacks_are_compared_one_by_one() -> None:
    def rows(*days: int) -> pa.Table:
        return pa.table({"v": pa.array([[day] for day in days], pa.list_(pa.date32()))})

    changes = row_changes(rows(1), rows(1, FAR), ["v"])
    assert (changes.deleted.num_rows, changes.inserted.num_rows) == (0, 1)


def test_without_columns_only_the_number_of_rows_counts() -> None:
    two, three = pa.table({"v": [1, 2]}), pa.table({"v": [7, 8, 9]})
    found = row_changes(two, three, [])
    assert (found.inserted["v"].to_pylist(), found.deleted.num_rows) == ([9], 0)
