"""The files below a folder of this machine."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

from explorer.errors import UnreadableFile
from explorer.progress import note_read, steps
from explorer.storage import limits
from explorer.storage.store_listing import ListedFile

COUNTED = 1_000
"""Files that are counted together: fewer count nothing."""


def local_files(folder: str) -> Iterator[tuple[str, ListedFile]]:
    """Return the files at any depth below a local folder, in no order.

    A link counts as itself, since what it leads to may lie elsewhere. A link to a folder is no file.

    Args:
        folder: Its path, without links.

    Yields:
        The path of each file, and what the listing has of it.

    Raises:
        UnreadableFile: A folder cannot be listed.
    """
    folders, number = [folder], 0
    while folders:
        top = folders.pop()
        try:
            with os.scandir(top) as there:
                for file in steps(there, "files"):
                    with contextlib.suppress(FileNotFoundError):  # gone meanwhile
                        if file.is_dir(follow_symlinks=False):
                            folders.append(file.path)
                        elif not (file.is_symlink() and os.path.isdir(file.path)):
                            own = file.stat(follow_symlinks=False)
                            yield file.path, ListedFile(own.st_mtime, own.st_size)
                            number += 1
                            if number % COUNTED == 0:
                                note_read(size := limits.LISTED_FILE * COUNTED, size, 0, "listing", folder, number)
        except FileNotFoundError:  # gone meanwhile
            continue
        except OSError as error:
            raise UnreadableFile(top, f"cannot be listed: {error.strerror}") from error
