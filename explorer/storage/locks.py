"""Locks on files, which end with the process that holds them, however it ends."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from explorer.errors import NotPossible


def take_lock(number: int) -> bool:
    """Lock an open file, given by its number, if nobody has; False where somebody has, or where there are no such
    locks."""
    try:
        import fcntl

        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (ImportError, OSError):
        return False
    return True


@contextlib.contextmanager
def only_process(file: Path, what: str) -> Iterator[None]:
    """Do something that one process at a time may do.

    Args:
        file: The file whose lock says that it is done; it stays.
        what: What is done, for the message.

    Raises:
        NotPossible: Another process does it.
    """
    number = os.open(file, os.O_CREAT | os.O_RDWR, 0o600)
    try:
        if not take_lock(number) and os.name == "posix":
            raise NotPossible(f"another process {what}: wait until it has ended")
        yield
    finally:
        os.close(number)
