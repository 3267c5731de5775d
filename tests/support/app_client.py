"""A browser's side of a session of the app, for tests."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from typing import Any

from explorer.app.rights import Rights
from explorer.app.session import Session

LONGEST_S = 120


class Client:
    """Sends requests to a session and waits for their answers."""

    def __init__(self, rights: Rights | None = None, owner: str = "") -> None:
        self.messages: list[dict[str, Any]] = []
        self._came = threading.Condition()
        self.session = Session(self._take, rights or Rights(), owner=owner)
        self._count = 0

    def _take(self, text: str) -> None:
        with self._came:
            self.messages.append(json.loads(text))
            self._came.notify_all()

    def send(self, **request: Any) -> int:
        """Send a request; return its number."""
        self._count += 1
        self.session.handle(json.dumps({"id": self._count, **request}))
        return self._count

    def wait(self, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Return the first message that is wanted."""
        with self._came:
            assert self._came.wait_for(lambda: any(map(wanted, self.messages)), LONGEST_S), "no answer came"
            return next(filter(wanted, self.messages))

    def ask(self, **request: Any) -> dict[str, Any]:
        """Send a request; return its answer or its error."""
        number = self.send(**request)
        return self.wait(lambda message: message["id"] == number and message["type"] != "progress")

    def data(self, **request: Any) -> Any:
        """Send a request; return the data of its answer."""
        message = self.ask(**request)
        assert message["type"] == "answer", message
        return message["data"]
