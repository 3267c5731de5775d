"""What a sixteenth attack found: in answers of servers, exported pages, the folder of a class, and views."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import explorer
from explorer.spark_engine import user_tables
from tests.cases.mini import Table
from tests.support.small_tables import newest_metadata


def one_row(folder: Path) -> Table:
    table = Table(folder, [(1, "id", "long", True)])
    table.append(table.parquet("a.parquet", {"id": [1]}))
    table.write()
    return table


# -- what a REST catalog's server answers ------------------------------------------------------------------------------
@pytest.mark.parametrize("where", ["config", "storage-credentials"])
@pytest.mark.parametrize("name", ["py-io-impl", "s3.retry-strategy-impl", "s3.signer", "s3.proxy-uri"])
def test_a_response_names_no_class(name: str, where: str, tmp_path: Path) -> None:
    """Its configuration counted as the person's own, so the class was imported, and made with their keys."""
    config = {name: "of_a_server.IO", "s3.region": "eu-1"}
    given = {"config": config} if where == "config" else {where: [{"prefix": "file://", "config": config}]}
    place = newest_metadata(one_row(tmp_path / "t").folder)
    opened = explorer.open_table({"metadata-location": f"file://{place}", **given})
    assert opened.engine.reader.location.properties == {"s3.region": "eu-1"}
    own = explorer.open_table({"metadata-location": f"file://{place}", **given}, properties={name: "mine.IO"})
    assert own.engine.reader.location.properties == {"s3.region": "eu-1", name: "mine.IO"}


def test_a_response_sends_nobodys_keys_to_its_address(tmp_path: Path) -> None:
    """Requests to an endpoint that the server named were signed with the keys of the environment."""
    place = f"file://{newest_metadata(one_row(tmp_path / 't').folder)}"

    def properties(config: dict[str, str], **own: str) -> Any:
        given = {name.replace("_", "-").replace("s3-", "s3."): value for name, value in own.items()}
        response = {"metadata-location": place, "config": config}
        return explorer.open_table(response, properties=given).engine.reader.location.properties

    address = {"s3.endpoint": "http://elsewhere:1"}
    mine = {"s3_access_key_id": "mine", "s3_secret_access_key": "hush"}
    assert properties(address) == {**address, "s3.anonymous": "true"}
    assert properties(address, **mine) == {**address, "s3.anonymous": "true"}
    theirs = {**address, "s3.access-key-id": "theirs", "s3.secret-access-key": "given"}
    assert properties(theirs) == theirs
    assert properties(theirs, s3_endpoint="http://mine:1")["s3.endpoint"] == "http://mine:1"


def test_a_file_io_of_spark_names_no_class_of_python() -> None:
    """A catalog's server adds what it likes to the properties of Java's FileIO."""
    pytest.importorskip("py4j")
    settings = {"py-io-impl": "of_a_server.IO", "s3.endpoint": "http://store", "s3.proxy-uri": "http://elsewhere"}
    table = SimpleNamespace(io=lambda: SimpleNamespace(properties=lambda: settings))
    assert user_tables._io_properties(table) == {"s3.endpoint": "http://store"}
