"""What the extension of a Jupyter server answers: the handlers of the page, each behind the guard."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from jupyter_server.auth.decorator import allow_unauthenticated
from jupyter_server.base.websocket import WebSocketMixin
from tornado.web import HTTPError, RequestHandler, authenticated
from tornado.websocket import WebSocketHandler

from explorer.app.code_cell import code_cell
from explorer.app.hosts import page
from explorer.app.hosts.jupyter_guard import JupyterAnswer, JupyterGuard
from explorer.app.kept_place import harmless_place
from explorer.app.protocol import Ask, BadMessage, parse, request_of
from explorer.app.rights import Rights
from explorer.errors import ExplorerError
from explorer.render.text import clean_lines
from explorer.serving import places
from explorer.serving.access import MOST_MESSAGE
from explorer.spec.secrets.redaction import redact

FILES_KEY = secrets.token_urlsafe(16)
"""What who has logged in may load the page's files by."""


def prepare(roots: list[str]) -> None:
    """Prepare the process, which is not ours alone: what it starts, such as kernels, is not bound by these roots."""
    places.restrict(roots, quotes_files=True)


class JupyterSession(JupyterGuard):
    """Has a session. Who may execute code in kernels may do in it what a kernel can: run SQL, and write to copies of
    teaching tables."""

    def initialize(self) -> None:
        """See Tornado: what the session may do is known when somebody has logged in."""
        super().initialize(rights=Rights())

    async def prepare(self, **options: Any) -> None:
        """Know who asks, and what they may."""
        await super().prepare(**options)
        if self.user:
            may_execute = await self.may("execute", "kernels")
            self._rights = Rights(sql=may_execute, lab=may_execute)


class JupyterPage(JupyterGuard, page.PageHandler):
    """The page in a tab of the browser."""

    is_document = True

    @authenticated
    def get(self) -> None:  # type: ignore[override]
        """Send it. A token in the address has done its work: it is taken out."""
        query = self.request.query_arguments
        if "token" in query:
            rest = [(name, text) for name, texts in query.items() if name != "token" for text in texts]
            self.redirect(self.request.path + ("?" + urlencode(rest) if rest else ""))
            return
        self.set_header("Content-Type", "text/html; charset=utf-8")
        self.set_header("Cache-Control", "no-store")
        self.finish(page.PAGE.replace('"static/', f'"static/{FILES_KEY}/'))


class JupyterSlash(JupyterGuard):
    """The page's address without the slash at its end."""

    is_document = True

    @authenticated
    def get(self) -> None:
        """Lead to the page."""
        query = f"?{self.request.query}" if self.request.query else ""
        self.redirect(f"{self.request.path}/{query}")


class JupyterFile(JupyterGuard, page.FileHandler):
    """A file of the page, or of a tab of JupyterLab."""

    types: Mapping[str, str] = {**page.TYPES, "notebook.js": "text/javascript"}

    @authenticated
    def get(self, name: str) -> None:  # type: ignore[override]
        """Send it."""
        super().get(name)


class JupyterKeyedFile(JupyterFile):
    """A file of the page for who knows the key, which only the page tells. A JupyterHub does not know who asks for a
    script that is a module, since another user's page of the same origin might."""

    needs_login = False

    @allow_unauthenticated
    def get(self, name: str) -> None:
        """Send it."""
        page.FileHandler.get(self, name)

    @property
    def loggable_path(self) -> str:
        """Without the key."""
        return self.request.path.replace(FILES_KEY, "KEY")


class JupyterDownload(JupyterSession, page.DownloadHandler):  # type: ignore[misc]
    """The answer to a question as a file."""

    runs_questions = True

    @authenticated
    async def get(self) -> None:  # type: ignore[override]
        """Send it."""
        await super().get()


class JupyterSocket(WebSocketMixin, JupyterSession, page.SocketHandler):  # type: ignore[misc]
    """The messages of a page, or of a tab of JupyterLab."""

    async def get(self, *arguments: Any, **options: Any) -> None:
        """Shake hands with who has logged in."""
        if self.current_user is None:
            raise HTTPError(403)
        await WebSocketHandler.get(self, *arguments, **options)

    @property
    def max_message_size(self) -> int:
        """Bytes of a message, at most."""
        return MOST_MESSAGE


class JupyterCode(JupyterAnswer):
    """The cell that asks what a tab shows."""

    def answer(self) -> dict[str, Any]:
        """See JupyterAnswer. What is wrong is a sentence."""
        try:
            return {"code": code_cell(self._asked())}
        except (ExplorerError, ValueError) as error:
            self.set_status(400)
            return {"problem": clean_lines(redact(str(error)))}

    def _asked(self) -> Ask:
        request = request_of({
            "type": "ask", "id": 1, "question": self.get_query_argument("question", ""),
            "arguments": parse(self.get_query_argument("arguments", "{}")),
            "table": self.get_query_argument("table", ""), "catalog": self.get_query_argument("catalog", ""),
        })  # fmt: skip
        if not isinstance(request, Ask):
            raise BadMessage("a cell asks a question")
        return request


class JupyterPlace(JupyterAnswer):
    """What JupyterLab may keep of where a tab is, to open it there again: it writes that to a file."""

    def answer(self) -> dict[str, Any]:
        """See JupyterAnswer."""
        given = {name: self.get_query_argument(name, strip=False) for name in self.request.query_arguments}
        return {"place": harmless_place(given)}


class JupyterMissing(JupyterGuard):
    """Nothing."""

    @authenticated
    def get(self) -> None:
        """Say so."""
        raise HTTPError(404)


HANDLERS: Mapping[str, type[RequestHandler]] = {
    "": JupyterSlash, "/": JupyterPage, "/ws": JupyterSocket, "/download": JupyterDownload, "/code": JupyterCode,
    "/place": JupyterPlace,
}  # fmt: skip
"""By their paths below the page's place."""


def handler_of(path: str) -> tuple[type[RequestHandler], list[bytes]]:
    """Return what answers a path below the page's place, and what it is called with."""
    head, _, name = path.rpartition("/")
    if head == "/static":
        return JupyterFile, [name.encode()]
    if hmac.compare_digest(head.encode(), f"/static/{FILES_KEY}".encode()):
        return JupyterKeyedFile, [name.encode()]
    return HANDLERS.get(path, JupyterMissing), []
