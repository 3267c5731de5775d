"""Where a server listens; by which names, and below which path of a proxy, browsers reach it; what keeps others out."""

from __future__ import annotations

import errno
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

from explorer.errors import AccessRefused, NotPossible
from explorer.storage.loopback import is_loopback

LOOPBACK, PORT = "127.0.0.1", 5006
"""Where a server listens unless it is told otherwise."""
PASSWORD_VARIABLE = "ICEDIVE_PASSWORD"
SWITCH_S = 0.0005
"""How long a thread computes before another may: of the event loop's thread, which lets go at each file and message,
each time waits so long for those that compute. Ten times as long, as Python has it, a click took twice as long beside
them (docs/threat-model.md)."""


@dataclass(frozen=True)
class ServerAddress:
    """Where a server listens, and how browsers reach it.

    Args:
        address: The address that it listens at.
        prefix: The path, or the whole URL, below which a reverse proxy serves it.
        hosts: More names that it goes by.
    """

    address: str
    prefix: str = ""
    hosts: Sequence[str] = ()

    @property
    def is_local(self) -> bool:
        """Whether only this machine reaches it."""
        return is_loopback(self.address) and not self.prefix

    @property
    def _public(self) -> SplitResult:
        return urlsplit(self.prefix)

    @property
    def below(self) -> str:
        """The path below which it is served."""
        return self._public.path.rstrip("/")

    @property
    def is_secure(self) -> bool:
        """Whether browsers come by https only."""
        return self._public.scheme == "https"

    @property
    def names(self) -> tuple[str, ...]:
        """The names that it goes by."""
        own = (self.address,) if self.is_local else (self.address, socket.gethostname(), socket.getfqdn())
        return (*own, *self.hosts, *filter(None, [self._public.hostname]))

    def check(self, is_guarded: bool, ways: str) -> None:
        """Check that others come in by a password, or the like, alone.

        Args:
            is_guarded: Whether anything keeps them out.
            ways: What may, in words.

        Raises:
            AccessRefused: Others could reach it, and nothing keeps them out; or the prefix is none.
        """
        if not self.is_local and not is_guarded:
            where = (
                "it is served behind a proxy" if self.prefix else f"{self.address} can be reached from other machines"
            )
            raise AccessRefused(f"{where}, and anyone there could read your tables. Serve on 127.0.0.1, {ways}")
        public = self._public
        whole = public.scheme in ("http", "https") and bool(public.hostname)
        path = not public.scheme and not public.netloc and public.path.startswith("/")
        if self.prefix and (not (whole or path) or public.query or public.fragment):
            forms = "a path such as /iceberg nor a URL such as https://explorer.example.org/iceberg"
            raise AccessRefused(f"--prefix {self.prefix!r} is neither {forms}")

    def url(self, port: int) -> str:
        """Return the URL at which people open it."""
        if self._public.hostname:
            return f"{self.prefix.rstrip('/')}/"
        anywhere = self.address in ("0.0.0.0", "::", "")
        name = "localhost" if self.is_local else socket.gethostname() if anywhere else self.address
        name = f"[{name}]" if ":" in name else name
        return f"http://{name}:{port}{self.below}/"

    def port_error(self, port: int, error: OSError) -> NotPossible:
        """Return what says that a port cannot be listened at."""
        taken = error.errno in (errno.EADDRINUSE, errno.EACCES)
        hint = ". Another port may be free: --port, or PORT=… make demo; 0 is any" if taken else ""
        return NotPossible(f"nothing can be served at {self.address}, port {port}: {error.strerror or error}{hint}")


def is_free(port: int) -> bool:
    """Whether a server could listen at a port of loopback."""
    try:
        socket.create_server((LOOPBACK, port)).close()
    except OSError:
        return False
    return True


def door_sign(folder: Path, url: str) -> str:
    """Return a file that leads to the URL: every user of the machine can read the command line of a browser, and the
    token is in the URL."""
    sign = folder / "open.html"
    sign.write_text(f'<!doctype html><meta http-equiv="refresh" content="0; url={escape(url)}">')
    return sign.as_uri()
