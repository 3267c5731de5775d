"""The graph's script on the dashboard, which answers off the page's thread."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Mapping
from typing import Any, ClassVar

import panel as pn
import param
from panel.custom import AnyWidgetComponent

from explorer.app.graph_state import GraphState
from explorer.progress import Cancelled
from explorer.render.svg import vocabulary
from explorer.serving.pools import AWAY, CLICKS, PoolTask
from explorer.spark_engine.failures import explain
from explorer.ui.assets import script, style
from explorer.ui.background import QUIET_S, Session
from explorer.ui.host import GraphHost, answer_to

WAITING = 50
"""Requests of a page that wait for their turn; of more, which no person makes, the oldest are left out."""


class GraphPane(GraphHost, AnyWidgetComponent):
    """The graph's script on the dashboard. `state`, `timeline` and `details` go to the browser, `request` comes from
    it. `progress` says whether a request is under way, and in words how far it is, once it takes long, or why it was
    not carried out. Requests are carried out one after the other, each on the state that the one before has left;
    `cancel` gives up those under way, and so does drawing another state."""

    _esm = script()
    _stylesheets: ClassVar[list[str]] = [style()]
    vocabulary = param.Dict(default=vocabulary())
    state = param.Dict(default={})
    timeline = param.Dict(default={})
    details = param.Dict(default={})
    request = param.Dict(default={})
    progress = param.Dict(default={})
    _now: PoolTask | None = None

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._waiting: deque[Mapping[str, Any]] = deque(maxlen=WAITING)

    @classmethod
    def of(cls, state: GraphState, **options: Any) -> GraphPane:
        """A pane that shows a state."""
        pane = cls(**options)
        pane.draw(state)
        return pane

    @param.depends("request", watch=True)
    def _on_request(self) -> None:
        self.answer(self.request)

    def draw(self, view: GraphState | None = None, shown: dict[str, Any] | None = None) -> None:
        """Draw a state, or the one that is shown as it has become. What was asked of it before is given up."""
        self.drop()
        super().draw(view, shown)

    def put(self, **attributes: Any) -> None:
        """As one message."""
        self.param.update(**attributes)

    def answer(self, request: Mapping[str, Any]) -> None:
        """Carry out a request in the background of its page; at once where there is none."""
        if request.get("type") == "cancel":
            self._give_up()
        elif pn.state.curdoc is None:
            super().answer(request)
        elif request.get("type") == "look" and (self._now is not None or self._waiting):
            pass  # there will be another look
        elif self.graph_state is not None and request:
            self._waiting.append(request)
            self._next()

    # -- as the page's Session asks of its jobs -----------------------------------------------------------------------
    @property
    def busy(self) -> bool:
        """Whether an answer is still to come."""
        return self._now is not None

    def look(self) -> None:
        """Show how far it is, or its end."""
        if self._now is None:
            return
        if not self._now.over:
            so_far = self._now.progress()
            if so_far.seconds >= QUIET_S:
                self._tell(True, f"Reading… {str(so_far).removeprefix('running, ')}")
            return
        asked, self._now = self._now, None
        reason = ""
        try:
            self._show(asked.result())
        except Cancelled:
            reason = "Cancelled."
        except Exception as error:  # nobody else would tell the person
            logging.getLogger(__name__).exception("a request of the graph failed")
            reason = explain(error, lost=False)
        if reason or self.progress:
            self._tell(False, reason)
        self._next()

    def drop(self) -> None:
        """Nobody waits any more."""
        self._give_up()
        self._now = None
        if self.progress:
            self.progress = {}

    def _tell(self, busy: bool, text: str) -> None:
        """Say it to the page, also when it is the same as before."""
        self.progress = {"n": self.progress.get("n", 0) + 1, "busy": busy, "text": text}

    def _give_up(self) -> None:
        self._waiting.clear()
        if self._now is not None:
            self._now.cancel()

    def _next(self) -> None:
        view = self.graph_state
        if self._now is None and self._waiting and view is not None:
            request = self._waiting.popleft()
            pool = AWAY if request.get("type") == "pointer" else CLICKS  # it waits for a catalog
            self._now = Session.current().submit(self, pool, lambda: answer_to(view, request))
