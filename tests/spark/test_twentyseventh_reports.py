"""What a twenty-seventh round of public reports led to, held against Spark and Iceberg's own API."""

from __future__ import annotations

import re
from typing import Any

import pytest
from py4j.protocol import Py4JJavaError

from explorer.reports.conflicts import explain_conflict
from tests.statements.printed import statements
from tests.support import direct
from tests.support.report_tables import java_table
from tests.unit.test_cli import run

SPACE = "sandbox.twentyseventh"


def test_a_commit_to_a_branch_overtakes_one_to_main(session: Any) -> None:
    """risingwavelabs/risingwave#26660: main stood still while a branch grew."""
    name = f"{SPACE}.sink"
    session.sql(f"CREATE TABLE {name} (id INT) USING iceberg")
    session.sql(f"INSERT INTO {name} VALUES (1)")
    session.sql(f"ALTER TABLE {name} CREATE BRANCH ingestion")
    table = java_table(session, name)
    base = table.currentSnapshot().snapshotId()
    column = table.updateSchema().addColumn("more", session._jvm.org.apache.iceberg.types.Types.StringType.get())
    stale, operations = table.operations().current(), table.operations()
    changed = session._jvm.org.apache.iceberg.TableMetadata.buildFrom(stale).setProperties({"a": "b"}).build()
    session.sql(f"INSERT INTO {name}.branch_ingestion VALUES (2)")

    place = java_table(session, name).operations().current().metadataFileLocation()
    opened = direct.open_table(place)
    assert explain_conflict(opened, base, "append", ()).outcome == "retry"
    with pytest.raises(Py4JJavaError, match="CommitFailedException"):  # the swap is lost
        operations.commit(stale, changed)
    assert explain_conflict(opened, base, "add-column", ()).outcome == "refused"
    with pytest.raises(Py4JJavaError, match="CommitFailedException"):
        column.commit()


def test_a_rewrite_brings_files_of_an_older_spec_into_partitions(session: Any) -> None:
    """Eventual-Inc/Daft#7428: files of the older spec hold several values of the partition's column."""
    name = f"{SPACE}.respecced"
    session.sql(f"CREATE TABLE {name} (id INT, dt STRING) USING iceberg")
    session.sql(f"INSERT INTO {name} SELECT /*+ COALESCE(1) */ * FROM VALUES (1, 'a'), (2, 'b'), (3, 'c')")
    session.sql(f"ALTER TABLE {name} ADD PARTITION FIELD dt")
    session.sql(f"INSERT INTO {name} VALUES (4, 'b')")

    def place() -> str:
        return str(java_table(session, name).operations().current().metadataFileLocation())

    assert "files of an older partition spec are read" in run("plan", place(), "dt = 'b'").output
    told = run("maintain", "preview", place(), "compact", "--option", "rewrite-all=true").output
    [statement] = [one for one in statements(told) if "rewrite_data_files" in one]
    session.sql(re.sub(r"your_catalog\.system", "sandbox.system", statement).replace("your_db.your_table", name[8:]))
    told = run("plan", place(), "dt = 'b'").output
    assert "older partition spec" not in told
    assert "all rows match in 2 of 2 files" in told
