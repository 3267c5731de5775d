"""Who wrote a table, and whether something landed, as text, JSON and blocks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from explorer.render.blocks import Block, Notice, Rows
from explorer.render.text import clean, render_table
from explorer.spec.commits.commit_writers import CommitWriter, Writers, WriterTotals
from explorer.spec.commits.landed import Landed
from explorer.spec.snapshots.branches import MAIN
from explorer.spec.text.units import count, human_bytes, interval, second

SHOWN = 20
"""Rows of each list that the text has."""


def writers_words(writers: Writers) -> str:
    """Say how many writers there are, and how much is to be looked at."""
    known = [one for one in writers.writers if one.engine]
    unknown = sum(one.snapshots for one in writers.writers if not one.engine)
    text = f"{count(len(writers.commits), 'snapshot')} of {count(len(known), 'writer')}"
    if unknown:
        text += f"; of {count(unknown, 'snapshot')} nobody recorded the writer"
    looked_at = count(len(writers.events) + writers.left_out, "thing")
    return f"{text}. {looked_at} to look at." if writers.events else f"{text}."


def writer_rows(writers: Writers) -> list[dict[str, Any]]:
    """Return a row for each writer."""
    return [
        {
            "writer": one.writer, "engine": one.engine or None, "versions": list(one.versions), "runs": one.runs,
            "snapshots": one.snapshots, "first": second(one.first_ms), "last": second(one.last_ms),
            "usual_interval_ms": one.usual_interval_ms, "longest_gap_ms": one.longest_gap_ms,
            "added_files": one.added_files, "added_rows": one.added_rows, "added_bytes": one.added_bytes,
            "average_file_bytes": one.average_file_bytes,
            "branches": [{"branch": name, "commits": number} for name, number in one.branches.items()],
        }
        for one in writers.writers
    ]  # fmt: skip


def commit_writer_rows(writers: Writers) -> list[dict[str, Any]]:
    """Return a row for each snapshot, oldest first."""
    return [
        {
            "snapshot": one.name, "timestamp": second(one.snapshot.timestamp_ms), "operation": one.snapshot.operation,
            "writer": one.writer, "run": one.run or None, "versions": list(one.versions),
            "branch": one.branch, "progress": dict(one.progress), "ids": dict(one.ids),
            "snapshot_id": one.snapshot.snapshot_id,
        }
        for one in writers.commits
    ]  # fmt: skip


def event_rows(writers: Writers) -> list[dict[str, Any]]:
    """Return a row for each event."""
    return [{"kind": e.kind, "snapshots": list(e.snapshots), "words": e.words} for e in writers.events]


def _more_events(writers: Writers) -> str:
    """How many events are not shown, and where they are."""
    has = f"the first {len(writers.events):,}" if writers.left_out else "all"
    return f"{len(writers.events) - SHOWN + writers.left_out:,} more: --output json has {has}"


def writers_json(writers: Writers) -> dict[str, Any]:
    """Return the answer as JSON data."""
    return {
        "words": writers_words(writers), "writers": writer_rows(writers), "events": event_rows(writers),
        "commits": commit_writer_rows(writers),
    }  # fmt: skip


def render_writers(writers: Writers) -> Iterator[str]:
    """Return the answer as lines of text."""
    yield clean(writers_words(writers))
    for event in writers.events[:SHOWN]:
        yield clean(f"⚠ {', '.join(event.snapshots)}: {event.words}")
    if len(writers.events) > SHOWN:
        yield f"… {_more_events(writers)}"
    several = bool({commit.branch for commit in writers.commits} - {MAIN})
    rows = [
        {
            "writer": one.writer, "runs": one.runs, "commits": one.snapshots, "last": second(one.last_ms),
            "every": interval(one.usual_interval_ms), "longest gap": interval(one.longest_gap_ms),
            "files": one.added_files, "a file": human_bytes(one.average_file_bytes),
            **({"on": _branches(one)} if several else {}), "versions": ", ".join(one.versions),
        }
        for one in writers.writers
    ]  # fmt: skip
    yield ""
    yield render_table(rows[:SHOWN]).rstrip("\n")
    if len(rows) > SHOWN:
        yield f"… {len(rows) - SHOWN:,} more writers: --output json has all"
    yield ""
    last = [
        {
            "snapshot": one.name, "timestamp": second(one.snapshot.timestamp_ms), "operation": one.snapshot.operation,
            **({"on": one.branch} if several else {}), "writer": one.writer, "run": one.run, "recorded": _recorded(one),
        }
        for one in writers.commits[-SHOWN:]
    ]  # fmt: skip
    if len(writers.commits) > SHOWN:
        yield f"The last {SHOWN} of {len(writers.commits):,} snapshots (--output json has all):"
    yield render_table(last).rstrip("\n")


def _branches(writer: WriterTotals) -> str:
    """The branches that a writer commits to, with the number of commits where there are several."""
    each = writer.branches
    return ", ".join(each) if len(each) == 1 else ", ".join(f"{name} {number:,}" for name, number in each.items())


def _recorded(commit: CommitWriter) -> str:
    numbers = [f"{name}: {number:,}" for name, number in commit.progress.items()]
    return "; ".join([*numbers, *map("=".join, commit.ids.items())])


def writers_blocks(writers: Writers) -> list[Block]:
    """Return the blocks of a page: the answer, what is to be looked at, the writers, then each snapshot."""
    blocks: list[Block] = [Notice(clean(writers_words(writers)))]
    blocks += [Notice(clean(f"{', '.join(e.snapshots)}: {e.words}"), "warning") for e in writers.events[:SHOWN]]
    if len(writers.events) > SHOWN:
        blocks.append(Rows(event_rows(writers), "To look at"))
    return [*blocks, Rows(writer_rows(writers), "Writers"), Rows(commit_writer_rows(writers), "Snapshots")]


def landed_rows(answer: Landed) -> list[dict[str, Any]]:
    """Return a row for each snapshot that fits."""
    return [
        {
            "snapshot": one.snapshot, "where": one.where, "refs": list(one.refs), "why": one.why,
            "notes": list(one.notes), "timestamp": second(one.timestamp_ms), "snapshot_id": one.snapshot_id,
        }
        for one in answer.snapshots
    ]  # fmt: skip


def landed_json(answer: Landed) -> dict[str, Any]:
    """Return the answer as JSON data."""
    return {
        "wanted": answer.wanted, "words": answer.words, "in_main": answer.in_main, "in_part": answer.in_part,
        "snapshots": landed_rows(answer),
    }  # fmt: skip


def render_landed(answer: Landed) -> Iterator[str]:
    """Return the answer as lines of text."""
    yield clean(answer.words)
    for one in answer.snapshots[:SHOWN]:
        refs = f" ({', '.join(one.refs)})" if one.refs else ""
        yield clean(f"{one.snapshot}{refs}, {second(one.timestamp_ms)}: {one.where}")
        yield from (f"  {clean(words)}" for words in (one.why, *one.notes))
    if len(answer.snapshots) > SHOWN:
        yield f"… {len(answer.snapshots) - SHOWN:,} more: --output json has all"


def landed_blocks(answer: Landed) -> list[Block]:
    """Return the blocks of a page: the answer, then the snapshots."""
    rows = landed_rows(answer)
    level = "ok" if answer.in_main and not answer.in_part else "warning"
    return [Notice(clean(answer.words), level), *([Rows(rows, "Snapshots that fit")] if rows else [])]
