"""Tables that a person has opened last, and those that were pinned: their browser keeps the names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import param
from panel.custom import AnyWidgetComponent

from explorer.render.text import clean
from explorer.ui.assets import asset

LISTED = 40
"""Of so many names that the browser tells at most."""


class KeptTables(AnyWidgetComponent):
    """A list of them, above the tree. `kept` is what the browser tells: anything at all, of which only names are shown
    that are `known`, and only those can be opened. `opened` is the table that is open."""

    _esm = asset("kept.js")
    kept = param.Dict(default={})
    shown = param.List(default=[])
    opened = param.String(default="")
    chosen = param.Dict(default={})

    def __init__(self, known: Callable[[str], bool], open_table: Callable[[str], None], **options: Any) -> None:
        super().__init__(sizing_mode="stretch_width", margin=(4, 0, 2, 0), **options)
        self._known, self._open = known, open_table

    def names(self, what: str) -> list[str]:
        """Those that are `pinned`, or `recent` and not pinned."""
        told = self.kept.get(what)
        texts = [name for name in told[:LISTED] if isinstance(name, str)] if isinstance(told, list) else []
        others = self.names("pinned") if what == "recent" else []
        return [name for name in dict.fromkeys(texts) if name not in others and self._known(name)]

    @param.depends("kept", watch=True)
    def look(self) -> None:
        """What is known may have changed."""
        every = [*self.names("pinned"), *self.names("recent")]
        self.shown = [[name, clean(name.partition(".")[2])] for name in every]

    @param.depends("chosen", watch=True)
    def _chosen(self) -> None:
        name = self.chosen.get("name")
        if name in (known for known, _ in self.shown):
            self._open(str(name))
