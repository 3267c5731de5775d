"""A table in parts as one: in memory while that is small, else in a file of its own, which is mapped into memory and
goes with it. Or as several, none of which has a key of another, each in a file of its own while it is needed."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
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


def dealt(batches: Batches, key: str, number: int) -> Iterator[pa.Table]:
    """All rows, dealt out to so many tables (DEALS at most) by a hash of their key. Raises ExplorerError when the disk
    cannot take them."""
    number = min(number, DEALS)
    try:
        os.makedirs(cache_home(), exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="rows-", dir=cache_home()) as folder:
            paths = [f"{folder}/{deal}.arrows" for deal in range(number)]
            with ExitStack() as files:
                writers = [files.enter_context(pa.ipc.new_stream(path, batches.schema)) for path in paths]
                for part in _larger(batches):
                    deals = (polars.Series(polars.from_arrow(part[key])).hash() % number).to_numpy()
                    rows = part.take(pa.array(np.argsort(deals, kind="stable")))
                    ends = np.cumsum(np.bincount(deals.astype(np.int64), minlength=number)).tolist()
                    for writer, start, end in zip(writers, [0, *ends], ends, strict=False):
                        if end > start:
                            writer.write_table(rows.slice(start, end - start))
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
