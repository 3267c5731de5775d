"""What filters would read of a table if it were sorted, partitioned or compacted: estimates, beside their plans."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from explorer.errors import ExplorerError, NotFoundInTable
from explorer.progress import Cancelled, steps
from explorer.reports.maintenance.previews import preview
from explorer.reports.maintenance.procedure_calls import is_printable, table_in_sql
from explorer.spark_engine.sql_guard import quoting
from explorer.spec.entries.entries import stored_live
from explorer.spec.filters.expressions import term_text
from explorer.spec.layout.estimates import (
    Estimates,
    FilterEstimate,
    LayoutChange,
    estimates,
    filter_columns,
    target_size,
)
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
            layouts.add(manifest.partition_spec_id, stored_live(stored))
            statistics.append(count_statistics(manifest, stored))
    files = MetricsCounts(statistics)
    modes = column_modes(table.metadata, plans[0].schema) if plans else []
    modes_by_field = {m.field_id: files.of(m) for m in modes}
    estimated = estimates(table.metadata, layouts, plans_by_filter, modes_by_field, file_size)
    if snapshot is not None:  # statements are about the table as it is
        return estimated
    proposed = {estimated.best, estimated.lightest}
    changes = tuple(
        replace(change, statements=layout_statements(table, change)) if at in proposed else change
        for at, change in enumerate(estimated.changes)
    )
    return replace(estimated, changes=changes)


def layout_statements(table: Table, change: LayoutChange) -> tuple[str, ...]:
    """Return what makes a change.

    Args:
        table: The table.
        change: The change.

    Returns:
        Statements for Spark, in order; none where they must not be run, or a name is too strange.
    """
    column = quoting.identifier(change.column.split(".")) if change.column else ""
    options = {"rewrite-all": "true", "target-file-size-bytes": str(change.file_bytes)}
    try:
        if change.column and not change.transform:
            rewrite = preview(table, "compact-sort", column, options=options).call
        else:
            rewrite = preview(table, "compact", options=options).call
    except Cancelled:
        raise
    except ExplorerError:
        return ()
    if not rewrite or not change.transform:
        return (rewrite,) if rewrite else ()
    term, where = term_text(column, change.transform), f"ALTER TABLE {table_in_sql(table)}"
    field = f"{where} ADD PARTITION FIELD {term}"
    if change.replaces:
        field = f"{where} REPLACE PARTITION FIELD {quoting.identifier([change.replaces])} WITH {term}"
    return (field, rewrite) if is_printable(table, field) else ()


def _plan_filter(table: Table, where: str, snapshot: str | int | None) -> FilterEstimate:
    try:
        return FilterEstimate(where, table.plan(where, snapshot))
    except NotFoundInTable as error:
        return FilterEstimate(where, None, str(error))
