"""A table in parts as one: in memory while that is small, else in a file of its own, which is mapped into memory and
goes with it. Or as several, none of which has a key of another, each in a file of its own while it is needed."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress

import numpy as np
import polars
import pyarrow as pa

from explorer.core.batches import AT_ONCE, Batches
from explorer.errors import ExplorerError
from explorer.io import budget
from explorer.io.home import cache_home

DEALS = 64
"""Files that are open at once at most: how many rows there will be is what a stranger's manifest list says."""


SAMPLED = 1_000
"""Rows for each deal by which ranges are chosen."""
ROW = "row of all"


def spooled(batches: Batches) -> pa.Table:
    """All parts as one table. Raises ExplorerError when the disk cannot take them."""
    held: list[pa.Table] = []
    size = 0
    parts = batches.read()
    for part in parts:
        held.append(part)
        size += part.nbytes
        if size > budget.share(16):
            break
    else:
        return pa.concat_tables([batches.schema.empty_table(), *held]).unify_dictionaries()
    try:
        os.makedirs(cache_home(), exist_ok=True)
        descriptor, path = tempfile.mkstemp(prefix="rows-", suffix=".arrows", dir=cache_home())
    except OSError as error:
        raise ExplorerError(f"{size:,} bytes of rows need a place on the disk: {error}") from error
    try:
        with os.fdopen(descriptor, "wb") as file, pa.ipc.new_stream(file, batches.schema) as writer:
            while held:
                writer.write_table(held.pop(0))
            for part in parts:
                writer.write_table(part)
        with pa.memory_map(path) as source, pa.ipc.open_stream(source) as reader:
            return reader.read_all()
    except OSError as error:
        raise ExplorerError(f"the disk did not take {size:,} bytes of rows and more: {error}") from error
    finally:
        with suppress(OSError):  # what is mapped stays
            os.unlink(path)


def in_order(batches: Batches, by: Sequence[str]) -> pa.Table:
    """All rows in the order of some columns, nulls first, and of those that are the same in them only the last. Where
    they are many, they are dealt out by ranges of the first column, which are put in order one after the other. Raises
    ExplorerError when the disk cannot take them."""
    rows = spooled(batches)
    number = min(-(-rows.nbytes // budget.share(16)), DEALS)
    if number <= 1:
        return _in_order(rows, by)
    step = max(1, rows.num_rows // (number * SAMPLED))
    some = pa.chunked_array([part.take(pa.array(range(0, len(part), step))) for part in rows[by[0]].chunks])
    sorted_ = polars.Series(polars.from_arrow(some)).sort()
    bounds = sorted_.gather([len(sorted_) * deal // number for deal in range(1, number)])
    parts = Batches(rows.schema, lambda: (pa.Table.from_batches([batch]) for batch in rows.to_batches()))
    ranges = _dealt(parts, by[0], lambda values: bounds.search_sorted(values, "right"), number)
    return spooled(Batches(rows.schema, lambda: (_in_order(deal, by) for deal in ranges)))


def _in_order(rows: pa.Table, by: Sequence[str]) -> pa.Table:
    keys = polars.DataFrame(polars.from_arrow(rows.select(by))).with_row_index(ROW)
    kept = keys.unique(by, keep="last").sort(by)[ROW]
    return rows.combine_chunks().take(kept.to_arrow())


def _own_dictionaries(rows: pa.Table) -> pa.Table:
    """The same with dictionaries of what is in these rows alone: they are some of many, whose dictionaries they had."""
    for at, field in enumerate(rows.schema):
        if pa.types.is_dictionary(field.type):
            encoded = rows.column(at).cast(field.type.value_type).dictionary_encode().cast(field.type)
            rows = rows.set_column(at, field, encoded)
    return rows


def dealt(batches: Batches, key: str, number: int) -> Iterator[pa.Table]:
    """All rows, dealt out to so many tables (DEALS at most) by a hash of their key. Raises ExplorerError when the disk
    cannot take them."""
    number = min(number, DEALS)
    return _dealt(batches, key, lambda values: values.hash() % number, number)


def _dealt(
    batches: Batches, key: str, deal_of: Callable[[polars.Series], polars.Series], number: int
) -> Iterator[pa.Table]:
    try:
        os.makedirs(cache_home(), exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="rows-", dir=cache_home()) as folder:
            paths = [f"{folder}/{deal}.arrows" for deal in range(number)]
            with ExitStack() as files:
                writers = [files.enter_context(pa.ipc.new_stream(path, batches.schema)) for path in paths]
                for part in _larger(batches):
                    deals = deal_of(polars.Series(polars.from_arrow(part[key]))).to_numpy()
                    rows = part.take(pa.array(np.argsort(deals, kind="stable")))
                    ends = np.cumsum(np.bincount(deals.astype(np.int64), minlength=number)).tolist()
                    for writer, start, end in zip(writers, [0, *ends], ends, strict=False):
                        if end > start:
                            writer.write_table(_own_dictionaries(rows.slice(start, end - start)))
            for path in paths:
                with pa.memory_map(path) as source, pa.ipc.open_stream(source) as reader:
                    yield reader.read_all()
                os.unlink(path)
    except OSError as error:
        raise ExplorerError(f"rows that are compared need a place on the disk: {error}") from error


def _larger(batches: Batches) -> Iterator[pa.Table]:
    """The same rows in parts of AT_ONCE and more: each is dealt to many."""
    held: list[pa.Table] = []
    for part in batches.read():
        held.append(part)
        if sum(table.num_rows for table in held) >= AT_ONCE:
            yield pa.concat_tables(held).combine_chunks()
            held = []
    if held:
        yield pa.concat_tables(held).combine_chunks()
