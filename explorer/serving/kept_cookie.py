"""The cookie of a server's pages, kept for a while after it ends: who restarts it need not send everybody its URL
again."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import stat
import time
from pathlib import Path

from explorer.storage.data_dirs import private

KEPT_S = 600
"""How long after its server's last sign of life a cookie is good for the next one at the same address and port."""
BEAT_S = 60
"""How often a server gives such a sign."""
_COOKIE = re.compile(rb"[\w-]{43}")


class KeptCookie:
    """The file that keeps a cookie: nobody but its owner may read it.

    Args:
        folder: The folder of such files.
        address: The address that the server listens at.
        port: Its port.
    """

    def __init__(self, folder: Path, address: str, port: int) -> None:
        self._file = folder / f"{re.sub(r'[^0-9a-zA-Z.]', '_', address)[:60]}-{port}.cookie"

    def take(self) -> str:
        """Return the cookie of the server that was here minutes ago, else a new one, which is kept from now on."""
        cookie = self._read() or secrets.token_urlsafe(32)
        with contextlib.suppress(OSError):  # a folder that cannot be written: then it is good until the server ends
            private(self._file.parent)
            self._file.unlink(missing_ok=True)
            place = os.open(self._file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(place, "w") as file:
                file.write(cookie)
        return cookie

    def beat(self) -> None:
        """Say that the server lives."""
        with contextlib.suppress(OSError):
            os.utime(self._file)

    def _read(self) -> str:
        """The cookie that is kept, if it is ours alone and young; else nothing."""
        try:
            place = os.open(self._file, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
        except OSError:
            return ""
        with os.fdopen(place, "rb") as file:
            about = os.fstat(place)
            is_ours = not hasattr(os, "getuid") or about.st_uid == os.getuid()
            is_private = os.name != "posix" or not about.st_mode & (stat.S_IRWXG | stat.S_IRWXO)
            is_young = 0 <= time.time() - about.st_mtime < KEPT_S
            content = file.read(100)
        is_good = is_ours and is_private and is_young and _COOKIE.fullmatch(content)
        return content.decode() if is_good else ""
