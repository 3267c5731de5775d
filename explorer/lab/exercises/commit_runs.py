"""Quizzes about the steps of commits; the lab runs them (notebook 04)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from explorer.lab.engines import PYICEBERG, SPARK, SharedTable
from explorer.lab.exercises.entries import ChoiceEntry
from explorer.lab.exercises.quiz import Line, quiz
from explorer.lab.exercises.tree import COUNT
from explorer.lab.sandbox import Bench
from explorer.lab.stepper import Run
from explorer.spec.commits.operations import CLASSES, KINDS, Operation

NOTHING, DATA, MANIFESTS, METADATA = "nothing", "a data file", "a manifest and a manifest list", "a metadata file"
WRITES = ChoiceEntry((NOTHING, DATA, MANIFESTS, METADATA))


def _kind_of_files(files: Sequence[str]) -> str:
    """What a step wrote, by the names of its files."""
    if not files:
        return NOTHING
    if files[0].startswith("data/"):
        return DATA
    return METADATA if files[-1].endswith(".metadata.json") else MANIFESTS


def _step_facts(bench: Bench) -> Sequence[Any]:
    run = Run(bench, [Operation("append")])
    return [_kind_of_files(event.files) for event in run.play("AAAAA")]


ONE_COMMIT = quiz(
    "An append commits in five steps. Which files does each write?",
    [
        Line("load", WRITES),
        Line("write", WRITES, {METADATA: "The table's new version is written last."}),
        Line("apply", WRITES, {METADATA: "It refers to the manifest list, which must be there first."}),
        Line("metadata", WRITES, {MANIFESTS: "They must be there before the file that refers to them."}),
        Line("swap", WRITES, {METADATA: "The catalog points to a file that is there already."}),
    ],
    _step_facts,
    (NOTHING, DATA, MANIFESTS, METADATA, NOTHING),
    nudge="Each file refers to files below it. So in which order must they be written?",
    look="`icedive lab run append`: the files of each step.",
    reason="A commit writes from the bottom of the tree to its top: data file, manifest, manifest list, metadata file. "
    "Then the catalog swaps its pointer, and only that makes them part of the table.",
    needs_lab=True,
)


def _two_facts(bench: Bench) -> Sequence[Any]:
    run = Run(bench, [Operation("append"), Operation("append")])
    run.play("AABBABABAB")
    outcomes = [event.outcome for event in run.events if event.step == "swap"]
    after = next(event.step for n, event in enumerate(run.events) if event.writer == "B" and _has_lost_swap(run, n))
    files = [file for event in run.events if event.writer == "B" for file in event.files]
    data = sum(file.startswith("data/") for file in files)
    return *outcomes, after, data, sum(file.endswith(".metadata.json") for file in files)


def _has_lost_swap(run: Run, at: int) -> bool:
    return any(event.writer == "B" and event.outcome == "lost" for event in run.events[:at])


OUTCOMES = ChoiceEntry(("committed", "lost", "refused"))
STEP = ChoiceEntry(("load", "write", "apply", "metadata", "swap"))
TWO_WRITERS = quiz(
    "Two appends load the same metadata file, and take turns: A A B B A B A B A B. After that each goes on to its end.",
    [
        Line("A's swap", OUTCOMES, {"lost": "The pointer is still what A has read."}),
        Line("B's first swap", OUTCOMES, {"committed": "A was first, and B expects the old pointer."}),
        Line("B's second swap", OUTCOMES, {"refused": "An append conflicts with nothing."}),
        Line("The step with which B goes on after the lost swap", STEP, {"write": "Its data file is still good."}),
        Line("Data files that B writes in all", COUNT, {2: "It does not write its rows again."}),
        Line("Metadata files that B writes in all", COUNT, {1: "The first one is based on the old version."}),
    ],
    _two_facts,
    ("committed", "lost", "committed", "apply", 1, 2),
    nudge="A swap compares the pointer with what the writer has read.",
    look="`icedive lab run append append --order AABBABABAB`.",
    reason="The catalog accepts one swap of two from the same base. The loser reads the new metadata, applies its "
    "files to "
    "it and swaps again. It writes no data again, but a new metadata file.",
    needs_lab=True,
)


def _class_facts(_: Bench) -> Sequence[Any]:
    interfaces = [CLASSES[KINDS[name].api][0] for name in ("append", "cow-update", "mor-update", "compaction")]
    return [*interfaces, CLASSES[KINDS["cow-update"].api][1], CLASSES[KINDS["append"].api][1]]


INTERFACES = ChoiceEntry(("AppendFiles", "OverwriteFiles", "RowDelta", "RewriteFiles"))
IMPLEMENTATIONS = ChoiceEntry(("FastAppend", "MergeAppend", "BaseOverwriteFiles", "BaseRowDelta"))
INTERFACE = quiz(
    "Which interface of Iceberg's API commits each operation, and which class implements it?",
    [
        Line("INSERT", INTERFACES),
        Line("UPDATE in copy-on-write", INTERFACES, {"RowDelta": "It adds no delete files."}),
        Line("UPDATE in merge-on-read", INTERFACES, {"OverwriteFiles": "It replaces no data file."}),
        Line("Compaction", INTERFACES, {"OverwriteFiles": "The rows of the table stay the same."}),
        Line("The class of the UPDATE in copy-on-write", IMPLEMENTATIONS),
        Line("The class of Table.newAppend()", IMPLEMENTATIONS, {"FastAppend": "That is newFastAppend()."}),
    ],
    _class_facts,
    ("AppendFiles", "OverwriteFiles", "RowDelta", "RewriteFiles", "BaseOverwriteFiles", "MergeAppend"),
    nudge="Which of them adds only, which replaces files, and which adds deletes?",
    look="docs/concurrency.md, or `KINDS` and `CLASSES` of explorer.spec.commits.operations.",
    reason="AppendFiles adds files; newAppend() merges manifests, newFastAppend() does not. OverwriteFiles replaces "
    "data "
    "files, RowDelta adds data and delete files, and RewriteFiles replaces files without changing rows.",
    needs_lab=True,
)


def _conflict_facts(bench: Bench) -> Sequence[Any]:
    run = Run(bench, [Operation("compaction"), Operation("mor-delete")])
    before = len(run.rows())
    run.play("AABBBBBA")
    last = [event for event in run.events if event.writer == "A"][-1]
    written = sum(f.endswith(".metadata.json") for event in run.events if event.writer == "A" for f in event.files)
    return run.writer("A").state, last.step, written, before - len(run.rows())


CONFLICT = quiz(
    "A compaction (A) has read its files and written the new one. Then a merge-on-read DELETE (B) of a row in these "
    "files commits. Now A goes on.",
    [
        Line("The compaction's end", OUTCOMES, {"committed": "Then the deleted row would be back.",
                                                "lost": "It would not help to try the swap again."}),
        Line("The step in which that happens", STEP, {"swap": "The data conflict is found before the swap is tried."}),
        Line("Metadata files that the compaction writes", COUNT, {1: "It does not come so far."}),
        Line("Rows that readers see less than before", COUNT),
    ],
    _conflict_facts,
    ("refused", "apply", 0, 1),
    nudge="What is in the file that A has written, and what has B deleted?",
    look="`icedive lab run compaction mor-delete --order AABBBBBA`.",
    reason="A's new file still has the deleted row. So A validates in apply, before it tries to swap, finds the new "
    "delete "
    "file, and gives up. Compare-and-swap and retries alone would bring the row back.",
    needs_lab=True,
)  # fmt: skip


def _engine_facts(bench: Bench) -> Sequence[Any]:
    shared = SharedTable(bench)
    try:
        shared.delete(SPARK, "banana")
        shared.delete(PYICEBERG, "cherry")
        table = shared.table()
        by_spark, by_pyiceberg = table.diff("snapshot-1", "snapshot-2"), table.diff("snapshot-2", "snapshot-3")
        written = [one.record_count or 0 for one in by_pyiceberg.added if one.kind == "data_file"]
        deletes = [sum(one.kind == "position_deletes" for one in change.added) for change in (by_spark, by_pyiceberg)]
        reads = len(shared.read(PYICEBERG, "snapshot-2")), len(shared.read(SPARK, "snapshot-1"))
        return *deletes, len(written), sum(written), *reads
    finally:
        shared.drop()


TWO_ENGINES = quiz(
    "A table has four fruits in one data file, and write.delete.mode is merge-on-read. Spark deletes the banana "
    "(snapshot-2), then pyiceberg deletes the cherry (snapshot-3). Each of them can read every snapshot.",
    [
        Line("Delete files that Spark writes", COUNT, {0: "That would be copy-on-write."}),
        Line("Delete files that pyiceberg writes", COUNT, {1: "pyiceberg 0.12 cannot merge on read: it copies."}),
        Line("Data files that pyiceberg writes", COUNT, {0: "The fruits that are left must be in some file."}),
        Line(
            "Rows of them",
            COUNT,
            {3: "pyiceberg applies the delete file of Spark before it copies.", 1: "It copies all that is left."},
        ),
        Line("Fruits that pyiceberg sees in snapshot-2", COUNT, {4: "pyiceberg applies the delete file of Spark."}),
        Line("Fruits that Spark sees in snapshot-1", COUNT, {2: "Neither delete is in snapshot-1."}),
    ],
    _engine_facts,
    (1, 0, 1, 2, 3, 4),
    nudge="The property is a wish to the writer. Which of the two can write what it asks for?",
    look="the warning of pyiceberg: it falls back to copy-on-write.",
    reason="Spark writes a position delete file and leaves the data file. pyiceberg cannot, so it writes the two "
    "fruits that are left into a new data file. Both read every delete file and every snapshot of the other, because "
    "the table is what its metadata says, whoever wrote it.",
    needs_lab=True,
)
