"""A schema's fields, deeper ones too, by their paths."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from explorer.model.metadata import Json, Schema

MOST_NAME, MOST_PATH = 500, 2_000
"""Characters of a name, and of a column's path, that are read: some answers repeat them for each snapshot, file or
field, of which a file has many."""


def kinds_by_id(schema: Schema) -> dict[int, tuple[str, Any]]:
    """Return the path and type of every field of a schema, by its id."""
    return {field["id"]: (path, field["type"]) for path, field in walk_fields(schema.raw["fields"])}


def absent_required_fields(fields: Sequence[Json], there: Collection[int], given_ids: Collection[int]) -> Iterator[str]:
    """Find required fields that a file lacks, where nothing else gives their values.

    What is inside a field that the file lacks is not looked for: such a field is null as a whole.

    Args:
        fields: A struct's fields, as JSON.
        there: The field ids of the file's columns and of all that is inside.
        given_ids: Field ids whose values come from elsewhere, as from an identity partition.

    Yields:
        The paths of the fields.
    """
    for field in fields:
        name, inside = field["name"], _members(field["type"])
        if any(own["id"] in there for _, own in walk_fields([field])):
            yield from (f"{name}.{path}" for path in absent_required_fields(inside, there, given_ids))
        elif field.get("required") and field.get("initial-default") is None and field["id"] not in given_ids:
            yield name


def walk_fields(fields: Sequence[Json], above: str = "") -> Iterator[tuple[str, Json]]:
    """Yield the path and the JSON of every field, nested ones after the one around them."""
    for field in fields:
        path = f"{above}{field['name']}"
        yield path, field
        yield from walk_fields(_members(field["type"]), f"{path}.")


def _members(kind: Any) -> list[Json]:
    """The fields inside a type: of lists and maps their elements, keys and values, which are never absent alone."""
    if not isinstance(kind, Mapping):
        return []
    parts = ("element", "key", "value")
    inside = [{"name": part, "id": kind.get(f"{part}-id"), "type": kind[part]} for part in parts if part in kind]
    return [*kind.get("fields", ()), *inside]
