"""What a data engineer asks first, of tables that real Iceberg wrote, whatever catalog names them and whatever store
has them; and that no secret is in any answer."""

from __future__ import annotations

import traceback
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner
from pyiceberg.catalog import load_catalog

from explorer.cli import main
from explorer.errors import TableNotFound
from explorer.spark_engine.fileio import java_file_io
from explorer.spark_engine.read_queue import ReadSession
from explorer.storage.catalogs import catalogs
from tests.servers.page import on_the_page
from tests.servers.shown import by_spark, on_screen, when_refused
from tests.support import direct

if TYPE_CHECKING:
    from tests.servers.conftest import Store

WRITER = "servers_writer"
MODES = {"rewritten": ("2", "copy-on-write"), "marked": ("2", "merge-on-read"), "vectors": ("3", "merge-on-read")}
"""Tables, and their format version and delete mode."""
KEPT = [0, 1, 2, 4, 5, 6, 7]


def write(reads: ReadSession, warehouse: str, store: Mapping[str, str], folder: Path) -> dict[str, str]:
    """By Spark, below `warehouse` in the store with these properties: of each of MODES a table of three commits, the
    last of which deletes a row. Their metadata files, by name."""
    opens = java_file_io(warehouse, store)
    assert opens.bundle is not None
    reads.engine.require(opens.bundle)
    spark: Any = reads.engine.session()
    settings = {
        "": "org.apache.iceberg.spark.SparkCatalog", ".type": "jdbc", ".uri": f"jdbc:sqlite:{folder}/writer.db",
        ".jdbc.schema-version": "V1", ".warehouse": warehouse, ".io-impl": opens.implementation,
        **{f".{key}": value for key, value in opens.properties.items()},
    }  # fmt: skip
    name = f"{WRITER}_{folder.name}".replace("-", "_")
    for key, value in settings.items():
        spark.conf.set(f"spark.sql.catalog.{name}{key}", value)
    written = {}
    for table, (version, mode) in MODES.items():
        full = f"{name}.shop.{table}"
        spark.sql(
            f"CREATE TABLE {full} (id INT, fruit STRING) USING iceberg "
            f"TBLPROPERTIES ('format-version'='{version}', 'write.delete.mode'='{mode}')"
        )
        for rows in ("range(5)", "range(5, 8)"):
            spark.sql(f"INSERT INTO {full} SELECT /*+ COALESCE(1) */ CAST(id AS INT), 'fig' FROM {rows}")
        spark.sql(f"DELETE FROM {full} WHERE id = 3")
        [newest] = spark.sql(f"SELECT file FROM {full}.metadata_log_entries ORDER BY timestamp DESC LIMIT 1").collect()
        written[table] = str(newest.file)
    for key in settings:
        spark.conf.unset(f"spark.sql.catalog.{name}{key}")
    return written


def register(name: str, properties: Mapping[str, str], tables: Mapping[str, str]) -> None:
    """Put written tables into a catalog, below `shop`."""
    catalog = load_catalog(name, **properties)
    catalog.create_namespace("shop")
    for table, metadata in tables.items():
        catalog.register_table(("shop", table), metadata)


@dataclass
class Engineer:
    """Who asks, with Spark and a page; and nothing that is shown or logged holds one of the `secrets`."""

    reads: ReadSession
    monkeypatch: pytest.MonkeyPatch
    caplog: pytest.LogCaptureFixture
    folder: Path
    page: bool
    """Whether what the page is sent is looked at too."""

    def configures(self, name: str, properties: Mapping[str, str]) -> None:
        """A catalog, in the environment."""
        for key, value in properties.items():
            inner = key.upper().replace("-", "_").replace(".", "__")
            self.monkeypatch.setenv(f"PYICEBERG_CATALOG__{name.upper()}__{inner}", value)

    def asks(self, name: str, secrets: Iterable[str]) -> None:
        """List, open, entries, diff, rows, SQL and fate."""
        self.caplog.set_level("INFO")
        said = _ask(name, self.reads)
        if self.page:
            said += on_the_page(f"{name}.shop.marked", self.reads)
        no_secret(secrets, [*said, *by_spark(self.reads), self.caplog.text])

    def is_refused(self, name: str, secrets: Iterable[str], store: Store) -> None:
        """The same where the store, from which nothing is kept, refuses everything."""

        def refuse() -> None:
            self.monkeypatch.setenv("ICEDIVE_CACHE", str(self.folder / "empty"))
            store.proxy.fault = lambda request: "refuse"

        no_secret(secrets, when_refused(f"{name}.shop.marked", self.reads, refuse, self.page))


def _ask(name: str, reads: ReadSession) -> list[str]:
    assert ("shop",) in catalogs.namespaces(name)
    listed = [table.identifier for table in catalogs.tables_in(name, ("shop",))]
    assert listed == sorted(f"shop.{table}" for table in MODES)
    said = [str(listed)]
    for table, (version, mode) in MODES.items():
        said += _ask_table(f"{name}.shop.{table}", version, mode, reads)
    with pytest.raises(TableNotFound, match=r"it has: shop\.") as near:
        direct.open_table(f"{name}.shop.reritten")
    said += traceback.format_exception(near.value)
    full = f"{name}.shop.marked"
    for command in (
        ["catalog", "tables", name], ["catalog", "namespaces", name], ["show", full], ["inspect", "entries", full],
        ["diff", full, "snapshot-1", "main"], ["data", "history", full, "id = 3"],
        ["data", "diff", full, "snapshot-2", "main"], ["inspect", "deletes", full],
    ):  # fmt: skip
        for output in ("text", "json"):
            result = CliRunner().invoke(main, [*command, "--output", output])
            assert result.exit_code == 0, (command, result.output)
            said.append(result.output)
    return said + on_screen(full)


def no_secret(secrets: Iterable[str], said: Iterable[str]) -> None:
    """Each text is looked at."""
    for secret in secrets:
        assert not [text[max(0, text.find(secret) - 200) :][:300] for text in said if secret in text]


def _ask_table(full: str, version: str, mode: str, reads: ReadSession) -> list[str]:
    table = direct.open_table(full)
    assert table.metadata.format_version == int(version)
    assert not table.problems
    merges = mode == "merge-on-read"
    assert len(table.entries()) == 3
    assert [file.kind for file in table.deletes().files.deletes] == (
        [] if not merges else ["position_deletes" if version == "2" else "deletion_vector"]
    )
    change = table.diff("snapshot-2", "main")
    assert (len(change.added), len(change.removed)) == ((1, 0) if merges else (1, 1))
    inserted = table.row_diff(None, "main").changes.inserted.to_pylist()  # rows without Spark
    assert sorted(row["id"] for row in inserted) == KEPT
    assert [row["id"] for row in table.row_diff("snapshot-2", "main").changes.deleted.to_pylist()] == [3]
    assert [event.what for event in table.row_history("id = 3").events] == ["appeared", "deleted"]
    assert sorted(row["id"] for row in table.rows(session=reads)) == KEPT
    assert sorted(row["id"] for row in table.rows("snapshot-1", where="id > 2", session=reads)) == [3, 4]
    gone = table.sql("SELECT id FROM t@snapshot-2 EXCEPT SELECT id FROM t", session=reads)
    assert [row["id"] for row in gone] == [3]
    assert not table.problems
    return [repr(table), repr(table.reader.location), repr(table.reader.storage), repr(table.tree)]
