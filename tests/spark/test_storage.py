"""Statements of the storage ledger, carried out in Spark: each frees what it says, and nothing of other groups."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

import explorer
from explorer.lab import scenarios
from explorer.spark_engine.spark import SparkEngine
from explorer.spec.layout.storage_ledger import StorageLedger

EXPIRES = "'history.expire.max-snapshot-age-ms' = '1'"


def ledger_of(name: str) -> StorageLedger:
    return explorer.open_table(name).storage().value


def bytes_of(ledger: StorageLedger) -> dict[str, int]:
    return {group.group: group.bytes for group in ledger.groups}


def folder_of(name: str) -> Path:
    return Path(explorer.open_table(name).engine.metadata.location.removeprefix("file:"))


def age(folder: Path) -> None:
    """Make all files old enough to be removed."""
    past = time.time() - 30 * 86400
    for file in folder.rglob("*"):
        os.utime(file, (past, past))


@pytest.mark.parametrize("name", ["branches_and_tags", "deletion_vectors", "compaction_sort"])
def test_an_expiry_frees_what_the_ledger_says(name: str, sandbox: Path, engine: SparkEngine) -> None:
    copy = scenarios.fresh_copy(name)
    spark = engine.session()
    spark.sql(f"ALTER TABLE sandbox.{copy} SET TBLPROPERTIES ({EXPIRES})")
    time.sleep(0.01)
    before = ledger_of(copy)
    expired = before.of("expired")
    assert expired.cleanup.frees == expired.bytes > 0
    spark.sql(expired.cleanup.statement)
    after = ledger_of(copy)
    assert after.of("expired").files == 0
    changed = {"expired", "metadata", "hidden"}  # an expiry writes a metadata file, and Hadoop a checksum beside each
    assert {g: b for g, b in bytes_of(after).items() if g not in changed} == {
        g: b for g, b in bytes_of(before).items() if g not in changed
    }
    written = after.of("metadata").bytes - before.of("metadata").bytes
    newest = max((folder_of(copy) / "metadata").glob("*.metadata.json"), key=os.path.getmtime)
    assert written == newest.stat().st_size


def test_a_removal_of_orphans_frees_what_the_ledger_says(sandbox: Path, engine: SparkEngine) -> None:
    copy = scenarios.fresh_copy("three_inserts")
    (folder_of(copy) / "data" / "lost.parquet").write_bytes(b"x" * 1234)
    age(folder_of(copy))
    before = ledger_of(copy)
    unused = before.of("unused")
    assert (unused.files, unused.bytes, unused.cleanup.frees) == (1, 1234, 1234)
    engine.session().sql(unused.cleanup.statement)
    after = bytes_of(ledger_of(copy))
    assert after == {group: size for group, size in bytes_of(before).items() if group != "unused"}


def test_older_metadata_files_go_with_the_next_commit(sandbox: Path, engine: SparkEngine) -> None:
    copy = scenarios.fresh_copy("long_history")
    before = ledger_of(copy)
    cleanup = before.of("metadata").cleanup
    folder = folder_of(copy) / "metadata"
    there = {file: file.stat().st_size for file in folder.glob("*.metadata.json")}
    engine.session().sql(cleanup.statement)
    gone = [size for file, size in there.items() if not file.exists()]
    assert sum(gone) == cleanup.frees > 0
    assert len(explorer.open_table(copy).engine.metadata.metadata_log) == 10
    before_others, after_others = (
        {g: b for g, b in bytes_of(one).items() if g not in ("metadata", "hidden")} for one in (before, ledger_of(copy))
    )
    assert after_others == before_others
