"""The difference of two sets of rows as multisets, with updates paired by a key."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import polars
import pyarrow as pa
import pyarrow.compute as pc

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
    old, new = _rank(before, columns), _rank(after, columns)
    on = [*(f"c{i}" for i in range(len(columns))), "rank"]
    gone = before.take(_rows(old.join(new, on=on, how="anti", nulls_equal=True)))
    return gone, after.take(_rows(new.join(old, on=on, how="anti", nulls_equal=True)))


def pair_rows(gone: pa.Table, come: pa.Table, keys: Sequence[str]) -> RowChanges:
    """Rows that differ, those of one key as an update."""
    if not keys:
        return RowChanges(come, gone, gone.slice(0, 0), come.slice(0, 0))
    before, after = _unique(gone, keys), _unique(come, keys)
    pairs = before.join(after, on=[f"c{i}" for i in range(len(keys))], how="inner", suffix="_after").sort("row")
    first, second = pairs["row"].to_arrow(), pairs["row_after"].to_arrow()
    return RowChanges(_without(come, second), _without(gone, first), gone.take(first), come.take(second))


def key_counts(table: pa.Table, keys: Sequence[str], after: bool) -> pa.Table:
    """How many rows have each key, without nulls in it: its values as k0, k1..., and the rows `before` and `after`, of
    which one is 0."""
    frame = _frame(table, keys).drop_nulls()
    groups = frame.group_by([name for name in frame.columns if name != "row"]).agg(
        polars.col("row").min(), polars.len().cast(polars.Int64).alias("rows")
    )
    rows, numbers = groups["row"].to_arrow(), groups["rows"].to_arrow()
    none = pa.repeat(pa.scalar(0, pa.int64()), len(rows))
    columns = {f"k{i}": column_at(table, name).take(rows) for i, name in enumerate(keys)}
    return pa.table({**columns, "before": none if after else numbers, "after": numbers if after else none})


def duplicate_keys(counts: pa.Table) -> pa.Table:
    """The keys that several rows of one side have, of some `key_counts` together, those with most rows first."""
    names = counts.column_names[:-2]
    sums = _frame(counts, names).with_columns(
        *(polars.Series(side, counts[side].to_numpy()) for side in ("before", "after"))
    )
    repeated = (
        sums.group_by([f"c{i}" for i in range(len(names))])
        .agg(polars.col("row").min(), polars.col("before").sum(), polars.col("after").sum())
        .filter((polars.col("before") > 1) | (polars.col("after") > 1))
        .with_columns(polars.max_horizontal("before", "after").alias("most"))
        .sort(["most", *(f"c{i}" for i in range(len(names)))], descending=[True, *(False for _ in names)])
    )
    values = counts.select(names).take(repeated["row"].to_arrow())
    for side in ("before", "after"):
        values = values.append_column(side, repeated[side].to_arrow())
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
    """Rows dealt out by the values of some columns: those with the same values are in the same deal, in every process
    (of one release of polars); where one of them is null, by the values of others."""
    frame = _frame(table, names).drop("row")
    if not table.num_rows:
        return
    if not frame.width:
        yield 0, table
        return
    dealt = frame.hash_rows(seed=0).to_numpy()
    unknown = frame.select(polars.any_horizontal(polars.all().is_null())).to_series().to_numpy()
    if unknown.any() and list(otherwise) != list(names):
        dealt = np.where(unknown, _frame(table, otherwise).drop("row").hash_rows(seed=0).to_numpy(), dealt)
    dealt = dealt % number
    order = np.argsort(dealt, kind="stable")
    sorted_rows, (numbers, starts) = table.take(pa.array(order)), np.unique(dealt[order], return_index=True)
    for deal, start, end in zip(numbers, starts, [*starts[1:], table.num_rows], strict=True):
        yield int(deal), sorted_rows.slice(start, end - start)


def _rows(frame: polars.DataFrame) -> pa.Array:
    return frame.sort("row")["row"].to_arrow()


def _without(table: pa.Table, rows: pa.Array) -> pa.Table:
    kept = np.ones(table.num_rows, dtype=bool)
    kept[rows.to_numpy(zero_copy_only=False)] = False
    return table.filter(pa.array(kept))


def _frame(table: pa.Table, columns: Sequence[str]) -> polars.DataFrame:
    coded = {f"c{i}": polars.Series(values=_comparable(column_at(table, name))) for i, name in enumerate(columns)}
    return (
        polars.DataFrame(coded).with_row_index("row")
        if coded
        else polars.DataFrame({"row": np.arange(table.num_rows, dtype=np.uint32)})
    )


def _rank(table: pa.Table, columns: Sequence[str]) -> polars.DataFrame:
    """Comparable columns c0, c1..., the row, and among equal rows a rank, so that the second of two equal rows is
    another one."""
    frame = _frame(table, columns)
    names = [f"c{i}" for i in range(len(columns))]
    counter = polars.int_range(polars.len(), dtype=polars.UInt32)
    return frame.with_columns((counter.over(names) if names else counter).alias("rank"))


def _unique(table: pa.Table, keys: Sequence[str]) -> polars.DataFrame:
    names = [f"c{i}" for i in range(len(keys))]
    frame = _frame(table, keys).drop_nulls(names)
    return frame.filter(frame.select(names).is_unique()) if frame.height else frame


def _comparable(column: pa.ChunkedArray) -> polars.Series:
    """A column whose equality is the one we mean: nested values as text, floats without a negative zero."""
    if isinstance(column.type, pa.BaseExtensionType):
        column = column.cast(column.type.storage_type)
    if pa.types.is_nested(column.type):
        nested = [row["v"] for row in row_dicts(pa.table({"v": column}))]
        return polars.Series([None if v is None else _text(v) for v in nested], dtype=polars.String)
    if pa.types.is_null(column.type):
        return polars.Series([None] * len(column), dtype=polars.Int8)
    if pa.types.is_floating(column.type):
        column = pc.if_else(pc.equal(column, 0.0), pa.scalar(0.0, column.type), column)
    if pa.types.is_fixed_size_binary(column.type) or pa.types.is_decimal(column.type):
        column = column.cast(pa.binary() if pa.types.is_fixed_size_binary(column.type) else pa.string())
    values = polars.from_arrow(column)
    assert isinstance(values, polars.Series)
    return values


def _text(value: object) -> str:
    """A nested value as text that is equal when the values are: maps in any order."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{k!r}:{_text(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        pairs = [_text(v) for v in value]
        is_map = value and all(isinstance(v, tuple) and len(v) == 2 for v in value)
        return "[" + ",".join(sorted(pairs) if is_map else pairs) + "]"
    if isinstance(value, tuple):
        return "(" + ",".join(_text(v) for v in value) + ")"
    if isinstance(value, float):
        return "nan" if value != value else repr(value + 0.0)
    return repr(value)
