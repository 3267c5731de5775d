"""Troubles of a seventeenth round of public reports, on tables that are built here."""

from __future__ import annotations

from pathlib import Path

from explorer.reports.readers import find_readers
from tests.support import direct
from tests.support.small_tables import make_table


def test_readers_begin_with_what_keeps_spark_from_a_manifest(tmp_path: Path) -> None:
    """No feature keeps a reader away, but a lost manifest does."""
    place = make_table(tmp_path, 2)
    lost = next((place / "metadata").glob("*-m0.avro"))
    lost.unlink()
    answer = find_readers(direct.open_table(str(place)))
    assert answer.features[0].title == "fault manifest-missing"
    assert answer.features[0].where.startswith(f"{lost.name}: ")
    assert "Spark 4.1 with Iceberg Java cannot, because of fault manifest-missing" in answer.words
    assert "It is not known of Spark 4.0" in answer.words
