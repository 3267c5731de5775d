"""Manifests of one storage, decoded: what a driver's and an executor's process have in common. Safe to use from
several threads."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa
from cachetools import LRUCache

from explorer.errors import AccessRefused, NotNow, NotReadHere, UnreadableFile
from explorer.model.manifest import METRIC_FIELDS, ManifestFile, ManifestHeader
from explorer.model.problem import Problem
from explorer.progress import PartWatch, check_cancellation, listener, note_read, steps
from explorer.storage import cache, limits, manifests, native_decoder, parquet_manifests
from explorer.storage.formats import avro
from explorer.storage.manifest_layout import count_partition_fields
from explorer.storage.paths import local_path
from explorer.storage.storage import Storage

METRIC_NAMES = [f.name for f in METRIC_FIELDS]
BATCH_BYTES = 3 << 20
"""Manifests of together this size are decoded in one call."""
WORTH_A_THREAD = 128 << 10
"""Fewer bytes are not worth a thread of their own."""
TOGETHER_BYTES = 32 << 20
"""What manifests that are decoded in one call unpack to, about: of a batch whose manifests turn out to hold more, those
after it are left for later, each alone."""
UNPACKING = 8
"""How many times its bytes a manifest takes while it is decoded, about."""
DENSE, DENSE_BYTES = 200, 256 << 20
"""All manifests of a table decode to so many times their bytes at most, and so many bytes more. A million entries of
our benchmarks decode to twenty times theirs."""

NOT_NOW = "not-now"
"""What stands for a rule in the problem of a file that could not be read this time: nothing is wrong with it."""
NOT_READ_HERE = "not-read-here"
"""The same of a file that is encrypted, or of a kind that only the spec has so far."""
HEAD = 64 << 10
"""Bytes of a manifest in which its header is looked for first."""

T = TypeVar("T")


@dataclass(frozen=True)
class ReadResult(Generic[T]):
    """Something read, and what of it could not be. What is not `lasting` may be read when it is asked for again."""

    value: T
    problems: tuple[Problem, ...]
    lasting: bool = True
    bytes: int | None = None
    """What its value takes, about, where that is known."""

    @functools.cached_property
    def size(self) -> int:
        """The bytes of memory that it takes, about."""
        return 1000 + (int(getattr(self.value, "nbytes", 0)) if self.bytes is None else self.bytes)


EntriesRead = ReadResult[pa.Table | None]


def _unreadable(error: UnreadableFile) -> EntriesRead:
    return ReadResult(None, (unreadable(error, "manifests"),), not isinstance(error, NotNow))


def _read_of(path: str, entries: pa.Table, problems: tuple[Problem, ...]) -> EntriesRead:
    """Entries that were decoded; unreadable, where a value has more items than Python makes at once."""
    try:
        for field in entries.schema:
            if pa.types.is_list(field.type) or pa.types.is_map(field.type):
                lengths = [np.diff(part.offsets).max(initial=0) for part in entries[field.name].chunks]
                limits.within(int(max(lengths, default=0)), limits.ITEMS, path, f"items in one value of `{field.name}`")
    except UnreadableFile as error:
        return _unreadable(error)
    return ReadResult(entries, problems)


def unreadable(error: UnreadableFile, others: str) -> Problem:
    """A file that cannot be read, while others can: because of what it is, where it is, or how things are now."""
    kinds = ((AccessRefused, "path-outside"), (NotNow, NOT_NOW), (NotReadHere, NOT_READ_HERE))
    rule = next((rule for kind, rule in kinds if isinstance(error, kind)), "")
    return Problem(error.path, error.cause, unaffected=f"other {others} are not affected", rule=rule)


class _Batch(NamedTuple):
    """Manifests that were read together, in order; None for those that are read alone. And the bytes they take."""

    reads: list[EntriesRead | None]
    size: int


def _decode_size(waiting: Iterable[tuple[list[ManifestFile], Future[_Batch]]]) -> int:
    """What is decoded and not yet asked for takes."""
    return sum(future.result().size for _, future in waiting if future.done() and not future.exception())


class ManifestReader:
    """Reads manifests of one storage, and keeps what was decoded: in memory up to a share of the limit, large ones on
    disk."""

    def __init__(self, storage: Storage) -> None:
        self.storage = storage
        self._lock = threading.Lock()
        self._entries: LRUCache[tuple[str, bool], EntriesRead] = LRUCache(
            limits.share(5), getsizeof=lambda read: read.size
        )
        self._bytes: LRUCache[str, avro.Container] = LRUCache(64)
        self._packed_bytes = self._decoded_bytes = 0
        """Of all manifests that were decoded."""

    def _contents(self, path: str) -> avro.Container | bytes:
        """The container of an Avro manifest, or the bytes of a Parquet one. Raises UnreadableFile."""
        with self._lock:
            if path in self._bytes:
                return self._bytes[path]
        data = self.storage.read_through_cache(path, limit=limits.MANIFEST)
        if parquet_manifests.is_parquet(data):
            return data
        container = avro.open_container(data, path, room=limits.unpack_limit(len(data)))
        if sum(len(block.data) for block in container.blocks) < 4 << 20:
            with self._lock:
                self._bytes[path] = container
        return container

    def header(self, manifest_path: str) -> ManifestHeader:
        """A manifest's header. Raises UnreadableFile."""
        contents = self._contents(manifest_path)
        if isinstance(contents, bytes):
            return parquet_manifests.header(contents, manifest_path)
        return manifests.header(contents)

    def header_alone(self, path: str) -> ManifestHeader:
        """The header of a manifest or manifest list, of which hardly more is read. Raises UnreadableFile."""
        if local_path(self.storage.resolve(path)) is not None:
            with contextlib.suppress(UnreadableFile):
                return manifests.header(avro.open_container(self.storage.read(path, 0, HEAD), path, header_only=True))
        whole = self.storage.read_through_cache(path, limit=limits.MANIFEST)
        if parquet_manifests.is_parquet(whole):
            return parquet_manifests.header(whole, path)
        return manifests.header(avro.open_container(whole, path, header_only=True))

    def entries(self, manifest: ManifestFile, metrics: bool = False) -> EntriesRead:
        """A manifest's entries as stored, as an Arrow table (see model.manifest.ENTRY_SCHEMA); without the metric
        columns unless asked. Never raises for a bad file: an unreadable manifest is None with its Problem."""
        [read] = self._entries_of([manifest], metrics)
        assert read is not None
        return read

    def _part_of(self, wanted: Sequence[ManifestFile], metrics: bool, watch: PartWatch) -> _Batch:
        """`_entries_of`, on a thread of its own."""
        with watch.listening():
            reads = self._entries_of(wanted, metrics)
        return _Batch(reads, sum(read.size for read in reads if read is not None))

    def _entries_of(self, wanted: Sequence[ManifestFile], metrics: bool) -> list[EntriesRead | None]:
        """`entries` of several manifests. Those that must be decoded are decoded together: a call for many small
        manifests costs hardly more than one for one. None for those that are too much together with others."""
        reads: dict[str, EntriesRead] = {}
        keys: dict[str, str | None] = {}
        packed: dict[str, bytes] = {}
        for manifest in wanted:
            path = manifest.manifest_path
            try:
                self.storage.check(path)
                keys[path] = self._key(path, manifest.manifest_length)
            except UnreadableFile as error:
                reads[path] = _unreadable(error)
        reads |= self._recall(keys, metrics)
        for manifest in wanted:
            check_cancellation()
            path = manifest.manifest_path
            if path not in reads and path not in packed:
                try:
                    packed[path] = self.storage.read_through_cache(path, manifest.manifest_length, limits.MANIFEST)
                except UnreadableFile as error:
                    reads[path] = _unreadable(error)
        try:
            with limits.reading(sum(map(len, packed.values())) * UNPACKING, ", ".join(packed)[:1000]):
                reads |= self._decode(packed, metrics)
        except UnreadableFile as error:  # no room for them
            reads |= {path: _unreadable(type(error)(path, error.cause)) for path in packed}
        reads |= self._too_dense(packed, reads)
        reads |= self._keep({path: keys[path] for path in packed}, reads, metrics)
        with self._lock:
            for path, result in reads.items():
                if not result.lasting:
                    continue
                with contextlib.suppress(ValueError):  # larger than the memory for all: it comes from the disk cache
                    self._entries[(path, metrics)] = result
        return [reads.get(m.manifest_path) for m in wanted]

    def _too_dense(self, packed: Mapping[str, bytes], reads: Mapping[str, EntriesRead]) -> dict[str, EntriesRead]:
        """Refuse manifests that decode to far more than their bytes, with those before them: many tiny ones that are
        each within the limit are not within it together."""
        refused: dict[str, EntriesRead] = {}
        for path, data in packed.items():
            if path in reads:
                with self._lock:
                    self._packed_bytes += len(data)
                    self._decoded_bytes += reads[path].size
                    most = DENSE_BYTES + DENSE * self._packed_bytes
                    if self._decoded_bytes > most:
                        self._decoded_bytes -= reads[path].size
                        cause = f"not read: the manifests of this table decode to more than {DENSE} times their bytes"
                        refused[path] = _unreadable(UnreadableFile(path, cause))
        return refused

    def _decode(self, packed: Mapping[str, bytes], metrics: bool) -> dict[str, EntriesRead]:
        parquet = {path: data for path, data in packed.items() if parquet_manifests.is_parquet(data)}
        if parquet:
            reads = self._decode({path: data for path, data in packed.items() if path not in parquet}, metrics)
            size = sum(one.size for one in reads.values())
            for path, data in parquet.items():
                if size > TOGETHER_BYTES:
                    break
                reads[path] = self._decode_parquet(data, path, metrics)
                size += reads[path].size
            return reads
        decoded = native_decoder.decode(packed, metrics, TOGETHER_BYTES)
        reads = {path: ReadResult(table, (), bytes=decoded.sizes[path]) for path, table in decoded.tables.items()}
        opened: list[avro.Container] = []
        size = decoded.unpacked
        for path, data in packed.items():
            if path in reads or path in decoded.later:
                continue
            if size > TOGETHER_BYTES:
                break
            try:
                container = avro.open_container(data, path, room=limits.unpack_limit(len(data)))
                most = limits.entry_limit(count_partition_fields(container))
                limits.within(container.count, most, path, "entries", f"set {limits.VARIABLE} to more")
                opened.append(container)
                size += sum(len(block.data) for block in container.blocks)
            except UnreadableFile as error:
                reads[path] = _unreadable(error)
        if opened:
            limits.require_memory(size, opened[0].path)
        for container, table in zip(opened, manifests.entries_of_many(opened, metrics), strict=True):
            bad = isinstance(table, UnreadableFile)
            path, problems = container.path, container.problems
            reads[path] = _unreadable(table) if bad else _read_of(path, table, problems)
        return reads

    @staticmethod
    def _decode_parquet(data: bytes, path: str, metrics: bool) -> EntriesRead:
        check_cancellation()
        try:
            return _read_of(path, parquet_manifests.entries(data, path, metrics), ())
        except UnreadableFile as error:
            return _unreadable(error)

    def _recall(self, keys: Mapping[str, str | None], metrics: bool) -> dict[str, EntriesRead]:
        """What is in memory or in the disk cache of manifests, whose keys are given by path."""
        with self._lock:
            reads = {path: self._entries[(path, metrics)] for path in keys if (path, metrics) in self._entries}
        others = {key: path for path, key in keys.items() if key is not None and path not in reads}
        for key, read in self._from_disk(list(others), metrics).items():
            kind, *identity, length = json.loads(key)  # the same bytes as those that Storage reads
            note_read(length, length, 0, *(identity[1:3] if kind == "local" else identity[1:]))
            reads[others[key]] = read
        return reads

    def _keep(
        self, keys: Mapping[str, str | None], reads: Mapping[str, EntriesRead], metrics: bool
    ) -> dict[str, EntriesRead]:
        """Keep what was decoded on the disk. Return it as it is mapped from there, which takes no memory of ours."""
        kept: dict[str, str] = {}
        for path, key in keys.items():
            length = None if key is None else json.loads(key)[-1]
            if key is not None and path in reads and not reads[path].problems and key == self._key(path, length):
                kept[key] = path
        mapped = cache.put({key: reads[path].value for key, path in kept.items()}, "whole" if metrics else "narrow")
        return {kept[key]: ReadResult(table, (), bytes=reads[kept[key]].bytes) for key, table in mapped.items()}

    @staticmethod
    def _from_disk(keys: Sequence[str], metrics: bool) -> dict[str, EntriesRead]:
        """From the disk cache, by key."""
        narrow = {} if metrics else cache.get(keys, "narrow")
        whole = cache.get([key for key in keys if key not in narrow], "whole")
        if not metrics:
            narrow |= {key: table.drop_columns(METRIC_NAMES) for key, table in whole.items()}
        tables = whole if metrics else narrow
        return {key: ReadResult(table, (), bytes=table.get_total_buffer_size()) for key, table in tables.items()}

    def _key(self, path: str, length: int | None) -> str | None:
        """What identifies a manifest's bytes in the disk cache; None where caching does not pay. A local file is known
        by inode, time and size; a remote one never changes, and is known by its store, account, path and length."""
        resolved = self.storage.resolve(path)
        if local_path(resolved) is None:
            identity = ["remote", self.storage.identity, resolved, length]
        else:
            real = self.storage.canonical(resolved)
            try:
                state = os.stat(real)
            except OSError:
                return None
            length = state.st_size
            identity = ["local", real, state.st_dev, state.st_ino, state.st_mtime_ns, state.st_ctime_ns, length]
        return json.dumps(identity) if length is not None and length >= cache.SMALLEST else None

    def fetch(self, manifests: Iterable[ManifestFile]) -> None:
        """These manifests will be asked for soon: what is in a store is fetched meanwhile. Returns at once."""
        with self._lock:
            files = [m for m in manifests if (m.manifest_path, False) not in self._entries]
        self.storage.ahead([(m.manifest_path, m.manifest_length) for m in files])

    def many_entries(
        self, wanted: Iterable[ManifestFile], metrics: bool = False
    ) -> Iterator[tuple[ManifestFile, EntriesRead]]:
        """`entries` of several manifests, decoded a few at a time on threads, in the order given."""
        wanted = list(wanted)
        self.fetch(wanted)
        return steps(self._many_entries(wanted, metrics), "manifests", len(wanted))

    def _many_entries(
        self, wanted: Sequence[ManifestFile], metrics: bool
    ) -> Iterator[tuple[ManifestFile, EntriesRead]]:
        if len(wanted) < 2:
            yield from ((m, self.entries(m, metrics)) for m in wanted)
            return
        workers = max(2, os.cpu_count() or 2)
        sizes = [m.manifest_length or BATCH_BYTES for m in wanted]
        enough = min(BATCH_BYTES, max(WORTH_A_THREAD, sum(sizes) // workers))
        batches: dict[float, list[ManifestFile]] = {}
        start = 0
        for manifest, length in zip(wanted, sizes, strict=True):  # goes where its middle lies: batches are alike
            batches.setdefault((start + length / 2) // enough, []).append(manifest)
            start += length
        if len(batches) == 1:
            yield from self._each(wanted, self._entries_of(wanted, metrics), metrics)
            return
        pool, watch = ThreadPoolExecutor(workers), PartWatch(listener())
        try:
            waiting: deque[tuple[list[ManifestFile], Future[_Batch]]] = deque()
            for batch in batches.values():
                waiting.append((batch, pool.submit(self._part_of, batch, metrics, watch)))
                while len(waiting) > workers * 2 or _decode_size(waiting) > limits.share(8):
                    batch, future = waiting.popleft()  # so that a stream of any length fits in memory
                    yield from self._each(batch, future.result().reads, metrics)
            while waiting:
                batch, future = waiting.popleft()
                yield from self._each(batch, future.result().reads, metrics)
        finally:
            watch.cancel()  # who forgets the rest does not wait for it
            pool.shutdown(wait=False, cancel_futures=True)

    def _each(
        self, batch: Sequence[ManifestFile], reads: list[EntriesRead | None], metrics: bool
    ) -> Iterator[tuple[ManifestFile, EntriesRead]]:
        for n, manifest in enumerate(batch):
            read, reads[n] = reads[n], None  # whoever took one need not hold the others
            yield manifest, read or self.entries(manifest, metrics)

    def read_records(self, manifest_path: str, start: int = 0, limit: int | None = None) -> list[dict[str, Any]]:
        """Raw records of a manifest, every field as the writer wrote it. Raises UnreadableFile."""
        contents = self._contents(manifest_path)
        if isinstance(contents, bytes):
            return parquet_manifests.records(contents, manifest_path, start, limit)
        return list(avro.records(contents, start, limit))
