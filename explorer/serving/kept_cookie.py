"""The cookie of a server's pages, kept for a while after it ends: who restarts it need not send everybody its URL
again."""

from __future__ import annotations

import contextlib
import hmac
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
OLDEST_S = 12 * 3600
"""How long a cookie is good in all, however often its server starts again."""
_KEPT = re.compile(rb"[\w-]{43} \d{1,12} [0-9a-f]{64}")
"""The cookie, when it was made, and what ties it to the terms."""


class KeptCookie:
    """The file that keeps a cookie: nobody but its owner may read it.

    Args:
        folder: The folder of such files.
        address: The address that the server listens at.
        port: Its port.
    """

    def __init__(self, folder: Path, address: str, port: int) -> None:
        self._file = folder / f"{re.sub(r'[^0-9a-zA-Z.]', '_', address)[:60]}-{port}.cookie"

    def take(self, terms: str = "") -> str:
        """Return the cookie of the server that was here minutes ago, else a new one, which is kept from now on.

        Args:
            terms: On what terms pages come in: the password and the rights. Under others a cookie is good for nothing.

        Returns:
            The cookie.
        """
        kept = self._read().split()
        cookie, born = (kept[0], kept[1]) if len(kept) == 3 else ("", "0")
        is_same = bool(cookie) and hmac.compare_digest(kept[2], _sign(cookie, born, terms))
        if not is_same or not 0 <= time.time() - int(born) < OLDEST_S:
            cookie, born = secrets.token_urlsafe(32), str(int(time.time()))
        with contextlib.suppress(OSError):  # a folder that cannot be written: then it is good until the server ends
            private(self._file.parent)
            self._remove_old()
            self._file.unlink(missing_ok=True)
            place = os.open(self._file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(place, "w") as file:
                file.write(f"{cookie} {born} {_sign(cookie, born, terms)}")
        return cookie

    def beat(self) -> None:
        """Say that the server lives."""
        with contextlib.suppress(OSError):
            os.utime(self._file)

    def _remove_old(self) -> None:
        """Remove what servers have left that ended long ago: each address and port has a file of its own."""
        for other in self._file.parent.glob("*.cookie"):
            with contextlib.suppress(OSError):  # it is another user's, or another server removes it
                if not 0 <= time.time() - other.lstat().st_mtime < KEPT_S:
                    other.unlink()

    def _read(self) -> str:
        """What is kept, if it is ours alone and young; else nothing."""
        try:
            place = os.open(self._file, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
        except OSError:
            return ""
        with os.fdopen(place, "rb") as file:
            about = os.fstat(place)
            is_ours = not hasattr(os, "getuid") or about.st_uid == os.getuid()
            is_private = os.name != "posix" or not about.st_mode & (stat.S_IRWXG | stat.S_IRWXO)
            is_young = 0 <= time.time() - about.st_mtime < KEPT_S
            content = file.read(200)
        is_good = is_ours and is_private and is_young and _KEPT.fullmatch(content)
        return content.decode() if is_good else ""


def _sign(cookie: str, born: str, terms: str) -> str:
    """What ties a cookie to the time when it was made, and to the terms."""
    return hmac.new(cookie.encode(), f"{born} {terms}".encode(), "sha256").hexdigest()
