"""Agents as guests: the command that answers them."""

from __future__ import annotations

import sys

import click

import explorer
from explorer.cli.base import main
from explorer.cli.screen import say
from explorer.errors import WrongUsage
from explorer.extras import needs_extra
from explorer.serving.server_address import PORT


@main.command()
@click.argument("catalogs", metavar="[CATALOG]...", nargs=-1)
@click.option("--http", "is_http", is_flag=True, help="Serve on loopback, with the page, in place of stdio.")
@click.option("--port", type=click.IntRange(0, 65535), default=PORT, show_default=True, help="0 for any free one.")
@click.option("--root", "roots", multiple=True, help="Also read below this folder or URI.")
@click.option("--page", default="", metavar="URL", help="Link to this page of `serve`, such as http://localhost:5006/.")
def mcp(catalogs: tuple[str, ...], is_http: bool, port: int, roots: tuple[str, ...], page: str) -> None:
    """Answer an agent by the Model Context Protocol: questions that read are its tools, tables its resources.

    Without --http an agent's program starts this command, and talks to it over stdin and stdout. It opens the teaching
    tables, those of each CATALOG, and those below each --root, and no others.
    """
    from explorer.storage.catalogs.catalogs import catalog_names

    if unknown := sorted({*catalogs} - {*catalog_names()}):
        raise WrongUsage(f"no catalog named {unknown[0]!r}: there are {', '.join(catalog_names())}")
    if page and (is_http or not page.startswith(("http://", "https://"))):
        raise WrongUsage("--page is the URL of a page, and for stdio: with --http the page is served, too")
    with needs_extra():
        from explorer.app.hosts.agents.tables import Offered

        offered = Offered(catalogs, roots)
        if is_http:
            from explorer.app.hosts.agents.http import serve

            serve(offered, explorer.__version__, port)
        else:
            from explorer.app.hosts.agents.stdio import answer

            if sys.stdin.isatty():
                say("an agent's program starts this command and writes to it; Ctrl+C ends")
            answer(offered, explorer.__version__, page.partition("?")[0])
