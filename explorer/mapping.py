"""The map of a table's files, read from it: see core.file_map."""

from __future__ import annotations

import pyarrow as pa

from explorer.core.file_map import ASKED, FileMap
from explorer.core.plan import Plan
from explorer.table import Table


def file_map(
    table: Table, snapshot: str | int | None = None, *, plan: Plan | None = None, deletes: bool = False
) -> FileMap:
    """All files of a snapshot (the current one, or the plan's) as at most 4,000 cells (core.file_map.Cell), of some of
    them by `cells(start, stop)`. With `plan` each has what the scan does with it, with `deletes` how many apply to it,
    for which they are held against each other. Raises NotFoundInTable."""
    wanted = plan.snapshot.snapshot_id if plan and plan.snapshot else snapshot
    at = table.resolve(wanted).snapshot if wanted is not None else table.metadata.current_snapshot
    where = at.snapshot_id if at else None
    applied = table.deletes(where).applied if deletes else None
    entries = table.entries(where).select(columns=ASKED).to_arrow()
    return FileMap(entries, table.metadata, at, applied, _verdicts(plan) if plan else None)


def _verdicts(plan: Plan) -> pa.Table:
    schema = pa.schema([("file_path", pa.string()), ("verdict", pa.string())])
    parts = (part.select(schema.names).cast(schema) for part in plan.files.read())
    return pa.concat_tables([schema.empty_table(), *parts])
