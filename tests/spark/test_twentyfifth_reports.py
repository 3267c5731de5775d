"""Remedies of a twenty-fifth round of public reports, executed in Spark as they say."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from explorer.errors import StatementFailed
from explorer.spark_engine.spark import SparkEngine
from tests.statements.printed import statements
from tests.support import direct
from tests.support.feature_tables import OURS
from tests.support.report_tables import found, spark_namespace
from tests.support.small_tables import newest_metadata

SPACE = "sandbox.twentyfifth"


@pytest.fixture
def session(engine: SparkEngine) -> Iterator[Any]:
    with spark_namespace(engine, SPACE) as session:
        yield session


def rows_of(session: Any, name: str) -> list[tuple[Any, ...]]:
    return sorted(tuple(row) for row in session.sql(f"SELECT * FROM {name}").collect())


def copy_as_told(metadata: Path, remedy: str) -> Path:
    """The copy of a metadata file with a UUID that a remedy tells of."""
    [name] = re.findall(r"in its folder \((\S+)\)", remedy)
    [uuid] = re.findall(r'"table-uuid": "([0-9a-f-]+)"', remedy)
    copy = metadata.with_name(name)
    copy.write_text(json.dumps({**json.loads(metadata.read_text()), "table-uuid": uuid}))
    return copy


def test_a_table_without_a_uuid_is_read_by_a_copy_that_has_one(session: Any, tmp_path: Path) -> None:
    """StarRocks/starrocks#48235."""
    OURS["fault-no-uuid"](tmp_path / "t")
    name, metadata = f"{SPACE}.no_uuid", newest_metadata(tmp_path / "t")
    session.sql(f"CALL sandbox.system.register_table('twentyfifth.no_uuid', 'file:{metadata}')")
    with pytest.raises(Exception, match="name"):
        session.sql(f"SELECT * FROM {name}").collect()
    with pytest.raises(StatementFailed, match=r"Spark cannot open \S+: the table has no UUID.*Spark says: "):
        direct.open_table(name).rows()
    with pytest.raises(StatementFailed, match=r"Spark cannot open \S+: the table has no UUID.*Spark says: "):
        direct.open_table(name).sql(f"SELECT * FROM {name}")
    session.sql(f"ALTER TABLE {name} SET TBLPROPERTIES ('written-again' = 'true')")
    [finding] = found(name, "uuid-changed")
    with pytest.raises(Exception, match="UUID is required in format v2"):
        session.sql(f"ALTER TABLE {name} SET TBLPROPERTIES ('format-version' = '2')")
    [metadata] = [Path(finding.file.removeprefix("file:"))]
    copy_as_told(metadata, finding.remedy)
    [call] = statements(finding.remedy)
    session.sql(call)
    assert rows_of(session, f"{name}_mended") == [(1, "a"), (2, "b")]
    session.sql(f"INSERT INTO {name}_mended VALUES (3, 'c')")
    assert rows_of(session, f"{name}_mended") == [(1, "a"), (2, "b"), (3, "c")]
    assert not found(f"{name}_mended", "uuid-changed")


def test_a_folder_without_a_uuid_goes_on_with_a_next_version(session: Any, tmp_path: Path) -> None:
    folder = tmp_path / "db" / "t"
    OURS["fault-no-uuid"](folder)
    newest = newest_metadata(folder)
    text = newest.read_text()
    for file in folder.glob("metadata/*.metadata.json"):
        file.unlink()
    metadata = newest.with_name("v2.metadata.json")
    metadata.write_text(text)
    (folder / "metadata" / "version-hint.text").write_text("2")
    for key, value in {
        "": "org.apache.iceberg.spark.SparkCatalog",
        ".type": "hadoop",
        ".warehouse": f"{tmp_path}",
    }.items():
        session.conf.set(f"spark.sql.catalog.folder25{key}", value)
    with pytest.raises(Exception, match="name"):
        session.sql("SELECT * FROM folder25.db.t").collect()
    [finding] = found(folder, "uuid-changed")
    assert copy_as_told(metadata, finding.remedy).name == "v3.metadata.json"
    session.sql("REFRESH TABLE folder25.db.t")
    assert rows_of(session, "folder25.db.t") == [(1, "a"), (2, "b")]
    session.sql("INSERT INTO folder25.db.t VALUES (3, 'c')")
    assert not found(folder, "uuid-changed")
    assert not found(folder, "metadata-choice")
