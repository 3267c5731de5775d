"""What the doctor finds in the tables of tests/cases: exactly this, with `--deep`."""

from __future__ import annotations

from pathlib import Path

import pytest

from explorer.render.doctor import ShownReport
from explorer.spec.snapshots.lifecycle import matrix
from tests.cases import build_case
from tests.support import direct

Row = tuple[str, str, str, str]
"""Rule, severity, node, and what Spark is kept from."""
EXPECTED: dict[str, set[Row]] = {
    "01": {("file-twice", "error", "manifest", "")},
    "02": {("file-twice", "error", "manifest", "")},
    "04": {("manifest-list-missing", "fatal", "manifest_list", "scan")},
    "05": {("manifest-missing", "fatal", "manifest", "scan")},
    "07": {("field-ids-absent", "warning", "file a.parquet", "")},
    "10": {("metadata-fork", "warning", "metadata", "")},
    "12": {("delete-dropped", "error", "file compacted.parquet", "")},
    "13": {("delete-misplaced", "warning", "file e.parquet", "")},
    "14": {("delete-misplaced", "warning", "file e.parquet", "")},
    "15": {("delete-partition", "error", "manifest", "scan")},
    "16": {("partition-summary", "error", "manifest", "")},
    "18": {("metrics-wrong", "error", "manifest", "")},
    "20": {("readers-differ", "warning", "manifest", "")},
    "21": {("metrics-wrong", "error", "manifest", "part")},
    "22": {
        ("metrics-wrong", "warning", "manifest", ""),
        ("readers-differ", "info", "manifest", ""),
        ("readers-differ", "info", "file", ""),
    },
    "26": {("readers-differ", "warning", "metadata", "part")},
    "27": {("metrics-wrong", "error", "manifest", "scan")},
    "30": {("sequence-twice", "error", "snapshot 102", "")},
    "33": {("readers-differ", "info", "file", ""), ("value-suspect", "warning", "manifest", "")},
    "35": {("partition-value", "error", "manifest", "")},
    "45": {("commit-cut-off", "warning", "snapshot 103", "")},
    "52": {("partition-field-conflict", "error", "metadata", "scan"), ("readers-differ", "info", "file", "")},
    "54": set(),
    "60": {("avro-schema", "warning", "manifest", "")},
    "61": {("avro-schema", "warning", "manifest", "")},
    "64": {("metrics-wrong", "error", "file p.parquet", "")},
}
WORDS = {
    "01": "snapshot 103 added a file again that snapshot 102 had added (with the same size and rows)",
    "04": "snap-102-2-",
    "05": "1 data file with 1 row",
    "07": "they are read by their places, as Iceberg Java does",
    "10": "is a second version 3, with snapshot 777",
    "12": "compacted.parquet",
    "13": "region=us",
    "14": "ts_day=null",
    "15": "Iceberg Java 1.12 refuses the scan",
    "16": "columns ts_day, id_bucket",
    "18": "columns id, amount",
    "20": "pyiceberg and DuckDB skip the file",
    "21": "cut inside a character",
    "26": "Spark 4.1 and pyiceberg 0.12 cannot read it",
    "27": "3 times",
    "30": "the sequence number 2 was given to 2 snapshots",
    "33": "__HIVE_DEFAULT_PARTITION__",
    "35": "wrapped round",
    "45": "3 data files of that went",
    "52": "the id 1, which manifest entries have themselves",
    "60": "its header lacks schema, partition-spec",
    "61": "`partition` may be null",
    "64": "readers skip it",
}


def node_of(report: ShownReport, rows: set[Row]) -> set[Row]:
    """Each finding as a row, as exact about its node as the row that is expected."""
    exact = {node.split()[0] for _, _, node, _ in rows if " " in node}
    found = set()
    for f in report.findings:
        kind, name = f.node or ("", "")
        node = f"{kind} {str(name).rpartition('/')[2]}" if kind in exact else kind
        found.add((f.rule, f.severity, node, f.refused))
    return found


@pytest.mark.parametrize("number", EXPECTED)
def test_a_case_has_exactly_the_findings_it_should(number: str, tmp_path: Path) -> None:
    report = direct.doctor(str(build_case(number, tmp_path)), deep=True)
    assert node_of(report, EXPECTED[number]) == EXPECTED[number], report
    rules = 2 if number == "02" else len(EXPECTED[number])  # two facts of two snapshots
    assert len(report.findings) == rules, report
    assert WORDS.get(number, "") in repr(report)
    lost = number in ("04", "05", "10")  # nobody knows which files are orphans
    assert len(report.not_checked) == lost, report.not_checked


def test_signs_are_found_without_reading_data(tmp_path: Path) -> None:
    quick = {"10", "12", "13", "14", "15", "20", "21", "22", "26", "30", "33", "45", "52", "60", "61"}
    for number in sorted(quick):
        report = direct.doctor(str(build_case(number, tmp_path)))
        deeper = ("readers-differ", "info", "file", "")
        expected = {row for row in EXPECTED[number] if row[0] != "orphan-files" and row != deeper}
        assert node_of(report, expected) == expected, report


def test_manifests_of_other_writers_have_names_of_their_own(tmp_path: Path) -> None:
    """ClickHouse, DuckDB and BigQuery give each manifest of a commit a UUID of its own."""
    table = direct.open_table(str(build_case("54", tmp_path)))
    rows, _, cells = matrix(table.lifecycle())
    assert rows == ["manifest-1~0007", "manifest-1~0008", "manifest-1~0009", "manifest-2~0046", "manifest-2~0047"]
    assert sum(cell.state == "created" for cell in cells.values()) == 5
    step = table.step()
    assert step is not None
    assert "manifest-2~0046 with 1 data file" in step.words
    assert "manifest-2~0047 with 1 delete file" in step.words
    drawn = [node.label for node in table.graph().nodes if node.kind.endswith("manifest")]
    assert len(drawn) == len(set(drawn)) == 5
