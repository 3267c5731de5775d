"""Keys that several rows have, as text, rows and blocks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from explorer.render.blocks import Block, Link, LinkList, Notice, Rows
from explorer.render.rows import plain
from explorer.render.text import clean, render_table
from explorer.spec.rows.duplicate_keys import DuplicateKeys, key_filter

LINKS = 5


def duplicate_rows(found: DuplicateKeys) -> list[dict[str, Any]]:
    """Return a row for each key: a filter for it, how many rows have it, since when, in which files, and why."""
    return [
        {
            "key": key_filter(one.values), "rows": one.rows,
            "since": one.since or None, "files": ", ".join(one.files) or None, "why": one.why or None,
        }
        for one in found.first
    ]  # fmt: skip


def duplicates_json(found: DuplicateKeys) -> dict[str, Any]:
    """Return the answer as JSON data."""
    keys = [
        {
            "key": {name: plain(value) for name, value in one.values.items()}, "rows": one.rows,
            "since": one.since or None, "files": list(one.files), "why": one.why or None,
        }
        for one in found.first
    ]  # fmt: skip
    return {"snapshot": found.snapshot, "columns": list(found.columns), "keys": found.keys, "rows": found.rows,
            "first": keys, "remedy": found.remedy or None}  # fmt: skip


def render_duplicates(found: DuplicateKeys, table: str) -> Iterator[str]:
    """Return the answer as lines of text; `table` is the name that a command takes."""
    yield clean(found.words)
    if found.first:
        shown = [{"key": key_filter(one.values), "rows": one.rows, "since": one.since} for one in found.first]
        yield ""
        yield render_table(shown).rstrip("\n")
        yield ""
        for one in found.first:
            if one.why:
                yield clean(f"{key_filter(one.values)}: {one.why}. Files: {', '.join(one.files)}.")
        if (left := found.keys - len(found.first)) > 0:
            yield f"{left:,} more keys: --most lists more."
        if found.remedy:
            yield clean(f"what would help: {found.remedy}")
        yield clean(f"icedive data history {table} FILTER shows all that happened to the rows of a key.")


def duplicate_blocks(found: DuplicateKeys) -> list[Block]:
    """Return the blocks of a page."""
    notice = Notice(clean(found.words), "warning" if found.keys else "ok")
    if not found.first:
        return [notice]
    links = tuple(
        Link(f"History of {clean(key_filter(one.values))}", "question", "data history",
             {"where": key_filter(one.values)})
        for one in found.first[:LINKS]
    )  # fmt: skip
    remedy = [Notice(clean(found.remedy))] if found.remedy else []
    return [notice, Rows(duplicate_rows(found), "Keys"), *remedy, LinkList(links)]
