"""Folders for temporary files that do not stay: each goes with what it was made for, and at the latest when its process
ends. What a killed process left behind goes when the next process makes one."""

from __future__ import annotations

import atexit
import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from explorer.storage.locks import take_lock

PREFIX, OWNER = "icedive-", "owner"
"""What the folders' names begin with, and the file in each that its process holds a lock on."""
_held: dict[Path, int] = {}


def make_scratch(kind: str, place: Path | None = None) -> Path:
    """Make a folder that lasts until it is removed, or until this process ends.

    Args:
        kind: What it is for: a part of its name.
        place: In which folder; that for temporary files if None.

    Returns:
        The folder, which only this user may read.

    Raises:
        OSError: There is no room, or no folder for temporary files.
    """
    place = place or Path(tempfile.gettempdir())
    remove_abandoned(place)
    hidden = Path(tempfile.mkdtemp(prefix=f".{PREFIX}", dir=place))
    held = os.open(hidden / OWNER, os.O_CREAT | os.O_RDWR, 0o600)
    take_lock(held)
    folder = Path(hidden.rename(hidden.with_name(f"{PREFIX}{kind}-{hidden.name.removeprefix(f'.{PREFIX}')}")))
    _held[folder] = held
    owner = os.getpid()
    atexit.register(lambda: remove_scratch(folder) if os.getpid() == owner else None)  # not with one that is forked
    return folder


def remove_scratch(folder: Path) -> None:
    """Remove such a folder, with all that is in it."""
    shutil.rmtree(folder, ignore_errors=True)
    if (held := _held.pop(folder, None)) is not None:
        os.close(held)


@contextlib.contextmanager
def scratch(kind: str) -> Iterator[Path]:
    """Make such a folder for the time of a block. Raises OSError."""
    folder = make_scratch(kind)
    try:
        yield folder
    finally:
        remove_scratch(folder)


def remove_abandoned(place: Path) -> None:
    """Remove from a folder those of this user's processes that have ended without removing them. None where there
    are no such locks: there is no telling who has ended."""
    if os.name != "posix":
        return
    for folder in place.glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError):
            about = folder.lstat()
            if folder in _held or not folder.is_dir() or folder.is_symlink() or about.st_uid != os.getuid():
                continue
            held = os.open(folder / OWNER, os.O_RDWR | os.O_NOFOLLOW)
            try:
                if take_lock(held):
                    shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(held)
