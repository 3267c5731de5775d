"""What a thirtieth round of public reports led to, held against Spark: logs that were erased, engines that refuse."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from explorer.reports.maintenance_plan import plan_all
from explorer.spec.text.units import instant
from tests.cases.mini import T0
from tests.spark.test_twentyninth_sink_reports import register
from tests.statements.printed import statements
from tests.support import direct
from tests.support.report_tables import java_table
from tests.unit.test_cli import run
from tests.unit.test_thirtieth_engine_reports import deletes_of_one_partition, logged, pyiceberg_table, stored

SPACE = "sandbox.thirtieth_engines"


def test_time_travel_where_the_log_was_erased(session: Any, tmp_path: Path) -> None:
    """trinodb/trino#12843: Spark fails by the time, and reads by the id and by the tag that the remedy makes."""
    table, name = logged(tmp_path / "t"), f"{SPACE}.erased"
    register(session, name, str(table.folder / "metadata" / table.last))
    moment = instant(T0 + 125_000).removesuffix(" UTC")
    with pytest.raises(Exception, match="Cannot find a snapshot older than"):
        session.sql(f"SELECT * FROM {name} TIMESTAMP AS OF '{moment} UTC'").collect()
    assert session.sql(f"SELECT * FROM {name}.history").count() == 1
    assert session.table(name).count() == 4
    for made in ("before_the_log", "before_the_log_2"):
        [finding] = [f for f in direct.doctor(name).findings if f.rule == "log-incomplete"]
        [select, tag] = re.findall(
            r"(SELECT \* FROM \S+ VERSION AS OF \d+|ALTER TABLE \S+ CREATE TAG [^.]*\d)", finding.remedy
        )
        assert name in select
        assert name in tag
        assert session.sql(select).count() == 2
        session.sql(tag)
        assert session.sql(f"SELECT * FROM {name} VERSION AS OF '{made}'").count() == 2


def test_a_transaction_of_todays_iceberg_keeps_the_log(session: Any) -> None:
    name = f"{SPACE}.kept"
    session.sql(f"CREATE TABLE {name} (x INT) USING iceberg")
    for number in range(2):
        session.sql(f"INSERT INTO {name} VALUES ({number})")
    files = [row.file_path for row in session.sql(f"SELECT file_path FROM {name}.files").collect()]
    transaction = java_table(session, name).newTransaction()
    for path in files:
        delete = transaction.newDelete()
        delete.deleteFile(path)
        delete.commit()
    transaction.commitTransaction()
    assert session.sql(f"SELECT * FROM {name}.snapshots").count() == 4
    assert session.sql(f"SELECT * FROM {name}.history").count() == 3
    assert " was committed in one transaction with a later one" in run("history", "commits", name).output
    assert run("history", "lineage", name).output.count("so it was never current") == 1
    assert all(f.rule != "log-incomplete" for f in direct.doctor(name).findings)


@pytest.mark.parametrize("is_legacy", [False, True])
def test_a_table_without_a_current_snapshot_id(
    is_legacy: bool, session: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """apache/iceberg-python#1164: the remedy's statements write the field, and Spark reads what pyiceberg writes."""
    if is_legacy:
        monkeypatch.setenv("PYICEBERG_LEGACY_CURRENT_SNAPSHOT_ID", "true")
    table, name = pyiceberg_table(tmp_path / "c"), f"{SPACE}.empty"
    assert ("current-snapshot-id" in stored(table)) == is_legacy
    register(session, name, table.metadata_location)
    assert session.table(name).count() == 0
    found = [f for f in direct.doctor(name).findings if f.location == "/current-snapshot-id"]
    assert bool(found) != is_legacy
    for finding in found:
        statements = re.findall(r"ALTER TABLE [^;.]*[.][^.]*[.][^)]*[)]", finding.remedy)
        assert len(statements) == 2
        for statement in statements:
            session.sql(statement)
    assert not [f for f in direct.doctor(name).findings if f.location == "/current-snapshot-id"]


@pytest.mark.parametrize("older", [False, True])
@pytest.mark.parametrize("everywhere", [False, True])
def test_the_compaction_for_one_equality_delete_leaves_none(
    older: bool, everywhere: bool, session: Any, tmp_path: Path
) -> None:
    """flink-kickstarter#769: only older files of the delete's partition keep it, so that one alone is rewritten."""
    table = deletes_of_one_partition(tmp_path / "t", older, everywhere)
    name = f"{SPACE}.one_delete_{older}_{everywhere}".lower()
    register(session, name, str(table.folder / "metadata" / table.last))
    before = sorted((row.id, row.p) for row in session.table(name).collect())
    [line] = [line for line in plan_all(direct.open_table(name)).lines if line.operation == "compact"]
    assert bool(line.statement) is not older
    [statement] = statements(line.why) if older else [line.statement]
    [done] = session.sql(statement).collect()
    assert done.rewritten_data_files_count == (4 if older else line.files)
    assert not [file for file in direct.open_table(name).files() if file["content"]]
    assert sorted((row.id, row.p) for row in session.table(name).collect()) == before
