"""Stored texts that a filter's text would equal but for blanks at its ends, or small and capital letters: a filter that
finds nothing may mean them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from explorer.model.manifest import ManifestFile
from explorer.model.metadata import PartitionSpec, TableMetadata
from explorer.spec.filters.expressions import BoundTerm, Expression, predicates
from explorer.spec.scan.ranges import look_up
from explorer.spec.text.names import is_plain, shorten
from explorer.spec.text.units import count

MOST_TEXTS, MOST_FOUND, LONGEST = 100, 5, 60
"""Texts of a filter that are looked for, stored ones that are told of a manifest and in all, and letters of one that
are shown."""


@dataclass(frozen=True)
class SimilarText:
    """A stored text that is not what a filter asks for, but alike.

    Attributes:
        column: The column's name.
        asked: The filter's text.
        stored: The text of a partition or of a bound.
        files: How many data files have it there; 0 where they are not counted.
    """

    column: str
    asked: str
    stored: str
    files: int

    def __str__(self) -> str:
        column, stored, asked = self.column, shorten(self.stored, LONGEST), shorten(self.asked, LONGEST)
        where = f"{column} of {count(self.files, 'data file')}" if self.files else column
        is_blank = self.asked.strip() != self.asked or self.stored.strip() != self.stored
        differs = "blanks at its ends" if is_blank else "capital letters"
        text = f"did you mean {stored!r}? It is in {where}, and differs from {asked!r} by {differs}"
        if not is_plain(column):
            return text
        if not is_blank:
            return f"{text}. lower({column}) = {asked.lower()!r} finds both, but skips no files"
        return (
            f"{text}. trim({column}) = {asked.strip()!r} finds both in Spark, but skips no files. Where the blanks are "
            f"mistakes, UPDATE with SET {column} = trim({column}) WHERE {column} <> trim({column}) removes them"
        )


class AskedTexts:
    """The texts that a filter asks for with = or IN.

    Args:
        bound: The filter.
    """

    def __init__(self, bound: Expression) -> None:
        self.names: dict[int, str] = {}
        self._asked: dict[int, dict[str, list[str]]] = {}
        for leaf in predicates(bound):
            term = leaf.term
            is_text = isinstance(term, BoundTerm) and term.transform == "identity" and term.column.kind == "string"
            if not is_text or leaf.op not in ("eq", "in") or len(leaf.literals) > MOST_TEXTS:
                continue
            assert isinstance(term, BoundTerm)
            self.names[term.column.field_id] = term.column.name
            texts = self._asked.setdefault(term.column.field_id, {})
            for literal in map(str, leaf.literals):
                texts.setdefault(_fold(literal), []).append(literal)

    def __bool__(self) -> bool:
        return bool(self._asked)

    def asked(self, field_id: int, stored: Any) -> str | None:
        """Return the text of the filter that a stored one is alike; None where it is alike none, or equal to one."""
        if not isinstance(stored, str):
            return None
        asked = self._asked.get(field_id, {}).get(_fold(stored), [])
        return None if not asked or stored in asked else asked[0]

    def in_files(
        self,
        entries: pa.Table,
        spec: PartitionSpec | None,
        partitions: Sequence[Mapping[Any, Any]],
        codes: np.ndarray[Any, Any],
    ) -> Counter[tuple[int, str]]:
        """Count the data files whose partition or bounds have such a text.

        Args:
            entries: The entries of one manifest.
            spec: Their partition spec.
            partitions: The distinct partitions of the entries, by partition field id.
            codes: Which of them each entry has.

        Returns:
            The numbers by the column's field id and the stored text.
        """
        found, sizes = Counter[tuple[int, str]](), np.bincount(codes, minlength=len(partitions))
        of_partition = set()
        for field in spec.fields if spec else ():
            if field.transform != "identity" or not field.source_ids or field.source_ids[0] not in self._asked:
                continue
            of_partition.add(field.source_ids[0])
            for partition, files in zip(partitions, sizes.tolist(), strict=True):
                stored = partition.get(field.field_id)
                if self.asked(field.source_ids[0], stored) is not None:
                    found[field.source_ids[0], str(stored)] += files
        for field_id in self._asked.keys() - of_partition:
            for stored in self._bounds(entries, field_id):
                found[field_id, stored] += 1
        return Counter(dict(found.most_common(MOST_FOUND)))

    def _bounds(self, entries: pa.Table, field_id: int) -> Iterator[str]:
        """The bounds that are alike: of each file one."""
        if "lower_bounds" not in entries.column_names:
            return
        told = np.zeros(entries.num_rows, bool)
        wanted = pa.array(self._asked[field_id], pa.string())
        for name in ("lower_bounds", "upper_bounds"):
            try:
                texts = look_up(entries, name, field_id).cast(pa.string())
            except pa.ArrowInvalid:  # no UTF-8
                continue
            alike = pc.is_in(pc.utf8_lower(pc.utf8_trim(texts, " ")), value_set=wanted)
            for at in np.flatnonzero(alike.to_numpy(zero_copy_only=False) & ~told)[:MOST_TEXTS].tolist():
                stored = texts[at].as_py()
                if self.asked(field_id, stored) is not None:
                    told[at] = True
                    yield stored

    def in_lists(self, manifests: Iterable[ManifestFile], metadata: TableMetadata) -> Counter[tuple[int, str]]:
        """Find such texts among the bounds of partitions in a manifest list, which count no files."""
        found = Counter[tuple[int, str]]()
        for manifest in manifests:
            spec = metadata.spec(manifest.partition_spec_id)
            for field, summary in zip(spec.fields if spec else (), manifest.partitions or (), strict=False):
                if field.transform != "identity" or not field.source_ids:
                    continue
                for bound in (summary.lower_bound, summary.upper_bound):
                    stored = (bound or b"").decode("utf-8", "replace")
                    if self.asked(field.source_ids[0], stored) is not None:
                        found[field.source_ids[0], stored] += 0
        return found

    def told(self, found: Mapping[tuple[int, str], int]) -> list[SimilarText]:
        """Return of what was found that of the most files: a list of manifests may have any number of such texts."""
        first = nsmallest(MOST_FOUND, found.items(), key=lambda item: (-item[1], item[0]))
        return [
            SimilarText(self.names[field_id], self.asked(field_id, stored) or "", stored, files)
            for (field_id, stored), files in first
        ]


def _fold(text: str) -> str:
    return text.strip(" ").lower()
