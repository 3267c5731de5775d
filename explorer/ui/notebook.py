"""The live widget in a notebook (anywidget), and the static picture stored beside it for where no kernel runs."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

import anywidget
import traitlets

from explorer.table import Table
from explorer.ui.assets import script, style
from explorer.ui.host import GraphHost
from explorer.ui.state import CompareState, DeletesState, GraphState, ViewState
from explorer.views.svg import render_svg, vocabulary
from explorer.views.text import render_tree


class GraphWidget(GraphHost, anywidget.AnyWidget):
    """A graph that can be asked. `state`, `timeline` and `details` go to the browser, `request` comes from it."""

    _esm = script()
    _css = style()
    vocabulary = traitlets.Dict(default_value=vocabulary()).tag(sync=True)
    state: Any = traitlets.Dict().tag(sync=True)
    timeline = traitlets.Dict().tag(sync=True)
    details: Any = traitlets.Dict().tag(sync=True)
    request = traitlets.Dict().tag(sync=True)
    height = traitlets.Unicode("560px").tag(sync=True)

    def __init__(self, view: GraphState, height: str = "560px") -> None:
        super().__init__(height=height)
        self.draw(view)

    @property
    def graph(self) -> Any:
        """The graph as it is drawn now."""
        return self.graph_state.graph if self.graph_state else None

    def _repr_mimebundle_(self, **options: Any) -> tuple[dict[Any, Any], dict[Any, Any]]:
        """The widget, and a picture and text that show without a kernel."""
        live, about = super()._repr_mimebundle_(**options) or ({}, {})
        return {**live, "text/html": render_svg(self.graph), "text/plain": render_tree(self.graph)}, about

    @traitlets.observe("request")
    def _on_request(self, change: Mapping[str, Any]) -> None:
        self.answer(change["new"])


class TableWidget(GraphWidget):
    """The explorer of one table."""

    def __init__(self, table: Table, snapshot: str | int | None = None, height: str = "560px") -> None:
        super().__init__(ViewState(table, snapshot), height)


class DiffWidget(GraphWidget):
    """The difference of two snapshots: added and removed parts, and what both have folded."""

    def __init__(self, table: Table, before: str | int | None, after: str | int | None, height: str = "420px") -> None:
        super().__init__(CompareState(table, before, after), height)


class DeletesWidget(GraphWidget):
    """Data files of a snapshot and the deletes that could matter to them."""

    def __init__(self, table: Table, snapshot: str | int | None = None, height: str = "360px") -> None:
        super().__init__(DeletesState(table, snapshot), height)


def mimebundle(table: Table) -> Mapping[str, Any]:
    """A table's widget, picture and text, with which metadata file was opened and why."""
    bundle, _ = TableWidget(table)._repr_mimebundle_()
    return {
        **bundle,
        "text/html": f"<div><p>{escape(table.why)}</p>{bundle['text/html']}</div>",
        "text/plain": repr(table),
    }
