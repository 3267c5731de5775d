"""Quizzes about changes of rows: copy-on-write, merge-on-read, compaction and time travel (notebooks 02 and 03)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from explorer.lab.exercises.entries import ChoiceEntry
from explorer.lab.exercises.quiz import Line, open_demo, quiz
from explorer.lab.exercises.reading import STATUS, STORED
from explorer.lab.exercises.tree import COUNT
from explorer.reports.row_count import live_rows
from explorer.spec.text.names import base_name


def _copy_facts(_: Any) -> Sequence[Any]:
    table = open_demo("copy_on_write_update")
    change = table.diff("snapshot-1", "snapshot-2")
    statuses = {base_name(entry["file_path"]): STATUS[entry["status"]] for entry in table.entries("snapshot-2")}
    old, new = base_name(change.removed[0].file_path), base_name(change.added[0].file_path)
    deletes = sum(file["content"] != 0 for file in table.files())
    return len(change.added), statuses[old], statuses[new], len(table.manifests()), deletes


COPY_ON_WRITE = quiz(
    "demo.copy_on_write_update: one file of three rows, and an UPDATE of one of them in copy-on-write.",
    [
        Line("Data files that the UPDATE wrote", COUNT, {0: "The changed row must be in some file."}),
        Line(
            "The old file's status in the entries of snapshot-2", STORED, {"EXISTING": "Its rows are in the new file."}
        ),
        Line("The new file's status there", STORED),
        Line(
            "Manifests in the list of snapshot-2",
            COUNT,
            {1: "The new file comes in a manifest of its own.", 3: "The list leaves the old manifest out."},
        ),
        Line("Delete files that a reader must apply", COUNT, {1: "That would be merge-on-read."}),
    ],
    _copy_facts,
    (1, "DELETED", "ADDED", 2, 0),
    nudge="Copy-on-write leaves the work to the writer.",
    look="`icedive diff demo.copy_on_write_update snapshot-1 snapshot-2`, and "
    "`icedive inspect entries demo.copy_on_write_update`.",
    reason="The writer copies the rows that did not change into a new file, with the changed one. The old file is "
    "DELETED in the manifest that replaces the one that had it. So a write costs a whole file, and a reader has "
    "nothing to merge.",
)


def _merge_facts(_: Any) -> Sequence[Any]:
    table = open_demo("position_deletes")
    change = table.diff("snapshot-1", "snapshot-2")
    kinds = Counter(one.kind for one in change.added)
    manifests = Counter(manifest["content"] for manifest in table.manifests())
    new_rows = sum(one.record_count or 0 for one in change.added if one.kind == "data_file")
    return (
        kinds["data_file"],
        kinds["position_deletes"],
        len(change.removed),
        new_rows,
        manifests["data"],
        manifests["deletes"],
    )


MERGE_ON_READ = quiz(
    "demo.position_deletes: one file of three rows, and an UPDATE of one of them in merge-on-read.",
    [
        Line("Data files that the UPDATE added", COUNT, {0: "The new row must be in some file."}),
        Line("Delete files that it added", COUNT, {0: "Something must hide the old row."}),
        Line("Data files that it removed", COUNT, {1: "The file with 3 rows stays in the table."}),
        Line("Rows in the new data file", COUNT, {3: "That would be copy-on-write."}),
        Line("Manifests of data files in the list", COUNT, {1: "The commit adds one for its new file."}),
        Line("Manifests of delete files in the list", COUNT, {0: "Delete files are tracked apart from data files."}),
    ],
    _merge_facts,
    (1, 1, 0, 1, 2, 1),
    nudge="Merge-on-read only adds files.",
    look="`icedive diff demo.position_deletes snapshot-1 snapshot-2`, and "
    "`icedive inspect manifests demo.position_deletes`.",
    reason="An update is a delete and an insert: a delete file hides the old row, a data file has the new one, and "
    "the file with 3 rows stays. A manifest has either data or delete files, and the list says which, so a "
    "reader loads deletes first.",
)


def _content_facts(_: Any) -> Sequence[Any]:
    columns = {}
    for name, content in (("position_deletes", 1), ("equality_deletes", 2)):
        table = open_demo(name)
        [path] = [file["file_path"] for file in table.files() if file["content"] == content]
        columns[content] = set(table.delete_contents(path).columns)
    kinds = {frozenset({1}): POSITION, frozenset({2}): EQUALITY, frozenset(): NEITHER}
    wanted = ("file_path", "pos", "name", "condition")
    return [kinds[frozenset(c for c, names in columns.items() if one in names)] for one in wanted]


POSITION, EQUALITY, NEITHER = "a position delete file", "an equality delete file", "neither"
DELETE_KINDS = ChoiceEntry((POSITION, EQUALITY, NEITHER))
DELETE_CONTENTS = quiz(
    "jack's row is to be hidden. demo.position_deletes and demo.equality_deletes do it in two ways. Which delete file "
    "has each of these?",
    [
        Line("The path of the data file", DELETE_KINDS, {EQUALITY: "It applies to every older file."}),
        Line("The position of the row in it", DELETE_KINDS, {EQUALITY: "Its writer did not read the data file."}),
        Line("The name jack", DELETE_KINDS, {POSITION: "It does not look at values."}),
        Line("A condition, such as name < 'k'", DELETE_KINDS, {EQUALITY: "It has values, and equal ones are hidden."}),
    ],
    _content_facts,
    (POSITION, POSITION, EQUALITY, NEITHER),
    nudge="Which of the two writers has to read the data first?",
    look="`icedive inspect file demo.equality_deletes delete-1.parquet --show deletes`, and the same of the delete "
    "file "
    "of demo.position_deletes.",
    reason="A position delete names a file and a position, so its writer must find the row first. An equality delete "
    "has "
    "values of some columns, so its writer reads nothing, and readers compare every row of older files with them.",
)


def _vector_facts(_: Any) -> Sequence[Any]:
    table = open_demo("deletion_vectors")
    files = [table.files(f"snapshot-{n}") for n in (2, 3)]
    vectors = [[file for file in listed if file["content"] == 1] for listed in files]
    puffin_files = {file["file_path"] for listed in vectors for file in listed}
    return (
        len(vectors[0]),
        len(vectors[1]),
        len(puffin_files),
        sum(file["record_count"] for file in vectors[1]),
        len(files[1]) - len(vectors[1]),
        live_rows(table, "snapshot-3").rows,
    )


VECTORS = quiz(
    "demo.deletion_vectors is of format version 3. One file had (jack, red), (sarah, blue) and (tom, green). In "
    "merge-on-read, snapshot-2 changed jack's color to yellow, and snapshot-3 deleted sarah.",
    [
        Line("Deletion vectors that a reader of snapshot-2 applies", COUNT, {0: "Something must hide the old row."}),
        Line(
            "Deletion vectors that a reader of snapshot-3 applies",
            COUNT,
            {2: "A data file has at most one vector in a snapshot."},
        ),
        Line(
            "Puffin files of snapshot-2 and snapshot-3 together",
            COUNT,
            {1: "A commit changes no Puffin file."},
        ),
        Line(
            "Positions in the vectors of snapshot-3",
            COUNT,
            {1: "The old row of jack stays hidden, too."},
        ),
        Line("Data files that snapshot-3 has", COUNT, {1: "The new row of jack must be in some file."}),
        Line("Rows that a reader of snapshot-3 sees", COUNT, {3: "sarah is deleted."}),
    ],
    _vector_facts,
    (1, 1, 2, 2, 2, 2),
    nudge="An update deletes one row and inserts another. How many vectors may a data file have?",
    look="`icedive inspect deletes demo.deletion_vectors`, and "
    "`icedive diff demo.deletion_vectors snapshot-2 snapshot-3`.",
    reason="A data file has at most one vector in a snapshot. So snapshot-3 wrote a new vector with both positions, in "
    "a new Puffin file, and removed the entry of the old one. The new row of jack is in a file of its own, to which no "
    "delete applies.",
)


def _compaction_facts(_: Any) -> Sequence[Any]:
    table = open_demo("compaction_bin_pack")
    change = table.diff("snapshot-4", "snapshot-5")
    after = sum(f["content"] == 0 for f in table.files("snapshot-5"))
    rows = live_rows(table, "snapshot-4").rows, live_rows(table, "snapshot-5").rows
    written = sum(one.record_count or 0 for one in change.added)
    return after, sum(one.record_count or 0 for one in change.removed), written, rows[1] - rows[0]


COMPACTION = quiz(
    "demo.compaction_bin_pack: three files of four rows. snapshot-4 is a DELETE of two rows in merge-on-read, "
    "snapshot-5 a compaction of the data files.",
    [
        Line("Data files after the compaction", COUNT),
        Line("Rows of the files that it removed", COUNT, {10: "They still have the rows that deletes hide."}),
        Line("Rows of the file that it wrote", COUNT, {12: "Deleted rows are not written again."}),
        Line("Rows that a reader sees more than before", COUNT),
    ],
    _compaction_facts,
    (1, 12, 10, 0),
    nudge="A compaction changes files, not the rows that readers see.",
    look="`icedive diff demo.compaction_bin_pack snapshot-4 snapshot-5`.",
    reason="The compaction reads the small files with their deletes, and writes the rows that are left into one file. "
    "Readers see the same rows, and open one data file.",
)


def _history_facts(_: Any) -> Sequence[Any]:
    table = open_demo("branches_and_tags")
    log = table.current_log()
    kinds = Counter(entry.kind for entry in table.lineage())
    ancestors = kinds["ancestor"] + kinds["current"]
    return len(table.metadata.snapshots), ancestors, log[-1].snapshot, log[-2].snapshot, len(table.refs)


SNAPSHOTS_6 = ChoiceEntry(tuple(f"snapshot-{n}" for n in range(1, 7)))
HISTORY = quiz(
    "demo.branches_and_tags has six snapshots in its metadata file. snapshot-1 has a tag, and snapshot-2 is on a "
    "branch of its own. snapshot-3 was staged, snapshot-4 is an append on main, and snapshot-5 is the cherry-pick of "
    "snapshot-3. Later, main was rolled back by one snapshot.",
    [
        Line("Snapshots that a reader can still travel to", COUNT, {5: "The rollback removed none."}),
        Line("Snapshots of main: the current one and its ancestors", COUNT, {6: "Not every snapshot is on main."}),
        Line("The current snapshot", SNAPSHOTS_6, {"snapshot-6": "The rollback went back from it."}),
        Line("What was current before the rollback", SNAPSHOTS_6),
        Line("Branches and tags, with main", COUNT),
    ],
    _history_facts,
    (6, 3, "snapshot-5", "snapshot-6", 3),
    nudge="The log says what was current when. The parents say what was committed on what.",
    look="`icedive history lineage demo.branches_and_tags`, and `icedive inspect refs demo.branches_and_tags`.",
    reason="A rollback points main to an older snapshot and writes that into the log. All snapshots stay in the "
    "metadata "
    "file until they expire, so time travel finds them.",
)


def _travel_facts(_: Any) -> Sequence[Any]:
    table = open_demo("three_inserts")
    rows = [live_rows(table, snapshot).rows for snapshot in ("snapshot-1", "snapshot-2", "main")]
    older = open_demo("three_inserts")
    older.files("snapshot-1")
    written = older.metadata.metadata_location != table.metadata.metadata_location
    return *rows, int(written)


TIME_TRAVEL = quiz(
    "demo.three_inserts: each INSERT wrote one row.",
    [
        Line("Rows that a reader of snapshot-1 sees", COUNT, {3: "It reads the list of snapshot-1."}),
        Line("Rows that a reader of snapshot-2 sees", COUNT, {3: "It reads the list of snapshot-2."}),
        Line("Rows that a reader of main sees", COUNT),
        Line("Metadata files that a read of snapshot-1 writes", COUNT, {1: "That would be a rollback."}),
    ],
    _travel_facts,
    (1, 2, 3, 0),
    nudge="A reader chooses a snapshot in the metadata file, and follows its list.",
    look="`icedive count demo.three_inserts -s snapshot-1`.",
    reason="A reader of an older snapshot finds it in the metadata file, opens the manifest list of that snapshot, "
    "and writes nothing.",
)
