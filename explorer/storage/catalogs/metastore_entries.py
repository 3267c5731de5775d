"""What Glue and Hive's metastore store of a table: parameters that name its metadata file, and Glue's older versions of
them. The metadata file itself is not read, so that a table whose file is gone is found too."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pyiceberg.exceptions import NoSuchIcebergTableError, NoSuchTableError

from explorer.progress import check_cancellation
from explorer.spec.catalogs.entries import EntryVersion
from explorer.spec.secrets.redaction import redact
from explorer.spec.text.units import instant, whole

VERSIONS, PAGE = 1_000, 100
"""Versions of a table that Glue is asked for in all, and at once, which is the most that it gives."""
LONGEST = 2_000
"""Characters of a value that are kept, and of a path: no store takes a longer one."""
LOCATION, PREVIOUS, TYPE = "metadata_location", "previous_metadata_location", "table_type"
PARAMETERS = (LOCATION, PREVIOUS, TYPE, "EXTERNAL", "uuid", "current-snapshot-id", "transient_lastDdlTime")
"""Parameters of a table that say where its metadata is, and when that changed. The others are copies of its
properties."""


TABLE_INPUT = (
    "Name", "Description", "Owner", "LastAccessTime", "LastAnalyzedTime", "Retention", "StorageDescriptor",
    "PartitionKeys", "ViewOriginalText", "ViewExpandedText", "TableType", "Parameters", "TargetTable",
)  # fmt: skip
"""What an update of an entry in Glue sets: what it leaves out is removed."""


@dataclass(frozen=True)
class MetastoreEntry:
    """What a metastore stores of a table: its kind, its parameters, and fields of the entry beside them, as text.
    `present` are the fields that an update must repeat."""

    kind: Literal["glue", "hive"]
    parameters: Mapping[str, str]
    fields: Mapping[str, str]
    present: tuple[str, ...] = ()

    @property
    def metadata_location(self) -> str:
        """The metadata file that it names. Raises NoSuchIcebergTableError where the entry is of another kind of
        table."""
        kind, location = self.parameters.get(TYPE, ""), self.parameters.get(LOCATION, "")
        if kind.lower() != "iceberg" or not location:
            raise NoSuchIcebergTableError(f"its entry has the table_type {kind!r} and no metadata file of Iceberg")
        return location

    def row(self) -> dict[str, str | None]:
        """The fields and parameters that say where the metadata is, without credentials."""
        own = {name: self.parameters[name] for name in PARAMETERS if name in self.parameters}
        return {name: redact(value)[:LONGEST] for name, value in {**own, **self.fields}.items()}


def metastore_entry(catalog: Any, identifier: tuple[str, ...]) -> MetastoreEntry | None:
    """Ask Glue or Hive's metastore for a table's entry.

    Args:
        catalog: Any catalog.
        identifier: The names that lead to the table.

    Returns:
        The entry; None for a catalog of another kind.

    Raises:
        NoSuchTableError: There is no such table.
    """
    if hasattr(catalog, "glue"):
        return _glue_entry(_glue_table(catalog, identifier))
    if hasattr(catalog, "hive_table"):
        return _hive_entry(catalog.hive_table(identifier))
    return None


def entry_versions(catalog: Any, identifier: tuple[str, ...]) -> tuple[list[EntryVersion], bool]:
    """Ask Glue for the versions of a table's entry.

    Args:
        catalog: A catalog of Glue.
        identifier: The names that lead to the table.

    Returns:
        The versions, the newest first, VERSIONS at most; and whether there are more.
    """
    database, name = catalog.identifier_to_database_and_table(identifier, NoSuchTableError)
    pages = _version_pages(catalog, database, name)
    versions: list[EntryVersion] = []
    for page in pages:
        versions += map(_entry_version, page)
        if len(versions) >= VERSIONS:
            break
    is_cut = len(versions) > VERSIONS or next(pages, None) is not None
    versions.sort(key=lambda one: whole(one.version) or 0, reverse=True)
    return versions[:VERSIONS], is_cut


def _version_pages(catalog: Any, database: str, name: str) -> Iterator[list[Any]]:
    """Pages of versions, at most as many as versions; the same token twice ends them, since no page of it would be
    new."""
    token = ""
    for _ in range(VERSIONS):
        check_cancellation()
        more = {"NextToken": token} if token else {}
        answer = catalog.glue.get_table_versions(DatabaseName=database, TableName=name, MaxResults=PAGE, **more)
        if page := answer.get("TableVersions", []):
            yield page
        following = answer.get("NextToken") or ""
        if not following or following == token:
            return
        token = following


def _entry_version(version: Mapping[str, Any]) -> EntryVersion:
    table = version.get("Table", {})
    location = table.get("Parameters", {}).get(LOCATION)
    return EntryVersion(
        str(version.get("VersionId", ""))[:LONGEST],
        _milliseconds(table.get("UpdateTime")),
        None if location is None else str(location)[:LONGEST],
    )


def _glue_table(catalog: Any, identifier: tuple[str, ...]) -> Mapping[str, Any]:
    database, name = catalog.identifier_to_database_and_table(identifier, NoSuchTableError)
    table: Mapping[str, Any] = catalog._get_glue_table(database_name=database, table_name=name)
    return table


def _glue_entry(table: Mapping[str, Any]) -> MetastoreEntry:
    fields = {name: instant(_milliseconds(table[name])) for name in ("CreateTime", "UpdateTime") if name in table}
    fields |= {name: str(table[name]) for name in ("VersionId", "TableType") if table.get(name)}
    if place := table.get("StorageDescriptor", {}).get("Location"):
        fields["StorageDescriptor.Location"] = str(place)
    present = tuple(name for name in TABLE_INPUT if table.get(name) is not None)
    return MetastoreEntry("glue", _texts(table.get("Parameters")), fields, present)


def _hive_entry(table: Any) -> MetastoreEntry:
    fields = {"createTime": instant(1000 * table.createTime)} if table.createTime else {}
    fields |= {"tableType": str(table.tableType)} if table.tableType else {}
    if table.sd is not None and table.sd.location:
        fields["sd.location"] = str(table.sd.location)
    return MetastoreEntry("hive", _texts(table.parameters), fields)


def _texts(parameters: Any) -> dict[str, str]:
    return {str(name): str(value) for name, value in (parameters or {}).items()}


def _milliseconds(moment: Any) -> int | None:
    return int(moment.timestamp() * 1000) if isinstance(moment, datetime.datetime) else None
