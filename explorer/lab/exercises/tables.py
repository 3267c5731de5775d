"""The tables that an exercise makes of its own: they leave the catalog once the answer is judged, and the disk when
this process ends (until then a picture of them may be asked for)."""

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
    """Note a table of the sandbox, `lab.t`, if an answer is being judged; returns its name."""
    if (names := _new_tables.get()) is not None:
        names.append(name.removeprefix(f"{SANDBOX}."))
    return name


@contextmanager
def remove_tables_afterwards(engine: SparkEngine | None) -> Iterator[None]:
    """Meanwhile note the tables that are made; remove them afterwards."""
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
