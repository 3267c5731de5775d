"""The names of Avro records, by which older Iceberg Java reads manifest lists and manifests (docs/readers.md). What
fails in which version was tried with Iceberg Java 1.6.1, 1.7.2, 1.8.1 and 1.9.2, by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from explorer.reports.inspector.manifest_nodes import inspect_manifest, inspect_manifest_list
from tests.cases.mini import Table
from tests.support import direct

SPEC = [(2, 1000, "p", "identity")]


def renamed(schema: Any, old: str, new: str) -> None:
    """Calls a record of an Avro schema otherwise."""
    if isinstance(schema, dict):
        if schema.get("type") == "record" and schema["name"] == old:
            schema["name"] = new
        for value in schema.values():
            renamed(value, old, new)
    elif isinstance(schema, list):
        for value in schema:
            renamed(value, old, new)


def with_names(folder: Path, old: str, new: str, spec: Any = SPEC) -> Path:
    """A table of one file, in whose Avro files a record is called otherwise."""
    table = Table(folder, [(1, "id", "long"), (2, "p", "string")], spec)
    file = table.parquet("a.parquet", {"id": [1], "p": ["x"]}, partition={"p": "x"} if spec else {})

    def edit(schema: Any) -> None:
        renamed(schema, old, new)

    table.snapshot("append", [table.manifest("m.avro", [(1, file)], edit_schema=edit)], edit_list=edit)
    return folder


@pytest.mark.parametrize(
    ("old", "new", "version"),
    [("manifest_file", "iceberg_schema", "1.8"), ("manifest_file", "com.x.manifest_file", "1.8"),
     ("r508", "summary", "1.8"), ("manifest_entry", "iceberg_schema", "1.6"), ("r2", "my_file", "1.6"),
     ("r102", "my_partition", "1.6"), ("r2", "data_file", ""), ("r102", "partition", ""), ("r508", "partitions", "")],
)  # fmt: skip
def test_the_doctor_names_the_versions_that_fail(old: str, new: str, version: str, tmp_path: Path) -> None:
    report = direct.doctor(with_names(tmp_path / "t", old, new))
    if not version:
        assert not report.findings
        return
    (told,) = report.findings
    assert (told.rule, told.severity, told.refused) == ("avro-schema", "warning", "")
    assert f"Iceberg Java up to {version} " in told.what
    # what is in a record has its namespace
    assert told.found.split(", ")[0] == new
    assert told.expected.split(", ")[0] == old
    assert "rewrite_data_files" in told.remedy or "rewrite_manifests" in told.remedy


def test_without_partitions_there_are_no_summaries_to_fail_on(tmp_path: Path) -> None:
    assert not direct.doctor(with_names(tmp_path / "t", "r508", "summary", spec=[])).findings


def test_the_inspector_shows_the_names(tmp_path: Path) -> None:
    table = direct.open_table(with_names(tmp_path / "t", "manifest_entry", "iceberg_schema"))
    (snapshot,) = table.metadata.snapshots
    path = table.manifests()[0]["manifest_path"]
    at = {"snapshot_id": snapshot.snapshot_id}
    of_list, of_manifest = (
        next(row for section in made for row in section.fields or () if row[0] == "names of Avro records")
        for made in (inspect_manifest_list(table, at), inspect_manifest(table, at | {"path": path}))
    )
    assert of_list[1:] == ("manifest_file, r508", "")
    assert of_manifest[1] == "iceberg_schema, r2, r102"
    assert of_manifest[2].startswith("⚠ Iceberg Java up to 1.6")
