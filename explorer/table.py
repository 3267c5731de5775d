"""The Python face of one table: what the CLI, the notebook and the page all ask."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from explorer.errors import ExplorerError, NotFoundInTable, NotInstalled, StatementFailed, TableNotFound
from explorer.graph.diff_graph import diff_graph
from explorer.graph.graph import Graph
from explorer.graph.source import GraphView
from explorer.model.metadata import Schema, Snapshot, TableMetadata
from explorer.model.problem import Problem
from explorer.progress import Cancelled
from explorer.queries.collection import ROWS_AT_FIRST, Collection, SparkRows
from explorer.queries.column_profile import profile_columns, profile_partitions
from explorer.queries.diff import commit_run, snapshot_diff, snapshot_step
from explorer.queries.filters import filter_columns, filter_for
from explorer.queries.graph import first_view, table_graph
from explorer.queries.metadata_files import find_metadata
from explorer.queries.metadata_tree import MetadataTree
from explorer.queries.row_diff import row_diff
from explorer.queries.row_history import RowHistory
from explorer.queries.row_reader import RowReader
from explorer.queries.scan import clustering, column_statistics, intervals, partition_verdicts, plan_scan, row_groups
from explorer.queries.versions import (
    Reading,
    check_readable,
    check_table_name,
    names_java_takes,
    reading,
    sql_request,
)
from explorer.render import rows
from explorer.render.plan_result import ShownPlan
from explorer.render.text import clean, render_tree
from explorer.spark_engine.engine_choice import Choice, Engine
from explorer.spark_engine.pipeline import combine_by, frame
from explorer.spark_engine.planners import ask_planners, push_down
from explorer.spark_engine.read_queue import ReadRequest, ReadSession, SqlRequest, metadata_columns
from explorer.spark_engine.spark import shared_engine
from explorer.spark_engine.sql_guard.quoting import condition
from explorer.spark_engine.user_tables import SparkTable, is_frame, table_of_frame, table_of_session
from explorer.spec.commits.commit_summary import Step
from explorer.spec.commits.costs import RunCost
from explorer.spec.deletes.delete_layers import ASKED, Layer, delete_layers
from explorer.spec.deletes.deletes import DeleteVerdict
from explorer.spec.deletes.snapshot_deletes import Deletes
from explorer.spec.entries.entry_views import entry_view, read_files
from explorer.spec.entries.lazy_table import Batches, Parts
from explorer.spec.filters.expressions import Expression
from explorer.spec.filters.pushdown import Pushdown
from explorer.spec.layout.clustering import Clustering
from explorer.spec.layout.metrics_modes import ColumnMode
from explorer.spec.layout.partitions import KEY, add_up, by_partition, lazy_sums
from explorer.spec.rows.row_diff import RowDiff
from explorer.spec.scan.plan import PLANNERS, SERVER_PLANNER, Intervals, Plan, PlannerAnswer
from explorer.spec.scan.row_groups import GroupVerdict
from explorer.spec.snapshots.diff import SnapshotDiff
from explorer.spec.snapshots.lifecycle import FileLife, LifecycleCell, file_life, lifecycle
from explorer.spec.snapshots.lineage import LineageEntry, LogEntry, current_log, lineage
from explorer.spec.snapshots.log_gaps import LogGaps, log_gaps
from explorer.spec.snapshots.metadata_diff import metadata_diff
from explorer.spec.snapshots.snapshot_names import Resolved, resolve_snapshot, without_current
from explorer.storage.catalogs.sandbox_entries import SANDBOX
from explorer.storage.locate import Location, locate, locate_again
from explorer.storage.reader import TableReader
from explorer.storage.rows import read_schema, value_words
from explorer.storage.spill import spool

SMALL = 4 << 20
"""Manifests of together so many bytes are read when they are asked for, so that what is wrong with them is known; more
are read as their rows are."""
Display = Callable[["Table"], Any]
"""Makes the widget that shows a table in a notebook."""


class Table:
    """One Iceberg table, read-only. Opening reads metadata.json; all else is read when asked for. What cannot be read
    is listed in `problems` and shown on its node, while the rest of the table still opens."""

    def __init__(self, reader: TableReader, display: Display | None = None, session: Any = None) -> None:
        self.tree = MetadataTree(reader)
        self._display = display
        self._session = session
        if words := without_current(reader.metadata):
            self.tree.note([Problem(reader.metadata.metadata_location, words, severity="info")])

    def __reduce__(self) -> tuple[Callable[..., Table], tuple[Any, ...]]:
        return _reopen, (self.reader.location, self.reader.extra_roots, self._display)

    # -- what it is ---------------------------------------------------------------------------------------------------
    @property
    def reader(self) -> TableReader:
        """Reads the table's files."""
        return self.tree.reader

    @property
    def name(self) -> str:
        """`catalog.db.table`, or the table folder's name."""
        return self.reader.location.name

    @property
    def is_of_connect(self) -> bool:
        """Whether a session of Spark Connect has loaded it, which has no JVM here."""
        return self._session is not None and not hasattr(self._session, "_jsparkSession")

    @property
    def metadata(self) -> TableMetadata:
        """The metadata file the table was opened with."""
        return self.reader.metadata

    @property
    def why(self) -> str:
        """Which metadata file was chosen, and why; what else its folder contains."""
        place = self.reader.location
        return f"{self.metadata.metadata_location}: {place.reason}" + (f"; {place.beside}" if place.beside else "")

    @property
    def problems(self) -> list[Problem]:
        """Everything found wrong so far: in the metadata file, and in what was read since."""
        return self.tree.problems

    @cached_property
    def complete(self) -> Table:
        """This table for answers that are wrong without all that they read: they raise UnreadableFile, instead of
        leaving something out, when a manifest list or manifest cannot be read completely."""
        table = Table(self.reader, self._display, self._session)
        table.tree = self.tree.complete()
        return table

    def refresh(self) -> Table:
        """The table as its catalog or folder has it now, as a new Table. Raises TableNotFound or UnreadableFile."""
        if self._session is not None:
            now = table_of_session(self._session, self.name, is_again=True)
            return _of_spark(now, self._session, self.reader.extra_roots, self._display)
        return Table(TableReader(locate_again(self.reader.location), self.reader.extra_roots), self._display)

    def newer(self) -> Table | None:
        """The same if that is another metadata file by now. To know, only the catalog's pointer is read, or what the
        metadata folder is judged by (see storage.folder_state). Raises TableNotFound or UnreadableFile."""
        old = self.reader.location
        if self._session is not None:
            now = table_of_session(self._session, self.name, is_again=True)
            return None if now.metadata_location == old.metadata_location else self.refresh()
        return None if locate_again(old).metadata_location == old.metadata_location else self.refresh()

    # -- collections --------------------------------------------------------------------------------------------------
    def resolve(self, snapshot: str | int | None = None) -> Resolved:
        """The snapshot meant; None is the current one. See spec.snapshots.snapshot_names.resolve_snapshot. Raises
        NotFoundInTable."""
        return resolve_snapshot(self.metadata, snapshot, lambda: self.log_gaps)

    @property
    def snapshots(self) -> Collection:
        """All snapshots, oldest first: snapshot (its name here, snapshot-3), snapshot-id, parent-snapshot-id,
        sequence-number, timestamp-ms, operation, manifest-list, schema-id, first-row-id, added-rows, summary (spec:
        "Snapshots")."""
        ordered = sorted(enumerate(self.metadata.snapshots), key=lambda item: (item[1].sequence_number, item[0]))
        named = [{"snapshot": f"snapshot-{n}", **rows.snapshot_row(s)} for n, (_, s) in enumerate(ordered, 1)]
        return Collection.of_rows(named, "snapshots")

    @property
    def refs(self) -> Collection:
        """Branches and tags: name, type, snapshot-id and retention (spec: "Snapshot References")."""
        return Collection.of_rows([rows.ref_row(r) for r in self.metadata.refs], "refs")

    @property
    def metadata_log(self) -> Collection:
        """Metadata files, oldest first, the current one last: timestamp-ms, metadata-file, current."""
        return Collection.of_rows(rows.metadata_log_rows(self.metadata), "metadata log")

    def manifests(self, snapshot: str | int | None = None) -> Collection:
        """The snapshot's manifest list, in its order, summaries decoded (spec: "Manifest Lists")."""
        listed = self.tree.manifests(self._maybe(snapshot))
        return Collection(rows.manifest_table(listed, self.metadata), "manifests")

    def entries(
        self, snapshot: str | int | None = None, view: str = "logical", metrics: bool = False, engine: Engine = "auto"
    ) -> Collection:
        """Every entry of every manifest of a snapshot, DELETED and filtered ones too (spec: "Manifest Entry Fields").
        view: "stored", null where the Avro has null; "inherited", after inheritance, with `<name>_origin` in words;
        "logical", inherited values with `logical_status` as of the snapshot and the `reason` (null when filtered
        out); "all", structs `stored` and `inherited` beside `logical_status` and `reason`. `metrics` adds
        column_sizes, counts and bounds (bytes). Unreadable manifests give no rows, and a problem each. `engine` is who
        decodes the manifests: "local", Spark's workers ("spark"), or what `choice` of the rows says ("auto"; see
        spark_engine.engine_choice). Raises EngineError."""
        parts = entry_view(self.tree.entries(self._maybe(snapshot), metrics), view)
        return self._rows(parts, "entries", engine)

    def files(self, snapshot: str | int | None = None, metrics: bool = False, engine: Engine = "auto") -> Collection:
        """Files a reader of the snapshot sees, data and delete files: the live entries, after inheritance."""
        parts = read_files(entry_view(self.tree.entries(self._maybe(snapshot), metrics), "logical"))
        return self._rows(parts, "files", engine)

    def partitions(self, snapshot: str | int | None = None, engine: Engine = "auto") -> Collection:
        """Live files added up by partition, as Iceberg's own table of that name has them; see spec.layout.partitions
        for what is null, and which `spec_id` a partition has."""
        times = {s.snapshot_id: s.timestamp_ms for s in self.metadata.snapshots}
        parts = by_partition(self.tree.entries(self._maybe(snapshot)), times)
        rows, choice = self.build(parts, "partitions", engine)
        if choice.engine == "local" or not parts.schema.names:
            return Collection(add_up(rows), "partitions", choice=choice)
        on_spark = combine_by(partial(frame, storage=self.reader.storage, parts=parts), parts.schema, KEY, add_up)
        return Collection(lazy_sums(rows), "partitions", on_spark, choice)

    def build(self, parts: Parts, what: str, engine: Engine) -> tuple[Batches, Choice]:
        """A table that is made of manifests, here or by Spark."""
        return self.tree.by(engine, what).build(parts)

    def _rows(self, parts: Parts, what: str, engine: Engine) -> Collection:
        rows, choice = self.build(parts, what, engine)
        at_once = choice.engine == "local" and sum(m.manifest_length or SMALL for m in parts.manifests) <= SMALL
        on_spark = partial(frame, storage=self.reader.storage, parts=parts)
        return Collection(spool(rows.schema, rows.read()) if at_once else rows, what, on_spark, choice)

    def _maybe(self, snapshot: str | int | None) -> Snapshot | None:
        """The snapshot; None for the current one of a table without any."""
        if snapshot is None and self.metadata.current_snapshot_id is None:
            return None
        return self.resolve(snapshot).snapshot

    def plan(self, where: str | Expression = "", snapshot: str | int | None = None, engine: Engine = "auto") -> Plan:
        """What a scan with a filter (docs/filters.md) reads and skips, and why (see spec.scan.plan.Plan). A branch is
        read with the table's current schema, a snapshot, tag or time with its own. Raises NotFoundInTable."""
        return plan_scan(
            self.tree, self.row_reader, *self._read_as(snapshot), where, partial(self.build, engine=engine)
        )

    def plan_sql(self, where: str, snapshot: str | int | None = None, engine: Engine = "auto") -> tuple[Plan, Pushdown]:
        """The plan for what Spark hands to Iceberg of a condition in SQL, and that (see
        spark_engine.planners.push_down)."""
        at = self.reading(snapshot).version
        try:
            pushed_down = push_down(self.reads, at.check(), at.version, where)
        except StatementFailed as error:
            if cause := at.cause():
                raise StatementFailed(f"{cause}. Spark says: {error}") from error
            raise
        return self.plan(pushed_down.pushed, snapshot, engine), pushed_down

    def ask_planners(self, plan: Plan) -> dict[str, PlannerAnswer | ExplorerError]:
        """The same scan by Iceberg in Spark's JVM, by pyiceberg, and by the server of a REST catalog; an error for one
        that cannot, and for those that read files where a read might open what it must not (see
        queries.versions.check_readable)."""
        snapshot_id = plan.snapshot.snapshot_id if plan.snapshot else None
        answers: dict[str, PlannerAnswer | ExplorerError]
        try:
            files = check_readable(self.reader, snapshot_id)
            answers = ask_planners(self.reads, files, snapshot_id, plan.bound)
        except Cancelled:
            raise
        except ExplorerError as error:
            answers = dict.fromkeys(PLANNERS, error)
        return answers | self._ask_server(plan)

    def _ask_server(self, plan: Plan) -> dict[str, PlannerAnswer | ExplorerError]:
        """The same scan by the server of the table's REST catalog; empty without one."""
        if plan.snapshot is None or self.reader.location.catalog is None:
            return {}
        from explorer.storage.catalogs.rest_planning import server_plan

        own = plan.snapshot.snapshot_id
        answer = server_plan(self.reader.location, own, plan.bound, own == self.metadata.current_snapshot_id)
        return {} if answer is None else {SERVER_PLANNER: answer}

    def intervals(self, plan: Plan, column: str) -> Intervals:
        """The data files that a plan looks at, by the bounds of a column."""
        return intervals(self.tree, plan, column)

    def plan_pictures(self, plan: Plan, pushed_down: Pushdown | None = None) -> ShownPlan:
        """A plan as pictures: funnel, files by the first column that is asked, partitions; see render.plan_result."""
        partitions = self.partition_verdicts(plan).to_arrow() if any(p.spec.fields for p in plan.specs) else None
        return ShownPlan(plan, self.intervals(plan, plan.columns[0]) if plan.columns else None, pushed_down, partitions)

    def partition_verdicts(self, plan: Plan, engine: Engine = "auto") -> Collection:
        """Data files by partition: how many a plan reads, and how many it skips by partition and by metrics."""
        return Collection(partition_verdicts(self.tree, plan, partial(self.build, engine=engine)), "partitions")

    def row_groups(self, plan: Plan) -> Iterator[GroupVerdict]:
        """Verdicts on the row groups of the Parquet files that a plan reads, by their footers."""
        return row_groups(self.tree, plan)

    def metrics(self, snapshot: str | int | None = None, engine: Engine = "auto") -> list[ColumnMode]:
        """Which statistics of each column are kept, by which rule, and which files have them."""
        return column_statistics(self.tree, *self._read_as(snapshot), partial(self.build, engine=engine))

    def profile(self, column: str = "", snapshot: str | int | None = None, engine: Engine = "auto") -> Collection:
        """What metadata says of the values of each column, or of one column by partition (queries.column_profile)."""
        read_as, make = self._read_as(snapshot), partial(self.build, engine=engine)
        if column:
            return profile_partitions(self.tree, *read_as, column, make)
        return profile_columns(self.tree, *read_as, make)

    def clustering(
        self, columns: Sequence[str] = (), snapshot: str | int | None = None, engine: Engine = "auto"
    ) -> list[Clustering]:
        """How many files a query for one value of a column opens, by bounds; the best column first."""
        return clustering(self.tree, *self._read_as(snapshot), columns, partial(self.build, engine=engine))

    def _read_as(self, snapshot: str | int | None) -> tuple[Snapshot | None, Schema]:
        at = self.reading(snapshot)
        return at.resolved.snapshot if at.resolved else None, read_schema(self.metadata, at.schema_id)

    # -- the graph ----------------------------------------------------------------------------------------------------
    def default_view(self, snapshot: str | int | None = None) -> GraphView:
        """The view a person starts with: one snapshot, its manifests open if that stays readable."""
        if snapshot is None and self.metadata.current_snapshot is None:  # none yet, or it cannot be read: a Problem
            return first_view(self.tree, self.metadata.snapshots[-1] if self.metadata.snapshots else None)
        return first_view(self.tree, self._maybe(snapshot))

    def graph(self, snapshot: str | int | None = None, view: GraphView | None = None) -> Graph:
        """The metadata tree as a graph, for a snapshot's default view or for a given view. Reads what that needs."""
        return table_graph(self.tree, view or self.default_view(snapshot))

    # -- what changed -------------------------------------------------------------------------------------------------
    def diff(self, before: str | int | None, after: str | int | None, engine: Engine = "auto") -> SnapshotDiff:
        """The net difference of any two snapshots, related or not: files, what happened to the manifests, schema, spec,
        sort order and properties (see spec.snapshots.diff.SnapshotDiff). None is the table before its first snapshot.
        Raises NotFoundInTable, UnreadableFile for a manifest list or manifest that the difference depends on."""
        return snapshot_diff(self.complete.tree.by(engine, "diff"), self._side(before), self._side(after))

    def step(self, snapshot: str | int | None = None) -> Step | None:
        """What a snapshot made of its parent's manifests, in a sentence (`words`), from the two manifest lists; None
        where one cannot be read."""
        return snapshot_step(self.tree, self.resolve(snapshot).snapshot)

    def diff_graph(
        self, before: str | int | None, after: str | int | None, pages: Mapping[str, int] | None = None
    ) -> Graph:
        """The diff of two snapshots as a graph: added and removed parts drawn, kept ones folded (see
        graph.diff_graph)."""
        change = self.diff(before, after)
        lists = [self.tree.manifests(self.metadata.snapshot(i)) for i in (change.before, change.after)]
        return diff_graph(self.name, change, self.metadata, lists[0], lists[1], pages)

    def _side(self, snapshot: str | int | None) -> Snapshot | None:
        return None if snapshot is None else self.resolve(snapshot).snapshot

    def commits(
        self, first: str | int | None = None, last: str | int | None = None, engine: Engine = "auto"
    ) -> RunCost:
        """What each commit after `first` up to `last` (the current one) did and cost, and the run's write
        amplification; without `first` from the oldest snapshot on. Raises NotFoundInTable when `first` is no ancestor
        of `last`."""
        end = self._maybe(last)
        return commit_run(self.tree.by(engine, "commits"), self._side(first) if end else None, end)

    def lifecycle(self, engine: Engine = "auto") -> list[LifecycleCell]:
        """What became of every manifest at every snapshot: created, carried, rewritten, merged or dropped, and why."""
        return lifecycle(self.tree.by(engine, "lifecycle"))

    def file_life(self, path: str, engine: Engine = "auto") -> FileLife:
        """The life of a data or delete file, by its path or the end of it. Raises NotFoundInTable."""
        try:
            life = file_life(self.tree.by(engine, "life of a file"), path)
        except ValueError as error:
            raise NotFoundInTable(str(error)) from error
        if life is None:
            raise NotFoundInTable(
                f"no snapshot of this table lists a file {path!r} (see 'icedive inspect files')"
                + (f". But {self.tree.lacks}" if self.tree.unreadable else "")
            )
        return life

    def lineage(self) -> list[LineageEntry]:
        """All snapshots with their place (current, ancestor, cut off, branch, staged, abandoned), and why."""
        return lineage(self.metadata, self.log_gaps)

    @cached_property
    def log_gaps(self) -> LogGaps:
        """What is known of the snapshots that the snapshot log lacks, by older metadata files too."""

        def older(paths: Sequence[str]) -> Iterator[TableMetadata | None]:
            with self.tree.metadata_ahead(paths):
                for path in paths:
                    try:
                        file = self.tree.metadata_file(path)
                    except ExplorerError:
                        yield None
                    else:
                        yield file

        return log_gaps(self.metadata, older)

    def current_log(self) -> list[LogEntry]:
        """What was current when, and how it came to be: commit, rollback, fast-forward or jump."""
        return current_log(self.metadata, self.log_gaps)

    def metadata_diff(self, before: str, after: str | None = None) -> dict[str, Any]:
        """Two metadata files compared by meaning, of the log or of the folder; each is a path, the end of one, or a
        version number. None: the current one. Raises NotFoundInTable, UnreadableFile."""
        return metadata_diff(find_metadata(self.tree, before), find_metadata(self.tree, after))

    # -- rows ---------------------------------------------------------------------------------------------------------
    def deletes(self, snapshot: str | int | None = None, engine: Engine = "auto") -> Deletes:
        """Which deletes apply to which data file as of a snapshot, clause by clause; dangling deletes; what reading
        each data file costs (spec: "Scan Planning"). Decided from manifests alone."""
        return self.row_reader.deletes(self._maybe(snapshot), self.tree.by(engine, "deletes"))

    def delete_layers(self, deletes: Deletes, engine: Engine = "auto") -> list[Layer]:
        """The data files and deletes of the snapshot that these are of, by data sequence number, from below."""
        if deletes.snapshot_id is None:
            return []
        files = self.files(deletes.snapshot_id, engine=engine).select(columns=ASKED)
        return delete_layers(files.iter_tables(), deletes)

    def delete_contents(self, path: str, snapshot: str | int | None = None, offset: int | None = None) -> Collection:
        """What a delete file of a snapshot holds: (file_path, pos), or its equality columns; of a deletion vector (at
        `offset` in its Puffin file, where there are several) its positions. `path` may be the end of one. Raises
        NotFoundInTable, UnreadableFile."""
        wanted = self.row_reader.one(self._maybe(snapshot), path, deletes=True, offset=offset)
        return Collection(self.row_reader.contents(wanted), "deletes")

    def file_verdicts(self, path: str, snapshot: str | int | None = None) -> list[DeleteVerdict]:
        """The verdicts on the deletes that could matter to one live data file of a snapshot, by what position deletes
        hold too. Raises NotFoundInTable, UnreadableFile."""
        return [v for _, verdicts in self.row_reader.verdicts_on(self._maybe(snapshot), path) for v in verdicts]

    def file_rows(self, path: str, snapshot: str | int | None = None) -> Collection:
        """All rows of a data file as of a snapshot, under its schema, with `_pos`, in v3 `_row_id` and
        `_last_updated_sequence_number`, and `_deleted_by`: the deletes that hide the row, or null. Rows of a file that
        is live several times come as often, as readers read them. Read without Spark. Raises NotFoundInTable,
        UnreadableFile."""
        at = self._maybe(snapshot)
        schema = read_schema(self.metadata, at.schema_id if at else None)
        lineage = self.metadata.format_version >= 3
        entries = self.row_reader.verdicts_on(at, path)
        rows = [self.row_reader.file_rows(data, verdicts, schema, lineage) for data, verdicts in entries]
        for (data, _), some in zip(entries, rows, strict=True):
            self.tree.note([Problem(data.path, words, severity="info") for words in value_words(some)])
        return Collection(pa.concat_tables(rows), "rows")

    def footer(self, path: str, snapshot: str | int | None = None) -> dict[str, Any]:
        """The footer of a live data or delete file, as plain data: of Parquet see storage.formats.parquet.read_footer
        (field ids, `iceberg.schema`, row groups, statistics), of Puffin storage.formats.puffin.read_footer. `path` may
        be the end of one. Raises NotFoundInTable, NotSupported, UnreadableFile."""
        return self.row_reader.footer(self._maybe(snapshot), path)

    def row_diff(
        self, before: str | int | None, after: str | int | None, keys: Sequence[str] = (), engine: Engine = "auto"
    ) -> RowDiff:
        """The rows that differ between two snapshots, whatever deletes there are; only data files that differ, or whose
        deletes do, are read (see spec.rows.row_diff.RowDiff). None is the table before its first snapshot. `keys` tell
        updates; without them identifier fields or, in v3, row ids do. Raises NotFoundInTable, UnreadableFile."""
        return row_diff(self.complete.row_reader, self._side(before), self._side(after), keys, engine)

    def row_history(
        self,
        where: str = "",
        keys: Sequence[str] = (),
        engine: Engine = "auto",
        every_file: bool = False,
        snapshot: str | int | None = None,
    ) -> RowHistory:
        """What became of the rows that match a filter (such as `name = 'jack'`), over all snapshots: see
        queries.row_history.RowHistory, whose `explain` says why they are there or not. The filter is read, and rows are
        shown, by the schema by which `snapshot` is read (see `plan`). Raises NotFoundInTable, UnreadableFile."""
        schema = None if snapshot is None else self._read_as(snapshot)[1]
        return RowHistory(self.row_reader, where, keys, engine, every_file, schema)

    def reading(self, snapshot: str | int | None = None) -> Reading:
        """Which version a read means, why, and under which schema Iceberg reads it."""
        return reading(self.reader, snapshot)

    def check_readable(self, name: tuple[str, ...]) -> str:
        """See queries.versions.check_table_name."""
        return check_table_name(self.reader, name)

    def rows(
        self, snapshot: str | int | None = None, columns: Sequence[str] = (), where: str = "",
        limit: int | None = ROWS_AT_FIRST, provenance: bool = False, session: ReadSession | None = None,
    ) -> SparkRows:  # fmt: skip
        """Rows of any version through Spark: a snapshot id, branch, tag, `snapshot-3` or time (by the snapshot log).
        `where` is Spark SQL. With `provenance` also `_file`, `_pos`, `_spec_id`, `_partition`, in v3 `_row_id` and
        `_last_updated_sequence_number`. Of more rows than `limit` they are the first, which `cut` says; None reads all.
        Raises NotFoundInTable, EngineError that names what could not be read."""
        read_as = self.reading(snapshot)
        extra = tuple(metadata_columns(self.metadata.format_version)) if provenance else ()
        request = ReadRequest(read_as.version, tuple(columns) or None, where, limit, extra)
        names = names_java_takes(self.metadata, where, read_as)
        try:
            return SparkRows.of(
                (session or self.reads).read(request), f"{read_as.words}{f'. {names}' if names else ''}"
            )
        except StatementFailed as error:
            raise StatementFailed(f"{error}. {names}") if names and names.absent else error from None

    def sql_condition(self, where: str, snapshot: str | int | None = None) -> str:
        """A filter of docs/filters.md in Spark SQL, bound to the schema by which a version is read. Raises
        NotFoundInTable when it does not fit, NotPossible for what Spark has no words for."""
        if not where.strip():
            return ""
        schema = read_schema(self.metadata, self.reading(snapshot).schema_id)
        return condition(filter_for(self.metadata, where, filter_columns(schema)), schema.raw["fields"])

    def sql(self, sql: str, limit: int | None = ROWS_AT_FIRST, session: ReadSession | None = None) -> SparkRows:
        """A read-only query through Spark, in which `t` is this table and `t@version`, `db.other@version` are versions
        pinned to the metadata files that are current now. `limit` as in `rows`. Raises NotFoundInTable, EngineError."""
        return SparkRows.of((session or self.reads).read(self.sql_request(sql, limit)), "")

    def sql_request(self, sql: str, limit: int | None = ROWS_AT_FIRST) -> SqlRequest:
        """The query `sql` stands for, with its versions resolved."""
        return sql_request(sql, self.name, self.reader, limit)

    @cached_property
    def reads(self) -> ReadSession:
        """A Spark session of this table's own, for its reads."""
        return ReadSession(shared_engine())

    @cached_property
    def row_reader(self) -> RowReader:
        """Reads rows and deletes without Spark."""
        return RowReader(self.tree)

    def manifest_header(self, path: str) -> dict[str, Any]:
        """A manifest's own header: codec and key-value metadata (schema, partition-spec, content, ...) as text.
        Raises UnreadableFile."""
        header = self.reader.header(path)
        return {"avro.codec": header.codec, **header.metadata}

    # -- display ------------------------------------------------------------------------------------------------------
    def __repr__(self) -> str:
        return f"{clean(self.why)}\n{render_tree(self.graph())}"

    def _repr_mimebundle_(self, **_: Any) -> Any:
        try:
            return self._display(self)._repr_mimebundle_()[0] if self._display else {"text/plain": repr(self)}
        except NotInstalled as error:
            return {"text/plain": f"{self!r}\nNo live graph: {error}"}

    def _ipython_display_(self) -> None:
        try:
            if self._display is not None:
                self._display(self)._ipython_display_()
                return
        except NotInstalled:
            pass
        raise NotImplementedError  # IPython shows the text, then

    def __panel__(self) -> Any:
        """As other people's Panel apps show it: the whole explorer."""
        if self._display is None:
            import panel

            return panel.pane.Str(repr(self))
        return self._display(self).component(self)


def _reopen(location: Location, roots: Sequence[str], display: Display | None) -> Table:
    """The table of a pickle: the same metadata file, read anew."""
    return Table(TableReader(location, roots), display)


def open_table(
    table: Any,
    catalog: str | None = None,
    properties: Mapping[str, str] | None = None,
    roots: Sequence[str] = (),
    relocate: Mapping[str, str] | None = None,
    display: Display | None = None,
    spark: Any = None,
) -> Table:
    """Open a table; the arguments are those of explorer.open_table, and what displays it in a notebook. Raises
    TableNotFound, UnreadableFile, AccessRefused, WrongUsage."""
    if isinstance(table, Table):
        again = Table(table.reader, display, table._session)
        again.tree = table.tree
        return again
    if hasattr(table, "metadata") and hasattr(table, "config") and not hasattr(table, "io"):  # pyiceberg's response
        table = {"metadata-location": table.metadata_location, "config": table.config,
                 "storage-credentials": getattr(table, "storage_credentials", ())}  # fmt: skip
    if isinstance(getattr(table, "metadata_location", None), str):  # pyiceberg's
        properties = {**getattr(table.io, "properties", {}), **(properties or {})}
        table = table.metadata_location
    if isinstance(table, Mapping):  # what a REST catalog answers when it loads a table
        response, table = table, table.get("metadata-location")
        if not isinstance(table, str):
            raise TableNotFound("the response names no metadata-location: it is of no table that was committed")
        vended = _vended(response.get("storage-credentials"), table)
        properties = _with_given({**_texts(response.get("config")), **vended}, properties or {})
    found = _in_spark(table, spark)
    if found is not None:
        session = table.sparkSession if is_frame(table) else spark
        return _of_spark(found, session, roots, display, properties, relocate)
    if not isinstance(table, (str, Path)):
        raise TableNotFound(
            f"{type(table).__name__} is no table: give a name, a path, a URI, a pyiceberg Table, a DataFrame of Spark "
            "or what a REST catalog answers"
        )
    return Table(TableReader(locate(str(table), catalog, properties, _moves(relocate)), roots), display)


def _of_spark(
    found: SparkTable,
    session: Any,
    roots: Sequence[str],
    display: Display | None,
    properties: Mapping[str, str] | None = None,
    relocate: Mapping[str, str] | None = None,
) -> Table:
    """The table that a session has loaded; it stays the session's."""
    location = locate(found.metadata_location, None, {**found.properties, **(properties or {})}, _moves(relocate))
    if not found.catalog:  # its folder says where it is now
        location = replace(location, reason="it is what Spark has loaded", request=found.name)
        return Table(TableReader(location, roots), display)
    own = None if found.catalog == SANDBOX else found.catalog  # a catalog of that name is ours
    location = replace(
        location, name=found.name, catalog=own, reason="it is what Spark has loaded", beside="", of_session=True
    )
    return Table(TableReader(location, roots), display, session)


def _in_spark(table: Any, spark: Any) -> SparkTable | None:
    """What a person's own Spark has loaded; None where it was not asked."""
    if is_frame(table):
        return table_of_frame(table)
    return None if spark is None else table_of_session(spark, str(table))


def _moves(relocate: Mapping[str, str] | None) -> Iterable[tuple[str, str]]:
    return (relocate or {}).items()


def _with_given(config: Mapping[str, str], own: Mapping[str, str]) -> dict[str, str]:
    """A person's properties with what a server says of storage, as of a catalog that a name leads to: no class, proxy
    or signer, and an address of the server's gets no keys of the person's or the environment's."""
    from explorer.storage.catalogs.rest import storage_settings
    from explorer.storage.stores import combine

    return combine(own, {name: value for name, value in storage_settings(config).items() if name not in own})


def _vended(credentials: Any, location: str) -> dict[str, str]:
    """The properties of the credential for a location among those of a REST catalog's response: that of the longest
    prefix (REST spec: StorageCredential)."""
    best, length = None, -1
    for one in credentials if isinstance(credentials, (list, tuple)) else ():
        prefix, config = (
            (one.get("prefix"), one.get("config"))
            if isinstance(one, Mapping)
            else (getattr(one, "prefix", None), getattr(one, "config", None))
        )
        if isinstance(prefix, str) and location.startswith(prefix) and len(prefix) > length:
            best, length = config, len(prefix)
    return _texts(best)


def _texts(config: Any) -> dict[str, str]:
    """The texts of a mapping that somebody else wrote."""
    given = config.items() if isinstance(config, Mapping) else ()
    return {key: value for key, value in given if isinstance(key, str) and isinstance(value, str)}
