"""What a table's catalog stores of it, beside the metadata file that was opened."""

from __future__ import annotations

from dataclasses import dataclass

from explorer.errors import NotPossible, UnreadableFile
from explorer.storage.allowed_roots import metadata_folder
from explorer.storage.catalogs import catalogs
from explorer.storage.catalogs.catalogs import CatalogRecord
from explorer.storage.folder_state import state_of_catalog
from explorer.storage.limits import METADATA
from explorer.storage.locate import Location
from explorer.table import Table


@dataclass(frozen=True)
class CatalogEntry:
    """What the catalog stores now, and the metadata file that was opened, with the one before by its metadata-log.
    `beside` says in a sentence what else its folder contains, if that is worth a word; `unreadable` why the metadata
    file could not be opened."""

    stored: CatalogRecord
    metadata_location: str
    previous: str | None
    beside: str = ""
    unreadable: str = ""

    @property
    def newer(self) -> bool:
        """Whether a commit came after the table was opened."""
        row = self.stored.row
        return row.get("metadata_location", row.get("metadata-location")) != self.metadata_location


def pointer(table: Table) -> CatalogEntry:
    """Ask a table's catalog what it stores of it. Raises NotPossible for a table that no catalog holds, NotSupported,
    TableNotFound."""
    place = table.reader.location
    stored = _ask_catalog(place, table.name)
    log = table.metadata.metadata_log
    previous = log[-1].metadata_file if log else None
    return CatalogEntry(stored, table.metadata.metadata_location, previous, place.beside or _in_store(table))


def pointer_alone(place: Location, error: UnreadableFile) -> CatalogEntry:
    """The same, of a table whose metadata file cannot be read: why stands in `unreadable`. Raises as `pointer` does."""
    return CatalogEntry(_ask_catalog(place, place.request), place.metadata_location, None, place.beside, str(error))


def _ask_catalog(place: Location, name: str) -> CatalogRecord:
    if place.catalog is None or place.identifier is None:
        raise NotPossible(f"{name} was opened by its path: no catalog points to it")
    return catalogs.read_pointer(place.catalog, place.identifier, place.properties)


def _in_store(table: Table) -> str:
    """What else a folder in a store contains; nothing where it cannot be listed."""
    path, storage = table.metadata.metadata_location, table.reader.storage
    if storage.is_local(path):
        return ""
    folder = metadata_folder(path)
    try:
        names = storage.names(folder)
        return state_of_catalog(
            path, names, lambda name: storage.read_through_cache(f"{folder}/{name}", limit=METADATA)
        ).beside
    except UnreadableFile:
        return ""
