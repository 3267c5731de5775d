"""Decoded manifests on disk, as uncompressed Arrow IPC files: an immutable file is decoded once, and reopening it maps
it into memory without reading what is not looked at. With the metric columns (whole) or, where nobody asked for these,
without (narrow). And the bytes of metadata files of stores, as they are: fetched once.

Keyed by what identifies the bytes (see storage.reader) and the version of this code; a damaged or missing cache file is
just decoded again. The oldest files go when the cache outgrows its limit. The folder is the user's alone: others
neither read what was decoded nor put something there."""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from weakref import WeakValueDictionary

import pyarrow as pa

from explorer.storage.data_dirs import cache_home, not_private

log = logging.getLogger(__name__)
CACHE_VERSION = 5
SMALLEST = 64 << 10
"""Manifests below this many bytes decode faster than a second file opens."""
LIMIT_BYTES = 4 << 30
WAITING_BYTES = 64 << 20


def _folder() -> Path:
    return cache_home() / f"manifests-{CACHE_VERSION}"


def _file(key: str, part: str) -> str:
    name = hashlib.blake2b(f"{key}|{part}".encode(), digest_size=16).hexdigest()
    return f"{_folder()}/{name[:2]}/{name}.{'bytes' if part == 'bytes' else 'arrow'}"


def get(key: str, part: str) -> pa.Table | None:
    """The cached table, memory-mapped, or None. All who ask while somebody has it get the same one."""
    file = _file(key, part)
    if not_private(_folder()):
        return None
    try:
        table = _mapped.get(file)
        if table is None:
            with pa.memory_map(file) as source:
                table = _mapped[file] = pa.ipc.open_file(source).read_all()
    except (OSError, pa.ArrowException):
        return None
    return table


_mapped = WeakValueDictionary[str, pa.Table]()


def put(key: str, part: str, table: pa.Table, kept: Callable[[], object]) -> None:
    """Keep a table, behind the answer that it is for, and call `kept` when it is. A full or read-only disk, or a
    folder that others write to, is no reason to fail: it is just not kept. Who has much to keep waits for it."""
    file = _file(key, part)

    def write(scratch: str) -> None:
        with pa.OSFile(scratch, "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)

    def later() -> None:
        try:
            if _put(file, write):
                kept()
        except Exception:  # the answer is there without it
            log.warning("a decoded manifest could not be kept", exc_info=True)
        finally:
            _Waiting.add(-table.nbytes)

    if _Waiting.add(table.nbytes) > WAITING_BYTES:
        later()
        return
    try:
        _Waiting.pool.submit(later)
    except RuntimeError:  # this process is ending
        later()


class _Waiting:
    """Tables that are yet to be written: how many bytes, and by whom. A process that ends waits for them."""

    lock, bytes = threading.Lock(), 0
    pool = ThreadPoolExecutor(1, thread_name_prefix="write-cache")

    @classmethod
    def add(cls, size: int) -> int:
        with cls.lock:
            cls.bytes += size
            return cls.bytes


def settle() -> None:
    """Wait until what was to be kept is."""
    _Waiting.pool.submit(lambda: None).result()


def get_bytes(key: str) -> bytes | None:
    """The bytes kept under a key, or None."""
    if not_private(_folder()):
        return None
    try:
        return Path(_file(key, "bytes")).read_bytes() or None  # none were kept, or none came to the disk
    except OSError:
        return None


def count_bytes(key: str) -> int:
    """How many bytes are kept under a key; 0 for none."""
    if not_private(_folder()):
        return 0
    try:
        return os.stat(_file(key, "bytes")).st_size
    except OSError:
        return 0


def put_bytes(key: str, data: bytes) -> bool:
    """Keep bytes; see `put`."""

    def write(scratch: str) -> None:
        Path(scratch).write_bytes(data)

    return _put(_file(key, "bytes"), write)


def _put(file: str, write: Callable[[str], None]) -> bool:
    scratch = f"{file}.{os.getpid()}.{threading.get_ident()}"
    with contextlib.suppress(OSError):
        if not os.path.isdir(os.path.dirname(file)):
            os.makedirs(cache_home(), exist_ok=True)
            _folder().mkdir(mode=0o700, exist_ok=True)
            os.makedirs(os.path.dirname(file), mode=0o700, exist_ok=True)
        if not_private(_folder()):
            return False
        try:
            os.close(os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))  # who writes opens it, but not so
            write(scratch)
            _make_room(os.stat(scratch).st_size)
            os.replace(scratch, file)
        except BaseException:
            os.unlink(scratch)
            raise
        return True
    return False


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
    for file in _folder().glob("*/*.*"):
        with contextlib.suppress(OSError):
            state = file.stat()
            files.append((max(state.st_atime, state.st_mtime), state.st_size, file))
    total = sum(size for _, size, _ in files)
    for _, size, file in sorted(files):
        if total <= limit:
            return
        with contextlib.suppress(OSError):
            file.unlink()
            total -= size
