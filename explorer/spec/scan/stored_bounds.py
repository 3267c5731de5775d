"""How long the stored bounds of texts and binaries are, and whether writers cut them where a filter asks for more.

Writers keep so many characters of a text: the first ones as the lower bound, the first ones with the last of them
raised as the upper (org.apache.iceberg.util.UnicodeUtil)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from explorer.spec.entries.numpy_columns import numbers_of
from explorer.spec.filters.expressions import BoundTerm, Expression, FilterColumn, predicates
from explorer.spec.scan.ranges import look_up

CUT_KINDS = ("string", "binary")
COMPARED = ("eq", "in", "lt", "lt-eq", "gt", "gt-eq", "starts-with")
"""Operations that bounds can decide."""
MOST_LITERALS = 200
"""Values of an IN above which Iceberg does not look at bounds."""
STORED = ("field_id", "files", "longest", "all_longest", "at_cut")


@dataclass(frozen=True)
class StoredBounds:
    """The bounds of one column in data files.

    Attributes:
        files: The files that have one.
        longest: Characters of the longest, or bytes of a binary column.
        all_longest: How many of the files have both bounds of that length.
        at_cut: Files where a bound of that length agrees with what the filter asks for as far as it goes: if it was
            cut, a longer one may have the file skipped.
    """

    files: int = 0
    longest: int = 0
    all_longest: int = 0
    at_cut: int = 0

    def plus(self, other: StoredBounds) -> StoredBounds:
        """Return the sum with those of another manifest: of two lengths the longer one counts."""
        most = max(self.longest, other.longest)
        reaching = [each for each in (self, other) if each.longest == most]
        return StoredBounds(
            self.files + other.files, most, sum(b.all_longest for b in reaching), sum(b.at_cut for b in reaching)
        )

    def cut_at(self, kept: int | None, usual: int = 16) -> int | None:
        """Return the length at which writers have cut the bounds, as far as their lengths tell; None where they have
        not. `kept` is the length that the table's properties ask for now."""
        is_even = self.all_longest == self.files > 1
        return self.longest if self.longest in (kept, usual) or is_even else None


def asked_texts(bound: Expression) -> dict[int, tuple[FilterColumn, tuple[str | bytes, ...]]]:
    """Return what a filter compares the bounds of texts and binaries with, by field id."""
    asked: dict[int, tuple[FilterColumn, tuple[str | bytes, ...]]] = {}
    for leaf in predicates(bound):
        term = leaf.term
        if not isinstance(term, BoundTerm) or term.transform != "identity" or leaf.op not in COMPARED:
            continue
        if term.column.kind in CUT_KINDS and len(leaf.literals) <= MOST_LITERALS:
            texts = tuple(value for value in leaf.literals if isinstance(value, (str, bytes)))
            asked[term.column.field_id] = (
                term.column,
                asked.get(term.column.field_id, (None, ()))[1] + texts,
            )
    return asked


def measure_bounds(bound: Expression, entries: pa.Table, is_read: npt.NDArray[np.bool_]) -> Iterator[dict[str, int]]:
    """Measure the bounds of the texts that a filter compares, in some files of one manifest.

    Args:
        bound: The filter.
        entries: The entries, with their metrics.
        is_read: Which of them to look at.

    Yields:
        A row of STORED for each column with bounds.
    """
    chosen = entries.filter(pa.array(is_read)) if not is_read.all() else entries
    for field_id, (column, asked) in asked_texts(bound).items():
        lower, upper = (look_up(chosen, name, field_id) for name in ("lower_bounds", "upper_bounds"))
        is_text = column.kind == "string"
        lengths = [lengths_of(side, is_text) for side in (lower, upper)]
        has_bound = np.maximum(*lengths) >= 0
        if not has_bound.any():
            continue
        longest = int(np.maximum(*lengths).max())
        at_cut = np.zeros(len(lower), bool)
        for side, own, step in ((lower, lengths[0], 0), (upper, lengths[1], 1)):
            ends = {_cut(text, longest, step) for text in asked if len(text) > longest > 0}
            at_cut |= (own == longest) & pc.is_in(side, pa.array(ends - {None}, pa.binary())).to_numpy(False)
        all_longest = int(((lengths[0] == longest) & (lengths[1] == longest)).sum())
        yield dict(zip(STORED, (field_id, int(has_bound.sum()), longest, all_longest, int(at_cut.sum())), strict=True))


def _cut(text: str | bytes, length: int, step: int) -> bytes | None:
    """The bound that a writer keeps of a value that begins so: with `step` 1 the upper one."""
    if isinstance(text, bytes):
        last = text[length - 1] + step
        return text[: length - 1] + bytes([last]) if last < 256 else None
    last = ord(text[length - 1]) + step
    last = 0xE000 if last == 0xD800 else last  # surrogates are no characters
    return (text[: length - 1] + chr(last)).encode() if last < 0x110000 else None


def lengths_of(column: pa.Array, is_text: bool) -> npt.NDArray[np.int64]:
    """Return the length of each bound, in characters of a text or in bytes; -1 where there is none."""
    lengths = np.full(len(column), -1, np.int64)
    valid = column.is_valid().to_numpy(zero_copy_only=False)
    some = column.drop_null()
    sizes = _sums(pc.binary_length(some).to_numpy(zero_copy_only=False))
    if is_text:
        begins = (numbers_of(some, "u1") & 0xC0) != 0x80  # other bytes go on with a character
        sizes = _sums(begins)[sizes]
    lengths[valid] = np.diff(sizes)
    return lengths


def _sums(numbers: npt.NDArray[np.generic]) -> npt.NDArray[np.int64]:
    """How much comes before each place, and at the end all of it."""
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(numbers, dtype=np.int64)])


def add_up(rows: Sequence[Mapping[str, int]], before: Mapping[int, StoredBounds]) -> dict[int, StoredBounds]:
    """Return the bounds of more manifests, rows of STORED, with those `before`."""
    own = [(row["field_id"], StoredBounds(*(row[name] for name in STORED[1:]))) for row in rows]
    return reduce(lambda all_of, item: {**all_of, item[0]: all_of.get(item[0], StoredBounds()).plus(item[1])}, own,
                  dict(before))  # fmt: skip
