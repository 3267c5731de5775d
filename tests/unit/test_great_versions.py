"""Folders whose metadata files have versions beyond 32 bits, as Snowflake names them (apache/incubator-xtable#287)."""

from __future__ import annotations

from pathlib import Path

from pyiceberg.table import StaticTable

from tests.support import direct
from tests.support.small_tables import make_table

NANOSECONDS = 1701803553322000000


def renamed(place: Path) -> Path:
    """Name the metadata files of a table by nanoseconds, and write the hint."""
    files = sorted((place / "metadata").glob("*.metadata.json"))
    names = {file.name: f"v{NANOSECONDS + at}.metadata.json" for at, file in enumerate(files)}
    for file in files:
        text = file.read_text()
        for old, new in names.items():
            text = text.replace(old, new)
        file.unlink()
        (place / "metadata" / names[file.name]).write_text(text)
    (place / "metadata" / "version-hint.text").write_text(str(NANOSECONDS + len(files) - 1))
    return place


def test_the_hint_is_followed_and_java_is_said_to_find_nothing(tmp_path: Path) -> None:
    place = renamed(make_table(tmp_path, 2))
    table = direct.open_table(place)
    assert table.metadata.metadata_location.endswith(StaticTable.from_metadata(str(place)).metadata_location[-30:])
    [problem] = table.problems
    assert "Iceberg Java takes versions of files in a folder for 32-bit numbers" in problem.cause
    assert "no such file" not in problem.cause
    [finding] = [f for f in direct.doctor(place).findings if f.rule == "metadata-choice"]
    assert "Leave the hint as it is" in finding.remedy
