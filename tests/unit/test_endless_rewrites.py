"""Rewrites that take their own files again (apache/iceberg#6669); tests/spark/test_endless_rewrites.py asks Spark."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from explorer.reports.maintenance.runs import preview
from explorer.spec.maintenance.rewrite_options import rule
from explorer.spec.maintenance.rewrite_tasks import endless, output_sizes
from tests.cases.mini import Table
from tests.support import direct

TARGET = 1_000_000


def with_sizes(folder: Path, sizes: list[int]) -> direct.Table:
    """A table of files that are said to be so large."""
    table = Table(folder, [(1, "id", "long")])
    table.md["properties"]["write.target-file-size-bytes"] = str(TARGET)
    file = table.parquet("a.parquet", {"id": [1]})
    table.append(
        *(
            {**file, "file_path": f"{table.location}/data/{i}.parquet", "file_size_in_bytes": s}
            for i, s in enumerate(sizes)
        )
    )
    return direct.open_table(folder)


@pytest.mark.parametrize(
    ("sizes", "options", "files", "ends"),
    [
        ([618_000] * 8, {}, 8, False), ([618_000] * 8, {"min-file-size-bytes": "400000"}, 0, True),
        ([618_000] * 8, {"target-file-size-bytes": "2000000"}, 3, True), ([186_980, 248_675, 310_244, 371_846, 433_875],
        {"min-file-size-bytes": "500000"}, 2, True), ([300_000] * 9, {}, 3, True), ([740_000] * 2, {}, 2, False),
        ([740_000, 200_000], {"min-input-files": "2"}, 1, True),
    ],
)  # fmt: skip
def test_how_many_files_tasks_write(
    sizes: list[int], options: dict[str, str], files: int, ends: bool, tmp_path: Path
) -> None:
    table = with_sizes(tmp_path / "t", sizes)
    chosen, array = rule(table.metadata, "binpack", options), np.array(sizes)
    if files:
        assert len(output_sizes(chosen, array, np.ones(len(array), np.int64), 10)) == files
        assert (endless(chosen, array, np.ones(len(array), np.int64), 10) is None) == ends
    words = preview(table, "compact", options=options).words
    assert any(f"would become about {files} data file" in line for line in words) == bool(files), words
    said = [line for line in words if line.startswith("It never ends")]
    assert bool(said) != ends
    assert all("min-file-size-bytes => 500000 ends it" in line for line in said)
    assert ends or not any("row group" in line for line in words)


def test_parts_of_files_go_into_tasks_alone(tmp_path: Path) -> None:
    chosen = rule(with_sizes(tmp_path / "t", [1]).metadata, "binpack", {"rewrite-all": "true"})
    assert output_sizes(chosen, np.array([3_000_000]), np.array([3]), 10) == [1_000_000] * 3
    assert len(output_sizes(chosen, np.array([3_000_000]), np.array([0]), 10)) == 3
    assert output_sizes(chosen, np.array([1_300_000]), np.array([1]), 10) == [1_300_000]
