"""Explore and debug the metadata of Apache Iceberg tables.

>>> import explorer
>>> table = explorer.open_table("demo.manifest_lifecycle")   # the embedded sandbox catalog
>>> table = explorer.open_table("/data/warehouse/db/orders") # a table folder, a metadata.json or a URI
>>> table.snapshots.to_pandas()
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from explorer.errors import (
    AccessRefused,
    EngineError,
    ExplorerError,
    NotFoundInTable,
    NotPossible,
    NotSupported,
    StatementFailed,
    TableNotFound,
    UnreadableFile,
)

if TYPE_CHECKING:
    from typing import TypeAlias

    from explorer.queries.collection import Collection
    from explorer.render.doctor import ShownReport
    from explorer.render.health import ShownHealth
    from explorer.render.layouts import ShownLayouts
    from explorer.render.overview import ShownOverview
    from explorer.render.plan_result import ShownPlan
    from explorer.reports.catalog_entry import Pointed
    from explorer.reports.estimates import estimate
    from explorer.reports.file_map import file_map
    from explorer.reports.timings import measure
    from explorer.reports.watch import Landed
    from explorer.spark_engine.engine_choice import Engine
    from explorer.spec.rows.live_rows import LiveRows
    from explorer.table import Table

    Named: TypeAlias = Table | str | Path
    """A table, or what open_table takes for one."""

__version__ = "0.1.0"
__all__ = [
    "AccessRefused",
    "Collection",
    "EngineError",
    "ExplorerError",
    "NotFoundInTable",
    "NotPossible",
    "NotSupported",
    "ShownHealth",
    "ShownLayouts",
    "ShownOverview",
    "ShownReport",
    "StatementFailed",
    "Table",
    "TableNotFound",
    "UnreadableFile",
    "catalog",
    "catalog_health",
    "compare",
    "compare_layouts",
    "doctor",
    "estimate",
    "export_html",
    "file_map",
    "gallery",
    "health",
    "live_rows",
    "measure",
    "metadata_view",
    "open_table",
    "overview",
    "panel",
    "pointer",
    "show",
    "show_deletes",
    "show_plan",
    "show_plan_graph",
    "spark",
    "sweep",
    "watch",
]

_PLACES = {
    "Collection": "queries.collection",
    "ShownHealth": "render.health",
    "ShownLayouts": "render.layouts",
    "ShownOverview": "render.overview",
    "ShownReport": "render.doctor",
    "Table": "table",
    "estimate": "reports.estimates",
    "file_map": "reports.file_map",
    "measure": "reports.timings",
}
"""Where names of this package are defined that are imported when they are first used: numpy, pyarrow, polars and
pyiceberg take seconds."""


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def open_table(
    table: Any,
    catalog: str | None = None,
    properties: Mapping[str, str] | None = None,
    roots: Sequence[str] = (),
    relocate: Mapping[str, str] | None = None,
) -> Table:
    """Open a table: `db.t` in the sandbox, `catalog.db.t` from .pyiceberg.yaml, a path or URI of a table folder or
    metadata.json, or a pyiceberg Table, at the metadata file that it has loaded.

    `catalog` names the catalog explicitly, `properties` adds connection properties (never shown), and `roots` allows
    reading below more folders than the table's own. `relocate` says of places that the metadata names where they are
    now: {"s3://bucket/house": "/mirror/house"}. In a notebook the table shows as the live widget.
    Raises TableNotFound, UnreadableFile or AccessRefused, each naming the file and what is wrong."""
    from explorer.storage.locate import locate
    from explorer.storage.reader import TableReader
    from explorer.table import Table

    if isinstance(getattr(table, "metadata_location", None), str):  # pyiceberg's
        properties = {**getattr(table.io, "properties", {}), **(properties or {})}
        table = table.metadata_location
    if not isinstance(table, (str, Path)):
        raise TableNotFound(f"{type(table).__name__} is no table: give a name, a path, a URI or a pyiceberg Table")
    table = str(table)
    return Table(TableReader(locate(table, catalog, properties, (relocate or {}).items()), roots), _show)


def _opened(table: Named) -> Table:
    from explorer.table import Table

    return table if isinstance(table, Table) else open_table(table)


def overview(table: Named, snapshot: str | int | None = None, **options: Any) -> ShownOverview:
    """What a table is, holds, and what each snapshot added and removed: see reports.overview.overview. Raises
    TableNotFound, UnreadableFile, NotFoundInTable."""
    from explorer.reports.overview import overview as overview_of

    return overview_of(_opened(table), snapshot, **options)


def live_rows(table: Named, snapshot: str | int | None = None) -> LiveRows:
    """How many rows readers of a snapshot see: see reports.row_count.live_rows. Raises TableNotFound, NotFoundInTable,
    UnreadableFile."""
    from explorer.reports.row_count import live_rows as rows_of

    return rows_of(_opened(table), snapshot)


def pointer(table: Named) -> Pointed:
    """What a table's catalog stores of it: see reports.catalog_entry.pointer. Raises NotPossible, NotSupported,
    TableNotFound."""
    from explorer.reports.catalog_entry import pointer as pointer_of

    return pointer_of(_opened(table))


def watch(table: Named, interval: float | None = None) -> Iterator[Landed]:
    """The commits to a table as they land: see reports.watch.watch. Raises NotPossible, TableNotFound,
    UnreadableFile."""
    from explorer.reports.watch import watch as commits_of

    return commits_of(_opened(table), interval)


def doctor(
    table: Named, *, files: bool = False, deep: bool = False, skip: Sequence[str] = (),
    severity: Mapping[str, str] | None = None, snapshot: str | int | None = None, engine: Engine = "auto",
) -> ShownReport:  # fmt: skip
    """What contradicts the spec or itself in a table, or in one that cannot be opened: see reports.doctor.diagnose.
    Raises TableNotFound where there is none."""
    from explorer.reports.doctor import diagnose, unopened
    from explorer.table import Table

    if not isinstance(table, Table):
        name = str(table)
        try:
            table = open_table(name)
        except UnreadableFile as error:
            return unopened(name, error, skip, severity)
    return diagnose(table, snapshot=snapshot, files=files, deep=deep, skip=skip, severity=severity, engine=engine)


def health(
    table: Named, *, limits: Mapping[str, float] | None = None, clustering: bool = False,
    snapshot: str | int | None = None, engine: Engine = "auto",
) -> ShownHealth:  # fmt: skip
    """How healthy a table is as of a snapshot, each number against its threshold (docs/health.md): see
    checkup.checkup. Raises TableNotFound, UnreadableFile, NotFoundInTable."""
    from explorer.reports.health import checkup

    opened = _opened(table)
    at = None if snapshot is None else opened.resolve(snapshot).snapshot.snapshot_id
    return checkup(opened, limits=limits, clustering=clustering, snapshot_id=at, engine=engine)


def catalog_health(catalog: str = "sandbox", properties: Mapping[str, str] | None = None, **options: Any) -> Collection:
    """The health of all tables of a catalog as rows, the worst first; a table that fails says why in `error`. Each
    measure is a column; `options` are those of `health`, `namespace`, `roots` and `relocate`. Raises TableNotFound when
    the catalog cannot be listed."""
    from explorer.queries.collection import Collection
    from explorer.reports.health import catalog_checkup

    return Collection.of_rows(catalog_checkup(catalog, properties, **options), f"health of the tables of {catalog}")


def compare(table: Table, before: str | int | None, after: str | int | None, height: str = "420px") -> Any:
    """The difference of two snapshots as a live widget: added and removed parts drawn, what both have folded.
    Raises NotFoundInTable."""
    from explorer.ui.notebook import DiffWidget

    return DiffWidget(table, before, after, height)


def compare_layouts(
    table: Table, queries: Sequence[str] = (), snapshot: str | int | None = None, limit: int = 100_000
) -> ShownLayouts:
    """The same rows unsorted, bin-packed, sorted, z-ordered and partitioned, each really written into the sandbox by
    Spark: what that cost, and what queries read of each: see lab.layouts.compare_layouts. Raises NotFoundInTable,
    NotPossible, EngineError, StatementFailed."""
    from explorer.lab.layouts import compare_layouts as compared
    from explorer.render.layouts import ShownLayouts

    return ShownLayouts(compared(table, queries, snapshot, limit))


def panel(of: Any, question: str = "overview") -> Any:
    """A question about a table as a live widget with its choices: "overview", "history", "lifecycle", "diff",
    "deletes" or "plan"; or a run of the lab, whose steps are taken and shown in it. Raises NotFoundInTable for another
    question, and what the first asking does."""
    from explorer.ui.panels import Panel

    return Panel(of, question)


def show(result: Any) -> Any:
    """A lifecycle, diff, history, plan or other answer as a notebook of IPython shows it, for hosts that are none
    (marimo): its picture, and its text. Raises NotPossible for what has none."""
    from explorer.ui.printed import Exhibit

    return Exhibit(result)


def show_deletes(table: Table, snapshot: str | int | None = None, height: str = "360px") -> Any:
    """Which deletes apply to which data files as of a snapshot, as a live widget. Raises NotFoundInTable."""
    from explorer.ui.notebook import DeletesWidget

    return DeletesWidget(table, snapshot, height)


def show_plan(table: Table, where: str, snapshot: str | int | None = None, sql: bool = False) -> ShownPlan:
    """What a query with a filter reads and skips, and why, as pictures: the funnel, files by the bounds of the first
    column that is asked, partitions, reasons. With `sql` the filter is Spark SQL, planned for what Spark hands to
    Iceberg of it. Raises NotFoundInTable, with `sql` StatementFailed and EngineError too."""
    plan, pushed_down = table.plan_sql(where, snapshot) if sql else (table.plan(where, snapshot), None)
    return table.shown(plan, pushed_down)


def show_plan_graph(table: Table, where: str, snapshot: str | int | None = None, height: str = "420px") -> Any:
    """The manifests and files that a scan with a filter reads and skips, each with what decided, as a live widget.
    Raises NotFoundInTable."""
    from explorer.ui.notebook import PlanWidget

    return PlanWidget(table, where, snapshot, height)


def export_html(table: Named, file: str | Path) -> dict[str, Any]:
    """Write a table as one HTML file that needs no kernel, server or network: its snapshots to step through, nodes to
    unfold, a search, the inspector, what each commit changed. Returns `file`, `bytes`, `snapshots`, `nodes` and, in
    words, what was `left_out` (docs/exports.md). What the inspector hides of secrets is not in it, nor are rows."""
    from explorer.ui.export import export_table

    return export_table(_opened(table), Path(file))


def gallery(folder: str | Path, catalog: str = "", properties: Mapping[str, str] | None = None) -> Collection:
    """Write the teaching tables that are built, or all tables of a catalog, as a folder of such files with an
    index.html. Returns a row for each, as export_html has it; a table that fails has an `error`. Raises TableNotFound
    when the catalog cannot be listed."""
    from explorer.queries.collection import Collection
    from explorer.ui.export import export_gallery

    return Collection.of_rows(list(export_gallery(Path(folder), catalog, properties)), "gallery")


def _show(table: Table) -> Any:
    from explorer.ui.notebook import TableWidget

    return TableWidget(table)


def catalog(name: str = "sandbox", properties: Mapping[str, str] | None = None) -> Collection:
    """The tables of a catalog, as rows of `catalog` and `identifier`. Raises TableNotFound when it cannot be
    reached."""
    from explorer.queries.collection import Collection
    from explorer.storage.catalogs import catalogs

    return Collection.of_rows(
        [{"catalog": t.catalog, "identifier": t.identifier} for t in catalogs.tables(name, properties)],
        f"tables of {name}",
    )


def sweep(
    catalog: str = "sandbox",
    properties: Mapping[str, str] | None = None,
    namespace: str = "",
    roots: Sequence[str] = (),
    relocate: Mapping[str, str] | None = None,
) -> Collection:
    """Counts, sizes, snapshots and problems of all tables of a catalog, each by its metadata file and one manifest
    list, as rows that come as they are read; a table that fails has an `error`; `roots` and `relocate` as open_table
    has. Reading raises TableNotFound when the catalog cannot be listed. Other questions than this:
    explorer.reports.catalog_sweep.sweep."""
    from explorer.queries.collection import Collection
    from explorer.reports.catalog_sweep import summaries

    moved = tuple((relocate or {}).items())
    return Collection(summaries(catalog, properties, namespace, roots, moved), f"tables of {catalog}")


def metadata_view(spark: Any, table: Table, snapshot: str | int | None = None, name: str = "") -> list[str]:
    """Register the three states of a snapshot's entries as temporary views of a Spark session, `<name>_stored`,
    `<name>_inherited` and `<name>_logical` (see Table.entries), and return their names. `name` is the table's own, if
    none is given. The workers read the manifests, each time a view is asked;
    what they cannot read is not in it (see Table.problems after Table.entries). Raises NotFoundInTable, NotPossible."""
    base = name or re.sub(r"\W", "_", table.name.rpartition(".")[2])
    if not re.fullmatch(r"\w+", base):
        raise NotPossible(f"{name!r} is no name of a view: it may have letters, digits and _")
    views = []
    for state in ("stored", "inherited", "logical"):
        views.append(f"{base}_{state}")
        table.entries(snapshot, state).to_spark(spark).createOrReplaceTempView(views[-1])
    return views


def spark(conf: Mapping[str, str] | None = None, master: str | None = None) -> Any:
    """A SparkSession with Iceberg and the sandbox catalog (`sandbox.db.t`). Waits until it is ready.

    `conf` and `master` win over $ICEDIVE_SPARK_CONF and spark.json. Raises EngineError with the fix."""
    from explorer.spark_engine.spark import SparkEngine, shared_engine

    return (SparkEngine(conf, master) if conf or master else shared_engine()).session()


def _teach_notebook() -> None:
    """Have the IPython shell that we are in, if we are in one, print results as text that can be read."""
    if "IPython" in sys.modules and (shell := sys.modules["IPython"].get_ipython()) is not None:
        from explorer.ui.printed import teach

        teach(shell)


_teach_notebook()
