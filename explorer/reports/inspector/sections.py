"""What an inspection is made of."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from explorer.model.metadata import SortField, SortOrder, TableMetadata
from explorer.render import rows
from explorer.spec.secrets.redaction import beginning, metadata_without_secrets, redact
from explorer.spec.text.names import first_named

Fields = list[tuple[str, Any, str]]
SHORT, LONGEST, RAW, FIELD = 200_000, 2_000_000, 500_000, 20_000
"""Characters of JSON that is written on lines of its own, and that is shown at all; of the texts in it together; and of
one field's value."""


@dataclass(frozen=True)
class InspectorSection:
    """Part of an inspection: `fields` as (name, value, hint), or a table of `columns` and `rows` (those `struck` are
    struck through), or `raw` text."""

    title: str
    fields: Fields | None = None
    columns: Sequence[str] | None = None
    rows: Sequence[Sequence[Any]] = ()
    raw: str | None = None
    note: str = ""
    open: bool = True
    struck: Sequence[int] = ()

    def to_json(self) -> dict[str, Any]:
        """As the widget takes it: only what is there, without credentials."""
        data: dict[str, Any] = {"title": redact(self.title), "note": redact(self.note), "open": self.open}
        if self.fields is not None:
            data["fields"] = [[redact(k), _short(v), redact(hint)] for k, v, hint in self.fields]
        if self.columns is not None:
            data |= {
                "columns": [*map(redact, self.columns)],
                "rows": [[_short(v) for v in row] for row in self.rows],
                "struck": list(self.struck),
            }
        if self.raw is not None:
            data["raw"] = redact(self.raw, longest=2 * RAW)
        return data


@dataclass(frozen=True)
class Inspection:
    """What the inspector shows of one node: a `summary` first."""

    title: str
    kind: str
    sections: tuple[InspectorSection, ...]
    problems: tuple[str, ...] = field(default=())
    summary: Sequence[tuple[str, Any, str]] = ()

    def to_json(self) -> dict[str, Any]:
        """As the widget takes it."""
        return {
            "title": redact(self.title),
            "kind": self.kind,
            "problems": [*map(redact, self.problems)],
            "sections": [s.to_json() for s in self.sections],
        } | ({"summary": [[redact(k), _short(v), redact(hint)] for k, v, hint in self.summary]} if self.summary else {})


def _short(value: Any) -> Any:
    value = metadata_without_secrets(beginning(rows.plain(value), FIELD))
    if value is None:
        return None
    text = json.dumps(value, ensure_ascii=False) if isinstance(value, (dict, list)) else str(value)
    return redact(text, longest=FIELD * 2)


def raw_section(title: str, value: Any) -> InspectorSection:
    shown = metadata_without_secrets(beginning(rows.plain(value), RAW))
    return InspectorSection(title, raw=pretty(shown), open=False)


def pretty(value: Any) -> str:
    """A stranger's value as JSON, on lines of its own where it is not long: what nests deep would be a hundred times as
    long so. Of what is very long, the beginning."""
    text = json.dumps(value, ensure_ascii=False)
    if len(text) <= SHORT:
        text = json.dumps(value, indent=2, ensure_ascii=False)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}\n… the first {LONGEST:,} of {len(text):,} characters"


def source_name(meta: TableMetadata, field_id: int) -> str:
    field = meta.field(field_id)
    return f"{field.name} ({field_id})" if field else f"field {field_id}, dropped"


def order_words(meta: TableMetadata, order: SortOrder | None) -> str:
    """A sort order in words; none of one that is not there."""
    if order is None:
        return ""
    if not order.fields:
        return "unsorted"
    directions = {"asc": "ascending", "desc": "descending"}

    def words(f: SortField) -> str:
        source = first_named(f.source_ids, partial(source_name, meta))
        by = source if f.transform == "identity" else f"{f.transform} of {source}"
        return f"{by} {directions.get(f.direction, f.direction)}, {f.null_order.replace('-', ' ')}"

    return f"by {first_named(order.fields, words, between='; then ')}"


def schema_section(title: str, fields: Any) -> InspectorSection:
    listed = [
        (f.id, f.name, f.type if isinstance(f.type, str) else f.type.get("type"), "yes" if f.required else "no")
        for f in fields
    ]
    return InspectorSection(title, columns=("id", "name", "type", "required"), rows=listed)
