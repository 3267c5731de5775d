"""What JupyterLab's workspace may keep of a tab: where it is, without credentials."""

from __future__ import annotations

import json

import pytest

from explorer.app.kept_place import harmless_place
from tests.security.test_credentials import KEY

SQL = json.dumps({"sql": "SELECT * FROM t WHERE id = 3"})


@pytest.mark.parametrize(
    "place",
    [
        {},
        {"table": "demo.three_inserts", "snapshot": "4905915832116255117", "node": "m8db6d41409cf"},
        {"table": "/data/lake/fruit/metadata/00001-a.metadata.json", "mode": "plan", "filter": "fruit = 'apple'"},
        {"table": "s3://bucket/t", "mode": "rows", "tab": "sql", "arguments": SQL},
        {"table": "demo.t", "mode": "ask", "question": "data history", "arguments": '{"key": "1"}', "match": "[{"},
    ],
)
def test_a_place_without_credentials_is_kept_as_it_is(place: dict[str, str]) -> None:
    assert harmless_place(place) == place


@pytest.mark.parametrize("table", [f"s3://{KEY}:hunter2hunter2@bucket/t", "https://host/t?token=hunter2hunter2"])
def test_nothing_is_kept_where_the_tables_text_has_a_credential(table: str) -> None:
    assert harmless_place({"table": table, "mode": "plan"}) == {}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("filter", f"key = '{KEY}'"),
        ("arguments", json.dumps({"sql": "SELECT 's3.secret-access-key=hunter2hunter2'"})),
        ("arguments", json.dumps({"table_property": {"s3.secret-access-key": "hunter2hunter2"}})),
        ("find", "https://user:hunter2hunter2@host/"),
    ],
)
def test_a_text_with_a_credential_is_left_out(name: str, text: str) -> None:
    assert harmless_place({"table": "demo.t", name: text}) == {"table": "demo.t"}
