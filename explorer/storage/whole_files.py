"""Files that are written whole or not at all: beside, then renamed. A failure leaves the earlier file as it was."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from explorer.storage.data_dirs import HOME_VARIABLE, PREFIX, cache_home, data_folder

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
REFUSED = (errno.EROFS, errno.EACCES, errno.EPERM, errno.EEXIST, errno.ENOTDIR, errno.EISDIR)
"""Errors that another place mends."""


@contextlib.contextmanager
def whole_file(path: os.PathLike[str] | str) -> Iterator[IO[bytes]]:
    """Write a file.

    Args:
        path: The file; a link is followed. A device or a pipe is written to directly.

    Yields:
        A file to write to; it takes the place of the earlier one when the block ends without an error.

    Raises:
        OSError: It cannot be written; the earlier file is as it was.
    """
    _check_links(Path(path))
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        with open(target, "wb") as file:
            yield file
        return
    try:
        number, name = tempfile.mkstemp(prefix=f".{target.name[:80]}.", suffix=".part", dir=target.parent)
    except OSError as error:
        error.filename = str(path)  # not that of the one beside
        raise
    try:
        with open(number, "wb") as file:
            yield file
        os.chmod(name, stat.S_IMODE(target.stat().st_mode) if target.exists() else 0o666 & ~_umask())
        os.replace(name, target)
    except BaseException as error:
        with contextlib.suppress(OSError):
            os.unlink(name)
        if isinstance(error, OSError):
            error.filename, error.filename2 = str(path), None
        raise


def _check_links(path: Path) -> None:
    """A link in a folder where everybody may write, such as /tmp, is followed only if it is this user's or the folder's
    owner's (as Linux has it with protected_symlinks). Raises PermissionError."""
    if not path.is_symlink() or not hasattr(os, "geteuid"):
        return
    folder, owner = path.parent.stat(), path.lstat().st_uid
    if folder.st_mode & stat.S_ISVTX and folder.st_mode & stat.S_IWOTH and owner not in (os.geteuid(), folder.st_uid):
        raise PermissionError(errno.EACCES, "another user's link, in a folder where everybody may write", str(path))


def write_whole(path: Path | str, data: bytes | str) -> None:
    """Write bytes, or text as UTF-8, to a file. Raises OSError."""
    with whole_file(path) as file:
        file.write(data.encode() if isinstance(data, str) else data)


def opened(file: Any) -> contextlib.AbstractContextManager[Any]:
    """Return a file that is open as it is, and one that is named as `whole_file` writes it."""
    return whole_file(file) if isinstance(file, str | os.PathLike) else contextlib.nullcontext(file)


def os_error_words(error: OSError) -> str:
    """Say what the system refused, of which file, and what to change."""
    path = error.filename if isinstance(error.filename, str) else ""
    what = f"{path}: {error.strerror or error}" if path else str(error.strerror or error)
    hint = "free some room" if error.errno in NO_ROOM else _elsewhere(path) if error.errno in REFUSED else ""
    return f"{what}; {hint}" if hint else what


def _elsewhere(path: str) -> str:
    """Which setting names another place for a file of this program's."""
    for folder, variable in ((cache_home(), f"{PREFIX}CACHE"), (data_folder(), HOME_VARIABLE)):
        if path and Path(path).is_relative_to(folder):
            return f"choose another folder with ${variable}"
    return "write it elsewhere"


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
