"""Questions that are answered by running Iceberg: writers and readers that meet, and statements that are observed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from explorer.errors import NotPossible, WrongUsage
from explorer.progress import tell
from explorer.questions.answers import Answer
from explorer.questions.parameters import Kind, Positive, Sql, Texts
from explorer.questions.registry import question
from explorer.spec.commits.operations import TAKE_PART, operation_without

if TYPE_CHECKING:
    from explorer.lab.observe import Observation
    from explorer.spec.commits.lab_runs import Interleavings
    from explorer.table import Table

Operations: TypeAlias = Annotated["Sequence[str]", Kind("choice", "OPERATION", choices=tuple(TAKE_PART), several=True)]
SavedRun: TypeAlias = Annotated[str, Kind(metavar="FILE")]


@question("run", "lab", writing=True, picture=True)
def run(
    operations: Operations = (),
    *,
    isolation: Literal["serializable", "snapshot"] = "serializable",
    without: Texts = (),
    pyiceberg: Texts = (),
    table_version: Literal["2", "3"] = "2",
    order: str = "",
    all_orders: bool = False,
    replay: SavedRun = "",
) -> Answer[Any]:
    """Let writers commit to a small table in a temporary catalog, and readers read it, step by step, on Iceberg.

    It runs them step by step, or in every order, and shows the snapshots that each writer loaded. read-both is
    a query over that table and another, to which append-other commits.

    Args:
        operations: One operation for each writer or reader: A, B and so on.
        isolation: The isolation level.
        without: Switch a validation off, by its name in Iceberg's API. May be given several times.
        pyiceberg: Let pyiceberg be this writer (A, B...): append and cow-delete. May be given several times.
        table_version: The table's format version; 3 has deletion vectors.
        order: Who takes a step when, such as AABBABAB; in turn if left out. Steps: load, write, apply, metadata, swap;
            of a reader load, plan, read. A! kills A, A? loses the answer to its swap, A+ then begins again without
            looking.
        all_orders: Run every order of two or three operations, and compare the rows with those of serial orders.
        replay: Play the run again that this file has, or one of these: delete-that-misses, expired-reader,
            lost-rename, resurrected-row, stale-listing, two-tables.

    Returns:
        The run with its events and rows; or every order with its outcome.

    Raises:
        WrongUsage: Neither an operation nor a run to replay is given.
        NotPossible: The file of a run cannot be read.
        NotFoundInTable: There is no such operation or validation.
        EngineError: Spark or Java is not available.

    Example:
        >>> from explorer.questions import lab
        >>> run = lab.run(["append", "append"]).value
        >>> [writer.state for writer in run.writers]
        ['committed', 'committed']
    """
    from explorer.lab.folder_runs import replay_folder
    from explorer.lab.interleave import interleave
    from explorer.lab.sandbox import Bench
    from explorer.lab.stepper import NAMES, Run
    from explorer.lab.stepper import replay as play_again
    from explorer.render.lab_runs import (
        interleavings_json,
        render_interleavings,
        render_run,
        run_json,
        sequence_svg,
    )

    if not operations and not replay:
        raise WrongUsage("name an operation for each writer, or a run to --replay")
    writers = [
        operation_without(kind, isolation, without, "pyiceberg" if NAMES[at] in pyiceberg else "java")
        for at, kind in enumerate(operations)
    ]
    saved = _read_run(replay) if replay else ""
    bench = Bench()
    if all_orders:
        orders = interleave(bench, writers, lambda done, total: tell(done, total, "orders"), version=int(table_version))
        return Answer(
            orders,
            lambda: interleavings_json(orders),
            lambda: (render_interleavings(orders),),
            picture=lambda: _state_graph(orders),
        )
    if saved and (played := replay_folder(bench, saved)):
        lines = (*played.told, f"readers see: {'; '.join(map(str, played.rows))}")
        return Answer(played, lambda: asdict(played), lambda: lines)
    if saved:
        one = play_again(bench, saved)
    else:
        one = Run(bench, writers, int(table_version))
        one.play(order or "".join(w.name for w in one.writers) * 12)
    return Answer(
        one,
        lambda: run_json(one.to_json(), one.writers, one.rows()),
        lambda: (render_run(one.events, one.writers, one.rows()),),
        picture=lambda: sequence_svg(one.events, one.writers),
    )


def _state_graph(orders: Interleavings) -> str:
    from explorer.render.state_graph import state_svg

    return state_svg(orders)


def _read_run(file: str) -> str:
    from explorer.lab.exercises.course import REPLAYS

    own = {path.stem: path for path in REPLAYS.glob("*.json")}
    try:
        return own.get(file, Path(file)).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise NotPossible(f"{file} cannot be read: {error}") from error


@question("race", "lab", writing=True)
def race(*, writers: Positive = 8, commits: Positive = 50, kills: int = 0, faults: bool = False) -> Answer[Any]:
    """Let writer processes race for one table, or kill writers, and compare what they were told with what is there.

    Args:
        writers: How many processes, Java and pyiceberg in turn.
        commits: How many commits each makes.
        kills: Instead: kill a writer so often while it commits.
        faults: Instead: kill at chosen points, lose an answer, fill the disk, make the catalog read-only.

    Returns:
        Commits that were acknowledged, and those that are there.

    Raises:
        EngineError: Spark or Java is not available.

    Example:
        >>> from explorer.questions import lab
        >>> race = lab.race(writers=2, commits=2).value
        >>> race.acknowledged, race.snapshots
        (4, 4)
    """
    from explorer.lab import race as lab_race
    from explorer.render.text import render_fields, render_table

    if faults:
        met = lab_race.faults(progress=lambda done, total: tell(done, total, "faults"))
        rows = [asdict(f) | {"fault": lab_race.FAULTS[f.fault], "left_behind": ", ".join(f.left_behind)} for f in met]
        return Answer(met, lambda: rows, lambda: (render_table(rows, width=260),))
    if kills:
        tallies = lab_race.kills(kills, progress=lambda done, total: tell(done, total, "kills"))
        data: dict[str, Any] = {
            "kills": kills,
            "acknowledged": sum(t.acknowledged for t in tallies),
            "committed": sum(t.snapshots for t in tallies),
            "excess_commits": max(t.excess for t in tallies),
            "missing_commits": sum(max(0, -t.excess) for t in tallies),
            "missing_files_or_problems": max(t.missing_files for t in tallies),
        }
        return Answer(tallies, lambda: data, lambda: (render_fields(data),))
    result = lab_race.race(writers, commits, lambda lap: tell(lap.acknowledged, writers * commits, "commits"))
    data = asdict(result) | {"commits_per_second": round(result.commits_per_second, 2)}
    return Answer(result, lambda: data, lambda: (render_fields(data),))


@question("streaming", "lab", writing=True, picture=True)
def streaming(
    *,
    commits: Annotated[int, Kind("number", "N", least=2)] = 100,
    merge_at: Annotated[int, Kind("number", "N", least=2)] = 100,
) -> Answer[Any]:
    """Append the same rows by Structured Streaming and by INSERTs, and count the manifests after each commit.

    A stream uses FastAppend, an INSERT MergeAppend. A hundred commits of each take a minute or two.

    Args:
        commits: How many commits each makes.
        merge_at: The property commit.manifest.min-count-to-merge of both tables.

    Returns:
        The number of manifests after each commit, of both tables.

    Raises:
        EngineError: Spark or Java is not available.

    Example:
        >>> from explorer.questions import lab
        >>> [len(curve.manifests) for curve in lab.streaming(commits=3).value]
        [3, 3]
    """
    from explorer.lab.sandbox import Bench
    from explorer.lab.streaming import stream_and_batch
    from explorer.render.stream_appends import appends_json, appends_svg, appends_text

    curves = stream_and_batch(Bench(), commits, merge_at)
    return Answer(
        curves, lambda: appends_json(curves), lambda: (appends_text(curves),), picture=lambda: appends_svg(curves)
    )


@question("catalogue", "lab", writing=True)
def catalogue() -> Answer[Any]:
    """Run every pair of operations on Iceberg, and write what happens as Markdown; it takes about seven minutes.

    Returns:
        The page as Markdown.

    Raises:
        EngineError: Spark or Java is not available.

    Example:
        >>> from explorer.questions import lab
        >>> print(lab.catalogue().to_text())  # doctest: +SKIP
    """
    from explorer.lab.catalogue import catalogue as every_pair
    from explorer.lab.catalogue import render_catalogue
    from explorer.lab.sandbox import Bench

    pairs = every_pair(Bench(), lambda done, total: tell(done, total, "pairs"))
    return Answer(pairs, lambda: {"markdown": render_catalogue(pairs)}, lambda: (render_catalogue(pairs),))


@question("observe", "lab", writing=True)
def observe(table: Table, statement: Sql = "", *, api: str = "", allow_writes: bool = False) -> Answer[Observation]:
    """Run one writing statement on a table of the sandbox, and show the files it wrote in order, the swap, the report.

    Args:
        statement: The statement, in which `t` is the table.
        api: Instead of a statement: an operation of the table API, such as rewriteManifests.
        allow_writes: Also write to a teaching table, or a table of another catalog that Spark knows (spark.json).

    Returns:
        The files in the order in which they were written, the swap, and Iceberg's report.

    Raises:
        WrongUsage: Not one of a statement and an operation is given.
        AccessRefused: The table is not one that may be written.
        StatementFailed: Spark or Iceberg refuses the statement; the message is their reason.
        EngineError: Spark or Java is not available.

    Example:
        >>> from explorer.questions import lab
        >>> table = explorer.open_table(lab.copy("three_inserts").value)
        >>> seen = table.lab.observe("INSERT INTO t VALUES ('fig')").value
        >>> [file.what for file in seen.files]
        ['data file', 'data manifest', 'manifest list', 'metadata file']
    """
    from explorer.lab.observe import API, observe_api
    from explorer.lab.observe import observe as observe_statement
    from explorer.render.lab_runs import observation_json, render_observation
    from explorer.render.writing_blocks import observation_blocks

    if bool(statement) == bool(api):
        raise WrongUsage(f"give a statement, or --api with one of {', '.join(API)}")
    seen = (
        observe_api(table, api, allow_writes=allow_writes)
        if api
        else observe_statement(table, statement, allow_writes=allow_writes)
    )
    return Answer(
        seen,
        lambda: observation_json(seen),
        lambda: (render_observation(seen),),
        parts=lambda: observation_blocks(seen),
    )


@question("copy", "lab", writing=True)
def copy(teaching_table: str) -> Answer[str]:
    """Copy a teaching table to lab.NAME_1, lab.NAME_2 and so on, to be changed freely.

    Args:
        teaching_table: The table.

    Returns:
        The name of the copy.

    Raises:
        NotFoundInTable: There is no such teaching table.
        EngineError: Spark or Java is not available.

    Example:
        >>> from explorer.questions import lab
        >>> lab.copy("three_inserts").value.startswith("lab.three_inserts_")
        True
    """
    from explorer.lab.scenarios import fresh_copy

    copied = fresh_copy(teaching_table.removeprefix("demo."))
    return Answer(copied, lambda: {"table": copied}, lambda: (copied,))
