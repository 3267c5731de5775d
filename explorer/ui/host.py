"""What the graph's script runs in: a pane of the dashboard, or a widget in a notebook. Both answer it here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from explorer.app.graph_state import GraphState


class ClickAnswer(NamedTuple):
    """What became of a request: the state that it leaves, whether the graph is to be drawn again (None: nothing came of
    it), and what to show: the state, or other details."""

    later: GraphState
    redrawn: bool | None
    shown: dict[str, Any]


def answer_to(view: GraphState, request: Mapping[str, Any]) -> ClickAnswer:
    """Carry out a request on a copy of the state. Whatever happens to it, the state stays as it is."""
    later = view.copied()
    redrawn = later.handle(request)
    shown = {} if redrawn is None else later.state() if redrawn else later.selection()
    return ClickAnswer(later, redrawn, shown)


class GraphHost:
    """Shows a GraphState, and lets it answer. The attributes `state`, `timeline` and `details` go to the browser when
    they are set anew; each request that comes from there is to be passed to `answer`. `answered(redrawn)` is called
    when one was carried out."""

    graph_state: GraphState | None = None
    answered: Callable[[bool], None] | None = None
    state: Any
    timeline: Any
    details: Any
    _timed: tuple[object, object] | None = None

    def draw(self, view: GraphState | None = None, shown: dict[str, Any] | None = None) -> None:
        """Draw a state, or the one that is shown as it has become; `shown` is what its `state` gave, if that was asked
        already: it may read what the inspector tells."""
        self.graph_state = view = view or self.graph_state
        if view is not None:
            self._draw(view, shown or view.state())

    def put(self, **attributes: Any) -> None:
        """Set attributes that go to the browser together: a page that has the one without the other shows what is not
        so."""
        raise NotImplementedError

    def answer(self, request: Mapping[str, Any]) -> None:
        """Carry out a request: draw the graph again, or show other details."""
        if self.graph_state is not None and request:
            self._show(answer_to(self.graph_state, request))

    def _show(self, answer: ClickAnswer) -> None:
        view = self.graph_state
        assert view is not None
        if answer.redrawn is None:
            return
        view.become(answer.later)
        if answer.redrawn:
            self._draw(view, answer.shown)
        else:
            self.details = answer.shown
        if self.answered is not None:
            self.answered(answer.redrawn)

    def _draw(self, view: GraphState, shown: dict[str, Any]) -> None:
        now = (view, view.table)
        self.put(**({} if self._timed == now else {"timeline": view.timeline()}), state=shown)
        self._timed = now
