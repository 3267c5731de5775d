"""Start the page's server: on loopback for who has the token, elsewhere for who knows the password."""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import socket
import sys
import tempfile
import webbrowser
from collections.abc import Sequence
from html import escape
from pathlib import Path
from urllib.parse import urlsplit

import click
from tornado.httpserver import HTTPServer
from tornado.ioloop import PeriodicCallback
from tornado.netutil import bind_sockets

from explorer.app.hosts.page import Server, SocketHandler
from explorer.app.rights import Rights
from explorer.app.start import TABLE_VARIABLE
from explorer.errors import AccessRefused, NotPossible
from explorer.serving import places, pools
from explorer.serving.access import Doorkeeper
from explorer.serving.kept_cookie import BEAT_S, KeptCookie
from explorer.serving.monitoring import COUNTERS, HANDLERS
from explorer.spark_engine.sql_guard.quotas import check_audit, quotas
from explorer.storage.data_dirs import cache_home
from explorer.storage.loopback import is_loopback

PASSWORD_VARIABLE = "ICEDIVE_PASSWORD"
IDLE_S = 120
"""How long a connection may say nothing."""
SWITCH_S = 0.0005
"""How long a thread computes before another may: the event loop waits so long for those that compute, each time that it
lets go of the interpreter."""


def serve(
    table: str | None,
    port: int,
    address: str,
    show: bool,
    hosts: Sequence[str] = (),
    allow_sql: bool = False,
    allow_lab: bool = False,
    prefix: str = "",
    roots: Sequence[str] = (),
) -> None:
    """Serve the page until it is interrupted.

    Args:
        table: The table that a page opens first.
        port: The port; 0 takes one that is free.
        address: The address that is listened at.
        show: Whether a browser is opened.
        hosts: More names that the server goes by.
        allow_sql: Run SQL also for others than this machine's user.
        allow_lab: Write to the sandbox also for others.
        prefix: The path, or the whole URL, below which a reverse proxy serves the page.
        roots: On a shared server: folders and URIs below which paths may be opened.

    Raises:
        AccessRefused: Others could reach it, and there is no password.
        NotPossible: The address or the port cannot be used.
    """
    quotas()
    check_audit()
    password = os.environ.get(PASSWORD_VARIABLE, "")
    alone = is_loopback(address) and not prefix
    if not alone and not password:
        where = "it is served behind a proxy" if prefix else f"{address} can be reached from other machines"
        raise AccessRefused(
            f"{where}, and anyone there could read your tables. Serve on 127.0.0.1, or set {PASSWORD_VARIABLE}"
        )
    public = urlsplit(prefix)
    whole = public.scheme in ("http", "https") and bool(public.hostname)
    path = not public.scheme and not public.netloc and public.path.startswith("/")
    if prefix and (not (whole or path) or public.query or public.fragment):
        forms = "a path such as /iceberg nor a URL such as https://explorer.example.org/iceberg"
        raise AccessRefused(f"--prefix {prefix!r} is neither {forms}")
    if table:
        os.environ[TABLE_VARIABLE] = table
    if not alone or roots:
        places.restrict(roots)
    own = (address,) if alone else (address, socket.gethostname(), socket.getfqdn())
    access = Doorkeeper(
        (*own, *hosts, *filter(None, [public.hostname])), password, open=HANDLERS, secure=public.scheme == "https"
    )
    below = public.path.rstrip("/")
    try:
        sockets = bind_sockets(port, address)
    except OSError as error:
        taken = error.errno in (errno.EADDRINUSE, errno.EACCES)
        hint = ". Another port may be free: --port, or PORT=… make demo; 0 is any" if taken else ""
        raise NotPossible(f"nothing can be served at {address}, port {port}: {error.strerror or error}{hint}") from None
    kept = KeptCookie(cache_home() / "served", address, sockets[0].getsockname()[1])
    access.cookie = kept.take(f"{password} {alone or allow_sql} {alone or allow_lab}")
    COUNTERS.append(SocketHandler.count)
    server = Server(access, Rights(sql=alone or allow_sql, lab=alone or allow_lab), below)
    name = "localhost" if alone else socket.gethostname() if address in ("0.0.0.0", "::", "") else address
    name = f"[{name}]" if ":" in name else name
    base = prefix if whole else f"http://{name}:{sockets[0].getsockname()[1]}{below}"
    url = access.url(f"{base.rstrip('/')}/")
    click.echo(f"Iceberg metadata explorer: {url}")
    sys.setswitchinterval(SWITCH_S)
    asyncio.run(_run(server, sockets, url if show else "", bool(prefix), kept))
    pools.stop()


async def _run(
    server: Server, sockets: Sequence[socket.socket], url: str, is_behind_proxy: bool, kept: KeptCookie
) -> None:
    """Answer until the process is told to end; open a browser if there is a URL."""
    http = HTTPServer(server, xheaders=is_behind_proxy, idle_connection_timeout=IDLE_S, body_timeout=IDLE_S)
    http.add_sockets(sockets)
    beat = PeriodicCallback(kept.beat, 1000 * BEAT_S)
    beat.start()
    end = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, end.set)
    with tempfile.TemporaryDirectory() as folder:  # which nobody else may read
        if url:
            webbrowser.open(_door_sign(Path(folder), url))
        await end.wait()
    beat.stop()
    kept.beat()
    http.stop()


def _door_sign(folder: Path, url: str) -> str:
    """Return a file that leads to the URL: every user of the machine can read the command line of a browser, and the
    token is in the URL."""
    sign = folder / "open.html"
    sign.write_text(f'<!doctype html><meta http-equiv="refresh" content="0; url={escape(url)}">')
    return sign.as_uri()
