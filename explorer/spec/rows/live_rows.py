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
    recorded_deletes: int | None = None
    """The summary's total-position-deletes; None where it has none."""
    needless: int = 0
    """Equality deletes that never hid a row (spec.deletes.needless_deletes), where that is known of all."""

    @property
    def rows(self) -> int:
        """As readers see them."""
        return self.data_rows - self.hidden

    @property
    def by_summary(self) -> int | None:
        """The rows that readers count who take total-position-deletes from total-records (ClickHouse,
        Altinity/ClickHouse#2236); None where the summary does not tell, and where equality deletes make them read."""
        if self.recorded is None or self.recorded_deletes is None:
            return None
        return (
            None if any(d.kind == "equality_deletes" for d in self.deletes) else self.recorded - self.recorded_deletes
        )
