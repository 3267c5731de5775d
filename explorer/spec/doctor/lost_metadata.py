"""What going back to an older metadata file loses, and what a manifest still has of what the newer one lacks."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from explorer.model.metadata import Snapshot, TableMetadata
from explorer.spec.doctor.java_schema import SchemaCheck
from explorer.spec.text.names import beside, first_named, first_of, path_in_sql, text_in_sql
from explorer.spec.text.units import count, whole

NAMED = 5
"""Snapshots and columns that a sentence names."""
MOST_SHOWN = 4000
"""Characters of a schema that a remedy shows."""
ENDS = (".gz.metadata.json", ".metadata.json.gz", ".metadata.json")


@dataclass(frozen=True)
class LostSchema:
    """A schema that the metadata file lacks, and that the header of a manifest has whole.

    Attributes:
        schema: Its JSON, with its id.
        manifest: The manifest.
    """

    schema: Mapping[str, Any]
    manifest: str

    @property
    def text(self) -> str:
        """Its JSON as text."""
        return json.dumps(dict(self.schema))

    @property
    def columns(self) -> list[str]:
        """Its columns' names."""
        return [str(field["name"]) for field in self.schema["fields"]]


def find_lost_schema(held: Sequence[tuple[str, str]]) -> LostSchema | None:
    """Find a schema that is whole, as Iceberg Java reads schemas; none where the manifests contradict each other.

    Args:
        held: Schemas of one id as JSON, each with the manifest that has it.
    """
    schemas = [(json.loads(text), manifest) for text, manifest in held]
    if not schemas or any(schema != schemas[0][0] for schema, _ in schemas):
        return None
    schema, manifest = schemas[0]
    return None if any(SchemaCheck("", False).refusals(schema)) else LostSchema(schema, manifest)


def loss_words(previous: TableMetadata, metadata: TableMetadata, lost: LostSchema | None) -> str:
    """Say what going back from a metadata file to an older one loses: snapshots, rows by their summaries, columns.

    Args:
        previous: The older one.
        metadata: The newer one.
        lost: The current schema of the newer one, where it lacks that.

    Returns:
        A sentence.
    """
    snapshots = [one for one in metadata.snapshots if previous.snapshot(one.snapshot_id) is None]
    now, then = (one.schema(one.current_schema_id) for one in (metadata, previous))
    names = [field.name for field in now.fields] if now else lost.columns if lost else None
    old = {field.name for field in then.fields} if then else set()
    parts = []
    if names is None:
        parts.append(f"what schema {metadata.current_schema_id} has that the schemas of the older file lack")
    elif new := [name for name in names if name not in old]:
        parts.append(f"{count(len(new), 'column')} ({first_of(new, NAMED)})")
    if snapshots:
        ids = first_named([one.snapshot_id for one in snapshots], str, NAMED)
        parts.append(f"{count(len(snapshots), 'snapshot')} ({ids}){_rows(snapshots)}")
    if not parts:
        return "Both have the same snapshots, and columns of the same names."
    return f"That loses {', and '.join(parts)}."


def _rows(snapshots: Sequence[Snapshot]) -> str:
    """How many rows snapshots added and removed, by their summaries; nothing where these do not say it."""
    sums = []
    for name, did in (("added-records", "added"), ("deleted-records", "removed")):
        numbers = [number for one in snapshots if (number := whole(one.summary.get(name))) is not None]
        if sum(numbers):
            sums.append(f"{did} {count(sum(numbers), 'row')}")
    return (
        f", which by {'its summary' if len(snapshots) == 1 else 'their summaries'} {' and '.join(sums)}" if sums else ""
    )


def mended_copy(lost: LostSchema | None, location: str, catalog: str, name: str, complaint: str) -> str:
    """Say how a table is got back whose current schema only a manifest has.

    Args:
        lost: The schema, and the manifest.
        location: The metadata file that lacks it.
        catalog: The catalog's name in SQL.
        name: The table's name there.
        complaint: What register_table says though it makes the table.

    Returns:
        Sentences; nothing where no manifest has the schema.
    """
    if lost is None:
        return ""
    folder, _, own = location.rpartition("/")
    stem = next((own.removesuffix(end) for end in ENDS if own.endswith(end)), own)
    copy = f"{folder}/{stem}-mended.metadata.json"
    call = "the procedure register_table"
    if path := path_in_sql(f"file://{copy}" if copy.startswith("/") else copy):
        other = text_in_sql(beside(name, "mended"))
        call = f"CALL {catalog}.system.register_table(table => '{other}', metadata_file => '{path}')"
    text = lost.text
    shown = f"this: {text}" if len(text) <= MOST_SHOWN else "that schema (icedive doctor TABLE --each --output json)"
    unpacked = ", unpacked," if own.endswith((".gz.metadata.json", ".gz")) else ""
    return (
        f"The schema is not lost: the header of the manifest {lost.manifest} has schema {lost.schema['schema-id']} "
        f"whole. Copy the metadata file{unpacked} under another name in its folder ({stem}-mended.metadata.json), and "
        f"add to `schemas` of the copy {shown}. See what icedive doctor says of the copy, by its path. Then {call} "
        f"makes a table of it under another name, with all that was committed. {complaint}"
    )
