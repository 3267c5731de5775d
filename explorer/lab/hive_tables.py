"""Tables whose catalog is a folder: Iceberg's, which commit versions by rename, and Hive's, which consist of the files
in the folder."""

from __future__ import annotations

import os
import re
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from explorer.errors import NotPossible
from explorer.lab import java as reflect
from explorer.lab.planning import live_rows
from explorer.lab.sandbox import Bench
from explorer.spark_engine.failures import failure
from explorer.table import Table

SCHEMA = '{"type": "struct", "fields": [{"id": 1, "name": "fruit", "required": false, "type": "string"}]}'
PRICES = (
    '{"type": "struct", "fields": [{"id": 1, "name": "id", "required": false, "type": "int"}, '
    '{"id": 2, "name": "price", "required": false, "type": "int"}, '
    '{"id": 3, "name": "p", "required": false, "type": "string"}]}'
)
_KEEPING = re.compile(r"(ANALYZE|REFRESH|MSCK\s+REPAIR)\s+TABLE\s+t(\s+[A-Za-z][A-Za-z_, ]*)?", re.IGNORECASE)
RENAME_STEPS = ("load", "write", "look", "rename")
"""The steps of a commit by rename: read the newest version; write the next metadata under a temporary name; check
whether the next version exists; rename. HadoopTableOperations does the last two under a lock of its process."""


class FolderTable:
    """A table of one row in a new folder of the bench. Its current version is the largest vN.metadata.json (spec: "File
    System Tables"). Writers A and B each append a row with their name, one step at a time. A rename replaces an
    existing file. `events` says what happened."""

    def __init__(self, bench: Bench) -> None:
        self.bench, jvm = bench, bench.workshop.jvm
        session: Any = bench.spark._jsparkSession  # type: ignore[attr-defined]
        self.tables = jvm.org.apache.iceberg.hadoop.HadoopTables(session.sessionState().newHadoopConf())
        self.folder = bench.home / "folders" / uuid.uuid4().hex
        java = self.tables.create(jvm.org.apache.iceberg.SchemaParser.fromJson(SCHEMA), f"file:{self.folder}")
        java.newAppend().appendFile(bench.workshop.data_file(java, "base.parquet", [{"fruit": "base"}])).commit()
        self.writers = {name: Renamer(self, name) for name in "AB"}
        self.events: list[str] = []

    def version(self, number: int) -> Path:
        """The metadata file of a version."""
        return self.folder / "metadata" / f"v{number}.metadata.json"

    def play(self, order: str) -> None:
        """Let writers take steps in an order such as AABBAABB. Writers that are done take none. Raises NotPossible for
        other writers."""
        for name in order:
            if name not in self.writers:
                raise NotPossible(f"there is no writer {name!r}: there are A and B")
            if not self.writers[name].is_done:
                self.events.append(f"{name} {self.writers[name].step()}")

    def table(self) -> Table:
        """The table as readers find it: its newest version."""
        number = max(int(path.name[1:].split(".")[0]) for path in self.folder.glob("metadata/v*.metadata.json"))
        return self.bench.open_table(f"file:{self.version(number)}")

    def rows(self) -> list[str]:
        """The rows that readers see."""
        return sorted(row["fruit"] for _, row in live_rows(self.table()))


class Renamer:
    """A writer of a FolderTable. `state` is its next step, or `committed`, or `refused`."""

    _java: Any
    _next: int
    _staged: Path

    def __init__(self, table: FolderTable, name: str) -> None:
        self.table, self.name, self.state = table, name, "load"

    @property
    def is_done(self) -> bool:
        """Whether it has no step left."""
        return self.state in ("committed", "refused")

    def step(self) -> str:
        """Take a step; return what it did."""
        next_state, action = getattr(self, f"_{self.state}")()
        self.state = next_state or RENAME_STEPS[RENAME_STEPS.index(self.state) + 1]
        return str(action)

    def _load(self) -> tuple[str, str]:
        self._java = self.table.tables.load(f"file:{self.table.folder}")
        name = str(self._java.operations().current().metadataFileLocation()).rsplit("/", 1)[-1]
        self._next = int(name[1:].split(".")[0]) + 1
        return "", f"loads {name}"

    def _write(self) -> tuple[str, str]:
        workshop = self.table.bench.workshop
        file = workshop.data_file(self._java, f"{self.name}.parquet", [{"fruit": self.name}])
        snapshot = self._java.newAppend().appendFile(file).apply()
        updated = reflect.with_snapshot(workshop, self._java.operations().current(), snapshot)
        self._staged = self.table.folder / "metadata" / f"{uuid.uuid4()}.metadata.json"
        output = self._java.io().newOutputFile(f"file:{self._staged}")
        workshop.iceberg("TableMetadataParser").write(updated, output)
        return "", "writes its row, manifest, list, and a metadata file under a name of its own"

    def _look(self) -> tuple[str, str]:
        if self.table.version(self._next).exists():
            return "refused", f"sees that v{self._next} is there, and is refused"
        return "", f"sees no v{self._next}"

    def _rename(self) -> tuple[str, str]:
        there = self.table.version(self._next).exists()
        os.replace(self._staged, self.table.version(self._next))
        lost = ", over the one that is there" if there else ""
        return "committed", f"renames its file to v{self._next}{lost}: committed"


class HiveFolder:
    """Prices in partitions p, one Parquet file each: p=a has ids 1 and 2, p=b has ids 3 and 4, all at a price of 10.
    The table consists of the files in its folder. Readers find columns by name."""

    UPDATE = ("removes p=a's file", "writes p=a's new file", "removes p=b's file", "writes p=b's new file")
    """The steps of an update of all prices to 20."""

    def __init__(self, bench: Bench) -> None:
        self.folder = bench.home / "folders" / uuid.uuid4().hex
        for p, ids in (("a", (1, 2)), ("b", (3, 4))):
            self.write(p, "part-0", ids, 10)

    def write(self, p: str, name: str, ids: Sequence[int], price: int) -> None:
        """Write one more file, with all rows at one price."""
        place = self.folder / f"p={p}"
        place.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.table({"id": ids, "price": [price] * len(ids)}), place / f"{name}.parquet")

    def update(self, until: int = len(UPDATE)) -> None:
        """Take the first `until` steps of UPDATE, then stop as if killed."""
        steps = (
            lambda: (self.folder / "p=a" / "part-0.parquet").unlink(),
            lambda: self.write("a", "part-1", (1, 2), 20),
            lambda: (self.folder / "p=b" / "part-0.parquet").unlink(),
            lambda: self.write("b", "part-1", (3, 4), 20),
        )
        for step in steps[:until]:
            step()

    def read(self, *columns: str) -> list[tuple[Any, ...]]:
        """Read the listed files; return their rows, sorted by the first column. A column that a file does not have is
        null."""
        rows: list[tuple[Any, ...]] = []
        for path in sorted(self.folder.glob("p=*/*.parquet")):
            rows += [tuple(row.get(c) for c in columns) for row in pq.read_table(path, partitioning=None).to_pylist()]
        return sorted(rows, key=lambda row: row[0])


def check_keeping(statement: str) -> None:
    """Raise NotPossible unless a statement maintains the statistics or the listing of a table t."""
    if not _KEEPING.fullmatch(statement.strip()):
        raise NotPossible("give ANALYZE TABLE t ..., REFRESH TABLE t or MSCK REPAIR TABLE t")


class AnalyzedTable:
    """The rows of a HiveFolder in two tables: one that Spark has analyzed and read, and one of Iceberg."""

    def __init__(self, bench: Bench) -> None:
        self._spark, self.folder = bench.spark, HiveFolder(bench)
        self._bench, self.name, self._iceberg = bench, f"prices_{uuid.uuid4().hex[:12]}", bench.new_name("prices")
        self._spark.sql(
            f"CREATE TABLE {self.name} (id BIGINT, price BIGINT, p STRING) USING parquet PARTITIONED BY (p) "
            f"LOCATION '{self.folder.folder}'"
        )
        self.run("MSCK REPAIR TABLE t")  # before this, Spark does not know the files in the folder
        self.run("ANALYZE TABLE t COMPUTE STATISTICS")
        schema = bench.workshop.jvm.org.apache.iceberg.SchemaParser.fromJson(PRICES)
        bench.catalog.buildTable(bench.identifier(self._iceberg), schema).create()
        self._append((1, 2, 3, 4))
        self._count()  # Spark caches the listing from now on

    def _append(self, ids: Sequence[int]) -> None:
        java = self._bench.load(self._iceberg)
        rows = [{"id": i, "price": 10, "p": "a" if i < 3 else "b"} for i in ids]
        java.newAppend().appendFile(self._bench.workshop.data_file(java, f"{ids[0]}.parquet", rows)).commit()

    def add(self) -> None:
        """Add two rows: to the folder as a file of another program, to Iceberg as a commit."""
        self.folder.write("b", "part-9", (5, 6), 10)
        self._append((5, 6))

    def run(self, statement: str) -> None:
        """Run a statement that calls the table t. Raises NotPossible unless it maintains statistics or the listing."""
        check_keeping(statement)
        try:
            self._spark.sql(re.sub(r"\bTABLE\s+t\b", f"TABLE {self.name}", statement.strip(), flags=re.IGNORECASE))
        except Exception as error:  # Spark raises many types of exceptions
            raise failure(error, self._bench.engine.is_lost) from error

    def row_counts(self) -> dict[str, int | None]:
        """The number of rows by four sources: the files in the folder, the metastore's statistics, Spark's count with
        its cached listing, and the summary of Iceberg's snapshot."""
        described = self._spark.sql(f"DESCRIBE EXTENDED {self.name}").collect()
        statistics = next((row.data_type for row in described if row.col_name == "Statistics"), "")
        match = re.search(r"(?<!\d)(\d+) rows", statistics)
        snapshot = self._bench.table(self._iceberg).metadata.current_snapshot
        return {
            "files": len(self.folder.read("id")),
            "statistics": int(match.group(1)) if match else None,
            "spark": self._count(),
            "iceberg": int(snapshot.summary["total-records"]) if snapshot else None,
        }

    def _count(self) -> int:
        [total] = self._spark.sql(f"SELECT count(id) AS n FROM {self.name}").collect()
        return int(total.n)

    def drop(self) -> None:
        """Drop both tables."""
        self._spark.sql(f"DROP TABLE IF EXISTS {self.name}")
        self._bench.drop(self._iceberg)
