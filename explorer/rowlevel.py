"""From files to rows, without Spark: which deletes apply, what they hold, and the rows of files with what deleted each.

explorer.Table has them as methods."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars
import pyarrow as pa
import pyarrow.compute as pc
from cachetools import LRUCache

from explorer.core.delete_pairs import Counted, Pairs
from explorer.core.deletes import KIND_WORDS, Applicability, Verdict
from explorer.core.entries import live
from explorer.core.lifecycle import path_ends
from explorer.core.live_files import LiveFile, LiveFiles, live_files, place, read_alike
from explorer.core.names import base_name
from explorer.core.row_diff import named_fields, nested_column
from explorer.core.snapshot_deletes import Deletes
from explorer.core.values import partition_dicts
from explorer.errors import NotFoundInTable, UnreadableFile
from explorer.io import budget
from explorer.io import rows as contents
from explorer.metadata_tree import MetadataTree
from explorer.model.manifest import METRIC_FIELDS, ManifestFile
from explorer.model.metadata import Schema, Snapshot
from explorer.model.problem import Problem

MANIFESTS, FILES, FILES_AT_ONCE = 2000, 100_000, 50_000


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
        self._kept: LRUCache[Any, pa.Table | pa.Array] = LRUCache(budget.share(4), getsizeof=lambda t: t.nbytes + 1000)
        self._files: LRUCache[tuple[Any, ...], list[LiveFile]] = LRUCache(MANIFESTS)
        """By manifest, as many as together have FILES, and one at least."""
        self._lock = threading.Lock()

    def applicability(self, snapshot: Snapshot | None) -> Applicability:
        """All live files of a snapshot, with bounds, ready to be asked which deletes apply. Data files are made as they
        are asked for."""
        listed = self.tree.manifests(snapshot)
        data = [m for m in listed if m.content == 0]
        deletes = [m for m in listed if m.content != 0]
        if snapshot is None:
            return Applicability(self.tree.metadata, LiveFiles.of([]), [])
        at = snapshot
        files = LiveFiles(
            lambda: self._made(data, at),
            lambda i, places: self._picked(data[i], at, places),
            lambda: [0 if files is None else files.num_rows for files in self._each(data, at)],
            lambda: (p for files in self._each(data, at) if files is not None for p in files["file_path"].to_pylist()),
        )
        return Applicability(self.tree.metadata, files, [f for some in self._made(deletes, at) for f in some])

    def live_files(self, manifests: Sequence[ManifestFile], snapshot: Snapshot) -> Iterator[list[LiveFile]]:
        """The live files of each of some manifests of a snapshot; none where it cannot be read."""
        return self._made(manifests, snapshot)

    def deletes(self, snapshot: Snapshot | None) -> Deletes:
        """All deletes of a snapshot, held against its data files a manifest at a time."""
        return self.held(self.applicability(snapshot), snapshot)

    def held(self, files: Applicability, snapshot: Snapshot | None) -> Deletes:
        """Some deletes, held against the data files of a snapshot."""
        if snapshot is None:
            return Deletes(files, [])
        data = [m for m in self.tree.manifests(snapshot) if m.content == 0]
        pairs = Pairs(files)
        each = zip(data, self._each(data, snapshot, metrics=pairs.fields), strict=True)
        counted = (Counted.nothing() if table is None else pairs.count(table, m.partition_spec_id) for m, table in each)
        return Deletes(files, list(counted))

    def named(self, snapshot: Snapshot | None, path: str, deletes: bool) -> list[LiveFile]:
        """The live data or delete files of a snapshot whose path is, or ends with, `path`."""
        return self._where(snapshot, deletes, lambda paths: path_ends(paths, path))

    def at_paths(self, snapshot: Snapshot | None, paths: Collection[str]) -> list[LiveFile]:
        """The live data files of a snapshot that have these paths."""
        wanted = pa.array(sorted(paths), pa.string())
        return self._where(snapshot, False, lambda found: pc.is_in(found, wanted))

    def told(self, manifests: Sequence[ManifestFile], snapshot: Snapshot | None) -> polars.DataFrame:
        """What deletes go by of the live files of some manifests: path, sequence_number, place (as text)."""
        empty = {"path": polars.String, "sequence_number": polars.Int64, "place": polars.String}
        frames = [polars.DataFrame(schema=empty)]
        each = zip(manifests, self._each(manifests, snapshot), strict=True) if snapshot else ()
        for manifest, files in each:
            if files is not None:
                codes, partitions = partition_dicts(files)
                places = [repr(place(manifest.partition_spec_id, partition)) for partition in partitions]
                numbers = files["inherited_sequence_number"].to_pylist()
                columns = (files["file_path"].to_pylist(), numbers, [places[code] for code in codes.tolist()])
                frames.append(polars.DataFrame(dict(zip(empty, columns, strict=True)), schema=empty))
        return polars.concat(frames)

    def _where(
        self, snapshot: Snapshot | None, deletes: bool, chosen: Callable[[pa.ChunkedArray], pa.ChunkedArray]
    ) -> list[LiveFile]:
        if snapshot is None:
            return []
        listed = [m for m in self.tree.manifests(snapshot) if (m.content != 0) == deletes]
        found = []
        for manifest, files in zip(listed, self._each(listed, snapshot), strict=True):
            places = [] if files is None else np.flatnonzero(chosen(files["file_path"]).to_numpy()).tolist()
            if places:
                found += self._picked(manifest, snapshot, places)
        return found

    def _each(
        self, manifests: Sequence[ManifestFile], snapshot: Snapshot, metrics: bool = False
    ) -> Iterator[pa.Table | None]:
        """The logical entries of each manifest's live files, None where it cannot be read; `metrics` are null where
        only they cannot."""
        tables = self.tree.logical(manifests, snapshot, metrics)
        known = next(tables, None)
        for manifest in manifests:
            if known is not None and known[0].manifest_path == manifest.manifest_path:
                yield self._of_its_content(manifest, known[1])
                known = next(tables, None)
                continue
            entries = self.tree.logical_entries(manifest, snapshot) if metrics else None
            if entries is None:
                yield None
                continue
            for field in METRIC_FIELDS:
                entries = entries.append_column(field, pa.nulls(entries.num_rows, field.type))
            yield self._of_its_content(manifest, entries)

    def _of_its_content(self, manifest: ManifestFile, entries: pa.Table) -> pa.Table:
        """The live files of the kind that a manifest is for (spec: "Manifest Lists", `content`)."""
        files = live(entries)
        fits = pc.equal(pc.equal(pc.fill_null(files["content"], 0), 0), manifest.content == 0)
        if pc.all(fits).as_py() is False:
            both = ("delete files", "a data manifest") if manifest.content == 0 else ("data files", "a delete manifest")
            cause = "it lists {}, though the manifest list says that it is {}: they are left out of rows".format(*both)
            self.tree.note([Problem(manifest.manifest_path, cause, severity="warning")])
            files = files.filter(fits)
        return files

    def _made(self, manifests: Sequence[ManifestFile], snapshot: Snapshot) -> Iterator[list[LiveFile]]:
        """The live files of each manifest. Those of the last ones are kept."""
        with self._lock:
            kept = {read_alike(m): self._files[read_alike(m)] for m in manifests if read_alike(m) in self._files}
        tables = self._each([m for m in manifests if read_alike(m) not in kept], snapshot, True)
        for manifest in manifests:
            key = read_alike(manifest)
            yield kept[key] if key in kept else self._live_files(manifest, next(tables))

    def _picked(self, manifest: ManifestFile, snapshot: Snapshot, places: Sequence[int]) -> list[LiveFile]:
        """The live files in some places of one manifest. Raises UnreadableFile."""
        with self._lock:
            kept = self._files.get(read_alike(manifest))
        if kept is not None:
            return [kept[i] for i in places]
        [files] = self._each([manifest], snapshot, metrics=True)
        if files is None:
            raise UnreadableFile(manifest.manifest_path, "it could be read before, and cannot be any more")
        some = files.take(pa.array(places, pa.int64()))
        return live_files(some, manifest.partition_spec_id, manifest.manifest_path)

    def _live_files(self, manifest: ManifestFile, entries: pa.Table | None) -> list[LiveFile]:
        if entries is None:
            return []
        files: list[LiveFile] = []
        for start in range(0, entries.num_rows, FILES_AT_ONCE):
            budget.require_memory(0, manifest.manifest_path)
            some = entries.slice(start, FILES_AT_ONCE)
            files += live_files(some, manifest.partition_spec_id, manifest.manifest_path)
        with self._lock:
            self._files[read_alike(manifest)] = files
            while len(self._files) > 1 and sum(map(len, self._files.values())) > FILES:
                self._files.popitem()
        return files

    def _once(self, key: Any, make: Any) -> Any:
        with self._lock:
            if key in self._kept:
                return self._kept[key]
        made = make()
        with self._lock:
            if made.nbytes + 1000 <= self._kept.maxsize:
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

        ids = (file.first_row_id, file.sequence_number) if lineage else None
        return self._once(("rows", file.path, json.dumps(schema.raw), ids), read)  # type: ignore[no-any-return]

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
