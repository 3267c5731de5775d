"""The metadata tree of one opened table, as questions read it: manifest lists, entries, older metadata files."""

from __future__ import annotations

import copy
import threading
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import cached_property, partial
from heapq import nsmallest
from itertools import chain
from typing import Any

import pyarrow as pa
from cachetools import LRUCache

from explorer import progress
from explorer.errors import IncompleteAnswer, NotFoundInTable, UnreadableFile
from explorer.model.manifest import ManifestFile
from explorer.model.metadata import Snapshot, TableMetadata
from explorer.model.problem import Problem
from explorer.progress import steps
from explorer.spark_engine.engine_choice import Choice, Engine, choose_engine, entries_in
from explorer.spark_engine.pipeline import batches, compare_sets
from explorer.spark_engine.spark import shared_engine
from explorer.spec.commits.costs import metadata_files
from explorer.spec.entries.entries import as_of_snapshot
from explorer.spec.entries.entry_views import entries_as_of, entries_of_run
from explorer.spec.entries.lazy_table import Batches, Parts, omissions
from explorer.spec.entries.manifest_set_diff import KEY, compare, compare_keys, comparisons, keys_of
from explorer.spec.entries.manifest_sets import Comparison, Sets
from explorer.spec.rows.spilled_rows import RowParts
from explorer.spec.text.names import base_name, first_of, metadata_name, shorten
from explorer.spec.text.units import count
from explorer.spec.values.values import common_partition_type
from explorer.storage import limits
from explorer.storage.folder_state import metadata_version
from explorer.storage.manifest_reader import NOT_NOW, ReadResult
from explorer.storage.reader import TableReader
from explorer.storage.spill import deal_out, in_order

OLDER = 32
"""Older metadata files that are kept in memory."""
METADATA_AHEAD = 4 << 20
"""Bytes of a metadata file that are fetched ahead: a larger one is read when it is asked for."""
NAMED, KEPT = 3, 10_000
"""How many files that cannot be read are named, and how many problems beside those of manifests are kept."""
OF_ONE, LONG = 100, 2_000
"""How many problems of one manifest or manifest list are kept, and how long a path may be whose name is told."""
A_KEY = 2048
"""Bytes that an entry may take while two sets are compared: a quarter of the limit for each set, and the pairs."""


class MetadataTree:
    """All that a question reads of a table goes through here; see spec.entries.table_protocol.Tree, which this is. What
    cannot be read is noted in `problems` and left out. Safe to use from several threads."""

    def __init__(self, reader: TableReader) -> None:
        self.reader = reader
        self._noted: dict[str, Problem] = {}
        self._of_manifests: dict[str, dict[str, Problem]] = {}
        """By file."""
        self._lost: set[str] = set()
        """Manifest lists and manifests that could not be read whole."""
        self._more = threading.Event()
        """Set where there are more problems than are kept; the copies that `by` makes have it, too."""
        self._passing: dict[str, tuple[Problem, ...]] = {}
        """By what was asked for, until it could be read."""
        self._older: LRUCache[str, TableMetadata] = LRUCache(OLDER)
        self._lock = threading.Lock()
        self._engine: Engine = "local"
        self._what = ""
        self._complete = False

    def by(self, engine: Engine, what: str) -> MetadataTree:
        """The same tree, for one question: what is made of manifests is made by that engine, under the question's name.
        Raises EngineError and StatementFailed as it is read."""
        tree = copy.copy(self)
        tree._engine, tree._what = engine, f"{what} of {self.reader.location.name}"
        return tree

    def complete(self) -> MetadataTree:
        """Return the same tree for an answer that is wrong without all that it reads.

        Returns:
            A tree that raises UnreadableFile, instead of leaving something out, when a manifest list or manifest
            cannot be read completely.
        """
        tree = copy.copy(self)
        tree._complete = True
        return tree

    @property
    def metadata(self) -> TableMetadata:
        """The metadata file the table was opened with."""
        return self.reader.metadata

    @property
    def in_folder(self) -> bool:
        """Whether the table lies in a folder of this machine, not in a store."""
        return self.reader.storage.is_local(self.metadata.metadata_location)

    @property
    def at_once(self) -> int:
        """See spec.entries.table_protocol.Tree: a share of the memory limit."""
        return limits.limit() // A_KEY

    @property
    def problems(self) -> list[Problem]:
        """What was wrong so far: in the metadata file, and in what was read since."""
        return [*self.reader.problems, *self._manifests_problems(), *self._noted.values()]

    @property
    def more_problems(self) -> bool:
        """Whether there are more than `problems` has: of very many the first are kept."""
        return self._more.is_set()

    def _manifests_problems(self) -> list[Problem]:
        lasting = (problems.values() for problems in list(self._of_manifests.values()))
        return [*chain(*lasting), *chain(*list(self._passing.values()))]

    @property
    def unreadable(self) -> set[str]:
        """The manifest lists and manifests that could not be read whole, as far as is known."""
        return self._lost | self._not_whole(chain(*list(self._passing.values())))

    def unreadable_in(self, snapshot: Snapshot) -> tuple[bool, list[str]]:
        """Of `unreadable`: whether a snapshot's list of manifests is (of one that names them itself, whether a manifest
        it names cannot be listed), and the manifests that it lists."""
        listed = [m.manifest_path for m in self.manifests(snapshot)]
        lost = self.unreadable
        names = {snapshot.manifest_list, *snapshot.manifests}.difference(listed)
        return not lost.isdisjoint(names), [path for path in listed if path in lost]

    @property
    def lacks(self) -> str:
        """What answers may lack, in words: what is `unreadable`; nothing where nothing is."""
        lost = self.unreadable
        if not lost:
            return ""
        named = [shorten(base_name(path), 80) for path in nsmallest(NAMED, lost) if len(path) <= LONG]
        more = f" and {len(lost) - len(named):,} more" if len(lost) > len(named) else ""
        names, them = f": {', '.join(named)}{more}" if named else "", "it" if len(lost) == 1 else "them"
        return (
            f"{count(len(lost), 'file')} of this table could not be read whole, and answers that need {them} lack "
            f"what is lost there{names}"
        )

    def note(self, problems: Iterable[Problem]) -> None:
        """Remember what could not be read; the same problem once. Of very many (each data file of a store that cannot
        be had) the first are kept."""
        for problem in problems:
            if len(self._noted) < KEPT or str(problem) in self._noted:
                self._noted.setdefault(str(problem), problem)
            else:
                self._more.set()

    def _note(self, path: str, read: ReadResult[Any], named: str | None) -> None:
        """What was wrong with what was asked for: one file that is `named` so, or several."""
        if read.lasting:
            self._passing.pop(path, None)
            self._note_manifests(read.problems, named)
        else:
            self._passing[path] = read.problems
        self._refuse(read.problems)

    def _refuse(self, problems: Iterable[Problem]) -> None:
        """Raise UnreadableFile for the first error, when this tree must be complete."""
        if self._complete:
            for problem in problems:
                if problem.severity == "error":
                    raise UnreadableFile(problem.file, f"{problem.cause}; this answer depends on it")

    def _note_manifests(self, problems: Sequence[Problem], named: str | None = None) -> None:
        """`note`, of manifest lists and manifests: the first of each of them, since what is made of them lacks what is
        lost there."""
        lasting = [problem for problem in problems if problem.rule != NOT_NOW]
        self._passing |= {problem.file: (problem,) for problem in problems if problem.rule == NOT_NOW}
        lost = self._not_whole(lasting)
        self._lose({named} if named and lost else lost)
        for problem in lasting:
            noted = self._of_manifests.setdefault(problem.file, {})
            if len(noted) < OF_ONE or str(problem) in noted:
                noted.setdefault(str(problem), problem)
            else:
                self._more.set()

    def _lose(self, files: set[str]) -> None:
        """Remember files that could not be read whole. Warn of new ones who calls from Python: the command line and the
        page, which watch their work, say it themselves."""
        if not files <= self._lost:
            self._lost |= files
            if not self._complete and progress.listener() is None:
                warnings.warn(f"{self.lacks}.", IncompleteAnswer, stacklevel=2)

    def _note_workers(self, problems: Sequence[Problem]) -> None:
        """Note what Spark's workers could not read."""
        self._note_manifests(problems)
        self._refuse(problems)

    def _not_whole(self, problems: Iterable[Problem]) -> set[str]:
        own = (self.metadata.metadata_location, "/snapshots")  # of a snapshot that names no manifests
        return {p.file for p in problems if p.severity == "error" and (p.file, p.location) != own}

    # -- manifests ----------------------------------------------------------------------------------------------------
    def manifests(self, snapshot: Snapshot | None) -> list[ManifestFile]:
        """A snapshot's manifest list, in its order; nothing for None, the table before its first snapshot."""
        if snapshot is None:
            return []
        read = self.reader.manifests(snapshot)
        self._note(f"snapshot {snapshot.snapshot_id}", read, snapshot.manifest_list)
        return list(read.value)

    def ahead(self, snapshots: Iterable[Snapshot] = (), manifests: Iterable[ManifestFile] = ()) -> None:
        """See spec.entries.table_protocol.Tree."""
        self.reader.ahead(snapshots, manifests)

    def stored_entries(
        self, manifests: Sequence[ManifestFile], metrics: bool = False
    ) -> Iterator[tuple[ManifestFile, pa.Table]]:
        """Entries as stored, a manifest at a time."""
        for manifest, read in self.reader.many_entries(manifests, metrics):
            self._note(manifest.manifest_path, read, manifest.manifest_path)
            if read.value is not None:
                yield manifest, read.value

    def logical(
        self, manifests: Sequence[ManifestFile], snapshot: Snapshot, metrics: bool = False
    ) -> Iterator[tuple[ManifestFile, pa.Table]]:
        """Entries as of a snapshot, a manifest at a time."""
        for manifest, table in self.stored_entries(manifests, metrics):
            yield manifest, as_of_snapshot(table, manifest, snapshot.snapshot_id)

    def logical_entries(self, manifest: ManifestFile, snapshot: Snapshot, metrics: bool = False) -> pa.Table | None:
        """The entries of one manifest as of a snapshot; None when it cannot be read."""
        return next((table for _, table in self.logical([manifest], snapshot, metrics)), None)

    def entries(self, snapshot: Snapshot | None, metrics: bool = False) -> Parts:
        """The logical entries of a snapshot, a part for each readable manifest, with one type for all partitions, and
        `spec_id`, `manifest_path` and `ordinal` (in the manifest). Without a readable manifest there are no columns.
        The type is that of the first readable manifest of each spec: those of a spec are written alike."""
        listed = self.manifests(snapshot)
        self.ahead(manifests=listed)
        alike: dict[int, tuple[ManifestFile, pa.Table]] = {}
        for manifest in listed:
            if manifest.partition_spec_id not in alike:
                alike |= {m.partition_spec_id: (m, table) for m, table in self.stored_entries([manifest], metrics)}
        unified = common_partition_type(self.metadata, [table.schema for _, table in alike.values()])
        if snapshot is None or not alike:
            return Parts((), metrics, _nothing, pa.schema([]))
        part = partial(entries_as_of, snapshot.snapshot_id, unified)
        manifest, table = next(iter(alike.values()))
        of_run = partial(entries_of_run, snapshot.snapshot_id, unified)
        return Parts(listed, metrics, part, part(manifest, table.slice(0, 0)).schema, of_run=of_run)

    def read(self, parts: Parts) -> Batches:
        """A table that is made of manifests."""
        return self.build(parts)[0]

    def build(self, parts: Parts) -> tuple[Batches, Choice]:
        """A table that is made of manifests, and by whom."""
        choice = self._choose_engine(parts)
        if choice.engine == "local":
            return self._read(parts), choice
        self._forget_problems(parts)
        return batches(shared_engine().session(), self.reader.storage, parts, self._note_workers, self._what), choice

    def in_order(self, rows: Batches, by: Sequence[str]) -> RowParts:
        """See spec.entries.table_protocol.Tree: on the disk, where they are many."""
        return in_order(rows, by)

    def comparisons(self, sets: Sequence[Sets], by: Sequence[str]) -> Iterator[Comparison]:
        """See spec.entries.table_protocol.Tree."""
        keys = keys_of(sets, by)
        if self._choose_engine(keys).engine == "local":
            return (self._compare(ours, theirs, by) for ours, theirs in sets)
        spark = shared_engine().session()
        self._forget_problems(keys)
        return iter(compare_sets(spark, self.reader.storage, keys, by, len(sets), self._note_workers, self._what))

    def _forget_problems(self, parts: Parts) -> None:
        """Workers only tell of manifests that they cannot read, not of those that they could not and now can."""
        for manifest in parts.manifests:
            self._passing.pop(manifest.manifest_path, None)

    def _compare(self, ours: Sequence[ManifestFile], theirs: Sequence[ManifestFile], by: Sequence[str]) -> Comparison:
        """One set is held while the other is read; where neither can be held, both are dealt out on the disk."""
        entries = [sum(map(entries_in, manifests)) for manifests in (ours, theirs)]
        if min(entries) <= self.at_once:
            return compare(self, ours, theirs, by)
        keys = self._read(keys_of([(ours, theirs)], by))
        deals = deal_out(keys, KEY[0], -(-sum(entries) // self.at_once))
        return comparisons(pa.concat_tables([compare_keys(by, deal) for deal in deals]), 1)[0]

    def _choose_engine(self, parts: Parts) -> Choice:
        choice = choose_engine(self._engine, parts, lambda: shared_engine().master, self.in_folder)
        if choice.large and self._what:
            progress.say(choice.why)
        return choice

    def _read(self, parts: Parts) -> Batches:
        def read() -> Iterator[pa.Table]:
            for some, stored, part in parts.make(self.stored_entries(parts.manifests, parts.metrics)):
                for manifest in some:
                    self.note(omissions(manifest, stored, part.schema))
                yield part

        return Batches(parts.schema, read)

    def find_manifest(self, path: str, snapshot_id: int | None = None) -> tuple[ManifestFile, Snapshot]:
        """A manifest by its path, in that snapshot's list or else the first list that has it. Raises
        NotFoundInTable."""
        wanted = self.metadata.snapshot(snapshot_id)
        snapshots = self.metadata.snapshots
        for snapshot in steps(chain([wanted] if wanted else [], snapshots), "snapshots", len(snapshots)):
            for manifest in self.manifests(snapshot):
                if manifest.manifest_path == path:
                    return manifest, snapshot
        raise NotFoundInTable(f"no manifest list of this table names {path}")

    # -- other files --------------------------------------------------------------------------------------------------
    def metadata_file(self, path: str) -> TableMetadata:
        """This or an older metadata file of the table. Raises UnreadableFile."""
        if path == self.metadata.metadata_location:
            return self.metadata
        with self._lock:
            metadata = self._older.get(path)
        if metadata is None:
            metadata = self.reader.metadata_file(path)[0]
            with self._lock:
                self._older[path] = metadata
        return metadata

    def held_metadata(self, paths: Iterable[str]) -> dict[str, TableMetadata]:
        """Those of some older metadata files that were read already, by their paths and in their order."""
        with self._lock:
            return {path: metadata for path in paths if (metadata := self._older.get(path)) is not None}

    def metadata_ahead(self, paths: Iterable[str]) -> AbstractContextManager[None]:
        """In the block, fetch these metadata files of a store together; this thread is about to read them."""
        with self._lock:
            held = {self.metadata.metadata_location, *self._older}
        return self.reader.storage.reading_ahead((path, METADATA_AHEAD) for path in paths if path not in held)

    def find_metadata(self, name: str | None) -> TableMetadata:
        """A metadata file by its path, the end of it, its version number, or its name as shown (metadata-3); None: the
        current one. Raises NotFoundInTable, UnreadableFile."""
        paths = [*(e.metadata_file for e in self.metadata.metadata_log), self.metadata.metadata_location]
        named = named_metadata(paths, name)
        if not named:
            names = [metadata_name(path) or base_name(path) for path in reversed(paths)]
            raise NotFoundInTable(f"no metadata file {name!r}: the log has {first_of(names)}")
        return self.metadata_file(named[-1])

    def metadata_of(self, snapshot: Snapshot) -> TableMetadata | None:
        """The oldest metadata file at hand that knows the snapshot; None when one that must be asked is gone. Metadata
        files are in the order they were written."""
        log = self.metadata.metadata_log
        paths = [*(e.metadata_file for e in log), self.metadata.metadata_location]
        low, high = 0, len(paths) - 1  # paths[high:] know it; the current file does
        own = self._metadata_by_snapshot.get(snapshot.snapshot_id)
        if own in paths and self._knows(own, snapshot):
            return self.metadata_file(own)
        while low < high:
            middle = (low + high) // 2
            has_snapshot = self._knows(paths[middle], snapshot)
            if has_snapshot is None:
                return None
            low, high = (low, middle) if has_snapshot else (middle + 1, high)
        return self.metadata_file(paths[low])

    @cached_property
    def _metadata_by_snapshot(self) -> dict[int, str]:
        """The metadata file that each snapshot's commit wrote, as far as the log has it."""
        return metadata_files(self.metadata)

    def _knows(self, path: str, snapshot: Snapshot) -> bool | None:
        """Whether a metadata file has a snapshot; None when it cannot be read."""
        try:
            return self.metadata_file(path).snapshot(snapshot.snapshot_id) is not None
        except UnreadableFile:
            return None

    def sizes(self, paths: Iterable[str]) -> dict[str, int]:
        """See spec.entries.table_protocol.Tree."""
        wanted = list(dict.fromkeys(paths))
        all_sizes = zip(wanted, self.reader.storage.sizes(wanted), strict=True)
        return {path: size for path, size in all_sizes if size is not None}


def _nothing(_: ManifestFile, stored: pa.Table) -> pa.Table:
    return stored.select([])


def named_metadata(paths: Iterable[str], name: str | None) -> list[str]:
    """Choose the metadata files that a name means (see `MetadataTree.find_metadata`); all of them without one."""
    return [
        path
        for path in paths
        if name is None
        or path == name
        or path.endswith(f"/{name}")
        or name in (str(metadata_version(path)), metadata_name(path))
    ]
