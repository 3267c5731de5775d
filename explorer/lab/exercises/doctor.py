"""Damaged tables in the sandbox's `lab` namespace, and exercises to repair them. The lab runs each answer to check
it."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from explorer.errors import ExplorerError
from explorer.lab.exercises.entries import NumberEntry, StatementsEntry, TextEntry
from explorer.lab.exercises.exercise import Exercise, ExerciseResult, WrongForm
from explorer.lab.exercises.tables import note_table
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


def _open(name: str) -> Table:
    return Table(TableReader(locate(name)))


def _fruits(table: Table) -> list[str]:
    return sorted(row["fruit"] for row in table.rows(None, ("fruit",)))


def table_with_cut_metadata() -> str:
    """Make a table of three inserts and cut off its metadata file; return the table's name."""
    table = _open(note_table(fresh_copy("three_inserts")))
    file = _file(table.metadata.metadata_location)
    file.write_bytes(file.read_bytes()[:1000])
    return table.name


def table_with_missing_file() -> Table:
    """Make a table of three inserts of one row each, and remove the data file of the second."""
    table = _open(note_table(fresh_copy("three_inserts")))
    second = table.metadata.snapshots[1].snapshot_id
    _file(next(f["file_path"] for f in table.files() if f["snapshot_id"] == second)).unlink()
    return table


def table_of_small_files(engine: SparkEngine) -> Table:
    """Make a table of ten days with a thousand files each. All files of a day are links to one Parquet file of one
    row."""
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
    return _open(note_table(f"{LAB}.{name}"))


def table_with_returned_row(engine: SparkEngine) -> Table:
    """Make a table of three inserts, and delete the second row with a path that is spelled differently from the data
    file's. So the delete applies to no file, and the row is visible again."""
    table = _open(note_table(fresh_copy("three_inserts")))
    workshop = Workshop(engine, table.name, "")
    java, second = iceberg_catalog_table(engine.session(), table.name), table.metadata.snapshots[1].snapshot_id
    path = next(f["file_path"] for f in table.files() if f["snapshot_id"] == second)
    delete = workshop.position_delete_file(java, "delete-1.parquet", [(str(_file(path)), 0)])
    java.newRowDelta().addDeletes(delete).commit()
    return _open(table.name)


def _judge_catalog_version(bench: Bench, answer: int) -> ExerciseResult:
    """Point the catalog to that version of a table whose newest metadata file was cut off."""
    sick = locate(table_with_cut_metadata()).metadata_location
    versions = {metadata_version(path.name): path for path in _file(sick).parent.glob("*.metadata.json")}
    if answer not in versions:
        raise WrongForm(f"there is no version {answer!r}: there are {', '.join(map(str, sorted(versions, key=str)))}")
    _open(str(versions[answer]))  # raises if the file cannot be read
    name = note_table(f"{LAB}.pointed_{uuid.uuid4().hex[:8]}")
    call = f"CALL {SANDBOX}.system.register_table('{name}', {literal(f'file:{versions[answer]}')})"
    bench.engine.session().sql(call)
    rows_text = f"It opens, with {', '.join(_fruits(_open(name))) or 'no rows'}"
    if answer != len(versions) - 2:
        return ExerciseResult(False, f"{rows_text}: a newer version can be read, too, and has more.")
    return ExerciseResult(True, f"{rows_text}: all but the last commit's, whose files are left over.")


def _judge_compaction_filter(bench: Bench, answer: str) -> ExerciseResult:
    """Rewrite the files that a condition chooses."""
    table = table_of_small_files(bench.engine)
    plan = table.plan(answer)
    if plan.left.files != A_DAY:
        file_counts = (
            f"That rewrites {plan.left.files:,} files of {plan.stages[0].left.files:,}, and {A_DAY:,} are meant."
        )
        return ExerciseResult(False, file_counts, plan=table.plan_pictures(plan))
    where = literal(answer)[1:-1]
    call = f"CALL {SANDBOX}.system.rewrite_data_files(table => '{{name}}', where => '{where}')"
    table = observe(table, call, bench.engine).table
    left = table.plan(answer)
    verdict = f"The day has {count(left.left.files or 0, 'file')} now, and the table {len(table.files()):,}."
    return ExerciseResult(left.left.files == 1, verdict, plan=table.plan_pictures(left))


def _judge_remedy(
    make: Callable[[SparkEngine], Table], wanted: Sequence[str], bench: Bench, answer: str | Sequence[str]
) -> ExerciseResult:
    """Run the statements on a new table with that fault; check its rows and the doctor's findings of the current
    snapshot."""
    table = make(bench.engine)
    for statement in (answer,) if isinstance(answer, str) else answer:
        table = observe(table, statement, bench.engine).table
    report = diagnose(table, deep=True, snapshot="main")
    left = [f for f in report.findings if f.severity != "info"]
    if left:
        return ExerciseResult(False, f"The doctor still finds: {left[0].rule}, {left[0].what} ({left[0].file}).")
    try:
        fruits = _fruits(table)
    except ExplorerError as error:
        return ExerciseResult(False, f"It cannot be read: {error}")
    if lost := sorted(set(wanted) - set(fruits)):
        return ExerciseResult(
            False, f"The doctor finds nothing, but rows are lost that lay in files which are there: {', '.join(lost)}."
        )
    if more := sorted(set(fruits) - set(wanted)):
        return ExerciseResult(
            False, f"The doctor finds nothing, but rows are there that should not be: {', '.join(more)}."
        )
    return ExerciseResult(True, f"The doctor finds nothing in the current snapshot, and it has {', '.join(fruits)}.")


DOCTOR_EXERCISES = (
    Exercise(
        "The newest metadata file of a table of three inserts was cut off. Which version (0, 1, ...) should the "
        "catalog point to?",
        _judge_catalog_version,
        2,
        NumberEntry(),
        nudge="Each commit wrote a metadata file, and so did CREATE TABLE.",
        look="`icedive doctor TABLE`: which file does it propose?",
        reason="Version 3 is cut off. Version 2 is the newest that can be read, and has all commits but the last.",
        needs_lab=True,
    ),
    Exercise(
        "Of three data files, a row each (apple, banana, cherry), the second is gone, and every query fails. Mend the "
        f"current snapshot so that it keeps what there is. {SAID}",
        partial(_judge_remedy, lambda _: table_with_missing_file(), ("apple", "cherry")),
        "DELETE FROM t WHERE fruit = 'banana'",
        StatementsEntry(),
        nudge="Which statement removes a file's entry without opening the file?",
        look="the bounds of the missing file: `icedive inspect entries TABLE --metrics`.",
        reason="The bounds of the file prove that every row of it is a banana. So the DELETE removes its entry, and no "
        "reader opens the file any more.",
        needs_lab=True,
    ),
    Exercise(
        f"A table (id, day) has {DAYS * A_DAY:,} small files, a partition for each day. Compact one day, 'd3', and "
        f"leave the others. Which `where` do you give to "
        "rewrite_data_files?",
        _judge_compaction_filter,
        "day = 'd3'",
        TextEntry(),
        nudge="The table is partitioned by day, and a filter of the column chooses the partition.",
        look="the groups that the preview shows: one for each day.",
        reason="The filter matches one partition, and only its files are rewritten.",
        needs_lab=True,
    ),
    Exercise(
        "The banana was deleted, and is back: its position delete names a path that no data file has. Delete it "
        f"for good, and leave no delete file that hides nothing. {SAID}",
        partial(_judge_remedy, table_with_returned_row, ("apple", "cherry")),
        (
            "DELETE FROM t WHERE fruit = 'banana'",
            f"CALL {SANDBOX}.system.rewrite_position_delete_files(table => '{{name}}', "
            "options => map('rewrite-all', 'true'))",
        ),
        StatementsEntry(),
        nudge="There are two things to do: the row must go, and so must the delete file that hides nothing.",
        look="the doctor's remedy for delete-names-nothing.",
        reason="The DELETE removes the banana's file. rewrite_position_delete_files writes only deletes that hide a "
        "row, so "
        "the other one is gone.",
        needs_lab=True,
    ),
)
"""The exercises of notebook 06: repair damaged tables."""
