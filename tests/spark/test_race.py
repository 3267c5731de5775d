"""Small races and kills; `make race` runs eight writers of fifty commits, and a hundred kills."""

from __future__ import annotations

import contextlib
import hashlib
import os
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from explorer.cli import main
from explorer.graph.uncommitted import kind_of
from explorer.lab.race import FAULTS, faults, kills, race
from explorer.spec.commits.operations import ENGINES
from tests.support.helpers import open_demo


def test_java_and_pyiceberg_writers_race(sandbox: Path) -> None:
    found = race(writers=4, commits=8)
    assert found.acknowledged == found.snapshots == found.rows == 32
    assert (found.failures, found.missing_files) == (0, 0)


def test_killed_writers_lose_nothing_that_was_acknowledged(sandbox: Path) -> None:
    tallies = kills(25)
    assert sum(t.acknowledged for t in tallies) > 5
    for tally in tallies:
        assert tally.acknowledged <= tally.snapshots <= tally.acknowledged + 1
        assert tally.missing_files == 0


def test_faults_lose_nothing_that_was_acknowledged(sandbox: Path) -> None:
    writers = ENGINES if os.environ.get("ICEDIVE_EVERY_PAIR") else ("pyiceberg",)  # Java's start takes long
    found = {(f.writer, f.fault): f for f in faults(writers)}
    assert len(found) == len(writers) * len(FAULTS)
    for (_, fault), seen in found.items():
        assert seen.acknowledged == 0
        assert seen.opens_clean
        assert seen.committed == (fault in ("after-swap", "answer-lost"))  # it is there, though nobody was told
        assert bool(seen.left_behind) == (not seen.committed)
        kinds = sorted(kind_of(f) for f in seen.left_behind)
        if fault == "before-metadata":
            assert kinds == ["data_file", "data_manifest", "manifest_list"]
        elif fault == "before-swap":
            assert kinds == ["data_file", "data_manifest", "manifest_list", "metadata"]
        elif fault == "disk-full":
            assert "File too large" in seen.told
            assert "metadata" not in kinds
        elif fault == "read-only":
            assert "readonly database" in seen.told or "READONLY" in seen.told, seen.told
        else:
            assert ("connection broke" in seen.told) == (fault == "answer-lost")


def tree(folder: Path) -> str:
    found = hashlib.sha256()
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        found.update(str(path).encode() + path.read_bytes() + str(path.stat().st_mtime_ns).encode())
    return found.hexdigest()


def catalogued(catalog: Path) -> object:
    """All that a catalog has: its bytes, or, where other processes copy tables in it meanwhile (pytest-xdist),
    all rows but those of copies."""
    if "PYTEST_XDIST_WORKER" not in os.environ:
        return catalog.read_bytes()
    with contextlib.closing(sqlite3.connect(catalog)) as opened:
        tables = opened.execute("SELECT * FROM iceberg_tables WHERE table_namespace != 'lab' ORDER BY 1, 2, 3")
        spaces = opened.execute("SELECT * FROM iceberg_namespace_properties WHERE namespace != 'lab' ORDER BY 1, 2, 3")
        return tables.fetchall(), spaces.fetchall()


def test_a_read_only_session_changes_nothing(sandbox: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(*_: Any) -> str:
        raise AssertionError("a copy was made")  # where `catalogued` leaves copies out

    monkeypatch.setattr("explorer.lab.scenarios.build.unpack_copy", forbidden)
    folder = sandbox / "warehouse" / "demo"
    before, catalog = tree(folder), catalogued(sandbox / "catalog.db")
    assert catalog
    for name in ("equality_deletes", "deletion_vectors", "branches_and_tags", "schema_evolution"):
        full = f"demo.{name}"
        for command in (
            ["show", full], ["inspect", "entries", full, "--view", "all", "--metrics"],
            ["diff", full, "snapshot-1", "snapshot-2"], ["history", "lifecycle", full],
            ["history", "lineage", full], ["history", "commits", full], ["inspect", "partitions", full],
            ["inspect", "deletes", full], ["data", "diff", full, "snapshot-1", "snapshot-2"],
            ["export", "graph", full, "--format", "json"], ["maintain", "preview", full, "expire"],
            ["maintain", "preview", full, "compact"], ["maintain", "preview", full, "remove-orphans"],
            ["check", "conflict", full, "snapshot-1", "compaction"],
            ["refs", "preview", full, "rollback", "-s", "snapshot-1"],
        ):  # fmt: skip
            result = CliRunner().invoke(main, command)
            assert result.exit_code == 0 or "no ancestor" in result.output, (command, result.output)
        assert len(open_demo(name).rows()) > 0  # through Spark
        for command in (
            ["maintain", "run", full, "compact"],
            ["refs", "run", full, "tag", "--name", "x", "-s", "snapshot-1"],
        ):
            refused = CliRunner().invoke(main, command)
            assert refused.exit_code == 1
            assert "teaching table" in refused.output
    assert tree(folder) == before
    assert catalogued(sandbox / "catalog.db") == catalog
