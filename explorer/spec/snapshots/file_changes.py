"""The files that one of two snapshots reads and the other does not, in columns; an object of each is made as it is
asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from explorer.model.manifest import FileKind, ManifestFile, file_kind
from explorer.model.metadata import TableMetadata
from explorer.spec.entries.entries import WORDS
from explorer.spec.entries.live_files import LazySequence
from explorer.spec.entries.numpy_columns import Ints, amounts
from explorer.spec.rows.spilled_rows import RowParts
from explorer.spec.values.values import partition_dicts, partition_path

ChangeKey = tuple[str, int | None, int | None]
"""A file as readers know it: path, and for deletion vectors content offset and size."""
CHANGES = pa.schema(
    [
        ("file_path", pa.string()), ("kind", WORDS), ("record_count", pa.int64()),
        ("file_size_in_bytes", pa.int64()), ("spec_id", pa.int32()), ("partition", WORDS),
        ("content_offset", pa.int64()), ("content_size_in_bytes", pa.int64()), ("manifest_path", WORDS),
    ]
)  # fmt: skip
"""FileChanges as rows."""
TOLD = 20
"""Of so many the representation tells."""


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file that one side reads and the other does not. `kind` is what file_kind says of it."""

    file_path: str
    kind: FileKind
    record_count: int | None
    file_size_in_bytes: int | None
    spec_id: int
    partition: str
    content_offset: int | None
    content_size_in_bytes: int | None
    manifest_path: str

    @property
    def key(self) -> ChangeKey:
        """What identifies it."""
        return (self.file_path, self.content_offset, self.content_size_in_bytes)

    @property
    def bytes(self) -> int | None:
        """Bytes it takes: of a deletion vector only its blob."""
        return self.content_size_in_bytes if self.content_size_in_bytes is not None else self.file_size_in_bytes


class FileChanges(LazySequence[FileChange]):
    """Files by path: rows of CHANGES, all of them or those in some places, as a sequence of FileChange."""

    def __init__(self, rows: RowParts, places: Ints | None = None) -> None:
        self._rows, self._places = rows, places

    @classmethod
    def of(cls, changes: Sequence[FileChange]) -> FileChanges:
        """Of files that are made already."""
        rows = [{name: getattr(change, name) for name in CHANGES.names} for change in changes]
        return cls(RowParts.of(pa.Table.from_pylist(rows, CHANGES)))

    def __len__(self) -> int:
        return len(self._rows) if self._places is None else len(self._places)

    def take(self, indices: Sequence[int]) -> list[FileChange]:
        """The files in these places, in that order."""
        return [FileChange(**row) for row in self.rows(indices).to_pylist()]

    def rows(self, indices: Sequence[int]) -> pa.Table:
        """The rows in these places, in that order."""
        at = np.asarray(indices, np.int64)
        return self._rows.take(at if self._places is None else self._places[at])

    def parts(self, rows: int = 1_000) -> Iterator[pa.Table]:
        """All rows, so many at a time."""
        return (self.rows(range(at, min(at + rows, len(self)))) for at in range(0, len(self), rows))

    def of_content(self, deletes: bool) -> FileChanges:
        """The data files, or delete files and vectors."""
        kinds, codes = self._words("kind")
        return self._at(np.flatnonzero(np.array([(kind != "data_file") == deletes for kind in kinds], bool)[codes]))

    def by_manifest(self) -> dict[str, FileChanges]:
        """The files of each manifest that names some."""
        paths, codes = self._words("manifest_path")
        order = np.argsort(codes, kind="stable")
        ends = np.cumsum(np.bincount(codes, minlength=len(paths))).tolist()
        places = zip(paths, [0, *ends], ends, strict=False)
        return {path: self._at(order[start:end]) for path, start, end in places if end > start}

    def sums(self) -> dict[str, tuple[int, int, int]]:
        """Of each partition: files, rows of data files, and bytes."""
        partitions, codes = self._words("partition")
        kinds, kind = self._words("kind")
        data = np.array([k == "data_file" for k in kinds], bool)[kind]
        rows = self._amounts(lambda part: part["record_count"]) * data
        sizes = self._amounts(lambda part: pc.coalesce(part["content_size_in_bytes"], part["file_size_in_bytes"]))
        columns = [np.ones(len(self), np.int64), rows, sizes]
        added = np.zeros((len(columns), len(partitions)), np.int64)
        for sums, column in zip(added, columns, strict=True):
            np.add.at(sums, codes, column)
        return dict(zip(partitions, zip(*added.tolist(), strict=True), strict=True))

    def _at(self, indices: Ints) -> FileChanges:
        return FileChanges(self._rows, indices if self._places is None else self._places[indices])

    def _words(self, name: str) -> tuple[list[str], npt.NDArray[np.int32]]:
        """The words of a column, and which of them each file has."""
        values: dict[str, int] = {}
        codes = [np.zeros(0, np.int32)]
        for part in (chunk for rows in self._rows.read() for chunk in rows[name].chunks):
            numbers = [values.setdefault(word, len(values)) for word in part.dictionary.to_pylist()]
            codes.append(np.array(numbers, np.int32)[part.indices.to_numpy()])
        all_codes = np.concatenate(codes)
        return list(values), all_codes if self._places is None else all_codes[self._places]

    def _amounts(self, column: Callable[[pa.Table], pa.ChunkedArray]) -> Ints:
        numbers = np.concatenate([np.zeros(0, np.int64), *(amounts(column(part)) for part in self._rows.read())])
        return numbers if self._places is None else numbers[self._places]

    def __eq__(self, other: object) -> bool:
        """As a tuple of the same files."""
        if not isinstance(other, Sequence):
            return NotImplemented
        return self is other or (len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True)))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        more = [f"… {len(self) - TOLD:,} more"] if len(self) > TOLD else []
        return f"({', '.join([*map(repr, self[:TOLD]), *more])})"

    def __reduce__(self) -> Any:
        return FileChanges, (self._rows, self._places)


def file_change_rows(metadata: TableMetadata, manifest: ManifestFile, entries: pa.Table) -> pa.Table:
    """The files of some stored entries of a manifest, as CHANGES."""
    codes, partitions = partition_dicts(entries)
    spec = metadata.spec(manifest.partition_spec_id)
    contents = zip(entries["content"].to_pylist(), entries["file_format"].to_pylist(), strict=True)
    kinds = [file_kind(content or 0, file_format or "") for content, file_format in contents]
    columns = {
        "kind": pa.array(kinds, pa.string()),
        "spec_id": pa.repeat(pa.scalar(manifest.partition_spec_id, pa.int32()), entries.num_rows),
        "partition": pa.DictionaryArray.from_arrays(
            pa.array(codes, pa.int32()),
            pa.array([partition_path(partition, spec, metadata) for partition in partitions], pa.string()),
        ),
        "manifest_path": pa.repeat(pa.scalar(manifest.manifest_path), entries.num_rows),
    }
    stored = {name: entries[name] for name in CHANGES.names if name not in columns}
    return pa.table({**stored, **columns}).select(CHANGES.names).cast(CHANGES)
