"""A session of the app: every question, graphs, rows, rights, progress and cancelling, by messages alone."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pyarrow as pa
import pytest

import explorer
from explorer.app.blocks import MOST_ITEMS, json_tree
from explorer.app.forms import read_arguments
from explorer.app.rights import Rights
from explorer.app.session import MOST_WAITING
from explorer.app.start import TABLE_VARIABLE
from explorer.errors import WrongUsage
from explorer.progress import steps
from explorer.questions import QUESTIONS, Question
from explorer.questions.answers import Result
from explorer.render.text import clean
from explorer.serving import places
from tests import protocol_schema
from tests.support import direct
from tests.support.app_client import Client
from tests.support.small_tables import make_table, writable

SCHEMA = {**protocol_schema.schema(), "$ref": "#/$defs/answer"}
TABLE = "demo.equality_deletes"
NOT_HERE = {
    ("rows",), ("sql",), ("maintain", "preview"), ("catalog", "doctor"), ("catalog", "health"), ("data", "duplicates"),
}  # fmt: skip
"""They need Spark, or read the whole sandbox; others of their kind are asked."""
GIVEN: dict[str, Any] = {
    "where": "name = 'jack'", "before": "snapshot-1", "after": "main", "base": "snapshot-1", "operation": "append",
    "what": "snapshot-1", "other": "demo.three_inserts",
}  # fmt: skip
ASKED = [
    one for one in QUESTIONS.values() if not (one.is_writing or one.is_endless or one.path in NOT_HERE)
]  # fmt: skip


@pytest.fixture
def client(sandbox: Path) -> Iterator[Client]:
    made = Client(Rights(sql=True, lab=True))
    yield made
    for message in made.messages:
        jsonschema.validate(message, SCHEMA)
    made.session.close()


def arguments(one: Question) -> dict[str, Any]:
    given: dict[str, Any] = {p.name: GIVEN[p.name] for p in one.parameters if p.is_required and p.name in GIVEN}
    if one.path in {("inspect", "file"), ("maintain", "file")}:
        given["path"] = Path(explorer.open_table(TABLE).inspect.files()[0]["file_path"]).name
    if one.path == ("history", "metadata"):
        given["older"] = "0"
    if one.path == ("refs", "preview"):
        given |= {"operation": "tag", "name": "x", "snapshot": "snapshot-1"}
    if one.path == ("scan", "estimate"):
        given["where"] = ["name = 'jack'"]
    return given


# -- questions ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("one", ASKED, ids=lambda one: " ".join(one.path))
def test_every_question_is_answered_in_blocks(one: Question, client: Client) -> None:
    about = {"table": {"table": TABLE}, "place": {"table": TABLE}, "catalog": {"catalog": "sandbox"}, "": {}}[
        one.subject
    ]
    data = client.data(type="ask", question=" ".join(one.path), arguments=arguments(one), **about)
    assert data["blocks"]
    for block in data["blocks"]:
        if block["kind"] == "rows":
            assert all(len(row) == len(block["columns"]) for row in block["rows"])
            assert {"name", "kind", "link", "first"} == set(block["columns"][0] if block["columns"] else SHAPE)


SHAPE = {"name": "", "kind": "", "link": "", "first": False}


def test_an_answer_says_the_same_as_the_command_line(client: Client) -> None:
    data = client.data(type="ask", question="plan", table=TABLE, arguments={"where": "name = 'jack'"})
    told = explorer.open_table(TABLE).plan("name = 'jack'")
    assert isinstance(told, Result)
    folded = [block for block in data["blocks"] if block["kind"] == "text" and block["folded"]]
    assert "\n".join(folded[0]["lines"]).rstrip() == "\n".join(map(clean, told.to_text().rstrip().split("\n")))


@pytest.mark.parametrize(
    ("request_", "text"),
    [
        ({"question": "no such"}, "there is no question 'no such'"),
        ({"question": "history watch", "table": TABLE}, "there is no question 'history watch'"),
        ({"question": "data history", "table": TABLE}, "enter a value for where"),
        ({"question": "plan", "table": TABLE, "arguments": {"where": "a = 1", "x": 1}}, "plan has no parameter 'x'"),
        ({"question": "plan", "table": TABLE, "arguments": {"where": 1}}, "where is a text"),
        ({"question": "plan", "table": TABLE, "arguments": {"where": "id = 1", "stage": "no"}}, "stage is one of"),
        ({"question": "plan", "table": TABLE, "arguments": {"where": "id = 1", "sql": "yes"}}, "sql is true or false"),
        ({"question": "inspect deletes", "table": TABLE, "arguments": {"limit": -1}}, "limit is at least 0"),
        ({"question": "inspect deletes", "table": TABLE, "arguments": {"limit": 1.5}}, "limit is a number"),
        ({"question": "doctor", "table": TABLE, "arguments": {"skip": "one"}}, "skip is a list"),
        (
            {"question": "health", "table": TABLE, "arguments": {"threshold": {"a": "b"}}},
            "threshold has names with values",
        ),
        ({"question": "plan", "arguments": {"where": "id = 1"}}, "this question is about a table: open one"),
        ({"question": "plan", "table": "demo.nothing", "arguments": {"where": "id = 1"}}, "nothing"),
    ],
)
def test_what_is_wrong_is_said(request_: dict[str, Any], text: str, client: Client) -> None:
    message = client.ask(type="ask", **request_)
    assert message["type"] == "error"
    assert text in message["text"]


@pytest.mark.parametrize(
    ("where", "position"),
    [
        ("name == = 'a'", 8), ("name = 'a' id", 11), ("id > ", 4), ("id = 'x' AND ?", 13),
        ("name = 'a' AND nothing = 1", 15), ("name = 1", 0),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_filter_is_told_with_its_place(where: str, position: int, client: Client) -> None:
    for request_ in ({"type": "graph", "mode": "plan", "filter": where}, {"type": "ask", "question": "plan"}):
        given = {"arguments": {"where": where}} if request_["type"] == "ask" else {}
        message = client.ask(table=TABLE, **request_, **given)
        assert message["type"] == "error"
        assert message["position"] == position


@pytest.mark.parametrize("lost", [False, True])
def test_answers_about_a_table_say_what_they_lack(client: Client, tmp_path: Path, lost: bool) -> None:
    table = make_table(tmp_path)
    manifest = table / "metadata" / Path(explorer.open_table(str(table)).inspect.manifests()[1]["manifest_path"]).name
    if lost:
        manifest.unlink()
    about = {"table": str(table)}
    client.data(type="open", **about)
    lost_words = "1 file of this table could not be read whole, and answers that need it lack what is lost there"
    told = f"{lost_words}: {manifest.name}"
    for request_ in (
        {"type": "ask", "question": "inspect partitions"},
        {"type": "rows", "question": "inspect files", "block": 0, "start": 0, "count": 0},
        {"type": "ask", "question": "doctor"},
        {"type": "graph", "mode": "diff", "before": "none"} if not lost else {"type": "graph", "mode": "table"},
    ):
        assert client.data(**request_, **about)["lacks"] == (told if lost else "")


def test_metadata_files_are_offered(client: Client, tmp_path: Path) -> None:
    table = make_table(tmp_path)
    names = client.data(type="offer", table=str(table), kind="metadata files")["values"]
    assert names == sorted((file.name for file in (table / "metadata").glob("*.metadata.json")), reverse=True)
    data = client.data(type="ask", question="history metadata", table=str(table), arguments={"older": names[-1]})
    assert data["blocks"]


def test_the_doctor_judges_the_table_that_the_page_shows(client: Client, tmp_path: Path) -> None:
    table = make_table(tmp_path)
    client.data(type="open", table=str(table))
    writable(table).append(
        pa.table({"id": [7], "fruit": ["new"]}, pa.schema([("id", pa.int64()), ("fruit", pa.string())]))
    )
    assert "(3 snapshots" in json.dumps(client.data(type="ask", question="doctor", table=str(table)))
    client.data(type="open", table=str(table))
    assert "(4 snapshots" in json.dumps(client.data(type="ask", question="doctor", table=str(table)))


def test_a_metadata_file_is_a_tree_whose_numbers_a_browser_does_not_round(client: Client) -> None:
    data = client.data(type="ask", question="inspect metadata", table=TABLE)
    [tree] = [block for block in data["blocks"] if block["kind"] == "json"]
    current = explorer.open_table(TABLE).engine.metadata.current_snapshot_id
    assert tree["value"]["current-snapshot-id"] == str(current)
    assert tree["value"]["snapshots"][0]["summary"]["operation"] == '"append"'
    assert tree["older"] is None
    [links] = [block for block in data["blocks"] if block["kind"] == "links"]
    link = links["links"][0]
    compared = client.data(type="ask", question=link["key"], table=TABLE, arguments=link["arguments"])
    [text, both] = compared["blocks"]
    assert any("snapshots" in line for line in text["lines"])
    assert len(both["value"]["snapshots"]) == len(both["older"]["snapshots"]) + 1


def test_of_a_long_list_of_json_the_first_items_are_sent() -> None:
    sent = json_tree({"a": [*range(MOST_ITEMS + 2)], "b": (None, True, "x")})
    assert sent["b"] == ["null", "true", '"x"']
    assert (len(sent["a"]), sent["a"][-1]) == (MOST_ITEMS + 1, "… 2 more")


@pytest.mark.parametrize("kind", ["snapshot", "manifest", "file"])
def test_a_link_has_a_preview(kind: str, client: Client) -> None:
    opened = explorer.open_table(TABLE)
    file = opened.inspect.files()[0]["file_path"]
    manifest = opened.inspect.manifests()[0]["manifest_path"]
    key = {"snapshot": "snapshot-2", "manifest": manifest, "file": file}[kind]
    told = client.data(type="preview", table=TABLE, kind=kind, key=key)["preview"]
    assert set(told) == {"title", "kind", "problems", "summary"}
    assert {"snapshot": "operation", "manifest": "holds", "file": "rows"}[kind] in {
        name for name, *_ in told["summary"]
    }
    assert client.data(type="preview", table=TABLE, kind="file", key="no/such.parquet")["preview"] is None


def test_sizes_and_times_come_with_their_numbers(client: Client) -> None:
    data = client.data(type="ask", question="inspect snapshots", table=TABLE)
    [block] = [one for one in data["blocks"] if one["kind"] == "rows"]
    at = [column["name"] for column in block["columns"]].index("timestamp-ms")
    assert block["columns"][at]["kind"] == "time"
    assert block["rows"][0][at].endswith(" UTC")
    assert block["exact"][str(at)][0] == str(explorer.open_table(TABLE).inspect.snapshots()[0]["timestamp-ms"])


# -- rights ------------------------------------------------------------------------------------------------------------
def test_without_rights_nothing_is_written_and_no_sql_runs(sandbox: Path) -> None:
    client = Client()
    listed = {one["name"] for one in client.data(type="hello")["questions"]}
    writing = {" ".join(one.path) for one in QUESTIONS.values() if one.is_writing}
    assert not listed & (writing | {"sql"})
    for name in (*writing, "sql"):
        assert client.ask(type="ask", question=name, table=TABLE, arguments={})["type"] == "error"
    message = client.ask(type="ask", question="sql", table=TABLE, arguments={"query": "SELECT 1"})
    assert "runs SQL" in message["text"]
    measured = {"where": "id = 1", "sql": True, "measure": True}
    assert "SQL is not run here" in client.ask(type="ask", question="plan", table=TABLE, arguments=measured)["text"]


def test_no_page_writes_to_other_tables(client: Client) -> None:
    listed = client.data(type="hello")["questions"]
    assert all(field["name"] != "allow_writes" for one in listed for field in one["parameters"])
    given = {"operation": "compact", "allow_writes": True}
    message = client.ask(type="ask", question="maintain run", table=TABLE, arguments=given)
    assert "A page writes to the sandbox alone" in message["text"]


def test_a_teaching_table_says_what_it_teaches(client: Client) -> None:
    told = {one["table"]: one["teaches"] for one in client.data(type="hello")["teaching"]}
    opened = client.data(type="open", table=TABLE)
    assert opened["teaches"] == told[f"sandbox.{TABLE}"] != ""


# -- what an attacker tried --------------------------------------------------------------------------------------------
def test_a_number_is_under_way_once(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    gate = Gate()
    monkeypatch.setattr(client.session, "_open", gate)
    number = client.send(type="open", table=TABLE)
    assert gate.began.wait(60)
    client.session.handle(json.dumps({"type": "open", "id": number, "table": TABLE}))
    told = client.wait(lambda message: message["id"] == number and message["type"] == "error")
    assert "is under way" in told["text"]
    client.session.close()


def test_the_table_of_a_shared_server_does_not_move(
    sandbox: Path, table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(places.VARIABLE, json.dumps([str(tmp_path)]))
    monkeypatch.setenv(TABLE_VARIABLE, str(table))
    client = Client(Rights())
    assert client.data(type="open", table=str(table))["title"]
    told = client.ask(type="open", table=str(table), moves=[f"{table}=/elsewhere"])
    assert "follows no tables that have moved" in told["text"]
    assert client.data(type="graph", table=str(table))["picture"]["nodes"]


@pytest.mark.parametrize("question", ["lab run", "lab race", "lab streaming", "lab catalogue", "history watch"])
def test_what_has_messages_of_its_own_is_not_asked(question: str, client: Client) -> None:
    assert question not in {one["name"] for one in client.data(type="hello")["questions"]}
    assert "there is no question" in client.ask(type="ask", question=question, arguments={})["text"]


def test_no_page_opens_a_file_of_the_server(client: Client) -> None:
    [replay] = [one for one in QUESTIONS["lab", "run"].parameters if one.name == "replay"]
    assert replay.kind.metavar == "FILE"
    with pytest.raises(WrongUsage, match="a file of the server"):
        read_arguments(QUESTIONS["lab", "run"], {"replay": "/etc/passwd"})


@pytest.mark.parametrize("value", [10**400, -(10**400), 1e300, float("inf"), float("nan")])
def test_numbers_have_a_size(value: float) -> None:
    with pytest.raises(WrongUsage):
        read_arguments(QUESTIONS["inspect", "deletes"], {"limit": value})
    with pytest.raises(WrongUsage):
        read_arguments(QUESTIONS["health",], {"threshold": {"small-files": value}})


def test_rows_of_no_block_are_refused(client: Client) -> None:
    for block in (1, 99):
        told = client.ask(type="rows", question="inspect files", table=TABLE, block=block)
        assert "no list of rows" in told["text"]


def test_sql_is_planned_by_who_may_run_it(sandbox: Path) -> None:
    told = Client().ask(type="ask", question="plan", table=TABLE, arguments={"where": "id = 1", "sql": True})
    assert "SQL is not run here" in told["text"]


# -- graphs ------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("mode", ["table", "findings", "plan", "deletes", "diff"])
def test_every_mode_has_a_graph(mode: str, client: Client) -> None:
    more = {"filter": "name = 'jack'"} if mode == "plan" else {}
    drawn = client.data(type="graph", table=TABLE, mode=mode, **more)
    nodes = drawn["picture"]["nodes"]
    assert nodes
    one = nodes[-1]["id"]
    chosen = client.data(type="graph", table=TABLE, mode=mode, action={"type": "select", "ids": [one]}, **more)
    assert chosen["selected"] == [one]
    assert chosen["details"]["title"]


def test_the_tree_goes_from_snapshot_to_snapshot(client: Client) -> None:
    first = client.data(type="graph", table=TABLE)
    ids = first["timeline"]["ids"]
    assert first["snapshot"] == ids[-1]
    assert client.data(type="graph", table=TABLE, action={"type": "snapshot", "id": ids[0]})["snapshot"] == ids[0]
    assert client.data(type="graph", table=TABLE, snapshot=ids[1])["snapshot"] == ids[1]
    gone = client.data(type="graph", table=TABLE, snapshot="12345", mode="table")
    assert gone["message"] or gone["snapshot"] in ids


def test_rows_and_nodes_lead_to_each_other(client: Client) -> None:
    rows = client.data(type="ask", question="inspect files", table=TABLE)["blocks"][0]
    at = [column["name"] for column in rows["columns"]].index("file_path")
    assert rows["columns"][at]["link"] == "file"
    path = rows["rows"][0][at]
    shown = client.data(type="graph", table=TABLE, action={"type": "show", "kind": "file", "key": path})
    told = [value for section in shown["details"]["sections"] for _, value, *_ in section.get("fields", [])]
    assert path in told


def test_a_new_session_goes_on_where_one_was_lost(client: Client) -> None:
    kept = client.data(type="graph", table=TABLE, mode="plan", filter="name = 'jack'")
    client.session.close()
    other = Client(Rights())
    again = other.data(type="graph", table=TABLE, mode="plan", filter="name = 'jack'")
    assert again["picture"] == kept["picture"]
    assert other.data(type="rows", question="inspect files", table=TABLE, block=0, count=1)["rows"]


# -- under way ---------------------------------------------------------------------------------------------------------
class Gate:
    """Work that waits until it may go on, or is cancelled."""

    def __init__(self) -> None:
        self.began, self.goes_on = threading.Event(), threading.Event()

    def __call__(self, *_: Any, **__: Any) -> Any:
        self.began.set()
        for _ in steps(range(100_000), "steps"):
            if self.goes_on.wait(0.02):
                return {}
        return {}


def test_progress_comes_and_what_nobody_waits_for_ends(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    gate = Gate()
    monkeypatch.setattr(client.session, "_open", gate)
    number = client.send(type="open", table=TABLE)
    told = client.wait(lambda message: message["type"] == "progress")
    assert told["id"] == number
    assert "steps" in told["text"]
    client.send(type="cancel", request=number)
    message = client.wait(lambda one: one["id"] == number and one["type"] == "error")
    assert message["kind"] == "cancelled"


def test_a_session_has_so_many_requests_and_no_more(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    gate = Gate()
    monkeypatch.setattr(client.session, "_open", gate)
    for _ in range(MOST_WAITING):
        client.send(type="open", table=TABLE)
    assert "too many requests" in client.ask(type="open", table=TABLE)["text"]
    gate.goes_on.set()


def test_a_closed_session_stops_and_says_nothing(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    gate = Gate()
    monkeypatch.setattr(client.session, "_open", gate)
    client.send(type="open", table=TABLE)
    assert gate.began.wait(60)
    client.session.close()
    client.session.handle(json.dumps({"type": "hello", "id": 99}))
    assert all(message["id"] != 99 for message in client.messages)


def test_a_mode_whose_graph_and_answer_ask_the_same_asks_once(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    from explorer.reports import doctor

    entered, go_on, calls, ask = threading.Event(), threading.Event(), list[object](), doctor.diagnose

    def slow(table: Any, **options: Any) -> Any:
        calls.append(table)
        entered.set()
        assert go_on.wait(30)
        return ask(table, **options)

    monkeypatch.setattr(doctor, "diagnose", slow)
    graph = client.send(type="graph", table=TABLE, mode="findings")
    answer = client.send(type="ask", question="doctor", table=TABLE)
    assert entered.wait(30)
    threading.Event().wait(0.3)  # the second has begun to wait by now, or else it asks for itself
    go_on.set()
    for number in (graph, answer):
        assert client.wait(lambda one, n=number: one["id"] == n and one["type"] != "progress")["type"] == "answer"
    assert len(calls) == 1


def test_facts_are_those_of_the_snapshot_that_a_link_names(client: Client) -> None:
    """By id, by name and by ref alike; of one that the table has not, those of the current one."""
    first = str(direct.open_table(TABLE).resolve("snapshot-1").snapshot.snapshot_id)
    facts = {
        named: client.data(type="open", table=TABLE, snapshot=named)["tiles"]
        for named in ("", "main", "snapshot-1", first, "snapshot-99")
    }
    assert facts["snapshot-1"] == facts[first] != facts["main"]
    assert facts["main"] == facts[""] == facts["snapshot-99"]
