"""Things several tests need: the figures' short names for files (docs/texts.md), and text without what differs from run
to run."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from explorer.spec.entries.entries import ADDED
from explorer.table import Table
from tests.support import direct

T = TypeVar("T")


def run_apart(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run asynchronous work on a thread of its own: that of the tests may have Playwright's loop."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(lambda: asyncio.run(work())).result()


def open_demo(name: str) -> Table:
    return direct.open_table(f"demo.{name}")


def file_names(table: Table) -> dict[tuple[str, int | None], str]:
    """data-1, data-2, delete-1...: numbered in the order that snapshots added them, then by file name."""
    first: dict[tuple[str, int | None], tuple[int, str]] = {}
    content: dict[tuple[str, int | None], int] = {}
    for n, snapshot in enumerate(
        sorted(table.metadata.snapshots, key=lambda s: (s.sequence_number, s.timestamp_ms or 0))
    ):
        for manifest in table.tree.manifests(snapshot):
            entries = table.tree.logical_entries(manifest, snapshot)
            assert entries is not None
            for row in entries.to_pylist():
                key = (row["file_path"], row["content_offset"])
                if row["status"] == ADDED and key not in first:
                    first[key] = (n, row["file_path"].rsplit("/", 1)[-1])
                    content[key] = row["content"] or 0
    names: dict[tuple[str, int | None], str] = {}
    counts = {"data": 0, "delete": 0}
    for key in sorted(first, key=lambda k: first[k]):
        kind = "delete" if content[key] else "data"
        counts[kind] += 1
        names[key] = f"{kind}-{counts[kind]}"
    return names


def normalize(text: str, table: Table) -> str:
    """Text of a table without ids, times, sizes and folders, which differ from run to run."""
    for i, snapshot in enumerate(
        sorted(table.metadata.snapshots, key=lambda s: (s.sequence_number, s.timestamp_ms or 0))
    ):
        text = text.replace(str(snapshot.snapshot_id), f"<snapshot {i + 1}>")
    text = re.sub(r"file:/[^\s\"']*?/warehouse", "<warehouse>", text)
    text = re.sub(r"/[^\s\"']*?/warehouse", "<warehouse>", text)
    text = re.sub(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "<uuid>", text)
    text = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)? UTC", "<time>", text)
    text = re.sub(r"\d+(\.\d+)? (B|KiB|MiB)\b", "<size>", text)
    text = re.sub(r"\d+…[0-9a-f]+\.stats", "<stats file>", text)
    text = re.sub(r"\b\d+-[0-9a-f]{4}…\d*(?:-del)?(\.\w+)+", "<spark file>", text)
    seen: dict[str, str] = {}
    return re.sub(r"\b[a-z][0-9a-f]{12}\b", lambda m: seen.setdefault(m.group(), f"<node {len(seen) + 1}>"), text)


VARIES = (
    "timestamp-ms", "timestamp_ms", "last-updated-ms", "last_updated_ms", "became_current", "app-id", "manifest_length",
    "owner",
)  # fmt: skip
"""Fields whose values no two runs have in common: times, Spark's run, a length that counts the folder's name, the
user."""


def steady(data: Any) -> Any:
    """JSON data with the values of VARIES replaced where there is one."""
    if isinstance(data, dict):
        return {k: f"<{k}>" if k in VARIES and v is not None else steady(v) for k, v in data.items()}
    return [steady(v) for v in data] if isinstance(data, list) else data
