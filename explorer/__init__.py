"""Explore and debug the metadata of Apache Iceberg tables.

>>> import explorer
>>> table = explorer.open_table("demo.manifest_lifecycle")   # the embedded sandbox catalog
>>> table = explorer.open_table("/data/warehouse/db/orders") # a table folder, a metadata.json or a URI
>>> table.snapshots.to_pandas()
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
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
    WrongUsage,
)

if TYPE_CHECKING:
    from typing import TypeAlias

    from explorer.queries.collection import Collection
    from explorer.questions.answers import Answer
    from explorer.questions.facade import OpenCatalog, OpenTable
    from explorer.questions.parameters import TableAt
    from explorer.table import Table

    Named: TypeAlias = OpenTable | Table | str | Path
    """A table, or what open_table takes for one."""

__version__ = "0.1.0"
__all__ = [
    "AccessRefused",
    "Answer",
    "Collection",
    "EngineError",
    "ExplorerError",
    "NotFoundInTable",
    "NotPossible",
    "NotSupported",
    "OpenCatalog",
    "OpenTable",
    "StatementFailed",
    "TableNotFound",
    "UnreadableFile",
    "WrongUsage",
    "catalog",
    "compare",
    "doctor",
    "export_html",
    "gallery",
    "metadata_view",
    "open_table",
    "panel",
    "pointer",
    "show",
    "show_deletes",
    "show_plan_graph",
    "spark",
]

_PLACES = {
    "Answer": "questions.answers",
    "Collection": "queries.collection",
    "OpenCatalog": "questions.facade",
    "OpenTable": "questions.facade",
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
) -> OpenTable:
    """Open a table; its methods ask questions.

    Args:
        table: `db.t` in the sandbox, `catalog.db.t` from .pyiceberg.yaml, a path or URI of a table folder or
            metadata.json, a pyiceberg Table, at the metadata file that it has loaded, or a table that is open.
        catalog: The catalog's name, where the table's name does not have it.
        properties: Connection properties; they are never shown.
        roots: Folders and URIs that may be read beside the table's own.
        relocate: Where places are that the metadata names: {"s3://bucket/house": "/mirror/house"}.

    Returns:
        The open table. In a notebook it shows as the live graph.

    Raises:
        TableNotFound: No table goes by that name.
        UnreadableFile: Its metadata file cannot be read; the message names the file and what is wrong.
        AccessRefused: It lies where nothing may be read.

    Example:
        >>> table = explorer.open_table("demo.three_inserts")
        >>> table.inspect.snapshots().columns[:2]
        ['snapshot', 'snapshot-id']
    """
    from explorer.questions.facade import OpenTable
    from explorer.table import open_table as opened

    given = table.engine if isinstance(table, OpenTable) else table
    return OpenTable(opened(given, catalog, properties, roots, relocate, _show))


def catalog(
    name: str = "sandbox",
    properties: Mapping[str, str] | None = None,
    roots: Sequence[str] = (),
    relocate: Mapping[str, str] | None = None,
) -> OpenCatalog:
    """Name a catalog; its methods ask questions about all its tables.

    Args:
        name: The catalog's name: `sandbox`, or one from .pyiceberg.yaml.
        properties: Connection properties; they are never shown.
        roots: Folders and URIs that may be read beside the tables' own.
        relocate: Where places are that the metadata names.

    Returns:
        The catalog. It is reached when a question is asked.

    Example:
        >>> explorer.catalog().namespaces().columns
        ['namespace']
    """
    from explorer.questions.facade import OpenCatalog
    from explorer.questions.parameters import CatalogAt

    return OpenCatalog(CatalogAt(name, properties, tuple(roots), tuple((relocate or {}).items())))


def _engine(table: Named) -> Table:
    """The table itself, of whatever names it."""
    from explorer.questions.facade import OpenTable
    from explorer.table import Table
    from explorer.table import open_table as opened

    if isinstance(table, OpenTable):
        return table.engine
    return table if isinstance(table, Table) else opened(table)


def doctor(table: Named, **options: Any) -> Answer[Any]:
    """Check a table that may not open; see OpenTable.doctor, whose options these are.

    Args:
        table: An open table, or what open_table takes for one.
        options: `files`, `deep`, `each`, `skip`, `severity`, `snapshot`, `engine`.

    Returns:
        The report.

    Raises:
        TableNotFound: No table goes by that name.
    """
    from explorer.questions.check import doctor as check

    return check(_place(table), **options)


def pointer(table: Named) -> Answer[Any]:
    """Show what a catalog stores of a table that may not open.

    Args:
        table: An open table, or what open_table takes for one.

    Returns:
        The catalog's entry, beside the metadata file that was opened.

    Raises:
        NotPossible: No catalog holds the table.
        TableNotFound: No table goes by that name.
    """
    from explorer.questions.catalog import pointer as stored

    return stored(_place(table))


def _place(table: Named) -> TableAt:
    from explorer.questions.parameters import TableAt

    if isinstance(table, (str, Path)):
        return TableAt(str(table))
    opened = _engine(table)
    return TableAt(opened.name, opened=opened)


def compare(table: Named, before: str | int | None, after: str | int | None, height: str = "420px") -> Any:
    """The difference of two snapshots as a live widget: added and removed parts drawn, what both have folded.
    Raises NotFoundInTable."""
    from explorer.ui.notebook import DiffWidget

    return DiffWidget(_engine(table), before, after, height)


def panel(of: Any, question: str = "overview") -> Any:
    """A question about a table as a live widget with its choices: "overview", "history", "lifecycle", "diff",
    "deletes" or "plan"; or a run of the lab, whose steps are taken and shown in it. Raises NotFoundInTable for another
    question, and what the first asking does."""
    from explorer.questions.answers import Answer
    from explorer.ui.panels import Panel

    of = of.value if isinstance(of, Answer) else of
    return Panel(_engine(of) if hasattr(of, "engine") else of, question)


def show(result: Any) -> Any:
    """A lifecycle, diff, history, plan or other answer as a notebook of IPython shows it, for hosts that are none
    (marimo): its picture, and its text. Raises NotPossible for what has none."""
    from explorer.ui.printed import Exhibit

    return Exhibit(result)


def show_deletes(table: Named, snapshot: str | int | None = None, height: str = "360px") -> Any:
    """Which deletes apply to which data files as of a snapshot, as a live widget. Raises NotFoundInTable."""
    from explorer.ui.notebook import DeletesWidget

    return DeletesWidget(_engine(table), snapshot, height)


def show_plan_graph(table: Named, where: str, snapshot: str | int | None = None, height: str = "420px") -> Any:
    """The manifests and files that a scan with a filter reads and skips, each with what decided, as a live widget.
    Raises NotFoundInTable."""
    from explorer.ui.notebook import PlanWidget

    return PlanWidget(_engine(table), where, snapshot, height)


def export_html(table: Named, file: str | Path) -> dict[str, Any]:
    """Write a table as one HTML file that needs no kernel, server or network: its snapshots to step through, nodes to
    unfold, a search, the inspector, what each commit changed. Returns `file`, `bytes`, `snapshots`, `nodes` and, in
    words, what was `left_out` (docs/exports.md). What the inspector hides of secrets is not in it, nor are rows."""
    from explorer.ui.export import export_table

    return export_table(_engine(table), Path(file))


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


def metadata_view(spark: Any, table: Named, snapshot: str | int | None = None, name: str = "") -> list[str]:
    """Register the three states of a snapshot's entries as temporary views of a Spark session, `<name>_stored`,
    `<name>_inherited` and `<name>_logical` (see Table.entries), and return their names. `name` is the table's own, if
    none is given. The workers read the manifests, each time a view is asked;
    what they cannot read is not in it (see Table.problems after Table.entries). Raises NotFoundInTable, NotPossible."""
    opened = _engine(table)
    base = name or re.sub(r"\W", "_", opened.name.rpartition(".")[2])
    if not re.fullmatch(r"\w+", base):
        raise NotPossible(f"{name!r} is no name of a view: it may have letters, digits and _")
    views = []
    for state in ("stored", "inherited", "logical"):
        views.append(f"{base}_{state}")
        opened.entries(snapshot, state).to_spark(spark).createOrReplaceTempView(views[-1])
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
