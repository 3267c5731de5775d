"""The rows that differ between two snapshots: only data files that differ are read, here or by Spark's workers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import polars
import pyarrow as pa

from explorer.core.deletes import Applicability, Verdict
from explorer.core.diff import only
from explorer.core.lineage import newer
from explorer.core.live_files import LiveFile
from explorer.core.row_diff import RowDiff, row_changes, tally
from explorer.core.units import human_bytes
from explorer.core.values import partition_path
from explorer.engines.choice import Choice, Engine, chosen_for_rows
from explorer.engines.file_rows import Make, Wanted, changed
from explorer.engines.spark import shared_engine
from explorer.errors import NotPossible
from explorer.io import budget
from explorer.io import rows as contents
from explorer.io.file_rows import rows_of_file
from explorer.io.projection import arrow_type
from explorer.model.metadata import Schema, Snapshot
from explorer.progress import steps
from explorer.rowlevel import RowReader, pairing_keys


def row_diff(
    reader: RowReader,
    before: Snapshot | None,
    after: Snapshot | None,
    keys: Sequence[str] = (),
    engine: Engine = "auto",
) -> RowDiff:
    """Compare the rows of two snapshots (None: the table before its first), reading only data files that one side
    lacks or that other deletes apply to. Rows pair to updates by `keys`, else by the schema's identifier fields, else
    in v3 by row id. Raises UnreadableFile, NotFoundInTable, EngineError, StatementFailed."""
    meta = reader.tree.metadata
    last = newer(meta, before, after)  # types are never narrowed
    schema = contents.read_schema(meta, last.schema_id if last else None)
    columns = tuple(f.name for f in schema.fields)
    lineage = meta.format_version >= 3
    paired_by = pairing_keys(schema, keys, lineage)
    sides = _differing(reader, before, after)
    make, empty = partial(rows_of_file, schema, lineage), _empty(schema, lineage)
    differ = {(n, data.path): data for n, side in enumerate(sides) for data in side.differ}
    size = sum(data.size for data in differ.values())
    choice = chosen_for_rows(engine, size, lambda: shared_engine().master)
    rows = _held(reader, sides, make, empty) if choice.engine == "local" else None
    if rows is None and engine == "local":
        limit = human_bytes(budget.limit())
        raise NotPossible(
            f"the rows that may differ take more than the memory limit of {limit}: let Spark compare them"
        )
    if rows is None:
        if choice.engine == "local":
            choice = Choice(
                "spark", f"made by Spark: {human_bytes(size)} of data files are beyond the memory limit", True
            )
        wanted = [Wanted(_bare(data), _that_apply(sides[n].files, data), n) for (n, _), data in differ.items()]
        spark, name = shared_engine().session(), f"row diff of {reader.tree.reader.location.name}"
        changes, counted = changed(spark, reader, wanted, make, empty, columns, paired_by, name)
    else:
        changes = row_changes(rows[0], rows[1], columns, paired_by)
        counted = tally(changes)
    counts = dict.fromkeys(("inserted", "deleted", "updated"), 0)
    partitions: dict[str, dict[str, int]] = {}
    for (word, path), number in counted.items():
        data = differ[int(word != "deleted"), path]
        where = partition_path(data.partition, meta.spec(data.spec_id), meta)
        partitions.setdefault(where, dict.fromkeys(counts, 0))[word] += number
        counts[word] += number
    read, files = len({path for _, path in differ}), sides[0].gone + len(sides[1].files.data)
    note = ""
    if before is not None and after is not None and before.schema_id != after.schema_id:
        note = f"both sides are read under schema {schema.schema_id}, the newer snapshot's; dropped columns are not "
        note += "compared"
    ids = (before.snapshot_id if before else None, after.snapshot_id if after else None)
    return RowDiff(*ids, columns, paired_by, changes, counts, read, files, partitions, note, choice.why)


def _bare(file: LiveFile) -> LiveFile:
    """What it takes to read a file's rows: that goes to workers."""
    return replace(file, lower={}, upper={}, nulls={}, nans={}, values={})


def _that_apply(files: Applicability, data: LiveFile) -> tuple[Verdict, ...]:
    """The deletes that may hide rows of a data file."""
    return tuple(Verdict(_bare(data), _bare(v.delete), ()) for v in files.of(data) if v.applies)


def _held(reader: RowReader, sides: Sequence[_Side], make: Make, empty: pa.Table) -> list[pa.Table] | None:
    """The rows of the files of both sides; None where they are beyond the memory limit. Raises UnreadableFile."""
    parts, size = [[empty], [empty]], 0
    for n, side in enumerate(sides):
        for data in steps(side.differ, "data files"):
            parts[n].append(make(reader, data, reader.verdicts(side.files, data)).select(empty.column_names))
            size += parts[n][-1].nbytes
            if size > budget.limit():
                return None
    return [pa.concat_tables(some) for some in parts]


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
