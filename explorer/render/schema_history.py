"""The history of schemas, partition specs and sort orders as text, rows and blocks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from explorer.render.blocks import Block, Picture, Rows
from explorer.render.text import clean
from explorer.spec.commits.commit_writers import UNKNOWN
from explorer.spec.schemas.schema_history import SchemaVersion
from explorer.spec.text.units import count, second

SHOWN = 20
"""Changes of one version that the text has."""


def version_rows(versions: Sequence[SchemaVersion]) -> list[dict[str, Any]]:
    """Return a row for each version."""
    return [
        {
            "kind": one.kind, "id": one.number, "current": one.is_current, "words": one.words,
            "first": one.first or None, "first_at": second(one.first_ms) if one.first else None,
            "writer": one.writer or None, "snapshots": one.snapshots, "files": one.files,
            "changes": len(one.changes) + one.more,
        }
        for one in versions
    ]  # fmt: skip


def change_rows(versions: Sequence[SchemaVersion]) -> list[dict[str, Any]]:
    """Return a row for each change."""
    return [
        {
            "kind": one.kind, "id": one.number, "first": one.first or None, "field_id": change.field_id,
            "field": change.field, "what": change.what, "means": change.means,
        }
        for one in versions
        for change in one.changes
    ]  # fmt: skip


def schema_history_json(versions: Sequence[SchemaVersion]) -> dict[str, Any]:
    """Return the history as JSON data."""
    return {"versions": version_rows(versions), "changes": change_rows(versions)}


def render_schema_history(versions: Sequence[SchemaVersion]) -> Iterator[str]:
    """Return the history as lines of text."""
    for one in versions:
        current = ", current" if one.is_current else ""
        yield clean(f"{one.kind} {one.number}{current}: {one.words}")
        yield f"  {_use(one)}"
        for change in one.changes[:SHOWN]:
            field = "" if change.field_id is None else f" (field {change.field_id})"
            yield clean(f"  {change.field}{field}: {change.what}; {change.means}")
        if (left := len(one.changes) + one.more - SHOWN) > 0:
            yield f"  … {left:,} more changes: --output json has {'the first of them' if one.more else 'all'}"


def _use(one: SchemaVersion) -> str:
    files = "" if one.files is None else f"{count(one.files, 'live file')} of the current snapshot"
    if one.snapshots is None:
        return files
    if not one.first:
        return f"no snapshot that is left used it; {files}"
    writer = "" if one.writer in ("", UNKNOWN) else f", which {one.writer} committed"
    used = count(one.snapshots, "snapshot")
    return clean(f"first used by {one.first} at {second(one.first_ms)}{writer}; in all by {used}; {files}")


def schema_history_blocks(versions: Sequence[SchemaVersion], picture: str) -> list[Block]:
    """Return the blocks of a page: the picture, versions, then what changed."""
    changes = change_rows(versions)
    rows = [Rows(version_rows(versions), "Versions"), *([Rows(changes, "What changed")] if changes else [])]
    return [Picture(picture), *rows]
