"""Iceberg's own tests of row groups, asked through the JVM, and Parquet files of drawn rows for them."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from explorer.spark_engine.planners import iceberg_expression
from explorer.spec.filters.expressions import Expression
from explorer.spec.values.ordering import comparable
from tests.spark.planner_oracle import KINDS, NANOS, Data, Iceberg, Made, Row, literal, value

TYPES = {
    "boolean": pa.bool_(), "int": pa.int32(), "long": pa.int64(), "float": pa.float32(), "double": pa.float64(),
    "date": pa.date32(), "time": pa.time64("us"), "timestamp": pa.timestamp("us"),
    "timestamptz": pa.timestamp("us", tz="UTC"), "decimal(9, 2)": pa.decimal128(9, 2), "string": pa.string(),
    "uuid": pa.binary(16), "fixed[3]": pa.binary(3), "binary": pa.binary(), "timestamp_ns": pa.timestamp("ns"),
    "timestamptz_ns": pa.timestamp("ns", tz="UTC"),
}  # fmt: skip
SPARKS = ("b", "i", "l", "f", "d", "day", "ts", "tz", "dec", "s", "bin")
PROMOTED = {"i": "long", "f": "double", "dec": "decimal(18, 2)"}


def schema_of(kinds: Mapping[str, str]) -> dict[str, Any]:
    """An Iceberg schema of optional columns, numbered from 1."""
    fields = [{"id": i, "name": n, "required": False, "type": k} for i, (n, k) in enumerate(kinds.items(), 1)]
    return {"type": "struct", "schema-id": 0, "fields": fields}


def arrow(kinds: Mapping[str, str], rows: Sequence[Row]) -> pa.Table:
    """Rows of internal values in Arrow, with field ids."""
    whole = {t: pa.int64() for t in TYPES.values() if pa.types.is_temporal(t)} | {pa.date32(): pa.int32()}
    columns, fields = [], []
    for field_id, (name, kind) in enumerate(kinds.items(), 1):
        stored = TYPES[kind]
        columns.append(pa.array([row[name] for row in rows], whole.get(stored, stored)).cast(stored))
        fields.append(pa.field(name, stored, metadata={"PARQUET:field_id": str(field_id)}))
    return pa.Table.from_arrays(columns, schema=pa.schema(fields))


def drawn_rows(rng: random.Random, kinds: Mapping[str, str], groups: int, size: int) -> list[Row]:
    """Rows of some row groups: of a dozen values of a column each group has some, mostly the least and the greatest
    too, so that statistics alone do not tell; and nulls, or nothing else."""
    drawn = {n: [value(rng, k, rng.random() < 0.5) for _ in range(12)] for n, k in kinds.items()}
    of = {n: sorted(values, key=lambda v, k=kinds[n]: comparable(v, k)) for n, values in drawn.items()}
    rows = []
    for _ in range(groups):
        pools = {}
        for name, values in of.items():
            ends = [values[0], values[-1]] if rng.random() < 0.7 else []
            pools[name] = [*ends, *rng.sample(values, rng.choice([1, 2, 4, 9]))], rng.choice([0.0, 0.0, 0.3, 1.0])
        for _ in range(size):
            rows.append({n: None if rng.random() < nulls else rng.choice(few) for n, (few, nulls) in pools.items()})
    return rows


def by_pyarrow(rng: random.Random, path: Path, nanos: bool) -> Made:
    """A file of all types, some columns with dictionaries, some with bloom filters, with page indexes."""
    kinds = KINDS | (NANOS if nanos else {})
    rows = drawn_rows(rng, kinds, 6, 40)
    names = list(kinds)
    pq.write_table(
        arrow(kinds, rows), path, row_group_size=40, use_dictionary=rng.sample(names, len(names) // 2),
        bloom_filter_options={n: {"ndv": 64, "fpp": 0.01} for n in rng.sample(names[1:], 8)},
        store_decimal_as_integer=rng.random() < 0.5, write_page_index=True, max_rows_per_page=8,
        compression=rng.choice(["snappy", "zstd", "gzip", "none"]),
        dictionary_pagesize_limit=rng.choice([100, 1 << 20]),
    )  # fmt: skip
    return Made(path, kinds, [Data(str(path), 0, rows, {})], None, {})


def by_spark(iceberg: Iceberg, rng: random.Random, folder: Path, session: Any, dictionaries: bool) -> Made:
    """The same by Iceberg's own writer in Spark. It writes bloom filters of chunks without dictionaries alone."""
    kinds = {n: KINDS[n] for n in SPARKS}
    rows = drawn_rows(rng, kinds, 6, 40)
    properties = {
        "write.parquet.row-group-size-bytes": "128", "write.parquet.row-group-check-min-record-count": "40",
        "write.parquet.row-group-check-max-record-count": "40", "write.parquet.page-row-limit": "8",
        "write.parquet.dict-size-bytes": "2097152" if dictionaries else "64",
        **{f"write.parquet.bloom-filter-enabled.column.{n}": "true" for n in rng.sample(SPARKS[1:], 6)},
    }  # fmt: skip
    table = iceberg.create(folder, schema_of(kinds), [], 2)
    update = table.updateProperties()
    for name, text in properties.items():
        update = update.set(name, text)
    update.commit()
    session.createDataFrame(arrow(kinds, rows)).coalesce(1).write.format("iceberg").mode("append").save(str(folder))
    (path,) = folder.glob("data/*.parquet")
    return Made(path, kinds, [Data(str(path), 0, rows, {})], table, {})


def drawn_lookup(rng: random.Random, made: Made) -> str:
    """A filter that dictionaries and bloom filters may answer: one or two columns that have some values."""

    def one() -> str:
        name = rng.choice([n for n, k in made.kinds.items() if k != "boolean" and n != "later"])
        values = [literal(rng, made, name, made.kinds[name]) for _ in range(rng.choice([1, 1, 2]))]
        return f"{name} IN ({', '.join(values)})"

    return one() if rng.random() < 0.5 else f"{one()} {rng.choice(['AND', 'OR'])} {one()}"


@dataclass(frozen=True)
class Judge:
    """A Parquet file as Iceberg opens it, and the schema it is read with."""

    iceberg: Iceberg
    reader: Any
    schema: Any
    groups: Sequence[Any]
    tests: Mapping[str, Any]
    """Classes by name: Java is asked for each part of one."""

    @classmethod
    def open(cls, iceberg: Iceberg, path: Path, schema: Mapping[str, Any]) -> Judge:
        """Opened by Iceberg's own Parquet."""
        jvm = iceberg.jvm
        parquet = iceberg.iceberg.shaded.org.apache.parquet.hadoop
        file = parquet.util.HadoopInputFile.fromPath(
            jvm.org.apache.hadoop.fs.Path(str(path)), jvm.org.apache.hadoop.conf.Configuration()
        )
        reader = parquet.ParquetFileReader.open(file)
        groups = [(g, reader.getDictionaryReader(g), reader.getBloomFilterDataReader(g)) for g in reader.getRowGroups()]
        tests = iceberg.iceberg.parquet
        classes = {
            "statistics": tests.ParquetMetricsRowGroupFilter, "dictionary": tests.ParquetDictionaryRowGroupFilter,
            "bloom filter": tests.ParquetBloomRowGroupFilter,
        }  # fmt: skip
        return cls(iceberg, reader, iceberg.iceberg.SchemaParser.fromJson(json.dumps(schema)), groups, classes)

    def verdicts(self, bound: Expression) -> Iterator[dict[str, bool]]:
        """What each test says of each row group."""
        expression = iceberg_expression(self.iceberg.jvm, SimpleNamespace(schema=lambda: self.schema), bound)
        file = self.reader.getFileMetaData().getSchema()
        statistics, dictionary, bloom = (made(self.schema, expression) for made in self.tests.values())
        for group, dictionaries, blooms in self.groups:
            yield {
                "statistics": bool(statistics.shouldRead(file, group)),
                "dictionary": bool(dictionary.shouldRead(file, group, dictionaries)),
                "bloom filter": bool(bloom.shouldRead(file, group, blooms)),
            }


def promoted(made: Made) -> Made:
    """The same file under a schema that has promoted columns, and one that the file lacks."""
    kinds = {n: PROMOTED.get(n, k) for n, k in made.kinds.items()} | {"later": "int"}
    rows = [{**row, "later": None} for row in made.files[0].rows]
    return replace(made, kinds=kinds, files=[replace(made.files[0], rows=rows)])
