"""The fields of a table over its schemas, as lanes of a picture: in which schemas each is, by which name and type."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from explorer.model.metadata import Field, Schema, TableMetadata
from explorer.spec.overview.overview import type_words
from explorer.spec.text.names import shorten

SCHEMAS, FIELDS = 12, 40
"""The newest schemas that are drawn, and fields of them: those first that differ between them."""
LONG = 60
"""Characters of a field's words."""


@dataclass(frozen=True)
class FieldSpan:
    """Schemas side by side in which a field is the same: places from `first` to `last`, and its name and type."""

    first: int
    last: int
    words: str


@dataclass(frozen=True)
class FieldLane:
    """One field by its id, over the schemas that are drawn."""

    field_id: int
    spans: tuple[FieldSpan, ...]


@dataclass(frozen=True)
class FieldLanes:
    """The fields of the newest schemas.

    Attributes:
        schemas: The ids of the schemas that are drawn, oldest first.
        current: The place of the current one; None if it is not among them.
        lanes: The fields, by id.
        older: How many schemas are not drawn.
        others: How many fields are not drawn.
    """

    schemas: tuple[int, ...]
    current: int | None
    lanes: tuple[FieldLane, ...]
    older: int
    others: int


def field_lanes(metadata: TableMetadata) -> FieldLanes:
    """Return the fields of a table's newest schemas, in the order in which the metadata file has these."""
    drawn = metadata.schemas[-SCHEMAS:]
    ids = list(dict.fromkeys(own for schema in drawn for own in schema.by_id))
    changing = [own for own in ids if _changes(own, drawn)]
    chosen = changing[:FIELDS]
    chosen += [own for own in ids if own not in set(changing)][: FIELDS - len(chosen)]
    places = {schema.schema_id: at for at, schema in enumerate(drawn)}
    return FieldLanes(
        tuple(schema.schema_id for schema in drawn),
        places.get(metadata.current_schema_id) if metadata.current_schema_id is not None else None,
        tuple(FieldLane(own, tuple(_spans(own, drawn))) for own in sorted(chosen)),
        len(metadata.schemas) - len(drawn),
        len(ids) - len(chosen),
    )


def _changes(own: int, drawn: Sequence[Schema]) -> bool:
    return len({_words(schema.by_id.get(own)) for schema in drawn}) > 1


def _words(field: Field | None) -> str | None:
    """A field's name and type; of a struct nothing of its fields, which are lanes of their own."""
    if field is None:
        return None
    is_struct = isinstance(field.type, Mapping) and field.type.get("type") == "struct"
    kind = "struct" if is_struct else shorten(type_words(field.type), LONG)
    return f"{shorten(field.name, LONG)} {kind}"


def _spans(own: int, drawn: Sequence[Schema]) -> Iterator[FieldSpan]:
    begin, words = 0, _words(drawn[0].by_id.get(own)) if drawn else None
    for at in range(1, len(drawn) + 1):
        now = _words(drawn[at].by_id.get(own)) if at < len(drawn) else None
        if at == len(drawn) or now != words:
            if words is not None:
                yield FieldSpan(begin, at - 1, words)
            begin, words = at, now
