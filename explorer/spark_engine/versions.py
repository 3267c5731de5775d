"""The versions of Spark that the engine runs on, and what is not the same in all of them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib import metadata
from typing import TYPE_CHECKING, Any

from explorer.errors import EngineError
from explorer.spark_engine.java_names import java_names

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

ICEBERG: Mapping[tuple[int, int], str] = {
    (3, 5): "org.apache.iceberg:iceberg-spark-runtime-3.5_2.12:1.12.0",
    (4, 0): "org.apache.iceberg:iceberg-spark-runtime-4.0_2.13:1.11.0",
    (4, 1): "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0",
}
"""Iceberg's jar for each version of Spark: the newest that there is."""
SQLITE = "org.xerial:sqlite-jdbc:3.54.1.0"


def require_version(version: str) -> tuple[int, int]:
    """Return the first two numbers of a pyspark's version. Raises EngineError if the engine does not run on it."""
    match = re.match(r"(\d+)\.(\d+)(?=\.|$)", version)
    numbers = (int(match[1]), int(match[2])) if match else (0, 0)
    if numbers not in ICEBERG:
        known = ", ".join(".".join(map(str, one)) for one in ICEBERG)
        raise EngineError(
            f"pyspark {version} is installed, and rows, SQL and maintenance through Spark need one of the versions "
            f"{known}: pip install 'pyspark>=3.5,<4.2'. What reads metadata needs no Spark"
        )
    return numbers


def packages() -> tuple[str, ...]:
    """Return the jars that the installed pyspark needs for Iceberg and the sandbox's catalog. Raises EngineError."""
    try:
        installed = metadata.version("pyspark")
    except metadata.PackageNotFoundError:  # that of a Spark distribution, which is on the path
        import pyspark

        installed = pyspark.__version__
    return ICEBERG[require_version(installed)], SQLITE


def spark_version(jvm: Any) -> tuple[int, int]:
    """Return the first two numbers of the version of the Spark that a JVM has."""
    major, minor = str(jvm.org.apache.spark.package.SPARK_VERSION()).split(".")[:2]
    return int(major), int(minor)


def sql_package(jvm: Any) -> Any:
    """Return the Java package of Dataset and SparkSession: since Spark 4.0 there are those of Spark Connect beside."""
    sql = jvm.org.apache.spark.sql
    return sql if spark_version(jvm) < (4, 0) else sql.classic


def source_table(jvm: Any, table: Any, version: str | None) -> Any:
    """Return an Iceberg table as Spark's, at a version: a snapshot id, branch or tag, or None for the current one."""
    spark = jvm.org.apache.iceberg.spark
    if spark_version(jvm) >= (4, 1):
        source = spark.source.SparkTable
        return source(table) if version is None else source.create(table, spark.TimeTravel.version(version))
    current = spark.source.SparkTable(table, False)
    if version is None:
        return current
    if version.isdigit():
        return current.copyWithSnapshotId(int(version))
    ref = table.refs().get(version)
    return current.copyWithBranch(version) if ref.isBranch() else current.copyWithSnapshotId(ref.snapshotId())


def arrow_table(frame: DataFrame) -> pa.Table:
    """Read the rows of a frame."""
    if hasattr(frame, "toArrow"):
        return frame.toArrow()
    import pyarrow as pa
    from pyspark.sql.pandas.types import to_arrow_schema

    collect: Any = frame._collect_as_arrow
    batches = collect()
    return pa.Table.from_batches(batches, batches[0].schema if batches else to_arrow_schema(frame.schema))


def spark_frame(session: SparkSession, table: pa.Table) -> DataFrame:
    """Return the rows of a table as a DataFrame."""
    if spark_version(java_names(session._jvm)) >= (4, 0):
        return session.createDataFrame(table)
    from pyspark.sql.pandas.types import from_arrow_schema

    schema: Any = from_arrow_schema(table.schema)
    rows = table.to_pylist(maps_as_pydicts="lossy")
    return session.createDataFrame([tuple(row.values()) for row in rows], schema)


def session_conf(session: SparkSession) -> dict[str, str]:
    """Return the settings of a session."""
    if hasattr(type(session.conf), "getAll"):
        return dict(session.conf.getAll)
    entries, settings = session.conf._jconf.getAll().iterator(), {}
    while entries.hasNext():
        pair = entries.next()
        settings[str(pair._1())] = str(pair._2())
    return settings


def field_names(node: Any, says_names: bool) -> list[str]:
    """Return the names of the constructor's arguments of a Scala product. Scala 2.12, that of Spark 3, does not say
    them; its compiler writes these fields first, and in their order."""
    count = node.productArity()
    if not says_names:
        return [str(field.getName()) for field in node.getClass().getDeclaredFields()[:count]]
    return [str(node.productElementName(i)) for i in range(count)]
