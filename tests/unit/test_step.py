"""The sentence of a step: what it says, that it agrees with the exact diff, and how little is read for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from explorer.app.graph_state import ViewState
from explorer.app.hosts.file import export_table
from explorer.graph.ids import manifest_node
from explorer.model.manifest import ManifestFile
from explorer.spec.commits.commit_summary import step
from explorer.table import Table
from tests.support import direct, paper_tables
from tests.support.small_tables import make_table, writable
from tests.unit.test_cli import run
from tests.unit.test_standalone import held


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three appends; a file deleted; one rewritten for a row; an append."""
    place = make_table(tmp_path_factory.mktemp("step"), commits=3)
    writable(place).delete("id in (0, 100)")
    writable(place).delete("id = 1")
    writable(place).append(writable(place).scan().to_arrow())
    return place


@pytest.fixture
def table(folder: Path) -> Table:
    return direct.open_table(str(folder))


def base(table: Table, n: int) -> str:
    """The card's name of the file that snapshot n added first."""
    graph = table.graph(f"snapshot-{n}")
    return next(node.label for node in graph.nodes if node.kind == "data_file" and node.status == "ADDED")


def test_each_step_is_a_sentence_in_the_names_of_the_graph(table: Table) -> None:
    said = [told.words for n in range(1, 7) if (told := table.step(f"snapshot-{n}"))]
    assert said[0] == "snapshot-1 added manifest-1 with 1 data file"
    assert said[2] == "snapshot-3 added manifest-3 with 1 data file"
    assert said[3] == f"snapshot-4 rewrote manifest-1 as manifest-4: {base(table, 1)} DELETED"
    assert said[4].startswith("snapshot-5 rewrote manifest-2 as manifest-5")
    assert said[4].endswith("with 1 data file")
    assert f"{base(table, 2)} DELETED" in said[4]
    assert said[5].startswith("snapshot-6 added manifest-6 with 1 data file")


def test_it_agrees_with_the_exact_diff(table: Table) -> None:
    for snapshot in table.metadata.snapshots:
        told, exact = table.step(snapshot.snapshot_id), table.diff(snapshot.parent_snapshot_id, snapshot.snapshot_id)
        assert told is not None
        assert sum(len(part.sources) for part in told.rewritten) == sum(len(r.sources) for r in exact.rewritten)
        assert len(told.dropped) + len(told.left) == len(exact.dropped)
        into = {path for r in exact.rewritten for path in r.into}
        assert sum(len(part.into) for part in told.rewritten) == len(into)
        assert len(told.added) == len(exact.added_manifests) - len(into)


def manifest(n: int, counts: str, content: int = 0, part: int = 0, **more: Any) -> ManifestFile:
    """One that snapshot n added, with so many entries ADDED, EXISTING and DELETED."""
    path, numbers = f"/t/metadata/{n}-m{part}.avro", map(int, counts.split())
    made: ManifestFile = paper_tables.manifest(path, n, *numbers, content=content, **more)
    return made


UNKNOWN: dict[str, Any] = dict.fromkeys(("added_files_count", "existing_files_count", "deleted_files_count"))
M1, M2 = manifest(1, "1 0 0"), manifest(2, "1 0 0")


@pytest.mark.parametrize(
    ("before", "here", "said"),
    [
        ([M1, M2], [manifest(3, "1 2 0")], "merged manifest-1 and manifest-2 as manifest-3: 1 data file ADDED"),
        ([M1], [manifest(3, "0 2 7")], "rewrote manifest-1 as manifest-3: 7 data files DELETED"),
        (
            [manifest(1, "0 0 2"), M2],
            [M2, manifest(3, "4 0 0", 1)],
            "added manifest-3 with 4 delete files; dropped manifest-1, which held only DELETED entries",
        ),
        ([M1], [], "no longer lists manifest-1"),
        ([M2], [M2], "changed no manifest"),
        ([M2], [M2, M1], "lists manifest-1, which another snapshot wrote"),
        ([], [manifest(3, "0 0 0", **UNKNOWN)], "wrote manifest-3"),
        ([manifest(2, "1 0 0", 0, i) for i in range(5)], [manifest(3, "0 5 0")], "merged 5 manifests as manifest-3"),
        (
            [],
            [manifest(3, "2 0 0", 0, i) for i in range(2)],
            "added manifest-3 and manifest-3.m1 with 2 data files each",
        ),
        (
            [M1, manifest(1, "5 0 0", 1, 1)],
            [M1, manifest(3, "0 3 2", 1)],
            "rewrote manifest-1.m1 as manifest-3: 2 delete files DELETED",
        ),
    ],
)
def test_words(before: list[ManifestFile], here: list[ManifestFile], said: str) -> None:
    metadata = paper_tables.on_paper([None, 1, 2])
    assert step(metadata, metadata.snapshots[2], before, here, {}).words == f"snapshot-3 {said}"


def test_of_an_expired_parent_only_what_was_written_is_told() -> None:
    metadata = paper_tables.on_paper([9])
    told = step(metadata, metadata.snapshots[0], [], [M1, manifest(8, "1 0 0")], {})
    assert told.words == "snapshot-1 added manifest-1 with 1 data file (its parent has expired)"


def test_for_a_step_no_more_is_read_than_the_parents_list(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    name, state = base(direct.open_table(table.metadata.location), 1), ViewState(table, "snapshot-4")
    read: list[str] = []
    kept = table.reader.storage.read_through_cache

    def noted(path: str, *options: Any, **named: Any) -> bytes:
        read.append(path)
        return kept(path, *options, **named)

    monkeypatch.setattr(table.reader.storage, "read_through_cache", noted)
    parent = table.metadata.snapshot(table.metadata.snapshots[3].parent_snapshot_id)
    assert parent is not None
    assert f"{name} DELETED" in state.caption()
    assert read == [parent.manifest_list]
    again = direct.open_table(str(table.metadata.location))
    folded = ViewState(again, "snapshot-4")
    opened = next(m for m in again.tree.manifests(again.metadata.snapshots[3]) if m.deleted_files_count)
    folded.handle({"type": "toggle", "id": manifest_node(opened.manifest_path)})
    assert folded.caption().endswith("1 data file DELETED")  # it is not open, so it is not read


def test_the_graph_the_file_and_the_command_line_say_it(table: Table, folder: Path, tmp_path: Path) -> None:
    told = table.step("snapshot-4")
    assert told is not None
    assert ViewState(table, "snapshot-4").state()["caption"] == told.words
    export_table(table, tmp_path / "t.html")
    page = held(tmp_path / "t.html")
    captions = [shown["caption"] for shown in page["pictures"].values()]
    assert told.words in captions
    assert all(captions)
    assert run("diff", str(folder), "snapshot-3", "snapshot-4").stdout.splitlines()[0] == told.words
    assert "rewrote" not in run("diff", str(folder), "snapshot-2", "snapshot-4").stdout.splitlines()[0]


def test_a_list_that_cannot_be_read_leaves_no_sentence(tmp_path: Path) -> None:
    folder = make_table(tmp_path, commits=2)
    parent = direct.open_table(str(folder)).metadata.snapshots[0]
    Path(parent.manifest_list.removeprefix("file://")).write_bytes(b"Obj\x01 no")
    assert ViewState(direct.open_table(str(folder))).caption() == ""
