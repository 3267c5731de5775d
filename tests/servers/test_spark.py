"""Rows of tables in a store, through Spark: what opened the table opens it there, and shows nowhere."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from tornado.httputil import HTTPServerRequest

from explorer.errors import EngineError, ExplorerError, NotSupported
from explorer.spark_engine.fileio import ANONYMOUS, JavaFileIO, java_file_io
from explorer.spark_engine.java import BUNDLES
from explorer.spark_engine.read_queue import ReadFailed, ReadRequest, ReadSession
from explorer.spark_engine.tables import FileAccess
from explorer.spec.secrets.redaction import HIDDEN
from explorer.storage.catalogs.catalogs import Pointer
from explorer.storage.locate import Location
from explorer.storage.reader import TableReader
from explorer.storage.stores import combine
from explorer.table import Table
from tests.servers.conftest import COMMITS, Store
from tests.servers.shown import by_spark
from tests.support import direct

WRITER = "canary_writer"
EARLY = [0, 1, 2, 100, 101, 102]
IDS = sorted([*range(COMMITS), *range(101, 100 + COMMITS)])


@pytest.fixture(scope="module")
def keys() -> dict[str, str]:
    return {
        "access_key_id": "AKIDcanary4711",
        "secret_access_key": "canary/secret+4711",
        "session_token": "canary-token-4711",
    }


def opened(store: Store, at: str, **others: str) -> direct.Table:
    return direct.open_table(at, properties=store.properties(endpoint=store.direct, **others))


def ids(table: direct.Table, reads: ReadSession, version: str | None = None, where: str = "") -> list[int]:
    return sorted(r["id"] for r in table.rows(version, where=where, session=reads))


def test_what_opened_the_table_reads_its_rows(store: Store, reads: ReadSession) -> None:
    table = opened(store, store.metadata)  # written by pyiceberg; the last commit rewrote a file, less a row
    assert ids(table, reads) == IDS
    assert ids(table, reads, "snapshot-3") == EARLY  # pinned, without a file system of Hadoop's
    gone = table.sql("SELECT id FROM t@snapshot-3 EXCEPT SELECT id FROM t WHERE id < 103", session=reads)
    assert [r["id"] for r in gone] == [100]
    assert [e.what for e in table.row_history("id = 100").events] == ["appeared", "deleted"]


@pytest.fixture
def writer(store: Store, reads: ReadSession, tmp_path: Path) -> Iterator[Any]:
    """Spark with a catalog in the bucket, that writes."""
    spark = reads.engine.session()
    reads.engine.require(BUNDLES["aws"])
    settings = {
        "": "org.apache.iceberg.spark.SparkCatalog", ".type": "jdbc", ".uri": f"jdbc:sqlite:{tmp_path}/c.db",
        ".jdbc.schema-version": "V1", ".warehouse": "s3://warehouse/mor", ".s3.path-style-access": "true",
        ".io-impl": "org.apache.iceberg.aws.s3.S3FileIO", ".client.region": "us-east-1", ".s3.endpoint": store.direct,
        ".s3.access-key-id": "key", ".s3.secret-access-key": "hush",
    }  # fmt: skip
    for key, value in settings.items():
        spark.conf.set(f"spark.sql.catalog.{WRITER}{key}", value)
    yield spark
    for key in settings:
        spark.conf.unset(f"spark.sql.catalog.{WRITER}{key}")


@pytest.mark.parametrize(("version", "kind"), [(2, "position_deletes"), (3, "deletion_vector")])
def test_deletes_in_a_store(version: int, kind: str, store: Store, reads: ReadSession, writer: Any) -> None:
    name = f"db.mor_{version}"
    writer.sql(
        f"CREATE TABLE IF NOT EXISTS {WRITER}.{name} (id INT) USING iceberg "
        f"TBLPROPERTIES ('format-version'='{version}', 'write.delete.mode'='merge-on-read')"
    )
    writer.sql(f"INSERT INTO {WRITER}.{name} SELECT /*+ COALESCE(1) */ id FROM range(10)")
    writer.sql(f"DELETE FROM {WRITER}.{name} WHERE id = 3")
    table = opened(store, f"s3://warehouse/mor/{name.replace('.', '/')}")
    assert [d.kind for d in table.deletes().files.deletes] == [kind]
    assert ids(table, reads) == [0, 1, 2, 4, 5, 6, 7, 8, 9]
    assert ids(table, reads, "snapshot-1", "id < 5") == [0, 1, 2, 3, 4]
    [gone] = table.sql("SELECT id FROM t@snapshot-1 EXCEPT SELECT id FROM t", session=reads)
    assert gone["id"] == 3
    assert [e.what for e in table.row_history("id = 3").events] == ["appeared", "deleted"]
    assert table.row_diff("snapshot-1", "main").changes.deleted.num_rows == 1
    with pytest.raises(ExplorerError):  # only versions are read: nobody is given that catalog's keys
        table.sql(f"SELECT * FROM {WRITER}.{name}", session=reads)


def test_credentials_that_a_catalog_gave(store: Store, reads: ReadSession, monkeypatch: pytest.MonkeyPatch) -> None:
    own = {k: v for k, v in store.properties(endpoint=store.direct).items() if "access" not in k}
    given = {"s3.access-key-id": "vended", "s3.secret-access-key": "vended too", "s3.session-token": "for an hour"}
    table = Table(TableReader(Location("c.db.t", store.metadata, "", properties=own, given=given)))
    assert ids(table, reads, "snapshot-3") == EARLY
    files = table.reading(None).version.check()
    assert set(given.values()) <= files.file_io.secrets
    assert given["s3.session-token"] not in repr(files)

    def expired(request: HTTPServerRequest) -> str:
        return "refuse" if "Credential=vended/" in request.headers["Authorization"] else ""

    store.proxy.fault = expired
    newer = {**given, "s3.access-key-id": "vended again"}
    monkeypatch.setattr("explorer.storage.catalogs.catalogs.pointer", lambda *_: Pointer(store.metadata, newer))
    far = {**own, "s3.endpoint": store.proxy.url}
    stale = TableReader(Location("c.db.t", store.metadata, "", "c", "db.t", far, newer))
    stale.location = replace(stale.location, given=given)
    assert (
        ids(Table(stale), reads, "snapshot-3") == EARLY
    )  # asked for anew: nothing is refused to a reader that has all in its cache
    named = java_file_io(store.metadata, combine({**own, "s3.access-key-id": "mine"}, {"s3.endpoint": "http://theirs"}))
    assert named.properties["client.credentials-provider"] == ANONYMOUS  # an endpoint of the server's gets no keys
    assert not named.secrets


def test_no_key_shows(store: Store, reads: ReadSession, keys: dict[str, str]) -> None:
    table = opened(store, store.metadata, **keys)
    rows = table.rows("snapshot-3", provenance=True, session=reads)
    assert len(rows) == len(EARLY)
    shown = [repr(list(rows)), repr(rows.reports), repr(table), repr(table.reading(None)), *by_spark(reads)]
    assert "warehouse/wh/db/t" in "".join(shown)  # it was looked where tables are told of
    for secret in keys.values():
        assert not [text[:300] for text in shown if secret in text]


def test_an_error_shows_no_key(store: Store, reads: ReadSession, keys: dict[str, str]) -> None:
    table = opened(store, store.metadata, **keys)
    request = table.reading(None)
    echo = keys["secret_access_key"]
    broken = FileAccess(f"s3://warehouse/{echo}/v1.metadata.json", store.properties(endpoint=store.direct, **keys))
    version = replace(request.version, check=lambda: broken)
    with pytest.raises(ExplorerError) as caught:
        reads.read(ReadRequest(version))
    assert isinstance(caught.value, ReadFailed)
    text = str(caught.value)
    assert f"s3://warehouse/{HIDDEN}/v1.metadata.json" in text
    assert not [value for value in keys.values() if value in text]


def test_what_a_table_says_of_itself_opens_nothing(store: Store, reads: ReadSession) -> None:
    """The table's own properties name an endpoint, keys and a class: none of it is used."""
    from pyiceberg.catalog.sql import SqlCatalog

    catalog = SqlCatalog(
        "evil", uri="sqlite:///:memory:", warehouse="s3://warehouse/evil", **store.properties(endpoint=store.direct)
    )
    catalog.create_namespace("db")
    table = catalog.create_table("db.t", pa.schema([("id", pa.int64())]))
    table.append(pa.table({"id": [7]}))
    bad = {"s3.endpoint": "http://127.0.0.1:9", "io-impl": "java.lang.Runtime", "client.factory": "x.Y"}
    metadata = json.loads(table.io.new_input(table.metadata_location).open().read())
    metadata["properties"] |= {**bad, "s3.access-key-id": "x", "write.location-provider.impl": "x.Y"}
    evil = table.metadata_location.replace("/00001-", "/00009-")
    with table.io.new_output(evil).create() as file:
        file.write(json.dumps(metadata).encode())
    assert ids(opened(store, evil), reads) == [7]


@pytest.mark.parametrize(
    ("properties", "expected"),
    [
        ({"s3.region": "eu-1", "client.access-key-id": "a", "s3.secret-access-key": "b"},
         {"client.region": "eu-1", "s3.access-key-id": "a", "s3.secret-access-key": "b"}),
        ({"s3.endpoint": "http://x", "s3.anonymous": "true", "s3.region": "r"},
         {"s3.endpoint": "http://x", "client.region": "r", "s3.path-style-access": "true",
          "client.credentials-provider": ANONYMOUS}),
        ({"s3.endpoint": "http://x", "s3.access-key-id": "a", "s3.region": "r", "s3.connect-timeout": "0.5",
          "s3.force-virtual-addressing": "True", "py-catalog-impl": "os.system", "client.factory": "x.Y"},
         {"s3.endpoint": "http://x", "s3.access-key-id": "a", "client.region": "r",
          "http-client.apache.connection-timeout-ms": "500"}),
        ({}, {"s3.access-key-id": "env", "s3.secret-access-key": "env2", "s3.session-token": "env3",
              "client.region": "us-east-1", "s3.cross-region-access-enabled": "true"}),
    ],
)  # fmt: skip
def test_names_of_s3(properties: dict[str, str], expected: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "env")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "env2")
    monkeypatch.setenv("AWS_SESSION_TOKEN", "env3")
    known = java_file_io("s3a://b/t", properties)
    assert dict(known.properties) == expected
    assert "env2" not in repr(known)
    with pytest.raises(NotSupported, match=r"s3\.role-arn is not passed on"):
        java_file_io("s3://b/t", {**properties, "s3.role-arn": "arn"})


def test_names_of_gcs_and_azure() -> None:
    token = {"gcs.oauth2.token": "t", "gcs.project-id": "p", "gcs.access": "x"}
    assert dict(java_file_io("gs://b/t", token).properties) == {"gcs.oauth2.token": "t", "gcs.project-id": "p"}
    azure = java_file_io(
        "abfss://c@acc.dfs.core.windows.net/t",
        {"adls.account-name": "acc", "adls.account-key": "k", "adls.sas-token": "s"},
    )
    assert dict(azure.properties) == {
        "adls.auth.shared-key.account.name": "acc",
        "adls.auth.shared-key.account.key": "k",
        "adls.sas-token.acc.dfs.core.windows.net": "s",
    }
    assert azure.secrets == {"k", "s"}  # and not the account, a word like others
    keys = {"adls.account-name": "acc", "adls.account-key": "k", "adls.sas-token": "s", "adls.token": "t"}
    keys |= {"adls.connection-string": "https://evil.example", "adls.sas-token.mine.example": "m"}
    for host in ("evil.example", "acc.evil.example", "other.dfs.core.windows.net"):
        assert java_file_io(f"abfss://c@{host}/t", keys).properties == {}
    assert java_file_io("abfss://c@mine.example/t", keys).properties == {"adls.sas-token.mine.example": "m"}
    for uri in ("file:/x", "/s3://b/x", "x", "hdfs://n/t"):
        known = java_file_io(uri, {"s3.endpoint": "x", "s3.access-key-id": "k"})
        assert known == JavaFileIO("org.apache.iceberg.hadoop.HadoopFileIO", {})


def test_a_missing_jar_is_told(store: Store, reads: ReadSession, tmp_path: Path) -> None:
    with pytest.raises(EngineError, match=r"iceberg-azure-bundle:1.12.0 .*spark\.json"):
        reads.engine.require(BUNDLES["azure"])
