"""What stands in the header whatever room one is in: the table, the snapshot in view, what it is compared with, and how
many problems the table has; and how Spark is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import panel as pn
import panel_material_ui as pmui

from explorer.app.graph_state import ViewState
from explorer.render.text import brief
from explorer.spark_engine.spark import shared_engine
from explorer.spec.text.names import snapshot_name, snapshot_ordinals
from explorer.spec.text.units import count
from explorer.table import Table
from explorer.ui.widgets import Text, keep_text, versions

CUT = """:host { color: #fff; max-width: 30vw; overflow: hidden; }
p { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
@media (max-width: 800px) { :host { max-width: 20vw; } }"""
ROOM = """:host { max-width: 15vw; }
@media (max-width: 1400px) { :host { max-width: 11vw; } }
@media (max-width: 1000px) { :host { display: none !important; } }"""
WHITE = {
    "& .MuiInputLabel-root, & .MuiInputLabel-root.Mui-focused, & .MuiSvgIcon-root": {"color": "#fff"},
    "& .MuiOutlinedInput-notchedOutline": {"borderColor": "rgba(255,255,255,.55) !important"},
    "& legend": {"fontSize": "12px"},
    "& .MuiInputBase-root": {"height": "32px", "fontSize": "13px", "color": "#fff"},
}  # fmt: skip
OPTIONS = """.MuiAutocomplete-paper { background-image: none !important; }
.MuiAutocomplete-option { background-color: transparent !important; }
.MuiAutocomplete-option.Mui-focused, .MuiAutocomplete-option:hover { background-color: #00497a !important; }
.MuiAutocomplete-option[aria-selected="true"] { font-weight: 700; }"""
"""Of a list with white letters: darker where it is pointed at, and bold what is chosen."""
AMBER = {"&, &:hover": {"backgroundColor": "#ffb74d", "color": "#20262e"}}
WIDE = "@media (max-width: 800px) { :host { display: none !important; } }"
SHORT = ("overview", "diff", "lifecycle", "commits", "row-diff", "fate", "deletes", "plan", "health", "maintain",
         "undo", "conflict")  # fmt: skip
"""Views that may be short of what could not be read, and do not say so of each of their answers."""
PARENT = "its parent"
"""What a snapshot is compared with unless another is chosen."""


class Bar:
    """`parts` are to be shown in the header, and `lacks` above what a view shows; `look_at(version)` and
    `compare(version)` are called with what a person chooses, the latter with nothing for its parent; `problems()` when
    a person asks for the table's problems."""

    def __init__(
        self, look_at: Callable[[str], None], compare: Callable[[str], None], problems: Callable[[], None]
    ) -> None:
        self._where = Text("", variant="body2", margin=(8, 8), stylesheets=[CUT])
        self._snapshot, self._beside = _field("snapshot", 150), _field("compare with", 150)
        self._shown: dict[Any, str] = {}
        self._table: Table | None = None
        for field, tell in ((self._snapshot, look_at), (self._beside, lambda v: compare("" if v == PARENT else v))):
            field.param.watch(lambda event, tell=tell: self._chosen(event, tell), "value")
        self._problems = pmui.Button(
            label="", size="small", variant="contained", margin=(10, 6, 0, 6), visible=False, sx=AMBER,
            stylesheets=[WIDE],
        )  # fmt: skip
        self._problems.on_click(lambda _: problems())
        self.lacks = Text("", variant="body2", margin=(6, 14, 0, 14), visible=False)
        self.parts = (self._where, self._snapshot, self._beside, self._problems)

    def show(self, view: ViewState, compare: str) -> None:
        """What stands there now."""
        self._where.object = where(view)
        options = versions(view.table) if self._table is not view.table else None
        self._table = view.table
        self._set(self._snapshot, snapshot_name(view.snapshot_id, snapshot_ordinals(view.table.metadata)), options)
        self._set(self._beside, compare or PARENT, None if options is None else [PARENT, *options])

    def warn(self, table: Table, view: str) -> None:
        """How much is wrong with a table, as far as is known, and what a view's answers lack for it."""
        lacks = table.tree.lacks if view in SHORT else ""
        self.lacks.param.update(visible=bool(lacks), object=f"⚠ {lacks}." * bool(lacks))
        number, more = sum(problem.severity != "info" for problem in table.problems), table.tree.more_problems
        problems = f"{number:,}+ problems" if more else count(number, "problem")
        self._problems.param.update(visible=number > 0, label=f"⚠ {problems}")

    def _set(self, field: Any, text: str, options: Sequence[str] | None) -> None:
        """All at once, since each change is told the page."""
        self._shown[field] = text
        field.param.update(value=text, visible=True, **({} if options is None else {"options": options}))

    def _chosen(self, event: Any, tell: Callable[[str], None]) -> None:
        text = str(event.new or "").strip()
        if text and text != self._shown.get(event.obj):
            tell(text)


class SparkWords:
    """`view` says how Spark is, and restarts it where it is lost."""

    def __init__(self) -> None:
        self._words = Text("", variant="caption", margin=(8, 8), stylesheets=[CUT, ROOM])
        self.view = pn.Row(self._words, margin=0)

    def watch(self) -> None:
        """Say how it is as long as the page is open: it starts when it is needed, and can also be lost later."""
        self._show()
        if page := pn.state.curdoc:
            forget = shared_engine().on_change(lambda _: page.add_next_tick_callback(self._show))
            page.on_session_destroyed(lambda _: forget())

    def _show(self) -> None:
        engine = shared_engine()
        lost, state = engine.is_lost, engine.state
        status = "Spark: starts when needed" if state.phase == "stopped" else str(state)
        status = "Spark: lost (its Java process has ended)" if lost else status
        if self._words.object != status:
            self._words.object = status
        failed = lost or state.phase == "failed"
        if failed != (len(self.view) > 1):
            self.view[:] = [self._words, *([self._restart()] if failed else [])]

    def _restart(self) -> Any:
        button = pmui.Button(label="Restart Spark", size="small", variant="contained", margin=(4, 6), sx=AMBER)
        button.on_click(lambda _: self._again())
        return button

    def _again(self) -> None:
        self.view[:] = [self._words]
        shared_engine().restart()


def _field(title: str, width: int) -> Any:
    field = pmui.AutocompleteInput(
        label=title, options=[], restrict=False, min_characters=0, width=width, size="small", sx=WHITE,
        stylesheets=[OPTIONS], margin=(12, 4, 0, 4), visible=False,
    )  # fmt: skip
    return keep_text(field)


def where(view: ViewState) -> str:
    """Table, snapshot and what points to it."""
    metadata = view.table.metadata
    snapshot = None if view.snapshot_id is None else metadata.snapshot(view.snapshot_id)
    if snapshot is None:
        return brief(f"{view.table.name} · no snapshot")
    named = f"{snapshot_name(snapshot.snapshot_id, snapshot_ordinals(metadata))} of {len(metadata.snapshots)}"
    refs = [ref.name for ref in metadata.refs if ref.snapshot_id == snapshot.snapshot_id]
    return brief(" · ".join([view.table.name, named, *refs[:3]]))
