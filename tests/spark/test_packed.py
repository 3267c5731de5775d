"""The teaching tables as they come packed against those that Spark builds here, and Spark on them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from explorer.lab import scenarios
from explorer.lab.scenarios import NAMESPACE, SCENARIOS, Scenario
from explorer.lab.scenarios.workshop import BUILDING, Workshop
from explorer.spark_engine.spark import SparkEngine
from explorer.storage.catalogs.sandbox_entries import SANDBOX
from tests.support import direct

ALL = os.environ.get("ICEDIVE_EVERY_TABLE") == "1"
SOME = {"position_deletes", "deletion_vectors", "equality_deletes", "partition_evolution", "branches_and_tags"}
BY_NAME = {s.name: s for s in SCENARIOS}


def shape(table: direct.Table) -> list[Any]:
    """What two builds of one table have in common: per snapshot its operation, its manifests with the statuses of their
    entries, and its rows."""
    told: list[Any] = []
    for snapshot in table.metadata.snapshots:
        entries = list(table.entries(snapshot.snapshot_id))
        manifests: dict[str, list[Any]] = {}
        for entry in entries:
            kept = (entry["status"], entry["content"], entry["record_count"], str(entry["partition"]))
            manifests.setdefault(entry["manifest_path"], []).append(kept)
        rows = sorted(str(sorted(row.items())) for row in table.rows(snapshot.snapshot_id))
        told.append((snapshot.operation, sorted(sorted(map(str, m)) for m in manifests.values()), rows))
    return [*told, sorted(r.name for r in table.metadata.refs), table.metadata.format_version]


@pytest.mark.parametrize("scenario", [s for s in SCENARIOS if ALL or s.name in SOME], ids=lambda s: s.name)
def test_packed_and_built_tables_are_alike(scenario: Scenario, sandbox: Path, engine: SparkEngine) -> None:
    name, spark = f"{scenario.name}_again", engine.session()
    spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {SANDBOX}.{BUILDING}")
    try:
        scenario.build(Workshop(engine, name, str(sandbox / "warehouse" / BUILDING / name)))
        built = shape(direct.open_table(f"{BUILDING}.{name}"))
    finally:
        spark.sql(f"DROP TABLE IF EXISTS {SANDBOX}.{BUILDING}.{name} PURGE")
    assert shape(direct.open_table(f"{NAMESPACE}.{scenario.name}")) == built


def assert_same(one: pa.Table, other: pa.Table) -> None:
    """Two tables have the same rows, in any order."""
    one = one.select(other.column_names).cast(other.schema)
    kept = [[str(row) for row in table.to_pylist()] for table in (one, other)]
    assert sorted(kept[0]) == sorted(kept[1])


@pytest.mark.parametrize("name", sorted(SOME | {"mixed_modes", "upgraded_v1", "hidden_partitioning"}))
def test_spark_reads_and_commits(name: str, engine: SparkEngine) -> None:
    copy, spark = scenarios.fresh_copy(name), engine.session()
    own = f"{SANDBOX}.{copy}"
    table = direct.open_table(copy)
    expected = table.rows().to_arrow()
    assert_same(spark.table(own).toArrow(), expected)
    first = spark.table(own).columns[0]
    spark.sql(f"INSERT INTO {own} SELECT * FROM {own}")
    assert spark.table(own).count() == 2 * expected.num_rows
    spark.sql(f"DELETE FROM {own} WHERE {first} = (SELECT max({first}) FROM {own})")
    spark.sql(f"CALL {SANDBOX}.system.rewrite_data_files(table => '{copy}', options => map('rewrite-all', 'true'))")
    spark.sql(
        f"CALL {SANDBOX}.system.expire_snapshots(table => '{copy}', older_than => TIMESTAMP '2999-01-01 00:00:00')"
    )
    assert spark.table(own).count() == direct.live_rows(direct.open_table(copy)).rows
    worse = [f for f in direct.doctor(copy, deep=True).findings if f.severity in ("fatal", "error")]
    assert not worse
