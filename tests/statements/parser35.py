"""Asks the real parser of Spark 3.5: run by a Python that has pyspark 3.5, with Iceberg's jar as its argument.

A statement a line comes in as JSON; what was wrong with it goes out, a line each, empty where nothing was."""

from __future__ import annotations

import json
import sys
from typing import Any


def main(jar: str) -> None:
    from pyspark.sql import SparkSession

    settings = {
        "spark.jars": jar, "spark.ui.enabled": "false", "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
    }  # fmt: skip
    builder: Any = SparkSession.builder.master("local[1]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    parser = session._jsparkSession.sessionState().sqlParser()
    for line in sys.stdin:
        try:
            parser.parsePlan(json.loads(line))
            print(json.dumps(""))
        except Exception as error:  # py4j's and pyspark's
            print(json.dumps(str(error).strip().splitlines()[0] or "refused"))


if __name__ == "__main__":
    main(sys.argv[1])
