"""What going back to an older metadata file loses, and what a manifest still has of what the newer one lacks."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from explorer.model.metadata import Schema, Snapshot, TableMetadata
from explorer.spec.doctor.java_schema import SchemaCheck
from explorer.spec.text.names import base_name, beside, first_named, first_of, path_in_sql, text_in_sql
from explorer.spec.text.units import count, whole

NAMED = 5
"""Snapshots and columns that a sentence names."""
MOST_SHOWN = 4000
"""Characters of a schema that a remedy shows."""
VERSION = re.compile(r"v(0|[1-9]\d{0,9})\.", re.ASCII)
"""How Iceberg names the metadata files of a table in a folder without a catalog."""
MOST_VERSION = 2**31 - 1
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
    """Say what going back from a metadata file to an older one loses (snapshots, rows by their summaries, columns), and
    what it brings back.

    Args:
        previous: The older one.
        metadata: The newer one.
        lost: The current schema of the newer one, where it lacks that.

    Returns:
        Sentences.
    """
    now, then = (one.schema(one.current_schema_id) for one in (metadata, previous))
    names = [field.name for field in now.fields] if now else lost.columns if lost else None
    older = [field.name for field in then.fields] if then else []
    renamed = _renamed(then, now)
    goes, returns = list[str](), list[str]()
    if metadata.current_schema_id is None and metadata.schemas:  # it may be any of those that are there
        lacking = [str(one.schema_id) for one in metadata.schemas if previous.schema(one.schema_id) is None]
        if lacking:
            goes.append(f"what schema {' or '.join(lacking)} has that the schemas of the older file lack")
    elif names is None:
        goes.append(f"what schema {metadata.current_schema_id} has that the schemas of the older file lack")
    else:
        if new := [name for name in names if name not in (*older, *renamed.values())]:
            goes.append(_columns(new))
        if back := [name for name in older if name not in (*names, *renamed)]:
            returns.append(_columns(back))
    if snapshots := [one for one in metadata.snapshots if previous.snapshot(one.snapshot_id) is None]:
        goes.append(f"{_snapshots(snapshots)}{_rows(snapshots)}")
    if expired := [one for one in previous.snapshots if metadata.snapshot(one.snapshot_id) is None]:
        returns.append(f"{_snapshots(expired)}, whose files may be gone")
    others = first_of([f"{old} for {new}" for old, new in renamed.items()], NAMED)
    sentences = [
        f"That loses {', and '.join(goes)}." if goes else "",
        f"The older file has what the newer one lacks: {', and '.join(returns)}." if returns else "",
        f"Columns have other names there ({others})." if renamed else "",
        "Both have the same snapshots." if not snapshots and not expired and (goes or returns or renamed) else "",
    ]
    return " ".join(filter(None, sentences)) or "Both have the same snapshots, and columns of the same names."


def _renamed(then: Schema | None, now: Schema | None) -> dict[str, str]:
    """The columns that have another name in the older schema: that, and the newer."""
    if then is None or now is None:
        return {}
    newer = {field.id: field.name for field in now.fields}
    pairs = {field.name: newer[field.id] for field in then.fields if field.id in newer}
    return {old: new for old, new in pairs.items() if old != new}


def _snapshots(some: Sequence[Snapshot]) -> str:
    return f"{count(len(some), 'snapshot')} ({first_named([one.snapshot_id for one in some], str, NAMED)})"


def _columns(names: Sequence[str]) -> str:
    return f"{count(len(names), 'column')} ({first_of(names, NAMED)})"


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
    copy, call = _copy_call(location, catalog, name)
    text = lost.text
    shown = f"this: {text}" if len(text) <= MOST_SHOWN else "that schema (icedive doctor TABLE --each --output json)"
    return (
        f"The schema is not lost: the header of the manifest {lost.manifest} has schema {lost.schema['schema-id']} "
        f"whole. Copy the metadata file{_unpacked(location)} under another name in its folder ({copy}), and "
        f"add to `schemas` of the copy {shown}. See what icedive doctor says of the copy, by its path. Then {call} "
        f"makes a table of it under another name, with all that was committed. {complaint}"
    )


def copy_with_uuid(location: str, catalog: str, name: str, complaint: str) -> str:
    """Say how a table of version 1 gets a UUID, which no procedure of Spark writes.

    Args:
        location: The metadata file that lacks it.
        catalog: The catalog's name in SQL.
        name: The table's name there.
        complaint: What register_table says though it makes the table.

    Returns:
        Sentences.
    """
    copy, call = _copy_call(location, catalog, name)
    own = base_name(location)
    field = f'"table-uuid": "{uuid.uuid5(uuid.NAMESPACE_URL, location)}"'
    if (version := VERSION.match(own)) and int(version[1]) < MOST_VERSION:
        copy = f"v{int(version[1]) + 1}.metadata.json"
        opens = "Iceberg takes it for the next version of the folder, so the table keeps its name. Have nobody commit "
        opens += "meanwhile."
    else:
        opens = f"Then {call} makes a table of it under another name. {complaint}The old name is taken until the "
        opens += "catalog's own tool removes the broken entry. Both have the same files: run neither expire_snapshots "
        opens += "nor remove_orphan_files while there are two."
    return (
        f"Copy the metadata file{_unpacked(location)} under another name in its folder ({copy}), and add to the copy "
        f"{field}. {opens}"
    )


def _copy_call(location: str, catalog: str, name: str) -> tuple[str, str]:
    """What a mended copy of a metadata file is called, and what makes a table of it."""
    folder, _, own = location.rpartition("/")
    stem = next((own.removesuffix(end) for end in ENDS if own.endswith(end)), own)
    copy = f"{stem}-mended.metadata.json"
    path = f"{folder}/{copy}"
    if path := path_in_sql(f"file://{path}" if path.startswith("/") else path):
        other = text_in_sql(beside(name, "mended"))
        return copy, f"CALL {catalog}.system.register_table(table => '{other}', metadata_file => '{path}')"
    return copy, "the procedure register_table"


def _unpacked(location: str) -> str:
    return ", unpacked," if location.endswith((".gz.metadata.json", ".gz")) else ""
