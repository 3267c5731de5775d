"""Write the same rows in several layouts. A table in the sandbox holds them unsorted, is rewritten from there in each
layout, and is dropped at the end."""

from __future__ import annotations

import contextlib
import shutil
import time
import uuid
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from explorer.errors import ExplorerError, NotFoundInTable, NotPossible
from explorer.lab.scenarios.build import LAB
from explorer.progress import steps
from explorer.reports.estimates import estimate
from explorer.reports.maintenance.procedure_calls import call, check_request
from explorer.spark_engine.failures import failure
from explorer.spark_engine.read_queue import ReadSession
from explorer.spark_engine.spark import SparkEngine, shared_engine
from explorer.spark_engine.sql_guard.quotas import quotas
from explorer.spark_engine.sql_guard.quoting import identifier
from explorer.spark_engine.user_spark import keep_active_session
from explorer.spark_engine.versions import spark_frame
from explorer.spec.filters.expressions import term_text
from explorer.spec.layout.estimates import Estimates, LayoutChange, filter_columns
from explorer.spec.layout.layout_comparison import Layout, LayoutComparison, rows_words, sample_queries
from explorer.spec.text.units import count, human_bytes
from explorer.storage.catalogs.sandbox_entries import SANDBOX
from explorer.storage.locate import locate
from explorer.storage.reader import TableReader
from explorer.table import Table

LIMIT = 100_000
DEALT, FEWEST, EACH = 32, 4, 3
"""The number of files of the unsorted rows. Few rows get fewer files, with EACH rows per file. The other layouts should
have a quarter of them."""
MOST_FILES = 100
"""A partition field that makes more files than this is not tried."""


def compare_layouts(
    table: Table, queries: Sequence[str] = (), snapshot: str | int | None = None, limit: int = LIMIT,
    session: ReadSession | None = None,
) -> LayoutComparison:  # fmt: skip
    """Write at most `limit` rows of a version of a table into a sandbox table, unsorted, bin-packed, sorted, z-ordered
    and partitioned. Plan queries (docs/filters.md) on each layout. Without queries, some are generated from the rows.
    The estimates choose the columns to sort and partition by. Raises NotFoundInTable for a query that does not fit,
    NotPossible without rows, EngineError, StatementFailed."""
    for query in queries:
        table.plan(query, snapshot)
    limit = min(limit, quotas().rows or limit)
    rows = table.rows(snapshot, limit=limit, session=session).to_arrow()
    if not rows.num_rows:
        raise NotPossible(f"{table.name} has no rows to write")
    drawn = ""
    if not queries:
        queries, drawn = sample_queries(rows)
        if not queries:
            raise NotPossible(f"no query can be drawn ({drawn}): give one")
    engine = session.engine if session else shared_engine()
    layout_table = _LayoutTable(engine, rows)
    try:
        layouts = layout_table.layouts(queries)
    except ExplorerError:
        raise
    except Exception as error:  # Spark raises many types of exceptions
        raise failure(error, engine.is_lost, "other layouts") from error
    finally:
        layout_table.drop()
    return LayoutComparison(table.name, rows.num_rows, rows_words(rows.num_rows, limit), tuple(queries), drawn, layouts)


class _LayoutTable:
    """A table in the sandbox with the rows; each layout is a snapshot."""

    table: Table

    def __init__(self, engine: SparkEngine, rows: Any) -> None:
        self._engine, self._spark = engine, engine.session()
        self._rows, self._name = rows, f"{LAB}.layouts_{uuid.uuid4().hex[:12]}"
        self._file_count = min(DEALT, max(FEWEST, rows.num_rows // EACH))

    def layouts(self, queries: Sequence[str]) -> tuple[Layout, ...]:
        """All layouts, including those that could not be written."""
        self._spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {SANDBOX}.{LAB}")
        with keep_active_session(self._spark.sparkContext):
            frame = spark_frame(self._spark, self._rows).repartition(self._file_count)
        writer = frame.writeTo(f"{SANDBOX}.{self._name}").using("iceberg")
        writer = writer.tableProperty("write.distribution-mode", "none")
        writer.create()
        self.table = Table(TableReader(locate(self._name)))
        self._rewrite("compact", "")  # warm up: the first write and the first rewrite of a Spark are slow
        began = time.perf_counter()
        writer.createOrReplace()
        seconds = time.perf_counter() - began
        self.table = self.table.refresh()
        unsorted = self.table.metadata.current_snapshot_id
        dealt = f"dealt out to {count(len(self.table.files()), 'file')}"
        layouts = [self._read(Layout("unsorted", dealt, seconds=seconds), queries)]
        size = max(1, (layouts[0].written.bytes or 0) // max(FEWEST, self._file_count // 4))
        estimates = estimate(self.table, queries, file_size=size)
        columns = list(filter_columns([self.table.plan(query) for query in queries]))
        ways: tuple[tuple[str, Callable[[], str]], ...] = (
            ("bin-packed", partial(self._rewrite, "compact", "", size)),
            ("sorted", lambda: self._rewrite("compact-sort", _best(estimates, False).column, size)),
            ("z-ordered", lambda: self._rewrite("compact-z-order", _join_columns(columns), size)),
            ("partitioned", lambda: self._partition(_best(estimates, True), size)),
        )
        for name, way in steps(ways, "layouts"):
            self._spark.sql(f"CALL {SANDBOX}.system.set_current_snapshot('{self._name}', {unsorted})")
            layouts.append(self._try_layout(name, way, queries))
        return tuple(layouts)

    def _try_layout(self, name: str, way: Callable[[], str], queries: Sequence[str]) -> Layout:
        self._seconds = 0.0
        try:
            how = way()
        except ExplorerError as error:
            return Layout(name, "", str(error))
        except Exception as error:  # Spark raises many types of exceptions; other layouts may succeed
            return Layout(name, "", str(failure(error, self._engine.is_lost)))
        self.table = self.table.refresh()
        return self._read(Layout(name, how, seconds=self._seconds), queries)

    def _read(self, layout: Layout, queries: Sequence[str]) -> Layout:
        reads = tuple(self.table.plan(query).left for query in queries)
        return Layout(layout.name, layout.how, "", layout.seconds, self.table.plan().left, reads)

    def _rewrite(self, operation: str, columns: str, size: int = 0) -> str:
        options = {"rewrite-all": "true"} | ({"target-file-size-bytes": str(size)} if size else {})
        statement = call(self.table, check_request(self.table, operation, options, columns=columns))
        began = time.perf_counter()
        self._spark.sql(statement).collect()
        self._seconds = time.perf_counter() - began
        return f"by {columns}" if columns else f"files of {human_bytes(size)} at most"

    def _partition(self, change: LayoutChange, size: int) -> str:
        field = term_text(identifier(change.column.split(".")), change.transform)
        self._spark.sql(f"ALTER TABLE {SANDBOX}.{self._name} ADD PARTITION FIELD {field}")
        self.table = self.table.refresh()
        self._rewrite("compact", "", size)
        return f"by {term_text(change.column, change.transform)}"

    def drop(self) -> None:
        """Remove the table and its files."""
        with contextlib.suppress(Exception):  # Spark may be lost
            self._spark.sql(f"DROP TABLE IF EXISTS {SANDBOX}.{self._name} PURGE")
        folder = self._engine.sandbox / "warehouse" / self._name.replace(".", "/")
        shutil.rmtree(folder, ignore_errors=True)


def _best(estimates: Estimates, partitions: bool) -> LayoutChange:
    """The column to sort by, or the partition field, with which the queries read the fewest bytes."""
    for at in estimates.ranking:
        change = estimates.changes[at]
        few = change.whole is not None and change.whole.files <= MOST_FILES
        if change.column and bool(change.transform) == partitions and few:
            return change
    raise NotFoundInTable(f"no field makes {MOST_FILES} files or fewer" if partitions else "no column has an order")


def _join_columns(columns: Sequence[str]) -> str:
    if len(columns) < 2:
        raise NotPossible("one column is asked for: see sorted")
    return ", ".join(columns)
