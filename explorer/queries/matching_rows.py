"""The rows of a table's data files that match a filter, over all snapshots: what a scan reads, and what its statistics
make it skip."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from explorer.model.manifest import ManifestFile
from explorer.model.metadata import Schema, Snapshot
from explorer.model.problem import Problem
from explorer.progress import steps
from explorer.queries.filters import MATCHES, matches_in, matching, matching_or_cause
from explorer.queries.parquet_groups import SparkReading, spark_reading
from explorer.queries.row_reader import RowReader
from explorer.spark_engine.engine_choice import Engine, entries_in
from explorer.spec.deletes.delete_pairs import live_in
from explorer.spec.entries.lazy_table import Parts
from explorer.spec.entries.live_files import LiveFile, live_files, read_alike
from explorer.spec.filters.expressions import TRUE, Expression
from explorer.spec.rows.row_diff import column_at
from explorer.spec.rows.row_versions import StoredRow
from explorer.spec.scan.reader_rules import ReaderDifference, differences
from explorer.spec.scan.scan import BY_PARTITION, READ, FileVerdicts, ManifestVerdict, Scan
from explorer.spec.text.names import base_name
from explorer.spec.values.values import row_dicts
from explorer.storage import limits
from explorer.storage.file_rows import from_ipc
from explorer.storage.rows import value_words

SKIPPED_FILES, SKIPPED_BYTES = 200, 64 << 20
"""So many data files, and so many bytes of them, are read without being asked for although a scan skips them."""
SKIPPED_ENTRIES = 100_000
"""Manifest entries that are decoded to count the data files that a scan skips."""


@dataclass(frozen=True)
class MatchingFile:
    """One live entry of a data file with rows that match, by their positions.

    Attributes:
        data: The file.
        positions: The rows that match.
        skipped_because: Why a scan with the filter skips the file; empty where the scan reads it.
        skipped_groups: Of a file that the scan reads, the row groups that Iceberg skips: the positions from the first
            to before the last, and why.
        other_readers: Other readers that skip the file, in words.
        misread: Columns that Spark takes for other values than the file has, in words.
        int96: Columns of times that the file stores as INT96, by their names.
        added_by: The snapshot that added the file, by its manifest entry.
    """

    data: LiveFile
    positions: Sequence[int]
    skipped_because: str = ""
    skipped_groups: Sequence[tuple[int, int, str]] = ()
    other_readers: str = ""
    misread: str = ""
    int96: Sequence[str] = ()
    added_by: int | None = None

    def skip_reason(self, position: int) -> str:
        """Say why a scan does not return the row at a position; empty where it does."""
        groups = (why for first, last, why in self.skipped_groups if first <= position < last)
        return self.skipped_because or next(groups, "")


@dataclass(frozen=True)
class UnreadableData:
    """Why a data file cannot be read, and whether a scan with the filter reads it, in any manifest."""

    why: str
    in_scan: bool


@dataclass(frozen=True)
class UnreadFiles:
    """Data files that a scan skips and that were not read. `at_most`: manifests name no more than so many `files`, some
    of them perhaps twice."""

    files: int
    at_most: bool = False

    def __str__(self) -> str:
        number = f"{'up to ' if self.at_most else ''}{self.files:,} data file{'s' if self.files != 1 else ''}"
        return f"{number} that the filter excludes by partition values, counts or bounds"


@dataclass(frozen=True)
class _Judged:
    """What a scan and other readers make of the live files of a manifest."""

    manifest: ManifestVerdict
    files: FileVerdicts
    others: Sequence[tuple[ReaderDifference, np.ndarray]]
    """Rules that other readers have, with which of the files these keep."""

    @property
    def reads(self) -> np.ndarray:
        """Which files the scan reads."""
        return np.asarray((self.files.outcome == READ) & self.manifest.keeps)


class MatchingRows:
    """Looks for the rows that match a bound filter, deleted or not, in the data files of all snapshots.

    Args:
        reader: Reads the table's files.
        scan: The filter, ready to be put to manifests and files.
        schema: The schema under which rows are read.
        keys: Columns whose values are kept beside each row, in `keyed`.
        snapshots: The snapshots whose files are looked through.
        engine: Who looks through the data files.
        every_file: Read files that the scan skips too. Where they are few (SKIPPED_FILES, SKIPPED_BYTES), they are read
            in any case.
        as_spark: The filter as Spark asks it (see queries.filters.fold_like_spark).
    """

    def __init__(
        self,
        reader: RowReader,
        scan: Scan,
        schema: Schema,
        keys: Sequence[str],
        snapshots: Sequence[Snapshot],
        engine: Engine,
        every_file: bool,
        as_spark: Expression,
    ) -> None:
        self.reader, self.scan, self.schema = reader, scan, schema
        self._keys, self._lineage = keys, reader.tree.metadata.format_version >= 3
        self.rows: dict[StoredRow, dict[str, Any]] = {}
        self.keyed: dict[StoredRow, dict[str, Any]] = {}
        self.folded_away: set[StoredRow] = set()
        """Rows that do not match the filter as Spark asks it."""
        self._as_spark = as_spark
        self._positions: dict[str, list[int]] = {}
        """By data file; of files that were read."""
        self.unreadable: dict[str, UnreadableData] = {}
        """By data file why it cannot be read."""
        self._unreadable_in: dict[str, set[str]] = {}
        """By manifest the data files that a scan reads and that cannot be read."""
        self.value_words: dict[str, list[str]] = {}
        """Where the values of rows come from that the file does not have, or has by other names, by data file."""
        self._read_here: dict[tuple[str, str], SparkReading] = {}
        """By data file and what must still be asked of its rows, where this process looks through them."""
        self._readings: dict[tuple[str, str], SparkReading] | None = None
        """By manifest and data file with matching rows, where Spark's workers looked through all files."""
        self._other_scans = [(d, scan.as_read_by(d.rules)) for d in differences(scan.metadata, scan.bound)]
        self._of_manifest: dict[tuple[Any, ...], list[MatchingFile]] = {}
        reader.tree.ahead(snapshots)
        manifests: dict[str, ManifestFile] = {}
        for snapshot in steps(snapshots, "snapshots"):
            for manifest in reader.tree.manifests(snapshot):
                manifests.setdefault(manifest.manifest_path, manifest)
        reader.tree.ahead(manifests=manifests.values())
        data = [m for m in manifests.values() if m.content == 0]
        self._manifests = verdicts = scan.manifests(data)
        self.similar = scan.asked_texts.in_lists(data, scan.metadata)
        """Stored texts that the filter's are alike, with the number of files (spec.scan.similar_texts)."""
        skipped = _Skipped(0, 0) if every_file else self._skip_counts(data, verdicts)
        self.reads_every_file = every_file or skipped.few
        reads_all = self.reads_every_file or not skipped.files
        self.unread = None if reads_all else UnreadFiles(skipped.files, skipped.at_most)
        """The files that may have matching rows too, as statistics may be wrong."""
        self._look_on_spark([v for v in verdicts if v.keeps or self.reads_every_file], engine)

    def files_to_read(self) -> Iterator[tuple[str, int]]:
        """Name the data files that `in_manifests` reads of all snapshots and that are not in memory, in its order,
        with their sizes."""
        in_memory = self.reader.files_in_memory()
        kept = (v.manifest for v in self._manifests if v.keeps or self.reads_every_file)
        listed = list(kept) if self._readings is None else []
        for manifest, stored in self.reader.tree.stored_entries(listed, metrics=True):
            live = live_in(manifest, stored)[0]
            reads = self.reads_every_file or pa.array(self.scan.files(manifest, live).outcome == READ)
            some = live if reads is True else live.filter(reads)
            files = zip(some["file_path"].to_pylist(), some["file_size_in_bytes"].to_pylist(), strict=True)
            yield from ((path, size) for path, size in files if path not in in_memory)

    def in_manifests(self, manifests: Sequence[ManifestFile], snapshot: Snapshot) -> list[MatchingFile]:
        """Find the live data files of a snapshot that have matching rows, one item for each live entry.

        Args:
            manifests: The snapshot's manifests.
            snapshot: The snapshot.

        Returns:
            The files in the order of the manifests. A file with two live entries comes twice.

        Raises:
            NotNow: A data file that a scan reads cannot be read this time.
            UnreadableFile: More rows match than are held.
        """
        data = [m for m in manifests if m.content == 0]
        new = list({read_alike(m): m for m in data if read_alike(m) not in self._of_manifest}.values())
        holding = None if self._readings is None else {path for path, _ in self._readings}
        looked_at = []
        for verdict in self.scan.manifests(new):
            held = holding is None or verdict.manifest.manifest_path in holding
            if held and (verdict.keeps or self.reads_every_file):
                looked_at.append(verdict)
            else:
                self._of_manifest[read_alike(verdict.manifest)] = []
        live = self.reader.live_entries_of([v.manifest for v in looked_at], snapshot)
        for verdict, (manifest, files) in zip(looked_at, live, strict=True):
            matching = [] if files is None else list(self._matching(verdict, files))
            self._of_manifest[read_alike(manifest)] = matching
        return list(chain.from_iterable(self._of_manifest[read_alike(m)] for m in data))

    def unreadable_in(self, manifests: Sequence[ManifestFile]) -> frozenset[str]:
        """Name the data files of manifests that a scan with the filter reads and that cannot be read."""
        return frozenset(chain.from_iterable(self._unreadable_in.get(m.manifest_path, ()) for m in manifests))

    def _note_unreadable(self, manifest: str, path: str, why: str, in_scan: bool) -> None:
        known = self.unreadable.get(path)
        self.unreadable[path] = UnreadableData(why, in_scan or (known is not None and known.in_scan))
        if in_scan:
            self._unreadable_in.setdefault(manifest, set()).add(path)
            self.reader.tree.note([Problem(path, "its rows cannot be read: they are missing here", severity="error")])

    def _matching(self, manifest: ManifestVerdict, files: pa.Table) -> Iterator[MatchingFile]:
        """Find the matching rows in the live files of a manifest, or in those that the scan reads."""
        listed = manifest.manifest
        others = [
            (difference, scan.manifests([listed])[0].keeps & (scan.files(listed, files).outcome == READ))
            for difference, scan in self._other_scans
        ]
        judged = _Judged(manifest, self.scan.files(listed, files), others)
        self.similar.update(judged.files.similar_texts(self.scan.metadata.spec(listed.partition_spec_id)))
        places = np.arange(files.num_rows)
        if not self.reads_every_file:
            places = np.flatnonzero(judged.files.outcome == READ)
        some = live_files(files.take(pa.array(places)), listed.partition_spec_id, listed.manifest_path)
        added_by = files["inherited_snapshot_id"]
        for data, at in zip(steps(some, "data files"), places.tolist(), strict=True):
            if data.path not in self._positions and self._readings is None and not self._read(judged, at, data):
                continue
            if positions := self._positions.get(data.path):
                yield replace(self._matching_file(judged, at, data, positions), added_by=added_by[at].as_py())

    def _read(self, judged: _Judged, at: int, data: LiveFile) -> bool:
        """Look for the rows of a data file, which is read once. False where it cannot be read."""
        manifest, in_scan = judged.manifest.manifest.manifest_path, bool(judged.reads[at])
        if data.path in self.unreadable:
            self._note_unreadable(manifest, data.path, self.unreadable[data.path].why, in_scan)
            return False
        matches = matching_or_cause(self.reader, data, self.schema, self._lineage, self.scan.bound, in_scan)
        if isinstance(matches, str):
            self._note_unreadable(manifest, data.path, matches, in_scan)
            return False
        self._keep(data.path, matches)
        return True

    def _matching_file(self, judged: _Judged, at: int, data: LiveFile, positions: Sequence[int]) -> MatchingFile:
        """What is told of a file with matching rows, one of those that were judged."""
        if not judged.reads[at]:
            reason, fault = self._exclusion_reason(judged, at)
            faults = [difference.words for difference, keeps in judged.others if keeps[at]]
            return MatchingFile(data, positions, f"{reason}; {'; '.join(faults) or fault}")
        skip = [difference.readers for difference, keeps in judged.others if not keeps[at]]
        reading = self._reading(judged, at, data)
        self.reader.tree.note(reading.problems)
        faults = [difference.words for difference, _ in judged.others if difference.inside_files]
        fault = "; ".join(faults) or "it has the row, so that is wrong"
        groups = [(first, last, f"{why}; {fault}") for first, last, why in reading.skipped]
        return MatchingFile(data, positions, "", groups, " and ".join(skip), reading.misread, reading.int96)

    def _reading(self, judged: _Judged, at: int, data: LiveFile) -> SparkReading:
        """What Spark makes of a file that the scan reads, as a worker found, or as is found here."""
        if self._readings is None:
            residual = judged.files.residual(at)
            own = data.path, str(residual)  # manifests that are written anew name the file again
            if own not in self._read_here:
                self._read_here[own] = spark_reading(self.reader, data, residual, self.schema)
            return self._read_here[own]
        return self._readings.get((judged.manifest.manifest.manifest_path, data.path), SparkReading())

    def _exclusion_reason(self, judged: _Judged, at: int) -> tuple[str, str]:
        """Say why the scan skips a file that has matching rows, and what is wrong for it."""
        own, manifest = judged.files.outcome[at], judged.manifest
        if manifest.keeps or own == BY_PARTITION:
            what = "partition value" if own == BY_PARTITION else "statistic"
            entry = f"{judged.files.reason(at)} (its manifest entry says so)"
            return entry, f"the file has the row, so this {what} is wrong"
        where = f"the manifest list says so of {base_name(manifest.manifest.manifest_path)}"
        return f"{manifest.reason} ({where})", "the file has the row, so this summary is wrong"

    def _keep(self, path: str, matches: pa.Table) -> None:
        number = len(self.rows) + matches.num_rows
        limits.within(number, limits.MAX_NAMED_ROWS, path, "matching rows with the files before it", "match fewer")
        if words := value_words(matches):
            self.value_words[path] = words
        positions = self._positions[path] = matches["_pos"].to_pylist()
        places = [StoredRow(path, position) for position in positions]
        for stored, row in zip(places, row_dicts(matches.drop_columns("_pos")), strict=True):
            self.rows[stored] = row
        if self._as_spark != self.scan.bound:
            returned = set(matching(matches, self._as_spark)["_pos"].to_pylist())
            self.folded_away |= {stored for stored in places if stored.pos not in returned}
        if self._keys:
            values = pa.table({k: column_at(matches, k) for k in self._keys})
            self.keyed |= zip(places, row_dicts(values), strict=True)

    def _look_on_spark(self, verdicts: Sequence[ManifestVerdict], engine: Engine) -> None:
        """Where Spark is to look, have it look through all data files of the history, a manifest at a time."""
        part = partial(matches_in, self.reader, self.scan, self.schema, self._lineage, self.reads_every_file)
        manifests, kept = [v.manifest for v in verdicts], {v.manifest.manifest_path for v in verdicts if v.keeps}
        rows, choice = self.reader.tree.by(engine, "row history").build(Parts(manifests, True, part, MATCHES))
        if choice.engine == "local":  # file by file, as snapshots have them
            return
        self._readings = {}
        for some in rows.read():
            parts = zip(*(some[n].to_pylist() for n in MATCHES.names), strict=True)
            for manifest, path, matches, words, why, in_scan in parts:
                if why is not None:
                    self._note_unreadable(manifest, path, why, in_scan and manifest in kept)
                    continue
                reading = SparkReading() if words is None else SparkReading.from_json(words)
                self._readings[manifest, path] = reading
                if path not in self._positions:
                    file_rows = from_ipc(matches)
                    self.reader.note_read(path, file_rows)
                    self._keep(path, file_rows)

    def _skip_counts(self, manifests: Sequence[ManifestFile], verdicts: Sequence[ManifestVerdict]) -> _Skipped:
        """Count the data files that the scan skips in any snapshot."""
        if self.scan.bound == TRUE:
            return _Skipped(0, 0)
        entries = sum(map(entries_in, manifests))
        if entries > SKIPPED_ENTRIES:
            return _Skipped(entries, 0, True)
        keeps = {v.manifest.manifest_path: v.keeps for v in verdicts}
        sizes: dict[str, int] = {}
        read: set[str] = set()
        for manifest, stored in self.reader.tree.stored_entries(manifests, metrics=True):
            judged = self.scan.files(manifest, stored)
            reads = pa.array((judged.outcome == READ) & keeps[manifest.manifest_path])
            read |= set(judged.entries["file_path"].filter(reads).to_pylist())
            some = judged.entries.select(["file_path", "file_size_in_bytes"]).filter(pc.invert(reads))
            sizes |= zip(*(some[name].to_pylist() for name in some.column_names), strict=True)
        skipped = [size or 0 for path, size in sizes.items() if path not in read]
        return _Skipped(len(skipped), sum(skipped))


@dataclass(frozen=True)
class _Skipped:
    files: int
    bytes: int
    at_most: bool = False

    @property
    def few(self) -> bool:
        return not self.at_most and self.files <= SKIPPED_FILES and self.bytes <= SKIPPED_BYTES
