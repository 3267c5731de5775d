"""Tables that are elsewhere than they say: Spark reads them where the reader does, or says what it looked for."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from explorer.errors import OutsideRoots, UnreadableFile
from explorer.spark_engine.read_queue import ReadFailed, ReadSession
from explorer.spark_engine.spark import SparkEngine
from explorer.spark_engine.tables import mounts
from tests.security.test_before_spark import rewrite
from tests.support import direct
from tests.support.small_tables import edit_metadata, in_catalog, make_table

NAME = "sandbox.demo.to_be_moved"
ROWS = [1, 2, 4, 5, 6, 7, 8, 9]


@pytest.fixture(scope="module")
def reads(engine: SparkEngine) -> ReadSession:
    return ReadSession(engine)


@pytest.fixture
def made(sandbox: Path, engine: SparkEngine) -> Iterator[Path]:
    """A table with a copy-on-write and a position delete; its own catalog forgets it."""
    spark = engine.session()
    location = sandbox / "warehouse" / "laws" / "to_be_moved"
    shutil.rmtree(location, ignore_errors=True)
    spark.sql(f"DROP TABLE IF EXISTS {NAME}")
    spark.sql(
        f"CREATE TABLE {NAME} (id INT) USING iceberg LOCATION '{location}' TBLPROPERTIES ('format-version'='2', "
        "'write.delete.mode'='copy-on-write')"
    )
    spark.sql(f"INSERT INTO {NAME} SELECT /*+ COALESCE(1) */ id FROM range(10)")
    spark.sql(f"DELETE FROM {NAME} WHERE id = 0")
    spark.sql(f"ALTER TABLE {NAME} SET TBLPROPERTIES ('write.delete.mode'='merge-on-read')")
    spark.sql(f"DELETE FROM {NAME} WHERE id = 3")
    yield location
    spark.sql(f"DROP TABLE {NAME}")
    shutil.rmtree(location, ignore_errors=True)


def ids(table: direct.Table, reads: ReadSession, version: str | None = None) -> list[int]:
    return sorted(r["id"] for r in table.rows(version, session=reads))


def ruin(folder: Path) -> None:
    """Whoever reads rows here fails."""
    for path in (*folder.rglob("*.avro"), *folder.rglob("*.parquet")):
        path.write_bytes(b"ruin")


def renamed(table: Path, old: str, new: str) -> None:
    """Have all metadata of a table name another place."""

    def change(schema: Any, records: list[Any]) -> None:
        text = json.dumps(records, default=lambda b: {"b": b.hex()})
        records[:] = json.loads(
            text.replace(old, new), object_hook=lambda o: bytes.fromhex(o["b"]) if set(o) == {"b"} else o
        )

    for path in (table / "metadata").glob("*.avro"):
        rewrite(path, change)
    edit_metadata(table, lambda data: data.update(json.loads(json.dumps(data).replace(old, new))))


@pytest.mark.parametrize("name", ["copy", "a copy, of 100% & ${user.home} #1?"])
def test_a_copy_is_read_as_the_reader_does(made: Path, reads: ReadSession, tmp_path: Path, name: str) -> None:
    copy = tmp_path / name
    shutil.copytree(made, copy)
    ruin(made)
    table = direct.open_table(str(copy))
    assert ids(table, reads) == ROWS
    assert ids(table, reads, "snapshot-1") == [*range(10)]
    query = "SELECT count(*) AS n, max(b.id) AS most FROM t@snapshot-1 a JOIN t b USING (id)"
    assert table.sql(query, session=reads)[0] == {"n": 8, "most": 9}
    [data] = {r["_file"] for r in table.rows(provenance=True, session=reads)}
    assert len(table.file_rows(data)) == 9


def test_parts_that_went_elsewhere(made: Path, reads: ReadSession, tmp_path: Path) -> None:
    shutil.copytree(made, tmp_path / "copy")
    shutil.move(tmp_path / "copy" / "data", tmp_path / "disk 2")
    ruin(made)
    lost = direct.open_table(str(tmp_path / "copy"))
    with pytest.raises((ReadFailed, UnreadableFile), match=r"to_be_moved/data/.*parquet.*does not exist"):
        ids(lost, reads)
    moves = {str(made / "data"): str(tmp_path / "disk 2")}
    assert ids(direct.open_table(str(tmp_path / "copy"), relocate=moves), reads) == ROWS


def test_data_that_moved_and_metadata_that_stayed(reads: ReadSession, tmp_path: Path) -> None:
    table = make_table(tmp_path / "old", 3)
    shutil.move(table / "data", tmp_path / "new")
    (table / "data").mkdir()
    moves = {f"file:{table}/data": str(tmp_path / "new")}
    assert ids(direct.open_table(str(table), relocate=moves), reads) == [0, 1, 2, 100, 101, 102]


@pytest.mark.parametrize(
    "place",
    ["data/persistent/t", "file://data/persistent/t", "s3a://bucket.a-b/t", "s3://bucket", "abfss://c@a.dfs.x.net/t"],
)
def test_places_that_never_were_here(place: str, reads: ReadSession, tmp_path: Path) -> None:
    table = make_table(tmp_path / "t", 2)
    renamed(table, f"file://{table}", place)
    opened = direct.open_table(str(table))
    assert not [p for p in opened.problems if p.severity == "error"]
    assert {f["file_path"].startswith(place) for f in opened.files()} == {True}
    assert ids(opened, reads) == [0, 1, 100, 101]
    for file in (table / "data").glob("*.parquet"):
        file.unlink()
    with pytest.raises((ReadFailed, UnreadableFile), match=f"{place}/data/"):
        ids(opened, reads)


def test_a_catalogs_table_whose_store_was_mirrored(reads: ReadSession, tmp_path: Path) -> None:
    from pyiceberg.catalog.sql import SqlCatalog

    table = make_table(tmp_path / "t", 2)
    own = in_catalog(table) | {"warehouse": "s3://gone"}
    renamed(table, f"file://{table}", "s3://gone/db/t")
    catalog = SqlCatalog("small", **own)
    from sqlalchemy import text

    with catalog.engine.begin() as connection:
        statement = "UPDATE iceberg_tables SET metadata_location = replace(metadata_location, :old, 's3://gone/db/t')"
        connection.execute(text(statement), {"old": f"file://{table}"})
    catalog.engine.dispose()
    opened = direct.open_table("db.t", "small", own, relocate={"s3a://gone/db": str(table.parent)})
    assert ids(opened, reads) == [0, 1, 100, 101]
    assert not opened.problems
    assert ids(opened.refresh(), reads) == [0, 1, 100, 101]


def test_what_a_table_names_is_no_root(made: Path, reads: ReadSession, tmp_path: Path) -> None:
    table = make_table(tmp_path / "t", 1, **{"write.data.path": f"file://{tmp_path}/apart"})
    opened = direct.open_table(str(table))
    with pytest.raises(OutsideRoots, match=r"names .*apart as its write.data.path: add that as a root \(--root\)"):
        ids(opened, reads)
    assert ids(direct.open_table(str(table), roots=[str(tmp_path / "apart")]), reads) == [0, 100]


def test_a_place_chooses_no_setting() -> None:
    """What a stranger's metadata names becomes names of Hadoop's settings: of mounts, and of nothing else."""
    places = ["viewfs.overload.scheme.target.file://x/t", "s3a.endpoint://x/t", "x-y://b/t", "s3://b.link./t", "/t"]
    settings = mounts([(place, "/here") for place in places], "me")
    assert {k for k in settings if not k.startswith("fs.viewfs.mounttable.")} == {
        "fs.defaultFS", "fs.viewfs.overload.scheme.target.file.impl",
        *(f"fs.{s}.impl{end}" for s in ("s3", "s3a", "s3n", "file") for end in ("", ".disable.cache")),
    }  # fmt: skip
    assert settings["fs.viewfs.overload.scheme.target.file.impl"] == "org.apache.hadoop.fs.LocalFileSystem"
    assert {v for k, v in settings.items() if not k.endswith("homedir") and ".link." in k} == {"file:///here"}
