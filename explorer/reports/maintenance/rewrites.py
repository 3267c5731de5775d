"""rewrite_data_files and rewrite_position_delete_files: which files they would take, in which groups."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import islice

import numpy as np
import pyarrow as pa

from explorer.model.manifest import ManifestFile
from explorer.queries.metadata_tree import MetadataTree
from explorer.queries.scan import deletes_of
from explorer.reports.maintenance.procedure_calls import bind_filter
from explorer.reports.maintenance.refusals import (
    MAX_CHECKED_FILES,
    MAX_OPENED_FILES,
    explain_date_promotion,
    explain_misplaced_delete,
    explain_repeated_file,
    unfit_type,
    vectors_without_place,
    wrong_size,
)
from explorer.spark_engine.engine_choice import Engine
from explorer.spec.entries.lazy_table import Batches, Parts
from explorer.spec.filters.expressions import TRUE
from explorer.spec.maintenance.rewrite_options import RewriteOptions, Strategy, rule
from explorer.spec.maintenance.rewrite_parts import Judge, data_files, position_deletes
from explorer.spec.maintenance.rewrites import JUDGED, Grouping, file_reasons
from explorer.spec.scan.scan import Scan
from explorer.table import Table

FILES = pa.schema(
    [
        ("file", pa.string()), ("becomes", pa.string()), ("group", pa.int64()), ("reason", pa.string()),
        ("partition", pa.string()), ("spec_id", pa.int32()), ("bytes", pa.int64()), ("record_count", pa.int64()),
        ("deletes", pa.int64()),
    ]
)  # fmt: skip
ALREADY = "Nothing would be rewritten: version 3 has deletion vectors, and there are no other position deletes left."


@dataclass(frozen=True)
class RewritePlan:
    """A planned rewrite. `files` are all that the planner looks at, FILES: `group` is the number of the group that a
    file would be rewritten in, or be left in; null where it is no candidate. `already` says why nothing is done
    whatever the sizes, `refusal` why it must not be done, `note` what was not looked at; each may be empty."""

    rule: RewriteOptions
    grouping: Grouping
    files: Batches
    already: str = ""
    refusal: str = ""
    note: str = ""


def plan_rewrite(
    table: Table, strategy: Strategy, options: Mapping[str, str], where: str, engine: Engine
) -> RewritePlan:
    """Plan a rewrite of the current snapshot. Raises ValueError where Iceberg would refuse, with its reason,
    NotFoundInTable for a filter that does not fit, and of a complete table UnreadableFile."""
    metadata, snapshot = table.metadata, table.metadata.current_snapshot
    chosen = rule(metadata, strategy, options)
    filtered = bind_filter(table, where)
    tree = table.tree.by(engine, "plan of a rewrite")
    scan = Scan(metadata, filtered, frozenset())
    listed = tree.manifests(snapshot)
    part: Callable[[Judge, ManifestFile, pa.Table], pa.Table]
    if strategy == "position-deletes":
        judge, part, manifests = Judge(chosen, scan), position_deletes, [m for m in listed if m.content]
    else:
        judge = Judge(chosen, scan, deletes_of(table.tree, table.row_reader, snapshot, listed))
        part = data_files
        manifests = [v.manifest for v in scan.manifests([m for m in listed if m.content == 0]) if v.keeps]
    metrics = strategy == "position-deletes" or filtered != TRUE or (judge.deletes is not None and judge.deletes.fields)
    rows = tree.read(Parts(manifests, metrics, partial(part, judge), JUDGED))
    grouping, already = Grouping(chosen, rows.read()), ""
    if strategy == "position-deletes" and metadata.format_version >= 3 and grouping.seen.vectors == grouping.seen.files:
        grouping, already = Grouping(chosen, ()), ALREADY
    refusal = note = ""
    if len(grouping.groups_to_rewrite):
        refusal, note = _refusal(table, tree, strategy, grouping, rows)
    files = Batches(FILES, lambda: _file_rows(chosen, grouping, rows, already))
    return RewritePlan(chosen, grouping, files, already, refusal, note)


def _refusal(
    table: Table, tree: MetadataTree, strategy: Strategy, grouping: Grouping, rows: Batches
) -> tuple[str, str]:
    """Say why a rewrite would fail or do harm, and what was not looked at."""
    snapshot = table.metadata.current_snapshot
    data = [m for m in tree.manifests(snapshot) if m.content == 0]
    deletes = table.row_reader.applicability(snapshot).deletes
    if misplaced := explain_misplaced_delete(tree, data, deletes):
        return misplaced, ""
    if unplaced := vectors_without_place(deletes):
        pairs = table.row_reader.deletes(snapshot, tree)
        if used := [key for key in unplaced if key not in {delete.key for delete in pairs.alone}]:
            return unplaced[used[0]], ""
    if strategy != "position-deletes" and (repeated := explain_repeated_file(rows.read(), grouping.duplicates)):
        return repeated, ""
    first, total = list(islice(_files_to_rewrite(grouping, rows), MAX_CHECKED_FILES)), int(grouping.amounts[0].sum())
    refusal, note = wrong_size(tree, [(path, size) for path, size, _ in first], total)
    if refusal or strategy == "position-deletes":
        return refusal, note
    unfit, unopened, opened = unfit_type(tree, [(path, at) for path, _, at in first[:MAX_OPENED_FILES]], total)
    if not unfit and opened < total:  # what was not looked into may be from before a promotion
        unfit = explain_date_promotion(table.metadata)
    return unfit, " ".join(filter(None, (note, unopened)))


def _files_to_rewrite(grouping: Grouping, rows: Batches) -> Iterator[tuple[str, int, int | None]]:
    """The paths, recorded sizes and sequence numbers of the files that would be rewritten, without deletion vectors:
    their sizes are those of blobs."""
    names = ("file_path", "size", "written_at", "vector")
    for part in rows.read():
        rewritten = part.select(names).filter(pa.array(grouping.group_numbers(part) > 0))
        for path, size, written_at, vector in zip(*(rewritten[name].to_pylist() for name in names), strict=True):
            if not vector:
                yield path, size, written_at


def _file_rows(rule: RewriteOptions, grouping: Grouping, rows: Batches, already: str) -> Iterator[pa.Table]:
    for part in rows.read():
        groups = grouping.group_numbers(part)
        by_name = {
            "file": part["file_path"], "becomes": np.where(groups > 0, "rewritten", "left"),
            "group": pa.array(np.abs(groups), mask=groups == 0),
            "reason": [already] * part.num_rows if already else file_reasons(rule, part),
            "partition": part["partition"].cast("string"), "bytes": part["size"],
        }  # fmt: skip
        yield (
            pa.table({**{n: part[n] for n in ("spec_id", "record_count", "deletes")}, **by_name})
            .select(FILES.names)
            .cast(FILES)
        )
