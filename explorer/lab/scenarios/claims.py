"""What a scenario claims of its table. Names are those of the figures in Part 1 (docs/texts.md): `manifest-2` is the
manifest that snapshot-2 added. Files are `data-1`, `delete-1`..., in the order in which snapshots added them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from explorer.lab.scenarios.workshop import Workshop

PART_1 = "Jack Vanlightly, Understanding Apache Iceberg's Consistency Model, Part 1"
"""The text whose figures most teaching tables reproduce (docs/texts.md)."""
ClaimedEntries = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class ManifestClaim:
    """A manifest: the snapshot (1, 2, ...) that added it, its content, and its stored entries as (status, file)."""

    added_by: int
    entries: ClaimedEntries
    content: str = "data"


@dataclass(frozen=True)
class SnapshotClaim:
    """One snapshot: its operation, the manifests of its list (in any order), and the number of visible rows. If
    `manifests` or `rows` is None, there is no claim about them."""

    operation: str
    manifests: tuple[ManifestClaim, ...] | None = None
    rows: int | None = None


@dataclass(frozen=True)
class Scenario:
    """A teaching table. `figures` are those of Part 1, else what it comes from (docs/texts.md); `build` makes the
    commits; everything else is claimed.

    `counts` are claims on the current snapshot by name: data_files, delete_files, manifests, partitions, specs,
    schemas, snapshots, metadata_files. `rows` are the current rows, in any order. `refs` map names to snapshot
    numbers."""

    name: str
    teaches: str
    figures: str
    build: Callable[[Workshop], None]
    format_version: int = 2
    snapshots: tuple[SnapshotClaim, ...] = ()
    rows: tuple[tuple[Any, ...], ...] | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    refs: Mapping[str, int] | None = None
    current: int | None = None

    @property
    def source(self) -> str:
        """The text that it comes from, and the figures there."""
        if not self.figures[0].isdigit():
            return self.figures.removeprefix("none: ")
        return f"Part 1, fig. {self.figures}"
