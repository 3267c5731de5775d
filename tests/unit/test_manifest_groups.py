"""Long manifest lists in the app: groups that unfold in place, and levels that fold into the snapshots' cards."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import explorer
from explorer.app.tree_state import TreeState
from explorer.graph.ids import manifest_node
from explorer.graph.manifest_groups import GROUPS, manifest_groups
from explorer.model.manifest import FieldSummary, ManifestFile
from explorer.spec.doctor.findings import Finding
from explorer.spec.text.names import snapshot_ordinals
from explorer.spec.text.units import brief_count
from explorer.table import Table
from tests.support import direct
from tests.support.app_client import Client

TABLE = "demo.long_history"


@pytest.fixture(scope="module")
def table(sandbox: Path) -> Table:
    return explorer.open_table(TABLE).engine


@pytest.fixture
def client(sandbox: Path) -> Iterator[Client]:
    made = Client()
    yield made
    made.session.close()


def listed(table: Table, snapshot: str) -> list[ManifestFile]:
    return table.tree.manifests(table.resolve(snapshot).snapshot)


def draw(client: Client, snapshot: str = "snapshot-95", **more: Any) -> dict[str, Any]:
    told = client.data(type="graph", table=TABLE, snapshot=snapshot, **more)
    assert isinstance(told, dict)
    return told


def of_kind(drawn: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    return [node for node in drawn["picture"]["nodes"] if node["kind"] == kind]


# -- which groups ------------------------------------------------------------------------------------------------------
def test_manifests_of_many_snapshots_are_grouped_by_these(table: Table) -> None:
    manifests = listed(table, "snapshot-95")
    groups = manifest_groups(manifests, table.metadata, snapshot_ordinals(table.metadata))
    assert 15 <= len(groups) <= GROUPS + 5
    assert groups[0].label == "snapshot-91 … snapshot-95"
    paths = [manifest.manifest_path for group in groups for manifest in group.manifests]
    assert sorted(paths) == sorted(manifest.manifest_path for manifest in manifests)


def test_manifests_of_one_snapshot_are_grouped_by_their_first_partition_field(table: Table) -> None:
    one = listed(table, "snapshot-95")[0]
    many = [
        replace(one, manifest_path=f"m{at}.avro", partitions=(_summary(f"region-{at:03}", f"region-{at + 1:03}"),))
        for at in range(100)
    ]
    groups = manifest_groups(many[::-1], table.metadata, snapshot_ordinals(table.metadata))
    assert [group.label for group in groups[:2]] == ["region-000 … region-005", "region-005 … region-010"]
    assert {group.by for group in groups} == {"region"}
    assert [len(group.manifests) for group in groups] == [5] * GROUPS


def test_without_bounds_they_are_grouped_in_their_order_and_few_deletes_stand_alone(table: Table) -> None:
    one = listed(table, "snapshot-95")[0]
    many = [replace(one, manifest_path=f"m{at}.avro", partitions=None) for at in range(60)]
    deletes = [replace(one, manifest_path=f"d{at}.avro", content=1) for at in range(2)]
    groups = manifest_groups([*many, *deletes], table.metadata, snapshot_ordinals(table.metadata))
    assert groups[0].label == "manifests 1 to 4"
    assert [len(group.manifests) for group in groups[-2:]] == [1, 1]


def _summary(first: str, last: str) -> FieldSummary:
    return FieldSummary(False, False, first.encode(), last.encode())


# -- how they are drawn ------------------------------------------------------------------------------------------------
def test_a_group_says_what_is_in_it_and_unfolds_in_place(client: Client) -> None:
    drawn = draw(client)
    groups = of_kind(drawn, "manifest_group")
    assert 15 <= len(groups) <= 25
    assert not of_kind(drawn, "data_manifest")
    first = groups[0]
    assert first["card"]["measures"] == "5 manifests · 20 files"
    assert first["card"]["rows"] == 20
    assert ["region", "africa … oceania"] in first["card"]["chips"]
    opened = client.data(type="graph", table=TABLE, action={"type": "toggle", "id": first["id"]})
    manifests = of_kind(opened, "data_manifest")
    assert len(manifests) == 5
    tops = {node["id"]: node["y"] for node in opened["picture"]["nodes"]}
    assert tops[first["id"]] < min(node["y"] for node in manifests)
    assert max(node["y"] for node in manifests) < tops[groups[1]["id"]]
    chosen = client.data(type="graph", table=TABLE, action={"type": "select", "ids": [first["id"]]})
    assert chosen["details"]["sections"][0]["columns"][0] == "manifest"


def test_what_a_list_names_is_brought_up_from_its_group(client: Client, table: Table) -> None:
    draw(client)
    path = listed(table, "snapshot-95")[40].manifest_path
    shown = client.data(type="graph", table=TABLE, action={"type": "show", "kind": "manifest", "key": path})
    [node] = [one for one in shown["picture"]["nodes"] if one["id"] in shown["selected"]]
    assert (node["kind"], node["title"]) == ("data_manifest", path)


def test_few_manifests_are_drawn_one_by_one(client: Client) -> None:
    assert not of_kind(draw(client, "snapshot-30"), "manifest_group")


def test_findings_of_many_manifests_are_drawn_in_groups(client: Client) -> None:
    """A folded group has the findings of its manifests; unfolded, each has its own."""
    drawn = client.data(type="graph", table=TABLE, mode="findings", snapshot="snapshot-95")
    groups = of_kind(drawn, "manifest_group")
    assert 5 < len(groups) < 40
    view = TreeState(direct.open_table(TABLE), "snapshot-95")
    group = next(node for node in view.graph.nodes if node.kind == "manifest_group")
    path = group.facts["paths"][0]
    view.mark([Finding("manifest-counts", "error", "a count is wrong", path, node=("manifest", path))])
    marked = {node.id: node.problem for node in view.graph.nodes if node.problem}
    assert set(marked) == {group.id}
    view.handle({"type": "toggle", "id": group.id})
    marked = {node.id: node.problem for node in view.graph.nodes if node.problem}
    assert set(marked) == {manifest_node(path)}


def test_a_plan_of_many_manifests_draws_those_that_are_read_first(client: Client) -> None:
    drawn = client.data(type="graph", table=TABLE, mode="plan", snapshot="snapshot-95", filter="region = 'asia'")
    shown = of_kind(drawn, "data_manifest")
    assert len(shown) == 40
    statuses = [node["status"] for node in shown]
    assert statuses == sorted(statuses, key=lambda status: status != "read")
    [more] = drawn["picture"]["more"]
    assert more["label"] == "55 more data manifests"


# -- levels ------------------------------------------------------------------------------------------------------------
def test_metadata_files_and_manifest_lists_fold_into_the_snapshots(client: Client) -> None:
    drawn = draw(client, "main", levels=False)
    assert not of_kind(drawn, "metadata") + of_kind(drawn, "manifest_list") + of_kind(drawn, "catalog")
    assert [column["name"] for column in drawn["picture"]["columns"]] == ["snapshots", "manifests"]
    assert drawn["asked"]["levels"] is False
    focus = next(node for node in drawn["picture"]["nodes"] if node["focus"])
    assert ["manifests", "3"] in focus["card"]["chips"]
    [more] = [one for one in drawn["picture"]["more"] if one["action"] == "levels"]
    assert "metadata files" in more["label"]
    whole = client.data(type="graph", table=TABLE, levels=False, action={"type": "page", "id": more["id"]})
    assert {"catalog", "metadata", "manifest_list"} <= {node["kind"] for node in whole["picture"]["nodes"]}
    assert whole["asked"]["levels"] is True


def test_a_snapshot_without_its_list_folds_as_one_with_it(client: Client) -> None:
    drawn = draw(client, "main", levels=False)
    focus = next(node for node in drawn["picture"]["nodes"] if node["focus"])
    folded = client.data(type="graph", table=TABLE, action={"type": "toggle", "id": focus["id"]})
    assert not of_kind(folded, "data_manifest")
    assert next(node for node in folded["picture"]["nodes"] if node["focus"])["fold"] == "folded"


def test_a_manifest_list_that_has_no_node_leads_to_its_snapshot(client: Client, table: Table) -> None:
    draw(client, "main", levels=False)
    snapshot = table.resolve("snapshot-299").snapshot
    action = {"type": "show", "kind": "manifest_list", "key": snapshot.manifest_list}
    assert client.data(type="graph", table=TABLE, action=action)["snapshot"] == str(snapshot.snapshot_id)


@pytest.mark.parametrize(
    ("number", "text"),
    [(1, "1 row"), (9_999_999, "9,999,999 rows"), (12_345_678, "12.3 million rows"),
     (110_197_096_371, "110 billion rows"), (2_500_000_000_000, "2,500 billion rows")],
)  # fmt: skip
def test_large_numbers_are_brief(number: int, text: str) -> None:
    assert brief_count(number, "row") == text
