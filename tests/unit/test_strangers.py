"""What a stranger's metadata may be made of: kinds, ids and counts that no table has, names and numbers without end.
Each is told, or left out with a word, and what is held and shown of it is bounded."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import fastavro
import pytest
from click.testing import CliRunner

import explorer
from explorer.cli import main
from explorer.graph.delete_graph import MANY, delete_graph
from explorer.graph.source import GraphSource, GraphView
from explorer.graph.table_graph import build
from explorer.render.history_pictures import MANIFESTS, lifecycle_svg
from explorer.render.map_picture import map_svg
from explorer.render.pictures import TOLD
from explorer.render.text import render_tree
from explorer.spec.deletes.snapshot_deletes import Deletes
from explorer.spec.entries.live_files import LiveFile
from explorer.spec.entries.numpy_columns import MOST
from explorer.spec.layout.file_map import LONGEST
from explorer.spec.snapshots.lifecycle import LifecycleCell
from explorer.spec.text.names import SORTED, first_of, natural
from tests.robustness.editing import Records, edit_avro
from tests.support import direct
from tests.support.paper_tables import applicability, deletes_of
from tests.support.small_tables import edit_metadata, make_table, partitioned


def list_of(table: direct.Table) -> Path:
    """The manifest list of its current snapshot."""
    snapshot = table.metadata.current_snapshot
    assert snapshot is not None
    assert snapshot.manifest_list
    return Path(snapshot.manifest_list.removeprefix("file://"))


@pytest.mark.parametrize("content", [7, -1])
def test_a_delete_file_of_no_known_kind_is_told_and_no_delete(tmp_path: Path, content: int) -> None:
    table = direct.open_table(str(make_table(tmp_path / "t", commits=2)))
    listed = list_of(table)
    with listed.open("rb") as file:
        first = next(iter(fastavro.reader(file)))
    manifest = Path(first["manifest_path"].removeprefix("file://"))
    odd = manifest.with_name("odd-m0.avro")
    shutil.copy(manifest, odd)

    def entries(rows: Records) -> Records:
        changed = {"content": content, "file_path": "odd.parquet"}
        return [{**row, "data_file": {**row["data_file"], **changed}} for row in rows]

    edit_avro(odd, entries)
    record = {**first, "manifest_path": str(odd), "content": 1, "manifest_length": odd.stat().st_size}
    edit_avro(listed, lambda rows: rows.append(record))
    table = direct.open_table(table.metadata.metadata_location)
    deletes = table.deletes()
    assert (len(deletes.files.data), len(deletes.files.deletes)) == (2, 0)
    assert [str(odd)] == [p.file for p in table.problems if p.rule == "manifest-content"]
    assert len(direct.file_map(table, deletes=True)) == 3
    numbers = {n.name: n.value for section in direct.health(table).sections for n in section.numbers}
    assert (numbers["data files"], numbers["equality delete files"], numbers["position delete files"]) == (2, 0, 0)
    assert direct.doctor(table).worst
    assert table.plan("id = 1").delete_files == 0


def test_a_manifest_that_is_listed_as_both_is_read_as_both(tmp_path: Path) -> None:
    table = direct.open_table(str(make_table(tmp_path / "t", commits=2)))
    edit_avro(list_of(table), lambda rows: rows.append({**rows[0], "content": 1}))
    table = direct.open_table(table.metadata.metadata_location)
    assert [cost.deletes for cost in table.deletes().costs] == [0, 0]


def many(table: direct.Table, number: int, **more: Any) -> Deletes:
    """A data file, and so many position deletes that apply to it."""
    data = LiveFile("data.parquet", "data_file", 0, {}, 1, 1, 10, 100, "m1")
    deletes = [replace(data, path=str(at), kind="position_deletes", sequence_number=5, **more) for at in range(number)]
    return deletes_of(applicability(table.metadata, [data, *deletes]))


@pytest.mark.parametrize("named", [None, "data.parquet"])
def test_sizes_that_no_file_has_add_up_to_the_most_there_can_be(table: direct.Table, named: str | None) -> None:
    deletes = many(table, 9_000, record_count=2**63 - 1, size=2**63 - 1, referenced_data_file=named)
    [cost] = deletes.costs
    assert (cost.position, cost.delete_rows, cost.delete_bytes) == (9_000, MOST, MOST)


def test_of_thousands_of_deletes_a_graph_draws_some_and_says_so(table: direct.Table) -> None:
    graph = delete_graph("t", 1, many(table, 3_000))
    assert (len(graph.nodes), len(graph.edges)) == (1 + MANY, MANY)
    assert [(group.hidden, group.total) for group in graph.elided] == [(3_000 - MANY, 3_000)]


def test_of_many_deletes_without_a_data_file_a_graph_draws_some_and_says_so(table: direct.Table) -> None:
    data = LiveFile("data.parquet", "data_file", 0, {}, 7, 7, 10, 100, "m1")
    alone = [replace(data, path=str(at), kind="position_deletes", sequence_number=1) for at in range(300)]
    graph = delete_graph("t", 1, deletes_of(applicability(table.metadata, [data, *alone])))
    dead = [n for n in graph.nodes if n.card and n.card.dead]
    hidden = [group for group in graph.elided if "without a data file" in group.label]
    assert len(dead) + sum(group.hidden for group in hidden) == 300


@pytest.fixture
def table(whole: Path) -> direct.Table:
    return direct.open_table(str(whole))


def test_a_name_without_end_is_sorted_by_its_beginning() -> None:
    assert len(natural("1a" * 1_000_000)) == SORTED
    assert sorted(["day=10", "day=9"], key=natural) == ["day=9", "day=10"]


def test_partitions_of_long_names_stay_apart(tmp_path: Path) -> None:
    place = partitioned(tmp_path)

    def longer(metadata: dict[str, Any]) -> None:
        for spec in metadata["partition-specs"]:
            for field in spec["fields"]:
                field["name"] = field["name"] + "n1" * 240

    known = direct.file_map(direct.open_table(str(edit_metadata(place, longer))))
    assert len(set(known.partitions)) == 130
    assert max(map(len, known.partitions)) <= LONGEST + 17
    drawn = map_svg([replace(c, path="p" * 10_000) for c in known.every], "partition")
    texts = re.findall(r"<(?:text|title)[^>]*>([^<]*)", drawn)
    assert len(texts) > 130
    assert max(map(len, texts)) <= TOLD


def test_a_spec_may_have_an_id_below_0(tmp_path: Path) -> None:
    place = partitioned(tmp_path)
    edit_metadata(place, lambda metadata: metadata["partition-specs"][-1].update({"spec-id": -1}))
    table = direct.open_table(str(place))
    edit_avro(list_of(table), lambda rows: [row.update(partition_spec_id=-1) for row in rows] and rows)
    table = direct.open_table(str(place))
    assert len(direct.file_map(table).partitions) == 130


def test_no_filter_goes_by_two_fields_of_one_id(tmp_path: Path) -> None:
    place = partitioned(tmp_path)

    def same(metadata: dict[str, Any]) -> None:
        for field in metadata["partition-specs"][-1]["fields"]:
            field["field-id"] = 1000

    table = direct.open_table(str(edit_metadata(place, same)))
    left = {stage.name: stage.left.files for stage in table.plan("id = 1").stages}
    assert list(left.values())[:3] == [130, 130, 130]  # bounds of columns tell files apart, partitions do not
    assert "has 2 fields with the field id 1000" in repr(direct.doctor(table))


@pytest.mark.parametrize(
    ("title", "hidden"),
    [("c.https://bob:pa.ssw0rd@host", "ssw0rd"), ("c.db.password=hun.ter2secret", "ter2secret")],
)
def test_a_credential_is_hidden_before_a_name_is_cut(table: direct.Table, title: str, hidden: str) -> None:
    view = GraphView(snapshot_id=table.metadata.current_snapshot_id)
    graph = build(GraphSource(title, table.metadata, "c"), view)
    told = render_tree(graph)
    assert hidden not in told
    assert "(hidden)" in told
    plain = build(GraphSource("c.db.t", table.metadata, "c"), view)
    assert (plain.nodes[0].label, plain.nodes[0].lines[0]) == ("t", "in c.db")


def test_manifests_that_all_went_into_all_are_drawn_and_told_in_part() -> None:
    long = "manifest-1.m" + "7" * 50_000
    names = [f"manifest-2.m{at}" for at in range(300)]
    into = (long, *names)
    old = [LifecycleCell(f"a{at}", f"manifest-1.m{at}", 1, "snapshot-1", "created") for at in range(300)]
    gone = [replace(cell, snapshot_id=2, snapshot="snapshot-2", state="merged", into=into) for cell in old]
    new = [LifecycleCell(f"b{at}", name, 2, "snapshot-2", "created") for at, name in enumerate(into)]
    drawn = lifecycle_svg([*old, *gone, *new])
    assert drawn.count("<path") <= MANIFESTS**2
    assert max(map(len, re.findall(r"<(?:text|title)[^>]*>([^<]*)", drawn))) <= TOLD
    told = first_of(into)
    assert told.endswith("manifest-2.m18 and 281 more")
    assert len(told) < 20 * 62


def test_a_port_that_there_is_not_is_refused() -> None:
    told = CliRunner().invoke(main, ["serve", "--port", "99999"])
    assert told.exit_code == 2
    assert "99999 is not in the range" in told.output


def test_nothing_of_a_table_is_typeset_in_a_notebook(tmp_path: Path) -> None:
    place = edit_metadata(
        make_table(tmp_path), lambda metadata: metadata["snapshots"][-1]["summary"].update(operation="$$x$$")
    )
    table = direct.open_table(str(place))
    plan = table.plan("id = 1")
    shown = (direct.overview(table), table.snapshots, direct.health(table), direct.doctor(table))
    for result in (*shown, table.plan_pictures(plan)):
        assert result._repr_html_().startswith('<div class="tex2jax_ignore mathjax_ignore">')
    for result in (table.lifecycle(), table.diff(None, "main"), table.lineage()):
        assert explorer.show(result)._repr_html_().startswith('<div class="tex2jax_ignore mathjax_ignore">')
