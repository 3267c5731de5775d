"""Where the lab's runs take place: a catalog of its own in a temporary folder, with one small table that every run
begins from."""

from __future__ import annotations

import itertools
import json
import shutil
import tempfile
import threading
import uuid
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from explorer.lab.scenarios.workshop import Workshop
from explorer.spark_engine.spark import SparkEngine, sandbox_conf, shared_engine
from explorer.spark_engine.tables import iceberg_catalog
from explorer.storage.catalogs.sandbox_entries import SANDBOX
from explorer.storage.locate import locate
from explorer.storage.metadata import parse_metadata
from explorer.storage.reader import TableReader
from explorer.table import Table

CATALOG, NAMESPACE = "lab", "runs"
ROWS = (({"id": 1, "v": "one", "p": "a"}, {"id": 2, "v": "two", "p": "a"}), ({"id": 3, "v": "three", "p": "b"},))
"""The small table's two data files, in partitions a and b, each appended by a snapshot of its own."""
PROPERTIES = {"commit.retry.num-retries": "4", "commit.retry.min-wait-ms": "1", "commit.retry.max-wait-ms": "5"}


class Bench:
    """A catalog of its own in a folder of its own, which goes when this does. One small table for each format version
    is written once; a run begins with a copy of its metadata in a folder of the run's own, so that a fresh table costs
    one file and one row. Spark is that of this process, if no other engine is given."""

    def __init__(self, engine: SparkEngine | None = None) -> None:
        self.engine = engine = engine or shared_engine()
        self.home = Path(tempfile.mkdtemp(prefix="icedive-lab-"))
        weakref.finalize(self, shutil.rmtree, self.home, ignore_errors=True)
        self.spark = engine.new_session()
        for key, value in sandbox_conf(self.home).items():
            self.spark.conf.set(key.replace(f".{SANDBOX}", f".{CATALOG}"), value)
        self.workshop = Workshop(engine, "bench", "")
        self.spark.sql(f"CREATE NAMESPACE {CATALOG}.{NAMESPACE}")
        self.catalog = iceberg_catalog(self.spark, CATALOG)
        self._runs = itertools.count(1)
        self._bases: dict[int, str] = {}
        self._lock = threading.Lock()

    def identifier(self, name: str) -> Any:
        """A name in the lab's namespace as Iceberg has it."""
        return self.workshop.iceberg("catalog.TableIdentifier").parse(f"{NAMESPACE}.{name}")

    def load(self, name: str) -> Any:
        """An org.apache.iceberg.Table with operations of its own."""
        return self.catalog.loadTable(self.identifier(name))

    def opened(self, location: str, beside: Sequence[Mapping[str, Any]] = ()) -> Table:
        """A table by its metadata file; what lies in the lab's folder may be read. `beside` are snapshots to show
        with its own."""
        place = locate(location)
        reader = TableReader(
            replace(place, catalog=CATALOG, name=f"{CATALOG}.{NAMESPACE}.{place.name}"), [str(self.home)]
        )
        if beside:
            raw = {**reader.metadata.raw, "snapshots": [*reader.metadata.raw.get("snapshots", []), *beside]}
            reader.metadata, _ = parse_metadata(json.dumps(raw).encode(), location)
        return Table(reader)

    def table(self, name: str) -> Table:
        """A table as the catalog has it now."""
        return self.opened(str(self.load(name).operations().current().metadataFileLocation()))

    def _make(self, name: str, version: int, more: Mapping[str, str] | None = None) -> str:
        """Write the small table, in two commits, with `more` properties; returns its metadata file."""
        jvm = self.workshop.jvm
        types = jvm.org.apache.iceberg.types
        text = getattr(types, "Types$StringType").get()
        field = getattr(types, "Types$NestedField").optional
        columns = self.workshop.gateway.new_array(getattr(types, "Types$NestedField"), 3)
        for i, (column, kind) in enumerate(
            (("id", getattr(types, "Types$IntegerType").get()), ("v", text), ("p", text))
        ):
            columns[i] = field(i + 1, column, kind)
        schema = jvm.org.apache.iceberg.Schema(columns)
        properties = jvm.java.util.HashMap()
        for key, value in {**PROPERTIES, "format-version": str(version), **(more or {})}.items():
            properties.put(key, value)
        spec = jvm.org.apache.iceberg.PartitionSpec.builderFor(schema).identity("p").build()
        builder = (
            self.catalog.buildTable(self.identifier(name), schema).withPartitionSpec(spec).withProperties(properties)
        )
        java = builder.create()
        for i, rows in enumerate(ROWS, 1):
            java.newAppend().appendFile(
                self.workshop.data_file(java, f"base-{i}.parquet", rows, f"p={rows[0]['p']}")
            ).commit()
        return str(java.operations().current().metadataFileLocation())

    def unused(self, kind: str) -> str:
        """A name that no table of the bench has."""
        return f"{kind}_{next(self._runs)}"

    def fresh(self, version: int = 2, own: bool = False, properties: Mapping[str, str] | None = None) -> str:
        """A new table as the base table is, with more properties; returns its name. `own`: it shares no file with
        another, so that files may be removed."""
        name = self.unused("run")
        with self._lock:
            if own:
                self._make(name, version, properties)
                return name
            if version not in self._bases:
                self._bases[version] = self._make(f"base_v{version}", version)
        base = Path(self._bases[version].removeprefix("file:"))
        folder = base.parents[2] / name / "metadata"
        folder.mkdir(parents=True)
        raw = json.loads(base.read_text()) | {"location": f"file:{folder.parent}", "table-uuid": str(uuid.uuid4())}
        raw["properties"] = {**raw["properties"], **(properties or {})}
        copy = folder / f"{base.name.split('-')[0]}-{uuid.uuid4()}.metadata.json"
        copy.write_text(json.dumps(raw))
        self.catalog.registerTable(self.identifier(name), f"file:{copy}")
        return name

    def drop(self, name: str) -> None:
        """Forget a run's table and remove its folder; the files of the base table stay."""
        folder = str(self.load(name).location()).removeprefix("file:")
        self.catalog.dropTable(self.identifier(name), False)
        shutil.rmtree(folder, ignore_errors=True)
