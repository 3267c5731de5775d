"""What a browser sends through the WebSocket of a page: what no page of ours sends is refused before it is decoded."""

from __future__ import annotations

import base64
import gzip
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.serving.messages import CHANGES, DEEPEST, MOST_BYTES, MOST_EVENTS, MOST_VALUES, Messages, RefusedMessage


class Known:
    """A page with a component of ours, a location and a template."""

    def kind_of(self, model_id: str) -> str | None:
        return {"field": "ExplorerComponent1", "place": "Location", "template": "Template"}.get(model_id)


def sent(content: Any, msgtype: Any = "PATCH-DOC", **header: Any) -> list[str]:
    return [json.dumps({"msgid": "1", "msgtype": msgtype, **header}), "{}", json.dumps(content)]


def take(fragments: list[Any]) -> Any:
    """Hand on what is left of a message's events."""
    messages = Messages(Known)
    *_, content = [messages.take(fragment) for fragment in fragments]
    return json.loads(content).get("events")


def change(new: Any, model: Any = None, attr: Any = "outbox") -> dict[str, Any]:
    return {"kind": "ModelChanged", "model": model or {"id": "field"}, "attr": attr, "new": new}


def patch(*events: Any) -> list[str]:
    return sent({"events": list(events)})


def event(name: Any, values: Any = None, kind: str = "bokeh_event") -> dict[str, Any]:
    return {"kind": "MessageSent", "msg_type": kind, "msg_data": {"type": "event", "name": name, "values": values}}


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


BOMB = base64.b64encode(gzip.compress(b"\0" * (64 << 20))).decode()
ZEROS = {"type": "ndarray", "array": [0], "dtype": "V1800000000", "order": "little", "shape": [1]}
REFUSED: dict[str, list[Any]] = {
    "zeros as an array": patch(change(ZEROS)),
    "an array in a map": patch(change({"type": "map", "entries": [["a", {"type": "typed_array"}]]})),
    "zipped bytes": patch(change({"type": "bytes", "data": BOMB})),
    "bytes in a list": patch(change([[{"type": "bytes", "data": "aa"}]])),
    "bytes of a click": patch(event("esm_event", {"x": {"type": "bytes", "data": BOMB}})),
    "a symbol": patch(change({"type": "symbol", "name": "x"})),
    "a class by its name": patch(change({"type": "pandas.DataFrame"})),
    "nested lists": patch(change(nested(DEEPEST + 1))),
    "lists as text": ['{"msgtype": "PATCH-DOC"}', "{}", "[" * 500_000],
    "many values": patch(change([0] * (MOST_VALUES + 1))),
    "many changes": patch(*[change(1)] * (MOST_EVENTS + 1)),
    "a document": sent({"doc": {"version": "3", "roots": []}}, "PUSH-DOC"),
    "a reply": sent({}, "OK"),
    "a kind that is a list": sent({}, ["PATCH-DOC"]),
    "buffers to come": sent({"events": []}, num_buffers=1_000_000),
    "columns": patch({"kind": "ColumnDataChanged", "model": {"id": "place"}, "attr": "data", "data": {}}),
    "a new root": patch({"kind": "RootAdded", "model": {"id": "field"}}),
    "a title": patch({"kind": "TitleChanged", "title": "x"}),
    "another message": patch(event("esm_event", kind="pickle")),
    "an edit": patch(event("table-edit")),
    "an event without a name": patch(event(["esm_event"])),
    "no list": sent({"events": {"kind": "ModelChanged"}}),
    "no object": sent([1, 2]),
    "bytes in place of text": [b"{}"],
    "no JSON": ["{}", "{}", "{"],
    "half a character": ['{"msgtype": "PATCH-DOC"}', "{}", "\ud800"],
    "a long number": ['{"msgtype": "PATCH-DOC"}', "{}", "1" * 10_000],
    "a long text": ["x" * (MOST_BYTES + 1)],
    "a long text in parts": ["x" * (MOST_BYTES // 2), "x" * (MOST_BYTES // 2 + 2)],
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_no_page_sends_is_refused(name: str) -> None:
    with pytest.raises(RefusedMessage):
        take(REFUSED[name])


def test_what_a_page_sends_goes_through() -> None:
    events = [
        change("text"),
        change({"type": "map", "entries": [["a", {"type": "number", "value": "nan"}]]}),
        change(["a", None, {"id": "place"}]),
        change("?table=x", {"id": "place"}, "search"),
        event("esm_event", {"type": "map", "entries": [["model", {"id": "field"}]]}),
    ]
    assert take(sent({"events": events})) == events
    assert take(sent({}, "PULL-DOC-REQ")) is None


@pytest.mark.parametrize(
    "changed",
    [
        change("/etc/passwd", {"id": "template"}, "logo"),
        change("/etc/passwd", {"id": "template"}, "template_variables"),
        change({"a": 1}, {"id": "place"}, "tags"),
        change("x", {"id": "field"}, "js_event_callbacks"),
        change("x", {"id": "field"}, ["outbox"]),
        change("x", {"id": "gone"}),
        change("x", "field"),
        change({"type": "object", "name": "panel.models.markup.HTML", "id": "new", "attributes": {}}),
        change({"id": "gone"}),
    ],
)
def test_what_a_page_cannot_change_is_left_out(changed: dict[str, Any]) -> None:
    assert take(sent({"events": [changed, change("kept")]})) == [change("kept")]


def test_a_connection_holds_one_message_at_most() -> None:
    messages = Messages(Known)
    for _ in range(1_000):
        for fragment in sent({"events": [change("x" * 1_000)]}):
            messages.take(fragment)
    assert sum(map(len, messages._fragments)) == 0


def test_only_names_of_values_are_listed() -> None:
    """Nothing that Bokeh or Panel would run, fetch or read from a disk."""
    listed = {name for names in CHANGES.values() for name in names}
    assert not listed & {
        "js_event_callbacks",
        "js_property_callbacks",
        "logo",
        "source",
        "object",
        "text",
        "data",
        "tags",
    }


NAMES = st.sampled_from(["type", "id", "name", "kind", "events", "new", "x"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(NAMES, inner),
    max_leaves=20,
)


@given(VALUES, VALUES, st.lists(VALUES, max_size=3))
def test_any_json_is_taken_or_refused(header: Any, value: Any, events: list[Any]) -> None:
    for content in (value, {"events": value}, {"events": [*events, change(value), change(1, value, value)]}):
        for head in (header, {"msgtype": "PATCH-DOC"}, {"msgtype": header, "num_buffers": value}):
            messages = Messages(Known)
            try:
                taken = [messages.take(json.dumps(part)) for part in (head, value, content)]
            except RefusedMessage as refusal:
                assert str(refusal)
            else:
                assert taken[:2] == [json.dumps(head), json.dumps(value)]
                assert isinstance(json.loads(taken[2]), dict)
