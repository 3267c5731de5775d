"""The input of an exercise in a notebook, made of ipywidgets."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import Any, Protocol

from explorer.extras import needs_extra
from explorer.lab import progress_store
from explorer.lab.exercises.entries import (
    AnswerEntry,
    ChoiceEntry,
    NamesEntry,
    NumberEntry,
    One,
    RowsEntry,
    SeveralEntry,
    StatementsEntry,
    StepsEntry,
)
from explorer.render.pictures import still_beside
from explorer.render.text import not_typeset

with needs_extra():
    import ipywidgets as w
    from IPython.display import display

NOT_CHOSEN = "…"
GAP = "<p>Your answer has a gap: choose or enter something in every line.</p>"
WIDE = {"width": "min(60em, 95%)"}


class Reply(Protocol):
    """What an exercise replies."""

    def _repr_html_(self) -> str: ...


class Asks(Protocol):
    """What the widget needs of an exercise."""

    @property
    def question(self) -> str: ...

    @property
    def entry(self) -> AnswerEntry: ...

    @property
    def needs_lab(self) -> bool: ...

    def check(self, answer: Any = ...) -> Reply: ...

    def show_answer(self) -> Reply: ...

    def state_after(self, order: str) -> str: ...


class Input:
    """What a person enters. `widget` shows it, and `value` returns it (... where something is missing)."""

    def __init__(self, widget: Any, value: Callable[[], Any]) -> None:
        self.widget, self.value = widget, value


def make_input(entry: AnswerEntry, state_after: Callable[[str], str] = str) -> Input:
    """The input for an entry; `state_after` says what an order of steps has led to."""
    if isinstance(entry, RowsEntry):
        return _rows(entry)
    if isinstance(entry, SeveralEntry):
        return _several(entry)
    if isinstance(entry, StepsEntry):
        return _steps(entry, state_after)
    if isinstance(entry, StatementsEntry):
        area = w.Textarea(layout=WIDE, rows=3, placeholder="one statement a line")
        return Input(area, lambda: _statements(area.value))
    if isinstance(entry, NamesEntry):
        line = w.Text(layout=WIDE, placeholder="names, with commas between them")
        return Input(line, lambda: tuple(name.strip() for name in line.value.split(",") if name.strip()) or ...)
    if isinstance(entry, ChoiceEntry):
        buttons = w.RadioButtons(
            options=[(entry.name(option), option) for option in entry.options], value=None, layout=WIDE
        )
        return Input(buttons, lambda: ... if buttons.value is None else buttons.value)
    return _line(entry)


def _statements(text: str) -> Any:
    lines = [line.strip().rstrip(";") for line in text.splitlines() if line.strip()]
    return ... if not lines else lines[0] if len(lines) == 1 else tuple(lines)


def _line(entry: One) -> Input:
    """An input of one line: a number, a text, or a list to choose from."""
    if isinstance(entry, ChoiceEntry):
        options = [(NOT_CHOSEN, None), *((entry.name(option), option) for option in entry.options)]
        chosen = w.Dropdown(options=options, layout={"width": "min(28em, 95%)"})
        return Input(chosen, lambda: ... if chosen.value is None else chosen.value)
    placeholder = ("a number or null" if entry.or_null else "a number") if isinstance(entry, NumberEntry) else ""
    line = w.Text(layout={"width": "12em"} if placeholder else WIDE, placeholder=placeholder)
    return Input(line, lambda: line.value.strip() or ...)


def _rows(entry: RowsEntry) -> Input:
    inputs = [_line(one) for one in entry.entries]
    width = f"{0.85 * max(map(len, entry.labels)) + 3:.0f}ch"  # most letters are narrower than the digit of a ch
    for one, label in zip(inputs, entry.labels, strict=True):
        one.widget.description = label
        one.widget.style.description_width = width
        one.widget.layout = {"width": "auto", "max_width": f"calc({width} + 24em)"}
    box = w.VBox([one.widget for one in inputs])

    def value() -> Any:
        values = tuple(one.value() for one in inputs)
        return ... if ... in values else values

    return Input(box, value)


def _several(entry: SeveralEntry) -> Input:
    boxes = [w.Checkbox(description=option, indent=False, layout={"width": "auto"}) for option in entry.options]

    def value() -> Any:
        return tuple(option for box, option in zip(boxes, entry.options, strict=True) if box.value) or ...

    return Input(w.VBox(boxes), value)


def _steps(entry: StepsEntry, state_after: Callable[[str], str]) -> Input:
    """Buttons that add a step and take the last one back; the goal, and the state that the steps have led to."""
    line = w.Text(layout={"width": "min(30em, 95%)"}, placeholder=f"an order of {', '.join(entry.letters)}")
    goal = w.HTML(not_typeset(f"<b>Goal</b>: {escape(entry.goal)} The fewest steps known: {entry.par}."))
    state = w.HTML()

    def change(order: str) -> None:
        line.value = order
        state.value = "<b>Now</b>: the lab takes these steps …"
        state.value = not_typeset(f"<b>Now</b>: {escape(state_after(order))}")

    def add(letter: str) -> Callable[[Any], None]:
        return lambda _: change(line.value + letter)

    buttons = [w.Button(description=letter, layout={"width": "3em"}) for letter in (*entry.letters, *entry.marks)]
    for button in buttons:
        button.on_click(add(button.description))
    undo = w.Button(description="Undo", layout={"width": "5em"})
    undo.on_click(lambda _: change(line.value[:-1]))
    return Input(w.VBox([goal, state, w.HBox([*buttons, undo]), line]), lambda: line.value.strip() or ...)


def exercise_widget(exercise: Asks) -> Any:
    """The input of an exercise, its buttons, and what it replies."""
    given = make_input(exercise.entry, exercise.state_after)
    reply, state = w.HTML(), w.HTML(_state(exercise))
    check = w.Button(description="Check", button_style="primary")
    answer = w.Button(description="Show the answer")

    def run(ask: Callable[[], str]) -> Callable[[Any], None]:
        def click(_: Any) -> None:
            check.disabled = answer.disabled = True
            reply.value = "The lab runs your answer …" if exercise.needs_lab else ""
            try:
                reply.value = ask()
            finally:
                check.disabled = answer.disabled = False
            state.value = _state(exercise)

        return click

    def judge() -> str:
        value = given.value()
        return GAP if value is ... else exercise.check(value)._repr_html_()

    check.on_click(run(judge))
    answer.on_click(run(lambda: exercise.show_answer()._repr_html_()))
    box = w.VBox([given.widget, w.HBox([check, answer, state]), reply])
    box.add_class("icedive-exercise")
    return box


def _state(exercise: Asks) -> str:
    """What the learner has reached, as HTML."""
    try:
        reached = progress_store.states_by_question().get(exercise.question)
    except OSError:
        reached = None
    return f"<i>{reached.state}</i>" if reached else ""


def show(exercise: Asks) -> None:
    """Show the input; where no kernel runs, say how to answer."""
    bundle = {**exercise_widget(exercise)._repr_mimebundle_(), "text/plain": repr(exercise)}
    form = escape(exercise.entry.form)
    still = f"<p>Run this cell to answer here, or run it with <code>.check(answer)</code>: {form}.</p>"
    display({"text/html": still_beside(not_typeset(still))}, raw=True)
    display(bundle, raw=True)
