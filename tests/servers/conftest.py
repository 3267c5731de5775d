"""Servers for tests, started once: S3 by moto, and a proxy before it."""

from __future__ import annotations

import os
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pytest
from pyiceberg.catalog.sql import SqlCatalog

from explorer.errors import EngineError
from explorer.spark_engine.java import BUNDLES, find_java, resolve_jars
from explorer.spark_engine.read_queue import ReadSession
from explorer.spark_engine.spark import SparkEngine
from tests.servers import asking
from tests.servers.proxy import Proxy

COMMITS = 40
EVERY = bool(os.environ.get("ICEDIVE_EVERY_SERVER"))
"""Whether `make test-servers` runs, not `make test`."""


@dataclass
class Store:
    """A table in a bucket: its metadata file, where the bucket is without and with the proxy."""

    metadata: str
    direct: str
    proxy: Proxy

    def properties(self, **others: str) -> dict[str, str]:
        """What opens it, through the proxy."""
        usual = {"endpoint": self.proxy.url, "access-key-id": "key", "secret-access-key": "hush", "region": "us-east-1"}
        return {f"s3.{k.replace('_', '-')}": v for k, v in {**usual, **others}.items()}


@pytest.fixture(scope="session")
def bucket(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    moto = pytest.importorskip("moto.server", reason="moto, which serves S3 here, is not installed")
    server = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    direct = f"http://{host}:{port}"
    urllib.request.urlopen(urllib.request.Request(f"{direct}/warehouse", method="PUT"))
    store = Store("", direct, Proxy(direct))
    store.metadata = write_table(store, tmp_path_factory.mktemp("catalog"), "s3://warehouse/wh")
    yield store
    server.stop()


def write_table(store: Store, folder: Path, warehouse: str) -> str:
    """Write a table of COMMITS commits and one that deletes a row, with a catalog in a folder. Return its metadata
    file."""
    own = store.properties(endpoint=store.direct)
    catalog = SqlCatalog("remote", uri=f"sqlite:///{folder}/catalog.db", warehouse=warehouse, **own)
    catalog.create_namespace("db")
    schema = pa.schema([("id", pa.int64()), ("fruit", pa.string())])
    table = catalog.create_table("db.t", schema)
    for i in range(COMMITS):
        table.append(pa.table({"id": [i, i + 100], "fruit": [f"fruit-{i}", None]}, schema))
    table.delete("id = 100")
    catalog.engine.dispose()
    return table.metadata_location


@pytest.fixture
def store(bucket: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """The bucket on a good day, with nothing in the cache."""
    monkeypatch.setenv("ICEDIVE_CACHE", str(tmp_path / "cache"))
    bucket.proxy.delay, bucket.proxy.fault = 0.0, lambda request: ""
    bucket.proxy.reset()
    return bucket


@pytest.fixture(scope="session")
def reads(engine: SparkEngine) -> ReadSession:
    """Spark, with the jar that reads S3."""
    try:
        resolve_jars(find_java(), (BUNDLES["aws"].package,))
    except EngineError as error:
        pytest.skip(f"no rows of stores were read through Spark: {error}")
    return ReadSession(engine)


@pytest.fixture
def engineer(
    reads: ReadSession, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> asking.Engineer:
    """Who asks; in `make test` without a page."""
    return asking.Engineer(reads, monkeypatch, caplog, tmp_path, page=EVERY)


@pytest.fixture(scope="session")
def written(bucket: Store, reads: ReadSession, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Tables that Spark wrote into the bucket: their metadata files, by name."""
    store = bucket.properties(endpoint=bucket.direct)
    return asking.write(reads, "s3://warehouse/written", store, tmp_path_factory.mktemp("written"))
