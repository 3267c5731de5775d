"""Who can read a table: the features that it uses, held against what is known of readers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from explorer.errors import WrongUsage
from explorer.model.manifest import FileKind, file_kind
from explorer.reports.doctor import diagnose
from explorer.reports.maintenance.procedure_calls import is_printable, table_in_sql
from explorer.reports.maintenance.refusals import explain_unreadable
from explorer.spark_engine.engine_choice import Engine
from explorer.spec.doctor.remedy_cases import NO_VERSION
from explorer.spec.readers.reader_faults import fault_features
from explorer.spec.readers.reader_support import (
    NEWEST_VERSION,
    SupportTable,
    TableReaders,
    judge,
    parse_support,
    plan_upgrade,
)
from explorer.spec.readers.table_features import AlikeFiles, FileFacts, table_features
from explorer.spec.scan.manifest_bytes import read_all_note
from explorer.spec.schemas.sort_columns import words_for_writers
from explorer.spec.text.names import base_name, snapshot_name
from explorer.table import Table

DATA_FILES = ("tried.json", "documents.json")
"""What we tried, and what others wrote: the first wins."""
DELETES = {
    "equality-deletes": "equality deletes", "position-deletes": "position deletes",
    "deletion-vectors": "deletion vectors",
}  # fmt: skip
"""Features that a compaction removes, and what they are called."""
GroupKey = TypeVar("GroupKey", bound=str)
GROUPED = ("content", "file_format", "snapshot_id")
FILE_FORMATS, OTHER_FORMAT = ("parquet", "orc", "avro", "puffin"), "another format"
"""Formats of data and delete files in the spec, and what all others are called: a stranger may make up thousands."""


@cache
def reader_support() -> SupportTable:
    """Return what is known of readers."""
    folder = files("explorer.reports") / "reader_support"
    return parse_support([json.loads((folder / name).read_text("utf-8")) for name in DATA_FILES])


def find_readers(table: Table, upgrade: int | None = None, engine: Engine = "auto") -> TableReaders:
    """Say who can read a table, as of its current snapshot.

    Args:
        table: The table.
        upgrade: A format version: what an upgrade to it would change.
        engine: What decodes manifests.

    Returns:
        The answer. Where a manifest cannot be read, a note says that there may be more features.

    Raises:
        WrongUsage: The table has that format version, or a higher one.
    """
    metadata, at = table.metadata, table.metadata.current_snapshot
    if upgrade is not None and not metadata.format_version < upgrade <= NEWEST_VERSION:
        raise WrongUsage(
            f"--upgrade {upgrade}: the table has format version {metadata.format_version}; choose a higher one, up to "
            f"{NEWEST_VERSION}"
        )
    listed, facts = table.tree.manifests(at), _file_facts(table, engine)
    report = diagnose(table, snapshot=at.snapshot_id if at else None, engine=engine)
    features = [*fault_features(report.findings), *table_features(metadata, listed, facts)]
    support = reader_support()
    notes = []
    if lacks := table.tree.lacks:
        notes.append(f"There may be more features than these: {lacks}. Readers that can read the rest fail there.")
    if unversioned := [problem.cause for problem in table.problems if NO_VERSION in problem.cause]:
        notes.append(
            f"{base_name(metadata.metadata_location)}: {unversioned[0]}. What is said of readers holds where they are "
            "given that file, or ask a catalog. icedive doctor TABLE says what helps."
        )
    if writers := words_for_writers(metadata):
        notes.append(writers)
    if manifests := read_all_note(metadata, listed):
        notes.append(manifests)
    verdicts = tuple(judge(features, support))
    refused = {one.feature for verdict in verdicts if verdict.answer == "no" for one in verdict.because}
    if kinds := [words for feature, words in DELETES.items() if feature in refused]:
        options = "--option delete-file-threshold=1 --option remove-dangling-deletes=true"
        notes.append(
            f"To be rid of {' and '.join(kinds)}, compact with them: icedive maintain preview TABLE compact {options} "
            "shows the statement. Writers of updates may add new ones."
        )
    planned = None
    if upgrade is not None:
        if refusal := explain_unreadable(metadata):
            notes.append(f"No statement of the upgrade is printed. Iceberg would refuse: {refusal}.")
        planned = plan_upgrade(metadata, features, support, upgrade, _statement(table, upgrade))
    return TableReaders(
        metadata.format_version, snapshot_name(at.snapshot_id, metadata.ordinals) if at else "", tuple(features),
        verdicts, max(one.date for known in support.values() for one in known.values()),
        planned, tuple(notes),
    )  # fmt: skip


def _file_facts(table: Table, engine: Engine) -> FileFacts:
    """Add up the live files of the current snapshot by what readers must know of them."""
    kinds: dict[FileKind, AlikeFiles] = {}
    formats: dict[str, AlikeFiles] = {}
    schemas: set[int | None] = set()
    has_row_ids = False
    schema_of = {snapshot.snapshot_id: snapshot.schema_id for snapshot in table.metadata.snapshots}
    for part in table.files(engine=engine).iter_tables():
        if not part.num_rows:
            continue
        has_row_ids = has_row_ids or part["first_row_id"].null_count < part.num_rows
        formats_here = pc.utf8_lower(pc.fill_null(part["file_format"].cast(pa.string()), ""))
        is_known = pc.is_in(formats_here, pa.array(FILE_FORMATS))
        some = part.select(GROUPED).set_column(1, "file_format", pc.if_else(is_known, formats_here, OTHER_FORMAT))
        some = some.append_column("row", pa.array(np.arange(part.num_rows)))
        for row in some.group_by(list(GROUPED)).aggregate([([], "count_all"), ("row", "min")]).to_pylist():
            content, name, added_by = (row[column] for column in GROUPED)
            kind = file_kind(content or 0, name or "")
            if kind == "data_file":
                schemas.add(schema_of.get(added_by))
                _count(formats, (name or "").lower(), part, row)
            else:
                _count(kinds, kind, part, row)
    return FileFacts(kinds, formats, frozenset(schemas), has_row_ids)


def _count(groups: dict[GroupKey, AlikeFiles], key: GroupKey, part: pa.Table, row: Mapping[str, Any]) -> None:
    """Add files to a group. The first of them stands for it."""
    if key in groups:
        groups[key] = replace(groups[key], files=groups[key].files + row["count_all"])
        return
    groups[key] = AlikeFiles(row["count_all"], part["file_path"][row["row_min"]].as_py(), row["snapshot_id"])


def _statement(table: Table, version: int) -> str:
    if explain_unreadable(table.metadata):
        return ""
    statement = f"ALTER TABLE {table_in_sql(table)} SET TBLPROPERTIES ('format-version' = '{version}')"
    return statement if is_printable(table, statement) else ""
