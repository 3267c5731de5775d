"""A table of a Spark Connect server, opened by its name in a client's session: metadata, rows and plans are those by
path, names are resolved as Spark does, and nothing of the session changes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from explorer.spark_engine.java import find_java, resolve_jars, spark_home
from explorer.spark_engine.versions import packages
from tests.servers.running import running
from tests.support.ports import free_port

CLIENT = "ICEDIVE_CONNECT"
"""Names a folder with what pyspark's client of Spark Connect needs (requirements/connect.txt)."""
PROGRAM = """
import json, sys
import explorer
from explorer.errors import ExplorerError
from pyspark.sql.connect.session import SparkSession

spark = SparkSession.builder.remote(sys.argv[1]).getOrCreate()
settings = lambda: {row.key: row.value for row in spark.sql("SET").collect()}
spark.sql("CREATE NAMESPACE prod.shop")
spark.sql("CREATE TABLE prod.shop.t (id INT, name STRING) USING iceberg")
for row in ("(1, 'a'), (2, 'b')", "(3, 'c')"):
    spark.sql(f"INSERT INTO prod.shop.t VALUES {row}")
spark.sql("DELETE FROM prod.shop.t WHERE id = 1")
before, catalog = settings(), spark.catalog.currentCatalog()
table = explorer.open_table("prod.shop.t", spark=spark)
by_path = explorer.open_table(table.metadata.metadata_location)
told = {
    "rows": table.rows().to_arrow().to_pylist(),
    "by_path": by_path.rows().to_arrow().to_pylist(),
    "in_spark": [row.asDict() for row in spark.table("prod.shop.t").orderBy("id").collect()],
    "snapshots": len(table.inspect.snapshots()),
    "plan": table.plan("id = 3").value.left.files,
    "same": before == settings() and catalog == spark.catalog.currentCatalog(),
}
try:
    explorer.open_table(spark.table("prod.shop.t"))
except ExplorerError as error:
    told["frame"] = str(error)
try:
    table.maintain.run("compact", option={"rewrite-all": "true"}, allow_writes=True)
except ExplorerError as error:
    told["run"] = str(error)
try:
    table.refs.run("tag", name="kept", snapshot="main", allow_writes=True)
except ExplorerError as error:
    told["tag"] = str(error)
for said in ("run", "tag"):
    statement = told[said].partition("spark.sql(")[2]
    told[f"{said} by hand"] = len(spark.sql(eval(statement.rpartition(")")[0])).collect())
after = table.refresh()
told["after"] = [len(after.inspect.snapshots()), sorted(row["name"] for row in after.inspect.refs())]
print(json.dumps(told))
"""
NAMES = """
import json, sys
from pyspark.sql.connect.session import SparkSession
from tests.support.spark_names import compare_names, make_tables

spark = SparkSession.builder.remote(sys.argv[1]).getOrCreate()
make_tables(spark)
print(json.dumps(compare_names(spark)))
"""


@pytest.fixture(scope="module")
def connect(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a Spark Connect server with a catalog `prod`."""
    if CLIENT not in os.environ:
        pytest.skip(
            f"Spark Connect: ${CLIENT} names no folder with its client's packages (make test-servers fills one)"
        )
    folder, port, java = tmp_path_factory.mktemp("connect"), free_port(), find_java()
    settings = {
        "spark.connect.grpc.binding.port": port,
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.sql.catalog.prod": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.prod.type": "hadoop",
        "spark.sql.catalog.prod.warehouse": folder / "warehouse",
        "spark.sql.catalog.other": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.other.type": "hadoop",
        "spark.sql.catalog.other.warehouse": folder / "other",
        "spark.ui.enabled": "false",
        "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",  # for tags
    }
    jars = ",".join(map(str, resolve_jars(java, packages())))
    command = [f"{spark_home()}/bin/spark-submit", "--class", "org.apache.spark.sql.connect.service.SparkConnectServer",
               "--master", "local[1]", "--driver-memory", "1g", "--jars", jars]  # fmt: skip
    command += [word for name, value in settings.items() for word in ("--conf", f"{name}={value}")]
    with running(command, folder / "connect.log", port, {"JAVA_HOME": str(Path(java.command).parents[1])}):
        yield f"sc://127.0.0.1:{port}"


def told_by(program: str, address: str) -> Any:
    """What a client of Spark Connect prints as JSON, in a process of its own."""
    here = [os.environ[CLIENT], str(Path(__file__).parents[2])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(here)}
    done = subprocess.run(
        [sys.executable, "-c", program, address], env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


def test_a_table_of_spark_connect_is_that_by_path(connect: str) -> None:
    told: dict[str, Any] = told_by(PROGRAM, connect)
    rows = [{"id": 2, "name": "b"}, {"id": 3, "name": "c"}]
    for way in ("rows", "by_path", "in_spark"):
        assert sorted(told[way], key=lambda row: row["id"]) == rows, way
    assert (told["snapshots"], told["plan"], told["same"]) == (3, 1, True)
    assert "give the table's name and spark" in told["frame"]
    assert "Spark Connect gives no JVM. Run the statement in your session: spark.sql(" in told["run"]
    assert "Run the statement in your session: spark.sql(" in told["tag"]
    assert (told["run by hand"], told["after"]) == (1, [4, ["kept", "main"]])


def test_names_are_resolved_as_spark_connect_does(connect: str) -> None:
    assert told_by(NAMES, connect) == {}
