"""Troubles of a twenty-second round of public reports, on tables that are built here."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from explorer.reports.readers import find_readers
from explorer.spec.doctor.rules import BY_ID
from explorer.spec.layout.bound_advice import _escaped
from explorer.spec.readers.reader_faults import NOT_READ, WRONG_RESULTS
from tests.cases.mini import Table
from tests.robustness.editing import edit_avro
from tests.support import direct
from tests.support.report_tables import found
from tests.support.small_tables import make_table
from tests.unit.test_cli import run
from tests.unit.test_doctor import current
from tests.unit.test_twentyfirst_reports import drop_snapshots


def spark_answer(path: Path) -> str:
    readers = find_readers(direct.open_table(str(path)))
    return next(verdict.answer for verdict in readers.verdicts if verdict.reader.id == "spark")


def test_spark_is_not_said_to_read_what_it_loses(tmp_path: Path) -> None:
    """duckdb/duckdb-iceberg#1047: a summary excludes a file; ClickHouse/ClickHouse#118942: wrong counts."""
    table = Table(tmp_path / "a", [(1, "id", "int"), (2, "p", "string")])
    table.set_spec([(2, 1000, "p", "identity")])
    table.append(table.parquet("a.parquet", {"id": [1], "p": ["north"]}, partition={"p": "north"}))
    assert spark_answer(tmp_path / "a") == "yes"
    [manifest_list] = (tmp_path / "a" / "metadata").glob("snap-*.avro")
    edit_avro(manifest_list, lambda records: records[0]["partitions"][0].update(upper_bound=b"nor"))
    assert found(tmp_path / "a", "partition-summary")
    assert spark_answer(tmp_path / "a") == "wrong"
    counted = make_table(tmp_path / "b")
    edit_avro(current(counted)[1][0], lambda records: records[0]["data_file"].update(record_count=30))
    assert found(counted, "metrics-wrong")
    assert spark_answer(counted) == "wrong"


def test_rules_of_wrong_results_are_errors_that_readers_meet() -> None:
    assert not WRONG_RESULTS & NOT_READ
    assert {BY_ID[rule].severity for rule in WRONG_RESULTS} <= {"error", "fatal"}


@pytest.mark.parametrize("nested", [True, False])
def test_fields_of_structs_have_no_place(nested: bool, tmp_path: Path) -> None:
    """apache/iceberg#11214: Java goes by places for top-level columns alone."""
    struct = {"type": "struct", "fields": [{"id": 3, "name": "city", "required": False, "type": "string"}]}
    fields = [(1, "id", "int"), (2, "address", struct)] if nested else [(1, "id", "int")]
    table = Table(tmp_path / "t", fields)
    data = table.parquet("a.parquet", {"id": [1]}, ids=False)
    file = tmp_path / "t" / "data" / "a.parquet"
    if nested:
        pq.write_table(pa.table({"id": pa.array([1], pa.int32()), "address": [{"city": "Ulm"}]}), file)
    table.append({**data, "file_size_in_bytes": file.stat().st_size})
    [finding] = found(tmp_path / "t", "field-ids-absent", deep=True)
    assert finding.severity == ("error" if nested else "warning")
    assert ("finds nothing in structs, lists and maps by places: null (address)" in finding.what) == nested


def test_a_manifest_of_version_1_is_told(tmp_path: Path) -> None:
    """apache/iceberg#13667: add_files of Iceberg 1.9 wrote such manifests."""
    table = Table(tmp_path / "t", [(1, "id", "int")])
    manifest = table.manifest("m0.avro", [(1, table.parquet("a.parquet", {"id": [1]}))], header={"format-version": "1"})
    table.snapshot("append", [manifest])
    [finding] = found(tmp_path / "t", "readers-differ")
    assert (finding.severity, finding.found, finding.expected) == ("info", 1, 2)
    assert "maintain preview TABLE rewrite-manifests" in finding.remedy
    table = Table(tmp_path / "one", [(1, "id", "int")], version=1)
    table.append(table.parquet("a.parquet", {"id": [1]}))
    assert found(tmp_path / "one", "readers-differ") == []


def test_a_commit_whose_history_is_gone_is_told_why_it_is_refused(tmp_path: Path) -> None:
    """apache/iceberg#13972."""
    place = make_table(tmp_path, 4)
    ids = [str(s.snapshot_id) for s in direct.open_table(str(place)).metadata.snapshots]
    drop_snapshots(place, {2})
    for base in (ids[0], ids[1]):
        told = run("check", "conflict", str(place), base, "compaction")
        assert told.exit_code == 1
        assert "Cannot determine history between starting snapshot" in told.output
        assert "history.expire.max-snapshot-age-ms" in told.output
    assert run("check", "conflict", str(place), ids[2], "compaction").exit_code == 0


def test_all_files_of_a_commit_are_gone(tmp_path: Path) -> None:
    """trinodb/trino#26853: the clean-up of a commit that landed."""
    place = make_table(tmp_path, 3)
    manifest_list, manifests = current(place)
    before = {str(m) for m in manifests[1:]}
    manifest_list.unlink()
    assert not any("removed all that it wrote" in f.what for f in found(place, "manifest-list-missing"))
    newest = [m for m in manifests if str(m) not in before]
    for manifest in newest:
        manifest.unlink()
    [finding] = found(place, "manifest-list-missing")
    assert "a writer that took the commit for failed may have removed all that it wrote" in finding.what


def test_names_that_avro_does_not_allow() -> None:
    """apache/iceberg#11950."""
    assert "Iceberg up to 1.7 may take no statistics of $event_time" in _escaped("$event_time")
    assert _escaped("event_time") == _escaped("a.b") == ""
