"""What a page shows before anything is asked: catalogs, teaching tables, and the facts of a table that is opened."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from explorer.errors import NotFoundInTable
from explorer.lab.scenarios.build import available_names
from explorer.lab.scenarios.registry import NAMESPACE, SCENARIOS
from explorer.render.overview import facts, tiles
from explorer.render.text import brief, clean
from explorer.reports.overview import overview
from explorer.serving import places
from explorer.spec.text.names import shorten, snapshot_name, snapshot_ordinals
from explorer.storage.catalogs import catalogs
from explorer.table import Table

TABLE_VARIABLE = "ICEDIVE_TABLE"
"""Names the table that a page opens first."""
PREFIX = f"{catalogs.SANDBOX}.{NAMESPACE}."
"""What the names of teaching tables begin with."""
MOST_VERSIONS, LONGEST_NAME = 500, 1_000
"""Branches, tags and snapshots that a page offers; any other can be entered."""


def catalog_names() -> list[str]:
    """Return the names of the catalogs that are configured here, and may be asked as a whole."""
    return [clean(name) for name in places.offered_catalogs(catalogs.catalog_names())]


def namespaces(catalog: str, credentials: Mapping[str, str] | None = None) -> list[list[str]]:
    """Return the namespaces of a catalog. Raises ExplorerError."""
    return [list(space) for space in catalogs.namespaces(catalog, credentials)]


def tables(catalog: str, namespace: tuple[str, ...], credentials: Mapping[str, str] | None = None) -> list[str]:
    """Return the tables of a namespace, as they are opened. Raises ExplorerError."""
    return [f"{catalog}.{one.identifier}" for one in catalogs.tables_in(catalog, namespace, credentials)]


def teaching_tables() -> list[dict[str, str]]:
    """Return the teaching tables that are here, and what each teaches."""
    there = available_names()
    return [
        {
            "table": f"{PREFIX}{one.name}",
            "name": one.name,
            "teaches": one.teaches,
            "source": one.source,
        }
        for one in SCENARIOS
        if one.name in there
    ]


def _in_view(table: Table, snapshot: str) -> int | None:
    """The id of the snapshot that a page names; None for the current one, and where the table has no such snapshot,
    which the answers of the page say."""
    try:
        at = table.resolve(snapshot or None).snapshot
    except NotFoundInTable:
        return None
    return at.snapshot_id


def header(table: Table, name: str, snapshot: str = "") -> dict[str, Any]:
    """Return what stands above a table's graph.

    Args:
        table: The table.
        name: Its name, as it was opened.
        snapshot: The snapshot in view: an id, a name such as snapshot-3, a ref or a time; the current one if empty.

    Returns:
        Its title, its facts, its snapshots and refs, why this metadata file was opened, and its problems.
    """
    meta = table.metadata
    ordinals = snapshot_ordinals(meta)
    glance = overview(table, _in_view(table, snapshot), quick=True)
    refs = sorted(meta.refs, key=lambda ref: (ref.name != "main", ref.type, ref.name))
    newest = sorted(meta.snapshots, key=lambda one: -ordinals[one.snapshot_id])
    columns = [one for one in glance.columns if len(one.name) <= LONGEST_NAME]
    teaches = {f"{PREFIX}{one.name}": one.teaches for one in SCENARIOS}
    return {
        "name": name,
        "title": brief(table.name),
        "format_version": meta.format_version,
        "tiles": [[*map(brief, tile)] for tile in tiles(glance)],
        "facts": [[*map(brief, fact)] for fact in facts(glance)],
        "current": "" if meta.current_snapshot_id is None else str(meta.current_snapshot_id),
        "refs": [
            {"name": clean(shorten(ref.name, LONGEST_NAME)), "type": ref.type, "snapshot": str(ref.snapshot_id)}
            for ref in refs[:MOST_VERSIONS]
        ],
        "snapshots": [
            {"id": str(one.snapshot_id), "name": snapshot_name(one.snapshot_id, ordinals)}
            for one in newest[:MOST_VERSIONS]
        ],
        "columns": [clean(column.name) for column in columns],
        "types": [clean(shorten(column.type, 80)) for column in columns],
        "why": brief(table.why),
        "problems": [brief(f"{one.severity}: {one}") for one in table.problems],
        "teaches": teaches.get(table.name, ""),
    }
