"""Which folders may be read for a table.

- The folder of its metadata file, and the folder above when that one is named `metadata`, and the folder that was
  opened: the table's own, which whoever opened the table, or their catalog, named.
- Unless that is as good as a whole disk or bucket: a local folder with fewer than two names in its path, or a bucket.
  There only `metadata` and `data` are the table's.
- For a table of a catalog also the `location` in its metadata, if that is strictly below the catalog's warehouse, or
  one folder above the table's own, no disk or bucket, and does not hold the warehouse. Whoever writes a table writes
  its location: `/`, `s3://` and other people's folders are not theirs to open.
- And what its properties say of where data and metadata are written (`write.data.path` and its like), if that is
  strictly below the catalog's warehouse.
- For a table opened by path, these allow nothing: it may have been copied.
- What the caller adds, as roots or as the new places of what was moved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from explorer.errors import UnreadableFile
from explorer.model.problem import Problem
from explorer.storage.paths import below, canonical, move_path, normal_path, split_store

if TYPE_CHECKING:
    from explorer.model.metadata import TableMetadata

METADATA_PATH = "write.metadata.path"
PATHS = ("write.data.path", METADATA_PATH, "write.object-storage.path", "write.folder-storage.path")
"""Properties that say where a table's files are written; the last two are older names of the first."""


@dataclass(frozen=True)
class Whereabouts:
    """`folders` may be read. `moved` are (place that metadata names, where it is). `refused` are (what names it, folder
    of the metadata's that may not be read)."""

    folders: tuple[str, ...]
    moved: tuple[tuple[str, str], ...]
    refused: tuple[tuple[str, str], ...]
    problems: tuple[Problem, ...]


class TablePlace(Protocol):
    """Where a table was found (see storage.locate.Location)."""

    @property
    def metadata_location(self) -> str: ...
    @property
    def properties(self) -> Mapping[str, str] | None: ...
    @property
    def relocate(self) -> tuple[tuple[str, str], ...]: ...
    @property
    def folder(self) -> str: ...
    @property
    def catalog(self) -> str | None: ...


def whereabouts(metadata: TableMetadata, location: TablePlace) -> Whereabouts:
    """Where the files of a table are, by the rules above."""
    path, properties = location.metadata_location, location.properties or {}
    here = table_folder(path)
    moved = [*location.relocate]
    folders = [*own_folders(path), *(new for _, new in moved)]
    if location.folder and not _inside(location.folder, here):
        folders += _own(location.folder)
    refused: list[tuple[str, str]] = []
    problems: list[Problem] = []
    stated, named = move_path(metadata.location, moved), metadata.properties
    metadata_path = move_path(str(named.get(METADATA_PATH, "")), moved)

    def tell(cause: str, fix: str, severity: str) -> None:
        rule = "copied-or-edited" if severity == "info" else "path-outside"
        problems.append(Problem(path, cause, "/location", fix, severity, rule))  # type: ignore[arg-type]

    if not stated or _same_place(stated, here):
        if stated and not split_store(normal_path(stated))[0] and not normal_path(stated).startswith("/"):
            moved.append((normal_path(stated), here))  # relative to the working folder of whoever reads
    elif any(_inside(stated, new) for _, new in moved):
        pass  # the user said where it is
    elif location.catalog is not None:
        if location_is_own(stated, path, properties):
            folders.append(stated)
        else:
            refused.append(("location", stated))
            cause = f"the table says it lives at {stated}, which is no folder of its own: nothing is read there"
            tell(cause, "add it as a root if its files are to be read", "warning")
    elif location.folder and _same_place(stated, location.folder):
        pass  # its metadata is elsewhere than usual, in the folder that was named
    elif _same_place(metadata_path, metadata_folder(path)) or _is_where_it_was_written(metadata, moved):
        refused.append(("location", stated))
        cause = f"the table keeps its metadata here, and says that it lives at {stated}: nothing is read there"
        tell(cause, "add that as a root if its files are to be read", "warning")
    else:
        moved.append((normal_path(stated), here))
        cause = f"opened from {here}, but the table says it lives at {stated}: copied or edited"
        tell(cause, "paths below it are read from the copy", "info")
    for name in PATHS:
        written = move_path(str(named.get(name, "")), moved)
        if not written or any(_inside(written, folder) for folder in folders):
            continue
        if location.catalog is not None and _in_warehouse(written, properties):
            folders.append(written)
        else:
            refused.append((name, written))
    return Whereabouts(tuple(folders), tuple(moved), tuple(refused), tuple(problems))


def _is_where_it_was_written(metadata: TableMetadata, moved: Sequence[tuple[str, str]]) -> bool:
    """Whether the metadata's own paths say that it is kept in the folder that it was read from."""
    here = metadata_folder(metadata.metadata_location)
    current = metadata.current_snapshot
    paths = [entry.metadata_file for entry in metadata.metadata_log[-1:]]
    paths += [current.manifest_list] if current is not None and current.manifest_list else []
    return bool(paths) and all(_same_place(metadata_folder(move_path(path, moved)), here) for path in paths)


def _same_place(one: str, other: str) -> bool:
    return _inside(one, other) and _inside(other, one)


def _inside(path: str, folder: str) -> bool:
    try:
        return below(canonical(path), canonical(folder))
    except UnreadableFile:
        return False


def metadata_folder(metadata_location: str) -> str:
    """The folder of a metadata file."""
    return metadata_location.rsplit("/", 1)[0] or "/"


def table_folder(metadata_location: str) -> str:
    """The folder that a table has, to judge by where its metadata file is."""
    folder = metadata_folder(metadata_location)
    return (folder.rsplit("/", 1)[0] or "/") if folder.rsplit("/", 1)[-1] == "metadata" else folder


def own_folders(metadata_location: str) -> list[str]:
    """What may be read without looking into the metadata file."""
    folder, here = metadata_folder(metadata_location), table_folder(metadata_location)
    return _own(here) if _is_deep(canonical(here)) else [folder, *_own(here)]


def _own(folder: str) -> list[str]:
    """What may be read of a table's folder."""
    return (
        [folder] if _is_deep(canonical(folder)) else [f"{folder.rstrip('/')}/{name}" for name in ("metadata", "data")]
    )


def location_is_own(stated: str, metadata_location: str, properties: Mapping[str, str]) -> bool:
    """Whether the location that a catalog's table states may be read, by the rules above."""
    if not _is_whole(stated):
        return False
    where, here, warehouse = canonical(stated), canonical(table_folder(metadata_location)), _warehouse(properties)
    if below(where, here):
        return True
    if warehouse is not None and below(warehouse, where):
        return False
    return _in_warehouse(stated, properties) or here.rsplit("/", 1)[0] == where


def _in_warehouse(folder: str, properties: Mapping[str, str]) -> bool:
    """Whether a folder is strictly below a catalog's warehouse."""
    warehouse = _warehouse(properties)
    if warehouse is None or not _is_whole(folder):
        return False
    where = canonical(folder)
    return where != warehouse and below(where, warehouse)


def _warehouse(properties: Mapping[str, str]) -> str | None:
    """A catalog's warehouse; None where it has none, or the whole disk."""
    try:
        warehouse = canonical(properties["warehouse"]) if "/" in properties.get("warehouse", "") else "/"
    except UnreadableFile:
        return None
    return None if warehouse == "/" else warehouse


def _is_whole(folder: str) -> bool:
    """Whether a folder is neither as good as a disk or bucket, nor relative to the working folder, nor no path."""
    try:
        return _is_deep(canonical(folder)) and "/" in (folder[:1], folder.partition(":")[2][:1])
    except UnreadableFile:
        return False


def _is_deep(folder: str) -> bool:
    store, inner = split_store(folder)
    return len([name for name in inner.split("/") if name]) >= (1 if store else 2)
