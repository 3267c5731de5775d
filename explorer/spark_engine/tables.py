"""Tables as Spark is given them: a metadata file and a FileIO of its own, with no catalog and no settings of Spark's.

So the keys that open a store are in that FileIO and nowhere else: not in Spark's configuration, its pages, or another
table's reads."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from explorer.spark_engine.failures import failure
from explorer.spark_engine.fileio import JavaFileIO, java_file_io
from explorer.spark_engine.java_names import java_names
from explorer.spark_engine.sql_guard.quoting import identifier
from explorer.spark_engine.user_spark import active_session
from explorer.spark_engine.versions import source_table, sql_package
from explorer.spec.text.identifiers import split_identifier
from explorer.storage.paths import SAME_STORE, local_path, normal_path, split_store

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from explorer.spark_engine.spark import SparkEngine

_VIEW = "org.apache.hadoop.fs.viewfs.ViewFileSystemOverloadScheme"
_SCHEME = re.compile("[a-z][a-z0-9]*")
_HOME = "/.relative"
"""Below it is what relative paths name, in a file system of mounts."""


@dataclass(frozen=True)
class FileAccess:
    """How the files of a version are opened: its metadata file, the reader's storage properties, and `moved`, (the
    place that metadata names, the local folder to look in) of a table that is elsewhere than it says. Where there are
    such, Spark's file system has those folders at those places, and nothing else."""

    metadata_location: str
    properties: Mapping[str, str] = field(default_factory=dict, repr=False)
    moved: tuple[tuple[str, str], ...] = ()

    @property
    def file_io(self) -> JavaFileIO:
        """What opens them. Raises NotSupported."""
        return java_file_io(self.metadata_location, self.properties)


def iceberg_table(engine: SparkEngine, spark: SparkSession, files: FileAccess, opened: Callable[[Any], None]) -> Any:
    """The table as Iceberg's own object. `opened` is told each FileIO that reads it, to be closed afterwards. Raises
    NotSupported, and EngineError when a jar cannot be had."""
    jvm: Any = java_names(spark._jvm)
    iceberg, own = jvm.org.apache.iceberg, files.file_io
    if own.bundle is not None:
        engine.require(own.bundle)
    settings = jvm.java.util.HashMap()
    for key, value in own.properties.items():
        settings.put(key, value)
    hadoop = spark._jsparkSession.sessionState().newHadoopConf()  # type: ignore[attr-defined]
    io = iceberg.CatalogUtil.loadFileIO(own.implementation, settings, hadoop)
    opened(io)
    metadata = iceberg.TableMetadataParser.read(io, files.metadata_location)
    if files.moved:
        user = str(jvm.org.apache.hadoop.security.UserGroupInformation.getCurrentUser().getShortUserName())
        for key, value in mounts(files.moved, user).items():
            hadoop.set(key, value)
        io = iceberg.hadoop.HadoopFileIO(hadoop)
        opened(io)
    return iceberg.BaseTable(iceberg.StaticTableOperations(metadata, io), files.metadata_location)


def iceberg_catalog(session: SparkSession, name: str) -> Any:
    """A catalog that a session knows, as an org.apache.iceberg.catalog.Catalog."""
    jvm: Any = java_names(session._jvm)
    with active_session(session):
        return jvm.org.apache.iceberg.spark.Spark3Util.loadIcebergCatalog(session._jsparkSession, name)  # type: ignore[attr-defined]


def iceberg_catalog_table(session: SparkSession, name: str) -> Any:
    """A table of a catalog that a session knows, freshly loaded, as an org.apache.iceberg.Table."""
    jvm: Any = java_names(session._jvm)
    quoted = identifier(split_identifier(name))
    with active_session(session):
        return jvm.org.apache.iceberg.spark.Spark3Util.loadIcebergTable(session._jsparkSession, quoted)  # type: ignore[attr-defined]


def catalog_table_uuid(session: SparkSession, catalog: str, name: str) -> str | None:
    """The UUID of the table that a catalog of Spark's has under a name. Raises EngineError, StatementFailed."""
    jvm: Any = java_names(session._jvm)
    try:
        parts = split_identifier(name)
        names = session.sparkContext._gateway.new_array(jvm.java.lang.String, len(parts))  # type: ignore[union-attr]
        for at, part in enumerate(parts):
            names[at] = part
        wanted = jvm.org.apache.iceberg.catalog.TableIdentifier.of(names)
        uuid = iceberg_catalog(session, catalog).loadTable(wanted).operations().current().uuid()
    except Exception as error:  # every catalog has errors of its own
        raise failure(error, False, f"Spark's catalog {catalog} cannot load {name}") from error
    return None if uuid is None else str(uuid)


def load(
    engine: SparkEngine, spark: SparkSession, files: FileAccess, version: str | None, opened: Callable[[Any], None]
) -> DataFrame:
    """The rows of a version (a snapshot id, branch or tag; None: as the metadata file is), not yet read. Raises as
    iceberg_table does."""
    from pyspark.sql import DataFrame

    jvm: Any = java_names(spark._jvm)
    table = iceberg_table(engine, spark, files, opened)
    none = jvm.scala.Option.apply(None)
    relation = jvm.org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation.create(
        source_table(jvm, table, version), none, none
    )
    rows = sql_package(jvm).Dataset.ofRows(spark._jsparkSession, relation)  # type: ignore[attr-defined]
    return DataFrame(rows, spark)


def mounts(moved: Sequence[tuple[str, str]], user: str) -> dict[str, str]:
    """Hadoop's settings for file systems in which each old place is the local folder that it was moved to, and nothing
    else is there: the mount tables of ViewFs, under the names of the stores themselves."""
    settings = {"fs.defaultFS": "file:///", "fs.viewfs.overload.scheme.target.file.impl": _LOCAL}
    for old, new in moved:
        store, inner = split_store(normal_path(old))
        scheme, _, authority = (store or "file://").partition("://")
        if not _SCHEME.fullmatch(scheme):  # it becomes part of the names of settings: others stay without a file system
            continue
        if not inner.startswith("/"):
            inner = f"{_HOME}/{user}/{inner}"
        inner = normal_path(inner) or "/"  # Hadoop leaves out `.` in keys of stores, too
        table = f"fs.viewfs.mounttable.{authority or 'default'}"
        settings[f"{table}.homedir"] = _HOME
        link = "linkMergeSlash" if inner == "/" else f"link.{inner}"
        settings.setdefault(f"{table}.{link}", Path(local_path(new) or new).as_uri())
        for name in (scheme, *(alias for alias, one in SAME_STORE.items() if one == scheme)):
            settings |= {f"fs.{name}.impl": _VIEW, f"fs.{name}.impl.disable.cache": "true"}
    return settings


_LOCAL = "org.apache.hadoop.fs.LocalFileSystem"
