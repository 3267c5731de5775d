"""Agents as guests: the command that answers them."""

from __future__ import annotations

import click

import explorer
from explorer.cli.base import main
from explorer.errors import WrongUsage
from explorer.extras import needs_extra
from explorer.serving.server_address import PORT


@main.command()
@click.option("--http", "is_http", is_flag=True, help="Serve on loopback, with the page, in place of stdio.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=PORT, show_default=True, help="With --http: 0 for any free one."
)
@click.option("--catalog", "catalogs", multiple=True, metavar="NAME", help="Offer the tables of this catalog.")
@click.option("--root", "roots", multiple=True, metavar="FOLDER", help="Offer tables below this folder or URI.")
@click.option("--page", default="", metavar="URL", help="Link to this page of `serve`, such as http://localhost:5006/.")
def mcp(is_http: bool, port: int, catalogs: tuple[str, ...], roots: tuple[str, ...], page: str) -> None:
    """Answer an agent by the Model Context Protocol: questions that read are its tools, tables its resources.

    Without --http an agent's program starts this command, and talks to it over stdin and stdout. It opens the teaching
    tables, and those of the catalogs and folders that are named.
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

            answer(offered, explorer.__version__, page.partition("?")[0])
