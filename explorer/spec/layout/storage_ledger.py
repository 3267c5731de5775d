"""The ledger of a table's storage: groups of files that add up, what frees them, and the answer in a sentence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from explorer.spec.layout.stored_files import GROUPS, StorageGroup
from explorer.spec.text.units import count, human_bytes

By = Literal["", "partition", "month"]
GIB = 1 << 30


@dataclass(frozen=True)
class LedgerLine:
    """Files of one group and kind."""

    group: StorageGroup
    kind: str
    files: int
    bytes: int


@dataclass(frozen=True)
class Cleanup:
    """How the bytes of a group are freed.

    Attributes:
        words: What is to be known of the group, a sentence each.
        statement: What frees bytes of it; empty where nothing does, or must not be run.
        frees: How many bytes the statement frees.
    """

    words: tuple[str, ...] = ()
    statement: str = ""
    frees: int = 0


@dataclass(frozen=True)
class LedgerGroup:
    """A group of files.

    Attributes:
        group: Its name.
        title: What it is called.
        lines: Its files by kind, the most bytes first.
        cleanup: How its bytes are freed.
    """

    group: StorageGroup
    title: str
    lines: tuple[LedgerLine, ...]
    cleanup: Cleanup = Cleanup()

    @property
    def files(self) -> int:
        """Files of all lines."""
        return sum(line.files for line in self.lines)

    @property
    def bytes(self) -> int:
        """Bytes of all lines."""
        return sum(line.bytes for line in self.lines)


@dataclass(frozen=True)
class StorageLedger:
    """Where the bytes of a table are. Each file is in one group, so that the groups but `missing` add up to all bytes
    in the `folders` and what metadata names elsewhere.

    Attributes:
        folders: The folders that were listed.
        groups: Those that have files.
        elsewhere: Files and bytes that metadata names outside these folders.
        snapshots: A row for each older snapshot: what only goes with it.
        origins: A row for each likely origin of files that nothing names, and kind of them.
        parts: A row for each partition or month.
        notes: What could not be told, a sentence each.
        price: What a GiB costs in a month; None where nobody said.
    """

    folders: tuple[str, ...]
    groups: tuple[LedgerGroup, ...]
    elsewhere: tuple[int, int]
    snapshots: tuple[Mapping[str, Any], ...]
    origins: tuple[Mapping[str, Any], ...]
    parts: tuple[Mapping[str, Any], ...]
    notes: tuple[str, ...]
    price: float | None = None

    @property
    def stored(self) -> list[LedgerGroup]:
        """The groups of files that are there."""
        return [group for group in self.groups if group.group != "missing"]

    @property
    def files(self) -> int:
        """Files that are there."""
        return sum(group.files for group in self.stored)

    @property
    def bytes(self) -> int:
        """Bytes that are there."""
        return sum(group.bytes for group in self.stored)

    def of(self, group: StorageGroup) -> LedgerGroup:
        """Return a group; one without files has no lines."""
        return next((one for one in self.groups if one.group == group), LedgerGroup(group, GROUPS[group], ()))

    def cost(self, size: int) -> float | None:
        """Return what so many bytes cost in a month, as `price` is; None where nobody said."""
        return None if self.price is None else round(size / GIB * self.price, 2)


def sentence(ledger: StorageLedger) -> str:
    """Say how much is stored, and how much of it the current snapshot reads."""
    data = sum(line.bytes for line in ledger.of("current").lines if line.kind == "data files")
    share = data / ledger.bytes if ledger.bytes else 0.0
    outside = f", {human_bytes(ledger.elsewhere[1])} of them outside the table's folder" if ledger.elsewhere[0] else ""
    least = "at least " if ledger.notes else ""
    return (
        f"{count(ledger.files, 'file')} take {human_bytes(ledger.bytes)}{outside}. The data files of the current "
        f"snapshot are {least}{human_bytes(data)} of that, {least}{share:.1%}."
    )
