"""Every node of every scenario can be inspected, and nothing in tables that Iceberg wrote is found wrong."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from explorer.app.graph_state import ViewState
from explorer.cli import main
from explorer.lab.scenarios import SCENARIOS
from explorer.questions.answers import JSON_FORMAT
from explorer.render.rows import plain
from explorer.reports.inspector import inspect
from explorer.spec.overview.summary_totals import totals
from tests.support.helpers import open_demo


@pytest.mark.parametrize("name", [s.name for s in SCENARIOS])
def test_every_node_can_be_inspected(name: str, sandbox: Path) -> None:
    table = open_demo(name)
    for node in table.graph().nodes:
        found = inspect(table, node)
        assert not found.problems, node
        assert found.sections, node
        text = json.dumps(found.to_json())
        assert "contradict" not in text, node
    assert not table.problems


@pytest.mark.parametrize("name", [s.name for s in SCENARIOS])
def test_summaries_agree_with_their_manifest_lists(name: str, sandbox: Path) -> None:
    table = open_demo(name)
    for snapshot in table.metadata.snapshots:
        found = totals(snapshot.summary, table.tree.manifests(snapshot))
        assert not [t for t in found if t.agrees is False], snapshot.snapshot_id
        assert any(t.agrees for t in found)


def test_a_sort_order_is_told_in_words(sandbox: Path) -> None:
    table = open_demo("orders")
    words = "by order_date (3) ascending, nulls first; then name (4) descending, nulls last"
    files = [node for node in table.graph().nodes if node.kind == "metadata"]
    assert words in json.dumps([inspect(table, node).to_json() for node in files])
    written = [row["sort_order_id"] for row in table.files(metrics=True)]
    assert sorted(written) == [0, 0, 1]


def test_footers_of_live_files(sandbox: Path) -> None:
    def footer(table: str, file: str, *more: str) -> Result:
        return CliRunner().invoke(main, ["inspect", "file", f"demo.{table}", file, "--show", "footer", *more])

    orders, events, vectors = (open_demo(n) for n in ("orders", "events", "deletion_vectors"))
    old, new = sorted(f["file_path"] for f in orders.files() if "customer_id=1" in f["file_path"])
    assert [(c["path"], c["field_id"]) for c in orders.footer(new)["columns"]] == [
        ("customer_id", 1), ("order_date", 3), ("name", 4),
    ]  # fmt: skip
    assert [c["field_id"] for c in orders.footer(old)["columns"]] == [1, 2, 3]
    text = footer("orders", new.rsplit("/", 1)[-1]).output
    assert '"id":4,"name":"name","required":true' in text
    assert "Koala       Wombat" in text
    printed = json.loads(footer("orders", new, "-o", "json").output)
    assert printed == {"json_format": JSON_FORMAT, **plain(orders.footer(new))}
    orc = next(f["file_path"] for f in events.files() if f["file_path"].endswith(".orc"))
    assert footer("events", orc).exit_code == 1
    assert "no footer" in footer("events", orc).output
    vector = next(f["file_path"] for f in vectors.files() if f["content"])
    assert "deletion-vector-v1" in footer("deletion_vectors", vector).output
    assert "no live file" in footer("orders", "nowhere").output


def test_a_wrong_total_is_marked(sandbox: Path) -> None:
    table = open_demo("three_inserts")
    listed = table.tree.manifests(table.metadata.current_snapshot)
    wrong = totals({"total-records": "99", "total-data-files": "3"}, listed)
    assert {t.name: t.agrees for t in wrong} == {
        "total-records": False,
        "total-data-files": True,
        "total-delete-files": None,
    }


def test_the_pointer_is_told_as_the_catalog_stores_it(sandbox: Path) -> None:
    """By command, and for the inspector; a table that no catalog holds has none."""
    table = open_demo("three_inserts")
    with contextlib.closing(sqlite3.connect(f"file:{sandbox / 'catalog.db'}?mode=ro", uri=True)) as catalog:
        cursor = catalog.execute("SELECT * FROM iceberg_tables WHERE table_name = 'three_inserts'")
        row = dict(zip((column[0] for column in cursor.description), cursor.fetchone(), strict=True))
    told = json.loads(CliRunner().invoke(main, ["catalog", "pointer", "demo.three_inserts", "-o", "json"]).stdout)
    assert told["stored"] == row
    opened = {"metadata_location": row["metadata_location"], "previous": row["previous_metadata_location"]}
    assert told["opened"] == opened | {"state": "there", "newer": False, "beside": ""}
    state = ViewState(table)
    assert state.handle({"type": "select", "ids": [n.id for n in table.graph().nodes if n.kind == "catalog"]}) is False
    asks = state.details()
    assert asks is not None
    assert asks["actions"] == [["pointer", "Ask the catalog what it stores"]]
    assert "iceberg_tables" not in json.dumps(asks)  # which is not asked by a click, nor for an exported page
    state.handle({"type": "pointer"})
    knows = state.details()
    assert knows is not None
    assert knows["actions"] == []
    assert "the row of iceberg_tables in sqlite" in json.dumps(knows)
    by_path = CliRunner().invoke(main, ["catalog", "pointer", table.metadata.metadata_location])
    assert by_path.exit_code == 1
    assert "no catalog points to it" in by_path.output
