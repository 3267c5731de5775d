"""What a browser shows at once: the table that the URL asks for, before Bokeh, Panel and Material are there, which
takes a browser two seconds.

`FirstPage` answers in two parts. The first is ours, and is drawn when it comes (static/first.js): where the page is,
and the overview, the graph or the page to begin with. Then the session is made, and the rest of the page is Panel's,
with a template that goes on where the first part ends. What was opened for it the session takes over (`coming`), so
nothing is read twice, and so is what a person clicked meanwhile. `Browser.seen` tells the page when its own view is
there."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from panel.io.server import DocHandler, authenticated

from explorer.app.graph_state import ViewState
from explorer.errors import ExplorerError, NotFoundInTable
from explorer.lab.scenarios.build import available_names
from explorer.lab.scenarios.registry import NAMESPACE, SCENARIOS
from explorer.render.html_page import data_block
from explorer.render.overview import facts, tiles
from explorer.render.svg import vocabulary
from explorer.render.text import brief
from explorer.reports.overview import overview
from explorer.serving import places
from explorer.serving.arrivals import Arrivals, TooMany, VisitorLeft
from explorer.serving.attempts import network
from explorer.serving.pools import FIRST, PoolTask
from explorer.storage.locate import locate
from explorer.storage.reader import TableReader
from explorer.table import Table
from explorer.ui.assets import asset, first_script, first_style
from explorer.ui.bar import where
from explorer.ui.browser import LOOK, query
from explorer.ui.overview import WELCOME
from explorer.ui.rooms import ROOMS, VIEWS
from explorer.ui.visitors import remember_visitor

WAIT_S = 0.5
"""So long is waited for a table; a page of one that takes longer comes without."""
LEFT_S = 15
"""So long the first part is made for a page whose session does not come."""
NOBODY = "default_user"
"""What Bokeh calls somebody who did not log in by a name."""
TITLE = "Iceberg metadata explorer"
TABLE_VARIABLE = "ICEDIVE_TABLE"
HEAD = """<!doctype html><html lang="en" data-theme-managed="true"><head><meta charset="utf-8">
<title>%s</title><meta name="viewport" content="width=device-width">
<link rel="icon" href="static/extensions/panel/images/favicon.ico"><style>%s</style></head>
<body><div id="first" class="%s" aria-busy="true"></div>%s<script type="module" async>%s</script>
"""
REST = """{% from macros import embed %}{{ bokeh_css }}
{% for css in resources.css.values() %}<link rel="stylesheet" href="{{ css }}">{% endfor %}
{% for raw_css in resources.raw_css %}<style>{{ raw_css }}</style>{% endfor %}
<style id="template-styles">html, body { color: var(--mui-palette-text-primary);
background-color: var(--mui-palette-background-default); font: var(--mui-font-body1) }</style>
<script>document.head.append(...document.querySelectorAll("body > style, body > link"));</script>{{ bokeh_js }}
<script>{% raw %}DRAWN{% endraw %}</script>
{% for src in resources.js.values() %}<script src="{{ src }}"></script>{% endfor %}
{% for src in resources.js_modules.values() %}<script src="{{ src }}" type="module"></script>{% endfor %}
{% for doc in docs %}{{ embed(doc) if doc.elementid }}{% for root in doc.roots %}{{ embed(root) }}{% endfor %}
{% endfor %}{{ plot_script }}</body></html>""".replace("DRAWN", asset("drawn.js"))
"""The template of Panel's part, see panel_material_ui/_templates/base.html. Styles go to the head: Material puts its
own, which change with the theme, before those with that id, and they must come after Panel's."""


@dataclass(frozen=True)
class Opened:
    """A table as a page shows it first: the state of its graph, and what its script draws of that."""

    view: ViewState
    shown: dict[str, Any]


def opened(
    name: str, snapshot: str | None = None, node: str | None = None, moves: Sequence[tuple[str, str]] = ()
) -> Opened:
    """Open a table for a page, at its current snapshot where it has no such one: a link may be older than what expired.
    Raises ExplorerError, Cancelled."""
    if name != os.environ.get(TABLE_VARIABLE):
        places.check(name, moves)
    table = Table(TableReader(locate(name, relocate=moves)))
    try:
        view = ViewState(table, snapshot)
    except NotFoundInTable as error:
        view = ViewState(table)
        view.message = f"{error}. This is the current snapshot."
    view.select(node)
    return Opened(view, view.state())


def starts_at(asked: Mapping[str, str]) -> str:
    """The view that a URL leads to."""
    return asked["view"] if asked.get("view") in VIEWS else "graph" if asked.get("node") else "overview"


@dataclass(frozen=True)
class First:
    """What was made for the first part: `data` for its script, and the table that was opened, or why it was not."""

    data: dict[str, Any]
    table: Opened | ExplorerError | None = None


def wanted(asked: Mapping[str, str]) -> str:
    """The table that a URL, or else the server, leads to; of none the empty text."""
    return asked.get("table") or os.environ.get(TABLE_VARIABLE, "")


def first(asked: Mapping[str, str]) -> First:
    """What a page shows first of the table that a URL asks for, or of none. Raises Cancelled."""
    view, name = starts_at(asked), wanted(asked)
    data: dict[str, Any] = {"rooms": _links(view)}
    if not name:
        return First({**data, **(_welcome() if view == "overview" else {})})
    try:
        table = opened(name, asked.get("snapshot"), asked.get("node"))
    except ExplorerError as error:
        return First(data, error)
    data["where"] = where(table.view)
    if view == "graph":
        data |= {"graph": table.shown, "timeline": table.view.timeline(), "vocabulary": vocabulary()}
    if view == "overview":
        with suppress(ExplorerError):  # the page says which
            told = overview(table.view.table, table.view.snapshot_id, quick=True)
            data |= {"tiles": [[*map(brief, tile)] for tile in tiles(told)]}
            data |= {"facts": [[*map(brief, fact)] for fact in facts(told)]}
    return First(data, table)


def _links(view: str) -> list[list[dict[str, Any]]]:
    """The tabs: rooms, and below them the views of the one that is shown."""
    room = ROOMS[VIEWS[view]]
    inner = [{"title": title, "view": name, "here": name == view} for name, title in room.views.items()]
    rooms = [{"title": each.title, "view": next(iter(each.views)), "here": each is room} for each in ROOMS]
    return [rooms, inner if len(inner) > 1 else []]


def _welcome() -> dict[str, Any]:
    there = available_names()
    tables = [[f"sandbox.{NAMESPACE}.{s.name}", s.teaches] for s in SCENARIOS if s.name in there]
    return {"welcome": WELCOME, "tables": tables}


_COMING: ContextVar[PoolTask | None] = ContextVar("coming", default=None)


def coming() -> PoolTask | None:
    """What is made for the first part of the page whose session is being made; its answer is a First."""
    return _COMING.get()


def begun(data: Mapping[str, Any], dark: bool) -> str:
    """The first part of a page, which draws this."""
    return HEAD % (TITLE, first_style(), "fx-dark" if dark else "", data_block(data), first_script())


class FirstPage(DocHandler):
    """Panel's page, and before it ours."""

    _task: PoolTask | None = None
    _leaves: Callable[[], None] = staticmethod(lambda: None)

    @authenticated
    async def get(self, *args: Any, **kwargs: Any) -> None:
        """Both parts."""
        if self.application.prefix == self.request.path:  # Panel leads to where the page is
            await self._panels(*args, **kwargs)
            return
        try:
            self._arrivals.check(self._visitor())
        except TooMany as error:
            self._refuse(str(error))
            return
        asked = query(self.request.arguments)
        task = self._task = FIRST.submit(lambda: first(asked), self._visitor())
        asyncio.get_running_loop().call_later(LEFT_S, task.abandon)
        await asyncio.wait([asyncio.wrap_future(task.answer)], timeout=WAIT_S)
        data: dict[str, Any] = {"rooms": _links(starts_at(asked))}
        if task.over:
            with suppress(Exception):  # the page's own view says it
                data = task.result().data
        self.set_header("Content-Type", "text/html; charset=utf-8")
        self.set_header("Cache-Control", "no-store")
        dark = self.get_cookie(LOOK, "").endswith("dark")
        self.write(begun(data, dark))
        await self.flush()
        try:
            async with self._arrivals.turn(self._visitor(), self._when_left):
                token = _COMING.set(task)
                try:
                    await self._panels(*args, **kwargs)
                finally:
                    _COMING.reset(token)
        except (VisitorLeft, TooMany):  # the page has ended, or ends here, with its first part
            task.abandon()

    @property
    def _arrivals(self) -> Arrivals:
        """Those of this server."""
        made: Arrivals = self.application.settings.setdefault("arrivals", Arrivals())
        return made

    def _when_left(self, leave: Callable[[], None]) -> None:
        self._leaves = leave

    def _refuse(self, why: str) -> None:
        self.set_status(429)
        self.set_header("Content-Type", "text/plain; charset=utf-8")
        self.set_header("Retry-After", "10")
        self.write(why)

    def _visitor(self) -> str:
        """The name that they logged in by, or else their address: where nobody has a name, Bokeh calls all the same."""
        return self._name() or self._address()

    def _name(self) -> str:
        name = str(self.current_user or "")
        return "" if name == NOBODY else name

    def _address(self) -> str:
        return network(self.request.remote_ip or "")

    def on_connection_close(self) -> None:
        """See Tornado."""
        super().on_connection_close()
        self._leaves()
        if self._task is not None:
            self._task.abandon()

    async def get_session(self) -> Any:
        """A session that ends with its page, which never comes back to it: Bokeh keeps it, and all that the page held,
        for half a minute."""
        made: Any = super().get_session()
        session = await made
        remember_visitor(session.document, self._name(), self._address())
        closed = self._arrivals.count_open_page(self._visitor())
        session.document.on_session_destroyed(lambda _: closed())
        unsubscribe = session.unsubscribe

        def left(connection: Any) -> None:
            unsubscribe(connection)
            if not session.connection_count:
                session.request_expiration()

        session.unsubscribe = left
        return session

    async def _panels(self, *args: Any, **kwargs: Any) -> None:
        answer: Any = super().get(*args, **kwargs)  # which is nothing where it led elsewhere
        if answer is not None:
            await answer
