"""Diff graphs, lanes of the lineage, costs of commits and runs of names."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from pyiceberg.expressions import EqualTo

from explorer.app.answer_states import CompareState
from explorer.cli import main
from explorer.errors import NotFoundInTable
from explorer.graph.lanes import lanes
from explorer.graph.vocabulary import KINDS
from explorer.questions.answers import JSON_FORMAT
from explorer.render.commit_picture import commit_bytes, commits_svg
from explorer.render.history import change_rows, diff_json, render_lifecycle, run_words
from explorer.render.history_pictures import lifecycle_svg
from explorer.render.row_picture import row_history_svg
from explorer.render.text import render_tree
from explorer.spec.rows.row_versions import RowPlace, Stretch, row_versions
from explorer.spec.snapshots.lifecycle import lives
from explorer.spec.snapshots.lineage import LineageEntry
from explorer.spec.text.names import runs
from explorer.table import Table
from tests.support import direct
from tests.support.small_tables import make_table, writable


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four appends, and a delete that rewrites the first file."""
    made = make_table(tmp_path_factory.mktemp("changes"), commits=4)
    writable(made).delete(EqualTo("id", 0))
    return made


@pytest.fixture(scope="module")
def table(folder: Path) -> Table:
    return direct.open_table(str(folder))


def test_a_diff_graph_tells_added_removed_and_kept_apart(table: Table) -> None:
    graph = table.diff_graph("snapshot-2", "snapshot-5")
    by_status = {s: sorted(n.kind for n in graph.nodes if n.status == s) for s in ("added", "removed", "kept")}
    assert by_status["added"].count("data_file") == 3
    assert by_status["removed"] == ["data_file", "data_manifest"]
    assert by_status["kept"] == []
    assert [e.label for e in graph.elided] == ["1 manifest kept, not decoded"]
    assert {n.lines for n in graph.nodes if n.kind == "data_manifest"} == {
        ("lists 1 added file",),
        ("lists 0 added files", "says DELETED of 1 file"),
        ("lists 1 removed file", "rewritten"),
    }
    assert "rewritten" in render_tree(graph)
    assert {e.kind for e in graph.edges} == {"contains", "compared with", "rewritten into"}


def test_the_life_of_each_manifest_has_a_beginning_and_an_end(table: Table) -> None:
    snapshots, each = lives(table.lifecycle())
    assert snapshots == [f"snapshot-{n}" for n in range(1, len(snapshots) + 1)]
    last = len(snapshots) - 1
    assert [(life.manifest, [run[:2] for run in life.runs]) for life in each[:2]] == [
        ("manifest-1", [(0, last - 1)]), ("manifest-2", [(1, last)]),
    ]  # fmt: skip
    [(at, end)] = each[0].ends
    assert (at, end.state, each[1].ends) == (last, "rewritten", ())
    odd = [replace(cell, added=-5, manifest="manifest-1") for cell in table.lifecycle()]  # of another writer's list
    lines = set(re.findall(r'<line [^>]*y1="([\d.]+)"', lifecycle_svg(odd)))
    assert len(lines) == len(each)


def test_a_manifest_of_deletes_is_told_from_others(table: Table) -> None:
    cells = table.lifecycle()
    assert {cell.kind for cell in cells} == {"data_manifest"}
    assert "lists" not in render_lifecycle(cells)
    assert "delete manifest" not in lifecycle_svg(cells)
    mixed = [replace(c, kind="delete_manifest") if c.manifest == "manifest-2" else c for c in cells]
    told = render_lifecycle(mixed).splitlines()
    assert [line.split()[:2] for line in told if line.startswith("manifest-")] == [
        [name, "deletes" if name == "manifest-2" else "data"] for name in dict.fromkeys(c.manifest for c in cells)
    ]
    assert {KINDS[kind].color in lifecycle_svg(mixed) for kind in ("data_manifest", "delete_manifest")} == {True}


def test_a_fate_is_a_bar_for_each_stored_row(table: Table) -> None:
    """A row that was rewritten into another file is two bars, one after the other; what hides a row begins another."""
    versions = table.row_history("id = 0 or id = 100").versions
    snapshots = [(s.snapshot_id, f"snapshot-{n}") for n, s in enumerate(table.metadata.snapshots, 1)]
    last = len(snapshots) - 1
    told = [(v.row["id"], [e.what for _, e in v.events], v.stretches) for v in versions]
    assert told == [
        (0, ["appeared", "deleted"], (Stretch(0, last - 1),)), (100, ["appeared"], (Stretch(0, last - 1),)),
        (100, ["copied"], (Stretch(last, last),)),
    ]  # fmt: skip
    drawn = row_history_svg(versions, snapshots, snapshots[-1][0])
    keys = re.findall(r'data-kind="file" data-key="([^"]*)"', drawn)
    assert keys == [version.file for version in versions for _ in version.stretches]
    assert drawn.count("readers see it</title>") == 3
    assert drawn.count("stroke-dasharray") == 1  # the snapshot that was asked about
    place = RowPlace("file", 7)
    [version] = row_versions([1, 2, 3, 4], {place.row_key: {}}, [{place: ""}, {place: "a"}, {}, {place: "a"}], [])
    assert version.stretches == (Stretch(0, 0), Stretch(1, 1, "a"), Stretch(3, 3, "a"))


def test_kept_manifests_unfold_and_what_both_read_stays_folded(table: Table) -> None:
    state = CompareState(table, "snapshot-1", "snapshot-4")
    folded = state.graph.elided[0]
    assert state.handle({"type": "page", "id": folded.id})
    kept = [n for n in state.graph.nodes if n.status == "kept"]
    assert len(kept) == 1
    assert sum(e.target == kept[0].id for e in state.graph.edges) == 2  # both lists name it
    assert not state.handle({"type": "select", "ids": [kept[0].id]})
    details = state.details()
    assert details
    assert details["kind"] == "data manifest"
    same = CompareState(table, "snapshot-4", "snapshot-4")
    assert [n.kind for n in same.graph.nodes] == ["snapshot", "manifest_list"]


def test_files_that_both_read_are_counted_in_a_rewritten_manifest(tmp_path: Path) -> None:
    made = make_table(
        tmp_path, 3, **{"commit.manifest-merge.enabled": "true", "commit.manifest.min-count-to-merge": "2"}
    )
    merged = direct.open_table(str(made))
    change = merged.diff("snapshot-1", "snapshot-3")
    assert len(change.added) == 2
    assert not change.removed
    assert sorted(change.carried.values()) == [1, 1]
    assert "1 file on both sides" in [e.label for e in merged.diff_graph("snapshot-1", "snapshot-3").elided]


def test_nothing_is_the_table_before_its_first_snapshot(tmp_path: Path) -> None:
    folder = make_table(tmp_path)
    table = direct.open_table(str(folder))
    told = CliRunner().invoke(main, ["diff", str(folder), "none", "main", "-o", "json"])
    data = json.loads(told.stdout)
    assert data == {"json_format": JSON_FORMAT, **diff_json(table.diff(None, "main"))}
    assert len(data["added_data_files"]) == len(table.files())
    come = CliRunner().invoke(main, ["data", "diff", str(folder), "none", "main", "-o", "json"])
    assert come.exit_code == 0, come.output
    assert "none" not in come.stderr
    writable(folder).manage_snapshots().create_tag(table.metadata.snapshots[0].snapshot_id, "none").commit()
    tagged = CliRunner().invoke(main, ["diff", str(folder), "none", "main", "-o", "json"])
    assert json.loads(tagged.stdout) == {"json_format": JSON_FORMAT, **diff_json(table.diff("snapshot-1", "main"))}


def entry(own: int, parent: int | None) -> LineageEntry:
    return LineageEntry(own, f"snapshot-{own}", parent, None, own, "append", "ancestor", (), (), ())


def test_lanes_stay_apart_until_the_parent() -> None:
    rows = lanes([entry(1, None), entry(2, 1), entry(3, 1), entry(4, 2), entry(5, 99)])
    assert [(r.lane, r.above, r.continues, r.through) for r in rows] == [
        (0, (), False, ()),  # 5: its parent has expired
        (0, (), True, ()),  # 4
        (1, (), True, (0,)),  # 3: a lane of its own
        (0, (0,), True, (1,)),  # 2
        (0, (0, 1), False, ()),  # 1: both come together
    ]


def test_costs_of_commits(table: Table) -> None:
    run = table.commits()
    assert [c.operation for c in run.commits] == ["append"] * 4 + ["overwrite"]
    last = run.commits[-1]
    assert (last.data_files_added, last.data_files_removed, last.rows_added, last.rows_removed) == (1, 1, 1, 2)
    live = sum(f["file_size_in_bytes"] for f in table.files())
    assert run.bytes_kept == live
    assert run.bytes_written == live + last.bytes_removed
    assert run.write_amplification == pytest.approx(run.bytes_written / live)
    assert all(c.manifest_list_bytes and c.metadata_json_bytes and c.manifest_bytes for c in run.commits)
    assert "write amplification 1.2" in run_words(run, table.metadata)
    drawn = commits_svg(run)
    assert re.findall(r'data-kind="snapshot" data-key="(\d+)"', drawn) == [str(c.snapshot_id) for c in run.commits] * 2
    assert [sum(size or 0 for size in commit_bytes(c).values()) for c in run.commits] == [
        c.bytes_added + c.metadata_bytes for c in run.commits
    ]
    part = table.commits("snapshot-2", "snapshot-4")
    assert [c.snapshot for c in part.commits] == ["snapshot-3", "snapshot-4"]
    assert part.write_amplification == 1
    with pytest.raises(NotFoundInTable, match="no ancestor"):
        table.commits("snapshot-4", "snapshot-2")


def test_changes_in_words() -> None:
    changes: dict[str, Any] = {
        "snapshots": {"expired": [7]},
        "refs": {"changed": {"main": [["branch", 1], ["branch", 2]]}},
        "schema": {"added": {"3": {"name": "c", "type": "int", "required": False}}, "reordered": ["b", "a"]},
        "properties": {"changed": {"k": ["1", "2"]}, "removed": {"gone": "x"}},
        "spec": {"default": [0, 1]},
        "format_version": [1, 2],
    }
    assert change_rows(changes) == [
        ("snapshots", "7", "expired"),
        ("refs", "main", "branch at 1 → branch at 2"),
        ("schema", "field 3", "added: c int"),
        ("schema", "", 'reordered: ["b", "a"]'),
        ("properties", "k", "1 → 2"),
        ("properties", "gone", "removed: x"),
        ("spec", "default", "0 → 1"),
        ("format version", "", "1 → 2"),
    ]


def test_runs_of_names() -> None:
    assert (
        runs(["snapshot-1", "snapshot-2", "snapshot-3", "snapshot-5", "expired …1234"])
        == "snapshot-1 to snapshot-3, snapshot-5, expired …1234"
    )
    assert runs([]) == ""


def test_commands(folder: Path) -> None:
    def run(*command: str) -> Any:
        result = CliRunner().invoke(main, [*command, "--output", "json"])
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)

    assert len(run("history", "commits", str(folder), "--first", "snapshot-1")["commits"]) == 4
    assert run("inspect", "partitions", str(folder))[0]["record_count"] == 7
    drawn = ["export", "graph", str(folder), "--diff", "snapshot-1", "snapshot-5"]
    graph = json.loads(CliRunner().invoke(main, [*drawn, "--format", "json"]).stdout)
    assert {n["status"] for n in graph["nodes"]} >= {"added", "removed"}
    wrong = CliRunner().invoke(main, [*drawn, "-s", "snapshot-1"])
    assert wrong.exit_code == 2
    text = CliRunner().invoke(main, ["history", "commits", str(folder)]).stdout
    assert "write amplification" in text
