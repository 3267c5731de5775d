"""Tables that are made of manifests, made by Spark: the workers decode manifests as this process does, by the same
code, and make the same parts."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

import pyarrow as pa

from explorer.model.manifest import ManifestFile
from explorer.model.problem import Problem
from explorer.progress import steps
from explorer.spark_engine import workers
from explorer.spark_engine.engine_choice import entries_in
from explorer.spark_engine.jobs import question
from explorer.spark_engine.versions import arrow_table
from explorer.spec.entries.lazy_table import Batches, Change, Parts, omissions
from explorer.spec.entries.manifest_set_diff import FOUND, KEYS, compare_keys, comparisons
from explorer.spec.entries.manifest_sets import Comparison
from explorer.spec.values.values import no_rows
from explorer.storage.manifest_reader import ManifestReader
from explorer.storage.storage import Storage

if TYPE_CHECKING:
    from pyspark import Accumulator
    from pyspark.sql import DataFrame, SparkSession

A_TASK, A_JOB = 8 << 20, 64 << 20
"""Bytes of manifests that one task decodes, about, and one job whose answer comes here, unless that is small."""
UNKNOWN = 1 << 20
"""Bytes of a manifest whose length is not known."""
A_DEAL = 250_000
"""Entries that one task holds together when sets are compared, about."""
Noted = Callable[[list[Problem]], None]
Framed = Callable[["SparkSession"], "DataFrame"]
"""Makes a DataFrame of a session."""


def frame(
    spark: SparkSession, storage: Storage, parts: Parts, note: Accumulator[list[Problem]] | None = None
) -> DataFrame:
    """The table as a DataFrame, not yet made; what cannot be read is left out, and added to `note`. Raises
    NotSupported for a session of Spark Connect."""
    from pyspark.sql.pandas.types import from_arrow_schema

    context = workers.equip(spark)
    plain = _plain(parts.schema)
    size = sum(m.manifest_length or UNKNOWN for m in parts.manifests)
    tasks = max(1, min(len(parts.manifests), max(size // A_TASK, context.defaultParallelism)))
    places = spark.range(0, len(parts.manifests), 1, tasks)
    return places.mapInArrow(_decoder(storage, parts, plain, note), from_arrow_schema(plain))


def change_rows(frame: Framed, schema: pa.Schema, change: Change) -> Framed:
    """What a change of rows makes of a DataFrame, on Spark's workers; `schema` is that of its rows here."""

    def each(rows: Iterator[pa.Table]) -> Iterator[pa.Table]:
        return map(change, rows)

    return _through(frame, schema, each, change(no_rows(schema)).schema)


def combine_by(frame: Framed, schema: pa.Schema, key: str, combine: Callable[[Batches], pa.Table]) -> Framed:
    """The same of all rows together that have the same value in one column: they are dealt out by it."""

    def each(rows: Iterator[pa.Table]) -> Iterator[pa.Table]:
        yield combine(Batches(schema, lambda: rows))

    result_schema = combine(Batches(schema, lambda: iter(()))).schema
    return _through(lambda spark: frame(spark).repartition(key), schema, each, result_schema)


def _through(
    frame: Framed, schema: pa.Schema, each: Callable[[Iterator[pa.Table]], Iterator[pa.Table]], result_schema: pa.Schema
) -> Framed:
    def through(given: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for table in each(pa.Table.from_batches([batch]).cast(wire) for batch in given):
            yield from table.cast(plain).to_batches()

    def build(spark: SparkSession) -> DataFrame:
        from pyspark.sql.pandas.types import from_arrow_schema

        return frame(spark).mapInArrow(through, from_arrow_schema(plain))

    wire, plain = _plain(schema), _plain(result_schema)
    return build


def batches(spark: SparkSession, storage: Storage, parts: Parts, noted: Noted, name: str) -> Batches:
    """The table, made by Spark and read here a part at a time. `name` is what the job is called in Spark's pages.
    Reading raises EngineError and StatementFailed, which name the worker that failed."""
    plain = _plain(parts.schema)
    context = workers.equip(spark)

    def read() -> Iterator[pa.Table]:
        groups = [parts.manifests] if parts.folded and parts.manifests else _groups(parts.manifests)
        for group in steps(groups, "jobs"):
            note: Accumulator[list[Problem]] = context.accumulator([], _Noted())
            with question(context, name):
                table = arrow_table(frame(spark, storage, replace(parts, manifests=group), note))
            noted(note.value)
            yield from (pa.Table.from_batches([batch]).cast(plain) for batch in table.to_batches())

    return Batches(plain, read)


def compare_sets(
    spark: SparkSession, storage: Storage, keys: Parts, by: Sequence[str], count: int, noted: Noted, name: str
) -> list[Comparison]:
    """What spec.entries.manifest_set_diff says of so many pairs of sets, whose `keys` Spark's workers deal out by the
    files' paths and hold together, a deal each. Raises EngineError and StatementFailed."""
    from pyspark.sql.pandas.types import from_arrow_schema

    context = workers.equip(spark)
    entries = sum(map(entries_in, keys.manifests))
    note: Accumulator[list[Problem]] = context.accumulator([], _Noted())
    with question(context, name):
        dealt = frame(spark, storage, keys, note).repartition(max(1, -(-entries // A_DEAL)), "file_path")
        rows = arrow_table(dealt.mapInArrow(_compare_deal(by), from_arrow_schema(FOUND)))
    noted(note.value)
    return comparisons(rows.cast(FOUND), count)


def _compare_deal(by: Sequence[str]) -> Callable[[Iterable[pa.RecordBatch]], Iterable[pa.RecordBatch]]:
    def compare(given: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        if keys := list(given):
            yield from compare_keys(by, pa.Table.from_batches(keys).cast(KEYS)).to_batches()

    return compare


def _groups(manifests: Sequence[ManifestFile]) -> list[list[ManifestFile]]:
    """As many as one job reads: what it gives back is held here."""
    groups: list[list[ManifestFile]] = [[]]
    size = 0
    for manifest in manifests:
        if size > A_JOB:
            groups.append([])
            size = 0
        groups[-1].append(manifest)
        size += manifest.manifest_length or UNKNOWN
    return groups if manifests else []


def without_dictionaries(table: pa.Table) -> pa.Table:
    """A table as Spark takes it."""
    return table.cast(_plain(table.schema))


def _plain(schema: pa.Schema) -> pa.Schema:
    """A schema as Spark has it: words that are written once are written each time."""
    return pa.schema([pa.field(field.name, _plain_type(field.type)) for field in schema])


def _plain_type(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_dictionary(kind):
        return kind.value_type
    if pa.types.is_struct(kind):
        return pa.struct([pa.field(field.name, _plain_type(field.type)) for field in kind])
    return kind


def _decoder(
    storage: Storage, parts: Parts, plain: pa.Schema, note: Accumulator[list[Problem]] | None
) -> Callable[[Iterable[pa.RecordBatch]], Iterable[pa.RecordBatch]]:
    manifests = [pickle.dumps(replace(m, raw={})) for m in parts.manifests]
    stored, made, wire = pickle.dumps(storage), replace(parts, manifests=()), plain.serialize().to_pybytes()

    def decode(given: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        target = pa.ipc.read_schema(pa.py_buffer(wire))
        reader = _reader(stored)
        places = (place for batch in given for place in batch.column(0).to_pylist())
        wanted = [pickle.loads(manifests[place]) for place in places]

        def tell(problems: Sequence[Problem]) -> None:
            if problems and note is not None:
                note.add(list(problems))

        def entries() -> Iterator[tuple[ManifestFile, pa.Table]]:
            for manifest, read in reader.many_entries(wanted, made.metrics):
                tell(read.problems)
                if read.value is not None:
                    yield manifest, read.value

        for some, schema, table in made.make(entries()):
            tell([problem for manifest in some for problem in omissions(manifest, schema, table.schema)])
            yield from table.cast(target).to_batches()

    return decode


@lru_cache(maxsize=4)
def _reader(storage: bytes) -> ManifestReader:
    """One a worker process and storage."""
    return ManifestReader(pickle.loads(storage))


class _Noted:
    """Adds lists up, as pyspark's AccumulatorParam says."""

    def zero(self, value: list[Problem]) -> list[Problem]:
        return []

    def addInPlace(self, value1: list[Problem], value2: list[Problem]) -> list[Problem]:
        return [*value1, *value2]
