"""What a row history reads of a file, it reads once, however many manifests name the file."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from explorer.queries import matching_rows
from tests.cases.mini import Table
from tests.support import direct


def test_a_file_of_many_manifests_is_looked_into_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = Table(tmp_path / "t", [(1, "id", "long")])
    files = [table.parquet(f"{name}.parquet", {"id": [n]}) for n, name in enumerate("abc")]
    table.append(*files)
    for _ in range(5):  # as rewrite_manifests does
        table.snapshot("replace", [table.manifest(f"{table.uid()}-m.avro", [(0, file) for file in files])])
    table.save()
    asked: Counter[str] = Counter()

    def reading(files: Any, data: Any, *more: Any) -> Any:
        asked[data.path.rpartition("/")[2]] += 1
        return original(files, data, *more)

    original = matching_rows.spark_reading
    monkeypatch.setattr(matching_rows, "spark_reading", reading)
    told = direct.open_table(tmp_path / "t").row_history("id >= 0")
    assert len(told.rows) == 3
    assert asked == {"a.parquet": 1, "b.parquet": 1, "c.parquet": 1}
