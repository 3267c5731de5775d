"""A user's SparkSession with a REST catalog, whose server gives the keys of the store: the explorer answers as by path,
writes through the catalog, and changes nothing of the session."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from explorer.errors import EngineError
from explorer.spark_engine.java import BUNDLES, find_java, resolve_jars
from explorer.spark_engine.versions import packages
from tests.servers.conftest import Store
from tests.servers.running import rest_server

SECRETS = ("hush-credential", "hush-vended", "hush-session", "client-credentials-token")


def test_a_users_rest_catalog(bucket: Store, tmp_path: Path) -> None:
    try:
        resolve_jars(find_java(), (*packages(), BUNDLES["aws"].package))
    except EngineError as error:
        pytest.skip(f"Spark with the jar that reads S3: {error}")
    keys = {"s3.access-key-id": "servers", "s3.secret-access-key": "hush-vended", "s3.session-token": "hush-session",
            "s3.endpoint": bucket.direct}  # fmt: skip
    said = {**keys, "warehouse": "s3://warehouse/users", "endpoint": bucket.direct,
            "token": "client-credentials-token:sub=me"}  # fmt: skip
    folder = tmp_path / "rest"
    folder.mkdir()
    with rest_server(folder, said) as address:
        settings = {
            "": "org.apache.iceberg.spark.SparkCatalog", ".type": "rest", ".uri": f"{address}/configured",
            ".credential": "me:hush-credential", ".client.region": "us-east-1", ".s3.path-style-access": "true",
            ".io-impl": "org.apache.iceberg.aws.s3.S3FileIO",
        }  # fmt: skip
        given = json.dumps([settings, {**keys, "s3.region": "us-east-1"}])
        command = [sys.executable, "-m", "tests.spark.users_session", "served", str(tmp_path), given]
        environment = {**os.environ, "ICEDIVE_HOME": str(tmp_path / "home")}
        root = Path(__file__).parents[2]
        ran = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=root)
    assert ran.returncode == 0, ran.stderr[-3000:]
    told = json.loads(ran.stdout.splitlines()[-1])
    assert told["answers"] == {}
    assert (told["frame"], told["rows"]) == (True, [2, 3])
    assert not any(secret in told["shown"] for secret in SECRETS)
    snapshots, names, refused, counts, statement = told["written"]
    assert (snapshots, names) == ([2, 3], ["served.db.written", True, False])
    assert (refused, counts) == ("refused without allow_writes", [3, 1, 4, 3])
    assert statement.startswith("CALL served.system.rewrite_data_files(table => 'db.written'")
    assert told["differs"] == {}
