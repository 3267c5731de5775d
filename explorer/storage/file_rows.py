"""Rows of data files, as stored and as readers see them, and what delete files hold: what this process and Spark's
workers have in common. Safe to use from several threads."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from cachetools import LRUCache

from explorer.errors import UnreadableFile
from explorer.model.metadata import Schema, TableMetadata
from explorer.spec.deletes.deletes import KIND_WORDS, DeleteVerdict
from explorer.spec.entries.live_files import LiveFile
from explorer.spec.rows.row_diff import read_column
from explorer.spec.text.names import base_name, ending_below, endings_elsewhere, without_place
from explorer.spec.values.equality import comparable, find_rows
from explorer.storage import limits
from explorer.storage import rows as contents
from explorer.storage.storage import Storage


@dataclass(frozen=True)
class Hit:
    """Rows of a data file that one delete hides: their positions, ascending."""

    verdict: DeleteVerdict
    positions: pa.Array


class FileRows:
    """Rows and deletes of a table's files; what was read is kept in memory up to a limit. Can be pickled, without
    that."""

    def __init__(self, storage: Storage, metadata: TableMetadata) -> None:
        self.storage, self.metadata = storage, metadata
        self._kept: LRUCache[Any, pa.Table | pa.Array] = LRUCache(limits.share(4), getsizeof=lambda t: t.nbytes + 1000)
        self._vectors: LRUCache[str, frozenset[tuple[Any, Any]] | None] = LRUCache(4)
        self._lock = threading.Lock()

    def __reduce__(self) -> tuple[type[FileRows], tuple[Any, ...]]:
        return FileRows, (self.storage, self.metadata)

    def _once(self, key: Any, make: Any) -> Any:
        with self._lock:
            if key in self._kept:
                return self._kept[key]
        value = make()
        with self._lock:
            if value.nbytes + 1000 <= self._kept.maxsize:
                self._kept[key] = value
        return value

    def files_in_memory(self) -> frozenset[str]:
        """Return the paths of the files of which rows or deletes are kept."""
        with self._lock:
            return frozenset(key[1] for key in self._kept if key[0] in ("rows", "positions", "equality"))

    def rows(self, file: LiveFile, schema: Schema, lineage: bool = False) -> pa.Table:
        """All rows of a data file under a schema, with `_pos`; with `lineage` the row ids as readers see them. Raises
        UnreadableFile."""

        def read() -> pa.Table:
            rows = contents.data_rows(self.storage, file, schema, self.metadata, lineage)
            positions = pa.array(np.arange(rows.num_rows, dtype=np.int64))
            if lineage:
                rows = _lineage(rows, file, positions)
            return rows.append_column("_pos", positions)

        ids = (file.first_row_id, file.sequence_number) if lineage else None
        return self._once(("rows", file.path, json.dumps(schema.raw), ids), read)  # type: ignore[no-any-return]

    def _places(self, storage: Storage, path: str) -> frozenset[tuple[Any, Any]] | None:
        """See storage.rows.vector_places; of the last files they are remembered."""
        with self._lock:
            if path in self._vectors:
                return self._vectors[path]
        places = contents.vector_places(storage, path)
        with self._lock:
            self._vectors[path] = places
        return places

    def position_deletes(self, file: LiveFile) -> pa.Table:
        """See storage.rows.position_deletes."""
        rows: pa.Table = self._once(("positions", file.path), lambda: contents.position_deletes(self.storage, file))
        return rows

    def vector(self, file: LiveFile) -> pa.Array:
        """See storage.rows.deletion_vector."""
        positions: pa.Array = self._once(
            ("vector", file.key), lambda: contents.deletion_vector(self.storage, file, self._places)
        )
        return positions

    def equality_rows(self, file: LiveFile) -> pa.Table:
        """The rows of an equality delete file: its equality columns only, under the newest names."""
        wanted = contents.equality_schema(self.metadata, file.equality_ids)
        return self._once(
            ("equality", file.path),
            lambda: contents.data_rows(self.storage, file, wanted, self.metadata),
        )  # type: ignore[no-any-return]

    def contents(self, file: LiveFile) -> pa.Table:
        """What a delete file or vector holds: (file_path, pos), (pos), or the equality columns. Raises
        UnreadableFile."""
        if file.kind == "position_deletes":
            return self.position_deletes(file)
        if file.kind == "deletion_vector":
            return pa.table({"pos": self.vector(file)})
        return self.equality_rows(file)

    def hits(self, verdicts: Iterable[DeleteVerdict]) -> list[Hit]:
        """Of each verdict that applies, the positions of its data file that the delete hides. Raises UnreadableFile."""
        return [Hit(v, self.positions(v)) for v in verdicts if v.applies]

    def positions(self, verdict: DeleteVerdict) -> pa.Array:
        """The positions of a verdict's data file that its delete holds, whether or not it applies. Raises
        UnreadableFile."""
        data, delete = verdict.data, verdict.delete
        if delete.kind == "deletion_vector":
            return self.vector(delete)
        held: pa.Array = self._once(("held", data.path, delete.key), lambda: self._held(data, delete))
        return held

    def _held(self, data: LiveFile, delete: LiveFile) -> pa.Array:
        """See `positions`."""
        if delete.kind == "position_deletes":
            table = self.position_deletes(delete)
            own_rows = table.filter(pc.equal(table["file_path"], data.path))
            return pc.unique(own_rows["pos"].combine_chunks().drop_null()).sort()
        if not delete.equality_ids:
            raise UnreadableFile(delete.path, "it has no equality_ids: nobody can tell what it deletes")
        schema = contents.equality_schema(self.metadata, delete.equality_ids)
        theirs = _keys(self.equality_rows(delete), schema, delete.equality_ids)
        ours = _keys(self.rows(data, schema), schema, delete.equality_ids)
        return pa.array(find_rows(ours, theirs))

    def positions_under_other_path(self, verdict: DeleteVerdict) -> pa.Array:
        """The positions that a position delete file holds of the data file under another scheme or authority, or in
        the place where the table was, which readers take for another file. Raises UnreadableFile."""
        table, data = self.position_deletes(verdict.delete), verdict.data
        paths = table["file_path"].dictionary_encode().unify_dictionaries().combine_chunks()
        names = paths.dictionary.to_pylist()
        ending, location = ending_below(data.path, self.metadata.location), self.metadata.location
        same = [
            name is not None
            and name != data.path
            and (without_place(name) == without_place(data.path) or ending in endings_elsewhere(name, location))
            for name in names
        ]
        own_rows = table.filter(pa.array(same, pa.bool_()).take(paths.indices))
        return pc.unique(own_rows["pos"].combine_chunks().drop_null()).sort()

    def file_rows(
        self, data: LiveFile, verdicts: Sequence[DeleteVerdict], schema: Schema, lineage: bool = False
    ) -> pa.Table:
        """All rows of a data file with `_pos`, and `_deleted_by`: what hides the row, in words, or null."""
        rows = self.rows(data, schema, lineage)
        hidden_by: list[str | None] = [None] * rows.num_rows
        hits = self.hits(verdicts)
        limits.within(
            sum(len(hit.positions) for hit in hits), limits.MAX_NAMED_ROWS, data.path, "deleted rows", "use a row diff"
        )
        for hit in hits:
            delete = hit.verdict.delete
            words = f"{KIND_WORDS[delete.kind]} {base_name(delete.path)} (sequence number {delete.sequence_number})"
            for position in hit.positions.to_pylist():
                if position < rows.num_rows:
                    hidden_by[position] = words if hidden_by[position] is None else f"{hidden_by[position]}; {words}"
        return rows.append_column("_deleted_by", pa.array(hidden_by, pa.string()))

    def live(
        self, data: LiveFile, verdicts: Iterable[DeleteVerdict], schema: Schema, lineage: bool = False
    ) -> pa.Table:
        """The rows of a data file that readers see, with `_pos`."""
        rows = self.rows(data, schema, lineage)
        mask = np.ones(rows.num_rows, dtype=bool)
        for hit in self.hits(verdicts):
            gone = hit.positions.to_numpy(zero_copy_only=False)
            mask[gone[gone < rows.num_rows]] = False
        return rows.filter(pa.array(mask))


def rows_of_file(
    schema: Schema, lineage: bool, files: FileRows, data: LiveFile, verdicts: Iterable[DeleteVerdict]
) -> pa.Table:
    """The rows of a data file that readers see, with `_pos` and `_file`. Raises UnreadableFile."""
    rows = files.live(data, verdicts, schema, lineage)
    return rows.append_column("_file", pa.repeat(pa.scalar(data.path), rows.num_rows))


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


def _keys(table: pa.Table, schema: Schema, ids: Sequence[int]) -> list[pa.ChunkedArray]:
    """The columns of some field ids, equal where Iceberg's comparators say so: -0.0 is not 0.0, and NaN is NaN."""
    places = (contents.field_place(schema.raw["fields"], field_id) for field_id in ids)
    return [comparable(read_column(table, place), signed_zero=True) for place in places]


def ipc(table: pa.Table) -> bytes:
    """A table as a stream of Arrow's."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()  # type: ignore[no-any-return]


def from_ipc(data: bytes) -> pa.Table:
    """A table from such a stream."""
    return pa.ipc.open_stream(data).read_all()
