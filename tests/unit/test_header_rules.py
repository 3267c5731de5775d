"""What only a manifest's header says, which Iceberg Java and pyiceberg do not go by (Spark:
tests/spark/test_header_rules.py)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cases.headers import HEADERS, KINDS, RULES, with_header, without_fields
from tests.cases.mini import Table
from tests.support import direct


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", HEADERS)
def test_a_header_that_nobody_goes_by_is_no_error(name: str, kind: str, tmp_path: Path) -> None:
    report = direct.doctor(with_header(tmp_path / "t", name, kind), deep=True)
    [told] = report.findings
    assert (told.rule, told.severity, told.refused) == (RULES.get(name, "avro-schema"), "warning", "")
    assert "Iceberg Java and pyiceberg do not go by the header" in told.what
    assert "rollback" not in told.remedy
    assert "register_table" not in told.remedy
    assert "CALL" in told.remedy


def test_the_reader_that_refuses_is_named(tmp_path: Path) -> None:
    [content] = direct.doctor(with_header(tmp_path / "a", "content", "vector")).findings
    assert "iceberg-go" in content.what
    assert (content.found, content.expected) == ("data", "deletes")
    [entries] = direct.doctor(with_header(tmp_path / "b", "entries", "data")).findings
    assert "that of manifest entries" in entries.what
    assert "iceberg-rust" in entries.what


def test_a_list_that_its_entries_contradict_stays_an_error(tmp_path: Path) -> None:
    table = Table(tmp_path / "t", [(1, "id", "long")])
    data = table.parquet("a.parquet", {"id": [1, 2, 3]})
    delete = table.position_delete("d.parquet", [(data["file_path"], 1)])
    manifest = table.manifest("m0.avro", [(1, data), (1, delete)], header={"content": "deletes"})
    table.snapshot("append", [manifest])
    told = {(f.rule, f.severity) for f in direct.doctor(str(tmp_path / "t")).findings}
    assert ("manifest-content", "error") in told


def test_a_spec_id_that_the_headers_own_spec_goes_with_stays_an_error(tmp_path: Path) -> None:
    table = Table(tmp_path / "t", [(1, "id", "long"), (2, "p", "string")])
    table.set_spec([(2, 1000, "p", "identity")])
    data = table.parquet("a.parquet", {"id": [1], "p": ["a"]}, partition={"p": "a"})
    table.append(data)
    [record] = table.lists[101]
    record["partition_spec_id"] = 0  # of the list alone: the entries have a partition
    table.snapshot("append", [record])
    told = {(f.rule, f.severity) for f in direct.doctor(str(tmp_path / "t"), snapshot="main").findings}
    assert ("spec-unknown", "error") in told


def test_another_schema_in_a_header_is_told_once_and_leads_to_no_older_metadata(tmp_path: Path) -> None:
    table = Table(tmp_path / "t", [(1, "id", "long"), (2, "v", "string")])
    data = table.parquet("a.parquet", {"id": [1], "v": ["a"]})
    schema = '{"type": "struct", "schema-id": 0, "fields": [{"id": 7, "name": "x", "required": false, "type": "int"}]}'
    table.snapshot("append", [table.manifest("m0.avro", [(1, data)], header={"schema": schema})])
    [told] = direct.doctor(str(tmp_path / "t")).findings
    assert (told.rule, told.severity, told.found) == ("schema-rebound", "info", "7 x int")
    assert "CALL" not in told.remedy
    assert "cannot load" not in told.remedy


@pytest.mark.parametrize(
    ("fields", "version", "named"),
    [
        (("snapshot_id", "sequence_number", "file_sequence_number"), 2, 3),
        (("snapshot_id",), 2, 1),
        (("snapshot_id",), 1, 1),
        (("file_sequence_number",), 2, 0),  # as Iceberg up to 0.14
    ],
)
def test_entries_without_what_they_inherit(fields: tuple[str, ...], version: int, named: int, tmp_path: Path) -> None:
    table = direct.open_table(without_fields(tmp_path / "t", fields, version))
    told = [f for f in direct.doctor(table).findings if f.rule == "avro-schema"]
    assert [(f.rule, f.severity) for f in told] == [("avro-schema", "info")] * bool(named)
    for f in told:
        assert "ClickHouse" in f.what
        assert [name for name in fields if f"`{name}`" in f.what] == list(fields)[:named]
    assert table.entries().to_arrow()["snapshot_id"].to_pylist() == [101, 102]
