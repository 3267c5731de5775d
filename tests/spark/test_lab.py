"""The lab's commits are Iceberg's: figure 4, conflicts, replays, every pair of the catalogue stepped and un-stepped, and predictions."""

from __future__ import annotations

from pathlib import Path

import pytest

import explorer
from explorer.conflicts import explain_conflict
from explorer.engines.spark import SparkEngine
from explorer.errors import AccessRefused, EngineError, NotFoundInTable
from explorer.lab.catalogue import operations, predicted
from explorer.lab.interleave import interleave, orders, outcome, serial_rows
from explorer.lab.observe import observe
from explorer.lab.operations import KINDS, Operation
from explorer.lab.stepper import Bench, Run, replay
from explorer.scenarios import fresh_copy


@pytest.fixture(scope="module")
def bench(sandbox: Path, engine: SparkEngine) -> Bench:
    return Bench(engine)


def trace(run: Run) -> list[tuple[str, str, str]]:
    return [(e.writer, e.step, e.outcome) for e in run.events]


def test_figure_4_two_writers_from_one_base(bench: Bench) -> None:
    run = Run(bench, [Operation("append"), Operation("append")])
    run.play("AABBABABAB")
    assert trace(run)[-5:] == [
        ("A", "swap", "committed"),
        ("B", "swap", "lost"),
        ("B", "apply", "ok"),
        ("B", "metadata", "ok"),
        ("B", "swap", "committed"),
    ]
    assert len(run.rows()) == 5
    assert [s.operation for s in run.table().metadata.snapshots] == ["append"] * 3
    first, second = run.writers
    assert first.left_behind == []
    assert sum(f.endswith(".metadata.json") for f in second.left_behind) == 1  # of the attempt whose swap was lost
    by_step = {(e.writer, e.step): e.files for e in run.events[:9]}
    assert by_step[("A", "write")][0].startswith("data/p=a/A-data")
    assert [f.rsplit("-", 1)[-1].split(".", 1)[-1] for f in by_step[("A", "apply")]] == ["avro", "avro"]  # a manifest, then the list
    with pytest.raises(EngineError, match="it has no step left"):
        run.step("A")


def test_compaction_against_a_row_delta_is_refused(bench: Bench) -> None:
    run = Run(bench, [Operation("compaction"), Operation("mor-delete")])
    run.play("AABBBBB")
    assert trace(run)[-1] == ("A", "apply", "refused")
    assert "found new position delete for replaced data file" in run.events[-1].error
    assert [r[0] for r in run.rows()] == [2, 3]
    assert [f.split("/")[-1][:6] for f in run.writers[0].left_behind] == ["A-data"]  # an orphan


def test_a_saved_run_plays_again(bench: Bench) -> None:
    run = Run(bench, [Operation("cow-update"), Operation("mor-delete", "snapshot")])
    run.play("ABABABABAB")
    again = replay(bench, run.to_json())
    assert trace(again) == trace(run)
    assert again.rows() == run.rows()
    for bad in ("no json", "{}", '{"operations": [{"kind": "x", "isolation": "y"}], "order": []}'):
        with pytest.raises(NotFoundInTable):
            replay(bench, bad)


def test_the_kept_anomaly_shows_again(bench: Bench) -> None:
    """Snapshot isolation lets a merge-on-read DELETE miss the new version that an UPDATE wrote meanwhile."""
    saved = Path(__file__).parents[2] / "docs" / "replays" / "resurrected-row.json"
    run = replay(bench, saved.read_text())
    assert [w.state for w in run.writers] == ["committed", "committed"]
    found = outcome(run, "", serial_rows(bench, [w.operation for w in run.writers]))
    assert (found.serial, found.anomaly) == ((), "resurrected rows")


PAIRS = [(late, Operation(early)) for late in operations() for early in KINDS]


@pytest.mark.parametrize(("late", "early"), PAIRS, ids=lambda o: f"{o.kind}-{o.isolation[:4]}")
def test_every_pair_is_predicted_and_equals_the_unstepped_commit(late: Operation, early: Operation, bench: Bench) -> None:
    """B commits between A's base and A's commit. A's outcome is predicted from metadata, taken step by step, and compared with what
    Iceberg's own commit() makes of the same."""
    run = Run(bench, [late, early])
    for _ in range(3):
        run.step("A")
    while not run.writer("B").over:
        run.step("B")
    decision = predicted(run, run.table())
    run.play("")
    state = run.writer("A").state
    lost = any(e.writer == "A" and e.outcome == "lost" for e in run.events)
    assert decision.outcome == ("refused" if state == "refused" else "retry" if lost else "commit"), (decision.words, run.events[-1].words)

    whole = Run(bench, [late, early])
    for name in ("A", "A", "B", "B"):
        whole.step(name)
    pending = [w.plan.pending for w in whole.writers if w.plan]
    pending[1].commit()
    try:
        pending[0].commit()
        refused = False
    except Exception as error:
        assert "ValidationException" in str(error)
        refused = True
    assert refused == (state == "refused")
    assert whole.rows() == run.rows()
    bench.drop(run.name)
    bench.drop(whole.name)


def test_all_orders_of_two_operations(bench: Bench) -> None:
    assert len(list(orders(2))) == 20
    seen = []
    found = interleave(bench, [Operation("mor-update"), Operation("compaction")], lambda done, total: seen.append((done, total)))
    assert seen[-1] == (20, 20)
    assert found.summary() == {"committed, refused": 9, "refused, committed": 9, "committed, committed": 2}
    assert all(o.serial for o in found.outcomes)
    stopped = interleave(bench, [Operation("append"), Operation("append")], cancelled=lambda: True)
    assert stopped.outcomes == ()
    with pytest.raises(NotFoundInTable, match="at least two"):
        interleave(bench, [Operation("append")])


def test_explain_conflict_of_a_real_table(sandbox: Path) -> None:
    table = explorer.open_table("demo.equality_deletes")
    update = Operation("mor-update").validations
    found = explain_conflict(table, "snapshot-1", "mor-update", update, "name = 'jack'")
    assert found.outcome == "refused"
    assert {(c.snapshot, c.check) for c in found.conflicts} == {
        ("snapshot-2", "validateNoConflictingDataFiles"), ("snapshot-2", "validateNoConflictingDeleteFiles"), ("snapshot-3", "validateNoConflictingDataFiles"),
    }  # fmt: skip
    assert explain_conflict(table, "snapshot-1", "append", ()).outcome == "retry"
    assert explain_conflict(table, "snapshot-3", "mor-update", update, "name = 'jack'").outcome == "commit"
    late = explain_conflict(table, "snapshot-2", "cow-update", Operation("cow-update").validations, "name = 'sarah'")
    assert late.outcome == "retry"  # the bounds of data-3 rule sarah out
    compaction = explain_conflict(
        explorer.open_table("demo.compaction_sort"), "snapshot-3", "compaction", Operation("compaction").validations
    )
    assert {c.check for c in compaction.conflicts} == {"validateFromSnapshot", "failMissingDeletePaths"}
    with pytest.raises(NotFoundInTable, match="no ancestor"):
        explain_conflict(explorer.open_table("demo.branches_and_tags"), "snapshot-6", "append", ())


def test_one_statement_observed(sandbox: Path, engine: SparkEngine) -> None:
    table = explorer.open_table(fresh_copy(engine, "position_deletes"))
    seen = observe(table, "UPDATE t SET favorite_color = 'pink' WHERE name = 'tom'", engine)
    kinds = [f.what for f in seen.files]
    assert set(kinds) == {"data file", "data manifest", "delete file", "delete manifest", "manifest list", "metadata file"}
    assert kinds[-2:] == ["manifest list", "metadata file"]  # what names others is written after them
    assert seen.swapped == (table.metadata.metadata_location, seen.table.metadata.metadata_location)
    assert seen.diff is not None
    assert sorted(c.kind for c in seen.diff.added) == ["data_file", "position_deletes"]
    assert seen.commits == 1
    altered = observe(seen.table, "ALTER TABLE t ADD COLUMN age INT", engine)
    assert (altered.diff, [f.what for f in altered.files]) == (None, ["metadata file"])
    nothing = observe(altered.table, "DELETE FROM t WHERE name = 'nobody'", engine)
    assert nothing.commits <= 1
    called = observe(
        nothing.table, "CALL sandbox.system.rewrite_data_files(table => '{name}', options => map('rewrite-all', 'true'))", engine
    )
    assert called.answer[0]["rewritten_data_files_count"] > 0
    for sql in ("SELECT 1", "DROP TABLE t", "SET a = b"):
        with pytest.raises(AccessRefused):
            observe(called.table, sql, engine)
    with pytest.raises(AccessRefused, match="teaching table"):
        observe(explorer.open_table("demo.three_inserts"), "DELETE FROM t", engine)
    with pytest.raises(EngineError, match="nonsense"):
        observe(called.table, "UPDATE t SET nonsense = 1", engine)
