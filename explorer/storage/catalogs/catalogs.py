"""Catalogs: the embedded sandbox, and whatever `.pyiceberg.yaml` and `PYICEBERG_*` configure (see
storage.catalogs.configuration). Read-only."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlsplit

from pyiceberg.catalog import CatalogType
from pyiceberg.exceptions import NoSuchNamespaceError, NoSuchTableError, NoSuchViewError, NotInstalledError

from explorer.errors import ExplorerError, NotSupported, TableNotFound
from explorer.extras import remedy
from explorer.progress import Cancelled, steps
from explorer.spec.catalogs.entries import CatalogRecord
from explorer.spec.secrets.redaction import harmless, redact, secret_values
from explorer.spec.text.identifiers import join_identifier, split_identifier
from explorer.spec.text.names import similar_names
from explorer.storage.catalogs import other_catalogs
from explorer.storage.catalogs.added_catalogs import added_names, added_properties
from explorer.storage.catalogs.configuration import configuration, trust_notice
from explorer.storage.catalogs.credentials import replace_credentials
from explorer.storage.catalogs.metastore_entries import MetastoreEntry, entry_versions, metastore_entry
from explorer.storage.catalogs.other_catalogs import ReadCatalog
from explorer.storage.catalogs.sandbox_entries import (
    NAMESPACE,
    SANDBOX,
    explain_move,
    other_sandbox,
    sandbox_properties,
)
from explorer.storage.data_dirs import sandbox_home
from explorer.storage.paths import local_path

NEAR = 8
"""Tables that are named when one is not there."""
MAKE_TABLES = (
    "run `icedive demo`, or in a notebook `%load_ext explorer` and `%iceberg demo`, to make the teaching tables"
)
CONNECTION = ("type", "uri", "warehouse", "catalog-impl", "py-catalog-impl")
"""Properties that say which catalog it is."""
_VIEWS = "catalog_name = :catalog AND iceberg_type = 'VIEW'"
"""As Iceberg's JdbcCatalog stores them."""


@dataclass(frozen=True)
class CatalogTable:
    """A table that a catalog lists."""

    catalog: str
    identifier: str


@dataclass(frozen=True)
class Pointer:
    """Where a catalog's pointer points, and the properties that the catalog's server gave for reading what is there:
    secrets, never to be shown."""

    metadata_location: str
    storage: Mapping[str, str] = field(default_factory=dict, repr=False)


def catalog_names() -> list[str]:
    """Names of all catalogs at hand: the sandbox first, then those that pyiceberg is configured with or a person has
    added."""
    return [SANDBOX, *sorted({*_catalogs(), *added_names()} - {SANDBOX})]


def configured_names() -> list[str]:
    """Names of the catalogs that pyiceberg is configured with."""
    return sorted(_catalogs())


def default_name() -> str:
    """pyiceberg's name for the catalog that is meant where none is named."""
    named = configuration().get("default-catalog")
    return named if isinstance(named, str) and named else "default"


def choose_name(catalog: str | None, extra: Mapping[str, str] | None = None) -> str:
    """The catalog that is meant: the one that is named; else the default one where the properties describe it, or the
    sandbox."""
    if catalog is not None:
        return catalog
    return default_name() if any(key in CONNECTION for key in extra or {}) else SANDBOX


def _catalogs() -> Mapping[str, Any]:
    named = configuration().get("catalog")
    return named if isinstance(named, dict) else {}


def properties(name: str, extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Connection properties of a catalog, secrets included: for FileIO only, never to be shown."""
    if name == SANDBOX:
        return {**sandbox_properties(sandbox_home()), **(extra or {})}
    configured = _catalogs().get(name.lower())
    configured = configured if isinstance(configured, dict) else added_properties(name)
    return replace_credentials({str(k): str(v) for k, v in configured.items()}, extra or {})


def keeps_tables_here(own: Mapping[str, str]) -> bool:
    """Say whether a catalog's tables may lie on this machine's disk.

    Args:
        own: The catalog's properties as its user has them, without what its server says.

    Returns:
        Whether the warehouse is a folder of this machine, or the catalog itself is a file here.
    """
    return os.path.isabs(local_path(own.get("warehouse", "")) or "") or own.get("uri", "").startswith("sqlite:")


def properties_of(name: str, extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """`properties` of a catalog that there is. Raises TableNotFound."""
    other = {key for key in CONNECTION if key in (extra or {})} if name == SANDBOX else set()
    if other and properties(name, extra) != properties(
        name, {k: v for k, v in (extra or {}).items() if k not in other}
    ):
        raise TableNotFound(
            f"{SANDBOX!r} is the embedded catalog: the property {min(other)!r} describes another, which needs another "
            "name (--catalog)"
        )
    if name not in catalog_names() and not extra:
        raise TableNotFound(_name_error(name))
    return properties(name, extra)


def _name_error(name: str) -> str:
    names = catalog_names()
    near = similar_names(name, names)
    return (
        f"no catalog {name!r} is configured (known: {', '.join(names)}{f'; did you mean {near[0]}?' if near else ''}); "
        "icedive catalog add adds one, or write it into .pyiceberg.yaml, or pass properties"
        + (f". {notice}" if (notice := trust_notice()) else "")
    )


def load(name: str = SANDBOX, extra: Mapping[str, str] | None = None) -> ReadCatalog:
    """Connect to a catalog. Raises TableNotFound when it is not configured or cannot be reached."""
    own = properties_of(name, extra)
    if name == SANDBOX and not (sandbox_home() / "catalog.db").is_file() and not extra:
        raise TableNotFound(f"the sandbox catalog does not exist yet: {MAKE_TABLES}")
    try:
        catalog = _connect(name, own)
    except NotInstalledError as error:
        ours = _extra(own)
        fix = f"a package is not installed. {remedy(ours)}" if ours else error_words(error, own)
        raise TableNotFound(f"catalog {name!r} cannot be opened: {fix}") from harmless(error, own)
    except Cancelled:
        raise
    except Exception as error:
        reason = f"{type(error).__name__}: {error_words(error, own)}"
        raise TableNotFound(f"catalog {name!r} cannot be opened: {reason}") from harmless(error, own)
    return catalog


def _connect(name: str, own: Mapping[str, str]) -> ReadCatalog:
    """pyiceberg's load_catalog would take its own configuration for more: it reads the working folder's."""
    kind = other_catalogs.catalog_kind(name, own)
    if kind is CatalogType.REST:
        from explorer.storage.catalogs.rest import ListedRest

        return ListedRest(name, **own)
    if kind is CatalogType.HIVE:
        try:
            from explorer.storage.catalogs.hive_catalogs import HiveTables
        except ImportError as error:
            raise NotInstalledError("Apache Hive support not installed: pip install 'pyiceberg[hive]'") from error
        return HiveTables(name, **own)
    catalog = other_catalogs.connect(name, own, kind)
    if kind is CatalogType.GLUE:
        from explorer.storage.catalogs.glue_catalogs import bound_answers

        bound_answers(catalog)
    return catalog


def _extra(own: Mapping[str, str]) -> str:
    """The extra of this package that a catalog with these properties needs."""
    uri, kind = own.get("uri", ""), own.get("type", "")
    if kind == "glue":
        return "glue"
    if kind == "hive" or uri.startswith("thrift:"):
        return "hive"
    return "postgres" if uri.startswith("postgres") else ""


def split(table: str, catalog: str | None = None, extra: Mapping[str, str] | None = None) -> tuple[str, str]:
    """(catalog, identifier) of `db.t` (in the sandbox, or the catalog that the properties describe) or `catalog.db.t`.
    Raises TableNotFound for what is no name."""
    parts = split_identifier(table)
    if catalog is None and len(parts) > 2 and parts[0] in catalog_names():
        return parts[0], join_identifier(parts[1:])
    if len(parts) < 2:
        raise TableNotFound(f"{table!r} is no table name: use db.table, catalog.db.table, or a path with a / in it")
    return choose_name(catalog, extra), table


def find(table: str, catalog: str | None = None, extra: Mapping[str, str] | None = None) -> tuple[str, str, Pointer]:
    """The catalog, identifier and pointer of a table by its name. One without a catalog that the sandbox does not have
    is looked for in pyiceberg's default catalog. Raises TableNotFound, NotSupported."""
    name, identifier = split(table, catalog, extra)
    try:
        return name, identifier, pointer(name, identifier, extra)
    except TableNotFound as error:
        if catalog is not None or name != SANDBOX or table.startswith(f"{SANDBOX}."):
            raise
        default, first = default_name(), table.partition(".")[0]
        if default != SANDBOX and default in catalog_names():
            try:
                return default, identifier, pointer(default, identifier, extra)
            except TableNotFound as other:
                raise TableNotFound(f"{error}; nor in the default catalog: {other}") from other
        if first in catalog_names():
            raise TableNotFound(f"{first!r} is a catalog: its tables are named {first}.namespace.table") from error
        if table.count(".") > 1:
            raise TableNotFound(f"{error}. If {first!r} is meant to be a catalog: {_name_error(first)}") from error
        raise


def pointer(name: str, identifier: str, extra: Mapping[str, str] | None = None) -> Pointer:
    """What a catalog says of a table now. Raises TableNotFound; NotSupported when its server wants to sign each request
    itself."""
    catalog = load(name, extra)
    try:
        if (row := _sql_row(catalog, identifier)) is not None:
            metadata_location = str(row["metadata_location"])
            if name == SANDBOX and (other := other_sandbox(sandbox_home(), metadata_location)) is not None:
                raise TableNotFound(f"{identifier}: {explain_move(other)}")
            return Pointer(metadata_location)
        location = _metadata_location(catalog, identifier)
        return Pointer(location, getattr(catalog, "given", {}))
    except (NoSuchTableError, NoSuchNamespaceError) as error:
        raise TableNotFound(f"no table {identifier!r} in catalog {name!r}{_near(catalog, name, identifier)}") from error
    except ExplorerError:
        raise
    except Exception as error:
        raise cannot_load(catalog, name, identifier, error) from harmless(error, all_properties(catalog))


def _metadata_location(catalog: ReadCatalog, identifier: str) -> str:
    location_of = getattr(catalog, "metadata_location", None)  # ours of REST servers, or of a person's own class
    parts = split_identifier(identifier)
    if location_of:
        return str(location_of(parts))
    entry = metastore_entry(catalog, parts)
    return entry.metadata_location if entry else other_catalogs.metadata_location(catalog, parts)


def read_pointer(name: str, identifier: str, extra: Mapping[str, str] | None = None) -> CatalogRecord:
    """The pointer as a catalog stores it: the row of an SQL catalog (SQLite, PostgreSQL), the answer of a REST server,
    the entry in Glue or in Hive's metastore. Raises TableNotFound; NotSupported for other catalogs."""
    from explorer.storage.catalogs.rest import ListedRest

    catalog = load(name, extra)
    try:
        if (row := _sql_row(catalog, identifier)) is not None:
            shown_row = {column: None if value is None else redact(str(value)) for column, value in row.items()}
            database = catalog.engine.dialect.name  # type: ignore[attr-defined]
            return CatalogRecord("sql", f"the row of iceberg_tables in {database}", shown_row, database=database)
        if isinstance(catalog, ListedRest):
            return CatalogRecord(
                "rest",
                "the answer of the REST server that loads the table",
                catalog.table_answer(split_identifier(identifier)),
            )
        parts = split_identifier(identifier)
        if (entry := metastore_entry(catalog, parts)) is not None:
            if entry.kind == "hive":
                return CatalogRecord("hive", "the table's entry in Hive's metastore", entry.row())
            return _glue_record(catalog, parts, entry)
    except NoSuchTableError as error:
        raise TableNotFound(f"no table {identifier!r} in catalog {name!r}") from error
    except Cancelled:
        raise
    except Exception as error:
        raise cannot_load(catalog, name, identifier, error) from harmless(error, all_properties(catalog))
    raise NotSupported(f"what the catalog {name!r} stores is not shown: it is none of SQL, REST, Glue and Hive")


def _glue_record(catalog: ReadCatalog, identifier: tuple[str, ...], entry: MetastoreEntry) -> CatalogRecord:
    """An entry in Glue, with its versions, which who may read the entry may not always list."""
    record = CatalogRecord("glue", "the table's entry in Glue", entry.row(), fields=entry.present)
    try:
        versions, is_cut = entry_versions(catalog, identifier)
    except Cancelled:
        raise
    except Exception as error:
        return replace(record, unlisted=f"{type(error).__name__}: {error_words(error, all_properties(catalog))}")
    return replace(record, versions=versions, is_cut=is_cut)


def _near(catalog: ReadCatalog, name: str, identifier: str) -> str:
    """What else one may have meant: tables of the same namespace, the most alike first, or else the namespaces there
    are. A catalog is not listed for a slip of the pen. Where the teaching tables are not there: how they are made."""
    namespace = split_identifier(identifier)[:-1]
    names: list[str] = []
    while namespace and not names:  # a name may have dots, too
        with contextlib.suppress(TableNotFound), listing(catalog, name):  # who may load may not always list
            names = [table.identifier for table in _tables(catalog, name, namespace)]
        namespace = namespace[:-1]
    if names:
        alike = similar_names(identifier, names, NEAR)
        more = f" and {len(names) - NEAR:,} more" if len(names) > NEAR else ""
        return f"; it has: {', '.join([*alike, *(n for n in names if n not in alike)][:NEAR])}{more}"
    with contextlib.suppress(TableNotFound), listing(catalog, name):
        names = [*map(join_identifier, sorted(catalog.list_namespaces()))]
    if name == SANDBOX and split_identifier(identifier)[0] == NAMESPACE:
        return f": the teaching tables are not there yet. {MAKE_TABLES[0].upper()}{MAKE_TABLES[1:]}"
    return f"; its namespaces: {', '.join(names[:NEAR])}" if names else ""


def tables(name: str = SANDBOX, extra: Mapping[str, str] | None = None) -> Iterator[CatalogTable]:
    """All tables of a catalog, by namespace then name, nested namespaces too."""
    return _list_tables(load(name, extra), name)


def namespaces(name: str, extra: Mapping[str, str] | None = None) -> list[tuple[str, ...]]:
    """The namespaces of a catalog, nested ones after the one around them. Raises TableNotFound."""
    catalog = load(name, extra)
    with listing(catalog, name):
        return list(all_namespaces(catalog))


def tables_in(name: str, namespace: tuple[str, ...], extra: Mapping[str, str] | None = None) -> list[CatalogTable]:
    """The tables of one namespace, by name. Raises TableNotFound."""
    catalog = load(name, extra)
    with listing(catalog, name):
        return _tables(catalog, name, namespace)


def _list_tables(catalog: ReadCatalog, name: str) -> Iterator[CatalogTable]:
    with listing(catalog, name):
        for namespace in all_namespaces(catalog):
            yield from _tables(catalog, name, namespace)


def _tables(catalog: ReadCatalog, name: str, namespace: tuple[str, ...]) -> list[CatalogTable]:
    """Each once: a server may repeat itself."""
    listed = sorted(set(catalog.list_tables(namespace)))
    return [CatalogTable(name, join_identifier(identifier)) for identifier in listed]


def all_namespaces(catalog: ReadCatalog) -> Iterator[tuple[str, ...]]:
    """The namespaces of a catalog, nested ones after the one around them."""

    def walk(parent: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        spaces = sorted(catalog.list_namespaces(parent) if parent else catalog.list_namespaces())
        for namespace in steps(spaces, "namespaces"):
            full = namespace if namespace[: len(parent)] == parent else (*parent, *namespace)
            yield full
            if full != parent and len(full) < 8:
                yield from (n for n in walk(full) if len(n) > len(full))

    given: set[tuple[str, ...]] = set()
    for namespace in walk(()):
        if namespace not in given:
            given.add(namespace)
            yield namespace


@contextlib.contextmanager
def listing(catalog: ReadCatalog, name: str) -> Iterator[None]:
    """Errors of a catalog that is listed become TableNotFound, without its secrets."""
    try:
        yield
    except (Cancelled, NotSupported):
        raise
    except Exception as error:
        reason = f"{type(error).__name__}: {error_words(error, all_properties(catalog))}"
        raise TableNotFound(f"catalog {name!r} cannot be listed: {reason}") from harmless(
            error, all_properties(catalog)
        )


def _sql_row(catalog: ReadCatalog, identifier: str) -> Mapping[str, Any] | None:
    """The row of an SQL catalog, read without the table's metadata, so that a damaged table can still be located."""
    from pyiceberg.catalog.sql import SqlCatalog
    from sqlalchemy import text

    if not isinstance(catalog, SqlCatalog):
        return None
    *levels, table = split_identifier(identifier)
    namespace = ".".join(levels)  # so pyiceberg and Iceberg's JdbcCatalog store it
    wanted = "catalog_name = :catalog AND table_namespace = :namespace AND table_name = :table"
    with catalog.engine.connect() as connection:
        stored_row = connection.execute(
            text(f"SELECT * FROM iceberg_tables WHERE {wanted}"),
            {"catalog": catalog.name, "namespace": namespace, "table": table},
        )
        row = stored_row.mappings().first()
    if row is None:
        raise NoSuchTableError(identifier)
    return dict(row)


def sql_views(catalog: ReadCatalog) -> list[str] | None:
    """The names of the views of an SQL catalog, with their namespaces; None for another catalog, or where it has no
    column that tells views from tables."""
    rows = _sql_rows(catalog, f"SELECT table_namespace, table_name FROM iceberg_tables WHERE {_VIEWS}", {})
    return None if rows is None else sorted(f"{row['table_namespace']}.{row['table_name']}" for row in rows)


def sql_view(catalog: ReadCatalog, identifier: tuple[str, ...]) -> str | None:
    """Where the metadata of a view of an SQL catalog is; None for another catalog. Raises NoSuchViewError."""
    wanted = f"{_VIEWS} AND table_namespace = :namespace AND table_name = :name"
    names = {"namespace": ".".join(identifier[:-1]), "name": identifier[-1]}
    rows = _sql_rows(catalog, f"SELECT metadata_location FROM iceberg_tables WHERE {wanted}", names)
    if rows is None:
        return None
    if not rows:
        raise NoSuchViewError(join_identifier(identifier))
    return str(rows[0]["metadata_location"])


def _sql_rows(catalog: ReadCatalog, query: str, values: Mapping[str, str]) -> list[Mapping[str, Any]] | None:
    from pyiceberg.catalog.sql import SqlCatalog
    from sqlalchemy import inspect, text

    if not isinstance(catalog, SqlCatalog):
        return None
    if "iceberg_type" not in {column["name"] for column in inspect(catalog.engine).get_columns("iceberg_tables")}:
        return None  # of a version of JdbcCatalog that has no views
    with catalog.engine.connect() as connection:
        return [dict(row) for row in connection.execute(text(query), {"catalog": catalog.name, **values}).mappings()]


def cannot_load(catalog: ReadCatalog, name: str, identifier: str, error: Exception) -> TableNotFound:
    """An error of a catalog that was asked for one thing, without its secrets."""
    reason = f"{type(error).__name__}: {error_words(error, all_properties(catalog))}"
    return TableNotFound(f"{name}.{identifier} cannot be loaded: {reason}")


def all_properties(catalog: ReadCatalog) -> Mapping[str, str]:
    """The properties that a catalog was opened with, and what its server gave."""
    return {**catalog.properties, **getattr(catalog, "given", {})}


def error_words(error: Exception, properties: Mapping[str, str]) -> str:
    """An error's first line, without secrets, and without those of a catalog that it may repeat."""
    return redact((_unreachable(error) or str(error).splitlines() or [""])[0], secret_values(properties))[:300]


def _unreachable(error: Exception) -> list[str]:
    """Which server a catalog's client could not reach, and why; nothing for another error."""
    from requests import exceptions

    reason = getattr(next(iter(error.args), None), "reason", None)
    if not isinstance(error, exceptions.ConnectionError) or isinstance(error, exceptions.SSLError):
        return []
    if reason is None or error.request is None:
        return []
    host = urlsplit(str(error.request.url))
    return [
        f"no connection to {host.hostname}{f':{host.port}' if host.port else ''}: {str(reason).rpartition(': ')[2]}"
    ]
