"""Rows of data files, read by Spark's workers as this process reads them, by the same code. They travel as Arrow's own
bytes, so that rows of every type do."""

from __future__ import annotations

import pickle
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import accumulate
from typing import TYPE_CHECKING

import pyarrow as pa

from explorer.errors import UnreadableFile
from explorer.model.manifest import ManifestFile, without_metrics
from explorer.spark_engine import workers
from explorer.spark_engine.jobs import question
from explorer.spark_engine.versions import arrow_table
from explorer.spec.deletes.delete_pairs import live_in
from explorer.spec.deletes.deletes import Applicability, DeleteVerdict
from explorer.spec.entries.live_files import LiveFile, LiveFiles, live_files
from explorer.spec.entries.numpy_columns import Ints, amounts
from explorer.spec.rows.row_diff import (
    SHOWN_KEYS,
    ChangeCounts,
    RepeatedKeys,
    RowChanges,
    deals,
    describe_duplicates,
    differing,
    duplicate_keys,
    key_counts,
    pair_rows,
    tally,
)
from explorer.storage.file_rows import FileRows, from_ipc, ipc
from explorer.storage.manifest_reader import ManifestReader

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

A_TASK = 32 << 20
"""Bytes of data files that one task reads, about."""
A_DEAL = 250_000
"""Rows that one task holds together when two sets are compared, about."""
TASKS = 10_000
"""So many at most, whatever files say of themselves."""
SHOWN = 10_000
"""Rows of each kind that come back of a comparison, about; all are counted."""
KEYS = 2
"""In the place of a side: how many rows of either have each key."""
PIECES = pa.schema([("deal", pa.int64()), ("side", pa.int32()), ("rows", pa.binary())])
FOUND = pa.schema([("kind", pa.string()), ("file", pa.string()), ("count", pa.int64()), ("rows", pa.binary())])
"""Rows of a kind, or how many there are in a file; or REPEATED keys, and how many these are."""
REPEATED = "repeated"


@dataclass(frozen=True)
class WantedFiles:
    """The data files of one side whose rows are wanted, by their `places` among the live files of each manifest; and
    the side's delete files."""

    deletes: Sequence[LiveFile]
    places: Sequence[tuple[ManifestFile, Ints]]


MakeTable = Callable[[FileRows, LiveFile, Sequence[DeleteVerdict]], pa.Table]
"""Makes rows of a file and the deletes that apply to it. Can be pickled, and is of a module that workers have."""
Deal = Callable[[pa.Table], Iterable[tuple[int, pa.Table]]]
Counting = Callable[[int, pa.Table], Iterator[pa.RecordBatch]]
"""Deals out how many rows of a side have each key."""


def compare_rows(
    spark: SparkSession,
    files: FileRows,
    wanted: Sequence[WantedFiles],
    file_facts: Sequence[pa.Table],
    make: MakeTable,
    empty: pa.Table,
    columns: Sequence[str],
    keys: Sequence[str],
    name: str,
) -> tuple[RowChanges, ChangeCounts, RepeatedKeys]:
    """What spec.rows.row_diff says of the rows of the files on side 0 and side 1; `file_facts` say how many rows
    and bytes they have. They are dealt out by what tells them apart and held together, a deal each: the first rows, and
    how many there are. How many rows have each key is dealt out by keys. `empty` has their columns. Raises EngineError
    and StatementFailed."""
    rows, size = (
        sum(int(amounts(t[name]).sum()) for t in file_facts) for name in ("record_count", "file_size_in_bytes")
    )
    tasks = min(max(1, -(-rows // A_DEAL), -(-size // A_TASK)), TASKS)
    by_keys = _both_sides(empty, partial(_pair_rows, keys, -(-SHOWN // tasks)))
    with question(workers.equip(spark), name):
        deal = partial(deals, columns, columns, 4 * tasks)
        counting = partial(_counts, keys, 4 * tasks) if keys else None
        pieces = _pieces(spark, files, wanted, size, make, deal, counting).repartition(tasks, "deal")
        differ = pieces.mapInArrow(_both_sides(empty, partial(_differing, columns, keys, 4 * tasks)), _spark(PIECES))
        if keys:
            differ = differ.repartition(tasks, "deal")
        answer = arrow_table(differ.mapInArrow(by_keys, _spark(FOUND)))
    rows_of: dict[str, list[pa.Table]] = {kind: [empty] for kind in RowChanges.kinds()}
    counted: ChangeCounts = Counter()
    repeated: list[pa.Table] = []
    number = 0
    for row in answer.to_pylist():
        if row["kind"] == REPEATED:
            repeated.append(from_ipc(row["rows"]))
            number += row["count"]
        elif row["rows"] is None:
            counted[row["kind"], row["file"]] += row["count"]
        else:
            rows_of[row["kind"]].append(from_ipc(row["rows"]))
    changes = RowChanges(**{kind: pa.concat_tables(parts) for kind, parts in rows_of.items()})
    if not repeated:
        return changes, counted, RepeatedKeys()
    return changes, counted, describe_duplicates(duplicate_keys(pa.concat_tables(repeated)), keys, number)


def _spark(schema: pa.Schema) -> StructType:
    from pyspark.sql.pandas.types import from_arrow_schema

    return from_arrow_schema(schema)


def _pieces(
    spark: SparkSession,
    files: FileRows,
    wanted: Sequence[WantedFiles],
    size: int,
    make: MakeTable,
    deal: Deal,
    counting: Counting | None,
) -> DataFrame:
    count = sum(len(places) for side in wanted for _, places in side.places)
    tasks = max(1, min(count, max(size // A_TASK, spark.sparkContext.defaultParallelism), TASKS))
    return spark.range(0, count, 1, tasks).mapInArrow(_reading(files, wanted, make, deal, counting), _spark(PIECES))


def _reading(
    files: FileRows, wanted: Sequence[WantedFiles], make: MakeTable, deal: Deal, counting: Counting | None
) -> Callable[[Iterable[pa.RecordBatch]], Iterable[pa.RecordBatch]]:
    """Reads the files in some places of all that are wanted, which workers make of the manifests that list them."""
    listed = [
        (side, pickle.dumps(replace(manifest, raw={})), places)
        for side, of_it in enumerate(wanted)
        for manifest, places in of_it.places
    ]
    starts = [0, *accumulate(len(places) for _, _, places in listed)]
    where, deletes = pickle.dumps(files), [pickle.dumps(side.deletes) for side in wanted]

    def read(given: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        reader = _reader(where)

        def data_files() -> Iterator[tuple[int, LiveFile]]:
            for place in (place for batch in given for place in batch.column(0).to_pylist()):
                at = bisect_right(starts, place) - 1
                side, manifest, places = listed[at]
                yield side, _file(where, manifest, int(places[place - starts[at]]))

        for side, data in reader.storage.read_ahead(data_files(), lambda one: (one[1].path, one[1].size)):
            verdicts = [v for v in _deletes(where, deletes[side]).of(data) if v.applies]
            rows = make(reader, data, verdicts)
            yield from _deal_rows(deal, side, rows)
            if counting is not None:
                yield from counting(side, rows)

    return read


def _file(where: bytes, manifest: bytes, place: int) -> LiveFile:
    """The file in one place among the live ones of a manifest. Raises UnreadableFile."""
    listed: ManifestFile = pickle.loads(manifest)
    [file] = live_files(_live(where, manifest).slice(place, 1), listed.partition_spec_id, listed.manifest_path)
    return file


@lru_cache(maxsize=2)
def _live(where: bytes, manifest: bytes) -> pa.Table:
    """The live files of the manifest that a worker is at."""
    listed: ManifestFile = pickle.loads(manifest)
    reader = ManifestReader(_reader(where).storage)
    [(_, read)] = reader.many_entries([listed], True)
    if read.value is not None:
        return live_in(listed, read.value)[0]
    [(_, narrow)] = reader.many_entries([listed], False)
    if narrow.value is None:
        raise UnreadableFile(listed.manifest_path, "; ".join(problem.cause for problem in read.problems))
    return live_in(listed, without_metrics(narrow.value))[0]


@lru_cache(maxsize=4)
def _deletes(where: bytes, pickled: bytes) -> Applicability:
    """One a worker process and side."""
    return Applicability(_reader(where).metadata, LiveFiles.of([]), pickle.loads(pickled))


@lru_cache(maxsize=4)
def _reader(where: bytes) -> FileRows:
    """One a worker process and table."""
    files: FileRows = pickle.loads(where)
    return files


def _deal_rows(deal: Deal, side: int, rows: pa.Table) -> Iterator[pa.RecordBatch]:
    for number, some in deal(rows):
        yield pa.RecordBatch.from_pydict({"deal": [number], "side": [side], "rows": [ipc(some)]}, PIECES)


def _counts(keys: Sequence[str], number: int, side: int, rows: pa.Table) -> Iterator[pa.RecordBatch]:
    yield from _deal_counts(keys, number, key_counts(rows, keys, side == 1))


def _deal_counts(keys: Sequence[str], number: int, counts: pa.Table) -> Iterator[pa.RecordBatch]:
    names = counts.column_names[: len(keys)]
    yield from _deal_rows(partial(deals, names, names, number), KEYS, counts)


def _both_sides(
    empty: pa.Table, make: Callable[[pa.Table, pa.Table, Sequence[pa.Table]], Iterator[pa.RecordBatch]]
) -> Callable[[Iterable[pa.RecordBatch]], Iterable[pa.RecordBatch]]:
    """What is made of both sides' rows, and of how many have each key, in a task's deals."""
    nothing = ipc(empty)

    def hold(given: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        held: tuple[list[pa.Table], ...] = ([from_ipc(nothing)], [from_ipc(nothing)], [])
        for batch in given:
            for side, rows in zip(batch.column(1).to_pylist(), batch.column(2).to_pylist(), strict=True):
                held[side].append(from_ipc(rows))
        yield from make(pa.concat_tables(held[0]), pa.concat_tables(held[1]), held[KEYS])

    return hold


def _differing(
    columns: Sequence[str],
    keys: Sequence[str],
    number: int,
    before: pa.Table,
    after: pa.Table,
    counts: Sequence[pa.Table],
) -> Iterator[pa.RecordBatch]:
    for side, rows in enumerate(differing(before, after, columns)):
        yield from _deal_rows(partial(deals, keys or columns, columns, number), side, rows)
    if counts:
        yield from _deal_counts(keys, number, duplicate_keys(pa.concat_tables(counts)))


def _pair_rows(
    keys: Sequence[str], shown: int, gone: pa.Table, come: pa.Table, repeated: Sequence[pa.Table]
) -> Iterator[pa.RecordBatch]:
    changes = pair_rows(gone, come, keys)
    rows = [{"kind": kind, "rows": ipc(table)} for kind, table in vars(changes.first(shown)).items()]
    counts = [{"kind": kind, "file": file, "count": n} for (kind, file), n in tally(changes).items()]
    repeats = []
    if repeated:
        all_keys = duplicate_keys(pa.concat_tables(repeated))
        repeats = [{"kind": REPEATED, "count": all_keys.num_rows, "rows": ipc(all_keys.slice(0, SHOWN_KEYS))}]
    yield from pa.Table.from_pylist([*rows, *counts, *repeats], FOUND).to_batches()
