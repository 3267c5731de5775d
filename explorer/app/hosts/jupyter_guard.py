"""Jupyter's log-in before what the extension of its server answers: who comes in, and what a page may do. Also where a
folder of the file browser is: JupyterLab asks that whenever it shows one, so nothing heavy is imported here."""

from __future__ import annotations

import asyncio
import json
import logging
import os
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from jupyter_server.base.handlers import JupyterHandler
from jupyter_server.services.contents.fileio import FileManagerMixin
from jupyter_server.utils import ApiPath, ensure_async, to_os_path
from tornado.web import HTTPError, authenticated

from explorer.serving.access import FOREIGN, POLICY, is_foreign, named_host

log = logging.getLogger(__name__)
MOST_CHILDREN = 2_000
"""Entries of a folder that are looked at for tables."""


class JupyterGuard(JupyterHandler):  # type: ignore[misc]
    """Answers only who has logged in to Jupyter, and may read there."""

    user = ""
    """Who asks."""

    needs_login = True
    """Whether nobody else is answered."""
    runs_questions = False
    """Whether a link to it runs a question: then a page of ours must have it."""
    is_document = False
    """Whether a browser shows it as a page: then it leads to the log-in, and no other site's link opens it."""

    @property
    def content_security_policy(self) -> str:
        """What a page may do: nothing but what the page of `icedive serve` may. It is in no frame, not even in one of
        the same origin: on a JupyterHub others may have that too."""
        parts = [part for part in POLICY if not part.startswith("frame-ancestors")]
        return "; ".join([*parts, "frame-ancestors 'none'"]).format(host=named_host(self.request))

    def set_default_headers(self) -> None:
        """See Tornado."""
        super().set_default_headers()
        self.set_header("Referrer-Policy", "same-origin")
        self.set_header("Cross-Origin-Resource-Policy", "same-origin")
        self.set_header("X-Frame-Options", "DENY")

    async def prepare(self, **options: Any) -> None:
        """Know who asks, as Jupyter does, and what they may."""
        later = await super().prepare(**options)
        if later is not None:
            await later
        if self._finished:
            return
        if self.current_user is None and self.needs_login:
            if self.is_document:
                authenticated(lambda _: None)(self)  # leads to the log-in
                return
            raise HTTPError(403)
        if (
            is_foreign(self.request)
            or self._comes_from_elsewhere()
            or (self.runs_questions and not self._is_shown_own())
        ):
            raise HTTPError(403, FOREIGN)
        if self.current_user is None:
            return
        if not await self.may("read", "contents"):
            raise HTTPError(403)
        self.user = self.current_user.username

    async def may(self, action: str, resource: str) -> bool:
        """Whether Jupyter's authorizer allows it to who asks."""
        allowed = self.authorizer.is_authorized(self, self.current_user, action, resource)
        return bool(await ensure_async(allowed))

    def _comes_from_elsewhere(self) -> bool:
        """Whether a link of another site leads here: where a browser does not say that itself, its Referer may."""
        try:
            from_host = urlsplit(self.request.headers.get("Referer", "")).netloc
        except ValueError:
            return True
        return bool(from_host) and from_host.lower() != self.request.host.lower()

    def _is_shown_own(self) -> bool:
        """Whether a request shows that it is of a page of ours, or of a program: Jupyter's cookie comes along from
        other sites, and over plain HTTP to another machine a browser says nothing of who asks."""
        return "Sec-Fetch-Site" in self.request.headers or "Referer" in self.request.headers or self.token_authenticated

    def finish(self, chunk: Any = None) -> Any:
        """Answer. What Jupyter logs of it is the path: queries have names of tables, filters and tokens."""
        self.request.uri = self.loggable_path
        self.request.headers.pop("Referer", None)
        return super().finish(chunk)

    @property
    def loggable_path(self) -> str:
        """The path as a log may have it."""
        return self.request.path

    def log_exception(self, kind: Any, error: Any, trace: Any) -> None:
        """See Tornado, whose own line has the query."""
        if not isinstance(error, HTTPError):
            log.error("%s failed", json.dumps(self.request.path[:200]), exc_info=(kind, error, trace))

    def write_error(self, status_code: int, **options: Any) -> None:
        """A sentence, whatever was asked for."""
        error = (options.get("exc_info") or (None, None))[1]
        told = error.log_message if isinstance(error, HTTPError) else None
        self.set_header("Content-Type", "text/plain; charset=utf-8")
        self.finish(told or self._reason)


class JupyterAnswer(JupyterGuard):
    """Answers JSON to a tab of JupyterLab."""

    @authenticated
    async def get(self) -> None:
        """Send the answer, which a thread makes: the server goes on."""
        self.set_header("Cache-Control", "no-store")
        self.finish(await asyncio.to_thread(self.answer))

    def answer(self) -> dict[str, Any]:
        """Return the answer."""
        raise NotImplementedError


class FolderHandler(JupyterAnswer):
    """Where a folder of the file browser is, and which folders in it are tables."""

    def answer(self) -> dict[str, Any]:
        """See JupyterAnswer."""
        if not isinstance(self.contents_manager, FileManagerMixin):
            raise HTTPError(404, "The files of this server are no files of its machine.")
        root = Path(os.path.realpath(os.path.expanduser(self.contents_manager.root_dir)))
        folder = Path(to_os_path(ApiPath(self.get_query_argument("path", "")), str(root)))
        if not folder.resolve().is_relative_to(root):
            raise HTTPError(404)
        return {"folder": str(folder), "tables": tables_in(folder)}


def tables_in(folder: Path) -> list[str]:
    """Return the names of the folders in a folder that are tables, as far as their names say."""
    tables = []
    try:
        with os.scandir(folder) as entries:
            for _, entry in zip(range(MOST_CHILDREN), entries, strict=False):
                if entry.is_dir() and (entry.name == "metadata" or _has_metadata(Path(entry.path))):
                    tables.append(entry.name)
    except OSError:
        return []
    return sorted(tables)


def _has_metadata(folder: Path) -> bool:
    try:
        with os.scandir(folder / "metadata") as entries:
            return any(
                entry.name.endswith((".metadata.json", ".metadata.json.gz"))
                for _, entry in zip(range(MOST_CHILDREN), entries, strict=False)
            )
    except OSError:
        return False
