"""What public reports of trouble with Iceberg tables told, a twenty-ninth time."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyiceberg.exceptions import ResolveError
from pyiceberg.table import StaticTable

from explorer.spec.doctor.findings import Finding
from tests.cases.mini import Table
from tests.support import direct
from tests.support.other_types import BY_SOME, COMMON, INT96, RIGHT, Stored, write_table

FAR, OLD, NEAR = datetime(3332, 12, 14, 11, 33, 10, 965000), datetime(1600, 1, 1), datetime(2020, 1, 1)


def types_found(folder: Path) -> list[Finding]:
    return [f for f in direct.doctor(str(folder), deep=True).findings if f.rule == "column-type"]


def read_by_pyiceberg(table: Table) -> list[Any]:
    place = str(table.folder / "metadata" / table.last)
    rows: list[Any] = StaticTable.from_metadata(place).scan().to_arrow()["x"].to_pylist()
    return rows


# -- times of INT96 ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("times", "outside"), [([FAR, NEAR], 1), ([OLD, FAR], 2), ([NEAR, None], 0)])
@pytest.mark.parametrize("zone", [None, "UTC"])
def test_times_that_nanoseconds_cannot_tell(
    times: list[datetime | None], outside: int, zone: str | None, tmp_path: Path
) -> None:
    """apache/datafusion-comet#3856: other readers show other times, without an error."""
    kind = "timestamptz" if zone else "timestamp"
    stored = Stored(kind, "int96", pa.array(times, pa.timestamp("us", zone)), INT96)
    table = write_table(tmp_path / "t", stored)
    [finding] = types_found(tmp_path / "t")
    assert finding.severity == ("warning" if outside else "info")
    assert ("rewrite-all" in finding.remedy) == bool(outside)
    assert ("readers take it all the same" in finding.what) == (not outside)
    if outside:
        assert f"{outside} value{'s are' if outside > 1 else ' is'} outside 1677-09-21 to 2262-04-11" in finding.what
        assert "pyarrow, so pyiceberg" in finding.what
    shown = [value and value.replace(tzinfo=None) for value in read_by_pyiceberg(table)]
    assert (shown == times) == (not outside)


def test_the_ends_of_what_nanoseconds_can_tell(tmp_path: Path) -> None:
    least, most = -(2**63 // 1000), (2**63 - 1) // 1000
    for name, numbers, severity in (("t", [least, most], "info"), ("o", [least - 1, most + 1], "warning")):
        times = pa.array(numbers, pa.int64()).cast(pa.timestamp("us"))
        table = write_table(tmp_path / name, Stored("timestamp", "int96", times, INT96))
        assert [f.severity for f in types_found(tmp_path / name)] == [severity]
        assert (read_by_pyiceberg(table) == times.to_pylist()) == (severity == "info")


def test_times_of_int96_inside_a_struct_a_list_and_a_map(tmp_path: Path) -> None:
    def own(name: str, kind: pa.DataType, number: int, nullable: bool = True) -> pa.Field:
        return pa.field(name, kind, nullable, {"PARQUET:field_id": str(number)})

    micros = pa.timestamp("us")
    inner = pa.struct([own("at.x", micros, 3), own("near", micros, 4)])
    pairs = pa.map_(own("key", pa.string(), 6, False), own("value", pa.list_(own("element", micros, 8)), 7))
    optional = {"required": False, "type": "timestamp"}
    fields = [
        (1, "s", {"type": "struct", "fields": [
            {"id": 3, "name": "at.x", **optional}, {"id": 4, "name": "near", **optional}]}),
        (2, "m", {"type": "map", "key-id": 6, "key": "string", "value-id": 7, "value-required": False, "value": {
            "type": "list", "element-id": 8, "element-required": False, "element": "timestamp"}}),
    ]  # fmt: skip
    table = Table(tmp_path / "t", fields)
    table.md["last-column-id"] = 8
    rows = [pa.array([{"at.x": FAR, "near": NEAR}], inner), pa.array([[("k", [NEAR, OLD])]], pairs)]
    written = pa.table(rows, schema=pa.schema([own("s", inner, 1), own("m", pairs, 2)]))
    file, place = table.parquet("a.parquet", written, ids=False), tmp_path / "t" / "data" / "a.parquet"
    pq.write_table(written, place, use_deprecated_int96_timestamps=True)
    table.append({**file, "file_size_in_bytes": place.stat().st_size})
    seen = {(f.severity, column) for f in types_found(tmp_path / "t") for column in f.columns}
    assert seen == {("warning", "s.at.x"), ("info", "s.near"), ("warning", "m.value.element")}


def test_a_row_history_says_which_times_others_show_otherwise(tmp_path: Path) -> None:
    times = pa.array([FAR, NEAR], pa.timestamp("us"))
    write_table(tmp_path / "t", Stored("timestamp", "int96", times, INT96))
    table = direct.open_table(str(tmp_path / "t"))
    current = table.metadata.current_snapshot
    assert current is not None
    of_far, of_near = ("\n".join(table.row_history(f"id = {i}").explain(current)) for i in (1, 2))
    assert "Another value of x is shown by readers that decode INT96 as nanoseconds" in of_far
    assert "INT96" not in of_near


@pytest.mark.parametrize("stored", [*RIGHT, *COMMON], ids=str)
def test_pyiceberg_reads_what_all_readers_are_said_to_take(stored: Stored, tmp_path: Path) -> None:
    table = write_table(tmp_path / "t", stored)
    assert all(f.what.startswith("a column is not stored in the spec's type: readers take") for f in types_found(
        tmp_path / "t"))  # fmt: skip
    shown = [plain(value) for value in read_by_pyiceberg(table)]
    assert shown == [plain(value) for value in stored.array.to_pylist()]


def plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.astimezone(timezone.utc).replace(tzinfo=None) if value.tzinfo else value
    return getattr(value, "bytes", value)


def test_a_date_that_is_a_number_is_refused_by_pyiceberg(tmp_path: Path) -> None:
    table = write_table(tmp_path / "t", BY_SOME[0])
    with pytest.raises(ResolveError, match="Cannot promote an int to date"):
        read_by_pyiceberg(table)
