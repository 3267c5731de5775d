"""Text from strangers in what is written and printed: DOT, SVG, HTML, CSV, terminals, and secrets."""

from __future__ import annotations

import csv
import io
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pyarrow as pa
import pygraphviz
import pytest
from click.testing import CliRunner

from explorer.cli import main
from explorer.collection import Collection
from explorer.core.secrets import HIDDEN, redacted, without_secrets
from explorer.model.graph import Edge, Elided, Graph, Node
from explorer.ui.export import export
from explorer.ui.tables import _csv
from explorer.views.dot import render_dot, render_image
from tests.security.web_cases import FORMULAS, HARMLESS, LABELS, MARKUP, NUMBERS, SECRETS, TERMINAL, Attack
from tests.unit.small import edit_metadata, make_table

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
    more = Elided("m", "b", "files", 3, 4, 0, 1, word)
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
        assert text.lower().count("</script") == 1
        assert "script-src 'sha256-" in text


@named(EVERYWHERE)
def test_notebook_tables_have_our_elements_only(attack: Attack) -> None:
    def shown(word: str) -> Any:
        return tags(Collection(pa.table({word: [word], "list": [[word]]}), word)._repr_html_())

    assert shown(attack.payload) == shown("harmless")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_table(tmp_path_factory.mktemp("web"))


def commanding(text: str) -> set[str]:
    """Characters that could do more in a terminal than show themselves."""
    return {c for c in text if not c.isprintable() and c != "\n"}


@named(TERMINAL)
def test_a_terminal_gets_no_commands(attack: Attack, folder: Path) -> None:
    word = attack.payload

    def change(data: dict[str, Any]) -> None:
        data["refs"] = {"main": data["refs"]["main"], word: {**data["refs"]["main"], "type": "branch"}}
        data["properties"] = {word: word}
        data["snapshots"][-1]["summary"][word] = word
        data["schemas"][0]["fields"][0]["name"] = word

    edit_metadata(folder, change)
    for command in ("show", "refs", "snapshots", "metadata", "history", "lifecycle", "commits", "files"):
        for output in ("text", "json"):
            result = CliRunner().invoke(main, [command, str(folder), "-o", output])
            assert result.exit_code == 0, result.output
            assert not commanding(result.output)
            if output == "json" and command == "refs":
                assert word in [row["name"] for row in json.loads(result.stdout)]
    for picture in ("dot", "svg", "html", "json"):
        assert not commanding(CliRunner().invoke(main, ["graph", str(folder), "--format", picture]).output)
    for missing in (["show", f"/nowhere/{word}"], ["diff", str(folder), word, "nothing"], ["show", word]):
        result = CliRunner().invoke(main, missing)
        assert result.exit_code == 1
        assert not commanding(result.output)


def rows_of_csv(values: list[Any], name: str = "x") -> list[list[str]]:
    written = _csv(Collection(pa.table({name: values}), "rows")).decode()
    return list(csv.reader(io.StringIO(written, newline="")))


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
def test_secrets_are_hidden(attack: Attack, folder: Path) -> None:
    if attack.where == "name":
        properties = {attack.payload: "hunter2"}
    else:
        properties = {"note": attack.payload}
        assert HIDDEN in redacted(attack.payload)
    before = json.dumps(without_secrets(properties))
    assert "hunter2" not in before.lower()

    def change(data: dict[str, Any]) -> None:
        data["properties"] = properties
        data["snapshots"][-1]["summary"] = {"operation": "append", **properties}

    edit_metadata(folder, change)
    commands = [["metadata"], ["snapshots"], ["show"], ["metadata", "diff", "0", "3"], ["graph", "--format", "json"]]
    for command in commands:
        name, rest = command[:1], command[1:]
        if rest[:1] == ["diff"]:
            name, rest = ["metadata", "diff"], rest[1:]
        for output in ("text", "json"):
            found = CliRunner().invoke(main, [*name, str(folder), *rest, "-o", output])
            assert found.exit_code == 0, found.output
            assert "hunter2" not in found.output.lower()


def test_an_error_shows_no_credentials() -> None:
    result = CliRunner().invoke(main, ["show", "https://me:hunter2@192.0.2.1/t?sig=hunter2"])
    assert result.exit_code == 1
    assert "hunter2" not in result.output


def test_what_is_harmless_is_shown() -> None:
    assert without_secrets(HARMLESS) == HARMLESS


@pytest.mark.parametrize("path", sorted((ROOT / "explorer" / "ui").glob("*.py")), ids=lambda p: p.name)
def test_only_widgets_uses_what_renders_markup(path: Path) -> None:
    if path.name == "widgets.py":
        return
    markup = r"pn\.pane\.|Typography\(|StaticText|Alert\(|Tabulator\(|notifications\.|Markdown\(|Tooltip\("
    scripts = r"pn\.FlexBox|ReactiveHTML|CustomJS|jslink|jscallback|js_on_"
    assert not re.findall(f"{markup}|{scripts}", path.read_text())


def test_view_js_sets_text_only() -> None:
    text = (ROOT / "explorer" / "ui" / "static" / "view.js").read_text()
    assert not re.findall(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|DOMParser", text
    )
