"""Catalogs: the embedded sandbox, and whatever `.pyiceberg.yaml` and `PYICEBERG_*` configure (see io.configuration).
Read-only."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pyiceberg import catalog as pyiceberg
from pyiceberg.catalog import Catalog, load_catalog
from pyiceberg.exceptions import NoSuchNamespaceError, NoSuchTableError, NotInstalledError
from pyiceberg.typedef import FrozenDict

from explorer.errors import ExplorerError, NotSupported, TableNotFound
from explorer.io.configuration import configuration, untrusted
from explorer.io.home import sandbox_home

SANDBOX = "sandbox"
STORAGE = frozenset({
    *(f"{kind}.{key}" for kind in ("s3", "client")
      for key in ("access-key-id", "secret-access-key", "session-token", "region")),
    "s3.endpoint", "s3.anonymous", "s3.force-virtual-addressing", "s3.connect-timeout", "s3.request-timeout",
    "gcs.oauth2.token", "gcs.oauth2.token-expires-at", "gcs.project-id", "gcs.service.host",
    "adls.account-name", "adls.account-host", "adls.account-key", "adls.sas-token", "adls.connection-string",
    "adls.token", "adls.tenant-id", "adls.client-id", "adls.client-secret",
})  # fmt: skip
"""What a catalog's server may say of storage. None of it names a class, a proxy or a signer."""
_PER_ACCOUNT = "adls.sas-token."


@dataclass(frozen=True)
class CatalogTable:
    """A table that a catalog lists."""

    catalog: str
    identifier: str


def configured() -> list[str]:
    """Names of all catalogs at hand: the sandbox first, then those pyiceberg is configured with."""
    return [SANDBOX, *sorted(n for n in _catalogs() if n != SANDBOX)]


def _catalogs() -> Mapping[str, Any]:
    named = configuration().get("catalog")
    return named if isinstance(named, dict) else {}


def properties(name: str, extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Connection properties of a catalog, secrets included: for FileIO only, never to be shown."""
    if name == SANDBOX:
        home = sandbox_home()
        return {
            "type": "sql",
            "uri": f"sqlite:///{home / 'catalog.db'}",
            "warehouse": str(home / "warehouse"),
            **(extra or {}),
        }
    configured = _catalogs().get(name.lower())
    configured = configured if isinstance(configured, dict) else {}
    return {**{str(k): str(v) for k, v in configured.items()}, **(extra or {})}


def properties_of(name: str, extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """`properties` of a catalog that there is. Raises TableNotFound."""
    if name not in configured() and not extra:
        known = ", ".join(configured())
        raise TableNotFound(
            f"no catalog {name!r} is configured (known: {known}); add it to .pyiceberg.yaml or pass properties"
            + (f". {notice}" if (notice := untrusted()) else "")
        )
    return properties(name, extra)


def load(name: str = SANDBOX, extra: Mapping[str, str] | None = None) -> Catalog:
    """Connect to a catalog. Raises TableNotFound when it is not configured or cannot be reached."""
    own = properties_of(name, extra)
    if name == SANDBOX and not (sandbox_home() / "catalog.db").is_file() and not extra:
        raise TableNotFound("the sandbox catalog does not exist yet: run `iceberg-explorer demo` to make its tables")
    # pyiceberg read its configuration when it was imported, the working folder's too: ours takes its place.
    pyiceberg._ENV_CONFIG.config = FrozenDict(**configuration())
    try:
        catalog = load_catalog(name, **{**own, "init_catalog_tables": "false"})
    except NotInstalledError as error:
        ours = _extra(own)
        fix = f"a package is missing: pip install 'iceberg-metadata-explorer[{ours}]'" if ours else _redacted(error)
        raise TableNotFound(f"catalog {name!r} cannot be opened: {fix}") from error
    except Exception as error:
        raise TableNotFound(f"catalog {name!r} cannot be opened: {type(error).__name__}: {_redacted(error)}") from error
    # Table properties may name a FileIO class to import and an endpoint to send credentials to: neither is for
    # whoever wrote the table to choose, so only the catalog's own properties make a FileIO.
    load_file_io = catalog._load_file_io
    catalog._load_file_io = lambda properties=None, location=None: load_file_io({}, location)  # type: ignore[method-assign]
    return catalog


def _extra(own: Mapping[str, str]) -> str:
    """The extra of this package that a catalog with these properties needs."""
    uri, kind = own.get("uri", ""), own.get("type", "")
    if kind == "glue":
        return "glue"
    if kind == "hive" or uri.startswith("thrift:"):
        return "hive"
    return "postgres" if uri.startswith("postgres") else ""


def split(table: str, catalog: str | None = None) -> tuple[str, str]:
    """(catalog, identifier) of `db.t` (in the sandbox) or `catalog.db.t`."""
    parts = table.split(".")
    if catalog is None and len(parts) > 2 and parts[0] in configured():
        return parts[0], ".".join(parts[1:])
    if len(parts) < 2:
        raise TableNotFound(f"{table!r} is no table name: use db.table, catalog.db.table, or a path with a / in it")
    return catalog or SANDBOX, table


@dataclass(frozen=True)
class Pointer:
    """Where a catalog's pointer points, and the properties that the catalog's server gave for reading what is there:
    secrets, never to be shown."""

    metadata_location: str
    storage: Mapping[str, str]


def pointer(name: str, identifier: str, extra: Mapping[str, str] | None = None) -> Pointer:
    """What a catalog says of a table now. Raises TableNotFound; NotSupported when its server wants to sign each request
    itself."""
    catalog = load(name, extra)
    try:
        if (location := _sql_pointer(catalog, identifier)) is not None:
            return Pointer(location, {})
        given = _listen(catalog)
        location = catalog.load_table(identifier).metadata_location
        if str(given.get("s3.remote-signing-enabled", "")).lower() == "true" and "s3.access-key-id" not in given:
            raise NotSupported(
                f"the catalog {name!r} signs each request to its storage itself (remote signing), which is not "
                "supported here: let it vend credentials, or give keys of your own"
            )
        return Pointer(location, {k: str(v) for k, v in given.items() if k in STORAGE or k.startswith(_PER_ACCOUNT)})
    except (NoSuchTableError, NoSuchNamespaceError) as error:
        near = [t.identifier for t in tables(name, extra)][:8]
        raise TableNotFound(
            f"no table {identifier!r} in catalog {name!r}; it has: {', '.join(near) or 'no tables'}"
        ) from error
    except ExplorerError:
        raise
    except Exception as error:
        raise TableNotFound(
            f"{name}.{identifier} cannot be loaded: {type(error).__name__}: {_redacted(error)}"
        ) from error


def _listen(catalog: Catalog) -> dict[str, Any]:
    """What a REST server says of storage: in its configuration, and, once a table is loaded, for the table, credentials
    for its location above all. What the table's own metadata says is not in it."""
    from pyiceberg.catalog.rest import RestCatalog

    given: dict[str, Any] = {}
    if isinstance(catalog, RestCatalog):
        given |= catalog.properties
        usual = catalog._response_to_table

        def listening(identifier: Any, response: Any) -> Any:
            own = catalog._resolve_storage_credentials(response.storage_credentials, response.metadata_location)
            given.update({**response.config, **own})
            return usual(identifier, response)

        catalog._response_to_table = listening  # type: ignore[method-assign, assignment]
    return given


def tables(name: str = SANDBOX, extra: Mapping[str, str] | None = None) -> Iterator[CatalogTable]:
    """All tables of a catalog, by namespace then name, nested namespaces too."""
    catalog = load(name, extra)

    def walk(parent: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        for namespace in sorted(catalog.list_namespaces(parent) if parent else catalog.list_namespaces()):
            full = namespace if namespace[: len(parent)] == parent else (*parent, *namespace)
            yield full
            if full != parent and len(full) < 8:
                yield from (n for n in walk(full) if len(n) > len(full))

    try:
        for namespace in dict.fromkeys(walk(())):
            for identifier in sorted(catalog.list_tables(namespace)):
                yield CatalogTable(name, ".".join(identifier))
    except Exception as error:
        raise TableNotFound(f"catalog {name!r} cannot be listed: {type(error).__name__}: {_redacted(error)}") from error


def _sql_pointer(catalog: Catalog, identifier: str) -> str | None:
    """The pointer of an SQL catalog, read without its metadata, so that a damaged table can still be located."""
    from pyiceberg.catalog.sql import IcebergTables, SqlCatalog
    from sqlalchemy import select
    from sqlalchemy.orm import Session

    if not isinstance(catalog, SqlCatalog):
        return None
    namespace, _, table = identifier.rpartition(".")
    with Session(catalog.engine) as session:
        row: Any = session.scalar(
            select(IcebergTables).where(
                IcebergTables.catalog_name == catalog.name,
                IcebergTables.table_namespace == namespace,
                IcebergTables.table_name == table,
            )
        )
    if row is None:
        raise NoSuchTableError(identifier)
    return str(row.metadata_location)


def _redacted(error: Exception) -> str:
    """An error's first line without the user info of any URI in it."""
    import re

    lines = str(error).splitlines() or [""]
    return re.sub(r"(\w+://)[^/@\s]*@", r"\1***@", lines[0])[:300]
