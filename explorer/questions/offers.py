"""What can be entered for a parameter that names something of a table."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice
from typing import TYPE_CHECKING, Any

from explorer.questions.parameters import Offer

if TYPE_CHECKING:
    from explorer.table import Table

MOST = 1_000
"""Files that are looked through."""


def offers(kind: Offer, table: Table, text: str = "", most: int = MOST) -> list[str]:
    """Return what can be entered for a parameter.

    Args:
        kind: What its kind offers (parameters.Kind.offer).
        table: The table that the question is about.
        text: What the names begin with.
        most: So many names at most.

    Returns:
        Names that can be shown, snapshots and metadata files from the newest, others in the order of the table.

    Raises:
        ExplorerError: The table's metadata cannot be read.
    """
    names = NAMES.get(kind, lambda _: ())(table)
    return list(islice(dict.fromkeys(name for name in names if name.startswith(text) and name.isprintable()), most))


def _snapshots(table: Table) -> Iterable[str]:
    refs = sorted(table.metadata.refs, key=lambda ref: (ref.name != "main", ref.type, ref.name))
    return [*(ref.name for ref in refs), *reversed([row["snapshot"] for row in table.snapshots])]


def _columns(table: Table) -> Iterable[str]:
    from explorer.storage.rows import read_schema

    return [field.name for field in read_schema(table.metadata, None).fields]


def _files(table: Table) -> Iterable[str]:
    from explorer.spec.text.names import base_name

    return [base_name(row["file_path"]) for row in table.files().select(columns=["file_path"], limit=MOST)]


def _metadata_files(table: Table) -> Iterable[str]:
    from explorer.spec.text.names import base_name

    older = [entry.metadata_file for entry in table.metadata.metadata_log]
    return [base_name(path) for path in (table.metadata.metadata_location, *reversed(older))]


NAMES: dict[str, Callable[[Any], Iterable[str]]] = {
    "snapshots": _snapshots, "columns": _columns, "files": _files, "metadata files": _metadata_files,
}  # fmt: skip
"""What is listed for each kind."""
OF_METADATA: tuple[Offer, ...] = ("snapshots", "columns", "metadata files")
"""Kinds whose names the table's metadata has: no manifest is read for them."""
TOLD = 10
"""Names that a message tells."""


def told_names(kind: Offer, table: Table) -> str:
    """Return the first names of a kind in words, metadata files by their short names; empty where there is none."""
    from explorer.spec.text.names import first_of, metadata_name

    names = offers(kind, table)
    if kind == "metadata files":
        names = [metadata_name(name) or name for name in names]
    return first_of(names, TOLD) if names else ""
