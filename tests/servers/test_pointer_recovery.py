"""Catalogs that point to a metadata file that is gone, on real servers: what `catalog pointer` finds, and that the
statement which it prints does what it says there."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
import pyarrow as pa
import pytest
from pyiceberg.catalog import load_catalog

from explorer.spark_engine.fileio import java_file_io
from explorer.spark_engine.read_queue import ReadSession
from tests.servers.conftest import EVERY, Store
from tests.servers.running import metastore, postgres_server, rest_server

SCHEMA = pa.schema([("id", pa.int64())])
COMMITS = 3


@pytest.fixture
def all_servers() -> None:
    """Only for `make test-servers`."""
    if not EVERY:
        pytest.skip("part of `make test-servers` ($ICEDIVE_EVERY_SERVER)")


@dataclass
class Broken:
    """A table of COMMITS appends of a row whose last metadata file is gone, and its metadata files."""

    name: str
    properties: Mapping[str, str]
    environment: Mapping[str, str]
    files: list[str]

    def ask(self) -> dict[str, Any]:
        """What `catalog pointer` answers, in a process of its own that has nothing in its cache."""
        command = ["catalog", "pointer", f"{self.name}.db.t", "--output", "json"]
        run = [sys.executable, "-c", "from explorer.cli import main; main()", *command]
        done = subprocess.run(run, env=self.environment, capture_output=True, text=True)
        assert done.returncode == 3, done.stderr
        answer: dict[str, Any] = json.loads(done.stdout)
        assert answer["opened"]["state"] == "gone"
        assert answer["recovery"]["metadata_location"] == self.files[-2]
        assert [one["added_rows"] for one in answer["recovery"]["lost"]] == [1]
        assert "hush" not in done.stdout + done.stderr
        return answer

    def is_mended(self) -> None:
        """The table has the rows of the commit before, takes a commit, and no file is gone."""
        table = load_catalog(self.name, **self.properties).load_table("db.t")
        assert table.metadata_location == self.files[-2]
        assert table.scan().to_arrow().num_rows == COMMITS - 1
        table.append(pa.table({"id": [7]}, SCHEMA))
        assert table.scan().to_arrow().num_rows == COMMITS


def break_table(
    name: str, properties: dict[str, str], store: Store, tmp_path: Path, is_registered: bool = False
) -> Broken:
    """Write a table, remove its last metadata file, and configure its catalog by the environment."""
    catalog = load_catalog(name, **properties)
    catalog.create_namespace("db")
    own = {"type": "sql", "uri": f"sqlite:///{tmp_path}/writer.db", "warehouse": f"s3://warehouse/{tmp_path.name}"}
    writer = catalog
    if is_registered:
        writer = load_catalog("writer", **own, **store.properties(endpoint=store.direct))
        writer.create_namespace("db")
    table = writer.create_table("db.t", SCHEMA)
    files = [table.metadata_location]
    for row in range(COMMITS):
        table.append(pa.table({"id": [row]}, SCHEMA))
        files.append(table.metadata_location)
    if is_registered:
        catalog.register_table("db.t", files[-1])
    keys = {"aws_access_key_id": "key", "aws_secret_access_key": "hush", "region_name": "us-east-1"}
    client = boto3.client("s3", endpoint_url=store.direct, **keys)
    client.delete_object(Bucket="warehouse", Key=files[-1].removeprefix("s3://warehouse/"))
    environment = {**os.environ, "ICEDIVE_CACHE": str(tmp_path / "empty"), "AWS_ACCESS_KEY_ID": "key"}
    environment |= {"AWS_SECRET_ACCESS_KEY": "hush", "AWS_EC2_METADATA_DISABLED": "true"}
    for key, value in properties.items():
        inner = key.upper().replace("-", "_").replace(".", "__")
        environment[f"PYICEBERG_CATALOG__{name.upper()}__{inner}"] = value
    return Broken(name, properties, environment, files)


def run_python(broken: Broken, statement: str) -> None:
    """Run a statement as somebody pastes it who has the same configuration."""
    done = subprocess.run([sys.executable, "-c", statement], env=broken.environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_rest(store: Store, tmp_path: Path) -> None:
    """The server answers no table then, but an error in which it names the file."""
    own = {
        "s3.access-key-id": "key",
        "s3.secret-access-key": "hush",
        "s3.endpoint": store.direct,
        "token": "hush-token",
    }
    own |= {"warehouse": f"s3://warehouse/{tmp_path.name}", "endpoint": store.direct}
    with rest_server(tmp_path, own) as address:
        properties = {"type": "rest", "uri": f"{address}/plain", "token": "hush-token"}
        broken = break_table("served", properties | store.properties(endpoint=store.direct), store, tmp_path)
        answer = broken.ask()
        assert answer["stored"]["metadata-location"] == broken.files[-1]
        assert answer["stored"]["error"].startswith("the server cannot load the table: it says that s3://")
        assert answer["recovery"]["evidence"] == "its version is 2, that of the file that is gone 3"
        assert answer["recovery"]["language"] == "Python"
        run_python(broken, answer["recovery"]["statement"])
        broken.is_mended()


def test_glue(store: Store, tmp_path: Path) -> None:
    if not shutil.which("aws"):
        pytest.skip("the command line of AWS is not on the PATH")
    properties = {
        "type": "glue", "glue.endpoint": store.direct, "glue.region": "us-east-1", "glue.access-key-id": "key",
        "glue.secret-access-key": "hush-glue", "glue.skip-archive": "false", "warehouse": f"s3://warehouse/{tmp_path.name}",
        **store.properties(endpoint=store.direct),
    }  # fmt: skip
    broken = break_table("lake", properties, store, tmp_path)
    glue = load_catalog("lake", **properties).glue  # type: ignore[attr-defined]
    before = glue.get_table(DatabaseName="db", Name="t")["Table"]
    answer = broken.ask()
    assert [version["state"] for version in answer["versions"]] == ["gone", "there", "there", "there"]
    assert answer["recovery"]["language"] == "shell"
    done = subprocess.run(
        ["bash", "-ec", answer["recovery"]["statement"]],
        env=broken.environment, cwd=tmp_path, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    after = glue.get_table(DatabaseName="db", Name="t")["Table"]
    changed = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
    assert changed <= {"Parameters", "UpdateTime", "VersionId"}
    assert after["Parameters"] == {
        **before["Parameters"],
        "metadata_location": broken.files[-2],
        "previous_metadata_location": broken.files[-1],
    }
    broken.is_mended()


def test_hive(all_servers: None, store: Store, tmp_path: Path) -> None:
    with metastore(tmp_path) as address:
        properties = {
            "type": "hive", "uri": address, "warehouse": "s3://warehouse/hive", "ugi": "me:hush-ugi",
            **store.properties(endpoint=store.direct),
        }  # fmt: skip
        broken = break_table("hive", properties, store, tmp_path, is_registered=True)
        answer = broken.ask()
        assert answer["recovery"]["language"] == "Python"
        run_python(broken, answer["recovery"]["statement"])
        table = load_catalog("hive", **properties).load_table("db.t")
        assert table.metadata_location == broken.files[-2]
        assert table.scan().to_arrow().num_rows == COMMITS - 1


def test_postgresql(all_servers: None, store: Store, tmp_path: Path) -> None:
    with postgres_server() as port:
        uri = f"postgresql+psycopg2://explorer:hush-password@127.0.0.1:{port}/postgres"
        properties = {"type": "sql", "uri": uri, "warehouse": f"s3://warehouse/{tmp_path.name}"}
        broken = break_table("ledger", properties | store.properties(endpoint=store.direct), store, tmp_path)
        answer = broken.ask()
        assert answer["recovery"]["language"] == "SQL"
        statement = answer["recovery"]["statement"]
        psql = ["psql", "-h", "127.0.0.1", "-p", str(port), "-U", "explorer", "-d", "postgres", "-c"]
        for changed in ("UPDATE 1", "UPDATE 0"):  # then the pointer is another
            secret = {**os.environ, "PGPASSWORD": "hush-password"}
            done = subprocess.run([*psql, statement], env=secret, capture_output=True, text=True)
            assert done.stdout.strip() == changed, done.stderr
        broken.is_mended()


def test_spark_cannot_drop_the_entry(all_servers: None, store: Store, reads: ReadSession, tmp_path: Path) -> None:
    """So the advice says: its DROP TABLE and register_table load the table first."""
    own = {"type": "sql", "uri": f"sqlite:///{tmp_path}/c.db", "warehouse": f"s3://warehouse/{tmp_path.name}"}
    broken = break_table("plain", own | store.properties(endpoint=store.direct), store, tmp_path)
    opens = java_file_io(own["warehouse"], store.properties(endpoint=store.direct))
    assert opens.bundle is not None
    reads.engine.require(opens.bundle)
    spark: Any = reads.engine.session()
    settings = {
        "": "org.apache.iceberg.spark.SparkCatalog", ".type": "jdbc", ".uri": f"jdbc:sqlite:{tmp_path}/c.db",
        ".jdbc.schema-version": "V1", ".warehouse": own["warehouse"], ".io-impl": opens.implementation,
        **{f".{key}": value for key, value in opens.properties.items()},
    }  # fmt: skip
    for key, value in settings.items():
        spark.conf.set(f"spark.sql.catalog.plain{key}", value)
    register = f"CALL plain.system.register_table(table => 'db.t', metadata_file => '{broken.files[-2]}')"
    for statement in ("DROP TABLE plain.db.t", register):
        with pytest.raises(Exception, match="NotFoundException") as refused:
            spark.sql(statement).collect()
        assert broken.files[-1] in str(getattr(refused.value, "java_exception", refused.value))
