"""From what a person asks for to a read that Spark can carry out: versions, schemas, and SQL with `table@version`."""

from __future__ import annotations

import contextlib
import re
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain

from explorer.errors import ExplorerError, NotFoundInTable, OutsideRoots, TableNotFound, UnreadableFile
from explorer.model.metadata import TableMetadata
from explorer.queries.filters import filter_columns, filter_for
from explorer.spark_engine.read_queue import SqlRequest, Version
from explorer.spark_engine.tables import FileAccess
from explorer.spec.doctor.loading import explain_not_opened
from explorer.spec.scan.filter_names import OtherNames, other_names
from explorer.spec.snapshots.snapshot_names import Resolved, resolve_snapshot, without_current
from explorer.spec.text.identifiers import join_identifier
from explorer.spec.text.names import snapshot_name, snapshot_ordinals
from explorer.storage.locate import locate, names_a_path
from explorer.storage.paths import canonical, local_path, normal_path
from explorer.storage.reader import TableReader
from explorer.storage.rows import read_schema
from explorer.storage.stores import split_uri

_NAMED = re.compile(
    r"""('(?:[^']|'')*'|"[^"]*"|`[^`]*`)|(?:(?<![\w.])|(?<=[`"]\.))([A-Za-z_][\w.]*)@('[^']+'|[\w.:\-]+)"""
)
"""Quoted text, which is left alone, or `name@version`."""


@dataclass(frozen=True)
class Reading:
    """One version of a table to read, why it is the one that was meant, and which schema Iceberg reads it with."""

    version: Version
    resolved: Resolved | None
    schema_id: int | None
    words: str


def check_readable(reader: TableReader, snapshot_id: int | None = None) -> FileAccess:
    """Refuse a snapshot (None: every one) of which Spark would open a file that may not be opened: it opens whatever a
    table names. Everything is read anew, since files may have changed after they were first looked at. Returns how they
    are opened. Raises OutsideRoots, and UnreadableFile when something cannot be read, so that nobody knows what it
    names."""
    given = reader.location.given
    with contextlib.suppress(ExplorerError):  # Spark asks for no others when these expire while it reads
        given = reader.location.renew() or given
    pinned = replace(reader.location, metadata_location=reader.metadata.metadata_location, given=given)
    fresh = TableReader(pinned, reader.extra_roots)
    location = fresh.metadata.metadata_location
    for problem in fresh.problems:
        if problem.severity == "error":
            raise UnreadableFile(problem.file, f"{problem.cause}; so Spark is not asked to read the table")
    snapshots = fresh.metadata.snapshots
    if snapshot_id is not None:
        snapshots = (fresh.require_snapshot(snapshot_id),)
    moved = False
    for path in chain.from_iterable(map(fresh.paths_of_snapshot, snapshots)):
        there = fresh.storage.check(path)
        if there != path and local_path(there) is None:
            raise OutsideRoots(
                path, f"it was moved to {there}, and Spark follows moves to folders of this machine only"
            )
        moved = moved or there != path
    files = FileAccess(location, fresh.storage.properties)
    if not moved:
        return files
    places = (*fresh.storage.moved, *((root, root) for root in fresh.storage.roots))  # what stayed is where it is
    return replace(files, moved=tuple(move for move in places if local_path(move[1]) is not None))


def another(reader: TableReader, name: str) -> TableReader:
    """Another table, by its name. What the person gave for this table's catalog holds for that catalog only, and what
    they gave for a table that was opened by its path, or that their Spark opened, for its bucket only. Raises
    TableNotFound."""
    place = reader.location
    if place.of_session and name == place.name:  # pyiceberg does not know that catalog
        return reader
    identifier = name.removeprefix(f"{place.catalog}.")
    is_named = place.catalog is not None and not names_a_path(name)
    if is_named and (identifier.count(".") < name.count(".") > 1 or _is_beside(name, str(place.catalog))):
        return TableReader(locate(identifier, place.catalog, place.properties, place.relocate), reader.extra_roots)
    own = (place.catalog is None or place.of_session) and _is_in_bucket(name, place.metadata_location)
    return TableReader(locate(name, None, place.properties if own else None, place.relocate), reader.extra_roots)


def _is_in_bucket(name: str, path: str) -> bool:
    """Whether a table is named by a URI of the store and bucket in which a path is."""
    return local_path(path) is None and split_uri(normal_path(name))[:2] == split_uri(normal_path(path))[:2]


def _is_beside(name: str, catalog: str) -> bool:
    """Whether a name without a catalog is one of this catalog's."""
    from explorer.storage.catalogs import catalogs

    return catalogs.split(name)[0] == catalog


def check_table_name(reader: TableReader, name: tuple[str, ...]) -> str:
    """Refuse a table of a catalog, or a branch or metadata table of one, by the parts of its name, if Spark would open
    a file that may not be opened for any of its snapshots, or that was moved: its catalog there knows of no move.
    Returns the canonical path of its metadata file. Raises AccessRefused, UnreadableFile, TableNotFound."""
    try:
        files = check_readable(another(reader, join_identifier(name)))
    except TableNotFound:
        if len(name) < 4:
            raise
        files = check_readable(another(reader, join_identifier(name[:-1])))
    if files.moved:
        raise OutsideRoots(
            files.metadata_location, f"the table was moved: name a version of it ({join_identifier(name)}@main)"
        )
    return canonical(files.metadata_location)


def explain_table_name(reader: TableReader, name: tuple[str, ...]) -> str:
    """Return why Spark cannot open a table of a catalog, or a branch or metadata table of one, by the parts of its
    name; empty where its metadata does not tell. Raises as check_table_name does."""
    try:
        metadata = another(reader, join_identifier(name)).metadata
    except TableNotFound:
        metadata = another(reader, join_identifier(name[:-1])).metadata
    return explain_not_opened(metadata)


def reading(reader: TableReader, wanted: str | int | None) -> Reading:
    """How a version is read: a branch with the table's current schema, a snapshot id, tag or time with the snapshot's
    own. Raises NotFoundInTable."""
    metadata = reader.metadata
    cause = partial(explain_not_opened, metadata)
    if wanted is None and metadata.current_snapshot_id is None:
        why = without_current(metadata) or "the table has no snapshot, so there are no rows"
        version = Version(metadata.metadata_location, None, partial(check_readable, reader), cause)
        return Reading(version, None, metadata.current_schema_id, why)
    resolved = resolve_snapshot(metadata, wanted)
    snapshot, current = resolved.snapshot, metadata.current_schema_id
    own = snapshot.schema_id if snapshot.schema_id is not None else current
    branches = {r.name: r.snapshot_id for r in metadata.refs if r.type == "branch"}
    branch = "main" if wanted is None else str(wanted).strip()
    # Spark takes a branch whose name is a number for the id of a snapshot
    if branches.get(branch) == snapshot.snapshot_id and not re.fullmatch(r"[+-]?\d+", branch):
        pinned, schema_id = branch, current
        how = f"a branch is read with the table's current schema, {current}"
        how += f" (the snapshot was written with schema {own})" if own != current else ""
    else:
        pinned, schema_id = str(snapshot.snapshot_id), own
        how = f"a snapshot is read with its own schema, {own}"
        how += f" (the table's current one is {current})" if own != current else ""
    name = snapshot_name(snapshot.snapshot_id, snapshot_ordinals(metadata))
    check = partial(check_readable, reader, snapshot.snapshot_id)
    version = Version(metadata.metadata_location, pinned, check, cause)
    return Reading(version, resolved, schema_id, f"{name}, {resolved.reason}; {how}")


def names_java_takes(metadata: TableMetadata, where: str, read_as: Reading) -> OtherNames | None:
    """The columns of a filter that Iceberg Java takes for others; None too where only Spark knows what the filter
    asks."""
    try:
        schema = read_schema(metadata, read_as.schema_id)
        bound = filter_for(metadata, where, filter_columns(schema))
    except (NotFoundInTable, UnreadableFile):
        return None
    return other_names(metadata, read_as.resolved.snapshot if read_as.resolved else None, schema, bound)


def sql_request(sql: str, name: str, reader: TableReader, limit: int | None) -> SqlRequest:
    """SQL in which `name@version` is that version of a table, and `t` the table `name` as opened. Versions are what
    spec.snapshots.snapshot_names resolves; one with spaces is quoted. Raises NotFoundInTable, TableNotFound."""
    views = {"t": reading(reader, None).version}
    names: dict[tuple[str, str], str] = {}
    own = {"t", name, name.rsplit(".", 1)[-1], name.split(".", 1)[-1]}

    def view(match: re.Match[str]) -> str:
        if match.group(1) is not None:
            return match.group(1)
        table, version = match.group(2), match.group(3).strip("'")
        key = (table, version)
        if key not in names:
            source = reader if table in own else another(reader, table)
            names[key] = f"version_{len(names)}"
            try:
                views[names[key]] = reading(source, version).version
            except NotFoundInTable as error:
                raise NotFoundInTable(f"{table}@{version}: {error}") from error
        return f"`{names[key]}`"

    text, cause = _NAMED.sub(view, sql.strip().rstrip(";")), partial(explain_table_name, reader)
    return SqlRequest(text, views, limit, partial(check_table_name, reader), cause)
