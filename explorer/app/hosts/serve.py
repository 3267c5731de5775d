"""Start the page's server: on loopback for who has the token, elsewhere for who knows the password."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
import warnings
import webbrowser
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Any

import click
from tornado.ioloop import PeriodicCallback
from tornado.netutil import bind_sockets

from explorer.app.hosts.oauth import VARIABLES, oauth_from_environment
from explorer.app.hosts.page import Server, SocketHandler
from explorer.app.rights import Rights
from explorer.app.start import TABLE_VARIABLE
from explorer.errors import AccessRefused, IncompleteAnswer
from explorer.serving import collector, places, pools
from explorer.serving.access import Doorkeeper
from explorer.serving.connections import LimitedServer
from explorer.serving.kept_cookie import BEAT_S, KeptCookie
from explorer.serving.monitoring import COUNTERS, HANDLERS
from explorer.serving.server_address import PASSWORD_VARIABLE, SWITCH_S, ServerAddress, door_sign
from explorer.spark_engine.sql_guard.quotas import check_audit, quotas
from explorer.storage.data_dirs import cache_home
from explorer.storage.scratch import scratch

IDLE_S = 120
"""How long a connection may say nothing."""


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
        AccessRefused: Others could reach it, and there is neither a password nor a sign-in.
        NotPossible: The address or the port cannot be used.
    """
    prepare()
    password, sign_in = os.environ.get(PASSWORD_VARIABLE, ""), oauth_from_environment()
    if password and sign_in:
        raise AccessRefused(f"{PASSWORD_VARIABLE} and {VARIABLES[0]} are both set: which of them lets people in?")
    server_address = ServerAddress(address, prefix, hosts)
    server_address.check(bool(password or sign_in), f"set {PASSWORD_VARIABLE}, or sign people in by {VARIABLES[0]}")
    alone = server_address.is_local
    if table:
        os.environ[TABLE_VARIABLE] = table
    if not alone or roots:
        places.restrict(roots)
    access = Doorkeeper(server_address.names, password, sign_in is not None, HANDLERS, server_address.is_secure)
    try:
        sockets = bind_sockets(port, address)
    except OSError as error:
        raise server_address.port_error(port, error) from None
    listening_at = sockets[0].getsockname()[1]
    kept = KeptCookie(cache_home() / "served", address, listening_at)
    access.cookie = kept.take(f"{password} {alone or allow_sql} {alone or allow_lab}")
    COUNTERS.append(SocketHandler.count)
    rights = Rights(sql=alone or allow_sql, lab=alone or allow_lab, catalogs=not places.is_restricted())
    server = Server(access, rights, server_address.below, sign_in)
    url = access.url(server_address.url(listening_at))
    told = f"Iceberg metadata explorer: {url}"
    asyncio.run(run(server, sockets, told, kept, url if show else "", bool(prefix)))
    pools.stop()


def prepare() -> None:
    """Prepare the process for a server. Raises ExplorerError for quotas or an audit log that are none."""
    warnings.filterwarnings("ignore", category=IncompleteAnswer)  # each answer says it
    quotas()
    check_audit()
    sys.setswitchinterval(SWITCH_S)
    collector.start()


async def run(
    server: Server,
    sockets: Sequence[socket.socket],
    told: str,
    kept: KeptCookie,
    shown: str = "",
    is_behind_proxy: bool = False,
    beside: AbstractAsyncContextManager[Any] = nullcontext(),  # noqa: B008
) -> None:
    """Answer until a signal ends it in order.

    Args:
        server: What answers.
        sockets: Where it listens.
        told: What is printed once signals end it.
        kept: Its cookie.
        shown: The URL that a browser is opened with; none if empty.
        is_behind_proxy: Whether a proxy says who asks.
        beside: What else runs meanwhile.
    """
    times = {"idle_connection_timeout": IDLE_S, "body_timeout": IDLE_S}
    http = LimitedServer(server, server.connections, xheaders=is_behind_proxy, **times)
    http.add_sockets(sockets)
    beat = PeriodicCallback(kept.beat, 1000 * BEAT_S)
    beat.start()
    end = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, end.set)
    click.echo(told)
    with scratch("door") as folder:  # which nobody else may read
        if shown:
            webbrowser.open(door_sign(folder, shown))
        async with beside:
            await end.wait()
    beat.stop()
    kept.beat()
    http.stop()
