"""Remedies of a twenty-fifth round of public reports, executed in Spark as they say."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from explorer.errors import StatementFailed
from tests.cases.mini import Table
from tests.statements.printed import statements
from tests.support import direct
from tests.support.feature_tables import OURS
from tests.support.report_tables import found
from tests.support.small_tables import make_table, newest_metadata

SPACE = "sandbox.twentyfifth"


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
    with pytest.raises(StatementFailed, match=r"Spark cannot open \S+: the table has no UUID.*Spark says: "):
        direct.open_table(name).plan_sql("id = 1")
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


def folder_catalog(session: Any, place: Path) -> str:
    """A catalog of folders in Spark."""
    for key, value in {"": "org.apache.iceberg.spark.SparkCatalog", ".type": "hadoop", ".warehouse": place}.items():
        session.conf.set(f"spark.sql.catalog.{place.name}{key}", str(value))
    return place.name


def test_a_folder_without_a_uuid_goes_on_with_a_next_version(session: Any, tmp_path: Path) -> None:
    folder = tmp_path / "folder25" / "db" / "t"
    OURS["fault-no-uuid"](folder)
    newest = newest_metadata(folder)
    text = newest.read_text()
    for file in folder.glob("metadata/*.metadata.json"):
        file.unlink()
    metadata = newest.with_name("v2.metadata.json")
    metadata.write_text(text)
    (folder / "metadata" / "version-hint.text").write_text("2")
    name = f"{folder_catalog(session, tmp_path / 'folder25')}.db.t"
    with pytest.raises(Exception, match="name"):
        session.sql(f"SELECT * FROM {name}").collect()
    [finding] = found(folder, "uuid-changed")
    assert copy_as_told(metadata, finding.remedy).name == "v3.metadata.json"
    session.sql(f"REFRESH TABLE {name}")
    assert rows_of(session, name) == [(1, "a"), (2, "b")]
    session.sql(f"INSERT INTO {name} VALUES (3, 'c')")
    assert not found(folder, "uuid-changed")
    assert not found(folder, "metadata-choice")


# -- a folder in which readers find another version --------------------------------------------------------------------
def build_folder(session: Any, place: Path, name: str) -> tuple[str, Path]:
    """A table of Spark's in a folder, with four versions, the last of three rows."""
    table = f"{folder_catalog(session, place)}.db.{name}"
    session.sql(f"CREATE TABLE {table} (id BIGINT) USING iceberg")
    for number in (1, 2, 3):
        session.sql(f"INSERT INTO {table} VALUES ({number})")
    metadata = place / "db" / name / "metadata"
    for file in metadata.glob(".*.crc"):
        file.unlink()
    return table, metadata


def fresh(session: Any, table: str) -> list[int]:
    session.sql(f"REFRESH TABLE {table}")
    return sorted(row.id for row in session.sql(f"SELECT id FROM {table}").collect())


def lose_hint(metadata: Path) -> None:
    (metadata / "version-hint.text").unlink()


def set_back(metadata: Path) -> None:
    (metadata / "version-hint.text").write_text("3")


def scribble(metadata: Path) -> None:
    (metadata / "version-hint.text").write_text("three")


@pytest.mark.parametrize(("name", "damage"), [("lost", lose_hint), ("behind", set_back), ("unread", scribble)])
def test_a_commit_writes_the_hint(name: str, damage: Any, session: Any, tmp_path: Path) -> None:
    """ClickHouse/ClickHouse#120833: the advice said that nothing in Spark mends a folder."""
    table, metadata = build_folder(session, tmp_path / f"hint_{name}", "t")
    damage(metadata)
    [finding] = found(metadata.parent, "metadata-choice")
    assert fresh(session, table) == [1, 2, 3]
    told = statements(finding.remedy)
    assert len(told) == 2
    for statement in told:
        session.sql(statement.replace("your_catalog.your_db.your_table", table))
    assert (metadata / "version-hint.text").read_text() == "6"
    assert not found(metadata.parent, "metadata-choice")
    assert fresh(session, table) == [1, 2, 3]


def test_a_version_of_another_name_is_copied(session: Any, tmp_path: Path) -> None:
    table, metadata = build_folder(session, tmp_path / "misnamed", "t")
    file = metadata / "v4.metadata.json"
    file.rename(metadata / "v04.metadata.json")
    [finding] = found(metadata.parent, "metadata-choice")
    assert "Copy the file under a name that Iceberg looks for" in finding.remedy
    with pytest.raises(Exception, match=r"version 4 is missing|cannot be found"):
        fresh(session, table)
    file.write_bytes((metadata / "v04.metadata.json").read_bytes())
    assert fresh(session, table) == [1, 2, 3]


def test_a_hint_that_is_ahead_goes(session: Any, tmp_path: Path) -> None:
    table, metadata = build_folder(session, tmp_path / "ahead", "t")
    kept = (metadata / "v4.metadata.json").read_bytes()
    (metadata / "v4.metadata.json").unlink()
    [finding] = found(metadata.parent, "metadata-choice")
    assert "take version-hint.text away" in finding.remedy
    with pytest.raises(Exception, match=r"version 4 is missing|cannot be found"):
        fresh(session, table)
    (metadata / "version-hint.text").unlink()
    assert fresh(session, table) == [1, 2]
    (metadata / "v4.metadata.json").write_bytes(kept)
    assert fresh(session, table) == [1, 2, 3]
    session.sql(f"INSERT INTO {table} VALUES (4)")
    assert (metadata / "version-hint.text").read_text() == "5"


def test_a_hint_leads_over_a_version_that_is_gone(session: Any, tmp_path: Path) -> None:
    table, metadata = build_folder(session, tmp_path / "gone", "t")
    (metadata / "v3.metadata.json").unlink()
    (metadata / "version-hint.text").write_text("2")
    found_here = [f.remedy for f in found(metadata.parent, "metadata-choice")]
    assert any("write the number of the version that is to be the table's" in remedy for remedy in found_here)
    assert fresh(session, table) == [1]
    (metadata / "version-hint.text").write_text("4")
    assert fresh(session, table) == [1, 2, 3]


def test_a_catalog_gives_a_version_to_what_has_none(session: Any, tmp_path: Path) -> None:
    folder = make_table(tmp_path / "t", 2)
    text = newest_metadata(folder).read_text()
    for file in folder.glob("metadata/*.metadata.json"):
        file.unlink()
    for name in ("current", "older"):
        (folder / "metadata" / f"{name}.metadata.json").write_text(text)
    [finding] = found(folder, "metadata-choice")
    assert "by the procedure register_table, and commit there" in finding.remedy
    place = folder / "metadata" / "current.metadata.json"
    session.sql(f"CALL sandbox.system.register_table('twentyfifth.nameless', 'file:{place}')")
    session.sql(f"ALTER TABLE {SPACE}.nameless SET TBLPROPERTIES ('written-again' = 'true')")
    assert sorted(folder.glob("metadata/00000-*.metadata.json"))
    assert session.table(f"{SPACE}.nameless").count() > 0


def test_rows_of_a_refused_insert_are_got_back(session: Any, tmp_path: Path) -> None:
    """Altinity/ice#158: the only advice removed the last copy."""
    table = Table(tmp_path / "t", [(1, "id", "long")])
    table.append(table.parquet("base.parquet", {"id": [1]}))
    table.parquet("refused.parquet", {"id": [7]})
    table.append(table.parquet("won.parquet", {"id": [2]}))
    path = tmp_path / "t" / "data" / "refused.parquet"
    between = sum(snapshot["timestamp-ms"] for snapshot in table.md["snapshots"]) / 2000
    os.utime(path, (between, between))
    name = f"{SPACE}.refused"
    session.sql(f"CALL sandbox.system.register_table('twentyfifth.refused', 'file:{newest_metadata(tmp_path / 't')}')")
    [finding] = found(name, "orphan-files", files=True)
    assert "1 data file" in finding.what
    [source] = re.findall(r"source_table => ('`parquet`\.`PATH`')", finding.remedy)
    added = source.replace("PATH", f"file:{path}")
    session.sql(f"CALL sandbox.system.add_files(table => 'twentyfifth.refused', source_table => {added})")
    assert rows_of(session, name) == [(1,), (2,), (7,)]
    assert not found(name, "orphan-files", files=True)
