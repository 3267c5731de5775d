"""One table that Spark and pyiceberg both write: each deletes a row and reads every snapshot."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.table import Table as PyicebergTable

from explorer.errors import NotFoundInTable
from explorer.lab.sandbox import CATALOG, NAMESPACE, Bench
from explorer.queries.collection import Collection
from explorer.spark_engine.sql_guard.quoting import literal
from explorer.spec.text.units import count
from explorer.table import Table

SPARK, PYICEBERG = "Spark", "pyiceberg"
ENGINES = (SPARK, PYICEBERG)
FRUITS = ("apple", "banana", "cherry", "fig")
KINDS = {"added-position-delete-files": "position delete", "added-equality-delete-files": "equality delete"}


class SharedTable:
    """A table of four fruits in one data file, in the bench's catalog, whose write.delete.mode is merge-on-read."""

    def __init__(self, bench: Bench) -> None:
        self._bench, self.name = bench, bench.new_name("fruits")
        self._place = f"{CATALOG}.{NAMESPACE}.{self.name}"
        self._deletes: list[dict[str, str]] = []
        bench.spark.sql(
            f"CREATE TABLE {self._place} (fruit STRING) USING iceberg "
            "TBLPROPERTIES ('format-version' = '2', 'write.delete.mode' = 'merge-on-read')"
        )
        rows = ", ".join(f"({literal(fruit)})" for fruit in FRUITS)
        bench.spark.sql(f"INSERT INTO {self._place} SELECT /*+ COALESCE(1) */ * FROM VALUES {rows}")

    def delete(self, engine: str, fruit: str) -> None:
        """Have an engine delete a fruit.

        Args:
            engine: `Spark` or `pyiceberg`.
            fruit: The value of the row.

        Raises:
            NotFoundInTable: There is no such engine.
        """
        _check(engine)
        before = self.table()
        if engine == SPARK:
            command, warning = f"DELETE FROM t WHERE fruit = {literal(fruit)}", ""
            self._bench.spark.sql(command.replace(" t ", f" {self._place} ", 1))
        else:
            condition = f"fruit == {literal(fruit)}"
            command, warning = f'table.delete("{condition}")', self._delete_by_pyiceberg(condition)
        self._deletes.append({"engine": engine, "command": command, **_effect(before, self.table()), "says": warning})

    def _delete_by_pyiceberg(self, condition: str) -> str:
        """Delete the rows of a condition; return the warning of pyiceberg."""
        with self._pyiceberg() as table, warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", UserWarning)
            table.delete(condition)
        return "; ".join(str(one.message) for one in caught if one.category is UserWarning)

    @contextmanager
    def _pyiceberg(self) -> Iterator[PyicebergTable]:
        """The table as pyiceberg loads it."""
        home = self._bench.home
        catalog = SqlCatalog(
            CATALOG,
            uri=f"sqlite:///{home}/catalog.db?timeout=60",
            warehouse=f"file://{home}/warehouse",
            init_catalog_tables="false",
        )
        try:
            yield catalog.load_table(f"{NAMESPACE}.{self.name}")
        finally:
            catalog.engine.dispose()

    def table(self) -> Table:
        """The table as it is now."""
        return self._bench.table(self.name)

    def read(self, engine: str, snapshot: str) -> list[str]:
        """Have an engine read a snapshot.

        Args:
            engine: `Spark` or `pyiceberg`.
            snapshot: The snapshot, such as `snapshot-1`.

        Returns:
            The fruits that it sees, in the order of the alphabet.

        Raises:
            NotFoundInTable: There is no such engine or snapshot.
        """
        _check(engine)
        snapshot_id = self.table().resolve(snapshot).snapshot.snapshot_id
        if engine == SPARK:
            self._bench.spark.sql(f"REFRESH TABLE {self._place}")
            frame = self._bench.spark.sql(f"SELECT fruit FROM {self._place} VERSION AS OF {snapshot_id}")
            return sorted(row.fruit for row in frame.collect())
        with self._pyiceberg() as table:
            fruits: list[Any] = table.scan(snapshot_id=snapshot_id).to_arrow()["fruit"].to_pylist()
        return sorted(fruits)

    def deletes(self) -> Collection:
        """Return what each delete wrote.

        Returns:
            A row for each delete: the `engine`, its `command`, the `snapshot`, `delete files` and `data files` that
            it added and removed, in words, and what the engine `says`.
        """
        return Collection.of_rows(self._deletes, "deletes")

    def reads(self) -> Collection:
        """Have every engine read every snapshot.

        Returns:
            A row for each snapshot, with a column for each engine.
        """
        names = [one["snapshot"] for one in self.table().snapshots]
        rows = [
            {"snapshot": name, **{f"{engine} reads": ", ".join(self.read(engine, name)) for engine in ENGINES}}
            for name in names
        ]
        return Collection.of_rows(rows, "snapshots")

    def drop(self) -> None:
        """Drop the table and remove its files."""
        self._bench.drop(self.name)


def _check(engine: str) -> None:
    if engine not in ENGINES:
        raise NotFoundInTable(f"no engine {engine!r}: there are {' and '.join(ENGINES)}")


def _effect(before: Table, after: Table) -> dict[str, str]:
    """What a commit wrote: the kinds of delete files, and the rows of data files that it added and removed."""
    snapshot = after.snapshots[-1]
    change = after.diff(before.snapshots[-1]["snapshot-id"], snapshot["snapshot-id"])
    kinds = [
        f"{count(int(snapshot['summary'][key]), kind)}" for key, kind in KINDS.items() if key in snapshot["summary"]
    ]
    added = [one.record_count or 0 for one in change.added if one.kind == "data_file"]
    removed = [one.record_count or 0 for one in change.removed if one.kind == "data_file"]
    files = [
        f"{count(len(rows), 'file')} {verb} ({count(sum(rows), 'row')})"
        for verb, rows in (("added", added), ("removed", removed))
        if rows
    ]
    return {
        "snapshot": snapshot["snapshot"],
        "delete files": ", ".join(kinds) or "none",
        "data files": ", ".join(files) or "left as they are",
    }
