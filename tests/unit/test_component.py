"""The app as a component of Panel: what a visitor may ask, and messages that come twice or not at all."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import panel as pn

import explorer
from explorer.app.hosts.component import ExplorerComponent
from tests.support import direct
from tests.support.app_client import LONGEST_S


class View:
    """A view of a component, as a browser has it."""

    def __init__(self, component: ExplorerComponent) -> None:
        self._component = component
        self.outbox: list[dict[str, Any]] = []
        self.sent: list[dict[str, Any]] = []
        self._came = threading.Condition()
        component.send = self._take  # type: ignore[method-assign]

    def _take(self, message: dict[str, Any]) -> None:
        with self._came:
            self.sent.append(message)
            self._came.notify_all()

    def put(self, **message: Any) -> None:
        self.outbox = [*self.outbox, {"view": "1", "number": len(self.outbox) + 1, **message}]
        self._component.outbox = self.outbox

    def answer(self, number: int) -> dict[str, Any]:
        def answers() -> list[dict[str, Any]]:
            texts = [json.loads(one["text"]) for one in self.sent if "text" in one]
            return [one for one in texts if one["id"] == number and one["type"] != "progress"]

        with self._came:
            assert self._came.wait_for(lambda: bool(answers()), LONGEST_S)
        return answers()[0]


def request(number: int, **fields: Any) -> str:
    return json.dumps({"id": number, **fields})


def test_each_message_is_taken_once(whole: Path) -> None:
    table = direct.open_table(str(whole))
    view = View(explorer.panel_component(table))
    view.put(wants="app")
    view.put(text=request(1, type="open", table=table.name))
    assert view.answer(1)["data"]["title"]
    view.put(text=request(2, type="hello"))
    view.answer(2)
    assert [one["taken"] for one in view.sent if "taken" in one] == [1, 2, 3]
    assert sum("app" in one for one in view.sent) == 1
    assert view.sent[0]["app"]["place"]["table"] == table.name


def test_a_visitor_neither_writes_nor_runs_sql_unless_it_is_said(whole: Path) -> None:
    table = direct.open_table(str(whole))
    for given, allowed in (({}, False), ({"sql": True, "writes": True}, True)):
        view = View(explorer.panel_component(table, **given))  # type: ignore[arg-type]
        view.put(text=request(1, type="hello"))
        rights = view.answer(1)["data"]["rights"]
        assert (rights["sql"], rights["lab"]) == (allowed, allowed)
    closed = View(explorer.panel_component(table))
    closed.put(text=request(1, type="ask", question="sql", arguments={"query": "select 1"}))
    assert closed.answer(1)["type"] == "error"


def test_what_no_view_sends_is_left_out() -> None:
    view = View(explorer.panel_component())
    component = view._component
    for message in (7, {}, {"view": "1"}, {"number": 1}, {"view": 1, "number": 1}, {"view": "1", "number": "1"}):
        component.outbox = [message]
    assert view.sent == []


def test_other_peoples_panel_apps_show_tables_and_answers(whole: Path) -> None:
    """`pn.panel(…)` shows a table as the explorer, and an answer as its picture and text, without further packages."""
    table = explorer.open_table(whole)
    assert type(pn.panel(table)).__name__ == "ExplorerComponent"
    for answer in (table.plan("id = 1"), table.doctor(), table.count(), table.inspect.files()):
        pane = pn.panel(answer)
        assert isinstance(pane, pn.pane.HTML)
        assert len(pane.get_root().text) > 100
