"""Serve the dashboard on loopback."""

from __future__ import annotations

import ipaddress
import os
import secrets
from typing import Any

import click

from explorer.engines.spark import shared_engine
from explorer.errors import AccessRefused

PASSWORD_VARIABLE = "ICEBERG_EXPLORER_PASSWORD"


def serve(table: str | None, port: int, address: str, show: bool) -> None:
    """Run the server until it is interrupted. Raises AccessRefused for another address than loopback without a
    password."""
    password = os.environ.get(PASSWORD_VARIABLE)
    loopback = address == "localhost" or (_is_ip(address) and ipaddress.ip_address(address).is_loopback)
    if not loopback and not password:
        raise AccessRefused(
            f"{address} can be reached from other machines, and anyone there could read your tables. "
            f"Serve on 127.0.0.1, or set {PASSWORD_VARIABLE} (user name: explorer)"
        )
    import panel as pn

    from explorer.ui import app

    if table:
        os.environ[app.TABLE_VARIABLE] = table
    shared_engine().start()
    guard: dict[str, Any] = (
        {"basic_auth": {"explorer": password}, "cookie_secret": secrets.token_hex(32)} if password else {}
    )
    server = pn.serve(
        {"/": app.create},
        port=port,
        address=address,
        show=False,
        start=False,
        title="Iceberg metadata explorer",
        **guard,
    )
    hosts = {address, "localhost", "127.0.0.1", "[::1]", "::1"}
    _refuse_other_hosts(server._tornado, hosts if loopback else None)
    url = f"http://{'localhost' if loopback else address}:{server.port}/"
    click.echo(f"Iceberg metadata explorer: {url}")
    if show:
        server.show("/")
    server.start()
    server.run_until_shutdown()


def _is_ip(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _refuse_other_hosts(application: Any, hosts: set[str] | None) -> None:
    """A page of another site whose name was re-bound to 127.0.0.1 must not read the dashboard."""
    from tornado.web import ErrorHandler

    if hosts is None:
        return
    find = application.find_handler

    def guarded(request: Any, **kwargs: Any) -> Any:
        if request.host_name not in hosts:
            return application.get_handler_delegate(request, ErrorHandler, {"status_code": 403})
        return find(request, **kwargs)

    application.find_handler = guarded
