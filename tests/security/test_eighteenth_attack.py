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
