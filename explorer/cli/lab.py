"""Commands on commits that meet: the lab, its races and catalogue, conflicts of a table."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from explorer.cli.base import (
    emit,
    finish,
    main,
    opened,
    output_option,
    printable,
    table_options,
)
from explorer.spec.commits.operations import ISOLATION, KINDS, TAKE_PART, isolation_of

without_option = click.option(
    "--without", multiple=True, metavar="VALIDATION", help="Switch a validation off, by its name in Iceberg's API."
)


def _operation(kind: str, isolation: str, without: tuple[str, ...], engine: str = "java") -> Any:
    from explorer.spec.commits.operations import Operation

    usual = Operation(kind, isolation, engine)
    left = tuple(v for v in usual.validations if v not in without)
    return usual if left == usual.validations else Operation(kind, isolation, engine, left)


@main.command("explain-conflict")
@table_options
@click.option("--base", required=True, help="The snapshot the commit began at.")
@click.option("--operation", "kind", type=click.Choice(tuple(KINDS)), required=True)
@click.option(
    "--isolation",
    type=click.Choice(ISOLATION),
    help="As the table's property says (write.merge.isolation-level ...) if left out, else serializable.",
)
@without_option
@click.option("--where", "condition", default="", help="The rows it is about, in pyiceberg's filter syntax.")
def explain_conflict(
    base: str, kind: str, isolation: str | None, without: tuple[str, ...], condition: str, output: str, **where: Any
) -> None:
    """Say what Iceberg would answer to a commit that began at an older snapshot: commit, retry, or refuse, and why.
    Read-only."""
    from explorer.render.rows import plain
    from explorer.reports.conflicts import explain_conflict as explain

    table = opened(**where)
    level = isolation or isolation_of(kind, table.metadata.properties)
    checks = _operation(kind, level, without).validations
    decision = explain(table, base, kind, checks, condition)
    lines = [decision.words, f"isolation: {level}", f"validations: {', '.join(checks) or 'none'}"]
    lines += [f"  {c.check}: {c.snapshot}: {path}" for c in decision.conflicts for path in c.files]
    emit(
        plain(asdict(decision)) | {"words": decision.words, "isolation": level, "validations": list(checks)},
        output,
        lambda: "\n".join(lines),
    )
    finish(table)


@main.command("lab")
@click.argument("kinds", nargs=-1, type=click.Choice(tuple(TAKE_PART)))
@click.option("--isolation", type=click.Choice(ISOLATION), default="serializable", show_default=True)
@without_option
@click.option(
    "--pyiceberg",
    "others",
    multiple=True,
    metavar="WRITER",
    help="Let pyiceberg be this writer (A, B...): append and cow-delete.",
)
@click.option(
    "--format-version",
    "version",
    type=click.Choice(["2", "3"]),
    default="2",
    show_default=True,
    help="3: deletion vectors.",
)
@click.option(
    "--order",
    default="",
    help="Who takes a step when, such as AABBABAB; in turn if left out. Steps: load, write, apply, metadata, swap; of "
    "a reader load, plan, read. A! kills A, A? loses the answer to its swap, A+ then begins again without looking.",
)
@click.option(
    "--all-orders",
    is_flag=True,
    help="Run every order of two or three operations, hold the rows against serial orders.",
)
@click.option(
    "--picture",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the state graph or sequence diagram here as SVG.",
)
@click.option(
    "--replay", "saved", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Play a saved run again."
)
@output_option
def lab(
    kinds: tuple[str, ...], isolation: str, without: tuple[str, ...], others: tuple[str, ...], version: str, order: str,
    all_orders: bool, picture: Path | None, saved: Path | None, output: str,
) -> None:  # fmt: skip
    """Let writers commit to a small table in a temporary catalog, and readers read it, step by step, on Iceberg
    itself. read-both is a query over that table and another, to which append-other commits."""
    from explorer.lab.folder_runs import replay_folder
    from explorer.lab.interleave import interleave
    from explorer.lab.sandbox import Bench
    from explorer.lab.stepper import NAMES, Run, replay
    from explorer.render.lab_runs import (
        interleavings_object,
        render_interleavings,
        render_run,
        run_object,
        sequence_svg,
    )
    from explorer.render.state_graph import state_svg
    from explorer.spark_engine.spark import SparkEngine

    if not kinds and not saved:
        raise click.UsageError("name an operation for each writer, or a run to --replay")
    bench = Bench(SparkEngine())
    operations = [
        _operation(k, isolation, without, "pyiceberg" if NAMES[i] in others else "java") for i, k in enumerate(kinds)
    ]
    if all_orders:
        from rich.console import Console
        from rich.progress import Progress

        with Progress(console=Console(stderr=True)) as bar:
            task = bar.add_task("orders", total=None)
            orders = interleave(
                bench,
                operations,
                lambda done, total: bar.update(task, completed=done, total=total),
                version=int(version),
            )
        if picture:
            picture.write_text(state_svg(orders))
        emit(interleavings_object(orders), output, lambda: render_interleavings(orders))
        return
    if saved and (played := replay_folder(bench, saved.read_text())):
        if picture:
            raise click.UsageError("a run on a folder is told, not drawn: leave --picture out")
        seen = f"readers see: {'; '.join(map(str, played.rows))}"
        emit(asdict(played), output, lambda: "\n".join((*played.told, seen)))
        return
    if saved:
        run = replay(bench, saved.read_text())
    else:
        run = Run(bench, operations, int(version))
        run.play(order or "".join(w.name for w in run.writers) * 12)
    if picture:
        picture.write_text(sequence_svg(run.events, run.writers))
    emit(
        run_object(run.to_json(), run.writers, run.rows()),
        output,
        lambda: render_run(run.events, run.writers, run.rows()),
    )


@main.command("lab-race")
@click.option("--writers", type=int, default=8, show_default=True, help="Processes, Java and pyiceberg in turn.")
@click.option("--commits", type=int, default=50, show_default=True, help="Commits of each.")
@click.option(
    "--kills", "times", type=int, default=0, show_default=True, help="Instead: kill a writer so often while it commits."
)
@click.option(
    "--faults",
    "chosen",
    is_flag=True,
    help="Instead: kills at chosen points, a lost answer, a full disk, a read-only catalog.",
)
@output_option
def lab_race(writers: int, commits: int, times: int, chosen: bool, output: str) -> None:
    """Let writer processes race for one table, or kill writers at any moment, and hold what they were told against what
    is there."""
    from dataclasses import asdict

    from explorer.lab.race import FAULTS, faults, kills, race
    from explorer.render.text import render_fields, render_table

    if chosen:
        met = faults(progress=lambda done, total: click.echo(f"\r{done} of {total}", err=True, nl=False))
        click.echo("", err=True)
        rows = [asdict(f) | {"fault": FAULTS[f.fault], "left_behind": ", ".join(f.left_behind)} for f in met]
        emit(rows, output, lambda: render_table(rows, width=260))
        return
    if times:
        tallies = kills(
            times, progress=lambda done, total: click.echo(f"\r{done} of {total} killed", err=True, nl=False)
        )
        data: dict[str, Any] = {
            "kills": times,
            "acknowledged": sum(t.acknowledged for t in tallies),
            "committed": sum(t.snapshots for t in tallies),
            "most commits beyond the acknowledged ones": max(t.excess for t in tallies),
            "acknowledged commits that are not there": sum(max(0, -t.excess) for t in tallies),
            "missing files or problems": max(t.missing_files for t in tallies),
        }
    else:
        result = race(
            writers,
            commits,
            lambda lap: click.echo(f"\r{lap.acknowledged} commits, {lap.seconds:.0f} s", err=True, nl=False),
        )
        data = asdict(result) | {"commits_per_second": round(result.commits_per_second, 2)}
    click.echo("", err=True)
    emit(data, output, lambda: render_fields(data))


@main.command("lab-streaming")
@click.option("--commits", type=click.IntRange(min=2), default=100, show_default=True, help="Commits of each.")
@click.option(
    "--merge-at",
    type=click.IntRange(min=2),
    default=100,
    show_default=True,
    metavar="N",
    help="commit.manifest.min-count-to-merge of both tables.",
)
@click.option(
    "--picture", type=click.Path(dir_okay=False, path_type=Path), help="Write the curves of manifests here as SVG."
)
@output_option
def lab_streaming(commits: int, merge_at: int, picture: Path | None, output: str) -> None:
    """Append the same rows by Structured Streaming and by INSERTs, and count the manifests after each commit (a hundred
    of each take a minute or two)."""
    from explorer.lab.sandbox import Bench
    from explorer.lab.streaming import stream_and_batch
    from explorer.render.stream_appends import appends_object, appends_svg, appends_text
    from explorer.spark_engine.spark import SparkEngine

    made = stream_and_batch(Bench(SparkEngine()), commits, merge_at)
    if picture:
        picture.write_text(appends_svg(made))
    emit(appends_object(made), output, lambda: appends_text(made))


@main.command("lab-catalogue")
@click.option(
    "--file", "-f", "target", type=click.Path(dir_okay=False, path_type=Path), help="Write here instead of to stdout."
)
def lab_catalogue(target: Path | None) -> None:
    """Run every pair of operations on Iceberg itself, and write what happens as Markdown (about seven minutes)."""
    from explorer.lab.catalogue import catalogue, render_catalogue
    from explorer.lab.sandbox import Bench
    from explorer.spark_engine.spark import SparkEngine

    pairs = catalogue(Bench(SparkEngine()), lambda done, total: click.echo(f"\r{done} of {total}", err=True, nl=False))
    text = render_catalogue(pairs)
    if target:
        target.write_text(text)
    else:
        click.echo(printable(text))
