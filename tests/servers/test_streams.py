"""What streams write, asked as their users ask: Kafka Connect's sink and Flink's, with troubles that people report."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

import explorer
from explorer.errors import ExplorerError
from tests.golden.every_question import ask_all
from tests.servers.conftest import EVERY
from tests.servers.streams import CONTROL, Kafka, kafka, upsert_with_flink, wait_until

pytestmark = pytest.mark.skipif(not EVERY, reason="minutes: make test-servers does it")
TWO_DAYS = 2 * 86_400


def committed(folder: Path) -> int:
    """The commits of a table that may be about to be made, or to get a metadata file."""
    try:
        return len(explorer.open_table(str(folder)).metadata.snapshots)
    except ExplorerError:
        return 0


def data_files(folder: Path) -> list[Path]:
    return sorted(folder.glob("data/*.parquet"))


def age(folder: Path) -> None:
    """Make a table two days older: the times of its metadata and of all its files."""
    for path in folder.glob("metadata/*.metadata.json"):
        metadata = json.loads(path.read_text())
        for item in (metadata, *metadata["snapshots"], *metadata["snapshot-log"], *metadata["metadata-log"]):
            for key in item.keys() & {"timestamp-ms", "last-updated-ms"}:
                item[key] -= TWO_DAYS * 1000
        path.write_text(json.dumps(metadata))
    for path in folder.rglob("*"):
        written = path.stat().st_mtime - TWO_DAYS
        os.utime(path, (written, written))


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kafka]:
    with kafka(tmp_path_factory.mktemp("kafka")) as started:
        yield started


@pytest.fixture(scope="module")
def two_commits(broker: Kafka) -> Path:
    """A table into which the sink committed twice."""
    broker.produce('{"id": 1, "v": "a"}', '{"id": 2, "v": "b"}')
    with broker.sink():
        wait_until(lambda: committed(broker.table) == 1, "the first commit")
        broker.produce('{"id": 3, "v": "c"}')
        wait_until(lambda: committed(broker.table) == 2, "the second commit")
    return broker.table


def test_commits_of_kafka_connect_have_their_task_and_offsets(two_commits: Path) -> None:
    table = explorer.open_table(str(two_commits))
    writers = table.history.writers().value
    [totals] = writers.writers
    assert totals.writer == "kafka connect: control-iceberg.connect-orders-sink"
    assert (totals.snapshots, totals.runs) == (2, 1)
    offsets = [list(commit.progress.values()) for commit in writers.commits]
    assert offsets == sorted(offsets)
    assert all(offsets)
    for commit in writers.commits:
        landed = table.history.landed(commit.ids["kafka.connect.commit-id"]).to_text()
        assert landed.startswith(f"It landed. {commit.name.capitalize()}: in main."), landed
    commits = table.history.commits().to_text()
    assert "which the metadata log no longer has" not in commits  # the first is dated later than its snapshot


def test_the_files_of_a_sink_whose_control_topic_was_made_anew_are_told(broker: Kafka, two_commits: Path) -> None:
    """The sink logs that it committed, and leaves out all that is older than the offset in the table's summary."""
    broker.delete(CONTROL)
    broker.create(CONTROL)
    before = len(data_files(two_commits))
    broker.produce('{"id": 4, "v": "d"}')
    with broker.sink():
        wait_until(lambda: len(data_files(two_commits)) > before, "the file that nobody commits")
    assert committed(two_commits) == 2
    age(two_commits)
    told = explorer.open_table(str(two_commits)).doctor(files=True).to_text()
    assert "1 data file" in told
    assert "after the last commit" in told
    assert "its writer leaves out what it takes for older than that" in told


def test_streams_of_flink_have_their_jobs_and_checkpoints(tmp_path: Path) -> None:
    upsert_with_flink(tmp_path, 1, 12)
    table = explorer.open_table(str(upsert_with_flink(tmp_path, 9, 16)))
    writers = table.history.writers().value
    [totals] = writers.writers
    assert totals.writer.startswith("flink: operator ")
    jobs = list(dict.fromkeys(commit.run for commit in writers.commits))
    assert totals.runs == len(jobs) == 2
    assert table.history.landed(jobs[0]).to_text().startswith("It landed. Snapshot-1")
    history = table.data.history("id = 9").to_text()
    assert "shows 1 row with id = 9" in history
    assert "hidden by the equality delete" in history


def test_every_question_answers_of_what_streams_wrote(two_commits: Path, tmp_path: Path) -> None:
    for place in (two_commits, upsert_with_flink(tmp_path, 1, 4)):
        ask_all(explorer.open_table(str(place)))
