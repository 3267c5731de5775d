"""When measures crossed their thresholds, held against measuring each snapshot."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import explorer
from tests.support.small_tables import make_table, new_table

LIMITS = {"files-per-partition": 4.0, "small-files": 6.0, "commits-per-hour": 2.0, "small-manifests": 100.0}


def test_a_crossing_is_the_first_snapshot_above(tmp_path: Path) -> None:
    table = explorer.open_table(str(make_table(tmp_path, 9)))
    crossings = {one.id: one for one in table.history.health(threshold=LIMITS).value}
    assert crossings.keys() == LIMITS.keys() - {"small-manifests"}
    for name, crossing in crossings.items():
        values = []
        for number in range(1, 10):
            checked = table.health(threshold=LIMITS, snapshot=f"snapshot-{number}").value
            values.append(next(measured for measured in checked.measures if measured.id == name))
        first = next(number for number, one in enumerate(values) if one.level != "ok")
        assert crossing.snapshot == f"snapshot-{first + 1}"
        assert (crossing.before, crossing.after) == (values[first - 1].value, values[first].value)
        assert crossing.value == values[-1].value


def test_what_no_snapshot_tells_is_said(tmp_path: Path) -> None:
    table = explorer.open_table(str(make_table(tmp_path / "t", 3)))
    limits = {"files-per-partition": 0.5, "schemas": 0.5}
    crossings = {one.id: one for one in table.history.health(threshold=limits).value}
    assert crossings["files-per-partition"].unknown.endswith("snapshot-1, the oldest snapshot that is left")
    assert "metadata file" in crossings["schemas"].unknown
    assert table.history.health().to_text().strip() == "No measure is above its threshold."
    new_table(tmp_path / "warehouse/db/empty", pa.schema([("id", pa.int64())]))
    assert explorer.open_table(str(tmp_path / "warehouse/db/empty")).history.health().value == []
    with pytest.raises(explorer.ExplorerError, match="no measure 'nothing'"):
        table.history.health(threshold={"nothing": 1})
