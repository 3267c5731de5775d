"""The tree of catalogs, namespaces and tables at the left. A catalog may have tens of thousands of tables behind a slow
server: its namespaces are listed when the page opens, the tables of one when it is unfolded, all off the page's
thread. A filter shows those whose names have a text in them; of more than SHOWN it is the way to the others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import panel as pn
import panel_material_ui as pmui

from explorer.errors import ExplorerError
from explorer.progress import Cancelled, is_cancelled
from explorer.serving.pools import AWAY
from explorer.storage.catalogs import catalogs
from explorer.ui.background import Job
from explorer.ui.kept import KeptTables
from explorer.ui.widgets import label

SHOWN = 500
"""Tables of a namespace that are in the tree; others come up when they are filtered for."""
STYLE = {
    "& .MuiTypography-root": {"fontSize": "13px !important"},
    "& .MuiTreeItem-content": {"padding": "1px 2px", "gap": "4px"},
}


@dataclass
class Namespace:
    """A namespace of a catalog; its tables once they were listed."""

    catalog: str
    name: tuple[str, ...]
    tables: list[str] | None = None
    problem: str = ""

    def listed(self) -> Namespace:
        """The same with its tables. Raises Cancelled."""
        try:
            listed = replace(self, tables=[t.identifier for t in catalogs.tables_in(self.catalog, self.name)])
        except ExplorerError as error:
            listed = replace(self, tables=[], problem=str(error))
        if is_cancelled():
            raise Cancelled("cancelled")
        return listed

    def named(self, part: str) -> list[str]:
        """The tables with a text in their names, in any case."""
        return [table for table in self.tables or () if part in table.rpartition(".")[2].casefold()]


@dataclass
class Listing:
    """A catalog with its namespaces, or why they are not known."""

    catalog: str
    namespaces: list[Namespace] = field(default_factory=list)
    problem: str = ""

    @classmethod
    def of(cls, catalog: str) -> Listing:
        """List a catalog: its namespaces, and of the sandbox, which is a file of ours, the tables as well."""
        try:
            spaces = [Namespace(catalog, space) for space in catalogs.namespaces(catalog)]
        except ExplorerError as error:
            return cls(catalog, problem=str(error))
        if catalog == catalogs.SANDBOX:
            spaces = [made for space in spaces if (made := space.listed()).tables]
        return cls(catalog, spaces)


class Picker:
    """`view` is to be shown; `open(name)` is called with the table that a person picks."""

    def __init__(self, open_table: Callable[[str], None]) -> None:
        self.tree = pmui.Tree(items=[], active=[], level_indent=8, sizing_mode="stretch_width", margin=0, sx=STYLE)
        self.tree.param.watch(self._on_pick, "active")
        self.tree.param.watch(lambda _: self._unfold(), "expanded")
        self.job = Job(pool=AWAY, settled=self._settled)
        self.kept = KeptTables(self.knows, open_table)
        self.filter = pmui.TextInput(label="Filter tables", sizing_mode="stretch_width", size="small", margin=(8, 10))
        self.filter.param.watch(lambda _: self._draw(), "value_input")
        self.filter.param.watch(lambda event: self._unfold_all() if event.new else None, "enter_pressed")
        self.view = pn.Column(self.kept, self.filter, self.tree, self.job.view, sizing_mode="stretch_width")
        self._open = open_table
        self._listings: list[Listing] = []
        self._unfolding: tuple[int, int] | None = None
        self._marked = ""

    def mark(self, name: str) -> None:
        """The table `name` (`catalog.db.table`) is open: it is highlighted, where it is listed."""
        self._marked = name
        if self.knows(name):
            self.kept.opened = name
        places = {
            f"{space.catalog}.{table}": (*place, k)
            for place, space in self._places().items()
            for k, table in enumerate(self._drawn(space))
        }
        if [tuple(index) for index in self.tree.active or ()] != (wanted := [places[name]] if name in places else []):
            self.tree.active = wanted

    def fill(self, then: Callable[[], None] = lambda: None) -> None:
        """List every configured catalog anew; one that cannot be reached says so and leaves the others."""
        self._unfolding = None

        def show(listings: list[Listing]) -> None:
            self._listings = listings
            self._draw()
            self.tree.expanded = [(i,) for i in range(len(listings))] + list(self._places())
            then()

        self.job.start(lambda: [Listing.of(name) for name in catalogs.catalog_names()], show, "Listing catalogs…")

    def first(self, wanted: str) -> str:
        """The wanted table, if it is listed, else the first that is, else none."""
        names = self.names()
        return wanted if wanted in names else names[0] if names else ""

    def names(self) -> list[str]:
        """All tables that are listed."""
        spaces = (space for listing in self._listings for space in listing.namespaces)
        return [f"{space.catalog}.{table}" for space in spaces for table in space.tables or ()]

    def knows(self, name: str) -> bool:
        """Whether a table is listed, or may be in a namespace that is, but was not unfolded yet."""
        for space in (space for listing in self._listings for space in listing.namespaces):
            above = ".".join((space.catalog, *space.name, ""))
            if name.startswith(above) and "." not in (below := name[len(above) :]):
                return bool(below) if space.tables is None else name[len(space.catalog) + 1 :] in space.tables
        return False

    def _places(self) -> dict[tuple[int, ...], Namespace]:
        """The namespaces whose tables are known, by their places in the tree."""
        return {
            (i, j): space
            for i, listing in enumerate(self._listings)
            for j, space in enumerate(listing.namespaces)
            if space.tables is not None
        }

    @property
    def _part(self) -> str:
        """What is filtered for."""
        return str(self.filter.value_input or "").strip().casefold()

    def _drawn(self, space: Namespace) -> list[str]:
        """The tables of a namespace that are in the tree, in its order."""
        return space.named(self._part)[:SHOWN]

    def _unfold_all(self) -> None:
        """List what was not unfolded yet, too."""
        spaces = [(i, j) for i, listing in enumerate(self._listings) for j in range(len(listing.namespaces))]
        self.tree.expanded = [(i,) for i in range(len(self._listings))] + spaces

    def _draw(self) -> None:
        """What is unfolded stays so: items are known again by their ids."""
        self.tree.items = [
            {
                "id": str(i),
                "label": label(listing.catalog),
                "icon": "storage",
                "items": [_problem(listing.problem, f"{i}.")]
                if listing.problem
                else [_folder(space, f"{i}.{j}", self._part) for j, space in enumerate(listing.namespaces)],
            }
            for i, listing in enumerate(self._listings)
        ]
        if self._marked:
            self.mark(self._marked)
        self.kept.look()

    def _on_pick(self, event: Any) -> None:
        """Open a table; unfold what has some below it."""
        for index in event.new or ():
            if len(index) < 3 and index not in self.tree.expanded:
                self.tree.expanded = [*self.tree.expanded, tuple(index)]
            space = self._places().get(tuple(index[:2]))
            if space is not None and len(index) == 3 and index[2] < len(tables := self._drawn(space)):
                name = f"{space.catalog}.{tables[index[2]]}"
                if name != self._marked:
                    self._open(name)

    def _unfold(self) -> None:
        """List a namespace that is unfolded for the first time, and then the next one."""
        if self.job.busy:
            return
        for i, listing in enumerate(self._listings):
            for j, space in enumerate(listing.namespaces):
                if space.tables is None and (i, j) in map(tuple, self.tree.expanded):
                    self._unfolding = (i, j)
                    self.job.start(space.listed, partial(self._listed, i, j), f"Listing {'.'.join(space.name)}…")
                    return

    def _settled(self, answered: bool) -> None:
        """What was given up is folded again: unfolding asks anew."""
        if not answered and self._unfolding is not None:
            self.tree.expanded = [place for place in self.tree.expanded if tuple(place) != self._unfolding]

    def _listed(self, i: int, j: int, space: Namespace) -> None:
        self._listings[i].namespaces[j] = space
        self._draw()
        self._unfold()


def _item(identity: str, text: str, icon: str) -> dict[str, Any]:
    return {"id": identity, "label": text, "icon": icon}


def _problem(reason: str, identity: str) -> dict[str, Any]:
    return _item(identity, label(reason[:200]), "error_outline")


def _folder(space: Namespace, identity: str, part: str) -> dict[str, Any]:
    found = space.named(part)
    items = [_item(f"{identity}:{table}", label(table.rpartition(".")[2]), "table_chart") for table in found[:SHOWN]]
    if len(found) > SHOWN:
        more = f"… {len(found) - SHOWN:,} more: filter for them above"
        items.append(_item(f"{identity}.more", more, "more_horiz"))
    if space.problem:
        items = [_problem(space.problem, f"{identity}.")]
    elif space.tables is None:
        items = [_item(f"{identity}.", "…", "hourglass_empty")]
    elif part and not found:
        items = [_item(f"{identity}.none", f"none of {len(space.tables):,}", "more_horiz")]
    return {**_item(identity, label(".".join(space.name)), "folder"), "items": items}
