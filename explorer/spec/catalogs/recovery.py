"""What to do when a catalog points to a metadata file that is gone: the newest other one that is whole, what going back
to it loses, and how the catalog is made to point to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class SkippedFile:
    """A metadata file that is no way back, and why."""

    metadata_location: str
    reason: str


@dataclass(frozen=True)
class LostSnapshot:
    """A snapshot that going back loses: data files and rows that it added and removed, by the manifest list that is
    left of it, or by its summary in a newer metadata file that is no way back. None is not known."""

    snapshot_id: int
    added_files: int | None
    added_rows: int | None
    removed_files: int | None
    removed_rows: int | None


@dataclass(frozen=True)
class WayBack:
    """The newest metadata file that is whole: its manifest lists and manifests are there.

    Args:
        metadata_location: The file.
        evidence: In a sentence, what says that it is of the history of the file that is gone.
        updated_ms: When it was written.
        snapshot_id: Its current snapshot.
        rows: The rows of that, by its summary.
        is_later: Whether it is of a commit after the file that is gone: then nothing is lost.
        lost: The snapshots that are lost, the oldest first.
        unread: Manifest lists that were not looked at for lost snapshots.
    """

    metadata_location: str
    evidence: str
    updated_ms: int | None
    snapshot_id: int | None
    rows: int | None
    is_later: bool
    lost: Sequence[LostSnapshot] = ()
    unread: int = 0


@dataclass(frozen=True)
class Recovery:
    """The way back, if there is one; the newer files that are none; and how the catalog is made to point to it.

    Args:
        way: The way back.
        skipped: Metadata files that are none.
        unread: Metadata files that were not looked at.
        statement: What makes the catalog point to it, line by line; empty where none is known to work.
        language: What the statement is written in.
        advice: What to do in words, and what to know before.
    """

    way: WayBack | None
    skipped: Sequence[SkippedFile] = ()
    unread: int = 0
    statement: Sequence[str] = ()
    language: str = ""
    advice: str = ""
