"""Decoded manifests on disk, as uncompressed Arrow IPC files: an immutable file is decoded once, and reopening it maps
it into memory without reading what is not looked at. Narrow and metric columns apart.

Keyed by path, length, modification time (local files) and the version of this code; a damaged or missing cache file is
just decoded again. The oldest files go when the cache outgrows its limit."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import threading

import pyarrow as pa

from explorer.io.home import cache_home

CACHE_VERSION = 2
SMALLEST = 64 << 10
"""Manifests below this many bytes decode faster than a second file opens."""
LIMIT_BYTES = 4 << 30


def _file(path: str, length: int, stamp: int, part: str) -> str:
    key = hashlib.blake2b(f"{CACHE_VERSION}|{path}|{length}|{stamp}|{part}".encode(), digest_size=16).hexdigest()
    return f"{cache_home()}/manifests/{key[:2]}/{key}.arrow"


def get(path: str, length: int, stamp: int, part: str) -> pa.Table | None:
    """The cached table, memory-mapped, or None."""
    file = _file(path, length, stamp, part)
    try:
        with pa.memory_map(file) as source:
            return pa.ipc.open_file(source).read_all()
    except (OSError, pa.ArrowInvalid):
        return None


def put(path: str, length: int, stamp: int, part: str, table: pa.Table) -> None:
    """Keep a table. A full or read-only disk is no reason to fail: the table is just not kept."""
    _trim_once()
    file = _file(path, length, stamp, part)
    scratch = f"{file}.{os.getpid()}.{threading.get_ident()}"
    with contextlib.suppress(OSError):
        os.makedirs(os.path.dirname(file), exist_ok=True)
        try:
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
    for file in (cache_home() / "manifests").glob("*/*.arrow"):
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
