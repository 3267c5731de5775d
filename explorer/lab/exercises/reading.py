"""Exercises about metadata and its meaning: statuses of entries, sequence numbers, deletes. Answers are
compared with the teaching tables, without Spark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from explorer.lab.exercises.answers import Words, names_with_numbers, words
from explorer.lab.exercises.entries import ChoiceEntry, NumberEntry, SeveralEntry, rows
from explorer.lab.exercises.exercise import Exercise, ExerciseResult, WrongForm
from explorer.lab.exercises.quiz import score
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
    ("DELETED", GONE): "DELETED is told once, by the snapshot that removed it. No later snapshot reads it: either the "
    "entry is filtered out, or its manifest is no longer listed",
    ("EXISTING", GONE): "it was removed before",
    ("ADDED", GONE): "it was removed before, or is not there yet",
    ("ADDED", "DELETED"): "this very snapshot removed it, and says so",
    ("DELETED", "ADDED"): "this very snapshot added it",
    (GONE, "DELETED"): "in the snapshot that removes a file, its entry is there and says DELETED",
    (GONE, "EXISTING"): "nothing has removed it yet",
    (GONE, "ADDED"): "this very snapshot added it",
}

_LEFT_OUT: Mapping[str, str] = {
    "rewritten": "{} wrote its entries anew, into another manifest",
    "merged": "{} merged its entries with those of others, into another manifest",
    "dropped": "{} left it out, because it holds only DELETED entries",
}
"""Why a snapshot does not list a manifest of its parent, by the manifest's state there."""


def _open(name: str) -> Table:
    return Table(TableReader(locate(f"demo.{name}")))


def _value_list(answer: Any, count: int) -> list[Any]:
    if isinstance(answer, str) or not isinstance(answer, Sequence) or len(answer) != count:
        raise WrongForm(f"give {count} values: (..., ...)")
    return list(answer)


def _score(given: Sequence[Any], true: Sequence[Any]) -> str:
    return score(sum(one == other for one, other in zip(given, true, strict=True)), len(true))


def _judge_statuses(name: str, places: Sequence[tuple[str, str]], logical: bool, _: Any, answer: Any) -> ExerciseResult:
    """Compare the status of each (snapshot, file): the logical one, or the stored one."""
    table, given = _open(name), _value_list(answer, len(places))
    truth = [_statuses(table, snapshot, file) for snapshot, file in places]
    facts = "; ".join(
        f"{file} in {snapshot}: {(reads if logical else stored) or 'no reader sees it'}"
        for (snapshot, file), (stored, reads) in zip(places, truth, strict=True)
    )
    told = _score([one or GONE for one in given], [pair[logical] for pair in truth])
    for (snapshot, file), (stored, reads), one in zip(places, truth, given, strict=True):
        true, other = (reads, stored) if logical else (stored, reads)
        one = GONE if one is None else one
        if one == true:
            continue
        reply = [f"{told} {file} in {snapshot}: {f'not {one}' if one else 'its entry is there'}."]
        if one == other:
            reply.append("That is how it reads as of the snapshot." if not logical else "That is what is stored.")
        if logical and len({file for _, file in places}) == 1 and given.count("ADDED") > 1:
            reply.append("You have ADDED more than once, but one commit adds a file.")
        if logical:
            hint = _HINTS.get((one, true), f"a status is {', '.join(STATUS.values())} or {GONE!r} (no reader sees it)")
            reply.append(f"{hint[0].upper()}{hint[1:]}.")
        return ExerciseResult(False, " ".join(reply), facts)
    return ExerciseResult(True, "Yes.", f"{facts}.")


def _statuses(table: Table, snapshot: str, file: str) -> tuple[str, str]:
    """The stored and the logical status of a file's entry in a snapshot."""
    entries = [e for e in table.entries(snapshot) if e["file_path"].endswith(f"/{file}")]
    if not entries:
        return GONE, GONE
    return STATUS[entries[0]["status"]], entries[0]["logical_status"] or GONE


def _judge_manifest_names(name: str, snapshot: str, _: Any, answer: Any) -> ExerciseResult:
    """Compare the names of the manifests in a snapshot's manifest list."""
    table = _open(name)
    ordinals = snapshot_ordinals(table.metadata)
    listed = {manifest_name(m, ordinals) for m in table.tree.manifests(table.resolve(snapshot).snapshot)}
    given = {answer} if isinstance(answer, str) else set(answer)
    cells = {c.manifest: c for c in table.lifecycle() if c.snapshot == snapshot}
    facts = f"The list of {snapshot} names {' and '.join(sorted(listed))}."
    if more := sorted(given - listed):
        cell = cells.get(more[0])
        why = _LEFT_OUT[cell.state].format(snapshot) if cell else f"{snapshot} neither lists nor replaces it"
        return ExerciseResult(False, f"{more[0]} is not in the list of {snapshot}: {why}.", facts)
    if fewer := sorted(listed - given):
        missing = cells[fewer[0]]
        return ExerciseResult(False, f"One more is in the list: it is {missing.state} by {snapshot}.", facts)
    return ExerciseResult(True, "Yes.", facts)


def _judge_numbers(name: str, places: Sequence[tuple[str, str]], _: Any, answer: Any) -> ExerciseResult:
    """Compare the stored data sequence number of the entry of each (snapshot, file)."""
    table, given = _open(name), _value_list(answer, len(places))
    wrong, facts, right = "", [], 0
    for (snapshot, file), one in zip(places, given, strict=True):
        [entry] = [e for e in table.entries(snapshot, view="all") if e["stored"]["file_path"].endswith(f"/{file}")]
        stored, read = entry["stored"]["sequence_number"], entry["inherited"]["sequence_number"]
        facts.append(f"{file} {'null' if stored is None else stored}")
        right += one == stored
        if one == stored or wrong:
            continue
        if stored is None:
            hint = f"{one} is inherited from the manifest list: it was not known when the manifest was written"
            hint = hint if one == read else "an ADDED entry is written before the commit knows its number"
        elif one is None:
            hint = f"{STATUS[entry['stored']['status']]} entries must carry theirs: only ADDED ones inherit"
        else:
            hint = "a file keeps the number of the commit that added it, whoever writes its manifest anew"
        wrong = f"{file} in {snapshot}: not {'null' if one is None else one}. {hint[0].upper()}{hint[1:]}."
    facts_text = f"Stored: {', '.join(facts)}. What is null is read from the manifest list."
    if wrong:
        return ExerciseResult(False, f"{score(right, len(places))} {wrong}", facts_text)
    return ExerciseResult(True, "Yes.", facts_text)


def _judge_row_counts(name: str, _: Any, answer: Any) -> ExerciseResult:
    """Compare the rows that the last snapshot wrote, and the rows of the files that it removed."""
    table, given = _open(name), tuple(_value_list(answer, 2))
    change = table.diff("snapshot-1", "snapshot-2")
    true = tuple(sum(c.record_count or 0 for c in side) for side in (change.added, change.removed))
    counts_text = f"snapshot-2 added a file of {true[0]} rows and removed one of {true[1]}."
    if given == true:
        return ExerciseResult(True, "Yes.", counts_text)
    hint = "Copy-on-write writes whole files: the rows that did not change too"
    if given[1:] == (0,):
        hint = "The old file is no part of the table any more: the new one has its other rows"
    return ExerciseResult(False, f"{_score(given, true)} {hint}.", counts_text)


def _judge_delete_targets(name: str, _: Any, answer: Any) -> ExerciseResult:
    """Compare the names of the data files that the only delete of a table applies to."""
    verdicts = {base_name(v.data.path): v for v in _open(name).deletes().verdicts}
    given = {answer} if isinstance(answer, str) else set(answer)
    if unknown := given - verdicts.keys():
        raise WrongForm(f"no data file {sorted(unknown)[0]!r}: there are {', '.join(sorted(verdicts))}")
    hidden = sorted(file for file, verdict in verdicts.items() if verdict.applies)
    facts = f"It applies to {', '.join(hidden)} alone: only there is the data older than the delete."
    for file, verdict in sorted(verdicts.items()):
        if file in given and not verdict.applies:
            return ExerciseResult(False, f"It does not apply to {file}: {verdict.against}.", facts)
    if given < set(hidden):
        return ExerciseResult(False, "It applies to a file that you left out: compare the sequence numbers.", facts)
    return ExerciseResult(True, "Yes.", facts)


def _judge_delete_counts(name: str, _: Any, answer: Any) -> ExerciseResult:
    """Compare the number of listed delete files, and of data files that they apply to."""
    listed, applying = _value_list(answer, 2)
    table = _open(name)
    deletes = table.deletes()
    true = sum(f["content"] != 0 for f in table.files()), len({v.data.path for v in deletes.verdicts if v.applies})
    counts_text = f"{true[0]} delete files are listed, and apply to {true[1]} data files."
    if (listed, applying) == true:
        return ExerciseResult(True, "Yes.", f"{counts_text} They dangle.")
    if applying != true[1]:
        why = deletes.why_alone(deletes.alone[0])
        hint = f"The new file has the rows without the deleted ones: {why}."
    else:
        hint = "Compaction removes data files; a delete file stays until something looks at it."
    return ExerciseResult(False, f"{_score((listed, applying), true)} {hint}", counts_text)


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
LOGICAL = ChoiceEntry(("ADDED", "EXISTING", "DELETED", GONE), ((GONE, "no reader sees it"),))
STORED = ChoiceEntry(("ADDED", "EXISTING", "DELETED"))
_LIFE = [(f"snapshot-{n}", "data-2.parquet") for n in range(1, 6)]
_AT_3 = [("snapshot-3", f"data-{n}.parquet") for n in (1, 2, 3)]
DELETED_MANIFEST = Exercise(
    "demo.tracked_delete: two inserts, then a delete of what the first wrote. Which manifests does the list of "
    "snapshot-3 name?",
    partial(_judge_manifest_names, "tracked_delete", "snapshot-3"),
    ("manifest-2", "manifest-3"),
    SeveralEntry(("manifest-1", "manifest-2", "manifest-3")),
    nudge="A manifest never changes. Where can the entry of the deleted file say DELETED?",
    look="the manifest list in the graph of demo.tracked_delete, or `icedive history lifecycle demo.tracked_delete`.",
    reason="The delete writes the entries of manifest-1 anew, as manifest-3, and the list names that one instead. "
    "manifest-2 is not affected, so the list carries it.",
    words=MANIFESTS,
)
FIVE_STATUSES = Exercise(
    "demo.manifest_lifecycle: snapshot-1 adds data-1 and data-2, snapshot-2 deletes data-1, snapshot-3 adds data-3, "
    "snapshot-4 deletes data-2, snapshot-5 adds data-4. What does the entry of data-2.parquet mean to a reader of "
    "each snapshot?",
    partial(_judge_statuses, "manifest_lifecycle", _LIFE, True),
    ("ADDED", "EXISTING", "EXISTING", "DELETED", ""),
    rows([f"snapshot-{n}" for n in range(1, 6)], LOGICAL),
    nudge="A status holds in one snapshot: the one that added the manifest. What does the next snapshot read?",
    look="the graph of demo.manifest_lifecycle: step with [ and ], or "
    "`icedive inspect file demo.manifest_lifecycle data-2.parquet`.",
    reason="ADDED by an earlier snapshot reads as EXISTING. The snapshot that deletes the file says DELETED. No later "
    "snapshot reads it: either the entry is filtered out, or its manifest is no longer listed.",
    words=STATUSES,
)
STORED_STATUSES = Exercise(
    "demo.manifest_lifecycle, snapshot-3: which status is stored in the entry of each file?",
    partial(_judge_statuses, "manifest_lifecycle", _AT_3, False),
    ("DELETED", "EXISTING", "ADDED"),
    rows([file for _, file in _AT_3], STORED),
    nudge="The file of a manifest does not change when a later snapshot reads it. Which snapshot wrote each entry?",
    look="`icedive inspect entries demo.manifest_lifecycle -s snapshot-3 --view stored`.",
    reason="snapshot-2 wrote data-1 as DELETED and data-2 as EXISTING, into manifest-2. snapshot-3 wrote data-3 as "
    "ADDED, and left manifest-2 as it is.",
    words=STATUSES,
)
STORED_NUMBERS = Exercise(
    "demo.manifest_lifecycle: the entries that the list of snapshot-3 leads to. Which data sequence number is stored "
    "in each?",
    partial(_judge_numbers, "manifest_lifecycle", _AT_3),
    (1, 1, None),
    rows([file for _, file in _AT_3], NumberEntry(or_null=True)),
    nudge="Which of them were written before their commit had a number?",
    look="`icedive inspect entries demo.manifest_lifecycle -s snapshot-3 --view all --output json`: stored and "
    "inherited.",
    reason="An ADDED entry stores null and inherits the number of its manifest, because a retry of the commit may get "
    "another number. EXISTING and DELETED entries must store the number of the commit that added the file.",
)
ONE_ROW = Exercise(
    "demo.copy_on_write_update: of three rows in one file one was updated.",
    partial(_judge_row_counts, "copy_on_write_update"),
    (3, 3),
    rows(("Rows that snapshot-2 wrote", "Rows of the file that it removed"), NumberEntry()),
    nudge="Can a writer change one row of a Parquet file?",
    look="`icedive diff demo.copy_on_write_update snapshot-1 snapshot-2`.",
    reason="A data file never changes. Copy-on-write writes a new file with all three rows, and removes the old one.",
)
DELETE_TARGETS = Exercise(
    "demo.equality_deletes: data-1, data-2 and data-3 each have a row with jack. delete-1, which was committed "
    "together with data-2, deletes jack. To which data files does it apply?",
    partial(_judge_delete_targets, "equality_deletes"),
    ("data-1.parquet",),
    SeveralEntry(tuple(f"data-{n}.parquet" for n in (1, 2, 3))),
    nudge="Which of the files were in the table before the commit that added delete-1?",
    look="`icedive inspect deletes demo.equality_deletes`: the reason beside each pair.",
    reason="An equality delete applies only where the data sequence number is strictly less than its own. data-2 has "
    "the same number, so the new row of the update stays; data-3 came later.",
    words=names_with_numbers("data", ".parquet"),
)
DANGLING = Exercise(
    "demo.compaction_bin_pack: a merge-on-read DELETE wrote two delete files. Then a compaction of the data files "
    "wrote the rows again without the deleted ones.",
    partial(_judge_delete_counts, "compaction_bin_pack"),
    (2, 0),
    rows(("Delete files that the last snapshot lists", "Data files to which they apply"), NumberEntry()),
    nudge="A compaction of data files removes data files. What else would have to be removed?",
    look="`icedive inspect deletes demo.compaction_bin_pack`: what dangles.",
    reason="The delete files name data files that are gone, so they hide nothing. Nothing has removed them yet: "
    "rewrite_position_delete_files does.",
)
MISTAKE = Exercise(
    "demo.branches_and_tags: main was rolled back from a mistake. In which version does a reader still see it?",
    _judge_version,
    "snapshot-6",
    ChoiceEntry((*(f"snapshot-{n}" for n in range(1, 7)), "main", "opening")),
    nudge="A rollback deletes no snapshot. Which snapshot was current just before it?",
    look="`icedive history lineage demo.branches_and_tags`: the snapshots that are no ancestors of main.",
    reason="The rollback moved main back to an ancestor. The snapshot with the mistake is still in the metadata file, "
    "until it expires.",
    words=names_with_numbers("snapshot"),
)
FIRST_EXERCISES = (DELETED_MANIFEST, FIVE_STATUSES)
STATUS_EXERCISES = (STORED_STATUSES, STORED_NUMBERS, ONE_ROW)
DELETE_EXERCISES = (DELETE_TARGETS, DANGLING, MISTAKE)
