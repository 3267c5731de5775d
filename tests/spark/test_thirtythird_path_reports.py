"""Remedies of the thirty-third reports of trouble with Iceberg tables, run as they are printed."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.cases.mini import Table
from tests.support import direct
from tests.support.thirtieth_tables import metadata_file

SPACE = "sandbox.thirtythirdpaths"
STORE = "s3://lake/wh"


def with_slashes(folder: Path, location: str) -> Table:
    """Three commits and a delete of a table in a location, whose paths are as a writer made them that adds a slash."""
    table = Table(str(folder), [(1, "id", "long")], location=location)
    for start in (0, 3, 6):
        table.append(table.parquet(f"{start}.parquet", {"id": [start, start + 1, start + 2]}))
    gone = table.position_delete("gone.parquet", [(f"{location}/data/0.parquet", 1)])
    delete = table.manifest("gone-m0.avro", [(1, gone)], content=1)
    table.snapshot("delete", [*table.lists[table.md["current-snapshot-id"]], delete], {"added-delete-files": "1"})
    table.write()
    return table


def statements(remedy: str, name: str) -> list[str]:
    """The statements of a remedy, on another table."""
    own = remedy.replace("your_catalog", "sandbox").replace("your_db.your_table", f"thirtythirdpaths.{name}")
    return re.findall(r"ALTER TABLE \S+ SET LOCATION '[^']+'|CALL \S+rewrite_data_files\(.*?'true'\)\)", own)


def places_of(spark: Any, name: str) -> list[str]:
    """Where Java writes a data file and a manifest of a table, before a file system makes one slash of several."""
    util = spark.sparkContext._jvm.org.apache.iceberg.spark.Spark3Util
    table = util.loadIcebergTable(spark._jsparkSession, name)
    provider = table.locationProvider()
    return [provider.newDataLocation("f"), table.operations().metadataFileLocation("m")]


@pytest.mark.parametrize("inner", ["t/", "/t", "/t/"])
def test_the_printed_rewrite_writes_paths_with_one_slash(spark: Any, inner: str, tmp_path: Path) -> None:
    stored = with_slashes(tmp_path / "stored", f"{STORE}/{inner}")
    [finding] = [f for f in direct.doctor(str(stored.folder), deep=True).findings if f.rule == "readers-differ"]
    name = f"t{len(inner)}{inner.count('/')}{inner.endswith('/')}".lower()
    here = with_slashes(tmp_path / "t", f"file://{tmp_path}/{inner}")
    spark.sql(f"CALL sandbox.system.register_table('thirtythirdpaths.{name}', '{metadata_file(here)}')")
    wanted = statements(finding.remedy, name)
    doubled = [path for path in places_of(spark, f"{SPACE}.{name}") if "//" in path.removeprefix("file://")]
    assert len(doubled) == (2 if inner.startswith("/") else 0)  # Java takes off a slash at the end by itself
    assert [one.split()[0] for one in wanted] == ["ALTER", "CALL"] if inner.startswith("/") else ["CALL"]
    for one in wanted:
        spark.sql(one.replace(STORE, f"file://{tmp_path}"))
    assert sorted(row.id for row in spark.table(f"{SPACE}.{name}").collect()) == [0, 2, 3, 4, 5, 6, 7, 8]
    paths = [row.file_path for row in spark.sql(f"SELECT file_path FROM {SPACE}.{name}.data_files").collect()]
    manifests = [row.path for row in spark.sql(f"SELECT path FROM {SPACE}.{name}.manifests").collect()]
    written = [*paths, *manifests, *places_of(spark, f"{SPACE}.{name}")]
    assert paths
    assert not [path for path in written if "//" in path.removeprefix("file://")]


def test_a_commit_by_spark_takes_the_slash_off(spark: Any, tmp_path: Path) -> None:
    table = Table(str(tmp_path / "t"), [(1, "id", "long")])
    table.append(table.parquet("a.parquet", {"id": [1]}))
    table.md["location"] += "/"
    table.save()
    spark.sql(f"CALL sandbox.system.register_table('thirtythirdpaths.ends', '{metadata_file(table)}')")
    spark.sql(f"INSERT INTO {SPACE}.ends VALUES (2)")
    newest = max((tmp_path / "t" / "metadata").glob("0*.metadata.json"))
    assert json.loads(newest.read_text())["location"] == f"file://{tmp_path}/t"


def test_what_readers_make_of_such_a_key(spark: Any) -> None:
    """Hadoop's Path folds slashes; S3FileIO's own URI keeps the key."""
    jvm = spark.sparkContext._jvm
    assert jvm.org.apache.hadoop.fs.Path("s3a://lake/db//data/a.parquet").toString() == "s3a://lake/db/data/a.parquet"
    loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    made = loader.loadClass("org.apache.iceberg.aws.s3.S3URI").getDeclaredConstructors()
    [of_path] = [one for one in made if one.getParameterCount() == 1]
    of_path.setAccessible(True)
    values = spark.sparkContext._gateway.new_array(jvm.Object, 1)
    values[0] = "s3://lake/db//data/a.parquet"
    uri = of_path.newInstance(values)
    method = uri.getClass().getDeclaredMethod("key", spark.sparkContext._gateway.new_array(jvm.Class, 0))
    method.setAccessible(True)
    key = method.invoke(uri, spark.sparkContext._gateway.new_array(jvm.Object, 0))
    assert key == "db//data/a.parquet"
