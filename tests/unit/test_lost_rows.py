"""Compactions that lost rows, version 1 without its old fields, removed partition fields, and files that only a filter
excludes (apache/iceberg#2195, apache/iceberg-rust#1088, apache/iceberg#5637, apache/iceberg#8338)."""

from __future__ import annotations

from pathlib import Path

import pytest

from explorer.spec.doctor.findings import Finding
from tests.cases.mini import Table
from tests.support import direct
from tests.support.small_tables import edit_metadata, make_table

FIELDS = [(1, "id", "long"), (2, "p", "string")]


def compacted(folder: Path, kept: int, deleted: int = 0, equality: bool = False) -> Table:
    """A table of ten rows that a `replace` wrote anew, as so many; position deletes hid some before."""
    table = Table(folder, FIELDS)
    file = table.parquet("a.parquet", {"id": list(range(10)), "p": ["x"] * 10})
    table.append(file)
    if deleted:
        table.delta(deletes=[table.position_delete("d.parquet", [(file["file_path"], n) for n in range(deleted)])])
    if equality:
        table.delta(deletes=[table.equality_delete("e.parquet", {"id": [1]})])
    new = table.parquet("b.parquet", {"id": list(range(kept)), "p": ["x"] * kept})
    added = table.manifest(f"{table.uid()}-m0.avro", [(1, new)])
    gone = table.manifest(f"{table.uid()}-m1.avro", [(2, file, {"sequence_number": 1})])
    table.snapshot("replace", [added, gone], {})
    return table


def findings(table: Table | Path, rule: str) -> list[Finding]:
    folder = table if isinstance(table, Path) else table.folder
    return [f for f in direct.doctor(str(folder)).findings if f.rule == rule]


def test_a_replace_that_lost_rows_is_an_error(tmp_path: Path) -> None:
    [lost] = findings(compacted(tmp_path / "t", 7), "operation-contradicts")
    assert (lost.severity, lost.found, lost.expected) == ("error", 7, 10)
    assert "3 rows are lost" in lost.what
    assert "rollback_to_snapshot" in lost.remedy


def test_what_deletes_hid_is_not_lost(tmp_path: Path) -> None:
    assert findings(compacted(tmp_path / "a", 7, deleted=3), "operation-contradicts") == []
    [lost] = findings(compacted(tmp_path / "b", 5, deleted=3), "operation-contradicts")
    assert "at least 2 rows are lost" in lost.what
    assert findings(compacted(tmp_path / "c", 5, equality=True), "operation-contradicts") == []  # it may hide any


def test_rows_stay_lost_after_later_commits(tmp_path: Path) -> None:
    table = compacted(tmp_path / "t", 7)
    table.append(table.parquet("c.parquet", {"id": [50], "p": ["y"]}))
    [lost] = findings(table, "operation-contradicts")
    assert len(lost.snapshots) == 2
    assert "rollback_to_snapshot" in lost.remedy


@pytest.mark.parametrize(
    ("gone", "readers"),
    [("schema", "pyiceberg 0.12 cannot open it"), ("partition-spec", "iceberg-rust could not open it")],
)
def test_old_fields_of_version_1(gone: str, readers: str, tmp_path: Path) -> None:
    table = Table(tmp_path / "t", FIELDS, version=1)
    table.append(table.parquet("a.parquet", {"id": [1], "p": ["x"]}))

    def keep_one(data: dict[str, object]) -> None:
        data["schema"], data["partition-spec"] = data["schemas"][0], []  # type: ignore[index]
        del data[gone]

    [field] = findings(edit_metadata(Path(table.folder), keep_one), "metadata-field")
    assert (field.severity, field.refused) == ("warning", "")
    assert f"`{gone}`" in field.what
    assert readers in field.what
    assert "Any commit of Iceberg Java writes the field again" in field.remedy


def test_a_partition_field_that_was_removed_is_told(tmp_path: Path) -> None:
    table = Table(tmp_path / "t", FIELDS, [(1, 1000, "gone", "void")], version=1)
    table.append(table.parquet("a.parquet", {"id": [1], "p": ["x"]}))
    told = [f for f in findings(table, "readers-differ") if "void" in f.what]
    assert [f.severity for f in told] == ["info"]
    assert "removeField" in told[0].remedy


def test_a_lost_file_that_the_filter_excludes_does_not_refuse_the_answer(tmp_path: Path) -> None:
    folder = make_table(tmp_path, 3)
    table = direct.open_table(str(folder))
    excluded = table.plan("id = 0").files.read()
    skipped = [row["file_path"] for part in excluded for row in part.to_pylist() if row["verdict"] != "read"]
    Path(skipped[0].removeprefix("file://")).unlink()
    history = direct.open_table(str(folder)).row_history("id = 0")
    told = history.explain(history.metadata.current_snapshot)  # type: ignore[arg-type]
    assert [event.what for event in history.events] == ["appeared"]
    assert any("which a scan with this filter skips, cannot be read" in line for line in told)


def test_a_table_without_snapshots_names_the_look_at_files(tmp_path: Path) -> None:
    from explorer.render.doctor import render_report

    report = direct.doctor(str(make_table(tmp_path, commits=0)))
    assert "--files asks whether" in render_report(report)
