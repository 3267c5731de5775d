"""Troubles from public reports, made by Spark itself: what is answered, and that what is printed does it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from explorer.spark_engine.spark import SparkEngine
from tests.statements.printed import statements
from tests.support.report_tables import java_table, spark_namespace
from tests.unit.test_screen import run

SPACE = "sandbox.thirteenth"


@pytest.fixture
def session(engine: SparkEngine) -> Iterator[Any]:
    with spark_namespace(engine, SPACE) as session:
        yield session


def test_a_table_made_with_a_sort_order(session: Any) -> None:
    """apache/iceberg#17814: Spark cannot sort its files by another one."""
    iceberg, name = session._jvm.org.apache.iceberg, f"{SPACE}.ordered"
    fields = session._jvm.java.util.ArrayList()
    for number, column in enumerate(("id", "v"), 1):
        fields.add(iceberg.types.Types.NestedField.optional(number, column, iceberg.types.Types.IntegerType.get()))
    schema = iceberg.Schema(fields)
    order = iceberg.SortOrder.builderFor(schema).asc("id").build()
    catalog = iceberg.spark.Spark3Util.loadIcebergCatalog(session._jsparkSession, "sandbox")
    at = iceberg.catalog.TableIdentifier.parse("thirteenth.ordered")
    catalog.buildTable(at, schema).withSortOrder(order).create()
    for number in range(3):
        session.sql(f"INSERT INTO {name} VALUES ({number}, {9 - number})")

    def preview(kind: str, columns: str) -> tuple[str, list[str]]:
        words = ["--sort-by", columns] if columns else []
        told = run("maintain", "preview", name, kind, *words, "-O", "rewrite-all=true").output
        return told, statements(told)

    refused = [("compact-sort", "v"), ("compact-z-order", "id,v"), ("compact-sort", "id,v")]
    for kind, columns in refused:
        told, printed = preview(kind, columns)
        assert "Spark would fail: 'Cannot use output sort order id 0 because" in told, (kind, columns)
        assert printed == []
    with pytest.raises(Exception, match="Cannot use output sort order id 0 because the table does not contain"):
        session.sql(
            "CALL sandbox.system.rewrite_data_files(table => 'thirteenth.ordered', strategy => 'sort', "
            "sort_order => 'v', options => map('rewrite-all', 'true'))"
        )
    for kind, columns in [("compact-sort", ""), ("compact-sort", "id"), ("compact", "")]:
        _, [statement] = preview(kind, columns)
        session.sql(statement)
    session.sql(f"ALTER TABLE {name} WRITE UNORDERED")
    session.sql(f"ALTER TABLE {name} WRITE ORDERED BY id")
    for kind, columns in refused:
        _, [statement] = preview(kind, columns)
        session.sql(statement)
    assert str(java_table(session, name).sortOrder().orderId()) == "1"
