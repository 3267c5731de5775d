"""Find a metadata file that a person names: in the table's log, or beside it in the folder."""

from __future__ import annotations

from explorer.errors import NotFoundInTable
from explorer.model.metadata import TableMetadata
from explorer.queries.metadata_tree import MetadataTree, named_metadata
from explorer.queries.orphans import METADATA_ENDINGS, files_beside, place_of
from explorer.spec.text.names import base_name, first_of


def find_metadata(tree: MetadataTree, name: str | None) -> TableMetadata:
    """Find a metadata file of a table's log or, if it has none of that name, of the folders of its metadata.

    Args:
        tree: The table's.
        name: The file's path, the end of it, its version number, or its name as shown (metadata-3); None: the current
            one.

    Raises:
        NotFoundInTable: There is no such file, or several are called so.
        UnreadableFile: It cannot be read.
    """
    try:
        return tree.find_metadata(name)
    except NotFoundInTable as missing:
        there = sorted(path for path in files_beside(tree) if path.lower().endswith(METADATA_ENDINGS))
        asked = place_of(tree, str(name))
        matching_paths = named_metadata(there, name) or [path for path in there if place_of(tree, path) == asked]
        if len(matching_paths) == 1:
            return tree.metadata_file(matching_paths[0])
        names = [base_name(path) for path in matching_paths or there]
        if matching_paths:
            raise NotFoundInTable(f"several metadata files of the folder are {name!r}: {first_of(names)}") from missing
        raise NotFoundInTable(
            f"{missing}, and the folder has {first_of(names)}" if names else str(missing)
        ) from missing


def is_in_log(metadata: TableMetadata, path: str) -> bool:
    """Return whether a metadata file is the opened one, or in its log."""
    return path in (metadata.metadata_location, *(entry.metadata_file for entry in metadata.metadata_log))
