"""Decoded manifests on disk, as uncompressed Arrow IPC files: an immutable file is decoded once, and reopening it maps
it into memory without reading what is not looked at. With the metric columns (whole) or, where nobody asked for these,
without (narrow). And the bytes of metadata files of stores, as they are: fetched once.

Manifests that were decoded together are kept in one file, a record batch for each, which has a name for each of them:
to open a file for each would take longer than to decode them. A name is of what identifies the bytes (see
storage.manifest_reader) and the version of this code; a damaged or missing cache file is just decoded again. The oldest
files go when the cache outgrows its limit. The folder is the user's alone: others neither read what was decoded nor put
something there."""

from __future__ import annotations

import contextlib
import hashlib
import json
import mmap
import os
import threading
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from weakref import WeakValueDictionary

import pyarrow as pa
from cachetools import LRUCache

from explorer.storage.data_dirs import cache_home, not_private

CACHE_VERSION = 7
SMALLEST = 64 << 10
"""Manifests below this many bytes decode faster than a second file opens."""
LIMIT_BYTES = 4 << 30
OPEN = 16
"""Files that stay open: manifests that were decoded together are asked for together."""
INDEX = b"manifests"
OWN = f"{'[0-9a-f]' * 32}.*"
"""What the names of files of the cache look like."""
FORMER = f"{'[0-9a-f]' * 2}/{OWN}"
"""What they looked like before."""


def _folder() -> str:
    return f"{cache_home()}/manifests-{CACHE_VERSION}"


def _private_folder() -> str | None:
    """The folder of the cache; None where others may write to it, or where it is a link: who may write beside it could
    have it lead to files of this user's that are no cache."""
    folder = _folder()
    return None if os.path.islink(folder) or not_private(folder) else folder


def _name(key: str, part: str) -> str:
    return hashlib.blake2b(f"{key}|{part}".encode(), digest_size=16).hexdigest()


def _file(folder: str, name: str, suffix: str) -> str:
    return f"{folder}/{name}.{suffix}"


class _Pack:
    """Manifests in one file, which is mapped."""

    def __init__(self, file: str) -> None:
        with open(file, "rb") as opened:
            bytes_ = mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ)
        buffer = pa.py_buffer(bytes_)
        _mapped[buffer.address] = bytes_
        self._reader, self._lock = pa.ipc.open_file(buffer), threading.Lock()
        schema = self._reader.schema
        digest, *names = json.loads((schema.metadata or {})[INDEX])
        if digest != _digest(schema.remove_metadata()):
            raise ValueError("damaged")
        self._places = {name: place for place, name in enumerate(names)}

    def get(self, name: str) -> pa.Table:
        """The table of a name. Raises KeyError."""
        with self._lock:
            batch = self._reader.get_batch(self._places[name])
        return pa.Table.from_batches([batch]).replace_schema_metadata(None)


_mapped = WeakValueDictionary[int, mmap.mmap]()
"""What is mapped, by its address: it lives as long as something is held that lies in it."""
_packs = LRUCache[tuple[int, int, int], _Pack](OPEN)
_lock = threading.Lock()


def get(keys: Sequence[str], part: str) -> dict[str, pa.Table]:
    """The cached tables of those keys that have one, memory-mapped."""
    folder = _private_folder()
    if folder is None:
        return {}
    tables: dict[str, pa.Table] = {}
    for key in keys:
        name = _name(key, part)
        with contextlib.suppress(OSError, pa.ArrowException, ValueError, KeyError, TypeError):
            tables[key] = _pack(_file(folder, name, "arrow")).get(name)
    return tables


def _pack(file: str) -> _Pack:
    """What a file holds, which stays open. Raises OSError, ArrowException, ValueError, TypeError."""
    state = os.stat(file)
    identity = state.st_dev, state.st_ino, state.st_mtime_ns
    with _lock:
        pack = _packs.get(identity)
    if pack is None:
        pack = _Pack(file)
        with _lock:
            _packs[identity] = pack
    return pack


def mapped_columns(table: pa.Table) -> list[str]:
    """The columns of a table that lie in cache files, and so take no memory of ours."""
    places = sorted((address, address + len(bytes_)) for address, bytes_ in list(_mapped.items()))
    starts = [start for start, _ in places]

    def lies(address: int) -> bool:
        at = bisect_right(starts, address) - 1
        return at >= 0 and address < places[at][1]

    return [
        name
        for name, column in zip(table.column_names, table.columns, strict=True)
        if all(lies(buffer.address) for chunk in column.chunks for buffer in chunk.buffers() if buffer and buffer.size)
    ]


def put(tables: Mapping[str, pa.Table], part: str) -> dict[str, pa.Table]:
    """Keep tables by their keys; those of one schema in one file. Return those that are kept, as `get` does. A full or
    read-only disk, or a folder that others write to, is no reason to fail: it is just not kept."""
    alike: dict[pa.Schema, dict[str, str]] = {}
    folder = _folder()
    for key, table in tables.items():
        alike.setdefault(table.schema, {})[key] = _name(key, part)
    mapped: dict[str, pa.Table] = {}
    for schema, names in alike.items():
        files = [_file(folder, name, "arrow") for name in names.values()]
        if _put(files, partial(_write, schema, {name: tables[key] for key, name in names.items()})):
            with contextlib.suppress(OSError, pa.ArrowException, ValueError, KeyError, TypeError):
                pack = _pack(files[0])
                mapped |= {key: pack.get(name) for key, name in names.items()}
    return mapped


def _write(schema: pa.Schema, named: Mapping[str, pa.Table], scratch: str) -> None:
    packed = schema.with_metadata({INDEX: json.dumps([_digest(schema), *named])})
    # the file is empty: some file systems write at once what is written to one that was emptied
    with pa.OSFile(scratch, "ab") as sink, pa.ipc.new_file(sink, packed) as writer:
        for table in named.values():
            batches = table.to_batches()
            if len(batches) != 1:
                columns = [column.combine_chunks() for column in table.columns]
                batches = [pa.RecordBatch.from_arrays(columns, schema=schema)]
            writer.write_batch(batches[0])


def _digest(schema: pa.Schema) -> str:
    return hashlib.blake2b(schema.serialize(), digest_size=16).hexdigest()


def _bytes_file(key: str) -> str:
    return _file(_folder(), _name(key, "bytes"), "bytes")


def get_bytes(key: str) -> bytes | None:
    """The bytes kept under a key, or None."""
    if _private_folder() is None:
        return None
    try:
        return Path(_bytes_file(key)).read_bytes() or None  # none were kept, or none came to the disk
    except OSError:
        return None


def count_bytes(key: str) -> int:
    """How many bytes are kept under a key; 0 for none."""
    if _private_folder() is None:
        return 0
    try:
        return os.stat(_bytes_file(key)).st_size
    except OSError:
        return 0


def put_bytes(key: str, data: bytes) -> bool:
    """Keep bytes; see `put`."""

    def write(scratch: str) -> None:
        Path(scratch).write_bytes(data)

    return _put([_bytes_file(key)], write)


def _put(files: Sequence[str], write: Callable[[str], None]) -> bool:
    """Write a file that has several names. Return whether it is there."""
    scratch = f"{files[0]}.{os.getpid()}.{threading.get_ident()}"
    with contextlib.suppress(OSError):
        if not os.path.isdir(_folder()):
            os.makedirs(cache_home(), exist_ok=True)
            Path(_folder()).mkdir(mode=0o700, exist_ok=True)
        if _private_folder() is None:
            return False
        try:
            os.close(os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))  # who writes opens it, but not so
            write(scratch)
            _make_room(os.stat(scratch).st_size)
            for file in files[1:]:
                _link(scratch, file)
            os.replace(scratch, files[0])
        except BaseException:
            os.unlink(scratch)
            raise
        return True
    return False


def _link(scratch: str, file: str) -> None:
    """Give a file another name, which another file may have."""
    try:
        os.link(scratch, file)
    except FileExistsError:
        os.link(scratch, f"{scratch}.link")
        os.replace(f"{scratch}.link", file)


class _Written:
    """What this process wrote since it last made room."""

    lock, bytes, trimmed = threading.Lock(), 0, False


def _make_room(size: int) -> None:
    """Count what is about to be kept. The first file a process keeps, and every 32nd part of the limit after that,
    makes room in the background; so several processes overshoot the limit by that much each, and no more."""
    with _Written.lock:
        _Written.bytes += size
        if _Written.trimmed and _Written.bytes < LIMIT_BYTES // 32:
            return
        _Written.bytes, _Written.trimmed = 0, True
    threading.Thread(target=trim, name="trim-cache", daemon=True).start()


def trim(limit: int = LIMIT_BYTES) -> None:
    """Delete the longest unused files until the cache is below `limit` bytes."""
    files = []
    if _private_folder() is None:
        return
    for file in chain(Path(_folder()).glob(OWN), Path(_folder()).glob(FORMER)):
        with contextlib.suppress(OSError):
            state = file.stat()
            files.append((max(state.st_atime, state.st_mtime), state.st_size // state.st_nlink, file))
    total = sum(size for _, size, _ in files)
    for _, size, file in sorted(files):
        if total <= limit:
            return
        with contextlib.suppress(OSError):
            file.unlink()
            total -= size
