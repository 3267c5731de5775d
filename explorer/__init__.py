"""Explore and debug the metadata of Apache Iceberg tables.

>>> import explorer
>>> table = explorer.open_table("demo.manifest_lifecycle")   # the embedded sandbox catalog
>>> table = explorer.open_table("/data/warehouse/db/orders") # a table folder, a metadata.json or a URI
>>> table.snapshots.to_pandas()
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from explorer.collection import Collection
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
from explorer.estimating import estimate
from explorer.measuring import measure
from explorer.table import Table
from explorer.views.shown_plan import ShownPlan

__version__ = "0.1.0"
__all__ = [
    "AccessRefused",
    "Collection",
    "EngineError",
    "ExplorerError",
    "NotFoundInTable",
    "NotPossible",
    "NotSupported",
    "StatementFailed",
    "Table",
    "TableNotFound",
    "UnreadableFile",
    "catalog",
    "compare",
    "estimate",
    "measure",
    "metadata_view",
    "open_table",
    "show_deletes",
    "show_plan",
    "spark",
]


def open_table(
    table: str,
    catalog: str | None = None,
    properties: Mapping[str, str] | None = None,
    roots: Sequence[str] = (),
    relocate: Mapping[str, str] | None = None,
) -> Table:
    """Open a table: `db.t` in the sandbox, `catalog.db.t` from .pyiceberg.yaml, or a path or URI of a table folder or
    metadata.json.

    `catalog` names the catalog explicitly, `properties` adds connection properties (never shown), and `roots` allows
    reading below more folders than the table's own. `relocate` says of places that the metadata names where they are
    now: {"s3://bucket/house": "/mirror/house"}. In a notebook the table shows as the live widget.
    Raises TableNotFound, UnreadableFile or AccessRefused, each naming the file and what is wrong."""
    from explorer.io.locate import locate
    from explorer.io.reader import TableReader

    return Table(TableReader(locate(table, catalog, properties, (relocate or {}).items()), roots), _show)


def compare(table: Table, before: str | int | None, after: str | int | None, height: str = "420px") -> Any:
    """The difference of two snapshots as a live widget: added and removed parts drawn, what both have folded.
    Raises NotFoundInTable."""
    from explorer.ui.notebook import DiffWidget

    return DiffWidget(table, before, after, height)


def show_deletes(table: Table, snapshot: str | int | None = None, height: str = "360px") -> Any:
    """Which deletes apply to which data files as of a snapshot, as a live widget. Raises NotFoundInTable."""
    from explorer.ui.notebook import DeletesWidget

    return DeletesWidget(table, snapshot, height)


def show_plan(table: Table, where: str, snapshot: str | int | None = None, sql: bool = False) -> ShownPlan:
    """What a query with a filter reads and skips, and why, as pictures: the funnel, files by the bounds of the first
    column that is asked, partitions, reasons. With `sql` the filter is Spark SQL, planned for what Spark hands to
    Iceberg of it. Raises NotFoundInTable, with `sql` StatementFailed and EngineError too."""
    plan, found = table.plan_sql(where, snapshot) if sql else (table.plan(where, snapshot), None)
    return table.shown(plan, found)


def _show(table: Table) -> Mapping[str, Any]:
    from explorer.ui.notebook import mimebundle

    return mimebundle(table)


def catalog(name: str = "sandbox", properties: Mapping[str, str] | None = None) -> Collection:
    """The tables of a catalog, as rows of `catalog` and `identifier`. Raises TableNotFound when it cannot be
    reached."""
    from explorer.io import catalogs

    return Collection.of_rows(
        [{"catalog": t.catalog, "identifier": t.identifier} for t in catalogs.tables(name, properties)],
        f"tables of {name}",
    )


def metadata_view(spark: Any, table: Table, snapshot: str | int | None = None, name: str = "") -> list[str]:
    """Register the three states of a snapshot's entries as temporary views of a Spark session, `<name>_stored`,
    `<name>_inherited` and `<name>_logical` (see Table.entries), and return their names. `name` is the table's own, if
    none is given. The workers read the manifests, each time a view is asked;
    what they cannot read is not in it (see Table.problems after Table.entries). Raises NotFoundInTable."""
    base = name or re.sub(r"\W", "_", table.name.rpartition(".")[2])
    views = []
    for state in ("stored", "inherited", "logical"):
        views.append(f"{base}_{state}")
        table.entries(snapshot, state).to_spark(spark).createOrReplaceTempView(views[-1])
    return views


def spark(conf: Mapping[str, str] | None = None, master: str | None = None) -> Any:
    """A SparkSession with Iceberg and the sandbox catalog (`sandbox.db.t`). Waits until it is ready.

    `conf` and `master` win over $ICEBERG_EXPLORER_SPARK_CONF and spark.json. Raises EngineError with the fix."""
    from explorer.engines.spark import SparkEngine, shared_engine

    return (SparkEngine(conf, master) if conf or master else shared_engine()).session()
