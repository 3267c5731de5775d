"""What Spark's workers make of manifests is what this process makes of them."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import explorer
from explorer.cli import main
from explorer.collection import Collection
from explorer.engines import pipeline
from explorer.engines.spark import SparkEngine, shared_engine
from explorer.io.manifest_reader import ManifestReader
from explorer.scenarios import NAMESPACE
from explorer.views.plans import plan_object
from tests.unit.small import make_table

NAMES = ("manifest_lifecycle", "equality_deletes", "deletion_vectors", "partition_evolution", "upgraded_v1")


@pytest.fixture(autouse=True)
def embedded(engine: SparkEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    """The session of the tests is the one there is."""
    shared_engine.cache_clear()
    monkeypatch.setattr("explorer.table.shared_engine", lambda: engine)
    monkeypatch.setattr("explorer.collection.shared_engine", lambda: engine)


def in_any_order(rows: list[dict[str, Any]]) -> list[str]:
    return sorted(json.dumps(row, sort_keys=True) for row in rows)


@pytest.mark.parametrize("name", NAMES)
def test_entries_files_and_partitions_are_the_same(name: str, sandbox: Path) -> None:
    table = explorer.open_table(f"{NAMESPACE}.{name}")
    last = table.metadata.snapshots[-1].snapshot_id
    for view in ("stored", "inherited", "logical", "all"):
        ours, theirs = table.entries(last, view, True), table.entries(last, view, True, "spark")
        assert (theirs.columns, theirs.to_json()) == (ours.columns, ours.to_json())
    assert table.files(last, engine="spark").to_json() == table.files(last).to_json()
    both = (table.partitions(last), table.partitions(last, "spark"))
    assert in_any_order(both[0].to_json()) == in_any_order(both[1].to_json())
    assert not table.problems


FILTERS = {"equality_deletes": "name = 'jack'", "deletion_vectors": "", "partition_evolution": "day(ts) = '2024-06-03'"}


@pytest.mark.parametrize("name", FILTERS)
def test_plans_and_statistics_are_the_same(name: str, sandbox: Path) -> None:
    table = explorer.open_table(f"{NAMESPACE}.{name}")
    ours, theirs = (table.plan(FILTERS[name], engine=engine) for engine in ("local", "spark"))
    assert plan_object(theirs) == plan_object(ours)
    assert Collection(theirs.files, "files").to_json() == Collection(ours.files, "files").to_json()
    assert theirs.left.files
    assert table.metrics(engine="spark") == table.metrics()
    assert table.clustering(engine="spark") == table.clustering()


def test_in_any_cut_of_the_work(sandbox: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = explorer.open_table(f"{NAMESPACE}.long_history")
    ours, sums = table.entries().to_json(), in_any_order(table.partitions().to_json())
    for task, job in ((1, 1 << 30), (1 << 30, 20_000)):
        monkeypatch.setattr(pipeline, "A_TASK", task)
        monkeypatch.setattr(pipeline, "A_JOB", job)
        assert table.entries(engine="spark").to_json() == ours
        assert in_any_order(table.partitions(engine="spark").to_json()) == sums


def test_the_three_states_as_views(sandbox: Path, engine: SparkEngine) -> None:
    table = explorer.open_table(f"{NAMESPACE}.manifest_lifecycle")
    spark = engine.session().newSession()
    assert explorer.metadata_view(spark, table) == [
        f"manifest_lifecycle_{state}" for state in ("stored", "inherited", "logical")
    ]
    told = spark.sql(
        "SELECT logical_status, count(*) AS n FROM manifest_lifecycle_logical GROUP BY ALL ORDER BY ALL"
    ).collect()
    ours: dict[str | None, int] = {}
    for row in table.entries():
        ours[row["logical_status"]] = ours.get(row["logical_status"], 0) + 1
    assert {row["logical_status"]: row["n"] for row in told} == ours
    inherited = spark.sql("SELECT count(*) AS n FROM manifest_lifecycle_inherited WHERE sequence_number IS NULL")
    assert inherited.collect()[0]["n"] == 0
    assert table.snapshots.to_spark(spark).count() == len(table.snapshots)
    chosen = [rows.select("record_count > 1").to_json() for rows in (table.entries(), table.entries(engine="spark"))]
    assert chosen[0] == chosen[1]


def test_what_a_worker_cannot_read_is_a_problem(tmp_path: Path, engine: SparkEngine) -> None:
    folder = make_table(tmp_path / "t", commits=3)
    whole = explorer.open_table(str(folder))
    manifests = [m.manifest_path for m in whole.tree.manifests(whole.metadata.current_snapshot)]
    broken = Path(manifests[1].removeprefix("file://"))
    broken.write_bytes(broken.read_bytes()[:40])
    ours, theirs = explorer.open_table(str(folder)), explorer.open_table(str(folder))
    assert theirs.entries(engine="spark").to_json() == ours.entries().to_json()
    assert len(ours.entries()) == 2
    assert [str(p) for p in theirs.problems] == [str(p) for p in ours.problems]
    assert str(broken) in str(theirs.problems[0])
    with pytest.raises(explorer.NotFoundInTable, match="no engine 'flink'"):
        whole.entries(engine="flink")  # type: ignore[arg-type]


def test_a_storage_goes_to_a_worker_with_its_bounds(tmp_path: Path) -> None:
    table = explorer.open_table(str(make_table(tmp_path / "t", commits=1)))
    again = pickle.loads(pickle.dumps(table.reader.storage))
    assert (again.roots, again.moved) == (table.reader.storage.roots, table.reader.storage.moved)
    outside = tmp_path / "other.avro"
    outside.write_bytes(b"x")
    [manifest] = table.tree.manifests(table.metadata.current_snapshot)
    assert ManifestReader(again).entries(manifest).value.num_rows == 1
    with pytest.raises(explorer.AccessRefused):
        again.check(str(outside))


def test_on_the_command_line(sandbox: Path) -> None:
    ask = ["entries", f"{NAMESPACE}.equality_deletes", "-o", "json", "--columns", "file_path,logical_status"]
    ours, theirs = (CliRunner().invoke(main, [*ask, "--engine", engine]) for engine in ("local", "spark"))
    assert theirs.exit_code == 0, theirs.output
    assert json.loads(theirs.stdout) == json.loads(ours.stdout)


def test_a_process_has_one_master(engine: SparkEngine) -> None:
    master = engine.session().sparkContext.master
    with pytest.raises(
        explorer.EngineError, match=r"has Spark on local.*: stop it before it has another spark://there:7077"
    ):
        SparkEngine(master="spark://there:7077").session()
    assert SparkEngine(master=master).session().sparkContext is engine.session().sparkContext
