"""Reads of any version through Spark: queued, watched and cancelled one by one, each pinned to one metadata file.

A table is read by its metadata.json, so what Spark reads is what was opened, whatever is committed meanwhile."""

from __future__ import annotations

import contextlib
import functools
import logging
import os
import threading
import time
import uuid
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from explorer.errors import EngineError, ExplorerError, NotPossible, StatementFailed
from explorer.progress import Cancelled, Phase, Progress, listener, say
from explorer.spark_engine.failures import LOST, explain
from explorer.spark_engine.jobs import have_threads, share_fairly, tasks
from explorer.spark_engine.spark import SparkEngine
from explorer.spark_engine.sql_guard import guard
from explorer.spark_engine.sql_guard.quotas import VARIABLE, audit, note, person, quotas, slot
from explorer.spark_engine.tables import FileAccess, load
from explorer.spark_engine.versions import arrow_table
from explorer.spec.secrets.redaction import redact
from explorer.spec.text.units import count
from explorer.storage.paths import canonical

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

logging.getLogger(
    "SQLQueryContextLogger"
).disabled = True  # pyspark prints whole stack traces of a person's typing errors
WAIT_S = 0.25
"""How often who waits for a read is told how far it is."""
GRACE_S = 10
"""Seconds that Spark has to end a read that it is to stop: nothing stops Java while it plans."""
MOST_STUCK = 2
"""Reads that went on after that: with so many, each of which takes a processor, Spark is started anew."""
PROVENANCE = ("_file", "_pos", "_spec_id", "_partition")
LINEAGE = ("_row_id", "_last_updated_sequence_number")


class ReadFailed(StatementFailed):
    """A read that Spark could not carry out; the message names the file, where there is one, and the cause."""


class ReadCancelled(Cancelled):
    """The read was cancelled."""


@dataclass(frozen=True)
class Version:
    """One version of one table: its metadata file, and a snapshot id, branch or tag (None: an empty table). `check`
    returns how its files are opened, and raises AccessRefused or UnreadableFile when Spark must not open what the
    version names. `cause` says why Spark cannot open it, as far as its metadata tells."""

    metadata_location: str
    version: str | None
    check: Callable[[], FileAccess] = field(compare=False, repr=False)
    cause: Callable[[], str] = field(default=str, compare=False, repr=False)


@dataclass(frozen=True)
class ReadRequest:
    """What to read: `columns` (None: all), a filter in Spark SQL, at most `limit` rows, and metadata columns beside
    them. With `count` all rows are read, and only their number is given, as `rows`."""

    version: Version
    columns: tuple[str, ...] | None = None
    where: str = ""
    limit: int | None = 1000
    metadata_columns: tuple[str, ...] = ()
    count: bool = False


@dataclass(frozen=True)
class SqlRequest:
    """A query over views: `views` names each view's version; at most `limit` rows. `tables` raises AccessRefused for a
    table of a catalog, by the parts of its name, that may not be read. `cause` says why Spark cannot open such a
    table."""

    sql: str
    views: Mapping[str, Version]
    limit: int | None = 1000
    tables: guard.Tables = guard.refuse_tables
    cause: Callable[[tuple[str, ...]], str] = lambda _: ""


@dataclass(frozen=True)
class ScanReport:
    """What planning and scanning one table took: Iceberg's own metrics by name, such as resultDataFiles,
    skippedDataManifests."""

    table: str
    metrics: Mapping[str, int]

    def pair(self, what: str) -> tuple[int, int]:
        """(scanned, skipped) of `DataFiles`, `DataManifests`, `DeleteFiles` or `DeleteManifests`."""
        kept = self.metrics.get(f"result{what}", self.metrics.get(f"scanned{what}", 0))
        return kept, self.metrics.get(f"skipped{what}", 0)


@dataclass
class SparkRead:
    """A read under way. `result` waits for the rows; `progress` and `cancel` may be called from any thread. `seconds`
    is how long Spark took to plan and read, once it is done; `more` whether there are more rows than were asked for."""

    request: ReadRequest | SqlRequest
    group: str = field(default_factory=lambda: f"read-{uuid.uuid4().hex[:12]}")
    reports: tuple[ScanReport, ...] = ()
    seconds: float = 0.0
    more: bool = False
    _phase: Phase = "queued"
    _began: float = field(default_factory=time.monotonic)
    _ended: float = 0.0
    _rows: pa.Table | None = None
    _error: ExplorerError | None = None
    _over: threading.Event = field(default_factory=threading.Event)
    _who: str = field(default_factory=person)
    _late: bool = False
    _stops: float | None = None
    """When it was to stop."""
    _cancelled: bool = False
    _ending: threading.Lock = field(default_factory=threading.Lock)
    _named: list[str] = field(default_factory=list)
    """Tables of catalogs that its SQL names."""
    _session: Any = None
    _secrets: set[str] = field(default_factory=set, repr=False)
    _opened: list[Any] = field(default_factory=list, repr=False)
    _causes: list[Callable[[], str]] = field(default_factory=list, repr=False)
    """What says why Spark cannot open a table that it names, for each."""

    @property
    def over(self) -> bool:
        """Whether it is done, failed or cancelled."""
        return self._over.is_set()

    def progress(self) -> Progress:
        """From Spark's status tracker."""
        done = total = 0
        seconds = (self._ended or time.monotonic()) - self._began
        if self._phase == "running" and self._session is not None:
            with contextlib.suppress(Exception):  # Spark is being lost: the read itself will say so
                done, total = tasks(self._session.sparkContext.statusTracker(), self.group)
        return Progress(self._phase, done, total, "tasks", seconds)

    def wait(self, seconds: float) -> bool:
        """Wait so long at most; returns whether it is over."""
        return self._over.wait(seconds)

    def result(self, timeout: float | None = None) -> pa.Table:
        """The rows. Raises ReadFailed, ReadCancelled, or TimeoutError."""
        if not self._over.wait(timeout):
            raise TimeoutError(f"still {self.progress()}")
        if self._error is not None:
            raise self._error
        assert self._rows is not None
        return self._rows

    def cancel(self) -> None:
        """Stop it: its Spark jobs end, and one that waits never starts."""
        if self.over:
            return
        self._phase, self._cancelled = "cancelled", True
        self._stops = self._stops or time.monotonic()
        if self._session is not None:
            self._session.sparkContext.cancelJobGroup(self.group)
        else:
            self._end(error=ReadCancelled("the read was cancelled"))

    @property
    def cut(self) -> bool:
        """Whether it asked for more rows than a read may give."""
        quota, count = quotas().rows, isinstance(self.request, ReadRequest) and self.request.count
        return quota is not None and not count and (self.request.limit is None or self.request.limit > quota)

    @property
    def cut_note(self) -> str:
        """That these are not all rows, and whether a quota keeps them back."""
        if not self.more or self._rows is None:
            return ""
        first = f"The first {count(self._rows.num_rows, 'row')}"
        return f"{first}: no read gives more here ({VARIABLE})." if self.cut else f"{first}; there are more."

    @property
    def limit(self) -> int | None:
        """How many rows it gives at most."""
        return quotas().rows if self.cut else self.request.limit

    @property
    def _kind(self) -> str:
        return "sql" if isinstance(self.request, SqlRequest) else "rows"

    @property
    def _text(self) -> str:
        """What a person wrote of it."""
        return self.request.sql if isinstance(self.request, SqlRequest) else self.request.where

    def _cut_to_limit(self, rows: pa.Table) -> pa.Table:
        """Of the rows that came those that it gives."""
        self.more = self.limit is not None and rows.num_rows > self.limit
        return rows.slice(0, self.limit) if self.more else rows

    def _out_of_time(self) -> None:
        self._late = True
        self._stops = self._stops or time.monotonic()
        while not self._over.wait(WAIT_S):  # its job may not have begun yet
            if self._session is not None:
                with contextlib.suppress(Exception):  # Spark is being lost: the read itself will say so
                    self._session.sparkContext.cancelJobGroup(self.group)

    @property
    def was_stopped(self) -> bool:
        """Whether it was to stop, by whoever asked or for its time."""
        return self._stops is not None

    def goes_on(self, thread: threading.Thread) -> bool:
        """Whether Spark still works for it, in the thread that waits or in tasks that no cancelling ends."""
        if thread.is_alive():
            return True
        with contextlib.suppress(Exception):  # Spark is being lost
            return self._session is not None and have_threads(self._session.sparkContext, self.group)
        return False

    def _with_cause(self, reason: str) -> str:
        """What Spark said, after why it cannot open one of the tables, as far as metadata tells."""
        for cause in self._causes if reason != LOST else ():
            with contextlib.suppress(ExplorerError):
                if words := cause():
                    return f"{words}. Spark says: {reason}"
        return reason

    def _stop_reason(self) -> ExplorerError:
        if self._cancelled:
            return ReadCancelled("the read was cancelled")
        return ReadFailed(f"stopped after {quotas().seconds} seconds: no read takes longer here ({VARIABLE})")

    def _end(self, rows: pa.Table | None = None, error: ExplorerError | None = None) -> None:
        with self._ending:
            if self.over:  # cancelled meanwhile
                return
            self._ended = time.monotonic()
            error = self._audit(rows, error)
            self._rows, self._error = rows, error
            self._phase = "done" if error is None else "cancelled" if isinstance(error, ReadCancelled) else "failed"
            self._over.set()

    def _audit(self, rows: pa.Table | None, error: ExplorerError | None) -> ExplorerError | None:
        """Written down; what cannot be is not given either."""
        versions = self.request.views.values() if isinstance(self.request, SqlRequest) else [self.request.version]
        outcome = "answered" if error is None else "cancelled" if isinstance(error, Cancelled) else f"failed: {error}"
        tables = [*(f"{v.metadata_location}@{v.version}" for v in versions), *self._named]
        number = 0 if rows is None else rows.num_rows
        try:
            audit(self._kind, self._who, self._text, tables, outcome, self._ended - self._began, number)
        except ExplorerError as unwritten:
            return unwritten
        return error


class ReadSession:
    """One person's Spark session: temporary views of their own, and a queue in which one read runs at a time."""

    def __init__(self, engine: SparkEngine) -> None:
        self.engine = engine
        self._spark: SparkSession | None = None
        self._of: Any = None
        self._waiting: deque[SparkRead] = deque()
        self._lock = threading.Condition()
        self._worker: threading.Thread | None = None

    def submit(self, request: ReadRequest | SqlRequest) -> SparkRead:
        """Queue a read. Raises NotPossible when too many wait already."""
        with self._lock:
            waiting = [r for r in self._waiting if not r.over]
            if len(waiting) >= quotas().queue:
                raise NotPossible(f"{len(waiting)} reads are waiting already: cancel one, or wait")
            read = SparkRead(request)
            self._waiting.append(read)
            if self._worker is None or not self._worker.is_alive():
                self._worker = threading.Thread(target=self._work, name="reads", daemon=True)
                self._worker.start()
            self._lock.notify()
        return read

    def read(self, request: ReadRequest | SqlRequest) -> SparkRead:
        """Carry out a read and wait for it; a Watch is told of it and may cancel it. Raises ReadFailed."""
        read = self.submit(request)
        watch = listener()
        while watch is not None and not read.wait(WAIT_S):
            if watch.cancelled:
                read.cancel()
            now = read.progress()
            watch.tell(now.done, now.total, now.what if now.total else self.engine.state.waiting_words)
        if watch is not None:
            watch.tell(0, 0, "")
        read.result()
        if read.cut_note:
            say(read.cut_note)
        return read

    def _work(self) -> None:
        while True:
            with self._lock:
                while not self._waiting:
                    if not self._lock.wait(30):
                        self._worker = None
                        return
                read = self._waiting.popleft()
            with slot(read._over) as has_slot:
                if has_slot:
                    self._watch(read)

    def _watch(self, read: SparkRead) -> None:
        """Carry out a read, and leave it to itself where it does not stop when it is to: another takes its turn, in a
        session of its own."""
        thread = threading.Thread(target=self._carry_out, args=(read,), name="read", daemon=True)
        thread.start()
        while not read.wait(WAIT_S) or (read.was_stopped and read.goes_on(thread)):
            if read.was_stopped and time.monotonic() - (read._stops or 0) > GRACE_S:
                read._end(error=read._stop_reason())
                self._spark = None
                _restart_if_stuck(self.engine, functools.partial(read.goes_on, thread))
                return
            time.sleep(WAIT_S)
        thread.join(GRACE_S)

    def session(self) -> SparkSession:
        """The session; a new one when Spark was restarted. Raises EngineError when Spark cannot be had or was lost."""
        if self.engine.is_lost:
            raise EngineError(LOST)
        engine = self.engine.session()
        if self._spark is None or self._of is not engine:
            self._spark, self._of = self.engine.person_session(), engine
        return self._spark

    def _carry_out(self, read: SparkRead) -> None:
        timer = threading.Timer(quotas().seconds or 0, read._out_of_time)
        timer.daemon = True
        if quotas().seconds is not None:
            timer.start()
        try:
            spark = self.session()
            spark.sparkContext.setJobGroup(read.group, _read_name(read.request), interruptOnCancel=True)
            share_fairly(spark.sparkContext)
            read._session = spark
            if read._cancelled:
                raise ReadCancelled("the read was cancelled")
            read._phase = "planning"
            if text := read._text:
                note(read._kind, read._who, text)
            frame = self._frame(spark, read)
            if read._cancelled:
                raise ReadCancelled("the read was cancelled")
            read._phase = "running"
            began = time.perf_counter()
            counts = isinstance(read.request, ReadRequest) and read.request.count
            rows = _row_count(frame) if counts else read._cut_to_limit(arrow_table(frame))
            read.seconds = time.perf_counter() - began
            read.reports = tuple(_reports(frame))
            read._end(rows)
        except ReadCancelled as error:
            read._end(error=error)
        except StatementFailed as error:
            read._end(error=type(error)(redact(read._with_cause(str(error)), read._secrets)))
        except ExplorerError as error:
            read._end(error=error)
        except Exception as error:  # Spark, py4j and the network raise many kinds
            if read._cancelled or read._late:
                read._end(error=read._stop_reason())
            else:
                reason = explain(error, self.engine.is_lost)
                read._end(error=ReadFailed(redact(read._with_cause(reason), read._secrets)))
        finally:
            timer.cancel()
            with contextlib.suppress(Exception):  # connections to stores; gone where Spark is
                for io in read._opened:
                    io.close()

    def _frame(self, spark: SparkSession, read: SparkRead) -> DataFrame:
        request = read.request
        if isinstance(request, SqlRequest):
            checks = {name: self._view(spark, read, name, version) for name, version in request.views.items()}

            def resolve_name(parts: tuple[str, ...]) -> str:
                read._named.append(".".join(parts))
                read._causes.append(functools.partial(request.cause, parts))
                return request.tables(parts)

            frame = guard.query(spark, request.sql, checks, resolve_name)
        else:
            frame, _ = self._load(spark, read, request.version)
            if request.where:
                frame = guard.condition(spark, frame, request.where)
            names = [f"`{c.replace('`', '``')}`" for c in (request.columns or frame.columns)]
            frame = frame.select(*names, *request.metadata_columns)
        return frame.limit(read.limit + 1) if read.limit is not None else frame  # one more says that there are more

    def _load(self, spark: SparkSession, read: SparkRead, version: Version) -> tuple[DataFrame, str]:
        """The rows of a version whose files may be opened, and the canonical path of its metadata file."""
        files = version.check()
        read._causes.append(version.cause)
        read._secrets |= files.file_io.secrets
        frame = load(self.engine, spark, files, version.version, read._opened.append)
        return frame, canonical(files.metadata_location)

    def _view(self, spark: SparkSession, read: SparkRead, name: str, version: Version) -> Callable[[], str]:
        """Makes the view of a version once a statement is seen to read it."""

        @functools.cache
        def make_view() -> str:
            frame, location = self._load(spark, read, version)
            frame.createOrReplaceTempView(name)
            return location

        return make_view


_stuck: list[Callable[[], bool]] = []


def _restart_if_stuck(engine: SparkEngine, goes_on: Callable[[], bool]) -> None:
    _stuck[:] = [*(other for other in _stuck if other()), goes_on]
    if len(_stuck) >= min(MOST_STUCK, os.cpu_count() or 1):
        _stuck.clear()
        engine.restart()


def _read_name(request: ReadRequest | SqlRequest) -> str:
    """What a read is called on Spark's pages."""
    versions = request.views.values() if isinstance(request, SqlRequest) else [request.version]
    what = "SQL over" if isinstance(request, SqlRequest) else "rows of"
    return redact(f"{what} {', '.join(v.metadata_location for v in versions) or 'no table'}")


def _row_count(frame: DataFrame) -> pa.Table:
    """The number of rows, of which every column was read: Spark's own count would read none, or ask metadata alone."""
    return pa.table({"rows": [int(frame._jdf.queryExecution().toRdd().count())]})  # type: ignore[operator]


def _reports(frame: DataFrame) -> list[ScanReport]:
    """Iceberg's metrics of each table scan in the plan that was run."""
    reports: list[ScanReport] = []

    def walk(node: Any) -> None:
        kind = node.getClass().getSimpleName()
        if kind == "BatchScanExec":
            entries = node.metrics().iterator()
            metrics = {}
            while entries.hasNext():
                pair = entries.next()
                metrics[str(pair._1())] = int(pair._2().value())
            reports.append(ScanReport(str(node.nodeName()).removeprefix("BatchScan "), metrics))
        inner = (
            node.executedPlan()
            if kind == "AdaptiveSparkPlanExec"
            else node.plan()
            if kind.endswith("QueryStageExec")
            else None
        )
        if inner is not None:
            walk(inner)
        children = node.children()
        for i in range(children.size()):
            walk(children.apply(i))

    walk(frame._jdf.queryExecution().executedPlan())  # type: ignore[operator]
    return reports


def metadata_columns(format_version: int) -> Sequence[str]:
    """The metadata columns that rows of a table of that version have."""
    return (*PROVENANCE, *LINEAGE) if format_version >= 3 else PROVENANCE
