"""Views that Spark wrote through Iceberg's own REST server, whose JDBC catalog is an SQL catalog too."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from explorer.cli import main
from explorer.spark_engine.fileio import java_file_io
from explorer.spark_engine.read_queue import ReadSession
from tests.servers.conftest import Store
from tests.servers.running import rest_server


def ask(*words: str) -> Any:
    result = CliRunner().invoke(main, ["catalog", *words, "--output", "json"])
    assert result.exit_code == 0, result.output
    assert "hush" not in result.output
    return json.loads(result.output)


def test_views(store: Store, reads: ReadSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    warehouse, s3 = f"s3://warehouse/{tmp_path.name}", store.properties(endpoint=store.direct)
    own = {"s3.access-key-id": "key", "s3.secret-access-key": "hush", "s3.endpoint": store.direct}
    own |= {"token": "hush-token", "warehouse": warehouse, "endpoint": store.direct}
    opens = java_file_io(warehouse, s3)
    assert opens.bundle is not None
    reads.engine.require(opens.bundle)
    spark: Any = reads.engine.session()
    with rest_server(tmp_path, own) as address:
        settings = {
            "": "org.apache.iceberg.spark.SparkCatalog", ".type": "rest", ".uri": f"{address}/plain",
            ".token": "hush-token", ".io-impl": opens.implementation,
            **{f".{key}": value for key, value in opens.properties.items()},
        }  # fmt: skip
        for key, value in settings.items():
            spark.conf.set(f"spark.sql.catalog.seen{key}", value)
        spark.sql("CREATE NAMESPACE seen.db")
        spark.sql("CREATE TABLE seen.db.fruits (id BIGINT, name STRING) USING iceberg")
        spark.sql("CREATE VIEW seen.db.top AS SELECT id FROM seen.db.fruits")
        spark.sql("CREATE OR REPLACE VIEW seen.db.top AS SELECT id, name FROM seen.db.fruits WHERE id > 5")
        for key in settings:
            spark.conf.unset(f"spark.sql.catalog.seen{key}")
        rest = {"type": "rest", "uri": f"{address}/plain", "token": "hush-token", **s3}
        database = {"type": "sql", "uri": f"sqlite:///{tmp_path}/rest.db", "warehouse": warehouse, **s3}
        for name, properties in (("seen", rest), ("served", database)):  # so the server calls its catalog
            for key, value in properties.items():
                inner = key.upper().replace("-", "_").replace(".", "__")
                monkeypatch.setenv(f"PYICEBERG_CATALOG__{name.upper()}__{inner}", value)
        for name in ("seen", "served"):
            assert ask("views", name) == [{"catalog": name, "identifier": "db.top"}]
            view = ask("views", name, "--name", "db.top", "--older", "1")
            assert view["findings"] == []
            assert view["current_version_id"] == 2
            assert [entry["version_id"] for entry in view["version_log"]] == [1, 2]
            assert [version["dialects"] for version in view["versions"]] == [["spark"], ["spark"]]
            assert view["versions"][1]["engine"].startswith("spark 4.")
            assert view["diff"]["sql"] == [
                {
                    "dialect": "spark",
                    "lines": [
                        "@@ -1 +1 @@",
                        "-SELECT id FROM seen.db.fruits",
                        "+SELECT id, name FROM seen.db.fruits WHERE id > 5",
                    ],
                }
            ]
            assert view["diff"]["columns"] == ["+ name string"]
        path = ask("views", "served", "--name", view["metadata_location"])
        assert {**path, "diff": view["diff"]} == view
