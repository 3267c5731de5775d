"""Serve the dashboard: on loopback to who has the token, elsewhere to who knows the password."""

from __future__ import annotations

import functools
import gc
import os
import socket
import sys
import tempfile
import warnings
import webbrowser
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from explorer.errors import AccessRefused, IncompleteAnswer
from explorer.serving import places
from explorer.serving.server_address import PASSWORD_VARIABLE, SWITCH_S, ServerAddress, door_sign
from explorer.spark_engine.sql_guard.quotas import check_audit, quotas
from explorer.ui.access import Doorkeeper

OAUTH_VARIABLES = ("PANEL_OAUTH_PROVIDER", "PANEL_OAUTH_KEY", "PANEL_OAUTH_SECRET", "PANEL_COOKIE_SECRET")


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
    """Run the server until it is interrupted; `hosts` are more names it goes by, `prefix` the path, or the whole URL,
    below which a reverse proxy serves it. On another address than loopback, and behind a proxy, SQL and what writes are
    off unless allowed, and only paths below `roots` can be opened. Raises AccessRefused there without a password or
    OAuth, and NotPossible where the address or the port cannot be had."""
    import panel as pn
    from bokeh.settings import settings
    from bokeh.util.warnings import BokehUserWarning

    from explorer.serving import pools
    from explorer.serving.monitoring import COUNTERS, HANDLERS
    from explorer.ui import app, bundled, defaults
    from explorer.ui.background import Session
    from explorer.ui.first import TABLE_VARIABLE

    COUNTERS.append(lambda: len(Session.pages()))

    bundled.keep()
    defaults.keep()
    settings.perform_error_diagnostics.set_value(False)  # whether each callback takes as much as it is called with
    settings.perform_document_validation.set_value(False)  # of each page anew, for the log
    # A page that sends a whole model along with a reference to it: Bokeh keeps the model that it has, as it should.
    warnings.filterwarnings("ignore", "reference already known", BokehUserWarning)
    warnings.filterwarnings("ignore", category=IncompleteAnswer)  # the page says it above each view
    quotas()
    check_audit()
    password, oauth = os.environ.get(PASSWORD_VARIABLE, ""), _oauth()
    server_address = ServerAddress(address, prefix, hosts)
    ways = f"set {PASSWORD_VARIABLE}, or have Panel ask who somebody is ({OAUTH_VARIABLES[0]})"
    server_address.check(bool(password or oauth), ways)
    alone = server_address.is_local
    if password and oauth:
        raise AccessRefused(f"{PASSWORD_VARIABLE} and {OAUTH_VARIABLES[0]} are both set: which of them lets people in?")
    if table:
        os.environ[TABLE_VARIABLE] = table
    if not alone or roots:
        places.restrict(roots)
    offers = app.Offers(sql=alone or allow_sql, lab=alone or allow_lab)
    try:
        server = pn.serve(
            {"/": lambda: app.create(offers)},
            port=port,
            address=address,
            show=False,
            start=False,
            verbose=False,
            title="Iceberg metadata explorer",
            prefix=server_address.below,
            use_xheaders=bool(prefix),
            check_unused_sessions_milliseconds=1_000,  # those of pages that were closed
            **oauth,
        )
    except OSError as error:
        raise server_address.port_error(port, error) from None
    access = Doorkeeper(server_address.names, password, bool(oauth), HANDLERS, server_address.is_secure)
    access.guard(server._tornado)
    url = access.url(server_address.url(server.port))
    click.echo(f"Iceberg metadata explorer: {url}")
    server.start()
    sys.setswitchinterval(SWITCH_S)
    gc.collect()
    gc.freeze()  # what is imported stays: the collector would look through it, for 0.2 s, at every few pages
    with tempfile.TemporaryDirectory() as folder:  # which nobody else may read
        if show:
            webbrowser.open(door_sign(Path(folder), url))
        server.run_until_shutdown()
    pools.stop()


def _oauth() -> dict[str, Any]:
    """Panel's options for the provider that the environment names; nothing without one. Raises AccessRefused."""
    given = {name: os.environ.get(name, "") for name in OAUTH_VARIABLES}
    if not given[OAUTH_VARIABLES[0]]:
        return {}
    if missing := [name for name in OAUTH_VARIABLES if not given[name]]:
        raise AccessRefused(f"{OAUTH_VARIABLES[0]} is set, and so must be {', '.join(missing)}")
    names = ("oauth_provider", "oauth_key", "oauth_secret", "cookie_secret")
    options: dict[str, Any] = dict(zip(names, given.values(), strict=True))
    return options | {"oauth_encryption_key": os.environ.get("PANEL_OAUTH_ENCRYPTION", "").encode() or None}


def came_through_the_door() -> bool:
    """For `panel serve`, which has no place for our door: the first session puts it before all servers of this process,
    prints the URL, and stays outside itself. Returns whether the session that asks came through it."""
    import panel as pn

    context: Any = pn.state.curdoc.session_context if pn.state.curdoc else None
    return context is not None and _door().cookie in dict(context.request.cookies).values()


@functools.cache
def _door() -> Doorkeeper:
    from bokeh.server.tornado import BokehTornado

    password = os.environ.get(PASSWORD_VARIABLE, "")
    if password and not places.is_restricted():  # others are meant to come
        places.restrict(())
    access = Doorkeeper((socket.gethostname(), socket.getfqdn()), password)
    servers = [o for o in gc.get_objects() if isinstance(o, BokehTornado)]  # nothing else leads from here to them
    if not servers:
        raise AccessRefused("the server cannot be guarded: use icedive serve")
    for server in servers:
        access.guard(server)
        page = f"{server._absolute_url}{min(server.app_paths).lstrip('/')}"
        click.echo(f"Iceberg metadata explorer: {access.url(page)}")
    return access
