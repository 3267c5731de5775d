"""Hooks into private methods of pyiceberg. Its commit does several of the lab's steps in one call."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable
from typing import Any, Literal

from pyiceberg.catalog.sql import SqlCatalog

Point = Literal["metadata", "swap", "answer"]
THREADS = "pyiceberg-"
"""How the names of the lab's own threads begin."""

# the lab reports lost swaps itself
logging.getLogger("pyiceberg.table").addFilter(lambda _: not threading.current_thread().name.startswith(THREADS))


class HookedCatalog(SqlCatalog):
    """pyiceberg's own catalog with a hook. It calls `at` with "metadata" before it checks the table's state and writes
    metadata.json, with "swap" before the swap, and with "answer" after it."""

    at: Callable[[Point], None]
    location = ""

    def commit_table(self, table: Any, requirements: Any, updates: Any) -> Any:
        self.at("metadata")
        answer = super().commit_table(table, requirements, updates)
        self.at("answer")
        return answer

    def _write_metadata(  # type: ignore[override]
        self, metadata: Any, io: Any, metadata_path: str, *more: Any, **named: Any
    ) -> None:
        SqlCatalog._write_metadata(metadata, io, metadata_path, *more, **named)
        self.location = metadata_path
        self.at("swap")


def break_connection() -> None:
    """Raise the error of a writer that gets no answer."""
    raise TimeoutError("the connection broke before the answer")


def before_apply(transaction: Any, call: Callable[[], None]) -> None:
    """Call `call` each time before the transaction applies its change, that is, writes manifests and a manifest
    list."""
    register, rebuild = transaction._register_snapshot_producer, transaction._rebuild_snapshot_updates

    def on_register(producer: Any) -> None:
        if not getattr(producer, "rewrites_needed", False):  # such a delete still writes files
            call()
        register(producer)

    def on_rebuild() -> None:
        call()
        rebuild()

    transaction.__dict__.update(_register_snapshot_producer=on_register, _rebuild_snapshot_updates=on_rebuild)


def pending_snapshots(transaction: Any) -> list[dict[str, Any]]:
    """The snapshots that a transaction has applied and not committed, as in metadata.json."""
    snapshots = [u.snapshot for u in transaction._updates if type(u).__name__ == "AddSnapshotUpdate"]
    return [json.loads(s.model_dump_json(by_alias=True, exclude_none=True)) for s in snapshots]
