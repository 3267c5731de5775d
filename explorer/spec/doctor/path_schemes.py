"""Schemes of paths: which are one store, and which paths of a table lie in another."""

from __future__ import annotations

import re

ONE_STORE = (
    frozenset({"s3", "s3a", "s3n"}),
    frozenset({"abfs", "abfss", "wasb", "wasbs"}),
    frozenset({"gs", "gcs"}),
    frozenset({"hdfs", "viewfs"}),
)
"""Names that readers have for one store."""


def in_same_store(location: str) -> str | None:
    """Return a regular expression for paths of the store that a table's location is in.

    Args:
        location: The table's location.

    Returns:
        The expression, which holds from a path's beginning; None where the location names no store.
    """
    scheme = re.match(r"([A-Za-z][A-Za-z0-9+.-]*):", location)
    if scheme is None:
        return r"^(?:/|file:)" if location.startswith("/") else None
    own = scheme[1].lower()
    if own == "file":
        return r"^(?:/|file:)"
    names = next((store for store in ONE_STORE if own in store), frozenset({own}))
    return rf"^(?i:{'|'.join(sorted(map(re.escape, names)))}):"
