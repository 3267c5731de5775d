"""A run of the lab in a notebook: the run itself lives in the kernel, so this answers in place of a Session, with one
question: the run as far as a step, with a link for each writer whose turn may come next."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from explorer.app import protocol
from explorer.app.error_messages import error_message
from explorer.app.forms import field
from explorer.app.printed import Exhibit, Shown
from explorer.app.protocol import Ask, Hello, read_request
from explorer.errors import NotPossible, WrongUsage
from explorer.questions import Parameter
from explorer.questions.parameters import Kind
from explorer.render.blocks import Link
from explorer.render.lab_runs import sequence_svg, step_lines
from explorer.render.svg import vocabulary
from explorer.render.text import clean


class RunSteps:
    """The steps of a run.

    Args:
        run: The run.
    """

    NAME, SUMMARY = "lab step", "Take the steps of a run, one writer at a time."

    def __init__(self, run: Any) -> None:
        self._run = run

    def begin(self, send: Callable[[str], None]) -> RunSteps._View:
        """Begin a conversation with a view."""
        return self._View(self, send)

    def still(self, until: int | None = None) -> Exhibit:
        """Return the run as far as a step; all of it if left out."""
        writers = self._run.writers

        def lines(events: Any) -> list[str]:
            return [*(f"{writer.name}: {writer.operation.kind}" for writer in writers), *step_lines(events)]

        shown = Shown("a run of the lab", lines, lambda events: sequence_svg(events, writers))
        return Exhibit(self._run.events[:until], shown)

    def _form(self) -> dict[str, Any]:
        until = Parameter("until", Kind("count", least=1), "Show the run as it was after this step.", None)
        return {
            "name": self.NAME, "group": "lab", "subject": "", "summary": self.SUMMARY, "description": "",
            "writes": False, "parameters": [{**field(until), "label": "until step"}],
        }  # fmt: skip

    def _answer(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Take a step, if it is the next one, and show the run."""
        writer, after, until = arguments.get("writer"), arguments.get("after"), arguments.get("until")
        steps = len(self._run.events)
        turns = [one.name for one in self._run.writers if not one.over]
        if writer is not None and after == steps:
            if writer not in turns:
                raise WrongUsage(f"the next step is one of {', '.join(turns) or 'none'}")
            self._run.step(writer)
        if until is not None and not (isinstance(until, int) and 1 <= until <= max(steps, 1)):
            raise WrongUsage(f"until step is a number from 1 to {steps:,}")
        steps = len(self._run.events)
        turns = [one.name for one in self._run.writers if not one.over]
        links = [Link(f"Next step of {clean(one)}", "question", self.NAME, {"writer": one, "after": steps})
                 for one in turns]  # fmt: skip
        done = f"{min(until or steps, steps):,} of {steps:,} steps so far" if links else "No step is left."
        told = self.still(until)
        svg = sequence_svg(self._run.events[:until], self._run.writers)  # in the colours of the page around it
        blocks = [
            {"kind": "message", "text": done, "level": "ok"},
            {"kind": "links", "links": [asdict(link) for link in links]},
            {"kind": "picture", "svg": svg, "is_graph": False},
            {"kind": "text", "lines": repr(told).splitlines(), "left_out": 0, "folded": True},
        ]
        return {"blocks": blocks, "level": "ok", "notes": []}

    class _View:
        """Answers the requests of one view, at once: a run is stepped by one thread."""

        def __init__(self, steps: RunSteps, send: Callable[[str], None]) -> None:
            self._steps, self._send = steps, send

        def handle(self, text: str | bytes) -> None:
            """Take a request. Raises BadMessage."""
            request = read_request(text)
            try:
                message = protocol.answer(request.id, self._data(request))
            except Exception as error:
                message = error_message(request.id, error)
            self._send(protocol.text_of(message))

        def close(self) -> None:
            """Nobody listens any more."""
            self._send = lambda _: None

        def _data(self, request: protocol.Request) -> Any:
            if isinstance(request, Hello):
                return {
                    "version": protocol.VERSION, "vocabulary": vocabulary(), "groups": [], "catalogs": [],
                    "questions": [self._steps._form()], "teaching": [], "table": "",
                    "rights": {"sql": False, "lab": True, "moves": False},
                }  # fmt: skip
            if isinstance(request, Ask) and request.question == RunSteps.NAME:
                return self._steps._answer(request.arguments)
            raise NotPossible("this widget shows a run of the lab only")
