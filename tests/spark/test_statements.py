"""Every statement that is printed of a teaching table is one that Spark 3.5 accepts, by the grammar of its CALL; names
that need quotes have them, in Spark 4.1 too."""

from __future__ import annotations

from pathlib import Path

import pytest

from explorer.lab.scenarios import SCENARIOS
from explorer.reports.maintenance import runs
from explorer.spark_engine.spark import SparkEngine
from explorer.spark_engine.sql_guard.quoting import identifier, literal
from tests.statements.printed import printed, statements
from tests.statements.spark35 import fault
from tests.support import direct


@pytest.mark.parametrize("scenario", [scenario.name for scenario in SCENARIOS])
def test_statements_of_a_teaching_table(scenario: str, sandbox: Path) -> None:
    told = list(printed(direct.open_table(f"demo.{scenario}")))
    assert told
    for statement in told:
        assert not fault(statement), (statement, fault(statement))


@pytest.mark.parametrize(
    ("namespace", "name", "column", "tag"),
    [("odd one", "a-b", "my id", "my tag"), ("it's", 'a`b"c', "`my` 'id'", "it's `my`")],
)
def test_names_that_need_quotes(
    namespace: str, name: str, column: str, tag: str, sandbox: Path, engine: SparkEngine
) -> None:
    spark, (place, quoted, key) = engine.session(), (identifier([part]) for part in (namespace, name, column))
    own = f"sandbox.{place}.{quoted}"
    spark.sql(f"CREATE NAMESPACE IF NOT EXISTS sandbox.{place}")
    spark.sql(f"CREATE TABLE {own} ({key} INT, v STRING) USING iceberg")
    try:
        for n in range(6):
            spark.sql(f"INSERT INTO {own} VALUES ({n}, 'x')")
        table = direct.open_table(f"sandbox.{namespace}.{name}")
        for operation, where in (("compact", "v = 'x'"), ("compact-sort", ""), ("rewrite-manifests", "")):
            options = {"rewrite-all": "true"} if operation != "rewrite-manifests" else {}
            columns = "" if operation == "compact" else column
            call = runs.preview(table, operation, columns, options=options, where=where).call
            assert spark.sql(call).collect(), call
            table = table.refresh()
        first = table.metadata.snapshots[0].snapshot_id
        sql, table = runs.run_undo(table, "tag", tag, first)
        assert f"{place}.{quoted} CREATE TAG {identifier([tag])}" in sql
        sql, table = runs.run_undo(table, "rollback", snapshot=first)
        assert sql == f"CALL sandbox.system.rollback_to_snapshot({literal(f'{place}.{quoted}')}, {first})"
        assert spark.table(own).count() == 1
        expiry = runs.preview(table, "expire", options={"older_than": "2999-01-01", "retain_last": "1"})
        assert spark.sql(expiry.call).collect()
        spark.sql(f"ALTER TABLE {own} SET TBLPROPERTIES ('it\\'s a `password`' = 'of-mine-and-no-other')")
        [remedy] = [f.remedy for f in direct.doctor(table.name).findings if f.rule == "property-unsafe"]
        [statement] = statements(remedy)
        spark.sql(statement)
        assert not [f for f in direct.doctor(table.name).findings if f.rule == "property-unsafe"]
    finally:
        spark.sql(f"DROP TABLE {own} PURGE")
        spark.sql(f"DROP NAMESPACE sandbox.{place}")
