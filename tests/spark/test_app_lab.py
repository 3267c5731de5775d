"""The lab of a session on Iceberg, by messages alone: runs, orders, statements on copies, rows and races."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from explorer.app.rights import Rights
from explorer.serving import places
from explorer.spark_engine.spark import SparkEngine
from tests.support.app_client import Client
from tests.unit.test_app_lab import APPENDS, TABLE, lab, refusal


@pytest.fixture(autouse=True)
def unrestricted(monkeypatch: pytest.MonkeyPatch) -> None:
    """An agent that another test started in this process may have restricted it."""
    monkeypatch.setattr(places, "_allowed", {})


@pytest.fixture
def client(sandbox: Path, engine: SparkEngine) -> Iterator[Client]:
    engine.session()
    made = Client(Rights(sql=True, lab=True), owner="me")
    yield made
    made.session.close()


def test_two_writers_from_one_base(client: Client) -> None:
    """The second swap is lost, and its retry commits; what is staged is marked in the graph."""
    run = lab(client, "new", lanes=APPENDS)["run"]
    assert [lane["state"] for lane in run["lanes"]] == ["load", "load"]
    assert len(run["rows"]) == 3
    for writer in "AABBABABAB":
        run = lab(client, "step", token=writer)["run"]
    assert run["steps"][-1]["outcome"] == "lost"
    drawn = client.data(type="graph", table="", mode="lab")
    staged = [node["kind"] for node in drawn["picture"]["nodes"] if node.get("mark") == "staged"]
    assert staged == ["data_file"]
    chosen = [node["id"] for node in drawn["picture"]["nodes"] if node.get("mark") == "staged"]
    told = client.data(type="graph", table="", mode="lab", action={"type": "select", "ids": chosen})
    assert told["selected"] == chosen
    assert told["details"]["title"]
    run = lab(client, "step", token="B")["run"]
    assert run["predictions"][0]["outcome"] == "retry"
    for _ in range(2):
        run = lab(client, "step", token="B")["run"]
    assert [lane["state"] for lane in run["lanes"]] == ["committed", "committed"]
    assert [row[1] for row in run["rows"]].count("by B") == 1
    assert run["left"]
    assert "has no step left" in refusal(client, type="lab", action="step", arguments={"token": "B"})
    again = lab(client, "replay", saved=run["saved"])["run"]
    assert [step["outcome"] for step in again["steps"]] == [step["outcome"] for step in run["steps"]]
    other = Client(Rights(lab=True), owner="me")
    assert lab(other, "state") == {"run": None}


def test_a_refusal_is_explained_and_a_validation_switched_off(client: Client) -> None:
    lanes = [{"operation": "compaction"}, {"operation": "mor-delete"}]
    run = lab(client, "new", lanes=lanes)["run"]
    for writer in "AABBBBB":
        run = lab(client, "step", token=writer)["run"]
    assert run["predictions"][0]["words"].startswith("It is refused: snapshot-3 added position deletes")
    run = lab(client, "step", token="A")["run"]
    assert run["refusals"][0]["writer"] == "A"
    nodes = client.data(type="graph", table="", mode="lab")["picture"]["nodes"]
    assert sorted(node["kind"] for node in nodes if node.get("mark") == "conflict") == ["position_deletes", "snapshot"]
    update = next(one for one in lab(client, "choices")["operations"] if one["name"] == "mor-update")
    checks = [name for name in update["usual"]["serializable"] if name != "validateNoConflictingDataFiles"]
    run = lab(client, "new", lanes=[{"operation": "mor-update", "validations": checks}, {"operation": "append"}])["run"]
    for writer in "AABBBBBA":
        run = lab(client, "step", token=writer)["run"]
    assert run["steps"][-1]["outcome"] == "ok"


def test_every_order_and_one_of_them_again(client: Client) -> None:
    told = lab(client, "orders", lanes=APPENDS)
    assert len(told["orders"]) == 20
    assert told["picture"].startswith("<svg")
    run = lab(client, "replay", order="AAABBB")["run"]
    assert [lane["state"] for lane in run["lanes"]] == ["committed", "committed"]


def test_a_statement_comes_into_the_graph_of_its_copy(client: Client) -> None:
    made = client.data(type="ask", question="lab copy", arguments={"teaching_table": "three_inserts"})
    copy = made["blocks"][-1]["lines"][0]
    before = client.data(type="graph", table=copy)
    statement = {"statement": "INSERT INTO t SELECT * FROM t LIMIT 1"}
    told = client.data(type="ask", question="lab observe", table=copy, arguments=statement)["blocks"]
    assert "1 commit: the catalog swapped" in told[0]["text"]
    assert [row[1] for row in told[1]["rows"]][-1] == "metadata file"
    after = client.data(type="graph", table=copy)
    assert len(after["timeline"]["ids"]) == len(before["timeline"]["ids"]) + 1
    assert after["snapshot"] == after["timeline"]["ids"][-1]
    done = client.data(type="ask", question="maintain run", table=copy, arguments={"operation": "rewrite-manifests"})[
        "blocks"
    ]
    assert any(block["kind"] == "statement" for block in done)
    assert client.data(type="open", table=copy)["snapshots"][0]["name"] == "snapshot-5"
    elsewhere = {"statement": "DELETE FROM sandbox.demo.three_inserts"}
    refused = refusal(client, type="ask", question="lab observe", table=copy, arguments=elsewhere)
    assert "may be written to" in refused


def test_rows_say_what_the_scan_took(client: Client) -> None:
    given = {"where": "fruit = 'fig' OR fruit = 'apple'", "provenance": True}
    told = client.data(type="ask", question="rows", table=TABLE, arguments=given)["blocks"]
    rows = next(block for block in told if block["kind"] == "rows")
    links = {column["name"]: column["link"] for column in rows["columns"]}
    assert links["_file"] == "data_file"
    path = rows["rows"][0][[column["name"] for column in rows["columns"]].index("_file")]
    show = {"type": "show", "kind": "data_file", "key": path, "snapshot": "main"}
    assert client.data(type="graph", table=TABLE, action=show)["details"]["title"]
    report = next(block for block in told if block["kind"] == "group")
    assert report["title"].startswith("Scan report")


def test_a_race_is_told_while_it_runs(client: Client) -> None:
    done = lab(client, "race", writers=2, commits=2)
    assert "4 commits were acknowledged; there are 4 snapshots and 4 rows" in done["words"]
    assert lab(client, "laps")["picture"].startswith("<svg")
