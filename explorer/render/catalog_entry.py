"""What a catalog stores of a table, as text and JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from explorer.render.text import render_fields, render_table
from explorer.spec.catalogs.entries import CatalogEntry, KeptVersion
from explorer.spec.catalogs.recovery import Recovery, WayBack
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
    data = {
        "where": entry.stored.where,
        "stored": dict(entry.stored.row),
        "opened": _opened(entry),
        "versions": [_version(version) for version in entry.versions],
        "has_more_versions": entry.stored.is_cut,
    }
    if entry.stored.unlisted:
        data["versions_unlisted"] = entry.stored.unlisted
    if entry.recovery:
        data["recovery"] = _recovery(entry.recovery)
    return data


def _recovery(recovery: Recovery) -> dict[str, Any]:
    way = recovery.way
    return {
        "metadata_location": way.metadata_location if way else None,
        "evidence": way.evidence if way else None,
        "updated_ms": way.updated_ms if way else None,
        "snapshot_id": way.snapshot_id if way else None,
        "rows": way.rows if way else None,
        "is_later": bool(way and way.is_later),
        "lost": [vars(snapshot) for snapshot in way.lost] if way else [],
        "lists_not_read": way.unread if way else 0,
        "skipped": [vars(file) for file in recovery.skipped],
        "files_not_read": recovery.unread,
        "statement": "\n".join(recovery.statement) or None,
        "language": recovery.language or None,
        "advice": recovery.advice,
    }


def _opened(entry: CatalogEntry) -> dict[str, Any]:
    opened = {
        "metadata_location": entry.metadata_location,
        "state": entry.state,
        "previous": entry.previous,
        "newer": entry.newer,
        "beside": entry.beside,
    }
    more = {"unreadable": entry.unreadable, "refused": entry.refused}
    return opened | {name: words for name, words in more.items() if words}


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
    yield render_fields({name: value for name, value in _opened(entry).items() if value != ""})
    if entry.refused:
        yield "Iceberg cannot load the metadata file that the catalog points to: icedive doctor TABLE has the way back."
    if entry.stored.unlisted:
        yield f"the versions of the entry cannot be listed: {entry.stored.unlisted}"
    if entry.versions:
        yield f"{count(len(entry.versions), 'version')} that the catalog keeps of the entry:"
        yield render_table([_row(version) for version in entry.versions[:SHOWN]])
        if (more := len(entry.versions) - SHOWN) > 0:
            yield f"and {count(more, 'older version')}, which --output json lists"
        if entry.stored.is_cut:
            yield "the catalog has more versions than it was asked for"
    if entry.recovery:
        yield from _render_recovery(entry.recovery)


def _render_recovery(recovery: Recovery) -> Iterator[str]:
    if recovery.skipped:
        yield "the metadata file is gone. These are no way back:"
        yield render_table(
            [{"metadata file": base_name(file.metadata_location), "because": file.reason} for file in recovery.skipped]
        )
    else:
        yield "the metadata file is gone."
    if way := recovery.way:
        yield "the newest metadata file whose manifest lists and manifests are there:"
        yield render_fields(
            {
                "metadata_location": way.metadata_location,
                "why this one": way.evidence,
                "updated": second(way.updated_ms),
                "snapshot": way.snapshot_id,
                "rows": "?" if way.rows is None else f"{way.rows:,} by its summary",
            }
        )
        yield from _lost(way)
    if recovery.statement:
        yield f"to make the catalog point to it ({recovery.language}):"
        yield from (f"  {line}" for line in recovery.statement)
    yield recovery.advice


def _lost(way: WayBack) -> Iterator[str]:
    if way.is_later:
        yield "no commit is lost by that."
        return
    if way.lost:
        yield (
            "going back loses changes of schema, properties and refs since then, and "
            f"{count(len(way.lost), 'snapshot')} of which newer metadata or a manifest list is left (some may be of "
            "commits that failed):"
        )
        yield render_table([
            {
                "snapshot": str(one.snapshot_id), "files added": count(one.added_files),
                "rows added": count(one.added_rows), "files removed": count(one.removed_files),
                "rows removed": count(one.removed_rows),
            }
            for one in way.lost
        ])  # fmt: skip
    else:
        yield "going back loses what was committed since. Nothing in the folder tells what that is."
    if way.unread:
        yield f"{count(way.unread, 'manifest list')} of other snapshots were not looked at"


def _row(version: KeptVersion) -> dict[str, str]:
    own = version.entry
    return {
        "version": own.version,
        "updated": second(own.updated_ms),
        "metadata file": base_name(own.metadata_location or "(none)"),
        "its file is": version.state,
    }
