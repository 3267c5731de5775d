"""rewrite_data_files and rewrite_position_delete_files: which files they would take, in which groups."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

import pyarrow as pa

from explorer.core.batches import Batches, Parts
from explorer.core.expressions import TRUE
from explorer.core.rewrite_options import Rule, Strategy, rule
from explorer.core.rewrite_parts import Judge, data_files, position_deletes
from explorer.core.rewrites import JUDGED, Grouping, file_reason
from explorer.core.scan import Scan
from explorer.engines.choice import Engine
from explorer.maintaining.calls import bound
from explorer.model.manifest import ManifestFile
from explorer.planning import deletes_of
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
class Rewrite:
    """A planned rewrite. `files` are all that the planner looks at, FILES: `group` is the number of the group that a
    file would be rewritten in, or be left in; null where it is no candidate. `already` says why nothing is done
    whatever the sizes; empty otherwise."""

    rule: Rule
    grouping: Grouping
    files: Batches
    already: str = ""


def plan_rewrite(table: Table, strategy: Strategy, options: Mapping[str, str], where: str, engine: Engine) -> Rewrite:
    """Plan a rewrite of the current snapshot. Raises ValueError where Iceberg would refuse, with its reason, and
    NotFoundInTable for a filter that does not fit."""
    metadata, snapshot = table.metadata, table.metadata.current_snapshot
    chosen = rule(metadata, strategy, options)
    filtered = bound(table, where)
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
    metrics = filtered != TRUE or (judge.deletes is not None and judge.deletes.fields)
    rows = tree.read(Parts(manifests, metrics, partial(part, judge), JUDGED))
    grouping, already = Grouping(chosen, rows.read()), ""
    if strategy == "position-deletes" and metadata.format_version >= 3 and grouping.seen.vectors == grouping.seen.files:
        grouping, already = Grouping(chosen, ()), ALREADY
    return Rewrite(chosen, grouping, Batches(FILES, lambda: _told(chosen, grouping, rows, already)), already)


def _told(rule: Rule, grouping: Grouping, rows: Batches, already: str) -> Iterator[pa.Table]:
    for part in rows.read():
        columns = (part[n].to_pylist() for n in ("reasons", "size", "record_count", "deletes", "deleted_rows"))
        groups = list(grouping.numbered(part))
        told = {
            "file": part["file_path"], "becomes": ["rewritten" if n and n > 0 else "left" for n in groups],
            "group": [None if n is None else abs(n) for n in groups],
            "reason": [already or file_reason(rule, *row) for row in zip(*columns, strict=True)],
            "partition": part["partition"].cast("string"), "bytes": part["size"],
        }  # fmt: skip
        yield (
            pa.table({**{n: part[n] for n in ("spec_id", "record_count", "deletes")}, **told})
            .select(FILES.names)
            .cast(FILES)
        )
