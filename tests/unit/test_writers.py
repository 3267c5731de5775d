"""Who committed what, by the keys that writers set; and whether something landed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

import explorer
from explorer.model.metadata import TableMetadata
from explorer.spec.commits.commit_writers import UNKNOWN, writers_of
from explorer.spec.commits.landed import landed, matching_snapshots
from tests.support.paper_tables import HOUR, on_paper
from tests.support.small_tables import make_table, writable

FLINK = {"flink.job-id": "job-1", "flink.operator-id": "operator-1"}
CONNECT = "kafka.connect.offsets.control-iceberg.connect-sink"


def written(
    summaries: Sequence[Mapping[str, str]], times: Sequence[int] = (), parents: Sequence[int | None] = ()
) -> TableMetadata:
    """A table of which snapshot n has the n-th summary."""

    def change(data: dict[str, Any]) -> None:
        for at, (snapshot, summary) in enumerate(zip(data["snapshots"], summaries, strict=True)):
            snapshot["summary"] |= summary
            if times:
                snapshot["timestamp-ms"] = times[at]

    return on_paper(list(parents) or [None, *range(1, len(summaries))], change=change)


@pytest.mark.parametrize(
    ("summary", "writer", "run", "progress"),
    [
        ({"engine-name": "spark", "engine-version": "4.1.1", "app-name": "loader", "spark.app.id": "app-1"},
         "spark: loader", "app-1", {}),
        ({"engine-name": "spark", "spark.sql.streaming.queryId": "q1", "spark.sql.streaming.epochId": "7"},
         "spark: stream q1", "", {"epoch of q1": 7}),
        ({"engine-name": "flink", **FLINK, "flink.max-committed-checkpoint-id": "12"},
         "flink: operator operator-1", "job-1", {"checkpoint of job-1": 12}),
        ({**FLINK, "flink.max-committed-checkpoint-id": "12"},
         "flink: operator operator-1", "job-1", {"checkpoint of job-1": 12}),
        ({CONNECT: '{"0": 15, "1": 7}', "kafka.connect.commit-id": "c1"},
         "kafka connect: control-iceberg.connect-sink", "",
         {"offset of control-iceberg.connect-sink, partition 0": 15,
          "offset of control-iceberg.connect-sink, partition 1": 7}),
        ({"engine-name": "kafka-connect", "kafka.connect.task-id": "sink-0", CONNECT: '{"0": 4}'},
         "kafka connect: control-iceberg.connect-sink", "sink-0",
         {"offset of control-iceberg.connect-sink, partition 0": 4}),
        ({"trino_query_id": "20260101_1", "trino_user": "ann"}, "trino: user ann", "", {}),
        ({CONNECT: "no JSON"}, "kafka connect: control-iceberg.connect-sink", "", {}),
        ({}, UNKNOWN, "", {}),
    ],
)  # fmt: skip
def test_a_summary_says_who_wrote_it(
    summary: Mapping[str, str], writer: str, run: str, progress: Mapping[str, int]
) -> None:
    [commit] = writers_of(written([summary])).commits
    assert (commit.writer, commit.run, commit.progress) == (writer, run, progress)


def checkpoint(number: int) -> dict[str, str]:
    return {"engine-name": "flink", **FLINK, "flink.max-committed-checkpoint-id": str(number)}


def test_a_checkpoint_that_repeats_or_goes_back_is_told() -> None:
    events = writers_of(written([checkpoint(n) for n in (1, 2, 2, 5, 4)])).events
    assert [(e.kind, e.snapshots) for e in events] == [
        ("again", ("snapshot-2", "snapshot-3")),
        ("back", ("snapshot-4", "snapshot-5")),
    ]


def test_what_was_rolled_back_is_no_repetition() -> None:
    """Snapshot-3 repeats the checkpoint of snapshot-2, which is no ancestor of it."""
    metadata = written([checkpoint(1), checkpoint(2), checkpoint(2)], parents=[None, 1, 1])
    assert writers_of(metadata).events == ()


def test_an_epoch_that_is_missing_and_offsets_that_go_back_are_told() -> None:
    epochs = [{"spark.sql.streaming.queryId": "q", "spark.sql.streaming.epochId": str(n)} for n in (0, 1, 4)]
    [event] = writers_of(written(epochs)).events
    assert event.words.startswith("epoch of q goes from 1 to 4: 2 epochs between")
    offsets = [{CONNECT: json.dumps({"0": n, "1": 5})} for n in (10, 30, 20)]
    [event] = writers_of(written(offsets)).events
    assert (event.kind, event.snapshots) == ("back", ("snapshot-2", "snapshot-3"))
    assert "partition 0 goes back from 30 to 20" in event.words


def test_a_gap_is_told_and_writers_that_alternate() -> None:
    ours, theirs = {"engine-name": "spark", "app-name": "ours"}, {"engine-name": "trino", "trino_user": "x"}
    times = [n * HOUR for n in (100, 101, 102, 120, 121)]
    [event] = writers_of(written([ours] * 5, times)).events
    assert event.words.startswith("spark: ours committed nothing for 18 hours, from 1970-01-05 06:00:00 UTC on")
    [event] = writers_of(written([ours, theirs, ours, theirs])).events
    assert (event.kind, event.snapshots) == ("together", ("snapshot-1", "snapshot-2", "snapshot-3"))


def test_totals_are_of_each_writer() -> None:
    amounts = {"added-data-files": "2", "added-records": "10", "added-files-size": "100"}
    ours = [{"engine-name": "spark", "app-name": "ours", "spark.app.id": run, **amounts} for run in "aab"]
    [known, unknown] = sorted(writers_of(written([*ours, {}])).writers, key=lambda one: one.writer == UNKNOWN)
    assert (known.runs, known.snapshots, known.added_files, known.added_rows) == (2, 3, 6, 30)
    assert (known.average_file_bytes, known.usual_interval_ms) == (50, HOUR)
    assert (unknown.writer, unknown.snapshots, unknown.added_files) == (UNKNOWN, 1, None)


@pytest.mark.parametrize(
    ("wanted", "names"),
    [
        ("app-1", ["snapshot-1"]),
        ("spark.app.id=app-1", ["snapshot-1"]),
        ("2", ["snapshot-2"]),
        ("snapshot-2", ["snapshot-2"]),
        ("flink.max-committed-checkpoint-id=2", ["snapshot-3"]),
        ("1970-02-11T12:00..1970-02-11T15:00", ["snapshot-1", "snapshot-2", "snapshot-3"]),
        ("1970-02-11T14:30:00Z..1970-02-11T15:00:00Z", ["snapshot-3"]),
        ("never", []),
        ("a..b", []),
    ],
)
def test_what_fits_is_found(wanted: str, names: Sequence[str]) -> None:
    summaries = [{"spark.app.id": "app-1"}, {"added-records": "7"}, checkpoint(2), {}]
    metadata = written(summaries, [41 * 24 * HOUR + n * HOUR for n in (13, 14, 15, 16)])
    answer = landed(metadata, wanted, matching_snapshots(metadata, wanted))
    assert [one.snapshot for one in answer.snapshots] == names


def test_where_a_snapshot_is_now_is_said() -> None:
    def change(data: dict[str, Any]) -> None:
        for snapshot in data["snapshots"]:
            snapshot["summary"]["app-id"] = f"run-{snapshot['snapshot-id']}"
        data["snapshots"][3]["summary"]["wap.id"] = "night"
        data["snapshot-log"] = [{"timestamp-ms": n, "snapshot-id": n} for n in (1, 2, 5)]

    main = {"main": {"snapshot-id": 5, "type": "branch"}, "audit": {"snapshot-id": 3, "type": "branch"}}
    metadata = on_paper([None, 1, 1, 1, 1], main, change=change)
    where = {n: landed(metadata, f"run-{n}", matching_snapshots(metadata, f"run-{n}")) for n in range(1, 6)}
    assert {n: answer.snapshots[0].where for n, answer in where.items()} == {
        1: "in main", 2: "rolled back", 3: "only on a branch or tag", 4: "staged, not published", 5: "in main",
    }  # fmt: skip
    assert where[5].words == "It landed. Snapshot-5: in main."
    assert where[2].words == "It is not in main's history. Snapshot-2: rolled back."


def test_what_expired_cannot_be_told() -> None:
    metadata = on_paper([None, None], change=lambda data: [s.update({"sequence-number": 9}) for s in data["snapshots"]])
    assert "At least 7 commits before are gone" in landed(metadata, "x", {}).words


def test_a_file_landed_and_was_deleted(tmp_path: Path) -> None:
    place = make_table(tmp_path, 2)
    table = writable(place)
    [first, _] = [task.file.file_path for task in table.scan().plan_files()]
    table.delete("id = 1 or id = 101")
    table.delete("id = 0 or id = 100")
    answers = [explorer.open_table(place).history.landed(path).value for path in (first, first.rpartition("/")[2])]
    for answer in answers:
        assert answer.in_main
        assert "The current snapshot does not read the file, deleted by snapshot-" in answer.words
    gone = explorer.open_table(place).history.landed("nothing.parquet").value
    assert (gone.in_main, gone.snapshots) == (False, ())
    assert gone.words.startswith("No snapshot of this table lists a file 'nothing.parquet'")
