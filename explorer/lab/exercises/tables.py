"""The tables that exercises make. They leave the catalog after the answer is judged. Their files stay until this
process ends, because a picture of the table may still be shown."""

from __future__ import annotations

import atexit
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from explorer.spark_engine.spark import SparkEngine
from explorer.storage.catalogs.sandbox_entries import SANDBOX, forget_entries

_new_tables: ContextVar[list[str] | None] = ContextVar("new_tables", default=None)


def note_table(name: str) -> str:
    """Note a table of the sandbox, such as `lab.t`, if an answer is being judged; return its name."""
    if (names := _new_tables.get()) is not None:
        names.append(name.removeprefix(f"{SANDBOX}."))
    return name


@contextmanager
def remove_tables_afterwards(engine: SparkEngine | None) -> Iterator[None]:
    """Note the tables that the block makes, and remove them after it."""
    names: list[str] = []
    token = _new_tables.set(names)
    try:
        yield
    finally:
        _new_tables.reset(token)
        if engine is not None and names:
            forget_entries(engine.sandbox, names)
            for name in names:
                folder = engine.sandbox / "warehouse" / name.replace(".", "/")
                atexit.register(shutil.rmtree, folder, ignore_errors=True)
