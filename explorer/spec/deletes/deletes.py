"""Which deletes a reader must apply to which data file, clause by clause (spec: "Scan Planning").

Everything is decided from manifest entries: sequence numbers, partition, path, bounds. Whether an applicable delete
really hits a row takes its contents (queries.row_reader.RowReader)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any, Literal

from explorer.model.metadata import PartitionSpec, TableMetadata
from explorer.spec.entries.live_files import LiveFile, LiveFiles, PartitionPlace
from explorer.spec.text.names import base_name, first_named
from explorer.spec.values.values import comparable_bound, decode_bound, partition_path

PATH_ID = 2147483546
"""Field id of `file_path` in position delete files (spec: "Reserved Field IDs")."""
KIND_WORDS = {"position_deletes": "position", "equality_deletes": "equality", "deletion_vector": "deletion vector"}


@dataclass(frozen=True)
class DeleteReason:
    """One clause of the rules: whether it lets the delete apply, in words. `refused`: Iceberg Java 1.12 does not scan
    the data file because of it."""

    clause: str
    holds: bool
    words: str
    refused: bool = False


@dataclass(frozen=True)
class DeleteVerdict:
    """Whether a delete applies to a data file, and every clause that was looked at. It applies when all hold."""

    data: LiveFile
    delete: LiveFile
    reasons: tuple[DeleteReason, ...]

    @property
    def applies(self) -> bool:
        """All clauses hold."""
        return all(r.holds for r in self.reasons)

    @property
    def is_refused(self) -> bool:
        """Whether Iceberg Java 1.12 refuses to scan the data file because of this delete (docs/readers.md)."""
        return self.applies and any(r.refused for r in self.reasons)

    @property
    def against(self) -> str:
        """The words of the clauses that do not hold; empty when it applies."""
        return "; ".join(r.words for r in self.reasons if not r.holds)


def is_unpartitioned(spec: PartitionSpec | None) -> bool:
    """No field, or only void ones: an equality delete of such a spec is global."""
    return spec is not None and all(f.transform == "void" for f in spec.fields)


NAMES_NOTHING = "its entry has no referenced_data_file, by which Iceberg Java finds the data file of a vector"


def target_file(delete: LiveFile) -> str | None:
    """The one data file that a position delete or a vector is for, where its manifest entry says so: by its
    referenced_data_file, or as Iceberg's readers take them, by bounds of its paths that are equal
    (ContentFileUtil.referencedDataFile)."""
    if delete.kind == "equality_deletes":
        return None
    low, high = delete.lower.get(PATH_ID), delete.upper.get(PATH_ID)
    if delete.referenced_data_file or delete.kind != "position_deletes" or low is None or low != high:
        return delete.referenced_data_file
    return low.decode(errors="replace")


def refusal(files: int) -> str:
    """Say that Iceberg Java refuses to scan some data files because of where their deletes are recorded."""
    one = files == 1
    return (
        f"Iceberg Java 1.12, and Spark with it, refuses to scan {files:,} data file{'' if one else 's'} "
        f"(mismatched partitions): a delete of {'it' if one else 'theirs'} is recorded in another partition; rows are "
        "as readers see them that apply it (icedive docs readers)"
    )


def lacks_place(delete: LiveFile) -> str:
    """Name what the manifest entry of a deletion vector lacks to say where the vector is in its file; empty where it
    lacks nothing, and of other deletes."""
    if delete.kind != "deletion_vector":
        return ""
    place = {"content_offset": delete.content_offset, "content_size_in_bytes": delete.content_size}
    return " and no ".join(name for name, value in place.items() if value is None)


def missing_place_words(vectors: Sequence[LiveFile]) -> str:
    """Say what Spark makes of data files to which vectors apply that lack their place; empty without any."""
    if not vectors:
        return ""
    first = vectors[0]
    these = "a deletion vector applies" if len(vectors) == 1 else f"{len(vectors):,} deletion vectors apply"
    which = "its manifest entry has" if len(vectors) == 1 else f"the manifest entry of {base_name(first.path)} has"
    named = f" ({base_name(first.path)})" if len(vectors) == 1 else ""
    return (
        f"Spark 4.1 with Iceberg Java 1.12 fails on data files to which {these}{named}: {which} no {lacks_place(first)}"
    )


KnownVerdicts = dict[tuple[int, int], DeleteVerdict]
"""Verdicts on equality deletes, which are the same in each snapshot that has both files, by the ids of the objects of
data file and delete."""


class Applicability:
    """The deletes of one snapshot, ready to be asked about data files."""

    def __init__(self, metadata: TableMetadata, data: LiveFiles, deletes: Sequence[LiveFile]) -> None:
        self.metadata, self.data, self.deletes = metadata, data, deletes
        self.everywhere: list[LiveFile] = []
        """Those of a spec without partitions: equality deletes that are global."""
        self.by_path: dict[str, list[LiveFile]] = {}
        """Those that name the one data file they are for."""
        self.by_place: dict[PartitionPlace, list[LiveFile]] = {}
        """All others, by spec and partition."""
        for delete in deletes:
            if delete.kind == "equality_deletes" and is_unpartitioned(metadata.spec(delete.spec_id)):
                self.everywhere.append(delete)
            elif (named := target_file(delete)) is not None:
                self.by_path.setdefault(named, []).append(delete)
            else:
                self.by_place.setdefault(delete.place, []).append(delete)

    def of_counts(self, counts: Sequence[int]) -> Applicability:
        """The same, of which it is known how many data files each manifest has."""
        return Applicability(self.metadata, self.data.with_counts(counts), self.deletes)

    def without_data(self) -> Applicability:
        """The deletes alone, which can be pickled."""
        return Applicability(self.metadata, LiveFiles.of([]), self.deletes)

    @cached_property
    def data_paths(self) -> frozenset[str]:
        """Of all live data files."""
        return frozenset(self.data.paths())

    def holding(self, verdict: DeleteVerdict, paths: Collection[str]) -> DeleteVerdict:
        """A verdict on a position delete file that holds positions of these paths: when none of them is a data file of
        this snapshot, spelled as its manifests spell it, the delete hides nothing."""
        if not paths or not self.data_paths.isdisjoint(paths):
            return verdict
        others = [path for path in paths if base_name(path) == base_name(verdict.data.path)]
        reason = f"it names no data file of this snapshot, but {min(others or paths)!r}: it hides nothing"
        return replace(verdict, reasons=(*verdict.reasons, DeleteReason("contents", False, reason)))

    def candidates(self, data: LiveFile) -> list[LiveFile]:
        """The deletes that could matter to a data file: global ones, those that name it, and those of its partition."""
        return [*self.by_path.get(data.path, ()), *self.by_place.get(data.place, ()), *self.everywhere]

    def concerning(self, paths: Collection[str], places: Collection[PartitionPlace]) -> list[LiveFile]:
        """The deletes that could matter to data files with some paths and in some places."""
        of_paths = chain.from_iterable(some for path, some in self.by_path.items() if path in paths)
        of_places = chain.from_iterable(some for where, some in self.by_place.items() if where in places)
        return [*of_paths, *of_places, *self.everywhere]

    def of(self, data: LiveFile, known: KnownVerdicts | None = None) -> list[DeleteVerdict]:
        """A verdict for each candidate; those on equality deletes that are `known` are not made again."""
        deletes = self.candidates(data)
        vectors = [d for d in deletes if d.kind == "deletion_vector" and all(r.holds for r in self._vector(data, d))]
        verdicts = []
        for delete in deletes:
            verdict = known.get((id(data), id(delete))) if known else None
            if verdict is None:
                verdict = DeleteVerdict(data, delete, tuple(self._reasons(data, delete, vectors)))
                if known is not None and delete.kind == "equality_deletes":
                    known[id(data), id(delete)] = verdict  # it holds both, so that no other object takes their ids
            verdicts.append(verdict)
        return verdicts

    def elsewhere(self, data: LiveFile) -> Iterator[DeleteVerdict]:
        """Find deletes that do not apply to a data file only because they are recorded in another partition or under
        another spec.

        Args:
            data: The data file.

        Yields:
            Verdicts of which the partition's clause alone does not hold.
        """
        for where, deletes in self.by_place.items():
            for delete in deletes if where != data.place else ():
                verdict = DeleteVerdict(data, delete, tuple(self._reasons(data, delete, ())))
                if all(r.holds for r in verdict.reasons if r.clause != "partition"):
                    yield verdict

    def for_others(self, data: LiveFile) -> Iterator[DeleteVerdict]:
        """Find position deletes that do not apply to a data file only because they are said to be for another one."""
        for path, deletes in self.by_path.items():
            for delete in deletes if path != data.path else ():
                verdict = DeleteVerdict(data, delete, tuple(self._reasons(data, delete, ())))
                if delete.kind == "position_deletes" and all(r.holds for r in verdict.reasons if r.clause != "path"):
                    yield verdict

    def _reasons(self, data: LiveFile, delete: LiveFile, vectors: Sequence[LiveFile]) -> list[DeleteReason]:
        if delete.kind == "deletion_vector":
            return self._vector(data, delete)
        if delete.kind == "position_deletes":
            return self._position(data, delete, vectors)
        return self._equality(data, delete)

    def _vector(self, data: LiveFile, delete: LiveFile) -> list[DeleteReason]:
        return [self._reason_by_path(data, delete), _not_newer(data, delete), self._partition_reason(data, delete)]

    def _reason_by_path(self, data: LiveFile, delete: LiveFile) -> DeleteReason:
        if delete.kind == "deletion_vector" and not delete.referenced_data_file:
            return DeleteReason("path", False, NAMES_NOTHING)
        same = target_file(delete) == data.path
        by = "its referenced_data_file is" if delete.referenced_data_file else "its path bounds are equal and name"
        other = f"another file, {target_file(delete)!r}" if not delete.referenced_data_file else "another file"
        return DeleteReason("path", same, f"{by} {'this file' if same else other}")

    def _partition_reason(self, data: LiveFile, delete: LiveFile) -> DeleteReason:
        """By the spec the partition must be the same. Readers apply a delete that names its data file without looking
        at that, or refuse the scan."""
        same = self._same_place(data, delete)
        if same.holds:
            return same
        words = (
            f"{same.words}: Iceberg Java 1.12 refuses to scan the data file (mismatched partitions); Iceberg Java up "
            "to 1.11, pyiceberg 0.12 and DuckDB 1.5 apply the delete, since it names the file"
        )
        return DeleteReason("partition", True, words, refused=True)

    def _same_place(self, data: LiveFile, delete: LiveFile) -> DeleteReason:
        spec = self.metadata.spec(data.spec_id)
        if data.place == delete.place:
            where = partition_path(data.partition, spec, self.metadata)
            return DeleteReason(
                "partition", True, f"both are of partition spec {data.spec_id}" + (f" and in {where}" if where else "")
            )
        if data.spec_id == delete.spec_id:
            there, here = (partition_path(f.partition, spec, self.metadata) or "none" for f in (delete, data))
            words = f"the delete is in partition {there}, the data file in {here}"
        else:
            words = f"the delete is of partition spec {delete.spec_id}, the data of spec {data.spec_id}"
        if delete.kind == "equality_deletes" and all(value is None for value in delete.partition.values()):
            words += ": a delete for all partitions needs an unpartitioned spec"
        return DeleteReason("partition", False, words)

    def _position(self, data: LiveFile, delete: LiveFile, vectors: Sequence[LiveFile]) -> list[DeleteReason]:
        if target_file(delete) is not None:
            reasons = [
                self._reason_by_path(data, delete),
                _not_newer(data, delete),
                self._partition_reason(data, delete),
            ]
        else:  # Iceberg Java opens it whatever its path bounds say, and so does pyiceberg
            older = _not_newer(data, delete)
            reasons = [replace(older, words=older.words + _written_later(data, delete)), self._same_place(data, delete)]
        if vectors:
            reasons.append(
                DeleteReason(
                    "superseded",
                    False,
                    f"the deletion vector{vectors[0].at} of this data file replaces it",
                )
            )
        return reasons

    def _equality(self, data: LiveFile, delete: LiveFile) -> list[DeleteReason]:
        own_number, delete_number = data.sequence_number, delete.sequence_number
        older = own_number is not None and delete_number is not None and own_number < delete_number
        sign = "<" if older else "not <"
        reason = (
            f"the data's sequence number {_n(own_number)} is {sign} the delete's {_n(delete_number)} (for equality "
            "deletes it must be strictly less)"
        )
        reasons = [DeleteReason("sequence", older, reason)]
        if is_unpartitioned(self.metadata.spec(delete.spec_id)):
            reasons.append(
                DeleteReason("partition", True, "the delete's partition spec is unpartitioned, so it is global")
            )
        else:
            reasons.append(self._same_place(data, delete))
        for field_id in delete.equality_ids:
            if apart := self._apart(field_id, data, delete):
                reasons.append(DeleteReason("bounds", False, apart))
        if all(r.clause != "bounds" for r in reasons):
            names = first_named(delete.equality_ids, self._name) or "no column"
            reasons.append(DeleteReason("bounds", True, f"the bounds of {names} do not rule it out"))
        return reasons

    def _name(self, field_id: int) -> str:
        column = self.metadata.field(field_id)
        return column.name if column else f"field {field_id}"

    def _apart(self, field_id: int, data: LiveFile, delete: LiveFile) -> str:
        """Why no row of the data file can equal one of the delete's in that column; empty when one may."""
        name = self._name(field_id)
        data_nulls, delete_nulls = (nulls_of(f.nulls.get(field_id), f.values.get(field_id)) for f in (data, delete))
        if data_nulls == "all" and delete_nulls == "none":
            return f"{name} is null in all rows of the data file, and in none of the delete's"
        if data_nulls == "none" and delete_nulls == "all":
            return f"{name} is null in all of the delete's rows, and in none of the data file"
        if not (data_nulls == "none" or delete_nulls == "none"):
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
                ends, begins = (_text_of(b.get(field_id), kind) for b in (data.upper, delete.lower))
                return f"{name} ends at {ends} in the data file, and begins at {begins} in the delete"
            if low is not None and other_high is not None and low > other_high:
                begins, ends = (_text_of(b.get(field_id), kind) for b in (data.lower, delete.upper))
                return f"{name} begins at {begins} in the data file, and ends at {ends} in the delete"
        except TypeError:  # bounds of different types, after a promotion that we do not know
            pass
        return ""


def _text_of(bound: bytes | None, kind: Any) -> str:
    value = decode_bound(bound, kind)
    return repr(value) if isinstance(value, str) and kind == "string" else str(value)


def _n(number: int | None) -> str:
    return "(unknown)" if number is None else str(number)


def _written_later(data: LiveFile, delete: LiveFile) -> str:
    """Say that a data file came after a position delete file of a whole partition, which cannot name it; else empty."""
    numbers = data.file_sequence_number, delete.file_sequence_number
    if numbers[0] is None or numbers[1] is None or numbers[0] <= numbers[1]:
        return ""
    return f", but commit {numbers[0]} wrote the data file after the delete's {numbers[1]}: no row of it can be named"


def _not_newer(data: LiveFile, delete: LiveFile) -> DeleteReason:
    own_number, delete_number = data.sequence_number, delete.sequence_number
    holds = own_number is not None and delete_number is not None and own_number <= delete_number
    return DeleteReason(
        "sequence",
        holds,
        f"the data's sequence number {_n(own_number)} is {'<=' if holds else 'not <='} "
        f"the delete's {_n(delete_number)}",
    )


def nulls_of(nulls: int | None, values: int | None) -> Literal["all", "none", "some", "unknown"]:
    """Which rows are null in a column, by a file's counts of it, where they are there."""
    if nulls is None:
        return "unknown"
    if nulls == 0:
        return "none"
    return "all" if values is not None and nulls == values else "some"
