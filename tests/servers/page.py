"""Everything that the page's server sends to a browser about a table, as text: to look for secrets in."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import wait
from typing import Any
from unittest.mock import patch

from explorer.app.graphs import MODES
from explorer.app.protocol import Ask
from explorer.app.rights import Rights
from explorer.errors import ExplorerError
from explorer.questions import QUESTIONS, Question
from explorer.spark_engine.read_queue import ReadSession
from tests.support.app_client import Client

WHERE = "id = 3"
GIVEN: dict[str, Any] = {
    "where": WHERE, "before": "snapshot-1", "after": "main", "base": "snapshot-1", "operation": "append",
}  # fmt: skip
ASKED = [one for one in QUESTIONS.values() if not one.is_writing and not one.is_endless]
FORMS = {"inspect files": ("csv", "parquet", "json", "txt"), "diff": ("svg", "html")}
"""Answers that are saved, and how."""


def on_the_page(full: str, reads: ReadSession, opened: Callable[[], None] = lambda: None) -> list[str]:
    """What a session is sent that opens a table, draws each graph with each node chosen once, asks every question,
    and saves some answers; `opened` is told once the table is open."""
    with patch("explorer.table.shared_engine", return_value=reads.engine):  # and no Java beside it
        client = Client(Rights(sql=True))
        catalog = full.partition(".")[0]
        client.ask(type="hello")
        for about in ({}, {"catalog": catalog}, {"catalog": catalog, "namespace": ["shop"]}):
            client.ask(type="catalogs", **about)
        header = client.ask(type="open", table=full)
        assert header["type"] == "answer", header
        opened()
        for mode in MODES:
            _draw(client, full, mode)
        file = _first_file(client, full)
        for one in ASKED:
            client.ask(type="ask", question=" ".join(one.path), **_about(one, full, catalog, file))
        for kind, key in (("snapshot", "snapshot-1"), ("file", file)):
            client.ask(type="preview", table=full, kind=kind, key=key)
        saved = [_save(client, full, question, form) for question, forms in FORMS.items() for form in forms]
        client.session.close()
    shown = [json.dumps(message) for message in client.messages]
    assert full in "".join(shown)
    return shown + saved


def _draw(client: Client, full: str, mode: str) -> None:
    about = {"table": full, "mode": mode, "filter": WHERE, "arguments": {"base": "snapshot-1", "operation": "append"}}
    drawn = client.ask(type="graph", **about)
    nodes = drawn["data"]["picture"]["nodes"] if drawn["type"] == "answer" else []
    for node in nodes:
        client.ask(type="graph", **about, action={"type": "select", "ids": [node["id"]]})


def _first_file(client: Client, full: str) -> str:
    """The path of a file; of none where the list cannot be had."""
    listed = client.ask(type="ask", question="inspect files", table=full)
    blocks = listed["data"]["blocks"] if listed["type"] == "answer" else []
    return next(
        (str(block["rows"][0][0]) for block in blocks if block["kind"] == "rows" and block["rows"]), "none.parquet"
    )


def _about(one: Question, full: str, catalog: str, file: str) -> dict[str, Any]:
    """What a question is asked about, and its arguments."""
    given: dict[str, Any] = {p.name: GIVEN[p.name] for p in one.parameters if p.is_required and p.name in GIVEN}
    if one.path == ("sql",):
        given["query"] = "SELECT * FROM t"
    if one.path == ("inspect", "file"):
        given["path"] = file
    if one.path == ("history", "metadata"):
        given["older"] = "0"
    if one.path == ("maintain", "preview"):
        given["operation"] = "compact"
    if one.path == ("refs", "preview"):
        given |= {"operation": "tag", "name": "x", "snapshot": "snapshot-1"}
    if one.path == ("scan", "estimate"):
        given["where"] = [WHERE]
    subject = {"table": {"table": full}, "place": {"table": full}, "catalog": {"catalog": catalog}}
    return {**subject.get(one.subject, {}), "arguments": given}


def _save(client: Client, full: str, question: str, form: str) -> str:
    """The text of a file that is saved, or why it is not."""
    given = {"before": "snapshot-1", "after": "main"} if question == "diff" else {}
    task = client.session.download(Ask(1, question, full, arguments=given), form)
    wait([task.answer])
    try:
        content = task.result()
    except ExplorerError as error:
        return str(error)
    return content.read().decode(errors="replace")
