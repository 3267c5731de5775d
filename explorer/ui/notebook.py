"""The live widget in a notebook (anywidget), and the static picture stored beside it for where no kernel runs."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

import anywidget
import traitlets

from explorer.table import Table
from explorer.ui.export import asset
from explorer.ui.state import ViewState
from explorer.views.svg import render_svg


class TableWidget(anywidget.AnyWidget):
    """The explorer of one table. `state`, `timeline` and `details` go to the browser, `request` comes from it."""

    _esm = asset("view.js")
    _css = asset("view.css")
    state: Any = traitlets.Dict().tag(sync=True)
    timeline = traitlets.Dict().tag(sync=True)
    details: Any = traitlets.Dict(allow_none=True, default_value=None).tag(sync=True)
    request = traitlets.Dict().tag(sync=True)
    height = traitlets.Unicode("560px").tag(sync=True)

    def __init__(self, table: Table, snapshot: str | int | None = None, height: str = "560px") -> None:
        self._view = ViewState(table, snapshot)
        super().__init__(state=self._view.state(), timeline=self._view.timeline(), height=height)
        self.observe(self._on_request, "request")

    @property
    def graph(self) -> Any:
        """The graph as it is drawn now."""
        return self._view.graph

    def _on_request(self, change: Mapping[str, Any]) -> None:
        if self._view.handle(change["new"]):
            if change["new"].get("type") == "reload":
                self.timeline = self._view.timeline()
            self.state = self._view.state()
        else:
            self.details = self._view.details()


def mimebundle(table: Table) -> Mapping[str, Any]:
    """The widget, and a picture and text that show without a kernel."""
    widget = TableWidget(table)
    made = widget._repr_mimebundle_()
    bundle = dict(made[0] if isinstance(made, tuple) else made or {})
    picture = f"<div><p>{escape(table.why)}</p>{render_svg(widget.graph)}</div>"
    return {**bundle, "text/html": picture, "text/plain": repr(table)}
