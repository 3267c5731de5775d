"""The lab of a session, and what writes, by messages alone: a run step by step, copies and whose they are."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from explorer.app.rights import Rights
from tests import protocol_schema
from tests.support.app_client import Client

SCHEMA = {**protocol_schema.schema(), "$ref": "#/$defs/answer"}
TABLE = "demo.three_inserts"
APPENDS = [{"operation": "append"}, {"operation": "append"}]


@pytest.fixture
def client(sandbox: Path) -> Iterator[Client]:
    made = Client(Rights(sql=True, lab=True), owner="me")
    yield made
    for message in made.messages:
        jsonschema.validate(message, SCHEMA)
    made.session.close()


def lab(client: Client, action: str, **arguments: Any) -> Any:
    return client.data(type="lab", action=action, arguments=arguments)


def refusal(client: Client, **request: Any) -> str:
    message = client.ask(**request)
    assert message["type"] == "error", message
    return str(message["text"])


def test_a_form_for_writers_knows_every_operation(client: Client) -> None:
    told = lab(client, "choices")
    named = {one["name"]: one for one in told["operations"]}
    assert named["append"]["engines"] == ["java", "pyiceberg"]
    assert named["read"]["reads"]
    update = named["mor-update"]
    assert set(update["usual"]["snapshot"]) < set(update["usual"]["serializable"]) <= set(update["validations"])
    assert all(told["protects"][name] for name in update["validations"])
    overwrite = named["replace-partitions"]  # what the form has switched on is what `check conflict` sets
    assert (overwrite["isolation"], overwrite["usual"]["none"]) == ("none", [])
    assert update["isolation"] == "serializable"
    assert lab(client, "state") == {"run": None}
    assert client.data(type="graph", table="", mode="lab") == {"same": True}


@pytest.mark.parametrize(
    ("action", "arguments", "text"),
    [
        ("nothing", {}, "the lab has no action 'nothing'"),
        ("new", {}, "a run has one to 3 lanes"),
        ("new", {"lanes": APPENDS * 2}, "a run has one to 3 lanes"),
        ("new", {"lanes": ["append"]}, "a lane has an operation and an engine"),
        ("new", {"lanes": [{"operation": "no"}]}, "no operation 'no'"),
        ("new", {"lanes": [{"operation": "append", "engine": "x"}]}, "no append by 'x'"),
        ("new", {"lanes": [{"operation": "cow-update", "validations": "all"}]}, "are a list of their names"),
        ("new", {"lanes": [{"operation": "cow-update", "validations": ["no"]}]}, "has no validation 'no'"),
        ("new", {"lanes": APPENDS, "version": 4}, "the format version is 2 or 3"),
        ("step", {}, "a step is that of a writer"),
        ("step", {"token": "A"}, "there is no run"),
        ("orders", {"lanes": APPENDS[:1]}, "two or three writers"),
        ("orders", {"lanes": [{"operation": "append"}, {"operation": "read"}]}, "without readers"),
        ("replay", {}, "replay takes the text of a saved run"),
        ("replay", {"order": "AB"}, "the orders are gone"),
        ("replay", {"saved": '{"version": 1e400, "order": [], "operations": []}'}, "not a saved run"),
        ("race", {"writers": 0, "commits": 1}, "writers is a number from 1 to 16"),
        ("race", {"writers": 2, "commits": True}, "commits is a number from 1 to 200"),
        ("reset", {"table": TABLE}, "is no copy of a teaching table"),
    ],
)
def test_what_is_wrong_is_said(action: str, arguments: dict[str, Any], text: str, client: Client) -> None:
    assert text in refusal(client, type="lab", action=action, arguments=arguments)


def test_nothing_writes_where_the_lab_is_off(sandbox: Path) -> None:
    client = Client(Rights(sql=True))
    for action in ("state", "new", "step", "orders", "race", "faults", "reset"):
        assert "without --allow-lab" in refusal(client, type="lab", action=action)
    assert lab(client, "choices")["operations"]  # the explanation of a conflict has them, and only reads
    assert client.data(type="open", table=TABLE)["writing"] == ""
    assert client.data(type="graph", table="", mode="lab") == {"same": True}
    arguments = {"where": ["fruit = 'fig'"], "write": True}
    assert "Nothing is written here" in refusal(
        client, type="ask", question="scan estimate", table=TABLE, arguments=arguments
    )
    for question in ("maintain run", "refs run", "lab observe"):
        assert "writes" in refusal(client, type="ask", question=question, table=TABLE, arguments={})


def test_a_conflict_is_told_and_lit(sandbox: Path) -> None:
    client, table = Client(), "demo.equality_deletes"
    arguments = {"base": "snapshot-1", "operation": "cow-update", "where": "name = 'jack'"}
    told = client.data(type="ask", question="check conflict", table=table, arguments=arguments)
    assert told["blocks"][0]["text"].startswith("It is refused: snapshot-2 added")
    drawn = client.data(type="graph", table=table, mode="conflict", arguments=arguments)
    lit = {node["label"] for node in drawn["picture"]["nodes"] if node.get("mark") == "conflict"}
    assert {"snapshot-2", "snapshot-3", "delete-1.parquet"} <= lit
    append = client.data(type="graph", table=table, mode="conflict", arguments=arguments | {"operation": "append"})
    assert all(node.get("mark") != "conflict" for node in append["picture"]["nodes"])
    wrong = refusal(client, type="graph", table=table, mode="conflict", arguments={"operation": "append"})
    assert "enter a value for base" in wrong


@pytest.mark.parametrize("operation", ["compact", "expire", "rewrite-manifests", "next-append"])
def test_maintenance_is_previewed_with_its_statement(operation: str, client: Client) -> None:
    asked = {"type": "ask", "question": "maintain preview", "table": TABLE, "arguments": {"operation": operation}}
    blocks = client.data(**asked)["blocks"]
    assert blocks[0]["kind"] == "message"
    assert any(block["kind"] == "rows" for block in blocks)
    statements = [block["sql"] for block in blocks if block["kind"] == "statement"]
    assert all(sql.startswith("CALL sandbox.system.") for sql in statements)


def test_an_operation_on_refs_is_previewed_with_its_statement(client: Client) -> None:
    given = {"operation": "tag", "name": "x", "snapshot": "snapshot-1"}
    blocks = client.data(type="ask", question="refs preview", table=TABLE, arguments=given)["blocks"]
    assert any("CREATE TAG x" in block.get("sql", "") for block in blocks)
    rows = next(block for block in blocks if block["kind"] == "rows")
    assert ["x", None, "snapshot-1"] in rows["rows"] or ["x", "", "snapshot-1"] in rows["rows"]


def test_a_copy_belongs_to_who_made_it(client: Client) -> None:
    assert client.data(type="open", table=TABLE)["writing"] == "copy"
    assert client.data(type="facts", table=TABLE)["writing"] == "copy"
    made = client.data(type="ask", question="lab copy", arguments={"teaching_table": "three_inserts"})
    copy = made["blocks"][-1]["lines"][0]
    assert client.data(type="open", table=copy)["writing"] == "here"
    other = Client(Rights(lab=True), owner="somebody else")
    assert other.data(type="open", table=copy)["writing"] == "copy"
    reset = {"type": "lab", "action": "reset", "arguments": {"table": copy}}
    assert "somebody else's copy" in refusal(other, **reset)
    changed = {"type": "ask", "question": "refs run", "table": copy, "arguments": {"operation": "tag", "name": "x"}}
    assert "somebody else's copy" in refusal(other, **changed)
    same = Client(Rights(lab=True), owner="me")  # the page was loaded again
    assert same.data(type="open", table=copy)["writing"] == "here"
    fresh = same.data(**reset)["table"]
    assert fresh != copy
    assert same.data(type="open", table=fresh)["writing"] == "here"
    assert other.ask(type="open", table=copy)["type"] == "error"


def test_what_writes_is_not_saved_as_a_file(client: Client) -> None:
    from explorer.app.protocol import Ask
    from explorer.errors import NotPossible

    with pytest.raises(NotPossible, match="would write or run again"):
        client.session.download(Ask(1, "maintain run", TABLE, arguments={"operation": "compact"}), "json")


def test_each_list_of_an_answer_is_saved_by_itself(client: Client) -> None:
    from explorer.app.protocol import Ask

    asked = Ask(1, "maintain preview", TABLE, arguments={"operation": "compact"})
    first, second = (client.session.download(asked, "csv", block).result(60).read() for block in (0, 1))
    assert first.splitlines()[0] != second.splitlines()[0]
    assert b"reason" in second.splitlines()[0]
