"""Lists of the dashboard: what of them is seen first."""

from __future__ import annotations

from pathlib import Path

from explorer.queries.collection import Collection
from explorer.ui.tables import NARROW, WIDTHS, frame
from tests.support import direct
from tests.support.small_tables import make_table


def test_stored_and_logical_status_stand_beside_the_file(tmp_path: Path) -> None:
    table = direct.open_table(str(make_table(tmp_path)))
    shown = frame(table.entries(), "entries", table.metadata)
    first = ["file_path", "status", "logical_status", "reason"]
    assert list(shown.columns[:4]) == first
    assert set(shown["status"]) == {"ADDED"}
    widths = WIDTHS | NARROW["entries"]
    assert sum(widths.get(name, 150) for name in first) < 1000  # what a page of 1280 has beside the tree


def test_snapshots_and_manifests_have_their_names_and_counts_beside(tmp_path: Path) -> None:
    """The names that the graph has for them."""
    table = direct.open_table(str(make_table(tmp_path)))
    shown = frame(table.manifests(), "manifests", table.metadata)
    assert list(shown["manifest"]) == ["manifest-3", "manifest-2", "manifest-1"]
    counts = ["added_files_count", "existing_files_count", "deleted_files_count"]
    assert list(shown.columns[:6]) == ["manifest", "manifest_path", "content", *counts]
    snapshots = frame(Collection.of_rows(table.snapshots[::-1], "snapshots"), "snapshots", table.metadata)
    assert list(snapshots["snapshot"]) == ["snapshot-3", "snapshot-2", "snapshot-1"]
    assert snapshots.columns[0] == "snapshot"


def test_a_table_without_snapshots_has_empty_lists(tmp_path: Path) -> None:
    table = direct.open_table(str(make_table(tmp_path, commits=0)))
    nothing = Collection.of_rows(table.snapshots[::-1], "snapshots")
    assert not len(frame(nothing, "snapshots", table.metadata))
    assert not len(frame(table.manifests(), "manifests", table.metadata))
