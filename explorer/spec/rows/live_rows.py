"""How many rows readers of a snapshot see, beside what is recorded."""

from __future__ import annotations

from dataclasses import dataclass

from explorer.model.manifest import FileKind


@dataclass(frozen=True)
class HiddenRows:
    """One delete that applies: how many rows or positions it is recorded to hold, and how many rows of how many data
    files it hides. A row that two deletes hide is counted for both."""

    path: str
    content_offset: int | None
    kind: FileKind
    recorded: int
    rows: int
    data_files: int


@dataclass(frozen=True)
class LiveRows:
    """`recorded` is the summary's total-records, which ignores deletes; None where it has none. `data_rows` are those
    of the data files, by their manifests; `hidden` those of them that deletes hide. `files_read` were opened for it."""

    snapshot_id: int | None
    recorded: int | None
    data_rows: int
    hidden: int
    files_read: int
    deletes: tuple[HiddenRows, ...]
    refused: int = 0
    """Data files that Iceberg Java 1.12 refuses to scan because of a delete (docs/readers.md)."""

    @property
    def rows(self) -> int:
        """As readers see them."""
        return self.data_rows - self.hidden
