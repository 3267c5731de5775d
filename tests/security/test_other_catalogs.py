"""Catalogs that pyiceberg opens: of a table they tell where its metadata file is, and a table's properties choose no
class, whatever the catalog is."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyiceberg.catalog import Catalog, load_catalog
from pyiceberg.catalog.rest import RestCatalog
from pyiceberg.schema import Schema

from explorer.errors import NotSupported, TableNotFound
from explorer.storage.catalogs import catalogs
from tests.security.test_catalogs import Server
from tests.support.small_tables import make_table, newest_metadata


@pytest.fixture
def planted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, str]]:
    """Properties of a table that name a class, which must not be imported."""
    canary = tmp_path / "canary"
    (tmp_path / "planted_files.py").write_text(f"open({str(canary)!r}, 'w')\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield {"py-io-impl": "planted_files.FileIO", "s3.endpoint": "http://theirs.example"}
    assert not canary.exists()


@pytest.fixture
def server() -> Iterator[Server]:
    serving = Server()
    threading.Thread(target=serving.serve_forever, daemon=True).start()
    yield serving
    serving.shutdown()


class Rest(RestCatalog):
    """A person's own class, with pyiceberg's load_table."""


class Loading(Rest):
    """With a way of its own to load tables."""

    def load_table(self, identifier: Any) -> Any:
        return super().load_table(identifier)


class Saying(Loading):
    """That says where the metadata file is."""

    def metadata_location(self, identifier: tuple[str, ...]) -> str:
        return f"s3://b/{'/'.join(identifier)}.metadata.json"


def named(kind: type[Catalog], server: Server) -> dict[str, str]:
    return {"py-catalog-impl": f"{kind.__module__}.{kind.__qualname__}", "uri": server.url}


def test_a_dynamodb_catalog(planted: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    moto = pytest.importorskip("moto.server", reason="moto, which serves DynamoDB here, is not installed")
    serving = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    serving.start()
    try:
        host, port = serving.get_host_and_port()
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
        own = {
            "type": "dynamodb", "dynamodb.region": "us-east-1", "dynamodb.access-key-id": "key",
            "dynamodb.secret-access-key": "hush", "warehouse": f"file:{tmp_path}",
        }  # fmt: skip
        written = load_catalog("kept", **own)
        written.create_namespace("db")
        table = written.create_table("db.t", Schema())
        location = table.metadata_location
        metadata = json.loads(Path(location.removeprefix("file:")).read_text())
        metadata["properties"] |= planted
        Path(location.removeprefix("file:")).write_text(json.dumps(metadata))
        assert catalogs.pointer("kept", "db.t", own).metadata_location == location
        Path(location.removeprefix("file:")).unlink()
        assert catalogs.pointer("kept", "db.t", own).metadata_location == location
        assert [one.identifier for one in catalogs.tables("kept", own)] == ["db.t"]
        with pytest.raises(TableNotFound, match="no table"):
            catalogs.pointer("kept", "db.other", own)
    finally:
        serving.stop()


def test_a_class_of_ones_own(planted: dict[str, str], server: Server, tmp_path: Path) -> None:
    location = newest_metadata(make_table(tmp_path))
    server.table = {"metadata-location": str(location), "metadata": json.loads(location.read_text()), "config": {}}
    server.table["metadata"]["properties"] |= planted
    assert catalogs.pointer("mine", "db.t", named(Rest, server)).metadata_location == str(location)
    with pytest.raises(TableNotFound, match="no table"):
        catalogs.pointer("mine", "db.other", named(Rest, server))
    with pytest.raises(NotSupported, match="give it a method metadata_location"):
        catalogs.pointer("mine", "db.t", named(Loading, server))
    said = catalogs.pointer("mine", "db.t", named(Saying, server)).metadata_location
    assert said == "s3://b/db/t.metadata.json"


@pytest.mark.parametrize(
    ("own", "told"),
    [
        ({"type": "nosuch"}, "'nosuch' is not a valid CatalogType"),
        ({"type": "rest"}, "URI missing"),
        ({"uri": "ftp://x"}, "Could not infer the catalog type"),
        ({"py-catalog-impl": "nothing"}, "should be full path"),
        ({"py-catalog-impl": "no_such_module.Catalog"}, "Could not initialize Catalog"),
        ({"py-catalog-impl": "a.B", "type": "rest"}, "Must not set both"),
    ],
)
def test_properties_that_describe_no_catalog(own: dict[str, str], told: str) -> None:
    with pytest.raises(TableNotFound, match=told):
        catalogs.load("mine", own)


def test_the_working_folders_configuration_is_no_part_of_a_catalog(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """pyiceberg reads it when it is imported, and load_catalog adds it."""
    from pyiceberg import catalog as pyiceberg
    from pyiceberg.typedef import FrozenDict

    read = FrozenDict(
        catalog=FrozenDict(mine=FrozenDict(header__secret="hush", token="theirs", uri="http://x.example"))
    )
    monkeypatch.setattr(pyiceberg._ENV_CONFIG, "config", read)
    database = {"type": "sql", "uri": f"sqlite:///{tmp_path}/c.db", "warehouse": str(tmp_path)}
    assert "token" not in catalogs.load("mine", database).properties
