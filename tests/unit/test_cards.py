"""What the app's cards say: measures, partition values, operations, and which deletes hide nothing any more."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from explorer.app.answer_states import CompareState, DeletesState, PlanState
from explorer.app.graph_state import ViewState
from explorer.graph.graph import Card, partition_chips
from explorer.graph.summary import summary
from explorer.graph.vocabulary import OPERATION_MARKS, OPERATIONS
from explorer.lab.scenarios import packed
from explorer.render.svg import picture, vocabulary
from explorer.storage.data_dirs import HOME_VARIABLE, sandbox_home
from explorer.table import Table
from tests.support import direct
from tests.support.small_tables import make_table, partitioned


def cards(state: ViewState | DeletesState) -> dict[str, Card]:
    return {n.label: n.card for n in state.graph.nodes if n.card is not None}


@pytest.fixture
def teaching(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Opens a teaching table by its name."""
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path))

    def open_table(name: str) -> Table:
        packed.unpack(sandbox_home(), [name])
        return direct.open_table(f"demo.{name}")

    return open_table


def test_a_manifest_says_who_added_it_and_what_its_files_are_now(tmp_path: Path) -> None:
    table = direct.open_table(str(make_table(tmp_path, commits=2)))
    told = cards(ViewState(table))
    assert told["manifest-2"] == Card("1 file · 2 rows", "added here", rows=2)
    assert told["manifest-1"] == Card("1 file · 2 rows", "added by snapshot-1, existing now", rows=2)
    assert (told["snapshot-2"].operation, told["snapshot-2"].measures) == ("append", "+1 file · +2 rows")


def test_partitions_are_names_with_values_and_ranges_of_them(tmp_path: Path) -> None:
    state = ViewState(direct.open_table(str(partitioned(tmp_path))))
    [manifest] = [n for n in state.graph.nodes if n.kind == "data_manifest"]
    assert manifest.card is not None
    assert manifest.card.chips == (("id", "0 … 129"), ("kind", "$$x$$ … <b>"))
    state.handle({"type": "toggle", "id": manifest.id})
    first = next(n for n in picture(state.graph)["nodes"] if n["kind"] == "data_file")
    assert [name for name, _ in first["card"]["chips"]] == ["id", "kind"]
    assert first["card"]["rows"] == 1


def test_a_delete_is_dead_where_all_data_files_are_drawn_and_it_applies_to_none(teaching: Any) -> None:
    state = ViewState(teaching("mixed_modes"))
    [dead] = [n for n in state.graph.nodes if n.kind == "position_deletes"]
    assert dead.card is not None
    assert dead.card.dead
    assert ("applies to", "no file", "it hides nothing any more") in summary(state.graph, dead)
    manifest = next(
        e.source for e in state.graph.edges if e.target in {n.id for n in state.graph.nodes if n.status == "ADDED"}
    )
    state.handle({"type": "toggle", "id": manifest})  # a data file is not drawn: who knows
    assert not any(card.dead for card in cards(state).values())


def test_a_live_delete_is_not_dead_and_both_ends_say_so(teaching: Any) -> None:
    state = ViewState(teaching("deletion_vectors"))
    assert not any(card.dead for card in cards(state).values())
    vector, data = (
        next(n for n in state.graph.nodes if n.kind == kind and n.status == status)
        for kind, status in (("deletion_vector", "ADDED"), ("data_file", "EXISTING"))
    )
    told = {name: value for name, value, _ in summary(state.graph, vector)}
    assert (told["deleted rows"], told["size"], told["status"]) == ("2", "44 B", "added")
    [target] = [n for n in state.graph.nodes if n.label == told["applies to"]]
    state.select(target.id)
    details = state.selection()["details"]
    assert details["summary"][0] == ["status", "existing", ""]
    assert ["hidden by", vector.label, ""] in details["summary"]
    assert data.kind == target.kind


def test_an_edge_says_why_a_delete_does_not_apply(teaching: Any) -> None:
    state = DeletesState(teaching("equality_deletes"), None)
    edges = picture(state.graph)["edges"]
    assert {e["kind"] for e in edges} == {"applies", "does not apply"}
    assert all(("why" in e) == (e["kind"] == "does not apply") for e in edges)
    [delete] = [n for n in state.graph.nodes if n.kind == "equality_deletes"]
    told = {name: value for name, value, _ in summary(state.graph, delete)}
    assert told["applies to"] == "data-1.parquet"
    assert "data-2.parquet" in told["does not apply to"]
    assert next(hint for name, _, hint in summary(state.graph, delete) if name == "does not apply to")


@pytest.mark.parametrize(
    ("path", "chips"),
    [(None, ()), ("", ()), ("day=2024-01-01", (("day", "2024-01-01"),)), ("a=x/b=y=z", (("a", "x"), ("b", "y=z"))),
     ("path=/a/b/kind=c", (("path", "/a/b"), ("kind", "c")))],
)  # fmt: skip
def test_a_partition_of_a_plan_or_a_difference_is_told_in_chips(
    path: str | None, chips: tuple[tuple[str, str], ...]
) -> None:
    assert partition_chips(path) == chips


def test_plans_and_differences_have_cards(tmp_path: Path) -> None:
    table = direct.open_table(str(partitioned(tmp_path)))
    plan = PlanState(table, table.plan("id = 7"))
    [manifest] = [n for n in plan.graph.nodes if n.kind == "data_manifest"]
    plan.handle({"type": "toggle", "id": manifest.id})
    read = next(n for n in plan.graph.nodes if n.kind == "data_file" and n.status == "read")
    assert read.card is not None
    assert read.card.chips[0] == ("id", "7")
    assert read.card.rows == 1
    compared = CompareState(table, None, None)
    assert all(n.card and n.card.chips for n in compared.graph.nodes if n.kind == "data_file")


def test_every_operation_has_a_colour_and_a_shape_of_its_own() -> None:
    assert OPERATIONS.keys() == OPERATION_MARKS.keys()
    told = vocabulary()
    assert len({*told["operation_marks"].values(), told["operation_mark"]}) == len(OPERATIONS) + 1
