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
    assert len(answer.refusals) == 1
    assert lost.name in answer.words.split(". ")[1]
    assert "By its features alone: Spark 4.1" in answer.words
