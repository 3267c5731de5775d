"""What a table's catalog stores of it, beside the metadata file that was opened."""

from __future__ import annotations

from dataclasses import dataclass

from explorer.errors import NotPossible
from explorer.io import catalogs
from explorer.io.catalogs import Stored
from explorer.table import Table


@dataclass(frozen=True)
class Pointed:
    """What the catalog stores now, and the metadata file that was opened, with the one before by its metadata-log."""

    stored: Stored
    metadata_location: str
    previous: str | None

    @property
    def newer(self) -> bool:
        """Whether a commit came after the table was opened."""
        row = self.stored.row
        return row.get("metadata_location", row.get("metadata-location")) != self.metadata_location


def pointer(table: Table) -> Pointed:
    """Ask a table's catalog what it stores of it. Raises NotPossible for a table that no catalog holds, NotSupported,
    TableNotFound."""
    place = table.reader.location
    if place.catalog is None or place.identifier is None:
        raise NotPossible(f"{table.name} was opened by its path: no catalog points to it")
    stored = catalogs.stored(place.catalog, place.identifier, place.properties)
    log = table.metadata.metadata_log
    return Pointed(stored, table.metadata.metadata_location, log[-1].metadata_file if log else None)
