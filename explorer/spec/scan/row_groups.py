"""Row groups of a Parquet file that may hold rows of a filter: by statistics, dictionaries, bloom filters; and which of
their pages may, by the page index.

Iceberg puts all that is left to ask of a file's rows to each test, one after the other (ReadConf): what one test
says of one column and another of another is not put together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from explorer.spec.filters.expressions import BoundTerm, Expression, Predicate, predicates
from explorer.spec.scan.chunk_tests import (
    NULLS,
    ChunkAnswer,
    ChunkPart,
    absent_ranges,
    by_bloom_filter,
    by_dictionary,
    by_statistics,
    chunk_ranges,
    statistic_value,
)
from explorer.spec.scan.page_index import Pages, pages
from explorer.spec.scan.pruning import ScanReason, reason
from explorer.spec.schemas.stored_types import type_difference
from explorer.spec.values.stored_values import is_whole

Read = Callable[[ChunkPart, Sequence[tuple[int, int]]], Iterator[Any]]
"""Reads one kind of part of chunks (row group, column), which have it; see
storage.formats.parquet_chunks.read_parts."""


@dataclass(frozen=True)
class GroupVerdict:
    """Whether a row group of a file is read, and why. `bytes` are uncompressed. `tests` are those it was put to, with
    what each said: the last skips it, if any does. `pages` are of one that is read; Iceberg makes no use of them."""

    path: str
    ordinal: int
    rows: int
    bytes: int
    tests: Sequence[tuple[str, ScanReason]]
    pages: Pages | None = None

    @property
    def keeps(self) -> bool:
        """Whether it is read."""
        return self.tests[-1][1].keeps

    @property
    def by(self) -> str:
        """The test that skips it; nothing if it is read."""
        return "" if self.keeps else self.tests[-1][0]

    @property
    def reason(self) -> ScanReason:
        """What the test says that skips it; of one that is read, what all say."""
        reasons = [r for _, r in self.tests if r.text]
        if not self.keeps or len(reasons) < 2:
            return reasons[-1]
        terms = {r.term for r in reasons}
        if len(terms) == 1:
            return ScanReason(reasons[0].term, "; ".join(r.text for r in reasons), True)
        return ScanReason("", "; ".join(map(str, reasons)), True)


def row_groups(
    bound: Expression, path: str, footer: Mapping[str, Any], read: Read, defaults: Mapping[int, Any]
) -> list[GroupVerdict]:
    """A verdict for each row group of a file, by its footer, which has the places of the filter's columns (see
    storage.formats.parquet.read_footer). `defaults` are initial defaults by field id."""
    file = _File(bound, footer, read, defaults)
    groups = footer["row_groups"]
    tests = [[("statistics", file.statistics(at))] for at in range(len(groups))]
    parts: tuple[ChunkPart, ...] = ("dictionary", "bloom filter")
    for part in parts:
        for at, answers in file.test(part, [at for at, results in enumerate(tests) if results[-1][1].keeps]):
            tests[at].append((part, answers))
    pages_of = dict(file.pages([at for at, results in enumerate(tests) if results[-1][1].keeps]))
    return [
        GroupVerdict(path, g["ordinal"], g["num_rows"], g["total_byte_size"], tuple(results), pages_of.get(at))
        for at, (g, results) in enumerate(zip(groups, tests, strict=True))
    ]


class _File:
    """A file and the filter that is put to its row groups, which go by their place."""

    def __init__(self, bound: Expression, footer: Mapping[str, Any], read: Read, defaults: Mapping[int, Any]) -> None:
        self.bound, self.read, self.defaults = bound, read, defaults
        self.groups, self.columns = footer["row_groups"], footer["columns"]
        self.leaves = list(predicates(bound))
        self.place = {c["field_id"]: at for at, c in enumerate(self.columns) if c["field_id"] is not None}

    def statistics(self, at: int) -> ScanReason:
        """What the statistics of a row group say."""
        if not self.groups[at]["num_rows"]:
            return ScanReason("", "it has no rows", False)
        return self._reason(lambda leaf: self._by_statistics(leaf, at))

    def _reason(self, test: Callable[[Predicate], ChunkAnswer]) -> ScanReason:
        answers = {id(leaf): test(leaf) for leaf in self.leaves}
        return reason(self.bound, lambda leaf: answers[id(leaf)][0], lambda leaf: answers[id(leaf)][1])

    def _by_statistics(self, leaf: Predicate, at: int) -> ChunkAnswer:
        term = _term(leaf)
        if term.transform != "identity":
            return True, "Iceberg puts transforms to no row group"
        column, kind = self.place.get(term.column.field_id), term.kind
        if column is None:
            if not isinstance(kind, str) or kind == "variant":
                return True, "Iceberg asks no statistics of a struct, list, map or variant"
            if not self.place:
                return True, "the file's columns have no field ids"
            default = self.defaults.get(term.column.field_id)
            value = statistic_value(default, term)
            if value is None and default is not None:
                return True, "the file has no such column, and its initial default does not fit its type"
            return by_statistics(leaf, absent_ranges(value, "." in term.column.name, term), absent=True)
        group = self.groups[at]
        chunk = group["columns"][column]
        if "raw" in chunk and is_whole(self.columns[column], kind):
            low, high = chunk["raw"]
        else:
            low, high = (statistic_value(chunk[n], term) for n in ("min", "max"))
        if low is None or high is None:  # of NaN, too: then Iceberg takes neither
            low = high = None
        only, nulls = chunk["null_count"] == group["num_rows"], chunk["null_count"]
        keeps, why = by_statistics(leaf, chunk_ranges([only], [nulls], [low], [high], kind), absent=False)
        return keeps, why + self._type_note(column, term)

    def _type_note(self, column: int, term: BoundTerm) -> str:
        """What to say of a column in a type that Spark misreads."""
        difference = type_difference(self.columns[column], term.column.kind)
        if difference is None or not difference.misread:
            return ""
        return f" ({term.column.name} is {difference.words})"

    def test(self, part: ChunkPart, groups: Sequence[int]) -> Iterator[tuple[int, ScanReason]]:
        """What the dictionaries or the bloom filters of these row groups say."""
        able = [leaf for leaf in self.leaves if _term(leaf).transform == "identity" and leaf.op not in NULLS]
        if part == "bloom filter":
            able = [leaf for leaf in able if leaf.op in ("eq", "in")]
        for at, chunks in self._read(part, groups if able else [], able):

            def answer(leaf: Predicate, at: int = at, chunks: Mapping[int, Any] = chunks) -> ChunkAnswer:
                column = self.place.get(_term(leaf).column.field_id)
                if column is None or leaf not in able:
                    return True, ""
                if column not in chunks:
                    return True, self._lacks(part, at, column)
                if part == "bloom filter":
                    return by_bloom_filter(leaf, chunks[column], self.columns[column])
                may_null = self.groups[at]["columns"][column]["null_count"] != 0
                return by_dictionary(leaf, chunks[column], self.columns[column], may_null)

            yield at, self._reason(answer)

    def _read(
        self, part: ChunkPart, groups: Sequence[int], leaves: Sequence[Predicate]
    ) -> Iterator[tuple[int, Mapping[int, Any]]]:
        """One kind of part of the columns of these comparisons, by column, for each row group."""
        fields = dict.fromkeys(_term(leaf).column.field_id for leaf in leaves)
        columns = [self.place[f] for f in fields if f in self.place]
        having = {at: [c for c in columns if _has(self.groups[at]["columns"][c], part)] for at in groups}
        parts = self.read(part, [(at, c) for at, some in having.items() for c in some])
        for at, some in having.items():
            yield at, {c: next(parts) for c in some}

    def _lacks(self, part: ChunkPart, at: int, column: int) -> str:
        if unread := self.groups[at]["columns"][column].get("unread"):
            return f"its {part} is not used: {unread}"
        return "no dictionary of all its values" if part == "dictionary" else "no bloom filter"

    def pages(self, groups: Sequence[int]) -> Iterator[tuple[int, Pages]]:
        """What the page indexes of these row groups say."""
        for at, chunks in self._read("page index", groups if self.leaves else [], self.leaves):
            indexes = {self.columns[c]["field_id"]: (self.columns[c], index) for c, index in chunks.items()}
            yield at, pages(self.bound, self.groups[at]["num_rows"], indexes)


def _term(leaf: Predicate) -> BoundTerm:
    assert isinstance(leaf.term, BoundTerm)
    return leaf.term


def _has(chunk: Mapping[str, Any], part: ChunkPart) -> bool:
    parts = chunk.get("parts")
    return parts is not None and bool(parts[part]) and (part != "dictionary" or parts["dictionary_only"])
