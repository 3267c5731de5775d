"""What a commit may touch is compared file by file, up to a limit."""

from __future__ import annotations

from pathlib import Path

import pytest

import explorer
from explorer.errors import NotPossible
from explorer.reports import conflicts
from tests.support.small_tables import make_table


def test_more_files_than_the_limit_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = explorer.open_table(str(make_table(tmp_path, 4)))
    monkeypatch.setattr(conflicts, "MAX_FILES", 2)
    assert table.check.conflict("snapshot-2", "compaction").value.outcome == "retry"
    with pytest.raises(NotPossible, match="may touch more than 2 data files"):
        table.check.conflict("snapshot-4", "compaction")
    with pytest.raises(NotPossible, match="commits since the base changed 3 files, and at most 2"):
        table.check.conflict("snapshot-1", "compaction")
    assert table.check.conflict("snapshot-1", "append").value.outcome == "retry"
