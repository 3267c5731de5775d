"""What a twenty-ninth round of public reports led to, held against Spark: sinks, folders and expiry."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.spark.test_twentyfifth_reports import folder_catalog
from tests.support.report_tables import found, java_table
from tests.unit.test_cli import run
from tests.unit.test_twentyninth_sink_reports import sink, without_version

SPACE = "sandbox.twentyninth_sinks"


def register(session: Any, name: str, metadata: str) -> None:
    """Make a folder's table a table of the sandbox."""
    session.sql(f"CALL sandbox.system.register_table('{name.removeprefix('sandbox.')}', '{metadata}')")


def test_the_identifier_fields_are_dropped(session: Any, tmp_path: Path) -> None:
    """apache/iceberg#9773: Spark shows what the explorer shows, and runs the statement on this very table."""
    table, name = sink(tmp_path / "t"), f"{SPACE}.events"
    register(
        session, name, str(max(table.folder.glob("metadata/*.metadata.json"), key=lambda one: one.stat().st_mtime))
    )
    assert sorted(row.value for row in session.table(name).collect()) == ["value 1", "value 3"]
    text = run("data", "history", name, "id = 1").output
    [statement] = re.findall("To drop the identifier fields: (ALTER TABLE .*)", text)
    assert name in statement
    session.sql(statement)
    assert not java_table(session, name).schema().identifierFieldIds()
    assert "DROP IDENTIFIER FIELDS" not in run("data", "history", name, "id = 1").output


def test_spark_reads_a_copy_with_a_version_in_the_folder(session: Any, tmp_path: Path) -> None:
    """ClickHouse/ClickHouse#68436: what the remedy says of readers of folders, and of register_table."""
    place = without_version(tmp_path / "folder29" / "db" / "t")
    [finding] = found(tmp_path / "folder29" / "db" / "t", "metadata-choice")
    assert "copy the newest metadata file as v1.metadata.json" in finding.remedy
    name = f"{folder_catalog(session, tmp_path / 'folder29')}.db.t"
    with pytest.raises(Exception, match="TABLE_OR_VIEW_NOT_FOUND"):
        session.sql(f"SELECT * FROM {name}").collect()
    shutil.copy(place, place.with_name("v1.metadata.json"))
    (place.parent / "version-hint.text").write_text("1")
    assert sorted(row.id for row in session.table(name).collect()) == [1, 2]
    register(session, f"{SPACE}.taken", str(place))
    session.sql(f"INSERT INTO {SPACE}.taken VALUES (3)")
    written = java_table(session, f"{SPACE}.taken").operations().current().metadataFileLocation()
    assert written.rpartition("/")[2].startswith("00000-")
    assert place.exists()
