"""What a scenario says of the table it builds. Names are those of Part 1's figures (docs/texts.md): the manifest that
snapshot-2 added is `manifest-2`, files are `data-1`, `delete-1`... numbered in the order snapshots added them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from explorer.lab.scenarios.workshop import Workshop

Entries = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class ManifestClaim:
    """A manifest: the snapshot (1, 2, ...) that added it, its content, and its stored entries as (status, file)."""

    added_by: int
    entries: Entries
    content: str = "data"


@dataclass(frozen=True)
class SnapshotClaim:
    """One snapshot: its operation, the manifests its list holds (in any order), and how many rows a reader sees.
    `manifests` or `rows` None makes no claim."""

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
        """What it comes from: of which text, and there which figures."""
        if not self.figures[0].isdigit():
            return self.figures.removeprefix("none: ")
        return f"Part 1, fig. {self.figures}"
