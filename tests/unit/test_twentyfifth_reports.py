"""Troubles of a twenty-fifth round of public reports, on tables that are built here."""

from __future__ import annotations

from pathlib import Path

from explorer.reports.maintenance.previews import preview
from explorer.reports.readers import find_readers
from explorer.spec.doctor.loading import explain_not_opened
from tests.support import direct
from tests.support.feature_tables import OURS
from tests.support.report_tables import found
from tests.support.small_tables import make_table, newest_metadata


# -- a table of version 1 without a UUID (StarRocks/starrocks#48235) ---------------------------------------------------
def test_a_table_without_a_uuid_gets_one_in_a_copy(tmp_path: Path) -> None:
    OURS["fault-no-uuid"](tmp_path / "t")
    [finding] = found(tmp_path / "t", "uuid-changed")
    assert "Iceberg Java loads it" in finding.what
    assert "cannot load a table with this fault" not in finding.remedy
    assert "backup" not in finding.remedy
    assert '"table-uuid": "' in finding.remedy
    assert "-mended.metadata.json') makes a table of it under another name" in finding.remedy
    assert "it cannot query this table" in preview(direct.open_table(str(tmp_path / "t")), "compact").refusal


def test_in_a_folder_the_copy_is_the_next_version(tmp_path: Path) -> None:
    OURS["fault-no-uuid"](tmp_path / "t")
    newest = newest_metadata(tmp_path / "t")
    newest.rename(newest.with_name("v7.metadata.json"))
    (newest.parent / "version-hint.text").write_text("7")
    [finding] = found(tmp_path / "t", "uuid-changed")
    assert "(v8.metadata.json)" in finding.remedy
    assert "register_table" not in finding.remedy


def test_readers_say_who_reads_a_table_without_a_uuid(tmp_path: Path) -> None:
    """The doctor said that pyiceberg reads it, and `readers` that no reader does."""
    OURS["fault-no-uuid"](tmp_path / "t")
    answers = {v.reader.id: v.answer for v in find_readers(direct.open_table(str(tmp_path / "t"))).verdicts}
    assert {"pyiceberg", "trino", "clickhouse"} <= {name for name, answer in answers.items() if answer == "yes"}
    assert {"spark", "duckdb"} <= {name for name, answer in answers.items() if answer == "no"}


def test_why_spark_cannot_open_a_table_is_known_from_its_metadata(tmp_path: Path) -> None:
    OURS["fault-no-uuid"](tmp_path / "t")
    table = direct.open_table(str(tmp_path / "t"))
    words = explain_not_opened(table.metadata)
    assert words.startswith(f"Spark cannot open {table.metadata.metadata_location}: the table has no UUID")
    assert "uuid-changed" in words
    assert explain_not_opened(direct.open_table(str(make_table(tmp_path / "whole"))).metadata) == ""
