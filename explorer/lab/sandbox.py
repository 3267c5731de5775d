"""The place of the lab's runs: a catalog in a temporary folder, with one small table that every run begins with."""

from __future__ import annotations

import functools
import itertools
import json
import shutil
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
from explorer.storage.scratch import make_scratch, remove_scratch
from explorer.table import Table

CATALOG, NAMESPACE = "lab", "runs"
ROWS = (({"id": 1, "v": "one", "p": "a"}, {"id": 2, "v": "two", "p": "a"}), ({"id": 3, "v": "three", "p": "b"},))
"""The two data files of the small table, in partitions a and b; each has its own snapshot."""
PROPERTIES = {"commit.retry.num-retries": "4", "commit.retry.min-wait-ms": "1", "commit.retry.max-wait-ms": "5"}


class Bench:
    """A catalog in a temporary folder, which is removed with this object. A small table of each format version is
    written once. Each run begins with a copy of its metadata in a new folder, so that a fresh table costs one file and
    one row. `engine` is the Spark of this process by default."""

    def __init__(self, engine: SparkEngine | None = None) -> None:
        self.engine = engine = engine or shared_engine()
        self.home = make_scratch("lab")
        weakref.finalize(self, remove_scratch, self.home)
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
        """Iceberg's identifier for a name in the lab's namespace."""
        return self.workshop.iceberg("catalog.TableIdentifier").parse(f"{NAMESPACE}.{name}")

    def load(self, name: str) -> Any:
        """Load a table as a new org.apache.iceberg.Table."""
        return self.catalog.loadTable(self.identifier(name))

    def open_table(self, location: str, beside: Sequence[Mapping[str, Any]] = ()) -> Table:
        """Open a table by its metadata file; files in the lab's folder may be read. `beside` are snapshots to show in
        addition."""
        place = locate(location)
        reader = TableReader(
            replace(place, catalog=CATALOG, name=f"{CATALOG}.{NAMESPACE}.{place.name}"), [str(self.home)]
        )
        if beside:
            raw = {**reader.metadata.raw, "snapshots": [*reader.metadata.raw.get("snapshots", []), *beside]}
            reader.metadata, _ = parse_metadata(json.dumps(raw).encode(), location)
        return Table(reader)

    def table(self, name: str) -> Table:
        """Open the current version of a table."""
        return self.open_table(str(self.load(name).operations().current().metadataFileLocation()))

    def _make(self, name: str, version: int, more: Mapping[str, str] | None = None) -> str:
        """Write the small table in two commits, with `more` properties; return its metadata file."""
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

    def new_name(self, kind: str) -> str:
        """A table name that is not used yet."""
        return f"{kind}_{next(self._runs)}"

    def fresh(self, version: int = 2, own: bool = False, properties: Mapping[str, str] | None = None) -> str:
        """Make a copy of the base table, with more properties; return its name. With `own`, it shares no file with
        another table, so that its files may be removed."""
        name = self.new_name("run")
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
        """Drop a run's table and remove its folder. The files of the base table stay."""
        folder = str(self.load(name).location()).removeprefix("file:")
        self.catalog.dropTable(self.identifier(name), False)
        shutil.rmtree(folder, ignore_errors=True)


_SHARED = threading.Lock()


def shared_bench() -> Bench:
    """Return the bench of this process; a new one after Spark was restarted."""
    with _SHARED:
        return _bench_of(shared_engine().session())


@functools.lru_cache(1)
def _bench_of(session: Any) -> Bench:
    return Bench()
