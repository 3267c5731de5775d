"""What a manifest's own Avro header says, beside what the manifest list and the table metadata say of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from explorer.model.manifest import MANIFEST_CONTENT, ManifestFile
from explorer.model.metadata import TableMetadata
from explorer.spec.text.units import parse_int64

DEPTH = 100
"""Levels of a schema that are compared."""
FIELD_ID_KEYS = ("id", "element-id", "key-id", "value-id")
"""What names a field's id in a schema's JSON (spec: "Appendix C")."""


@dataclass(frozen=True)
class HeaderCheck:
    """One thing said twice: by the header and elsewhere (`source`). None: not said. `agrees` is None where one is
    silent."""

    name: str
    header: Any
    other: Any
    source: str

    @property
    def agrees(self) -> bool | None:
        """Whether both say the same."""
        return None if self.header is None or self.other is None else bool(self.header == self.other)


def check_header(header: Mapping[str, str], manifest: ManifestFile, metadata: TableMetadata) -> list[HeaderCheck]:
    """content, partition-spec-id and format-version against the manifest list; the partition spec's fields and the
    schema's field ids against the table metadata."""
    spec = metadata.spec(manifest.partition_spec_id)
    fields = None if spec is None else [[f.field_id, f.name, f.transform] for f in spec.fields]
    written = parse_json(header.get("partition-spec"))
    parts = written.get("fields", []) if isinstance(written, Mapping) else written
    field_ids = {i for schema in metadata.schemas for i in schema.by_id}
    meant = metadata.schema(parse_int64(header.get("schema-id"))) if "schema-id" in header else None
    schema = parse_json(header.get("schema"))
    ids = {f["id"] for f in _fields(schema) if type(f.get("id")) is int}
    unknown = sorted(ids - field_ids) if isinstance(schema, Mapping) else None
    meant = meant or (metadata.schema(schema.get("schema-id")) if isinstance(schema, Mapping) else None)
    version = header.get("format-version")
    # version 1 wrote none: such a manifest is of data; a header that lost its version too says nothing of deletes
    content = header.get("content", "data" if version == "1" or (version is None and not manifest.content) else None)
    checks = [
        HeaderCheck("content", content, MANIFEST_CONTENT.get(manifest.content), "manifest list"),
        HeaderCheck(
            "partition-spec-id",
            parse_int64(header.get("partition-spec-id")),
            manifest.partition_spec_id,
            "manifest list",
        ),
        HeaderCheck("partition-spec", _spec_fields(parts), fields, "table metadata"),
        HeaderCheck("schema field ids in no schema", unknown, [], "table metadata"),
    ]
    if meant is not None and isinstance(schema, Mapping):
        checks.append(HeaderCheck("schema", _columns(schema), _columns(meant.raw), "table metadata"))
    if (number := parse_int64(version)) is not None:
        # an older manifest in an upgraded table is legal
        checks.append(HeaderCheck("format-version", number, min(number, metadata.format_version), "table metadata"))
    return checks


def field_ids_of(header: Mapping[str, str]) -> set[int] | None:
    """Return the field ids of a header's schema, nested ones too; None where it has no schema that can be read."""
    waiting: list[Any] = [parse_json(header.get("schema"))]
    if not isinstance(waiting[0], Mapping):
        return None
    ids: set[int] = set()
    while waiting:
        part = waiting.pop()
        if isinstance(part, Mapping):
            ids.update(own for name in FIELD_ID_KEYS if type(own := part.get(name)) is int)
            waiting += [*_fields(part), *(part.get(name) for name in ("type", "element", "key", "value"))]
    return ids


def _fields(raw: Any) -> list[Mapping[str, Any]]:
    """The fields of a struct's JSON, which is a stranger's."""
    fields = raw.get("fields") if isinstance(raw, Mapping) else None
    return [item for item in fields if isinstance(item, Mapping)] if isinstance(fields, list) else []


def _columns(raw: Any, depth: int = DEPTH) -> list[tuple[Any, ...]]:
    """The fields of a schema's JSON, nested ones too: what of them may not change."""
    if not isinstance(raw, Mapping) or not depth:
        return []
    fields: list[tuple[Any, ...]] = []
    for item in _fields(raw):
        kind = item.get("type")
        plain = kind.replace(" ", "") if isinstance(kind, str) else None
        fields.append((item.get("id"), item.get("name"), plain, bool(item.get("required"))))
        fields += _columns(kind, depth - 1)
    for part in ("element", "key", "value"):
        if f"{part}-id" in raw:
            fields += [(raw[f"{part}-id"], part, None, None), *_columns(raw.get(part), depth - 1)]
    return fields


def parse_json(text: str | None) -> Any:
    """What a header's value is as JSON; None where it is none."""
    try:
        return json.loads(text) if text else None
    except (ValueError, RecursionError):
        return None


def _spec_fields(parts: Any) -> list[list[Any]] | None:
    if not isinstance(parts, list):
        return None
    return [
        [p.get("field-id", 1000 + i), p.get("name"), p.get("transform")]
        for i, p in enumerate(parts)
        if isinstance(p, Mapping)
    ]
