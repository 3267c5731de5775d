"""What a browser may send through the WebSocket of a page of Panel's, checked before anything decodes it.

A message of Bokeh's protocol is three texts: a header, metadata and a content, all JSON. Arrays and bytes would follow
as more fragments; pages of ours send none."""

from __future__ import annotations

import json
import string
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol

from explorer.serving.access import MOST_MESSAGE
from explorer.storage.formats.json_text import nesting

MOST_BYTES = MOST_MESSAGE
"""Of one message, all its fragments together."""
DEEPEST, MOST_VALUES = 32, 20_000
"""How deep values of a content may be nested, and how many there may be."""
MOST_EVENTS = 1_000
"""Changes and clicks in one message."""
KINDS = frozenset({"PATCH-DOC", "PULL-DOC-REQ", "SERVER-INFO-REQ"})
"""Messages that a page sends: none pushes a document of its own."""
FORMS = frozenset({"map", "number", "array", "set", "slice"})
"""Forms of values that a page sends besides references to what it has: no bytes, no arrays of numbers."""
EVENTS = frozenset({
    "client_reconnected", "connection_lost", "data_event", "document_ready", "esm_event",
})  # fmt: skip
"""Events that a page sends."""
CHANGES: Mapping[str, frozenset[str]] = {
    "BrowserInfo": frozenset({
        "dark_mode", "device_pixel_ratio", "language", "timezone", "timezone_offset", "webdriver", "webgl",
    }),
    "ExplorerComponent": frozenset({"outbox"}),
    "Location": frozenset({"hash", "hostname", "href", "pathname", "port", "protocol", "search"}),
}  # fmt: skip
"""By the class of a model, without the number that Bokeh adds to a name, what a person at the page may change. Pages
also send how things look there (sizes, colours, themes): the server has no use for it."""


class RefusedMessage(Exception):
    """What no page of ours sends. The words say why, without quoting it."""


class Page(Protocol):
    """What is known of the page that a message comes from."""

    def kind_of(self, model_id: str) -> str | None:
        """The class of one of its models; None where it has no such model."""


class Messages:
    """The messages of one connection, a fragment at a time."""

    def __init__(self, page: Callable[[], Page | None]) -> None:
        self._page = page
        self._fragments: list[str] = []

    def take(self, fragment: str | bytes) -> str:
        """Check one fragment.

        Args:
            fragment: What came, as the WebSocket has it.

        Returns:
            What to hand on in its place: without changes of models that the page no longer has, or of properties that
            no page of ours changes.

        Raises:
            RefusedMessage: It, or the message that it completes, is none that a page of ours sends.
        """
        if not isinstance(fragment, str):
            raise RefusedMessage("a binary fragment")
        self._fragments.append(fragment)
        if sum(map(len, self._fragments)) > MOST_BYTES:
            raise RefusedMessage(f"more than {MOST_BYTES:,} characters")
        if len(self._fragments) < 3:
            return fragment
        header, _, content = (_parse(part) for part in self._fragments)
        self._fragments = []
        return self._check(header, content, fragment)

    def _check(self, header: Any, content: Any, text: str) -> str:
        if not isinstance(header, dict) or not _is_in(header.get("msgtype"), KINDS):
            raise RefusedMessage("a message of a kind that no page sends")
        if header.get("num_buffers"):
            raise RefusedMessage("buffers")
        if header["msgtype"] != "PATCH-DOC":
            return text
        page, events = self._page(), content.get("events") if isinstance(content, dict) else None
        if page is None or not isinstance(events, list) or len(events) > MOST_EVENTS:
            raise RefusedMessage("changes that are no list, too many, or of no page")
        kept = [event for event in events if _is_kept(event, page)]
        return text if len(kept) == len(events) else json.dumps({**content, "events": kept})


class _Unknown(Exception):
    """A change of what the page does not have, or does not change."""


def _is_kept(event: Any, page: Page) -> bool:
    """Whether the server has a use for an event. Raises RefusedMessage."""
    try:
        _check_event(event, page)
    except _Unknown:
        return False
    return True


def _check_event(event: Any, page: Page) -> None:
    """See that an event is one that a page of ours sends.

    Raises:
        RefusedMessage: It is of a kind, or has values, that no page sends.
        _Unknown: It is of a model or property that is none of those that a page changes.
    """
    kind = event.get("kind") if isinstance(event, dict) else None
    if kind == "ModelChanged":
        _check_value(event.get("new"), page)
        model, attribute = event.get("model"), event.get("attr")
        owner = page.kind_of(str(model.get("id"))) if isinstance(model, dict) else None
        if owner is None or not _is_in(attribute, CHANGES.get(owner.rstrip(string.digits), frozenset())):
            raise _Unknown
    elif kind == "MessageSent" and event.get("msg_type") == "bokeh_event":
        _check_value(event.get("msg_data"), page)
    else:
        raise RefusedMessage("an event of a kind that no page sends")


def _check_value(value: Any, page: Page) -> None:
    """See that a value is plain: text, numbers, lists and maps of them, and references to models that the page has."""
    for part in _parts(value):
        form = part.get("type")
        if form is None and "id" not in part:
            continue
        if form in (None, "ref", "object"):
            if page.kind_of(str(part.get("id"))) is None:
                raise _Unknown
        elif form == "event":
            if not _is_in(part.get("name"), EVENTS):
                raise RefusedMessage("an event that no page sends")
        elif not _is_in(form, FORMS):
            raise RefusedMessage("a value of a form that no page sends")


def _parts(value: Any) -> Iterator[Mapping[str, Any]]:
    """All objects inside a value, but those inside a model that the page has: nobody decodes these."""
    left, number = [value], 0
    while left:
        part = left.pop()
        number += 1
        if number > MOST_VALUES:
            raise RefusedMessage(f"more than {MOST_VALUES:,} values")
        if isinstance(part, dict):
            yield part
            if part.get("type") != "object":
                left += part.values()
        elif isinstance(part, list):
            left += part


def _is_in(value: Any, names: frozenset[str]) -> bool:
    return isinstance(value, str) and value in names


def _parse(text: str) -> Any:
    try:
        if nesting(text.encode()) > DEEPEST:
            raise RefusedMessage(f"values nested deeper than {DEEPEST}")
        return json.loads(text)
    except ValueError:  # also half a character, and numbers of thousands of digits
        raise RefusedMessage("a text that is no JSON") from None
