"""Rows that a commit added and hid at once: what makes the position deletes of such a commit, and what helps."""

from __future__ import annotations

from explorer.model.metadata import Schema
from explorer.spec.deletes.deletes import DeleteVerdict
from explorer.spec.text.names import first_of
from explorer.spec.text.units import count

SHOWN = 3
"""Identifier fields that are named."""


def is_of_own_commit(verdict: DeleteVerdict) -> bool:
    """Whether one commit added both the data file and the position delete or vector that applies to it."""
    own, other = verdict.data.file_sequence_number, verdict.delete.file_sequence_number
    return verdict.applies and verdict.delete.kind != "equality_deletes" and own is not None and own == other


def identifier_names(schema: Schema | None) -> list[str]:
    """Return the names of a schema's identifier fields."""
    return [schema.by_id[i].name for i in schema.identifier_field_ids if i in schema.by_id] if schema else []


def cause_words(schema: Schema | None) -> str:
    """Say what writes a delete of a row that its own commit added."""
    own = identifier_names(schema)
    fields = (
        f" Flink takes the table's identifier fields ({first_of(own, SHOWN)}) as such, unless the job names others."
        if own
        else ""
    )
    return (
        "A sink with equality fields writes such deletes, in upsert mode or not: of the rows of a key that one writer "
        f"gets between two checkpoints it keeps the last, or none where the last change is a delete.{fields}"
    )


def remedy_words(schema: Schema | None) -> str:
    """Say what keeps a sink from hiding rows."""
    way = "Drop the table's identifier fields" if identifier_names(schema) else "Give the sink no equality fields"
    return (
        f"{way} and start the job again if each row is to stay. Use upsert mode (write.upsert.enabled=true) if the "
        "last row of a key alone is to stay: then rows of earlier commits go too."
    )


def caution_words(rows: int) -> str:
    """Say what a compaction takes away that nobody has seen; empty where there is nothing."""
    if not rows:
        return ""
    verb, have = ("was", "has") if rows == 1 else ("were", "have")
    return (
        f"{count(rows, 'row')} {verb} hidden by the commit that added {'it' if rows == 1 else 'them'}, and {have} "
        "never been visible. Compaction and expiry remove the last copy: read first what icedive data history TABLE "
        "FILTER shows"
    )
