"""All maintenance in the order that is told: who runs the statements one by one comes to an end, and the rows stay."""

from __future__ import annotations

from typing import Any

import explorer
from explorer.spark_engine.spark import SparkEngine

MOST_STEPS = 8
PROPERTIES = (
    "'format-version' = '2', 'write.delete.mode' = 'merge-on-read', 'history.expire.max-snapshot-age-ms' = '1', "
    "'write.distribution-mode' = 'none'"
)


def with_table(engine: SparkEngine, name: str, columns: str) -> Any:
    """A session with a new table of the namespace `maintained`."""
    spark = engine.session()
    spark.sql("CREATE NAMESPACE IF NOT EXISTS sandbox.maintained")
    spark.sql(f"CREATE OR REPLACE TABLE sandbox.maintained.{name} ({columns}) TBLPROPERTIES ({PROPERTIES})")
    return spark


def test_who_follows_the_order_comes_to_an_end(engine: SparkEngine) -> None:
    spark = with_table(engine, "t", "id BIGINT, k STRING")
    for number in range(7):
        spark.sql(f"INSERT INTO sandbox.maintained.t VALUES ({number}, 'a'), ({number + 100}, 'b')")
    spark.sql("DELETE FROM sandbox.maintained.t WHERE id = 3")

    def rows() -> list[tuple[int, str]]:
        return sorted((row.id, row.k) for row in spark.sql("SELECT * FROM sandbox.maintained.t").collect())

    before, ran = rows(), []
    for _ in range(MOST_STEPS):
        plan = explorer.open_table("maintained.t").maintain.all().value
        to_run = [line for line in plan.lines if line.statement]
        if not to_run:
            break
        first = to_run[0]
        answer = spark.sql(first.statement).collect()[0].asDict()
        ran.append(first.operation)
        if first.operation == "compact":
            assert answer["rewritten_data_files_count"] == first.files
        if first.operation == "rewrite-manifests":
            assert answer["rewritten_manifests_count"] == first.files
        if first.operation == "expire":
            counts = (
                "data_files",
                "position_delete_files",
                "equality_delete_files",
                "manifest_files",
                "manifest_lists",
            )
            assert sum(answer[f"deleted_{name}_count"] for name in counts) == first.files
        assert rows() == before
    assert (plan.words[0], ran[0], ran[-1]) == ("No procedure has anything to do.", "compact", "expire")
    assert {"compact", "expire"} <= set(ran)
    assert "rewrite-manifests" not in ran, "the compaction wrote all files into new manifests"


def test_manifests_are_rewritten_where_no_compaction_is(engine: SparkEngine) -> None:
    spark = with_table(engine, "few", "id BIGINT")
    for number in range(3):
        spark.sql(f"INSERT INTO sandbox.maintained.few VALUES ({number})")
    plan = explorer.open_table("maintained.few").maintain.all().value
    first = next(line for line in plan.lines if line.statement)
    assert first.operation == "rewrite-manifests"
    assert spark.sql(first.statement).collect()[0].rewritten_manifests_count == first.files == 3
    after = explorer.open_table("maintained.few").maintain.all().value
    assert "rewrite-manifests" not in [line.operation for line in after.lines if line.statement]


def test_what_must_not_be_run_has_no_statement(engine: SparkEngine) -> None:
    spark = engine.session()
    spark.sql("CREATE NAMESPACE IF NOT EXISTS sandbox.maintained")
    spark.sql(
        "CREATE OR REPLACE TABLE sandbox.maintained.shared TBLPROPERTIES ('gc.enabled' = 'false') AS SELECT 1 AS id"
    )
    plan = explorer.open_table("maintained.shared").maintain.all().value
    refused = {line.operation: line.refusal for line in plan.lines if line.refusal}
    assert refused.keys() == {"expire", "remove-orphans"}
    assert "gc.enabled" in refused["expire"]
    assert plan.words[-1] == "Must not be run: expire, remove-orphans."
