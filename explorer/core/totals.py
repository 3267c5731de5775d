"""A snapshot summary's totals against those of its manifest list. Summaries are optional, and written by counting up
from the parent's, so one wrong commit makes all later ones wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from explorer.model.manifest import ManifestFile


@dataclass(frozen=True)
class Total:
    """One total: what the summary says, and what the manifest list adds up to; None where one is silent."""

    name: str
    summary: int | None
    computed: int | None

    @property
    def agrees(self) -> bool | None:
        """Whether both say the same; None where one is silent."""
        return None if self.summary is None or self.computed is None else self.summary == self.computed


def totals(summary: Mapping[str, str], manifests: Sequence[ManifestFile]) -> list[Total]:
    """total-data-files, total-delete-files and total-records (of data files; deletes are not subtracted, as the spec
    has it)."""

    def add(content: int, *names: str) -> int | None:
        counts = [getattr(m, name) for m in manifests if m.content == content for name in names]
        return None if None in counts else sum(counts)

    computed = {
        "total-data-files": add(0, "added_files_count", "existing_files_count"),
        "total-delete-files": add(1, "added_files_count", "existing_files_count"),
        "total-records": add(0, "added_rows_count", "existing_rows_count"),
    }
    return [
        Total(name, int(summary[name]) if summary.get(name, "").isdigit() else None, value)
        for name, value in computed.items()
    ]
