"""The app's messages: the schema is that of the classes, and nothing else is taken."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest

from explorer.app.protocol import (
    DEEPEST,
    MOST_CHARACTERS,
    REQUESTS,
    Ask,
    BadMessage,
    Catalogs,
    answer,
    error,
    progress,
    read_request,
)
from tests import protocol_schema

SCHEMA = protocol_schema.schema()
GOOD: list[dict[str, Any]] = [
    {"type": "hello", "id": 1},
    {"type": "cancel", "id": 2, "request": 1},
    {"type": "catalogs", "id": 3, "catalog": "sandbox", "namespace": ["a", "b"]},
    {"type": "open", "id": 4, "table": "demo.t", "snapshot": "7", "moves": ["s3://a=/b"]},
    {"type": "facts", "id": 9, "table": "demo.t", "snapshot": "7"},
    {
        "type": "graph",
        "id": 5,
        "table": "demo.t",
        "mode": "plan",
        "filter": "a = 1",
        "action": {"type": "select", "ids": []},
    },
    {"type": "ask", "id": 6, "question": "plan", "table": "demo.t", "arguments": {"where": "a = 1"}},
    {"type": "rows", "id": 7, "question": "inspect files", "block": 0, "start": 10, "count": 5, "descending": True},
    {"type": "offer", "id": 8, "table": "demo.t", "kind": "columns"},
    {"type": "lab", "id": 9, "action": "step", "arguments": {"token": "A"}},
    {"type": "add_catalog", "id": 11, "name": "prod", "properties": {"type": "rest"}, "secrets": {"token": "env:A"}},
    {"type": "credentials", "id": 12, "catalog": "prod", "credentials": {"token": "x"}},
    {"type": "preview", "id": 10, "table": "demo.t", "kind": "file", "key": "a.parquet"},
]
BAD: list[Any] = [
    "text", [], 1, None, {}, {"type": "hello"}, {"type": "hello", "id": "1"}, {"type": "hello", "id": True},
    {"type": "hello", "id": -1}, {"type": "hello", "id": 0}, {"type": "hello", "id": 1.5},
    {"type": "hello", "id": 1 << 60}, {"type": "nothing", "id": 1}, {"type": ["hello"], "id": 1}, {"id": 1},
    {"type": "hello", "id": 1, "more": 1},
    {"type": "open", "id": 1}, {"type": "open", "id": 1, "table": 5},
    {"type": "open", "id": 1, "table": "t", "moves": "x"},
    {"type": "open", "id": 1, "table": "t", "moves": [1]},
    {"type": "ask", "id": 1, "question": "plan", "arguments": []},
    {"type": "rows", "id": 1, "question": "plan", "block": "0"},
    {"type": "rows", "id": 1, "question": "plan", "block": 0, "start": -5},
    {"type": "rows", "id": 1, "question": "plan", "block": 0, "descending": 1},
]  # fmt: skip


def check(side: str, message: Any) -> None:
    jsonschema.validate(message, {**SCHEMA, "$ref": f"#/$defs/{side}"})


def test_the_schema_is_written() -> None:
    assert protocol_schema.FILE.read_text("utf-8") == protocol_schema.text(), "run python -m tests.protocol_schema"


def test_every_type_has_an_example() -> None:
    assert {message["type"] for message in GOOD} == set(REQUESTS)


@pytest.mark.parametrize("message", GOOD, ids=lambda message: message["type"])
def test_what_the_schema_has_is_read(message: dict[str, Any]) -> None:
    check("request", message)
    request = read_request(json.dumps(message))
    assert request.id == message["id"]


@pytest.mark.parametrize("message", BAD, ids=str)
def test_what_it_has_not_is_refused(message: Any) -> None:
    with pytest.raises(jsonschema.ValidationError):
        check("request", message)
    with pytest.raises(BadMessage):
        read_request(json.dumps(message))


def test_what_was_sent_is_what_is_read() -> None:
    assert read_request('{"type":"catalogs","id":1,"namespace":["a"]}') == Catalogs(1, "", ("a",))
    assert read_request('{"type":"ask","id":2,"question":"plan","arguments":{"where":"x"}}') == Ask(
        2, "plan", arguments={"where": "x"}
    )


@pytest.mark.parametrize(
    "text",
    [
        b'{"type":"hello","id":1}',
        "{",
        "[" * 100_000,
        '{"type":"hello","id":1}' + " " * MOST_CHARACTERS,
        '{"type":"graph","id":1,"table":"t","action":' + '{"a":' * DEEPEST + "1" + "}" * DEEPEST + "}",
        '{"type":"hello","id":NaN}',
        '{"type":"hello","id":1e400}',
        "\ud800",
    ],
    ids=["bytes", "half", "deep list", "long", "deep action", "nan", "infinite", "surrogate"],
)
def test_texts_that_are_no_message_are_refused(text: str | bytes) -> None:
    with pytest.raises(BadMessage):
        read_request(text)


def test_a_refusal_names_the_request_where_it_has_a_number() -> None:
    with pytest.raises(BadMessage) as refused:
        read_request('{"type":"open","id":9,"table":1}')
    assert refused.value.request == 9


def test_answers_are_those_of_the_schema() -> None:
    for message in (answer(1, {"blocks": []}), progress(1, "reading", 3, 9), error(1, "no such table", "usage")):
        check("answer", message)
