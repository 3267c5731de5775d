"""A field of a metadata file that Iceberg cannot read is the cause; what its absence does elsewhere follows from it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support import direct
from tests.support.small_tables import edit_metadata, make_table

DROP = "dropped"
FOLLOWS = {"last-sequence-number": "sequence-above-last", "current-schema-id": "current-schema-missing"}


def table_with(folder: Path, name: str, value: Any) -> str:
    def change(raw: dict[str, Any]) -> None:
        raw.pop(name) if value is DROP else raw.update({name: value})

    table = make_table(folder, 2)
    edit_metadata(table, change)
    return str(table)


@pytest.mark.parametrize("name", FOLLOWS)
@pytest.mark.parametrize("value", [DROP, None, {"x": 1}, "7", 1 << 70], ids=str)
def test_the_field_that_cannot_be_read_is_the_finding(name: str, value: Any, tmp_path: Path) -> None:
    [finding] = direct.doctor(table_with(tmp_path, name, value)).findings
    assert (finding.rule, finding.location) == ("metadata-field", f"/{name}")
    assert f"`{name}` is" in finding.what
    assert FOLLOWS[name] in {effect.rule for effect in finding.explains}
    assert "None" not in finding.remedy


def test_going_back_loses_no_column_where_the_older_file_has_every_schema(tmp_path: Path) -> None:
    [finding] = direct.doctor(table_with(tmp_path, "current-schema-id", DROP)).findings
    assert "schema" not in finding.remedy.partition("That loses")[2].partition(". ")[0]


def test_going_back_may_lose_columns_of_each_schema_that_the_older_file_lacks(tmp_path: Path) -> None:
    table = make_table(tmp_path, 2)

    def change(raw: dict[str, Any]) -> None:
        del raw["current-schema-id"]
        fields = [*raw["schemas"][0]["fields"], {"id": 9, "name": "new", "required": False, "type": "int"}]
        raw["schemas"].append({**raw["schemas"][0], "schema-id": 6, "fields": fields})
        raw["last-column-id"] = 9

    edit_metadata(table, change)
    [finding] = direct.doctor(str(table)).findings
    assert "what schema 6 has that the schemas of the older file lack" in finding.remedy
