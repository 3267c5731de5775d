"""Names of tables as a SparkSession resolves them, classic or of Spark Connect: the explorer opens the same tables."""

from __future__ import annotations

import re
from itertools import product
from typing import Any

TABLES = ("prod.db.t", "prod.db.sub.u", "prod.other.t", "prod.`a.b`.`t.u`", "other.db.t", "other.t.t")
"""Tables of two catalogs. `prod` has a namespace with the name of the other one."""
PLACES = ("prod", "prod.db", "prod.db.sub", "prod.`a.b`", "other", "other.db", "spark_catalog")
"""What is USEd before names are asked for."""
NAMES = ("t", "u", "`t.u`", "db.t", "sub.u", "db.sub.u", "other.t", "other.t.t", "`a.b`.`t.u`", *TABLES)


def make_tables(spark: Any) -> None:
    """Make the tables; each has its own name as its row and as a property."""
    for name in TABLES:
        namespace, own = re.sub(r"\.(`[^`]*`|\w+)$", "", name), name.replace("`", "")
        spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {namespace}")
        spark.sql(f"CREATE TABLE {name} USING iceberg TBLPROPERTIES (own = '{own}') AS SELECT '{own}' AS own")


def compare_names(spark: Any) -> dict[str, list[Any]]:
    """Ask Spark and the explorer for each name at each place, and return where they have different tables."""
    differences: dict[str, list[Any]] = {}
    for place, name in product(PLACES, NAMES):
        spark.sql(f"USE {place}")
        in_spark, here, again = _in_spark(spark, name), *_here(spark, name)
        if not in_spark == here == again:
            differences[f"{name} in {place}"] = [in_spark, here, again]
    spark.sql("USE spark_catalog")
    return differences


def _in_spark(spark: Any, name: str) -> str | None:
    try:
        return str(spark.sql(f"SELECT own FROM {name}").collect()[0][0])
    except Exception:  # classic Spark and Spark Connect have types of their own
        return None


def _here(spark: Any, name: str) -> tuple[str | None, str | None]:
    """The table that is opened, and the one that it is when the session has gone elsewhere."""
    import explorer

    try:
        table = explorer.open_table(name, spark=spark)
    except explorer.TableNotFound:
        return None, None
    spark.sql("USE spark_catalog")
    found, again = (one.metadata.properties["own"] for one in (table, table.refresh()))
    return found, again
