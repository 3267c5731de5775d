"""Decoded manifests on disk, as uncompressed Arrow IPC files: an immutable file is decoded once, and reopening it maps
it into memory without reading what is not looked at. Narrow and metric columns apart.

Keyed by what identifies the bytes (see io.reader) and the version of this code; a damaged or missing cache file is just
decoded again. The oldest files go when the cache outgrows its limit. The folder is the user's alone: others neither
read what was decoded nor put something there."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import threading
from pathlib import Path

import pyarrow as pa

from explorer.io.home import cache_home, not_private

CACHE_VERSION = 3
SMALLEST = 64 << 10
"""Manifests below this many bytes decode faster than a second file opens."""
LIMIT_BYTES = 4 << 30


def _folder() -> Path:
    return cache_home() / f"manifests-{CACHE_VERSION}"


def _file(key: str, part: str) -> str:
    name = hashlib.blake2b(f"{key}|{part}".encode(), digest_size=16).hexdigest()
    return f"{_folder()}/{name[:2]}/{name}.arrow"


def get(key: str, part: str) -> pa.Table | None:
    """The cached table, memory-mapped, or None."""
    file = _file(key, part)
    if not_private(_folder()):
        return None
    try:
        with pa.memory_map(file) as source:
            return pa.ipc.open_file(source).read_all()
    except (OSError, pa.ArrowInvalid):
        return None


def put(key: str, part: str, table: pa.Table) -> None:
    """Keep a table. A full or read-only disk, or a folder that others write to, is no reason to fail: the table is just
    not kept."""
    _trim_once()
    file = _file(key, part)
    scratch = f"{file}.{os.getpid()}.{threading.get_ident()}"
    with contextlib.suppress(OSError):
        if not os.path.isdir(os.path.dirname(file)):
            os.makedirs(cache_home(), exist_ok=True)
            _folder().mkdir(mode=0o700, exist_ok=True)
            os.makedirs(os.path.dirname(file), mode=0o700, exist_ok=True)
        if not_private(_folder()):
            return
        try:
            os.close(os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))  # Arrow opens it, but not so
            with pa.OSFile(scratch, "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
                writer.write_table(table)
            os.replace(scratch, file)
        except BaseException:
            os.unlink(scratch)
            raise


@functools.cache
def _trim_once() -> None:
    """The first table a process keeps makes room, in the background."""
    threading.Thread(target=trim, name="trim-cache", daemon=True).start()


def trim(limit: int = LIMIT_BYTES) -> None:
    """Delete the longest unused files until the cache is below `limit` bytes."""
    files = []
    for file in _folder().glob("*/*.arrow"):
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
