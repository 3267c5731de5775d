"""Quizzes about what a plan opens and skips (notebook 05)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from explorer.lab.exercises.entries import ChoiceEntry
from explorer.lab.exercises.quiz import Line, open_demo, quiz
from explorer.lab.exercises.tree import COUNT, LIST, MANIFEST, METADATA

JACK = "name = 'jack'"
PLACES = ChoiceEntry((METADATA, LIST, MANIFEST, "data file"))


def _bounds_facts(_: Any) -> Sequence[Any]:
    files = []
    for name in ("unsorted_files", "sorted_files"):
        plan = open_demo(name).plan(JACK)
        files += [plan.stages[0].left.files, plan.left.files]
    entries = open_demo("sorted_files").files(metrics=True)
    sure = sum(not entry["lower_bounds"][1] <= b"eve" <= entry["upper_bounds"][1] for entry in entries)
    place = MANIFEST if "lower_bounds" in entries[0] else LIST
    return files[0], files[1], files[3], sure, place


BOUNDS = quiz(
    "Twelve names are in four files of demo.unsorted_files, and in four files of demo.sorted_files, sorted by name. A "
    f"query has the filter {JACK}.",
    [
        Line("Data files of demo.unsorted_files", COUNT),
        Line("Files of it that the query opens", COUNT, {1: "All four have names before and after jack."}),
        Line("Files of demo.sorted_files that the query opens", COUNT, {4: "Sorted files do not overlap."}),
        Line("Files of demo.sorted_files that a query for eve skips", COUNT, {4: "eve is in one of them."}),
        Line(
            "Where the planner finds a file's least and greatest name",
            PLACES,
            {"data file": "It would have to open it."},
        ),
    ],
    _bounds_facts,
    (4, 4, 1, 3, MANIFEST),
    nudge="A file can be skipped if its least name is greater than jack, or its greatest is less.",
    look=f'`icedive plan demo.sorted_files "{JACK}" --stage files`.',
    reason="The entry of a file in its manifest has the bounds of each column, so a plan needs metadata only. In "
    "unsorted "
    "files every pair of bounds includes jack. In sorted files only one does, and the others are pruned.",
)


def _hidden_facts(_: Any) -> Sequence[Any]:
    table = open_demo("hidden_partitioning")
    facts: list[Any] = []
    for where in ("id = 2", "name = 'koala'", "seen >= '2024-03-06 14:00:00'"):
        plan = table.plan(where)
        facts.append(str(plan.specs[-1].inclusive).split(" ")[0])
    koala = table.plan("name = 'koala'")
    return *facts, next(stage.left.files for stage in koala.stages if stage.name == "partitions")


FIELDS = ChoiceEntry(("id_bucket", "name_trunc", "born_year", "joined_month", "paid_day", "seen_hour"))
HIDDEN = quiz(
    "demo.hidden_partitioning has partition fields made of its columns: bucket of id, truncate of name, year of born, "
    "month of joined, day of paid, hour of seen. Its newer spec has them all. A query names columns only. Which field "
    "does Iceberg use for each filter?",
    [
        Line("id = 2", FIELDS),
        Line("name = 'koala'", FIELDS),
        Line("seen >= '2024-03-06 14:00:00'", FIELDS),
        Line(
            "Files of the four whose partition may have name = 'koala'",
            COUNT,
            {4: "The partition tells kob, koa, ter and ted apart."},
        ),
    ],
    _hidden_facts,
    ("id_bucket", "name_trunc", "seen_hour", 1),
    nudge="Each field is a transform of one column.",
    look="`icedive plan demo.hidden_partitioning \"name = 'koala'\"`.",
    reason="Iceberg projects the filter of a column onto the fields made of that column: the bucket of 2, the first "
    "letters "
    "of koala, the hour of the time. Nobody who queries needs to know the partitioning.",
)


def _manifest_facts(_: Any) -> Sequence[Any]:
    plan = open_demo("partition_evolution").plan("ts >= '2024-06-03' AND ts < '2024-06-04'")
    first, left = plan.stages[0].left, plan.stages[1].left
    specs = {manifest["partition_spec_id"] for manifest in open_demo("partition_evolution").manifests()}
    place = LIST if "partitions" in open_demo("partition_evolution").manifests()[0] else MANIFEST
    return first.manifests, left.manifests, left.files, len(specs), place


MANIFEST_SKIP = quiz(
    "demo.partition_evolution has five files, first by hours, then by days. A query asks for one day: ts >= "
    "'2024-06-03' "
    "AND ts < '2024-06-04'.",
    [
        Line("Manifests in the list", COUNT),
        Line("Manifests that the plan opens", COUNT, {3: "Two of them have no partition of that day."}),
        Line("Data files that are left", COUNT),
        Line("Partition specs of these manifests", COUNT, {1: "Files keep the spec that they were written with."}),
        Line("Where the ranges are that skip a manifest", PLACES, {MANIFEST: "Then the plan would have to open it."}),
    ],
    _manifest_facts,
    (3, 1, 1, 2, LIST),
    nudge="What does a planner know of a manifest before it opens it?",
    look="`icedive plan demo.partition_evolution \"ts >= '2024-06-03' AND ts < '2024-06-04'\" --stage manifests`.",
    reason="The manifest list has the range of partition values of each manifest. The plan skips two of three by it, "
    "and "
    "never opens them.",
)


def _large_facts(_: Any) -> Sequence[Any]:
    table = open_demo("long_history")
    plan = table.plan("region = 'asia' AND id > 1190")
    by_name = {stage.name: stage.left for stage in plan.stages}
    data = sum(file["file_size_in_bytes"] for file in table.files())
    manifests = sum(manifest["manifest_length"] for manifest in table.manifests())
    return by_name["snapshot"].files, by_name["snapshot"].manifests, by_name["partitions"].files, plan.left.files, (
        "less" if manifests < data else "more"
    )  # fmt: skip


LARGE = quiz(
    "demo.long_history is partitioned by region, and three hundred commits wrote four files each. Its manifests were "
    "merged every hundred commits. A query has the filter region = 'asia' AND id > 1190. Estimate, then look it up.",
    [
        Line("Data files of the table", COUNT),
        Line("Manifests in its list", COUNT, {300: "They were merged."}),
        Line("Files that the partition leaves", COUNT, {1200: "There are five regions."}),
        Line("Files that the bounds of id leave", COUNT, {240: "ids grow with the commits."}),
        Line("The manifests have, compared with the data files, bytes", ChoiceEntry(("less", "more"))),
    ],
    _large_facts,
    (1200, 3, 240, 2, "less"),
    nudge="There are five regions, and ids grow with each commit.",
    look="`icedive plan demo.long_history \"region = 'asia' AND id > 1190\"`.",
    reason="One node reads three manifests and knows of 1,200 files which two may match: the partition values leave a "
    "fifth, the bounds two. No folder was listed, and no data file was opened.",
)
