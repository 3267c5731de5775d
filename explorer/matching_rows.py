"""The rows of a table's data files that match a filter, over all snapshots: what a scan reads, and what its statistics
make it skip."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from explorer.core.batches import Parts
from explorer.core.expressions import TRUE, Expression
from explorer.core.fates import StoredRow
from explorer.core.live_files import LiveFile, read_alike
from explorer.core.names import base_name
from explorer.core.reader_rules import differences
from explorer.core.row_diff import column_at
from explorer.core.scan import BY_PARTITION, READ, ManifestVerdict, Scan
from explorer.core.values import row_dicts
from explorer.engines.choice import Engine, entries_in
from explorer.errors import UnreadableFile
from explorer.filters import MATCHES, matches_in, matching
from explorer.io import budget
from explorer.io.file_rows import from_ipc
from explorer.model.manifest import ManifestFile
from explorer.model.metadata import Schema, Snapshot
from explorer.model.problem import Problem
from explorer.parquet_groups import misread_columns, row_groups_of_file
from explorer.progress import steps
from explorer.rowlevel import RowReader

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
    """

    data: LiveFile
    positions: Sequence[int]
    skipped_because: str = ""
    skipped_groups: Sequence[tuple[int, int, str]] = ()
    other_readers: str = ""
    misread: str = ""

    def why_skipped(self, position: int) -> str:
        """Say why a scan does not return the row at a position; empty where it does."""
        groups = (why for first, last, why in self.skipped_groups if first <= position < last)
        return self.skipped_because or next(groups, "")


@dataclass(frozen=True)
class UnreadFiles:
    """Data files that a scan skips and that were not read. `at_most`: manifests name no more than so many `files`, some
    of them perhaps twice."""

    files: int
    at_most: bool = False

    def __str__(self) -> str:
        number = f"{'up to ' if self.at_most else ''}{self.files:,} data file{'s' if self.files != 1 else ''}"
        return f"{number} that the filter excludes by partition values, counts or bounds"


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
    ) -> None:
        self.reader, self.scan, self.schema = reader, scan, schema
        self._keys, self._lineage = keys, reader.tree.metadata.format_version >= 3
        self.rows: dict[StoredRow, dict[str, Any]] = {}
        self.keyed: dict[StoredRow, dict[str, Any]] = {}
        self._positions: dict[str, list[int]] = {}
        """By data file; of files that were read."""
        self._holding: set[str] | None = None
        """Manifests that list data files with matching rows, where Spark looked through all."""
        self._other_scans = [(d, scan.as_read_by(d.rules)) for d in differences(scan.metadata, scan.bound)]
        self._of_manifest: dict[tuple[Any, ...], list[MatchingFile]] = {}
        reader.tree.ahead(snapshots)
        manifests: dict[str, ManifestFile] = {}
        for snapshot in steps(snapshots, "snapshots"):
            for manifest in reader.tree.manifests(snapshot):
                manifests.setdefault(manifest.manifest_path, manifest)
        reader.tree.ahead(manifests=manifests.values())
        data = [m for m in manifests.values() if m.content == 0]
        verdicts = scan.manifests(data)
        skipped = _Skipped(0, 0) if every_file else self._skipped(data, verdicts)
        self.reads_every_file = every_file or skipped.few
        reads_all = self.reads_every_file or not skipped.files
        self.unread = None if reads_all else UnreadFiles(skipped.files, skipped.at_most)
        """The files that may have matching rows too, as statistics may be wrong."""
        self._look_on_spark([v.manifest for v in verdicts if v.keeps or self.reads_every_file], engine)

    def in_manifests(self, manifests: Sequence[ManifestFile], snapshot: Snapshot) -> list[MatchingFile]:
        """Find the live data files of a snapshot that have matching rows, one item for each live entry.

        Args:
            manifests: The snapshot's manifests.
            snapshot: The snapshot.

        Returns:
            The files in the order of the manifests. A file with two live entries comes twice.

        Raises:
            UnreadableFile: A data file cannot be read.
        """
        data = [m for m in manifests if m.content == 0]
        new = list({read_alike(m): m for m in data if read_alike(m) not in self._of_manifest}.values())
        looked_at = []
        for verdict in self.scan.manifests(new):
            held = self._holding is None or verdict.manifest.manifest_path in self._holding
            if held and (verdict.keeps or self.reads_every_file):
                looked_at.append(verdict)
            else:
                self._of_manifest[read_alike(verdict.manifest)] = []
        live = self.reader.chosen([v.manifest for v in looked_at], snapshot, self._looked_into)
        for verdict, files in zip(looked_at, live, strict=True):
            self._of_manifest[read_alike(verdict.manifest)] = list(self._matching(verdict, files))
        return list(chain.from_iterable(self._of_manifest[read_alike(m)] for m in data))

    def _looked_into(self, manifest: ManifestFile, files: pa.Table) -> pa.Table:
        """Choose the live files of a manifest that are looked into; `_judged` keeps the scan's verdicts on all."""
        self._judged = self.scan.files(manifest, files)
        read = self._judged.outcome == READ
        self._places = np.arange(files.num_rows) if self.reads_every_file else np.flatnonzero(read)
        self._others = [
            (difference, scan.manifests([manifest])[0].keeps & (scan.files(manifest, files).outcome == READ))
            for difference, scan in self._other_scans
        ]
        return files if self.reads_every_file else files.filter(pa.array(read))

    def _matching(self, manifest: ManifestVerdict, files: Sequence[LiveFile]) -> Iterator[MatchingFile]:
        for data, at in zip(steps(files, "data files"), self._places.tolist() if files else (), strict=True):
            if not (positions := self._in_file(data)):
                continue
            reads = manifest.keeps and self._judged.outcome[at] == READ
            if reads:
                skip = [d.readers for d, keeps in self._others if not keeps[at]]
                groups = self._skipped_groups(data, self._judged.residual(at))
                yield MatchingFile(data, positions, "", groups, " and ".join(skip), self._misread(data))
                continue
            reason, fault = self._why_excluded(manifest, at)
            faults = [difference.words for difference, keeps in self._others if keeps[at]]
            yield MatchingFile(data, positions, f"{reason}; {'; '.join(faults) or fault}")

    def _why_excluded(self, manifest: ManifestVerdict, at: int) -> tuple[str, str]:
        """Say why the scan skips a file that has matching rows, and what is wrong for it."""
        own = self._judged.outcome[at]
        if manifest.keeps or own == BY_PARTITION:
            what = "partition value" if own == BY_PARTITION else "statistic"
            entry = f"{self._judged.reason(at)} (its manifest entry says so)"
            return entry, f"the file has the row, so this {what} is wrong"
        where = f"the manifest list says so of {base_name(manifest.manifest.manifest_path)}"
        return f"{manifest.reason} ({where})", "the file has the row, so this summary is wrong"

    def _skipped_groups(self, data: LiveFile, residual: Expression) -> list[tuple[int, int, str]]:
        if data.file_format != "PARQUET" or self._holding is not None or residual == TRUE:
            return []
        skipped: list[tuple[int, int, str]] = []
        first = 0
        try:
            groups = row_groups_of_file(self.reader.tree, data.path, residual, self.schema)
        except UnreadableFile as error:  # its rows were read all the same
            self.reader.tree.note([Problem(error.path, error.cause, severity="warning")])
            return []
        for group in groups:
            if not group.keeps:
                faults = [d.words for d, _ in self._others if d.inside_files]
                fault = "; ".join(faults) or "it has the row, so that is wrong"
                why = f"row group {group.ordinal}, by its {group.by}: {group.reason}; {fault}"
                skipped.append((first, first + group.rows, why))
            first += group.rows
        return skipped

    def _misread(self, data: LiveFile) -> str:
        """Say which columns of a data file Spark takes for other values than it has."""
        if data.file_format != "PARQUET" or self._holding is not None:
            return ""
        try:
            found = misread_columns(self.reader.tree, data.path, self.schema)
        except UnreadableFile as error:  # its rows were read all the same
            self.reader.tree.note([Problem(error.path, error.cause, severity="warning")])
            return ""
        return "; ".join(f"{name}, {difference.words}" for name, difference in found.items())

    def _in_file(self, data: LiveFile) -> list[int]:
        """Positions in a data file whose rows match; each file is read once."""
        if data.path not in self._positions and self._holding is None:
            self._keep(data.path, matching(self.reader.rows(data, self.schema, self._lineage), self.scan.bound))
        return self._positions.get(data.path, [])

    def _keep(self, path: str, matches: pa.Table) -> None:
        number = len(self.rows) + matches.num_rows
        budget.within(number, budget.TOLD, path, "matching rows with the files before it", "match fewer")
        positions = self._positions[path] = matches["_pos"].to_pylist()
        places = [StoredRow(path, position) for position in positions]
        for stored, row in zip(places, row_dicts(matches.drop_columns("_pos")), strict=True):
            self.rows[stored] = row
        if self._keys:
            values = pa.table({k: column_at(matches, k) for k in self._keys})
            self.keyed |= zip(places, row_dicts(values), strict=True)

    def _look_on_spark(self, manifests: Sequence[ManifestFile], engine: Engine) -> None:
        """Where Spark is to look, have it look through all data files of the history, a manifest at a time."""
        part = partial(matches_in, self.reader, self.scan, self.schema, self._lineage, self.reads_every_file)
        rows, choice = self.reader.tree.by(engine, "fate").made(Parts(manifests, True, part, MATCHES))
        if choice.engine == "local":  # file by file, as snapshots have them
            return
        self._holding = set()
        for some in rows.read():
            for manifest, path, matches in zip(*(some[name].to_pylist() for name in MATCHES.names), strict=True):
                self._holding.add(manifest)
                if path not in self._positions:
                    self._keep(path, from_ipc(matches))

    def _skipped(self, manifests: Sequence[ManifestFile], verdicts: Sequence[ManifestVerdict]) -> _Skipped:
        """Count the data files that the scan skips in any snapshot."""
        if self.scan.bound == TRUE:
            return _Skipped(0, 0)
        entries = sum(map(entries_in, manifests))
        if entries > SKIPPED_ENTRIES:
            return _Skipped(entries, 0, True)
        keeps = {v.manifest.manifest_path: v.keeps for v in verdicts}
        sizes: dict[str, int] = {}
        read: set[str] = set()
        for manifest, stored in self.reader.tree.stored(manifests, metrics=True):
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
