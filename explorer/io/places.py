"""Which folders may be read for a table.

- The folder of its metadata file, and the folder above when that one is named `metadata`: the table's own, which
  whoever opened the table, or their catalog, named.
- Unless that is as good as a whole disk or bucket: a local folder with fewer than two names in its path, or a bucket.
  There only `metadata` and `data` are the table's.
- For a table of a catalog also the `location` in its metadata, if that is strictly below the catalog's warehouse, or
  one folder above the table's own, no disk or bucket, and does not hold the warehouse. Whoever writes a table writes
  its location: `/`, `s3://` and other people's folders are not theirs to open.
- For a table opened by path, its location allows nothing: it may have been copied.
- What the caller adds."""

from __future__ import annotations

from collections.abc import Mapping

from explorer.errors import UnreadableFile
from explorer.io.paths import below, canonical, split_store


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
    return [here] if _is_deep(canonical(here)) else [folder, f"{here.rstrip('/')}/metadata", f"{here.rstrip('/')}/data"]


def location_is_own(stated: str, metadata_location: str, properties: Mapping[str, str]) -> bool:
    """Whether the location that a catalog's table states may be read, by the rules above."""
    try:
        where, here = canonical(stated), canonical(table_folder(metadata_location))
        warehouse = canonical(properties["warehouse"]) if "/" in properties.get("warehouse", "") else None
    except UnreadableFile:
        return False
    if not _is_deep(where) or "/" not in (stated[:1], stated.partition(":")[2][:1]):
        return False  # as good as a disk or bucket, or relative to the working folder
    if below(where, here):
        return True
    if warehouse in (None, "/"):
        return here.rsplit("/", 1)[0] == where
    if below(warehouse, where):
        return False
    return below(where, warehouse) or here.rsplit("/", 1)[0] == where


def _is_deep(folder: str) -> bool:
    store, inner = split_store(folder)
    return len([name for name in inner.split("/") if name]) >= (1 if store else 2)
