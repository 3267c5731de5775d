"""Troubles of a twentieth round of public reports, on tables that are built here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from explorer.cli import main
from explorer.render.plans import summary_lines
from explorer.reports.maintenance import preview
from explorer.reports.maintenance_plan import plan_all
from explorer.spec.commits.sink_positions import sink_positions
from explorer.spec.doctor.findings import Finding, RuleChoice
from explorer.spec.rows.duplicate_keys import _writer_words
from tests.cases.mini import Table
from tests.support import direct
from tests.support.report_tables import found
from tests.support.small_tables import make_table, newest_metadata

DAY_MS = 24 * 3600 * 1000


def edit(path: Path, change: Any) -> None:
    metadata = json.loads(path.read_text())
    change(metadata)
    path.write_text(json.dumps(metadata))


def test_a_summary_without_an_operation_is_no_fault_that_keeps_iceberg_out(tmp_path: Path) -> None:
    """duckdb/duckdb-iceberg#412: any commit writes the operation; going back would lose rows."""
    place = make_table(tmp_path, 2)
    for path in place.glob("metadata/*.metadata.json"):
        edit(path, lambda metadata: [s["summary"].pop("operation") for s in metadata.get("snapshots", ())[:1]])
    [finding] = found(str(place), "metadata-field")
    assert "DuckDB 1.3 refuses" in finding.what
    assert "Any commit of Iceberg Java writes the field again" in finding.remedy
    assert "register_table" not in finding.remedy


def test_no_finding_of_a_table_that_is_loaded_says_that_it_cannot_be(tmp_path: Path) -> None:
    """A law: of rules whose remedy is that of tables that Iceberg cannot load."""
    metadata = direct.open_table(str(make_table(tmp_path, 1))).metadata
    for severity in ("info", "warning"):
        finding = Finding("metadata-field", severity, "a field is odd", metadata.metadata_location)  # type: ignore[arg-type]
        [told] = RuleChoice().choose_findings([finding], "db.t", metadata)
        assert "cannot load" not in told.remedy, told
    refused = Finding("metadata-field", "error", "a field is odd", metadata.metadata_location, refused="table")
    [told] = RuleChoice().choose_findings([refused], "db.t", metadata)
    assert "cannot load" in told.remedy


def test_files_of_a_finding_that_are_not_named_are_counted(tmp_path: Path) -> None:
    """ClickHouse/ClickHouse#112414: five files, of which three were named."""
    table = Table(tmp_path / "t", [(1, "id", "int")])
    files = [table.parquet(f"{n}.parquet", {"id": [n]}) for n in range(5)]
    for file in files:
        file["null_value_counts"] = {1: 3}
    table.append(*files)
    shown = CliRunner().invoke(main, ["doctor", str(tmp_path / "t")]).output
    assert "and 2 more" in shown


def test_filters_skip_files_whose_nulls_are_as_many_as_their_values_alone(tmp_path: Path) -> None:
    """Iceberg Java: InclusiveMetricsEvaluator.containsNullsOnly."""
    table = Table(tmp_path / "t", [(1, "id", "int")])
    files = [table.parquet(f"{n}.parquet", {"id": [n]}) for n in range(2)]
    files[0]["null_value_counts"], files[1]["null_value_counts"] = {1: 2}, {1: 1}
    table.append(*files)
    skips = [f for f in found(str(tmp_path / "t"), "metrics-wrong") if "skip the file" in f.what]
    assert [f.count for f in skips] == [1]
    assert "1.parquet" in str(skips[0])


def test_a_commit_needs_a_file_for_each_partition(tmp_path: Path) -> None:
    """lakehq/sail#2563: eight tasks that write to each of twelve partitions, and one that writes to forty."""
    measured = {}
    for name, tasks, partitions in (("sail", 8, 12), ("one", 1, 40)):
        table = Table(tmp_path / name, [(1, "id", "int")], [(1, 1000, "id", "identity")],
                      properties={"write.target-file-size-bytes": "2000"})  # fmt: skip
        rows = [(task, part) for task in range(tasks) for part in range(partitions)]
        table.append(*(table.parquet(f"{t}-{p}.parquet", {"id": [p]}, partition={"id": p}) for t, p in rows))
        values = [m for s in direct.health(str(tmp_path / name)).sections for m in s.measures]
        measured[name] = next(m for m in values if m.id == "written-files")
    assert "to 12 partitions" in measured["sail"].words
    assert measured["sail"].value is not None
    assert measured["sail"].value > 1.5
    assert measured["one"].value == 1


def aged(place: Path, keys: dict[str, str]) -> None:
    """The first snapshots are a month old, and have a writer's position."""
    for path in place.glob("metadata/*.metadata.json"):

        def change(metadata: dict[str, Any]) -> None:
            snapshots = metadata.get("snapshots", ())
            for snapshot, entry in zip(snapshots, metadata.get("snapshot-log", ()), strict=False):
                if snapshot is not metadata["snapshots"][-1] or len(snapshots) < 3:
                    snapshot["timestamp-ms"] -= 30 * DAY_MS
                    entry["timestamp-ms"] -= 30 * DAY_MS
                    snapshot["summary"] |= keys

        edit(path, change)


@pytest.mark.parametrize(
    ("keys", "named"),
    [
        ({"flink.max-committed-checkpoint-id": "4", "flink.operator-id": "op"}, "Flink operator op"),
        ({"spark.sql.streaming.queryId": "q", "spark.sql.streaming.epochId": "1"}, "Spark stream q"),
        ({"kafka.connect.offsets.control.group": "{}"}, "Kafka Connect's sink"),
    ],
)  # fmt: skip
def test_an_expiry_that_takes_a_writers_last_position_warns(keys: dict[str, str], named: str, tmp_path: Path) -> None:
    """apache/iceberg#5846: a job restored afterwards commits its files again, or fails."""
    place = make_table(tmp_path, 3)
    aged(place, keys)
    table = direct.open_table(str(place))
    seen = preview(table, "expire")
    assert named in seen.warning
    older = seen.warning.partition("older_than=")[2].split()[0]
    assert not preview(table, "expire", options={"older_than": older}).warning
    [line] = [line for line in plan_all(table).lines if line.operation == "expire"]
    assert named in line.warning


def test_a_position_that_a_kept_snapshot_has_is_not_lost(tmp_path: Path) -> None:
    place = make_table(tmp_path, 3)
    keys = {"flink.max-committed-checkpoint-id": "4", "flink.operator-id": "op"}
    aged(place, keys)
    edit(Path(newest_metadata(place)), lambda metadata: metadata["snapshots"][-1]["summary"].update(keys))
    table = direct.open_table(str(newest_metadata(place)))
    assert [one.writer for one in sink_positions(table.metadata.snapshots)] == ["Flink operator op"]
    assert not preview(table, "expire").warning


def test_a_plan_says_that_no_file_has_bounds(tmp_path: Path) -> None:
    """ClickHouse/ClickHouse#112706: counts, and no bounds."""
    table = Table(tmp_path / "t", [(1, "key", "int")])
    files = [table.parquet(f"{n}.parquet", {"key": [n]}) for n in range(3)]
    for file in files:
        file["lower_bounds"] = file["upper_bounds"] = None
    table.append(*files)
    plan = direct.open_table(str(tmp_path / "t")).plan("key = 1")
    [line] = [line for line in summary_lines(plan) if "skipped by key" in line]
    assert "no file that is read has bounds of it" in line


def test_schemas_that_an_expiry_leaves_are_told_of(tmp_path: Path) -> None:
    """apache/iceberg#9734."""
    place = make_table(tmp_path, 1)

    def copies(metadata: dict[str, Any]) -> None:
        first = metadata["schemas"][0]
        metadata["schemas"] += [{**first, "schema-id": n} for n in range(1, 120)]

    edit(Path(newest_metadata(place)), copies)
    assert "has 120 schemas" in plan_all(direct.open_table(str(newest_metadata(place)))).beside


def test_a_lost_list_does_not_lead_to_the_removal_of_what_it_named(tmp_path: Path) -> None:
    """apache/iceberg#7137: the data files of the lost commit still lie in the folder."""
    place = make_table(tmp_path, 2)
    table = direct.open_table(str(place))
    current = table.metadata.current_snapshot
    assert current is not None
    Path(str(current.manifest_list).removeprefix("file://")).unlink()
    [finding] = found(str(place), "manifest-list-missing")
    assert "add_files brings their rows back" in finding.remedy
    assert "Do not run remove_orphan_files before" in finding.remedy


def test_keys_of_identifier_fields_are_said_not_to_be_enforced(tmp_path: Path) -> None:
    """apache/iceberg#10076: PRIMARY KEY without upsert."""
    place = make_table(tmp_path, 1)
    edit(Path(newest_metadata(place)), lambda metadata: metadata["schemas"][0].update({"identifier-field-ids": [1]}))
    metadata = direct.open_table(str(newest_metadata(place))).metadata
    words = _writer_words({"flink.job-id": "x"}, metadata)
    assert "identifier fields (id) are not enforced" in words
    assert "write.upsert.enabled=true" in words
