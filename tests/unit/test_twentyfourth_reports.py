"""Troubles of a twenty-fourth round of public reports, on tables that are built here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from explorer.reports.maintenance.file_stay import file_stay
from explorer.reports.maintenance.previews import preview
from explorer.reports.readers import find_readers
from tests.cases.mini import Table
from tests.support import direct
from tests.support.report_tables import found


def without_ids(schema: Any) -> None:
    """Take the field ids out of an Avro schema, as ClickHouse writes it."""
    if isinstance(schema, dict):
        schema.pop("field-id", None)
        schema.pop("element-id", None)
        for part in schema.values():
            without_ids(part)
    elif isinstance(schema, list):
        for part in schema:
            without_ids(part)


def test_manifests_without_field_ids_are_told_though_their_list_has_them(tmp_path: Path) -> None:
    """ClickHouse/ClickHouse#111763: pyiceberg refuses them."""
    table = Table(tmp_path / "t", [(1, "id", "long")])
    file = table.parquet("a.parquet", {"id": [1]})
    table.snapshot("append", [table.manifest("m0.avro", [(1, file)], edit_schema=without_ids)])
    [finding] = found(tmp_path / "t", "avro-schema")
    assert finding.what.startswith("no field of its Avro schema has a field id")
    assert "may have removed" not in finding.what
    answers = {v.reader.id: v.answer for v in find_readers(direct.open_table(str(tmp_path / "t"))).verdicts}
    assert (answers["pyiceberg"], answers["spark"]) == ("no", "yes")


@pytest.mark.parametrize(("ids", "told"), [([1, 2], 0), ([2, 1], 1), ([2], 0)])
def test_equality_ids_in_another_order_than_the_schema_are_told(ids: list[int], told: int, tmp_path: Path) -> None:
    """trinodb/trino#14693."""
    table = Table(tmp_path / "t", [(1, "id", "long"), (2, "word", "string")])
    table.append(table.parquet("a.parquet", {"id": [1], "word": ["x"]}))
    before = table.lists[table.md["current-snapshot-id"]]
    delete = table.equality_delete("eq.parquet", {"id": [7], "word": ["y"]})
    delete["equality_ids"] = ids
    table.snapshot("delete", [*before, table.manifest("gone.avro", [(1, delete)], content=1)])
    findings = [f for f in found(tmp_path / "t", "readers-differ") if "not in the order of the schema" in f.what]
    assert [f.severity for f in findings] == ["info"] * told
    assert all("'remove-dangling-deletes', 'true'" in f.remedy for f in findings)


def test_an_expiry_that_frees_no_data_file_says_why(tmp_path: Path) -> None:
    """apache/iceberg#11695: rows that deletes hide stay in their files."""
    table = Table(tmp_path / "t", [(1, "id", "long")])
    file = table.parquet("a.parquet", {"id": [1, 2]})
    table.append(file)
    before = table.lists[table.md["current-snapshot-id"]]
    delete = table.position_delete("d.parquet", [(file["file_path"], 0), (file["file_path"], 1)])
    gone = table.manifest("gone.avro", [(1, delete)], content=1)
    table.snapshot("delete", [*before, gone], {"total-delete-files": "1"})
    opened = direct.open_table(str(tmp_path / "t"))
    words = " ".join(preview(opened, "expire", options={"older_than": "2999-01-01"}).words)
    assert "No data file goes: snapshots that stay need those of the others." in words
    assert "Rows that deletes hide stay in their files until a compaction rewrites these" in words
    told = " ".join(file_stay(opened, "a.parquet").words)
    assert "A commit must rewrite it, or drop it whole, first: rows that deletes hide stay in it." in told
