"""Runs statements in Spark 3.5: by a Python that has pyspark 3.5, with jars as its arguments.

A job a line comes in as JSON: a metadata file, the table's name, statements, and a query to ask afterwards. What the
query answers goes out, a line each, or what went wrong."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any


def main(jars: list[str], folder: str) -> None:
    from pyspark.sql import SparkSession

    catalog = "spark.sql.catalog.sandbox"
    settings = {
        "spark.jars": ",".join(jars), "spark.ui.enabled": "false", "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1", "spark.sql.shuffle.partitions": "2",
        "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        catalog: "org.apache.iceberg.spark.SparkCatalog",
        f"{catalog}.catalog-impl": "org.apache.iceberg.jdbc.JdbcCatalog", f"{catalog}.jdbc.schema-version": "V1",
        f"{catalog}.uri": f"jdbc:sqlite:{Path(folder, 'catalog.db')}", f"{catalog}.warehouse": f"file:{folder}",
    }  # fmt: skip
    builder: Any = SparkSession.builder.master("local[1]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    session.sql("CREATE NAMESPACE sandbox.db")
    for line in sys.stdin:
        job = json.loads(line)
        try:
            session.sql(f"CALL sandbox.system.register_table('{job['table']}', '{job['metadata']}')")
            for statement in job["statements"]:
                session.sql(statement)
            print(json.dumps([row[0] for row in session.sql(job["query"]).collect()]))
        except Exception as error:  # py4j's and pyspark's
            print(json.dumps(str(error)[:500]))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        main(sys.argv[1:], place)
