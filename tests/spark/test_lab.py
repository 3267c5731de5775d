"""The lab's commits are Iceberg's: figure 4, conflicts, replays, every pair of the catalogue stepped and un-stepped,
and predictions."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from explorer.cli import main
from explorer.errors import AccessRefused, NotFoundInTable, NotPossible, StatementFailed
from explorer.graph.ids import list_node, manifest_node
from explorer.graph.uncommitted import kind_of, overlay
from explorer.lab.catalogue import operations, predict
from explorer.lab.exercises import exercise as exercise_module
from explorer.lab.exercises.catalogs import CATALOG_EXERCISES
from explorer.lab.exercises.commits import EXERCISES, ISOLATION_LEVEL, LOST_SWAPS, REPEATED_APPEND
from explorer.lab.folder_runs import replay_folder
from explorer.lab.interleave import interleave, orders, outcome, serial_rows
from explorer.lab.observe import API, observe, observe_api
from explorer.lab.sandbox import Bench
from explorer.lab.scenarios import fresh_copy
from explorer.lab.stepper import Run, replay
from explorer.render.lab_runs import render_run, run_json, sequence_svg
from explorer.render.state_graph import state_svg
from explorer.reports.conflicts import change_of, explain_conflict
from explorer.spark_engine.spark import SparkEngine
from explorer.spec.commits.commit import Decision
from explorer.spec.commits.operations import CATALOGUED, CLASSES, ISOLATION, KINDS, Operation
from tests.support import direct


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
    assert [s.operation for s in run.table().metadata.snapshots] == ["append"] * 4
    first, second = run.writers
    assert first.left_behind == []
    assert sum(f.endswith(".metadata.json") for f in second.left_behind) == 1  # of the attempt whose swap was lost
    by_step = {(e.writer, e.step): e.files for e in run.events[:9]}
    assert by_step[("A", "write")][0].startswith("data/p=a/A-data")
    assert [f.rsplit("-", 1)[-1].split(".", 1)[-1] for f in by_step[("A", "apply")]] == [
        "avro",
        "avro",
    ]  # a manifest, then the list
    with pytest.raises(NotPossible, match="it has no step left"):
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


@pytest.mark.parametrize("name", ["resurrected-row", "delete-that-misses"])
def test_the_kept_anomalies_show_again(name: str, bench: Bench) -> None:
    """Snapshot isolation lets a merge-on-read DELETE miss the new version that an UPDATE wrote meanwhile; a DELETE of
    files that are gone deletes nothing."""
    run = replay(bench, (REPLAYS / f"{name}.json").read_text())
    assert [w.state for w in run.writers] == ["committed", "committed"]
    found = outcome(run, "", serial_rows(bench, [w.operation for w in run.writers]))
    assert (found.serial, found.anomaly) == ((), "resurrected rows")


REPLAYS = Path(__file__).parents[2] / "docs" / "replays"


def test_the_kept_runs_of_readers_and_folders_show_again(bench: Bench) -> None:
    """A reader that has planned is not blocked by commits, and fails when expiry takes its files; a query over two
    tables reads two moments; a rename loses a commit; a listing is stale when it is read."""
    failed = replay(bench, (REPLAYS / "expired-reader.json").read_text())
    reader = failed.writer("A")
    assert [w.state for w in failed.writers] == ["failed", "committed", "committed"]
    [expiry] = [e for e in failed.events if e.removed]
    assert "base-1.parquet is gone" in failed.events[-1].short
    assert [f for f in expiry.removed if f.startswith("data/")] == ["data/p=a/base-1.parquet"]
    assert failed.events[-1].error.startswith(f"{reader.saw[0].files[0].removeprefix('file:')}: ")
    both = replay(bench, (REPLAYS / "two-tables.json").read_text())
    first, second = both.writer("A").saw
    assert (first.snapshot, second.snapshot) == ("snapshot-2", "snapshot-3")
    assert [len(s.rows or ()) for s in (first, second)] == [3, 4]  # each as it was when it was loaded
    text = render_run(both.events, both.writers, both.rows())
    assert "A loaded snapshot-3 of the other table: 1 'by B'" in text
    assert "read: 3 rows and 4 rows" in sequence_svg(both.events, both.writers)
    saved = run_json(both.to_json(), both.writers, both.rows())
    assert [s["snapshot"] for s in saved["writers"][0]["saw"]] == ["snapshot-2", "snapshot-3"]
    assert {w.name: w.left_behind for w in both.writers} == {"A": [], "B": [], "C": []}
    for run in (failed, both):
        run.close()
    lost = replay_folder(bench, (REPLAYS / "lost-rename.json").read_text())
    assert lost is not None
    assert (lost.rows, sum("committed" in told for told in lost.told)) == (("B", "base"), 2)
    stale = replay_folder(bench, (REPLAYS / "stale-listing.json").read_text())
    assert stale is not None
    assert stale.told[-1] == "R fails: p=a/part-0.parquet is gone since it was listed"
    assert [price for _, price in stale.rows] == [20] * 4
    with pytest.raises(NotPossible, match="on a folder"):
        replay(bench, (REPLAYS / "lost-rename.json").read_text())
    with pytest.raises(NotPossible, match="there is no 'X'"):
        replay_folder(bench, '{"folder": "listing", "order": "X"}')


@pytest.mark.parametrize("version", [2, 3])
def test_a_reader_keeps_its_snapshot(version: int, bench: Bench) -> None:
    """What it plans is what Iceberg plans, deletes too; it is never blocked; before it plans, the manifest list that it
    needs may go; killed, it leaves nothing."""
    run = Run(bench, [Operation("mor-delete"), Operation("read"), Operation("mor-update"), Operation("read")], version)
    run.play("AAAAABBCCCCCBD")
    early, late = run.writer("B").saw[0], run.writer("D").saw[0]
    assert early.rows == ((2, "two", "a"), (3, "three", "b"))  # the position delete, or vector, is applied
    assert late.rows == tuple(run.rows())
    assert [w.state for w in run.writers] == ["committed", "answered", "committed", "answered"]
    assert not any(w.left_behind for w in run.writers)
    run.close()
    run = Run(bench, [Operation("read"), Operation("append"), Operation("expire"), Operation("read")], version)
    run.play("ADD!BBBBBCCCCCA")
    assert run.writer("A").state == "failed"
    assert "snap-" in run.events[-1].short
    assert run.writer("D").state == "killed"
    run.close()
    with pytest.raises(NotFoundInTable, match="no reader"):
        interleave(bench, [Operation("read"), Operation("append")])


def meet(
    bench: Bench, late: Operation, early: Operation, version: int = 2, unstepped: bool = True
) -> tuple[str, Decision]:
    """B commits between A's base and A's commit. A's outcome is predicted from metadata, taken step by step, and, if
    `unstepped`, compared with what Iceberg's own commit() makes of the same. Returns what happened, and what was
    predicted."""
    run = Run(bench, [late, early], version)
    for _ in range(3):
        run.step("A")
    while not run.writer("B").over:
        run.step("B")
    decision = predict(run, run.table())
    run.play("")
    state = run.writer("A").state
    lost = any(e.writer == "A" and e.outcome == "lost" for e in run.events)
    happened = "refused" if state == "refused" else "retry" if lost else "commit"
    assert decision.outcome == happened, (str(late), str(early), version, decision.words, run.events[-1].words)
    if unstepped and "pyiceberg" not in (late.engine, early.engine):
        whole = Run(bench, [late, early], version)
        for name in ("A", "A", "B", "B"):
            whole.step(name)
        first, second = (w.plan.pending for w in whole.writers if w.plan)
        try:
            try:
                first.apply()  # the attempt whose swap is lost
            finally:
                second.commit()
            first.commit()
            refused = False
        except Exception as error:
            assert "ValidationException" in str(error) or "CommitFailedException" in str(error)
            refused = True
        assert refused == (state == "refused"), (str(late), str(early))
        assert whole.rows() == run.rows()
        whole.close()
    run.close()
    return happened, decision


@pytest.mark.parametrize("name", KINDS)
def test_each_operation_does_what_its_description_says(name: str, bench: Bench) -> None:
    kind = KINDS[name]
    run = Run(bench, [Operation(name)])
    before = {s.snapshot_id for s in run.table().metadata.snapshots}
    run.play("AA")
    plan = run.writer("A").plan
    assert plan is not None
    assert (bool(plan.replaced), bool(plan.referenced)) == (kind.replaces, kind.refers)
    table = run.table()
    made = [s for s in table.metadata.snapshots if s.snapshot_id not in before]
    assert len(made) == kind.makes_snapshot
    assert any(e.removed for e in run.events if e.outcome == "committed") == kind.removes_files
    for snapshot in made:
        change = change_of(table, snapshot)
        assert {f.kind for f in (*change.added_data, *change.added_deletes)} == set(kind.adds)
        assert bool(change.removed_data) == (kind.replaces or kind.decided_by == "filter")
    run.close()


def test_the_classes_behind_operations_are_icebergs(bench: Bench) -> None:
    java = bench.load(bench.fresh())
    for method, (interface, implementation) in CLASSES.items():
        found = getattr(java, method)().getClass()
        assert found.getSimpleName() == implementation
        assert interface in [i.getSimpleName() for i in found.getInterfaces()]


EVERY = os.environ.get("ICEDIVE_EVERY_PAIR") == "1"
PAIRS = [(late, Operation(early)) for late in operations() for early in CATALOGUED]
"""Every pair of the catalogue, here and under `make pairs`; all else that can meet only there, and every commit that is
not stepped."""
MORE = [k for k in KINDS if k not in CATALOGUED]
OTHERS = ("mor-delete", "mor-merge", "delete-files", "expire")
OFFERED = [k for k, kind in KINDS.items() if kind.available_validations]


@pytest.mark.parametrize(("late", "early"), PAIRS, ids=lambda o: f"{o.kind}-{o.isolation[:4]}")
def test_every_pair_is_predicted_and_some_equal_the_unstepped_commit(
    late: Operation, early: Operation, bench: Bench
) -> None:
    meet(bench, late, early, unstepped=EVERY or PAIRS.index((late, early)) % 12 == 0)


@pytest.mark.parametrize("late", KINDS if EVERY else MORE)
def test_the_other_operations_are_predicted(late: str, bench: Bench) -> None:
    for early in KINDS if EVERY else OTHERS:
        meet(bench, Operation(late), Operation(early), unstepped=EVERY)


def test_a_change_of_schema_is_not_retried(bench: Bench) -> None:
    happened, decision = meet(bench, Operation("add-column"), Operation("append"))
    assert (happened, decision.conflicts[0].check) == ("refused", "CommitFailedException")


@pytest.mark.parametrize("late", KINDS if EVERY else ("mor-update", "mor-delete", "compaction", "equality-delete"))
def test_deletion_vectors_are_predicted(late: str, bench: Bench) -> None:
    for early in KINDS if EVERY else ("mor-update", "mor-delete", "append", "compaction"):
        happened, decision = meet(bench, Operation(late), Operation(early), version=3)
        if late == early == "mor-delete":  # in format version 2 both commit
            assert (happened, [c.check for c in decision.conflicts]) == ("refused", ["validateAddedDVs"])


@pytest.mark.parametrize("late", OFFERED if EVERY else ("cow-update", "mor-update"))
def test_each_validation_on_its_own(late: str, bench: Bench) -> None:
    usual, offered = Operation(late).validations, KINDS[late].available_validations
    chosen = [tuple(v for v in usual if v != off) for off in usual] + [()]
    if EVERY:
        chosen += [tuple(v for v in offered if v != off) for off in offered] + [(v,) for v in offered]
    for checks in dict.fromkeys(chosen):
        for early in (
            (*CATALOGUED, "delete-files", "overwrite-filter") if EVERY else ("append", "mor-delete", "delete-files")
        ):
            meet(bench, Operation(late, chosen=checks), Operation(early), unstepped=EVERY)


def test_pyiceberg_writes_beside_java(bench: Bench) -> None:
    theirs = [
        Operation("append", engine="pyiceberg"),
        *(Operation("cow-delete", level, "pyiceberg") for level in ISOLATION),
    ]
    for late in theirs:
        for early in KINDS if EVERY else ("append", "cow-delete", "mor-delete", "compaction", "add-column"):
            meet(bench, late, Operation(early))
    for late in KINDS if EVERY else ("mor-delete", "compaction", "append"):
        meet(bench, Operation(late), theirs[0])
        meet(bench, Operation(late), theirs[1])


@pytest.mark.parametrize("number", range(len(EXERCISES)))
def test_exercises_are_judged_by_running_them(number: int, bench: Bench) -> None:
    exercise = EXERCISES[number]
    assert exercise.check(bench=bench).right is None
    right = exercise.check(exercise.example, bench)
    assert right.right, right.words
    assert "<svg" in right._repr_html_()
    for wrong in ("serializable", 2, "AAAAA", ("append", "append")):
        assert exercise.check(wrong, bench).right is False, wrong


def test_an_order_shows_its_state_so_far(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exercise_module, "shared_bench", lambda: bench)
    said = LOST_SWAPS.state_after("ccccaaaaac")
    assert said == "A is committed; B is before load; C is before apply, and has lost 1 swap. Readers see 4 rows."
    assert REPEATED_APPEND.state_after("A?").startswith("A? cannot come now")
    assert "A is committed; B is before look" in CATALOG_EXERCISES[2].state_after("AAAABB")
    assert ISOLATION_LEVEL.state_after("A") == ""


def test_what_there_is_not(bench: Bench) -> None:
    for operation in (
        Operation("vacuum"), Operation("append", "dirty"), Operation("compaction", engine="pyiceberg"),
        Operation("append", chosen=("validateFromSnapshot",)),
    ):  # fmt: skip
        with pytest.raises(NotFoundInTable):
            Run(bench, [operation])
    with pytest.raises(NotFoundInTable, match="format version"):
        Run(bench, [Operation("append")], version=1)
    with pytest.raises(NotFoundInTable, match="pyiceberg"):
        Run(bench, [Operation("append", engine="pyiceberg")], version=3)


def test_expiry_takes_the_base_from_under_a_writer(bench: Bench) -> None:
    """A read snapshot-2; B appends; C expires all but the last: Iceberg cannot look through what was committed
    since."""
    run = Run(bench, [Operation("mor-delete"), Operation("append"), Operation("expire")])
    run.play("AABBBBBCCCCC")
    assert run.writer("A").table is not None
    expiry = next(e for e in run.events if e.writer == "C" and e.outcome == "committed")
    assert expiry.removed  # the manifest lists of the snapshots that expired
    refused = run.events[-1]
    assert (refused.writer, refused.outcome) == ("A", "refused")
    assert "is not an ancestor" in refused.error
    assert predict(run, run.table()).conflicts[0].check == "validateFromSnapshot"
    run.close()


@pytest.mark.parametrize("library", ["java", "pyiceberg"])
def test_faults(library: str, bench: Bench) -> None:
    before = Run(bench, [Operation("append", engine=library)])
    first = before.rows()
    before.close()
    for steps, kinds in ((2, ["data_file"]), (3, ["data_file", "data_manifest", "manifest_list"])):
        run = Run(bench, [Operation("append", engine=library)])
        run.play("A" * steps + "A!")
        assert run.writer("A").state == "killed"
        assert run.rows() == first
        assert sorted(kind_of(f) for f in run.writer("A").left_behind) == kinds
        table, what = run.table_with_uncommitted_work()
        staged = {s.manifest_list for s in table.metadata.snapshots if s.snapshot_id in what.snapshots}
        orphans = {f.path for f in what.loose if f.mark == "orphan"}
        assert orphans == {f.path for f in what.loose}
        assert what.gone == {"A"}  # nobody will commit what it has staged
        left = {f"file:{run.folder}/{f}" for f in run.writer("A").left_behind}
        assert len(left) == len(kinds)
        assert left <= orphans | staged | what.paths.keys()
        again = replay(bench, run.to_json())
        assert [e.token for e in again.events] == [e.token for e in run.events]
        for done in (run, again):
            done.close()
    for order, rows in (("AAAAA?A", len(first) + 1), ("AAAAA?A!", len(first) + 1), ("AAAAA?A+", len(first) + 2)):
        run = Run(bench, [Operation("append", engine=library)])
        run.play(order)
        assert len(run.rows()) == rows, order  # who does not look and begins again writes the row twice
        run.close()
    run = Run(bench, [Operation("append", engine=library)])
    for bad in ("A?", "A+", "A*", "Z"):
        with pytest.raises((NotPossible, NotFoundInTable)):
            run.step(bad)
    run.close()


def test_a_lost_answer_after_a_lost_swap(bench: Bench) -> None:
    run = Run(bench, [Operation("append"), Operation("append")])
    run.play("AAAABBBBBA?")
    assert trace(run)[9:] == [
        ("A", "swap", "unknown"),
        ("A", "check", "lost"),
        ("A", "apply", "ok"),
        ("A", "metadata", "ok"),
        ("A", "swap", "committed"),
    ]
    assert len(run.rows()) == 5
    run.close()


def test_staged_snapshots_are_drawn_beside_the_committed_ones(bench: Bench) -> None:
    run = Run(bench, [Operation("append"), Operation("cow-delete")])
    for name in "AAABBBB":
        run.step(name)
    table, what = run.table_with_uncommitted_work()
    assert sorted(what.snapshots.values()) == ["A", "B"]
    opened = frozenset(list_node(i) for i in what.snapshots) | frozenset(manifest_node(p) for p in what.paths)
    assert "A: not committed" in [node.label for node in run.graph().nodes]
    graph = overlay(table.graph(view=replace(table.default_view(), open_nodes=opened)), what)
    marked = [(n.kind, n.mark) for n in graph.nodes if n.mark]
    assert sorted(marked) == sorted(
        [("snapshot", "staged")] * 2
        + [("manifest_list", "staged")] * 2
        + [("data_manifest", "staged")] * 3
        + [("data_file", "staged")] * 2
        + [("metadata", "staged")]
    )
    assert [s.operation for s in run.table().metadata.snapshots] == [
        "append",
        "append",
    ]  # the table itself knows nothing of them
    run.play("BA")
    loose = run.table_with_uncommitted_work()[1].loose
    assert {m.mark for m in loose} == {"orphan"}
    assert ("A", "metadata") in {(m.writer, m.kind) for m in loose}  # of the attempt whose swap was lost
    run.close()


def test_all_orders_of_two_operations(bench: Bench) -> None:
    assert len(list(orders(2))) == 20
    seen = []
    found = interleave(
        bench, [Operation("mor-update"), Operation("compaction")], lambda done, total: seen.append((done, total))
    )
    assert seen[-1] == (20, 20)
    assert found.summary() == {
        "A committed, B refused": 9, "A refused, B committed": 9, "A committed, B committed": 2
    }  # fmt: skip
    assert all(o.serial for o in found.outcomes)
    stopped = interleave(bench, [Operation("append"), Operation("append")], cancelled=lambda: True)
    assert stopped.outcomes == ()
    assert state_svg(stopped).startswith("<svg")
    assert state_svg(found).count("as if") == 3  # three ends
    with pytest.raises(NotFoundInTable, match="two or three"):
        interleave(bench, [Operation("append")])
    assert len(list(orders(3))) == 90


def test_explain_conflict_of_a_real_table(sandbox: Path) -> None:
    table = direct.open_table("demo.equality_deletes")
    update = Operation("mor-update").validations
    found = explain_conflict(table, "snapshot-1", "mor-update", update, "name = 'jack'")
    assert found.outcome == "refused"
    assert {(c.snapshot, c.check) for c in found.conflicts} == {
        ("snapshot-2", "validateNoConflictingDataFiles"), ("snapshot-2", "validateNoConflictingDeleteFiles"),
        ("snapshot-3", "validateNoConflictingDataFiles"),
    }  # fmt: skip
    assert explain_conflict(table, "snapshot-1", "append", ()).outcome == "retry"
    assert explain_conflict(table, "snapshot-3", "mor-update", update, "name = 'jack'").outcome == "commit"
    late = explain_conflict(table, "snapshot-2", "cow-update", Operation("cow-update").validations, "name = 'sarah'")
    assert late.outcome == "retry"  # the bounds of data-3 rule sarah out
    compaction = explain_conflict(
        direct.open_table("demo.compaction_sort"), "snapshot-3", "compaction", Operation("compaction").validations
    )
    assert {c.check for c in compaction.conflicts} == {"validateFromSnapshot", "failMissingDeletePaths"}
    branches = direct.open_table("demo.branches_and_tags")
    with pytest.raises(NotFoundInTable, match="no ancestor"):
        explain_conflict(branches, "snapshot-6", "mor-update", update)
    assert explain_conflict(branches, "snapshot-6", "append", ()).outcome == "retry"  # it validates nothing
    for kind, level in (("cow-merge", "snapshot"), ("cow-update", "serializable")):  # as the table's properties say
        asked = ["check", "conflict", "demo.mixed_modes", "snapshot-2", kind, "-o", "json"]
        assert json.loads(CliRunner().invoke(main, asked).output)["isolation"] == level


def test_one_statement_observed(sandbox: Path, engine: SparkEngine) -> None:
    table = direct.open_table(fresh_copy("position_deletes"))
    seen = observe(table, "UPDATE t SET favorite_color = 'pink' WHERE name = 'tom'", engine)
    kinds = [f.what for f in seen.files]
    assert set(kinds) == {
        "data file",
        "data manifest",
        "delete file",
        "delete manifest",
        "manifest list",
        "metadata file",
    }
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
        nothing.table,
        "CALL sandbox.system.rewrite_data_files(table => '{name}', options => map('rewrite-all', 'true'))",
        engine,
    )
    assert called.answer[0]["rewritten_data_files_count"] > 0
    for sql in REFUSED:
        # Iceberg's own parser of CALL, for Spark 3, knows fewer statements: what it does not know is none
        is_parsed_by_iceberg = sql.startswith("CALL") and engine.session().version < "4"
        with pytest.raises((AccessRefused, StatementFailed) if is_parsed_by_iceberg else AccessRefused):
            observe(called.table, sql, engine)
    with pytest.raises(AccessRefused, match="teaching table"):
        observe(direct.open_table("demo.three_inserts"), "DELETE FROM t", engine)
    for sql, match in (
        ("UPDATE t SET nonsense = 1", "nonsense"),
        ("UPDATE UPDATE", "no statement"),
        ("CALL sandbox.system.rollback_to_snapshot('{name}', 1)", "^Cannot roll back to unknown snapshot id: 1$"),
    ):
        with pytest.raises(StatementFailed, match=match):
            observe(called.table, sql, engine)


REFUSED = (
    "SELECT 1", "DROP TABLE t", "SET a = b", "ADD JAR '/x'", ("INSERT INTO sandbox.demo.three_inserts SELECT * "
     "FROM t"), "ALTER TABLE t RENAME TO lab.y",
    "INSERT OVERWRITE DIRECTORY '/tmp/out' USING parquet SELECT 1", ("INSERT INTO t SELECT * FROM "
     "parquet.`/etc`"), "ALTER TABLE t SET LOCATION '/x'",
    ("DELETE FROM t WHERE name IN (SELECT value FROM "
     "text.`/etc/hosts`)"), "CALL sandbox.system.rewrite_manifests('demo.three_inserts')",
    "MERGE INTO sandbox.demo.three_inserts x USING t ON x.name = t.name WHEN MATCHED THEN DELETE",
    ("CALL sandbox.system.remove_orphan_files(table => '{name}', location => "
     "'/')"), "CALL sandbox.system.drop_everything('{name}')",
    "ALTER TABLE t SET TBLPROPERTIES ('write.data.path' = '/x')", ("UPDATE t SET name = reflect('java.lang.System', "
     "'getProperty', 'user.home')"),
    ("CALL sandbox.system.expire_snapshots(table => '{name}', retain_last => reflect('java.lang.Integer', "
     "'parseInt', '1'))"),
    "WITH c AS (SELECT value FROM text.`/etc/hosts`) INSERT INTO t SELECT value, value FROM c",
)  # fmt: skip


def test_the_table_api_observed(sandbox: Path, engine: SparkEngine) -> None:
    table = direct.open_table(fresh_copy("three_inserts"))
    for operation in API:
        seen = observe_api(table, operation, engine)
        assert seen.commits == 1, operation
        assert seen.swapped is not None
        assert seen.files[-1].what == "metadata file"
        if operation in ("newFastAppend", "newDelete", "rewriteManifests"):
            assert seen.report is not None
            assert seen.report["snapshot-id"] == seen.table.metadata.current_snapshot_id
            assert seen.report["metrics"]["attempts"]["value"] == 1
        assert bool(seen.removed) == (operation == "expireSnapshots")
        table = seen.table
    with pytest.raises(NotFoundInTable):
        observe_api(table, "dropEverything", engine)
    with pytest.raises(AccessRefused, match="teaching table"):
        observe_api(direct.open_table("demo.three_inserts"), "newFastAppend", engine)
