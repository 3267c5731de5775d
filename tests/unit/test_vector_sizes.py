"""A summary's total size counts the blobs of deletion vectors, as Java does, or their files, as iceberg-go does."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import explorer
from tests.support.small_tables import newest_metadata


@pytest.mark.parametrize(("beside", "is_told"), [(0, False), (1, True)])
def test_both_ways_to_count_agree_with_the_entries(beside: int, is_told: bool, sandbox: Path, tmp_path: Path) -> None:
    source = explorer.open_table("demo.deletion_vectors").metadata.metadata_location.removeprefix("file:")
    shutil.copytree(Path(source).parents[1], folder := tmp_path / "t")
    path = newest_metadata(folder)
    metadata = json.loads(path.read_text())
    table = explorer.open_table(str(folder))
    for snapshot in metadata["snapshots"]:
        entries = table.inspect.entries(snapshot=str(snapshot["snapshot-id"]))
        total = sum(r["file_size_in_bytes"] for r in entries if r["logical_status"] != "DELETED")
        snapshot["summary"]["total-files-size"] = str(total + beside)
    path.write_text(json.dumps(metadata))
    told = explorer.open_table(str(folder)).doctor().to_text()
    assert ("totals-differ" in told) == is_told
