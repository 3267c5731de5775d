"""One opened table: its metadata now, everything below it when asked for. Safe to use from several threads."""

from __future__ import annotations

import contextlib
import os
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, NamedTuple

import pyarrow as pa
from cachetools import LRUCache

from explorer.errors import NotFoundInTable, UnreadableFile
from explorer.io import avro, cache, manifests, parquet, puffin
from explorer.io.locate import Location
from explorer.io.metadata import parse_metadata
from explorer.io.storage import Storage, canonical, local_path
from explorer.model.manifest import METRIC_FIELDS, ManifestFile, ManifestHeader
from explorer.model.metadata import Snapshot, TableMetadata
from explorer.model.problem import Problem

METRIC_NAMES = [f.name for f in METRIC_FIELDS]


class Read(NamedTuple):
    """Something read, and what of it could not be."""

    value: Any
    problems: tuple[Problem, ...]


BATCH_BYTES = 3 << 20
"""Manifests of together this size are decoded in one call."""
MEMORY_BYTES = 192 << 20
"""Decoded entries kept in memory, for each table."""


def _bytes(read: Read) -> int:
    return 1000 if read.value is None else int(read.value.nbytes) + 1000


def _unreadable(error: UnreadableFile) -> Read:
    return Read(None, (Problem(error.path, error.cause, unaffected="other manifests are not affected"),))


class TableReader:
    """Reads the files of one table, lazily: creating it reads metadata.json and nothing else."""

    def __init__(self, location: Location, roots: Sequence[str] = ()) -> None:
        self.location = location
        self.extra_roots = tuple(roots)
        folder = location.metadata_location.rsplit("/", 1)[0]
        data = Storage([folder, *roots], location.properties).read(location.metadata_location)
        self.metadata, problems = parse_metadata(data, location.metadata_location)
        here = folder.rsplit("/", 1)[0] if folder.rsplit("/", 1)[-1] == "metadata" else folder
        moved = None
        if self.metadata.location and canonical(self.metadata.location) != canonical(here) and location.catalog is None:
            moved = (self.metadata.location, here)
            cause = f"opened from {here}, but the table says it lives at {self.metadata.location}: copied or edited"
            problems.append(
                Problem(location.metadata_location, cause, "/location", "paths below it are read from the copy", "info")
            )
        self.problems = tuple(problems)
        # In a copy, what the table says of its location is only words: it is looked up in the copy, and allows nothing.
        own = [here, self.metadata.location] if self.metadata.location and moved is None else [here]
        self.storage = Storage([*own, *roots], location.properties, moved)
        self._lock = threading.Lock()
        self._lists: LRUCache[int, Read] = LRUCache(512)
        self._entries: LRUCache[tuple[str, bool], Read] = LRUCache(MEMORY_BYTES, getsizeof=_bytes)
        self._bytes: LRUCache[str, avro.Container] = LRUCache(64)

    def manifests(self, snapshot: Snapshot) -> Read:
        """The snapshot's manifest list as list[ManifestFile], in the order it is stored. Never raises for a bad file:
        what is wrong is a Problem, and what could be read is there."""
        with self._lock:
            if snapshot.snapshot_id in self._lists:
                return self._lists[snapshot.snapshot_id]
        try:
            result = self._read_list(snapshot)
        except UnreadableFile as error:
            result = Read([], (Problem(error.path, error.cause, unaffected="other snapshots are not affected"),))
        with self._lock:
            self._lists[snapshot.snapshot_id] = result
        return result

    def _read_list(self, snapshot: Snapshot) -> Read:
        if snapshot.manifest_list is not None:
            container = avro.open_container(self.storage.read(snapshot.manifest_list), snapshot.manifest_list)
            return Read(manifests.manifest_files(container), container.problems)
        found, problems = [], []
        for path in snapshot.manifests:
            try:
                data = self.storage.read(path)
                header = avro.open_container(data, path, header_only=True)
                found.append(manifests.inline_manifest(path, len(data), header, snapshot.snapshot_id))
            except UnreadableFile as error:
                problems.append(Problem(error.path, error.cause, unaffected="other manifests are not affected"))
        if not snapshot.manifests:
            cause = f"snapshot {snapshot.snapshot_id} has neither `manifest-list` nor `manifests`"
            problems.append(Problem(self.metadata.metadata_location, cause, "/snapshots"))
        return Read(found, tuple(problems))

    def _container(self, path: str) -> avro.Container:
        with self._lock:
            if path in self._bytes:
                return self._bytes[path]
        container = avro.open_container(self.storage.read(path), path)
        if sum(len(block.data) for block in container.blocks) < 4 << 20:
            with self._lock:
                self._bytes[path] = container
        return container

    def header(self, manifest_path: str) -> ManifestHeader:
        """A manifest's Avro header. Raises UnreadableFile."""
        return manifests.header(self._container(manifest_path))

    def entries(self, manifest: ManifestFile, metrics: bool = False) -> Read:
        """A manifest's entries as stored, as an Arrow table (see model.manifest.ENTRY_SCHEMA); without the metric
        columns unless asked. Never raises for a bad file: an unreadable manifest is None with its Problem."""
        return self._entries_of([manifest], metrics)[0]

    def _entries_of(self, wanted: Sequence[ManifestFile], metrics: bool) -> list[Read]:
        """`entries` of several manifests. Those that must be decoded are decoded together: a call for many small
        manifests costs hardly more than one for one."""
        found: dict[str, Read] = {}
        opened: dict[str, avro.Container] = {}
        for manifest in wanted:
            path = manifest.manifest_path
            try:
                if (known := self._remembered(manifest, metrics)) is not None:
                    found[path] = known
                else:
                    opened[path] = avro.open_container(self.storage.read(path), path)
            except UnreadableFile as error:
                found[path] = _unreadable(error)
        tables = manifests.entries_of_many(list(opened.values()), metrics)
        by_path = {m.manifest_path: m for m in wanted}
        for (path, container), table in zip(opened.items(), tables, strict=True):
            found[path] = _unreadable(table) if isinstance(table, UnreadableFile) else Read(table, container.problems)
            if not found[path].problems:
                self._keep(by_path[path], metrics, found[path].value)
        with self._lock:
            for path, result in found.items():
                with contextlib.suppress(ValueError):  # larger than the memory for all: it comes from the disk cache
                    self._entries[(path, metrics)] = result
        return [found[m.manifest_path] for m in wanted]

    def _remembered(self, manifest: ManifestFile, metrics: bool) -> Read | None:
        """From memory or the disk cache."""
        path = manifest.manifest_path
        with self._lock:
            if (path, metrics) in self._entries:
                return self._entries[(path, metrics)]
        stamp, length = self._stamp(path, manifest.manifest_length)
        if length is None or length < cache.SMALLEST:
            return None
        narrow = cache.get(path, length, stamp, "narrow")
        if narrow is None or not metrics:
            return None if narrow is None else Read(narrow, ())
        wide = cache.get(path, length, stamp, "metrics")
        if wide is None or wide.num_rows != narrow.num_rows:
            return None
        for at, name in enumerate(METRIC_NAMES, narrow.num_columns - 1):  # before `partition`, as decoded
            narrow = narrow.add_column(at, wide.schema.field(name), wide.column(name))
        return Read(narrow, ())

    def _keep(self, manifest: ManifestFile, metrics: bool, table: pa.Table) -> None:
        """Into the disk cache, when that pays."""
        path = manifest.manifest_path
        stamp, length = self._stamp(path, manifest.manifest_length)
        if length is None or length < cache.SMALLEST:
            return
        if metrics:
            cache.put(path, length, stamp, "metrics", table.select(METRIC_NAMES))
        cache.put(path, length, stamp, "narrow", table.drop_columns(METRIC_NAMES) if metrics else table)

    def _stamp(self, path: str, length: int | None) -> tuple[int, int | None]:
        """(modification time, size) of a local file; (0, the length the list states) of a remote, immutable one."""
        local = local_path(self.storage.resolve(path))
        if local is None:
            return 0, length
        try:
            state = os.stat(local)
        except OSError:
            return 0, None
        return state.st_mtime_ns, state.st_size

    def many_entries(
        self, wanted: Iterable[ManifestFile], metrics: bool = False
    ) -> Iterator[tuple[ManifestFile, Read]]:
        """`entries` of several manifests, decoded a few at a time on threads, in the order given."""
        wanted = list(wanted)
        if len(wanted) < 2:
            yield from ((m, self.entries(m, metrics)) for m in wanted)
            return
        workers = max(2, os.cpu_count() or 2)
        batches: list[list[ManifestFile]] = [[]]
        size = 0
        for manifest in wanted:
            size += manifest.manifest_length or BATCH_BYTES
            batches[-1].append(manifest)
            if size >= BATCH_BYTES:
                batches.append([])
                size = 0
        with ThreadPoolExecutor(workers) as pool:
            waiting: deque[tuple[list[ManifestFile], Future[list[Read]]]] = deque()
            for batch in filter(None, batches):
                waiting.append((batch, pool.submit(self._entries_of, batch, metrics)))
                if len(waiting) > workers * 2:  # bounded, so that a stream of any length fits in memory
                    done, future = waiting.popleft()
                    yield from zip(done, future.result(), strict=True)
            for done, future in waiting:
                yield from zip(done, future.result(), strict=True)

    def stored_records(self, manifest_path: str, start: int = 0, limit: int | None = None) -> list[dict[str, Any]]:
        """Raw Avro records of a manifest, every field as the writer wrote it. Raises UnreadableFile."""
        return list(avro.records(self._container(manifest_path), start, limit))

    def metadata_file(self, path: str) -> tuple[TableMetadata, list[Problem]]:
        """An older metadata file of this table. Raises UnreadableFile."""
        return parse_metadata(self.storage.read(path), path)

    def parquet_footer(self, path: str) -> dict[str, Any]:
        """See io.parquet.read_footer."""
        return parquet.read_footer(self.storage, path)

    def puffin_footer(self, path: str) -> dict[str, Any]:
        """See io.puffin.read_footer."""
        return puffin.read_footer(self.storage, path)

    def require_snapshot(self, snapshot_id: int) -> Snapshot:
        """The snapshot, or NotFoundInTable."""
        found = self.metadata.snapshot(snapshot_id)
        if found is None:
            raise NotFoundInTable(
                f"snapshot {snapshot_id} not found; it may have expired (see 'iceberg-explorer snapshots')"
            )
        return found
