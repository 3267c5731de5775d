"""Ctrl+K: go to a table, a view or a snapshot by a few letters of its name. ?: which keys there are, and what words
mean."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import param
from panel.custom import AnyWidgetComponent

from explorer.spec.text.glossary import meanings
from explorer.ui.assets import asset

Place = tuple[str, str]
"""What kind of place, and its name."""
FILES = "search files and manifests for"
"""A place that is there for each text: what the graph finds."""


class Palette(AnyWidgetComponent):
    """Asks `listed` for places when it is opened, and calls `going` with the one that is chosen, if it is one of
    them, or a search for files."""

    _esm = asset("palette.js")
    places = param.List(default=[])
    asked = param.Integer(default=0)
    chosen = param.Dict(default={})
    words = param.Dict(default=dict(meanings()))

    def __init__(
        self, listed: Callable[[], Sequence[Place]], going: Callable[[str, str], None], **options: Any
    ) -> None:
        super().__init__(width=0, height=0, margin=0, **options)
        self._listed, self._going = listed, going

    @param.depends("asked", watch=True)
    def _ask(self) -> None:
        self.places = [list(place) for place in self._listed()]

    @param.depends("chosen", watch=True)
    def _chosen(self) -> None:
        place = [str(self.chosen.get(name, "")) for name in ("kind", "name")]
        if place in self.places or place[0] == FILES:
            self._going(*place)
