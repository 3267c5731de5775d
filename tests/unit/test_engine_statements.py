"""The statements of other engines than Spark, by `maintain all`. A real Trino runs its own in make test-readers."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from pyiceberg.catalog import load_catalog

from explorer.reports.maintenance_plan import plan_all
from explorer.spec.maintenance.all_procedures import NO_STATEMENT, MaintenancePlan
from explorer.spec.maintenance.engine_statements import OTHER_ENGINES, engine_table_name
from explorer.table import open_table
from tests.support import direct
from tests.support.small_tables import in_catalog, make_table, newest_metadata
from tests.unit.test_cli import run


def statements(plan: MaintenancePlan) -> dict[str, str]:
    return {line.operation: line.statement for line in plan.lines if line.statement}


def aged(tmp_path: Path, commits: int = 4) -> Path:
    """A table whose snapshots are a month old, but for the newest."""
    place = make_table(tmp_path, commits)
    for path in place.glob("metadata/*.metadata.json"):
        metadata = json.loads(path.read_text())
        for each in (*metadata.get("snapshots", ())[: commits - 1], *metadata.get("snapshot-log", ())[: commits - 1]):
            each["timestamp-ms"] -= 30 * 24 * 3600 * 1000
        path.write_text(json.dumps(metadata))
    return place


def test_pyiceberg_expires_what_iceberg_would_and_removes_no_file(tmp_path: Path) -> None:
    place = aged(tmp_path)
    catalog = load_catalog("small", **in_catalog(place))
    before = direct.open_table(str(place))
    plan = plan_all(before, statements="pyiceberg")
    [statement] = statements(plan).values()
    files = {*place.rglob("*.avro"), *place.rglob("*.parquet")}
    table = catalog.load_table("db.t")
    eval(statement, {"table": table})
    assert [s.snapshot_id for s in catalog.load_table("db.t").metadata.snapshots] == [
        before.metadata.snapshots[-1].snapshot_id
    ]
    assert files <= set(place.rglob("*"))
    [line] = [line for line in plan.lines if line.statement]
    assert "their files stay" in line.note


def test_a_statement_names_the_table_of_the_catalog(tmp_path: Path) -> None:
    place = make_table(tmp_path, 3)
    properties = in_catalog(place)
    plan = plan_all(open_table("db.t", catalog="small", properties=properties), statements="trino")
    assert statements(plan)["compact"] == "ALTER TABLE db.t EXECUTE optimize"
    assert "Trino's" in plan.words[-1]


def test_a_name_that_another_engine_reads_in_its_own_way_has_no_statement(tmp_path: Path) -> None:
    for parts in (("db", "T"), ("db", "a b"), ("a", "b", "c"), ("t",), ("db", 't"; DROP')):
        assert not engine_table_name(parts, is_lower=True)
    assert engine_table_name(("db", "T"), is_lower=False) == "db.T"
    place = make_table(tmp_path, 3)
    properties = in_catalog(place, table="Mixed")
    plan = plan_all(open_table("db.Mixed", catalog="small", properties=properties), statements="trino")
    assert not statements(plan)
    assert "Trino would read the table's name in another way" in plan.lines[0].why


def test_an_engine_that_cannot_read_the_table_has_no_statement(tmp_path: Path) -> None:
    plan = plan_all(direct.open_table(str(make_table(tmp_path, 3))), statements="athena")
    assert not statements(plan)
    assert "Athena reads only tables in s3://" in " ".join(plan.words)


def test_athena_goes_by_properties_of_its_own(tmp_path: Path) -> None:
    """Which are not those of Iceberg's policy."""
    metadata = direct.open_table(str(make_table(tmp_path, 1, vacuum_max_snapshot_age_seconds="60"))).metadata
    now = int(time.time() * 1000)
    has = OTHER_ENGINES["athena"].of("expire", metadata, now)
    assert has.statement == "VACUUM {table}"
    assert has.options == {"older_than": str(now - 60_000), "retain_last": "1"}
    assert OTHER_ENGINES["athena"].of("compact", metadata, now).options is None


def test_trino_takes_no_age_below_seven_days(tmp_path: Path) -> None:
    days = 24 * 3600 * 1000
    for age, written in ((None, "7d"), (days, "7d"), (10 * days, "10d"), (10 * days + 1, "864001s"), ("x", "7d")):
        policy = {} if age is None else {"history.expire.max-snapshot-age-ms": str(age)}
        metadata = direct.open_table(str(make_table(tmp_path / written / str(age), 1, **policy))).metadata
        assert f"'{written}'" in OTHER_ENGINES["trino"].of("expire", metadata, 0).statement


def test_what_the_doctor_finds_stops_every_engine(tmp_path: Path) -> None:
    """What removes files is refused, and what rewrites has a warning, for Trino as for Spark."""
    place = make_table(tmp_path, 4)
    newest = Path(newest_metadata(place))
    metadata = json.loads(newest.read_text())
    metadata["snapshots"][0]["timestamp-ms"] -= 1  # other metadata files say otherwise
    newest.write_text(json.dumps(metadata))
    plan = plan_all(direct.open_table(str(place)), statements="trino")
    lines = {line.operation: line for line in plan.lines}
    assert "snapshot-twice" in lines["expire"].refusal
    assert "snapshot-twice" in lines["remove-orphans"].refusal
    assert "snapshot-twice" in lines["compact"].warning
    assert set(statements(plan)) == {"compact"}  # which leaves no manifest to be rewritten


@pytest.mark.parametrize("engine", OTHER_ENGINES)
def test_each_engine_has_a_line_for_each_procedure(engine: str, tmp_path: Path) -> None:
    place = aged(tmp_path)
    plan = plan_all(direct.open_table(str(place)), statements=engine)  # type: ignore[arg-type]
    assert len(plan.lines) == 6
    for line in plan.lines:
        assert line.statement or line.why or line.refusal, line
        assert line.statement == "" or line.does != NO_STATEMENT
        assert "{" not in line.statement


def test_no_size_stands_for_no_limit(tmp_path: Path) -> None:
    told = run("maintain", "all", str(make_table(tmp_path, 1)), "--statements", "trino").output
    assert "Nothing would be rewritten" in told
    assert "PiB" not in told
    assert "max-file-group-size-bytes" not in told
