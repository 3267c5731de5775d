"""What a catalog stores of a table, as text and JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from explorer.render.text import render_fields, render_table
from explorer.spec.catalogs.entries import CatalogEntry, KeptVersion
from explorer.spec.text.names import base_name
from explorer.spec.text.units import count, second

SHOWN = 100
"""Versions that text shows; JSON has all."""


def entry_json(entry: CatalogEntry) -> dict[str, Any]:
    """Return what a catalog stores of a table as JSON.

    Args:
        entry: What it stores, and what was opened.

    Returns:
        An object.
    """
    return {
        "where": entry.stored.where,
        "stored": dict(entry.stored.row),
        "opened": _opened(entry),
        "versions": [_version(version) for version in entry.versions],
        "has_more_versions": entry.stored.is_cut,
    } | ({"versions_unlisted": entry.stored.unlisted} if entry.stored.unlisted else {})


def _opened(entry: CatalogEntry) -> dict[str, Any]:
    opened = {
        "metadata_location": entry.metadata_location,
        "state": entry.state,
        "previous": entry.previous,
        "newer": entry.newer,
        "beside": entry.beside,
    }
    return opened | ({"unreadable": entry.unreadable} if entry.unreadable else {})


def _version(version: KeptVersion) -> dict[str, Any]:
    own = version.entry
    return {
        "version": own.version,
        "updated_ms": own.updated_ms,
        "metadata_location": own.metadata_location,
        "state": version.state,
    }


def render_entry(entry: CatalogEntry) -> Iterator[str]:
    """Return the same as text.

    Args:
        entry: What it stores, and what was opened.

    Yields:
        Parts of the text.
    """
    yield f"{entry.stored.where}:"
    yield render_fields(entry.stored.row)
    yield "opened:"
    yield render_fields(_opened(entry))
    if entry.stored.unlisted:
        yield f"the versions of the entry cannot be listed: {entry.stored.unlisted}"
    if entry.versions:
        yield f"{count(len(entry.versions), 'version')} that the catalog keeps of the entry:"
        yield render_table([_row(version) for version in entry.versions[:SHOWN]])
        if (more := len(entry.versions) - SHOWN) > 0:
            yield f"and {count(more, 'older version')}, which --output json lists"
        if entry.stored.is_cut:
            yield "the catalog has more versions than it was asked for"


def _row(version: KeptVersion) -> dict[str, str]:
    own = version.entry
    return {
        "version": own.version,
        "updated": second(own.updated_ms),
        "metadata file": base_name(own.metadata_location or "(none)"),
        "its file is": version.state,
    }
