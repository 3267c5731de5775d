"""Panels in a notebook (anywidget): a question with its choices, and below them the answer as printed.py shows it,
asked anew as they are changed."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from html import escape
from typing import Any, Literal

import anywidget
import traitlets

from explorer.errors import ExplorerError, NotFoundInTable, NotPossible
from explorer.render.history_pictures import SNAPSHOTS
from explorer.render.lab_runs import sequence_svg, step_lines
from explorer.render.pictures import NIGHT
from explorer.render.text import clean_lines, is_shown_unchanged
from explorer.reports.overview import overview
from explorer.spec.commits.lab_runs import Event
from explorer.spec.snapshots.lifecycle import LifecycleCell
from explorer.spec.snapshots.lineage import LineageEntry
from explorer.spec.snapshots.snapshot_names import NOTHING, find_side
from explorer.spec.text.names import shorten
from explorer.table import Table
from explorer.ui.assets import asset
from explorer.ui.notebook import display_kept
from explorer.ui.printed import LISTS, Exhibit, Shown

NEWEST, NAME = 200, 200
"""Snapshots that are offered by name, and the longest name of them; any other can be typed."""
SURROGATE = re.compile("[\ud800-\udfff]")
"""Half a letter, with which the state could not be sent any more."""
LONGEST, WHY = 10_000, 2_000
"""Letters of what is typed, and of why it is refused."""


@dataclass(frozen=True)
class Control:
    """What can be chosen of a question: the name of a `snapshot` (also of a branch or tag, or a time), a `filter`, a
    `step` from 1 to `most`, or a button to `press`."""

    name: str
    kind: Literal["snapshot", "filter", "step", "press"]
    label: str
    value: str | int = ""
    choices: Sequence[str] = ()
    most: int = 0
    hint: str = ""

    def took(self, value: object) -> Control:
        """The same with what a browser sent. Raises NotFoundInTable for what cannot be chosen."""
        if self.kind == "step":
            if type(value) is not int or not 1 <= value <= self.most:
                raise NotFoundInTable(f"{self.label} is a number from 1 to {self.most:,}")
        elif not isinstance(value, str) or len(value) > LONGEST or SURROGATE.search(value):
            raise NotFoundInTable(f"{self.label} is a text, of at most {LONGEST:,} letters")
        elif self.kind == "press" and value not in self.choices:
            raise NotFoundInTable(f"{self.label} is one of {', '.join(self.choices)}")
        return replace(self, value=value)


@dataclass(frozen=True)
class Question:
    """What is asked of a table or a run: `ask` takes the values of the choices, in their order."""

    title: str
    ask: Callable[..., Any]
    choices: tuple[Control, ...] = ()
    shown: Shown | None = None
    """How the answer is shown, where its kind does not say it."""


def _at(table: Table) -> Control:
    """As of which snapshot."""
    newest = [entry.snapshot for entry in table.lineage()[-NEWEST:]]
    offered = [*(ref.name for ref in table.metadata.refs[:NEWEST]), *newest[::-1]]
    names = [name for name in offered if len(name) <= NAME and is_shown_unchanged(name)]
    return Control("as of", "snapshot", "as of", "", names, hint="current snapshot")


def _window(number: int, title: str, kind: type, ask: Callable[[int, int], Any]) -> Question:
    """A question about some of the snapshots, which is about the newest ones first."""
    first = max(1, number - SNAPSHOTS + 1)
    ends = (("from", first), ("to", number)) if number > 1 else ()
    choices = tuple(Control(name, "step", f"{name} snapshot", at, most=number) for name, at in ends)
    return Question(title, lambda first=1, last=number: ask(first, last), choices, LISTS[kind])


def _with(question: Question, took: Control) -> Question:
    """The same with a choice that was made."""
    choices = (took if choice.name == took.name else _beside(took, choice) for choice in question.choices)
    return replace(question, choices=tuple(choices))


def _beside(took: Control, other: Control) -> Control:
    """A window's other end, which goes along with the one that is moved past it."""
    ends = {took.name: took.value, other.name: other.value}
    first, last = ends.get("from"), ends.get("to")
    crossed = isinstance(first, int) and isinstance(last, int) and first > last
    return replace(other, value=took.value) if crossed else other


def _overview(table: Table) -> Question:
    return Question("overview", lambda at: overview(table, at or None), (_at(table),))


def _lineage(table: Table) -> Question:
    entries = table.lineage()
    return _window(len(entries), "lineage", LineageEntry, lambda first, last: entries[first - 1 : last])


def _lifecycle(table: Table) -> Question:
    cells, names = table.lifecycle(), [entry.snapshot for entry in table.lineage()]

    def between(first: int, last: int) -> list[Any]:
        wanted = set(names[first - 1 : last])
        return [cell for cell in cells if cell.snapshot in wanted]

    return _window(len(names), "lifecycle of manifests", LifecycleCell, between)


def _diff(table: Table) -> Question:
    at, now = _at(table), table.metadata.current_snapshot_id
    ends = [NOTHING, NOTHING, *(entry.snapshot for entry in table.lineage())][-2:]
    before = replace(at, name="from", label="from", value=ends[0], choices=[*at.choices, NOTHING])
    sides = (before, replace(at, name="to", label="to", value=ends[1]))

    def ask(before: str, after: str) -> Any:
        sides = [find_side(name, table.metadata) if name else now for name in (before, after)]
        return table.diff(sides[0], sides[1])

    return Question("diff", ask, sides)


def _deletes(table: Table) -> Question:
    return Question("deletes", lambda at: table.deletes(at or None), (_at(table),))


def _plan(table: Table) -> Question:
    schema = table.metadata.schema(table.metadata.current_schema_id)
    columns = [field.name for field in schema.fields[:NEWEST] if field.name.isidentifier()] if schema else []
    hint = f"{columns[0]} = …" if columns else ""
    where = Control("filter", "filter", "filter", choices=[f"{name} = " for name in columns], hint=hint)
    return Question("plan", lambda text, at: table.plan_pictures(table.plan(text, at or None)), (where, _at(table)))


QUESTIONS: dict[str, Callable[[Table], Question]] = {
    "overview": _overview, "lineage": _lineage, "lifecycle": _lifecycle, "diff": _diff, "deletes": _deletes,
    "plan": _plan,
}  # fmt: skip


def _run(run: Any) -> Question:
    """A run of the lab as far as a step, and whose turn comes next."""
    steps = len(run.events)
    going = [w.name for w in run.writers if not w.over]
    turns = Control("step", "press", "next step of" if going else "no step is left", choices=going)
    until = (Control("until", "step", "until step", steps, most=steps),) if steps > 1 else ()

    def lines(events: Sequence[Event]) -> list[str]:
        return [*(f"{w.name}: {w.operation.kind}" for w in run.writers), *step_lines(events)]

    shown = Shown("a run of the lab", lines, lambda events: sequence_svg(events, run.writers))
    return Question("run of the lab", lambda turn, last=steps: run.events[:last], (turns, *until), shown)


class Panel(anywidget.AnyWidget):
    """A question about a table or a run, see QUESTIONS, as a live widget; beside it the answer as a picture and a text,
    which stay where no kernel runs."""

    _esm = asset("panel.js")
    title = traitlets.Unicode().tag(sync=True)
    sheet = traitlets.Unicode(f"{asset('panel.css')}{NIGHT}").tag(sync=True)
    choices: Any = traitlets.List().tag(sync=True)
    can_read_again = traitlets.Bool().tag(sync=True)
    answer = traitlets.Dict().tag(sync=True)
    request = traitlets.Dict().tag(sync=True)

    def __init__(self, of: Table | Any, question: str) -> None:
        super().__init__()
        if not isinstance(question, str) or question not in QUESTIONS:
            raise NotFoundInTable(f"no question {question!r}: there are {', '.join(QUESTIONS)}")
        if not (isinstance(of, Table) or hasattr(of, "events")):
            raise NotPossible(
                f"a panel is of a table or of a run of the lab, not of a {type(of).__name__} (open_table opens one)"
            )
        self._of, self._make = of, QUESTIONS[question] if isinstance(of, Table) else _run
        self.can_read_again = isinstance(of, Table)
        self._chosen: set[str] = set()
        self._answers = 0
        self._asked(self._make(of))

    def _asked(self, question: Question) -> None:
        """Take over a question, and its answer. Raises what asking does."""
        result = question.ask(*(choice.value for choice in question.choices))
        self._question, self._exhibit = question, Exhibit(result, question.shown)
        self.title = question.title
        self.choices = [asdict(choice) for choice in question.choices]
        self._tell(self._exhibit.to_json())

    def _tell(self, answer: Mapping[str, Any]) -> None:
        self._answers += 1
        self.answer = {**answer, "n": self._answers}  # also where it is the same as before

    @traitlets.observe("request")
    def _on_request(self, change: Mapping[str, Any]) -> None:
        """A choice that was changed, a button, or, without a name, to read the table again."""
        try:
            self._asked(self._next(change["new"].get("name"), change["new"].get("value")))
        except ExplorerError as error:  # the former answer would be taken for this one's
            self._refuse(str(error))
        except Exception as error:  # raised, it would be printed as it is, and saved with the notebook
            logging.getLogger(__name__).debug("a panel's question failed", exc_info=True)
            self._refuse(f"{type(error).__name__}: {error}")

    def _refuse(self, why: str) -> None:
        """Without secrets: what is told is saved with the notebook."""
        self._tell({"error": clean_lines(shorten(why, WHY))})

    def _next(self, name: object, value: object) -> Question:
        at = next((i for i, choice in enumerate(self._question.choices) if choice.name == name), None)
        if at is None and name:
            raise NotFoundInTable("there is no such choice")
        if at is None:
            self._of = self._of.refresh() if isinstance(self._of, Table) else self._of
            return self._kept(self._make(self._of))
        took = self._question.choices[at].took(value)
        if took.kind == "press":
            self._of.step(took.value)
            return self._make(self._of)
        self._chosen.add(took.name)
        self._question = _with(self._question, took)  # also where it has no answer
        return self._question

    def _kept(self, question: Question) -> Question:
        """The same with what was chosen before. What nobody chose, such as the newest snapshots, is chosen anew."""
        own = {choice.name: choice.value for choice in self._question.choices if choice.name in self._chosen}
        for choice in question.choices:
            if choice.name in own:
                value = own[choice.name]
                most = min(value, choice.most) if isinstance(value, int) else value  # fewer snapshots may be left
                question = _with(question, replace(choice, value=most))
        return question

    def _repr_mimebundle_(self, **options: Any) -> tuple[dict[Any, Any], dict[Any, Any]]:
        """The widget, and the picture and text of its answer."""
        live, about = super()._repr_mimebundle_(**options) or ({}, {})
        return {**live, "image/svg+xml": self._exhibit._repr_svg_(), "text/plain": repr(self._exhibit)}, about

    def _ipython_display_(self) -> None:
        display_kept(self, f"<p>{escape(self.title)}, as it was first asked</p>{self._exhibit._repr_html_()}")
