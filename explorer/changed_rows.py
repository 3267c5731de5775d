"""The rows that differ between two snapshots, without Spark: only data files that differ are read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars
import pyarrow as pa
import pyarrow.compute as pc

from explorer.core.deletes import Applicability
from explorer.core.diff import only
from explorer.core.lineage import newer
from explorer.core.live_files import LiveFile
from explorer.core.row_diff import RowDiff, row_changes
from explorer.core.values import partition_path
from explorer.io import budget
from explorer.io import rows as contents
from explorer.io.projection import arrow_type
from explorer.model.metadata import Schema, Snapshot
from explorer.progress import steps
from explorer.rowlevel import RowReader, pairing_keys


def row_diff(reader: RowReader, before: Snapshot | None, after: Snapshot | None, keys: Sequence[str] = ()) -> RowDiff:
    """Compare the rows of two snapshots (None: the table before its first), reading only data files that one side
    lacks or that other deletes apply to. Rows pair to updates by `keys`, else by the schema's identifier fields, else
    in v3 by row id. Raises UnreadableFile, NotFoundInTable."""
    meta = reader.tree.metadata
    last = newer(meta, before, after)  # types are never narrowed
    schema = contents.read_schema(meta, last.schema_id if last else None)
    columns = tuple(f.name for f in schema.fields)
    lineage = meta.format_version >= 3
    paired_by = pairing_keys(schema, keys, lineage)
    sides = _differing(reader, before, after)
    frames, size = [], 0
    for side in sides:
        parts = [_empty(schema, lineage)]
        for data in steps(side.differ, "data files"):
            rows = reader.live(data, reader.verdicts(side.files, data), schema, lineage)
            size += rows.nbytes
            budget.within(size, budget.limit(), data.path, "bytes with the files before it", "use Spark's SQL")
            parts.append(rows.append_column("_file", pa.repeat(pa.scalar(data.path), rows.num_rows)))
        frames.append(pa.concat_tables(p.select(parts[0].column_names) for p in parts))
    changes = row_changes(frames[0], frames[1], columns, paired_by)
    partitions: dict[str, dict[str, int]] = {}
    for name, rows, side in (
        ("inserted", changes.inserted, sides[1]), ("deleted", changes.deleted, sides[0]),
        ("updated", changes.updated_after, sides[1]),
    ):  # fmt: skip
        by_path = {data.path: data for data in side.differ}
        for item in pc.value_counts(rows["_file"]).to_pylist():
            data = by_path[item["values"]]
            where = partition_path(data.partition, meta.spec(data.spec_id), meta)
            partitions.setdefault(where, {"inserted": 0, "deleted": 0, "updated": 0})[name] += item["counts"]
    read = {data.path for side in sides for data in side.differ}
    note = ""
    if before is not None and after is not None and before.schema_id != after.schema_id:
        note = (
            f"both sides are read under schema {schema.schema_id}, the newer snapshot's; dropped columns are "
            "not compared"
        )
    ids = (before.snapshot_id if before else None, after.snapshot_id if after else None)
    return RowDiff(
        *ids, columns, paired_by, changes, len(read), sides[0].gone + len(sides[1].files.data), partitions, note
    )


@dataclass(frozen=True)
class _Side:
    """One snapshot of a row diff: its data files that the other has not, or has with other deletes; `gone` of them the
    other has not."""

    files: Applicability
    differ: list[LiveFile]
    gone: int


def _differing(reader: RowReader, before: Snapshot | None, after: Snapshot | None) -> list[_Side]:
    """Both sides. What applies to a file of both is decided alike in both, so that only deletes of one side can make it
    differ; but for one that was removed and added again, with another sequence number or partition."""
    both = (before, after)
    files = [reader.applicability(s) for s in both]
    deletes = [{(d.key, d.sequence_number, d.place) for d in side.deletes} for side in files]
    changed = set()
    for n, snapshot in enumerate(both):
        own = [d for d in files[n].deletes if (d.key, d.sequence_number, d.place) not in deletes[1 - n]]
        if own:
            held = reader.held(Applicability(reader.tree.metadata, files[n].data, own), snapshot)
            changed |= {data.path for data in held.hit}
    listed = [[m for m in reader.tree.manifests(s) if m.content == 0] for s in both]
    mine = only(listed[0], listed[1]), only(listed[1], listed[0])
    told = [reader.told(some, snapshot) for some, snapshot in zip(mine, both, strict=True)]
    again = told[0].join(told[1], on="path", how="inner", suffix="_2")
    differ = [polars.col(n).ne_missing(polars.col(f"{n}_2")) for n in ("sequence_number", "place")]
    changed |= set(again.filter(polars.any_horizontal(differ))["path"])
    sides = []
    for n in (0, 1):
        alone = set(told[n].join(told[1 - n], on="path", how="anti")["path"])
        sides.append(_Side(files[n], reader.at_paths(both[n], alone | changed), len(alone)))
    return sides


def _empty(schema: Schema, lineage: bool) -> pa.Table:
    fields = [*schema.raw["fields"], *(contents.LINEAGE if lineage else ())]
    columns = [pa.field(f["name"], arrow_type(f["type"])) for f in fields]
    return pa.schema([*columns, pa.field("_pos", pa.int64()), pa.field("_file", pa.string())]).empty_table()
