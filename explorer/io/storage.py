"""Bytes of a table's files through pyiceberg's FileIO, only below allowed roots.

Paths come from metadata that strangers wrote, so nothing outside the table's own location (and the roots the caller
adds) is opened, and nothing but regular files of a bounded size. A table that was copied keeps the old absolute paths:
when the metadata is read from elsewhere than its `location` says, paths below that location are looked up in the
copy."""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Mapping, Sequence
from urllib.parse import urlparse

from pyiceberg.io import FileIO, load_file_io

from explorer.errors import OutsideRoots, UnreadableFile
from explorer.io import budget

SAME_STORE = {"s3a": "s3", "s3n": "s3", "wasbs": "abfss", "wasb": "abfs"}
"""Hadoop's other names for one store."""
LONGEST = 8192
"""Characters of a path; file systems and stores allow fewer."""


_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")
"""Of a URI; a single letter is a Windows drive."""
_DOTS = re.compile(r"(?:^|[/\\])\.\.?(?:[/\\]|$)")


def local_path(path: str) -> str | None:
    """The local file system path of a plain path or file: URI; None for object storage. Nothing in it is decoded, and
    `?` and `#` are letters like others, as they are for Iceberg's own readers."""
    if path.startswith("file:"):
        rest = path.removeprefix("file:")
        return "/" + rest[2:].partition("/")[2] if rest.startswith("//") else rest
    return None if _SCHEME.match(path) else path


def canonical(path: str) -> str:
    """One spelling for a path: local ones absolute with links resolved, others with '.' and '..' folded away. Raises
    UnreadableFile for what is no path."""
    if len(path) > LONGEST:
        raise UnreadableFile(f"{path[:100]}…", f"is no path: it has {len(path):,} characters")
    local = local_path(path)
    if not path or local == "" or "\0" in (path if local is None else local):
        raise UnreadableFile(path, "is no path: it is empty, or has a NUL byte")
    try:
        if local is not None:
            return os.path.realpath(local)
    except (ValueError, OSError) as error:  # half a character, or a loop of links
        raise UnreadableFile(path, f"is no path: {error}") from error
    scheme, _, rest = path.partition(":")
    authority, _, inner = rest.removeprefix("//").partition("/")
    folded = os.path.normpath("/" + inner.lstrip("/"))
    return f"{SAME_STORE.get(scheme.lower(), scheme.lower())}://{authority}{folded}"


def split_store(path: str) -> tuple[str, str]:
    """(scheme and authority, path in it) of a canonical path; the first is empty for local ones."""
    start = path.find("://") + 3
    if start < 3:
        return "", path
    slash = path.find("/", start)
    return (path, "/") if slash < 0 else (path[:slash], path[slash:])


def below(path: str, root: str) -> bool:
    """Whether a canonical path lies in a canonical root folder."""
    (store, inner), (root_store, root_inner) = split_store(path), split_store(root)
    return store == root_store and (inner == root_inner or inner.startswith(root_inner.rstrip("/") + "/"))


FOLDERS = 1000
"""Folders whose links are remembered as resolved."""


class Storage:
    """Reads files below `roots`. `moved` is (location in the metadata, folder it was copied to), when they differ."""

    def __init__(
        self, roots: Sequence[str], properties: Mapping[str, str] | None = None, moved: tuple[str, str] | None = None
    ) -> None:
        self.roots = [canonical(root) for root in roots]
        self.moved = moved
        self._properties = dict(properties or {})
        self._file_ios: dict[str, FileIO] = {}
        self._folders: dict[str, str] = {}

    @property
    def identity(self) -> str:
        """What else than its path decides which bytes a file has: the store and the account. A digest."""
        return hashlib.blake2b(repr(sorted(self._properties.items())).encode(), digest_size=16).hexdigest()

    def resolve(self, path: str) -> str:
        """Where a path of the metadata is really looked up; differs from `path` only in a copied table."""
        if self.moved:
            old, new = self.moved
            for spelling in (old, old.removeprefix("file://"), old.removeprefix("file:")):
                if spelling and below(path, spelling):
                    return new.rstrip("/") + path[len(spelling.rstrip("/")) :]
        return path

    def canonical(self, path: str) -> str:
        """`canonical`, with the folders of local files resolved once: what is opened later passes through no link."""
        folder, _, name = path.rpartition("/")
        if len(path) > LONGEST or not folder.startswith(("/", "file:")) or name in ("", ".", "..") or "\0" in path:
            return canonical(path)
        if folder not in self._folders:
            if len(self._folders) >= FOLDERS:
                self._folders.clear()
            self._folders[folder] = canonical(folder)
        real = f"{self._folders[folder].rstrip('/')}/{name}"
        return canonical(path) if os.path.islink(real) else real

    def check(self, path: str) -> str:
        """The path that `read` would open, if it would: below the roots, and a regular file where it is local and
        there. Reads nothing. Raises OutsideRoots and UnreadableFile."""
        resolved, real, _ = self._checked(path)
        if local_path(resolved) is not None:
            try:
                if not stat.S_ISREG(os.lstat(real).st_mode):
                    raise UnreadableFile(path, "not a regular file")
            except OSError:  # whoever opens it says what is wrong
                pass
        return resolved

    def _checked(self, path: str) -> tuple[str, str, str]:
        """(the path looked up, its canonical form, the root it is below)."""
        if not isinstance(path, str):
            raise UnreadableFile(repr(path)[:100], "is no path")
        if _DOTS.search(path):  # one reader follows links first, another folds `..` first
            raise OutsideRoots(path, "has `.` or `..` in it, which readers take in different ways: it was not opened")
        resolved = self.resolve(path)
        real = self.canonical(resolved)
        for root in self.roots:
            if below(real, root):
                return resolved, real, root
        roots = ", ".join(self.roots)
        raise OutsideRoots(
            path, f"outside the table's folder, so it was not opened (allowed: {roots}; add a root to allow more)"
        )

    def _io(self, path: str) -> FileIO:
        scheme = urlparse(path).scheme
        if scheme not in self._file_ios:
            self._file_ios[scheme] = load_file_io(self._properties, path)
        return self._file_ios[scheme]

    def read(self, path: str, offset: int = 0, length: int | None = None, limit: int = budget.DATA) -> bytes:
        """The bytes of a file, or `length` bytes from `offset`; fewer where the file ends.

        Raises AccessRefused outside the roots and UnreadableFile, naming the file, for everything else: also when that
        is more than `limit` bytes."""
        resolved, real, root = self._checked(path)
        if offset < 0 or (length is not None and length < 0):
            raise UnreadableFile(path, f"cannot be read at {offset} for {length} bytes")
        try:
            if local_path(resolved) is not None:
                with os.fdopen(_open_below(root, real), "rb") as file:
                    state = os.fstat(file.fileno())
                    if not stat.S_ISREG(state.st_mode):
                        raise UnreadableFile(path, "not a regular file")
                    size = _part(path, state.st_size, offset, length, limit)
                    file.seek(offset)
                    return file.read(size)
            with self._io(resolved).new_input(resolved).open() as stream:
                stream.seek(0, os.SEEK_END)  # stores tell the size when a file is opened
                size = _part(path, stream.tell(), offset, length, limit)
                stream.seek(offset)
                return bytes(stream.read(size))
        except FileNotFoundError as error:
            where = f" (looked for at {resolved})" if resolved != path else ""
            raise UnreadableFile(path, f"the file does not exist{where}") from error
        except UnreadableFile:
            raise
        except Exception as error:  # every object store client has errors of its own
            raise UnreadableFile(path, f"cannot be read: {type(error).__name__}: {error}") from error

    def size(self, path: str) -> int:
        """Size in bytes. Raises as `read` does."""
        resolved, real, _ = self._checked(path)
        try:
            if local_path(resolved) is not None:
                return os.lstat(real).st_size
            return len(self._io(resolved).new_input(resolved))
        except FileNotFoundError as error:
            raise UnreadableFile(path, "the file does not exist") from error
        except Exception as error:
            raise UnreadableFile(path, f"cannot be read: {type(error).__name__}: {error}") from error


def _part(path: str, size: int, offset: int, length: int | None, limit: int) -> int:
    """How many bytes to read. Raises UnreadableFile when that is too many."""
    wanted = max(0, size - offset if length is None else min(length, size - offset))
    budget.within(wanted, limit, path)
    if wanted >= budget.LARGE:
        budget.require_memory(wanted, path)
    return wanted


def _open_below(root: str, real: str) -> int:
    """Open a file by its resolved path, step by step from the root and through no link, so that nobody can put one in
    the way between the check and now. A pipe does not block."""
    flags = os.O_RDONLY
    for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"):
        flags |= getattr(os, name, 0)
    if os.open not in os.supports_dir_fd or real == root:
        return os.open(real, flags)
    folder = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    *folders, name = real[len(root) :].strip("/").split("/")
    at = os.open(root, folder)
    try:
        for part in folders:
            inner = os.open(part, folder, dir_fd=at)
            os.close(at)
            at = inner
        return os.open(name, flags, dir_fd=at)
    finally:
        os.close(at)
