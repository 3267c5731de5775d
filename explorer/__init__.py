"""Explore and debug the metadata of Apache Iceberg tables.

>>> import explorer
>>> table = explorer.open_table("demo.three_inserts")  # or a table folder, a metadata.json, a URI
>>> len(table.inspect.snapshots())
3
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
from explorer.spec.text.identifiers import split_identifier

if TYPE_CHECKING:
    from typing import TypeAlias

    from explorer.app import course_tools as course
    from explorer.lab.exercises.exercise import Exercise
    from explorer.queries.collection import Collection
    from explorer.questions.answers import Answer
    from explorer.questions.facade import OpenCatalog, OpenTable
    from explorer.questions.parameters import TableAt
    from explorer.reports.bundle import TableBundle
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
    "about",
    "catalog",
    "compare",
    "course",
    "doctor",
    "exercise",
    "export_html",
    "export_slides",
    "gallery",
    "load_ipython_extension",
    "metadata_view",
    "open_table",
    "panel",
    "panel_component",
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
"""Where names of this package are defined that are imported when they are first used: numpy, pyarrow and pyiceberg
take seconds."""


def __getattr__(name: str) -> Any:
    if name == "course":
        return import_module(f"{__name__}.app.course_tools")
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def about() -> dict[str, str | None]:
    """Say what runs here.

    Returns:
        The versions of this package, Python, pyarrow and pyspark (None where it is not installed), and what decodes
        manifests: the native decoder with its version, polars, or fastavro and how to install what is faster
        (docs/decoding.md).

    Example:
        >>> explorer.about()["version"] == explorer.__version__
        True
    """
    from importlib.metadata import PackageNotFoundError, version

    from explorer.native_module import decoder

    def installed(name: str) -> str | None:
        try:
            return version(name)
        except PackageNotFoundError:
            return None

    python = ".".join(map(str, sys.version_info[:3]))
    packages = {name: installed(name) for name in ("pyarrow", "pyspark")}
    return {"version": __version__, "decoder": decoder(), "python": python, **packages}


def open_table(
    table: Any,
    catalog: str | None = None,
    properties: Mapping[str, str] | None = None,
    roots: Sequence[str] = (),
    relocate: Mapping[str, str] | None = None,
    spark: Any = None,
) -> OpenTable:
    """Open a table; its methods ask questions.

    Args:
        table: `db.t` in the sandbox, `catalog.db.t` from .pyiceberg.yaml, a path or URI of a table folder or
            metadata.json, a pyiceberg Table or a DataFrame of Spark, at the metadata file that it has loaded, what a
            REST catalog answers when it loads a table, or a table that is open.
        catalog: The catalog's name, where the table's name does not have it.
        properties: Connection properties; they are never shown.
        roots: Folders and URIs that may be read beside the table's own.
        relocate: Where places are that the metadata names: {"s3://bucket/house": "/mirror/house"}.
        spark: A SparkSession of yours, in whose catalogs `table` is a name. Nothing in it changes.

    Returns:
        The open table. In a notebook it shows as the live graph.

    Raises:
        TableNotFound: No table goes by that name.
        UnreadableFile: Its metadata file cannot be read; the message names the file and what is wrong.
        AccessRefused: It lies where nothing may be read.
        WrongUsage: A DataFrame reads no Iceberg table, or several.

    Example:
        >>> table = explorer.open_table("demo.three_inserts")
        >>> table.inspect.snapshots().columns[:2]
        ['snapshot', 'snapshot-id']
    """
    from explorer.questions.facade import OpenTable
    from explorer.table import open_table as opened

    given = table.engine if isinstance(table, OpenTable) else table
    return OpenTable(opened(given, catalog, properties, roots, relocate, _show, spark))


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

    Example:
        >>> explorer.doctor("demo.three_inserts").to_json()["findings"]
        []
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

    Example:
        >>> explorer.pointer("demo.three_inserts").to_json()["where"]
        'the row of iceberg_tables in sqlite'
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
    """Show the difference of two snapshots as a live widget: added and removed parts are drawn, what both have is
    folded.

    Args:
        table: An open table, or what open_table takes for one.
        before: The older snapshot; None is the table before its first snapshot.
        after: The newer snapshot.
        height: The height of the widget, in CSS.

    Returns:
        The widget.

    Raises:
        NotFoundInTable: There is no such snapshot.

    Example:
        >>> type(explorer.compare("demo.three_inserts", "snapshot-1", "main")).__name__
        'DiffWidget'
    """
    from explorer.app.hosts.notebook import DiffWidget

    return DiffWidget(_engine(table), before, after, height)


def exercise(name: str) -> Exercise:
    """Find an exercise of the course. In a notebook it shows its input; `check` judges an answer everywhere.

    Args:
        name: The number of the notebook and of the exercise in it, such as `1.3`.

    Returns:
        The exercise.

    Raises:
        NotFoundInTable: The course has no such exercise.

    Example:
        >>> explorer.exercise("2.1").check(("DELETED", "EXISTING", "ADDED")).right
        True
    """
    from explorer.lab.exercises.course import find_exercise

    return find_exercise(name)


def panel(of: Any, question: str = "overview", **arguments: Any) -> Any:
    """Show a question with its form as a live widget, or a run of the lab whose steps are taken in it.

    Args:
        of: An open table, or a run of the lab, or an answer that is one.
        question: Any question about a table: `overview`, `lineage`, `lifecycle`, `diff`, `deletes`, `plan`, or words
            of the command line such as `inspect files`.
        arguments: What its form has at first: its parameters, by name.

    Returns:
        The widget.

    Raises:
        NotFoundInTable: There is no such question.
        NotPossible: It is neither a table nor a run.
        WrongUsage: The question has no such parameter.

    Example:
        >>> table = explorer.open_table("demo.three_inserts")
        >>> type(explorer.panel(table, "plan", where="fruit = 'apple'")).__name__
        'QuestionWidget'
    """
    from explorer.app.hosts.notebook import question_widget
    from explorer.questions.answers import Answer

    of = of.value if isinstance(of, Answer) else of
    return question_widget(_engine(of) if hasattr(of, "engine") else of, question, arguments)


def panel_component(table: Named | None = None, sql: bool = False, writes: bool = False, height: str = "720px") -> Any:
    """Make a component for a Panel app (panel.holoviz.org), which shows the whole explorer.

    Args:
        table: An open table, or what open_table takes for one, with which it begins; if left out, one that lets a
            visitor choose.
        sql: Whether visitors may run SQL.
        writes: Whether visitors may write to copies of teaching tables, and ask questions that write.
        height: The height of the component, in CSS.

    Returns:
        The component. Visitors can open every table that this process can read: see icedive docs serving.

    Example:
        >>> type(explorer.panel_component("demo.three_inserts")).__name__
        'ExplorerComponent'
    """
    from explorer.app.hosts.component import ExplorerComponent

    return ExplorerComponent(None if table is None else _engine(table), sql, writes, height)


def show(result: Any) -> Any:
    """Show an object that answers are made of (a Plan, a SnapshotDiff) as IPython shows it, in hosts without IPython.

    Args:
        result: The object.

    Returns:
        What shows it: its picture and its text.

    Raises:
        NotPossible: It has no picture.

    Example:
        >>> table = explorer.open_table("demo.three_inserts")
        >>> print(str(explorer.show(table.diff("snapshot-1", "main").value)).splitlines()[-1])
        manifests: 1 kept, 2 added, 0 rewritten, 0 dropped
    """
    from explorer.app.printed import Exhibit

    return Exhibit(result)


def show_deletes(table: Named, snapshot: str | int | None = None, height: str = "360px") -> Any:
    """Show which deletes apply to which data files as a live widget.

    Args:
        table: An open table, or what open_table takes for one.
        snapshot: The snapshot; the current one if left out.
        height: The height of the widget, in CSS.

    Returns:
        The widget.

    Raises:
        NotFoundInTable: There is no such snapshot.

    Example:
        >>> type(explorer.show_deletes("demo.position_deletes")).__name__
        'DeletesWidget'
    """
    from explorer.app.hosts.notebook import DeletesWidget

    return DeletesWidget(_engine(table), snapshot, height)


def show_plan_graph(table: Named, where: str, snapshot: str | int | None = None, height: str = "420px") -> Any:
    """Show the manifests and files that a scan reads and skips, each with what decided, as a live widget.

    Args:
        table: An open table, or what open_table takes for one.
        where: A filter (icedive docs filters).
        snapshot: The snapshot; the current one if left out.
        height: The height of the widget, in CSS.

    Returns:
        The widget.

    Raises:
        NotFoundInTable: There is no such snapshot, or the filter does not fit.

    Example:
        >>> type(explorer.show_plan_graph("demo.three_inserts", "fruit = 'apple'")).__name__
        'PlanWidget'
    """
    from explorer.app.hosts.notebook import PlanWidget

    return PlanWidget(_engine(table), where, snapshot, height)


def export_html(table: Named, file: str | Path) -> dict[str, Any]:
    """Write a table as one HTML file that needs no kernel, server or network (icedive docs exports). It steps through
    snapshots, unfolds nodes, searches and inspects. It has no rows, and what the inspector hides of secrets is not in
    it.

    Args:
        table: An open table, or what open_table takes for one.
        file: The file to write.

    Returns:
        `file`, `bytes`, `snapshots`, `nodes` and, in words, what was `left_out`.

    Example:
        >>> import tempfile
        >>> explorer.export_html("demo.three_inserts", f"{tempfile.mkdtemp()}/page.html")["snapshots"]
        3
    """
    from explorer.app.hosts.file import export_table

    return export_table(_engine(table), Path(file))


def export_bundle(table: Named, file: str | Path, filters: Sequence[str] = ()) -> TableBundle:
    """Write a table's metadata as a zip without its secrets, to be attached to a report of a bug (icedive docs
    exports). Names, paths, partition values and bounds are replaced, each time by the same and in the same order.

    Args:
        table: An open table, or what open_table takes for one.
        file: The zip to write.
        filters: Filters that are to be asked of the bundle: their values are replaced, too.

    Returns:
        What was written, replaced and left out, the new names of columns, and the filters in words of the bundle.

    Raises:
        NotFoundInTable: A filter does not fit.

    Example:
        >>> import tempfile
        >>> explorer.export_bundle("demo.three_inserts", f"{tempfile.mkdtemp()}/bundle.zip").columns
        {'fruit': 'c1'}
    """
    from explorer.reports.bundle import write_bundle

    return write_bundle(_engine(table).tree, Path(file), filters)


def export_slides(file: str | Path) -> dict[str, Any]:
    """Write the lesson (icedive docs lesson) as one page of slides: each question with a picture, then its answer.

    Args:
        file: The HTML file to write.

    Returns:
        Its `file`, `bytes` and number of `slides`.

    Raises:
        TableNotFound: The teaching tables are not here.

    Example:
        >>> import tempfile
        >>> explorer.export_slides(f"{tempfile.mkdtemp()}/slides.html")["slides"]
        30
    """
    from explorer.app.hosts.file import export_slides as write

    return write(Path(file))


def gallery(folder: str | Path, catalog: str = "", properties: Mapping[str, str] | None = None) -> Collection:
    """Write the teaching tables, or all tables of a catalog, as a folder of such files with an index.html.

    Args:
        folder: The folder to write.
        catalog: A catalog's name; the teaching tables if left out.
        properties: Connection properties.

    Returns:
        A row for each table, as export_html returns it; a table that fails has an `error`.

    Raises:
        TableNotFound: The catalog cannot be listed.

    Example:
        >>> import tempfile
        >>> len(explorer.gallery(tempfile.mkdtemp()))
        26
    """
    from explorer.app.hosts.file import export_gallery
    from explorer.queries.collection import Collection

    return Collection.of_rows(list(export_gallery(Path(folder), catalog, properties)), "gallery")


def _show(table: Table) -> Any:
    from explorer.app.hosts.notebook import TableWidget

    return TableWidget(table)


def metadata_view(spark: Any, table: Named, snapshot: str | int | None = None, name: str = "") -> list[str]:
    """Register the three states of a snapshot's entries as temporary views of a Spark session. Its workers read the
    manifests each time a view is asked; what they cannot read is not in it.

    Args:
        spark: The Spark session.
        table: An open table, or what open_table takes for one.
        snapshot: The snapshot; the current one if left out.
        name: The first part of the views' names; the table's own name if left out.

    Returns:
        The names of the views: `<name>_stored`, `<name>_inherited`, `<name>_logical`.

    Raises:
        NotFoundInTable: There is no such snapshot.
        NotPossible: `name` is not a name of a view.

    Example:
        >>> session = explorer.spark()
        >>> explorer.metadata_view(session, "demo.three_inserts")
        ['three_inserts_stored', 'three_inserts_inherited', 'three_inserts_logical']
        >>> session.table("three_inserts_logical").count()
        3
    """
    opened = _engine(table)
    base = name or re.sub(r"\W", "_", split_identifier(opened.name)[-1])
    if not re.fullmatch(r"\w+", base):
        raise NotPossible(f"{name!r} is no name of a view: it may have letters, digits and _")
    views = []
    for state in ("stored", "inherited", "logical"):
        views.append(f"{base}_{state}")
        opened.entries(snapshot, state).to_spark(spark).createOrReplaceTempView(views[-1])
    return views


def spark(conf: Mapping[str, str] | None = None, master: str | None = None) -> Any:
    """Start Spark with Iceberg and the sandbox catalog (`sandbox.db.t`), and wait until it is ready.

    Args:
        conf: Settings, which win over $ICEDIVE_SPARK_CONF and spark.json.
        master: Spark's master, which wins over $ICEDIVE_SPARK_MASTER.

    Returns:
        The SparkSession.

    Raises:
        EngineError: Spark or Java is not available; the message has the fix.

    Example:
        >>> session = explorer.spark()
        >>> session.table("sandbox.demo.three_inserts").count()
        3
    """
    from explorer.spark_engine.spark import SparkEngine, shared_engine

    return (SparkEngine(conf, master) if conf or master else shared_engine()).session()


def load_ipython_extension(shell: Any) -> None:
    """Add the magics %iceberg and %%iceberg to IPython: `%load_ext explorer`.

    Args:
        shell: The shell.

    Example:
        >>> from IPython.core.interactiveshell import InteractiveShell
        >>> shell = InteractiveShell()
        >>> _ = shell.run_line_magic("load_ext", "explorer")
        >>> len(shell.run_line_magic("iceberg", "inspect snapshots demo.three_inserts"))
        3
    """
    from explorer.app.hosts.magics import register

    register(shell)


def _teach_notebook() -> None:
    """Have the IPython shell that we are in, if we are in one, print results as text that can be read."""
    if "IPython" in sys.modules and (shell := sys.modules["IPython"].get_ipython()) is not None:
        from explorer.app.printed import teach

        teach(shell)


_teach_notebook()
