"""A table followed while others write to it."""

from __future__ import annotations

import gc
import json
import signal
import subprocess
import sys
import threading
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.exceptions import CommitFailedException
from pyiceberg.table import Table as Writable

from explorer.app.graph_state import ViewState
from explorer.errors import NotPossible
from explorer.progress import Watch
from explorer.render.history import render_new_commit
from explorer.storage.locate import Location
from explorer.storage.reader import TableReader
from explorer.table import Table
from tests.support import direct
from tests.support.small_tables import in_catalog, make_table, newest_metadata

ROWS = pa.table({"id": pa.array([7], pa.int64()), "fruit": pa.array(["kiwi"], pa.string())})


class Home:
    """A table in a catalog of its own."""

    def __init__(self, folder: Path) -> None:
        self.path = make_table(folder, commits=1)
        self.properties = in_catalog(self.path)

    def opened(self) -> Table:
        return direct.open_table("db.t", "small", self.properties)

    def writable(self) -> Writable:
        return SqlCatalog("small", **self.properties).load_table("db.t")

    def commit(self) -> int:
        """Append, again after a lost race; the snapshot's id."""
        while True:
            table = self.writable()
            try:
                table.append(ROWS)
            except CommitFailedException:
                continue
            snapshot = table.current_snapshot()
            assert snapshot is not None
            return snapshot.snapshot_id


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def test_commits_of_two_writers_are_told_each_once(home: Home) -> None:
    committed: set[int] = set()
    seen: set[int] = set()

    def write() -> None:
        for _ in range(3):
            committed.add(home.commit())

    watch, writers = Watch(), [threading.Thread(target=write) for _ in range(2)]
    with watch.listening():
        landings = direct.watch(home.opened(), 0.2)
        for writer in writers:
            writer.start()
        for landed in landings:
            assert landed.snapshot is not None
            assert landed.diff is not None
            assert [c.record_count for c in landed.diff.added] == [1]
            assert "+ data file" in render_new_commit(landed)
            assert landed.snapshot.snapshot_id not in seen
            seen.add(landed.snapshot.snapshot_id)
            if len(seen) == 6:
                watch.cancel()
    for writer in writers:
        writer.join()
    assert seen == committed


def test_what_is_no_snapshot_is_told_as_what_it_is(home: Home) -> None:
    landings = direct.watch(home.opened(), 0.1)
    threading.Timer(0.3, lambda: home.writable().transaction().set_properties(owner="me").commit_transaction()).start()
    landed = next(landings)
    assert landed.snapshot is None
    assert landed.changes["properties"] == {"added": {"owner": "me"}}
    assert "owner" in render_new_commit(landed)


def test_looking_leaves_nothing_behind(home: Home) -> None:
    for table in (home.opened(), direct.open_table(str(home.path))):
        for _ in range(20):
            assert table.newer() is None
        gc.collect()
        tracemalloc.start()
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(40):
            table.newer()
        gc.collect()
        grown = tracemalloc.get_traced_memory()[0] - before
        tracemalloc.stop()
        assert grown < 40_000


def test_a_remote_table_is_followed_on_demand_only_and_a_metadata_file_never(home: Home) -> None:
    table = home.opened()
    remote = Location("t", "s3://bucket/t/metadata/v1.metadata.json", "", request="s3://bucket/t")
    reader = TableReader.__new__(TableReader)
    reader.__dict__.update(vars(table.reader) | {"location": remote})
    with pytest.raises(NotPossible, match="say how often"):
        next(direct.watch(Table(reader)))
    with pytest.raises(NotPossible, match="stays as it is"):
        next(direct.watch(direct.open_table(str(newest_metadata(home.path))), 1))


def test_a_viewer_follows_to_what_is_new_and_is_told_nothing_else(home: Home) -> None:
    view = ViewState(home.opened())
    assert "follow" in view.state()["offers"]
    assert view.handle({"type": "look"}) is None
    new = home.commit()
    assert view.handle({"type": "look"}) is True
    assert view.snapshot_id == new
    view.handle({"type": "snapshot", "id": "snapshot-1"})
    home.commit()
    assert view.handle({"type": "look"}) is True  # who looks at an older one stays there
    assert view.snapshot_id == view.table.metadata.snapshots[0].snapshot_id
    assert len(view.timeline()["ids"]) == 3
    named = ViewState(direct.open_table(str(newest_metadata(home.path))))
    assert "follow" not in named.state()["offers"]


@pytest.fixture
def watching(home: Home) -> Iterator[subprocess.Popen[str]]:
    ask = ["history", "watch", str(home.path), "--interval", "0.2", "-o", "jsonl"]
    command = [sys.executable, "-m", "explorer.cli", *ask]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        yield process
        process.kill()


def test_on_the_command_line_until_it_is_interrupted(home: Home, watching: subprocess.Popen[str]) -> None:
    assert watching.stdout is not None
    assert watching.stderr is not None
    assert "looking every 0.2 s" in watching.stderr.readline()
    assert watching.stderr.readline() == "Ctrl+C ends\n"
    new = home.commit()
    told = json.loads(watching.stdout.readline())
    assert told["snapshot_id"] == new
    assert len(told["diff"]["added_data_files"]) == 1
    watching.send_signal(signal.SIGINT)
    assert watching.wait(20) == 0
    assert watching.stderr.read() == ""
