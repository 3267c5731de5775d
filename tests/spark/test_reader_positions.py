"""What readers that come back need of a table's history, held against Iceberg's own checks, and against a real stream
of Spark that starts again."""

from __future__ import annotations

import json
import random
import time
from pathlib import Path
from typing import Any

import pytest
from py4j.protocol import Py4JJavaError

import explorer
from explorer.reports.maintenance import Preview
from explorer.spark_engine.spark import SparkEngine
from explorer.spec.snapshots.reader_positions import HistoryLeft, ReaderPosition, ReaderUse, needed_snapshots
from explorer.storage.metadata import parse_metadata
from tests.spark.test_retention import Oracle, generated

CASES = 60
HALF_HOUR = 1_800_000


class History:
    """A table of Iceberg, by its metadata; what readers of it are answered."""

    def __init__(self, engine: SparkEngine, text: str) -> None:
        session: Any = engine.session()
        self.iceberg = session._jvm.org.apache.iceberg
        metadata = self.iceberg.TableMetadataParser.fromJson("/t/metadata/v1.metadata.json", text)
        self.table = self.iceberg.BaseTable(self.iceberg.StaticTableOperations(metadata, None), "t")

    def allows(self, use: ReaderUse, at: int) -> bool:
        """Whether a reader at a snapshot goes on; a time is one that is as long as milliseconds."""
        snapshots, current = self.iceberg.util.SnapshotUtil, self.table.currentSnapshot()
        try:
            if at > 10**9 and use == "time travel":
                return snapshots.nullableSnapshotIdAsOfTime(self.table, at) is not None
            if at > 10**9:
                snapshots.oldestAncestorAfter(self.table, at)
                return True
            is_there, is_current = self.table.snapshot(at) is not None, current.snapshotId() == at
            if use == "time travel":
                return is_there
            if use == "incremental read":
                return is_current or bool(snapshots.isParentAncestorOf(self.table, current.snapshotId(), at))
            if is_there and not is_current:
                snapshots.snapshotAfter(self.table, at)
            return is_there
        except Py4JJavaError:
            return False


def with_log(chance: random.Random, text: str) -> str:
    """Metadata whose log has snapshots of main and others, as commits and rollbacks leave it."""
    table = json.loads(text)
    others = [s for s in table["snapshots"] if s["snapshot-id"] != table["current-snapshot-id"]]
    logged = sorted(chance.sample(others, chance.randrange(len(others))), key=lambda s: int(s["timestamp-ms"]))
    end = {"timestamp-ms": table["last-updated-ms"], "snapshot-id": table["current-snapshot-id"]}
    log = [{"timestamp-ms": s["timestamp-ms"], "snapshot-id": s["snapshot-id"]} for s in logged]
    table["snapshot-log"] = [*(entry for entry in log if entry["timestamp-ms"] < end["timestamp-ms"]), end]
    return json.dumps(table)


def test_generated_histories_before_and_after_an_expiry(engine: SparkEngine) -> None:
    chance, oracle = random.Random(25), Oracle(engine)
    now = int(time.time() * 1000)
    counts = {"goes on": 0, "breaks": 0}
    for case in range(CASES):
        text = with_log(chance, generated(chance, now))
        updated = oracle.updated(text, chance.choice([None, now - chance.randrange(13) * 2 * HALF_HOUR]), None)
        before, _ = parse_metadata(text.encode(), "/t/metadata/v1.metadata.json")
        after = json.loads(updated)
        left = {int(s["snapshot-id"]) for s in after["snapshots"]}
        for own, history in (
            (HistoryLeft.all_of(before), History(engine, text)),
            (HistoryLeft(before, left, set(after["refs"])), History(engine, updated)),
        ):
            times = [int(s.timestamp_ms or 0) + more for s in before.snapshots for more in (-HALF_HOUR, 0, HALF_HOUR)]
            positions = [
                *(ReaderPosition("r", use, n) for n in range(1, 14) for use in USES),
                *(ReaderPosition("r", use, time_ms=at) for at in times for use in USES[:2]),
            ]
            for position in positions:
                at = position.snapshot_id if position.time_ms is None else position.time_ms
                assert at is not None
                goes_on = not isinstance(needed_snapshots(own, position), str)
                assert goes_on == history.allows(position.use, at), (case, position, text)
                counts["goes on" if goes_on else "breaks"] += 1
    assert min(counts.values()) > CASES * 20, counts


USES: tuple[ReaderUse, ...] = ("time travel", "incremental read", "Spark stream")


def preview(name: str, checkpoint: Path) -> Preview:
    table = explorer.open_table(name, roots=[str(checkpoint.parent)])
    return table.maintain.preview("expire", option={"older_than": "2999-01-01"}, reader=[str(checkpoint)]).value


def becomes(seen: Preview) -> list[tuple[str, str, str]]:
    return [(row["use"], row["stands_at"], row["becomes"]) for row in seen.tables["readers"]]


class Stream:
    """A stream of Spark from one table into another."""

    def __init__(self, engine: SparkEngine, name: str, checkpoint: Path, trigger: dict[str, Any]) -> None:
        self.spark, self.name, self.checkpoint, self.trigger = engine.session(), name, checkpoint, trigger
        self.spark.sql("CREATE NAMESPACE IF NOT EXISTS sandbox.positions")
        for table in (name, f"{name}_copy"):
            self.spark.sql(f"CREATE OR REPLACE TABLE sandbox.positions.{table} (id BIGINT) USING iceberg")

    def insert(self, *ids: int) -> None:
        for number in ids:
            self.spark.sql(f"INSERT INTO sandbox.positions.{self.name} VALUES ({number})")

    def run(self) -> list[int]:
        """Run it until it has read all that is there, and return what it has read in all its runs."""
        rows = (
            self.spark.readStream.format("iceberg").load(f"sandbox.positions.{self.name}").writeStream.format("iceberg")
        )
        rows = rows.option("checkpointLocation", str(self.checkpoint)).trigger(**self.trigger)
        query = rows.toTable(f"sandbox.positions.{self.name}_copy")
        try:
            query.processAllAvailable()
        finally:
            query.stop()
        return sorted(row.id for row in self.spark.sql(f"SELECT id FROM sandbox.positions.{self.name}_copy").collect())

    def expire(self, statement: str) -> None:
        self.spark.sql(statement.rstrip("."))


def test_a_stream_goes_on_after_the_expiry_that_is_offered_and_not_after_the_other(
    engine: SparkEngine, tmp_path: Path
) -> None:
    stream = Stream(engine, "every_second", tmp_path / "checkpoint", {"processingTime": "1 second"})
    stream.insert(1, 2)
    assert stream.run() == [1, 2]
    stream.insert(3, 4)
    seen = preview("positions.every_second", stream.checkpoint)
    assert (seen.call, seen.refusal) == ("", "Do not run this: 2 ways to read would no longer work.")
    assert becomes(seen) == [
        ("Spark stream", "snapshot-2", "breaks"),
        ("Spark stream, AvailableNow", "snapshot-1", "breaks"),
    ]
    assert seen.words[1] == "Nothing can expire before these readers have gone on."
    offer, safe = seen.words[2].removeprefix("If no stream has Trigger.AvailableNow: ").split(": ", 1)
    assert offer == "This expiry breaks none of them, and removes 1 snapshot"
    stream.expire(safe)
    assert len(explorer.open_table("positions.every_second").metadata.snapshots) == 3
    assert stream.run() == [1, 2, 3, 4]

    stream.insert(5, 6)
    stream.expire("CALL sandbox.system.expire_snapshots('positions.every_second', TIMESTAMP '2999-01-01')")
    seen = preview("positions.every_second", stream.checkpoint)
    assert [state for _, _, state in becomes(seen)] == ["is broken already"] * 2
    with pytest.raises(Exception, match=first_reason(seen)):
        stream.run()


def test_a_stream_with_available_now_needs_the_snapshot_at_which_it_began(engine: SparkEngine, tmp_path: Path) -> None:
    stream = Stream(engine, "available_now", tmp_path / "checkpoint", {"availableNow": True})
    stream.insert(1, 2)
    assert stream.run() == [1, 2]
    stream.insert(3)
    stream.expire("CALL sandbox.system.expire_snapshots('positions.available_now', TIMESTAMP '2999-01-01', 2)")
    seen = preview("positions.available_now", stream.checkpoint)
    assert becomes(seen) == [
        ("Spark stream", "snapshot-1", "breaks"),
        ("Spark stream, AvailableNow", becomes(seen)[1][1], "is broken already"),
    ]
    [*_, last] = [row["reason"] for row in seen.tables["readers"]]
    with pytest.raises(Exception, match=last.removeprefix("Spark fails: ")):
        stream.run()


def first_reason(seen: Preview) -> str:
    return str(next(iter(seen.tables["readers"]))["reason"]).removeprefix("Spark fails: ")
