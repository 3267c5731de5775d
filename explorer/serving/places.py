"""Which tables visitors of a shared server may open: those of its catalogs, and paths below the folders that it was
started with."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence

from explorer.errors import AccessRefused, UnreadableFile
from explorer.storage.excerpts import hide_bytes
from explorer.storage.locate import names_a_path
from explorer.storage.paths import below, canonical

VARIABLE = "ICEDIVE_SERVED_ROOTS"
"""Holds the folders and URIs as a JSON list; where it is not set, any path may be opened."""
REFUSED = (
    "This server opens tables of its catalogs, and paths below the folders that it was started with (--only-root): "
    "{} is not below any of them."
)


def restrict(roots: Sequence[str]) -> None:
    """From now on, open only paths below these folders and URIs in this process, and quote no file in a message."""
    hide_bytes()
    os.environ[VARIABLE] = json.dumps([canonical(root) for root in roots])


def is_restricted() -> bool:
    """Whether only some paths may be opened."""
    return VARIABLE in os.environ


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
    if names_a_path(table) and not any(_is_below(table, root) for root in json.loads(os.environ[VARIABLE])):
        raise AccessRefused(REFUSED.format(repr(table[:200])))


def _is_below(path: str, root: str) -> bool:
    try:
        return below(canonical(path), canonical(root))
    except UnreadableFile:
        return False
