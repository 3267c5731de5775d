"""From what a person asks for to a read that Spark can carry out: versions, schemas, and SQL with `table@version`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from explorer.core.history import Resolved, resolve_snapshot
from explorer.core.names import snapshot_name, snapshot_ordinals
from explorer.engines.reads import SqlRequest, Version
from explorer.errors import NotFoundInTable, OutsideRoots, TableNotFound
from explorer.io.locate import locate
from explorer.io.reader import TableReader
from explorer.model.metadata import Snapshot

_NAMED = re.compile(r"""('(?:[^']|'')*'|"[^"]*"|`[^`]*`)|\b([A-Za-z_][\w.]*)@('[^']+'|[\w.:\-]+)""")
"""Quoted text, which is left alone, or `name@version`."""


@dataclass(frozen=True)
class Reading:
    """One version of a table to read, why it is the one that was meant, and which schema Iceberg reads it with."""

    version: Version
    resolved: Resolved | None
    schema_id: int | None
    words: str


def check_readable(reader: TableReader, snapshot: Snapshot) -> None:
    """Refuse a snapshot of which Spark would open a file that may not be opened: it opens whatever a table names, where
    the table says it is. Raises OutsideRoots, and UnreadableFile when a manifest cannot be read, so that nobody knows
    what it names."""
    for path in reader.referenced_paths(snapshot):
        if reader.storage.check(path) != path:
            raise OutsideRoots(
                path,
                "the table was copied or moved: Spark would look for this file where it was. Rows of single files are "
                "read from the copy ('iceberg-explorer file-rows')",
            )


def check_named(name: tuple[str, ...], properties: Mapping[str, str] | None, roots: Sequence[str]) -> None:
    """Refuse a table of a catalog, or a branch, tag or metadata table of one, by the parts of its name, if Spark would
    open a file that may not be opened for any of its snapshots. Raises AccessRefused, UnreadableFile, TableNotFound."""
    try:
        location = locate(".".join(name), None, properties)
    except TableNotFound:
        if len(name) < 4:
            raise
        location = locate(".".join(name[:-1]), None, properties)
    reader = TableReader(location, roots)
    for snapshot in reader.metadata.snapshots:
        check_readable(reader, snapshot)


def reading(reader: TableReader, wanted: str | int | None) -> Reading:
    """How a version is read: a branch with the table's current schema, a snapshot id, tag or time with the snapshot's
    own. Raises NotFoundInTable."""
    metadata = reader.metadata
    if wanted is None and metadata.current_snapshot_id is None:
        words = "the table has no snapshot, so there are no rows"
        version = Version(metadata.metadata_location, None, lambda: None)
        return Reading(version, None, metadata.current_schema_id, words)
    found = resolve_snapshot(metadata, wanted)
    snapshot, current = found.snapshot, metadata.current_schema_id
    own = snapshot.schema_id if snapshot.schema_id is not None else current
    branches = {r.name for r in metadata.refs if r.type == "branch"}
    branch = "main" if wanted is None and "main" in branches else str(wanted) if str(wanted) in branches else None
    if branch is not None:
        pinned, schema_id = branch, current
        how = f"a branch is read with the table's current schema, {current}"
        how += f" (the snapshot was written with schema {own})" if own != current else ""
    else:
        pinned, schema_id = str(snapshot.snapshot_id), own
        how = f"a snapshot is read with its own schema, {own}"
        how += f" (the table's current one is {current})" if own != current else ""
    name = snapshot_name(snapshot.snapshot_id, snapshot_ordinals(metadata))
    version = Version(metadata.metadata_location, pinned, partial(check_readable, reader, snapshot))
    return Reading(version, found, schema_id, f"{name}, {found.reason}; {how}")


def sql_request(
    sql: str, name: str, reader: TableReader, other: Callable[[str], TableReader], limit: int | None
) -> SqlRequest:
    """SQL in which `name@version` is that version of a table, and `t` the table `name` as opened. `other` opens another
    table by its name. Versions are what core.history resolves; one with spaces is quoted. Raises NotFoundInTable."""
    views = {"t": reading(reader, None).version}
    names: dict[tuple[str, str], str] = {}
    own = {"t", name, name.rsplit(".", 1)[-1], name.split(".", 1)[-1]}

    def view(match: re.Match[str]) -> str:
        if match.group(1) is not None:
            return match.group(1)
        table, version = match.group(2), match.group(3).strip("'")
        key = (table, version)
        if key not in names:
            source = reader if table in own else other(table)
            names[key] = f"version_{len(names)}"
            try:
                views[names[key]] = reading(source, version).version
            except NotFoundInTable as error:
                raise NotFoundInTable(f"{table}@{version}: {error}") from error
        return f"`{names[key]}`"

    tables = partial(check_named, properties=reader.location.properties, roots=reader.extra_roots)
    return SqlRequest(_NAMED.sub(view, sql.strip().rstrip(";")), views, limit, tables)
