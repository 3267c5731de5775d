"""The map of a table's files, read from it: see spec.layout.file_map."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from explorer.spec.layout.file_map import ASKED, FileMap, MapRows
from explorer.spec.scan.plan import Plan
from explorer.spec.values.values import no_rows
from explorer.storage.spill import spool
from explorer.table import Table


def file_map(
    table: Table, snapshot: str | int | None = None, *, plan: Plan | None = None, deletes: bool = False
) -> FileMap:
    """All files of a snapshot (the current one, or the plan's) as at most 4,000 cells (spec.layout.file_map.MapCell),
    or some of them by `cells(start, stop)`. With `plan` each has what the scan does with it, with `deletes` how many
    apply to it, for which they are held against each other. Raises NotFoundInTable."""
    wanted = plan.snapshot.snapshot_id if plan and plan.snapshot else snapshot
    at = table.resolve(wanted).snapshot if wanted is not None else table.metadata.current_snapshot
    map_rows = MapRows(table.metadata, at, deletes)
    delete_pairs = table.deletes(at.snapshot_id) if deletes and at else None

    def rows() -> Iterator[pa.Table]:
        if at is None:
            return
        parts = table.entries(at.snapshot_id).select(columns=[*ASKED, "manifest_path"]).iter_tables()
        for part, applied in delete_pairs.beside(parts) if delete_pairs else ((part, None) for part in parts):
            yield map_rows.add(part, applied)

    return FileMap(spool(map_rows.schema, rows()), map_rows, _verdicts(plan) if plan else None)


def _verdicts(plan: Plan) -> pa.Table:
    schema = pa.schema([("file_path", pa.string()), ("verdict", pa.string())])
    parts = (part.select(schema.names).cast(schema) for part in plan.files.read())
    return pa.concat_tables([no_rows(schema), *parts])
