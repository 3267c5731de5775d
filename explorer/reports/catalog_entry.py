"""What a table's catalog stores of it, beside the metadata file that was opened."""

from __future__ import annotations

from collections.abc import Container, Sequence
from itertools import islice
from pathlib import Path

from explorer.errors import ExplorerError, NotPossible, UnreadableFile
from explorer.reports.pointer_recovery import recovery
from explorer.spec.catalogs.entries import CatalogEntry, CatalogRecord, EntryVersion, FileState, KeptVersion
from explorer.spec.doctor.loading import explain_not_loaded
from explorer.spec.text.names import base_name
from explorer.storage import limits
from explorer.storage.allowed_roots import metadata_folder
from explorer.storage.catalogs import catalogs
from explorer.storage.folder_state import state_of_catalog
from explorer.storage.limits import METADATA
from explorer.storage.locate import Location
from explorer.storage.storage import Storage
from explorer.table import Table

FOLDERS = 3
"""Folders that are listed to see which metadata files are there: a table that was moved has two."""


def pointer(table: Table) -> CatalogEntry:
    """Ask a table's catalog what it stores of it. Raises NotPossible for a table that no catalog holds, NotSupported,
    TableNotFound."""
    place, storage = table.reader.location, table.reader.storage
    stored = _ask_catalog(place, table.name)
    log = table.metadata.metadata_log
    previous = log[-1].metadata_file if log else None
    path = table.metadata.metadata_location
    names = file_names(storage, metadata_folder(path))
    state = state_in(names, path)
    return CatalogEntry(
        stored, path, state, previous, place.beside or _in_store(path, names, storage),
        versions=_states(stored.versions, storage),
        recovery=recovery(place, stored, names or [], table.reader.extra_roots) if state == "gone" else None,
        refused=explain_not_loaded(table.metadata),
    )  # fmt: skip


def pointer_alone(place: Location, error: UnreadableFile, roots: Sequence[str] = ()) -> CatalogEntry:
    """The same, of a table whose metadata file cannot be read: why stands in `unreadable`. Raises as `pointer` does."""
    stored = _ask_catalog(place, place.request)
    path, storage = place.metadata_location, _storage_of(place)
    names = file_names(storage, metadata_folder(path))
    state = state_in(names, path)
    way = recovery(place, stored, names or [], roots) if state == "gone" else None
    return CatalogEntry(stored, path, state, None, place.beside, str(error), _states(stored.versions, storage), way)


def _storage_of(place: Location) -> Storage:
    """What reads the metadata folder of a table that does not open."""
    folder = metadata_folder(place.metadata_location)
    return Storage([folder], place.properties, place.given, place.renew, moved=place.relocate)


def file_names(storage: Storage, folder: str) -> list[str] | None:
    """List the files of a folder, local or in a store.

    Args:
        storage: What may read it.
        folder: The folder.

    Returns:
        Their names; None where it cannot be listed.
    """
    try:
        root = storage.folder(folder)
        return storage.names(folder) if root is None else [p.name for p in islice(Path(root).iterdir(), limits.NAMES)]
    except (ExplorerError, OSError):
        return None


def _states(versions: Sequence[EntryVersion], storage: Storage) -> list[KeptVersion]:
    """Say of each version whether its metadata file is there."""
    paths = [version.metadata_location or "" for version in versions]
    folders = list(dict.fromkeys(metadata_folder(path) for path in paths if path))[:FOLDERS]
    listed = {folder: None if (names := file_names(storage, folder)) is None else set(names) for folder in folders}

    return [
        KeptVersion(version, state_in(listed.get(metadata_folder(path)), path))
        for version, path in zip(versions, paths, strict=True)
    ]


def state_in(names: Container[str] | None, path: str) -> FileState:
    """Say whether a file is there.

    Args:
        names: The names in its folder; None where that cannot be listed.
        path: The file.

    Returns:
        Whether it is.
    """
    if names is None:
        return "not known"
    return "there" if base_name(path) in names else "gone"


def _ask_catalog(place: Location, name: str) -> CatalogRecord:
    if place.catalog is None or place.identifier is None:
        raise NotPossible(f"{name} was opened by its path: no catalog points to it")
    return catalogs.read_pointer(place.catalog, place.identifier, place.properties)


def _in_store(path: str, names: Sequence[str] | None, storage: Storage) -> str:
    """What else a folder in a store contains; nothing where it cannot be listed."""
    if names is None or storage.is_local(path):
        return ""
    folder = metadata_folder(path)
    try:
        return state_of_catalog(
            path, names, lambda name: storage.read_through_cache(f"{folder}/{name}", limit=METADATA)
        ).beside
    except UnreadableFile:
        return ""
