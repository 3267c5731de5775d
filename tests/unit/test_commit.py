"""Iceberg's validations one by one, on changes made by hand; tests/spark holds the decisions against the library."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from explorer.errors import NotFoundInTable
from explorer.lab.interleave import PHASES
from explorer.spec.commits.commit import Decision, Intent, LaterCommit, decide
from explorer.spec.commits.operations import (
    CATALOGUED,
    CLASSES,
    ENDS,
    KINDS,
    PROTECTS,
    STEPS,
    Operation,
    isolation_of,
    state_after,
)
from explorer.spec.deletes.deletes import PATH_ID
from explorer.spec.entries.live_files import LiveFile

DATA = LiveFile("data-1", "data_file", 0, {}, 1, 1, 10, 100, "m1")
ELSEWHERE = replace(DATA, path="data-2", partition={"1000": "b"}, manifest_path="m2")


def deletes(kind: str = "position_deletes", **more: Any) -> LiveFile:
    return replace(DATA, path="delete-1", kind=kind, sequence_number=2, manifest_path="m9", **more)


def change(operation: str, **more: Any) -> LaterCommit:
    return LaterCommit(7, "snapshot-7", operation, **more)


def intent(kind: str, *validations: str, **more: Any) -> Intent:
    return Intent(KINDS[kind], frozenset(validations), **more)


def checks(decision: Decision) -> list[str]:
    return [c.check for c in decision.conflicts]


SINCE = "validateFromSnapshot"


def test_without_validations_a_moved_table_is_only_a_lost_swap() -> None:
    append = intent("append")
    assert decide(append, ()).outcome == "commit"
    assert decide(append, [change("overwrite", removed_data=(DATA,))]).outcome == "retry"
    assert decide(append, (), moved=True).outcome == "retry"  # a change of metadata alone
    assert decide(append, [change("append")], moved=False).outcome == "commit"
    assert decide(append, [change("append")], base_is_ancestor=False).outcome == "retry"


@pytest.mark.parametrize("kind", ["add-column", "evolve-spec"])
def test_changes_of_schema_and_spec_are_tried_once(kind: str) -> None:
    assert decide(intent(kind), ()).outcome == "commit"
    refused = decide(intent(kind), (), moved=True)
    assert (refused.outcome, checks(refused)) == ("refused", ["CommitFailedException"])
    assert "does not retry" in refused.words


def test_files_that_are_deleted_must_be_there() -> None:
    gone = [change("replace", removed_data=(DATA, ELSEWHERE))]
    for asks in (
        intent("compaction", SINCE, replaced=(DATA,)),
        intent("cow-update", SINCE, "validateNoConflictingDeletes", replaced=(DATA,)),
        intent("cow-delete", SINCE, "validateNoConflictingData", replaced=(DATA,)),
        intent("delete-files", "validateFilesExist", replaced=(DATA,)),
    ):
        found = decide(asks, gone)
        assert checks(found) == ["failMissingDeletePaths"], asks
        assert (found.conflicts[0].files, found.conflicts[0].manifests) == (("data-1",), ("m1",))
        assert found.conflicts[0].snapshot_id == 7
    for passes in (
        intent("cow-update", SINCE, replaced=(DATA,)),
        intent("delete-files", replaced=(DATA,)),
        intent("compaction", SINCE, replaced=(replace(DATA, path="another"),)),
    ):
        assert decide(passes, gone).outcome == "retry", passes


@pytest.mark.parametrize("check", ["validateNoConflictingData", "validateNoConflictingDataFiles"])
def test_added_data_conflicts_where_the_filter_may_match(check: str) -> None:
    kind = "mor-update" if check.endswith("Files") else "cow-update"
    for operation, outcome in (
        ("append", "refused"),
        ("overwrite", "refused"),
        ("replace", "retry"),
        ("delete", "retry"),
    ):
        added = [change(operation, added_data=(DATA,))]
        assert decide(intent(kind, SINCE, check), added).outcome == outcome, operation
    added = [change("append", added_data=(DATA, ELSEWHERE))]
    filtered = intent(kind, SINCE, check, may_match=lambda f: f.path == "data-2")
    assert decide(filtered, added).conflicts[0].files == ("data-2",)
    assert "conflict detection filter" in decide(filtered, added).words
    by_filter = decide(intent("overwrite-filter", SINCE, "validateNoConflictingData"), added)
    assert "to what this commit replaces" in by_filter.words
    assert decide(intent(kind, SINCE, check, may_match=lambda _: False), added).outcome == "retry"


def test_deletes_for_a_file_that_is_replaced() -> None:
    cow = intent("cow-update", SINCE, "validateNoConflictingDeletes", replaced=(DATA,))
    for file, outcome in (
        (deletes(), "refused"),  # of the same partition
        (deletes("equality_deletes"), "refused"),
        (deletes(partition={"1000": "b"}), "retry"),
        (deletes(spec_id=1), "retry"),
        (deletes(referenced_data_file="data-1", partition={"1000": "b"}), "refused"),  # it names the file
        (deletes(referenced_data_file="data-2"), "retry"),
    ):
        assert decide(cow, [change("delete", added_deletes=(file,))]).outcome == outcome, file
    assert decide(cow, [change("overwrite", added_deletes=(deletes(),))]).outcome == "refused"
    assert decide(cow, [change("append", added_deletes=(deletes(),))]).outcome == "retry"
    unasked = intent("cow-update", SINCE, replaced=(DATA,))
    assert decide(unasked, [change("delete", added_deletes=(deletes(),))]).outcome == "retry"


def test_a_rewrite_that_keeps_sequence_numbers_lets_equality_deletes_pass() -> None:
    equality = [change("delete", added_deletes=(deletes("equality_deletes"),))]
    position = [change("delete", added_deletes=(deletes(),))]
    keeps = intent("compaction", SINCE, "dataSequenceNumber", replaced=(DATA,))
    assert decide(keeps, equality).outcome == "retry"
    assert "added position deletes that may be for" in decide(keeps, position).words
    loses = intent("compaction", SINCE, replaced=(DATA,))
    assert checks(decide(loses, equality)) == [SINCE]
    assert "added deletes for" in decide(loses, equality).words
    assert decide(loses, [change("append", added_deletes=(deletes(),))]).outcome == "retry"


@pytest.mark.parametrize("kind", ["replace-partitions", "overwrite-filter"])
def test_what_a_filter_replaces_must_be_as_it_was(kind: str) -> None:
    whole = intent(kind, SINCE, "validateNoConflictingDeletes", may_match=lambda f: not f.partition)
    assert checks(decide(whole, [change("delete", added_deletes=(deletes(),))])) == ["validateNoConflictingDeletes"]
    assert checks(decide(whole, [change("replace", removed_data=(DATA,))])) == ["validateNoConflictingDeletes"]
    assert decide(whole, [change("replace", removed_data=(ELSEWHERE,))]).outcome == "retry"
    assert decide(whole, [change("append", added_deletes=(deletes(),), removed_data=(DATA,))]).outcome == "retry"
    assert decide(intent(kind, SINCE), [change("delete", added_deletes=(deletes(),))]).outcome == "retry"


def test_files_that_deletes_refer_to_must_be_there() -> None:
    lost = {operation: [change(operation, removed_data=(DATA,))] for operation in ("overwrite", "replace", "delete")}
    some = intent("mor-delete", SINCE, "validateDataFilesExist", referenced=(DATA,))
    every = intent("mor-update", SINCE, "validateDataFilesExist", "validateDeletedFiles", referenced=(DATA,))
    assert [decide(some, c).outcome for c in lost.values()] == ["refused", "refused", "retry"]
    assert [decide(every, c).outcome for c in lost.values()] == ["refused"] * 3
    assert decide(intent("mor-delete", SINCE, referenced=(DATA,)), lost["overwrite"]).outcome == "retry"
    assert decide(some, [change("overwrite", removed_data=(ELSEWHERE,))]).outcome == "retry"
    assert decide(some, [change("append", removed_data=(DATA,))]).outcome == "retry"


def test_deletes_of_the_condition_conflict_with_an_update() -> None:
    update = intent("mor-update", SINCE, "validateNoConflictingDeleteFiles", may_match=lambda f: not f.partition)
    assert checks(decide(update, [change("delete", added_deletes=(deletes(),))])) == [
        "validateNoConflictingDeleteFiles"
    ]
    assert decide(update, [change("delete", added_deletes=(deletes(partition={"1000": "b"}),))]).outcome == "retry"
    assert decide(update, [change("append", added_deletes=(deletes(),))]).outcome == "retry"


def test_two_vectors_for_one_file_are_never_both_committed() -> None:
    theirs = deletes("deletion_vector", referenced_data_file="data-1")
    mine = intent("mor-delete", SINCE, referenced=(DATA,), vectors=True)
    assert checks(decide(mine, [change("delete", added_deletes=(theirs,))])) == ["validateAddedDVs"]
    assert checks(decide(mine, [change("replace", added_deletes=(theirs,))])) == ["validateAddedDVs"]
    assert decide(mine, [change("append", added_deletes=(theirs,))]).outcome == "retry"
    assert decide(replace(mine, vectors=False), [change("delete", added_deletes=(theirs,))]).outcome == "retry"
    other = replace(theirs, referenced_data_file="data-2")
    assert decide(mine, [change("delete", added_deletes=(other,))]).outcome == "retry"
    positions = replace(theirs, kind="position_deletes")
    assert decide(mine, [change("delete", added_deletes=(positions,))]).outcome == "retry"


def test_without_a_starting_snapshot_the_whole_history_counts() -> None:
    earlier = [change("append", added_data=(DATA,))]
    checked = intent("cow-update", "validateNoConflictingData")
    assert decide(checked, (), earlier).outcome == "refused"
    assert decide(intent("cow-update", SINCE, "validateNoConflictingData"), (), earlier).outcome == "commit"


def test_an_expired_base_cannot_be_looked_back_to() -> None:
    moved = [change("append")]
    for walks in (
        intent("cow-update", SINCE, "validateNoConflictingData"),
        intent("mor-delete", SINCE),
        intent("compaction", SINCE),
        intent("overwrite-filter", SINCE, "validateDataFilesExist"),
    ):
        assert checks(decide(walks, moved, base_is_ancestor=False)) == [SINCE], walks
        assert decide(walks, moved, base_is_ancestor=True).outcome == "retry"
    for does_not in (intent("cow-update", SINCE), intent("mor-delete"), intent("append")):
        assert decide(does_not, moved, base_is_ancestor=False).outcome == "retry", does_not


def test_pyiceberg_validates_only_when_it_tries_again_and_by_filter() -> None:
    delete = intent("cow-delete", "validateNoConflictingData", replaced=(DATA,), engine="pyiceberg")
    assert decide(delete, (), [change("append", added_data=(DATA,))], moved=True).outcome == "commit"
    assert decide(delete, [change("append", added_data=(DATA,))]).outcome == "refused"
    assert decide(delete, [change("append")], [change("append", added_data=(DATA,))]).outcome == "retry"
    strict = replace(delete, validations=frozenset({"validateNoConflictingDeletes"}))
    assert "from what this commit replaces" in decide(strict, [change("overwrite", removed_data=(ELSEWHERE,))]).words


def test_a_decision_in_words() -> None:
    assert decide(intent("append"), ()).words.startswith("It commits")
    assert decide(intent("append"), [change("append")]).words.startswith("It loses the swap")
    many = decide(intent("cow-update", "validateNoConflictingData"), [change("append", added_data=(DATA,))])
    [conflict] = many.conflicts

    def placed(*partitions: str) -> str:
        return Decision("refused", (replace(conflict, partitions=partitions),)).words

    assert placed("", "p=a").endswith("filter (in p=a).")
    assert placed("p=1", "p=2", "p=3").endswith("(in p=1, p=2, p=3).")
    assert placed("p=1", "p=2", "p=3", "p=4").endswith("(in p=1, p=2, p=3 and others).")
    assert placed("").endswith("filter.")


def test_what_a_rewrite_or_vectors_look_at() -> None:
    assert intent("compaction").looks
    assert intent("mor-delete", vectors=True).looks
    assert intent("cow-update", SINCE).looks
    assert not intent("cow-update", "conflictDetectionFilter").looks
    assert not intent("append").looks


# -- operations and steps ---------------------------------------------------------------------------------------------
def test_steps_follow_each_other() -> None:
    states = ["load"]
    while states[-1] != "swap":
        states.append(state_after(states[-1], "ok"))  # type: ignore[arg-type]
    assert states == list(STEPS) == ["load", "write", "apply", "metadata", "swap"]
    assert state_after("swap", "lost") == state_after("check", "lost") == "apply"
    assert state_after("swap", "unknown") == "check"
    assert [state_after("swap", end) for end in ("committed", "refused", "killed")] == list(ENDS)[:3]


def test_the_phases_of_an_order_are_the_steps_of_a_commit() -> None:
    assert PHASES == {
        2: (("load, write", 2), ("apply", 1), ("metadata, swap", 2)),
        3: (("load, write", 2), ("apply, metadata, swap", 3)),
    }


def test_isolation_decides_the_validations() -> None:
    assert Operation("cow-update", "snapshot").validations == (
        "validateFromSnapshot", "conflictDetectionFilter", "validateNoConflictingDeletes",
    )  # fmt: skip
    assert set(Operation("cow-update").validations) - set(Operation("cow-update", "snapshot").validations) == {
        "validateNoConflictingData"
    }
    assert Operation("cow-update", chosen=("validateFromSnapshot",)).validations == ("validateFromSnapshot",)
    assert Operation("append").validations == ()
    assert str(Operation("cow-update")) == "cow-update, serializable"
    assert str(Operation("append")) == "append"
    assert str(Operation("append", engine="pyiceberg")) == "append by pyiceberg"
    assert str(Operation("cow-update", chosen=())) == "cow-update, with no validations"
    assert str(Operation("cow-update", chosen=(SINCE,))) == f"cow-update, with {SINCE}"


def test_every_operation_is_described_in_full() -> None:
    for name, kind in KINDS.items():
        assert set(kind.available_validations) == {*kind.always, *kind.serializable, *kind.more}, name
        assert list(kind.available_validations) == [v for v in PROTECTS if v in kind.available_validations]
        assert not (kind.replaces and kind.refers), name
        assert kind.makes_snapshot or not (kind.adds or kind.replaces or kind.refers or kind.available_validations), (
            name
        )
        assert kind.retried or not kind.makes_snapshot, name  # Iceberg retries every commit of a snapshot
    assert CATALOGUED == (
        "append", "cow-update", "cow-delete", "mor-update", "mor-delete", "equality-delete", "compaction",
        "replace-partitions",
    )  # fmt: skip
    for wrong in (
        Operation("vacuum"), Operation("append", "dirty"), Operation("compaction", engine="pyiceberg"),
        Operation("append", chosen=(SINCE,)), Operation("cow-delete", engine="pyiceberg", chosen=(SINCE,)),
    ):  # fmt: skip
        with pytest.raises(NotFoundInTable):
            wrong.check()
    Operation("cow-delete", "snapshot", "pyiceberg").check()
    Operation("mor-delete", chosen=("validateDeletedFiles",)).check()


def test_isolation_by_the_tables_properties() -> None:
    properties = {"write.merge.isolation-level": "Snapshot", "write.update.isolation-level": "dirty"}
    levels = {kind: isolation_of(kind, properties) for kind in KINDS}
    assert {kind for kind, level in levels.items() if level == "snapshot"} == {"cow-merge", "mor-merge"}
    assert set(levels.values()) == {"snapshot", "serializable"}


def test_the_catalogue_in_docs_describes_the_same_validations() -> None:
    text = (Path(__file__).parents[2] / "docs" / "concurrency.md").read_text()
    for name in CATALOGUED:
        always = ", ".join(Operation(name, "snapshot").validations) or "none"
        assert f"| {name}: {KINDS[name].title} | {always} | {', '.join(KINDS[name].serializable)} |" in text
    for name, protects in PROTECTS.items():
        assert f"- `{name}` {protects}." in text
    assert all(f"| **{name}** |" in text or f"| **{name}, " in text for name in KINDS)
    for name, kind in KINDS.items():
        assert f"| {name}: {kind.title} | {kind.api} | {' | '.join(CLASSES[kind.api])} |" in text


def test_position_deletes_of_one_file_by_their_bounds_concern_no_other() -> None:
    """ContentFileUtil.referencedDataFile: what Spark writes in version 2 names its data file by equal bounds alone."""
    own, others = ({PATH_ID: path.encode()} for path in (DATA.path, "data-3"))
    wide = deletes(lower={PATH_ID: b"data-0"}, upper={PATH_ID: b"data-9"})
    for delete, hits in (
        (deletes(lower=own, upper=own), True),
        (deletes(lower=others, upper=others), False),
        (wide, True),
    ):
        later = change("delete", added_deletes=(delete,))
        for kind, validations in (("compaction", (SINCE,)), ("cow-update", (SINCE, "validateNoConflictingDeletes"))):
            decision = decide(intent(kind, *validations, replaced=(DATA,)), [later])
            assert (decision.outcome == "refused") is hits, (kind, delete)
