"""Which tables visitors of a shared server may open: those of its catalogs, or of some of them, and paths below the
folders that it was started with."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence

from explorer.errors import AccessRefused, UnreadableFile
from explorer.storage.catalogs import catalogs
from explorer.storage.excerpts import hide_bytes
from explorer.storage.locate import names_a_path
from explorer.storage.paths import below, canonical

VARIABLE = "ICEDIVE_SERVED_ROOTS"
"""Holds the folders and URIs as a JSON list; where it is not set, any path may be opened."""
NAMES_VARIABLE = "ICEDIVE_SERVED_NAMES"
"""Holds, as a JSON list, what names of tables begin with; where it is not set, all tables of all catalogs may be
opened."""
REFUSED = (
    "This server opens tables of its catalogs, and paths below the folders that it was started with (--only-root, or "
    "--root of mcp; in Jupyter its root folder, and IcebergExplorer.roots): {} is not below any of them."
)
OTHER_NAME = "This server opens tables whose full names, with the catalog, begin with {}: {} does not."
_allowed: dict[str, list[str]] = {}
"""What `restrict` was given, by the variable that says the same: it binds this process, and not those that it starts,
among which are the kernels of a Jupyter server."""


def restrict(roots: Sequence[str], names: Sequence[str] | None = None, quotes_files: bool = False) -> None:
    """From now on, open only some tables in this process.

    Args:
        roots: Folders and URIs: only paths below them.
        names: Catalogs or namespaces, each with a dot at its end: only tables of them; all if left out.
        quotes_files: Whether messages may quote files, as where all visitors may read what the process may.
    """
    if not quotes_files:
        hide_bytes()
    _allowed[VARIABLE] = [canonical(root) for root in roots]
    if names is not None:
        _allowed[NAMES_VARIABLE] = list(names)


def is_restricted() -> bool:
    """Whether only some paths may be opened."""
    return _listed(VARIABLE) is not None


def _listed(variable: str) -> list[str] | None:
    """What `restrict` was given, or else the environment has; None where neither has any."""
    if variable in _allowed:
        return _allowed[variable]
    return json.loads(os.environ[variable]) if variable in os.environ else None


def check(table: str, moves: Sequence[tuple[str, str]] = ()) -> None:
    """See that a visitor may open a table.

    Args:
        table: Its name or path, as it was asked for.
        moves: Places that the visitor says have moved.

    Raises:
        AccessRefused: The server is restricted, and the path is not below its roots, or something was moved.
    """
    if not is_restricted():
        return
    if moves:
        raise AccessRefused("This server follows no tables that have moved: ask who runs it.")
    if not table:
        return
    if not names_a_path(table):
        _check_name(table, "" if catalogs.split(table)[0] != table.partition(".")[0] else table)
    elif not any(_is_below(table, root) for root in _listed(VARIABLE) or ()):
        raise AccessRefused(REFUSED.format(repr(table[:200])))


def check_catalog(catalog: str, namespace: str = "") -> None:
    """See that a visitor may ask of a catalog, or of one of its namespaces. Raises AccessRefused."""
    name = ".".join(filter(None, (catalog, namespace)))
    _check_name(name, f"{name}.")


def offered_catalogs(names: Sequence[str]) -> list[str]:
    """Return those of some catalogs of which a visitor may open every table."""
    return [name for name in names if _is_offered(f"{name}.")]


def _check_name(name: str, full: str) -> None:
    """Raise AccessRefused for a name if its full form, which has the catalog, is none that may be opened."""
    if not _is_offered(full):
        raise AccessRefused(OTHER_NAME.format(", ".join(_listed(NAMES_VARIABLE) or ()), repr(name[:200])))


def _is_offered(full: str) -> bool:
    allowed = _listed(NAMES_VARIABLE)
    return allowed is None or full.startswith(tuple(allowed))


def _is_below(path: str, root: str) -> bool:
    try:
        return below(canonical(path), canonical(root))
    except UnreadableFile:
        return False
