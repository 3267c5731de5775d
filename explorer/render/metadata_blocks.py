"""Parts of a page that shows metadata files."""

from __future__ import annotations

from collections.abc import Sequence

from explorer.model.metadata import TableMetadata
from explorer.render.blocks import Block, JsonTree, Link, LinkList, Text
from explorer.render.rows import metadata_json
from explorer.spec.text.names import base_name


def metadata_blocks(metadata: TableMetadata) -> Sequence[Block]:
    """A metadata file as a tree, and where the one before it leads."""
    tree = JsonTree(metadata_json(metadata), base_name(metadata.metadata_location))
    if not metadata.metadata_log:
        return (tree,)
    older = metadata.metadata_log[-1].metadata_file
    return LinkList((Link("Compare with the one before", "question", "history metadata", {"older": older}),)), tree


def metadata_change_blocks(older: TableMetadata, newer: TableMetadata, words: tuple[str, ...]) -> Sequence[Block]:
    """What changed in words, and both metadata files beside each other."""
    names = (base_name(one.metadata_location) for one in (newer, older))
    title, older_title = names
    return Text(words), JsonTree(metadata_json(newer), title, metadata_json(older), older_title)
