"""The name mapping that a table would need for files without field ids (spec: "Column Projection")."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from explorer.model.metadata import TableMetadata

NAME_MAPPING = "schema.name-mapping.default"
PARTS = ("element", "key", "value")
"""What is inside lists and maps, by the names that the mapping has for it."""


@dataclass(frozen=True)
class TakenName:
    """A column's name that the table's name mapping gives to another field than the one that had it before: in files
    without field ids the field `now` has the values that were written for `former`."""

    name: str
    former: int
    now: int


def taken_names(metadata: TableMetadata) -> list[TakenName]:
    """Return the names that the table's name mapping gives to another column than had them before.

    Args:
        metadata: The table's.

    Returns:
        Those of columns of the current schema, with the newest field that had each before.
    """
    schema, mapping = metadata.schema(metadata.current_schema_id), _mapping(metadata)
    if schema is None or not mapping:
        return []
    owners: dict[str, dict[int, None]] = defaultdict(dict)
    for one in metadata.schemas:
        for field in one.fields:
            owners[field.name][field.id] = None
    columns, ids = {field.id for field in schema.fields}, dict[str, int]()
    for entry in mapping:
        for name in entry["names"]:
            ids.setdefault(name, entry["field-id"])
    former = {name: [one for one in owners[name] if one != now] for name, now in ids.items() if now in columns}
    return [TakenName(name, before[-1], ids[name]) for name, before in former.items() if before]


def mapping_given_back(metadata: TableMetadata, taken: TakenName) -> str:
    """Return the table's name mapping as it would be if a name were that of the field again which had it before.

    Args:
        metadata: The table's.
        taken: The name.

    Returns:
        JSON as `schema.name-mapping.default` has it.
    """
    mapping = _mapping(metadata)
    for entry in mapping:
        entry["names"] = [name for name in entry["names"] if name != taken.name]
    own = next((entry for entry in mapping if entry["field-id"] == taken.former), None)
    if own is None:
        mapping.append(own := {"field-id": taken.former, "names": []})
    own["names"] = [*own["names"], taken.name]
    return json.dumps(mapping, ensure_ascii=False)


def _mapping(metadata: TableMetadata) -> list[dict[str, Any]]:
    """The entries of the table's name mapping, without what is none."""
    try:
        mapping = json.loads(str(metadata.properties.get(NAME_MAPPING)))
    except (ValueError, RecursionError):
        return []
    entries = [entry for entry in mapping if isinstance(entry, dict)] if isinstance(mapping, list) else []
    named = [entry for entry in entries if type(entry.get("field-id")) is int and isinstance(entry.get("names"), list)]
    return [entry | {"names": [name for name in entry["names"] if isinstance(name, str)]} for entry in named]


def missing_name_mapping(metadata: TableMetadata) -> str:
    """Return a name mapping for the current schema, in which each field has its older names too.

    Args:
        metadata: The table's.

    Returns:
        JSON as `schema.name-mapping.default` has it; empty where a name has stood for two fields, so that nobody can
        know which of them a file means.
    """
    schema = metadata.schema(metadata.current_schema_id)
    names: dict[int, dict[str, None]] = defaultdict(dict)
    owners: dict[tuple[str, ...], set[int]] = defaultdict(set)
    for one in sorted(metadata.schemas, key=lambda one: one is not schema):
        for path, field in _walk(one.raw.get("fields") or ()):
            names[field["id"]][path[-1]] = None
            owners[path].add(field["id"])
    if schema is None or any(len(ids) > 1 for ids in owners.values()):
        return ""
    mapping = _fields(schema.raw.get("fields") or (), names)
    listed = [name for level in _levels(mapping) for name in level]
    return "" if len(set(listed)) < len(listed) else json.dumps(mapping, ensure_ascii=False)


def _parts(kind: Any) -> list[Mapping[str, Any]]:
    """The fields inside a type, each as a field of a struct."""
    if not isinstance(kind, Mapping):
        return []
    inside = [part for part in PARTS if part in kind]
    return [*kind.get("fields", ()), *({"name": p, "id": kind[f"{p}-id"], "type": kind[p]} for p in inside)]


def _walk(fields: Any, above: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Mapping[str, Any]]]:
    """All fields of a schema, each with its names from the top."""
    for field in fields:
        path = (*above, field["name"])
        yield path, field
        yield from _walk(_parts(field["type"]), path)


def _fields(fields: Any, names: Mapping[int, Mapping[str, None]]) -> list[dict[str, Any]]:
    entries = []
    for field in fields:
        entry: dict[str, Any] = {"field-id": field["id"], "names": list(names[field["id"]])}
        if inside := _parts(field["type"]):
            entry["fields"] = _fields(inside, names)
        entries.append(entry)
    return entries


def _levels(mapping: list[dict[str, Any]], above: int = 0) -> Iterator[list[tuple[int, str]]]:
    """The names of each struct, with the field that it is of."""
    yield [(above, name) for entry in mapping for name in entry["names"]]
    for entry in mapping:
        yield from _levels(entry.get("fields", []), entry["field-id"])
