"""Every node of every scenario can be inspected, and nothing in tables that Iceberg wrote is found wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from explorer.core.totals import totals
from explorer.inspection import inspect
from explorer.scenarios import SCENARIOS
from tests.helpers import open_demo


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


def test_a_wrong_total_is_marked(sandbox: Path) -> None:
    table = open_demo("three_inserts")
    listed = table.tree.manifests(table.metadata.current_snapshot)
    wrong = totals({"total-records": "99", "total-data-files": "3"}, listed)
    assert {t.name: t.agrees for t in wrong} == {
        "total-records": False,
        "total-data-files": True,
        "total-delete-files": None,
    }
