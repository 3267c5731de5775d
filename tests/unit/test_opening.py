"""What else than a name opens a table."""

from __future__ import annotations

from pathlib import Path

import pytest

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
