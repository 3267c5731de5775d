"""From files to rows, without Spark: which deletes apply, what they hold, and the rows of files with what deleted each.

explorer.Table has them as methods."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars
import pyarrow as pa
import pyarrow.compute as pc
from cachetools import LRUCache

from explorer.core.deletes import KIND_WORDS, Applicability, LiveFile, Verdict, live_files
from explorer.core.lineage import newer
from explorer.core.names import base_name
from explorer.core.row_diff import RowDiff, named_fields, nested_column, row_changes
from explorer.core.values import partition_path
from explorer.errors import NotFoundInTable
from explorer.io import budget
from explorer.io import rows as contents
from explorer.io.projection import arrow_type
from explorer.metadata_tree import MetadataTree
from explorer.model.metadata import Schema, Snapshot
from explorer.model.problem import Problem
from explorer.progress import steps

MEMORY_BYTES, MANIFESTS, FILES_AT_ONCE = 256 << 20, 2000, 50_000


@dataclass(frozen=True)
class Hit:
    """Rows of a data file that one delete hides: their positions, ascending."""

    verdict: Verdict
    positions: pa.Array


class RowReader:
    """Rows and deletes of one table; what was read is kept in memory up to a limit. Safe to use from several
    threads."""

    def __init__(self, tree: MetadataTree) -> None:
        self.tree = tree
        self._kept: LRUCache[Any, pa.Table | pa.Array] = LRUCache(MEMORY_BYTES, getsizeof=lambda t: t.nbytes + 1000)
        self._files: LRUCache[Any, list[LiveFile]] = LRUCache(MANIFESTS)
        self._lock = threading.Lock()

    def applicability(self, snapshot: Snapshot | None) -> Applicability:
        """All live files of a snapshot, with bounds, ready to be asked which deletes apply."""
        if snapshot is None:
            return Applicability(self.tree.metadata, ())
        listed = self.tree.manifests(snapshot)
        keys = {m.manifest_path: (m.manifest_path, m.added_snapshot_id == snapshot.snapshot_id) for m in listed}
        with self._lock:
            files = {path: self._files[key] for path, key in keys.items() if key in self._files}
        wanted = [m for m in listed if m.manifest_path not in files]
        for manifest, entries in self.tree.logical(wanted, snapshot, metrics=True):
            path, spec_id = manifest.manifest_path, manifest.partition_spec_id
            files[path] = []
            for start in range(0, entries.num_rows, FILES_AT_ONCE):
                budget.require_memory(0, path)
                files[path] += live_files(entries.slice(start, FILES_AT_ONCE), spec_id, path)
            with self._lock:
                self._files[keys[path]] = files[path]
        return Applicability(self.tree.metadata, (f for m in listed for f in files.get(m.manifest_path, ())))

    def _once(self, key: Any, make: Any) -> Any:
        with self._lock:
            if key in self._kept:
                return self._kept[key]
        made = make()
        with self._lock:
            if made.nbytes + 1000 <= MEMORY_BYTES:
                self._kept[key] = made
        return made

    def rows(self, file: LiveFile, schema: Schema, lineage: bool = False) -> pa.Table:
        """All rows of a data file under a schema, with `_pos`; with `lineage` the row ids as readers see them. Raises
        UnreadableFile."""

        def read() -> pa.Table:
            rows = contents.data_rows(self.tree.reader.storage, file, schema, self.tree.metadata, lineage)
            positions = pa.array(np.arange(rows.num_rows, dtype=np.int64))
            if lineage:
                rows = _lineage(rows, file, positions)
            return rows.append_column("_pos", positions)

        return self._once(("rows", file.path, json.dumps(schema.raw), lineage), read)  # type: ignore[no-any-return]

    def position_deletes(self, file: LiveFile) -> pa.Table:
        """See io.rows.position_deletes."""
        return self._once(("positions", file.path), lambda: contents.position_deletes(self.tree.reader.storage, file))  # type: ignore[no-any-return]

    def vector(self, file: LiveFile) -> pa.Array:
        """See io.rows.deletion_vector."""
        return self._once(("vector", file.key), lambda: contents.deletion_vector(self.tree.reader.storage, file))  # type: ignore[no-any-return]

    def equality_rows(self, file: LiveFile) -> pa.Table:
        """The rows of an equality delete file: its equality columns only, under the newest names."""
        wanted = contents.equality_schema(self.tree.metadata, file.equality_ids)
        return self._once(
            ("equality", file.path),
            lambda: contents.data_rows(self.tree.reader.storage, file, wanted, self.tree.metadata),
        )  # type: ignore[no-any-return]

    def contents(self, file: LiveFile) -> pa.Table:
        """What a delete file or vector holds: (file_path, pos), (pos), or the equality columns. Raises
        UnreadableFile."""
        if file.kind == "position_deletes":
            return self.position_deletes(file)
        if file.kind == "deletion_vector":
            return pa.table({"pos": self.vector(file)})
        return self.equality_rows(file)

    def verdicts(self, files: Applicability, data: LiveFile) -> list[Verdict]:
        """The verdicts on the deletes that could matter to a data file, by what position deletes hold too, not by
        manifests alone: one that names no data file of the snapshot is a problem. Raises UnreadableFile."""
        told = []
        for verdict in files.of(data):
            delete = verdict.delete
            if verdict.applies and delete.kind == "position_deletes":
                verdict = files.holding(verdict, self._named(delete))
                if not verdict.applies:
                    self.tree.note([Problem(delete.path, verdict.against, severity="warning")])
            told.append(verdict)
        return told

    def _named(self, delete: LiveFile) -> frozenset[str]:
        """The paths that a position delete file names."""
        paths = self._once(("paths", delete.path), lambda: self.position_deletes(delete)["file_path"].unique())
        return frozenset(path for path in paths.to_pylist() if path is not None)

    def hits(self, verdicts: Iterable[Verdict]) -> list[Hit]:
        """Of each verdict that applies, the positions of its data file that the delete hides. Raises UnreadableFile."""
        return [Hit(v, self._positions(v)) for v in verdicts if v.applies]

    def _positions(self, verdict: Verdict) -> pa.Array:
        data, delete = verdict.data, verdict.delete
        if delete.kind == "deletion_vector":
            return self.vector(delete)
        if delete.kind == "position_deletes":
            table = self.position_deletes(delete)
            mine = table.filter(pc.equal(table["file_path"], data.path))
            return pc.unique(mine["pos"].combine_chunks().drop_null()).sort()
        schema = contents.equality_schema(self.tree.metadata, delete.equality_ids)
        theirs = _keys(self.equality_rows(delete), schema, delete.equality_ids)
        ours = _keys(self.rows(data, schema), schema, delete.equality_ids).with_row_index("_row")
        joined = ours.join(theirs.unique(), on=theirs.columns, how="semi", nulls_equal=True)
        return pa.array(np.sort(joined["_row"].to_numpy().astype(np.int64)))

    def file_rows(self, data: LiveFile, verdicts: Sequence[Verdict], schema: Schema, lineage: bool = False) -> pa.Table:
        """All rows of a data file with `_pos`, and `_deleted_by`: what hides the row, in words, or null."""
        rows = self.rows(data, schema, lineage)
        hidden_by: list[str | None] = [None] * rows.num_rows
        hits = self.hits(verdicts)
        budget.within(sum(len(hit.positions) for hit in hits), budget.TOLD, data.path, "deleted rows", "use a row diff")
        for hit in hits:
            delete = hit.verdict.delete
            said = f"{KIND_WORDS[delete.kind]} {base_name(delete.path)} (sequence number {delete.sequence_number})"
            for position in hit.positions.to_pylist():
                if position < rows.num_rows:
                    hidden_by[position] = said if hidden_by[position] is None else f"{hidden_by[position]}; {said}"
        return rows.append_column("_deleted_by", pa.array(hidden_by, pa.string()))

    def live(self, data: LiveFile, verdicts: Sequence[Verdict], schema: Schema, lineage: bool = False) -> pa.Table:
        """The rows of a data file that readers see, with `_pos`."""
        rows = self.rows(data, schema, lineage)
        mask = np.ones(rows.num_rows, dtype=bool)
        for hit in self.hits(verdicts):
            gone = hit.positions.to_numpy(zero_copy_only=False)
            mask[gone[gone < rows.num_rows]] = False
        return rows.filter(pa.array(mask))


def _lineage(rows: pa.Table, file: LiveFile, positions: pa.Array) -> pa.Table:
    """Row ids and last updates where the file stores none (spec: "Row Lineage")."""
    ids = rows["_row_id"]
    if file.first_row_id is not None:
        ids = pc.coalesce(ids, pc.add(positions, file.first_row_id))
    updated = pc.coalesce(rows["_last_updated_sequence_number"], pa.scalar(file.sequence_number, pa.int64()))
    if file.first_row_id is None:
        updated = pa.chunked_array([pa.nulls(rows.num_rows, pa.int64())])
    at = rows.schema.get_field_index
    rows = rows.set_column(at("_row_id"), "_row_id", ids)
    return rows.set_column(at("_last_updated_sequence_number"), "_last_updated_sequence_number", updated)


def _keys(table: pa.Table, schema: Schema, ids: Sequence[int]) -> polars.DataFrame:
    """The columns of some field ids, one polars column each, equal where Iceberg's comparators say so: -0.0 is not 0.0,
    and NaN is NaN."""
    columns = {}
    for field_id in ids:
        column = nested_column(table, contents.field_place(schema.raw["fields"], field_id))
        if isinstance(column.type, pa.BaseExtensionType):
            column = column.cast(column.type.storage_type)
        if pa.types.is_floating(column.type):
            values = column.combine_chunks()
            bits = values.fill_null(0).to_numpy(zero_copy_only=False).copy()
            bits[np.isnan(bits)] = np.nan
            whole = bits.view(np.int64 if bits.dtype == np.float64 else np.int32)
            column = pa.array(whole, mask=np.asarray(values.is_null()))
        columns[f"k{field_id}"] = polars.from_arrow(column)
    return polars.DataFrame(columns)


def pairing_keys(schema: Schema, keys: Sequence[str], lineage: bool) -> tuple[str, ...]:
    """The columns, or fields inside structs, that tell a changed row from a new one: those asked for, else the
    identifier fields, else in v3 the row id. Raises NotFoundInTable."""
    names = {field["id"]: path for path, field in named_fields(schema.raw["fields"]).items()}
    if unknown := [k for k in keys if k not in {*names.values(), *(("_row_id",) if lineage else ())}]:
        columns = ", ".join(f.name for f in schema.fields)
        raise NotFoundInTable(f"no column {unknown[0]!r} in the schema: it has {columns}")
    identifiers = tuple(names[i] for i in schema.identifier_field_ids if i in names)
    return tuple(keys) or identifiers or (("_row_id",) if lineage else ())


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
    sides = [_Side(reader.applicability(s)) for s in (before, after)]
    same = sides[0].signatures & sides[1].signatures
    frames, size = [], 0
    for side in sides:
        parts = [_empty(schema, lineage)]
        for data, signature in steps(side.files, "data files"):
            if signature not in same:
                rows = reader.live(data, reader.verdicts(side.known, data), schema, lineage)
                size += rows.nbytes
                budget.within(size, budget.AT_ONCE, data.path, "bytes with the files before it", "use Spark's SQL")
                parts.append(rows.append_column("_file", pa.repeat(pa.scalar(data.path), rows.num_rows)))
        frames.append(pa.concat_tables(p.select(parts[0].column_names) for p in parts))
    changes = row_changes(frames[0], frames[1], columns, paired_by)
    partitions: dict[str, dict[str, int]] = {}
    for name, rows, side in (
        ("inserted", changes.inserted, sides[1]), ("deleted", changes.deleted, sides[0]),
        ("updated", changes.updated_after, sides[1]),
    ):  # fmt: skip
        for item in pc.value_counts(rows["_file"]).to_pylist():
            data = side.by_path[item["values"]]
            where = partition_path(data.partition, meta.spec(data.spec_id), meta)
            partitions.setdefault(where, {"inserted": 0, "deleted": 0, "updated": 0})[name] += item["counts"]
    read = {sig[0] for side in sides for *_, sig in side.files if sig not in same}
    note = ""
    if before is not None and after is not None and before.schema_id != after.schema_id:
        note = (
            f"both sides are read under schema {schema.schema_id}, the newer snapshot's; dropped columns are "
            "not compared"
        )
    ids = (before.snapshot_id if before else None, after.snapshot_id if after else None)
    return RowDiff(
        *ids, columns, paired_by, changes, len(read), len({*sides[0].by_path, *sides[1].by_path}), partitions, note
    )


class _Side:
    """The data files of one snapshot, each with what tells it apart: a file is the same when its deletes are."""

    def __init__(self, files: Applicability) -> None:
        self.known = files
        self.by_path = {d.path: d for d in files.data}
        self.files = []
        for data in steps(files.data, "data files"):
            signature = (data.path, frozenset(v.delete.key for v in files.of(data) if v.applies))
            self.files.append((data, signature))
        self.signatures = {signature for *_, signature in self.files}


def _empty(schema: Schema, lineage: bool) -> pa.Table:
    fields = [*schema.raw["fields"], *(contents.LINEAGE if lineage else ())]
    columns = [pa.field(f["name"], arrow_type(f["type"])) for f in fields]
    return pa.schema([*columns, pa.field("_pos", pa.int64()), pa.field("_file", pa.string())]).empty_table()
