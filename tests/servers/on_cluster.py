"""Questions to a cluster, held against this process: a program that test_cluster.py runs with that cluster as its
Spark. Arguments: a table to break, a metadata file in a store, and a file with what opens the store."""

from __future__ import annotations

import json
import sys
import threading
import time
import urllib.request
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pyarrow as pa

import explorer
from explorer.model.manifest import ManifestFile
from explorer.spark_engine.pipeline import batches
from explorer.spark_engine.spark import shared_engine
from explorer.spec.entries.entry_views import entry_view
from tests.support import direct

Part = Callable[[ManifestFile, pa.Table], pa.Table]


def in_any_order(rows: explorer.Collection) -> list[str]:
    return sorted(json.dumps(row, sort_keys=True) for row in rows.to_json())


def same(table: direct.Table) -> None:
    """What both engines make of a table."""
    for view in ("stored", "logical"):
        assert (
            table.entries(view=view, metrics=True, engine="spark").to_json()
            == table.entries(view=view, metrics=True, engine="local").to_json()
        )
    assert table.files(engine="spark").to_json() == table.files(engine="local").to_json()
    assert in_any_order(table.partitions(engine="spark")) == in_any_order(table.partitions(engine="local"))
    sides = (table.metadata.snapshots[0].snapshot_id, table.metadata.snapshots[-1].snapshot_id)
    ours, theirs = (table.row_diff(*sides, engine=engine) for engine in ("local", "spark"))
    assert (ours.counts, ours.partitions) == (theirs.counts, theirs.partitions)
    assert table.row_history(engine="spark").events == table.row_history(engine="local").events
    for ask in (direct.doctor, direct.health):
        assert ask(table, engine="spark").to_json() == ask(table, engine="local").to_json()


def executors() -> list[psutil.Process]:
    """Processes of this application's executors."""
    application = shared_engine().session().sparkContext.applicationId
    return [
        process
        for process in psutil.process_iter(["cmdline"])
        if {"org.apache.spark.executor.CoarseGrainedExecutorBackend", application} <= set(process.info["cmdline"] or ())
    ]


def with_part(table: direct.Table, part: Callable[[Part], Part]) -> list[dict[str, Any]]:
    """The entries, made by another function on the workers, which gets the real one."""
    parts = entry_view(table.tree.entries(table.metadata.current_snapshot), "logical")
    spark = shared_engine().session()
    made = batches(spark, table.reader.storage, replace(parts, part=part(parts.part)), table.tree.note, "slow entries")
    return [row for some in made.read() for row in some.to_pylist()]


def slow(part: Part) -> Part:
    def slowed(manifest: ManifestFile, stored: pa.Table) -> pa.Table:
        import time

        time.sleep(4)
        return part(manifest, stored)

    return slowed


def deadly(part: Part) -> Part:
    def killing(manifest: ManifestFile, stored: pa.Table) -> pa.Table:
        import psutil

        next(p for p in psutil.Process().parents() if "java" in p.name()).kill()
        return part(manifest, stored)

    return killing


def killed(table: direct.Table) -> None:
    """An executor ends while it works: the answer comes all the same."""
    context = shared_engine().session().sparkContext

    def kill() -> None:
        tracker = context.statusTracker()
        while not any(info.numActiveTasks for i in tracker.getActiveStageIds() if (info := tracker.getStageInfo(i))):
            time.sleep(0.1)
        executors()[0].kill()
        done.append("killed")

    done: list[str] = []
    thread = threading.Thread(target=kill, daemon=True)
    thread.start()
    made = with_part(table, slow)
    thread.join(10)
    assert done, "nothing was killed"
    assert [row["file_path"] for row in made] == [row["file_path"] for row in table.entries(engine="local")]


def main(folder: str, remote: str, properties: str) -> None:
    table = direct.open_table("demo.manifest_lifecycle")
    same(table)
    same(direct.open_table("demo.deletion_vectors"))
    assert not table.problems
    print("same")

    [*_, manifest] = direct.open_table(folder).manifests()
    path = Path(str(manifest["manifest_path"]).removeprefix("file://"))
    path.write_bytes(path.read_bytes()[:40])
    ours, theirs = direct.open_table(folder), direct.open_table(folder)
    assert theirs.entries(engine="spark").to_json() == ours.entries(engine="local").to_json()
    assert [str(p) for p in theirs.problems] == [str(p) for p in ours.problems] != []
    print("problems")

    assert len(table.rows()) == table.partitions()[0]["record_count"]
    print("rows")

    context = shared_engine().session().sparkContext
    with urllib.request.urlopen(f"{context.uiWebUrl}/api/v1/applications/{context.applicationId}/jobs") as page:
        names = {job.get("description") for job in json.load(page)}
    assert {f"entries of {table.name}", f"files of {table.name}", f"partitions of {table.name}"} <= names, names
    assert f"rows of {Path(table.metadata.metadata_location)}" in names, names
    print("named")

    same(direct.open_table(remote, properties=json.loads(Path(properties).read_text())))
    print("store")

    killed(table)
    print("killed")

    try:
        with_part(table, deadly)
    except explorer.EngineError as error:
        assert "slow entries: Spark lost executor" in str(error), error
        print("lost")


if __name__ == "__main__":
    main(*sys.argv[1:])
