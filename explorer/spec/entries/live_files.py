"""Data and delete files as readers of one snapshot see them."""

from __future__ import annotations

from abc import abstractmethod
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from typing import Any, TypeVar, overload

import pyarrow as pa
import pyarrow.compute as pc

from explorer.model.manifest import FileKind, ManifestFile, file_kind
from explorer.spec.entries.entries import LIVE
from explorer.spec.values.values import row_dicts

T = TypeVar("T")
PartitionPlace = tuple[int, tuple[tuple[str, Any], ...]]
"""Spec and partition."""
_NONE: Mapping[int, Any] = {}
"""The counts and bounds of files without any."""


def place(spec_id: int, partition: Mapping[str, Any]) -> PartitionPlace:
    """Spec and partition, to be looked up by."""
    return spec_id, tuple(sorted(partition.items()))


@dataclass(frozen=True, slots=True)
class LiveFile:
    """A live data or delete file as readers of one snapshot see it; `partition` has partition field ids as keys."""

    path: str
    kind: FileKind
    spec_id: int
    partition: Mapping[str, Any]
    sequence_number: int | None
    file_sequence_number: int | None
    record_count: int
    size: int
    manifest_path: str
    file_format: str = "PARQUET"
    equality_ids: tuple[int, ...] = ()
    referenced_data_file: str | None = None
    content_offset: int | None = None
    content_size: int | None = None
    first_row_id: int | None = None
    lower: Mapping[int, bytes] = field(default_factory=lambda: _NONE)
    upper: Mapping[int, bytes] = field(default_factory=lambda: _NONE)
    nulls: Mapping[int, int] = field(default_factory=lambda: _NONE)
    nans: Mapping[int, int] = field(default_factory=lambda: _NONE)
    values: Mapping[int, int] = field(default_factory=lambda: _NONE)

    @property
    def key(self) -> tuple[str, int | None]:
        """Path, and the offset of a deletion vector's blob."""
        return self.path, self.content_offset

    @property
    def at(self) -> str:
        """Where a deletion vector is in its file, in words; empty where that is not told, and of other files."""
        return "" if self.content_offset is None else f" at {self.content_offset}"

    @property
    def bytes(self) -> int:
        """Bytes it takes: of a deletion vector only its blob."""
        return self.size if self.content_size is None else self.content_size

    @property
    def place(self) -> PartitionPlace:
        """Spec and partition: what must be the same."""
        return place(self.spec_id, self.partition)


def read_alike(manifest: ManifestFile) -> tuple[str, int, int, int | None]:
    """What the live files of a manifest depend on: they are the same in all snapshots that list it so. A table that
    becomes version 3 gives row ids to manifests that it had before."""
    return manifest.manifest_path, manifest.content, manifest.sequence_number, manifest.first_row_id


def live_files(entries: pa.Table, spec_id: int, manifest_path: str) -> list[LiveFile]:
    """The live files of one manifest's logical entries (see spec.entries.entries), bounds and counts too where they are
    there."""
    return files_of(entries, spec_id, manifest_path, LIVE)


def files_of(entries: pa.Table, spec_id: int, manifest_path: str, statuses: Sequence[str]) -> list[LiveFile]:
    """The files of the entries with one of these logical statuses."""
    files = []
    for row in row_dicts(entries.filter(pc.is_in(entries["logical_status"], pa.array(statuses, pa.string())))):
        kind = file_kind(row["content"] or 0, row["file_format"] or "")
        files.append(
            LiveFile(
                path=row["file_path"], kind=kind, spec_id=spec_id, partition=row["partition"] or {},
                sequence_number=row["inherited_sequence_number"],
                file_sequence_number=row["inherited_file_sequence_number"],
                record_count=row["record_count"] or 0, size=row["file_size_in_bytes"] or 0, manifest_path=manifest_path,
                file_format=(row["file_format"] or "").upper(), equality_ids=tuple(row["equality_ids"] or ()),
                referenced_data_file=row["referenced_data_file"], content_offset=row["content_offset"],
                content_size=row["content_size_in_bytes"], first_row_id=row["inherited_first_row_id"],
                lower=_map(row.get("lower_bounds")), upper=_map(row.get("upper_bounds")),
                nulls=_map(row.get("null_value_counts")), nans=_map(row.get("nan_value_counts")),
                values=_map(row.get("value_counts")),
            )
        )  # fmt: skip
    return files


def _map(pairs: Any) -> Mapping[int, Any]:
    return dict(pairs) if pairs else _NONE


MADE = 1_000
"""So many items are made at a time when all are gone through."""


class LazySequence(Sequence[T]):
    """A sequence whose items are made as they are asked for."""

    @abstractmethod
    def take(self, indices: Sequence[int]) -> list[T]:
        """The items in these places, in that order."""

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> list[T]: ...
    def __getitem__(self, index: int | slice) -> T | list[T]:
        if isinstance(index, slice):
            return self.take(range(*index.indices(len(self))))
        if not -len(self) <= index < len(self):
            raise IndexError(f"item {index} of {len(self)}")
        return self.take([index % len(self)])[0]

    def __iter__(self) -> Iterator[T]:
        for start in range(0, len(self), MADE):
            yield from self[start : start + MADE]


class LiveFiles(LazySequence[LiveFile]):
    """The live files of several manifests, in order, made as they are asked for.

    `read` makes the files of each manifest, in order, `pick` those in some places of one; `counts` says how many each
    has, and `paths` names all files without making them."""

    def __init__(
        self,
        read: Callable[[], Iterator[Sequence[LiveFile]]],
        pick: Callable[[int, Sequence[int]], Sequence[LiveFile]],
        counts: Callable[[], Sequence[int]],
        paths: Callable[[], Iterable[str]],
    ) -> None:
        self._read, self._pick, self._counts, self.paths = read, pick, counts, paths

    @classmethod
    def of(cls, files: Sequence[LiveFile]) -> LiveFiles:
        """Files that are made already."""
        return cls(
            lambda: iter([files]),
            lambda _, places: [files[i] for i in places],
            lambda: [len(files)],
            lambda: (file.path for file in files),
        )

    def with_counts(self, counts: Sequence[int]) -> LiveFiles:
        """The same files, of which it is known how many each manifest has."""
        return LiveFiles(self._read, self._pick, lambda: counts, self.paths)

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *accumulate(self._counts())]

    def __len__(self) -> int:
        return self._starts[-1]

    def take(self, indices: Sequence[int]) -> list[LiveFile]:
        """The files in these places, in that order."""
        places: dict[int, list[int]] = {}
        for index in indices:
            places.setdefault(bisect_right(self._starts, index) - 1, []).append(index)
        by_index: dict[int, LiveFile] = {}
        for at, own_indices in places.items():
            by_index |= zip(
                own_indices, self._pick(at, [index - self._starts[at] for index in own_indices]), strict=True
            )
        return [by_index[index] for index in indices]

    def __iter__(self) -> Iterator[LiveFile]:
        for files in self._read():
            yield from files
