"""Compare the appends of a stream and of batches. Structured Streaming commits each micro-batch with Iceberg's
FastAppend. An INSERT of Spark uses MergeAppend, which merges manifests when there are many."""

from __future__ import annotations

import json
import time
from typing import Any

from explorer.errors import StatementFailed
from explorer.lab.sandbox import CATALOG, NAMESPACE, Bench
from explorer.progress import steps
from explorer.spark_engine.failures import failure
from explorer.spec.commits.lab_runs import Appends

MERGE = "commit.manifest.min-count-to-merge"
MERGE_AT = 100
"""Iceberg's default: the number of small manifests that are merged."""


def stream_and_batch(bench: Bench, commits: int = MERGE_AT, merge_at: int = MERGE_AT) -> tuple[Appends, Appends]:
    """Append the same rows, one per commit, by a stream that reads one file per row, and by INSERTs. Both tables set
    the property MERGE. Raises StatementFailed, EngineError."""
    names = [bench.new_name(kind) for kind in ("stream", "batch")]
    for name in names:
        bench.spark.sql(
            f"CREATE TABLE {_full(name)} (id BIGINT) USING iceberg TBLPROPERTIES ('{MERGE}' = '{merge_at}')"
        )
    try:
        _stream(bench, names[0], commits)
        _batch(bench, names[1], commits)
        return _appends(bench, "stream", names[0]), _appends(bench, "batch", names[1])
    finally:
        for name in names:
            bench.drop(name)


def _full(name: str) -> str:
    return f"{CATALOG}.{NAMESPACE}.{name}"


def _stream(bench: Bench, name: str, commits: int) -> None:
    """Run one micro-batch, and so one commit, for each file of a folder."""
    folder = bench.home / name
    folder.mkdir()
    for number in range(commits):
        (folder / f"{number:06}.json").write_text(json.dumps({"id": number}))
    source = bench.spark.readStream.schema("id BIGINT").option("maxFilesPerTrigger", 1).json(str(folder))
    writer = source.writeStream.format("iceberg").outputMode("append").trigger(availableNow=True)
    query: Any = writer.option("checkpointLocation", str(bench.home / f"{name}-checkpoint")).toTable(_full(name))
    watched = steps(range(commits), "micro-batches")
    try:
        for number in watched:
            while query.isActive and (query.lastProgress is None or query.lastProgress["batchId"] < number):
                time.sleep(0.05)
        query.awaitTermination()
    except Exception as error:  # Spark raises many types of exceptions
        raise failure(error, bench.engine.is_lost, "the stream") from error
    finally:
        query.stop()
    if query.exception() is not None:
        raise StatementFailed(f"the stream: {query.exception()}")


def _batch(bench: Bench, name: str, commits: int) -> None:
    for number in steps(range(commits), "INSERTs"):
        bench.spark.sql(f"INSERT INTO {_full(name)} VALUES ({number})")


def _appends(bench: Bench, kind: str, name: str) -> Appends:
    """Count the manifests in the table."""
    table = bench.table(name)
    lists = [table.tree.manifests(snapshot) for snapshot in table.metadata.snapshots]
    manifests = tuple(len(listed) for listed in lists)
    written = sum(len({m.manifest_path for m in now} - {m.manifest_path for m in before})
                  for before, now in zip([[], *lists], lists, strict=False))  # fmt: skip
    times = [snapshot.timestamp_ms or 0 for snapshot in table.metadata.snapshots]
    return Appends(kind, manifests, written, (times[-1] - times[0]) / 1000)
