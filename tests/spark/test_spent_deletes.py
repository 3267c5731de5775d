"""Position deletes that a compaction left, and partitions that an overwrite left, on tables that Spark wrote."""

from __future__ import annotations

from typing import Any

import pytest

import explorer
from explorer.reports.maintenance.previews import preview
from tests.statements.printed import statements
from tests.support import direct
from tests.support.report_tables import found

SPACE = "sandbox.spent"
MERGE_ON_READ = "'write.delete.mode'='merge-on-read', 'write.delete.granularity'='partition'"


def compacted(session: Any, name: str, spec: str, version: int) -> None:
    """Two files of which a compaction applied the deletes; of another two the deletes are still needed."""
    made = f"'format-version'='2', {MERGE_ON_READ}"
    session.sql(f"CREATE TABLE {name} (id INT, p INT) USING iceberg {spec} TBLPROPERTIES ({made})")
    for start in (0, 100):
        session.sql(f"INSERT INTO {name} SELECT /*+ COALESCE(1) */ id, 1 FROM range({start}, {start + 100})")
    session.sql(f"DELETE FROM {name} WHERE id % 10 = 3")
    session.sql(f"CALL sandbox.system.rewrite_data_files(table => '{name}', options => map('rewrite-all', 'true'))")
    for start in (200, 300):
        session.sql(f"INSERT INTO {name} SELECT /*+ COALESCE(1) */ id, 1 FROM range({start}, {start + 100})")
    session.sql(f"DELETE FROM {name} WHERE id > 200 AND id % 10 = 5")
    if version > 2:
        session.sql(f"ALTER TABLE {name} SET TBLPROPERTIES ('format-version'='{version}')")


def deletes(session: Any, name: str) -> set[str]:
    session.sql(f"REFRESH TABLE {name}")
    return {row.file_path for row in session.sql(f"SELECT file_path FROM {name}.delete_files").collect()}


@pytest.mark.parametrize("spec", ["", "PARTITIONED BY (p)"], ids=["unpartitioned", "partitioned"])
@pytest.mark.parametrize("version", [2, 3])
def test_deletes_that_a_compaction_left(spec: str, version: int, session: Any) -> None:
    """apache/iceberg#8743: remove-dangling-deletes leaves them, and the printed statement drops them."""
    name = f"{SPACE}.t{version}{'p' if spec else ''}"
    compacted(session, name, spec, version)
    rows = session.sql(f"SELECT id FROM {name} ORDER BY id").collect()
    [finding] = found(name, "delete-names-nothing")
    [row] = preview(direct.open_table(name), "dangling-deletes").tables["deletes"]
    before = deletes(session, name)
    assert finding.examples == (row["file"],)
    assert len(before) == 2
    dangling = (
        "CALL sandbox.system.rewrite_data_files(table => '{}', options => map('remove-dangling-deletes', 'true'))"
    )
    session.sql(dangling.format(name))
    assert row["file"] in deletes(session, name)
    seen = preview(direct.open_table(name), "dangling-deletes")
    assert statements(finding.remedy) == [seen.call]
    session.sql(seen.call)
    after = deletes(session, name)
    assert row["file"] not in after
    assert len(after) >= 1
    assert session.sql(f"SELECT id FROM {name} ORDER BY id").collect() == rows
    assert not found(name, "delete-names-nothing", deep=True)
    assert not preview(direct.open_table(name), "dangling-deletes").call


def test_an_overwrite_of_partitions_under_a_newer_spec(session: Any) -> None:
    """apache/iceberg-python#3148, as Spark has it: the advice ends with one row of each key."""
    name = f"{SPACE}.overwritten"
    session.sql(f"CREATE TABLE {name} (p STRING, q STRING, id INT, v INT) USING iceberg PARTITIONED BY (p)")
    session.sql(f"INSERT INTO {name} VALUES ('A', 'us', 1, 0), ('A', 'eu', 5, 0), ('B', 'us', 2, 0)")
    session.sql(f"ALTER TABLE {name} ADD PARTITION FIELD q")
    session.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
    try:
        overwrite = f"INSERT OVERWRITE {name} VALUES ('A', 'us', 1, 100)"
        session.sql(overwrite)
        [one] = explorer.open_table(name).data.duplicates(key=("id",)).value.first
        assert one.why.startswith("this overwrite (dynamic mode) replaced the partitions that it wrote to alone")
        assert "maintain preview TABLE compact -O rewrite-all=true), then run the overwrite again" in one.why
        session.sql(preview(direct.open_table(name), "compact", options={"rewrite-all": "true"}).call)
        session.sql(overwrite)
    finally:
        session.conf.unset("spark.sql.sources.partitionOverwriteMode")
    assert explorer.open_table(name).data.duplicates(key=("id",)).value.keys == 0
    assert [row.v for row in session.sql(f"SELECT v FROM {name} ORDER BY id").collect()] == [100, 0, 0]
