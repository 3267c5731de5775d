"""Tables that iceberg-go writes, asked as their users ask. The program is tests/support/go/write."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

import explorer
from tests.golden.every_question import ask_all
from tests.servers.conftest import EVERY
from tests.support.direct import open_table

GO = Path(__file__).parents[1] / "support" / "go"
pytestmark = pytest.mark.skipif(
    not EVERY or not shutil.which("go"), reason="Go fetches and builds it, in minutes: make test-servers does it"
)


@pytest.fixture(scope="module", params=[2, 3], ids=["v2", "v3"])
def written(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[int, str]:
    """A format version, and a table of it: see the program."""
    house = tmp_path_factory.mktemp("house")
    made = subprocess.run(
        ["go", "run", "./write", str(house), str(request.param)], cwd=GO, capture_output=True, text=True, timeout=1200
    )
    assert made.returncode == 0, made.stderr[-2000:]
    return request.param, made.stdout.strip().splitlines()[-1]


def test_nothing_is_wrong_with_it(written: tuple[int, str]) -> None:
    told = explorer.open_table(written[1]).doctor(files=True, deep=True).to_text()
    assert "nothing wrong was found" in told


def test_rows_and_what_hides_them(written: tuple[int, str]) -> None:
    version, folder = written
    table = explorer.open_table(folder)
    history = table.data.history("id = 3").to_text()
    assert ("deletion vector" if version == 3 else "position delete") in history
    assert "hidden by" in history
    if version == 2:
        assert "hidden by the equality delete" in table.data.history("id = 14").to_text()
    rows = open_table(folder).row_diff(None, "main").changes.inserted
    hidden = {3, 14} if version == 2 else {3}
    assert sorted(rows["id"].to_pylist()) == [i for i in (*range(30), *range(40, 50)) if i not in hidden]


def test_a_snapshot_that_was_rolled_back(written: tuple[int, str]) -> None:
    table = explorer.open_table(written[1])
    [gone] = [s for s in table.metadata.snapshots if s.parent_snapshot_id and not _leads_to_main(table, s.snapshot_id)]
    landed = table.history.landed(str(gone.snapshot_id)).to_text()
    assert "rolled back" in landed
    assert table.check.conflict("snapshot-2", "append").value.outcome == "retry"


def _leads_to_main(table: explorer.OpenTable, snapshot_id: int) -> bool:
    parents = {s.snapshot_id: s.parent_snapshot_id for s in table.metadata.snapshots}
    at = table.metadata.current_snapshot_id
    while at is not None and at != snapshot_id:
        at = parents.get(at)
    return at is not None


def test_every_question_answers(written: tuple[int, str]) -> None:
    ask_all(explorer.open_table(written[1]))
