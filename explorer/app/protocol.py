"""The messages of the app, version 1: JSON objects that a browser and a session send each other.

A request has a number, `id`, which its answer, its progress and its error repeat. docs/protocol.md describes them, and
protocol.schema.json is the schema that the tests of both sides use."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, TypeAlias

from explorer.errors import WrongUsage
from explorer.storage.formats.json_text import nesting

VERSION = 1
MOST_CHARACTERS = 1 << 20
"""Of a message from a browser."""
MOST_VALUES = 50_000
"""Of values in a message: so many brackets and commas."""
DEEPEST = 16
"""How deep its values may be nested."""


class BadMessage(WrongUsage):
    """A message is none of the protocol. `request` is its number, if it has one."""

    def __init__(self, text: str, request: int = 0) -> None:
        super().__init__(text)
        self.request = request


@dataclass(frozen=True)
class Hello:
    """A browser asks what can be asked here."""

    id: int


@dataclass(frozen=True)
class Cancel:
    """Nobody waits for the answer to another request any more."""

    id: int
    request: int


@dataclass(frozen=True)
class Catalogs:
    """A browser asks for the catalogs and their namespaces, or for the tables of one namespace."""

    id: int
    catalog: str = ""
    namespace: tuple[str, ...] = ()


@dataclass(frozen=True)
class AddCatalog:
    """A browser adds a catalog for all who use this data folder.

    Args:
        id: The request's number.
        name: Its name.
        properties: Its properties, without secrets.
        secrets: Where each secret is: `keyring`, or `env:` and the name of a variable.
        typed: The values of those that go to the keyring.
        own: Credentials that the session keeps in memory.
    """

    id: int
    name: str
    properties: Mapping[str, Any] = field(default_factory=dict)
    secrets: Mapping[str, Any] = field(default_factory=dict)
    typed: Mapping[str, Any] = field(default_factory=dict, repr=False)
    own: Mapping[str, Any] = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class UseCredentials:
    """A browser gives credentials for a catalog, which its session keeps in memory; none takes them back."""

    id: int
    catalog: str
    credentials: Mapping[str, Any] = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class Open:
    """A browser opens a table."""

    id: int
    table: str
    snapshot: str = ""
    moves: tuple[str, ...] = ()


@dataclass(frozen=True)
class GetFacts:
    """A browser asks for the facts of a table that is open, as of a snapshot."""

    id: int
    table: str
    snapshot: str = ""


@dataclass(frozen=True)
class DrawGraph:
    """A browser asks for a graph of a table, or changes one.

    Args:
        id: The request's number.
        table: The table, as it was opened.
        mode: Which graph: one of graphs.MODES.
        snapshot: The snapshot in view; the current one if empty.
        filter: The filter of a plan.
        before: The snapshot that is compared with.
        levels: Whether a tree has nodes of metadata files and manifest lists; else these are parts of snapshots.
        action: What is done to the graph that is shown: its `type` and more (graph_state.GraphState.handle).
        arguments: Of mode `conflict`: the arguments of the question `check conflict`.
    """

    id: int
    table: str
    mode: str = "table"
    snapshot: str = ""
    filter: str = ""
    before: str = ""
    levels: bool = True
    action: Mapping[str, Any] = field(default_factory=dict)
    arguments: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Ask:
    """A browser asks one of the questions.

    Args:
        id: The request's number.
        question: Its words, such as `plan` or `inspect files`.
        table: The table that it is about, where it is about one.
        catalog: The catalog that it is about, where it is about one.
        arguments: Its parameters, by name.
    """

    id: int
    question: str
    table: str = ""
    catalog: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class GetRows:
    """A browser asks for some rows of an answer, the answer being named by its question.

    Args:
        id: The request's number.
        question: See Ask.
        block: The place of the block of rows among the answer's blocks.
        table: See Ask.
        catalog: See Ask.
        arguments: See Ask.
        start: The first row, from 0.
        count: How many rows; 0 asks how many there are.
        sort: The column by which they are sorted; empty for their own order.
        descending: Whether the largest comes first.
        filter: A filter over their columns (docs/filters.md).
    """

    id: int
    question: str
    block: int
    table: str = ""
    catalog: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    start: int = 0
    count: int = 200
    sort: str = ""
    descending: bool = False
    filter: str = ""


@dataclass(frozen=True)
class GetOffers:
    """A browser asks what can be entered for a kind of parameter: snapshots, columns, files or metadata files."""

    id: int
    table: str
    kind: str
    text: str = ""


@dataclass(frozen=True)
class UseLab:
    """A browser works in the lab: on the run, the race or the copies of its session.

    Args:
        id: The request's number.
        action: One of lab.ACTIONS, such as `new` or `step`.
        arguments: What the action takes.
    """

    id: int
    action: str
    arguments: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class GetPreview:
    """A browser asks for the few facts of what a link leads to: a snapshot by its id, a manifest or a file by its path
    (`kind` and `key`), as of a snapshot."""

    id: int
    table: str
    kind: str
    key: str
    snapshot: str = ""


Request: TypeAlias = (
    Hello
    | Cancel
    | Catalogs
    | AddCatalog
    | UseCredentials
    | Open
    | GetFacts
    | DrawGraph
    | Ask
    | GetRows
    | GetOffers
    | GetPreview
    | UseLab
)
REQUESTS: Mapping[str, type[Request]] = {
    "hello": Hello, "cancel": Cancel, "catalogs": Catalogs, "add_catalog": AddCatalog,
    "credentials": UseCredentials, "open": Open, "facts": GetFacts, "graph": DrawGraph,
    "ask": Ask, "rows": GetRows, "offer": GetOffers, "preview": GetPreview, "lab": UseLab,
}  # fmt: skip
"""The requests by their `type`."""


def read_request(text: str | bytes) -> Request:
    """Read a message of a browser.

    Args:
        text: The message.

    Returns:
        The request.

    Raises:
        BadMessage: It is no request, or has other fields or types than its kind has.
    """
    return request_of(parse(text))


def parse(text: str | bytes) -> Any:
    """Return the JSON data of a text from a browser. Raises BadMessage for one that is long, deep or no JSON."""
    if not isinstance(text, str) or len(text) > MOST_CHARACTERS:
        raise BadMessage("a message is text of at most 1 MiB")
    if sum(map(text.count, "[{,")) > MOST_VALUES:
        raise BadMessage(f"a message has at most {MOST_VALUES:,} values")
    try:
        if nesting(text.encode(errors="replace")) > DEEPEST:
            raise BadMessage(f"values of a message are nested at most {DEEPEST} deep")
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadMessage("a message is JSON") from error


def text_of(message: Mapping[str, Any]) -> str:
    """Return the text of a message. Raises ValueError for a number that JSON does not have."""
    text = json.dumps(message, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.encode("utf-8", "replace").decode()  # a name of a file may have bytes that are no text


def request_of(data: Any) -> Request:
    """Return the request that JSON data stands for. Raises BadMessage."""
    if not isinstance(data, dict) or not _is_number(data.get("id")) or data["id"] == 0:
        raise BadMessage("a message is an object with an id, from 1")  # an error about 0 is about no request
    kind = REQUESTS.get(data["type"]) if isinstance(data.get("type"), str) else None
    if kind is None:
        raise BadMessage("a message has one of the known types", data["id"])
    types = {one.name: str(one.type) for one in fields(kind)}
    given = {name: value for name, value in data.items() if name != "type"}
    for name, value in given.items():
        if name not in types or not _is_a(value, types[name]):
            raise BadMessage(f"a message of type {data['type']} has other fields, or values of other types", data["id"])
    given |= {name: tuple(value) for name, value in given.items() if types[name].startswith("tuple")}
    try:
        return kind(**given)
    except TypeError as error:
        raise BadMessage(f"a message of type {data['type']} has more fields", data["id"]) from error


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 53


def _is_a(value: Any, kind: str) -> bool:
    """Whether a value has the type that a field is annotated with."""
    if kind == "int":
        return _is_number(value)
    if kind.startswith("tuple"):
        return isinstance(value, list) and all(isinstance(one, str) for one in value)
    if kind.startswith("Mapping"):
        return isinstance(value, dict)
    return isinstance(value, {"str": str, "bool": bool}[kind])


def answer(request: int, data: Any) -> dict[str, Any]:
    """Return the message that answers a request."""
    return {"type": "answer", "id": request, "data": data}


def progress(request: int, text: str, done: int, total: int) -> dict[str, Any]:
    """Return the message that tells how far the answer is: of `total` steps, 0 if unknown, so many are `done`."""
    return {"type": "progress", "id": request, "text": text, "done": done, "total": total}


def error(request: int, text: str, kind: str = "error", position: int | None = None) -> dict[str, Any]:
    """Return the message that tells why there is no answer. `kind` is error, usage or cancelled; `position` is the
    place in the request's filter that it is about, from 0, where that is known."""
    where = {} if position is None else {"position": position}
    return {"type": "error", "id": request, "text": text, "kind": kind, **where}
