"""Files that were written after a table's last commit, or between commits of a sink: rows that no snapshot has."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping

from explorer.model.metadata import TableMetadata
from explorer.spec.commits.commit_writers import CHECKPOINT, EPOCH, JOB, OFFSETS, OPERATOR
from explorer.spec.commits.kept_commits import kept_commits
from explorer.spec.doctor.remedy_cases import UNCOMMITTED
from explorer.spec.snapshots.lineage import ancestry
from explorer.spec.text.names import base_name
from explorer.spec.text.units import count, human_bytes, instant, parse_int64

DATA_ENDINGS = (".parquet", ".orc", ".avro")
"""How the names of data files end."""
PROGRESS = (OFFSETS.removesuffix("."), CHECKPOINT, EPOCH)
"""What begins the keys of summaries by which a writer knows what it has committed, and leaves out the rest: Kafka
Connect's sink (#15293), Flink's (#10892) and Spark's streams."""
UNDER_WAY = 3_600_000
"""Milliseconds for which a file may be of a commit under way."""
YOUNG = "of the last hour may be of a commit under way: ask again later"
"""What is said of a number of files or lists that are left out."""
REFUSED = "A write that was refused or killed leaves such files, and so does a task that failed and was run again"
END_OF_STREAM, ENDED = (1 << 63) - 1, " (its stream had ended)"
"""The checkpoint that Flink's sink records once its input has ended."""
SHOWN = 100
"""Characters of a key or value."""
FLINK_MANIFEST = re.compile(r"([0-9a-f]{32})-([^/]{1,100})-[0-9]{5}-[0-9]{1,9}-([0-9]{1,18})-[0-9]{5}[.]avro", re.ASCII)
"""How Flink's sink names its manifests: job, operator, subtask, attempt, checkpoint, and a number."""


def is_data_file(path: str) -> bool:
    """Whether a file's name is that of a data file, and its folder is not that of metadata."""
    return path.endswith(DATA_ENDINGS) and "/metadata/" not in path


def words_of_uncommitted_files(metadata: TableMetadata, files: Mapping[str, tuple[float, int]], now: float) -> str:
    """Say which files hold rows that nobody committed.

    Args:
        metadata: The table's.
        files: Those that nothing leads to, with when each was written (ms since 1970), and its length.
        now: The time, in the same way: younger files may be of a commit under way.

    Returns:
        Sentences; empty where there is no reason to think so.
    """
    last = max((s.timestamp_ms or 0 for s in metadata.snapshots), default=0)
    data_files = [(written, size) for path, (written, size) in files.items() if is_data_file(path)]
    late = [size for written, size in data_files if last < written < now - UNDER_WAY]
    first = min((s.timestamp_ms or 0 for s in metadata.snapshots), default=0)
    between = [size for written, size in data_files if first < written <= last]
    if not late and between and (progress := writer_progress(metadata)):
        were = "was" if len(between) == 1 else "were"
        return (
            f"{count(len(between), 'data file')} ({human_bytes(sum(between))}) {were} written between commits of a "
            f"sink, whose summaries say {progress}: {UNCOMMITTED}. A sink that fails leaves such files, and writes "
            "their rows again from its source; one whose coordinator is replaced may not (apache/iceberg#17551)"
        )
    kept = kept_commits(metadata)
    times = [*(entry.timestamp_ms for entry in metadata.metadata_log), first, metadata.last_updated_ms]
    began = min(time for time in times if time is not None)
    never = [
        size for written, size in data_files
        if kept is not None and kept.are_all_since(written) and began < written <= min(last, now - UNDER_WAY)
    ]  # fmt: skip
    young = sum(written >= now - UNDER_WAY for written, _ in data_files)
    later = f". {count(young, 'data file')} {YOUNG}" if young else ""
    if not late and not (kept and never):
        return later.removeprefix(". ")
    if kept and never and not late:
        return (
            f"{count(len(never), 'data file')} ({human_bytes(sum(never))}) {'is' if len(never) == 1 else 'are'} in no "
            f"commit, though {kept.words}: {UNCOMMITTED}. {REFUSED}{later}"
        )
    since = f"after the last commit ({instant(last)})" if last else "and there is no commit"
    sentence = (
        f"{count(len(late), 'data file')} ({human_bytes(sum(late))}) {'was' if len(late) == 1 else 'were'} written "
    )
    text = f"{sentence}{since}: {UNCOMMITTED}"
    if kept and never:
        text += f". So it is with {count(len(never), 'older file')}, which no commit lists, though {kept.words}"
    text += later
    if dropped := dropped_checkpoints(metadata, files):
        return f"{text}. {dropped}"
    if progress := writer_progress(metadata):
        text += f". The summary of a commit says {progress}: its writer leaves out what it takes for older than that"
    return text


def dropped_checkpoints(metadata: TableMetadata, files: Iterable[str]) -> str:
    """Say that Flink's sink dropped the commits of a job that started again without its state (apache/iceberg#18098).

    Args:
        metadata: The table's.
        files: Paths that nothing leads to.

    Returns:
        Sentences; empty where no file is such a job's.
    """
    matches = [match for path in files if (match := FLINK_MANIFEST.fullmatch(base_name(path)))]
    if not matches:
        return ""
    newest: dict[tuple[str, str], int] = {}
    for own in ancestry(metadata, metadata.current_snapshot_id):
        snapshot = metadata.snapshot(own)
        summary = snapshot.summary if snapshot else {}
        if (checkpoint := parse_int64(summary.get(CHECKPOINT))) is not None:
            newest.setdefault((summary.get(JOB, ""), summary.get(OPERATOR, "")), checkpoint)
    dropped: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    for match in matches:
        if int(match[3]) <= newest.get((match[1], match[2]), -1):
            dropped[match[1], match[2]].append(int(match[3]))
    if not dropped:
        return ""
    (job, operator), checkpoints = max(dropped.items(), key=lambda item: len(item[1]))
    last, low, high = newest[job, operator], min(checkpoints), max(checkpoints)
    of = f"checkpoint {low:,}" if low == high else f"checkpoints {low:,} to {high:,}"
    return (
        f"{count(len(checkpoints), 'manifest')} of Flink's job {job}, operator {operator[:SHOWN]}, "
        f"{'is' if len(checkpoints) == 1 else 'are'} of {of}, and the table has {CHECKPOINT} = {last:,}"
        f"{ENDED if last == END_OF_STREAM else ''} of them: the "
        "job started again without its state, and its sink drops each checkpoint up to that number "
        "(apache/iceberg#18098). Start it from its savepoint, or give the sink another uid"
    )


def writer_progress(metadata: TableMetadata) -> str:
    """What the newest commit with such a key says of how far its writer came, in words; empty where none says so."""
    for own in ancestry(metadata, metadata.current_snapshot_id):
        snapshot = metadata.snapshot(own)
        for key, value in sorted(snapshot.summary.items()) if snapshot else ():
            if key.startswith(PROGRESS):
                return f"{key[:SHOWN]} = {value[:SHOWN]}"
    return ""
