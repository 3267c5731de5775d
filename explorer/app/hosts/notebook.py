"""The app in a notebook (anywidget): whole, or one question, or one graph. Beside each widget stands a picture and a
text, for where no kernel runs. Requests and answers are messages, so a notebook stores nothing of them."""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import Callable, Mapping
from functools import partial
from html import escape
from typing import Any, Protocol

from explorer.app.answer_states import CompareState, DeletesState, PlanState
from explorer.app.assets import asset
from explorer.app.graph_state import GraphState, ViewState
from explorer.app.hosts.run_steps import RunSteps
from explorer.app.hosts.views import Conversation, ShownView, WidgetViews
from explorer.app.rights import Rights
from explorer.app.session import Session
from explorer.errors import NotFoundInTable, NotPossible, WrongUsage
from explorer.extras import needs_extra
from explorer.questions import QUESTIONS
from explorer.questions.parameters import TableAt
from explorer.render.pictures import sentence, still, still_beside, with_white_ground
from explorer.render.svg import render_svg
from explorer.render.text import clean_lines, render_tree
from explorer.spec.snapshots.snapshot_names import NOTHING
from explorer.table import Table

with needs_extra():
    import anywidget
    from IPython.display import display

OWNER = secrets.token_urlsafe(16)
"""Who owns the copies of teaching tables that this kernel makes."""
SHORT_NAMES = {"lineage": "history lineage", "lifecycle": "history lifecycle", "deletes": "inspect deletes"}
"""Of questions whose words have more than one."""


class Still(Protocol):
    """What is seen without a kernel."""

    def __repr__(self) -> str:
        """As text."""

    def _repr_svg_(self) -> str | None:
        """As a picture."""

    def _repr_html_(self) -> str:
        """As HTML that is seen without its styles, too."""


class StillGraph:
    """A graph as it is seen without a kernel; `about` are lines above its text."""

    def __init__(self, graph: Any, about: str = "") -> None:
        self._graph, self._about = graph, about

    def __repr__(self) -> str:
        return f"{clean_lines(self._about)}\n{render_tree(self._graph)}".lstrip("\n")

    def _repr_svg_(self) -> str:
        return render_svg(self._graph)

    def _repr_html_(self) -> str:
        return still(render_svg(self._graph), self._graph.title)


class StillSentence:
    """A sentence as it is seen without a kernel."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text

    def _repr_svg_(self) -> str:
        return with_white_ground(sentence(self._text))

    def _repr_html_(self) -> str:
        return still(sentence(self._text), self._text)


class AppWidget(anywidget.AnyWidget):
    """The app as a widget.

    Args:
        shown: What it shows.
        begin: Begins a conversation with a view, see WidgetViews.
        kept: What is seen without a kernel.
    """

    _esm = asset("loader.js")

    def __init__(self, shown: ShownView, begin: Callable[[Callable[[str], None]], Conversation], kept: Still) -> None:
        super().__init__()
        self._shown, self._kept = shown, kept
        self._loop: asyncio.AbstractEventLoop | None = None
        self._views = WidgetViews(shown, begin, self._tell)
        self.on_msg(self._take)

    def _take(self, _: Any, message: object, buffers: object) -> None:
        """A message of a view. Answers go from the thread that took it: others know nothing of the notebook."""
        try:
            self._loop = asyncio.get_running_loop()
        except RuntimeError:
            self._loop = None
        self._views.take(message)

    def _tell(self, message: Any) -> None:
        if self._loop is None or self._loop.is_closed():
            self.send(message)
        else:
            self._loop.call_soon_threadsafe(partial(self.send, message))

    def close(self) -> None:
        """End it, and what is under way for it."""
        self._views.close()
        super().close()

    def _repr_mimebundle_(self, **options: Any) -> tuple[dict[Any, Any], dict[Any, Any]]:
        """The widget, and what shows without a kernel."""
        live, about = super()._repr_mimebundle_(**options) or ({}, {})
        return {**live, "image/svg+xml": self._kept._repr_svg_(), "text/plain": repr(self._kept)}, about

    def component(self, table: Table) -> Any:
        """The explorer of a table, in place of this widget, in somebody else's Panel app."""
        from explorer.app.hosts.component import ExplorerComponent

        return ExplorerComponent(table)

    def _ipython_display_(self) -> None:
        """Two outputs: JupyterLab shows of one that has a widget nothing else, not even where the widget is gone. The
        first is what stays."""
        bundle, about = self._repr_mimebundle_()
        display({"text/html": still_beside(self._kept._repr_html_())}, raw=True)
        display(bundle, metadata=about, raw=True)


def _session(table: Table) -> Callable[[Callable[[str], None]], Session]:
    """Conversations about a table that is open. Who runs a kernel may do what the kernel can."""
    return lambda send: Session(send, Rights(sql=True, lab=True, catalogs=True), owner=OWNER, given={table.name: table})


class GraphWidget(AppWidget):
    """The app at a graph.

    Args:
        state: The graph.
        shown: What is shown of the app.
        about: Lines that stand above its text.
    """

    def __init__(self, state: GraphState, shown: ShownView, about: str = "") -> None:
        self.graph = state.graph
        super().__init__(shown, _session(state.table), StillGraph(state.graph, about))


class TableWidget(GraphWidget):
    """The app at one table; in text also which metadata file was opened, and why."""

    def __init__(self, table: Table, snapshot: str | int | None = None, height: str = "680px") -> None:
        state = ViewState(table, snapshot)
        place = {"table": table.name, "snapshot": "" if snapshot is None else str(state.snapshot_id)}
        super().__init__(state, ShownView("app", place, height, table.name), table.why)


class DiffWidget(GraphWidget):
    """The difference of two snapshots: added and removed parts, and what both have folded."""

    def __init__(self, table: Table, before: str | int | None, after: str | int | None, height: str = "420px") -> None:
        state = CompareState(table, before, after)
        sides = {"before": _id(state.diff.before) or NOTHING, "snapshot": _id(state.diff.after)}
        super().__init__(
            state, ShownView("graph", {"table": table.name, "mode": "compare", **sides}, height, table.name)
        )


class DeletesWidget(GraphWidget):
    """Data files of a snapshot and the deletes that could matter to them."""

    def __init__(self, table: Table, snapshot: str | int | None = None, height: str = "360px") -> None:
        place = {"table": table.name, "mode": "deletes", "snapshot": _place(table, snapshot)}
        super().__init__(DeletesState(table, snapshot), ShownView("graph", place, height, table.name))


class PlanWidget(GraphWidget):
    """Manifests and files that a scan with a filter reads and skips, and why."""

    def __init__(self, table: Table, where: str, snapshot: str | int | None = None, height: str = "420px") -> None:
        place = {"table": table.name, "mode": "plan", "filter": where, "snapshot": _place(table, snapshot)}
        state = PlanState(table, table.plan(where, snapshot))
        super().__init__(state, ShownView("graph", place, height, table.name))


class QuestionWidget(AppWidget):
    """A question about a table, with its form; its first answer stays.

    Args:
        table: The table.
        question: The question's words, or their last one.
        arguments: Its parameters, by name.
    """

    def __init__(self, table: Table, question: str, arguments: Mapping[str, Any]) -> None:
        words = SHORT_NAMES.get(question, question) if isinstance(question, str) else ""
        form = QUESTIONS.get(tuple(words.split(" ")))
        if form is None or form.is_endless or form.subject not in ("table", "place"):
            known = [" ".join(one.path) for one in QUESTIONS.values() if one.subject == "table"]
            raise NotFoundInTable(f"no question {question!r}: there are {', '.join([*SHORT_NAMES, *known])}")
        given = {**_defaults(table, words), **arguments}
        lacks = [one.label for one in form.parameters if one.is_required and one.name not in given]
        if unknown := given.keys() - {one.name for one in form.parameters}:
            raise WrongUsage(f"{words} has no parameter {', '.join(sorted(unknown))}")
        kept: Still
        if lacks or form.is_writing:
            kept = StillSentence(f"{form.summary} Enter {' and '.join(lacks)}." if lacks else form.summary)
        else:
            subject = table if form.subject == "table" else TableAt(table.name, opened=table)
            kept = _Titled(words, form.ask(subject, **given))
        place = {"table": table.name, "mode": "ask", "question": words, "arguments": json.dumps(given)}
        super().__init__(ShownView("question", place, label=form.summary), _session(table), kept)


class RunWidget(AppWidget):
    """A run of the lab, whose steps are taken in it; what it was at first stays."""

    def __init__(self, run: Any) -> None:
        steps = RunSteps(run)
        shown = ShownView("question", {"mode": "ask", "question": RunSteps.NAME}, label=RunSteps.SUMMARY)
        super().__init__(shown, steps.begin, _Titled("run of the lab", steps.still()))


class _Titled:
    """An answer as it was first given."""

    def __init__(self, title: str, answer: Any) -> None:
        self._title, self._answer = title, answer

    def __repr__(self) -> str:
        return repr(self._answer)

    def _repr_svg_(self) -> str | None:
        svg = getattr(self._answer, "_repr_svg_", None)
        return (svg and svg()) or StillSentence(self._title)._repr_svg_()

    def _repr_html_(self) -> str:
        return f"<p>{escape(self._title)}, as it was first asked</p>{self._answer._repr_html_()}"


def question_widget(of: Any, question: str, arguments: Mapping[str, Any]) -> AppWidget:
    """Return a question about a table, or a run of the lab, as a widget.

    Args:
        of: The table, or the run.
        question: The question's words.
        arguments: Its parameters, by name.

    Raises:
        NotFoundInTable: There is no such question.
        NotPossible: It is neither a table nor a run.
    """
    if isinstance(of, Table):
        return QuestionWidget(of, question, arguments)
    if hasattr(of, "events"):
        return RunWidget(of)
    raise NotPossible(
        f"a panel is of a table or of a run of the lab, not of a {type(of).__name__} (open_table opens one)"
    )


def _defaults(table: Table, question: str) -> dict[str, Any]:
    """What the form of a question has at first: of a difference what the newest snapshot changed."""
    if question != "diff":
        return {}
    ends = [NOTHING, NOTHING, *(entry.snapshot for entry in table.lineage())][-2:]
    return {"before": ends[0], "after": ends[1]}


def _place(table: Table, snapshot: str | int | None) -> str:
    return "" if snapshot is None else _id(table.resolve(snapshot).snapshot.snapshot_id)


def _id(snapshot: int | None) -> str:
    return "" if snapshot is None else str(snapshot)
