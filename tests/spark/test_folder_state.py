"""Which state Iceberg opens of a folder with Hadoop names, held against ours."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest
from py4j.protocol import Py4JJavaError

from explorer.spark_engine.spark import SparkEngine
from tests.support import direct
from tests.support.small_tables import make_table, newest_metadata
from tests.unit.test_folder_state import HADOOP


@pytest.fixture(scope="module")
def hadoop_tables(engine: SparkEngine) -> Any:
    session: Any = engine.session()
    return session._jvm.org.apache.iceberg.hadoop.HadoopTables(session._jsparkSession.sessionState().newHadoopConf())


def opened_by_iceberg(tables: Any, folder: Path) -> str:
    return str(tables.load(str(folder)).operations().current().metadataFileLocation()).rsplit("/", 1)[-1]


def folder_of(tmp_path: Path, names: list[str], hint: str | None) -> Path:
    table = make_table(tmp_path, 1)
    metadata = newest_metadata(table).read_bytes()
    for path in (table / "metadata").glob("*.metadata.json"):
        path.unlink()
    for name in names:
        (table / "metadata" / name).write_bytes(gzip.compress(metadata) if ".gz" in name else metadata)
    if hint is not None:
        (table / "metadata" / "version-hint.text").write_text(hint)
    return table


@pytest.mark.parametrize(("names", "hint", "opened"), HADOOP)
def test_iceberg_opens_the_same_file(
    names: list[str], hint: str | None, opened: str, hadoop_tables: Any, tmp_path: Path
) -> None:
    table = folder_of(tmp_path, names, hint)
    assert opened_by_iceberg(hadoop_tables, table) == opened
    assert direct.open_table(str(table)).metadata.metadata_location.endswith(f"/{opened}")


@pytest.mark.parametrize("hint", ["4", "-1", "3"])
def test_iceberg_refuses_a_hint_whose_file_is_missing(hint: str, hadoop_tables: Any, tmp_path: Path) -> None:
    table = folder_of(tmp_path, ["v1.metadata.json", "v2.metadata.json", "v3.gzip.metadata.json"], hint)
    with pytest.raises(Py4JJavaError, match=f"Metadata file for version {hint} is missing"):
        opened_by_iceberg(hadoop_tables, table)
    opened = direct.open_table(str(table))
    [problem] = [p for p in opened.problems if p.severity == "error"]
    assert f"Metadata file for version {hint} is missing" in problem.cause
