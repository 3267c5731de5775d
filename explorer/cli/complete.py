"""What a shell offers for tables, snapshots, columns, files and refs. Whatever fails offers nothing. Nor is a name
offered that a shell takes for more than a word: bash puts it into the command line as it is, and a stranger may have
named a branch `$(…)`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress

import click

from explorer.questions.parameters import Offer, TableAt

Completer = Callable[[click.Context, click.Parameter, str], list[str]]


def tables(_: click.Context, __: click.Parameter, begun: str) -> list[str]:
    """Offer the tables of the sandbox; paths are the shell's own business."""

    def names() -> Iterable[str]:
        from explorer.storage.catalogs.catalogs import tables

        return [table.identifier for table in tables()]

    return [] if "/" in begun else _beginning(begun, names)


def values(offer: Offer) -> Completer | None:
    """Return what offers values of a kind, from the table that the command names; None for a kind that has none."""
    from explorer.questions.offers import NAMES, offers

    if offer not in NAMES:
        return None

    def complete(context: click.Context, _: click.Parameter, begun: str) -> list[str]:
        name = context.params.get("subject")
        if not name:
            return []
        return _beginning(begun, lambda: offers(offer, TableAt(name, context.params.get("catalog")).open(), begun))

    return complete


def _beginning(begun: str, names: Callable[[], Iterable[str]]) -> list[str]:
    from explorer.errors import ExplorerError
    from explorer.spec.text.names import ONE_WORD

    with suppress(ExplorerError, OSError):
        return sorted({name for name in names() if name.startswith(begun) and ONE_WORD.fullmatch(name)})
    return []
