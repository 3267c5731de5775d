"""The rooms of the dashboard: its views by the question that a person has, on two levels of tabs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

import panel as pn

from explorer.ui.background import Session
from explorer.ui.widgets import INNER, PLAIN_TAB, WRAPPED_TABS

HEADER = ".bk-header { display: var(--chrome, flex); }"
"""Hidden while the page is presented."""
LOOK = [PLAIN_TAB, WRAPPED_TABS, f".bk-tab {{ padding: 6px 10px !important; font-size: 14px !important; }} {HEADER}"]
LESS = [*INNER, HEADER]


@dataclass(frozen=True)
class Room:
    """A room; `views` are the titles of its views by their names, by which URLs know them."""

    title: str
    views: Mapping[str, str]


ROOMS = (
    Room("Overview", {"overview": "Overview"}),
    Room("Explore", {"graph": "Graph", "snapshots": "Snapshots", "manifests": "Manifests", "files": "Files",
                     "entries": "Entries", "partitions": "Partitions", "export": "Export"}),
    Room("Changes", {"history": "Lineage and log", "diff": "Diff", "lifecycle": "Lifecycle", "commits": "Commits",
                     "metadata": "Metadata files"}),
    Room("Rows", {"rows": "Read", "sql": "SQL", "row-diff": "Row diff", "fate": "Row history", "deletes": "Deletes"}),
    Room("Plan", {"plan": "Plan"}),
    Room("Health", {"health": "This table", "tables": "All tables of its catalog", "problems": "Problems",
                    "maintain": "Maintenance", "undo": "Branches and undo"}),
    Room("Lab", {"lab": "Writers, step by step", "statement": "One statement", "conflict": "Explain a conflict",
                 "race": "Race and faults"}),
)  # fmt: skip
VIEWS = {name: at for at, room in enumerate(ROOMS) for name in room.views}
"""The room of each view, by its place."""
TITLES = {
    title if len(room.views) == 1 else f"{room.title}: {title}": name
    for room in ROOMS
    for name, title in room.views.items()
}
"""Views by their titles, with their rooms'."""


class Rooms:
    """`view` is to be shown; `box` holds what a view shows, and `came(name)` is called when a person has come to a
    view. A room is furnished when it is first entered, and entered later where it was left. Views `without` which this
    server is are in none."""

    def __init__(self, graph: Any, came: Callable[[str], None], start: str, without: Collection[str] = ()) -> None:
        self._views = [[name for name in room.views if name not in without] for room in ROOMS]
        self._came, self._going = came, False
        self._boxes: dict[str, Any] = {"graph": graph}
        self._inner: dict[int, Any] = {}
        at = VIEWS[start]
        contents = [self._furnished(n) if n == at else pn.Spacer() for n in range(len(ROOMS))]
        titles = [room.title for room in ROOMS]
        self.view = pn.Tabs(
            *zip(titles, contents, strict=True), dynamic=True, stylesheets=LOOK, sizing_mode="stretch_both"
        )
        self.view.param.watch(self._chosen, "active")
        self._set(start)

    def box(self, name: str) -> Any:
        """What a view is put into."""
        if name not in self._boxes:
            self._boxes[name] = pn.Column(sizing_mode="stretch_both")
        return self._boxes[name]

    def _furnished(self, at: int) -> Any:
        """A room's views, as tabs where they are several."""
        views = self._views[at]
        if len(views) == 1:
            return self.box(views[0])
        each = ((ROOMS[at].views[name], self.box(name)) for name in views)
        inner = pn.Tabs(*each, dynamic=True, stylesheets=LESS, sizing_mode="stretch_both", margin=0)
        inner.param.watch(self._chosen, "active")
        self._inner[at] = inner
        return inner

    @property
    def active(self) -> str:
        """The view that is looked at."""
        at = self.view.active
        return self._views[at][self._inner[at].active if at in self._inner else 0]

    def go(self, name: str) -> None:
        """To a view; one that is not there leads nowhere."""
        if name != self.active and name in self._views[VIEWS[name]]:
            self._set(name)
            self._came(name)

    def leave(self, names: Collection[str], looked_at: bool = False) -> None:
        """Nobody waits any more for what these views show; it is let go, what is `looked_at` only if so asked: else it
        stands until there is something new."""
        for name in names:
            Session.current().leave(self.box(name))
            if looked_at or name != self.active:
                self.box(name)[:] = []

    def _enter(self, at: int) -> None:
        if isinstance(self.view[at], pn.Spacer):
            self.view[at] = (ROOMS[at].title, self._furnished(at))

    def _set(self, name: str) -> None:
        at = VIEWS[name]
        self._going = True
        try:
            self._enter(at)
            if at in self._inner and name in self._views[at]:
                self._inner[at].active = self._views[at].index(name)
            self.view.active = at
        finally:
            self._going = False

    def _chosen(self, _: Any) -> None:
        if not self._going:
            self._enter(self.view.active)
            self._came(self.active)
