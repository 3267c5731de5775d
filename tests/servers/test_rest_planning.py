"""Scans planned by Iceberg's own REST server, beside our plan."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from pyiceberg.catalog import load_catalog

from explorer.render.plans import answer_rows, read_paths
from explorer.spec.scan.plan import SERVER_PLANNER, PlannerAnswer
from tests.servers.conftest import Store
from tests.servers.running import rest_server
from tests.support import direct

SCHEMA = pa.schema([("id", pa.int64()), ("fruit", pa.string())])
FILTERS = ("id > 15", "id = 3 or fruit = 'fig'", "fruit is null", "id in (1, 25)", "not (id < 20)", "id < 0", "true")


def test_the_server_plans_the_same_files(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = {"s3.access-key-id": "key", "s3.secret-access-key": "hush", "s3.endpoint": store.direct}
    own |= {"token": "hush-token", "warehouse": f"s3://warehouse/{tmp_path.name}", "endpoint": store.direct}
    with rest_server(tmp_path, own) as address:
        properties = {"type": "rest", "uri": f"{address}/plain", "token": "hush-token"}
        properties |= store.properties(endpoint=store.direct)
        catalog = load_catalog("planned", **properties)
        catalog.create_namespace("db")
        written = catalog.create_table("db.t", SCHEMA)
        for start in (0, 10, 20):
            fruits = ["fig" if start == 10 else None] * 10
            written.append(pa.table({"id": list(range(start, start + 10)), "fruit": fruits}, SCHEMA))
        with written.update_schema() as update:
            update.rename_column("fruit", "kind")
        table = direct.open_table("db.t", catalog="planned", properties=properties)
        for snapshot in (None, "snapshot-2"):
            for where in FILTERS:
                text = where if snapshot else where.replace("fruit", "kind")
                plan = table.plan(text, snapshot)
                answers = table._ask_server(plan)
                answer = answers[SERVER_PLANNER]
                assert isinstance(answer, PlannerAnswer), (where, snapshot, answer)
                assert (answer.files, answer.paths) == (plan.left.files, read_paths(plan)), (where, snapshot)
                assert answer_rows(plan, answers)[1]["difference"] == "none"
                assert "hush" not in str(answers)
