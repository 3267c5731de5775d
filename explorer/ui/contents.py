"""What each view of the dashboard shows of a table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from explorer.app.graph_state import ViewState
from explorer.queries.collection import Collection
from explorer.spec.text.units import count
from explorer.storage.catalogs.sandbox_entries import SANDBOX
from explorer.table import Table
from explorer.ui.changes import commits_view, diff_view, lifecycle_view, lineage_view, metadata_view
from explorer.ui.conflict import conflict_view
from explorer.ui.doctor import doctor_view
from explorer.ui.file_map import FileMapPanel
from explorer.ui.health import table_health
from explorer.ui.lab import LabPanel
from explorer.ui.maintain import procedures_view, undo_view
from explorer.ui.observe import ObservePanel
from explorer.ui.overview import OverviewPanel
from explorer.ui.plan import plan_view
from explorer.ui.race import RacePanel
from explorer.ui.rows import ReadPanel, SqlPanel, deletes_view, fate_view, row_diff_view
from explorer.ui.tables import exports_view, table_view
from explorer.ui.widgets import heading, lazy_tabs

if TYPE_CHECKING:
    from explorer.ui.app import Dashboard

LISTS = ("snapshots", "manifests", "files", "entries", "partitions")
OF_ROWS = ("rows", "sql", "row-diff", "fate", "deletes")
WRITING = ("lab", "statement", "race")
ON_SPARK = ("rows", "sql", "lab", "statement")
"""What is answered by Spark and nothing else."""


@dataclass(frozen=True)
class Offers:
    """What a server lets people do besides looking: SQL, and all that writes."""

    sql: bool = True
    lab: bool = True


def content(page: Dashboard, name: str, view: ViewState) -> Any:
    """A view of a table, as of the snapshot that is looked at."""
    table, snapshot, offers = view.table, view.snapshot_id, page.offers
    if name in LISTS:
        rows = partial(_newest_first, table) if name == "snapshots" else partial(getattr(table, name), snapshot)
        lacks = partial(_lacks, table, snapshot, name)
        listed = partial(table_view, rows, name, table.metadata, page.show_row_of, lacks)
        if name != "files":
            return listed()
        go = partial(page.show_row_of, "file")
        return lazy_tabs({"List": listed, "Map": lambda: FileMapPanel(table, snapshot, go, lacks=lacks).view})
    if name in OF_ROWS:
        return heading("The table has no snapshot, so it has no rows.") if snapshot is None else _of_rows(
            page, name, view, snapshot
        )  # fmt: skip
    if name in WRITING and not offers.lab:
        return heading("This server does not run the lab's writers and statements (serve with --allow-lab).")
    panels: dict[str, Callable[[], Any]] = {
        "overview": lambda: OverviewPanel(table, snapshot, page.rooms.go, page.show_snapshot, page.seen).view,
        "export": lambda: exports_view(lambda: page.view.graph if page.view else None),
        "history": lambda: lineage_view(table),
        "diff": lambda: diff_view(table, snapshot, page.compare, page.compared),
        "lifecycle": lambda: lifecycle_view(table, page.show_manifest),
        "commits": lambda: commits_view(table, page.show_snapshot),
        "metadata": lambda: metadata_view(table),
        "plan": lambda: plan_view(table, snapshot, page.reads, offers.sql, offers.lab, page.show_row),
        "health": lambda: table_health(table, snapshot),
        "tables": lambda: page.catalog_health.look(table.reader.location.catalog or SANDBOX),
        "problems": lambda: doctor_view(table, page.show_finding, page.found),
        "maintain": lambda: procedures_view(table, page.changed, offers.lab),
        "undo": lambda: undo_view(table, page.changed, offers.lab),
        "lab": lambda: LabPanel().view(),
        "statement": lambda: ObservePanel(table, page.committed, page.copied).view(),
        "conflict": lambda: conflict_view(table),
        "race": lambda: RacePanel().view(),
    }
    return panels[name]()


def _newest_first(table: Table) -> Collection:
    return Collection.of_rows(table.snapshots[::-1], "snapshots")


def _lacks(table: Table, snapshot: int | None, name: str) -> str:
    """What a list cannot tell of a snapshot, as it has been read; nothing where all of it could be."""
    at = None if snapshot is None or name == "snapshots" else table.metadata.snapshot(snapshot)
    if at is None:
        return ""
    missing = "could not be read whole: what is lost there is missing here"
    damaged_list, lost = table.tree.unreadable_in(at)
    if damaged_list:
        return f"The manifest list {missing}."
    if not lost or name == "manifests":
        return ""
    return f"{len(lost):,} of {count(len(table.tree.manifests(at)), 'manifest')} {missing}."


def _of_rows(page: Dashboard, name: str, view: ViewState, snapshot: int) -> Any:
    table, reads = view.table, page.reads
    panels: dict[str, Callable[[], Any]] = {
        "rows": lambda: ReadPanel(table, snapshot, reads, page.show_row, page.offers.sql).view(),
        "sql": lambda: SqlPanel(table, snapshot, reads, page.show_row).view(),
        "row-diff": lambda: row_diff_view(table, snapshot, page.compare),
        "fate": lambda: fate_view(table, snapshot, page.show_row),
        "deletes": lambda: deletes_view(table, snapshot, partial(page.show_row_of, "file")),
    }
    return panels[name]()
