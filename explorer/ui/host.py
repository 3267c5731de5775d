"""What the graph's script runs in: a pane of the dashboard, or a widget in a notebook. Both answer it here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from explorer.ui.state import GraphState


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

    def draw(self, view: GraphState | None = None) -> None:
        """Draw a state, or the one that is shown as it has become."""
        self.graph_state = view = view or self.graph_state
        if view is None:
            return
        if self._timed != (view, view.table):
            self.timeline, self._timed = view.timeline(), (view, view.table)
        self.state = view.state()

    def answer(self, request: Mapping[str, Any]) -> None:
        """Carry out a request: draw the graph again, or show other details."""
        view = self.graph_state
        if view is None or not request:
            return
        redrawn = view.handle(request)
        if redrawn:
            self.draw()
        else:
            self.details = view.selection()
        if self.answered is not None:
            self.answered(redrawn)
