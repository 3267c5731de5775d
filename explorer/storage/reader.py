"""One opened table: its metadata now, everything below it when asked for. Safe to use from several threads."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeVar

from cachetools import LRUCache

from explorer.errors import NotFoundInTable, NotNow, NotReadHere, NotSupported, UnreadableFile
from explorer.model.manifest import ManifestFile
from explorer.model.metadata import Snapshot, TableMetadata
from explorer.model.problem import Problem, Problems
from explorer.progress import steps
from explorer.storage import allowed_roots, limits, manifests
from explorer.storage.formats import avro, parquet, puffin
from explorer.storage.locate import Location
from explorer.storage.manifest_reader import UNPACKING, ManifestReader, ReadResult, unreadable
from explorer.storage.metadata import parse_metadata
from explorer.storage.parquet_manifests import is_parquet
from explorer.storage.paths import is_written_once
from explorer.storage.rows import table_mapping
from explorer.storage.storage import Storage

T = TypeVar("T")
Listed = ReadResult[list[ManifestFile]]
ROOT_MANIFEST = (
    "it is a Parquet file: a root manifest, which the spec has for format version 4 since October 2026 "
    "(apache/iceberg#16025). Iceberg Java 1.12 writes none, and it is not read here"
)
MANIFESTS = 2 * limits.LISTED
"""Manifests of manifest lists kept in memory, for each table."""


def _complete_value(read: ReadResult[T]) -> T:
    """What was read. Raises UnreadableFile if some of it could not be."""
    for problem in read.problems:
        if problem.severity == "error":
            raise UnreadableFile(problem.file, problem.cause)
    return read.value


def read_metadata(storage: Storage, path: str) -> tuple[TableMetadata, list[Problem]]:
    """A metadata file, and what is wrong with it. Raises UnreadableFile."""
    read = storage.read_through_cache if is_written_once(path) else storage.read
    return parse_metadata(read(path, limit=limits.METADATA), path)


class TableReader(ManifestReader):
    """Reads the files of one table, lazily: creating it reads metadata.json and nothing else."""

    def __init__(self, location: Location, roots: Sequence[str] = ()) -> None:
        self.location = location
        self.extra_roots = tuple(roots)
        path = location.metadata_location
        keys = (location.properties, location.given, location.renew)
        first = Storage([allowed_roots.metadata_folder(path), *roots], *keys)
        self.metadata, problems = read_metadata(first, path)
        where = allowed_roots.whereabouts(self.metadata, location)
        self.problems = (*location.problems, *problems, *where.problems)
        super().__init__(Storage([*where.folders, *roots], *keys, moved=where.moved, refused=where.refused))
        self._records = manifests.Known()
        self._list_of: dict[int, int | str] = {}
        """What a snapshot's list is kept by: its path, since many may name one; of two with one id, the first's."""
        self._lists: LRUCache[int | str, Listed] = LRUCache(
            MANIFESTS, getsizeof=lambda read: len(read.value) + len(read.problems) + 100
        )

    def manifests(self, snapshot: Snapshot) -> Listed:
        """The snapshot's manifest list as list[ManifestFile], in the order it is stored. Never raises for a bad file:
        what is wrong is a Problem, and what could be read is there."""
        with self._lock:
            of = self._list_of.setdefault(snapshot.snapshot_id, snapshot.manifest_list or snapshot.snapshot_id)
            if of in self._lists:
                return self._lists[of]
        try:
            result = self._read_list(snapshot)
        except UnreadableFile as error:
            result = ReadResult([], (unreadable(error, "snapshots"),), not isinstance(error, NotNow))
        if result.lasting:
            with self._lock, contextlib.suppress(ValueError):  # larger than the memory for all
                self._lists[of] = result
        return result

    def _read_list(self, snapshot: Snapshot) -> Listed:
        if snapshot.manifest_list is not None:
            data = self.storage.read_through_cache(snapshot.manifest_list, limit=limits.MANIFEST)
            if is_parquet(data):
                raise NotReadHere(snapshot.manifest_list, ROOT_MANIFEST)
            with limits.reading(len(data) * UNPACKING, snapshot.manifest_list):
                container = avro.open_container(data, snapshot.manifest_list, room=limits.unpack_limit(len(data)))
                listed, problems = manifests.manifest_files(container, self._records)
                return ReadResult(listed, (*container.problems, *problems))
        inline, problems, lasting = [], [], True
        own = Problems(self.metadata.metadata_location)
        repeats = manifests.Repeats(own)
        for path in steps(snapshot.manifests, "manifests"):
            if repeats.too_many(path):
                continue
            try:
                data = self.storage.read_through_cache(path, limit=limits.MANIFEST)
                header = avro.open_container(data, path, header_only=True)
                inline.append(manifests.inline_manifest(path, len(data), header, snapshot.snapshot_id))
            except UnreadableFile as error:
                problems.append(unreadable(error, "manifests"))
                lasting = lasting and not isinstance(error, NotNow)
        if not snapshot.manifests:
            own.add(f"snapshot {snapshot.snapshot_id} has neither `manifest-list` nor `manifests`", "/snapshots")
        repeats.end()
        return ReadResult(inline, (*own.as_list(), *problems), lasting)

    def ahead(self, snapshots: Iterable[Snapshot] = (), manifests: Iterable[ManifestFile] = ()) -> None:
        """These snapshots' manifest lists, and these manifests, will be asked for soon: what is in a store is fetched
        meanwhile. Returns at once."""
        with self._lock:
            lists = [s for s in snapshots if s.manifest_list and s.manifest_list not in self._lists]
        self.storage.ahead([(str(s.manifest_list), None) for s in lists])
        self.fetch(manifests)

    def metadata_file(self, path: str) -> tuple[TableMetadata, list[Problem]]:
        """An older metadata file of this table. Raises UnreadableFile."""
        return read_metadata(self.storage, path)

    def parquet_footer(self, path: str, columns: Sequence[int] = (), as_read: bool = False) -> dict[str, Any]:
        """See storage.formats.parquet.read_footer. With `as_read`, columns of a file without field ids have those that
        Iceberg Java gives them."""
        ids = {"mapping": table_mapping(self.metadata)} if as_read else None
        return parquet.read_footer(self.storage, path, columns, ids)

    def puffin_footer(self, path: str) -> dict[str, Any]:
        """See storage.formats.puffin.read_footer."""
        return puffin.read_footer(self.storage, path)

    def footer(self, path: str, file_format: str) -> dict[str, Any]:
        """A Parquet or Puffin file's own footer, as `parquet_footer` and `puffin_footer` have it. Raises NotSupported,
        UnreadableFile."""
        if file_format.lower() == "parquet":
            return self.parquet_footer(path)
        if file_format.lower() == "puffin":
            return self.puffin_footer(path)
        raise NotSupported(f"{file_format or 'unnamed'} files have no footer that is shown here")

    def paths_of_snapshot(self, snapshot: Snapshot) -> Iterator[str]:
        """Every path that a read of a snapshot may open: its manifest list, manifests, data and delete files and
        statistics, for `Storage.check`. Raises UnreadableFile for what cannot be read: nobody knows what it names."""
        yield from filter(None, [snapshot.manifest_list])
        yield from (s.path for s in self.metadata.statistics if s.snapshot_id == snapshot.snapshot_id)
        listed = _complete_value(self.manifests(snapshot))
        yield from (m.manifest_path for m in listed)
        for manifest, read in self.many_entries(listed):
            table = _complete_value(read)
            if table is None:
                raise UnreadableFile(manifest.manifest_path, "it cannot be read")
            yield from table["file_path"].to_pylist()

    def require_snapshot(self, snapshot_id: int) -> Snapshot:
        """The snapshot, or NotFoundInTable."""
        snapshot = self.metadata.snapshot(snapshot_id)
        if snapshot is None:
            raise NotFoundInTable(f"snapshot {snapshot_id} not found; it may have expired")
        return snapshot
