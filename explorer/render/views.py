"""Iceberg views, as text, JSON and rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from explorer.model.metadata import Schema
from explorer.render.text import render_fields, render_table
from explorer.spec.catalogs.views import ViewDiff, ViewFinding, ViewMetadata, ViewVersion
from explorer.spec.secrets.redaction import redact
from explorer.spec.text.names import shorten
from explorer.spec.text.units import count, second

SHOWN, LINES = 20, 200
"""Versions and findings, and lines of SQL and of columns, that text shows; JSON has all."""
LONGEST = 200
"""Characters of a name in text."""


def view_rows(view: ViewMetadata) -> list[dict[str, Any]]:
    """Return a row for each version of a view.

    Args:
        view: Its metadata.

    Returns:
        The rows, in the order of the metadata.
    """
    return [
        {
            "version_id": version.version_id,
            "is_current": version.version_id == view.current_version_id,
            "timestamp_ms": version.timestamp_ms,
            "schema_id": version.schema_id,
            "engine": redact(version.engine),
            "dialects": [one.dialect for one in version.representations],
            "default_catalog": version.default_catalog,
            "default_namespace": None if version.default_namespace is None else ".".join(version.default_namespace),
        }
        for version in view.versions
    ]


def view_json(location: str, view: ViewMetadata, findings: Sequence[ViewFinding], diff: ViewDiff | None) -> Any:
    """Return a view as JSON.

    Args:
        location: Where its metadata file is.
        view: Its metadata.
        findings: What is wrong with it.
        diff: How two versions differ, if that was asked.

    Returns:
        An object.
    """
    versions = [
        {
            **row,
            "representations": [
                {"type": one.type, "dialect": one.dialect, "sql": redact(one.sql)} for one in version.representations
            ],
        }
        for row, version in zip(view_rows(view), view.versions, strict=True)
    ]
    data = {
        "metadata_location": location,
        "view_uuid": view.view_uuid,
        "format_version": view.format_version,
        "location": view.location,
        "current_version_id": view.current_version_id,
        "versions": versions,
        "version_log": [vars(entry) for entry in view.log],
        "schemas": [{"schema_id": schema.schema_id, "columns": _columns(schema)} for schema in view.schemas],
        "properties": [{"name": name, "value": value} for name, value in view.properties.items()],
        "findings": [vars(finding) for finding in findings],
    }
    return data if diff is None else data | {"diff": _diff(diff)}


def _diff(diff: ViewDiff) -> dict[str, Any]:
    return {
        "before": diff.before,
        "after": diff.after,
        "sql": [{"dialect": name, "lines": [redact(line) for line in lines]} for name, lines in diff.sql.items()],
        "columns": list(diff.columns),
        "defaults": list(diff.defaults),
    }


def _columns(schema: Schema) -> list[dict[str, Any]]:
    return [
        {
            "id": field.id,
            "name": field.name,
            "type": field.type if isinstance(field.type, str) else "nested",
            "required": field.required,
            "doc": field.doc,
        }
        for field in schema.by_id.values()
    ]


def render_view(
    name: str, location: str, view: ViewMetadata, findings: Sequence[ViewFinding], diff: ViewDiff | None
) -> Iterator[str]:
    """Return the same as text.

    Args:
        name: What it was asked for as.
        location: Where its metadata file is.
        view: Its metadata.
        findings: What is wrong with it.
        diff: How two versions differ, if that was asked.

    Yields:
        Parts of the text.
    """
    yield f"{shorten(name, LONGEST)}: a view"
    yield render_fields(
        {
            "metadata file": location,
            "view-uuid": view.view_uuid,
            "location": view.location,
            "current version": view.current_version_id,
        }
    )
    yield f"{count(len(view.versions), 'version')}, the newest first:"
    yield render_table([_row(row) for row in view_rows(view)[::-1][:SHOWN]])
    yield from _more(len(view.versions) - SHOWN, "older version")
    if findings:
        yield f"{count(len(findings), 'finding')}:"
        yield from (f"  {one.severity}: {redact(one.what)} ({one.where})" for one in findings[:SHOWN])
        yield from _more(len(findings) - SHOWN, "finding")
    if diff is not None:
        yield from _render_diff(diff)
    elif (current := view.version(view.current_version_id)) is not None:
        yield from _render_version(view, current)


def _row(row: dict[str, Any]) -> dict[str, Any]:
    return {
        "version": f"{row['version_id']}{' (current)' if row['is_current'] else ''}",
        "written": second(row["timestamp_ms"]),
        "schema": row["schema_id"],
        "by": row["engine"],
        "dialects": ", ".join(row["dialects"]),
        "default namespace": ".".join(filter(None, (row["default_catalog"], row["default_namespace"]))),
    }


def _render_version(view: ViewMetadata, version: ViewVersion) -> Iterator[str]:
    for one in version.representations[:SHOWN]:
        yield f"version {version.version_id} in {redact(shorten(one.dialect, LONGEST)) or '?'}:"
        yield from _lines(redact(one.sql).splitlines(), "line")
    yield from _more(len(version.representations) - SHOWN, "representation")
    if (schema := view.schema(version.schema_id)) is not None:
        yield f"schema {schema.schema_id}:"
        yield render_table(_columns(schema)[:LINES])
        yield from _more(len(schema.by_id) - LINES, "column")


def _render_diff(diff: ViewDiff) -> Iterator[str]:
    yield f"from version {diff.before} to version {diff.after}:"
    for dialect, lines in diff.sql.items():
        yield f"SQL in {redact(shorten(dialect, LONGEST)) or '?'}:"
        yield from _lines(lines, "line")
    if diff.columns:
        yield "columns:"
        yield from _lines(diff.columns, "column")
    yield from _lines(diff.defaults, "default")
    if not (diff.sql or diff.columns or diff.defaults):
        yield "  no difference in SQL, columns and defaults"


def _lines(lines: Sequence[str], noun: str) -> Iterator[str]:
    yield from (f"  {redact(shorten(line, 2_000))}" for line in lines[:LINES])
    yield from _more(len(lines) - LINES, noun)


def _more(number: int, noun: str) -> Iterator[str]:
    if number > 0:
        yield f"  and {count(number, f'more {noun}')}, which --output json lists"
