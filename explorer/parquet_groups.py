"""Which row groups of one Parquet file a reader skips, from what the file holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from explorer.core.chunk_tests import Part, Unread
from explorer.core.expressions import BoundTerm, Expression, predicates
from explorer.core.row_diff import named_fields
from explorer.core.row_groups import GroupVerdict, row_groups
from explorer.core.schema_fields import named_kinds
from explorer.core.stored_types import TypeDifference, type_differences
from explorer.io.chunks import read_parts
from explorer.metadata_tree import MetadataTree
from explorer.model.metadata import Schema
from explorer.model.problem import Problem


def row_groups_of_file(tree: MetadataTree, path: str, residual: Expression, schema: Schema) -> list[GroupVerdict]:
    """Judge the row groups of one Parquet file by its footer, dictionaries, bloom filters and page indexes.

    Args:
        tree: The table's metadata tree; what cannot be read of a row group is noted there.
        path: The file.
        residual: What must still be asked of the file's rows.
        schema: The schema that the filter was bound to.

    Returns:
        A verdict for each row group, in order.

    Raises:
        UnreadableFile: The footer cannot be read.
    """
    fields = named_fields(schema.raw["fields"]).values()
    defaults = {field["id"]: field.get("initial-default") for field in fields}
    asked = {p.term.column.field_id for p in predicates(residual) if isinstance(p.term, BoundTerm)}
    footer = tree.reader.parquet_footer(path, sorted(asked), as_read=True)
    return row_groups(residual, path, footer, partial(_parts, tree, path, footer), defaults)


def misread_columns(tree: MetadataTree, path: str, schema: Schema) -> dict[str, TypeDifference]:
    """Find the columns of a Parquet file that Spark takes for other values than the file has.

    Args:
        tree: The table's metadata tree.
        path: The file.
        schema: The schema under which it is read.

    Returns:
        How their types differ from the spec's, by their names.

    Raises:
        UnreadableFile: The footer cannot be read.
    """
    columns = tree.reader.parquet_footer(path, as_read=True)["columns"]
    return {name: d for name, d in type_differences(columns, named_kinds(schema)) if d.misread}


def _parts(
    tree: MetadataTree, path: str, footer: Mapping[str, Any], part: Part, chunks: Sequence[tuple[int, int]]
) -> Iterator[Any]:
    for (group, column), parts_of in zip(
        chunks, read_parts(tree.reader.storage, path, part, chunks, footer), strict=True
    ):
        if isinstance(parts_of, Unread):
            where = f"row group {group}, {part} of {footer['columns'][column]['path']}"
            tree.note([Problem(path, parts_of.cause, where, unaffected="the row group is kept")])
        yield parts_of
