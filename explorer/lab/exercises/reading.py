"""Exercises about metadata and its meaning: statuses of entries, sequence numbers, deletes, visible rows. Answers are
compared with the teaching tables, without Spark."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from explorer.lab.exercises.answers import Words, names_with_numbers, words
from explorer.lab.exercises.commits import Exercise, ExerciseResult
from explorer.spec.text.names import base_name, manifest_name, snapshot_ordinals
from explorer.storage.locate import locate
from explorer.storage.reader import TableReader
from explorer.table import Table

STATUS = {0: "EXISTING", 1: "ADDED", 2: "DELETED"}
GONE = ""
"""The answer if a reader sees no entry: the file is filtered out, or no manifest of the list names it."""
_HINTS: Mapping[tuple[str, str], str] = {
    ("ADDED", "EXISTING"): "ADDED holds only in the snapshot that added the manifest, or the file",
    ("EXISTING", "ADDED"): "this very snapshot added it",
    ("EXISTING", "DELETED"): "this very snapshot removed it, and says so",
    ("DELETED", "EXISTING"): "it was not removed: its manifest was written anew for another entry",
    ("DELETED", GONE): "DELETED is told once, by the snapshot that removed it; afterwards it is filtered out",
    ("EXISTING", GONE): "it was removed before",
    ("ADDED", GONE): "it was removed before, or is not there yet",
    ("ADDED", "DELETED"): "this very snapshot removed it, and says so",
    ("DELETED", "ADDED"): "this very snapshot added it",
    (GONE, "DELETED"): "in the snapshot that removes a file, its entry is there and says DELETED",
    (GONE, "EXISTING"): "nothing has removed it yet",
    (GONE, "ADDED"): "this very snapshot added it",
}


def _open(name: str) -> Table:
    return Table(TableReader(locate(f"demo.{name}")))


def _value_list(answer: Any, count: int) -> list[Any]:
    if isinstance(answer, str) or not isinstance(answer, Sequence) or len(answer) != count:
        raise ValueError(f"give {count} values: (..., ...)")
    return list(answer)


def _judge_statuses(name: str, places: Sequence[tuple[str, str]], logical: bool, _: Any, answer: Any) -> ExerciseResult:
    """Compare the status of each (snapshot, file): the logical one, or the stored one."""
    table, given = _open(name), _value_list(answer, len(places))
    for (snapshot, file), one in zip(places, given, strict=True):
        entries = [e for e in table.entries(snapshot) if e["file_path"].endswith(f"/{file}")]
        stored, reads = (
            (STATUS[entries[0]["status"]], entries[0]["logical_status"] or GONE) if entries else (GONE, GONE)
        )
        true, other = (reads, stored) if logical else (stored, reads)
        one = GONE if one is None else one
        if one == true:
            continue
        correction = f"{file} in {snapshot}: {true or 'no reader sees it'}, not {one or 'filtered out'}."
        if one == other:
            swapped = ("that is what is stored", "that is how it reads as of the snapshot")[0 if logical else 1]
            correction += f" {swapped[0].upper()}{swapped[1:]}."
        hint = _HINTS.get((one, true), f"a status is {', '.join(STATUS.values())} or {GONE!r}") if logical else ""
        why = entries[0]["reason"] if entries else f"no manifest of {snapshot} has it"
        return ExerciseResult(
            False, f"{correction} {f'{hint[0].upper()}{hint[1:]}. ' if hint else ''}(The entry: {why}.)"
        )
    return ExerciseResult(
        True, "; ".join(f"{f} in {s}: {one or 'not seen'}" for (s, f), one in zip(places, given, strict=True))
    )


def _judge_manifest_names(name: str, snapshot: str, _: Any, answer: Any) -> ExerciseResult:
    """Compare the names of the manifests in a snapshot's manifest list."""
    table = _open(name)
    ordinals = snapshot_ordinals(table.metadata)
    listed = {manifest_name(m, ordinals) for m in table.tree.manifests(table.resolve(snapshot).snapshot)}
    given = {answer} if isinstance(answer, str) else set(answer)
    cells = {c.manifest: c for c in table.lifecycle() if c.snapshot == snapshot}
    if more := sorted(given - listed):
        cell = cells.get(more[0])
        what = f"{cell.state}: {cell.reason}" if cell else f"{snapshot} neither lists nor replaces it"
        return ExerciseResult(False, f"{more[0]} is not in the list of {snapshot}: {what}.")
    if fewer := sorted(listed - given):
        missing = cells[fewer[0]]
        return ExerciseResult(False, f"{fewer[0]} is missing: it is {missing.state} by {snapshot}, {missing.reason}.")
    return ExerciseResult(True, f"The list of {snapshot} names {' and '.join(sorted(listed))}.")


def _judge_numbers(name: str, places: Sequence[tuple[str, str]], _: Any, answer: Any) -> ExerciseResult:
    """Compare the stored data sequence number of the entry of each (snapshot, file)."""
    table, given = _open(name), _value_list(answer, len(places))
    for (snapshot, file), one in zip(places, given, strict=True):
        [entry] = [e for e in table.entries(snapshot, view="all") if e["stored"]["file_path"].endswith(f"/{file}")]
        stored, read = entry["stored"]["sequence_number"], entry["inherited"]["sequence_number"]
        if one == stored:
            continue
        correction = f"{file} in {snapshot}: the file says {stored}, not {one}."
        if stored is None:
            hint = f"{one} is inherited from the manifest list: it was not known when the manifest was written"
            hint = hint if one == read else "an ADDED entry is written before the commit knows its number"
        elif one is None:
            hint = f"{STATUS[entry['stored']['status']]} entries must carry theirs: only ADDED ones inherit"
        else:
            hint = "a file keeps the number of the commit that added it, whoever writes its manifest anew"
        return ExerciseResult(False, f"{correction} {hint[0].upper()}{hint[1:]}.")
    return ExerciseResult(True, f"Stored: {', '.join(map(str, given))}. What is null is read from the manifest list.")


def _judge_row_counts(name: str, _: Any, answer: Any) -> ExerciseResult:
    """Compare the rows that the last snapshot wrote, and the rows of the files that it removed."""
    table, given = _open(name), tuple(_value_list(answer, 2))
    change = table.diff("snapshot-1", "snapshot-2")
    true = tuple(sum(c.record_count or 0 for c in side) for side in (change.added, change.removed))
    counts_text = f"snapshot-2 added a file of {true[0]} rows and removed one of {true[1]}."
    if given == true:
        return ExerciseResult(True, counts_text)
    hint = "Copy-on-write writes whole files: the rows that did not change too"
    if given[1:] == (0,):
        hint = "The old file is no part of the table any more: the new one has its other rows"
    return ExerciseResult(False, f"{counts_text} {hint}.")


def _judge_delete_targets(name: str, _: Any, answer: Any) -> ExerciseResult:
    """Compare the names of the data files that the only delete of a table applies to."""
    verdicts = {base_name(v.data.path): v for v in _open(name).deletes().verdicts}
    given = {answer} if isinstance(answer, str) else set(answer)
    if unknown := given - verdicts.keys():
        raise ValueError(f"no data file {sorted(unknown)[0]!r}: there are {', '.join(sorted(verdicts))}")
    for file, verdict in sorted(verdicts.items()):
        if (file in given) and not verdict.applies:
            return ExerciseResult(False, f"It does not apply to {file}: {verdict.against}.")
        if verdict.applies and file not in given:
            reasons = "; ".join(reason.words for reason in verdict.reasons)
            return ExerciseResult(False, f"It applies to {file}: {reasons}.")
    return ExerciseResult(True, f"To {', '.join(sorted(given))} alone: only there is the data older than the delete.")


def _judge_visible_rows(name: str, columns: Sequence[str], _: Any, answer: Any) -> ExerciseResult:
    """Compare the visible rows of a table, as tuples of columns."""
    table = _open(name)
    if isinstance(answer, str) or not all(
        isinstance(row, (tuple, list)) and len(row) == len(columns) for row in answer
    ):
        raise ValueError(f"give rows: (({', '.join(columns)}), ...)")
    given, seen, hidden = Counter(map(tuple, answer)), Counter[tuple[Any, ...]](), {}
    for file in table.files():
        if file["content"] == 0:
            for row in table.file_rows(file["file_path"]):
                values = tuple(row[c] for c in columns)
                if row["_deleted_by"] is None:
                    seen[values] += 1
                else:
                    hidden[values] = row["_deleted_by"]
    if more := list(given - seen):
        why = f"its row is hidden by {hidden[more[0]]}" if more[0] in hidden else "no data file has it"
        return ExerciseResult(False, f"{more[0]} does not survive: {why}.")
    if fewer := list(seen - given):
        return ExerciseResult(False, f"{fewer[0]} is seen too: no delete applies to the file and position where it is.")
    return ExerciseResult(True, f"Readers see {', '.join(map(str, sorted(seen)))}.")


def _judge_delete_counts(name: str, _: Any, answer: Any) -> ExerciseResult:
    """Compare the number of listed delete files, and of data files that they apply to."""
    listed, applying = _value_list(answer, 2)
    table = _open(name)
    deletes = table.deletes()
    true = sum(f["content"] != 0 for f in table.files()), len({v.data.path for v in deletes.verdicts if v.applies})
    counts_text = f"{true[0]} delete files are listed, and apply to {true[1]} data files."
    if (listed, applying) == true:
        return ExerciseResult(True, f"{counts_text} They dangle.")
    if applying != true[1]:
        why = deletes.why_alone(deletes.alone[0])
        return ExerciseResult(False, f"{counts_text} The new file has the rows without the deleted ones: {why}.")
    return ExerciseResult(
        False, f"{counts_text} Compaction removes data files; a delete file stays until something looks at it."
    )


def _judge_version(_: Any, answer: Any) -> ExerciseResult:
    """Check that a version of the rolled back table contains the mistake."""
    table = _open("branches_and_tags")
    place = table.resolve(answer)
    fruits = sorted(row["fruit"] for f in table.files(answer) for row in table.file_rows(f["file_path"], answer))
    contents = f"{answer} holds {', '.join(fruits)}."
    if "a mistake" in fruits:
        return ExerciseResult(True, contents)
    gone = place.snapshot is not None and place.snapshot.snapshot_id == table.metadata.current_snapshot_id
    hint = "The rollback took it out of main, not out of the table" if gone else "It came after, or in another line"
    return ExerciseResult(False, f"{contents} {hint}: look at the snapshots that are no ancestors of main.")


MANIFESTS = names_with_numbers("manifest")
FILTERED = ("filtered", "filtered out", "gone", "none", "not seen", "-")
STATUSES: Words = {**words(*STATUS.values()), **dict.fromkeys(FILTERED, GONE)}
_LIFE = [(f"snapshot-{n}", "data-2.parquet") for n in range(1, 6)]
FIRST_EXERCISES = (
    Exercise(
        "demo.tracked_delete: two inserts, then a delete of what the first wrote. Which manifests does the list of "
        "snapshot-3 name? Give names: ('manifest-1',).",
        partial(_judge_manifest_names, "tracked_delete", "snapshot-3"),
        ("manifest-2", "manifest-3"),
        MANIFESTS,
    ),
    Exercise(
        "demo.manifest_lifecycle: how does data-2.parquet read in each of the five snapshots? Give five statuses "
        "(ADDED, EXISTING, DELETED), and '' where no reader sees an entry: ('...', '...', '...', '...', '...').",
        partial(_judge_statuses, "manifest_lifecycle", _LIFE, True),
        ("ADDED", "EXISTING", "EXISTING", "DELETED", ""),
        STATUSES,
    ),
    Exercise(
        "demo.manifest_lifecycle: and the list of snapshot-5, the last?",
        partial(_judge_manifest_names, "manifest_lifecycle", "snapshot-5"),
        ("manifest-3", "manifest-5"),
        MANIFESTS,
    ),
)
"""The exercises of notebook 01: the metadata tree of a snapshot, and the meaning of its entries."""
STATUS_EXERCISES = (
    Exercise(
        "demo.manifest_lifecycle, snapshot-3: which statuses are stored in the entries of data-1, data-2 and data-3? "
        "Give three: ('...', '...', '...').",
        partial(
            _judge_statuses, "manifest_lifecycle", [("snapshot-3", f"data-{n}.parquet") for n in (1, 2, 3)], False
        ),
        ("DELETED", "EXISTING", "ADDED"),
        STATUSES,
    ),
    Exercise(
        "The same entries: which data sequence number is stored in each? Give three numbers, or None for null.",
        partial(_judge_numbers, "manifest_lifecycle", [("snapshot-3", f"data-{n}.parquet") for n in (1, 2, 3)]),
        (1, 1, None),
    ),
    Exercise(
        "demo.copy_on_write_update: of three rows one was updated. How many rows did snapshot-2 write, and how many "
        "had the file that it removed? Give both: (..., ...).",
        partial(_judge_row_counts, "copy_on_write_update"),
        (3, 3),
    ),
)  # fmt: skip
"""The exercises of notebook 02: what is stored, and what it means."""
DELETE_EXERCISES = (
    Exercise(
        "demo.equality_deletes: data-1, data-2 and data-3 each have a row with jack, and delete-1, written with "
        "data-2, deletes jack. To which of them does it apply? Give names: ('data-...', ...).",
        partial(_judge_delete_targets, "equality_deletes"),
        ("data-1.parquet",),
        names_with_numbers("data", ".parquet"),
    ),
    Exercise(
        "demo.deletion_vectors began with ('jack', 'red'), ('sarah', 'blue'), ('tom', 'green'); jack's color became "
        "yellow, then sarah was deleted. Which rows survive? Give all: (('...', '...'), ...).",
        partial(_judge_visible_rows, "deletion_vectors", ("name", "favorite_color")),
        (("jack", "yellow"), ("tom", "green")),
    ),
    Exercise(
        "demo.compaction_bin_pack: a merge-on-read DELETE wrote two delete files, then the data files were compacted. "
        "How many delete files does the last snapshot list, and to how many data files do they apply? Give both: "
        "(..., ...).",
        partial(_judge_delete_counts, "compaction_bin_pack"),
        (2, 0),
    ),
    Exercise(
        "demo.branches_and_tags: main was rolled back from a mistake. Give a version (snapshot-N, a branch, a tag) in "
        "which a reader still sees it.",
        _judge_version,
        "snapshot-6",
        names_with_numbers("snapshot"),
    ),
)  # fmt: skip
"""The exercises of notebook 03: which deletes apply, and which rows are visible."""
