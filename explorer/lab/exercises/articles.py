"""Exercises to find the wrong sentence of an article; docs/errata.md has all errors. Tables decide what is wrong."""

from __future__ import annotations

from typing import Any

from explorer.lab.exercises.quiz import Sentence, article_error, open_demo
from explorer.lab.exercises.tree import LIST, MANIFEST, file_format, files_by_kind
from explorer.lab.stepper import Run
from explorer.spec.commits.operations import Operation


def _points_to_manifests(_: Any) -> bool:
    return any(snapshot.get("manifests") for snapshot in open_demo("three_inserts").metadata.raw["snapshots"])


def _grows(_: Any) -> bool:
    log = open_demo("three_inserts").metadata
    return len(log.metadata_log) == len(log.snapshots)


TREE_ERROR = article_error(
    [
        Sentence(
            "The manifest list is an Avro file, which keeps track of all manifests of a snapshot.",
            lambda _: file_format(files_by_kind(open_demo("three_inserts"))[LIST]) == "Avro",
            "The list begins as Avro files do, and has a record for each manifest.",
        ),
        Sentence(
            "For each change a new version of the metadata file is created.",
            _grows,
            "Its log has a file for CREATE TABLE and for each INSERT but the last.",
        ),
        Sentence(
            "metadata.json keeps pointing to the manifest.",
            _points_to_manifests,
            "A snapshot in metadata.json names its manifest list. Only the list names manifests.",
        ),
        Sentence(
            "The metadata file has the schema, the partitioning and the list of snapshots.",
            lambda _: {"schemas", "partition-specs", "snapshots"} <= set(open_demo("orders").metadata.raw),
            "These are fields of the JSON document.",
        ),
    ],
    "c",
    nudge="How many layers are between the metadata file and a data file?",
    look="`icedive inspect metadata demo.three_inserts`: what a snapshot names.",
    reason="Between the metadata file and the manifests is the manifest list, with the counts and ranges that let a "
    "reader "
    "skip manifests.",
)
MANIFEST_ERROR = article_error(
    [
        Sentence(
            "At the bottom are data files: Parquet, ORC or Avro.",
            lambda _: {f["file_format"] for f in open_demo("events").files()} == {"PARQUET", "ORC", "AVRO"},
            "demo.events has all three.",
        ),
        Sentence(
            "A manifest file is a Parquet file that lists data files.",
            lambda _: file_format(files_by_kind(open_demo("three_inserts"))[MANIFEST]) == "Parquet",
            "Manifests are Avro, whatever the format of the data files.",
        ),
        Sentence(
            "The manifest records file sizes and record counts.",
            lambda _: {"file_size_in_bytes", "record_count"} <= set(open_demo("events").entries(view="stored")[0]),
            "They are fields of each entry.",
        ),
        Sentence(
            "The manifest list says how many files were added, existing and deleted.",
            lambda _: {"added_files_count", "deleted_files_count"} <= set(open_demo("events").manifests()[0]),
            "The record of a manifest has these counts.",
        ),
    ],
    "b",
    nudge="The text's own example names a file of the other format.",
    look="the first bytes of a manifest, or the ending of its name.",
    reason="Manifests and manifest lists are Avro (spec, *Manifests*). Only data files and delete files may be "
    "Parquet.",
)


def _predicates(_: Any) -> bool:
    table = open_demo("equality_deletes")
    [path] = [file["file_path"] for file in table.files() if file["content"] == 2]
    columns = {field.name for field in table.metadata.schemas[-1].fields}
    return not set(table.delete_contents(path).columns) & columns


def _positions(_: Any) -> bool:
    table = open_demo("position_deletes")
    [path] = [file["file_path"] for file in table.files() if file["content"] == 1]
    return {"file_path", "pos"} <= set(table.delete_contents(path).columns)


DELETE_ERROR = article_error(
    [
        Sentence(
            "A position delete file has the paths and the positions of deleted rows.",
            _positions,
            "Its columns are file_path and pos.",
        ),
        Sentence(
            "An equality delete file has the predicate used in the delete operation.",
            _predicates,
            "It has values of columns of the table. A row that equals them is deleted; id > 3 cannot be written so.",
        ),
        Sentence(
            "Delete files are tracked in manifests apart from data files.",
            lambda _: {m["content"] for m in open_demo("position_deletes").manifests()} == {"data", "deletes"},
            "A manifest has one content: data or deletes.",
        ),
        Sentence(
            "Compaction writes the rows that are left into a new data file.",
            lambda _: len(open_demo("compaction_bin_pack").diff("snapshot-4", "snapshot-5").added) == 1,
            "It wrote one file of ten rows.",
        ),
    ],
    "b",
    nudge="What do the columns of a delete file have to be, if it is read like a data file?",
    look="`icedive inspect file demo.equality_deletes delete-1.parquet --show deletes`.",
    reason="An equality delete file contains rows of some columns, not a condition. Readers delete every row of "
    "older data "
    "files that equals one of them.",
)


def _race(bench: Any) -> Run:
    run = Run(bench, [Operation("append"), Operation("append")])
    run.play("AABBABABAB")
    return run


COMMIT_ERROR = article_error(
    [
        Sentence(
            "Of two writers that read the same metadata file, the second one's pointer update fails.",
            lambda bench: [e.outcome for e in _race(bench).events if e.step == "swap"][:2] == ["committed", "lost"],
            "The catalog swaps only if it still points to what the writer has read.",
        ),
        Sentence(
            "The loser reads the current metadata again, and retries.",
            lambda bench: _race(bench).writer("B").state == "committed",
            "It applies its files to the new metadata and swaps again.",
        ),
        Sentence(
            "If the pointer update fails, there are no orphaned files.",
            lambda bench: not _race(bench).writer("B").left_behind,
            "The metadata file of the attempt that lost stays in the folder.",
        ),
        Sentence(
            "Both writes are in the table in the end.",
            lambda bench: sum(v.startswith("by ") for _, v, _ in _race(bench).rows()) == 2,
            "Each writer's row is there.",
        ),
    ],
    "c",
    nudge="What had the loser written before it asked the catalog?",
    look="`icedive lab run append append --order AABBABABAB`: what is left behind.",
    reason="A failed commit leaves the table as it was, but files that it wrote stay. Iceberg removes the manifests "
    "that it "
    "knows; metadata files and data files stay until orphans are removed.",
    needs_lab=True,
)


def _keeps_only_old(_: Any) -> bool:
    specs = {manifest["partition_spec_id"] for manifest in open_demo("events").manifests()}
    return specs == {1}


SPEC_ERROR = article_error(
    [
        Sentence(
            "After a change of the partitioning, new writes use the new partition scheme.",
            lambda _: open_demo("events").entries("snapshot-3")[0]["spec_id"] == 1,
            "The newest file is of spec 1.",
        ),
        Sentence(
            "Only old snapshots keep the old scheme; the current one has only the new one.",
            _keeps_only_old,
            "Old files keep their spec in every snapshot that contains them, so the current one has both.",
        ),
        Sentence(
            "No rewrites are needed.",
            lambda _: not open_demo("events").diff("snapshot-1", "snapshot-3").removed,
            "The file of the first commit is still in the table.",
        ),
        Sentence(
            "Queries handle files of both schemes.",
            lambda _: len(open_demo("events").plan("event_time >= '2024-02-01'").specs) == 2,
            "A plan projects the filter onto each spec.",
        ),
    ],
    "b",
    nudge="To what does a spec belong: to a snapshot, or to files?",
    look="`icedive inspect files demo.events --columns partition,spec_id`.",
    reason="A spec belongs to a manifest and so to its files, not to a snapshot. The current snapshot lists "
    "manifests of "
    "both specs.",
)
