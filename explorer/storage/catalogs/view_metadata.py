"""Metadata of Iceberg views: files by path, and what catalogs list and store. REST catalogs answer it; SQL catalogs of
Iceberg's JdbcCatalog store where its file is."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pyiceberg.exceptions import NoSuchNamespaceError, NoSuchViewError

from explorer.errors import ExplorerError, NotSupported, TableNotFound, UnreadableFile
from explorer.model.metadata import Schema
from explorer.model.problem import Problems
from explorer.progress import Cancelled, steps
from explorer.spec.catalogs.views import Representation, ViewLogEntry, ViewMetadata, ViewVersion
from explorer.spec.secrets.redaction import harmless, without_secrets
from explorer.spec.text.identifiers import join_identifier, split_identifier
from explorer.storage import limits
from explorer.storage.allowed_roots import metadata_folder
from explorer.storage.catalogs import catalogs
from explorer.storage.formats.json_text import load_json
from explorer.storage.locate import check_is_not_ours, names_a_path
from explorer.storage.metadata import parse_schema, unpacked
from explorer.storage.paths import local_path
from explorer.storage.storage import Storage

PROBLEMS = 100
"""Parts that could not be read of which each is told."""
NOT_LISTED = "the views of the catalog {!r} are not read: it is neither a REST catalog nor an SQL catalog with views"


def list_views(name: str, extra: Mapping[str, str] | None = None, namespace: str = "") -> Iterator[str]:
    """Names of a catalog's views, by namespace.

    Args:
        name: The catalog.
        extra: Connection properties.
        namespace: Only those of this namespace; of all if it is empty.

    Yields:
        The name of a view, with its namespace.

    Raises:
        TableNotFound: There is no such catalog, or it cannot be listed.
        NotSupported: Views of such a catalog are not read.
    """
    catalog: Any = catalogs.load(name, extra)
    with catalogs.listing(catalog, name):
        rows = catalogs.sql_views(catalog)
        if rows is not None:
            yield from (view for view in rows if not namespace or view.startswith(f"{namespace}."))
            return
        if not hasattr(catalog, "view_answer"):
            raise NotSupported(NOT_LISTED.format(name))
        spaces = [split_identifier(namespace)] if namespace else catalogs.all_namespaces(catalog)
        for space in steps(spaces, "namespaces"):
            yield from (join_identifier(view) for view in sorted(set(catalog.list_views(space))))


def read_view(
    view: str, name: str, extra: Mapping[str, str] | None = None, roots: Sequence[str] = ()
) -> tuple[str, ViewMetadata]:
    """Read the metadata of a view.

    Args:
        view: Its name in the catalog, or the path or URI of a metadata file.
        name: The catalog.
        extra: Connection properties, also of stores.
        roots: Folders that may be read beside the file's own.

    Returns:
        Where its metadata file is, and the metadata.

    Raises:
        TableNotFound: There is no such view.
        NotSupported: Views of such a catalog are not read.
        UnreadableFile: The file is no metadata of a view.
    """
    if names_a_path(view):
        local = local_path(view)
        path = os.path.abspath(local) if local is not None else view
        own = catalogs.properties_of(name, extra)
        return path, _read_file(path, Storage([metadata_folder(path), *roots], own))
    catalog = catalogs.load(name, extra)
    parts = split_identifier(view)
    if len(parts) < 2:
        raise TableNotFound(f"{view!r} is no view's name: use namespace.view, or the path of its metadata file")
    try:
        if (location := catalogs.sql_view(catalog, parts)) is not None:
            own = catalogs.properties(name, extra)
            check_is_not_ours(name, view, location, own)
            return location, _read_file(location, Storage([metadata_folder(location), *roots], own))
        if not hasattr(catalog, "view_answer"):
            raise NotSupported(NOT_LISTED.format(name))
        location, metadata = catalog.view_answer(parts)
        return location, parse_view(metadata, location)
    except (NoSuchViewError, NoSuchNamespaceError) as error:
        raise TableNotFound(f"no view {view!r} in catalog {name!r}") from error
    except (ExplorerError, Cancelled):
        raise
    except Exception as error:
        raise catalogs.cannot_load(catalog, name, view, error) from harmless(error, catalogs.all_properties(catalog))


def _read_file(path: str, storage: Storage) -> ViewMetadata:
    text = unpacked(storage.read(path, limit=limits.METADATA), path)
    return parse_view(load_json(text, path, Problems(path)), path)


def parse_view(raw: Any, path: str) -> ViewMetadata:
    """Parse the metadata of a view; what is missing or of another type is a problem, and the rest is kept.

    Args:
        raw: Its JSON.
        path: Where it is.

    Returns:
        The metadata.

    Raises:
        UnreadableFile: It is no metadata of a view.
    """
    if not isinstance(raw, dict) or not ("view-uuid" in raw or "view-version" in raw or "current-version-id" in raw):
        what = "the metadata of a table" if isinstance(raw, dict) and "table-uuid" in raw else "JSON of something else"
        raise UnreadableFile(path, f"this is {what}, not of an Iceberg view")
    reader = _Reader()
    properties = reader.get(raw, "properties", dict, "", {}) or {}
    schemas = tuple(filter(None, (reader.schema(at, one) for at, one in reader.items(raw, "schemas"))))
    versions = tuple(reader.version(at, one) for at, one in reader.items(raw, "versions"))
    log = tuple(
        ViewLogEntry(reader.get(one, "timestamp-ms", int, here), reader.get(one, "version-id", int, here))
        for here, one in reader.items(raw, "version-log")
    )
    return ViewMetadata(
        reader.get(raw, "view-uuid", str, "", "") or "", reader.get(raw, "format-version", int, ""),
        reader.get(raw, "location", str, "", "") or "", reader.get(raw, "current-version-id", int, ""),
        schemas, versions, log, {name: str(value) for name, value in without_secrets(properties).items()},
        tuple(reader.problems[:PROBLEMS]),
    )  # fmt: skip


class _Reader:
    """Reads values of their types, and notes those of others."""

    def __init__(self) -> None:
        self.problems: list[tuple[str, str]] = []

    def get(self, source: Any, name: str, kind: Any, here: str, missing: Any = None) -> Any:
        """A value if it is of that type; `missing` where it is absent or of another."""
        value = source.get(name)
        if value is None:
            return missing
        if type(value) is not kind or (kind is int and not -(1 << 63) <= value < 1 << 63):
            if len(self.problems) < PROBLEMS:
                self.problems.append((f"{here}/{name}", f"`{name}` is of another type than the spec has"))
            return missing
        return value

    def items(self, source: Any, name: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """The objects of a list, with where they are."""
        for at, one in enumerate(steps(self.get(source, name, list, "", []) or [], name)):
            if isinstance(one, dict):
                yield f"/{name}/{at}", one
            elif len(self.problems) < PROBLEMS:
                self.problems.append((f"/{name}/{at}", "it is no object"))

    def schema(self, here: str, raw: dict[str, Any]) -> Schema | None:
        """A schema; None where it is none."""
        try:
            return parse_schema(raw)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            if len(self.problems) < PROBLEMS:
                self.problems.append((here, f"the schema cannot be read: {type(error).__name__} {str(error)[:100]}"))
            return None

    def version(self, here: str, raw: dict[str, Any]) -> ViewVersion:
        """A version."""
        namespace = self.get(raw, "default-namespace", list, here)
        if namespace is not None and not all(type(one) is str for one in namespace):
            namespace = None
        summary = self.get(raw, "summary", dict, here, {}) or {}
        own = [one for one in self.get(raw, "representations", list, here, []) or [] if isinstance(one, dict)]
        texts = [[self.get(one, name, str, here, "") or "" for name in ("type", "dialect", "sql")] for one in own]
        return ViewVersion(
            self.get(raw, "version-id", int, here), self.get(raw, "timestamp-ms", int, here),
            self.get(raw, "schema-id", int, here),
            {name: str(value) for name, value in without_secrets(summary).items()},
            self.get(raw, "default-catalog", str, here), None if namespace is None else tuple(namespace),
            tuple(Representation(*one) for one in texts),
        )  # fmt: skip
