"""Where readers stand, by what a person names: a snapshot, a branch or tag, a time, or the checkpoint of a stream."""

from __future__ import annotations

import json
import os
import re
import struct
from collections.abc import Collection, Iterable
from itertools import islice

from explorer.errors import NotFoundInTable, UnreadableFile
from explorer.model.metadata import TableMetadata
from explorer.progress import steps
from explorer.spec.snapshots.reader_positions import HistoryLeft, ReaderPosition, ReaderUse, needed_snapshots
from explorer.spec.snapshots.snapshot_names import time_ms
from explorer.spec.text.names import shorten, snapshot_ordinals
from explorer.spec.text.units import parse_int64
from explorer.storage.storage import Storage

OFFSETS, FLINK_STATE = 1 << 20, 64 << 20
"""Bytes read of a file of offsets, and of the metadata file of a Flink checkpoint."""
FLINK_POSITION = re.compile(rb"\x00\x00\x00\x01\x00\x00\x00(?:\x12\x01(.{8})\x01(.{8})|\x0a\x01(.{8})\x00)", re.DOTALL)
"""A position as Iceberg's Flink source writes it (IcebergEnumeratorPositionSerializer, version 1): version, length,
then a snapshot id and maybe its time, each after a byte that says whether it is there."""
YEARS = (1_400_000_000_000, 4_200_000_000_000)
"""Between which a snapshot's time is, in ms since 1970: Iceberg began in 2017."""
MOST_POSITIONS, MOST_NAMES = 100, 10_000
"""Positions of one checkpoint; and files in a folder of one."""
SNAPSHOT_USES: tuple[ReaderUse, ...] = ("time travel", "incremental read", "Spark stream")
TIME_USES: tuple[ReaderUse, ...] = ("time travel", "incremental read")
LONG = 120


def reader_positions(metadata: TableMetadata, storage: Storage, readers: Iterable[str]) -> list[ReaderPosition]:
    """Find where readers stand.

    Args:
        metadata: The table's.
        storage: Reads checkpoints, below its roots.
        readers: What a person names, each a snapshot's id or name, a branch or tag, a time in ISO 8601 (UTC), the
            folder of a Spark checkpoint or a file of its offsets, or the `_metadata` file or folder of a Flink one.

    Returns:
        A position for each way in which each may read.

    Raises:
        NotFoundInTable: One is none of these, or its checkpoint has no position of an Iceberg source.
        UnreadableFile: A checkpoint cannot be read. OutsideRoots if it is outside the roots.
    """
    named = steps(list(readers), "readers")
    return [position for reader in named for position in _positions(metadata, storage, reader.strip())]


def _positions(metadata: TableMetadata, storage: Storage, reader: str) -> list[ReaderPosition]:
    if any(ref.name == reader for ref in metadata.refs):
        return [ReaderPosition(reader, "time travel", ref=reader)]
    ordinals = snapshot_ordinals(metadata)
    named = {f"snapshot-{n}": own for own, n in ordinals.items()} | {str(own): own for own in ordinals}
    own = named.get(reader)
    if own is None and len(reader) > len("1700000000000"):
        own = parse_int64(reader)
    if own is not None:
        return _working_positions(metadata, [ReaderPosition(reader, use, own) for use in SNAPSHOT_USES])
    try:
        moment = time_ms(reader)
    except (ValueError, OverflowError):
        if "/" in reader:
            return _checkpoint(storage, reader)
        raise NotFoundInTable(
            f"Unknown reader {shorten(reader, LONG)!r}. Give a snapshot's id or name, a branch or tag, a time in ISO "
            "8601, or the path of a checkpoint"
        ) from None
    return [ReaderPosition(reader, use, time_ms=moment) for use in TIME_USES]


def _working_positions(metadata: TableMetadata, positions: list[ReaderPosition]) -> list[ReaderPosition]:
    """The ways that are open now; all, if none is."""
    now = HistoryLeft.all_of(metadata)
    return [p for p in positions if not isinstance(needed_snapshots(now, p), str)] or positions


# -- checkpoints -------------------------------------------------------------------------------------------------------
def _checkpoint(storage: Storage, path: str) -> list[ReaderPosition]:
    """The positions of a checkpoint: a file, or the folder of a stream."""
    folder = path.rstrip("/")
    names = _names(storage, folder)
    if "_metadata" in names:
        return _flink_positions(storage, f"{folder}/_metadata", path)
    if "offsets" in names or "commits" in names:
        return _stream_positions(storage, folder, path)
    if names:
        raise NotFoundInTable(
            f"{shorten(path, LONG)} is no checkpoint: a folder of Spark's has a folder `offsets`, one of Flink's a "
            "file `_metadata`"
        )
    if folder.rpartition("/")[2] == "_metadata":
        return _flink_positions(storage, folder, path)
    return _spark_positions(storage, [folder], path, "Spark stream")


def _names(storage: Storage, folder: str) -> set[str]:
    """The names in a folder; none if it is a file, or not there."""
    if storage.folder(folder) is not None:
        return set(_files(storage, folder))
    try:
        return {name for name in ("offsets", "commits") if storage.names(f"{folder}/{name}")} | {
            name for name in storage.names(folder) if name == "_metadata"
        }
    except UnreadableFile:
        return set()


def _stream_positions(storage: Storage, folder: str, path: str) -> list[ReaderPosition]:
    """The positions from which a Spark stream goes on: of the last batch that was committed, or else those at which its
    sources began; and these, for the trigger AvailableNow."""
    numbers = [int(name) for name in _files(storage, f"{folder}/commits") if re.fullmatch(r"[0-9]{1,18}", name)]
    sources = sorted(name for name in _files(storage, f"{folder}/sources") if re.fullmatch(r"[0-9]{1,6}", name))
    _check_number([int(name) for name in sources], path)
    begins = [f"{folder}/sources/{name}/offsets/0" for name in sources]
    if not numbers:
        return _spark_positions(storage, begins, path, "Spark stream")
    committed = _spark_positions(storage, [f"{folder}/offsets/{max(numbers)}"], path, "Spark stream")
    return [*committed, *_spark_positions(storage, begins, path, "Spark stream, AvailableNow")]


def _files(storage: Storage, folder: str) -> list[str]:
    local = storage.folder(folder)
    try:
        if local is None:
            names = storage.names(folder)
        else:
            with os.scandir(local) as entries:
                names = [entry.name for entry in islice(entries, MOST_NAMES + 1)]
    except (OSError, UnreadableFile):
        return []
    if len(names) > MOST_NAMES:
        raise NotFoundInTable(
            f"{shorten(folder, LONG)} has more than {MOST_NAMES:,} files: name the file of offsets, or `_metadata`"
        )
    return names


def _spark_positions(storage: Storage, files: Iterable[str], path: str, use: ReaderUse) -> list[ReaderPosition]:
    """The positions of Iceberg sources in files of Spark's offsets: JSON, a source a line."""
    own: dict[int, None] = {}
    for file in steps(list(files), "files of offsets"):
        for line in storage.read(file, limit=OFFSETS).splitlines():
            if (at := _snapshot_of_offset(line)) is not None:
                own[at] = None
                _check_number(own, path)
    if not own:
        raise NotFoundInTable(f"{shorten(path, LONG)} has no offset of an Iceberg source")
    return [ReaderPosition(path, use, at) for at in own]


def _check_number(positions: Collection[int], path: str) -> None:
    """Refuse a checkpoint that no stream writes: a stranger may have."""
    if len(positions) > MOST_POSITIONS:
        raise NotFoundInTable(f"{shorten(path, LONG)} has more than {MOST_POSITIONS} positions: it is no checkpoint")


def _snapshot_of_offset(line: bytes) -> int | None:
    """The snapshot in an offset as Iceberg's StreamingOffset writes it; None of another line."""
    if not line.startswith(b"{"):
        return None
    try:
        offset = json.loads(line)
    except (ValueError, RecursionError):
        return None
    own = offset.get("snapshot_id")
    is_offset = isinstance(own, int) and not isinstance(own, bool) and "scan_all_files" in offset
    return own if is_offset else None


def _flink_positions(storage: Storage, file: str, path: str) -> list[ReaderPosition]:
    """The positions of Iceberg sources in the metadata file of a Flink checkpoint."""
    own: dict[int, None] = {}
    for match in FLINK_POSITION.finditer(storage.read(file, limit=FLINK_STATE)):
        [snapshot_id] = struct.unpack(">q", match[1] or match[3])
        time = struct.unpack(">q", match[2])[0] if match[2] else YEARS[0]
        if snapshot_id > 0 and YEARS[0] <= time <= YEARS[1]:
            own[snapshot_id] = None
            _check_number(own, path)
    if not own:
        raise NotFoundInTable(f"{shorten(path, LONG)} has no position of an Iceberg source of Flink")
    return [ReaderPosition(path, "Flink source", snapshot_id) for snapshot_id in own]
