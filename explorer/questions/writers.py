"""Questions about who wrote a table, and what arrived in it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated, TypeAlias

from explorer.questions.answers import Answer
from explorer.questions.parameters import EngineName, Kind
from explorer.questions.registry import question

if TYPE_CHECKING:
    from explorer.spec.commits.commit_writers import Writers
    from explorer.spec.commits.landed import Landed
    from explorer.table import Table

Wanted: TypeAlias = Annotated[str, Kind(metavar="WHAT")]


@question("writers", "history", rows=True)
def writers(table: Table) -> Answer[Writers]:
    """Say who committed what: engines, versions, applications, jobs, checkpoints, offsets and queries.

    It decodes the summaries of snapshots. What a writer does not record is unknown. It also tells what to look
    at: gaps, writers that have stopped or write at the same time, and checkpoints, epochs or offsets that repeat,
    go back or leave numbers out.

    Returns:
        The writers. A row for each: writer, engine, versions, runs, snapshots, first, last, intervals, files, rows and
        bytes.

    Example:
        >>> table = explorer.open_table("demo.streaming_upserts")
        >>> [dict(commit.progress) for commit in table.history.writers().value.commits]
        [{'checkpoint': 1}, {'checkpoint': 2}, {'checkpoint': 3}]
    """
    from explorer.queries.collection import Collection
    from explorer.render.writers import render_writers, writer_rows, writers_blocks, writers_json
    from explorer.spec.commits.commit_writers import writers_of

    answer = writers_of(table.metadata, int(time.time() * 1000))
    return Answer(
        answer,
        lambda: writers_json(answer),
        lambda: render_writers(answer),
        lambda: Collection.of_rows(writer_rows(answer), "writers"),
        parts=lambda: writers_blocks(answer),
    )


@question("landed", "history", rows=True)
def landed(table: Table, what: Wanted, *, engine: EngineName = "auto") -> Answer[Landed]:
    """Say whether something landed: in main's history, only on a branch, staged, rolled back, or nowhere.

    Args:
        what: A snapshot's id, an id that a writer records (application, job, query, commit, WAP id), KEY=VALUE of a
            summary, two times as FROM..TO in UTC, or the path of a data or delete file, or its end.

    Returns:
        The answer. A row for each snapshot that fits: snapshot, where, refs, why, notes and timestamp.

    Raises:
        EngineError: The engine is spark, and Spark or Java is not available.

    Example:
        >>> table = explorer.open_table("demo.streaming_upserts")
        >>> table.history.landed("flink.max-committed-checkpoint-id=2").value.words
        'It landed. Snapshot-2: in main.'
    """
    from explorer.queries.collection import Collection
    from explorer.render.writers import landed_blocks, landed_json, landed_rows, render_landed
    from explorer.reports.landed import find_landed

    answer = find_landed(table, what, engine)
    return Answer(
        answer,
        lambda: landed_json(answer),
        lambda: render_landed(answer),
        lambda: Collection.of_rows(landed_rows(answer), "snapshots"),
        parts=lambda: landed_blocks(answer),
    )
