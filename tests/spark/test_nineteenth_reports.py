"""Remedies of a nineteenth round of public reports, executed in Spark as they say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from explorer.reports.maintenance import preview
from explorer.table import open_table
from tests.cases.mini import Table
from tests.support.small_tables import newest_metadata

SPACE = "sandbox.nineteenth"
MAPPING = [{"field-id": 1, "names": ["c1"]}, {"field-id": 3, "names": ["c2"]}]


def rows(session: Any, name: str) -> list[tuple[Any, ...]]:
    session.sql(f"REFRESH TABLE {name}")
    return sorted(map(tuple, session.table(name).collect()))


def test_files_of_two_times_are_written_anew_apart(tmp_path: Path, session: Any) -> None:
    """prestodb/presto#20621, by the doctor's remedy: then each file has the values of its own column."""
    both, anew = [(1, "c1", "int"), (2, "c2", "int")], [(1, "c1", "int"), (3, "c2", "int")]
    table = Table(tmp_path / "t", both)
    table.append(table.parquet("old.parquet", {"c1": [2], "c2": [20]}, ids=False))
    table.set_schema([(1, "c1", "int")])
    table.set_schema(anew)
    table.append(table.parquet("new.parquet", {"c1": [3], "c2": [30]}, ids=False))
    name = f"{SPACE}.twice"
    call = "CALL sandbox.system."
    session.sql(f"{call}register_table('nineteenth.twice', 'file://{newest_metadata(tmp_path / 't')}')")
    assert rows(session, name) == [(2, None), (3, None)]
    rewrite = f"{call}rewrite_data_files(table => 'nineteenth.twice', options => map('rewrite-all', 'true')"
    session.sql(f"{rewrite}, where => 'c1 = 2')")
    mapping = json.dumps(MAPPING)
    session.sql(f"ALTER TABLE {name} SET TBLPROPERTIES ('schema.name-mapping.default' = '{mapping}')")
    assert rows(session, name) == [(2, None), (3, 30)]
    session.sql(f"{rewrite})")
    session.sql(f"ALTER TABLE {name} UNSET TBLPROPERTIES ('schema.name-mapping.default')")
    assert rows(session, name) == [(2, None), (3, 30)]


def test_files_older_than_a_column_have_counts_when_they_are_written_anew(session: Any) -> None:
    """apache/iceberg#10773, by the command that the plan names."""
    name = f"{SPACE}.late"
    session.sql(f"CREATE TABLE {name} (id INT) USING iceberg")
    for n in range(4):
        session.sql(f"INSERT INTO {name} VALUES ({n})")
    session.sql(f"ALTER TABLE {name} ADD COLUMN late INT")
    session.sql(f"INSERT INTO {name} VALUES (9, 9)")
    table = open_table(name)
    assert table.plan("late IS NOT NULL").left.files == 5
    seen = preview(table, "compact", options={"rewrite-all": "true"}, where="late IS NULL")
    session.sql(seen.call)
    session.sql(f"REFRESH TABLE {name}")
    after = open_table(name).plan("late IS NOT NULL")
    assert after.left.files == 1
    assert not after.unmeasured


def test_equality_deletes_go_by_one_statement(session: Any, tmp_path: Path) -> None:
    """StarRocks/starrocks#37122, by the command that `readers` names."""
    table = Table(tmp_path / "t", [(1, "id", "int"), (2, "v", "string")])
    for n in range(3):
        data = table.parquet(f"{n}.parquet", {"id": [1, 10 + n], "v": ["x", "y"]})
        table.delta(data=[data], deletes=[table.equality_delete(f"e{n}.parquet", {"id": [1]})])
    name = f"{SPACE}.upserts"
    session.sql(f"CALL sandbox.system.register_table('nineteenth.upserts', 'file://{newest_metadata(tmp_path / 't')}')")
    before = rows(session, name)
    options = {"delete-file-threshold": "1", "remove-dangling-deletes": "true"}
    session.sql(preview(open_table(name), "compact", options=options).call)
    assert rows(session, name) == before
    assert [row.content for row in session.table(f"{name}.files").collect()] == [0]
