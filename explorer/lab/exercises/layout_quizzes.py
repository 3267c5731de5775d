"""Quizzes about partition specs, field ids, formats and modes (notebook 07)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

from explorer.lab.exercises.entries import ChoiceEntry
from explorer.lab.exercises.quiz import Line, open_demo, quiz
from explorer.lab.exercises.tree import COUNT, LIST, MANIFEST, METADATA, file_format, files_by_kind

TRANSFORMS = ChoiceEntry(("identity", "year", "month", "day", "bucket"))
FIELD_NAMES = ChoiceEntry(("customer_id", "order_date", "order_date_month", "months"))
KEEPS = ChoiceEntry((METADATA, LIST, MANIFEST))


def _spec_facts(_: Any) -> Sequence[Any]:
    table = open_demo("orders")
    first, second = table.metadata.partition_specs[0].fields
    stored = table.entries(view="stored")[0]["partition"]
    place = MANIFEST if first.name in stored else METADATA
    return first.name, first.transform, first.field_id, second.transform, second.field_id, place


SPEC = quiz(
    "demo.orders (customer_id, order_date, …) was made with PARTITIONED BY (months(order_date), customer_id).",
    [
        Line("The name of the first partition field", FIELD_NAMES, {"order_date": "It is not the column itself."}),
        Line("Its transform", TRANSFORMS),
        Line(
            "Its field id",
            COUNT,
            {0: "Ids of partition fields begin at 1000.", 1: "Ids of partition fields begin at 1000."},
        ),
        Line("The transform of the second field", TRANSFORMS),
        Line("The field id of the second field", COUNT, {1000: "The first field has it."}),
        Line("Where the partition values of a file are", KEEPS, {METADATA: "It has the spec, not the values."}),
    ],
    _spec_facts,
    ("order_date_month", "month", 1000, "identity", 1001, MANIFEST),
    nudge="A spec says by which transform of which column files are partitioned.",
    look="`icedive inspect metadata demo.orders`: partition-specs.",
    reason="A partition field has a name, a transform, a source column and an id from 1000 on. The spec is in the "
    "metadata "
    "file; each file's values are a tuple in its manifest entry.",
)


def _evolution_facts(_: Any) -> Sequence[Any]:
    table = open_demo("events")
    specs = Counter(manifest["partition_spec_id"] for manifest in table.manifests())
    removed = len(table.diff("snapshot-1", "snapshot-3").removed)
    first = {entry["spec_id"] for entry in table.entries("snapshot-1")}
    plan = table.plan("event_time >= '2024-02-01' AND event_time < '2024-02-04'")
    return len(table.metadata.partition_specs), specs[0], specs[1], len(first & {1}), removed, len(plan.specs)


EVOLUTION = quiz(
    "demo.events was partitioned by months for one commit, then by days for two. Each commit wrote one file and one "
    "manifest.",
    [
        Line("Partition specs in the metadata file", COUNT, {1: "The old spec stays."}),
        Line("Manifests of spec 0 in the current list", COUNT, {0: "The old file is still in the table."}),
        Line("Manifests of spec 1 in the current list", COUNT),
        Line("Files of spec 1 in snapshot-1", COUNT),
        Line("Files that the change of the spec removed or rewrote", COUNT, {1: "It is a change of metadata alone."}),
        Line("Predicates of partitions that a plan of one filter needs", COUNT, {1: "Each spec has its own fields."}),
    ],
    _evolution_facts,
    (2, 1, 2, 0, 0, 2),
    nudge="Files keep the spec that they were written with.",
    look="`icedive inspect manifests demo.events --columns partition_spec_id,manifest_path`.",
    reason="A new spec is one more in the metadata file. A manifest has one spec: old files are in manifests of the "
    "old one, "
    "new files in manifests of the new one, and a plan projects its filter onto each.",
)


def _column_facts(_: Any) -> Sequence[Any]:
    table = open_demo("events")
    field_id = {field.name: field.id for field in table.metadata.schemas[-1].fields}["source"]
    values = {}
    for file in table.files():
        for row in table.file_rows(file["file_path"]):
            values[row["event_id"]] = "null" if row["source"] is None else row["source"]
    columns = table.diff("snapshot-1", "snapshot-3")
    orders = open_demo("orders")
    newest = next(f["file_path"] for f in orders.files() if f["record_count"] == 3)
    footer = json.loads(orders.footer(newest)["key_value_metadata"]["iceberg.schema"])
    return field_id, values["e1"], values["e4"], len(columns.removed), footer["schema-id"]


SOURCE = ChoiceEntry(("null", "web", "app", "unknown"))
NEW_COLUMN = quiz(
    "demo.events (event_id, user_id, event_time) got a column source. e1 was written before, e4 afterwards by an app.",
    [
        Line("The field id of source", COUNT, {3: "event_time has it."}),
        Line("source of e1", SOURCE, {"unknown": "The column has no default."}),
        Line("source of e4", SOURCE),
        Line("Files that adding the column rewrote", COUNT),
        Line(
            "demo.orders: the schema-id in the footer of its newest file",
            COUNT,
            {1: "Writers do not keep it up to date there."},
        ),
    ],
    _column_facts,
    (4, "null", "app", 0, 0),
    nudge="Old files do not have the column, and nobody writes them again.",
    look="`icedive inspect metadata demo.events`, and `icedive data history demo.events \"event_id = 'e1'\"`.",
    reason="A new column has a new field id. A reader looks for that id in each file: old files lack it, so their "
    "rows read "
    "null; new files have it. The schema in a file's footer is of the writer, and only its field ids matter.",
)


def _format_facts(_: Any) -> Sequence[Any]:
    table = open_demo("events")
    formats = Counter(file["file_format"] for file in table.files())
    return formats["PARQUET"], formats["ORC"], formats["AVRO"], file_format(files_by_kind(table)[MANIFEST])


FORMATS = quiz(
    "demo.events was written by three commits, with write.format.default as it was, then orc, then avro.",
    [
        Line("Parquet files", COUNT, {0: "Parquet is what writers choose if nothing is said."}),
        Line("ORC files", COUNT, {0: "A change of the property rewrites nothing."}),
        Line("Avro files", COUNT, {3: "A change of the property rewrites nothing."}),
        Line("The format of its manifests", ChoiceEntry(("Parquet", "ORC", "Avro"))),
    ],
    _format_facts,
    (1, 1, 1, "Avro"),
    nudge="The format is a matter of each writer, and of each file.",
    look="`icedive inspect files demo.events --columns file_path,file_format`.",
    reason="Each entry has the format of its file, so one table may have files of all three. Manifests are Avro in "
    "any case.",
)


def _mode_facts(_: Any) -> Sequence[Any]:
    table = open_demo("mixed_modes")
    properties = table.metadata.properties
    modes = [properties[f"write.{statement}.mode"] for statement in ("delete", "update", "merge")]
    wrote = sum("added-delete-files" in snapshot["summary"] for snapshot in table.snapshots)
    return *modes, properties["write.merge.isolation-level"], wrote


MODE = ChoiceEntry(("copy-on-write", "merge-on-read"))
MODES = quiz(
    "demo.mixed_modes: its DELETE wrote a delete file, its MERGE rewrote a data file, and its properties say so. "
    "UPDATE is "
    "set as DELETE is.",
    [
        Line("write.delete.mode", MODE),
        Line("write.update.mode", MODE),
        Line("write.merge.mode", MODE, {"merge-on-read": "The MERGE rewrote a data file."}),
        Line("write.merge.isolation-level, which is not the default", ChoiceEntry(("serializable", "snapshot"))),
        Line("Snapshots that added delete files", COUNT, {2: "The MERGE is copy-on-write."}),
    ],
    _mode_facts,
    ("merge-on-read", "merge-on-read", "copy-on-write", "snapshot", 1),
    nudge="Each of the three statements has properties of its own.",
    look="`icedive inspect metadata demo.mixed_modes`: properties, and the summaries of its snapshots.",
    reason="DELETE, UPDATE and MERGE are set each on its own, so a table is not of one mode: some of its snapshots "
    "rewrite "
    "data files, and others add delete files.",
)
