"""What filters would read of a table if it were sorted, partitioned or compacted: estimates, beside their plans."""

from __future__ import annotations

from collections.abc import Sequence

from explorer.core.estimates import Asked, Estimates, asked_columns, estimates, target_size
from explorer.core.layouts import Layouts
from explorer.core.tasks import Packing
from explorer.errors import NotFoundInTable
from explorer.progress import steps
from explorer.table import Table


def estimate(
    table: Table, filters: str | Sequence[str], snapshot: str | int | None = None, file_size: int | None = None
) -> Estimates:
    """Each filter (docs/filters.md) planned, and what sorting, another partition field or compaction would make of it:
    see core.estimates.Estimates. A filter that does not fit says why. `file_size` in bytes is that of the files as they
    would be; see core.estimates.estimates. Raises NotFoundInTable for a snapshot that is not there."""
    texts = [filters] if isinstance(filters, str) else filters
    table.reading(snapshot)  # a snapshot that is not there is no filter's fault
    asked = [_planned(table, where, snapshot) for where in steps(texts, "filters")]
    plans = [a.plan for a in asked if a.plan]
    columns = list(asked_columns(plans).values())
    layouts = Layouts(
        columns,
        [p.scan for p in plans],
        target_size(table.metadata, file_size),
        Packing.of(table.metadata.properties).open_cost,
    )
    if plans and (at := plans[0].snapshot):
        data = [m for m in table.tree.manifests(at) if m.content == 0]
        for manifest, entries in table.tree.logical(data, at, metrics=True):
            layouts.add(manifest.partition_spec_id, entries)
    return estimates(table.metadata, layouts, asked, {m.field_id: m for m in table.metrics(snapshot)}, file_size)


def _planned(table: Table, where: str, snapshot: str | int | None) -> Asked:
    try:
        return Asked(where, table.plan(where, snapshot))
    except NotFoundInTable as error:
        return Asked(where, None, str(error))
