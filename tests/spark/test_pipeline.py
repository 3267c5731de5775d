"""What Spark's workers make of manifests is what this process makes of them."""

from __future__ import annotations

import json
import os
import pickle
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st

import explorer
from explorer.cli import main
from explorer.lab.scenarios import NAMESPACE, SCENARIOS
from explorer.queries.collection import Collection
from explorer.queries.metadata_tree import MetadataTree
from explorer.render.history import diff_json
from explorer.render.plans import plan_json
from explorer.render.row_views import delete_rows, row_diff_words
from explorer.reports.maintenance import runs
from explorer.reports.maintenance.procedure_calls import LOOKS, PROCEDURES
from explorer.spark_engine import engine_choice, file_rows, pipeline
from explorer.spark_engine.engine_choice import Engine
from explorer.spark_engine.spark import SparkEngine, shared_engine
from explorer.spec.entries.lazy_table import Batches
from explorer.spec.rows.row_diff import RowChanges
from explorer.storage.manifest_reader import ManifestReader
from explorer.storage.spill import deal_out
from tests.spark.test_laws import OPERATIONS, generated
from tests.support import direct
from tests.support.other_types import MISREAD, write_table
from tests.support.small_tables import make_table
from tests.unit.test_repeated_keys import upserted

EVERY = bool(os.environ.get("ICEDIVE_EVERY_SCENARIO"))
FEW = ["manifest_lifecycle", "equality_deletes", "deletion_vectors", "partition_evolution", "upgraded_v1"]
NAMES = [s.name for s in SCENARIOS] if EVERY else FEW


@pytest.fixture(autouse=True)
def embedded(engine: SparkEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    """The session of the tests is the one there is."""
    shared_engine.cache_clear()
    for module in ("table", "queries.collection", "queries.metadata_tree", "queries.row_diff"):
        monkeypatch.setattr(f"explorer.{module}.shared_engine", lambda: engine)


def in_any_order(rows: list[dict[str, Any]]) -> list[str]:
    return sorted(json.dumps(row, sort_keys=True) for row in rows)


def entries_are_the_same(table: direct.Table) -> None:
    """Entries in all three states, files and partitions of the last snapshot."""
    last = table.metadata.snapshots[-1].snapshot_id
    for view in ("stored", "inherited", "logical", "all"):
        ours, theirs = table.entries(last, view, True), table.entries(last, view, True, "spark")
        assert (theirs.columns, theirs.to_json()) == (ours.columns, ours.to_json())
    assert table.files(last, engine="spark").to_json() == table.files(last).to_json()
    both = (table.partitions(last), table.partitions(last, "spark"))
    assert in_any_order(both[0].to_json()) == in_any_order(both[1].to_json())
    assert not table.problems


@pytest.mark.parametrize("name", NAMES)
def test_entries_files_and_partitions_are_the_same(name: str, sandbox: Path) -> None:
    entries_are_the_same(direct.open_table(f"{NAMESPACE}.{name}"))


FILTERS = {"equality_deletes": "name = 'jack'", "deletion_vectors": "", "partition_evolution": "day(ts) = '2024-06-03'"}


def plans_are_the_same(table: direct.Table, where: str) -> None:
    """A plan with its files and tasks, and statistics of columns."""
    ours, theirs = (table.plan(where, engine=engine) for engine in ("local", "spark"))
    assert plan_json(theirs) == plan_json(ours)
    assert Collection(theirs.files, "files").to_json() == Collection(ours.files, "files").to_json()
    assert theirs.stages[0].left.files == ours.stages[0].left.files
    assert table.metrics(engine="spark") == table.metrics()
    assert table.clustering(engine="spark") == table.clustering()
    for column in ("", table.profile().to_json()[0]["column"]):
        assert table.profile(column, engine="spark").to_json() == table.profile(column).to_json()


@pytest.mark.parametrize("name", NAMES if EVERY else FILTERS)
def test_plans_and_statistics_are_the_same(name: str, sandbox: Path) -> None:
    plans_are_the_same(direct.open_table(f"{NAMESPACE}.{name}"), FILTERS.get(name, ""))


@pytest.mark.parametrize("name", ["manifest_lifecycle", "deletion_vectors", "long_history"])
def test_what_is_dealt_out_on_the_disk_is_the_same(name: str, sandbox: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every set of manifests is too large to be held."""
    table = direct.open_table(f"{NAMESPACE}.{name}")
    ids = [s.snapshot_id for s in table.metadata.snapshots[:: max(1, len(table.metadata.snapshots) // 5)]]

    def compared() -> list[Any]:
        return [table.lifecycle(), *(diff_json(table.diff(a, b)) for a in ids for b in ids)]

    held, numbers = compared(), list[int]()
    monkeypatch.setattr(MetadataTree, "at_once", 0.1)

    def counted(keys: Batches, key: str, number: float) -> Iterator[pa.Table]:
        numbers.append(int(number))
        return deal_out(keys, key, min(16, int(number)))

    monkeypatch.setattr("explorer.queries.metadata_tree.deal_out", counted)
    assert compared() == held
    assert max(numbers) > 8


CHANGED = [s.name for s in SCENARIOS] if EVERY else ["deletion_vectors"]
PREVIEWS = [*PROCEDURES, *LOOKS] if EVERY else ["compact", "rewrite-manifests", "expire"]


def told(seen: runs.Preview) -> list[Any]:
    """A preview without the moments that differ from one to the next."""
    rows = [{k: v for k, v in row.items() if k != "age"} for rows in seen.tables.values() for row in rows]
    return [[re.sub(r"\d{4}-\d\d-\d\d [\d:.]+ UTC", "", repr(part)) for part in some] for some in (seen.words, rows)]


def questions(table: direct.Table, engine: Engine) -> dict[str, Any]:
    """What is asked of a table beside its rows, as JSON has it."""
    ids = [s.snapshot_id for s in table.metadata.snapshots]
    ids = [ids[0], *ids]
    known = table.deletes(ids[-1], engine)
    return {
        "diffs": [
            diff_json(table.diff(a, b, engine)) for a, b in [(None, ids[-1]), (ids[-2], ids[-1]), (ids[-1], ids[0])]
        ],
        "lifecycle": table.lifecycle(engine),
        "commits": table.commits(engine=engine),
        "deletes": [
            list(delete_rows(known, None)),
            known.applying,
            known.dangling,
            [d.path for d in known.hit],
            known.costs[:],
        ],
        "file": table.file_life(table.files(ids[-1])[0]["file_path"], engine),
        "health": direct.health(table, engine=engine).to_json(),
        "doctor": direct.doctor(table, engine=engine).to_json(),
        "previews": [told(runs.preview(table, operation, engine=engine)) for operation in PREVIEWS],
    }


@pytest.mark.parametrize("name", CHANGED)
def test_what_changed_and_what_applies_are_the_same(name: str, sandbox: Path) -> None:
    ours, theirs = direct.open_table(f"{NAMESPACE}.{name}"), direct.open_table(f"{NAMESPACE}.{name}")
    told = questions(theirs, "spark")
    for what, answer in questions(ours, "local").items():
        assert told[what] == answer, what
    assert sorted(map(str, theirs.problems)) == sorted(map(str, ours.problems))


@settings(
    max_examples=40, phases=[Phase.explicit, Phase.generate] if EVERY else [Phase.explicit], deadline=None,
    derandomize=True, suppress_health_check=list(HealthCheck),
)  # fmt: skip
@given(
    st.lists(OPERATIONS, min_size=4, max_size=7), st.sampled_from([2, 3]),
    st.sampled_from(["copy-on-write", "merge-on-read"]),
)  # fmt: skip
@example(["append", "update", "evolve_spec", "append", "manifests", "delete", "rewrite", "delete"], 2, "merge-on-read")
def test_generated_tables_are_the_same(
    sandbox: Path, engine: SparkEngine, operations: list[str], version: int, mode: str
) -> None:
    with generated(sandbox, engine, operations, version, mode) as name:
        ours, theirs = direct.open_table(name), direct.open_table(name)
        entries_are_the_same(theirs)
        told = questions(theirs, "spark")
        for what, answer in questions(ours, "local").items():
            assert told[what] == answer, (what, operations)
        plans_are_the_same(theirs, "id > 2")
        rows_are_the_same(theirs, "")


ROWS = {"equality_deletes": "name = 'jack'", "deletion_vectors": "name > ''", "upgraded_v1": ""}


def rows_are_the_same(table: direct.Table, where: str) -> None:
    """The rows that differ between the first and the last snapshot, both ways, and the history of those that match."""
    first, last = table.metadata.snapshots[0].snapshot_id, table.metadata.snapshots[-1].snapshot_id
    for sides in ((first, last), (last, first), (None, last)):
        ours, theirs = (table.row_diff(*sides, engine=engine) for engine in ("local", "spark"))
        assert (ours.counts, ours.partitions, ours.files_read) == (theirs.counts, theirs.partitions, theirs.files_read)
        for kind in RowChanges.kinds():
            told = [getattr(diff.changes, kind).to_pylist() for diff in (ours, theirs)]
            assert sorted(map(repr, told[0])) == sorted(map(repr, told[1]))
    ours, theirs = (table.row_history(where, engine=engine) for engine in ("local", "spark"))
    assert list(map(repr, theirs.events)) == list(map(repr, ours.events))  # NaN is not NaN
    assert ours.events
    assert theirs.explain(table.resolve(last).snapshot) == ours.explain(table.resolve(last).snapshot)


@pytest.mark.parametrize("name", NAMES if EVERY else ROWS)
def test_rows_that_differ_and_their_fates_are_the_same(
    name: str, sandbox: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_rows, "A_DEAL", 2)  # so that several tasks compare
    rows_are_the_same(direct.open_table(f"{NAMESPACE}.{name}"), ROWS.get(name, ""))


def test_keys_of_several_rows_are_the_same(tmp_path: Path, sandbox: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_rows, "A_DEAL", 2)
    table = direct.open_table(str(upserted(tmp_path / "t")))
    for sides in (("snapshot-2", "snapshot-3"), (None, "snapshot-3")):
        for keys in (["id"], ["id", "v"], []):
            ours, theirs = (table.row_diff(*sides, keys, engine) for engine in ("local", "spark"))
            assert (theirs.repeated, theirs.counts) == (ours.repeated, ours.counts)
            assert (ours.repeated.number > 0) == bool(keys)


@pytest.mark.parametrize("mapped", [True, False, None])
def test_row_histories_of_misread_files_are_the_same(mapped: bool | None, sandbox: Path, tmp_path: Path) -> None:
    """Columns in another type than the spec's; files without field ids, with a name mapping and without."""
    entries = [{"field-id": 1, "names": ["id"]}, {"field-id": 2, "names": ["x"]}]
    properties = {"schema.name-mapping.default": json.dumps(entries)} if mapped else {}
    write_table(tmp_path / "t", MISREAD[0], ids=mapped is None, properties=properties)
    table = direct.open_table(str(tmp_path / "t"))
    for where in ("id = 1", "x = '2020-01-01'"):
        ours, theirs = (
            table.row_history(where, engine=engine).explain(table.metadata.snapshots[-1])
            for engine in ("local", "spark")
        )
        assert any("Spark does not return" in line or "Spark may show" in line for line in ours)
        assert ("name mapping" in " ".join(ours)) == (mapped is True)
        assert theirs == ours


def test_many_rows_are_counted_and_some_are_shown(
    sandbox: Path, monkeypatch: pytest.MonkeyPatch, engine: SparkEngine
) -> None:
    table = direct.open_table(f"{NAMESPACE}.three_inserts")
    monkeypatch.setattr(file_rows, "SHOWN", 1)
    monkeypatch.setattr(engine_choice, "UNPACKED", 1 << 40)  # so that Spark is chosen
    found = table.row_diff(None, "main")
    assert (found.changes.inserted.num_rows, found.counts["inserted"]) == (1, 3)
    assert "1 of them came back of Spark" in row_diff_words(found)
    assert "beyond the memory limit" in found.engine_note


def test_in_any_cut_of_the_work(sandbox: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = direct.open_table(f"{NAMESPACE}.long_history")
    ours, sums = table.entries().to_json(), in_any_order(table.partitions().to_json())
    other = direct.open_table(f"{NAMESPACE}.manifest_lifecycle")
    changed, lives = other.diff("snapshot-1", None), other.lifecycle()
    for task, job, deal in ((1, 1 << 30, 2), (1 << 30, 20_000, 1 << 30)):
        monkeypatch.setattr(pipeline, "A_TASK", task)
        monkeypatch.setattr(pipeline, "A_JOB", job)
        monkeypatch.setattr(pipeline, "A_DEAL", deal)
        assert other.diff("snapshot-1", None, "spark") == changed
        assert other.lifecycle("spark") == lives
        assert table.entries(engine="spark").to_json() == ours
        assert in_any_order(table.partitions(engine="spark").to_json()) == sums


def test_the_three_states_as_views(sandbox: Path, engine: SparkEngine) -> None:
    table = direct.open_table(f"{NAMESPACE}.manifest_lifecycle")
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
    whole = direct.open_table(str(folder))
    manifests = [m.manifest_path for m in whole.tree.manifests(whole.metadata.current_snapshot)]
    broken = Path(manifests[1].removeprefix("file://"))
    broken.write_bytes(broken.read_bytes()[:40])
    ours, theirs = direct.open_table(str(folder)), direct.open_table(str(folder))
    assert theirs.entries(engine="spark").to_json() == ours.entries().to_json()
    assert len(ours.entries()) == 2
    assert [str(p) for p in theirs.problems] == [str(p) for p in ours.problems]
    assert str(broken) in str(theirs.problems[0])
    assert theirs.tree.lacks == ours.tree.lacks
    assert broken.name in theirs.tree.lacks
    with pytest.raises(explorer.NotFoundInTable, match="no engine 'flink'"):
        whole.entries(engine="flink")  # type: ignore[arg-type]


def test_a_storage_goes_to_a_worker_with_its_bounds(tmp_path: Path) -> None:
    table = direct.open_table(str(make_table(tmp_path / "t", commits=1)))
    again = pickle.loads(pickle.dumps(table.reader.storage))
    assert (again.roots, again.moved) == (table.reader.storage.roots, table.reader.storage.moved)
    outside = tmp_path / "other.avro"
    outside.write_bytes(b"x")
    [manifest] = table.tree.manifests(table.metadata.current_snapshot)
    assert ManifestReader(again).entries(manifest).value.num_rows == 1
    with pytest.raises(explorer.AccessRefused):
        again.check(str(outside))


def test_on_the_command_line(sandbox: Path) -> None:
    table = f"{NAMESPACE}.equality_deletes"
    ask = ["inspect", "entries", table, "-o", "json", "--columns", "file_path,logical_status"]
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
