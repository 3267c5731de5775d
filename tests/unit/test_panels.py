"""Panels of a notebook: a question, its choices, and the answer that goes with them; also what a stranger sends."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import explorer
from explorer.lab.stepper import Run
from explorer.questions.answers import Answer
from explorer.spec.commits.lab_runs import Event, WriterState
from explorer.spec.commits.operations import Operation
from explorer.ui.panels import QUESTIONS, Panel
from tests.support import direct
from tests.support.small_tables import edit_metadata, make_table, partitioned, writable

WIDGET = "application/vnd.jupyter.widget-view+json"


def shown(panel: Panel) -> str:
    """All that is shown: what is wrong, or the picture's markup and the text."""
    answer = panel.answer
    if "error" in answer:
        assert set(answer) == {"error", "n"}
        return f"wrong: {answer['error']}"
    picture = base64.b64decode(answer["picture"].removeprefix("data:image/svg+xml;base64,")).decode()
    return f"{picture}\n{answer['text']}"


def choose(panel: Panel, name: str, value: Any) -> str:
    """What is shown after a choice."""
    panel.request = {"name": name, "value": value, "at": panel.request.get("at", 0) + 1}
    return shown(panel)


@pytest.mark.parametrize("question", QUESTIONS)
def test_each_question_is_a_widget_a_picture_and_a_text(whole: Path, question: str) -> None:
    panel = explorer.panel(direct.open_table(str(whole)), question)
    live, _ = panel._repr_mimebundle_()
    assert live[WIDGET]["model_id"] == panel.model_id
    assert live["image/svg+xml"].startswith("<svg")
    assert live["text/plain"].strip()
    assert shown(panel).startswith("<svg")
    assert "<script" not in shown(panel)


def test_what_is_chosen_is_answered(whole: Path) -> None:
    table = direct.open_table(str(whole))
    assert "+2 rows" in choose(explorer.panel(table), "as of", "snapshot-1")
    diff = explorer.panel(table, "diff")
    assert "from snapshot-2 to snapshot-3" in shown(diff)
    assert "from nothing to snapshot-3" in choose(diff, "from", "none")
    history = explorer.panel(table, "lineage")
    assert "snapshot-1 " in shown(history)
    assert "snapshot-1 " not in choose(history, "from", 3)
    lifecycle = explorer.panel(table, "lifecycle")
    assert "manifest-3" in shown(lifecycle)
    assert "manifest-3" not in choose(lifecycle, "to", 2)
    plan = explorer.panel(table, "plan")
    assert {"id = ", "fruit = "} <= set(plan.choices[0]["choices"])
    assert "after column metrics" in choose(plan, "filter", "id = 1")
    refused = choose(plan, "as of", "s3://jack:open-sesame@bucket/t")
    assert refused.startswith("wrong: ")
    assert "bucket/t" in refused
    assert "open-sesame" not in refused


def test_a_wrong_choice_says_so_in_place_of_the_former_answer(whole: Path) -> None:
    diff = explorer.panel(direct.open_table(str(whole)), "diff")
    for name, value in (("from", "<b>no</b>"), ("to", 3), ("to", None)):
        said = choose(diff, name, value)
        assert said.startswith("wrong: ")
        assert "<svg" not in said
        choose(diff, "from", "none")
    assert "<svg" in choose(diff, "to", "main")
    history = explorer.panel(direct.open_table(str(whole)), "lineage")
    for value in (0, 4, -1, "2", 2.5, True):
        assert "a number from 1 to 3" in choose(history, "to", value)
    choose(history, "to", 3)
    choose(history, "from", 2)
    assert "snapshot-3 " not in choose(history, "to", 1)  # the other end goes along
    assert [choice["value"] for choice in history.choices] == [1, 1]
    with pytest.raises(explorer.NotPossible, match="not of a int"):
        explorer.panel(5)
    with pytest.raises(explorer.NotFoundInTable, match="no question"):
        explorer.panel(direct.open_table(str(whole)), ["diff"])
    with pytest.raises(explorer.NotFoundInTable, match="lifecycle"):
        explorer.panel(direct.open_table(str(whole)), "lives")


def test_read_again_takes_over_what_was_committed_and_keeps_what_was_chosen(tmp_path: Path) -> None:
    place = make_table(tmp_path, 2)
    history = explorer.panel(direct.open_table(str(place)), "lineage")
    diff = explorer.panel(direct.open_table(str(place)), "diff")
    choose(diff, "from", "snapshot-1")
    choose(diff, "to", "main")
    table = writable(place)
    table.append(pa.table({"id": [7], "fruit": ["fig"]}, table.schema().as_arrow()))
    assert "snapshot-3 " in choose(history, "", "")
    assert [choice["value"] for choice in history.choices] == [1, 3]
    choose(history, "to", 1)
    assert "snapshot-2 " not in choose(history, "", "")  # nor does the window's beginning pass its end then
    newest = explorer.panel(direct.open_table(str(place)), "diff")
    assert [choice["value"] for choice in newest.choices] == ["snapshot-2", "snapshot-3"]
    table.refresh().append(pa.table({"id": [8], "fruit": ["fig"]}, table.schema().as_arrow()))
    choose(newest, "", "")
    assert [choice["value"] for choice in newest.choices] == ["snapshot-3", "snapshot-4"]
    choose(diff, "", "")
    assert [choice["value"] for choice in diff.choices] == ["snapshot-1", "main"]
    assert "manifests: 1 kept, 3 added" in shown(diff)


def test_a_table_without_snapshots_has_its_panels(whole: Path, table: Path) -> None:
    def empty(data: dict[str, Any]) -> None:
        data.update({"snapshots": [], "snapshot-log": [], "refs": {}, "current-snapshot-id": None})

    edit_metadata(table, empty)
    for question in QUESTIONS:
        assert shown(explorer.panel(direct.open_table(str(table)), question)), question


def test_a_name_is_text_in_panels(table: Path) -> None:
    evil = "<img src=x onerror=alert(1)>"
    edit_metadata(table, lambda data: data["refs"].update({evil: {**data["refs"]["main"], "type": "tag"}}))
    assert "&lt;img src=x" in shown(explorer.panel(direct.open_table(str(table)), "lineage"))
    for question in QUESTIONS:
        panel = explorer.panel(direct.open_table(str(table)), question)
        assert "<img src=x" not in shown(panel).partition("</svg>")[0], question
        assert "<img src=x" not in panel._exhibit._repr_html_()
        assert "<img src=x" not in json.dumps(panel._repr_mimebundle_()[0]["image/svg+xml"])


def test_what_a_browser_sends_is_of_bounded_size_and_breaks_nothing(
    whole: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = explorer.panel(direct.open_table(str(whole)), "plan")
    for value in ("x" * 10_001, "id = '\ud800'"):
        assert "a text, of at most 10,000 letters" in choose(plan, "filter", value)
    assert len(choose(plan, "filter", f"id = {'x' * 9_000}")) < 2_500
    for name in (["filter"], {"a": 1}, "others"):
        assert "no such choice" in choose(plan, name, "")  # type: ignore[arg-type]
    plan.set_state({"answer": {"n": "x"}})
    assert "after column metrics" in choose(plan, "filter", "id = 1")
    json.dumps(plan.get_state(), default=str).encode()

    def fails(*_: object) -> None:
        raise RuntimeError("s3://jack:open-sesame@bucket/t")

    monkeypatch.setattr(direct.Table, "plan", fails)
    assert choose(plan, "filter", "id = 2") == "wrong: RuntimeError: s3://(hidden)@bucket/t"


def test_names_that_are_not_seen_whole_are_not_offered(table: Path) -> None:
    long, hidden = "b" * 201, "ma\u202ein"
    refs = {name: {"snapshot-id": 0, "type": "branch"} for name in (long, hidden)}

    def add(data: dict[str, Any]) -> None:
        data["refs"].update({name: {**ref, "snapshot-id": data["current-snapshot-id"]} for name, ref in refs.items()})

    edit_metadata(table, add)
    diff = explorer.panel(direct.open_table(str(table)), "diff")
    assert {"main", "snapshot-1"} <= set(diff.choices[0]["choices"])
    assert not {long, hidden} & set(diff.choices[0]["choices"])
    assert "<svg" in choose(diff, "to", long)


def test_a_picture_of_a_plan_does_not_grow_with_its_names(tmp_path: Path) -> None:
    place = partitioned(tmp_path)

    def rename(data: dict[str, Any]) -> None:
        data["partition-specs"][-1]["fields"][1]["name"] = "f" * 10_000

    edit_metadata(place, rename)
    plan = explorer.panel(direct.open_table(str(place)), "plan")
    assert len(plan.answer["picture"]) < 500_000


def test_a_run_of_the_lab_takes_its_steps_in_the_panel(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Run.__new__(Run)
    writer = WriterState("A", Operation("append"))
    run.writers, run.events = [writer], []  # type: ignore[list-item]

    def step(self: Run, token: str) -> None:
        self.events.append(Event(len(self.events) + 1, token, "load", "ok", f"step <{len(self.events) + 1}>"))
        writer.state = "committed" if len(self.events) == 3 else "load"

    monkeypatch.setattr(Run, "step", step)
    panel = explorer.panel(Answer(run, lambda: {}, lambda: ()))
    assert "step &lt;1&gt;" in choose(panel, "step", "A")
    assert "is one of A" in choose(panel, "step", "B")
    choose(panel, "step", "A")
    assert "step &lt;3&gt;" in choose(panel, "step", "A")
    assert (panel.choices[0]["choices"], panel.choices[0]["label"]) == ([], "no step is left")
    assert "step &lt;3&gt;" not in choose(panel, "until", 2)
    assert len(run.events) == 3
