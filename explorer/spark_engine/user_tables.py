"""Tables as a user's SparkSession has them: by a name in its catalogs, or as a DataFrame that reads one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from explorer.errors import TableNotFound, WrongUsage
from explorer.spark_engine.java_names import java_names
from explorer.spark_engine.sql_guard import quoting
from explorer.spec.text.identifiers import join_identifier, split_identifier
from explorer.spec.text.names import first_of
from explorer.storage.stores import combine

HADOOP: Mapping[str, str] = {
    "fs.s3a.access.key": "s3.access-key-id", "fs.s3a.secret.key": "s3.secret-access-key",
    "fs.s3a.session.token": "s3.session-token", "fs.s3a.endpoint": "s3.endpoint",
    "fs.s3a.endpoint.region": "s3.region",
}  # fmt: skip
"""Hadoop's settings of S3, and Iceberg's properties for the same."""
OWN = ("s3.connect-timeout", "s3.request-timeout", "gcs.service.host")
"""Properties of a FileIO that are taken beside those that a catalog's server may give."""
RELATION, TABLE = "DataSourceV2Relation", "org.apache.iceberg.spark.source.SparkTable"


@dataclass(frozen=True)
class SparkTable:
    """A table that Spark has loaded.

    Attributes:
        name: Its name, with the catalog, as `join_identifier` writes it: prod.db.t.
        catalog: The catalog's name in Spark; empty for a table that was loaded by its path, which is its name.
        metadata_location: The metadata file that Spark has loaded.
        properties: How Spark's FileIO reaches the store. They may be secrets, and are never shown.
    """

    name: str
    catalog: str
    metadata_location: str
    properties: Mapping[str, str]


def is_frame(given: Any) -> bool:
    """Whether an object is a DataFrame of Spark."""
    return type(given).__name__ == "DataFrame" and type(given).__module__.startswith("pyspark.sql")


def table_of_session(spark: Any, name: str, is_again: bool = False) -> SparkTable:
    """Load a table by its name in the catalogs of a session, as a query of that session would.

    Args:
        spark: The SparkSession; one of Spark Connect too, which is asked by SQL.
        name: `catalog.db.t`, `db.t` in the session's current catalog, or `t` in its current namespace.
        is_again: Whether to load it anew: by catalogs of a copy of the session, since its own keep tables for a while.

    Returns:
        The table. Nothing in the session changes.

    Raises:
        TableNotFound: The session has no such table, or it is none of Iceberg's.
    """
    try:
        if hasattr(spark, "_jsparkSession"):
            loader = java_names(spark._jvm).org.apache.iceberg.spark.Spark3Util
            session = spark._jsparkSession.cloneSession() if is_again else spark._jsparkSession
            found = loader.catalogAndIdentifier(session, name)
            table = loader.loadIcebergTable(session, name)
            return _spark_table(spark, table, _parts(found.catalog(), found.identifier()))
        return _by_sql(spark, name)
    except Exception as error:
        raise TableNotFound(f"Spark does not load {name} as a table of Iceberg: {_first_line(error)}") from error


def table_of_frame(frame: Any) -> SparkTable:
    """Find the Iceberg table that a DataFrame reads.

    Args:
        frame: The DataFrame, of a session with a JVM.

    Returns:
        The table, as the DataFrame has loaded it.

    Raises:
        WrongUsage: It reads no Iceberg table, several, or a metadata table; or Spark Connect hides its plan.
    """
    if not hasattr(frame, "_jdf"):
        raise WrongUsage("Spark Connect does not show which table a DataFrame reads: give the table's name and spark")
    leaves = frame._jdf.queryExecution().analyzed().collectLeaves()
    tables = {}
    for leaf in (leaves.apply(at) for at in range(leaves.size())):
        if leaf.getClass().getSimpleName() == RELATION and leaf.table().getClass().getName() == TABLE:
            table, catalog, name = leaf.table().table(), leaf.catalog(), leaf.identifier()
            is_named = catalog.isDefined() and name.isDefined()
            parts = _parts(catalog.get(), name.get()) if is_named else split_identifier(str(table.name()))
            one = _spark_table(frame.sparkSession, table, parts)
            tables[one.metadata_location] = one
    if len(tables) != 1:
        names = first_of([one.name for one in tables.values()])
        raise WrongUsage(
            f"the DataFrame reads several Iceberg tables: {names}" if tables else "the DataFrame reads no Iceberg table"
        )
    return next(iter(tables.values()))


def _parts(catalog: Any, identifier: Any) -> list[str]:
    """The parts of a table's name: its own name in Iceberg does not tell which dots are in them."""
    return [str(part) for part in (catalog.name(), *identifier.namespace(), identifier.name())]


def _spark_table(spark: Any, table: Any, parts: Sequence[str]) -> SparkTable:
    """Of a Table of Iceberg's, in the JVM. Raises WrongUsage for one of its metadata tables."""
    from py4j.protocol import Py4JError

    own = str(table.name())
    try:
        location = str(table.operations().current().metadataFileLocation())
    except Py4JError as error:
        if type(error) is not Py4JError:  # which says that there is no such method
            raise
        raise WrongUsage(f"{own} is a metadata table: give the table that it is about") from error
    settings = {**_hadoop(spark, location), **dict(_catalog_settings(spark, parts[0]))}
    properties = combine(settings, _io_properties(table))  # a server's address gets no keys of the session's
    if own == str(table.location()):  # it was loaded by its path
        return SparkTable(own, "", location, properties)
    return SparkTable(join_identifier(parts), parts[0], location, properties)


def _io_properties(table: Any) -> dict[str, str]:
    """What the table's FileIO was given of storage: a catalog's server adds to it what it likes, such as the name of a
    class of Python's."""
    from py4j.protocol import Py4JJavaError

    from explorer.storage.catalogs.rest import storage_settings

    try:
        return storage_settings({str(key): str(value) for key, value in dict(table.io().properties()).items()}, OWN)
    except Py4JJavaError:  # a FileIO need not tell them
        return {}


def _hadoop(spark: Any, location: str) -> dict[str, str]:
    """What Hadoop's S3A is given, where it may read the table."""
    if not location.startswith(("s3a:", "s3:", "s3n:")):
        return {}
    conf = spark._jsparkSession.sessionState().newHadoopConf()
    values = {ours: conf.get(theirs) for theirs, ours in HADOOP.items()}
    return {name: str(value) for name, value in values.items() if value}


def _by_sql(spark: Any, name: str) -> SparkTable:
    """Of a session without a JVM: its metadata table of metadata files has the current one last."""
    parts = _full_name(spark, split_identifier(name))
    query = f"SELECT file FROM {quoting.identifier([*parts, 'metadata_log_entries'])} ORDER BY timestamp DESC LIMIT 1"
    location = str(spark.sql(query).collect()[0][0])
    return SparkTable(join_identifier(parts), parts[0], location, dict(_catalog_settings(spark, parts[0])))


def _full_name(spark: Any, parts: Sequence[str]) -> list[str]:
    """Resolve a name as Spark does: its first part is a catalog if the session has one of that name. Else it is in the
    current catalog, and a single part in the current namespace."""
    if len(parts) > 1 and _is_catalog(spark, parts[0]):
        return list(parts)
    catalog, namespace = spark.sql("SELECT current_catalog(), current_schema()").collect()[0]
    return [str(catalog), *(split_identifier(str(namespace)) if len(parts) == 1 else ()), *parts]


def _is_catalog(spark: Any, name: str) -> bool:
    return name.lower() == "spark_catalog" or spark.conf.get(f"spark.sql.catalog.{name}", None) is not None


def _catalog_settings(spark: Any, catalog: str) -> Iterator[tuple[str, str]]:
    for key in HADOOP.values():
        if value := spark.conf.get(f"spark.sql.catalog.{catalog}.{key}", None):
            yield key, str(value)


def _first_line(error: Exception) -> str:
    cause = getattr(error, "java_exception", None)
    text = str(cause.getMessage() if cause is not None else error)
    return text.partition("\n")[0][:500]
