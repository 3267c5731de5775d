"""Troubles of a twenty-third round of public reports, on tables that are built here."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from explorer.render.plans import plan_lines
from explorer.render.text import clean
from explorer.reports.conflicts import explain_conflict
from explorer.reports.maintenance.previews import preview
from explorer.reports.maintenance_plan import plan_all
from explorer.spec.commits.commit_writers import writers_of
from tests.cases.mini import Table
from tests.support import direct
from tests.support.report_tables import found
from tests.unit.test_twentyfirst_reports import drop_snapshots
from tests.unit.test_writers import HOUR, written

JOB, OPERATOR = "00000000000000000000000000a1b2c3", "6e5f1f3a9d0c4b7f8a2d3c4b5e6f7081"


def padded_table(folder: Path, partitioned: bool = True) -> Path:
    """Bounds as Paimon writes them: NUL bytes follow the value, also in the manifest list's summaries."""
    table = Table(folder, [(1, "id", "long"), (2, "day", "string")])
    if partitioned:
        table.set_spec([(2, 1000, "day", "identity")])
    partition = {"partition": {"day": "2024-12-30"}} if partitioned else {}
    file = table.parquet("a.parquet", {"id": [1, 2], "day": ["2024-12-30"] * 2}, **partition)
    for name in ("lower_bounds", "upper_bounds"):
        file[name] = {field: value + b"\0" if field == 2 else value for field, value in file[name].items()}
    manifest = table.manifest("m0.avro", [(1, file)])
    for summary in manifest["partitions"] or ():
        summary.update({name: summary[name] + b"\0" for name in ("lower_bound", "upper_bound")})
    table.snapshot("append", [manifest])
    return folder


def test_bounds_that_end_in_nul_are_wrong_and_not_the_partition_value(tmp_path: Path) -> None:
    """apache/paimon#5007: neither the file nor the partition value is wrong, and no row has to be written by hand."""
    path = padded_table(tmp_path / "t")
    for deep in (False, True):
        assert not found(path, "partition-value", deep=deep)
        assert not found(path, "partition-summary", deep=deep)
        [one, *_] = found(path, "metrics-wrong", deep=deep)
        assert "ends in NUL bytes, and the partition value has none" in one.what
        assert "rewrite_data_files" in one.remedy
        assert "partition-summary" in {f.rule for f in one.explains}
    shown = clean(str(found(path, "metrics-wrong")[0].found))
    assert "2024-12-30␀" in shown
    assert "�" not in shown


def test_a_plan_tells_of_manifests_that_are_skipped_by_padded_bounds(tmp_path: Path) -> None:
    lines = [*plan_lines(direct.open_table(str(padded_table(tmp_path / "t"))).plan("day = '2024-12-30'"))]
    assert any(line.startswith("⚠ 1 manifest is skipped by bounds that end in NUL bytes") for line in lines)
    lines = [*plan_lines(direct.open_table(str(tmp_path / "t")).plan("id = 7"))]
    assert not any("NUL" in line for line in lines)


def test_bounds_of_other_columns_that_end_in_nul_are_looked_at_in_the_files(tmp_path: Path) -> None:
    path = padded_table(tmp_path / "t", partitioned=False)
    [one] = found(path, "value-suspect")
    assert "a bound of a text ends in NUL bytes" in one.what
    assert one.remedy.startswith("Run doctor --deep")
    assert not found(path, "value-suspect", deep=True)  # explained by what the files say
    assert "below its lower bound" in found(path, "metrics-wrong", deep=True)[0].what


def test_a_partition_value_that_bounds_contradict_is_looked_at_in_the_files_first(tmp_path: Path) -> None:
    table = Table(tmp_path / "t", [(1, "id", "long"), (2, "day", "string")])
    table.set_spec([(2, 1000, "day", "identity")])
    table.append(table.parquet("a.parquet", {"id": [1], "day": ["b"]}, partition={"day": "a"}))
    [one] = found(tmp_path / "t", "partition-value")
    assert one.remedy.startswith("Run doctor --deep")
    [one] = found(tmp_path / "t", "partition-value", deep=True)
    assert one.remedy.startswith("See which of the two is right")


def stopped_sink(folder: Path, last: int = 105) -> Path:
    """A Flink job that started again without its state: its sink drops checkpoints up to that of its former run."""
    table = Table(folder, [(1, "id", "long")])
    for checkpoint in (101, 102, 103, 104, last):
        summary = {
            "engine-name": "flink", "flink.job-id": JOB, "flink.operator-id": OPERATOR,
            "flink.max-committed-checkpoint-id": str(checkpoint),
        }  # fmt: skip
        file, before = table.parquet(f"{checkpoint}.parquet", {"id": [checkpoint]}), table.md["current-snapshot-id"]
        manifest = table.manifest(f"{checkpoint}-m0.avro", [(1, file)])
        table.snapshot("append", [*table.lists.get(before, []), manifest], {"added-data-files": "1", **summary})
    for checkpoint in (1, 2):
        file = table.parquet(f"new-{checkpoint}.parquet", {"id": [checkpoint]})
        name = f"{JOB}-{OPERATOR}-00000-0-{checkpoint}-{checkpoint:05d}.avro"
        table.manifest(name, [(1, file)], snapshot=0)
        for path in (table.local(file["file_path"]), table.folder / "metadata" / name):
            at = time.time() - 100 * 3600
            os.utime(path, (at, at))
    return folder


def test_checkpoints_that_flinks_sink_drops_are_told(tmp_path: Path) -> None:
    """apache/iceberg#18098."""
    path = stopped_sink(tmp_path / "t")
    [finding] = [
        f for f in direct.doctor(direct.open_table(str(path)), files=True).findings if f.rule == "orphan-files"
    ]
    for words in (
        f"2 manifests of Flink's job {JOB}",
        "checkpoints 1 to 2",
        "= 105",
        "started again without its state",
    ):
        assert words in finding.what


def test_a_stream_that_had_ended_drops_every_checkpoint(tmp_path: Path) -> None:
    """Flink's sink records the greatest number of all once its input has ended."""
    path = stopped_sink(tmp_path / "t", last=(1 << 63) - 1)
    told = direct.doctor(direct.open_table(str(path)), files=True).findings
    [finding] = [finding for finding in told if finding.rule == "orphan-files"]
    assert "= 9,223,372,036,854,775,807 (its stream had ended) of them" in finding.what


def test_all_maintenance_removes_no_rows_that_nobody_has_committed(tmp_path: Path) -> None:
    table = direct.open_table(str(stopped_sink(tmp_path / "t")))
    assert preview(table, "remove-orphans").call
    line = plan_all(table).lines[-1]
    assert (line.operation, line.does, line.statement) == ("remove-orphans", "must not be run", "")
    assert line.refusal.startswith("Look first: of these 2 data files")
    assert "icedive maintain preview TABLE remove-orphans" in line.refusal


def test_a_stream_that_has_stopped_is_told() -> None:
    times = [n * HOUR for n in (100, 101, 102, 103)]
    streams = [{"engine-name": "flink", "flink.max-committed-checkpoint-id": str(n)} for n in range(4)]
    assert not writers_of(written(streams, times)).events
    assert not writers_of(written(streams, times), 104 * HOUR).events
    [event] = writers_of(written(streams, times), 151 * HOUR).events
    assert (event.kind, event.snapshots) == ("stopped", ("snapshot-4",))
    assert "has committed nothing since 1970-01-05 07:00:00 UTC. It usually commits every 1 hour." in event.words
    batches = [{"engine-name": "spark", "app-name": "ours"}] * 4
    assert not writers_of(written(batches, times), 151 * HOUR).events


@pytest.mark.parametrize(("expired", "dropped", "told"), [(True, True, 1), (False, True, 0), (True, False, 0)])
def test_columns_that_a_manifests_header_lacks_are_told(
    expired: bool, dropped: bool, told: int, tmp_path: Path
) -> None:
    """ClickHouse/ClickHouse#113324: it goes by the header where the snapshot of an entry has expired."""
    tags = {"type": "list", "element-id": 5, "element": "string", "element-required": False}
    table = Table(tmp_path / "t", [(1, "id", "long"), (2, "legacy", "string"), (4, "tags", tags)])
    file = table.parquet("a.parquet", {"id": [1], "legacy": ["x"]})
    table.append(file)
    if dropped:
        table.set_schema([(1, "id", "long"), (4, "tags", tags)])
    own = 77 if expired else table.md["current-snapshot-id"]
    numbers = {"snapshot_id": own, "sequence_number": 1, "file_sequence_number": 1}
    table.snapshot("replace", [table.manifest("m1.avro", [(0, file, numbers)])])
    if expired:
        drop_snapshots(tmp_path / "t", {1})
    findings = [f for f in found(tmp_path / "t", "readers-differ") if "ClickHouse#113324" in f.what]
    assert len(findings) == told
    for one in findings:
        assert (one.severity, one.found) == ("info", "legacy")
        assert "rewrite_data_files" in one.remedy


def test_a_compaction_beside_equality_deletes_depends_on_its_sequence_number(tmp_path: Path) -> None:
    """trinodb/trino#25584."""
    table = Table(tmp_path / "t", [(1, "id", "long")])
    table.append(table.parquet("a.parquet", {"id": [1, 2]}))
    base = table.md["current-snapshot-id"]
    gone = table.manifest("gone.avro", [(1, table.equality_delete("eq.parquet", {"id": [2]}))], content=1)
    table.snapshot("delete", [*table.lists[base], gone])
    opened = direct.open_table(str(tmp_path / "t"))
    kept, lost = (
        explain_conflict(opened, base, "compaction", ["validateFromSnapshot", *more])
        for more in (["dataSequenceNumber"], [])
    )
    assert (kept.outcome, lost.outcome) == ("retry", "refused")
    assert "'Cannot commit, found new delete for replaced data file'" in " ".join(kept.notes)
    assert "It would commit if its rows kept their sequence number" in " ".join(lost.notes)


@pytest.mark.parametrize(("engine", "told"), [("flink", 1), ("spark", 0)])
def test_sinks_that_add_equality_deletes_are_told(engine: str, told: int) -> None:
    """apache/iceberg#10211: the table's modes are copy-on-write, and each commit adds deletes."""
    summary = {"engine-name": engine, "added-equality-delete-files": "2"}
    events = writers_of(written([summary, {**summary, "added-equality-delete-files": "0"}])).events
    assert len(events) == told
    for event in events:
        assert (event.kind, event.snapshots) == ("deletes", ("snapshot-1",))
        assert "added equality deletes in 1 of 2 commits" in event.words
