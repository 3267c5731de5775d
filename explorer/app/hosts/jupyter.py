"""The page within a Jupyter server, behind its own log-in: for JupyterLab, Notebook 7, and JupyterHub with a server for
each user. Here is only what the server imports when it starts; the pages come with the first request."""

from __future__ import annotations

import logging
import os
import re
from typing import Any

from jupyter_server.extension.application import ExtensionApp
from jupyter_server.serverapp import ServerApp
from jupyter_server.utils import url_path_join
from tornado.httputil import HTTPServerRequest
from tornado.routing import PathMatches, Router, Rule
from tornado.web import Application, RequestHandler
from traitlets import List, Unicode

from explorer.app.hosts.jupyter_guard import FolderHandler
from explorer.errors import NotPossible
from explorer.serving import logs

PATH = "icedive"
"""The page's place below the server's base_url."""
OURS = "explorer"
"""The logger of this package."""


class IcebergExplorer(ExtensionApp):  # type: ignore[misc]
    """The extension of the server."""

    name = PATH
    description = "See, step through and debug the metadata of Iceberg tables"
    load_other_extensions = True
    roots = List(
        Unicode(),
        help="Folders and URIs below which tables may be opened by their paths, besides the server's root folder.",
    ).tag(config=True)
    _pages: Router | None = None

    def initialize_handlers(self) -> None:
        """Serve the page below the server's base_url."""
        own = logging.getLogger(OURS)
        own.addHandler(logging.StreamHandler())
        own.propagate = False
        logs.guard((OURS,))
        application = self._server.web_app
        base = url_path_join(application.settings["base_url"], PATH)
        rule = Rule(PathMatches(rf"{re.escape(base)}(/.*)?$"), _Pages(self, application, base))
        application.default_router.rules.insert(0, rule)  # add_handlers of Jupyter's takes no Router

    @property
    def _server(self) -> ServerApp:
        if self.serverapp is None:
            raise NotPossible("the extension belongs to no server")
        return self.serverapp

    @property
    def every_root(self) -> list[str]:
        """Where tables may be opened by their paths."""
        return [os.path.realpath(os.path.expanduser(self._server.root_dir)), *self.roots]

    async def stop_extension(self) -> None:
        """The server ends: so does what is under way."""
        if self._pages is not None:
            from explorer.serving import pools

            pools.stop()


class _Pages(Router):
    """Loads the pages when the first of them is asked for: most who start a Jupyter server ask for none that day."""

    def __init__(self, extension: IcebergExplorer, application: Application, base: str) -> None:
        self._extension, self._application, self._base = extension, application, base

    def find_handler(self, request: HTTPServerRequest, **_: Any) -> Any:
        """See Tornado."""
        path = request.path.removeprefix(self._base)
        handler: type[RequestHandler] = FolderHandler
        arguments: list[bytes] = []
        if path != "/folder":
            from explorer.app.hosts import jupyter_pages

            if self._extension._pages is None:
                jupyter_pages.prepare(self._extension.every_root)
                self._extension._pages = self
            handler, arguments = jupyter_pages.handler_of(path)
        return self._application.get_handler_delegate(request, handler, {}, arguments)


def _jupyter_server_extension_points() -> list[dict[str, Any]]:
    return [{"module": __name__, "app": IcebergExplorer}]
