"""Which deletes a reader must apply to which data file, clause by clause (spec: "Scan Planning").

Everything is decided from manifest entries: sequence numbers, partition, path, bounds. Whether an applicable delete
really hits a row takes its contents (rowlevel.RowReader)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import pyarrow as pa

from explorer.core.entries import LIVE
from explorer.core.names import base_name
from explorer.core.values import comparable_bound, partition_path, row_dicts
from explorer.model.manifest import FileKind, file_kind
from explorer.model.metadata import PartitionSpec, TableMetadata
from explorer.progress import steps

PATH_ID = 2147483546
"""Field id of `file_path` in position delete files (spec: "Reserved Field IDs")."""
KIND_WORDS = {"position_deletes": "position", "equality_deletes": "equality", "deletion_vector": "deletion vector"}


@dataclass(frozen=True)
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
    lower: Mapping[int, bytes] = field(default_factory=dict)
    upper: Mapping[int, bytes] = field(default_factory=dict)
    nulls: Mapping[int, int] = field(default_factory=dict)
    nans: Mapping[int, int] = field(default_factory=dict)
    values: Mapping[int, int] = field(default_factory=dict)

    @property
    def key(self) -> tuple[str, int | None]:
        """Path, and the offset of a deletion vector's blob."""
        return self.path, self.content_offset

    @property
    def place(self) -> tuple[int, tuple[tuple[str, Any], ...]]:
        """Spec and partition: what must be the same."""
        return self.spec_id, tuple(sorted(self.partition.items()))


@dataclass(frozen=True)
class Reason:
    """One clause of the rules: whether it lets the delete apply, in words."""

    clause: str
    holds: bool
    words: str


@dataclass(frozen=True)
class Verdict:
    """Whether a delete applies to a data file, and every clause that was looked at. It applies when all hold."""

    data: LiveFile
    delete: LiveFile
    reasons: tuple[Reason, ...]

    @property
    def applies(self) -> bool:
        """All clauses hold."""
        return all(r.holds for r in self.reasons)

    @property
    def against(self) -> str:
        """The words of the clauses that do not hold; empty when it applies."""
        return "; ".join(r.words for r in self.reasons if not r.holds)


def live_files(entries: pa.Table, spec_id: int, manifest_path: str) -> list[LiveFile]:
    """The live files of one manifest's logical entries (see core.entries), bounds and counts too where they are
    there."""
    return files_of(entries, spec_id, manifest_path, LIVE)


def files_of(entries: pa.Table, spec_id: int, manifest_path: str, statuses: Sequence[str]) -> list[LiveFile]:
    """The files of the entries with one of these logical statuses."""
    files = []
    for row in row_dicts(entries):
        if row["logical_status"] not in statuses:
            continue
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
                lower=dict(row.get("lower_bounds") or ()), upper=dict(row.get("upper_bounds") or ()),
                nulls=dict(row.get("null_value_counts") or ()), nans=dict(row.get("nan_value_counts") or ()),
                values=dict(row.get("value_counts") or ()),
            )
        )  # fmt: skip
    return files


def is_unpartitioned(spec: PartitionSpec | None) -> bool:
    """No field, or only void ones: an equality delete of such a spec is global."""
    return spec is not None and all(f.transform == "void" for f in spec.fields)


class Applicability:
    """The deletes of one snapshot, ready to be asked about data files."""

    def __init__(self, metadata: TableMetadata, files: Iterable[LiveFile]) -> None:
        self.metadata = metadata
        self.data: list[LiveFile] = []
        self.deletes: list[LiveFile] = []
        for file in files:
            (self.data if file.kind == "data_file" else self.deletes).append(file)
        self._global: list[LiveFile] = []
        self._by_place: dict[Any, list[LiveFile]] = {}
        self._by_path: dict[str, list[LiveFile]] = {}
        for delete in self.deletes:
            if delete.kind == "equality_deletes" and is_unpartitioned(metadata.spec(delete.spec_id)):
                self._global.append(delete)
            elif delete.referenced_data_file:
                self._by_path.setdefault(delete.referenced_data_file, []).append(delete)
            else:
                self._by_place.setdefault(delete.place, []).append(delete)

    @cached_property
    def data_paths(self) -> frozenset[str]:
        """Of all live data files."""
        return frozenset(data.path for data in self.data)

    def holding(self, verdict: Verdict, paths: Collection[str]) -> Verdict:
        """A verdict on a position delete file that holds positions of these paths: when none of them is a data file of
        this snapshot, spelled as its manifests spell it, the delete hides nothing."""
        if not paths or not self.data_paths.isdisjoint(paths):
            return verdict
        others = [path for path in paths if base_name(path) == base_name(verdict.data.path)]
        reason = f"it names no data file of this snapshot, but {min(others or paths)!r}: it hides nothing"
        return replace(verdict, reasons=(*verdict.reasons, Reason("contents", False, reason)))

    def candidates(self, data: LiveFile) -> list[LiveFile]:
        """The deletes that could matter to a data file: global ones, those that name it, and those of its partition."""
        return [*self._by_path.get(data.path, ()), *self._by_place.get(data.place, ()), *self._global]

    def of(self, data: LiveFile) -> list[Verdict]:
        """A verdict for each candidate."""
        deletes = self.candidates(data)
        vectors = [d for d in deletes if d.kind == "deletion_vector" and all(r.holds for r in self._vector(data, d))]
        return [Verdict(data, d, tuple(self._reasons(data, d, vectors))) for d in deletes]

    def verdicts(self) -> list[Verdict]:
        """All pairs that could matter, in the order of the data files."""
        return [v for data in steps(self.data, "data files") for v in self.of(data)]

    def _reasons(self, data: LiveFile, delete: LiveFile, vectors: Sequence[LiveFile]) -> list[Reason]:
        if delete.kind == "deletion_vector":
            return self._vector(data, delete)
        if delete.kind == "position_deletes":
            return self._position(data, delete, vectors)
        return self._equality(data, delete)

    def _vector(self, data: LiveFile, delete: LiveFile) -> list[Reason]:
        return [self._named(data, delete), _not_newer(data, delete), self._same_place(data, delete)]

    def _named(self, data: LiveFile, delete: LiveFile) -> Reason:
        same = delete.referenced_data_file == data.path
        return Reason("path", same, f"its referenced_data_file is {'this' if same else 'another'} file")

    def _same_place(self, data: LiveFile, delete: LiveFile) -> Reason:
        if data.spec_id != delete.spec_id:
            return Reason(
                "partition", False, f"the delete is of partition spec {delete.spec_id}, the data of spec {data.spec_id}"
            )
        spec = self.metadata.spec(data.spec_id)
        if data.place == delete.place:
            where = partition_path(data.partition, spec, self.metadata)
            return Reason(
                "partition", True, f"both are of partition spec {data.spec_id}" + (f" and in {where}" if where else "")
            )
        there = partition_path(delete.partition, spec, self.metadata)
        return Reason("partition", False, f"the delete is in another partition, {there}")

    def _position(self, data: LiveFile, delete: LiveFile, vectors: Sequence[LiveFile]) -> list[Reason]:
        reasons = [_not_newer(data, delete), self._same_place(data, delete)]
        if delete.referenced_data_file:
            reasons.append(self._named(data, delete))
        low, high = delete.lower.get(PATH_ID), delete.upper.get(PATH_ID)
        if low is not None and high is not None and not delete.referenced_data_file:
            # an upper bound may be cut short and then rounded up, so text of its length decides
            path = data.path.encode()
            inside = low <= path and (path <= high or path[: len(high)] <= high)
            where = "within" if inside else "outside"
            reasons.append(Reason("bounds", inside, f"the data file's path is {where} the delete's path bounds"))
        if vectors:
            reasons.append(
                Reason(
                    "superseded",
                    False,
                    f"the deletion vector at {vectors[0].content_offset} of this data file replaces it",
                )
            )
        return reasons

    def _equality(self, data: LiveFile, delete: LiveFile) -> list[Reason]:
        mine, theirs = data.sequence_number, delete.sequence_number
        older = mine is not None and theirs is not None and mine < theirs
        sign = "<" if older else "not <"
        reason = (
            f"the data's sequence number {_n(mine)} is {sign} the delete's {_n(theirs)} (for equality deletes "
            "it must be strictly less)"
        )
        reasons = [Reason("sequence", older, reason)]
        if is_unpartitioned(self.metadata.spec(delete.spec_id)):
            reasons.append(Reason("partition", True, "the delete's partition spec is unpartitioned, so it is global"))
        else:
            reasons.append(self._same_place(data, delete))
        for field_id in delete.equality_ids:
            if apart := self._apart(field_id, data, delete):
                reasons.append(Reason("bounds", False, apart))
        if all(r.clause != "bounds" for r in reasons):
            names = ", ".join(self._name(i) for i in delete.equality_ids) or "no column"
            reasons.append(Reason("bounds", True, f"the bounds of {names} do not rule it out"))
        return reasons

    def _name(self, field_id: int) -> str:
        column = self.metadata.field(field_id)
        return column.name if column else f"field {field_id}"

    def _apart(self, field_id: int, data: LiveFile, delete: LiveFile) -> str:
        """Why no row of the data file can equal one of the delete's in that column; empty when one may."""
        name = self._name(field_id)
        mine, theirs = _nulls(data, field_id), _nulls(delete, field_id)
        if mine == "all" and theirs == "none":
            return f"{name} is null in all rows of the data file, and in none of the delete's"
        if mine == "none" and theirs == "all":
            return f"{name} is null in all of the delete's rows, and in none of the data file"
        if not (mine == "none" or theirs == "none"):
            return ""  # null equals null
        kind = column.type if (column := self.metadata.field(field_id)) else None
        if kind in ("float", "double") and not (data.nans.get(field_id) == 0 or delete.nans.get(field_id) == 0):
            return ""  # bounds do not cover NaN
        low, high = (comparable_bound(bounds.get(field_id), kind) for bounds in (data.lower, data.upper))
        other_low, other_high = (
            comparable_bound(bounds.get(field_id), kind) for bounds in (delete.lower, delete.upper)
        )
        try:
            if high is not None and other_low is not None and high < other_low:
                return (
                    f"{name} ends at {_shown(high)} in the data file, and begins at {_shown(other_low)} in the delete"
                )
            if low is not None and other_high is not None and low > other_high:
                return (
                    f"{name} begins at {_shown(low)} in the data file, and ends at {_shown(other_high)} in the delete"
                )
        except TypeError:  # bounds of different types, after a promotion that we do not know
            pass
        return ""


def _shown(value: Any) -> str:
    return repr(value.decode(errors="replace")) if isinstance(value, bytes) else str(value)


def _n(number: int | None) -> str:
    return "(unknown)" if number is None else str(number)


def _not_newer(data: LiveFile, delete: LiveFile) -> Reason:
    mine, theirs = data.sequence_number, delete.sequence_number
    holds = mine is not None and theirs is not None and mine <= theirs
    return Reason(
        "sequence",
        holds,
        f"the data's sequence number {_n(mine)} is {'<=' if holds else 'not <='} the delete's {_n(theirs)}",
    )


def _nulls(file: LiveFile, field_id: int) -> str:
    """Whether `all`, `none` or `some` rows are null in a column; `unknown` where the counts are absent."""
    nulls, values = file.nulls.get(field_id), file.values.get(field_id)
    if nulls is None:
        return "unknown"
    if nulls == 0:
        return "none"
    return "all" if values is not None and nulls == values else "some"


def dangling(files: Applicability, verdicts: Iterable[Verdict]) -> list[LiveFile]:
    """Delete files that apply to no data file of the snapshot: rewriting or expiring them loses nothing."""
    used = {v.delete.key for v in verdicts if v.applies}
    return [d for d in files.deletes if d.key not in used]


@dataclass(frozen=True)
class ReadCost:
    """What a reader opens for one data file: how many delete files and vectors, their rows and bytes."""

    data: LiveFile
    position: int
    equality: int
    vectors: int
    delete_rows: int
    delete_bytes: int

    @property
    def deletes(self) -> int:
        """All of them."""
        return self.position + self.equality + self.vectors


def read_costs(files: Applicability, verdicts: Iterable[Verdict]) -> list[ReadCost]:
    """The cost of each data file, the dearest first."""
    by_data: dict[str, list[LiveFile]] = {d.path: [] for d in files.data}
    for verdict in verdicts:
        if verdict.applies:
            by_data[verdict.data.path].append(verdict.delete)
    costs = []
    for data in files.data:
        applied = by_data[data.path]
        kinds = [d.kind for d in applied]
        size = sum(d.content_size if d.content_size is not None else d.size for d in applied)
        counts = (kinds.count("position_deletes"), kinds.count("equality_deletes"), kinds.count("deletion_vector"))
        costs.append(ReadCost(data, *counts, sum(d.record_count for d in applied), size))
    return sorted(costs, key=lambda c: (-c.deletes, -c.delete_bytes, c.data.path))
