"""Our door before Panel's server, for `panel serve`: who may come in, and what a page of Panel's may do."""

from __future__ import annotations

import functools
import gc
import os
import socket
from typing import Any
from urllib.parse import urlsplit

import click
import panel as pn
from bokeh.server.tornado import BokehTornado
from panel.io.server import WSHandler
from tornado.httputil import HTTPServerRequest
from tornado.routing import AnyMatches, Router, Rule
from tornado.web import Application

from explorer.app.hosts.page import TITLE
from explorer.app.hosts.panel_socket import CheckedSocket
from explorer.errors import AccessRefused
from explorer.serving import access, places
from explorer.serving.server_address import PASSWORD_VARIABLE

POLICY = (
    # Panel starts a page by inline scripts, so each answer gets a nonce; its components come as modules made from Blobs
    # (blob:), which only a script that already runs can make. No inline handler, javascript: URL, script element that
    # comes by innerHTML, or eval runs.
    "script-src 'self' 'nonce-{nonce}' blob:",
    # Bokeh writes style elements and attributes: styles could not be had without 'unsafe-inline'.
    "style-src 'self' 'unsafe-inline'",
    "default-src 'self'",
    "img-src 'self' data: blob:",
    "font-src 'self' data:",
    "connect-src 'self' blob: ws://{host} wss://{host}",
    "worker-src 'self' blob:",
    "frame-src 'none'",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'self'",
)


class _Headers(access.NonceHeaders):
    policy_parts = POLICY


class PanelDoorkeeper(access.Doorkeeper):
    """A door of Panel's server."""

    headers = _Headers

    def guard(self, application: Application) -> None:
        """Stand before everything that an application answers."""
        self.prepare(application)
        application.add_handlers("(?s).*", [Rule(AnyMatches(), _Door(self, application))])


class _Door(Router):
    """Answers what may not come in, and checks messages; all else goes on to the application's own routes."""

    def __init__(self, door: PanelDoorkeeper, application: Application) -> None:
        self._door, self._application = door, application

    def find_handler(self, request: HTTPServerRequest, **options: Any) -> Any:
        """See Tornado."""
        answer = self._door.admit(self._application, request)
        if answer is not None:
            return answer
        route: Any = self._application.wildcard_router.find_handler(request)
        if getattr(route, "handler_class", None) is not WSHandler:
            return None
        given = (route.handler_kwargs, route.path_args, route.path_kwargs)
        return self._application.get_handler_delegate(request, CheckedSocket, *given)


def came_through_the_door() -> bool:
    """Whether the session that asks came through our door. `panel serve` has no place for one: the first session puts
    it before all servers of this process, prints the URL, and stays outside itself."""
    return pn.state.curdoc is not None and _door().cookie in pn.state.cookies.values()


@functools.cache
def _door() -> PanelDoorkeeper:
    password = os.environ.get(PASSWORD_VARIABLE, "")
    if password and not places.is_restricted():  # others are meant to come
        places.restrict(())
    door = PanelDoorkeeper((socket.gethostname(), socket.getfqdn()), password)
    servers = [one for one in gc.get_objects() if isinstance(one, BokehTornado)]  # nothing else leads from here to them
    if not servers:
        raise AccessRefused("the server cannot be guarded: use icedive serve")
    port = urlsplit(f"//{pn.state.headers.get('Host', '')}").port
    for server in servers:
        door.guard(server)
        path = f"{server.prefix}{min(server.app_paths)}"
        click.echo(f"{TITLE}: {door.url(f'http://localhost:{port}{path}')}")
    return door
