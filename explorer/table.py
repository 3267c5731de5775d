"""The Python face of one table: what the CLI, the notebook and the dashboard all ask."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import pyarrow as pa

from explorer.collection import Collection
from explorer.core import entries as core
from explorer.core.costs import RunCost, bytes_kept, commit_cost, run_between
from explorer.core.deletes import Applicability, LiveFile, ReadCost, Verdict, dangling, read_costs
from explorer.core.diff import Side, SnapshotDiff, diff, only
from explorer.core.entries import as_of_snapshot
from explorer.core.history import Resolved, resolve_snapshot
from explorer.core.lifecycle import Biography, Cell, biography, lifecycle
from explorer.core.lineage import HistoryEntry, LogEntry, current_log, history
from explorer.core.metadata_diff import metadata_diff, schema_changes
from explorer.core.partitions import partitions
from explorer.core.row_diff import RowDiff
from explorer.core.values import conform_partition, unified_partition_type
from explorer.engines.reads import Read, ReadRequest, ReadSession, ScanReport, SqlRequest, metadata_columns
from explorer.engines.spark import shared_engine
from explorer.errors import AccessRefused, NotFoundInTable, UnreadableFile
from explorer.fate import Fate
from explorer.graphs.diff_graph import diff_graph
from explorer.graphs.graph import Graph
from explorer.graphs.ids import file_node, list_node, manifest_node, node_id
from explorer.graphs.manifest_graph import mentions
from explorer.graphs.source import GraphSource, GraphView
from explorer.graphs.table_graph import build
from explorer.io.locate import locate, metadata_version
from explorer.io.reader import TableReader
from explorer.io.rows import read_schema
from explorer.model.manifest import ManifestFile
from explorer.model.metadata import Snapshot, TableMetadata
from explorer.model.problem import Problem
from explorer.reading import Reading, check_named, reading, sql_request
from explorer.rowlevel import RowReader, row_diff
from explorer.views import rows
from explorer.views.text import render_tree

OPEN_ENTRIES, OPEN_MANIFESTS = 60, 12
"""A snapshot with at most this many entries and manifests is drawn with its manifests open."""
VIEWS = ("stored", "inherited", "logical", "all")

Display = Callable[["Table"], Mapping[str, Any]]


class Table:
    """One Iceberg table, read-only. Opening reads metadata.json; all else is read when asked for.

    What cannot be read is listed in `problems` and shown on its node, while the rest of the table still opens."""

    def __init__(self, reader: TableReader, display: Display | None = None) -> None:
        self.reader = reader
        self._display = display
        self._found: dict[str, Problem] = {}
        self._older: dict[str, TableMetadata] = {}

    # -- what it is ---------------------------------------------------------------------------------------------------
    @property
    def name(self) -> str:
        """`catalog.db.table`, or the table folder's name."""
        return self.reader.location.name

    @property
    def metadata(self) -> TableMetadata:
        """The metadata file the table was opened with."""
        return self.reader.metadata

    @property
    def why(self) -> str:
        """Which metadata file was chosen, and why."""
        return f"{self.metadata.metadata_location}: {self.reader.location.reason}"

    @property
    def problems(self) -> list[Problem]:
        """Everything found wrong so far: in the metadata file, and in what was read since."""
        return [*self.reader.problems, *self._found.values()]

    def _note(self, problems: Iterable[Problem]) -> None:
        for problem in problems:
            self._found.setdefault(str(problem), problem)

    def refresh(self) -> Table:
        """The table as its catalog or folder has it now, as a new Table. Raises TableNotFound or UnreadableFile."""
        old = self.reader.location
        catalog = old.catalog if old.identifier == old.asked else None
        return Table(TableReader(locate(old.asked, catalog, old.properties), self.reader.extra_roots), self._display)

    # -- collections --------------------------------------------------------------------------------------------------
    def resolve(self, snapshot: str | int | None = None) -> Resolved:
        """The snapshot meant by an id, branch, tag, `snapshot-3` or timestamp; None is the current one. See
        core.history.resolve_snapshot. Raises NotFoundInTable."""
        return resolve_snapshot(self.metadata, snapshot)

    @property
    def snapshots(self) -> Collection:
        """All snapshots, oldest first: snapshot-id, parent-snapshot-id, sequence-number, timestamp-ms, operation,
        manifest-list, schema-id, first-row-id, added-rows, summary (spec: "Snapshots")."""
        ordered = sorted(enumerate(self.metadata.snapshots), key=lambda item: (item[1].sequence_number, item[0]))
        return Collection.of_rows([rows.snapshot_row(s) for _, s in ordered], "snapshots")

    @property
    def refs(self) -> Collection:
        """Branches and tags: name, type, snapshot-id and retention (spec: "Snapshot References")."""
        return Collection.of_rows([rows.ref_row(r) for r in self.metadata.refs], "refs")

    @property
    def metadata_log(self) -> Collection:
        """Metadata files, oldest first, the current one last: timestamp-ms, metadata-file, current."""
        return Collection.of_rows(rows.metadata_log_rows(self.metadata), "metadata log")

    def manifests(self, snapshot: str | int | None = None) -> Collection:
        """The snapshot's manifest list, in its order: manifest_path, content, counts, sequence numbers, partition
        summaries decoded (spec: "Manifest Lists"). An unreadable list gives no rows, and a problem."""
        listed = self.manifest_files(self._maybe(snapshot))
        found = [rows.manifest_row(m, self.metadata) for m in listed]
        schema = {"lower_bound": pa.string(), "upper_bound": pa.string()}
        for row in found:
            row["partitions"] = [
                {**p, **{k: None if p[k] is None else str(p[k]) for k in schema}} for p in row["partitions"]
            ]
        summaries = pa.list_(
            pa.struct(
                [("name", pa.string()), ("contains_null", pa.bool_()), ("contains_nan", pa.bool_()), *schema.items()]
            )
        )
        if not found:
            return Collection(pa.table({}), "manifests")
        arrays = {k: pa.array([r[k] for r in found], summaries if k == "partitions" else None) for k in found[0]}
        return Collection(pa.table(arrays), "manifests")

    def entries(self, snapshot: str | int | None = None, view: str = "logical", metrics: bool = False) -> Collection:
        """Every entry of every manifest of a snapshot, DELETED and filtered ones too (spec: "Manifest Entry Fields").

        view: "stored", null where the Avro has null; "inherited", after inheritance, with `<name>_origin` in words;
        "logical", inherited values with `logical_status` as of the snapshot and the `reason` (null when filtered
        out); "all", structs `stored` and `inherited` beside `logical_status` and `reason`. `metrics` adds
        column_sizes, counts and bounds (bytes). Unreadable manifests give no rows, and a problem each."""
        if view not in VIEWS:
            raise ValueError(f"view {view!r}: use one of {', '.join(VIEWS)}")
        found = self._maybe(snapshot)
        tables = self.logical_tables(found, metrics)
        if not tables:
            return Collection(pa.table({}), "entries")
        return Collection(pa.concat_tables([_project(t, view) for t in tables], promote_options="default"), "entries")

    def files(self, snapshot: str | int | None = None, metrics: bool = False) -> Collection:
        """Files a reader of the snapshot sees, data and delete files: the live entries, after inheritance."""
        everything = self.entries(snapshot, "logical", metrics).to_arrow()
        if not everything.num_columns:
            return Collection(everything, "files")
        return Collection(core.live(everything).drop_columns(["status", "reason"]), "files")

    def partitions(self, snapshot: str | int | None = None) -> Collection:
        """Live files added up by partition, as Iceberg's own table of that name has them: partition, spec_id,
        record_count, file_count, total_data_file_size_in_bytes, records and files of position (with vectors) and
        equality deletes, and when and by which snapshot a file was added last (null when that has expired). Partitions
        of several specs that agree in all fields are one; `spec_id` is that of the file added last."""
        found = self._maybe(snapshot)
        tables = self.logical_tables(found)
        if not tables:
            return Collection(pa.table({}), "partitions")
        times = {s.snapshot_id: s.timestamp_ms for s in self.metadata.snapshots}
        return Collection(partitions(pa.concat_tables(tables, promote_options="default"), times), "partitions")

    # -- building blocks shared by the views --------------------------------------------------------------------------
    def _maybe(self, snapshot: str | int | None) -> Snapshot | None:
        """The snapshot; None for the current one of a table without any."""
        if snapshot is None and self.metadata.current_snapshot_id is None:
            return None
        return self.resolve(snapshot).snapshot

    def manifest_files(self, snapshot: Snapshot | None) -> list[ManifestFile]:
        """A snapshot's manifest list as model objects."""
        if snapshot is None:
            return []
        read = self.reader.manifests(snapshot)
        self._note(read.problems)
        return list(read.value)

    def logical_entries(self, manifest: ManifestFile, snapshot_id: int, metrics: bool = False) -> pa.Table | None:
        """One manifest's entries with all columns of core.entries, as of a snapshot; None when unreadable."""
        read = self.reader.entries(manifest, metrics)
        self._note(read.problems)
        return None if read.value is None else as_of_snapshot(read.value, manifest, snapshot_id)

    def logical_tables(self, snapshot: Snapshot | None, metrics: bool = False) -> list[pa.Table]:
        """The logical entries of each readable manifest of a snapshot, with spec_id, manifest_path and ordinal."""
        listed = self.manifest_files(snapshot)
        stored = list(self.stored_entries(listed, metrics))
        unified = unified_partition_type(self.metadata, [t for _, t in stored])
        done: list[pa.Table] = []
        for manifest, table in stored:
            wide = as_of_snapshot(table, manifest, snapshot.snapshot_id if snapshot else -1)
            partition = conform_partition(table, unified)
            wide = wide.set_column(wide.schema.get_field_index("partition"), pa.field("partition", unified), partition)
            count = table.num_rows
            wide = wide.append_column("spec_id", pa.repeat(pa.scalar(manifest.partition_spec_id, pa.int32()), count))
            path = pa.DictionaryArray.from_arrays(
                pa.repeat(pa.scalar(0, pa.int32()), count), pa.array([manifest.manifest_path])
            )
            done.append(
                wide.append_column("manifest_path", path).append_column("ordinal", pa.array(range(count), pa.int64()))
            )
        return done

    # -- the graph ----------------------------------------------------------------------------------------------------
    def default_view(self, snapshot: str | int | None = None) -> GraphView:
        """The view a person starts with: one snapshot, its manifests open if that stays readable."""
        if snapshot is None and self.metadata.current_snapshot is None:  # none yet, or it cannot be read: a Problem
            found = self.metadata.snapshots[-1] if self.metadata.snapshots else None
        else:
            found = self._maybe(snapshot)
        if found is None:
            return GraphView(None)
        listed = self.manifest_files(found)
        known = [(m.added_files_count, m.existing_files_count, m.deleted_files_count) for m in listed]
        total = sum(
            sum(n for n in counts if n is not None) if any(n is not None for n in counts) else 5 for counts in known
        )
        small = total <= OPEN_ENTRIES and len(listed) <= OPEN_MANIFESTS
        opened = frozenset(manifest_node(m.manifest_path) for m in listed) if small else frozenset()
        return GraphView(found.snapshot_id, opened)

    def graph(self, snapshot: str | int | None = None, view: GraphView | None = None) -> Graph:
        """The metadata tree as a graph, for a snapshot's default view or for a given view. Reads what that needs."""
        view = view or self.default_view(snapshot)
        opened = view.open_nodes
        lists: dict[int, list[ManifestFile]] = {}
        for found in self.metadata.snapshots:
            if found.snapshot_id == view.snapshot_id or list_node(found.snapshot_id) in opened:
                lists[found.snapshot_id] = self.manifest_files(found)
        ordered = sorted(lists, key=lambda s: s != view.snapshot_id)  # the snapshot in view speaks first
        entries: dict[str, pa.Table | None] = {}
        matching: set[str] = set()
        for snapshot_id in ordered:
            wanted = [
                m
                for m in lists[snapshot_id]
                if m.manifest_path not in entries and (view.search or manifest_node(m.manifest_path) in opened)
            ]
            for manifest, _ in self.reader.many_entries(wanted):
                table = entries[manifest.manifest_path] = self.logical_entries(manifest, snapshot_id)
                if view.search and table is not None and len(matching) < 12 and mentions(table, view.search):
                    matching.add(manifest_node(manifest.manifest_path))
        footers = self._footers(entries.values(), view.open_files)
        metadata_files = self._metadata_files(opened)
        location = self.reader.location
        source = GraphSource(
            title=self.name,
            metadata=self.metadata,
            catalog=f"catalog {location.catalog}" if location.catalog else None,
            manifests=lists,
            entries=entries,
            metadata_files=metadata_files,
            footers=footers,
            problems=self.problems,
        )
        return build(source, replace(view, open_nodes=opened | matching))

    def _footers(self, tables: Iterable[pa.Table | None], opened: frozenset[str]) -> dict[str, Mapping[str, Any]]:
        if not opened:
            return {}
        found: dict[str, Mapping[str, Any]] = {}
        for table in tables:
            for path in table["file_path"].to_pylist() if table is not None else ():
                if path not in found and file_node(path) in opened:
                    try:
                        found[path] = self.reader.parquet_footer(path)
                    except UnreadableFile as error:
                        self._note([Problem(error.path, error.cause, unaffected="other files are not affected")])
        return found

    def _metadata_files(self, opened: frozenset[str]) -> dict[str, TableMetadata]:
        found = {}
        for entry in self.metadata.metadata_log:
            if node_id("metadata", entry.metadata_file) in opened:
                try:
                    found[entry.metadata_file] = self.reader.metadata_file(entry.metadata_file)[0]
                except UnreadableFile as error:
                    self._note([Problem(error.path, error.cause, unaffected="the current metadata is not affected")])
        return found

    # -- what changed -------------------------------------------------------------------------------------------------
    def diff(self, before: str | int | None, after: str | int | None) -> SnapshotDiff:
        """The net difference of any two snapshots, related or not: files, manifests and their fates, schema, spec, sort
        order and properties (see core.diff.SnapshotDiff). Manifests that both list are not decoded."""
        old, new = self.resolve(before).snapshot, self.resolve(after).snapshot
        mine, theirs = self.manifest_files(old), self.manifest_files(new)
        before_side, after_side = self._side(old, mine, theirs), self._side(new, theirs, mine)
        return diff(before_side, after_side, self.metadata, self._table_changes(old, new))

    def diff_graph(
        self, before: str | int | None, after: str | int | None, pages: Mapping[str, int] | None = None
    ) -> Graph:
        """The diff of two snapshots as a graph: added and removed parts drawn, kept ones folded (see
        graphs.diff_graph)."""
        change = self.diff(before, after)
        lists = [self.manifest_files(self.metadata.snapshot(i)) for i in (change.before, change.after)]
        return diff_graph(self.name, change, self.metadata, lists[0], lists[1], pages)

    def _side(self, snapshot: Snapshot, mine: list[ManifestFile], other: list[ManifestFile]) -> Side:
        entries = {m.manifest_path: e for m, e in self._many_logical(only(mine, other), snapshot.snapshot_id)}
        return Side(snapshot, mine, entries)

    def _table_changes(self, old: Snapshot, new: Snapshot) -> dict[str, Any]:
        """Schema by the snapshots' own schema ids; the rest from the metadata files that were current when each was
        new."""
        found: dict[str, Any] = {"schema": schema_changes(self.metadata, self.metadata, old.schema_id, new.schema_id)}
        before, after = self._metadata_of(old), self._metadata_of(new)
        if before is None or after is None:
            note = "the metadata file of that time is gone, so this is not known"
            return found | {name: {"unknown": note} for name in ("spec", "sort_order", "properties")}
        changes = metadata_diff(before, after)
        names = {"spec": "partition_specs", "sort_order": "sort_orders", "properties": "properties"}
        found |= {name: changes.get(key, {}) for name, key in names.items()}
        for name, key in (("spec", "default_spec_id"), ("sort_order", "default_sort_order_id")):
            if key in changes:
                found[name] = {**found[name], "default": changes[key]}
        return found

    def _metadata_of(self, snapshot: Snapshot) -> TableMetadata | None:
        """The oldest metadata file at hand that knows the snapshot; metadata files are in the order they were
        written."""
        paths = [e.metadata_file for e in self.metadata.metadata_log]
        low, high = 0, len(paths)  # paths[high:] know it; the current file does
        while low < high:
            middle = (low + high) // 2
            try:
                known = self._old_metadata(paths[middle]).snapshot(snapshot.snapshot_id) is not None
            except UnreadableFile:
                return None
            low, high = (low, middle) if known else (middle + 1, high)
        return self.metadata if low == len(paths) else self._old_metadata(paths[low])

    def _old_metadata(self, path: str) -> TableMetadata:
        if path not in self._older:
            self._older[path] = self.reader.metadata_file(path)[0]
        return self._older[path]

    def commits(self, first: str | int | None = None, last: str | int | None = None) -> RunCost:
        """What each commit after `first` up to `last` (the current one) did and cost, and the run's write
        amplification; without `first` from the oldest snapshot on. Raises NotFoundInTable when `first` is no ancestor
        of `last`."""
        end = self._maybe(last)
        if end is None:
            return RunCost((), 0)
        start = self.resolve(first).snapshot.snapshot_id if first is not None else None
        try:
            run = run_between(self.metadata, start, end.snapshot_id)
        except ValueError as error:
            raise NotFoundInTable(str(error)) from error
        commits = []
        for snapshot in run:
            listed = self.manifest_files(snapshot)
            wrote = [m for m in listed if m.added_snapshot_id == snapshot.snapshot_id]
            entries = {m.manifest_path: e for m, e in self._many_logical(wrote, snapshot.snapshot_id)}
            commits.append(commit_cost(self.metadata, snapshot, listed, entries, self._size))
        ids = [s.snapshot_id for s in run]
        kept = bytes_kept((e for _, e in self._many_logical(self.manifest_files(end), end.snapshot_id)), ids)
        return RunCost(tuple(commits), kept)

    def stored_entries(
        self, manifests: Sequence[ManifestFile], metrics: bool = False
    ) -> Iterator[tuple[ManifestFile, pa.Table]]:
        """Stored entries of several manifests; unreadable ones are left out and noted."""
        for manifest, read in self.reader.many_entries(manifests, metrics):
            self._note(read.problems)
            if read.value is not None:
                yield manifest, read.value

    def _many_logical(
        self, manifests: Sequence[ManifestFile], snapshot_id: int
    ) -> Iterator[tuple[ManifestFile, pa.Table]]:
        """`stored_entries`, as of a snapshot."""
        for manifest, table in self.stored_entries(manifests):
            yield manifest, as_of_snapshot(table, manifest, snapshot_id)

    def _size(self, path: str) -> int | None:
        try:
            return self.reader.storage.size(path)
        except (UnreadableFile, AccessRefused):
            return None

    def lifecycle(self) -> list[Cell]:
        """What became of every manifest at every snapshot: created, carried, rewritten, merged or dropped, and why."""
        return lifecycle(self.metadata, self.manifest_files, self.logical_entries)

    def file(self, path: str) -> Biography:
        """The life of a data or delete file, by its path or the end of it. Raises NotFoundInTable."""
        try:
            found = biography(self.metadata, path, self.manifest_files, self.stored_entries)
        except ValueError as error:
            raise NotFoundInTable(str(error)) from error
        if found is None:
            raise NotFoundInTable(
                f"no snapshot of this table lists a file {path!r}; it may have expired (see 'iceberg-explorer files')"
            )
        return found

    def history(self) -> list[HistoryEntry]:
        """All snapshots with their place in the lineage: current, ancestor, branch, staged, abandoned, and why."""
        return history(self.metadata)

    def current_log(self) -> list[LogEntry]:
        """What was current when, and how it came to be: commit, rollback, fast-forward or jump."""
        return current_log(self.metadata)

    def metadata_diff(self, before: str, after: str | None = None) -> dict[str, Any]:
        """Two metadata files compared by meaning; each is a path, the end of one, or a version number. None: the
        current one."""
        return metadata_diff(self._metadata_named(before), self._metadata_named(after))

    def _metadata_named(self, name: str | None) -> TableMetadata:
        paths = [*(e.metadata_file for e in self.metadata.metadata_log), self.metadata.metadata_location]
        found = [
            p
            for p in paths
            if name is None or p == name or p.endswith(f"/{name}") or str(metadata_version(p)) == str(name)
        ]
        if not found:
            raise NotFoundInTable(
                f"no metadata file {name!r}: the log has {', '.join(str(metadata_version(p)) for p in paths)}"
            )
        return self.metadata if found[-1] == self.metadata.metadata_location else self._old_metadata(found[-1])

    # -- rows ---------------------------------------------------------------------------------------------------------
    def deletes(self, snapshot: str | int | None = None) -> Deletes:
        """Which deletes apply to which data file as of a snapshot, clause by clause; dangling deletes; what reading
        each data file costs (spec: "Scan Planning"). Decided from manifests alone."""
        found = self.row_reader.applicability(self._maybe(snapshot))
        verdicts = tuple(found.verdicts())
        return Deletes(found, verdicts, tuple(dangling(found, verdicts)), tuple(read_costs(found, verdicts)))

    def delete_contents(self, path: str, snapshot: str | int | None = None, offset: int | None = None) -> Collection:
        """What a delete file of a snapshot holds: (file_path, pos), or its equality columns; of a deletion vector (at
        `offset` in its Puffin file, where there are several) its positions. `path` may be the end of one. Raises
        NotFoundInTable, UnreadableFile."""
        found = self.row_reader.applicability(self._maybe(snapshot))
        wanted = _one([d for d in found.deletes if offset is None or d.content_offset == offset], path, "delete file")
        return Collection(self.row_reader.contents(wanted), "deletes")

    def file_verdicts(self, path: str, snapshot: str | int | None = None) -> list[Verdict]:
        """The verdicts on the deletes that could matter to one live data file of a snapshot. Raises NotFoundInTable."""
        found = self.row_reader.applicability(self._maybe(snapshot))
        return found.of(_one(found.data, path, "data file"))

    def file_rows(self, path: str, snapshot: str | int | None = None) -> Collection:
        """All rows of a data file as of a snapshot, under its schema, with `_pos`, in v3 `_row_id` and
        `_last_updated_sequence_number`, and `_deleted_by`: the deletes that hide the row, or null. Read without Spark.
        Raises NotFoundInTable, UnreadableFile."""
        at = self._maybe(snapshot)
        found = self.row_reader.applicability(at)
        data = _one(found.data, path, "data file")
        schema = read_schema(self.metadata, at.schema_id if at else None)
        lineage = self.metadata.format_version >= 3
        return Collection(self.row_reader.file_rows(data, found.of(data), schema, lineage), "rows")

    def row_diff(self, before: str | int | None, after: str | int | None, keys: Sequence[str] = ()) -> RowDiff:
        """The rows that differ between two snapshots, whatever deletes there are; only data files that differ, or whose
        deletes do, are read (see core.row_diff.RowDiff). `keys` tell updates; without them identifier fields or, in v3,
        row ids do. Raises NotFoundInTable, UnreadableFile."""
        return row_diff(self, self.row_reader, self.resolve(before).snapshot, self.resolve(after).snapshot, keys)

    def fate(self, where: str = "", keys: Sequence[str] = ()) -> Fate:
        """What became of the rows that match a filter (such as `name = 'jack'`), over all snapshots: see fate.Fate,
        whose `explain` says why they are there or not. Raises NotFoundInTable, UnreadableFile."""
        return Fate(self, self.row_reader, where, keys)

    def reading(self, snapshot: str | int | None = None) -> Reading:
        """Which version a read means, why, and under which schema Iceberg reads it."""
        return reading(self.reader, snapshot)

    def check_readable(self, name: tuple[str, ...]) -> str:
        """Refuse a table, by the parts of its name in a catalog, if Spark would open a file of it that may not be
        opened. Returns the canonical path of its metadata file. Raises AccessRefused, UnreadableFile, TableNotFound."""
        return check_named(self.reader, name)

    def rows(
        self, snapshot: str | int | None = None, columns: Sequence[str] = (), where: str = "", limit: int | None = 1000,
        provenance: bool = False, session: ReadSession | None = None,
    ) -> Rows:  # fmt: skip
        """Rows of any version through Spark: a snapshot id, branch, tag, `snapshot-3` or time (by the snapshot log).
        `where` is Spark SQL. With `provenance` also `_file`, `_pos`, `_spec_id`, `_partition`, in v3 `_row_id` and
        `_last_updated_sequence_number`. Raises NotFoundInTable, EngineError (the message names the file that could not
        be read)."""
        known = self.reading(snapshot)
        extra = tuple(metadata_columns(self.metadata.format_version)) if provenance else ()
        request = ReadRequest(known.version, tuple(columns) or None, where, limit, extra)
        return Rows.of((session or self.reads).read(request), known.words)

    def sql(self, sql: str, limit: int | None = 1000, session: ReadSession | None = None) -> Rows:
        """A read-only query through Spark, in which `t` is this table and `t@version`, `db.other@version` are versions
        pinned to the metadata files that are current now. Raises NotFoundInTable, EngineError."""
        return Rows.of((session or self.reads).read(self.sql_request(sql, limit)), "")

    def sql_request(self, sql: str, limit: int | None = 1000) -> SqlRequest:
        """The query `sql` stands for, with its versions resolved."""

        return sql_request(sql, self.name, self.reader, limit)

    @cached_property
    def reads(self) -> ReadSession:
        """A Spark session of this table's own, for its reads."""
        return ReadSession(shared_engine())

    @cached_property
    def row_reader(self) -> RowReader:
        """Reads rows and deletes without Spark."""
        return RowReader(self)

    def find_manifest(self, path: str, snapshot_id: int | None = None) -> tuple[ManifestFile, Snapshot]:
        """A manifest by its path, in that snapshot's list or else the first list that has it. Raises
        NotFoundInTable."""
        candidates: Sequence[Snapshot] = self.metadata.snapshots
        if snapshot_id is not None:
            candidates = [
                *(s for s in candidates if s.snapshot_id == snapshot_id),
                *(s for s in candidates if s.snapshot_id != snapshot_id),
            ]
        for snapshot in candidates:
            for manifest in self.manifest_files(snapshot):
                if manifest.manifest_path == path:
                    return manifest, snapshot
        raise NotFoundInTable(f"no manifest list of this table names {path}")

    def manifest_header(self, path: str) -> dict[str, Any]:
        """A manifest's own Avro header: codec and key-value metadata (schema, partition-spec, content, ...) as text.
        Raises UnreadableFile."""
        header = self.reader.header(path)
        return {"avro.codec": header.codec, **header.metadata}

    # -- display ------------------------------------------------------------------------------------------------------
    def __repr__(self) -> str:
        return f"{self.why}\n{render_tree(self.graph())}"

    def _repr_mimebundle_(self, **_: Any) -> Mapping[str, Any]:
        return self._display(self) if self._display else {"text/plain": repr(self)}


@dataclass(frozen=True)
class Deletes:
    """Every pair of data and delete file of a snapshot that could matter, with verdicts; deletes that apply to nothing;
    and what a reader opens for each data file, the dearest first."""

    files: Applicability
    verdicts: tuple[Verdict, ...]
    dangling: tuple[LiveFile, ...]
    costs: tuple[ReadCost, ...]


class Rows(Collection):
    """Rows that Spark read, with the scan reports of its plan and which version and schema it was."""

    def __init__(self, table: pa.Table, reports: tuple[ScanReport, ...], words: str) -> None:
        super().__init__(table, "rows")
        self.reports, self.words = reports, words

    @classmethod
    def of(cls, read: Read, words: str) -> Rows:
        """From a read that is done."""
        return cls(read.result(), read.reports, words)


def _one(files: Sequence[LiveFile], path: str, what: str) -> LiveFile:
    """The one file whose path is, or ends with, `path`. Raises NotFoundInTable."""
    found = [f for f in files if f.path == path or f.path.endswith("/" + path.lstrip("/"))]
    if len(found) != 1:
        some = "no" if not found else f"{len(found)}"
        raise NotFoundInTable(f"{some} live {what} of this snapshot goes by {path!r}")
    return found[0]


def _project(table: pa.Table, view: str) -> pa.Table:
    """The columns of one view; see Table.entries."""
    extra = (
        {f"inherited_{n}" for n in core.INHERITED}
        | {f"{n}_origin" for n in core.INHERITED}
        | {"logical_status", "reason"}
    )
    place = ["manifest_path", "ordinal", "spec_id"]
    stored = [n for n in table.column_names if n not in extra and n not in place]
    if view == "stored":
        return table.select([*place, *stored])
    if view == "all":
        structs = {}
        for name, columns in (
            ("stored", stored),
            ("inherited", [n for n in table.column_names if n.startswith("inherited_") or n.endswith("_origin")]),
        ):
            arrays = [_plain_array(table[n]) for n in columns]
            names = [n.removeprefix("inherited_") for n in columns]
            fields = [pa.field(n, a.type) for n, a in zip(names, arrays, strict=True)]
            structs[name] = pa.StructArray.from_arrays(arrays, fields=fields)
        return pa.table({n: table[n] for n in place} | structs | {n: table[n] for n in ("logical_status", "reason")})
    result = table
    for name in core.INHERITED:
        result = result.set_column(result.schema.get_field_index(name), name, table[f"inherited_{name}"])
    kept = [n for n in stored if n != "status"]
    if view == "inherited":
        return result.select([*place, "status", *kept, *(f"{n}_origin" for n in core.INHERITED)])
    return result.select(["logical_status", *kept, "status", "reason", *place])


def _plain_array(column: pa.ChunkedArray) -> pa.Array:
    return column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
