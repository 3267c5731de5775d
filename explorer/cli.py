"""The command line: thin commands over explorer.Table. Data goes to stdout, messages to stderr.

Exit codes: 0 all is well; 1 what was asked for cannot be had (the message names the file and the cause); 2 wrong usage;
3 the output is incomplete, since some of the table's files cannot be read (each is named on stderr); 4 Spark or Java is
not to be had."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

import click

import explorer
from explorer.core.operations import ISOLATION, KINDS
from explorer.core.refs import OPERATIONS as REF_OPERATIONS
from explorer.errors import EngineError, ExplorerError

OPERATIONS = (
    "compact",
    "compact-sort",
    "compact-z-order",
    "rewrite-manifests",
    "rewrite-position-deletes",
    "expire",
    "remove-orphans",
)
UNDO = tuple(REF_OPERATIONS)
LAB_OPERATIONS = tuple(KINDS)
F = TypeVar("F", bound=Callable[..., Any])
INCOMPLETE, FAILED, NO_ENGINE = 3, 1, 4


class Group(click.Group):
    """Commands in the order they are written; our errors as messages, not tracebacks."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        if args[:2] == ["metadata", "diff"]:
            args = ["metadata-diff", *args[2:]]
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except EngineError as error:
            fail(error, NO_ENGINE)
        except ExplorerError as error:
            fail(error, FAILED)
        except BrokenPipeError:  # `| head` closed the pipe: nothing more to say
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(0)


def fail(error: Exception, code: int) -> None:
    """Say what is wrong on stderr and leave."""
    say(f"iceberg-explorer: {error}")
    sys.exit(code)


def say(message: str) -> None:
    """A message on stderr: no command to the terminal, no credentials, whatever a table, a path or an error holds."""
    from explorer.core.secrets import redacted

    click.echo(printable(redacted(message)), err=True)


def printable(text: str) -> str:
    """Lines of text, without what could command a terminal or pass for other text."""
    from explorer.views.text import clean

    return "\n".join(clean(line) for line in text.split("\n"))


@click.group(
    cls=Group,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=__doc__.partition("\n\n")[2] if __doc__ else None,
)
@click.version_option(explorer.__version__)
def main() -> None:
    """Explore the metadata of Apache Iceberg tables.

    TABLE is db.table in the embedded sandbox, catalog.db.table from .pyiceberg.yaml, or a path or URI of a table folder
    or metadata.json. A snapshot is an id, a branch or tag, a name as shown (snapshot-3), or a timestamp."""


def output_option(command: F) -> F:
    """--output text|json."""
    return click.option(
        "--output", "-o", type=click.Choice(["text", "json"]), default="text", show_default=True, help="How to print."
    )(command)


def table_options(command: F) -> F:
    """TABLE, --catalog, --property, --root, --output."""
    for option in (
        output_option,
        click.option("--root", "roots", multiple=True, help="Also allow reading below this folder or URI."),
        click.option(
            "--property", "-p", "properties", multiple=True, metavar="KEY=VALUE", help="A catalog or storage property."
        ),
        click.option("--catalog", help="The catalog that TABLE is in."),
        click.argument("table"),
    ):
        command = option(command)
    return command


writes_option = click.option(
    "--allow-writes",
    is_flag=True,
    help="Also on a teaching table, or a table of another catalog that Spark knows (spark.json).",
)
snapshot_option = click.option(
    "--snapshot", "-s", help="Id, branch, tag, snapshot-N or timestamp; the current one if left out."
)


def opened(table: str, catalog: str | None, properties: Iterable[str], roots: Iterable[str]) -> explorer.Table:
    """Open TABLE with the common options."""
    pairs = {}
    for item in properties:
        key, separator, value = item.partition("=")
        if not separator:
            raise click.BadParameter(f"{item!r} is not KEY=VALUE", param_hint="--property")
        pairs[key] = value
    return explorer.open_table(table, catalog, pairs or None, list(roots))


def emit(data: Any, output: str, text: Callable[[], str]) -> None:
    """Print JSON data, or the text made of it."""
    from explorer.views.text import json_text

    click.echo(json_text(data) if output == "json" else printable(text().rstrip("\n")))


def emit_rows(
    rows: explorer.Collection, output: str, columns: list[str] | None = None, table: explorer.Table | None = None
) -> None:
    """Print a collection; in text, partitions of `table` as paths."""
    from explorer.core.values import named_partition_path
    from explorer.views.text import render_table

    data = rows.to_json()
    if table and output == "text" and {"partition", "spec_id"} <= set(rows.columns):
        specs = {s.spec_id: s for s in table.metadata.partition_specs}
        values = rows.to_arrow()["partition"].to_pylist()
        data = [
            r | {"partition": named_partition_path(v, specs.get(r["spec_id"]), table.metadata)}
            for r, v in zip(data, values, strict=True)
        ]
    width = None if sys.stdout.isatty() else 220
    shown = [c for c in columns or rows.columns if c in rows.columns]
    emit(data, output, lambda: render_table(data, width, shown))


def finish(table: explorer.Table) -> None:
    """Name every problem on stderr; exit with 3 when something could not be read."""
    for problem in table.problems:
        say(f"{problem.severity}: {problem}")
    if any(problem.severity == "error" for problem in table.problems):
        sys.exit(INCOMPLETE)


@main.command()
@click.argument("names", nargs=-1)
@click.option(
    "--list", "listing", is_flag=True, help="List the teaching tables and what each shows, and build nothing."
)
@output_option
def demo(names: tuple[str, ...], listing: bool, output: str) -> None:
    """Build the teaching tables into the sandbox by real Spark commits, skipping those that are there."""
    from explorer import scenarios
    from explorer.engines.spark import SparkEngine

    done = scenarios.built()
    unknown = set(names) - {s.name for s in scenarios.SCENARIOS}
    if unknown:
        raise click.BadParameter(f"no such teaching table: {', '.join(sorted(unknown))} (see --list)")
    chosen = [s for s in scenarios.SCENARIOS if not names or s.name in names]
    rows = [
        {
            "table": f"{scenarios.NAMESPACE}.{s.name}",
            "figures": s.figures,
            "teaches": s.teaches,
            "built": s.name in done,
        }
        for s in chosen
    ]
    if listing:
        emit_rows(explorer.Collection.of_rows(rows, "scenarios"), output)
        return
    todo = [s for s in chosen if s.name not in done]
    if todo:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        columns = (TextColumn("{task.description:<34}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        with Progress(*columns, console=Console(stderr=True)) as bar:
            task = bar.add_task("Spark", total=len(todo))
            engine = SparkEngine()
            engine.on_change(lambda state: bar.update(task, description=f"Spark: {state.phase}"))
            scenarios.build_all(
                engine, todo, lambda name, n, _: bar.update(task, completed=n, description=name or "done")
            )
    emit_rows(explorer.Collection.of_rows([row | {"built": True} for row in rows], "scenarios"), output)


@main.command()
@click.argument("table", required=False)
@click.option("--port", type=int, default=5006, show_default=True, help="0 for any free one.")
@click.option(
    "--address",
    default="127.0.0.1",
    show_default=True,
    help="Others than loopback need a password in ICEBERG_EXPLORER_PASSWORD.",
)
@click.option("--host", "hosts", multiple=True, metavar="NAME", help="Another name that browsers call this server by.")
@click.option("--allow-sql", is_flag=True, help="Also on another address than loopback: SQL.")
@click.option("--allow-lab", is_flag=True, help="Also on another address than loopback: the lab, and all that writes.")
@click.option("--show", is_flag=True, help="Open a browser.")
def serve(
    table: str | None, port: int, address: str, hosts: tuple[str, ...], allow_sql: bool, allow_lab: bool, show: bool
) -> None:
    """Serve the dashboard on loopback, and print its URL with the token that opens it."""
    from explorer.ui.serve import serve as run

    run(table, port, address, show, hosts, allow_sql, allow_lab)


@main.command()
@click.option("--catalog", default="sandbox", show_default=True)
@output_option
def tables(catalog: str, output: str) -> None:
    """List the tables of a catalog."""
    emit_rows(explorer.catalog(catalog), output)


@main.command()
@table_options
@snapshot_option
def show(
    table: str,
    catalog: str | None,
    properties: tuple[str, ...],
    roots: tuple[str, ...],
    output: str,
    snapshot: str | None,
) -> None:
    """Show the metadata tree of a table as text."""
    from explorer.views.rows import graph_object
    from explorer.views.text import render_tree

    found = opened(table, catalog, properties, roots)
    graph = found.graph(snapshot)
    emit(graph_object(graph), output, lambda: f"{found.why}\n{render_tree(graph)}")
    finish(found)


@main.command()
@table_options
def metadata(table: str, catalog: str | None, properties: tuple[str, ...], roots: tuple[str, ...], output: str) -> None:
    """Show the metadata file: every field, unknown ones too."""
    from explorer.views.rows import metadata_object
    from explorer.views.text import render_fields

    found = opened(table, catalog, properties, roots)
    data = metadata_object(found.metadata)
    emit(data, output, lambda: render_fields(data))
    finish(found)


def _collection_command(
    name: str,
    about: str,
    rows: Callable[..., explorer.Collection],
    columns: list[str] | None = None,
    snapshot: bool = True,
) -> None:
    def command(
        table: str,
        catalog: str | None,
        properties: tuple[str, ...],
        roots: tuple[str, ...],
        output: str,
        **options: Any,
    ) -> None:
        found = opened(table, catalog, properties, roots)
        emit_rows(rows(found, **options), output, columns, found)
        finish(found)

    decorated: Any = table_options(snapshot_option(command) if snapshot else command)
    if name in ("entries", "files"):
        decorated = click.option("--metrics", is_flag=True, help="Also column sizes, counts and bounds.")(decorated)
    if name == "entries":
        decorated = click.option(
            "--view", type=click.Choice(["stored", "inherited", "logical", "all"]), default="logical", show_default=True
        )(decorated)
    main.command(name, help=about)(decorated)


_collection_command("snapshots", "List all snapshots.", lambda t: t.snapshots, snapshot=False)
_collection_command("refs", "List branches and tags.", lambda t: t.refs, snapshot=False)
_collection_command("manifests", "List the manifests of a snapshot.", lambda t, snapshot: t.manifests(snapshot))
_collection_command(
    "entries",
    "List manifest entries: as stored, inherited, or with their logical status.",
    lambda t, snapshot, view, metrics: t.entries(snapshot, view, metrics),
)
_collection_command(
    "files", "List the files a reader of a snapshot sees.", lambda t, snapshot, metrics: t.files(snapshot, metrics)
)
PARTITION_COLUMNS = ["partition", "spec_id", "record_count", "file_count", "total_data_file_size_in_bytes"]
PARTITION_COLUMNS += ["position_delete_file_count", "equality_delete_file_count"]
_collection_command(
    "partitions",
    "Add up the live files by partition.",
    lambda t, snapshot: t.partitions(snapshot),
    columns=PARTITION_COLUMNS,
)


@main.command()
@table_options
@click.argument("before")
@click.argument("after")
def diff(before: str, after: str, output: str, **where: Any) -> None:
    """Show what differs between two snapshots: net files, and what became of the manifests."""
    from explorer.views.changes import diff_object, render_diff

    found = opened(**where)
    result = found.diff(before, after)
    emit(diff_object(result), output, lambda: render_diff(result))
    finish(found)


@main.command()
@table_options
def lifecycle(output: str, **where: Any) -> None:
    """Show what became of every manifest: created, carried, rewritten, merged, dropped, and why."""
    from explorer.views.changes import lifecycle_rows, render_lifecycle

    found = opened(**where)
    cells = found.lifecycle()
    emit(lifecycle_rows(cells), output, lambda: render_lifecycle(cells))
    finish(found)


@main.command()
@table_options
def history(output: str, **where: Any) -> None:
    """Show the lineage of snapshots beside the snapshot log, and explain where they part."""
    from explorer.views.changes import history_object, render_history

    found = opened(**where)
    lineage, log = found.history(), found.current_log()
    emit(history_object(lineage, log), output, lambda: render_history(lineage, log))
    finish(found)


@main.command()
@table_options
@click.option("--from", "first", help="The snapshot before the first commit; from the oldest one on if left out.")
@click.option("--to", "last", help="The snapshot of the last commit; the current one if left out.")
def commits(first: str | None, last: str | None, output: str, **where: Any) -> None:
    """Show what each commit of a run did and cost, and the run's write amplification."""
    from explorer.views.changes import commits_object, render_commits

    found = opened(**where)
    run = found.commits(first, last)
    emit(commits_object(run), output, lambda: render_commits(run))
    finish(found)


@main.command()
@table_options
@click.argument("path")
def file(path: str, output: str, **where: Any) -> None:
    """Tell the life of one data or delete file, named by its path or the end of it."""
    from explorer.views.changes import biography_object, render_biography

    found = opened(**where)
    life = found.file(path)
    emit(biography_object(life), output, lambda: render_biography(life))
    finish(found)


@main.command("metadata-diff")
@table_options
@click.argument("before")
@click.argument("after", required=False)
def metadata_diff(before: str, after: str | None, output: str, **where: Any) -> None:
    """Compare two metadata files by meaning; each is a version number or a path. Also `metadata diff`."""
    from explorer.views.changes import render_changes
    from explorer.views.rows import plain

    found = opened(**where)
    changes = found.metadata_diff(before, after)
    emit(plain(changes), output, lambda: render_changes(changes))
    finish(found)


@main.command()
@table_options
@snapshot_option
def deletes(snapshot: str | None, output: str, **where: Any) -> None:
    """Show which deletes apply to which data files, clause by clause, and which dangle."""
    from explorer.views.rowviews import delete_rows, render_deletes

    found = opened(**where)
    known = found.deletes(snapshot)
    emit(
        delete_rows(known.verdicts, known.dangling),
        output,
        lambda: render_deletes(known.verdicts, known.dangling, known.costs),
    )
    finish(found)


@main.command("delete-contents")
@table_options
@snapshot_option
@click.argument("path")
@click.option("--offset", type=int, help="Of a deletion vector, where several are in one Puffin file.")
def delete_contents(path: str, offset: int | None, snapshot: str | None, output: str, **where: Any) -> None:
    """Print what a position or equality delete file or a deletion vector holds."""
    found = opened(**where)
    emit_rows(found.delete_contents(path, snapshot, offset), output)
    finish(found)


@main.command("file-rows")
@table_options
@snapshot_option
@click.argument("path")
def file_rows(path: str, snapshot: str | None, output: str, **where: Any) -> None:
    """Print the rows of one data file, and what deletes them. Needs no Spark."""
    found = opened(**where)
    emit_rows(found.file_rows(path, snapshot), output)
    finish(found)


@main.command()
@table_options
@snapshot_option
@click.option("--column", "columns", multiple=True, help="Only these columns; may be given several times.")
@click.option("--where", "condition", default="", help="A filter in Spark SQL.")
@click.option("--limit", type=int, default=100, show_default=True)
@click.option("--provenance", is_flag=True, help="Also each row's file, position, partition and, in version 3, row id.")
def rows(
    columns: tuple[str, ...], condition: str, limit: int, provenance: bool, snapshot: str | None, output: str,
    **where: Any
) -> None:  # fmt: skip
    """Read rows of any version through Spark."""
    found = opened(**where)
    emit_read(found.rows(snapshot, columns, condition, limit, provenance), output)
    finish(found)


@main.command()
@table_options
@click.argument("query")
@click.option("--limit", type=int, default=100, show_default=True)
def sql(query: str, limit: int, output: str, **where: Any) -> None:
    """Run a read-only query through Spark: `t` is TABLE, `t@snapshot-1` and `db.other@tag` are versions."""
    found = opened(**where)
    emit_read(found.sql(query, limit), output)
    finish(found)


def emit_read(read: Any, output: str) -> None:
    """Rows to stdout; which version they are and what the scan took to stderr."""
    emit_rows(read, output)
    if read.words:
        click.echo(read.words, err=True)
    for report in read.reports:
        parts = [
            f"{what}: {kept} scanned, {skipped} skipped" for what in SCANNED for kept, skipped in [report.pair(what)]
        ]
        click.echo(f"scan of {report.table.rsplit('/', 1)[-1]}: {'; '.join(parts)}", err=True)


SCANNED = ("DataManifests", "DeleteManifests", "DataFiles", "DeleteFiles")


@main.command("row-diff")
@table_options
@click.argument("before")
@click.argument("after")
@click.option("--key", "keys", multiple=True, help="A column that tells updates; may be given several times.")
def row_diff(before: str, after: str, keys: tuple[str, ...], output: str, **where: Any) -> None:
    """Show the rows that differ between two snapshots; reads only files that differ. Needs no Spark."""
    from explorer.views.rowviews import render_row_diff, row_diff_object

    found = opened(**where)
    result = found.row_diff(before, after, keys)
    emit(row_diff_object(result), output, lambda: render_row_diff(result))
    finish(found)


@main.command()
@table_options
@snapshot_option
@click.argument("condition")
@click.option("--key", "keys", multiple=True, help="A column that tells a changed row; may be given several times.")
def fate(condition: str, keys: tuple[str, ...], snapshot: str | None, output: str, **where: Any) -> None:
    """Tell what became of the rows that match CONDITION, and why they are there or not as of a snapshot. Needs no
    Spark."""
    from explorer.views.rowviews import fate_object, render_fate

    found = opened(**where)
    told = found.fate(condition, keys)
    at = found.resolve(snapshot).snapshot
    sentences = told.explain(at)
    columns = [f.name for f in told.schema.fields]
    emit(
        fate_object(told.events, {str(at.snapshot_id): sentences}),
        output,
        lambda: render_fate(told.events, columns, sentences),
    )
    finish(found)


@main.command()
@table_options
@click.argument("operation", type=click.Choice(list(OPERATIONS)))
@click.option("--columns", default="", help="For sorting: column names, separated by commas.")
@click.option(
    "--retain-last", type=int, default=1, show_default=True, help="For expiry: snapshots to keep on each branch."
)
@click.option("--run", "really", is_flag=True, help="Carry it out; without it, only show what it would do.")
@writes_option
def maintain(
    operation: str, columns: str, retain_last: int, really: bool, allow_writes: bool, output: str, **where: Any
) -> None:
    """Preview maintenance from metadata alone, or with --run carry it out on a sandbox table through Spark's
    procedures."""
    from dataclasses import asdict

    from explorer import maintenance
    from explorer.views.rows import plain
    from explorer.views.text import render_fields, render_table

    found = opened(**where)
    if not really:
        seen = maintenance.preview(found, operation, columns, retain_last)
        emit(plain(asdict(seen)), output, lambda: "\n".join([*seen.words, *(f"  {path}" for path in seen.files)]))
        finish(found)
        return
    done, after = maintenance.run(found, operation, columns, retain_last, allow_writes)
    rows = [{"of": k, "before": v, "after": asdict(done.after)[k]} for k, v in asdict(done.before).items()]
    emit(
        plain(asdict(done)),
        output,
        lambda: render_fields(dict(done.answer[0]) if done.answer else {}) + render_table(rows),
    )
    finish(after)


@main.command()
@table_options
@click.argument("operation", type=click.Choice(UNDO))
@click.option("--name", default="", help="The branch or tag; of publish, the WAP id.")
@click.option("--snapshot", "-s", help="Id, branch, tag or snapshot-N; for rollback-to-time a time.")
@click.option("--run", "really", is_flag=True, help="Carry it out; without it, only show what it would do.")
@writes_option
def undo(
    operation: str, name: str, snapshot: str | None, really: bool, allow_writes: bool, output: str, **where: Any
) -> None:
    """Preview branches, tags, rollbacks and cherry-picks from metadata alone, or with --run carry them out on a sandbox
    table."""
    from dataclasses import asdict

    from explorer import maintenance

    found = opened(**where)
    seen = maintenance.preview_undo(found, operation, name, snapshot)
    if really:
        sql, found = maintenance.run_undo(found, operation, name, snapshot, allow_writes)
        say(sql)
    emit(
        asdict(seen),
        output,
        lambda: "\n".join([*(seen.words or ("nothing else changes",)), *(f"  {f}" for f in seen.files)]),
    )
    finish(found)


@main.command("copy")
@click.argument("name")
@output_option
def copy_scenario(name: str, output: str) -> None:
    """Build a teaching table anew as lab.NAME_1, lab.NAME_2..., to be changed at will."""
    from explorer import scenarios
    from explorer.engines.spark import SparkEngine

    made = scenarios.fresh_copy(SparkEngine(), name.removeprefix("demo."))
    emit({"table": made}, output, lambda: made)


@main.command()
@table_options
@click.argument("sql", required=False)
@click.option("--api", default="", help="Instead of SQL: an operation of the table API, such as rewriteManifests.")
@writes_option
def observe(sql: str | None, api: str, allow_writes: bool, output: str, **where: Any) -> None:
    """Run one writing statement (t is the table) on a sandbox table, and say which files it wrote in order, the swap
    and the report."""
    from explorer.lab.observe import API, observe_api
    from explorer.lab.observe import observe as run
    from explorer.views.labviews import observation_object, render_observation

    if bool(sql) == bool(api):
        raise click.UsageError(f"give a statement, or --api with one of {', '.join(API)}")
    found = opened(**where)
    seen = (
        observe_api(found, api, allow_writes=allow_writes) if api else run(found, sql or "", allow_writes=allow_writes)
    )
    emit(observation_object(seen), output, lambda: render_observation(seen))
    finish(seen.table)


without_option = click.option(
    "--without", multiple=True, metavar="VALIDATION", help="Switch a validation off, by its name in Iceberg's API."
)


def _operation(kind: str, isolation: str, without: tuple[str, ...], engine: str = "java") -> Any:
    from explorer.core.operations import Operation

    usual = Operation(kind, isolation, engine)
    left = tuple(v for v in usual.validations if v not in without)
    return usual if left == usual.validations else Operation(kind, isolation, engine, left)


@main.command("explain-conflict")
@table_options
@click.option("--base", required=True, help="The snapshot the commit began at.")
@click.option("--operation", "kind", type=click.Choice(LAB_OPERATIONS), required=True)
@click.option("--isolation", type=click.Choice(ISOLATION), default="serializable", show_default=True)
@without_option
@click.option("--where", "condition", default="", help="The rows it is about, in pyiceberg's filter syntax.")
def explain_conflict(
    base: str, kind: str, isolation: str, without: tuple[str, ...], condition: str, output: str, **where: Any
) -> None:
    """Say what Iceberg would answer to a commit that began at an older snapshot: commit, retry, or refuse, and why.
    Read-only."""
    from dataclasses import asdict

    from explorer.conflicts import explain_conflict as explain
    from explorer.views.rows import plain

    found = opened(**where)
    checks = _operation(kind, isolation, without).validations
    decision = explain(found, base, kind, checks, condition)
    lines = [decision.words, f"validations: {', '.join(checks) or 'none'}"]
    lines += [f"  {c.check}: {c.snapshot}: {path}" for c in decision.conflicts for path in c.files]
    emit(
        plain(asdict(decision)) | {"words": decision.words, "validations": list(checks)},
        output,
        lambda: "\n".join(lines),
    )
    finish(found)


@main.command("lab")
@click.argument("kinds", nargs=-1, type=click.Choice(LAB_OPERATIONS))
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
    help="Who takes a step when, such as AABBABAB; in turn if left out. Steps: load, write, apply, metadata, swap. "
    "A! kills A, A? loses the answer to its swap, A+ then begins again without looking.",
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
    """Let writers commit to a small table in a temporary catalog, step by step (load, write, apply, metadata, swap), on
    Iceberg itself."""
    from explorer.engines.spark import SparkEngine
    from explorer.lab.bench import Bench
    from explorer.lab.interleave import interleave
    from explorer.lab.stepper import NAMES, Run, replay
    from explorer.views.labviews import interleavings_object, render_interleavings, render_run, run_object, sequence_svg
    from explorer.views.stategraph import state_svg

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
            found = interleave(
                bench,
                operations,
                lambda done, total: bar.update(task, completed=done, total=total),
                version=int(version),
            )
        if picture:
            picture.write_text(state_svg(found))
        emit(interleavings_object(found), output, lambda: render_interleavings(found))
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
    from explorer.views.text import render_fields, render_table

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
        found = race(
            writers,
            commits,
            lambda lap: click.echo(f"\r{lap.acknowledged} commits, {lap.seconds:.0f} s", err=True, nl=False),
        )
        data = asdict(found) | {"commits_per_second": round(found.commits_per_second, 2)}
    click.echo("", err=True)
    emit(data, output, lambda: render_fields(data))


@main.command("lab-catalogue")
@click.option(
    "--file", "-f", "target", type=click.Path(dir_okay=False, path_type=Path), help="Write here instead of to stdout."
)
def lab_catalogue(target: Path | None) -> None:
    """Run every pair of operations on Iceberg itself, and write what happens as Markdown (about seven minutes)."""
    from explorer.engines.spark import SparkEngine
    from explorer.lab.bench import Bench
    from explorer.lab.catalogue import catalogue, render_catalogue

    pairs = catalogue(Bench(SparkEngine()), lambda done, total: click.echo(f"\r{done} of {total}", err=True, nl=False))
    text = render_catalogue(pairs)
    if target:
        target.write_text(text)
    else:
        click.echo(printable(text))


@main.command()
@table_options
@snapshot_option
@click.option(
    "--format", "picture", type=click.Choice(["dot", "svg", "png", "html", "json"]), default="svg", show_default=True
)
@click.option(
    "--file", "-f", "target", type=click.Path(dir_okay=False, path_type=Path), help="Write here instead of to stdout."
)
@click.option("--search", default="", help="Only files, manifests and snapshots that contain this text.")
@click.option("--diff", "sides", nargs=2, metavar="A B", help="Draw the difference of two snapshots instead.")
def graph(
    table: str, catalog: str | None, properties: tuple[str, ...], roots: tuple[str, ...], output: str,
    snapshot: str | None, picture: str, target: Path | None, search: str, sides: tuple[str, str] | None,
) -> None:  # fmt: skip
    """Draw the metadata tree as DOT, SVG, PNG, HTML (opens from disk, with pan and zoom) or JSON."""
    from dataclasses import replace

    from explorer.ui.export import export

    found = opened(table, catalog, properties, roots)
    if sides and (snapshot or search):
        raise click.UsageError("--diff takes no --snapshot or --search")
    drawn = (
        found.diff_graph(*sides) if sides else found.graph(view=replace(found.default_view(snapshot), search=search))
    )
    data = export(drawn, "json" if output == "json" else picture)
    if target:
        target.write_bytes(data)
        say(f"wrote {target} ({len(data):,} bytes)")
    elif picture == "png" and output != "json" and sys.stdout.isatty():
        raise click.UsageError("a PNG is no text for a terminal: use --file")
    else:
        sys.stdout.buffer.write(data)
    finish(found)


if __name__ == "__main__":
    main()
