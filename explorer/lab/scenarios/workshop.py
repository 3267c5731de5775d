"""The tools that build a scenario: SQL, and the staged operations of Iceberg's Java API with files of chosen names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from explorer.lab.java import constant
from explorer.spark_engine.java_names import java_names
from explorer.spark_engine.spark import SparkEngine
from explorer.spark_engine.tables import iceberg_catalog_table
from explorer.storage.catalogs.sandbox_entries import SANDBOX

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

BUILDING = "building"


class Workshop:
    """One table that is being built, under a temporary name, at its final location. `file_format` is the format of
    files that are written through Iceberg's Java API."""

    file_format = "PARQUET"

    def __init__(self, engine: SparkEngine, name: str, location: str) -> None:
        self.spark = engine.session()
        self.name, self.location = name, location
        self.identifier = f"{SANDBOX}.{BUILDING}.{name}"
        self.jvm: Any = java_names(self.spark._jvm)
        self.gateway: Any = self.spark.sparkContext._gateway
        self._classes: dict[str, Any] = {}

    def iceberg(self, name: str) -> Any:
        """A class of Iceberg by its name below org.apache.iceberg. Each part of a name is a question to Java, so the
        class is cached."""
        if name not in self._classes:
            place = self.jvm.org.apache.iceberg
            for part in name.split("."):
                place = getattr(place, part)
            self._classes[name] = place
        return self._classes[name]

    def sql(self, statement: str) -> DataFrame:
        """Run SQL; `{t}` is the table, `{name}` its identifier without the catalog (for procedures)."""
        return self.spark.sql(statement.replace("{t}", self.identifier).replace("{name}", f"{BUILDING}.{self.name}"))

    def create(self, columns: str, version: int = 2, partitioned: str = "", **properties: str) -> None:
        """CREATE TABLE; property names use _ for both . and -, as in `write_update_mode`."""
        property_names = {
            "update_mode": "write.update.mode", "delete_mode": "write.delete.mode", "merge_mode": "write.merge.mode",
            "distribution": "write.distribution-mode", "codec": "write.metadata.compression-codec",
            "merge_isolation": "write.merge.isolation-level",
        }  # fmt: skip
        options = {"format-version": str(version)} | {property_names[k]: v for k, v in properties.items()}
        listed = ", ".join(f"'{k}'='{v}'" for k, v in options.items())
        by = f"PARTITIONED BY ({partitioned})" if partitioned else ""
        self.sql(
            f"CREATE TABLE {{t}} ({columns}) USING iceberg {by} LOCATION '{self.location}' TBLPROPERTIES ({listed})"
        )

    def insert(self, *rows: str, files: int = 1, target: str = "{t}") -> None:
        """INSERT rows, each given as the text inside a VALUES tuple, in at most `files` files per partition."""
        values = ", ".join(f"({row})" for row in rows)
        self.sql(f"INSERT INTO {target} SELECT /*+ COALESCE({files}) */ * FROM VALUES {values}")

    def snapshot_ids(self) -> list[int]:
        """Ids of all snapshots, in the order they were committed."""
        return [
            int(s.snapshotId())
            for s in sorted(self.java().snapshots(), key=lambda s: (s.sequenceNumber(), s.timestampMillis()))
        ]

    # -- Java API -----------------------------------------------------------------------------------------------------
    def java(self) -> Any:
        """Load the table as an org.apache.iceberg.Table."""
        return iceberg_catalog_table(self.spark, self.identifier)

    def file_factory(self, table: Any, equality_ids: Sequence[int] = ()) -> Any:
        """A writer factory for a table; with `equality_ids`, for equality deletes on those field ids."""
        builder = self.iceberg("data.GenericFileWriterFactory$Builder")(table)
        kind = self.iceberg("FileFormat").fromString(self.file_format)
        builder = builder.dataFileFormat(kind).deleteFileFormat(kind)
        if equality_ids:
            ids = self.gateway.new_array(self.jvm.int, len(equality_ids))
            for i, field_id in enumerate(equality_ids):
                ids[i] = field_id
            fields = self.jvm.java.util.HashSet()
            for field_id in equality_ids:
                fields.add(field_id)
            schema = self.iceberg("types.TypeUtil").select(table.schema(), fields)
            builder = builder.equalityFieldIds(ids).equalityDeleteRowSchema(schema)
        return builder.build()

    def _output(self, table: Any, path: str) -> Any:
        plain = table.io().newOutputFile(f"{table.location()}/data/{path}")
        return self.iceberg("encryption.EncryptedFiles").plainAsEncryptedOutput(plain)

    def _partition(self, table: Any, path: str) -> Any:
        if table.spec().isUnpartitioned():
            return None
        return self.iceberg("DataFiles").data(table.spec(), path)

    def data_file(
        self, table: Any, name: str, rows: Sequence[Mapping[str, Any]], partition: str = "", factory: Any = None
    ) -> Any:
        """Write a data file called `name`; `partition` is a path such as `region=eu`."""
        path = f"{partition}/{name}" if partition else name
        where = self._partition(table, partition)
        writer = (factory or self.file_factory(table)).newDataWriter(self._output(table, path), table.spec(), where)
        self._write(writer, table.schema(), rows)
        return writer.toDataFile()

    def _write(self, writer: Any, schema: Any, rows: Sequence[Mapping[str, Any]]) -> None:
        template = self.iceberg("data.GenericRecord").create(schema)
        for row in rows:
            record = template.copy()
            for column, value in row.items():
                record.setField(column, value)
            writer.write(record)
        writer.close()

    def equality_delete_file(
        self, table: Any, name: str, rows: Sequence[Mapping[str, Any]], partition: str = ""
    ) -> Any:
        """Write an equality delete file on the columns that `rows` name, into the table's current spec."""
        schema = table.schema()
        ids = [int(schema.findField(column).fieldId()) for column in rows[0]]
        where = self._partition(table, partition)
        writer = self.file_factory(table, ids).newEqualityDeleteWriter(self._output(table, name), table.spec(), where)
        fields = self.jvm.java.util.HashSet()
        for field_id in ids:
            fields.add(field_id)
        self._write(writer, self.iceberg("types.TypeUtil").select(schema, fields), rows)
        return writer.toDeleteFile()

    def position_delete_file(
        self, table: Any, name: str, places: Sequence[tuple[str, int]], partition: str = "", of: Any = None
    ) -> Any:
        """Write a position delete file; `places` are (data file path, position), sorted. Spec and partition are those
        of the data file `of`, or the current spec's and `partition`."""
        spec = table.spec() if of is None else table.specs().get(of.specId())
        where = self._partition(table, partition) if of is None else of.partition()
        writer = self.file_factory(table).newPositionDeleteWriter(self._output(table, name), spec, where)
        delete = self.iceberg("deletes.PositionDelete").create()
        for path, position in places:
            writer.write(delete.set(path, position))
        writer.close()
        return writer.toDeleteFile()

    def vectors(self, table: Any, name: str, of: Any, positions: Sequence[int]) -> list[Any]:
        """Write a Puffin file `name` with one deletion vector of these positions of the data file `of`; returns its
        DeleteFile."""
        factory = self.iceberg("io.OutputFileFactory").builderFor(table, 1, 1).operationId(name)
        factory = factory.format(self.iceberg("FileFormat").PUFFIN).build()
        none_before = constant(self.jvm, None)
        writer = self.iceberg("deletes.BaseDVFileWriter")(factory, none_before)
        for position in positions:
            writer.delete(str(of.location()), position, table.specs().get(of.specId()), of.partition())
        writer.close()
        return list(writer.result().deleteFiles())
