"""Catalogs as a configuration names them, over servers that are really there: Glue by moto, PostgreSQL where this
machine has it, and in `make test-servers` Hive's metastore and a store that is no moto."""

from __future__ import annotations

import json
import traceback
from collections.abc import Iterator
from pathlib import Path

import boto3
import pyarrow as pa
import pytest
from click.testing import CliRunner
from pyiceberg.catalog import load_catalog

from explorer.cli import main
from explorer.errors import ExplorerError, TableNotFound
from explorer.reports.maintenance.runs import preview
from tests.servers.asking import Engineer, register, write
from tests.servers.conftest import EVERY, Store
from tests.servers.running import metastore, postgres_server, versitygw
from tests.support import direct

SCHEMA = pa.schema([("id", pa.int64())])
SECRETS = ("hush-glue", "hush-store", "hush-password", "hush-token", "hush-ugi")


@pytest.fixture
def all_servers() -> None:
    """Only for `make test-servers`."""
    if not EVERY:
        pytest.skip("part of `make test-servers` ($ICEDIVE_EVERY_SERVER)")


def remove(store: Store, path: str) -> None:
    """Delete a file of the bucket."""
    keys = {"aws_access_key_id": "key", "aws_secret_access_key": "hush", "region_name": "us-east-1"}
    client = boto3.client("s3", endpoint_url=store.direct, **keys)
    client.delete_object(Bucket="warehouse", Key=path.removeprefix("s3://warehouse/"))


def prove(
    engineer: Engineer, name: str, properties: dict[str, str], tables: dict[str, str], store: Store | None = None
) -> None:
    """Put tables into a catalog and ask for them; then have `store` refuse."""
    register(name, properties, tables)
    engineer.configures(name, properties)
    engineer.asks(name, SECRETS)
    if store is not None:
        engineer.is_refused(name, SECRETS, store)


def test_glue(store: Store, written: dict[str, str], engineer: Engineer) -> None:
    properties = {
        "type": "glue", "glue.endpoint": store.direct, "glue.region": "us-east-1", "glue.access-key-id": "key",
        "glue.secret-access-key": "hush-glue", "warehouse": "s3://warehouse/glue",
        **store.properties(secret_access_key="hush-store", session_token="hush-token"),
    }  # fmt: skip
    prove(engineer, "lake", properties, written, store)
    store.proxy.fault = lambda request: ""
    found = direct.pointer(direct.open_table("lake.shop.marked"))
    assert (found.stored.where, found.newer) == ("the table's entry in Glue", False)
    assert found.stored.row["metadata_location"] == written["marked"]
    assert found.stored.row["table_type"] == "ICEBERG"
    assert [version.state for version in found.versions] == ["there"]


def test_versions_of_glue(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its entry has a version for each commit; of one the metadata file is gone."""
    properties = {
        "type": "glue", "glue.endpoint": store.direct, "glue.region": "us-east-1", "glue.access-key-id": "key",
        "glue.secret-access-key": "hush-glue", "glue.skip-archive": "false", "warehouse": "s3://warehouse/kept",
        **store.properties(endpoint=store.direct),
    }  # fmt: skip
    catalog = load_catalog("kept", **properties)
    catalog.create_namespace("kept")
    table = catalog.create_table("kept.t", SCHEMA, properties={"password": "hush-property"})
    locations = [table.metadata_location]
    for row in range(3):
        table.append(pa.table({"id": [row]}, SCHEMA))
        locations.append(table.metadata_location)
    remove(store, locations[1])
    at = ["catalog", "pointer", "kept.t", "--catalog", "kept"]
    at += [word for key, value in properties.items() for word in ("-p", f"{key}={value}")]
    told = CliRunner().invoke(main, [*at, "--output", "json"])
    assert told.exit_code == 0, told.output
    answer = json.loads(told.output)
    assert answer["stored"]["metadata_location"] == locations[3]
    assert answer["stored"]["previous_metadata_location"] == locations[2]
    assert answer["stored"]["VersionId"] == "4"
    assert [(v["version"], v["metadata_location"], v["state"]) for v in answer["versions"]] == [
        ("4", locations[3], "there"), ("3", locations[2], "there"), ("2", locations[1], "gone"),
        ("1", locations[0], "there"),
    ]  # fmt: skip
    assert all(version["updated_ms"] for version in answer["versions"])
    text = CliRunner().invoke(main, at).output
    assert "4 versions that the catalog keeps of the entry:" in text
    assert "hush" not in told.output + text
    remove(store, locations[3])
    cached = CliRunner().invoke(main, at)  # opened from this machine's cache
    assert cached.exit_code == 3, cached.output
    assert "unreadable" not in cached.output
    assert sum(line.rstrip().endswith(" gone") for line in cached.output.splitlines()) == 3
    monkeypatch.setenv("ICEDIVE_CACHE", str(tmp_path / "another"))
    lost = CliRunner().invoke(main, at)
    assert lost.exit_code == 3, lost.output
    assert "the file does not exist" in lost.output
    assert sum(line.rstrip().endswith(" gone") for line in lost.output.splitlines()) == 3


def test_hive(
    all_servers: None,
    store: Store,
    written: dict[str, str],
    engineer: Engineer,
    tmp_path: Path,
) -> None:
    with metastore(tmp_path) as address:
        properties = {
            "type": "hive", "uri": address, "warehouse": "s3://warehouse/hive", "ugi": "me:hush-ugi",
            **store.properties(secret_access_key="hush-store", session_token="hush-token"),
        }  # fmt: skip
        prove(engineer, "hive", properties, written, store)
        store.proxy.fault = lambda request: ""
        found = direct.pointer(direct.open_table("hive.shop.marked"))
        assert (found.stored.where, found.newer) == ("the table's entry in Hive's metastore", False)
        assert found.stored.row["metadata_location"] == written["marked"]
        assert found.stored.row["transient_lastDdlTime"]


def test_versitygw(
    all_servers: None,
    engineer: Engineer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A store that takes these keys only, and an SQL catalog of its tables."""
    monkeypatch.setenv("ICEDIVE_CACHE", str(tmp_path / "cache"))
    with versitygw(tmp_path, ("admin", "hush-store")) as address:
        store = {
            "s3.endpoint": address, "s3.access-key-id": "admin", "s3.secret-access-key": "hush-store",
            "s3.region": "us-east-1",
        }  # fmt: skip
        tables = write(engineer.reads, "s3://warehouse/written", store, tmp_path)
        properties = {
            "type": "sql",
            "uri": f"sqlite:///{tmp_path}/catalog.db",
            "warehouse": "s3://warehouse/w",
            **store,
        }
        prove(engineer, "gateway", properties, tables)
        assert len(preview(direct.open_table("gateway.shop.marked"), "remove-orphans").tables["files"]) == 0
        wrong = {**properties, "s3.secret-access-key": "hush-wrong"}
        with pytest.raises(ExplorerError, match="PermissionDenied") as refused:
            direct.open_table("shop.marked", catalog="gateway", properties=wrong)
        assert "hush" not in "".join(traceback.format_exception(refused.value))


@pytest.fixture
def postgres() -> Iterator[int]:
    """The port of a PostgreSQL of its own."""
    with postgres_server() as port:
        yield port


def test_postgresql(
    all_servers: None,
    postgres: int,
    store: Store,
    written: dict[str, str],
    engineer: Engineer,
) -> None:
    uri = f"postgresql+psycopg2://explorer:hush-password@127.0.0.1:{postgres}/postgres"
    properties = {
        "type": "sql", "uri": uri, "warehouse": "s3://warehouse/ledger",
        **store.properties(secret_access_key="hush-store", session_token="hush-token"),
    }  # fmt: skip
    prove(engineer, "ledger", properties, written, store)
    store.proxy.fault = lambda request: ""
    found = direct.pointer(direct.open_table("ledger.shop.marked"))
    assert (found.stored.where, found.newer) == ("the row of iceberg_tables in postgresql", False)
    assert found.stored.row["metadata_location"] == written["marked"]
    assert found.stored.row["table_namespace"] == "shop"
    wrong = {**properties, "uri": uri.replace("hush-password", "hush-wrong")}
    with pytest.raises(TableNotFound) as refused:
        direct.open_table("shop.rewritten", catalog="other", properties=wrong)
    assert "password authentication failed" in str(refused.value)
    assert "hush" not in "".join(traceback.format_exception(refused.value))
