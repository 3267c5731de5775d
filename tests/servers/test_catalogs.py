"""Catalogs as a configuration names them, over servers that are really there: Glue by moto, and PostgreSQL where this
machine has it. Each is asked what a data engineer asks first."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from click.testing import CliRunner
from pyiceberg.catalog import load_catalog

import explorer
from explorer.cli import main
from explorer.errors import TableNotFound
from explorer.io import catalogs
from tests.servers.conftest import Store

SCHEMA = pa.schema([("id", pa.int64()), ("fruit", pa.string())])
SECRETS = ("hush-glue", "hush-store", "hush-password")


def configure(monkeypatch: pytest.MonkeyPatch, name: str, properties: dict[str, str]) -> None:
    """As the environment configures a catalog."""
    for key, value in properties.items():
        inner = key.upper().replace("-", "_").replace(".", "__")
        monkeypatch.setenv(f"PYICEBERG_CATALOG__{name.upper()}__{inner}", value)


def fill(name: str, properties: dict[str, str]) -> None:
    """Three commits, the last of which deletes a row."""
    catalog = load_catalog(name, **properties)
    catalog.create_namespace("shop")
    table = catalog.create_table("shop.fruit", SCHEMA)
    for ids in ([1, 2], [3]):
        table.append(pa.table({"id": ids, "fruit": ["fig"] * len(ids)}, SCHEMA))
    table.delete("id = 2")


def ask(name: str) -> None:
    """List, open, entries, diff and rows; and no secret in any of it."""
    said = [str(catalogs.namespaces(name)), str(catalogs.tables_in(name, ("shop",)))]
    assert [t.identifier for t in catalogs.tables(name)] == ["shop.fruit"]
    table = explorer.open_table(f"{name}.shop.fruit")
    assert not table.problems
    assert len(table.files()) == 2
    assert sorted(row["id"] for row in table.row_diff(None, "main").changes.inserted.to_pylist()) == [1, 3]
    assert table.row_diff("snapshot-2", "main").changes.deleted.to_pylist()[0]["id"] == 2
    with pytest.raises(TableNotFound, match=r"it has: shop\.fruit"):
        explorer.open_table(f"{name}.shop.fig")
    full = f"{name}.shop.fruit"
    commands = (["tables", "--catalog", name], ["show", full], ["entries", full], ["diff", full, "snapshot-1", "main"])
    for command in (*commands, ["fate", full, "id = 2"], ["row-diff", full, "snapshot-1", "main"]):
        for output in ("text", "json"):
            result = CliRunner().invoke(main, [*command, "--output", output])
            assert result.exit_code == 0, (command, result.output)
            said.append(result.output)
    said += [repr(table), repr(table.reader.location), repr(table.reader.storage), repr(table.tree)]
    for secret in SECRETS:
        assert not any(secret in text for text in said)


def test_glue(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    properties = {
        "type": "glue", "glue.endpoint": store.direct, "glue.region": "us-east-1", "glue.access-key-id": "key",
        "glue.secret-access-key": "hush-glue", "warehouse": "s3://warehouse/glue",
        **store.properties(secret_access_key="hush-store"),
    }  # fmt: skip
    fill("lake", properties)
    configure(monkeypatch, "lake", properties)
    ask("lake")


@pytest.fixture
def postgres(tmp_path: Path) -> Iterator[int]:
    """The port of a PostgreSQL of its own."""
    if not shutil.which("initdb") or not shutil.which("pg_ctl"):
        pytest.skip("PostgreSQL (initdb, pg_ctl) is not on this machine's PATH")
    pytest.importorskip("psycopg2", reason="the extra `postgres` is not installed")
    folder = Path(tempfile.mkdtemp(prefix="iceberg-explorer-postgres-"))
    options: dict[str, str] = {}
    if os.getuid() == 0:  # which PostgreSQL refuses
        try:
            options["user"] = pwd.getpwnam("postgres").pw_name
        except KeyError:
            pytest.skip("PostgreSQL does not run as root, and there is no user `postgres`")
        shutil.chown(folder, options["user"])
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    secret = folder / "password"
    secret.write_text("hush-password")
    if options:
        shutil.chown(secret, options["user"])

    def run(*command: str) -> None:
        subprocess.run(command, check=True, cwd=folder, stdout=subprocess.DEVNULL, **options)  # type: ignore[call-overload]

    data, log = str(folder / "data"), str(folder / "log")
    try:
        run("initdb", "-D", data, "-U", "explorer", "-A", "scram-sha-256", "--pwfile", str(secret), "--no-sync")
        listens = f"-p {port} -c listen_addresses=127.0.0.1 -c fsync=off -c unix_socket_directories={folder}"
        run("pg_ctl", "-D", data, "-o", listens, "-l", log, "-w", "start")
        yield port
        run("pg_ctl", "-D", data, "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def test_postgresql(postgres: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    uri = f"postgresql+psycopg2://explorer:hush-password@127.0.0.1:{postgres}/postgres"
    properties = {"type": "sql", "uri": uri, "warehouse": f"file://{tmp_path}/warehouse"}
    fill("ledger", properties)
    configure(monkeypatch, "ledger", properties)
    ask("ledger")
    wrong = {**properties, "uri": uri.replace("hush-password", "hush-wrong")}
    with pytest.raises(TableNotFound) as refused:
        explorer.open_table("shop.fruit", catalog="other", properties=wrong)
    assert "password authentication failed" in str(refused.value)
    assert "hush" not in str(refused.value)
