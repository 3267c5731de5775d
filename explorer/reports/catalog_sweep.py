"""One question asked of all tables of a catalog, each failing alone."""

from __future__ import annotations

import contextvars
import time
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Generic, TypeVar

import pyarrow as pa

from explorer.errors import ExplorerError
from explorer.model.problem import Problem
from explorer.progress import BytesRead, Cancelled, listener, steps
from explorer.spec.entries.lazy_table import Batches
from explorer.spec.overview.summary_totals import totals
from explorer.spec.secrets.redaction import redact, secret_values
from explorer.spec.text.units import whole
from explorer.storage.catalogs import catalogs
from explorer.storage.locate import locate_named
from explorer.storage.processor_time import within_limit
from explorer.storage.reader import TableReader
from explorer.table import Table

T = TypeVar("T")
AT_ONCE = 4
"""Tables that are asked at the same time: most of what each takes is waiting for its catalog and store."""


@dataclass(frozen=True)
class TableResult(Generic[T]):
    """The answer of one table, what was found wrong on the way, and seconds; without an answer `error` says why, and
    names the file or server; `failure` is that as it was raised (UnreadableFile: its metadata file cannot be read).
    `metadata_file` is the one that was read, if one was found."""

    table: str
    answer: T | None
    error: str
    problems: tuple[Problem, ...]
    seconds: float
    failure: Exception | None = None
    metadata_file: str | None = None


def sweep(
    ask: Callable[[Table], T],
    catalog: str = "sandbox",
    properties: Mapping[str, str] | None = None,
    namespace: str = "",
    roots: Sequence[str] = (),
    relocate: Sequence[tuple[str, str]] = (),
) -> Iterator[TableResult[T]]:
    """What `ask` says of each table of a catalog (and namespace), in the catalog's order, each as soon as it and those
    before it are done; `roots` and `relocate` as explorer.open_table has them. Who listens (progress.Watch) hears of
    tables, and may cancel. Raises TableNotFound for a catalog that cannot be listed."""
    listed = [t.identifier for t in catalogs.tables(catalog, properties)]
    names = [name for name in listed if not namespace or name.startswith(f"{namespace}.")]

    def answer_for(name: str) -> TableResult[T]:
        def open_here() -> Table:
            return Table(TableReader(locate_named(name, catalog, properties, relocate), roots))

        return _ask_one(ask, open_here, f"{catalog}.{name}", secret_values(properties or {}))

    return steps(_answers(answer_for, names), "tables", len(names))


def _answers(answer_for: Callable[[str], TableResult[T]], names: Sequence[str]) -> Iterator[TableResult[T]]:
    left = deque(names)
    waiting: set[Future[TableResult[T]]] = set()
    ordered: deque[Future[TableResult[T]]] = deque()
    pool, watch = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="sweep"), listener()
    try:
        while left or ordered:
            while left and len(waiting) < AT_ONCE:
                own = contextvars.copy_context()  # its loops ask whether to go on, too
                ordered.append(pool.submit(own.run, answer_for, left.popleft()))
                waiting.add(ordered[-1])
            _, waiting = wait(waiting, timeout=0.2, return_when=FIRST_COMPLETED)
            if watch is not None and watch.cancelled:
                raise Cancelled("cancelled")
            while ordered and ordered[0].done():
                yield ordered.popleft().result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _ask_one(
    ask: Callable[[Table], T], open_table: Callable[[], Table], name: str, secrets: Collection[str]
) -> TableResult[T]:
    began = time.perf_counter()
    table: Table | None = None
    answer, error = None, ""
    failure: Exception | None = None

    def open_and_ask() -> T:
        nonlocal table
        table = open_table()
        return ask(table)

    try:
        answer = within_limit(open_and_ask, BytesRead())
    except Cancelled:
        raise
    except ExplorerError as problem:
        error, failure = str(problem), problem
    except Exception as problem:  # one table's surprise is not the others'
        error, failure = f"{type(problem).__name__}: {problem}", problem
    problems = tuple(table.problems) if table else ()
    file = table.metadata.metadata_location if table else None
    return TableResult(name, answer, redact(error, secrets), problems, time.perf_counter() - began, failure, file)


@dataclass(frozen=True)
class Summary:
    """A table by its metadata file and the manifest list of its current snapshot; None where that does not say.
    `file_bytes` are as the snapshot's summary has them."""

    format_version: int
    last_updated_ms: int | None
    snapshots: int
    refs: int
    manifests: int
    manifest_bytes: int
    data_files: int | None
    delete_files: int | None
    records: int | None
    file_bytes: int | None


def summary(table: Table) -> Summary:
    """Counts and sizes, by two files. A summary of its snapshot that counts otherwise is a problem."""
    metadata = table.metadata
    snapshot = metadata.current_snapshot
    listed = table.tree.manifests(snapshot)
    recorded = {t.name: t for t in totals(snapshot.summary if snapshot else {}, listed)}
    for total in recorded.values():
        if total.agrees is False:
            cause = f"the summary of snapshot {snapshot.snapshot_id if snapshot else ''} has {total.name} = "
            cause += f"{total.summary}, and its manifests add up to {total.computed}"
            table.tree.note([Problem(metadata.metadata_location, cause, severity="warning", rule="totals-differ")])
    size = snapshot.summary.get("total-files-size", "") if snapshot else "0"
    return Summary(
        format_version=metadata.format_version,
        last_updated_ms=metadata.last_updated_ms,
        snapshots=len(metadata.snapshots),
        refs=len(metadata.refs),
        manifests=len(listed),
        manifest_bytes=sum(m.manifest_length or 0 for m in listed),
        data_files=recorded["total-data-files"].computed,
        delete_files=recorded["total-delete-files"].computed,
        records=recorded["total-records"].computed,
        file_bytes=whole(size),
    )


_NUMBERS = list(Summary.__annotations__)
ROWS = pa.schema(
    [
        ("table", pa.string()), *((name, pa.int64()) for name in _NUMBERS), ("problems", pa.list_(pa.string())),
        ("error", pa.string()), ("metadata_file", pa.string()),
    ]
)  # fmt: skip


def summaries(
    catalog: str = "sandbox",
    properties: Mapping[str, str] | None = None,
    namespace: str = "",
    roots: Sequence[str] = (),
    relocate: Sequence[tuple[str, str]] = (),
) -> Batches:
    """`summary` of each table of a catalog, a row each, as each is done; `error` where there is none; arguments as
    `sweep` has them. Reading raises TableNotFound."""

    def read() -> Iterator[pa.Table]:
        for swept in sweep(summary, catalog, properties, namespace, roots, relocate):
            row = {"table": swept.table, "problems": [str(p) for p in swept.problems], "error": swept.error or None}
            row["metadata_file"] = swept.metadata_file
            yield pa.Table.from_pylist([{**row, **(vars(swept.answer) if swept.answer else {})}], ROWS)

    return Batches(ROWS, read)
