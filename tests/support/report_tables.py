"""What the tests of public reports share: a namespace in Spark, tables as Iceberg's API has them, findings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from explorer.spark_engine.spark import SparkEngine
from explorer.spec.doctor.findings import Finding
from tests.support import direct


@contextmanager
def spark_namespace(engine: SparkEngine, namespace: str) -> Iterator[Any]:
    """A session, in which a namespace, named with its catalog, is there as long as it lasts."""
    session = engine.session()
    session.sql(f"CREATE NAMESPACE IF NOT EXISTS {namespace}")
    yield session
    for row in session.sql(f"SHOW TABLES IN {namespace}").collect():
        if not row.isTemporary:  # Spark lists the temporary views of other tests, too
            session.sql(f"DROP TABLE {namespace}.{row.tableName}")


def java_table(session: Any, name: str) -> Any:
    """A table as Iceberg's API has it."""
    return session._jvm.org.apache.iceberg.spark.Spark3Util.loadIcebergTable(session._jsparkSession, name)


def live_files(session: Any, name: str) -> list[Any]:
    """The data files of the current snapshot, as Iceberg's API has them."""
    tasks = java_table(session, name).newScan().includeColumnStats().planFiles().iterator()
    found = []
    while tasks.hasNext():
        found.append(tasks.next().file())
    return found


def found(name: Any, rule: str, **options: Any) -> list[Finding]:
    """The doctor's findings by one rule."""
    return [f for f in direct.doctor(name, **options).findings if f.rule == rule]


def run_java(table: Any, remedy: str, text: Any = str) -> None:
    """Run the call of Iceberg's API that a remedy prints; `text` makes a path what the call takes."""
    [call] = re.findall(r"in Java: (table\..*?\.commit\(\))", remedy)
    eval(re.sub(r"([0-9])L\)", r"\1)", call), {"table": table, "text": text})
