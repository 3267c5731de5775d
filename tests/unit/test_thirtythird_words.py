"""Sentences that were false of tables which public reports told of, a thirty-third time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from click.testing import CliRunner

from explorer.cli import main
from explorer.reports.maintenance import preview
from tests.support import direct
from tests.support.small_tables import edit_metadata, make_table


def test_what_packing_makes_of_bounds_is_not_guessed(tmp_path: Path) -> None:
    """apache/iceberg#10346: files that do not overlap overlap afterwards."""
    place = make_table(tmp_path, 4)

    def sort(metadata: dict[str, Any]) -> None:
        field = {"source-id": 1, "transform": "identity", "direction": "asc", "null-order": "nulls-first"}
        metadata["sort-orders"] = [*metadata["sort-orders"], {"order-id": 1, "fields": [field]}]
        metadata["default-sort-order-id"] = 1

    edit_metadata(place, sort)
    words = " ".join(preview(direct.open_table(str(place)), "compact", options={"rewrite-all": "true"}).words)
    assert "packs files without sorting rows across them. The strategy sort" in words
    assert "overlap" not in words


def test_a_refused_merge_is_told_what_excludes_deletes(tmp_path: Path) -> None:
    """apache/iceberg#11795: position deletes have no bounds of the table's columns, so that no sort helps."""
    place = make_table(tmp_path, 2)
    told = CliRunner().invoke(main, ["check", "conflict", str(place), "snapshot-1", "mor-merge"])
    words = " ".join(told.output.split())
    assert "among these only partitions tell writers apart" in words
    assert "sort the table" not in words
    assert "what is refused has to be run again" in words
