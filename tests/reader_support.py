"""Ask every reader that is here for a table of each feature, and write what the question `readers` knows of them:
`python -m tests.reader_support` (make test-readers sets up the others).

ICEDIVE_READERS names the interpreter of an environment with requirements/readers.txt, ICEBERG_JAR a jar of Iceberg for
its Spark, ICEDIVE_TRINO and ICEDIVE_FLINK are `JAVA CLASSPATH_FILE VERSION`, and ICEDIVE_GO the program of
tests/support/go. Flink's classpath has the jars of apache-flink-libraries, iceberg-flink-runtime (whose version it is),
the Hadoop client of pyspark, and sqlite-jdbc. Readers that are not here keep their cells."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from datetime import date
from importlib import metadata
from pathlib import Path

from explorer.spark_engine.spark import SparkEngine
from explorer.spark_engine.versions import packages
from tests.support.feature_tables import FeatureTable, build_tables
from tests.support.reader_answers import Answers, ask, ask_flink, ask_python, ask_session, ask_trino

DATA = Path(__file__).parents[1] / "explorer" / "reports" / "reader_support" / "tried.json"
SOURCE = "tests/reader_support.py"
OTHERS = {"duckdb": "DuckDB", "clickhouse": "ClickHouse", "iceberg-rust": "iceberg-rust"}
"""Readers of the other environment, by what they are called."""
ORDER = (
    "spark",
    "spark-4.0",
    "flink",
    "trino",
    "pyiceberg",
    "polars",
    "duckdb",
    "clickhouse",
    "iceberg-rust",
    "iceberg-go",
)
NOT_ASKED = {"trino": ("type-geometry", "type-geography")}
"""Features that a reader is not asked for: Trino has these types from a plugin that is not published."""


def known() -> dict[str, dict[str, str]]:
    """What the data file says: by reader and feature, whether it reads."""
    return {
        one["id"]: {feature: cell["reads"] for feature, cell in one["cells"].items()}
        for one in json.loads(DATA.read_text())["readers"]
    }


def ask_all(engine: SparkEngine, tables: Sequence[FeatureTable]) -> Iterator[tuple[str, str, str, Answers]]:
    """Ask all readers that are here.

    Yields:
        A reader's id, name and version, and its answers.
    """
    jar = packages()[0].rpartition(":")[2]
    spark = engine.session()
    short = ".".join(spark.version.split(".")[:2])
    yield "spark", f"Spark {short} with Iceberg Java", jar, ask_session(spark, tables)
    yield "pyiceberg", "pyiceberg", *ask_python(sys.executable, "pyiceberg", tables)
    version, answers = ask_python(sys.executable, "polars", tables)
    yield "polars", "polars", f"{version} with pyiceberg {metadata.version('pyiceberg')}", answers
    if python := os.environ.get("ICEDIVE_READERS"):
        for reader, name in OTHERS.items():
            version, answers = ask_python(python, reader, tables)
            yield reader, name, f"{'in pyiceberg-core ' if reader == 'iceberg-rust' else ''}{version}", answers
        if older := os.environ.get("ICEBERG_JAR"):
            _, answers = ask_python(python, "spark-4.0", tables)
            yield "spark-4.0", "Spark 4.0 with Iceberg Java", Path(older).stem.rpartition("-")[2], answers
    if go := os.environ.get("ICEDIVE_GO"):
        yield "iceberg-go", "iceberg-go", *ask([go], tables)
    if flink := os.environ.get("ICEDIVE_FLINK"):
        java, place, version = flink.split()
        yield "flink", "Flink 2.1 with Iceberg Java", *ask_flink(java, Path(place).read_text().strip(), version, tables)
    if trino := os.environ.get("ICEDIVE_TRINO"):
        java, place, version = trino.split()
        asked = [table for table in tables if table.feature not in NOT_ASKED["trino"]]
        yield "trino", "Trino", *ask_trino(java, Path(place).read_text().strip(), version, asked)


def write(readers: Sequence[tuple[str, str, str, Answers]]) -> None:
    """Write the data file: a line for each cell."""
    kept = {one["id"]: one for one in json.loads(DATA.read_text())["readers"]} if DATA.exists() else {}
    for own, name, version, answers in readers:
        cells = dict(sorted(answers.items()))
        today = date.today().isoformat()
        kept[own] = {"id": own, "name": name, "version": version, "source": SOURCE, "date": today, "cells": cells}
    kept = {own: kept[own] for own in ORDER if own in kept}
    lines = [f'{json.dumps({"is_tried": True})[:-1]}, "readers": [']
    for at, one in enumerate(kept.values()):
        head = json.dumps({key: value for key, value in one.items() if key != "cells"}, ensure_ascii=False)
        lines.append(f'  {head[:-1]}, "cells": {{')
        cells_of = [
            f"    {json.dumps(key)}: {json.dumps(cell, ensure_ascii=False)}" for key, cell in one["cells"].items()
        ]
        lines.append(",\n".join(cells_of))
        lines.append("  }}" + ("," if at < len(kept) - 1 else ""))
    DATA.parent.mkdir(exist_ok=True)
    DATA.write_text("\n".join([*lines, "]}"]) + "\n")


def main() -> None:
    """Build the tables, ask, and write."""
    engine = SparkEngine()
    engine.start()
    with tempfile.TemporaryDirectory(prefix="icedive-readers-") as folder:
        tables = []
        for table in build_tables(engine, Path(folder)):
            if not isinstance(table, FeatureTable):
                sys.exit(f"the table of {table[0]} cannot be written: {table[1]}")
            tables.append(table)
        write(list(ask_all(engine, tables)))
    engine.stop()


if __name__ == "__main__":
    main()
