"""The difference of two sets of rows as multisets, with updates paired by a key."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from explorer.spec.entries.numpy_columns import Flags, Ints
from explorer.spec.values.equality import comparable, first_places, join_rows, number_rows
from explorer.spec.values.hashes import row_hashes
from explorer.spec.values.values import row_dicts


@dataclass(frozen=True)
class RowChanges:
    """Rows that one side has more often than the other. `updated_before` and `updated_after` are aligned, row by row,
    and their rows are in neither `deleted` nor `inserted`."""

    inserted: pa.Table
    deleted: pa.Table
    updated_before: pa.Table
    updated_after: pa.Table

    @classmethod
    def kinds(cls) -> tuple[str, ...]:
        """The names of its tables."""
        return tuple(f.name for f in fields(cls))

    def first(self, rows: int) -> RowChanges:
        """So many rows of each kind."""
        return RowChanges(**{kind: getattr(self, kind).slice(0, rows) for kind in self.kinds()})


ChangeCounts = Counter[tuple[str, str]]
"""How many rows are inserted, deleted and updated, by that word and the data file that they are in: updated ones are
where they are now."""


def tally(changes: RowChanges) -> ChangeCounts:
    """Of rows that are at hand, by their `_file`."""
    counted: ChangeCounts = Counter()
    tables = {"inserted": changes.inserted, "deleted": changes.deleted, "updated": changes.updated_after}
    for word, rows in tables.items():
        for item in pc.value_counts(rows["_file"]).to_pylist():
            counted[word, item["values"]] += item["counts"]
    return counted


SHOWN_KEYS = 10
"""Keys with several rows on one side that are told."""


@dataclass(frozen=True)
class RepeatedKey:
    """A key with several rows on one side, and how many rows of the files that differ have it on each."""

    values: Mapping[str, Any]
    before: int
    after: int


@dataclass(frozen=True)
class RepeatedKeys:
    """Keys with several rows on one side: how many there are among the rows that were read, and the first of them,
    those with most rows first. `at_least`: not all rows of both sides were read."""

    number: int = 0
    first: tuple[RepeatedKey, ...] = ()
    at_least: bool = True


@dataclass(frozen=True)
class RowDiff:
    """The rows that differ between two snapshots, both read under the schema of the newer one. Tables have the schema's
    columns and `_file`, `_pos`, in v3 also `_row_id` and `_last_updated_sequence_number`; `paired_by` are the columns
    that tell an update, `repeated` keys that do not, as several rows of one side have them; `files_read` of `files`
    (distinct data files of both sides) were read. `counts` are of all rows (inserted, deleted, updated); `changes` has
    the first of each kind where Spark compared them."""

    before: int | None
    after: int | None
    columns: tuple[str, ...]
    paired_by: tuple[str, ...]
    changes: RowChanges
    counts: Mapping[str, int]
    files_read: int
    files: int
    partitions: dict[str, dict[str, int]]
    note: str = ""
    engine_note: str = ""
    """By whom, and why."""
    repeated: RepeatedKeys = RepeatedKeys()


def fields_by_path(given: Sequence[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """Every column and every field inside a struct, as JSON, by its path (`a.b`). Names may have dots themselves: of
    two fields with one path that is meant which is furthest out."""
    named = {field["name"]: field for field in given}
    for field in sorted(given, key=lambda f: -len(f["name"])):
        kind = field["type"]
        if isinstance(kind, Mapping) and kind.get("type") == "struct":
            for path, inner in fields_by_path(kind["fields"]).items():
                named.setdefault(f"{field['name']}.{path}", inner)
    return named


def field_places(
    given: Sequence[Mapping[str, Any]], above: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], Mapping[str, Any]]]:
    """Find every column and every field inside a struct, as JSON.

    Args:
        given: A struct's fields, as JSON.
        above: The names of what they are in.

    Yields:
        The names that lead to a field, its own last, and the field.
    """
    for field in given:
        names, kind = (*above, field["name"]), field["type"]
        yield names, field
        if isinstance(kind, Mapping) and kind.get("type") == "struct":
            yield from field_places(kind["fields"], names)


def column_at(table: pa.Table, path: str) -> pa.ChunkedArray:
    """The column, or field inside structs, that a path means (see named_fields); null where a struct around it is.
    Raises KeyError."""
    at = _place(table.schema, path)
    if at is None:
        raise KeyError(path)
    return read_column(table, at)


def _place(within: pa.Schema | pa.StructType, path: str) -> list[int] | None:
    if named := within.get_all_field_indices(path):
        return [min(named)]
    end = path.rfind(".")
    while end >= 0:  # the longest name first
        for i in sorted(within.get_all_field_indices(path[:end])):
            kind = within.field(i).type
            inner = _place(kind, path[end + 1 :]) if pa.types.is_struct(kind) else None
            if inner is not None:
                return [i, *inner]
        end = path.rfind(".", 0, end)
    return None


def read_column(table: pa.Table, at: Sequence[int]) -> pa.ChunkedArray:
    """A column, or a field inside structs, by its place in each."""
    column = table.column(at[0])
    for i in at[1:]:
        column = pc.struct_field(column, i)
    return column


def row_changes(before: pa.Table, after: pa.Table, columns: Sequence[str], keys: Sequence[str] = ()) -> RowChanges:
    """Compare by `columns`; other columns only come along. With `keys`, a deleted and an inserted row of one key, both
    the only ones with it and without nulls in it, are one update."""
    return pair_rows(*differing(before, after, columns), keys)


def differing(before: pa.Table, after: pa.Table, columns: Sequence[str]) -> tuple[pa.Table, pa.Table]:
    """The rows that one side has more often than the other: those that are gone, and those that have come. As in
    Spark's EXCEPT ALL: null equals null, NaN equals NaN, 0.0 equals -0.0."""
    old, new = number_rows(_comparable(before, columns), _comparable(after, columns))
    return before.take(pa.array(_surplus(old, new))), after.take(pa.array(_surplus(new, old)))


def pair_rows(gone: pa.Table, come: pa.Table, keys: Sequence[str]) -> RowChanges:
    """Rows that differ, those of one key as an update."""
    if not keys:
        return RowChanges(come, gone, gone.slice(0, 0), come.slice(0, 0))
    tables = [_comparable(table, keys) for table in (gone, come)]
    old, new = number_rows(*tables)
    once = [_once(numbers, _any_null(columns)) for numbers, columns in zip((old, new), tables, strict=True)]
    pairs = join_rows(old[once[0]], new[once[1]])
    first, second = (places[at] for places, at in zip(once, pairs, strict=True))
    return RowChanges(
        _without(come, second), _without(gone, first), gone.take(pa.array(first)), come.take(pa.array(second))
    )


def key_counts(table: pa.Table, keys: Sequence[str], after: bool) -> pa.Table:
    """How many rows have each key, without nulls in it: its values as k0, k1..., and the rows `before` and `after`, of
    which one is 0."""
    columns = _comparable(table, keys)
    rows = np.flatnonzero(~_any_null(columns))
    numbers = number_rows(columns)[0][rows]
    counts = np.bincount(numbers)
    first = rows[first_places(numbers)[counts > 0]]
    counts = counts[counts > 0]
    values = {f"k{i}": column_at(table, name).take(pa.array(first)) for i, name in enumerate(keys)}
    none = np.zeros_like(counts)
    return pa.table({**values, "before": none if after else counts, "after": counts if after else none})


def duplicate_keys(counts: pa.Table) -> pa.Table:
    """The keys that several rows of one side have, of some `key_counts` together, those with most rows first."""
    names = counts.column_names[:-2]
    columns = _comparable(counts, names)
    [numbers] = number_rows(columns)
    first = first_places(numbers)
    sums = {
        side: np.bincount(numbers, counts[side].to_numpy(), len(first)).astype(np.int64) for side in ("before", "after")
    }
    most = np.maximum(sums["before"], sums["after"])
    repeated = np.flatnonzero(most > 1)
    keys = {name: column.take(pa.array(first[repeated])) for name, column in zip(names, columns, strict=True)}
    ascending = [(name, "ascending") for name in names]
    order = pc.sort_indices(
        pa.table({"most": most[repeated], **keys}), sort_keys=[("most", "descending"), *ascending]
    ).to_numpy()
    values = counts.select(names).take(pa.array(first[repeated][order]))
    for side, numbers_of_rows in sums.items():
        values = values.append_column(side, pa.array(numbers_of_rows[repeated][order]))
    return values


def describe_duplicates(repeated: pa.Table, keys: Sequence[str], number: int) -> RepeatedKeys:
    """What is told of the keys that `duplicate_keys` finds, of which there are so many."""
    first = []
    for row in row_dicts(repeated.slice(0, SHOWN_KEYS)):
        values = {name: row[f"k{i}"] for i, name in enumerate(keys)}
        first.append(RepeatedKey(values, row["before"], row["after"]))
    return RepeatedKeys(number, tuple(first))


def deals(
    names: Sequence[str], otherwise: Sequence[str], number: int, table: pa.Table
) -> Iterator[tuple[int, pa.Table]]:
    """Rows dealt out by the values of some columns: those with the same values are in the same deal, in every process;
    where one of them is null, by the values of others."""
    if not table.num_rows:
        return
    if not names:
        yield 0, table
        return
    columns = _comparable(table, names)
    dealt, unknown = row_hashes(columns), _any_null(columns)
    if unknown.any() and list(otherwise) != list(names):
        dealt = np.where(unknown, row_hashes(_comparable(table, otherwise)), dealt)
    dealt = dealt % np.uint64(number)
    order = np.argsort(dealt, kind="stable")
    sorted_rows, starts = table.take(pa.array(order)), np.flatnonzero(np.diff(dealt[order], prepend=number))
    for start, end in zip(starts, [*starts[1:], table.num_rows], strict=True):
        yield int(dealt[order[start]]), sorted_rows.slice(start, end - start)


def _comparable(table: pa.Table, columns: Sequence[str]) -> list[pa.ChunkedArray]:
    """Columns whose equality is the one we mean; a column of nulls where there are none."""
    own = [comparable(column_at(table, name)) for name in columns]
    return own or [pa.chunked_array([pa.nulls(table.num_rows)])]


def _surplus(ours: Ints, theirs: Ints) -> Ints:
    """The places of our rows of which there are more than of theirs: of equal ones the last."""
    own, there = _counts(ours, theirs), _counts(theirs, ours)
    some = np.flatnonzero(own[ours] > there[ours])
    order = some[np.argsort(ours[some], kind="stable")]
    numbers = ours[order]
    starts = np.flatnonzero(np.diff(numbers, prepend=-1))
    rank = np.arange(len(order)) - np.repeat(starts, np.diff(np.append(starts, len(order))))
    surplus: Ints = np.sort(order[rank >= there[numbers]])
    return surplus


def _counts(numbers: Ints, others: Ints) -> Ints:
    """How many rows have each number, of those that either has."""
    return np.bincount(numbers, minlength=int(max(numbers.max(initial=-1), others.max(initial=-1))) + 1)


def _once(numbers: Ints, unknown: Flags) -> Ints:
    """The places of rows that alone have their number, but for those of which it is unknown."""
    return np.flatnonzero((np.bincount(numbers)[numbers] == 1) & ~unknown)


def _any_null(columns: Sequence[pa.ChunkedArray]) -> Flags:
    nulls: Flags = np.logical_or.reduce([column.is_null().to_numpy() for column in columns])
    return nulls


def _without(table: pa.Table, rows: Ints) -> pa.Table:
    kept = np.ones(table.num_rows, dtype=bool)
    kept[rows] = False
    return table.filter(pa.array(kept))
