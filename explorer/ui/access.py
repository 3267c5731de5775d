"""Who may talk to Panel's server: the door of serving.access before Bokeh's and Panel's handlers, and what their pages
may do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from panel.io.server import DocHandler, WSHandler
from tornado.httputil import HTTPServerRequest
from tornado.web import Application, RequestHandler

from explorer.serving import access
from explorer.ui.assets import asset
from explorer.ui.first import FirstPage
from explorer.ui.socket import CheckedSocket

POLICY = (
    # Panel starts a page by inline scripts, so each answer gets a nonce; its components come as modules made from Blobs
    # (blob:), which only a script that already runs can make. No inline handler, javascript: URL, script element that
    # comes by innerHTML, or eval runs; so Panel's ReactiveHTML (FlexBox) and Bokeh's CustomJS are of no use here.
    "script-src 'self' 'nonce-{nonce}' blob:",
    # Bokeh, Tabulator and Emotion write style elements and attributes: styles could not be had without 'unsafe-inline'.
    "style-src 'self' 'unsafe-inline'",
    "default-src 'self'",
    "img-src 'self' data: blob:",
    "font-src 'self' data:",
    "connect-src 'self' blob: ws://{host} wss://{host}",
    "worker-src 'self' blob:",
    "frame-src 'self'",  # another page of ours beside this one
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'self'",
)
SHIMS = "/es-module-shims.min.js"
"""Panel's loader of modules, in whose place static/modules.js stands."""
OURS: Mapping[Any, type[RequestHandler]] = {DocHandler: FirstPage, WSHandler: CheckedSocket}
"""Handlers of ours in place of Panel's."""


class Modules(RequestHandler):
    """How a page loads its modules."""

    def get(self) -> None:
        """The script."""
        self.set_header("Content-Type", "text/javascript")
        self.finish(asset("modules.js"))


class _Headers(access.NonceHeaders):
    policy_parts = POLICY


class Doorkeeper(access.Doorkeeper):
    """A door of Panel's server."""

    headers = _Headers

    def guard(self, application: Application) -> None:
        """Stand before everything that a Bokeh application answers."""
        find: Any = application.find_handler
        self.prepare(application)

        def guarded(request: HTTPServerRequest, **kwargs: Any) -> Any:
            answer = self.admit(application, request)
            if answer is not None:
                return answer
            if request.path.rstrip("/").endswith(SHIMS):
                return application.get_handler_delegate(request, Modules, {})
            matched: Any = find(request, **kwargs)
            if (ours := OURS.get(getattr(matched, "handler_class", None))) is not None:
                matched.handler_class = ours
            return matched

        application.find_handler = guarded  # type: ignore[method-assign]
