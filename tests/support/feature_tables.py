"""One small table for each feature that a reader must know, by a real writer where one writes it: Iceberg Java on
Spark, or its Java API. Each has the columns id and x."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from explorer.lab.scenarios.workshop import Workshop
from explorer.spark_engine.spark import SparkEngine
from tests.cases.mini import Table

Rows = tuple[tuple[int, "str | None"], ...]
AB: Rows = ((1, "a"), (2, "b"))


@dataclass(frozen=True)
class FeatureTable:
    """A table that has a feature.

    Attributes:
        feature: Its id.
        metadata: Its metadata file, as an URI.
        rows: What a right answer has, in the words of ask_reader.text.
        also: Other right answers, where readers have other words for a value.
    """

    feature: str
    metadata: str
    rows: Rows
    also: tuple[Rows, ...] = ()

    def is_right(self, answer: Sequence[Sequence[Any]]) -> bool:
        """Whether a reader's rows are those of the table."""
        return tuple(map(tuple, answer)) in (self.rows, *self.also)


Build = Callable[["Workbench"], Rows]
SPARK: dict[str, Build] = {}
"""What writes a table with Iceberg Java, by feature."""
OURS: dict[str, Callable[[Path], tuple[Table, Rows]]] = {}
"""What writes one that Iceberg Java on Spark does not."""
ALSO: dict[str, tuple[Rows, ...]] = {
    "promotion-decimal": (((1, "1.25"), (2, "12345678.5")),),
    "type-timestamp-ns": (((1, "2024-01-01T00:00:00.000000001"),),),
    "type-uuid": (((1, "f79c3e09-677c-4bbd-a479-3f349cb785e7"),),),
}
"""Other words that readers have for right answers."""


class Workbench(Workshop):
    """A workshop for small tables."""

    def two_rows(self, version: int = 2, partitioned: str = "", **properties: str) -> Rows:
        """Write the rows (1, a) and (2, b)."""
        listed = ", ".join(f"'{k}' = '{v}'" for k, v in {"format-version": version, **properties}.items())
        by = f"PARTITIONED BY ({partitioned})" if partitioned else ""
        columns = "(id BIGINT, x STRING) USING iceberg"
        self.sql(f"CREATE TABLE {{t}} {columns} {by} LOCATION '{self.location}' TBLPROPERTIES ({listed})")
        self.insert("1, 'a'", "2, 'b'")
        return AB

    def typed(self, kind: Any, values: Sequence[Any], version: int = 3) -> None:
        """Write rows with ids from 1 on, whose x has a type of Iceberg that Spark's SQL has no name for."""
        self.create("id INT", version=version)
        self.java().updateSchema().addColumn("x", kind).commit()
        table = self.java()
        rows = [{"id": i, "x": value} for i, value in enumerate(values, 1)]
        table.newAppend().appendFile(self.data_file(table, "data-1.parquet", rows)).commit()


def spark(feature: str) -> Callable[[Build], Build]:
    """Register what writes the table of a feature."""

    def register(build: Build) -> Build:
        SPARK[feature] = build
        return build

    return register


def _version(number: int) -> None:
    SPARK[f"format-version-{number}"] = lambda w: w.two_rows(number)


for each in (1, 2, 3, 4):
    _version(each)
SPARK["parquet-manifests"] = SPARK["format-version-4"]


@spark("position-deletes")
def _position_deletes(w: Workbench) -> Rows:
    w.two_rows(2, **{"write.delete.mode": "merge-on-read"})
    w.sql("DELETE FROM {t} WHERE id = 1")
    return AB[1:]


@spark("deletion-vectors")
def _deletion_vectors(w: Workbench) -> Rows:
    w.two_rows(3, **{"write.delete.mode": "merge-on-read"})
    w.sql("DELETE FROM {t} WHERE id = 1")
    return AB[1:]


@spark("equality-deletes")
def _equality_deletes(w: Workbench) -> Rows:
    w.two_rows(2)
    table = w.java()
    table.newRowDelta().addDeletes(w.equality_delete_file(table, "delete-1.parquet", [{"x": "a"}])).commit()
    return AB[1:]


@spark("row-lineage")
def _row_lineage(w: Workbench) -> Rows:
    """The update stores row ids in the file that it writes."""
    w.two_rows(3, **{"write.update.mode": "copy-on-write"})
    w.sql("UPDATE {t} SET x = 'c' WHERE id = 1")
    return ((1, "c"), (2, "b"))


@spark("initial-default")
def _initial_default(w: Workbench) -> Rows:
    w.create("id BIGINT", version=3)
    w.insert("1")
    kind = w.iceberg("types.Types$StringType").get()
    w.java().updateSchema().addColumn("x", kind, None, w.iceberg("expressions.Expressions").lit("d")).commit()
    w.spark.sql(f"REFRESH TABLE {w.identifier}")
    w.insert("2, 'b'")
    return ((1, "d"), (2, "b"))


def _promotion(feature: str, before: str, after: str, old: str, new: str, rows: Rows) -> None:
    def build(w: Workbench) -> Rows:
        w.create(f"id BIGINT, x {before}")
        w.insert(f"1, CAST({old} AS {before})")
        w.sql(f"ALTER TABLE {{t}} ALTER COLUMN x TYPE {after}")
        w.insert(f"2, CAST({new} AS {after})")
        return rows

    SPARK[feature] = build


_promotion("promotion-int-long", "INT", "BIGINT", "7", "8589934592", ((1, "7"), (2, "8589934592")))
_promotion("promotion-float-double", "FLOAT", "DOUBLE", "1.5", "0.1", ((1, "1.5"), (2, "0.1")))
_promotion(
    "promotion-decimal", "DECIMAL(4,2)", "DECIMAL(20,2)", "1.25", "12345678.5", ((1, "1.25"), (2, "12345678.50"))
)


@spark("type-variant")
def _variant(w: Workbench) -> Rows:
    w.create("id BIGINT, x VARIANT", version=3)
    w.sql("INSERT INTO {t} SELECT 1, PARSE_JSON('{\"a\":1}')")
    return ((1, '{"a":1}'),)


@spark("type-timestamp-ns")
def _nanos(w: Workbench) -> Rows:
    at = w.jvm.java.time.LocalDateTime.parse("2024-01-01T00:00:00.000000001")
    w.typed(w.iceberg("types.Types$TimestampNanoType").withoutZone(), [at])
    return ((1, "1704067200000000001"),)


@spark("type-uuid")
def _uuid(w: Workbench) -> Rows:
    value = "f79c3e09-677c-4bbd-a479-3f349cb785e7"
    w.typed(w.iceberg("types.Types$UUIDType").get(), [w.jvm.java.util.UUID.fromString(value)], version=2)
    return ((1, value.replace("-", "")),)


@spark("type-unknown")
def _unknown(w: Workbench) -> Rows:
    w.typed(w.iceberg("types.Types$UnknownType").get(), [None])
    return ((1, None),)


def _shape(feature: str, kind: str) -> None:
    point = "0101000000000000000000f03f0000000000000040"

    def build(w: Workbench) -> Rows:
        value = w.jvm.java.nio.ByteBuffer.wrap(bytearray.fromhex(point))
        w.typed(w.iceberg(f"types.Types${kind}").crs84(), [value])
        return ((1, point),)

    SPARK[feature] = build


_shape("type-geometry", "GeometryType")
_shape("type-geography", "GeographyType")


def _transform(feature: str, partitioned: str) -> None:
    SPARK[feature] = lambda w: w.two_rows(2, partitioned)


_transform("transform-identity", "x")
_transform("transform-bucket", "bucket(4, id)")
_transform("transform-truncate", "truncate(1, x)")


def _time(unit: str, value: str) -> None:
    def build(w: Workbench) -> Rows:
        w.create("id BIGINT, x TIMESTAMP_NTZ", partitioned=f"{unit}(x)")
        w.insert("1, TIMESTAMP_NTZ'2024-02-03 04:05:06'", "2, TIMESTAMP_NTZ'1969-12-31 23:00:00'")
        return ((1, "2024-02-03T04:05:06"), (2, "1969-12-31T23:00:00"))

    SPARK[f"transform-{value}"] = build


for unit in ("year", "month", "day", "hour"):
    _time(f"{unit}s", unit)


@spark("transform-void")
def _void(w: Workbench) -> Rows:
    w.two_rows(1, "x")
    w.sql("ALTER TABLE {t} DROP PARTITION FIELD x")
    w.insert("3, 'c'")
    return (*AB, (3, "c"))


@spark("transform-void-beside")
def _void_beside(w: Workbench) -> Rows:
    """Version 1 keeps a field that was removed; another one stays."""
    w.two_rows(1, "x, bucket(4, id)")
    w.sql("ALTER TABLE {t} DROP PARTITION FIELD x")
    w.insert("3, 'c'")
    return (*AB, (3, "c"))


@spark("several-specs")
def _several_specs(w: Workbench) -> Rows:
    w.two_rows(2, "x")
    w.sql("ALTER TABLE {t} REPLACE PARTITION FIELD x WITH bucket(4, id)")
    w.insert("3, 'c'")
    return (*AB, (3, "c"))


@spark("columns-by-id")
def _columns_by_id(w: Workbench) -> Rows:
    """What was x is y now, and what was y is x: a reader by name takes one for the other."""
    w.create("id BIGINT, y STRING, x STRING")
    w.insert("1, 'a', 'wrong'")
    w.sql("ALTER TABLE {t} DROP COLUMN x")
    w.sql("ALTER TABLE {t} RENAME COLUMN y TO x")
    w.insert("2, 'b'")
    return AB


for kind in ("orc", "avro", "parquet"):
    SPARK[f"file-format-{kind}"] = lambda w, kind=kind: w.two_rows(2, **{"write.format.default": kind})
for kind in ("zstd", "gzip", "snappy", "lz4", "uncompressed"):
    SPARK[f"codec-{kind}"] = lambda w, kind=kind: w.two_rows(2, **{"write.parquet.compression-codec": kind})
SPARK["metadata-gzip"] = lambda w: w.two_rows(2, **{"write.metadata.compression-codec": "gzip"})


@spark("name-mapping")
def _name_mapping(w: Workbench) -> Rows:
    w.create("id BIGINT, x STRING")
    folder = Path(f"{w.location.removeprefix('file://')}-files")
    folder.mkdir()
    pq.write_table(pa.table({"id": [1, 2], "x": ["a", "b"]}), folder / "a.parquet")
    w.sql(f"CALL sandbox.system.add_files(table => '{{name}}', source_table => '`parquet`.`{folder}`')")
    return AB


def ours(feature: str) -> Callable[[Any], Any]:
    """Register what writes the table of a feature that Spark does not write."""

    def register(build: Any) -> Any:
        OURS[feature] = build
        return build

    return register


@ours("promotion-date-timestamp")
def _date_timestamp(folder: Path) -> tuple[Table, Rows]:
    table = Table(folder, [(1, "id", "long"), (2, "x", "date")], version=3)
    table.append(table.parquet("a.parquet", {"id": [1], "x": [date(2024, 1, 2)]}))
    table.set_schema([(1, "id", "long"), (2, "x", "timestamp")])
    table.append(table.parquet("b.parquet", {"id": [2], "x": [datetime(2024, 1, 3, 4)]}))
    return table, ((1, "2024-01-02"), (2, "2024-01-03T04:00:00"))


@ours("codec-brotli")
def _brotli(folder: Path) -> tuple[Table, Rows]:
    """Spark has no jar for it."""
    table = Table(
        folder, [(1, "id", "long"), (2, "x", "string")], properties={"write.parquet.compression-codec": "brotli"}
    )
    file = table.parquet("a.parquet", {"id": [1, 2], "x": ["a", "b"]})
    place = folder / "data" / "a.parquet"
    pq.write_table(pq.read_table(place), place, compression="brotli")
    table.append({**file, "file_size_in_bytes": place.stat().st_size})
    return table, AB


@ours("transform-several-columns")
def _several_columns(folder: Path) -> tuple[Table, Rows]:
    table = Table(folder, [(1, "id", "long"), (2, "x", "string")], [(1, 1000, "p", "bucket[4]")], version=3)
    field = table.md["partition-specs"][0]["fields"][0]
    table.append(table.parquet("a.parquet", {"id": [1, 2], "x": ["a", "b"]}, partition={"p": 1}))
    del field["source-id"]
    field["source-ids"] = [1, 2]
    table.write()
    return table, AB


# -- faults ------------------------------------------------------------------------------------------------------------
COLUMNS = [(1, "id", "long"), (2, "x", "string")]


def _two_rows(table: Table) -> dict[str, Any]:
    file: dict[str, Any] = table.parquet("a.parquet", {"id": [1, 2], "x": ["a", "b"]})
    return file


@ours("fault-no-current-id")
def _no_current_id(folder: Path) -> tuple[Table, Rows]:
    """As pyiceberg makes a table without rows (apache/iceberg-python#1164)."""
    return Table(folder, COLUMNS), ()


@ours("fault-no-schema-id")
def _no_schema_id(folder: Path) -> tuple[Table, Rows]:
    table = Table(folder, COLUMNS)
    table.append(_two_rows(table), **{"schema-id": ...})
    return table, AB


@ours("fault-no-field-ids")
def _no_field_ids(folder: Path) -> tuple[Table, Rows]:
    """A manifest list, as a service wrote it (duckdb-iceberg#321)."""

    def strip(schema: Any) -> Any:
        if isinstance(schema, list):
            return [strip(part) for part in schema]
        ids = ("field-id", "element-id")
        return {k: strip(v) for k, v in schema.items() if k not in ids} if isinstance(schema, dict) else schema

    table = Table(folder, COLUMNS)
    table.append(_two_rows(table), edit_list=strip)
    return table, AB


@ours("fault-header-schema")
def _header_schema(folder: Path) -> tuple[Table, Rows]:
    """The schema of entries, as DuckDB wrote it (duckdb-iceberg#799)."""
    fields = [
        {"id": 0, "name": "status", "type": "int", "required": True},
        {"id": 1, "name": "snapshot_id", "type": "long", "required": False},
        {"id": 2, "name": "data_file", "required": True, "type": {"type": "record", "name": "r2", "fields": []}},
    ]
    table = Table(folder, COLUMNS)
    header = {"schema": json.dumps({"type": "struct", "schema-id": 0, "fields": fields})}
    table.snapshot("append", [table.manifest("m0.avro", [(1, _two_rows(table))], header=header)])
    return table, AB


@ours("fault-no-v1-schema")
def _no_v1_schema(folder: Path) -> tuple[Table, Rows]:
    table = Table(folder, COLUMNS, version=1)
    table.append(_two_rows(table))
    table.md.pop("schema", None)
    table.write()
    return table, AB


@ours("fault-no-uuid")
def _no_uuid(folder: Path) -> tuple[Table, Rows]:
    """As BigQuery's managed tables are written (StarRocks/starrocks#48235)."""
    table = Table(folder, COLUMNS, version=1)
    table.md.update({"schema": table.md["schemas"][0], "partition-spec": []})
    table.append(_two_rows(table))
    del table.md["table-uuid"]
    table.write()
    return table, AB


@ours("fault-no-current-schema")
def _no_current_schema(folder: Path) -> tuple[Table, Rows]:
    """A commit whose schema did not get into `schemas` (linkedin/openhouse#541)."""
    table = Table(folder, COLUMNS[:1])
    table.set_schema(COLUMNS)
    table.append(_two_rows(table))
    table.md["schemas"] = table.md["schemas"][:1]
    table.write()
    return table, AB


@ours("fault-dropped-source")
def _dropped_source(folder: Path) -> tuple[Table, Rows]:
    """As ClickHouse's catalog left it (Altinity/ClickHouse#2084)."""
    table = Table(folder, [*COLUMNS, (3, "p", "string")], [(3, 1000, "p", "identity")])
    file = table.parquet("a.parquet", {"id": [1, 2], "x": ["a", "b"], "p": ["c", "c"]}, partition={"p": "c"})
    table.append(file)
    table.set_schema(COLUMNS)
    table.save()
    return table, AB


@ours("fault-field-id-zero")
def _field_id_zero(folder: Path) -> tuple[Table, Rows]:
    table = Table(folder, [(0, "id", "long"), (1, "x", "string")])
    table.append(_two_rows(table))
    return table, AB


@ours("fault-delete-as-data")
def _delete_as_data(folder: Path) -> tuple[Table, Rows]:
    """A manifest of equality deletes that is listed as one of data files (JanKaul/iceberg-rust#212)."""
    table = Table(folder, COLUMNS)
    table.append(_two_rows(table))
    before = table.lists[table.md["current-snapshot-id"]]
    deletes = [(1, table.equality_delete("eq.parquet", {"id": [2]}))]
    manifest = table.manifest("eq-m0.avro", deletes, content=1, header={"content": "data"})
    table.snapshot("overwrite", [*before, {**manifest, "content": 0}])
    return table, ((1, "a"),)


def build_tables(engine: SparkEngine, folder: Path) -> Iterator[FeatureTable | tuple[str, Exception]]:
    """Write all tables in a folder.

    Yields:
        Each table; or a feature, and why its writer refused it.
    """
    engine.session().sql("CREATE NAMESPACE IF NOT EXISTS sandbox.building")
    for feature, build in SPARK.items():
        name = feature.replace("-", "_")
        w = Workbench(engine, name, f"file://{folder / name}")
        w.sql("DROP TABLE IF EXISTS {t}")
        try:
            rows = build(w)
            yield FeatureTable(
                feature, str(w.java().operations().current().metadataFileLocation()), rows, ALSO.get(feature, ())
            )
        except Exception as error:
            yield feature, error
    for feature, other in OURS.items():
        table, rows = other(folder / feature)
        yield FeatureTable(feature, f"file://{table.folder}/metadata/{table.last}", rows, ALSO.get(feature, ()))


@ours("fault-no-live-counted")
def _no_live_counted(folder: Path) -> tuple[Table, Rows]:
    """A list that counts no file in a manifest that has one, as icelake wrote it (apache/iceberg#10919)."""
    table = Table(folder, COLUMNS)
    manifest = table.manifest("m0.avro", [(1, _two_rows(table))])
    table.snapshot("append", [{**manifest, "added_files_count": 0}])
    return table, AB
