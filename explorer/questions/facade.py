"""What `open_table` and `catalog` return: every question as a method.

The command `icedive inspect entries TABLE` and the method `table.inspect.entries()` are one question, and so are all
others. tests/facade_source.py generates this module from the registry."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from explorer.questions import catalog as catalog_questions
from explorer.questions import check as check_questions
from explorer.questions import data as data_questions
from explorer.questions import history as history_questions
from explorer.questions import inspect as inspect_questions
from explorer.questions import lab as lab_questions
from explorer.questions import maintain as maintain_questions
from explorer.questions import readers as readers_questions
from explorer.questions import scan as scan_questions
from explorer.questions import storage as storage_questions
from explorer.questions import writers as writers_questions
from explorer.questions.answers import Answer
from explorer.questions.check import BranchName, OperationKind
from explorer.questions.data import DUPLICATES, EXPLAINED, FIRST_ROWS
from explorer.questions.maintain import AnyFile, Procedure, Readers, RefOperation
from explorer.questions.parameters import (
    NOTHING,
    CatalogAt,
    ColumnName,
    ColumnNames,
    Count,
    EngineName,
    FilePath,
    Filter,
    Filters,
    Least,
    Limits,
    MetadataRef,
    Number,
    OtherTable,
    Pairs,
    Positive,
    Seconds,
    Side,
    SnapshotRef,
    Sql,
    TableAt,
    Texts,
)
from explorer.questions.readers import FormatVersion
from explorer.questions.scan import Stage
from explorer.questions.storage import Price
from explorer.questions.writers import Wanted

if TYPE_CHECKING:
    from explorer.graph.graph import Graph
    from explorer.lab.observe import Observation
    from explorer.model.metadata import TableMetadata
    from explorer.model.problem import Problem
    from explorer.queries.collection import Collection, SparkRows
    from explorer.queries.row_history import RowHistory
    from explorer.render.doctor import ShownReport
    from explorer.render.health import ShownHealth
    from explorer.render.overview import ShownOverview
    from explorer.reports.maintenance import Preview
    from explorer.reports.maintenance.runs import MaintenanceOutcome
    from explorer.spec.catalogs.views import ViewMetadata
    from explorer.spec.commits.commit import Decision
    from explorer.spec.commits.commit_writers import Writers
    from explorer.spec.commits.costs import RunCost
    from explorer.spec.commits.landed import Landed
    from explorer.spec.health.crossings import Crossing
    from explorer.spec.layout.file_map import MapCell
    from explorer.spec.layout.storage_ledger import StorageLedger
    from explorer.spec.maintenance.all_procedures import MaintenancePlan
    from explorer.spec.maintenance.file_stay import FileStay
    from explorer.spec.maintenance.statement_engines import StatementEngine
    from explorer.spec.readers.reader_support import TableReaders
    from explorer.spec.rows.duplicate_keys import DuplicateKeys
    from explorer.spec.rows.live_rows import LiveRows
    from explorer.spec.rows.row_diff import RowDiff
    from explorer.spec.scan.plan import Plan
    from explorer.spec.schemas.schema_history import SchemaVersion
    from explorer.spec.snapshots.diff import SnapshotDiff
    from explorer.spec.snapshots.refs import RefPreview
    from explorer.spec.snapshots.table_copy import CopyCheck
    from explorer.table import Table


class InspectQuestions:
    """What a table's metadata says: snapshots, manifests, entries, files, deletes."""

    def __init__(self, table: OpenTable) -> None:
        self._table = table

    def metadata(self) -> Answer[Mapping[str, Any]]:
        """Show the metadata file: every field, unknown ones too.

        Returns:
            The metadata file's JSON.

        Example:
            >>> table = explorer.open_table("demo.three_inserts")
            >>> table.inspect.metadata().to_json()["format-version"]
            2
        """
        return inspect_questions.metadata(self._table.engine)

    def schema(self, *, snapshot: SnapshotRef = None) -> Collection:
        """List the fields of the schema by which a snapshot is read, nested fields too.

        Args:
            snapshot: The snapshot: an id, branch, tag, snapshot-N or time. The current one if left out.

        Returns:
            A row for each field: field-id, name (its path), type, required, identifier, doc,
            initial-default, write-default.

        Raises:
            NotFoundInTable: There is no such snapshot.

        Example:
            >>> table = explorer.open_table("demo.events")
            >>> [field["type"] for field in table.inspect.schema()][:2]
            ['string', 'long']
        """
        return inspect_questions.schema(self._table.engine, snapshot=snapshot)

    def properties(self) -> Collection:
        """List the table properties; values that may be secrets are hidden.

        Returns:
            A row for each property: property, value.

        Example:
            >>> table = explorer.open_table("demo.three_inserts")
            >>> table.inspect.properties().select("property = 'write.parquet.compression-codec'")[0]["value"]
            'zstd'
        """
        return inspect_questions.properties(self._table.engine)

    def snapshots(self) -> Collection:
        """List all snapshots.

        Returns:
            A row for each snapshot, oldest first: snapshot (snapshot-3), snapshot-id, parent-snapshot-id,
            sequence-number, timestamp-ms, operation, manifest-list, schema-id, first-row-id, added-rows,
            summary (spec, "Snapshots").

        Example:
            >>> table = explorer.open_table("demo.three_inserts")
            >>> [snapshot["operation"] for snapshot in table.inspect.snapshots()]
            ['append', 'append', 'append']
        """
        return inspect_questions.snapshots(self._table.engine)

    def refs(self) -> Collection:
        """List branches and tags.

        Returns:
            A row for each branch and tag: name, type, snapshot-id, min-snapshots-to-keep,
            max-snapshot-age-ms, max-ref-age-ms (spec, "Snapshot References").

        Example:
            >>> table = explorer.open_table("demo.branches_and_tags")
            >>> {ref["name"]: ref["type"] for ref in table.inspect.refs()}
            {'main': 'branch', 'opening': 'tag', 'audit': 'branch'}
        """
        return inspect_questions.refs(self._table.engine)

    def manifests(self, *, snapshot: SnapshotRef = None) -> Collection:
        """List the manifests of a snapshot, with decoded partition summaries.

        Args:
            snapshot: The snapshot: an id, branch, tag, snapshot-N or time. The current one if left out.

        Returns:
            A row for each manifest, in the order of the list: manifest_path, manifest_length (bytes),
            partition_spec_id, content, sequence numbers, added_snapshot_id, counts of files and rows,
            partitions (spec, "Manifest Lists").

        Raises:
            NotFoundInTable: There is no such snapshot.

        Example:
            >>> table = explorer.open_table("demo.three_inserts")
            >>> [manifest["added_files_count"] for manifest in table.inspect.manifests()]
            [1, 1, 1]
        """
        return inspect_questions.manifests(self._table.engine, snapshot=snapshot)

    def entries(
        self,
        *,
        view: Literal["stored", "inherited", "logical", "all"] = "logical",
        metrics: bool = False,
        snapshot: SnapshotRef = None,
        engine: EngineName = "auto",
    ) -> Collection:
        """List manifest entries as stored, after inheritance, or with their logical status.

        Args:
            view: The state of each entry: as stored, after inheritance, as of the snapshot, or all three.
            metrics: Also show column sizes, counts and bounds.
            snapshot: The snapshot: an id, branch, tag, snapshot-N or time. The current one if left out.
            engine: What decodes manifests and reads files: this process, or Spark's workers.

        Returns:
            A row for each entry, also DELETED and filtered ones: manifest_path, ordinal, status, the fields
            of the file, and by view stored or inherited values with their origin, logical_status and reason
            (spec, "Manifest Entry Fields").

        Raises:
            NotFoundInTable: There is no such snapshot.
            EngineError: The engine is spark, and Spark or Java is not available.

        Example:
            >>> table = explorer.open_table("demo.three_inserts")
            >>> [entry["logical_status"] for entry in table.inspect.entries()]
            ['ADDED', 'EXISTING', 'EXISTING']
        """
        return inspect_questions.entries(
            self._table.engine, view=view, metrics=metrics, snapshot=snapshot, engine=engine
        )

    def files(self, *, metrics: bool = False, snapshot: SnapshotRef = None, engine: EngineName = "auto") -> Collection:
        """List the data and delete files that a reader of a snapshot uses.

        Args:
            metrics: Also show column sizes, counts and bounds.
            snapshot: The snapshot: an id, branch, tag, snapshot-N or time. The current one if left out.
            engine: What decodes manifests and reads files: this process, or Spark's workers.

        Returns:
            A row for each live file: file_path, content, file_format, partition, record_count,
            file_size_in_bytes, sequence numbers, snapshot_id and more (spec, "Data File Fields").

        Raises:
            NotFoundInTable: There is no such snapshot.
            EngineError: The engine is spark, and Spark or Java is not available.

        Example:
            >>> table = explorer.open_table("demo.three_inserts")
            >>> [file["record_count"] for file in table.inspect.files()]
            [1, 1, 1]
        """
        return inspect_questions.files(self._table.engine, metrics=metrics, snapshot=snapshot, engine=engine)

    def partitions(self, *, snapshot: SnapshotRef = None, engine: EngineName = "auto") -> Collection:
        """Add up the live files by partition.

        Args:
            snapshot: The snapshot: an id, branch, tag, snapshot-N or time. The current one if left out.
            engine: What decodes manifests and reads files: this process, or Spark's workers.

        Returns:
            A row for each partition: partition, spec_id, record_count, file_count,
            total_data_file_size_in_bytes, counts of deletes, last_updated_ms, last_updated_snapshot_id.

        Raises:
            NotFoundInTable: There is no such snapshot.
            EngineError: The engine is spark, and Spark or Java is not available.

        Example:
            >>> table = explorer.open_table("demo.events")
            >>> [partition["record_count"] for partition in table.inspect.partitions()]
            [2, 1, 1]
        """
        return inspect_questions.partitions(self._table.engine, snapshot=snapshot, engine=engine)

    def file(
        self,
        path: FilePath,
        *,
        show: Literal["life", "footer", "rows", "deletes"] = "life",
        offset: Number = None,
        snapshot: SnapshotRef = None,
        engine: EngineName = "auto",
    ) -> Answer[Any] | Collection:
        """Show one data or delete file: its life, its footer, its rows, or the deletes that it holds.

        Args:
            path: The file: its path, a prefix of its name, the end of its path, or its label in a list.
            show: The life of the file over all snapshots; the footer of a Parquet or Puffin file; the rows of a
                data file and what deletes each; the contents of a delete file or deletion vector.
            offset: The content offset of a deletion vector, where several are in one Puffin file.
            snapshot: The snapshot: an id, branch, tag, snapshot-N or time. The current one if left out.
            engine: What decodes manifests and reads files: this process, or Spark's workers.

        Returns:
            The life: every snapshot in which the file was added, carried or removed. The footer: its
            fields. The rows: the columns of the table with _pos and _deleted_by. The deletes: file_path and
            pos, or the equality columns.

        Raises:
            NotFoundInTable: There is no such file or snapshot.
            NotSupported: The file is of a format that is not read.
            UnreadableFile: The file cannot be read.
            EngineError: The engine is spark, and Spark or Java is not available.

        Example:
            >>> table = explorer.open_table("demo.three_inserts")
            >>> path = table.inspect.files()[0]["file_path"]
            >>> table.inspect.file(path, show="rows").to_json()
            [{'fruit': 'cherry', '_pos': 0, '_deleted_by': None}]
        """
        return inspect_questions.file(
            self._table.engine, path, show=show, offset=offset, snapshot=snapshot, engine=engine
        )

    def deletes(
        self,
        *,
        show: Literal["pairs", "layers"] = "pairs",
        limit: Count = None,
        snapshot: SnapshotRef = None,
        engine: EngineName = "auto",
    ) -> Answer[Any]:
        """Show which deletes apply to which data files, clause by clause, and which are dangling.

        It reads manifests alone. A position delete hides nothing if its paths name no data file of the snapshot;
        this is shown if the entry names the file, or if its bounds of paths are equal.

        Args:
            show: Pairs of data and delete files; or data files and deletes by data sequence number, from below.
            limit: The largest number of pairs, and of dangling deletes.
            snapshot: The snapshot: an id, branch, tag, snapshot-N or time. The current one if left out.
            engine: What decodes manifests and reads files: this process, or Spark's workers.

        Returns:
            A row for each pair: data_file, delete_file, content_offset, kind, applies, reasons. Of layers:
            sequence_number, kind, partition, files, rows, bytes, applied, path.

        Raises:
            NotFoundInTable: There is no such snapshot.
            UnreadableFile: A manifest that the answer depends on cannot be read.
            EngineError: The engine is spark, and Spark or Java is not available.

        Example:
            >>> table = explorer.open_table("demo.position_deletes")
            >>> [(pair["kind"], pair["applies"]) for pair in table.inspect.deletes().to_json()]
            [('position', True)]
        """
        return inspect_questions.deletes(self._table.engine, show=show, limit=limit, snapshot=snapshot, engine=engine)

    def columns(
        self,
        *,
        show: Literal["metrics", "clustering"] = "metrics",
        snapshot: SnapshotRef = None,
        engine: EngineName = "auto",
    ) -> Collection:
        """Show what is recorded of each column, or how well files are clustered by it.

        Metrics say what a filter on the column can skip, how many files have them, and the property that sets them.

        Args:
            show: Which statistics are kept, by which rule, and what a filter can skip; or how many files a query
                for one value opens, by the files' bounds.
            snapshot: The snapshot: an id, branch, tag, snapshot-N or time. The current one if left out.
            engine: What decodes manifests and reads files: this process, or Spark's workers.

        Returns:
            A row for each column. Metrics: column, type, mode, rule, skips, files and how many of them have
            which statistics. Clustering: column, data_files, with_bounds, opened (files), share, median,
            p90, most.

        Raises:
            NotFoundInTable: There is no such snapshot.
            EngineError: The engine is spark, and Spark or Java is not available.

        Example:
            >>> table = explorer.open_table("demo.three_inserts")
            >>> [(column["column"], column["mode"]) for column in table.inspect.columns()]
            [('fruit', 'truncate(16)')]
        """
        return inspect_questions.columns(self._table.engine, show=show, snapshot=snapshot, engine=engine)

    def profile(
        self, column_path: ColumnName = "", *, snapshot: SnapshotRef = None, engine: EngineName = "auto"
    ) -> Collection:
        """Show what metadata says of the values in each column, or in one column by partition.

        Counts, bounds and bytes of all live data files are added up; no data file is read. Rows that delete files
        hide
        count, too. Distinct values are the estimate of a statistics file, of the snapshot or the newest one before
        it.

        Args:
            column_path: A column, by its path: its values are then shown by partition.
            snapshot: The snapshot: an id, branch, tag, snapshot-N or time. The current one if left out.
            engine: What decodes manifests and reads files: this process, or Spark's workers.

        Returns:
            A row for each column, or for each partition: files, rows, values, nulls, null_share, nans, lower_bound,
            upper_bound, bytes and, in words, what some files lack. Of columns also distinct and distinct_as_of.

        Raises:
            NotFoundInTable: There is no such column or snapshot.
            EngineError: The engine is spark, and Spark or Java is not available.

        Example:
            >>> table = explorer.open_table("demo.sorted_files")
            >>> [(column["column"], column["lower_bound"], column["distinct"]) for column in table.inspect.profile()]
            [('name', 'anna', 12), ('favorite_color', 'blue', 6)]
        """
        return inspect_questions.profile(self._table.engine, column_path, snapshot=snapshot, engine=engine)

    def map(
        self,
        *,
        where: Filter = "",
        color_by: Literal["auto", "status", "partition", "size", "age", "deletes", "scan"] = "auto",
        deletes: bool = False,
        snapshot: SnapshotRef = None,
    ) -> Answer[list[MapCell]]:
        """Show all files of a snapshot, and those that it removed, as cells of a map.

        A cell is one file, as large as its bytes, or a group of files so that there are at most 4,000 cells. Each
        has
        rows, bytes, status and age. The files of a partition lie together.

        Args:
            where: A filter: each cell then says what a scan does with it.
            color_by: What the color of a cell shows. `auto` is the scan with a filter, deletes if they are counted,
                otherwise the status.
            deletes: Also count the deletes that apply to each file.
            snapshot: The snapshot: an id, branch, tag, snapshot-N or time. The current one if left out.

        Returns:
            A row for each cell: rows, bytes, files, status, age and, with a filter, what its scan does.

        Raises:
            NotFoundInTable: There is no such snapshot, or the filter does not fit.
            WrongUsage: The color is the scan's, and there is no filter.

        Example:
            >>> table = explorer.open_table("demo.three_inserts")
            >>> [cell["status"] for cell in table.inspect.map().to_json()]
            ['ADDED', 'EXISTING', 'EXISTING']
        """
        return inspect_questions.file_map(
            self._table.engine, where=where, color_by=color_by, deletes=deletes, snapshot=snapshot
        )


class HistoryQuestions:
    """How a table came to be what it is: commits, lineage, lifecycles."""

    def __init__(self, table: OpenTable) -> None:
        self._table = table

    def lineage(self) -> Answer[Any]:
        """Show the lineage of snapshots beside the snapshot log, and explain where they differ.

        Returns:
            A row for each snapshot: its place (current, ancestor, cut off, branch, staged, abandoned) and why;
            beside it what was current when.

        Example:
            >>> table = explorer.open_table("demo.branches_and_tags")
            >>> lineage = table.history.lineage().to_arrow()
            >>> lineage["snapshot"].to_pylist()
            ['snapshot-1', 'snapshot-2', 'snapshot-3', 'snapshot-4', 'snapshot-5', 'snapshot-6']
            >>> lineage["kind"].to_pylist()
            ['ancestor', 'branch', 'staged', 'ancestor', 'current', 'abandoned']
        """
        return history_questions.lineage(self._table.engine)

    def lifecycle(self, *, engine: EngineName = "auto") -> Answer[Any]:
        """Show what happened to every manifest: created, carried, rewritten, merged, dropped, and why.

        Args:
            engine: What decodes manifests and reads files: this process, or Spark's workers.

        Returns:
            A row for each manifest and snapshot: manifest, snapshot, state, counts and why.

        Raises:
            EngineError: The engine is spark, and Spark or Java is not available.

        Example:
            >>> table = explorer.open_table("demo.manifest_lifecycle")
            >>> sorted(set(table.history.lifecycle().to_arrow()["state"].to_pylist()))
            ['carried', 'created', 'dropped', 'rewritten']
        """
        return history_questions.lifecycle(self._table.engine, engine=engine)

    def commits(
        self, *, first: SnapshotRef = None, last: SnapshotRef = None, engine: EngineName = "auto"
    ) -> Answer[RunCost]:
        """Show what each commit did and cost, and the write amplification of them all.

        The write amplification is the bytes written for each byte that is still read at the end.

        Args:
            first: The snapshot before the first commit. From the oldest one on if left out.
            last: The snapshot of the last commit. The current one if left out.
            engine: What decodes manifests and reads files: this process, or Spark's workers.

        Returns:
            A row for each commit: files, rows and bytes that it added and removed, bytes of metadata; and
            the write amplification of all.

        Raises:
            NotFoundInTable: There is no such snapshot, or `first` is no ancestor of `last`.
            EngineError: The engine is spark, and Spark or Java is not available.

        Example:
            >>> table = explorer.open_table("demo.three_inserts")
            >>> table.history.commits().to_arrow()["operation"].to_pylist()
            ['append', 'append', 'append']
        """
        return history_questions.commits(self._table.engine, first=first, last=last, engine=engine)

    def metadata(self, older: MetadataRef, newer: MetadataRef | None = None) -> Answer[dict[str, Any]]:
        """Compare two metadata files by meaning.

        Args:
            older: The older metadata file: metadata-3, its version number, or its path.
            newer: The newer metadata file. The current one if left out.

        Returns:
            What was added, removed and changed, by part of the metadata.

        Raises:
            NotFoundInTable: There is no such metadata file.
            UnreadableFile: A metadata file cannot be read.

        Example:
            >>> table = explorer.open_table("demo.three_inserts")
            >>> sorted(table.history.metadata("0").to_json())
            ['current_snapshot_id', 'json_format', 'refs', 'snapshots']
        """
        return history_questions.metadata(self._table.engine, older, newer)

    def schemas(self, *, engine: EngineName = "auto") -> Answer[list[SchemaVersion]]:
        """Show how schemas, partition specs and sort orders changed, and what that means for older files.

        Args:
            engine: What decodes manifests and reads files: this process, or Spark's workers.

        Returns:
            A row for each version: kind, id, current, words, first, first_at, writer, snapshots, files and changes.
        The
            JSON has the changes too, by field id.

        Raises:
            EngineError: The engine is spark, and Spark or Java is not available.

        Example:
            >>> table = explorer.open_table("demo.schema_evolution")
            >>> print(table.history.schemas().to_text().splitlines()[0])
            schema 0: 5 fields
        """
        return history_questions.schemas(self._table.engine, engine=engine)

    def health(self, *, threshold: Limits = NOTHING, engine: EngineName = "auto") -> Answer[list[Crossing]]:
        """Say when each measure of health went above its threshold, and which commit did it.

        It measures snapshots of main as they were when they were current, as few as it needs. Measures of the
        metadata
        file belong to no snapshot.

        Args:
            threshold: The value above which a measure matters (icedive docs health). May be given several times.
            engine: What decodes manifests and reads files: this process, or Spark's workers.

        Returns:
            A row for each measure above its threshold: measure, level, value, threshold, snapshot, timestamp,
        operation,
            writer, before, after and words.

        Raises:
            NotFoundInTable: There is no such measure.
            EngineError: The engine is spark, and Spark or Java is not available.

        Example:
            >>> table = explorer.open_table("demo.long_history")
            >>> {one.id: one.snapshot for one in table.history.health().value}["small-files"]
            'snapshot-27'
        """
        return history_questions.health(self._table.engine, threshold=threshold, engine=engine)

    def watch(self, *, interval: Seconds = None) -> Answer[Any]:
        """Follow a table, and show what each commit changed as soon as it is committed.

        It prints the difference of each new commit until Ctrl+C. It asks only for the catalog's pointer, or for the
        folder's version hint and file names.

        Args:
            interval: Look every so many seconds. Every second if left out, but never at a table in a remote store.

        Returns:
            The commits, as they are made.

        Raises:
            NotPossible: The table was opened as one metadata file; or it is in a remote store, and no interval is
                given.

        Example:
            >>> table = explorer.open_table("demo.three_inserts")
            >>> table.history.watch(interval=2).notes[0].endswith("looking every 2 s")
            True
        """
        return history_questions.watch(self._table.engine, interval=interval)

    def writers(self) -> Answer[Writers]:
        """Say who committed what: engines, versions, applications, jobs, checkpoints, offsets and queries.

        It decodes the summaries of snapshots. What a writer does not record is unknown. It also tells what to look
        at: gaps, writers that have stopped or write at the same time, and checkpoints, epochs or offsets that
        repeat,
        go back or leave numbers out.

        Returns:
            The writers. A row for each: writer, engine, versions, runs, snapshots, first, last, intervals, files,
        rows and
            bytes.

        Example:
            >>> table = explorer.open_table("demo.streaming_upserts")
            >>> [dict(commit.progress) for commit in table.history.writers().value.commits]
            [{'checkpoint': 1}, {'checkpoint': 2}, {'checkpoint': 3}]
        """
        return writers_questions.writers(self._table.engine)

    def landed(self, what: Wanted, *, engine: EngineName = "auto") -> Answer[Landed]:
        """Say whether something landed: in main's history, only on a branch, staged, rolled back, or nowhere.

        Args:
            what: A snapshot's id, an id that a writer records (application, job, query, commit, WAP id), KEY=VALUE
                of a summary, two times as FROM..TO in UTC, or the path of a data or delete file, or its end.
            engine: What decodes manifests and reads files: this process, or Spark's workers.

        Returns:
            The answer. A row for each snapshot that fits: snapshot, where, refs, why, notes and timestamp.

        Raises:
            EngineError: The engine is spark, and Spark or Java is not available.

        Example:
            >>> table = explorer.open_table("demo.streaming_upserts")
            >>> table.history.landed("flink.max-committed-checkpoint-id=2").value.words
            'It landed. Snapshot-2: in main.'
        """
        return writers_questions.landed(self._table.engine, what, engine=engine)


class DataQuestions:
    """Rows: how they differ between snapshots, and what happened to them."""

    def __init__(self, table: OpenTable) -> None:
        self._table = table

    def diff(self, before: Side, after: Side, *, key: ColumnNames = (), engine: EngineName = "auto") -> Answer[RowDiff]:
        """Show the rows that differ between two snapshots; only files that differ are read.

        Rows are inserted, deleted or updated; keys that several rows of one side have are named. It needs no Spark
        while the rows fit in memory; beyond that Spark's workers run the same code.

        Args:
            before: The older snapshot, or `none`: the table before its first snapshot.
            after: The newer snapshot.
            key: A column that identifies a row, so that updates are recognized. May be given several times.
            engine: What decodes manifests and reads files: this process, or Spark's workers.

        Returns:
            Counts of rows inserted, deleted and updated, and the rows.

        Raises:
            NotFoundInTable: There is no such snapshot or column.
            UnreadableFile: A file that differs cannot be read.
            EngineError: The engine is spark, and Spark or Java is not available.

        Example:
            >>> table = explorer.open_table("demo.three_inserts")
            >>> table.data.diff("snapshot-1", "main").to_json()["counts"]
            {'inserted': 2, 'deleted': 0, 'updated': 0}
        """
        return data_questions.diff(self._table.engine, before, after, key=key, engine=engine)

    def duplicates(
        self,
        *,
        key: ColumnNames = (),
        most: Positive = DUPLICATES,
        explain: Least = EXPLAINED,
        snapshot: SnapshotRef = None,
    ) -> Answer[DuplicateKeys]:
        """Find keys that several rows have: since which commit, in which files, and why.

        Spark counts the rows of each key. The history of the first keys then says how their rows came together.

        Args:
            key: A column of the key; the schema's identifier fields if none is named. May be given several times.
            most: The largest number of keys that are listed, those with the most rows first.
            explain: The largest number of rows that are explained one by one.
            snapshot: The snapshot: an id, branch, tag, snapshot-N or time. The current one if left out.

        Returns:
            How many keys have several rows. A row for each of the first: the key, rows, since, files and why.

        Raises:
            NotFoundInTable: There is no such column or snapshot, or no key is known.
            EngineError: Spark or Java is not available.
            StatementFailed: Spark cannot read the rows; the message names the reason.

        Example:
            >>> table = explorer.open_table("demo.three_inserts")
            >>> table.data.duplicates(key=["fruit"]).value.words
            'At snapshot-3, no two rows have the same fruit.'
        """
        return data_questions.duplicates(self._table.engine, key=key, most=most, explain=explain, snapshot=snapshot)

    def history(
        self,
        where: Filter,
        *,
        key: ColumnNames = (),
        every_file: bool = False,
        explain: Least = 100,
        snapshot: SnapshotRef = None,
        engine: EngineName = "auto",
    ) -> Answer[RowHistory]:
        """Show what happened to the rows that match a filter, and why they are visible or not.

        It says when matching rows appeared, changed or were deleted, by what, and which statistic hides a row from
        scans. If older snapshots have expired, it says that rows existed before. Bounds may be wrong, so it also
        reads skipped files: up to 200 files of 64 MiB together. It needs no Spark while the entries fit in memory.

        Args:
            where: A filter such as "name = 'jack'".
            key: A column that identifies a row, so that updates are recognized. May be given several times.
            every_file: Also read the data files that the filter excludes by partition values, counts or bounds,
                which may be wrong, however many they are.
            explain: The largest number of rows that are explained one by one.
            snapshot: The snapshot: an id, branch, tag, snapshot-N or time. The current one if left out.
            engine: What decodes manifests and reads files: this process, or Spark's workers.

        Returns:
            The events of each matching row, and sentences that say why it is visible or not.

        Raises:
            NotFoundInTable: The filter or the key does not fit the schema, or there is no such snapshot.
            UnreadableFile: A file that may have such rows cannot be read.
            EngineError: The engine is spark, and Spark or Java is not available.

        Example:
            >>> table = explorer.open_table("demo.equality_deletes")
            >>> [event.what for event in table.data.history("name = 'jack'").value.events]
            ['appeared', 'appeared', 'deleted', 'appeared']
        """
        return data_questions.history(
            self._table.engine, where, key=key, every_file=every_file, explain=explain, snapshot=snapshot, engine=engine
        )


class ScanQuestions:
    """What other layouts would make of queries, and where files lie."""

    def __init__(self, table: OpenTable) -> None:
        self._table = table

    def estimate(
        self,
        where: Filters = (),
        *,
        write: bool = False,
        rows: Positive = 100000,
        file_size: Positive | None = None,
        snapshot: SnapshotRef = None,
    ) -> Answer[Any]:
        """Estimate what queries would read if the table were sorted, partitioned or compacted.

        It estimates the effect of sorting by a column, of one more partition field, and of compaction
        (icedive docs estimates). Filters are ranked by the bytes that they read, changes by what all filters would
        read together.

        Args:
            where: A filter; several may be given, and @FILE stands for the lines of a file. With --write it may be
                left out.
            write: Really write the same rows in several layouts into the sandbox, measure, and drop them again. The
                table itself is only read.
            rows: With --write: the largest number of rows to write.
            file_size: The size of a file as it would be written, in bytes.
            snapshot: The snapshot: an id, branch, tag, snapshot-N or time. The current one if left out.

        Returns:
            Files, rows and bytes that each filter reads now, and would read after each change.

        Raises:
            WrongUsage: No filter is given, and nothing is written.
            NotFoundInTable: No filter fits the schema, or there is no such snapshot.
            EngineError: Layouts are written, and Spark or Java is not available.

        Example:
            >>> table = explorer.open_table("demo.unsorted_files")
            >>> estimates = table.scan.estimate(["name = 'jack'"]).value
            >>> [change.text for change in estimates.changes][:2]
            ['compaction to 512 MiB', 'sort by name']
        """
        return scan_questions.estimate(
            self._table.engine, where, write=write, rows=rows, file_size=file_size, snapshot=snapshot
        )


class CheckQuestions:
    """Whether a commit would succeed."""

    def __init__(self, table: OpenTable) -> None:
        self._table = table

    def copy(self, other: OtherTable, *, check_files: bool = False) -> Answer[CopyCheck]:
        """Say whether a copy or a backup of a table is whole, and whether it stands alone.

        It compares the histories, and the live files of the newest snapshot that both have, by their paths below
        each
        one's folder. A copy does not stand alone while its metadata names files of the original.

        Args:
            other: The copy: its folder, its metadata.json, or its name in a catalog.
            check_files: Also look whether each file that the copy's current snapshot needs is there, as long as
                recorded.

        Returns:
            How far the copy is behind, how many files are missing, extra or different, how many paths lead
        elsewhere, and
            the statement that writes metadata for the copy's folder.

        Raises:
            NotFoundInTable: There is no such copy.

        Example:
            >>> table = explorer.open_table("demo.three_inserts")
            >>> table.check.copy("demo.three_inserts").value.history.relation
            'same'
        """
        return check_questions.copy(self._table.engine, other, check_files=check_files)

    def conflict(
        self,
        base: Side,
        operation: OperationKind,
        *,
        isolation: Literal["", "serializable", "snapshot"] = "",
        without: Texts = (),
        also: Texts = (),
        where: Filter = "",
        branch: BranchName = "main",
    ) -> Answer[Decision]:
        """Say what Iceberg would answer to a commit that began at an older snapshot: commit, retry or refuse, and why.

        If the isolation level is left out, it is that of the table's property, else serializable. INSERT OVERWRITE
        (replace-partitions, overwrite-filter) has none then, as in Spark.

        Args:
            base: The snapshot at which the commit began; `null` is that of a writer that names none to Iceberg.
            operation: The operation.
            isolation: The isolation level.
            without: Switch a validation off, by its name in Iceberg's API. May be given several times.
            also: Switch a validation on that the isolation level does not set. May be given several times.
            where: The rows that the operation is about.
            branch: The branch that it is committed to.

        Returns:
            The decision, the check that refuses, and the files that conflict.

        Raises:
            NotFoundInTable: There is no such snapshot, branch, operation or validation, or the filter does not fit.

        Example:
            >>> table = explorer.open_table("demo.three_inserts")
            >>> table.check.conflict("snapshot-1", "append").value.outcome
            'retry'
        """
        return check_questions.conflict(
            self._table.engine,
            base,
            operation,
            isolation=isolation,
            without=without,
            also=also,
            where=where,
            branch=branch,
        )


class MaintainQuestions:
    """Maintenance: what a procedure would do, and doing it."""

    def __init__(self, table: OpenTable) -> None:
        self._table = table

    def preview(
        self,
        operation: Procedure,
        *,
        sort_by: str = "",
        retain_last: Number = None,
        option: Pairs = NOTHING,
        where: Filter = "",
        reader: Readers = (),
        engine: EngineName = "auto",
    ) -> Answer[Preview]:
        """Plan maintenance from metadata alone, as Iceberg would.

        It shows groups, files, manifests or snapshots with the reason for each; why nothing would happen, or why it
        never ends; and the statement to paste (icedive docs maintenance). next-append shows what appends merge,
        dangling-deletes what drops deletes that hide nothing.

        Args:
            operation: The operation.
            sort_by: For sorting: column names, separated by commas.
            retain_last: For expiry: the snapshots to keep on each branch, in place of the table's policy.
            option: An option of the procedure, by its name. May be given several times.
            where: Rewrite only files that may match this filter.
            reader: For expiry: a reader that must go on: the snapshot at which it stands, a branch or tag, a time,
                or the checkpoint of a Spark or Flink stream. May be given several times.
            engine: What decodes manifests and reads files: this process, or Spark's workers.

        Returns:
            Sentences, the statement, and rows of groups, files, manifests or snapshots, each with what
            becomes of it and why.

        Raises:
            NotFoundInTable: There is no such operation, option, column or reader, or the filter does not fit.
            UnreadableFile: A checkpoint cannot be read.
            EngineError: The engine is spark, and Spark or Java is not available.

        Example:
            >>> table = explorer.open_table("demo.three_inserts")
            >>> print(table.maintain.preview("compact").value.words[0])
            3 data files (1.3 KiB): 3 candidates (3 smaller than 384 MiB).
        """
        return maintain_questions.preview(
            self._table.engine,
            operation,
            sort_by=sort_by,
            retain_last=retain_last,
            option=option,
            where=where,
            reader=reader,
            engine=engine,
        )

    def all(self, *, statements: StatementEngine = "spark", engine: EngineName = "auto") -> Answer[MaintenancePlan]:
        """Say what all maintenance would do, in the order in which to run it, with the statements.

        Each line is the preview of one procedure with its defaults and the table's properties, on the table as it
        is now.

        Args:
            statements: The engine that is to run them: its statements, and what it would do.
            engine: What decodes manifests and reads files: this process, or Spark's workers.

        Returns:
            How to carry it out. A row for each procedure: operation, what it does, files and bytes, statement, and
        why it
            is run in this place.

        Raises:
            EngineError: The engine is spark, and Spark or Java is not available.

        Example:
            >>> table = explorer.open_table("demo.three_inserts")
            >>> [line.operation for line in table.maintain.all().value.lines if line.statement]
            ['rewrite-manifests']
        """
        return maintain_questions.all_procedures(self._table.engine, statements=statements, engine=engine)

    def file(self, path: AnyFile, *, engine: EngineName = "auto") -> Answer[FileStay]:
        """Say why a file is still there, and when it can go.

        It may be any file of the table: data, deletes, manifests, manifest lists, metadata files, statistics, and
        files
        that nothing needs. The table's policy of retention decides when snapshots expire.

        Args:
            path: The file: its path, or the end or beginning of its name.
            engine: What decodes manifests and reads files: this process, or Spark's workers.

        Returns:
            Sentences: what needs the file, which rules keep that, and from when it can go. If it can go now, the
                statement
            that removes it, among others.

        Raises:
            NotFoundInTable: There is no such file, or several.
            EngineError: The engine is spark, and Spark or Java is not available.

        Example:
            >>> table = explorer.open_table("demo.three_inserts")
            >>> stay = table.maintain.file(table.inspect.manifests()[0]["manifest_path"]).value
            >>> stay.kind, stay.needed_by
            ('manifest', ('snapshot-3',))
        """
        return maintain_questions.file(self._table.engine, path, engine=engine)

    def run(
        self,
        operation: Procedure,
        *,
        sort_by: str = "",
        retain_last: Number = None,
        option: Pairs = NOTHING,
        where: Filter = "",
        reader: Readers = (),
        allow_writes: bool = False,
    ) -> Answer[MaintenanceOutcome]:
        """Carry maintenance out through Spark's procedures, on a table of the sandbox.

        Args:
            operation: The operation.
            sort_by: For sorting: column names, separated by commas.
            retain_last: For expiry: the snapshots to keep on each branch, in place of the table's policy.
            option: An option of the procedure, by its name. May be given several times.
            where: Rewrite only files that may match this filter.
            reader: For expiry: a reader that must go on: the snapshot at which it stands, a branch or tag, a time,
                or the checkpoint of a Spark or Flink stream. May be given several times.
            allow_writes: Also write to a teaching table, or a table of another catalog that Spark knows
                (spark.json).

        Returns:
            What the procedure returned, and what the table held before and after.

        Raises:
            AccessRefused: The table is not one that may be written.
            NotPossible: The procedure would fail, or would do harm; the message has the reason.
            EngineError: Spark or Java is not available.
            StatementFailed: Iceberg refuses the procedure; the message is its reason.

        Example:
            >>> from explorer.questions import lab
            >>> table = explorer.open_table(lab.copy("three_inserts").value)
            >>> done = table.maintain.run("rewrite-manifests").value
            >>> done.before.manifests, done.after.manifests
            (3, 1)
        """
        return maintain_questions.run(
            self._table.engine,
            operation,
            sort_by=sort_by,
            retain_last=retain_last,
            option=option,
            where=where,
            reader=reader,
            allow_writes=allow_writes,
        )


class RefsQuestions:
    """Branches, tags and rollbacks: what an operation would do, and doing it."""

    def __init__(self, table: OpenTable) -> None:
        self._table = table

    def preview(self, operation: RefOperation, *, name: str = "", snapshot: SnapshotRef = None) -> Answer[RefPreview]:
        """Show what an operation on branches, tags or the current snapshot would do, from metadata alone.

        It shows refs, the current snapshot, what stays reachable, and the files that no metadata would name.

        Args:
            operation: The operation.
            name: The branch or tag; for publish, the WAP id.
            snapshot: The snapshot that it is about; for rollback-to-time, a time.

        Returns:
            Sentences, and the files that nothing would reach.

        Raises:
            NotFoundInTable: There is no such operation, branch, tag or snapshot.

        Example:
            >>> table = explorer.open_table("demo.branches_and_tags")
            >>> table.refs.preview("drop", name="audit").value.words[1]
            'No branch or tag would lead to snapshot-2: the next expiry may remove what only they read.'
        """
        return maintain_questions.preview_refs(self._table.engine, operation, name=name, snapshot=snapshot)

    def run(
        self, operation: RefOperation, *, name: str = "", snapshot: SnapshotRef = None, allow_writes: bool = False
    ) -> Answer[RefPreview]:
        """Carry an operation on branches, tags or the current snapshot out, on a table of the sandbox.

        Args:
            operation: The operation.
            name: The branch or tag; for publish, the WAP id.
            snapshot: The snapshot that it is about; for rollback-to-time, a time.
            allow_writes: Also write to a teaching table, or a table of another catalog that Spark knows
                (spark.json).

        Returns:
            The same as the preview; a note has the statement that ran.

        Raises:
            AccessRefused: The table is not one that may be written.
            NotFoundInTable: There is no such operation, branch, tag or snapshot.
            EngineError: Spark or Java is not available.
            StatementFailed: Iceberg refuses the operation; the message is its reason.

        Example:
            >>> from explorer.questions import lab
            >>> table = explorer.open_table(lab.copy("three_inserts").value)
            >>> _ = table.refs.run("tag", name="first", snapshot="snapshot-1")
            >>> [ref["name"] for ref in table.refresh().inspect.refs()]
            ['main', 'first']
        """
        return maintain_questions.run_refs(
            self._table.engine, operation, name=name, snapshot=snapshot, allow_writes=allow_writes
        )


class CatalogQuestions:
    """All tables of a catalog, and what the catalog stores."""

    def __init__(self, table: OpenTable) -> None:
        self._table = table

    def pointer(self) -> Answer[Any]:
        """Show what the catalog stores of a table, and the metadata file at which the table was opened.

        It is the row of an SQL catalog (SQLite, PostgreSQL), the answer of a REST server without the values of
        its configuration, or the entry in Glue or in Hive's metastore. Glue also keeps older versions of an entry:
        each has its time, the metadata file that it names, and whether that file is there.

        If the metadata file is gone, the answer names the newest other one whose manifest lists and manifests are
        there,
        what going back to it loses, and how to make this catalog point to it.

        Returns:
            What the catalog stores, the versions of it that the catalog keeps, and the metadata file that was
        opened
            with its state: there, gone, or not known. If it is gone, the way back.

        Raises:
            NotPossible: No catalog has the table.
            TableNotFound: No table has that name.

        Example:
            >>> table = explorer.open_table("demo.three_inserts")
            >>> table.catalog.pointer().to_json()["where"]
            'the row of iceberg_tables in sqlite'
        """
        return catalog_questions.pointer(self._table._at())


class LabQuestions:
    """Commits that meet: writers and readers step by step, on Iceberg itself."""

    def __init__(self, table: OpenTable) -> None:
        self._table = table

    def observe(self, statement: Sql = "", *, api: str = "", allow_writes: bool = False) -> Answer[Observation]:
        """Run one writing statement on a table of the sandbox, and show the files it wrote in order, the swap, the
        report.

        Args:
            statement: The statement, in which `t` is the table.
            api: Instead of a statement: an operation of the table API, such as rewriteManifests.
            allow_writes: Also write to a teaching table, or a table of another catalog that Spark knows
                (spark.json).

        Returns:
            The files in the order in which they were written, the swap, and Iceberg's report.

        Raises:
            WrongUsage: Not one of a statement and an operation is given.
            AccessRefused: The table is not one that may be written.
            StatementFailed: Spark or Iceberg refuses the statement; the message is their reason.
            EngineError: Spark or Java is not available.

        Example:
            >>> from explorer.questions import lab
            >>> table = explorer.open_table(lab.copy("three_inserts").value)
            >>> seen = table.lab.observe("INSERT INTO t VALUES ('fig')").value
            >>> [file.what for file in seen.files]
            ['data file', 'data manifest', 'manifest list', 'metadata file']
        """
        return lab_questions.observe(self._table.engine, statement, api=api, allow_writes=allow_writes)


class OpenTable:
    """An open table. Its methods ask questions; each returns an answer, which shows itself as text, JSON, rows or, in a
    notebook, as a picture. In a notebook the table itself shows as the live graph."""

    def __init__(self, engine: Table) -> None:
        self.engine = engine
        """What answers: the open table as this package uses it."""
        self.inspect = InspectQuestions(self)
        self.history = HistoryQuestions(self)
        self.data = DataQuestions(self)
        self.scan = ScanQuestions(self)
        self.check = CheckQuestions(self)
        self.maintain = MaintainQuestions(self)
        self.refs = RefsQuestions(self)
        self.catalog = CatalogQuestions(self)
        self.lab = LabQuestions(self)

    @property
    def name(self) -> str:
        """`catalog.db.table`, or the name of the table's folder."""
        return self.engine.name

    @property
    def metadata(self) -> TableMetadata:
        """The metadata file with which the table was opened."""
        return self.engine.metadata

    @property
    def why(self) -> str:
        """Which metadata file was chosen, and why; what else its folder contains."""
        return self.engine.why

    @property
    def problems(self) -> list[Problem]:
        """Everything that was wrong so far: in the metadata file, and in what was read since."""
        return self.engine.problems

    def refresh(self) -> OpenTable:
        """Open the table again, as its catalog or folder has it now.

        Returns:
            The table. This one stays as it is.

        Raises:
            TableNotFound: The table is gone.
            UnreadableFile: Its metadata file cannot be read.

        Example:
            >>> explorer.open_table("demo.three_inserts").refresh().name
            'sandbox.demo.three_inserts'
        """
        return OpenTable(self.engine.refresh())

    def __repr__(self) -> str:
        return repr(self.engine)

    def _repr_mimebundle_(self, **options: Any) -> Any:
        return self.engine._repr_mimebundle_(**options)

    def _ipython_display_(self) -> None:
        self.engine._ipython_display_()

    def __panel__(self) -> Any:
        return self.engine.__panel__()

    def _at(self) -> TableAt:
        return TableAt(self.engine.name, opened=self.engine)

    def doctor(
        self,
        *,
        files: bool = False,
        deep: bool = False,
        each: bool = False,
        skip: Texts = (),
        severity: Pairs = NOTHING,
        snapshot: SnapshotRef = None,
        engine: EngineName = "auto",
    ) -> Answer[ShownReport]:
        """Check a table against the spec and itself.

        Each finding has the file, both values, the affected snapshots, what Spark cannot do, and a remedy. It also
        works on tables that cannot be opened. icedive docs doctor has the rules.

        Args:
            files: Also check that each file exists and is as long as recorded, and look for files that nothing
                refers to.
            deep: Also read footers, deletes and data. It includes --files.
            each: Also list each finding that one stands for or explains.
            skip: Leave a rule out, by id or number. May be given several times.
            severity: Give a rule another severity: fatal, error, warning or info.
            snapshot: The snapshot: an id, branch, tag, snapshot-N or time. All snapshots if left out.
            engine: What decodes manifests and reads files: this process, or Spark's workers.

        Returns:
            The report. A row for each finding: rule, severity, title, what, file, found, expected, remedy
            and more.

        Raises:
            TableNotFound: No table has that name.
            NotFoundInTable: There is no such rule or snapshot.
            EngineError: The engine is spark, and Spark or Java is not available.

        Example:
            >>> table = explorer.open_table("demo.three_inserts")
            >>> print(table.doctor().to_text().splitlines()[0])
            sandbox.demo.three_inserts: nothing wrong was found (3 snapshots, 3 manifests, 3 entries)
        """
        return check_questions.doctor(
            self._at(),
            files=files,
            deep=deep,
            each=each,
            skip=skip,
            severity=severity,
            snapshot=snapshot,
            engine=engine,
        )

    def health(
        self,
        *,
        threshold: Limits = NOTHING,
        clustering: bool = False,
        snapshot: SnapshotRef = None,
        engine: EngineName = "auto",
    ) -> Answer[ShownHealth]:
        """Measure a table's health, each number against a threshold.

        It measures file sizes, partitions, deletes, manifests, commits, snapshots and the metadata file.

        Args:
            threshold: The value above which a measure matters (icedive docs health). May be given several times.
            clustering: Also measure how files are clustered by column, which reads all bounds.
            snapshot: The snapshot: an id, branch, tag, snapshot-N or time. The current one if left out.
            engine: What decodes manifests and reads files: this process, or Spark's workers.

        Returns:
            A row for each measure: measure, level, title, value, unit, threshold, words, why, helps.

        Raises:
            NotFoundInTable: There is no such measure or snapshot.
            EngineError: The engine is spark, and Spark or Java is not available.

        Example:
            >>> table = explorer.open_table("demo.long_history")
            >>> {m["measure"]: m["level"] for m in table.health().to_json()["measures"]}["small-files"]
            'warning'
        """
        return check_questions.health(
            self.engine, threshold=threshold, clustering=clustering, snapshot=snapshot, engine=engine
        )

    def rows(
        self,
        *,
        where: Filter = "",
        column: ColumnNames = (),
        limit: Count = FIRST_ROWS,
        provenance: bool = False,
        snapshot: SnapshotRef = None,
    ) -> SparkRows:
        """Read rows of any version through Spark.

        Args:
            where: A filter such as "name = 'jack'": only rows that match.
            column: Read only this column. May be given several times.
            limit: The largest number of rows; `all` reads all.
            provenance: Also show each row's file, position, partition and, in version 3, row id.
            snapshot: The snapshot: an id, branch, tag, snapshot-N or time. The current one if left out.

        Returns:
            The rows; `cut` says whether there are more, `reports` has the scan reports.

        Raises:
            NotFoundInTable: There is no such snapshot or column.
            EngineError: Spark or Java is not available.
            StatementFailed: Spark cannot read the rows; the message names the reason.

        Example:
            >>> table = explorer.open_table("demo.three_inserts")
            >>> sorted(row["fruit"] for row in table.rows(where="fruit > 'b'"))
            ['banana', 'cherry']
        """
        return data_questions.rows(
            self.engine, where=where, column=column, limit=limit, provenance=provenance, snapshot=snapshot
        )

    def sql(self, query: Sql, *, limit: Count = FIRST_ROWS) -> SparkRows:
        """Run a read-only query through Spark.

        Args:
            query: The query. `t` is the table, `t@snapshot-1` and `db.other@tag` are versions.
            limit: The largest number of rows; `all` reads all.

        Returns:
            The rows; `cut` says whether there are more, `reports` has the scan reports.

        Raises:
            AccessRefused: The query writes, or reads what it must not.
            EngineError: Spark or Java is not available.
            StatementFailed: Spark refuses the query; the message is its reason.

        Example:
            >>> table = explorer.open_table("demo.three_inserts")
            >>> table.sql("SELECT count(*) AS fruits FROM t").to_json()
            [{'fruits': 3}]
        """
        return data_questions.sql(self.engine, query, limit=limit)

    def count(self, *, snapshot: SnapshotRef = None) -> Answer[LiveRows]:
        """Count the visible rows, and the rows that each delete hides.

        It needs no Spark. It opens only delete files, and data files with position or equality deletes.

        Args:
            snapshot: The snapshot: an id, branch, tag, snapshot-N or time. The current one if left out.

        Returns:
            The number of visible rows, beside the recorded one, and the rows that each delete hides.

        Raises:
            NotFoundInTable: There is no such snapshot.
            UnreadableFile: A delete file or a data file that it needs cannot be read.

        Example:
            >>> table = explorer.open_table("demo.position_deletes")
            >>> count = table.count().value
            >>> count.recorded, count.rows
            (4, 3)
        """
        return data_questions.count(self.engine, snapshot=snapshot)

    def diff(self, before: Side, after: Side, *, engine: EngineName = "auto") -> Answer[SnapshotDiff]:
        """Show what differs between two snapshots: the net files, and what happened to the manifests.

        Of a snapshot and its parent the answer begins with a sentence.

        Args:
            before: The older snapshot, or `none`: the table before its first snapshot.
            after: The newer snapshot.
            engine: What decodes manifests and reads files: this process, or Spark's workers.

        Returns:
            The difference: files added and removed, manifests, schema, spec, sort order and properties.
            Rows: change, file_path, record_count, file_size_in_bytes and more.

        Raises:
            NotFoundInTable: There is no such snapshot.
            UnreadableFile: A manifest list or manifest that the difference depends on cannot be read.
            EngineError: The engine is spark, and Spark or Java is not available.

        Example:
            >>> table = explorer.open_table("demo.three_inserts")
            >>> print(table.diff("snapshot-1", "snapshot-2").to_text().splitlines()[0])
            snapshot-2 added manifest-2 with 1 data file
        """
        return history_questions.diff(self.engine, before, after, engine=engine)

    def show(self, *, snapshot: SnapshotRef = None) -> Answer[Graph]:
        """Show the metadata tree of a table.

        Args:
            snapshot: The snapshot: an id, branch, tag, snapshot-N or time. The current one if left out.

        Returns:
            The graph of the tree.

        Raises:
            NotFoundInTable: There is no such snapshot.

        Example:
            >>> table = explorer.open_table("demo.three_inserts")
            >>> print(table.show().to_text().splitlines()[1])
            three_inserts: in sandbox.demo · points to metadata-3
        """
        return inspect_questions.show(self.engine, snapshot=snapshot)

    def overview(self, *, snapshot: SnapshotRef = None) -> Answer[ShownOverview]:
        """Show what a table is and holds, and what each snapshot added and removed.

        It shows rows (recorded and visible), files, deletes by kind, bytes, and schema, partition spec and sort
        order in words. Where manifests are small, it also has the results of health and doctor, file sizes and
        partitions.

        Args:
            snapshot: The snapshot: an id, branch, tag, snapshot-N or time. The current one if left out.

        Returns:
            The overview: facts, commits and, where they are cheap, health and doctor.

        Raises:
            NotFoundInTable: There is no such snapshot.

        Example:
            >>> table = explorer.open_table("demo.three_inserts")
            >>> overview = table.overview().value
            >>> overview.snapshot, overview.rows_counted, overview.data_files
            ('snapshot-3', 3, 3)
        """
        return inspect_questions.overview(self.engine, snapshot=snapshot)

    def readers(self, *, upgrade: FormatVersion = None, engine: EngineName = "auto") -> Answer[TableReaders]:
        """Say who can read a table: its features, against engines and their versions.

        It finds the features in metadata: format version, kinds of deletes, types, defaults, promotions,
        transforms, file
        formats and more. What is known of readers is dated: we tried them, or a document says it. Else it is
        unknown.

        Args:
            upgrade: A higher format version: also say what an upgrade would change, and which readers it would lock
                out.
            engine: What decodes manifests and reads files: this process, or Spark's workers.

        Returns:
            The answer. A row for each reader and feature: reader, version, feature, reads, words, source and date.

        Raises:
            WrongUsage: The table has that format version already, or there is none such.
            EngineError: The engine is spark, and Spark or Java is not available.

        Example:
            >>> table = explorer.open_table("demo.equality_deletes")
            >>> answer = table.readers().value
            >>> [verdict.reader.name for verdict in answer.verdicts if verdict.answer == "no"][0]
            'pyiceberg'
        """
        return readers_questions.readers(self.engine, upgrade=upgrade, engine=engine)

    def plan(
        self,
        where: Filter = "",
        *,
        stage: Stage = "all",
        sql: bool = False,
        engines: bool = False,
        measure: bool = False,
        compare_with: Texts = (),
        snapshot: SnapshotRef = None,
        engine: EngineName = "auto",
    ) -> Answer[Plan] | Collection:
        """Show what a query reads and skips, and the comparison that decides, from metadata alone.

        It shows partition summaries, partition values, column metrics, conditions that are left for rows, deletes
        and tasks. The stage row-groups reads the footers of the files, and shows which row groups statistics,
        dictionaries or bloom filters skip, and which pages may match.

        Args:
            where: A filter such as "name = 'jack' AND day(ts) = '2024-03-01'" (icedive docs filters). Without one:
                a read of the whole table.
            stage: Show only the rows of this stage, in full.
            sql: The filter is Spark SQL: also show what Spark hands to Iceberg of it.
            engines: Also ask Iceberg's own planner, in Spark, pyiceberg's, and the server of a REST catalog.
            measure: Also run it in Spark, four times, and compare its scan report with the plan.
            compare_with: With --measure: run it on this version, or other table, too. May be given several times.
            snapshot: The snapshot: an id, branch, tag, snapshot-N or time. The current one if left out.
            engine: What decodes manifests and reads files: this process, or Spark's workers.

        Returns:
            The plan: what is left after each stage, in manifests, files, rows and bytes. With a stage, a
            list of rows.

        Raises:
            WrongUsage: The parameters do not go together.
            NotFoundInTable: The filter does not fit the schema, or there is no such snapshot.
            EngineError: Spark is needed (`sql`, `engines`, `measure`), or is the engine, and is not available.

        Example:
            >>> table = explorer.open_table("demo.three_inserts")
            >>> [(stage.name, stage.left.files) for stage in table.plan("fruit = 'apple'").value.stages]
            [('snapshot', 3), ('manifests', 3), ('partitions', 3), ('metrics', 1)]
        """
        return scan_questions.plan(
            self.engine,
            where,
            stage=stage,
            sql=sql,
            engines=engines,
            measure=measure,
            compare_with=compare_with,
            snapshot=snapshot,
            engine=engine,
        )

    def storage(
        self, *, by: Literal["", "partition", "month"] = "", price: Price = None, engine: EngineName = "auto"
    ) -> Answer[StorageLedger]:
        """Add up all bytes of a table: what its snapshots need, what nothing needs, and what frees which of them.

        Each file counts once: for the current snapshot if that needs it, else for the newest older snapshot that
        does.
        So the lines add up to all that lies in the table's folder, and what metadata names elsewhere. Files that
        nothing
        refers to are told apart from those that may be of a commit under way.

        Args:
            by: Also add up by partition, or by the month in which files were written.
            price: What a GiB costs in a month, to add costs.
            engine: What decodes manifests and reads files: this process, or Spark's workers.

        Returns:
            The ledger. A row for each group and kind of files: group, title, kind, files, bytes, share.

        Raises:
            EngineError: The engine is spark, and Spark or Java is not available.

        Example:
            >>> table = explorer.open_table("demo.three_inserts")
            >>> ledger = table.storage().value
            >>> ledger.of("current").files, ledger.of("unused").files
            (7, 0)
        """
        return storage_questions.storage(self.engine, by=by, price=price, engine=engine)


class OpenCatalog:
    """A catalog. Its methods ask questions about all its tables."""

    def __init__(self, place: CatalogAt) -> None:
        self._place = place

    def __repr__(self) -> str:
        return f"the catalog {self._place.name}"

    def tables(self, *, summary: bool = False, namespace: str = "") -> Collection | Answer[Collection]:
        """List the tables of a catalog.

        With a summary, it reads the metadata file and one manifest list of each table. If a table fails, `error`
        gives the reason.

        Args:
            summary: Also count files, rows, sizes, snapshots and problems of each. A table that fails has an error.
            namespace: Only tables of this namespace.

        Returns:
            A row for each table: catalog, identifier. With a summary: table, format_version,
            last_updated_ms, snapshots, refs, manifests, data_files, delete_files, records, file_bytes,
            problems, error, metadata_file.

        Raises:
            TableNotFound: There is no such catalog, or it cannot be listed.

        Example:
            >>> explorer.catalog().tables(namespace="demo")[0]["identifier"]
            'demo.bloom_filter'
        """
        return catalog_questions.tables(self._place, summary=summary, namespace=namespace)

    def namespaces(self) -> Collection:
        """List the namespaces of a catalog, nested ones after the one around them.

        Returns:
            A row for each namespace: namespace.

        Raises:
            TableNotFound: There is no such catalog, or it cannot be listed.

        Example:
            >>> explorer.catalog().namespaces()[0]
            {'namespace': 'demo'}
        """
        return catalog_questions.namespaces(self._place)

    def views(
        self, *, namespace: str = "", name: str = "", older: str = "", newer: str = ""
    ) -> Collection | Answer[ViewMetadata]:
        """List the Iceberg views of a catalog, or show one: versions, SQL in each dialect, schema, faults.

        Views are read of REST catalogs, of SQL catalogs in which Iceberg's JdbcCatalog wrote them, and from
        metadata files.
        Faults are what the view spec does not allow, and dialects in which the current version lost its SQL.

        Args:
            namespace: Only views of this namespace.
            name: Show this view: its name in the catalog, or the path of its metadata file.
            older: Show how this version of the view differs from another.
            newer: The other version; without it the current one.

        Returns:
            A row for each view: catalog, identifier. Of one view a row for each version: version_id, is_current,
            timestamp_ms, schema_id, engine, dialects, default_catalog, default_namespace.

        Raises:
            TableNotFound: There is no such catalog or view, or the catalog cannot be listed.
            NotSupported: Views of such a catalog are not read.
            NotFoundInTable: The view has no such version.
            WrongUsage: A version is given without a view, or a newer one without an older one.

        Example:
            >>> len(explorer.catalog().views())
            0
        """
        return catalog_questions.views(self._place, namespace=namespace, name=name, older=older, newer=newer)

    def doctor(
        self,
        *,
        files: bool = False,
        deep: bool = False,
        each: bool = False,
        skip: Texts = (),
        severity: Pairs = NOTHING,
        namespace: str = "",
        engine: EngineName = "auto",
    ) -> Answer[list[ShownReport]]:
        """Check every table of a catalog against the spec and itself.

        Args:
            files: Also check that each file exists and is as long as recorded, and look for files that nothing
                refers to.
            deep: Also read footers, deletes and data. It includes --files.
            each: Also list each finding that one stands for or explains.
            skip: Leave a rule out, by id or number. May be given several times.
            severity: Give a rule another severity: fatal, error, warning or info.
            namespace: Only tables of this namespace.
            engine: What decodes manifests and reads files: this process, or Spark's workers.

        Returns:
            A report for each table.

        Raises:
            TableNotFound: There is no such catalog, or it cannot be listed.
            NotFoundInTable: There is no such rule.

        Example:
            >>> reports = explorer.catalog().doctor(namespace="demo").to_json()
            >>> sorted({report["worst"] for report in reports if report["worst"]})
            ['info']
        """
        return catalog_questions.doctor(
            self._place,
            files=files,
            deep=deep,
            each=each,
            skip=skip,
            severity=severity,
            namespace=namespace,
            engine=engine,
        )

    def health(
        self, *, threshold: Limits = NOTHING, clustering: bool = False, namespace: str = "", engine: EngineName = "auto"
    ) -> Answer[Any]:
        """Measure the health of every table of a catalog, the worst first.

        Args:
            threshold: The value above which a measure matters (icedive docs health). May be given several times.
            clustering: Also measure how files are clustered by column, which reads all bounds.
            namespace: Only tables of this namespace.
            engine: What decodes manifests and reads files: this process, or Spark's workers.

        Returns:
            A row for each table: table, level, a column for each measure, error, metadata_file.

        Raises:
            TableNotFound: There is no such catalog, or it cannot be listed.
            NotFoundInTable: There is no such measure.

        Example:
            >>> health = explorer.catalog().health(namespace="demo").to_arrow()
            >>> health.column_names[:3]
            ['table', 'level', 'worst']
        """
        return catalog_questions.health(
            self._place, threshold=threshold, clustering=clustering, namespace=namespace, engine=engine
        )
