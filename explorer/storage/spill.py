"""A table in parts as one: in memory while that is small, else in a file of its own, of which a part at a time is
mapped into memory, and which goes with it. Or as several, none of which has a key of another, each in a file of its own
while it is needed."""

from __future__ import annotations

import mmap
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import chain
from typing import IO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from explorer.errors import ExplorerError
from explorer.spec.entries.entries import chosen_rows
from explorer.spec.entries.lazy_table import Batches
from explorer.spec.entries.numpy_columns import Ints, flags
from explorer.spec.rows.spilled_rows import RowParts
from explorer.spec.values.hashes import hashes
from explorer.spec.values.values import no_rows
from explorer.storage import cache, limits
from explorer.storage.data_dirs import cache_home

DEALS = 64
"""Files that are open at once at most: how many rows there will be is what a stranger's manifest list says."""
SAMPLED = 1_000
"""Rows for each deal by which ranges are chosen."""
LARGER = 16 << 20
"""Bytes of rows that are written as one part."""
_Sized = tuple[pa.Table, int]
"""Rows, and the bytes that they take."""


def spool(schema: pa.Schema, parts: Iterator[pa.Table]) -> RowParts:
    """All rows. Raises ExplorerError when the disk cannot take them."""
    held: list[_Sized] = []
    size = 0
    sized_parts = ((part, _size(part)) for part in parts)
    for part, bytes_ in sized_parts:
        held.append((part, bytes_))
        size += bytes_
        if size > limits.share(16):
            return _on_disk(schema, chain(_let_go(held), sized_parts))
    rows = [part for part, _ in held]
    return RowParts.of(pa.concat_tables([no_rows(schema), *rows]).unify_dictionaries().combine_chunks())


def _let_go(held: list[_Sized]) -> Iterator[_Sized]:
    while held:
        yield held.pop(0)


def _on_disk(schema: pa.Schema, parts: Iterator[_Sized]) -> RowParts:
    """Rows in a file, each part of which can be mapped alone: it is open as long as they are held. Columns that lie in
    cache files are not written again."""
    file = _file()
    mapped, places = list[pa.Table](), list[tuple[int, int]]()
    size = 0
    for part, bytes_ in _larger(parts):
        lying = cache.mapped_columns(part)
        own = part.drop_columns(lying)
        with _disk():
            start = file.seek(-(-file.tell() // mmap.ALLOCATIONGRANULARITY) * mmap.ALLOCATIONGRANULARITY)
            with pa.ipc.new_stream(file, own.schema) as writer:
                writer.write_table(_as_one(own))
            file.flush()
        mapped.append(part.select(lying))
        places.append((start, file.tell() - start))
        size += bytes_

    def open_part(at: int) -> pa.Table:
        own, lying = _map_part(file, *places[at]), mapped[at]
        names = set(lying.column_names)
        columns = [(lying if name in names else own)[name] for name in schema.names]
        return pa.Table.from_arrays(columns, schema=schema)

    return RowParts(schema, [len(part) for part in mapped], open_part, size)


def in_order(batches: Batches, by: Sequence[str]) -> RowParts:
    """All rows in the order of some columns, nulls first, and of those that are the same in them only the last. None of
    the columns is of floating-point numbers. Where the rows are many, they are dealt out by ranges of the first column,
    which are put in order one after the other. Raises ExplorerError when the disk cannot take them."""
    rows = spool(batches.schema, batches.read())
    number = min(-(-rows.on_disk // limits.share(16)), DEALS)
    if number <= 1:
        return RowParts.of(_in_order(rows.whole(), by))
    step = max(1, len(rows) // (number * SAMPLED))
    some = [part[by[0]].combine_chunks().take(pa.array(range(0, len(part), step))) for part in rows.read()]
    sorted_ = pa.chunked_array(some).drop_null().combine_chunks().sort()
    bounds = sorted_.take(
        pa.array([len(sorted_) * deal // number for deal in range(1, number)] if len(sorted_) else [])
    )
    ranges = _deal(rows.schema, rows.read(), by[0], partial(_count_bounds, bounds), number)
    return spool(rows.schema, (_in_order(deal, by) for deal in ranges))


def _count_bounds(bounds: pa.Array, values: pa.ChunkedArray) -> Ints:
    """How many of some bounds, which are in order, each value is not below."""
    counts = np.zeros(len(values), np.int64)
    for step in 1 << np.arange(len(bounds).bit_length())[::-1]:
        places = counts + step - 1
        candidates = bounds.take(pa.array(np.minimum(places, len(bounds) - 1)))
        counts += step * (flags(pc.less_equal(candidates, values)) & (places < len(bounds)))
    return counts


def _in_order(rows: pa.Table, by: Sequence[str]) -> pa.Table:
    rows = rows.combine_chunks()
    keys: dict[str, pa.ChunkedArray] = {}
    for name in by:
        if rows[name].null_count:
            keys[f"{name} is there"] = rows[name].is_valid()
        keys[name] = rows[name]
    order = pc.sort_indices(pa.table(keys), sort_keys=[(key, "ascending") for key in keys])
    rows = rows.take(order)
    is_last = np.zeros(len(rows), bool)
    is_last[-1:] = True
    for name in by:
        before, after = rows[name][:-1], rows[name][1:]
        is_same = pc.or_(pc.fill_null(pc.equal(before, after), False), pc.and_(before.is_null(), after.is_null()))
        is_last[:-1] |= ~flags(is_same)
    return chosen_rows(rows, pa.chunked_array([pa.array(is_last)]))


def _own_dictionaries(rows: pa.Table) -> pa.Table:
    """The same with dictionaries of what is in these rows alone: they are some of many, whose dictionaries they had."""
    for at, field in enumerate(rows.schema):
        if pa.types.is_dictionary(field.type):
            encoded = rows.column(at).cast(field.type.value_type).dictionary_encode().cast(field.type)
            rows = rows.set_column(at, field, encoded)
    return rows


def deal_out(batches: Batches, key: str, number: int) -> Iterator[pa.Table]:
    """All rows, dealt out to so many tables (DEALS at most) by a hash of their key. Raises ExplorerError when the disk
    cannot take them."""
    number = min(number, DEALS)
    return _deal(batches.schema, batches.read(), key, partial(_by_hash, number), number)


def _by_hash(number: int, values: pa.ChunkedArray) -> Ints:
    return (hashes(values).view(np.uint64) % np.uint64(number)).astype(np.int64)


def _deal(
    schema: pa.Schema,
    parts: Iterator[pa.Table],
    key: str,
    deal_of: Callable[[pa.ChunkedArray], Ints],
    number: int,
) -> Iterator[pa.Table]:
    files = [_file() for _ in range(number)]
    with ExitStack() as open_writers:
        writers = [open_writers.enter_context(pa.ipc.new_stream(file, schema)) for file in files]
        for part, _ in _larger((part, _size(part)) for part in parts):
            deals = deal_of(part[key])
            rows = _as_one(part).take(pa.array(np.argsort(deals, kind="stable")))
            ends = np.cumsum(np.bincount(deals, minlength=number)).tolist()
            for writer, start, end in zip(writers, [0, *ends], ends, strict=False):
                if end > start:
                    own = _own_dictionaries(rows.slice(start, end - start))
                    with _disk():
                        writer.write_table(own)
    while files:
        file = files.pop(0)
        yield _map_part(file, 0, file.tell())


@contextmanager
def _disk() -> Iterator[None]:
    """What fails within is the disk's fault."""
    try:
        yield
    except OSError as error:
        raise ExplorerError(f"many rows need a place on the disk ({cache_home()}): {error}") from error


def _file() -> IO[bytes]:
    """A file without a name, which goes with what holds it, however this process ends."""
    with _disk():
        os.makedirs(cache_home(), exist_ok=True)
        return tempfile.TemporaryFile(prefix="rows-", dir=cache_home())


def _map_part(file: IO[bytes], start: int, size: int) -> pa.Table:
    """What was written as a stream of its own into a file, from `start` on."""
    with _disk():
        file.flush()
        part = mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ, offset=start)
    return pa.ipc.open_stream(pa.py_buffer(part)).read_all()


def _size(part: pa.Table) -> int:
    """The bytes that a part takes, about: those of its buffers, unless they are likely to be of a larger table that it
    is a part of. It takes ten times as long to find out what of them are its own."""
    buffers = int(part.get_total_buffer_size())
    return buffers if buffers < 2 * LARGER else int(part.nbytes)


def _larger(parts: Iterable[_Sized]) -> Iterator[_Sized]:
    """The same rows in parts of LARGER bytes, about: a part is mapped, or dealt to many."""
    held: list[pa.Table] = []
    size = 0
    for part, bytes_ in parts:
        rows = max(1, part.num_rows if bytes_ < 2 * LARGER else part.num_rows * LARGER // bytes_)
        for at in range(0, part.num_rows, rows):
            whole = rows >= part.num_rows
            held.append(part if whole else _own_dictionaries(part.slice(at, rows)))
            size += bytes_ if whole else held[-1].nbytes
            if size >= LARGER:
                yield pa.concat_tables(held), size
                held, size = [], 0
    if held:
        yield pa.concat_tables(held), size


def _as_one(part: pa.Table) -> pa.Table:
    return part.unify_dictionaries().combine_chunks()
