"""The graph's script on the dashboard."""

from __future__ import annotations

from typing import Any, ClassVar

import param
from panel.custom import AnyWidgetComponent

from explorer.ui.assets import script, style
from explorer.ui.host import GraphHost
from explorer.ui.state import GraphState
from explorer.views.svg import vocabulary


class GraphPane(GraphHost, AnyWidgetComponent):
    """The graph's script on the dashboard; the same traits as ui.notebook.GraphWidget."""

    _esm = script()
    _stylesheets: ClassVar[list[str]] = [style()]
    vocabulary = param.Dict(default=vocabulary())
    state = param.Dict(default={})
    timeline = param.Dict(default={})
    details = param.Dict(default={})
    request = param.Dict(default={})

    @classmethod
    def of(cls, state: GraphState, **options: Any) -> GraphPane:
        """A pane that shows a state."""
        pane = cls(**options)
        pane.draw(state)
        return pane

    @param.depends("request", watch=True)
    def _on_request(self) -> None:
        self.answer(self.request)
