"""What filters would read of a table if it were sorted, partitioned or compacted: estimates, beside their plans."""

from __future__ import annotations

from collections.abc import Sequence

from explorer.errors import NotFoundInTable
from explorer.progress import steps
from explorer.spec.entries.entries import live_entries
from explorer.spec.layout.estimates import Estimates, FilterEstimate, estimates, filter_columns, target_size
from explorer.spec.layout.layouts import Layouts
from explorer.spec.layout.metrics_modes import MetricsCounts, column_modes, count_statistics
from explorer.spec.scan.tasks import Packing
from explorer.table import Table


def estimate(
    table: Table, filters: str | Sequence[str], snapshot: str | int | None = None, file_size: int | None = None
) -> Estimates:
    """Each filter (docs/filters.md) planned, and what sorting, another partition field or compaction would make of it:
    see spec.layout.estimates.Estimates. A filter that does not fit says why. `file_size` in bytes is that of the files
    as they would be; see spec.layout.estimates.estimates. Raises NotFoundInTable for a snapshot that is not there,
    UnreadableFile for a manifest list or manifest of it that cannot be read."""
    table = table.complete
    texts = [filters] if isinstance(filters, str) else filters
    table.reading(snapshot)  # a snapshot that is not there is no filter's fault
    plans_by_filter = [_plan_filter(table, where, snapshot) for where in steps(texts, "filters")]
    plans = [a.plan for a in plans_by_filter if a.plan]
    columns = list(filter_columns(plans).values())
    layouts = Layouts(
        columns,
        [p.scan for p in plans],
        target_size(table.metadata, file_size),
        Packing.of(table.metadata.properties).open_cost,
    )
    statistics = []
    if plans and (at := plans[0].snapshot):
        data = [m for m in table.tree.manifests(at) if m.content == 0]
        for manifest, stored in table.tree.stored_entries(data, metrics=True):
            layouts.add(manifest.partition_spec_id, live_entries(stored, manifest))
            statistics.append(count_statistics(manifest, stored))
    files = MetricsCounts(statistics)
    modes = column_modes(table.metadata, plans[0].schema) if plans else []
    return estimates(table.metadata, layouts, plans_by_filter, {m.field_id: files.of(m) for m in modes}, file_size)


def _plan_filter(table: Table, where: str, snapshot: str | int | None) -> FilterEstimate:
    try:
        return FilterEstimate(where, table.plan(where, snapshot))
    except NotFoundInTable as error:
        return FilterEstimate(where, None, str(error))
