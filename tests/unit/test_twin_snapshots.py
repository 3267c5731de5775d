"""Two snapshots with one id (icelake-io/icelake#211), snapshots without a summary, and a column with field id 0
(apache/paimon#9012); tests/spark/test_summaries.py asks Spark."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from explorer.cli import main
from explorer.errors import NotFoundInTable
from tests.cases.mini import Table
from tests.support import direct


def twins(folder: Path) -> Path:
    """Two appends, both of which are snapshot 7: of one row, and of two."""
    table = Table(folder, [(1, "id", "long")])
    first = table.manifest("m1.avro", [(1, table.parquet("a.parquet", {"id": [1]}))], snapshot=7)
    table.snapshot("append", [first], sid=7, parent=None, list_name="one.avro")
    second = table.manifest("m2.avro", [(1, table.parquet("b.parquet", {"id": [2]}))], snapshot=7)
    table.snapshot("append", [first, second], sid=7, parent=None, list_name="two.avro")
    return folder


def test_the_second_of_two_snapshots_with_one_id(tmp_path: Path) -> None:
    path = twins(tmp_path / "t")
    table = direct.open_table(path)
    assert table.resolve("snapshot-1").snapshot is table.metadata.current_snapshot is table.metadata.snapshots[0]
    with pytest.raises(NotFoundInTable, match="snapshot-2 has the id 7, as snapshot-1 has"):
        table.diff("snapshot-1", "snapshot-2")
    history = CliRunner().invoke(main, ["history", "lineage", str(path)]).output
    assert "rollback" not in history
    assert "snapshot-2" in history
    assert history.count("[current]") == 1
    for command in ("count", "overview", "show", "history lineage"):
        result = CliRunner().invoke(main, [*command.split(), str(path)])
        assert "2 snapshots have the id 7, and answers are of the first of them" in result.output, command
        assert "rollback" not in result.output
    findings = direct.doctor(path).findings
    assert [(f.rule, f.refused) for f in findings if f.severity == "error"] == [("snapshot-twice", "table")], findings


@pytest.mark.parametrize(("deletes", "severity", "refused"), [(False, "warning", ""), (True, "error", "scan")])
def test_a_summary_is_missed_where_there_are_deletes(
    deletes: bool, severity: str, refused: str, tmp_path: Path
) -> None:
    findings = direct.doctor(without_summary(tmp_path / "t", deletes)).findings
    told = [f for f in findings if f.rule == "metadata-field"]
    assert {(f.severity, f.refused) for f in told if f.snapshots == (102,)} == (
        {(severity, refused)} if deletes else set()
    )
    assert {(f.severity, f.refused) for f in told if 101 in f.snapshots} == {("warning", "")}
    assert all("First mend" not in f.remedy and "an INSERT say" in f.remedy for f in told)


def without_summary(folder: Path, deletes: bool) -> Path:
    """A table of snapshots without a summary; the last may have a delete file."""
    table = Table(folder, [(1, "id", "long"), (2, "p", "string")], [(2, 1000, "p", "identity")])
    file = table.parquet("a.parquet", {"id": [1, 2], "p": ["x", "x"]}, partition={"p": "x"})
    table.append(file)
    if deletes:
        table.delta(deletes=[table.position_delete("d.parquet", [(file["file_path"], 0)], partition={"p": "x"})])
    for snapshot in table.md["snapshots"]:
        snapshot["summary"] = {}
    table.write()
    return folder


def test_field_id_0_is_allowed_and_told(tmp_path: Path) -> None:
    table = Table(tmp_path / "t", [(0, "id", "long"), (1, "name", "string")])
    table.append(table.parquet("a.parquet", {"id": [1], "name": ["a"]}))
    (told,) = direct.doctor(tmp_path / "t").findings
    assert (told.rule, told.severity, told.columns) == ("readers-differ", "info", ("id",))
    assert "Snowflake refuses the table (apache/paimon#9012)" in told.what
    assert told.remedy.startswith("Nothing in Spark mends it in place")
