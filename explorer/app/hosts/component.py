"""The app as a component for Panel apps."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

from explorer.app.assets import asset
from explorer.app.hosts.views import LONGEST_NAME, ShownView, WidgetViews
from explorer.app.rights import Rights
from explorer.app.session import Session
from explorer.app.start import TABLE_VARIABLE
from explorer.extras import needs_extra
from explorer.serving.allowance import Allowance
from explorer.table import Table

with needs_extra():
    import panel as pn
    import param
    from panel.custom import AnyWidgetComponent

    from explorer.app.hosts.panel_socket import CheckedSocket

MOST_AT_ONCE, MOST_KNOWN = 200, 100
"""Messages of the views that are taken at once, and views whose last message is known."""
APP_SIZE = 200 << 10
"""Characters that count as sent by a view which asks for the app: so much the server sends it."""


class ExplorerComponent(AnyWidgetComponent):
    """The app as a component.

    Args:
        table: The table that it begins with; None lets a visitor choose.
        sql: Whether visitors may run SQL.
        writes: Whether visitors may write to copies of teaching tables, and ask questions that write.
        room: Its height in CSS.
        place: Where it is at first, as a URL has it: `mode`, `snapshot` and more (frontend/src/place.ts).
        options: What every component of Panel takes.
    """

    _esm = asset("loader.js")
    outbox = param.List(doc="What the views have sent, as far as they know of nobody who has taken it.")

    def __init__(
        self,
        table: Table | None = None,
        sql: bool = False,
        writes: bool = False,
        room: str = "720px",
        place: Mapping[str, str] = MappingProxyType({}),
        **options: Any,
    ) -> None:
        super().__init__(**{"sizing_mode": "stretch_width", **options})
        self._given = {table.name: table} if table else {}
        self._rights, self._taken = Rights(sql=sql, lab=writes), dict[str, int]()
        self._owner, self._apps = secrets.token_urlsafe(16), Allowance()
        name = table.name if table else os.environ.get(TABLE_VARIABLE, "")
        self._views = WidgetViews(ShownView("app", {"table": name, **place}, room), self._begin, self._tell)
        self._document = pn.state.curdoc
        if self._document is not None and self._document.session_context is not None:
            pn.state.on_session_destroyed(lambda _: self._views.close())

    def _begin(self, send: Callable[[str], None]) -> Session:
        context = self._document.session_context if self._document is not None else None
        visitor = CheckedSocket.visitor_of(context.id) if context is not None else ""
        return Session(send, self._rights, pn.state.user or "", visitor or self._owner, self._owner, self._given)

    @param.depends("outbox", watch=True)
    def _take(self) -> None:
        """Each message once: the views send those again that nobody has taken."""
        for message in self.outbox[:MOST_AT_ONCE]:
            number, view = (message.get("number"), message.get("view")) if isinstance(message, dict) else (None, None)
            if not isinstance(number, int) or not isinstance(view, str) or len(view) > LONGEST_NAME:
                continue
            if number > self._taken.get(view, 0):
                self._taken[view] = number
                if message.get("wants") != "app" or not self._apps.take("", APP_SIZE):
                    self._views.take(message)
                self._tell({"view": view, "taken": number})
        self._taken = dict([*self._taken.items()][-MOST_KNOWN:])

    def _tell(self, message: Any) -> None:
        """Send a message, from any thread."""
        if self._document is None:
            self.send(message)
        else:
            self._document.add_next_tick_callback(partial(self.send, message))
