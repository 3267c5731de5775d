"""Every statement that is printed of a teaching table is one that Spark 3.5 accepts, by the grammar of its CALL; names
that need quotes have them, in Spark 4.1 too."""

from __future__ import annotations

from pathlib import Path

import pytest

import explorer
from explorer import maintenance
from explorer.engines.spark import SparkEngine
from explorer.scenarios import SCENARIOS
from tests.statements.printed import printed
from tests.statements.spark35 import fault


@pytest.mark.parametrize("scenario", [scenario.name for scenario in SCENARIOS])
def test_statements_of_a_teaching_table(scenario: str, sandbox: Path) -> None:
    statements = list(printed(explorer.open_table(f"demo.{scenario}")))
    assert statements
    for statement in statements:
        assert not fault(statement), (statement, fault(statement))


def test_names_that_need_quotes(sandbox: Path, engine: SparkEngine) -> None:
    spark, own = engine.session(), "sandbox.`odd one`.`a-b`"
    spark.sql("CREATE NAMESPACE IF NOT EXISTS sandbox.`odd one`")
    spark.sql(f"CREATE TABLE {own} (`my id` INT, v STRING) USING iceberg")
    try:
        for n in range(6):
            spark.sql(f"INSERT INTO {own} VALUES ({n}, 'x')")
        table = explorer.open_table("sandbox.odd one.a-b")
        for operation, where in (("compact", '"my id" > -1'), ("compact-sort", ""), ("rewrite-manifests", "")):
            options = {"rewrite-all": "true"} if operation != "rewrite-manifests" else {}
            columns = "" if operation == "compact" else "my id"
            call = maintenance.preview(table, operation, columns, options=options, where=where).call
            assert spark.sql(call).collect(), call
            table = table.refresh()
        first = table.metadata.snapshots[0].snapshot_id
        sql, table = maintenance.run_undo(table, "tag", "my tag", first)
        assert "`odd one`.`a-b` CREATE TAG `my tag`" in sql
        sql, table = maintenance.run_undo(table, "rollback", snapshot=first)
        assert sql == f"CALL sandbox.system.rollback_to_snapshot('`odd one`.`a-b`', {first})"
        assert spark.table(own).count() == 1
        expiry = maintenance.preview(table, "expire", options={"older_than": "2999-01-01", "retain_last": "1"})
        assert spark.sql(expiry.call).collect()
    finally:
        spark.sql(f"DROP TABLE {own} PURGE")
        spark.sql("DROP NAMESPACE sandbox.`odd one`")
