"""The live widget in a notebook (anywidget), and the picture stored beside it for where no kernel runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import anywidget
import traitlets
from IPython.display import display

from explorer.app.answer_states import CompareState, DeletesState, PlanState
from explorer.app.graph_state import GraphState, ViewState
from explorer.render.pictures import still
from explorer.render.svg import render_svg, vocabulary
from explorer.render.text import render_tree
from explorer.table import Table
from explorer.ui.assets import asset, script, style
from explorer.ui.host import GraphHost

_OUT, _GONE = ".jp-OutputArea-child", ":is(.jupyter-widgets, .jp-RenderedSVG)"
_LIVE = ":is(.ix-root, .ix-panel)"
STILL = (
    f".ix-still {{ display: none }} {_OUT}:has(+ {_OUT} {_GONE}) .ix-still {{ display: block }} "
    f"{_OUT}:has(.ix-still):has(+ {_OUT} {_LIVE}) {{ display: none }} "
    f"{_OUT}:has(.ix-still) + {_OUT}:has({_GONE}):not(:has({_LIVE})) {{ display: none }}"
)
"""The picture stands for the output after it where that says that its widget is gone, and is hidden where that lives.
Where styles are stripped, as in a notebook that is not trusted, it is seen in any case."""


def display_kept(widget: Any, still_html: str) -> None:
    """Two outputs: JupyterLab shows of one that has a widget nothing else, not even where the widget is gone. The first
    is what stays, as HTML that is seen without its styles, too."""
    bundle, about = widget._repr_mimebundle_()
    display({"text/html": f'<style>{STILL}</style><div class="ix-still">{still_html}</div>'}, raw=True)
    display(bundle, metadata=about, raw=True)


class GraphWidget(GraphHost, anywidget.AnyWidget):
    """A graph that can be asked. `state`, `timeline` and `details` go to the browser, `request` comes from it. The
    script is asked for as well, so that a notebook does not store it with each widget."""

    _esm = asset("loader.js")
    vocabulary = traitlets.Dict(default_value=vocabulary()).tag(sync=True)
    state: Any = traitlets.Dict().tag(sync=True)
    timeline = traitlets.Dict().tag(sync=True)
    details: Any = traitlets.Dict().tag(sync=True)
    request = traitlets.Dict().tag(sync=True)
    height = traitlets.Unicode("560px").tag(sync=True)
    about = ""

    def __init__(self, view: GraphState, height: str = "560px") -> None:
        super().__init__(height=height)
        self.draw(view)

    @property
    def graph(self) -> Any:
        """The graph as it is drawn now."""
        return self.graph_state.graph if self.graph_state else None

    def put(self, **attributes: Any) -> None:
        """As one message."""
        with self.hold_sync():
            for name, value in attributes.items():
                setattr(self, name, value)

    def _repr_mimebundle_(self, **options: Any) -> tuple[dict[Any, Any], dict[Any, Any]]:
        """The widget, and a picture and text that show without a kernel."""
        live, about = super()._repr_mimebundle_(**options) or ({}, {})
        text = f"{self.about}\n{render_tree(self.graph)}".lstrip("\n")
        return {**live, "image/svg+xml": render_svg(self.graph), "text/plain": text}, about

    def _ipython_display_(self) -> None:
        display_kept(self, still(render_svg(self.graph), self.graph.title))

    @traitlets.observe("request")
    def _on_request(self, change: Mapping[str, Any]) -> None:
        if change["new"].get("type") == "script":
            self.send({"script": script(), "style": style()})
        else:
            self.answer(change["new"])


class TableWidget(GraphWidget):
    """The explorer of one table; in text also which metadata file was opened, and why."""

    def __init__(self, table: Table, snapshot: str | int | None = None, height: str = "560px") -> None:
        super().__init__(ViewState(table, snapshot), height)
        self.about = table.why


class DiffWidget(GraphWidget):
    """The difference of two snapshots: added and removed parts, and what both have folded."""

    def __init__(self, table: Table, before: str | int | None, after: str | int | None, height: str = "420px") -> None:
        super().__init__(CompareState(table, before, after), height)


class DeletesWidget(GraphWidget):
    """Data files of a snapshot and the deletes that could matter to them."""

    def __init__(self, table: Table, snapshot: str | int | None = None, height: str = "360px") -> None:
        super().__init__(DeletesState(table, snapshot), height)


class PlanWidget(GraphWidget):
    """Manifests and files that a scan with a filter reads and skips, and why."""

    def __init__(self, table: Table, where: str, snapshot: str | int | None = None, height: str = "420px") -> None:
        super().__init__(PlanState(table, table.plan(where, snapshot)), height)
