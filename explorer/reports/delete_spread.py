"""How far bounds confine a table's equality deletes, and the statements that would confine them more."""

from __future__ import annotations

from collections.abc import Iterator

from explorer.reports.estimates import layout_statements
from explorer.spec.deletes.equality_spread import ORDER, equality_spread
from explorer.spec.deletes.snapshot_deletes import Deletes
from explorer.spec.layout.estimates import LayoutChange
from explorer.spec.maintenance.rewrite_options import file_target
from explorer.spec.text.units import whole
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
    size = whole(snapshot.summary.get("total-files-size")) if snapshot else 0
    spread = equality_spread(
        metadata, deletes.files.deletes, deletes.equality_pairs, deletes.equality_applying, size or 0
    )
    if spread.words:
        yield spread.words
    if not spread.column or deletes.snapshot_id != metadata.current_snapshot_id:
        return
    transform = f"bucket[{spread.buckets}]"
    change = LayoutChange("", "", None, spread.column, transform, file_target(metadata))
    statements = layout_statements(table, change)
    if len(statements) == 2:
        yield ORDER
        yield from (f"  {statement}" for statement in statements)
