"""Statements that confine equality deletes, run in Spark on a table that a sink of change data filled."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.statements.printed import statements
from tests.support.report_tables import java_table
from tests.unit.test_cli import run
from tests.unit.test_left_of_plans import change_data, random_keys, two_files_worth

SPACE = "sandbox.leftplans"


def test_buckets_confine_equality_deletes(session: Any, tmp_path: Path) -> None:
    """apache/iceberg#12280: what is printed makes buckets, loses no row, and applies all deletes."""
    name, table = f"{SPACE}.cdc", two_files_worth(change_data(tmp_path / "t", 8, "string", random_keys))
    session.sql(
        f"CALL sandbox.system.register_table(table => '{name[8:]}', "
        f"metadata_file => '{table.folder}/metadata/{table.last}')"
    )
    before = session.sql(f"SELECT * FROM {name} ORDER BY id").collect()
    assert len(before) == 110  # of some keys a checkpoint wrote anew
    told = run("inspect", "deletes", name).output
    first, second = statements(told)
    assert "ADD PARTITION FIELD bucket(2, id)" in first
    session.sql(first)
    session.sql(second)
    assert session.sql(f"SELECT * FROM {name} ORDER BY id").collect() == before
    assert session.sql(f"SELECT * FROM {name}.files WHERE content = 0 AND partition.id_bucket_2 IS NULL").count() == 0
    place = str(java_table(session, name).operations().current().metadataFileLocation())
    assert " pairs of an equality delete" not in run("inspect", "deletes", place).output
