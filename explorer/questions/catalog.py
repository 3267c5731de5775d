"""Questions about all tables of a catalog, and about what the catalog stores."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from explorer.questions.answers import Answer
from explorer.questions.parameters import NOTHING, CatalogAt, EngineName, Limits, Pairs, TableAt, Texts
from explorer.questions.registry import question
from explorer.spec.doctor.rules import Level

if TYPE_CHECKING:
    from explorer.queries.collection import Collection
    from explorer.render.doctor import ShownReport
    from explorer.spec.catalogs.views import ViewMetadata

SUMMARY_COLUMNS = (
    "table", "format_version", "snapshots", "refs", "manifests", "data_files", "delete_files", "records", "file_bytes",
    "problems", "error",
)  # fmt: skip


@question("tables", "catalog", columns=SUMMARY_COLUMNS)
def tables(catalog: CatalogAt, *, summary: bool = False, namespace: str = "") -> Collection | Answer[Collection]:
    """List the tables of a catalog.

    With a summary, it reads the metadata file and one manifest list of each table. If a table fails, `error`
    gives the reason.

    Args:
        summary: Also count files, rows, sizes, snapshots and problems of each. A table that fails has an error.
        namespace: Only tables of this namespace.

    Returns:
        A row for each table: catalog, identifier. With a summary: table, format_version,
        last_updated_ms, snapshots, refs, manifests, data_files, delete_files, records, file_bytes,
        problems, error, metadata_file.

    Raises:
        TableNotFound: There is no such catalog, or it cannot be listed.

    Example:
        >>> explorer.catalog().tables(namespace="demo")[0]["identifier"]
        'demo.bloom_filter'
    """
    from explorer.queries.collection import Collection
    from explorer.storage.catalogs import catalogs

    if summary:
        return _summaries(catalog, namespace)
    listed = catalogs.tables(catalog.name, catalog.properties)
    rows = [{"catalog": t.catalog, "identifier": t.identifier} for t in listed]
    chosen = [row for row in rows if not namespace or row["identifier"].startswith(f"{namespace}.")]
    return Collection.of_rows(chosen, "tables")


def _summaries(catalog: CatalogAt, namespace: str) -> Answer[Collection]:
    """Summaries of tables, which are made as they are read; then the answer knows whether one failed."""
    from explorer.progress import say
    from explorer.queries.collection import Collection
    from explorer.reports.catalog_sweep import summaries
    from explorer.spec.entries.lazy_table import Batches

    table_summaries = summaries(namespace=namespace, **catalog.arguments())
    failures = 0

    def read() -> Iterator[Any]:
        nonlocal failures
        failures = 0
        for rows in table_summaries.read():
            failures += len(rows) - rows["error"].null_count
            yield rows
        if failures:
            say(f"{failures} of the tables could not be read")

    rows = Collection(Batches(table_summaries.schema, read), "tables")
    level: Callable[[], Level] = lambda: "incomplete" if failures else "ok"  # noqa: E731
    return Answer(rows, rows.to_json, lambda: (repr(rows),), lambda: rows, level=level, is_table=True)


@question("namespaces", "catalog")
def namespaces(catalog: CatalogAt) -> Collection:
    """List the namespaces of a catalog, nested ones after the one around them.

    Returns:
        A row for each namespace: namespace.

    Raises:
        TableNotFound: There is no such catalog, or it cannot be listed.

    Example:
        >>> explorer.catalog().namespaces()[0]
        {'namespace': 'demo'}
    """
    from explorer.queries.collection import Collection
    from explorer.spec.text.identifiers import join_identifier
    from explorer.storage.catalogs import catalogs

    names = catalogs.namespaces(catalog.name, catalog.properties)
    return Collection.of_rows([{"namespace": join_identifier(name)} for name in names], "namespaces")


@question("pointer", "catalog")
def pointer(table: TableAt) -> Answer[Any]:
    """Show what the catalog stores of a table, and the metadata file at which the table was opened.

    It is the row of an SQL catalog (SQLite, PostgreSQL), the answer of a REST server without the values of
    its configuration, or the entry in Glue or in Hive's metastore. Glue also keeps older versions of an entry:
    each has its time, the metadata file that it names, and whether that file is there.

    If the metadata file is gone, the answer names the newest other one whose manifest lists and manifests are there,
    what going back to it loses, and how to make this catalog point to it.

    Returns:
        What the catalog stores, the versions of it that the catalog keeps, and the metadata file that was opened
        with its state: there, gone, or not known. If it is gone, the way back.

    Raises:
        NotPossible: No catalog has the table.
        TableNotFound: No table has that name.

    Example:
        >>> table = explorer.open_table("demo.three_inserts")
        >>> table.catalog.pointer().to_json()["where"]
        'the row of iceberg_tables in sqlite'
    """
    from explorer.errors import UnreadableFile
    from explorer.render.catalog_entry import entry_json, render_entry
    from explorer.reports.catalog_entry import pointer as pointer_of
    from explorer.reports.catalog_entry import pointer_alone

    try:
        table.open()
    except UnreadableFile as error:
        entry = pointer_alone(table.location(), error, table.roots)
    else:
        entry = pointer_of(table.open())
    return Answer(
        entry,
        lambda: entry_json(entry),
        lambda: render_entry(entry),
        level=lambda: "incomplete" if entry.unreadable or entry.state == "gone" else "ok",
        metadata_file=entry.metadata_location,
    )


@question("views", "catalog", rows=True)
def views(
    catalog: CatalogAt, *, namespace: str = "", name: str = "", older: str = "", newer: str = ""
) -> Collection | Answer[ViewMetadata]:
    """List the Iceberg views of a catalog, or show one: versions, SQL in each dialect, schema, faults.

    Views are read of REST catalogs, of SQL catalogs in which Iceberg's JdbcCatalog wrote them, and from metadata files.
    Faults are what the view spec does not allow, and dialects in which the current version lost its SQL.

    Args:
        namespace: Only views of this namespace.
        name: Show this view: its name in the catalog, or the path of its metadata file.
        older: Show how this version of the view differs from another.
        newer: The other version; without it the current one.

    Returns:
        A row for each view: catalog, identifier. Of one view a row for each version: version_id, is_current,
        timestamp_ms, schema_id, engine, dialects, default_catalog, default_namespace.

    Raises:
        TableNotFound: There is no such catalog or view, or the catalog cannot be listed.
        NotSupported: Views of such a catalog are not read.
        NotFoundInTable: The view has no such version.
        WrongUsage: A version is given without a view, or a newer one without an older one.

    Example:
        >>> len(explorer.catalog().views())
        0
    """
    from explorer.errors import WrongUsage
    from explorer.queries.collection import Collection
    from explorer.storage.catalogs.view_metadata import list_views

    if name:
        return _view(catalog, name, older, newer)
    if older or newer:
        raise WrongUsage("--older and --newer require --name")
    names = list_views(catalog.name, catalog.properties, namespace)
    return Collection.of_rows([{"catalog": catalog.name, "identifier": one} for one in names], "views")


def _view(catalog: CatalogAt, name: str, older: str, newer: str) -> Answer[ViewMetadata]:
    from explorer.errors import WrongUsage
    from explorer.queries.collection import Collection
    from explorer.render.views import render_view, view_json, view_rows
    from explorer.serving import places
    from explorer.spec.catalogs.views import check_view, compare_versions, dropped_dialects
    from explorer.storage.catalogs.view_metadata import read_view
    from explorer.storage.locate import names_a_path

    if newer and not older:
        raise WrongUsage("--newer requires --older")
    places.check(name if names_a_path(name) else f"{catalog.name}.{name}")
    location, view = read_view(name, catalog.name, catalog.properties, catalog.roots)
    findings = [*check_view(view), *dropped_dialects(view)]
    diff = None
    if older:
        diff = compare_versions(view, view.named(older), view.named(newer or str(view.current_version_id)))
    severities = {finding.severity for finding in findings}
    level: Level = "error" if "error" in severities else "warning" if "warning" in severities else "ok"
    return Answer(
        view,
        lambda: view_json(location, view, findings, diff),
        lambda: render_view(name, location, view, findings, diff),
        lambda: Collection.of_rows(view_rows(view), "versions"),
        level=lambda: level,
        metadata_file=location,
    )


@question("doctor", "catalog")
def doctor(
    catalog: CatalogAt,
    *,
    files: bool = False,
    deep: bool = False,
    each: bool = False,
    skip: Texts = (),
    severity: Pairs = NOTHING,
    namespace: str = "",
    engine: EngineName = "auto",
) -> Answer[list[ShownReport]]:
    """Check every table of a catalog against the spec and itself.

    Args:
        files: Also check that each file exists and is as long as recorded, and look for files that nothing refers to.
        deep: Also read footers, deletes and data. It includes --files.
        each: Also list each finding that one stands for or explains.
        skip: Leave a rule out, by id or number. May be given several times.
        severity: Give a rule another severity: fatal, error, warning or info.
        namespace: Only tables of this namespace.

    Returns:
        A report for each table.

    Raises:
        TableNotFound: There is no such catalog, or it cannot be listed.
        NotFoundInTable: There is no such rule.

    Example:
        >>> reports = explorer.catalog().doctor(namespace="demo").to_json()
        >>> sorted({report["worst"] for report in reports if report["worst"]})
        ['info']
    """
    from explorer.errors import ExplorerError, UnreadableFile
    from explorer.render.doctor import render_report
    from explorer.render.text import clean
    from explorer.reports.catalog_sweep import sweep
    from explorer.reports.doctor import diagnose, report_unreadable

    options: dict[str, Any] = {"files": files, "deep": deep, "skip": skip, "severity": severity, "engine": engine}
    swept_tables = sweep(lambda one: diagnose(one, **options), namespace=namespace, **catalog.arguments())
    reports: list[ShownReport] = []
    failures: list[str] = []

    def make_reports() -> Iterator[ShownReport]:
        """Each table's report, those that are there first, the others as they are made; what has none is in
        `failures`."""
        yield from tuple(reports)
        for swept in swept_tables:
            report = swept.answer
            if report is None:
                try:
                    if not isinstance(swept.failure, UnreadableFile):
                        raise ExplorerError(swept.error)
                    report = report_unreadable(swept.table, swept.failure, skip, severity)
                except ExplorerError as error:
                    failures.append(f"{swept.table}: {error}")
                    continue
            reports.append(report)
            yield report

    def level() -> Level:
        levels = {report.level for report in reports}
        worst = next((one for one in ("error", "warning", "incomplete") if one in levels), "ok")
        return "incomplete" if failures and worst == "ok" else worst  # type: ignore[return-value]

    def text() -> Iterator[str]:
        for report in make_reports():
            about, _, more = render_report(report, each).partition("\n")
            yield f"{about}\nmetadata file: {clean(report.metadata_file)}\n{more}"
        yield from (f"could not be checked: {failure}" for failure in failures)

    def json() -> Any:
        rows = [report.to_json(each) for report in make_reports()]
        return [*rows, *({"table": failure.partition(": ")[0], "error": failure} for failure in failures)]

    return Answer(reports, json, text, level=level)


@question("health", "catalog", rows=True)
def health(
    catalog: CatalogAt,
    *,
    threshold: Limits = NOTHING,
    clustering: bool = False,
    namespace: str = "",
    engine: EngineName = "auto",
) -> Answer[Any]:
    """Measure the health of every table of a catalog, the worst first.

    Args:
        threshold: The value above which a measure matters (icedive docs health). May be given several times.
        clustering: Also measure how files are clustered by column, which reads all bounds.
        namespace: Only tables of this namespace.

    Returns:
        A row for each table: table, level, a column for each measure, error, metadata_file.

    Raises:
        TableNotFound: There is no such catalog, or it cannot be listed.
        NotFoundInTable: There is no such measure.

    Example:
        >>> health = explorer.catalog().health(namespace="demo").to_arrow()
        >>> health.column_names[:3]
        ['table', 'level', 'worst']
    """
    from explorer.queries.collection import Collection
    from explorer.render.health import short_row
    from explorer.render.text import render_table
    from explorer.reports.health import catalog_checkup

    rows = catalog_checkup(
        catalog.name, catalog.properties, namespace, catalog.roots, catalog.relocate,
        limits=threshold, clustering=clustering, engine=engine,
    )  # fmt: skip
    failed = sum(row["error"] is not None for row in rows)
    levels = {row["level"] for row in rows}
    worst: Level = "error" if "error" in levels else "warning" if "warning" in levels else "ok"
    listed = Collection.of_rows(rows, "tables")
    return Answer(
        rows,
        listed.to_json,
        lambda: (render_table([short_row(row) for row in rows], None if sys.stdout.isatty() else 400),),
        lambda: listed,
        level=lambda: "incomplete" if failed else worst,
        notes=(f"{failed} of the tables could not be read",) if failed else (),
    )
