"""A table in parts as one: in memory while that is small, else in a file of its own, which is mapped into memory and
goes with it."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress

import pyarrow as pa

from explorer.core.batches import Batches
from explorer.errors import ExplorerError
from explorer.io import budget
from explorer.io.home import cache_home


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
