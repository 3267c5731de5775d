"""What the rules ask of an opened table: its manifest lists and entries, streamed, whoever reads them and wherever."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

import pyarrow as pa

from explorer.model.manifest import ManifestFile
from explorer.model.metadata import Snapshot, TableMetadata
from explorer.spec.entries.lazy_table import Batches, Parts
from explorer.spec.entries.manifest_sets import Comparison, Sets

if TYPE_CHECKING:
    from explorer.spec.rows.spilled_rows import RowParts


class Tree(Protocol):
    """The metadata tree below one metadata file. What cannot be read is left out, and noted by who implements this."""

    @property
    def metadata(self) -> TableMetadata:
        """The metadata file at its top."""
        ...

    @property
    def at_once(self) -> int:
        """How many entries a question may hold of each set that it compares; of more, one set is read again."""
        ...

    def manifests(self, snapshot: Snapshot | None) -> list[ManifestFile]:
        """A snapshot's manifest list, in its order; nothing for None, the table before its first snapshot."""
        ...

    def unreadable_in(self, snapshot: Snapshot) -> tuple[bool, list[str]]:
        """Whether a snapshot's manifest list could not be read whole, and the manifests in it that could not."""
        ...

    def ahead(self, snapshots: Iterable[Snapshot] = (), manifests: Iterable[ManifestFile] = ()) -> None:
        """The lists of these snapshots, and these manifests, will be asked for soon, one after the other: who reads may
        fetch them together."""
        ...

    def sizes(self, paths: Iterable[str]) -> Mapping[str, int]:
        """Files' sizes in bytes; those that cannot be asked for are left out."""
        ...

    def stored_entries(
        self, manifests: Sequence[ManifestFile], metrics: bool = False
    ) -> Iterator[tuple[ManifestFile, pa.Table]]:
        """The entries of manifests as stored (model.manifest.ENTRY_SCHEMA), a manifest at a time, in that order;
        `metrics` adds counts and bounds."""
        ...

    def logical(
        self, manifests: Sequence[ManifestFile], snapshot: Snapshot, metrics: bool = False
    ) -> Iterator[tuple[ManifestFile, pa.Table]]:
        """`stored`, with what entries inherit and mean as of a snapshot (spec.entries.entries)."""
        ...

    def read(self, parts: Parts) -> Batches:
        """A table that is made of manifests."""
        ...

    def comparisons(self, sets: Sequence[Sets], by: Sequence[str]) -> Iterator[Comparison]:
        """What spec.entries.manifest_set_diff.compare says of each two sets of manifests."""
        ...

    def in_order(self, rows: Batches, by: Sequence[str]) -> RowParts:
        """All rows in the order of some columns, nulls first, and of those that are the same in them only the last."""
        ...
