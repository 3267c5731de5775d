"""The views of a widget in a notebook or a Panel app. Each has a conversation of its own: a widget is shown several
times, and a view that was closed comes back as another one.

A view sends messages that name it: what it `wants` (the app), the `text` of a request, that it `is_closed`. It gets the
app, once, and the texts of answers. frontend/src/loader.ts is the other side."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, Protocol

from explorer.app.assets import asset
from explorer.app.protocol import BadMessage

MOST_VIEWS = 8
"""Views of a widget at a time, the newest: a page that was loaded anew has closed none."""
LONGEST_NAME = 40


class Conversation(Protocol):
    """What answers the requests of a view: a Session, or something like it."""

    def handle(self, text: str | bytes) -> None:
        """Take a request. Raises BadMessage."""

    def close(self) -> None:
        """Nobody listens any more."""


@dataclass(frozen=True)
class ShownView:
    """What a widget shows.

    Args:
        shows: The whole app, one question with its form and its answer, or one graph.
        place: Where the app is at first, as its URL would have it (frontend/src/place.ts).
        height: Its height in CSS; empty where it is as high as what it shows.
        label: What it is called for who does not see it.
    """

    shows: Literal["app", "question", "graph"]
    place: Mapping[str, str]
    height: str = ""
    label: str = "Iceberg metadata explorer"


class WidgetViews:
    """The conversations of a widget.

    Args:
        shown: What it shows.
        begin: Begins a conversation, which sends texts by what it is given, from any thread.
        send: Sends a message to all views.
    """

    def __init__(
        self, shown: ShownView, begin: Callable[[Callable[[str], None]], Conversation], send: Callable[[Any], None]
    ) -> None:
        self._shown, self._begin, self._send = shown, begin, send
        self._open: OrderedDict[str, Conversation] = OrderedDict()

    def take(self, message: object) -> None:
        """Take a message of a view; what no view of ours sends is left out."""
        if not isinstance(message, Mapping) or not isinstance(view := message.get("view"), str):
            return
        if len(view) > LONGEST_NAME:
            return
        if message.get("is_closed"):
            self._close(view)
        elif message.get("wants") == "app":
            app = {"script": asset("notebook.js"), "style": asset("app.css"), **asdict(self._shown)}
            self._send({"view": view, "app": app})
        elif isinstance(text := message.get("text"), str):
            try:
                self._conversation(view).handle(text)
            except BadMessage:
                self._close(view)

    def close(self) -> None:
        """Nobody looks any more."""
        for view in list(self._open):
            self._close(view)

    def _conversation(self, view: str) -> Conversation:
        if view not in self._open:
            self._open[view] = self._begin(lambda text: self._send({"view": view, "text": text}))
        self._open.move_to_end(view)
        if len(self._open) > MOST_VIEWS:
            self._close(next(iter(self._open)))
        return self._open[view]

    def _close(self, view: str) -> None:
        if (conversation := self._open.pop(view, None)) is not None:
            conversation.close()
