"""What metadata says of columns, against pyiceberg and against files one by one."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyiceberg.table import StaticTable
from pyiceberg.transforms import IdentityTransform

import explorer
from explorer.storage.formats.theta import estimate
from explorer.table import open_table
from tests.support.small_tables import new_table, newest_metadata

TABLES = ("sorted_files", "hidden_partitioning", "column_statistics", "deletion_vectors", "orders", "long_history")


@pytest.mark.parametrize("name", TABLES)
def test_a_profile_is_the_sum_of_what_pyiceberg_reads_of_each_file(name: str, sandbox: Path) -> None:
    table = open_table(f"demo.{name}")
    files = [f for f in StaticTable.from_metadata(table.metadata.metadata_location).inspect.files().to_pylist()
             if f["content"] == 0]  # fmt: skip
    rows = {row["column"]: row for row in table.profile()}
    assert rows
    for column, row in rows.items():
        own = [file["readable_metrics"].get(column) or {} for file in files]
        sums = {"values": "value_count", "nulls": "null_value_count", "nans": "nan_value_count", "bytes": "column_size"}
        for fact, theirs in sums.items():
            numbers = [one[theirs] for one in own if one.get(theirs) is not None]
            assert row[fact] == (sum(numbers) if numbers else None), (column, fact)
        for fact, least in (("lower_bound", min), ("upper_bound", max)):
            bounds = [one[fact] for one in own if one.get(fact) is not None]
            assert (row[fact] is None) == (not bounds)
            if bounds and isinstance(bounds[0], int | str | float):
                assert row[fact] == str(least(bounds)), (column, fact)


def grouped(folder: Path) -> tuple[Path, list[dict[str, Any]]]:
    """A table by partition, in whose files some columns have nulls or NaN only; and its rows."""
    place = folder / "warehouse" / "t"
    schema = pa.schema([("kind", pa.string()), ("id", pa.int64()), ("x", pa.float64()), ("name", pa.string())])
    table = new_table(place, schema)
    with table.update_spec() as spec:
        spec.add_field("kind", IdentityTransform(), "kind")
    rows: list[dict[str, Any]] = []
    for commit in range(3):
        for i in range(12):
            n = commit * 12 + i
            rows.append({
                "kind": "abc"[i % 3] if i % 4 else None, "id": None if i % 5 == 0 else n - 17,
                "x": float("nan") if i % 2 else n / 4, "name": None if commit == 1 else f"name {n}",
            })  # fmt: skip
        table.append(pa.Table.from_pylist(rows[-12:], schema))
    return place, rows


def test_partitions_have_the_facts_of_their_rows(tmp_path: Path) -> None:
    place, rows = grouped(tmp_path)
    by_kind = defaultdict(list)
    for row in rows:
        by_kind[f"kind={'null' if row['kind'] is None else row['kind']}"].append(row)
    for column, is_number in (("id", True), ("name", False), ("x", True)):
        for part in explorer.open_table(str(place)).inspect.profile(column):
            values = [row[column] for row in by_kind[part["partition"]]]
            real = [v for v in values if v is not None and v == v]
            assert (part["values"], part["nulls"]) == (len(values), values.count(None))
            bounds = (min(real), max(real)) if real else (None, None)
            if is_number:
                own = tuple(None if part[b] is None else float(part[b]) for b in ("lower_bound", "upper_bound"))
                assert own == bounds
            assert part["lacks"] == ""
        assert {part["partition"] for part in open_table(str(place)).profile(column)} == set(by_kind)


def test_the_sketch_of_a_statistics_file_tells_what_the_metadata_does_not(sandbox: Path, tmp_path: Path) -> None:
    import json
    import shutil

    table = open_table("demo.sorted_files")
    place = tmp_path / "copy"
    shutil.copytree(Path(table.metadata.location.removeprefix("file:")), place)
    file = Path(newest_metadata(place))
    raw = json.loads(file.read_text())
    for blob in raw["statistics"][0]["blob-metadata"]:
        del blob["properties"]["ndv"]
    file.write_text(json.dumps(raw))
    copy = explorer.open_table(str(place)).inspect.profile()
    assert [row["distinct"] for row in copy] == [row["distinct"] for row in table.profile()] == [12, 6]
    for stats in (place / "metadata").glob("*.stats"):
        stats.unlink()
    opened = open_table(str(place))
    assert [row["distinct"] for row in opened.profile()] == [None, None]
    assert any("stats" in problem.file for problem in opened.problems)


def test_sketches_that_are_none_are_refused() -> None:
    estimating = (
        bytes([3, 3, 3, 0, 0, 26, 0, 0]) + (2).to_bytes(8, "little") + (1 << 62).to_bytes(8, "little") + bytes(16)
    )
    assert estimate(estimating) == 4
    assert estimate(bytes([1, 3, 3, 0, 0, 4, 0, 0])) == 0
    for wrong in (b"", b"\3\4\3" + bytes(30), estimating[:30], estimating[:17], b"\x3f\3\3" + bytes(600)):
        with pytest.raises(ValueError, match=r"sketch|preamble|hashes"):
            estimate(wrong)


def test_files_without_facts_are_counted(sandbox: Path) -> None:
    rows = {row["column"]: row for row in explorer.open_table("demo.column_statistics").inspect.profile()}
    assert rows["note"]["lacks"] == "3 of 3 files have no lower bound or upper bound"
    assert rows["remark"]["lacks"] == ""
    with pytest.raises(explorer.NotFoundInTable, match="no column 'nothing'"):
        explorer.open_table("demo.column_statistics").inspect.profile("nothing")
