"""Ask one reader for the rows of tables: `python ask_reader.py READER < METADATA_FILES`. It imports nothing of ours, so
that a reader may have a Python environment of its own. Each line of the answer is JSON: path, and rows or refusal. The
first has the reader's version."""

from __future__ import annotations

import datetime
import json
import os
import re
import sys
import uuid
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from importlib import metadata
from typing import Any

COLUMNS = ("id", "x")
Rows = list[tuple[int, "str | None"]]
TIME = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?$")


def text(value: Any) -> str | None:
    """Return a value as text, the same whatever a reader has for it."""
    if value is None or value != value:  # some have NaN, or no time, for null
        return None
    if hasattr(value, "getBytes"):  # Spark's geometry
        value = value.getBytes()
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value).hex()
    if isinstance(value, datetime.datetime | datetime.date):
        return value.isoformat().removesuffix("T00:00:00").removesuffix("+00:00")
    if isinstance(value, uuid.UUID):
        return value.hex
    if isinstance(value, Decimal):
        return f"{value:f}"
    if isinstance(value, dict | list):
        return json.dumps(value, separators=(",", ":"))
    if TIME.match(str(value)):
        day, _, time = str(value).partition(" ")
        return f"{day}T{time.rstrip('0').rstrip('.') if '.' in time else time}".removesuffix("T00:00:00")
    return str(value)


def rows_of(pairs: Iterable[Sequence[Any]]) -> Rows:
    """Return rows in the order of their ids."""
    return sorted(((int(pair[0]), text(pair[1])) for pair in pairs), key=lambda row: (row[0], str(row[1])))


def _of_arrow(table: Any) -> Rows:
    import pyarrow as pa

    names = [field.name for field in table.schema]
    columns = []
    for name in COLUMNS:
        column = table.column(names.index(name))
        if pa.types.is_timestamp(column.type) and column.type.unit == "ns":
            column = pa.chunked_array([chunk.cast(pa.int64()) for chunk in column.chunks], pa.int64())
        columns.append(column.to_pylist())
    return rows_of(zip(*columns, strict=True))


def by_spark(path: str) -> Rows:
    """Read with Iceberg Java on Spark: that of this environment, with the jar that ICEBERG_JAR names."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[1]").appName("readers").config("spark.ui.enabled", "false")
    spark = builder.config("spark.jars", os.environ["ICEBERG_JAR"]).getOrCreate()
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    return spark_rows(spark, path)


def spark_rows(spark: Any, path: str) -> Rows:
    """Read a table in a session of Spark."""
    frame = spark.read.format("iceberg").load(path)
    kind = frame.schema["x"].dataType.typeName()
    return rows_of(frame.selectExpr("id", "to_json(x)" if kind == "variant" else "x").collect())


def by_pyiceberg(path: str) -> Rows:
    """Read with pyiceberg."""
    from pyiceberg.table import StaticTable

    return _of_arrow(StaticTable.from_metadata(path).scan().to_arrow())


def by_polars(path: str) -> Rows:
    """Read with polars's own reader, without pyiceberg's."""
    import polars

    return _of_arrow(polars.scan_iceberg(path, reader_override="native").collect().to_arrow())


def by_duckdb(path: str) -> Rows:
    """Read with DuckDB."""
    import duckdb

    with duckdb.connect() as connection:
        for name in ("avro", "httpfs", "iceberg"):
            files = metadata.files(f"duckdb-extension-{name}") or ()
            [file] = [one.locate() for one in files if str(one).endswith(".duckdb_extension")]
            connection.sql(f"LOAD '{file}'")
        connection.sql("SET TimeZone = 'UTC'")
        kinds = dict(
            connection.sql(f"DESCRIBE SELECT * FROM iceberg_scan('{path}')")
            .project("column_name, column_type")
            .fetchall()
        )
        x = "epoch_ns(x)" if kinds["x"] == "TIMESTAMP_NS" else "x"
        return rows_of(connection.sql(f"SELECT id, {x} FROM iceberg_scan('{path}')").fetchall())


def by_clickhouse(path: str) -> Rows:
    """Read with ClickHouse, as a library."""
    from chdb import session

    folder = path.removeprefix("file://").rpartition("/metadata/")[0]
    with session.Session() as own:
        own.query("CREATE DATABASE d ENGINE = Atomic")
        own.query(f"CREATE TABLE d.t ENGINE = IcebergLocal('{folder}/')")
        options = "output_format_json_quote_64bit_integers = 0, session_timezone = 'UTC'"
        answer = own.query(f"SELECT id, x FROM d.t SETTINGS {options}", "JSONCompactEachRow")
        return rows_of(json.loads(line) for line in str(answer).splitlines())


def by_rust(path: str) -> Rows:
    """Read with iceberg-rust, through DataFusion."""
    import datafusion
    from pyiceberg_core.datafusion import IcebergDataFusionTable

    context = datafusion.SessionContext()
    context.register_table("t", IcebergDataFusionTable(["db", "t"], path, {}))
    return _of_arrow(context.sql("SELECT id, x FROM t").to_arrow_table())


READERS: dict[str, tuple[Callable[[str], Rows], str]] = {
    "spark-4.0": (by_spark, "pyspark"),
    "pyiceberg": (by_pyiceberg, "pyiceberg"),
    "polars": (by_polars, "polars"),
    "duckdb": (by_duckdb, "duckdb"),
    "clickhouse": (by_clickhouse, "chdb-core"),
    "iceberg-rust": (by_rust, "pyiceberg-core"),
}
"""What reads, and the distribution whose version says which it is."""


def main() -> None:
    """Answer for each path on stdin."""
    os.chdir("/")  # some read below the working folder only
    read, distribution = READERS[sys.argv[1]]
    print(json.dumps({"reader": sys.argv[1], "version": metadata.version(distribution)}), flush=True)
    for path in sys.stdin.read().split():
        try:
            answer: dict[str, Any] = {"rows": read(f"file:///{path.removeprefix('file:').lstrip('/')}")}
        except BaseException as error:  # a panic of Rust is no Exception; a refusal is an answer
            answer = {"refusal": f"{type(error).__name__}: {error}"}
        print(json.dumps({"path": path, **answer}), flush=True)


if __name__ == "__main__":
    main()
