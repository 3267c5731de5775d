"""Remedies of the thirty-second reports of trouble with Iceberg tables, run as they are printed."""

from __future__ import annotations

from typing import Any

import pytest
from py4j.protocol import Py4JJavaError

from explorer.spec.doctor.remedy_cases import DROPPED_SOURCE, REFUSES_SPEC
from tests.statements.printed import statements
from tests.support import direct

SPACE = "sandbox.thirtysecond"
OF_FILES = ("files", "data_files", "entries")
NO_LIVE_SPEC = "a manifest without live files is of spec 0"


def fails(spark: Any, query: str) -> bool:
    try:
        spark.sql(query).collect()
    except Py4JJavaError as error:
        assert "Cannot partition by non-primitive source field" in str(error)
        return True
    return False


# -- a dropped column that only an old spec uses (trinodb/trino#15729) -------------------------------------------------
@pytest.mark.parametrize(("name", "spec"), [("last", "id, truncate(5, name)"), ("first", "truncate(5, name), id")])
def test_a_dropped_column_of_an_old_spec_is_gone_after_the_printed_statements(spark: Any, name: str, spec: str) -> None:
    table, is_last = f"{SPACE}.{name}", name == "last"
    spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {SPACE}")
    spark.sql(f"CREATE TABLE {table} (id INT, name STRING, v INT) USING iceberg PARTITIONED BY ({spec})")
    spark.sql(f"INSERT INTO {table} VALUES (1, 'Aachen', 1), (2, 'Berlin', 2)")
    spark.sql(f"INSERT INTO {table} VALUES (1, 'Bonn', 3)")
    spark.sql(f"ALTER TABLE {table} DROP PARTITION FIELD truncate(5, name)")
    spark.sql(f"ALTER TABLE {table} DROP COLUMN name")
    for number in (3, 4):
        spark.sql(f"INSERT INTO {table} VALUES ({number}, {number * 10})")
    [finding] = direct.doctor(table, deep=True).findings
    assert finding.what.endswith(REFUSES_SPEC if is_last else DROPPED_SOURCE)
    assert [fails(spark, f"SELECT * FROM {table}.{one}") for one in OF_FILES] == [is_last] * 3
    assert fails(spark, f"CALL sandbox.system.rewrite_manifests('thirtysecond.{name}')") is is_last
    assert spark.table(table).where("id = 1").count() == 2
    rewrite, insert, expire = statements(finding.remedy)
    spark.sql(rewrite)
    if is_last:
        assert fails(spark, f"SELECT * FROM {table}.files")
        [dead] = direct.doctor(table).findings
        assert dead.what.startswith(NO_LIVE_SPEC)
        assert statements(dead.remedy) == [insert]
    spark.sql(insert)
    assert not [f for f in direct.doctor(table).findings if f.columns]
    assert not any(fails(spark, f"SELECT * FROM {table}.{one}") for one in OF_FILES)
    spark.sql(expire.replace("clean_expired", "older_than => now(), clean_expired"))
    assert [one.spec_id for one in direct.open_table(table).metadata.partition_specs] == [1]
    assert sorted(row.v for row in spark.table(table).collect()) == [1, 2, 3, 30, 40]
