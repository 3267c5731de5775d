"""Who may talk to Panel's server: the door of serving.access before Bokeh's and Panel's handlers, and what their pages
may do."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from typing import Any

from panel.io.server import DocHandler, WSHandler
from tornado.httputil import HTTPHeaders, HTTPServerRequest
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


class _Headers(access.Headers):
    """Marks our own scripts. No text from outside is in our HTML but as JSON that has no < in it (ui.first): what a
    table holds comes by the WebSocket."""

    def policy(self) -> str:
        self.nonce = secrets.token_urlsafe(16)
        return "; ".join(POLICY).format(nonce=self.nonce, host=self.host)

    def transform_first_chunk(
        self, status_code: int, headers: HTTPHeaders, chunk: bytes, finishing: bool
    ) -> tuple[int, HTTPHeaders, bytes]:
        status_code, headers, chunk = super().transform_first_chunk(status_code, headers, chunk, finishing)
        self.pages = headers.get("Content-Type", "").startswith("text/html")
        chunk = self.transform_chunk(chunk, finishing)
        if self.pages and finishing:
            headers["Content-Length"] = str(len(chunk))
        return status_code, headers, chunk

    def transform_chunk(self, chunk: bytes, finishing: bool) -> bytes:
        """With marks, where it is of a page; no part of one ends within a tag."""
        return re.sub(rb"<script\b", b'<script nonce="' + self.nonce.encode() + b'"', chunk) if self.pages else chunk


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
