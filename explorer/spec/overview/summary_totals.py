"""A snapshot summary's totals against those of its manifest list. Summaries are optional, and written by counting up
from the parent's, so one wrong commit makes all later ones wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from explorer.model.manifest import ManifestFile
from explorer.spec.text.units import whole


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
    return [Total(name, whole(summary.get(name)), value) for name, value in computed.items()]


_LIVE = {
    "total-data-files": "data_files", "total-delete-files": "delete_files", "total-records": "data_rows",
    "total-position-deletes": "position_deletes", "total-equality-deletes": "equality_deletes",
    "total-files-size": "bytes",
}  # fmt: skip
_OWN = {
    "added-data-files": "added_data_files", "added-records": "added_data_rows",
    "added-delete-files": "added_delete_files", "deleted-data-files": "removed_data_files",
    "deleted-records": "removed_data_rows",
    "removed-delete-files": "removed_delete_files",
}  # fmt: skip


def live_totals(summary: Mapping[str, str], sums: Mapping[str, int]) -> list[Total]:
    """The totals of a summary against those of the live entries (spec.doctor.facts.LIVE)."""
    return _totals(summary, sums, _LIVE)


def own_totals(summary: Mapping[str, str], sums: Mapping[str, int]) -> list[Total]:
    """What a summary says that the snapshot added and removed, against its entries (spec.doctor.facts.OWN)."""
    return _totals(summary, sums, _OWN)


def _totals(summary: Mapping[str, str], sums: Mapping[str, int], names: Mapping[str, str]) -> list[Total]:
    numbers = {name: whole(summary.get(name)) for name in names}
    return [Total(name, number, sums[names[name]]) for name, number in numbers.items() if number is not None]
