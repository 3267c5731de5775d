"""Parts of the package asked directly: tests of rules and reports need their data, not answers that show themselves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from explorer.lab.layouts import compare_layouts as _compare_layouts
from explorer.queries.collection import Collection
from explorer.questions import QUESTIONS
from explorer.questions.parameters import TableAt
from explorer.render.doctor import ShownReport
from explorer.render.health import ShownHealth
from explorer.render.layouts import ShownLayouts
from explorer.render.overview import ShownOverview
from explorer.render.plan_result import ShownPlan
from explorer.reports import overview as _overview
from explorer.reports.catalog_entry import pointer as _pointer
from explorer.reports.catalog_sweep import summaries
from explorer.reports.estimates import estimate as _estimate
from explorer.reports.file_map import file_map
from explorer.reports.health import catalog_checkup, checkup
from explorer.reports.row_count import live_rows as _live_rows
from explorer.reports.watch import watch as _watch
from explorer.spec.catalogs.entries import CatalogEntry
from explorer.spec.commits.new_commits import NewCommit
from explorer.spec.rows.live_rows import LiveRows
from explorer.table import Table, open_table

__all__ = ["Collection", "ShownPlan", "Table", "file_map", "open_table"]


def _open(table: Any) -> Table:
    return table if isinstance(table, Table) else open_table(table)


def doctor(table: Any, **options: Any) -> ShownReport:
    """The report on a table, which may not open."""
    at = TableAt(table.name, opened=table) if isinstance(table, Table) else TableAt(str(table))
    report: ShownReport = QUESTIONS["doctor",].ask(at, **{k: v for k, v in options.items() if v is not None}).value
    return report


def health(table: Any, *, snapshot: str | int | None = None, **options: Any) -> ShownHealth:
    """The health of a table as of a snapshot."""
    opened = _open(table)
    at = None if snapshot is None else opened.resolve(snapshot).snapshot.snapshot_id
    return checkup(opened, snapshot_id=at, **options)


def catalog_health(catalog: str = "sandbox", properties: Mapping[str, str] | None = None, **options: Any) -> Collection:
    """The health of all tables of a catalog."""
    return Collection.of_rows(catalog_checkup(catalog, properties, **options), "tables")


def overview(table: Any, snapshot: str | int | None = None, **options: Any) -> ShownOverview:
    """A table in a few facts."""
    return _overview.overview(_open(table), snapshot, **options)


def live_rows(table: Any, snapshot: str | int | None = None) -> LiveRows:
    """The visible rows of a table, counted."""
    return _live_rows(_open(table), snapshot)


def pointer(table: Any) -> CatalogEntry:
    """What a catalog stores of a table."""
    return _pointer(_open(table))


def watch(table: Any, interval: float | None = None) -> Iterator[NewCommit]:
    """The commits to a table as they land."""
    return _watch(_open(table), interval)


def estimate(table: Any, *arguments: Any, **options: Any) -> Any:
    """What changes would make of filters."""
    return _estimate(_open(table), *arguments, **options)


def show_plan(table: Table, where: str, snapshot: str | int | None = None, sql: bool = False) -> ShownPlan:
    """A plan with its pictures."""
    plan, pushed_down = table.plan_sql(where, snapshot) if sql else (table.plan(where, snapshot), None)
    return table.plan_pictures(plan, pushed_down)


def sweep(
    catalog: str = "sandbox", properties: Mapping[str, str] | None = None, namespace: str = "",
    roots: Sequence[str] = (), relocate: Mapping[str, str] | None = None,
) -> Collection:  # fmt: skip
    """Counts of all tables of a catalog."""
    moved = tuple((relocate or {}).items())
    return Collection(summaries(catalog, properties, namespace, roots, moved), f"tables of {catalog}")


def compare_layouts(table: Table, *arguments: Any, **options: Any) -> ShownLayouts:
    """The same rows in several layouts, really written."""
    return ShownLayouts(_compare_layouts(table, *arguments, **options))
