"""What an eighteenth attack found."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from explorer.spark_engine.sql_guard import quoting
from explorer.spec.text.names import name_in_sql
from tests.cases.mini import Table
from tests.support import direct

FIELDS = [(1, "id", "long"), (2, "v", "string")]
TAKES = "In Spark this does the same: DELETE FROM your_catalog.your_db.your_table WHERE "


def missing_file_remedy(table: Table, *files: dict[str, Any]) -> str:
    """What the doctor says of a table of these files, the first of which is gone."""
    table.append(*files)
    table.write()
    table.local(files[0]["file_path"]).unlink()
    report = direct.doctor(direct.open_table(str(table.folder)), files=True)
    return next(f.remedy for f in report.findings if f.rule == "file-missing")


# -- statements --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["true", "FALSE", "null", "current_date", "User"])
def test_a_name_that_sql_takes_for_a_value_has_backticks(name: str) -> None:
    """`DELETE … WHERE true = 'true'` took all rows of the table."""
    assert name_in_sql(name) == f"`{name}`"
    assert quoting.identifier(["db", name]) == f"db.`{name}`"


def test_a_column_that_is_called_true_is_no_truth(tmp_path: Path) -> None:
    table = Table(tmp_path / "t", [(1, "id", "long"), (2, "true", "string")], [(2, 1000, "true", "identity")])
    files = [
        table.parquet(f"{n}.parquet", {"id": [n], "true": [value]}, partition={"true": value})
        for n, value in enumerate(["true", "x"])
    ]
    assert f"{TAKES}`true` = 'true'." in missing_file_remedy(table, *files)


@pytest.mark.parametrize("spec", [(), ((2, 1000, "v", "identity"),)])
def test_a_delete_is_not_printed_where_it_takes_a_live_file_by_its_number_of_rows(tmp_path: Path, spec: Any) -> None:
    """Iceberg takes a file of fewer than no rows by any filter, whatever its bounds are: it took live files."""
    table = Table(tmp_path / "t", FIELDS, spec)
    gone = table.parquet("a.parquet", {"id": [1, 2], "v": ["a", "a"]}, partition={"v": "a"})
    live = table.parquet("b.parquet", {"id": [8, 9], "v": ["b", "b"]}, partition={"v": "b"}, record_count=-1)
    assert "DELETE FROM" not in missing_file_remedy(table, gone, live)


def test_a_delete_is_not_printed_for_what_it_does_not_take(tmp_path: Path) -> None:
    """A file of no rows stays; so does another entry of the same file that has other bounds."""
    table = Table(tmp_path / "t", FIELDS)
    gone = table.parquet("a.parquet", {"id": [1, 2], "v": ["a", "a"]})
    live = table.parquet("b.parquet", {"id": [8, 9], "v": ["b", "b"]})
    assert "DELETE FROM" not in missing_file_remedy(table, {**gone, "record_count": 0}, live)
    table = Table(tmp_path / "u", FIELDS)
    gone = table.parquet("a.parquet", {"id": [1, 2], "v": ["a", "a"]})
    live = table.parquet("b.parquet", {"id": [8, 9], "v": ["b", "b"]})
    again = {**gone, "lower_bounds": {1: b"\x04" + b"\0" * 7}, "upper_bounds": {1: b"\x05" + b"\0" * 7}}
    assert "DELETE FROM" not in missing_file_remedy(table, gone, live, again)


def test_a_name_with_a_quote_is_in_no_printed_delete(tmp_path: Path) -> None:
    """Spark's shell knows no backticks: it waited for the end of a text, or took two statements for one."""
    table = Table(tmp_path / "t", [(1, "i'd", "long")])
    files = [table.parquet(f"{n}.parquet", {"i'd": [n]}) for n in range(2)]
    assert "DELETE FROM" not in missing_file_remedy(table, *files)
