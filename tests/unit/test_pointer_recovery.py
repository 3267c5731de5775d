"""The way back where a catalog points to a metadata file that is gone: each case is planted in a table of a catalog in
SQLite, and the statement is run there."""

from __future__ import annotations

import json
import shutil
import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from click.testing import CliRunner
from pyiceberg.catalog.sql import SqlCatalog

from explorer.cli import main
from explorer.spec.catalogs.entries import CatalogRecord
from explorer.spec.catalogs.pointer_statements import Target, pointer_statement

SCHEMA = pa.schema([("id", pa.int64())])


@dataclass
class Broken:
    """A table of four appends of two rows, in a catalog whose pointer can be set, and its metadata files."""

    folder: Path
    catalog: SqlCatalog
    files: list[str]

    def remove(self, at: int) -> None:
        """Remove a metadata file."""
        self.path(at).unlink()

    def path(self, at: int) -> Path:
        """Where a metadata file is."""
        return Path(self.files[at].removeprefix("file://"))

    def current(self, at: int) -> dict[str, Any]:
        """The current snapshot of a metadata file."""
        metadata = json.loads(self.path(at).read_text())
        return next(s for s in metadata["snapshots"] if s["snapshot-id"] == metadata["current-snapshot-id"])

    def point_to(self, location: str) -> None:
        """Set the pointer."""
        self.run(f"UPDATE iceberg_tables SET metadata_location = '{location}', previous_metadata_location = NULL")

    def run(self, statement: str) -> int:
        """Run a statement in the catalog's database; how many rows it changed."""
        with sqlite3.connect(self.folder / "catalog.db") as connection:
            changed = connection.execute(statement).rowcount
        connection.close()
        return changed

    def ask(self, *options: str) -> Any:
        """What `catalog pointer` answers."""
        told = CliRunner().invoke(main, ["catalog", "pointer", "ledger.db.t", "--output", "json", *options])
        assert told.exit_code == 3, told.output
        answer = json.loads(told.output)
        assert answer["opened"]["state"] == "gone"
        return answer["recovery"]

    def rows(self) -> int:
        """The rows that pyiceberg reads now."""
        return int(self.catalog.load_table("db.t").scan().to_arrow().num_rows)


@pytest.fixture
def broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Broken:
    own = {"type": "sql", "uri": f"sqlite:///{tmp_path}/catalog.db", "warehouse": str(tmp_path)}
    for key, value in own.items():
        monkeypatch.setenv(f"PYICEBERG_CATALOG__LEDGER__{key.upper()}", value)
    catalog = SqlCatalog("ledger", **own)
    catalog.create_namespace("db")
    table = catalog.create_table("db.t", SCHEMA)
    files = [table.metadata_location]
    for row in range(4):
        table.append(pa.table({"id": [row, row]}, SCHEMA))
        files.append(table.metadata_location)
    return Broken(tmp_path, catalog, files)


def test_the_file_before_is_the_way_back(broken: Broken) -> None:
    lost = broken.current(4)["snapshot-id"]
    broken.remove(4)
    found = broken.ask()
    assert found["metadata_location"] == broken.files[3]
    assert found["evidence"] == "the entry names it as previous_metadata_location"
    assert (found["rows"], found["is_later"], found["skipped"]) == (6, False, [])
    assert found["lost"] == [
        {"snapshot_id": lost, "added_files": 1, "added_rows": 2, "removed_files": 0, "removed_rows": 0}
    ]
    assert found["language"] == "SQL"
    assert broken.run(found["statement"]) == 1
    assert broken.rows() == 6
    assert broken.run(found["statement"]) == 0, "it changes nothing where the pointer is another"
    text = CliRunner().invoke(main, ["catalog", "pointer", "ledger.db.t"])
    assert text.exit_code == 0
    assert "gone" not in text.output


def test_text_says_what_is_lost_and_what_helps(broken: Broken) -> None:
    broken.remove(4)
    text = CliRunner().invoke(main, ["catalog", "pointer", "ledger.db.t"]).output
    assert "the newest metadata file whose manifest lists and manifests are there:" in text
    assert "going back loses changes of schema, properties and refs since then, and 1 snapshot" in text
    assert "to make the catalog point to it (SQL):\n  UPDATE iceberg_tables SET metadata_location = '" in text


@pytest.mark.parametrize("part", ["list", "manifest"])
def test_a_file_without_its_list_or_manifest_is_skipped(part: str, broken: Broken) -> None:
    middle, newest = broken.current(3), broken.current(4)
    manifest_list = Path(middle["manifest-list"].removeprefix("file://"))
    if part == "list":
        manifest_list.unlink()
    else:
        added = manifest_list.name.split("-", 3)[3].removesuffix(".avro")
        manifest_list.with_name(f"{added}-m0.avro").unlink()
    broken.remove(4)
    found = broken.ask()
    assert found["metadata_location"] == broken.files[2]
    assert [file["metadata_location"] for file in found["skipped"]] == [broken.files[3]]
    assert ("manifest list" if part == "list" else "the manifest ") in found["skipped"][0]["reason"]
    assert "does not exist" in found["skipped"][0]["reason"]
    assert [one["snapshot_id"] for one in found["lost"]] == [middle["snapshot-id"], newest["snapshot-id"]]
    assert [one["added_rows"] for one in found["lost"]] == [2, 2]
    assert broken.run(found["statement"]) == 1
    assert broken.rows() == 4


def test_a_later_file_loses_nothing(broken: Broken) -> None:
    """The catalog was restored from a backup, and the file of that time was removed since."""
    broken.point_to(broken.files[2])
    broken.remove(2)
    found = broken.ask()
    assert (found["metadata_location"], found["is_later"], found["lost"]) == (broken.files[4], True, [])
    assert broken.run(found["statement"]) == 1
    assert broken.rows() == 8


def test_a_file_of_another_table_is_no_way_back(broken: Broken) -> None:
    other = json.loads(broken.path(4).read_text())
    other["table-uuid"] = "00000000-0000-0000-0000-000000000001"
    stranger = broken.path(3).with_name("00003-00000000-0000-0000-0000-000000000001.metadata.json")
    stranger.write_text(json.dumps(other | {"metadata-log": []}))
    broken.remove(4)
    found = broken.ask()
    assert found["metadata_location"] == broken.files[3]
    broken.remove(3)
    found = broken.ask()
    assert found["metadata_location"] == str(stranger), "where nothing names its UUID, it may be of the table"
    assert found["evidence"] == "its version is 3, that of the file that is gone 4"


def test_a_file_of_the_same_version_that_nothing_names_is_no_way_back(broken: Broken) -> None:
    twin = broken.path(4).with_name("00004-00000000-0000-0000-0000-000000000001.metadata.json")
    shutil.copy(broken.path(4), twin)
    twin.write_text(json.dumps(json.loads(twin.read_text()) | {"metadata-log": []}))
    broken.remove(4)
    found = broken.ask()
    assert found["metadata_location"] == broken.files[3]
    assert found["skipped"] == [
        {
            "metadata_location": str(twin),
            "reason": "it is no earlier version than the file that is gone, and its log does not name that",
        }
    ]


def test_no_file_is_left(broken: Broken) -> None:
    for at in range(5):
        broken.remove(at)
    found = broken.ask()
    assert (found["metadata_location"], found["statement"]) == (None, None)
    assert found["advice"].startswith("No metadata file is left in its folder")


def test_a_table_that_was_moved_has_no_statement(broken: Broken, tmp_path: Path) -> None:
    broken.remove(4)
    shutil.copytree(tmp_path / "db", tmp_path / "moved" / "db")
    found = broken.ask("--relocate", f"{tmp_path}/db={tmp_path}/moved/db")
    assert found["metadata_location"].startswith(f"{tmp_path}/moved/db")
    assert found["statement"] is None
    assert found["advice"]


# -- statements -------------------------------------------------------------------------------------------------------
GONE, WANTED = "s3://b/db/t/metadata/2.metadata.json", "s3://b/db/t/metadata/1.metadata.json"
RECORDS = {
    "sql": CatalogRecord("sql", "", {"catalog_name": "ledger"}, database="sqlite"),
    "rest": CatalogRecord("rest", "", {}),
    "hive": CatalogRecord("hive", "", {}),
    "glue": CatalogRecord("glue", "", {"VersionId": "3"}, fields=("Name", "Parameters")),
}


def statement(kind: str, name: str = "t", wanted: str = WANTED, **properties: str) -> tuple[str, ...]:
    return pointer_statement(RECORDS[kind], Target("ledger", ("db", name), properties, GONE, wanted))[1]


@pytest.mark.parametrize("kind", RECORDS)
@pytest.mark.parametrize("strange", ["t'; DROP TABLE x; --", "-t", "a b", "a\nb", "`", "$(x)", "é", ""])
def test_no_strange_sign_is_in_a_statement(kind: str, strange: str) -> None:
    assert statement(kind)
    assert not statement(kind, name=strange)
    if strange != "-t":  # which is a path's part as any
        assert not statement(kind, wanted=f"s3://b/{strange or ' '}/1.metadata.json")


@pytest.mark.parametrize("kind", RECORDS)
def test_no_credential_is_in_a_statement(kind: str) -> None:
    assert not statement(kind, wanted="s3://key:hush@b/db/t/metadata/1.metadata.json")


def test_no_statement_where_none_was_tried() -> None:
    for record in (
        CatalogRecord("sql", "", {"catalog_name": "ledger"}, database="mysql"),
        CatalogRecord("sql", "", {"catalog_name": "(hidden)"}, database="sqlite"),
        CatalogRecord("glue", "", {}, fields=("Name",)),
    ):
        _, lines, words = pointer_statement(record, Target("ledger", ("db", "t"), {}, GONE, WANTED))
        assert (lines, bool(words)) == ((), True)
    assert not statement("glue", **{"glue.id": "123456789012"})
    assert not statement("glue", **{"glue.endpoint": "http://x$(y)"})


@pytest.mark.parametrize("kind", ["rest", "hive"])
def test_a_catalog_that_options_describe_has_no_statement_that_names_it(kind: str) -> None:
    target = Target("ledger", ("db", "t"), {}, GONE, WANTED, is_configured=False)
    assert pointer_statement(RECORDS[kind], target)[1] == ()


def test_glue_gets_its_region_and_endpoint() -> None:
    lines = statement("glue", **{"glue.region": "eu-west-1", "glue.endpoint": "http://127.0.0.1:5000", "x": "hush"})
    assert all(line.startswith("aws --region eu-west-1 --endpoint-url http://127.0.0.1:5000 glue ") for line in lines)
    assert "hush" not in str(lines)
