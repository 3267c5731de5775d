"""What else than a name opens a table."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pyiceberg.catalog.rest import TableResponse

import explorer
from explorer.errors import TableNotFound
from tests.support.small_tables import make_table, newest_metadata


def test_what_a_rest_catalog_answers_opens(tmp_path: Path) -> None:
    place = make_table(tmp_path)
    response = {
        "metadata-location": f"file://{newest_metadata(place)}",
        "metadata": {},
        "config": {"s3.region": "x", "n": 1},
    }
    table = explorer.open_table(response)
    assert len(table.inspect.snapshots()) == 3
    assert dict(table.engine.reader.location.properties or {}) == {"s3.region": "x"}
    with pytest.raises(TableNotFound, match="names no metadata-location"):
        explorer.open_table({"metadata": {}})


def test_a_rest_catalogs_keys_for_a_location_are_taken(tmp_path: Path) -> None:
    """The credential of the longest prefix (REST spec: StorageCredential), from JSON and from pyiceberg's response."""
    place = make_table(tmp_path)
    location = f"file://{newest_metadata(place)}"
    credentials = [
        {"prefix": "file://", "config": {"s3.access-key-id": "wide"}},
        {"prefix": f"file://{place}", "config": {"s3.access-key-id": "near", "n": 1}},
        {"prefix": "s3://elsewhere", "config": {"s3.access-key-id": "other"}},
    ]
    response = {"metadata-location": location, "config": {"s3.region": "x"}, "storage-credentials": credentials}
    metadata = json.loads(Path(newest_metadata(place)).read_text())
    credentials[1]["config"].pop("n")  # type: ignore[attr-defined]
    for given in (response, TableResponse.model_validate({**response, "metadata": metadata})):
        table = explorer.open_table(given)
        assert table.engine.reader.location.properties == {"s3.region": "x", "s3.access-key-id": "near"}
        assert len(table.inspect.snapshots()) == 3
