"""From files to rows, without Spark: which deletes apply, what they hold, and the rows of files with what deleted each.

explorer.Table has them as methods."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from cachetools import LRUCache

from explorer.errors import NotFoundInTable, UnreadableFile
from explorer.model.manifest import ManifestFile, without_metrics
from explorer.model.metadata import Schema, Snapshot, TableMetadata
from explorer.model.problem import Problem
from explorer.queries.metadata_tree import MetadataTree
from explorer.spec.deletes.delete_pairs import (
    COMPACTED,
    ELSEWHERE,
    TOUCHED,
    DeletePairs,
    TouchedFiles,
    deletes_elsewhere,
    live_in,
    of_its_content,
    touch_counts,
)
from explorer.spec.deletes.deletes import Applicability, DeleteVerdict, KnownVerdicts
from explorer.spec.deletes.snapshot_deletes import Deletes
from explorer.spec.entries.entries import WORDS, live
from explorer.spec.entries.lazy_table import Parts
from explorer.spec.entries.live_files import MADE, LiveFile, LiveFiles, PartitionPlace, live_files, place, read_alike
from explorer.spec.entries.numpy_columns import Ints
from explorer.spec.filters.expressions import TRUE
from explorer.spec.rows.row_diff import fields_by_path
from explorer.spec.scan.scan import BY_METRICS, READ, ManifestVerdict, Scan
from explorer.spec.text.names import first_of
from explorer.spec.text.path_lookup import closeness
from explorer.spec.values.values import partition_dicts, partition_path
from explorer.storage import limits
from explorer.storage.file_rows import FileRows
from explorer.storage.rows import OTHER_CONTENTS, READ_BY

MANIFESTS, FILES, FILES_AT_ONCE = 2000, 100_000, 50_000
GONE = "it could be read before, and cannot be any more"


_PATHS = pa.schema([("file_path", pa.string())])


def _live_paths(manifest: ManifestFile, stored: pa.Table) -> pa.Table:
    files, _ = live_in(manifest, stored)
    return files.select(_PATHS.names).cast(_PATHS)


TOLD = pa.schema(
    [("file_path", pa.string()), ("record_count", pa.int64()), ("file_size_in_bytes", pa.int64()), ("partition", WORDS)]
)
"""What is told of data files without making them; the partition as a path."""
DELETE_FACTS = pa.schema(
    [
        ("path", pa.large_string()), ("sequence_number", pa.int64()), ("place", pa.int64()), ("manifest", pa.int64()),
        ("at", pa.int64()),
    ]
)  # fmt: skip
"""See RowReader.delete_facts."""


@dataclass(frozen=True)
class SkippedDelete:
    """A delete file that a scan skips: `why`, and whether rows that it hides may match the filter all the same
    (`may_hide`), since what rules it out are columns that it does not delete by."""

    why: str
    may_hide: bool


@dataclass(frozen=True)
class JudgedDeletes:
    """The deletes of one manifest by a filter: the keys of those that a scan reads, and those that it skips."""

    read: frozenset[tuple[str, int | None]]
    skipped: Mapping[tuple[str, int | None], SkippedDelete]


@dataclass(frozen=True)
class SelectedFiles:
    """Some live data files of a snapshot: their `places` among those of each manifest, themselves, made as they are
    asked for, MAX_NAMED_ROWS of all, and `where` they lie."""

    places: tuple[tuple[ManifestFile, Ints], ...]
    files: LiveFiles
    facts: pa.Table
    where: frozenset[PartitionPlace]


def _file_facts(
    metadata: TableMetadata, manifest: ManifestFile, files: pa.Table
) -> tuple[pa.Table, set[PartitionPlace]]:
    codes, partitions = partition_dicts(files)
    spec = metadata.spec(manifest.partition_spec_id)
    names = pa.array([partition_path(partition, spec, metadata) for partition in partitions], pa.string())
    partition = pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), names)
    columns = [files["file_path"], *(pc.fill_null(files[name], 0) for name in TOLD.names[1:3]), partition]
    where = {place(manifest.partition_spec_id, partition_value) for partition_value in partitions}
    return pa.table(dict(zip(TOLD.names, columns, strict=True))).cast(TOLD), where


class RowReader(FileRows):
    """Rows and deletes of one table; what was read is kept in memory up to a limit. Safe to use from several
    threads."""

    def __init__(self, tree: MetadataTree) -> None:
        super().__init__(tree.reader.storage, tree.metadata)
        self.tree = tree
        self._files: LRUCache[tuple[Any, ...], list[LiveFile]] = LRUCache(MANIFESTS)
        """By manifest, as many as together have FILES, and one at least."""

    def applicability(self, snapshot: Snapshot | None, tree: MetadataTree | None = None) -> Applicability:
        """All live files of a snapshot, with bounds, ready to be asked which deletes apply. Data files are made as they
        are asked for; `tree` says by whom what asks for all of them is answered."""
        listed = self.tree.manifests(snapshot)
        data = [m for m in listed if m.content == 0]
        deletes = [m for m in listed if m.content != 0]
        if snapshot is None:
            return Applicability(self.tree.metadata, LiveFiles.of([]), [])
        at, paths = snapshot, Parts(data, False, _live_paths, _PATHS)
        files = LiveFiles(
            lambda: self._files_by_manifest(data, at),
            lambda i, places: self._files_at(data[i], at, places),
            lambda: [0 if files is None else files.num_rows for files in self._each(data, at)],
            lambda: (p for part in (tree or self.tree).read(paths).read() for p in part["file_path"].to_pylist()),
        )
        return Applicability(
            self.tree.metadata, files, [f for some in self._files_by_manifest(deletes, at) for f in some]
        )

    def live_files(self, manifests: Sequence[ManifestFile], snapshot: Snapshot) -> Iterator[list[LiveFile]]:
        """The live files of each of some manifests of a snapshot; none where it cannot be read."""
        return self._files_by_manifest(manifests, snapshot)

    def find_skipped_deletes(
        self,
        scan: Scan,
        manifests: Sequence[ManifestFile],
        snapshot: Snapshot,
        known: dict[tuple[Any, ...], JudgedDeletes] | None = None,
    ) -> dict[tuple[str, int | None], SkippedDelete]:
        """Find the deletes that a scan does not open, although they may apply to files that it reads: Iceberg Java puts
        the filter to delete manifests and to their entries, too.

        Args:
            scan: The filter.
            manifests: Manifests of the snapshot; of these, the ones of deletes are looked at.
            snapshot: The snapshot.
            known: What is known of manifests by this filter, for who asks of many snapshots: each manifest is judged
                once.

        Returns:
            The deletes by their keys (LiveFile.key).
        """
        deletes = [m for m in manifests if m.content != 0]
        if scan.bound == TRUE or not deletes:
            return {}
        judged = {} if known is None else known
        new = list({read_alike(m): m for m in deletes if read_alike(m) not in judged}.values())
        verdicts = scan.manifests(new)
        for verdict, (manifest, files) in zip(verdicts, self.live_entries_of(new, snapshot), strict=True):
            judged[read_alike(manifest)] = self._judge_deletes(scan, verdict, files)
        each = [judged[read_alike(m)] for m in deletes]
        read = {key for one in each for key in one.read}
        return {key: delete for one in each for key, delete in one.skipped.items() if key not in read}

    def _judge_deletes(self, scan: Scan, verdict: ManifestVerdict, files: pa.Table | None) -> JudgedDeletes:
        """Say which deletes of a manifest a scan opens, and which it skips."""
        if files is None:
            return JudgedDeletes(frozenset(), {})
        judged = scan.deletes(verdict.manifest, files)
        reads = (judged.outcome == READ) & verdict.keeps
        keys = list(zip(*(files[name].to_pylist() for name in ("file_path", "content_offset")), strict=True))
        places = np.flatnonzero(~reads)
        may_hide = self._may_hide(scan, verdict.manifest, files.take(pa.array(places)))
        skipped = {}
        for at, may in zip(places.tolist(), may_hide, strict=True):
            why = judged.reason(at) if verdict.keeps else verdict.reason
            skipped[keys[at]] = SkippedDelete(str(why), may)
        return JudgedDeletes(frozenset(keys[at] for at in np.flatnonzero(reads).tolist()), skipped)

    @staticmethod
    def _may_hide(scan: Scan, manifest: ManifestFile, deletes: pa.Table) -> list[bool]:
        """Whether rows that some deletes hide may match a filter, by the columns alone that each deletes by."""
        places = defaultdict[tuple[int, ...], list[int]](list)
        for at, ids in enumerate(deletes["equality_ids"].to_pylist()):
            places[tuple(ids or ())].append(at)
        may = np.zeros(deletes.num_rows, bool)
        for ids, some in places.items():
            may[some] = scan.deletes(manifest, deletes.take(pa.array(some)), ids).outcome != BY_METRICS
        return [bool(each) for each in may]

    def live_entries_of(
        self, manifests: Sequence[ManifestFile], snapshot: Snapshot
    ) -> Iterator[tuple[ManifestFile, pa.Table | None]]:
        """Each of some manifests of a snapshot with the logical entries of its live files, with counts and bounds; None
        where it cannot be read."""
        return zip(manifests, self._each(manifests, snapshot, True), strict=True)

    def deletes(self, snapshot: Snapshot | None, tree: MetadataTree | None = None) -> Deletes:
        """All deletes of a snapshot, held against its data files a manifest at a time, by whom `tree` says."""
        return self.match_deletes(self.applicability(snapshot, tree), snapshot, tree)

    def match_deletes(
        self, files: Applicability, snapshot: Snapshot | None, tree: MetadataTree | None = None
    ) -> Deletes:
        """Some deletes, held against the data files of a snapshot."""
        if snapshot is None:
            return Deletes(files, [])
        data = [m for m in self.tree.manifests(snapshot) if m.content == 0]
        pairs = DeletePairs(files.without_data())
        parts = Parts(data, pairs.fields, partial(touch_counts, pairs), TOUCHED)
        touched_by_path: dict[str, TouchedFiles] = {}
        listed = {m.manifest_path: m for m in data}
        for part in (tree or self.tree).read(parts).read():
            for at, (path, misplaced) in enumerate(zip(*(part[n].to_pylist() for n in TOUCHED.names[:2]), strict=True)):
                touched_by_path[path] = TouchedFiles.of(part.slice(at, 1))
                if misplaced:
                    self._note_wrong_content(listed[path])
        for manifest in data:
            if manifest.manifest_path not in touched_by_path:
                [table] = self._each([manifest], snapshot, metrics=pairs.fields)
                of = (
                    TouchedFiles.nothing()
                    if table is None
                    else pairs.count(table, manifest.partition_spec_id).with_deletes
                )
                touched_by_path[manifest.manifest_path] = of
        each = [(m.manifest_path, touched_by_path[m.manifest_path]) for m in data]
        of_all = files.of_counts([touched_by_path.files for _, touched_by_path in each])
        unlisted, lost = self.tree.unreadable_in(snapshot)
        whole = not unlisted and touched_by_path.keys().isdisjoint(lost)
        return Deletes(of_all, each, snapshot.snapshot_id, whole, partial(self._elsewhere, snapshot, tree or self.tree))

    def _elsewhere(
        self, snapshot: Snapshot, tree: MetadataTree, deletes: Sequence[LiveFile]
    ) -> dict[tuple[str, int | None], LiveFile]:
        """For each delete, by its key, the first data file that it would apply to if it were recorded in that file's
        partition; left out are deletes without one, and those that a compaction of their own partition applied."""
        data = [m for m in tree.manifests(snapshot) if m.content == 0]
        order = {m.manifest_path: at for at, m in enumerate(data)}
        pairs = DeletePairs(Applicability(tree.metadata, LiveFiles.of([]), deletes))
        first: dict[int, tuple[int, int]] = {}
        applied: set[int] = set()
        for part in tree.read(Parts(data, True, partial(deletes_elsewhere, pairs), ELSEWHERE, folded=True)).read():
            for delete, path, row in zip(*(column.to_pylist() for column in part.columns), strict=True):
                if row == COMPACTED:
                    applied.add(delete)
                else:
                    first[delete] = min(first.get(delete, (len(data), 0)), (order[path], row))
        first = {delete: where for delete, where in first.items() if delete not in applied}
        rows_of: dict[int, set[int]] = {}
        for at, row in first.values():
            rows_of.setdefault(at, set()).add(row)
        files = dict[tuple[int, int], LiveFile]()
        for at, rows in rows_of.items():
            places = sorted(rows)
            files |= zip(((at, row) for row in places), self._files_at(data[at], snapshot, places), strict=True)
        return {deletes[delete].key: files[where] for delete, where in first.items()}

    def files_by_path(self, snapshot: Snapshot | None, path: str, deletes: bool | None) -> list[LiveFile]:
        """The live data or delete files of a snapshot that `path` means (see spec.text.path_lookup), both where
        `deletes` is None."""
        if snapshot is None:
            return []
        listed = [m for m in self.tree.manifests(snapshot) if deletes is None or (m.content != 0) == deletes]
        close = []
        for manifest, files in zip(listed, self._each(listed, snapshot), strict=True):
            if files is not None:
                close.append((manifest, closeness(files["file_path"], path)))
        closest = min((least for _, each in close if (least := pc.min(each).as_py()) is not None), default=None)
        named = []
        for manifest, each in close if closest is not None else ():
            places = np.flatnonzero(pc.fill_null(pc.equal(each, closest), False).to_numpy()).tolist()
            named += self._files_at(manifest, snapshot, places) if places else []
        return named

    def one(self, snapshot: Snapshot | None, path: str, deletes: bool, offset: int | None = None) -> LiveFile:
        """The one of `named` there is (of several deletion vectors in a Puffin file that at `offset`). Raises
        NotFoundInTable."""
        return self.live_entries(snapshot, path, deletes, offset)[0]

    def live_entries(
        self, snapshot: Snapshot | None, path: str, deletes: bool, offset: int | None = None
    ) -> list[LiveFile]:
        """Find the live entries of one data or delete file: one, unless the table has the file live several times.

        Args:
            snapshot: The snapshot.
            path: The file's path, or the end of it.
            deletes: Whether a delete file is meant.
            offset: Of a deletion vector, where several are in one Puffin file.

        Raises:
            NotFoundInTable: No file, or several files, go by the path.
        """
        files = [f for f in self.files_by_path(snapshot, path, deletes) if offset is None or f.content_offset == offset]
        key = _only(list({f.key: f for f in files}.values()), f"{'delete' if deletes else 'data'} file", path).key
        return [f for f in files if f.key == key]

    def footer(self, snapshot: Snapshot | None, path: str) -> dict[str, Any]:
        """The footer of a live file, see storage.reader.TableReader.footer. Raises NotFoundInTable."""
        files = {f.path: f for f in self.files_by_path(snapshot, path, None)}
        file = _only(list(files.values()), "file", path)
        return self.tree.reader.footer(file.path, file.file_format)

    def pick_files(
        self, snapshot: Snapshot | None, places_by_path: Mapping[str, Ints], paths: Collection[str]
    ) -> SelectedFiles:
        """The live data files of a snapshot in some places of some manifests, and those that have some paths."""
        if snapshot is None:
            return SelectedFiles((), LiveFiles.of([]), TOLD.empty_table(), frozenset())
        at, meta, wanted = snapshot, self.tree.metadata, pa.array(sorted(paths), pa.string())
        data = [m for m in self.tree.manifests(at) if m.content == 0 and (paths or m.manifest_path in places_by_path)]
        places: list[tuple[ManifestFile, Ints]] = []
        facts, where = [TOLD.empty_table()], set[PartitionPlace]()
        for manifest, files in zip(data, self._each(data, at), strict=True):
            if files is None:
                continue
            some = np.flatnonzero(pc.is_in(files["file_path"], wanted).to_numpy())
            some = np.union1d(some, places_by_path.get(manifest.manifest_path, some))
            if len(some):
                places.append((manifest, some))
                told_of, where_of = _file_facts(meta, manifest, files.take(pa.array(some)))
                facts.append(told_of)
                where |= where_of

        def read() -> Iterator[list[LiveFile]]:
            listed = [manifest for manifest, _ in places]
            for (manifest, indexes), entries in zip(places, self._each(listed, at, True), strict=True):
                if entries is None:
                    raise UnreadableFile(manifest.manifest_path, GONE)
                some = entries.take(pa.array(indexes))
                for start in range(0, len(indexes), MADE):
                    part = some.slice(start, MADE)
                    yield live_files(part, manifest.partition_spec_id, manifest.manifest_path)

        files = LiveFiles(
            read,
            lambda i, some: self._files_at(places[i][0], at, places[i][1][list(some)].tolist()),
            lambda: [len(indexes) for _, indexes in places],
            lambda: (path for part in facts for path in part["file_path"].to_pylist()),
        )
        return SelectedFiles(tuple(places), files, pa.concat_tables(facts).unify_dictionaries(), frozenset(where))

    def delete_facts(
        self, manifests: Sequence[ManifestFile], snapshot: Snapshot | None, places: dict[str, int]
    ) -> pa.Table:
        """What deletes go by of the live files of some manifests: path, sequence_number and place, a number that
        `places` gives to each; with which of the manifests it is, and which of its files."""
        tables = [DELETE_FACTS.empty_table()]
        each = zip(manifests, self._each(manifests, snapshot), strict=True) if snapshot else ()
        for number, (manifest, files) in enumerate(each):
            if files is not None:
                codes, partitions = partition_dicts(files)
                keys = [repr(place(manifest.partition_spec_id, partition)) for partition in partitions]
                numbers = pa.array([places.setdefault(key, len(places)) for key in keys], pa.int64())
                count = files.num_rows
                columns = (
                    files["file_path"], files["inherited_sequence_number"], numbers.take(pa.array(codes)),
                    pa.repeat(pa.scalar(number), count), pa.array(np.arange(count)),
                )  # fmt: skip
                tables.append(pa.table(dict(zip(DELETE_FACTS.names, columns, strict=True))).cast(DELETE_FACTS))
        return pa.concat_tables(tables)

    def _each(
        self, manifests: Sequence[ManifestFile], snapshot: Snapshot, metrics: bool = False
    ) -> Iterator[pa.Table | None]:
        """The logical entries of each manifest's live files, None where it cannot be read; `metrics` are null where
        only they cannot."""
        tables = self.tree.logical(manifests, snapshot, metrics)
        table = next(tables, None)
        for manifest in manifests:
            if table is not None and table[0].manifest_path == manifest.manifest_path:
                yield self._of_its_content(manifest, table[1])
                table = next(tables, None)
                continue
            entries = self.tree.logical_entries(manifest, snapshot) if metrics else None
            if entries is None:
                yield None
                continue
            yield self._of_its_content(manifest, without_metrics(entries))

    def _of_its_content(self, manifest: ManifestFile, entries: pa.Table) -> pa.Table:
        """The live files of the kind that a manifest is for."""
        files, misplaced = of_its_content(manifest, live(entries))
        if misplaced:
            self._note_wrong_content(manifest)
        return files

    def _note_wrong_content(self, manifest: ManifestFile) -> None:
        kind, what = ("data", "a data manifest") if manifest.content == 0 else ("delete", "a delete manifest")
        cause = f"it lists other files than {kind} files, though the manifest list says that it is {what}: they are "
        cause += "left out of rows"
        if manifest.content == 0:
            cause += " here, but not of counts; Spark reads what delete files hold as rows of the table"
        self.tree.note([Problem(manifest.manifest_path, cause, severity="warning", rule="manifest-content")])

    def _files_by_manifest(self, manifests: Sequence[ManifestFile], snapshot: Snapshot) -> Iterator[list[LiveFile]]:
        """The live files of each manifest. Those of the last ones are kept."""
        with self._lock:
            kept = {read_alike(m): self._files[read_alike(m)] for m in manifests if read_alike(m) in self._files}
        tables = self._each([m for m in manifests if read_alike(m) not in kept], snapshot, True)
        for manifest in manifests:
            key = read_alike(manifest)
            yield kept[key] if key in kept else self._live_files(manifest, next(tables))

    def _files_at(self, manifest: ManifestFile, snapshot: Snapshot, places: Sequence[int]) -> list[LiveFile]:
        """The live files in some places of one manifest. Raises UnreadableFile."""
        with self._lock:
            kept = self._files.get(read_alike(manifest))
        if kept is not None:
            return [kept[i] for i in places]
        [files] = self._each([manifest], snapshot, metrics=True)
        if files is None:
            raise UnreadableFile(manifest.manifest_path, GONE)
        some = files.take(pa.array(places, pa.int64()))
        return live_files(some, manifest.partition_spec_id, manifest.manifest_path)

    def _live_files(self, manifest: ManifestFile, entries: pa.Table | None) -> list[LiveFile]:
        if entries is None:
            return []
        files: list[LiveFile] = []
        for start in range(0, entries.num_rows, FILES_AT_ONCE):
            limits.require_memory(0, manifest.manifest_path)
            some = entries.slice(start, FILES_AT_ONCE)
            files += live_files(some, manifest.partition_spec_id, manifest.manifest_path)
        with self._lock:
            self._files[read_alike(manifest)] = files
            while len(self._files) > 1 and sum(map(len, self._files.values())) > FILES:
                self._files.popitem()
        return files

    def rows(self, file: LiveFile, schema: Schema, lineage: bool = False) -> pa.Table:
        """See storage.file_rows.FileRows; what is said of a file by how it was read is noted."""
        return self._note_rows(file, super().rows(file, schema, lineage))

    def position_deletes(self, file: LiveFile) -> pa.Table:
        """See storage.rows.position_deletes; what is said of a file by how it was read is noted."""
        return self._note_rows(file, super().position_deletes(file))

    def equality_rows(self, file: LiveFile) -> pa.Table:
        """See storage.file_rows.FileRows; what is said of a file by how it was read is noted."""
        return self._note_rows(file, super().equality_rows(file))

    def _note_rows(self, file: LiveFile, rows: pa.Table) -> pa.Table:
        self.note_read(file.path, rows)
        return rows

    def note_read(self, path: str, rows: pa.Table) -> None:
        """Note what rows that were read of a file, here or by a worker of Spark, say of it: that it has no field ids,
        or is not as its manifest entry says."""
        if note := (rows.schema.metadata or {}).get(OTHER_CONTENTS):
            rule, _, cause = note.decode().partition(" ")
            self.tree.note([Problem(path, cause, severity="warning", rule=rule)])
        if how := (rows.schema.metadata or {}).get(READ_BY):
            cause = (
                "its columns have no field ids, and the table has no name mapping (schema.name-mapping.default): they "
                f"are read by their {how.decode()}, as Iceberg Java does; DuckDB shows nulls, and pyiceberg refuses it"
            )
            nested = self._nested_columns() if how == b"places" else ()
            if nested:  # org.apache.iceberg.parquet.ParquetSchemaUtil.addFallbackIds
                cause += f"; it finds nothing in structs, lists and maps by places: null ({first_of(nested, 5)})"
            severity: Literal["error", "warning"] = "error" if nested else "warning"
            self.tree.note([Problem(path, cause, severity=severity, rule="field-ids-absent")])

    def _nested_columns(self) -> list[str]:
        """The columns of the current schema that are structs, lists or maps."""
        schema = self.metadata.schema(self.metadata.current_schema_id)
        return [field.name for field in schema.fields if isinstance(field.type, Mapping)] if schema else []

    def verdicts_on(self, snapshot: Snapshot | None, path: str) -> list[tuple[LiveFile, list[DeleteVerdict]]]:
        """Each live entry of the data file that goes by `path`, and `verdicts`. Raises NotFoundInTable,
        UnreadableFile."""
        entries, files = self.live_entries(snapshot, path, deletes=False), self.applicability(snapshot)
        return [(data, self.verdicts(files, data)) for data in entries]

    def verdicts(self, files: Applicability, data: LiveFile, known: KnownVerdicts | None = None) -> list[DeleteVerdict]:
        """The verdicts on the deletes that could matter to a data file, by what position deletes hold too, not by
        manifests alone: one that names no data file of the snapshot is a problem. `known` is of other snapshots. Raises
        UnreadableFile."""
        verdicts = []
        for verdict in files.of(data, known):
            delete = verdict.delete
            if verdict.applies and delete.kind == "position_deletes":
                verdict = files.holding(verdict, self._paths_of(delete))
                if not verdict.applies:
                    self.tree.note([Problem(delete.path, verdict.against, severity="warning")])
            verdicts.append(verdict)
        return verdicts

    def _paths_of(self, delete: LiveFile) -> frozenset[str]:
        """The paths that a position delete file names."""
        paths = self._once(("paths", delete.path), lambda: self.position_deletes(delete)["file_path"].unique())
        return frozenset(path for path in paths.to_pylist() if path is not None)


def pairing_keys(schema: Schema, keys: Sequence[str], lineage: bool) -> tuple[str, ...]:
    """The columns, or fields inside structs, that tell a changed row from a new one: those asked for, one by one or
    with commas between them, else the identifier fields, else in v3 the row id. Raises NotFoundInTable."""
    names = {field["id"]: path for path, field in fields_by_path(schema.raw["fields"]).items()}
    known = {*names.values(), *(("_row_id",) if lineage else ())}
    keys = [part for key in keys for part in ([key] if key in known else map(str.strip, key.split(",")))]
    if unknown := [k for k in keys if k not in known]:
        columns = ", ".join(f.name for f in schema.fields)
        raise NotFoundInTable(f"no column {unknown[0]!r} in the schema: it has {columns}")
    identifiers = tuple(names[i] for i in schema.identifier_field_ids if i in names)
    return tuple(keys) or identifiers or (("_row_id",) if lineage else ())


def _only(files: Sequence[LiveFile], what: str, path: str) -> LiveFile:
    if len(files) != 1:
        names = f": {first_of([file.path for file in files], 5)}" if files else ""
        raise NotFoundInTable(f"{len(files) or 'no'} live {what} of this snapshot goes by {path!r}{names}")
    return files[0]
