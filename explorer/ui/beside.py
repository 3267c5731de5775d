"""Another page of the dashboard beside this one: two tables, snapshots or rooms are looked at together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import panel as pn
import panel_material_ui as pmui

from explorer.ui.widgets import framed

WITHIN = "within"
"""The parameter of a URL that says that the page is beside another, where its tree of tables is folded at first."""


class Beside:
    """`button` opens and closes it, `view` is where it is. It begins `where` this page is, as the end of a URL, and has
    a session, a tree of tables and rooms of its own; so it can have another beside it."""

    def __init__(self, where: Callable[[], str]) -> None:
        self._where = where
        self.button = pmui.IconButton(
            icon="vertical_split", size="small", margin=(4, 2), description="Another table beside",
            sx={"color": "#fff"},
        )  # fmt: skip
        self.button.on_click(self._turn)
        self.view = pn.Column(visible=False, sizing_mode="stretch_both", margin=0)

    def _turn(self, _: Any) -> None:
        self.view.visible = not self.view.visible
        where = f"{self._where() or '?'}&{WITHIN}=1"
        self.view[:] = [framed(where)] if self.view.visible else []
