"""What a shell offers for tables, snapshots, columns, files and refs. Whatever fails offers nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import click

from explorer.questions.parameters import Offer, TableAt

if TYPE_CHECKING:
    from explorer.table import Table

Completer = Callable[[click.Context, click.Parameter, str], list[str]]


def tables(_: click.Context, __: click.Parameter, begun: str) -> list[str]:
    """Offer the tables of the sandbox; paths are the shell's own business."""

    def names() -> Iterable[str]:
        from explorer.storage.catalogs.catalogs import tables

        return [table.identifier for table in tables()]

    return [] if "/" in begun else _beginning(begun, names)


def values(offer: Offer) -> Completer | None:
    """Return what offers values of a kind, from the table that the command names; None for a kind that has none."""
    if offer not in _NAMES:
        return None

    def complete(context: click.Context, _: click.Parameter, begun: str) -> list[str]:
        name = context.params.get("subject")
        if not name:
            return []
        return _beginning(begun, lambda: _NAMES[offer](TableAt(name, context.params.get("catalog")).open()))

    return complete


def _beginning(begun: str, names: Callable[[], Iterable[str]]) -> list[str]:
    from explorer.errors import ExplorerError

    with suppress(ExplorerError, OSError):
        return sorted({name for name in names() if name.startswith(begun) and name.isprintable()})
    return []


def _snapshots(table: Table) -> Iterable[str]:
    return [*(row["snapshot"] for row in table.snapshots), *_refs(table)]


def _refs(table: Table) -> Iterable[str]:
    return [ref.name for ref in table.metadata.refs]


def _columns(table: Table) -> Iterable[str]:
    from explorer.storage.rows import read_schema

    return [field.name for field in read_schema(table.metadata, None).fields]


def _files(table: Table) -> Iterable[str]:
    from explorer.spec.text.names import base_name

    return [base_name(row["file_path"]) for row in table.files().select(columns=["file_path"], limit=MOST)]


MOST = 1_000
"""Files that are looked through."""
_NAMES: dict[str, Callable[[Any], Iterable[str]]] = {
    "snapshots": _snapshots, "refs": _refs, "columns": _columns, "files": _files,
}  # fmt: skip
