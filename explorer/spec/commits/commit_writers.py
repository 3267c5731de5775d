"""Who committed what, by what writers record in the summaries of snapshots. What is not recorded is unknown.

The keys are those that engines set: Iceberg's EnvironmentContext (`engine-name`, `engine-version`, `app-id`,
`app-name`, `iceberg-version`), Spark's writes and streams, Flink's committer, Kafka Connect's coordinator, and Trino,
which Athena is made of."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median

from explorer.model.metadata import Snapshot, TableMetadata
from explorer.progress import steps
from explorer.spec.commits.partial_commits import COMPLETE, late_files
from explorer.spec.snapshots.branches import MAIN, branch_of_each
from explorer.spec.snapshots.lineage import ancestry
from explorer.spec.text.names import shorten, snapshot_name, snapshot_ordinals
from explorer.spec.text.units import count, instant, span, whole

UNKNOWN = "unknown"
OFFSETS = "kafka.connect.offsets."
ENGINES: Mapping[str, str] = {
    "flink.": "flink", "kafka.connect.": "kafka connect", "trino_query_id": "trino", "spark.": "spark",
}  # fmt: skip
"""The engine of a summary without `engine-name`, by how one of its keys begins."""
STREAM, EPOCH = "spark.sql.streaming.queryId", "spark.sql.streaming.epochId"
JOB, OPERATOR, CHECKPOINT = "flink.job-id", "flink.operator-id", "flink.max-committed-checkpoint-id"
NAMES: Mapping[str, Sequence[str]] = {
    "flink": (OPERATOR, JOB), "spark": (STREAM, "app-name"), "trino": ("trino_user",),
    "kafka connect": ("kafka.connect.group-id",),
}  # fmt: skip
"""What tells writers of one engine apart, where it stays the same when a writer starts again."""
RUNS = (JOB, "spark.app.id", "app-id", "kafka.connect.task-id")
"""What says which run of a writer it was."""
IDS = (
    "trino_query_id", "kafka.connect.commit-id", "kafka.connect.valid-through-ts", "wap.id", "published-wap-id",
    "source-snapshot-id",
)  # fmt: skip
"""What else tells a commit from others."""
EQUALITY_DELETES = "added-equality-delete-files"
SAME_ENGINE = {"kafka-connect": "kafka connect"}
"""Names that Iceberg's own writers give for an engine that older ones tell only by their keys."""
SINKS = ("flink", "kafka connect")
"""The engines whose updates are equality deletes, whatever the table's modes say."""
LONG = 80
"""Characters of a name that a stranger chose."""
ENOUGH, TIMES, LEAST_MS = 4, 5, 60_000
"""A gap is told of a writer with so many commits, of so many times the usual interval, and of so many ms."""
MOST_EVENTS = 1_000


@dataclass(frozen=True)
class CommitWriter:
    """What the summary of one snapshot says of who wrote it.

    Attributes:
        snapshot: The snapshot.
        name: The snapshot's name, such as snapshot-3.
        writer: The writer, such as `flink: operator 1f…`; `unknown` where nothing is recorded.
        engine: The engine; empty where it is unknown.
        versions: The engine's version and that of the Iceberg library, as far as they are recorded.
        run: Which run of the writer: an application, a job or a task.
        ids: Other ids, by their keys: of a query, a commit, a staged write.
        progress: How far the writer came, by what it counts: a checkpoint, an epoch, offsets by topic and partition.
        branch: The branch that it was committed on (spec.snapshots.branches).
    """

    snapshot: Snapshot
    name: str
    writer: str
    engine: str
    versions: tuple[str, ...]
    run: str
    ids: Mapping[str, str]
    progress: Mapping[str, int]
    branch: str = MAIN


@dataclass(frozen=True)
class WriterTotals:
    """What one writer committed. Intervals are in ms; amounts are None where summaries do not have them. `branches` are
    those that it committed to, with the number of commits on each. `average_file_bytes` is that of data files, by the
    commits that added no delete files; where each added some, of data and delete files together, since a summary has
    their bytes together."""

    writer: str
    engine: str
    versions: tuple[str, ...]
    runs: int
    snapshots: int
    first_ms: int | None
    last_ms: int | None
    usual_interval_ms: int | None
    longest_gap_ms: int | None
    added_files: int | None
    added_rows: int | None
    added_bytes: int | None
    average_file_bytes: int | None
    branches: Mapping[str, int]


@dataclass(frozen=True)
class WriterEvent:
    """Something in the history of writers that somebody should look at. `kind` is gap, stopped, deletes, together,
    back, again, missing or partial."""

    kind: str
    snapshots: tuple[str, ...]
    words: str


@dataclass(frozen=True)
class Writers:
    """Who wrote a table: its commits, oldest first; its writers, the latest first; and what is to be looked at, at most
    MOST_EVENTS, with how many `left_out` there are beside."""

    commits: tuple[CommitWriter, ...]
    writers: tuple[WriterTotals, ...]
    events: tuple[WriterEvent, ...]
    left_out: int = 0


def writers_of(metadata: TableMetadata, now_ms: int | None = None) -> Writers:
    """Decode the summaries of all snapshots of a table.

    Args:
        metadata: The table's.
        now_ms: The time, in ms since 1970; without it nothing is said of writers that have stopped.
    """
    ordinals = snapshot_ordinals(metadata)
    branches = branch_of_each(metadata)
    commits = tuple(
        replace(commit_writer(s, snapshot_name(s.snapshot_id, ordinals)), branch=branches[s.snapshot_id])
        for s in steps(metadata.by_number, "snapshots")
    )
    by_writer: defaultdict[str, list[CommitWriter]] = defaultdict(list)
    for commit in commits:
        by_writer[commit.writer].append(commit)
    totals = sorted(map(_totals, by_writer.values()), key=lambda one: -(one.last_ms or 0))
    by_id = {commit.snapshot.snapshot_id: commit for commit in commits}
    line = [by_id[own] for own in reversed(ancestry(metadata, metadata.current_snapshot_id)) if own in by_id]
    stopped = () if now_ms is None else _stopped(by_writer, now_ms)
    events = [
        *_gaps(by_writer), *stopped, *_equality_deletes(by_writer), *_together(line), *_progress_events(line),
        *_partial(metadata, by_id),
    ]  # fmt: skip
    return Writers(commits, tuple(totals), tuple(events[:MOST_EVENTS]), max(0, len(events) - MOST_EVENTS))


def commit_writer(snapshot: Snapshot, name: str) -> CommitWriter:
    """Decode the summary of one snapshot."""
    summary = snapshot.summary
    engine = summary.get("engine-name", "").lower()
    engine = SAME_ENGINE.get(engine, engine)
    if not engine:
        engine = next((e for begin, e in ENGINES.items() if any(key.startswith(begin) for key in summary)), "")
    key = next((key for key in NAMES.get(engine, ("app-name",)) if summary.get(key)), "")
    if engine == "kafka connect" and not key:
        own = next((key.removeprefix(OFFSETS) for key in summary if key.startswith(OFFSETS)), "")
    else:
        own = f"{_noun(key)}{summary[key]}" if key else ""
    words = ": ".join(filter(None, (engine, shorten(own, LONG)))) or UNKNOWN
    library = summary.get("iceberg-version", "").partition(" (")[0]
    versions = tuple(filter(None, (summary.get("engine-version", ""), library)))
    run = next((summary[key] for key in RUNS if summary.get(key)), "")
    ids = {key: summary[key] for key in IDS if summary.get(key)}
    return CommitWriter(snapshot, name, words, engine, versions, run, ids, _progress(summary))


def _noun(key: str) -> str:
    return {OPERATOR: "operator ", JOB: "job ", STREAM: "stream ", "trino_user": "user "}.get(key, "")


def _progress(summary: Mapping[str, str]) -> dict[str, int]:
    """What a writer counts, by a name for it."""
    told: dict[str, int] = {}
    for key, noun, owner in ((CHECKPOINT, "checkpoint", JOB), (EPOCH, "epoch", STREAM)):
        if (number := whole(summary.get(key))) is not None:
            told[noun + (f" of {shorten(summary[owner], LONG)}" if summary.get(owner) else "")] = number
    for key, value in summary.items():
        if key.startswith(OFFSETS):
            try:
                offsets = json.loads(value)
            except (ValueError, RecursionError):
                continue
            for partition, offset in offsets.items() if isinstance(offsets, dict) else ():
                if type(offset) is int:
                    told[
                        f"offset of {shorten(key.removeprefix(OFFSETS), LONG)}, partition {shorten(partition, 20)}"
                    ] = offset
    return told


def _totals(commits: Sequence[CommitWriter]) -> WriterTotals:
    times = sorted(c.snapshot.timestamp_ms for c in commits if c.snapshot.timestamp_ms is not None)
    intervals = [after - before for before, after in pairwise(times)]
    files, rows, size = (_sum(commits, name) for name in ("added-data-files", "added-records", "added-files-size"))
    versions = dict.fromkeys(version for c in commits for version in c.versions)
    return WriterTotals(
        commits[0].writer, commits[0].engine, tuple(versions), len({c.run for c in commits if c.run}), len(commits),
        times[0] if times else None, times[-1] if times else None,
        int(median(intervals)) if intervals else None, max(intervals, default=None), files, rows, size,
        _average(commits), dict(Counter(c.branch for c in commits).most_common()),
    )  # fmt: skip


def _average(commits: Sequence[CommitWriter]) -> int | None:
    """The bytes of a file: see WriterTotals."""
    sized = [c for c in commits if whole(c.snapshot.summary.get("added-files-size")) is not None]
    of_data = [c for c in sized if not whole(c.snapshot.summary.get("added-delete-files"))]
    counted = of_data if _sum(of_data, "added-data-files") else sized
    files = (_sum(counted, "added-data-files") or 0) + (_sum(counted, "added-delete-files") or 0)
    return (_sum(counted, "added-files-size") or 0) // files if files else None


def _sum(commits: Sequence[CommitWriter], key: str) -> int | None:
    amounts = [amount for c in commits if (amount := whole(c.snapshot.summary.get(key))) is not None]
    return sum(amounts) if amounts else None


# -- what is to be looked at -------------------------------------------------------------------------------------------
def _regular(by_writer: Mapping[str, Sequence[CommitWriter]]) -> Iterator[tuple[str, list[CommitWriter], int]]:
    """The known writers with enough commits: their commits by time, and the usual interval in ms."""
    for writer, commits in by_writer.items():
        timed = sorted((c for c in commits if c.snapshot.timestamp_ms is not None), key=_time)
        if writer != UNKNOWN and len(timed) >= ENOUGH:
            yield writer, timed, int(median(_time(b) - _time(a) for a, b in pairwise(timed)))


def _gaps(by_writer: Mapping[str, Sequence[CommitWriter]]) -> Iterator[WriterEvent]:
    """The longest gap of each writer, where it is far longer than usual."""
    for writer, timed, usual in _regular(by_writer):
        longest = max(pairwise(timed), key=lambda pair: _time(pair[1]) - _time(pair[0]))
        gap = _time(longest[1]) - _time(longest[0])
        if gap >= max(TIMES * usual, LEAST_MS):
            words = (
                f"{writer} committed nothing for {span(gap)}, from {instant(_time(longest[0]), 'seconds')} on. It "
                f"usually commits every {span(usual)}."
            )
            yield WriterEvent("gap", tuple(one.name for one in longest), words)


def _stopped(by_writer: Mapping[str, Sequence[CommitWriter]], now_ms: int) -> Iterator[WriterEvent]:
    """The streams that have committed nothing for far longer than usual: a batch ends, and a stream does not."""
    for writer, timed, usual in _regular(by_writer):
        last = _time(timed[-1])
        if timed[-1].progress and now_ms - last >= max(TIMES * usual, LEAST_MS):
            words = (
                f"{writer} has committed nothing since {instant(last, 'seconds')}. It usually commits every "
                f"{span(usual)}. icedive doctor TABLE --files tells whether it wrote files since."
            )
            yield WriterEvent("stopped", (timed[-1].name,), words)


def _equality_deletes(by_writer: Mapping[str, Sequence[CommitWriter]]) -> Iterator[WriterEvent]:
    """The sinks that add equality deletes, which the table's modes seem to forbid (#10211)."""
    for writer, commits in by_writer.items():
        adding = [c for c in commits if (whole(c.snapshot.summary.get(EQUALITY_DELETES, "")) or 0) > 0]
        if adding and adding[-1].engine in SINKS:
            words = (
                f"{writer} added equality deletes in {len(adding):,} of {count(len(commits), 'commit')}. A sink does "
                "so for each row that it updates: write.delete.mode, write.update.mode and write.merge.mode are for "
                "SQL statements, and the sink does not read them. A compaction applies the deletes."
            )
            yield WriterEvent("deletes", (adding[-1].name,), words)


def _partial(metadata: TableMetadata, by_id: Mapping[int, CommitWriter]) -> Iterator[WriterEvent]:
    for late in late_files(metadata):
        partial, after = by_id[late.partial.snapshot_id], by_id[late.after.snapshot_id]
        words = (
            f"{partial.name} is a partial commit of {partial.writer}: it has no {' or '.join(COMPLETE)}, which others "
            f"have. The sink waited too short (iceberg.control.commit.timeout-ms), and files that came late are "
            f"in {after.name}. No equality delete hides rows of its own commit, so older rows may show beside newer "
            "ones: icedive data duplicates TABLE --key KEY finds them, and the sink or a DELETE has to delete them "
            "again."
        )
        yield WriterEvent("partial", (partial.name, after.name), words)


def _time(commit: CommitWriter) -> int:
    return commit.snapshot.timestamp_ms or 0


def _together(line: Sequence[CommitWriter]) -> Iterator[WriterEvent]:
    """Writers whose commits alternate: A, B, A. Each pair is told once, where it first happens."""
    last: dict[str, int] = {}
    told: set[frozenset[str]] = set()
    for at, commit in enumerate(line):
        before = last.get(commit.writer)
        others = line[before + 1 : at] if before is not None and at - before <= ENOUGH else ()
        for other in others:
            pair = frozenset((commit.writer, other.writer))
            if len(pair) == 2 and pair not in told:
                told.add(pair)
                words = (
                    f"{commit.writer} and {other.writer} write at the same time: their commits alternate here first."
                )
                yield WriterEvent("together", (line[before or 0].name, other.name, commit.name), words)
        last[commit.writer] = at


def _progress_events(line: Sequence[CommitWriter]) -> Iterator[WriterEvent]:
    """Where what a writer counts repeats, goes back or leaves numbers out, on the way to the current snapshot."""
    last: dict[str, tuple[int, CommitWriter]] = {}
    for commit in line:
        if "source-snapshot-id" in commit.ids:  # a copy of another commit
            continue
        for name, number in commit.progress.items():
            before = last.get(name)
            last[name] = (number, commit)
            if before is None:
                continue
            names, is_offset = (before[1].name, commit.name), name.startswith("offset")
            if number < before[0]:
                words = f"{name} goes back from {before[0]:,} to {number:,}: what lies between may be committed twice."
                yield WriterEvent("back", names, words)
            elif number == before[0] and not is_offset:
                words = f"{name} is {number:,} in both: the writer may have committed the same input twice."
                yield WriterEvent("again", names, words)
            elif number > before[0] + 1 and name.startswith("epoch"):
                words = (
                    f"{name} goes from {before[0]:,} to {number:,}: {count(number - before[0] - 1, 'epoch')} between "
                    "wrote nothing, or another table, or was lost."
                )
                yield WriterEvent("missing", names, words)
