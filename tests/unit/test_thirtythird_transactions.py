"""What a public report told of an overwrite that is two snapshots of one commit (apache/iceberg-python#1287)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from click.testing import CliRunner

from explorer.cli import main
from explorer.spec.commits.costs import committed_with_later, transaction_words
from tests.support import direct
from tests.support.small_tables import edit_metadata, new_table

ROWS = pa.schema([("id", pa.int64()), ("day", pa.string())])


@pytest.fixture
def overwritten(tmp_path: Path) -> Path:
    """Two appends, an overwrite of the older one's day, which pyiceberg makes a delete and an append of, and an
    append."""
    table = new_table(tmp_path / "t", ROWS)
    table.append(pa.table({"id": [1, 2], "day": ["a", "a"]}, schema=ROWS))
    table.append(pa.table({"id": [3], "day": ["b"]}, schema=ROWS))
    table.overwrite(pa.table({"id": [1, 2, 4], "day": ["a", "a", "a"]}, schema=ROWS), "day = 'a'")
    table.append(pa.table({"id": [5], "day": ["c"]}, schema=ROWS))
    return tmp_path / "t"


def told(*words: str) -> str:
    return " ".join(CliRunner().invoke(main, list(words)).output.split())


@pytest.mark.parametrize(
    "question", [["refs", "preview", "{}", "rollback", "-s", "snapshot-3"], ["history", "landed", "{}", "snapshot-3"]]
)
def test_the_middle_of_a_transaction_is_named_with_the_table_before_and_after(
    question: list[str], overwritten: Path
) -> None:
    text = told(*(word.format(overwritten) for word in question))
    assert "Snapshot-3 is in the middle of a transaction, whose commit made snapshot-4 current at once." in text
    assert "The table was snapshot-2 before." in text
    for other in ("snapshot-2", "snapshot-4", "snapshot-5"):
        others = [word.replace("snapshot-3", other).format(overwritten) for word in question]
        assert "transaction" not in told(*others)


def test_the_costs_of_commits_name_it(overwritten: Path) -> None:
    assert "snapshot-3 was committed in one transaction with a later one" in told(
        "history", "commits", str(overwritten)
    )


def test_of_a_commit_that_clocks_make_look_so_nothing_is_told(overwritten: Path) -> None:
    """A second writer's clock is behind: its append is dated before the file of the append that it saw."""

    def change(metadata: dict[str, Any]) -> None:
        metadata["snapshots"] = metadata["snapshots"][:2]
        first, second = metadata["snapshots"]
        second["timestamp-ms"] = first["timestamp-ms"] + 1
        metadata["current-snapshot-id"] = metadata["refs"]["main"]["snapshot-id"] = second["snapshot-id"]
        metadata["snapshot-log"] = metadata["snapshot-log"][:2]
        begun = metadata["metadata-log"][0] | {"timestamp-ms": first["timestamp-ms"] - 1000}
        metadata["metadata-log"] = [begun, metadata["metadata-log"][1] | {"timestamp-ms": first["timestamp-ms"] + 2}]
        metadata["last-updated-ms"] = first["timestamp-ms"] + 3

    edit_metadata(overwritten, change)
    metadata = direct.open_table(str(overwritten)).metadata
    first = metadata.snapshots[0].snapshot_id
    assert first in committed_with_later(metadata)
    assert not transaction_words(metadata, first)
