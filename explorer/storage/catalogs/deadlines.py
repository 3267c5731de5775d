"""Connections of requests' sessions that end: an answer whose headers come byte by byte, each in time, never does by
itself. So does one that nobody waits for any more."""

from __future__ import annotations

import contextlib
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import requests
from requests.adapters import HTTPAdapter
from requests.exceptions import InvalidProxyURL
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.poolmanager import PoolManager, ProxyManager

from explorer.progress import Cancelled, listener

SECONDS = 120
"""Seconds in which a connection is made, in which an answer's headers come, and in which its body does."""
LOOK_S = 0.1
"""How often is looked whether somebody still waits."""


class _Ending:
    """What a connection does within SECONDS. From outside its socket can be shut down alone by a second one of the same
    connection: TLS takes the first away."""

    _own: socket.socket | None = None
    _other: socket.socket | None = None
    _answers = False

    @property
    def sock(self) -> socket.socket | None:
        """The socket. With a new one, which is not TLS's yet, the second is made."""
        return self._own

    @sock.setter
    def sock(self, own: socket.socket | None) -> None:
        self._own = own
        if isinstance(own, socket.socket) and not isinstance(own, ssl.SSLSocket):
            self._forget()
            self._other = own.dup()

    def connect(self) -> None:
        with _ends(lambda: self._other):
            super().connect()  # type: ignore[misc]

    def getresponse(self) -> Any:
        other, self._answers = self._other, True
        try:
            with _ends(lambda: other):
                return super().getresponse()  # type: ignore[misc]
        finally:
            self._answers = False

    @contextlib.contextmanager
    def answer_ends(self) -> Iterator[None]:
        """The body of an answer is read in the block, and ends in time. Raises ConnectionError, Cancelled."""
        other = self._other
        try:
            with _ends(lambda: other):
                yield
        finally:
            if self.sock is None:  # it was the answer's, and has ended with it
                self._forget()

    def close(self) -> None:
        super().close()  # type: ignore[misc]
        if not self._answers:
            self._forget()

    def _forget(self) -> None:
        if self._other is not None:
            self._other.close()
            self._other = None


@contextlib.contextmanager
def _ends(find: Callable[[], socket.socket | None]) -> Iterator[None]:
    """A connection is shut down when the block takes longer than it may, or is cancelled. Raises ConnectionError,
    Cancelled."""
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


class _Pools(PoolManager):
    """Pools whose connections end in time."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.pool_classes_by_scheme = _POOLS


class _ProxyPools(ProxyManager):
    """The same through a proxy."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.pool_classes_by_scheme = _POOLS


class EndingAdapter(HTTPAdapter):
    """Sends requests of a session through connections that end in time; through a proxy too, but none of SOCKS."""

    def init_poolmanager(self, connections: int, maxsize: int, block: bool = False, **options: Any) -> None:
        """See requests."""
        super().init_poolmanager(connections, maxsize, block, **options)
        self.poolmanager = _Pools(num_pools=connections, maxsize=maxsize, block=block, **options)

    def proxy_manager_for(self, proxy: str, **options: Any) -> Any:
        """See requests. Raises InvalidProxyURL for a proxy of SOCKS, whose connections are of another kind."""
        if proxy not in self.proxy_manager:
            if proxy.lower().startswith("socks"):
                raise InvalidProxyURL("a proxy of SOCKS is not used here: name one of http or https")
            headers = self.proxy_headers(proxy)
            self.proxy_manager[proxy] = _ProxyPools(proxy, proxy_headers=headers, **options)
        return self.proxy_manager[proxy]


def answer_ends(answer: Any) -> contextlib.AbstractContextManager[None]:
    """Have the body of an answer, which is read in the block, end in time.

    Args:
        answer: An answer of urllib3 that came through an EndingAdapter.

    Returns:
        The context. It raises ConnectionError, Cancelled.
    """
    connection = answer.connection
    return contextlib.nullcontext() if connection is None else connection.answer_ends()


def ending_session() -> requests.Session:
    """Return a session whose connections end in time."""
    session = requests.Session()
    for scheme in ("http://", "https://"):
        session.mount(scheme, EndingAdapter())
    return session
