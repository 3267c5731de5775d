"""Troubles from public reports, made by Spark itself: what is answered, and that what is printed does it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from explorer.spark_engine.spark import SparkEngine
from tests.cases import thirteenth
from tests.statements.printed import statements
from tests.support import direct
from tests.support.report_tables import found, java_table, spark_namespace
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


def register(session: Any, name: str, folder: Path) -> str:
    """A table of the newest metadata file of a folder."""
    newest = max((folder / "metadata").glob("*.metadata.json"))
    session.sql(f"CALL sandbox.system.register_table(table => 'thirteenth.{name}', metadata_file => '{newest}')")
    return f"{SPACE}.{name}"


def test_an_upsert_that_removed_nothing(session: Any, tmp_path: Path) -> None:
    """apache/iceberg-python#3758: one finding, which leads back to the rows as they were."""
    name = register(session, "upsert", thirteenth.upsert_beside(tmp_path / "t"))
    assert sorted((row.k, row.v) for row in session.table(name).collect()) == [("a", 1), ("a", 2), ("b", 1), ("b", 1)]
    report = direct.doctor(name)
    [finding] = report.findings
    assert (finding.rule, finding.severity, finding.snapshots) == ("operation-contradicts", "warning", (102, 103))
    assert "counts 1 data file of 2 rows as removed, which its manifests still list" in finding.what
    assert {f.rule for f in finding.explains} == {"totals-differ"}
    for statement in statements(finding.remedy):
        session.sql(statement)
    session.sql(f"REFRESH TABLE {name}")
    assert sorted((row.k, row.v) for row in session.table(name).collect()) == [("a", 1), ("b", 1)]


def test_an_upsert_under_a_newer_spec(session: Any, tmp_path: Path) -> None:
    """apache/iceberg#8979: the remedy keeps the row that the upsert wrote."""
    name = register(session, "evolved", thirteenth.upsert_under_a_newer_spec(tmp_path / "t"))
    told = run("data", "history", name, "id = 1").output
    assert "does not apply: the delete is of partition spec 1, the data of spec 0" in told
    [finding] = found(name, "delete-misplaced", deep=True)
    assert "by what tells them from newer rows" in finding.remedy
    assert "a DELETE by the key alone takes that one too" in finding.remedy
    session.sql(f"DELETE FROM {name} WHERE id = 1 AND v = 'old'")
    assert sorted((row.id, row.v) for row in session.table(name).collect()) == [(1, "new"), (2, "old")]
