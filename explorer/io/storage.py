"""Bytes of a table's files through pyiceberg's FileIO, only below allowed roots.

Paths come from metadata that strangers wrote, so nothing outside the table's own location (and the roots the caller
adds) is opened, and nothing but regular files. A table that was copied keeps the old absolute paths: when the metadata
is read from elsewhere than its `location` says, paths below that location are looked up in the copy."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping, Sequence
from urllib.parse import unquote, urlparse

from pyiceberg.io import FileIO, load_file_io

from explorer.errors import OutsideRoots, UnreadableFile

MAX_FILE_BYTES = 2 << 30


def local_path(path: str) -> str | None:
    """The local file system path of a plain path or file: URI; None for object storage."""
    parsed = urlparse(path)
    if parsed.scheme == "file":
        return unquote(parsed.path)
    if parsed.scheme in ("", *map(chr, range(97, 123))):  # no scheme, or a Windows drive letter
        return path
    return None


def canonical(path: str) -> str:
    """One spelling for a path: local ones absolute with links resolved, others with '.' and '..' folded away."""
    local = local_path(path)
    if local is not None:
        return os.path.realpath(local)
    parsed = urlparse(path)
    folded = os.path.normpath(parsed.path) if parsed.path else "/"
    return f"{parsed.scheme}://{parsed.netloc}{folded}"


def below(path: str, root: str) -> bool:
    """Whether a canonical path lies in a canonical root folder."""
    return path == root or path.startswith(root.rstrip("/") + "/")


class Storage:
    """Reads files below `roots`. `moved` is (location in the metadata, folder it was copied to), when they differ."""

    def __init__(
        self, roots: Sequence[str], properties: Mapping[str, str] | None = None, moved: tuple[str, str] | None = None
    ) -> None:
        self.roots = [canonical(root) for root in roots]
        self.moved = moved
        self._properties = dict(properties or {})
        self._file_ios: dict[str, FileIO] = {}

    def resolve(self, path: str) -> str:
        """Where a path of the metadata is really looked up; differs from `path` only in a copied table."""
        if self.moved:
            old, new = self.moved
            for spelling in (old, old.removeprefix("file://"), old.removeprefix("file:")):
                if spelling and below(path, spelling):
                    return new.rstrip("/") + path[len(spelling.rstrip("/")) :]
        return path

    def _checked(self, path: str) -> str:
        resolved = self.resolve(path)
        real = canonical(resolved)
        if not any(below(real, root) for root in self.roots):
            roots = ", ".join(self.roots)
            raise OutsideRoots(
                path, f"outside the table's folder, so it was not opened (allowed: {roots}; add a root to allow more)"
            )
        return resolved

    def _io(self, path: str) -> FileIO:
        scheme = urlparse(path).scheme
        if scheme not in self._file_ios:
            self._file_ios[scheme] = load_file_io(self._properties, path)
        return self._file_ios[scheme]

    def read(self, path: str, offset: int = 0, length: int | None = None) -> bytes:
        """The bytes of a file, or `length` bytes from `offset`.

        Raises AccessRefused outside the roots and UnreadableFile, naming the file, for everything else."""
        resolved = self._checked(path)
        local = local_path(resolved)
        try:
            if local is not None:
                mode = os.stat(local)
                if not stat.S_ISREG(mode.st_mode):
                    raise UnreadableFile(path, "not a regular file")
                if (length or mode.st_size) > MAX_FILE_BYTES:
                    raise UnreadableFile(path, f"larger than {MAX_FILE_BYTES} bytes")
                with open(local, "rb") as file:
                    file.seek(offset)
                    return file.read(-1 if length is None else length)
            with self._io(resolved).new_input(resolved).open() as stream:
                stream.seek(offset)
                return bytes(stream.read() if length is None else stream.read(length))
        except FileNotFoundError as error:
            where = f" (looked for at {resolved})" if resolved != path else ""
            raise UnreadableFile(path, f"the file does not exist{where}") from error
        except UnreadableFile:
            raise
        except Exception as error:  # every object store client has errors of its own
            raise UnreadableFile(path, f"cannot be read: {type(error).__name__}: {error}") from error

    def size(self, path: str) -> int:
        """Size in bytes. Raises as `read` does."""
        resolved = self._checked(path)
        local = local_path(resolved)
        try:
            return os.path.getsize(local) if local is not None else len(self._io(resolved).new_input(resolved))
        except FileNotFoundError as error:
            raise UnreadableFile(path, "the file does not exist") from error
        except Exception as error:
            raise UnreadableFile(path, f"cannot be read: {type(error).__name__}: {error}") from error
