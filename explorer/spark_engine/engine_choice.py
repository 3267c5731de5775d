"""Who decodes the manifests: this process, or Spark's workers, and why."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from explorer.errors import NotFoundInTable
from explorer.model.manifest import ManifestFile
from explorer.spark_engine.spark_master import elsewhere, is_local
from explorer.spec.entries.lazy_table import Parts
from explorer.spec.text.units import human_bytes
from explorer.storage import limits

Engine = Literal["auto", "local", "spark"]
"""Where what grows with the table is made."""
ENTRY, METRICS = 256, 1280
"""Bytes of a decoded entry, and of the counts and bounds of ten columns, about."""
UNPACKED = 4
"""Bytes of rows for each of a data file, about."""
PACKED = 24
"""Bytes of an entry in a manifest, at least: of a manifest that does not say how many it has."""


@dataclass(frozen=True)
class Choice:
    """Who makes an answer, and why, as a sentence. `large`: decoded, the entries are beyond the memory limit."""

    engine: Literal["local", "spark"]
    why: str
    large: bool = False


def choose_engine(request: Engine, parts: Parts, spark: Callable[[], str], folder: bool = False) -> Choice:
    """What was asked for; "auto" is this process while the entries fit in the memory limit once they are decoded, and
    beyond that Spark, if its workers are not ours, who take longer than we do, and have the table, which lies in a
    `folder` of this machine, or else in a store. `spark` gives its master, and is asked only where that matters. Raises
    NotFoundInTable."""
    entries = sum(map(entries_in, parts.manifests))
    size, limit = entries * (ENTRY + METRICS * parts.metrics), limits.limit()
    if choice := _choice_by_name(request, size > limit, spark):
        return choice
    size_words = f"{entries:,} entries, about {human_bytes(size)} once decoded"
    if size <= limit:
        return Choice("local", f"made here: {size_words}, fit in the memory limit of {human_bytes(limit)}")
    beyond = f"{size_words}, are beyond the memory limit of {human_bytes(limit)}"
    if is_local(master := spark()):
        return Choice("local", f"made here, a part at a time: {beyond}, and Spark's workers would be here too", True)
    if folder and elsewhere(master):
        return Choice("local", f"made here, a part at a time: {beyond}, and {_lacks(master)}", True)
    return Choice("spark", f"made by Spark ({master}): {beyond}", True)


def choose_engine_for_rows(request: Engine, size: int, spark: Callable[[], str], folder: bool = False) -> Choice:
    """The same for `size` bytes of data files: beyond the limit Spark, which puts on disk what does not fit, if its
    workers have them. Raises NotFoundInTable."""
    rows, limit = size * UNPACKED, limits.limit()
    if choice := _choice_by_name(request, rows > limit, spark):
        return choice
    size_words = f"{human_bytes(size)} of data files, about {human_bytes(rows)} once decoded"
    if rows <= limit:
        return Choice("local", f"made here: {size_words}, fit in the memory limit of {human_bytes(limit)}")
    return beyond_limit(size_words, spark, folder)


def beyond_limit(size_words: str, spark: Callable[[], str], folder: bool) -> Choice:
    """Spark for rows that are beyond the limit, if its workers have them. `size_words` say how much they are."""
    beyond = f"{size_words}, are beyond the memory limit of {human_bytes(limits.limit())}"
    if folder and elsewhere(master := spark()):
        return Choice("local", f"made here: {beyond}, but {_lacks(master)}", True)
    return Choice("spark", f"made by Spark ({spark()}): {beyond}", True)


def _lacks(master: str) -> str:
    return (
        f"the table lies in a folder of this machine, which workers of {master} may not have (engine spark asks them)"
    )


def _choice_by_name(request: Engine, large: bool, spark: Callable[[], str]) -> Choice | None:
    if request not in ("auto", "local", "spark"):
        raise NotFoundInTable(f"no engine {request!r}: there are auto, local and spark")
    if request == "auto":
        return None
    by = "made here" if request == "local" else f"made by Spark ({spark()})"
    return Choice(request, f"{by}: asked for", large)


def entries_in(manifest: ManifestFile) -> int:
    """By the manifest list's counts, or by its length."""
    counts = (manifest.added_files_count, manifest.existing_files_count, manifest.deleted_files_count)
    numbers = [count for count in counts if count is not None]
    return sum(numbers) if len(numbers) == len(counts) else (manifest.manifest_length or 0) // PACKED
