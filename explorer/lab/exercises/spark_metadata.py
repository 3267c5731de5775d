"""Quizzes about metadata as tables of Spark SQL (notebook 09). What is right is counted here, without Spark."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import date
from typing import Any

from explorer.lab.exercises.entries import ChoiceEntry
from explorer.lab.exercises.quiz import Line, open_demo, quiz
from explorer.lab.exercises.reading import GONE
from explorer.lab.exercises.tree import COUNT
from explorer.spec.text.names import snapshot_name, snapshot_ordinals


def _status_facts(_: Any) -> Sequence[Any]:
    table = open_demo("manifest_lifecycle")
    counts = Counter(entry["logical_status"] or GONE for entry in table.entries("snapshot-3"))
    every = sum(len(table.entries(f"snapshot-{n}")) for n in range(1, 6))
    return counts["ADDED"], counts["EXISTING"], counts["DELETED"], counts[GONE], every


STATUS_COUNTS = quiz(
    "demo.manifest_lifecycle: snapshot-3 added data-3, and lists manifest-2 (data-1 DELETED, data-2 EXISTING) again. "
    "The "
    "view manifest_lifecycle_logical has all its entries. What does a GROUP BY logical_status count?",
    [
        Line("ADDED", COUNT),
        Line("EXISTING", COUNT),
        Line("DELETED", COUNT, {1: "Only snapshot-2 tells that data-1 was deleted."}),
        Line("null: filtered out", COUNT, {0: "The view has the entry, and no reader sees it."}),
        Line("Entries of the five snapshots together", COUNT),
    ],
    _status_facts,
    (1, 1, 0, 1, 11),
    nudge="The view has every stored entry; its logical status is for one snapshot.",
    look="the first query of this notebook, in the next cell.",
    reason="data-3 is ADDED, data-2 reads as EXISTING, and the DELETED entry of an earlier snapshot is filtered out: "
    "its "
    "logical status is null.",
)


def _author_facts(_: Any) -> Sequence[Any]:
    table = open_demo("manifest_lifecycle")
    ordinals = snapshot_ordinals(table.metadata)
    entries = table.entries("snapshot-4")
    named = {entry["file_path"].rsplit("/", 1)[-1]: entry for entry in entries}
    history = open_demo("long_history")
    added = {entry["snapshot_id"] for entry in history.entries()}
    return (
        snapshot_name(named["data-3.parquet"]["snapshot_id"], ordinals),
        snapshot_name(named["data-2.parquet"]["snapshot_id"], ordinals),
        len(history.files()),
        len(added),
    )


SNAPSHOTS = ChoiceEntry(tuple(f"snapshot-{n}" for n in range(1, 6)))
AUTHORS = quiz(
    "An entry of the inherited view has a snapshot_id: the snapshot that added the file, or that deleted it. In "
    "snapshot-4 "
    "of demo.manifest_lifecycle, which is it? And how many commits wrote the files of demo.long_history, four each?",
    [
        Line("data-3.parquet, which is EXISTING", SNAPSHOTS, {"snapshot-4": "It was there before."}),
        Line("data-2.parquet, which is DELETED", SNAPSHOTS, {"snapshot-1": "Of a DELETED entry it is who deleted it."}),
        Line("Files of demo.long_history", COUNT),
        Line("Commits that added them", COUNT, {3: "Manifests were merged, but each entry keeps its snapshot."}),
    ],
    _author_facts,
    ("snapshot-3", "snapshot-4", 1200, 300),
    nudge="The manifest list has the snapshot of an ADDED entry that stores none.",
    look="`icedive inspect entries demo.manifest_lifecycle -s snapshot-4 --view inherited`.",
    reason="An ADDED entry without a snapshot_id inherits that of its manifest. Later manifests store the id, so "
    "even after "
    "a merge it is known which commit added a file.",
)


def _day_facts(_: Any) -> Sequence[Any]:
    table = open_demo("partition_evolution")
    third = date(2024, 6, 3)
    hit = [entry for entry in table.entries() if _day(entry["partition"]) == third]
    first = [entry for entry in table.entries() if _day(entry["partition"]) == date(2024, 6, 1)]
    return (
        len({e["manifest_path"] for e in hit}),
        len(first),
        len({e["manifest_path"] for e in first}),
        first[0]["spec_id"],
    )


def _day(partition: Any) -> date:
    """The day of a partition of either spec."""
    if partition["ts_day"] is not None:
        return partition["ts_day"]  # type: ignore[no-any-return]
    return date.fromordinal(date(1970, 1, 1).toordinal() + partition["ts_hour"] // 24)


DAY = quiz(
    "demo.partition_evolution has three files of hours of 2024-06-01 (spec 0), which were merged into one manifest, "
    "then a "
    "file of each of the days 2024-06-03 and 2024-06-04 (spec 1), each in a manifest of its own.",
    [
        Line("Manifests that an overwrite of 2024-06-03 must write anew", COUNT),
        Line("Files of 2024-06-01", COUNT, {1: "They are files of hours."}),
        Line("Manifests that list them", COUNT, {3: "Each was written with its file, but later merged."}),
        Line("Their spec id", COUNT),
    ],
    _day_facts,
    (1, 3, 1, 0),
    nudge="A manifest is written anew if one of its entries is deleted.",
    look="the last query of this notebook: manifests by day and spec.",
    reason="An overwrite deletes the entries of one day, and replaces each manifest that has one of them. Hours and "
    "days are "
    "fields of two specs, so a query must look at both.",
)
