"""Sick tables, and exercises whose answers are judged by running the remedy: tables of the sandbox's `lab` namespace,
damaged on purpose."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from explorer.errors import ExplorerError
from explorer.lab.exercises.commits import Exercise, Marked
from explorer.lab.exercises.tables import made
from explorer.lab.observe import observe
from explorer.lab.sandbox import Bench
from explorer.lab.scenarios import fresh_copy
from explorer.lab.scenarios.build import LAB
from explorer.lab.scenarios.workshop import Workshop
from explorer.reports.doctor import diagnose
from explorer.spark_engine.spark import SparkEngine
from explorer.spark_engine.sql_guard.quoting import literal
from explorer.spark_engine.tables import iceberg_catalog_table
from explorer.spec.text.units import count
from explorer.storage.catalogs.sandbox_entries import SANDBOX
from explorer.storage.folder_state import metadata_version
from explorer.storage.locate import locate
from explorer.storage.paths import local_path
from explorer.storage.reader import TableReader
from explorer.table import Table

DAYS, A_DAY = 10, 1000
"""Days of the table of small files, and files of each."""
SAID = "In your statements `t` is the table, and '{name}' its name for CALL; give several as a tuple."


def _file(path: str | None) -> Path:
    return Path(str(local_path(str(path))))


def _opened(name: str) -> Table:
    return Table(TableReader(locate(name)))


def _fruits(table: Table) -> list[str]:
    return sorted(row["fruit"] for row in table.rows(None, ("fruit",)))


def unopened() -> str:
    """A table of three inserts whose metadata file was cut off; returns its name."""
    table = _opened(made(fresh_copy("three_inserts")))
    file = _file(table.metadata.metadata_location)
    file.write_bytes(file.read_bytes()[:1000])
    return table.name


def lost_file() -> Table:
    """A table of three inserts, a row each, of which the second's data file is gone."""
    table = _opened(made(fresh_copy("three_inserts")))
    second = table.metadata.snapshots[1].snapshot_id
    _file(next(f["file_path"] for f in table.files() if f["snapshot_id"] == second)).unlink()
    return table


def small_files(engine: SparkEngine) -> Table:
    """Ten days with a thousand files each, of one row: one Parquet file of each day under a thousand names."""
    name = f"small_files_{uuid.uuid4().hex[:8]}"
    engine.session().sql(f"CREATE NAMESPACE IF NOT EXISTS {SANDBOX}.{LAB}")
    engine.session().sql(
        f"CREATE TABLE {SANDBOX}.{LAB}.{name} (id INT, day STRING) USING iceberg PARTITIONED BY (day) "
        f"LOCATION '{engine.sandbox}/warehouse/{LAB}/{name}'"
    )
    workshop, java = Workshop(engine, name, ""), iceberg_catalog_table(engine.session(), f"{SANDBOX}.{LAB}.{name}")
    append, builder = java.newAppend(), workshop.iceberg("DataFiles").builder(java.spec())
    for day in range(DAYS):
        written = workshop.data_file(java, "data.parquet", [{"id": day, "day": f"d{day}"}], f"day=d{day}")
        first = _file(str(written.location()))
        builder.copy(written)
        for n in range(A_DAY):
            link = first.with_name(f"data-{n}.parquet")
            link.hardlink_to(first)
            append.appendFile(builder.withPath(f"file:{link}").build())
        first.unlink()
    append.commit()
    return _opened(made(f"{LAB}.{name}"))


def risen_rows(engine: SparkEngine) -> Table:
    """A table of three inserts whose second row was deleted by a writer that spells paths in its own way."""
    table = _opened(made(fresh_copy("three_inserts")))
    workshop = Workshop(engine, table.name, "")
    java, second = iceberg_catalog_table(engine.session(), table.name), table.metadata.snapshots[1].snapshot_id
    path = next(f["file_path"] for f in table.files() if f["snapshot_id"] == second)
    delete = workshop.position_delete_file(java, "delete-1.parquet", [(str(_file(path)), 0)])
    java.newRowDelta().addDeletes(delete).commit()
    return _opened(table.name)


def _version(bench: Bench, answer: int) -> Marked:
    """The catalog pointed to that version of a table whose newest metadata file was cut off."""
    sick = locate(unopened()).metadata_location
    versions = {metadata_version(path.name): path for path in _file(sick).parent.glob("*.metadata.json")}
    if answer not in versions:
        raise ValueError(f"there is no version {answer!r}: there are {', '.join(map(str, sorted(versions, key=str)))}")
    _opened(str(versions[answer]))  # says what is wrong with a file that cannot be read
    name = made(f"{LAB}.pointed_{uuid.uuid4().hex[:8]}")
    call = f"CALL {SANDBOX}.system.register_table('{name}', {literal(f'file:{versions[answer]}')})"
    bench.engine.session().sql(call)
    said = f"It opens, with {', '.join(_fruits(_opened(name))) or 'no rows'}"
    if answer != len(versions) - 2:
        return Marked(False, f"{said}: a newer version can be read, too, and has more.")
    return Marked(True, f"{said}: all but the last commit's, whose files are left over.")


def _one_day(bench: Bench, answer: str) -> Marked:
    """The files that a condition chooses, rewritten."""
    table = small_files(bench.engine)
    plan = table.plan(answer)
    if plan.left.files != A_DAY:
        said = f"That rewrites {plan.left.files:,} files of {plan.stages[0].left.files:,}, and {A_DAY:,} are meant."
        return Marked(False, said, plan=table.plan_pictures(plan))
    where = literal(answer)[1:-1]
    call = f"CALL {SANDBOX}.system.rewrite_data_files(table => '{{name}}', where => '{where}')"
    table = observe(table, call, bench.engine).table
    left = table.plan(answer)
    verdict = f"The day has {count(left.left.files or 0, 'file')} now, and the table {len(table.files()):,}."
    return Marked(left.left.files == 1, verdict, plan=table.plan_pictures(left))


def _mended(
    make: Callable[[SparkEngine], Table], wanted: Sequence[str], bench: Bench, answer: str | Sequence[str]
) -> Marked:
    """The statements run on a new table with that fault: its rows, and what the doctor says of the current snapshot."""
    table = make(bench.engine)
    for statement in (answer,) if isinstance(answer, str) else answer:
        table = observe(table, statement, bench.engine).table
    report = diagnose(table, deep=True, snapshot="main")
    left = [f for f in report.findings if f.severity != "info"]
    if left:
        return Marked(False, f"The doctor still finds: {left[0].rule}, {left[0].what} ({left[0].file}).")
    try:
        fruits = _fruits(table)
    except ExplorerError as error:
        return Marked(False, f"It cannot be read: {error}")
    if lost := sorted(set(wanted) - set(fruits)):
        return Marked(
            False, f"The doctor finds nothing, but rows are lost that lay in files which are there: {', '.join(lost)}."
        )
    if more := sorted(set(fruits) - set(wanted)):
        return Marked(False, f"The doctor finds nothing, but rows are there that should not be: {', '.join(more)}.")
    return Marked(True, f"The doctor finds nothing in the current snapshot, and it has {', '.join(fruits)}.")


DOCTOR_EXERCISES = (
    Exercise(
        "The newest metadata file of a table of three inserts was cut off. Which version (0, 1, ...) should the "
        "catalog point to?",
        _version,
        2,
    ),
    Exercise(
        "Of three data files, a row each (apple, banana, cherry), the second is gone, and every query fails. Mend the "
        f"current snapshot so that it keeps what there is. {SAID}",
        partial(_mended, lambda _: lost_file(), ("apple", "cherry")),
        "DELETE FROM t WHERE fruit = 'banana'",
    ),
    Exercise(
        f"Compact one day, 'd3', of {DAYS * A_DAY:,} small files, and leave the others. Which `where` do you give to "
        "rewrite_data_files?",
        _one_day,
        "day = 'd3'",
    ),
    Exercise(
        "The banana was deleted, and is back: its position delete names a path that no data file has. Delete it "
        f"for good, and leave no delete file that hides nothing. {SAID}",
        partial(_mended, risen_rows, ("apple", "cherry")),
        (
            "DELETE FROM t WHERE fruit = 'banana'",
            f"CALL {SANDBOX}.system.rewrite_position_delete_files(table => '{{name}}', "
            "options => map('rewrite-all', 'true'))",
        ),
    ),
)
"""From what is wrong to a table that is well."""
