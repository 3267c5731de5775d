"""Lists of the dashboard: what of them is seen first."""

from __future__ import annotations

from pathlib import Path

import explorer
from explorer.ui.tables import NARROW, WIDTHS, frame
from tests.unit.small import make_table


def test_stored_and_logical_status_stand_beside_the_file(tmp_path: Path) -> None:
    table = explorer.open_table(str(make_table(tmp_path)))
    shown = frame(table.entries(), "entries", table.metadata)
    first = ["file_path", "status", "logical_status", "reason"]
    assert list(shown.columns[:4]) == first
    assert set(shown["status"]) == {"ADDED"}
    widths = WIDTHS | NARROW["entries"]
    assert sum(widths.get(name, 150) for name in first) < 1000  # what a page of 1280 has beside the tree
