"""Troubles from public reports, made by Spark itself: what is answered, and that the printed statements do it."""

from __future__ import annotations

from typing import Any

import pytest

from explorer.spec.doctor.findings import Finding
from explorer.spec.snapshots.lineage import current_log, lineage
from tests.statements.printed import statements
from tests.support import direct
from tests.support.report_tables import found, java_table
from tests.unit.test_screen import run

SPACE = "sandbox.eleventh"


def differs(name: str) -> list[Finding]:
    return found(name, "readers-differ")


def test_two_partition_fields_of_one_name(session: Any) -> None:
    """apache/doris#68393: a field was dropped, and another got its name later."""
    name = f"{SPACE}.names"
    session.sql(f"CREATE TABLE {name} (id INT, record_key STRING) USING iceberg PARTITIONED BY (record_key)")
    session.sql(f"INSERT INTO {name} VALUES (1, 'k1')")
    session.sql(f"ALTER TABLE {name} DROP PARTITION FIELD record_key")
    session.sql(f"ALTER TABLE {name} ADD PARTITION FIELD bucket(4, record_key) AS shard")
    session.sql(f"INSERT INTO {name} VALUES (2, 'k2')")
    assert differs(name) == []
    java_table(session, name).updateSpec().renameField("shard", "record_key_shard").commit()
    session.sql(f"REFRESH TABLE {name}")
    assert differs(name) == []
    session.sql(f"ALTER TABLE {name} ADD PARTITION FIELD truncate(1, record_key) AS other")
    session.sql(f"INSERT INTO {name} VALUES (3, 'k3')")
    session.sql(f"ALTER TABLE {name} DROP PARTITION FIELD record_key_shard")
    session.sql(f"ALTER TABLE {name} ADD PARTITION FIELD bucket(8, record_key) AS record_key_shard")
    session.sql(f"INSERT INTO {name} VALUES (4, 'k4')")
    with pytest.raises(Exception, match="multiple fields for name"):
        session.table(f"{name}.files").count()
    [finding] = differs(name)
    assert finding.columns == ("record_key_shard",)
    assert "have this name" in finding.what
    refused = run("maintain", "preview", name, "rewrite-manifests").output
    assert "Iceberg would refuse" in refused
    assert "CALL" not in refused
    for statement in statements(finding.remedy):
        session.sql(statement)
    session.sql(f"REFRESH TABLE {name}")
    assert session.table(f"{name}.files").count() == 4
    assert differs(name) == []
    session.sql("CALL sandbox.system.rewrite_manifests(table => 'eleventh.names')")


def test_columns_whose_names_differ_in_case_only(session: Any) -> None:
    """trinodb/trino#16273, apache/iceberg#5408: another writer made it."""
    name = f"{SPACE}.cases"
    session.sql(f"CREATE TABLE {name} (id INT, col1 STRING) USING iceberg")
    session.sql(f"INSERT INTO {name} VALUES (1, 'a')")
    strings = session._jvm.org.apache.iceberg.types.Types.StringType.get()
    java_table(session, name).updateSchema().addColumn("COL1", strings).commit()
    session.sql(f"REFRESH TABLE {name}")
    with pytest.raises(Exception, match=r"(?i)col1"):
        session.table(name).collect()
    [finding] = differs(name)
    assert finding.columns == ("col1", "COL1")
    assert finding.remedy.startswith("SET spark.sql.caseSensitive = true, and Spark reads the table in that session.")
    try:
        session.sql("SET spark.sql.caseSensitive = true")
        for statement in statements(finding.remedy):
            session.sql(statement)
        assert session.table(name).count() == 1
    finally:
        session.conf.set("spark.sql.caseSensitive", "false")
    assert session.table(name).columns == ["id", "col1", "col1_2"]
    assert differs(name) == []


def test_a_table_that_was_replaced(session: Any) -> None:
    """apache/iceberg#11777, #9723: nobody rolled it back."""
    name = f"{SPACE}.replaced"
    session.sql(f"CREATE TABLE {name} (id INT) USING iceberg")
    for number in (1, 2):
        session.sql(f"INSERT INTO {name} VALUES ({number})")
    session.sql(f"CREATE OR REPLACE TABLE {name} USING iceberg AS SELECT 3 AS id")
    metadata = direct.open_table(name).metadata
    notes = [" ".join(entry.notes) for entry in lineage(metadata)]
    left = "it was current once, but snapshot-3, which has no parent, took its place, and no ref leads to it"
    assert notes[:2] == [left, left]
    assert current_log(metadata)[-1].reason == (
        "snapshot-3 has no parent: the table was replaced (CREATE OR REPLACE), or a writer began anew"
    )
    session.sql(f"CALL sandbox.system.set_current_snapshot('eleventh.replaced', {metadata.snapshots[0].snapshot_id})")
    notes = [" ".join(entry.notes) for entry in lineage(direct.open_table(name).metadata)]
    assert "took its place" in notes[1]


@pytest.mark.parametrize("mode", ["dynamic", "static"])
def test_an_overwrite_beside_an_insert(session: Any, mode: str) -> None:
    """apache/hive#5386, apache/iceberg#2633: Spark's INSERT OVERWRITE checks nothing, and the row is gone."""
    name = f"{SPACE}.beside_{mode}"
    session.sql(f"CREATE TABLE {name} (id INT, p STRING) USING iceberg PARTITIONED BY (p)")
    session.sql(f"INSERT INTO {name} VALUES (1, 'a'), (2, 'b')")
    base = java_table(session, name)
    overwrite = base.newReplacePartitions() if mode == "dynamic" else base.newOverwrite()
    if mode == "static":
        expressions = session._jvm.org.apache.iceberg.expressions.Expressions
        overwrite.overwriteByRowFilter(expressions.equal("p", "a"))
    else:
        tasks = base.newScan().filter(session._jvm.org.apache.iceberg.expressions.Expressions.equal("p", "a"))
        overwrite.addFile(tasks.planFiles().iterator().next().file())
    session.sql(f"INSERT INTO {name} VALUES (20, 'a')")
    kind = {"dynamic": "replace-partitions", "static": "overwrite-filter"}[mode]
    told = run("check", "conflict", name, "snapshot-1", kind, "--where", "p = 'a'").output
    assert "commits: no check finds a conflict" in told
    assert "isolation: none" in told
    assert "rows that others committed meanwhile to what it overwrites are gone" in told
    checked = run("check", "conflict", name, "snapshot-1", kind, "--where", "p = 'a'", "--isolation", "serializable")
    assert "It is refused" in checked.output
    overwrite.commit()
    session.sql(f"REFRESH TABLE {name}")
    assert 20 not in [row.id for row in session.table(name).collect()]
