"""Files that can go: the statement that is printed removes these, and leaves the others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import explorer
from explorer.spark_engine.spark import SparkEngine
from explorer.spec.maintenance.file_stay import FileStay


def answers(name: str) -> dict[str, FileStay]:
    """Of each file in the folder of a table, by its path."""
    table = explorer.open_table(name)
    folder = Path(table.metadata.location.removeprefix("file:"))
    paths = [path for path in folder.rglob("*") if path.is_file() and not path.name.startswith(".")]
    return {str(path): table.maintain.file(str(path)).value for path in paths}


def test_an_expiry_removes_what_can_go_and_nothing_else(engine: SparkEngine) -> None:
    spark = engine.session()
    spark.sql("CREATE NAMESPACE IF NOT EXISTS sandbox.stays")
    spark.sql(
        "CREATE OR REPLACE TABLE sandbox.stays.t (id BIGINT, k STRING) USING iceberg PARTITIONED BY (k) TBLPROPERTIES "
        "('history.expire.max-snapshot-age-ms' = '1')"
    )
    for number in range(4):
        spark.sql(f"INSERT INTO sandbox.stays.t VALUES ({number}, 'a'), ({number}, 'b')")
    spark.sql("ALTER TABLE sandbox.stays.t CREATE TAG old AS OF VERSION " + str(first_snapshot("stays.t")))
    spark.sql("DELETE FROM sandbox.stays.t WHERE k = 'a'")
    spark.sql("CALL sandbox.system.rewrite_data_files(table => 'stays.t', options => map('rewrite-all', 'true'))")
    before = answers("stays.t")
    can_go = {path for path, stay in before.items() if stay.can_go}
    assert {before[path].kind for path in can_go} == {"data or delete file", "manifest", "manifest list"}
    [statement] = {before[path].statement for path in can_go}
    spark.sql(statement)
    assert {path for path in before if not Path(path).exists()} == can_go


def first_snapshot(name: str) -> Any:
    return explorer.open_table(name).metadata.by_number[0].snapshot_id


def test_an_older_metadata_file_goes_after_as_many_commits_as_are_told(engine: SparkEngine) -> None:
    spark = engine.session()
    spark.sql("CREATE NAMESPACE IF NOT EXISTS sandbox.stays")
    spark.sql(
        "CREATE OR REPLACE TABLE sandbox.stays.m (id BIGINT) USING iceberg TBLPROPERTIES "
        "('write.metadata.delete-after-commit.enabled' = 'true', 'write.metadata.previous-versions-max' = '3')"
    )
    for number in range(3):
        spark.sql(f"INSERT INTO sandbox.stays.m VALUES ({number})")
    log = explorer.open_table("stays.m").metadata.metadata_log
    for entry, commits in zip(log, (1, 2, 3), strict=True):
        words = explorer.open_table("stays.m").maintain.file(entry.metadata_file).value.words
        told = f"After {commits} more commit{'s' if commits > 1 else ''} it is no longer there."
        assert any(told in word for word in words), words
    for place, entry in enumerate(log):
        path = Path(entry.metadata_file.removeprefix("file:"))
        assert path.exists()
        spark.sql(f"INSERT INTO sandbox.stays.m VALUES ({place})")
        assert not path.exists()
