"""The statements of Trino that `maintain all` prints, run by a real Trino: each does what is said of it."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from explorer.reports.maintenance.previews import preview
from explorer.reports.maintenance_plan import MANY_SCHEMAS, plan_all
from explorer.spec.maintenance.all_procedures import ProcedureLine
from explorer.table import Table
from tests.support import direct
from tests.support.small_tables import make_table, newest_metadata
from tests.support.trino_statements import Trino, trino

DAY_MS = 24 * 3600 * 1000
COMMITS = {
    "deletes": [
        "CREATE TABLE {} (id integer, p varchar) WITH (partitioning = ARRAY['p'])",
        "INSERT INTO {} VALUES (1, 'a'), (2, 'b'), (3, 'c')", "INSERT INTO {} VALUES (4, 'a'), (6, 'b')",
        "INSERT INTO {} VALUES (7, 'd'), (8, 'd')", "DELETE FROM {} WHERE id = 7",
    ],
    "plain": ["CREATE TABLE {} (id integer)", "INSERT INTO {} VALUES 1", "INSERT INTO {} VALUES 2"],
    "alone": ["CREATE TABLE {} (id integer)", "INSERT INTO {} VALUES 1"],
    "evolved": [
        "CREATE TABLE {} (id integer, p varchar, q integer) WITH (partitioning = ARRAY['p'])",
        "INSERT INTO {} VALUES (1, 'a', 1), (2, 'b', 1)", "ALTER TABLE {} SET PROPERTIES partitioning = ARRAY['q']",
        "INSERT INTO {} VALUES (1, 'a', 1), (2, 'b', 2)",
    ],
}  # fmt: skip


@pytest.fixture(scope="module")
def engine_and_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Trino, Path]]:
    if "ICEDIVE_TRINO" not in os.environ:
        pytest.skip("Trino: $ICEDIVE_TRINO names no Java and class path (make test-readers)")
    folder = tmp_path_factory.mktemp("trino")
    with trino(folder) as running:
        yield running, folder


def opened(folder: Path, name: str) -> Table:
    [place] = folder.glob(f"demo/{name}-*/metadata")
    return direct.open_table(str(max(place.glob("*.metadata.json"))))


def line_of(table: Table, operation: str) -> ProcedureLine:
    return next(line for line in plan_all(table, statements="trino").lines if line.operation == operation)


def counts(rows: list[str]) -> dict[str, int]:
    return {name: int(number) for name, number in re.findall(r"\[(\w+), (\d+)\]", " ".join(rows))}


@pytest.mark.parametrize("name", COMMITS)
def test_a_rewrite_takes_what_is_said(name: str, engine_and_folder: tuple[Trino, Path]) -> None:
    running, folder = engine_and_folder
    for commit in COMMITS[name]:
        running.run(commit.format(f"demo.{name}"))
    for operation, counted in (
        ("compact", "rewritten_data_files_count"),
        ("rewrite-manifests", "rewritten_manifests_count"),
    ):
        line = line_of(opened(folder, name), operation)
        statement = line.statement.replace("your_db.your_table", f"demo.{name}")
        assert bool(statement) == (name != "alone"), line
        rewritten = counts(running.run(statement)) if statement else {counted: 0}
        if "not known" not in line.does:
            assert rewritten[counted] == line.files, line
        else:
            assert name == "evolved"
    if name == "alone":
        assert counts(running.run("ALTER TABLE demo.alone EXECUTE optimize"))["rewritten_data_files_count"] == 0
        assert running.run("ALTER TABLE demo.alone EXECUTE optimize_manifests") == []


def age(place: Path, days: dict[int, int], **properties: str) -> None:
    """Make the snapshots of a table older, each by some days, and all its files by forty."""
    for path in place.glob("metadata/*.metadata.json"):
        metadata = json.loads(path.read_text())
        for at, snapshot in enumerate(metadata.get("snapshots", ())):
            snapshot["timestamp-ms"] -= days[at] * DAY_MS
        times = {s["snapshot-id"]: s["timestamp-ms"] for s in metadata.get("snapshots", ())}
        for entry in metadata.get("snapshot-log", ()):
            entry["timestamp-ms"] = times[entry["snapshot-id"]]
        for entry in metadata.get("metadata-log", ()):
            entry["timestamp-ms"] -= 40 * DAY_MS
        metadata["properties"] |= properties
        path.write_text(json.dumps(metadata))
    for each in place.rglob("*"):
        if each.is_file():
            os.utime(each, (time.time() - 40 * 86400,) * 2)


@pytest.mark.parametrize(
    "policy", [{}, {"history.expire.max-snapshot-age-ms": str(15 * DAY_MS)}], ids=["own", "table's"]
)
def test_an_expiry_and_the_orphans_go_as_is_said(
    policy: dict[str, str], tmp_path: Path, engine_and_folder: tuple[Trino, Path]
) -> None:
    running, _ = engine_and_folder
    place = make_table(tmp_path, 4)
    age(place, {0: 30, 1: 20, 2: 10, 3: 0}, **policy)
    (place / "data" / "stray.parquet").write_bytes(b"nothing leads here")
    os.utime(place / "data" / "stray.parquet", (time.time() - 30 * 86400,) * 2)
    name = f"demo.old{len(policy)}"
    metadata = Path(newest_metadata(place))
    running.run(f"CALL iceberg.system.register_table('demo', '{name[5:]}', 'file://{place}', '{metadata.name}')")
    table = direct.open_table(str(metadata))
    expiry, orphans = line_of(table, "expire"), line_of(table, "remove-orphans")
    assert f"expires {2 if policy else 3} snapshots" in expiry.does, expiry.refusal
    assert ("15d" if policy else "7d") in expiry.statement
    running.run(expiry.statement.replace("your_db.your_table", name))
    after = direct.open_table(str(max((place / "metadata").glob("*.metadata.json"))))
    assert len(after.metadata.snapshots) == (2 if policy else 1)
    assert orphans.files == 1
    removed = counts(running.run(orphans.statement.replace("your_db.your_table", name)))
    assert removed["deleted_files_count"] == 1
    assert not (place / "data" / "stray.parquet").exists()


def test_an_expiry_drops_the_schemas_that_no_snapshot_uses(engine_and_folder: tuple[Trino, Path]) -> None:
    """trinodb/trino#27357."""
    running, folder = engine_and_folder
    running.run("CREATE TABLE demo.schemas (id integer, v varchar)")
    running.run("INSERT INTO demo.schemas VALUES (1, 'a')")
    for at in range(MANY_SCHEMAS + 5):
        running.run(f"COMMENT ON COLUMN demo.schemas.v IS 'revision {at}'")
    running.run("INSERT INTO demo.schemas VALUES (2, 'b')")
    before = opened(folder, "schemas")
    assert len(before.metadata.schemas) == MANY_SCHEMAS + 6
    beside = plan_all(before, statements="trino").beside
    [statement] = re.findall(r"ALTER TABLE .* EXECUTE expire_snapshots\(.*clean_expired_metadata => true\)", beside)
    seen = preview(before, "expire", options={"clean_expired_metadata": "true"})
    assert any(statement in words for words in seen.words)
    assert any(f"would drop {MANY_SCHEMAS + 4} schemas" in words for words in seen.words)
    running.run(statement.replace("your_db.your_table", "demo.schemas"))
    after = opened(folder, "schemas")
    assert len(after.metadata.schemas) == 2
    assert len(after.metadata.snapshots) == len(before.metadata.snapshots)
    assert running.run("SELECT count(*) FROM demo.schemas") == ["[2]"]
