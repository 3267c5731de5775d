"""Connections of requests' sessions that end: an answer whose headers come byte by byte, each in time, never does by
itself. So does one that nobody waits for any more."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import requests
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool

from explorer.progress import Cancelled, listener

SECONDS = 120
"""Seconds in which a connection is made, in which an answer's headers come, and in which its body does."""
LOOK_S = 0.1
"""How often is looked whether somebody still waits."""


class _Ending:
    """What a connection does within SECONDS. From outside its socket can be shut down alone by a second one of the same
    connection: TLS takes the first away."""

    _other: socket.socket | None = None
    _answers = False

    def _new_conn(self) -> socket.socket:
        connection: socket.socket = super()._new_conn()  # type: ignore[misc]
        self._forget()
        self._other = connection.dup()
        return connection

    def connect(self) -> None:
        with _ends(lambda: self._other):
            super().connect()  # type: ignore[misc]

    def getresponse(self) -> Any:
        other = self._other
        self._answers = True
        try:
            with _ends(lambda: other):
                answer = super().getresponse()  # type: ignore[misc]
        finally:
            self._answers = False
        if self.sock is None:  # type: ignore[attr-defined]  # it is the answer's now, and ends with it
            self._other = None
        answer.ends = partial(_ends, lambda: other, self.sock is None)  # type: ignore[attr-defined]
        return answer

    def close(self) -> None:
        super().close()  # type: ignore[misc]
        if not self._answers:
            self._forget()

    def _forget(self) -> None:
        if self._other is not None:
            self._other.close()
            self._other = None


@contextlib.contextmanager
def _ends(find: Callable[[], socket.socket | None], close: bool = False) -> Iterator[None]:
    """A connection is shut down when the block takes longer than it may, or is cancelled; or else closed after it.
    Raises ConnectionError, Cancelled."""
    done, late, waits = threading.Event(), threading.Event(), listener()
    until = time.monotonic() + SECONDS

    def look() -> None:
        while not done.wait(LOOK_S):
            if time.monotonic() > until or (waits is not None and waits.cancelled):
                late.set()
                with contextlib.suppress(OSError):  # it has ended itself
                    if (other := find()) is not None:
                        other.shutdown(socket.SHUT_RDWR)
                        return

    looking = threading.Thread(target=look, name="deadline", daemon=True)
    looking.start()
    try:
        yield
    except Exception as error:
        if not late.is_set():
            raise
        raise _why(waits) from error
    finally:
        done.set()
        looking.join()
        if close and (other := find()) is not None:
            other.close()
    if late.is_set():
        raise _why(waits)


def _why(waits: Any) -> Exception:
    if waits is not None and waits.cancelled:
        return Cancelled("cancelled")
    return ConnectionError(f"its answer takes more than {SECONDS} s")


def ending(pools: Mapping[str, type[HTTPConnectionPool]]) -> dict[str, type[HTTPConnectionPool]]:
    """Return pools, by scheme, that are as others but for their connections, which end in time."""
    made = {}
    for scheme, pool in pools.items():
        connection = type(pool.ConnectionCls.__name__, (_Ending, pool.ConnectionCls), {})
        made[scheme] = type(pool.__name__, (pool,), {"ConnectionCls": connection})
    return made


_POOLS = ending({"http": HTTPConnectionPool, "https": HTTPSConnectionPool})


def set_deadlines(session: requests.Session, url: str) -> None:
    """Have the connections of a session to a URL, through a proxy too, end in time."""
    adapter: Any = session.get_adapter(url)
    if getattr(adapter, "ends", False):
        return
    through = adapter.proxy_manager_for

    def manager(*args: Any, **options: Any) -> Any:
        proxy_manager = through(*args, **options)
        proxy_manager.pool_classes_by_scheme = _POOLS
        return proxy_manager

    adapter.poolmanager.pool_classes_by_scheme = _POOLS
    adapter.proxy_manager_for = manager
    adapter.ends = True
