"""Text from strangers in what is written and printed: DOT, SVG, HTML, CSV, terminals, and secrets."""

from __future__ import annotations

import csv
import io
import json
import re
import socket
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pygraphviz
import pytest
from click.testing import CliRunner
from tornado.http1connection import HTTP1Connection
from tornado.httputil import HTTPHeaders, HTTPServerRequest
from tornado.iostream import IOStream

from explorer.app.blocks import ShownAnswer
from explorer.app.downloads import file_of
from explorer.app.hosts.file import export
from explorer.cli import main
from explorer.graph.graph import Edge, Elided, Graph, Node
from explorer.queries.collection import Collection
from explorer.render.dot import render_dot, render_image
from explorer.reports.inspector import inspect
from explorer.serving.access import FOR_LOOPBACK, Doorkeeper
from explorer.spec.secrets.redaction import HIDDEN, redact, without_secrets
from tests.security.web_cases import FORMULAS, HARMLESS, LABELS, MARKUP, NUMBERS, SECRETS, TERMINAL, Attack
from tests.support import direct
from tests.support.helpers import run_apart
from tests.support.small_tables import edit_metadata, make_table

ROOT = Path(__file__).parents[2]
EVERYWHERE = [*MARKUP, *LABELS]


def named(attacks: list[Attack]) -> Any:
    return pytest.mark.parametrize("attack", attacks, ids=[a.id for a in attacks])


def graph(word: str) -> Graph:
    """A graph in which everything that a table's author names is `word`."""
    nodes = [
        Node("a", "ref", word, lines=(word, word)),
        Node("b", "snapshot", word, lines=(word,), problem=word, facts={"path": word}),
    ]
    more = Elided("m", "b", "files", 3, 4, 1, word)
    return Graph(word, 1, tuple(nodes), (Edge("a", "b", "points to"),), (more,), ("x", "y"))


def parsed(dot: str) -> Any:
    """What Graphviz takes DOT for: nodes, edges, and every attribute's name."""
    drawn = pygraphviz.AGraph(string=dot)
    return (
        sorted((str(n), sorted(n.attr)) for n in drawn.nodes()),
        sorted(map(str, drawn.edges())),
        sorted(drawn.graph_attr),
        len(drawn.subgraphs()),
    )


@named(EVERYWHERE)
def test_labels_are_no_dot(attack: Attack) -> None:
    dot = render_dot(graph(attack.payload))
    assert parsed(dot) == parsed(render_dot(graph("harmless")))
    outside = re.sub(r'"(?:[^"\\]|\\.)*"', '""', dot)  # what is not in quotes is ours
    assert "<" not in outside
    assert "evil" not in outside
    drawn = render_image(graph(attack.payload), "svg").decode()
    for bad in ("xlink:href", "<a ", "<image", "<script", "<b>"):
        assert bad not in drawn


class Tags(HTMLParser):
    """The elements and attributes of a page, but for its one script."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, tuple[str, ...]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, tuple(name for name, _ in attrs)))


def tags(text: str) -> list[tuple[str, tuple[str, ...]]]:
    reader = Tags()
    reader.feed(text)
    return reader.tags


@named(EVERYWHERE)
@pytest.mark.parametrize("kind", ["svg", "html"])
def test_pictures_have_our_elements_only(kind: str, attack: Attack) -> None:
    text = export(graph(attack.payload), kind).decode()
    assert tags(text) == tags(export(graph("harmless"), kind).decode())
    if kind == "html":
        assert text.lower().count("</script") == 2  # its data, and our code
        assert "script-src 'sha256-" in text


@named(EVERYWHERE)
def test_notebook_tables_have_our_elements_only(attack: Attack) -> None:
    def shown(word: str) -> Any:
        return tags(Collection(pa.table({word: [word], "list": [[word]]}), word)._repr_html_())

    assert shown(attack.payload) == shown("harmless")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table with every attack on terminals, and every secret, in refs, properties, summaries and columns."""
    path = make_table(tmp_path_factory.mktemp("web"))

    def change(data: dict[str, Any]) -> None:
        main = data["refs"]["main"]
        words = [attack.payload for attack in TERMINAL]
        secret = {a.payload: "hunter2" for a in SECRETS if a.where == "name"}
        secret |= {f"note {a.id}": a.payload for a in SECRETS if a.where == "value"}
        data["refs"] = {"main": main} | {word: {**main, "type": "branch"} for word in words}
        data["properties"] = {word: word for word in words} | secret
        data["snapshots"][-1]["summary"] |= {word: word for word in words} | secret
        data["schemas"][0]["fields"][0]["name"] = "".join(words)
        data["statistics"] = [
            {"snapshot-id": main["snapshot-id"], "statistics-path": "stats.puffin", "file-size-in-bytes": 1,
             "file-footer-size-in-bytes": 1, "blob-metadata": [{"type": words[0], "properties": secret}]}
        ]  # fmt: skip

    edit_metadata(path, change)
    return path


def commanding(text: str) -> set[str]:
    """Characters that could do more in a terminal than show themselves."""
    return {c for c in text if not c.isprintable() and c != "\n"}


SHOWN = [
    f"{command} -o {output}"
    for command in (
        "show T",
        "inspect refs T",
        "inspect snapshots T",
        "inspect metadata T",
        "inspect properties T",
        "history lineage T",
        "history lifecycle T",
        "inspect files T",
        "history metadata T 0 3",
        "maintain preview T expire",
    )
    for output in ("text", "json")
] + [f"export graph T --format {picture}" for picture in ("dot", "svg", "html", "json")]


@pytest.mark.parametrize("command", SHOWN)
def test_terminals_get_no_commands_and_no_secrets(command: str, folder: Path) -> None:
    result = CliRunner().invoke(main, [str(folder) if word == "T" else word for word in command.split()])
    assert result.exit_code in (0, 3), result.output  # 3: the statistics file is not there
    told = result.output.replace("\t", " ") if command.endswith("dot") else result.output  # DOT is indented
    assert not commanding(told)
    assert "hunter2" not in result.output.lower()
    if command == "inspect refs T -o json":
        names = [row["name"] for row in json.loads(result.stdout)]
        assert set(names) >= {attack.payload for attack in TERMINAL}


@named(TERMINAL)
def test_errors_give_a_terminal_no_commands(attack: Attack, folder: Path) -> None:
    for missing in (["show", f"/nowhere/{attack.payload}"], ["diff", str(folder), attack.payload + "x", "nothing"]):
        result = CliRunner().invoke(main, missing)
        assert result.exit_code == 1
        assert result.stderr
        assert not commanding(result.output)


def test_the_inspector_hides_secrets(folder: Path) -> None:
    table = direct.open_table(str(folder))
    for node in table.graph().nodes:
        assert "hunter2" not in json.dumps(inspect(table, node).to_json()).lower(), node.label


def _csv(rows: Collection) -> bytes:
    """What a browser saves."""
    content = file_of(ShownAnswer(rows, None), "csv").read()
    assert isinstance(content, bytes)
    return content


def rows_of_csv(values: list[Any], name: str = "x") -> list[list[str]]:
    written = _csv(Collection(pa.table({name: values}), "rows")).decode()
    return list(csv.reader(io.StringIO(written, newline="")))


def test_csv_has_every_type() -> None:
    own = pa.ExtensionArray.from_storage(pa.uuid(), pa.array([b"\0" * 16], pa.binary(16)))
    by_struct = pa.array([[({"k": 1}, 2)]], pa.map_(pa.struct([("k", pa.int32())]), pa.int32()))
    times = pa.array([[1 << 60]], pa.list_(pa.timestamp("us")))
    table = pa.table({"u": own, "f": pa.array([b"ab"], pa.binary(2)), "m": by_struct, "l": times, "n": pa.nulls(1)})
    _, row = list(csv.reader(io.StringIO(_csv(Collection(table, "rows")).decode())))
    assert row[:2] == ["00000000-0000-0000-0000-000000000000", "0x6162"]
    assert "'k': 1" in row[2].replace('"', "'")
    assert row[3] == '["38504-08-17 21:30:06.846976"]'  # of which Python has no object


@named(FORMULAS)
def test_csv_has_no_formulas(attack: Attack) -> None:
    head, row = rows_of_csv([attack.payload], attack.payload)
    assert head == row == [f"'{attack.payload}"]
    nested = rows_of_csv([{"a": attack.payload}])[1][0]
    assert nested.startswith("{")


def test_numbers_in_csv_stay_numbers() -> None:
    assert [row[0] for row in rows_of_csv(list(NUMBERS))[1:]] == list(NUMBERS)
    assert [row[0] for row in rows_of_csv([-5, 3])[1:]] == ["-5", "3"]


@named(SECRETS)
def test_secrets_are_hidden(attack: Attack) -> None:
    properties = {attack.payload: "hunter2"} if attack.where == "name" else {"note": attack.payload}
    hidden = json.dumps(without_secrets(properties))
    assert "hunter2" not in hidden.lower()
    assert HIDDEN in hidden
    if attack.where == "value":
        assert "hunter2" not in redact(f"could not open {attack.payload}: no").lower()


def test_an_error_shows_no_credentials() -> None:
    result = CliRunner().invoke(main, ["show", "https://me:hunter2@192.0.2.1/t?sig=hunter2"])
    assert result.exit_code == 1
    assert "hunter2" not in result.output


def test_what_is_harmless_is_shown() -> None:
    assert without_secrets(HARMLESS) == HARMLESS


@pytest.mark.parametrize("path", sorted((ROOT / "frontend" / "src").rglob("*.ts*")), ids=lambda p: p.name)
def test_scripts_set_text_only(path: Path) -> None:
    text = path.read_text()
    markup = r"[Ii]nnerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function"
    assert not re.findall(markup, text)
    assert path.name == "svg.ts" or "DOMParser" not in text  # which copies known elements and attributes alone


def test_csv_of_large_text_has_no_formulas_either() -> None:
    table = pa.table({"x": pa.array(["=1+1", "a"], pa.large_string())})
    assert _csv(Collection(table, "rows")).decode().splitlines()[1:] == ['"\'=1+1"', '"a"']


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ({"X-Forwarded-For": "203.0.113.7"}, 401), ({"X-Forwarded-For": "1.2.3.4, 203.0.113.7"}, 401),
        ({"X-Forwarded-For": "203.0.113.7", "X-Real-Ip": "203.0.113.7"}, 401),
        ({"X-Forwarded-For": "203.0.113.7", "X-Real-Ip": "10.0.0.1"}, 400), ({"X-Real-Ip": "10.0.0.1"}, 400),
        ({"X-Forwarded-Proto": "http", "X-Scheme": "https"}, 400), ({}, 401),
    ],
)  # fmt: skip
def test_behind_a_proxy_nobody_says_from_where_they_come(headers: dict[str, str], code: int) -> None:
    """Each made-up address would have attempts at the password of its own."""

    async def asks() -> tuple[Any, dict[str, Any]]:
        ours, theirs = socket.socketpair()
        stream = IOStream(ours)
        connection = HTTP1Connection(stream, False)
        request = HTTPServerRequest("GET", "/x/", host="localhost", connection=connection, headers=HTTPHeaders(headers))
        answer = Doorkeeper(password="right")._answer(SimpleNamespace(prefix="/x", app_paths=["/"]), request)
        stream.close()
        theirs.close()
        assert answer is not None
        return answer

    handler, options = run_apart(asks)
    assert options.get("status", 401) == code, handler


def test_who_is_gone_is_let_in_nowhere() -> None:
    async def asks() -> tuple[Any, dict[str, Any]]:
        ours, theirs = socket.socketpair()
        theirs.close()
        stream = IOStream(ours)
        stream.close()
        request = HTTPServerRequest("GET", "/", host="localhost", connection=HTTP1Connection(stream, False))
        answer = Doorkeeper()._answer(SimpleNamespace(prefix="", app_paths=["/"]), request)
        assert answer is not None
        return answer

    assert run_apart(asks)[1] == {"status": 403, "text": FOR_LOOPBACK}
