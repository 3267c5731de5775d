"""view.js on the dashboard."""

from __future__ import annotations

from typing import Any, ClassVar

import param
from panel.custom import AnyWidgetComponent

from explorer.ui.export import asset
from explorer.ui.state import GraphState


class GraphPane(AnyWidgetComponent):
    """view.js on the dashboard; the same traits as ui.notebook.TableWidget."""

    _esm = asset("view.js")
    _stylesheets: ClassVar[list[str]] = [asset("view.css")]
    state = param.Dict(default={})
    timeline = param.Dict(default={})
    details = param.Dict(default=None, allow_None=True)
    request = param.Dict(default={})

    @classmethod
    def of(cls, state: GraphState, **options: Any) -> GraphPane:
        """A pane that answers its own requests from a state."""
        pane = cls(state=state.state(), timeline=state.timeline(), **options)

        def carry_out(event: Any) -> None:
            if event.new and state.handle(event.new):
                pane.state = state.state()
            else:
                pane.details = state.details()

        pane.param.watch(carry_out, "request")
        return pane
