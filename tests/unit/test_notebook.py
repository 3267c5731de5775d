"""The app in a notebook: what each widget shows, what stays where no kernel runs, and what a stranger sends."""

from __future__ import annotations

import asyncio
import json
import threading
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import explorer
from explorer.app.hosts.notebook import SHORT_NAMES, AppWidget, GraphWidget, TableWidget
from explorer.app.hosts.views import MOST_VIEWS
from explorer.lab.stepper import Run
from explorer.questions.answers import Answer
from explorer.spec.commits.lab_runs import Event, WriterState
from explorer.spec.commits.operations import Operation
from tests.support import direct
from tests.support.app_client import LONGEST_S
from tests.support.small_tables import edit_metadata, make_table, writable

WIDGET = "application/vnd.jupyter.widget-view+json"
NAMES = ("overview", "diff", "plan", *SHORT_NAMES)


class View:
    """A view of a widget, as a browser has it."""

    def __init__(self, widget: AppWidget, name: str = "1") -> None:
        self._widget, self._name, self._count = widget, name, 0
        self.sent: list[dict[str, Any]] = []
        self._came = threading.Condition()
        widget.send = self._take  # type: ignore[method-assign]

    def _take(self, message: dict[str, Any]) -> None:
        with self._came:
            self.sent.append(message)
            self._came.notify_all()

    def put(self, **message: Any) -> None:
        self._widget._take(self._widget, {"view": self._name, **message}, [])

    def app(self) -> dict[str, Any]:
        self.put(wants="app")
        return self.sent[-1]["app"]

    def ask(self, **request: Any) -> dict[str, Any]:
        self._count += 1
        number = self._count
        self.put(text=json.dumps({"id": number, **request}))

        def answers() -> list[dict[str, Any]]:
            texts = [json.loads(one["text"]) for one in self.sent if "text" in one and one["view"] == self._name]
            return [one for one in texts if one["id"] == number and one["type"] != "progress"]

        with self._came:
            assert self._came.wait_for(lambda: bool(answers()), LONGEST_S)
        return answers()[0]


def place(widget: AppWidget) -> dict[str, str]:
    return dict(View(widget).app()["place"])


def still(widget: AppWidget) -> str:
    """All that stays: picture, text and HTML."""
    bundle, _ = widget._repr_mimebundle_()
    return f"{bundle['image/svg+xml']}\n{bundle['text/plain']}"


def test_a_table_is_the_whole_app_at_its_state(whole: Path) -> None:
    table = direct.open_table(str(whole))
    view = View(TableWidget(table))
    app = view.app()
    assert (app["shows"], app["place"]["table"]) == ("app", table.name)
    assert "graph-card" in app["script"]
    assert ".graph-card" in app["style"]
    header = view.ask(type="open", table=table.name)["data"]
    assert header["current"] == str(table.metadata.current_snapshot_id)
    drawn = view.ask(type="graph", table=table.name)["data"]
    assert len(drawn["timeline"]["ids"]) == 3
    assert view.ask(type="ask", question="inspect files", table=table.name)["type"] == "answer"
    rights = view.ask(type="hello")["data"]["rights"]
    assert rights["sql"]
    assert rights["lab"]


def test_a_table_is_shown_as_it_was_opened_until_it_is_read_again(tmp_path: Path) -> None:
    folder = make_table(tmp_path, commits=2)
    table = direct.open_table(str(folder))
    view = View(TableWidget(table))
    writable(folder).append(pa.table({"id": pa.array([7], pa.int64()), "fruit": ["fig"]}))
    counts = [len(view.ask(type="open", table=table.name)["data"]["snapshots"]) for _ in range(2)]
    assert counts == [2, 3]
    other = View(view._widget, "2")  # another view of the same widget begins anew
    assert len(other.ask(type="open", table=table.name)["data"]["snapshots"]) == 2


def test_each_graph_is_a_place_in_the_app(whole: Path) -> None:
    table = direct.open_table(str(whole))
    ids = [str(one.snapshot_id) for one in table.metadata.snapshots]
    named = {"table": table.name}
    assert place(explorer.compare(table, "snapshot-1", "main")) == {
        **named, "mode": "compare", "before": ids[0], "snapshot": ids[2],
    }  # fmt: skip
    assert place(explorer.compare(table, None, "snapshot-1"))["before"] == "none"
    assert place(explorer.show_deletes(table)) == {**named, "mode": "deletes", "snapshot": ""}
    plan = explorer.show_plan_graph(table, "id = 1", "snapshot-2")
    assert place(plan) == {**named, "mode": "plan", "filter": "id = 1", "snapshot": ids[1]}
    assert isinstance(plan, GraphWidget)
    with pytest.raises(explorer.NotFoundInTable):
        explorer.compare(table, "snapshot-1", "no such branch")


def test_a_widget_has_a_picture_and_a_text_that_stay(whole: Path) -> None:
    table = direct.open_table(str(whole))
    widgets = [TableWidget(table), explorer.compare(table, "snapshot-1", "main"), explorer.show_deletes(table)]
    widgets += [explorer.panel(table, name) for name in NAMES]
    for widget in widgets:
        live, _ = widget._repr_mimebundle_()
        assert live[WIDGET]["model_id"] == widget.model_id
        assert live["image/svg+xml"].startswith("<svg")
        assert live["text/plain"].strip()
        assert "<script" not in widget._kept._repr_html_()
        assert "<img" in widget._kept._repr_html_()
    assert table.why in still(widgets[0])


def test_a_question_about_a_table_that_may_not_open_has_a_widget(whole: Path) -> None:
    widget = explorer.panel(direct.open_table(str(whole)), "doctor")
    assert "nothing wrong was found" in repr(widget._kept)


def test_a_notebook_stores_neither_script_nor_answers(whole: Path) -> None:
    table = direct.open_table(str(whole))
    view = View(TableWidget(table))
    view.app()
    view.ask(type="open", table=table.name)
    kept = json.dumps(view._widget.get_state(), default=str)
    assert len(kept) < 5_000
    assert "graph-card" not in kept
    assert "snapshot-3" not in kept


def test_a_question_is_a_form_and_an_answer(whole: Path) -> None:
    table = direct.open_table(str(whole))
    diff = explorer.panel(table, "diff")
    assert json.loads(place(diff)["arguments"]) == {"before": "snapshot-2", "after": "snapshot-3"}
    assert "snapshot-2 (" in still(diff)
    plan = explorer.panel(table, "plan", where="id = 1")
    assert place(plan)["question"] == "plan"
    assert "after column metrics" in still(plan)
    assert "Enter where" in still(explorer.panel(table, "data history"))
    assert place(explorer.panel(table, "lineage"))["question"] == "history lineage"
    assert "spec_id" in still(explorer.panel(table, "inspect files"))


def test_a_wrong_question_is_refused(whole: Path) -> None:
    table = direct.open_table(str(whole))
    with pytest.raises(explorer.NotPossible, match="not of a int"):
        explorer.panel(5)
    for name in (["diff"], "lives", "history watch", "catalog doctor"):
        with pytest.raises(explorer.NotFoundInTable, match="no question"):
            explorer.panel(table, name)  # type: ignore[arg-type]
    with pytest.raises(explorer.WrongUsage, match="no parameter lives"):
        explorer.panel(table, "overview", lives=9)


def test_a_table_without_snapshots_has_its_widgets(table: Path) -> None:
    def empty(data: dict[str, Any]) -> None:
        data.update({"snapshots": [], "snapshot-log": [], "refs": {}, "current-snapshot-id": None})

    edit_metadata(table, empty)
    opened = direct.open_table(str(table))
    assert place(TableWidget(opened))["snapshot"] == ""
    for name in ("overview", "lineage", "lifecycle", "deletes"):
        assert still(explorer.panel(opened, name)), name


def test_a_name_is_text_in_what_stays(table: Path) -> None:
    evil = "<img src=x onerror=alert(1)>"
    edit_metadata(table, lambda data: data["refs"].update({evil: {**data["refs"]["main"], "type": "tag"}}))
    opened = direct.open_table(str(table))
    for widget in (TableWidget(opened), *(explorer.panel(opened, name) for name in NAMES)):
        assert "<img src=x" not in widget._repr_mimebundle_()[0]["image/svg+xml"]
        assert "<img src=x" not in widget._kept._repr_html_()


def test_what_no_view_sends_is_left_out(whole: Path) -> None:
    table = direct.open_table(str(whole))
    view = View(TableWidget(table))
    for message in (7, None, [], {}, {"view": 7}, {"view": "x" * 41, "wants": "app"}, {"view": "1", "text": 7},
                    {"view": "1", "wants": "all"}):  # fmt: skip
        view._widget._take(view._widget, message, [])
    assert view.sent == []
    view.put(text="no JSON")
    view.put(text="[]")
    assert view.sent == []
    assert view.ask(type="nothing")["type"] == "error"
    assert view.ask(type="open", table=table.name)["type"] == "answer"  # and goes on


def test_old_views_make_room_for_new_ones(whole: Path) -> None:
    widget = TableWidget(direct.open_table(str(whole)))
    for number in range(MOST_VIEWS + 3):
        View(widget, str(number)).ask(type="hello")
    assert len(widget._views._open) == MOST_VIEWS
    View(widget, "10").put(is_closed=True)
    assert len(widget._views._open) == MOST_VIEWS - 1
    widget.close()
    assert not widget._views._open


def test_answers_go_from_the_loop_that_took_the_question(whole: Path) -> None:
    table = direct.open_table(str(whole))
    widget, threads = TableWidget(table), []
    done = threading.Event()

    def send(_: Any) -> None:
        threads.append(threading.current_thread())
        done.set()

    widget.send = send  # type: ignore[method-assign]

    async def ask() -> None:
        widget._take(widget, {"view": "1", "text": json.dumps({"type": "open", "id": 1, "table": table.name})}, [])
        while not done.is_set():
            await asyncio.sleep(0.01)

    asyncio.run(asyncio.wait_for(ask(), LONGEST_S))
    assert threads == [threading.current_thread()]


def test_a_run_of_the_lab_takes_its_steps_in_the_widget(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Run.__new__(Run)
    writer = WriterState("A", Operation("append"))
    run.writers, run.events = [writer], []  # type: ignore[list-item]

    def step(self: Run, token: str) -> None:
        self.events.append(Event(len(self.events) + 1, token, "load", "ok", f"step <{len(self.events) + 1}>"))
        writer.state = "committed" if len(self.events) == 3 else "load"

    monkeypatch.setattr(Run, "step", step)
    view = View(explorer.panel(Answer(run, lambda: {}, lambda: ())))
    [form] = view.ask(type="hello")["data"]["questions"]

    def take(**arguments: Any) -> dict[str, Any]:
        return view.ask(type="ask", question=form["name"], arguments=arguments)

    def told(answer: dict[str, Any]) -> str:
        return json.dumps(answer["data"]["blocks"], ensure_ascii=False)

    [link] = next(one for one in take()["data"]["blocks"] if one["kind"] == "links")["links"]
    assert (link["kind"], link["key"], link["arguments"]) == ("question", form["name"], {"writer": "A", "after": 0})
    assert "step &lt;1&gt;" in told(take(**link["arguments"]))
    take(**link["arguments"])  # sent again, it is not taken again
    assert len(run.events) == 1
    assert "one of A" in take(writer="B", after=1)["text"]
    take(writer="A", after=1)
    last = take(writer="A", after=2)
    assert "No step is left" in told(last)
    assert "step &lt;3&gt;" in told(last)
    assert "step &lt;3&gt;" not in told(take(until=2))
    for wrong in (0, 4, "2", 1.5):
        assert "a number from 1 to 3" in take(until=wrong)["text"]
    assert len(run.events) == 3
    assert view.ask(type="open", table="t")["type"] == "error"
