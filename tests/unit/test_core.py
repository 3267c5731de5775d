"""Inheritance and logical status, as the spec has them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from explorer.errors import NotFoundInTable
from explorer.model.manifest import ENTRY_SCHEMA, NARROW_FIELDS, ManifestFile
from explorer.spec.entries import entries as core
from explorer.spec.text.glossary import TERMS, find_terms
from explorer.spec.text.units import human_bytes, instant
from explorer.spec.values.values import decode_bound, partition_value, summary_bound
from explorer.storage.manifest_layout import LIST_IDS

MANIFEST = ManifestFile("m.avro", 10, 0, 0, 7, 3, 70, 1, 1, 1, 1, 1, 1, None, None, None, {})


def stored(*rows: dict[str, Any]) -> pa.Table:
    base = {f.name: None for f in NARROW_FIELDS} | {
        "content": 0,
        "file_path": "f",
        "file_format": "PARQUET",
        "record_count": 10,
    }
    return pa.Table.from_pylist([base | row for row in rows], pa.schema(NARROW_FIELDS))


@pytest.mark.parametrize(
    ("status", "sequence", "expected"),
    [(1, None, 7), (1, 2, 2), (0, None, None), (2, None, None), (0, 4, 4), (2, 4, 4)],
)
def test_only_added_entries_inherit_sequence_numbers(status: int, sequence: int | None, expected: int | None) -> None:
    row = core.inherit(
        stored({"status": status, "sequence_number": sequence, "file_sequence_number": sequence}), MANIFEST
    ).to_pylist()[0]
    assert row["inherited_sequence_number"] == row["inherited_file_sequence_number"] == expected
    assert row["sequence_number"] == sequence
    assert row["sequence_number_origin"].startswith(
        "stored" if sequence is not None else "inherited" if expected is not None else "null"
    )


def test_a_compacted_file_keeps_its_older_data_sequence_number() -> None:
    row = core.inherit(stored({"status": 1, "sequence_number": 3}), MANIFEST).to_pylist()[0]
    assert (row["inherited_sequence_number"], row["inherited_file_sequence_number"]) == (3, 7)


@pytest.mark.parametrize("status", [0, 1, 2])
def test_version_1_reads_as_sequence_number_0(status: int) -> None:
    row = core.inherit(stored({"status": status}), replace(MANIFEST, sequence_number=0)).to_pylist()[0]
    assert row["inherited_sequence_number"] == row["inherited_file_sequence_number"] == 0


def test_the_snapshot_id_is_inherited_whenever_null() -> None:
    rows = core.inherit(stored({"status": 0}, {"status": 2, "snapshot_id": 5}), MANIFEST).to_pylist()
    assert [r["inherited_snapshot_id"] for r in rows] == [70, 5]


def test_first_row_ids_fill_nulls_and_count_only_those() -> None:
    rows = stored(
        {"status": 0, "record_count": 10},
        {"status": 1, "record_count": 5, "first_row_id": 900},
        {"status": 2, "record_count": 3},
        {"status": 1, "record_count": 4},
        {"status": 1, "record_count": 1},
    )
    filled = core.inherit(rows, replace(MANIFEST, first_row_id=100))["inherited_first_row_id"].to_pylist()
    assert filled == [100, 900, None, 110, 114]
    assert core.inherit(rows, replace(MANIFEST, first_row_id=100, content=1))["inherited_first_row_id"].to_pylist() == [
        None,
        900,
        None,
        None,
        None,
    ]


def test_logical_status() -> None:
    table = core.inherit(stored({"status": 0}, {"status": 1}, {"status": 2}, {"status": 9}), MANIFEST)
    here, later = core.as_of(table, MANIFEST, 70), core.as_of(table, MANIFEST, 71)
    assert here["logical_status"].to_pylist() == ["EXISTING", "ADDED", "DELETED", None]
    assert later["logical_status"].to_pylist() == ["EXISTING", "EXISTING", None, None]
    assert all(later["reason"].to_pylist())
    assert core.live(later).num_rows == 2
    assert core.status_counts(later) == {"ADDED": 0, "EXISTING": 2, "DELETED": 0, "filtered": 2}


def test_stored_columns_stay_as_they_are_beside_what_is_inherited() -> None:
    rows = stored({"status": 0}, {"status": 1}, {"status": 2, "snapshot_id": 5, "sequence_number": 3}, {"status": 9})
    for manifest in (MANIFEST, replace(MANIFEST, sequence_number=0), replace(MANIFEST, first_row_id=100)):
        inherited = core.inherit(rows, manifest)
        for table in (inherited, core.as_of(inherited, manifest, 70), core.as_of(inherited, manifest, 71)):
            assert table.select(rows.column_names).equals(rows)
            assert table.column_names[: rows.num_columns] == rows.column_names


@pytest.mark.parametrize(
    ("data", "kind", "expected"),
    [
        (b"\x01\x00\x00\x00", "int", 1),
        (b"\x01\x00\x00\x00\x00\x00\x00\x00", "long", 1),
        (b"apple", "string", "apple"),
        (b"\x00\x4d\x00\x00", "date", "2023-12-21"),
        (b"\x00" * 8, "timestamptz", "1970-01-01 00:00:00Z"),
        (b"\x04\xd2", "decimal(9, 2)", "12.34"),
        (b"\x01", "boolean", True),
        (b"\x01\x02", "long", "0x0102"),
        (b"\x01", "something-new", "0x01"),
        (None, "int", None),
    ],
)
def test_bounds(data: bytes | None, kind: str, expected: object) -> None:
    assert decode_bound(data, kind) == expected


@pytest.mark.parametrize(
    ("value", "transform", "kind", "expected"),
    [
        (650, "month", "date", "2024-03"),
        (54, "year", "timestamp", "2024"),
        (474926, "hour", "timestamp", "2024-03-06-14"),
        (3, "bucket[4]", "int", "3"),
        (None, "identity", "int", "null"),
        ("ab", "truncate[2]", "string", "ab"),
        (5, "unheard-of", "int", "5"),
    ],
)
def test_partition_values(value: object, transform: str, kind: str, expected: str) -> None:
    assert partition_value(value, transform, kind) == expected


def test_partition_summaries_are_typed_by_the_transform() -> None:
    assert summary_bound((650).to_bytes(4, "little"), "month", "date") == "2024-03"


def test_a_header_that_contradicts_its_list_is_marked(tmp_path: Path) -> None:
    from explorer.spec.entries.manifest_headers import check_header
    from tests.support import direct
    from tests.support.small_tables import make_table

    table = direct.open_table(str(make_table(tmp_path)))
    [manifest, *_] = table.tree.manifests(table.metadata.current_snapshot)
    header = table.manifest_header(manifest.manifest_path)
    assert all(c.agrees for c in check_header(header, manifest, table.metadata))
    wrong = header | {
        "content": "deletes",
        "partition-spec-id": "4",
        "format-version": "9",
        "partition-spec": '[{"name": "x", "field-id": 1, "transform": "void"}]',
    }
    assert [c.name for c in check_header(wrong, manifest, table.metadata) if c.agrees is False] == [
        "content",
        "partition-spec-id",
        "partition-spec",
        "format-version",
    ]
    assert [c.agrees for c in check_header({}, manifest, table.metadata)] == [True, None, None, None]


def test_units() -> None:
    assert [human_bytes(n) for n in (0, 1023, 1536, 200 * 1024, 5 << 40)] == [
        "0 B",
        "1023 B",
        "1.5 KiB",
        "200 KiB",
        "5.0 TiB",
    ]
    assert instant(0) == "1970-01-01 00:00:00.000 UTC"
    assert instant(10**18) == f"{10**18} ms"


def test_every_field_of_entries_and_manifests_is_in_the_glossary() -> None:
    fields = {*ENTRY_SCHEMA.names, *LIST_IDS, "partition", "logical_status"} - {"key_metadata"}
    assert fields <= TERMS.keys()
    assert list(find_terms("data sequence")) == ["sequence_number", "min_sequence_number"]
    with pytest.raises(NotFoundInTable):
        find_terms("snowflake")
