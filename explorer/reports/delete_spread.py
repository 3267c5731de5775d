"""How far bounds confine a table's equality deletes, and the statements that would confine them more."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow.compute as pc

from explorer.model.metadata import Snapshot
from explorer.reports.estimates import layout_statements
from explorer.spec.deletes.equality_spread import ORDER, equality_spread
from explorer.spec.deletes.needless_deletes import needless_words, only_adds
from explorer.spec.deletes.snapshot_deletes import Deletes
from explorer.spec.entries.entries import live
from explorer.spec.layout.estimates import LayoutChange
from explorer.spec.maintenance.rewrite_options import file_target
from explorer.table import Table


def confining_lines(table: Table, deletes: Deletes) -> Iterator[str]:
    """Say which share of pairs bounds exclude and, where that is little, what confines the deletes.

    Args:
        table: The table.
        deletes: The deletes of one of its snapshots.

    Yields:
        A sentence, and the statements for Spark, of the current snapshot alone.
    """
    metadata, snapshot = table.metadata, table.metadata.snapshot(deletes.snapshot_id)
    equality = [delete for delete in deletes.files.deletes if delete.kind == "equality_deletes"]
    rows, size = _data_of(table, snapshot) if snapshot and equality else (0, 0)
    spread = equality_spread(metadata, deletes.files.deletes, deletes.equality_pairs, deletes.equality_applying, size)
    if spread.words:
        yield spread.words
    if equality and len(deletes.dangling) == len(deletes.files.deletes) and only_adds(metadata, snapshot, rows):
        yield needless_words(len(equality))
    if not spread.column or deletes.snapshot_id != metadata.current_snapshot_id:
        return
    transform = f"bucket[{spread.buckets}]"
    change = LayoutChange("", "", None, spread.column, transform, file_target(metadata))
    statements = layout_statements(table, change)
    if len(statements) == 2:
        yield ORDER
        yield from (f"  {statement}" for statement in statements)


def _data_of(table: Table, snapshot: Snapshot) -> tuple[int, int]:
    """The rows and bytes of a snapshot's data files."""
    manifests = [m for m in table.tree.manifests(snapshot) if m.content == 0]
    rows = size = 0
    for _, entries in table.tree.logical(manifests, snapshot):
        alive = live(entries)
        rows += pc.sum(alive["record_count"]).as_py() or 0
        size += pc.sum(alive["file_size_in_bytes"]).as_py() or 0
    return rows, size
