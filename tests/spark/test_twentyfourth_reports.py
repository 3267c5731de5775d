"""Remedies of a twenty-fourth round of public reports, executed in Spark as they say."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from tests.cases.mini import Table
from tests.support.report_tables import found

SPACE = "sandbox.twentyfourth"


def test_rows_get_their_partition_back_and_others_of_that_value_stay(session: Any, tmp_path: Path) -> None:
    """ClickHouse/ClickHouse#105852: a null partition value is written as 0, beside rows that have 0."""
    table = Table(tmp_path / "t", [(1, "n", "int"), (2, "word", "string")])
    table.set_spec([(1, 1000, "n", "identity")])
    wrong = table.parquet("wrong.parquet", {"n": [None, None], "word": ["a", "b"]}, partition={"n": 0})
    right = table.parquet("right.parquet", {"n": [0, 0], "word": ["y", "z"]}, partition={"n": 0})
    table.append(wrong, right)
    [metadata] = sorted((tmp_path / "t" / "metadata").glob("*.metadata.json"))[-1:]
    name = f"{SPACE}.nulls"
    session.sql(f"CALL sandbox.system.register_table('twentyfourth.nulls', 'file:{metadata}')")
    [quick] = found(name, "partition-value")
    assert "its column is null in all rows" in quick.what
    assert quick.remedy.startswith("Run doctor --deep")
    [finding] = found(name, "partition-value", deep=True)
    assert "wrong.parquet" in finding.remedy
    [delete] = re.findall(r"DELETE FROM \S+ WHERE concat\(_file, ''\) = '[^']+'", finding.remedy)
    [insert] = re.findall(r"INSERT INTO \S+ \([^)]*\) SELECT [\w, ]+ FROM parquet\.`[^`]+`", finding.remedy)
    session.sql(insert)
    session.sql(delete)
    rows = {(row.n, row.word) for row in session.sql(f"SELECT * FROM {name}").collect()}
    assert rows == {(None, "a"), (None, "b"), (0, "y"), (0, "z")}
    assert {row.word for row in session.sql(f"SELECT * FROM {name} WHERE n IS NULL").collect()} == {"a", "b"}
    [old] = found(name, "partition-value", deep=True)
    assert old.remedy.startswith("Only older snapshots have it")
