"""Exercises about catalogs and folders. The lab runs each answer to check it."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from explorer.lab.exercises.entries import NumberEntry, StatementsEntry, StepsEntry
from explorer.lab.exercises.exercise import Exercise, ExerciseResult, WrongForm
from explorer.lab.exercises.layout import new_table, run_statements
from explorer.lab.hive_tables import RENAME_STEPS, AnalyzedTable, FolderTable, HiveFolder, check_keeping
from explorer.lab.listing import FarTable
from explorer.lab.planning import live_rows
from explorer.lab.sandbox import Bench
from explorer.reports.maintenance.runs import run
from explorer.spec.text.units import count

STEPS = 1_000_000
"""The number of instructions that SQLite may execute for one answer."""
POINTERS = (
    "CREATE TABLE iceberg_tables (table_name TEXT PRIMARY KEY, metadata_location TEXT, previous_metadata_location TEXT)"
)


def _pointers_after(answer: str, rows: Sequence[tuple[str, str, str]], given: Mapping[str, str]) -> dict[str, Any]:
    """Run the UPDATE of an answer; return the pointer of each table afterwards."""
    if not answer.lstrip().lower().startswith("update"):
        raise WrongForm("give one UPDATE of iceberg_tables")
    with contextlib.closing(sqlite3.connect(":memory:")) as catalog:
        catalog.set_progress_handler(lambda: True, STEPS)  # stop an answer that never ends
        catalog.execute(POINTERS)
        catalog.executemany("INSERT INTO iceberg_tables VALUES (?, ?, ?)", rows)
        try:
            catalog.execute(answer, given)
        except sqlite3.Error as error:
            raise WrongForm(f"SQLite refuses the statement: {error}") from error
        pointers = dict(catalog.execute("SELECT table_name, metadata_location FROM iceberg_tables").fetchall())
    if set(pointers) != {name for name, _, _ in rows}:
        raise WrongForm(f"the catalog has {', '.join(map(str, pointers)) or 'no table'} now, and had t and other")
    return pointers


def _pointer_after_swap(answer: str, there: str) -> str:
    """The pointer after the statement of a writer that commits v2 on v1, if the catalog points to `there`."""
    rows = _pointers_after(answer, [("t", there, "v0"), ("other", "w1", "w0")], {"base": "v1", "new": "v2"})
    return str(rows["t"]) if rows["other"] == "w1" else "the other table's"


def _judge_pointer_update(bench: Bench, answer: str) -> ExerciseResult:
    alone, late = _pointer_after_swap(answer, "v1"), _pointer_after_swap(answer, "v1b")
    swaps_text = f"From v1 the pointer went to {alone}; where another writer had set v1b, to {late}."
    if "other" in alone + late:
        return ExerciseResult(False, f"{swaps_text} It must name the table.")
    if late != "v1b":
        return ExerciseResult(
            False, f"{swaps_text} The other writer's commit is lost: it may swap only what it has read."
        )
    return ExerciseResult(alone == "v2", swaps_text if alone == "v2" else f"{swaps_text} Nobody could commit.")


def _judge_rename_order(bench: Bench, answer: str) -> ExerciseResult:
    table = FolderTable(bench)
    table.play(answer.upper())
    states, rows = [w.state for w in table.writers.values()], table.rows()
    events_text = f"{'; '.join(table.events)}. Readers see {', '.join(rows)}."
    if states == ["committed", "committed"] and len(rows) == 2:
        return ExerciseResult(True, events_text)
    if "refused" in states:
        return ExerciseResult(
            False, f"{events_text} Who looks after the other's rename is refused: both must look before."
        )
    if len(rows) == 3:
        return ExerciseResult(
            False, f"{events_text} Who loads after the other's rename goes on from it: nothing is lost."
        )
    return ExerciseResult(False, f"{events_text} Both must take their four steps.")


def _rename_state(bench: Bench, order: str) -> str:
    """Where each writer is after these steps, and the rows that readers see."""
    table = FolderTable(bench)
    table.play(order)
    writers = [f"{w.name} is {'' if w.is_done else 'before '}{w.state}" for w in table.writers.values()]
    return f"{'; '.join(writers)}. Readers see {', '.join(table.rows())}."


def _judge_step_of_kill(bench: Bench, answer: int) -> ExerciseResult:
    if answer not in range(len(HiveFolder.UPDATE) + 1):
        raise WrongForm(f"the update has {len(HiveFolder.UPDATE)} steps: give a number of them")
    folder = HiveFolder(bench)
    folder.update(answer)
    rows = folder.read("id", "price")
    rows_text = f"Killed after {answer}, readers see {', '.join(f'{i} at {price}' for i, price in rows) or 'nothing'}."
    prices = {price for _, price in rows}
    if len(rows) < 4:
        return ExerciseResult(False, f"{rows_text} Rows are missing: a file was removed and not written yet.")
    if len(prices) == 1:
        return ExerciseResult(False, f"{rows_text} That is one version of all rows.")
    return ExerciseResult(True, f"{rows_text} All rows, of two versions.")


def _judge_value_by_name(bench: Bench, answer: Any) -> ExerciseResult:
    [*_, (_, cost)] = HiveFolder(bench).read("id", "cost")
    facts = f"The file has id and price: by name a reader finds {'null' if cost is None else cost}."
    hint = "Yes." if answer == cost else "No field id says that cost was price."
    return ExerciseResult(answer == cost, hint, facts)


def _judge_rollback_update(bench: Bench, answer: str) -> ExerciseResult:
    name = bench.fresh(own=True)
    table = bench.table(name)
    before = table.metadata.metadata_log[-1].metadata_file
    rows = [("t", table.metadata.metadata_location, before), ("other", "w1", "w0")]
    pointers = _pointers_after(answer, rows, {})
    if pointers["other"] != "w1":
        return ExerciseResult(False, "The other table went back too: name the table.")
    if pointers["t"] == table.metadata.metadata_location:
        return ExerciseResult(False, "Readers go by metadata_location, and it is what it was.")
    if pointers["t"] != before:
        return ExerciseResult(False, f"metadata_location is {pointers['t']}: there is no metadata file of that name.")
    here, there = (sorted(row["id"] for _, row in live_rows(t)) for t in (table, bench.open_table(str(pointers["t"]))))
    ids_text = f"Readers saw the ids {', '.join(map(str, here))}, and see {', '.join(map(str, there))} now"
    return ExerciseResult(there != here, f"{ids_text}: no file was written or removed.")


def _judge_tag(bench: Bench, answer: str) -> ExerciseResult:
    table = new_table(bench, "id INT", "* FROM VALUES (1) AS f(id)")
    [planned] = [Path(f["file_path"].removeprefix("file:")) for f in table.files()]
    first = table.metadata.current_snapshot_id
    table = run_statements(bench, table, "INSERT OVERWRITE t VALUES (2)")
    overwritten = table.metadata.current_snapshot_id
    table = run_statements(bench, table, str(answer).replace("{first}", str(first)))
    done, table = run(table, "expire", retain_last=1, options={"older_than": "2999-01-01"}, engine=bench.engine)
    left = count(done.after.snapshots, "snapshot")
    expiry_result = f"The expiry left {left}, and the reader's file is {'there' if planned.exists() else 'gone'}."
    if table.metadata.current_snapshot_id != overwritten:
        return ExerciseResult(
            False, f"{expiry_result} But readers of today no longer see what the INSERT OVERWRITE wrote."
        )
    if planned.exists():
        return ExerciseResult(True, expiry_result)
    if any(ref.name != "main" for ref in table.metadata.refs):
        return ExerciseResult(
            False, f"{expiry_result} What was named holds another snapshot than the reader's: AS OF VERSION says which."
        )
    return ExerciseResult(
        False, f"{expiry_result} This expiry says itself how many it keeps: only what a branch or tag names stays."
    )


PARTITIONS, FILES = 6, 2


def _judge_list_requests(bench: Bench, answer: int) -> ExerciseResult:
    requests = FarTable(bench, PARTITIONS, FILES).list_files(7, 0.0)
    lists = requests.requests["LIST"]
    if answer == lists:
        return ExerciseResult(True, "Yes.", f"{requests}.")
    hint = "The data folder itself is listed first" if answer == PARTITIONS else "Each folder is listed on its own"
    if answer == PARTITIONS * FILES:
        hint = "A LIST gives all names of a folder, not one"
    return ExerciseResult(False, f"{hint}.", f"{requests}.")


def _judge_get_requests(bench: Bench, answer: int) -> ExerciseResult:
    requests = FarTable(bench, PARTITIONS, FILES).plan_files(7, 0.0)
    facts = f"{requests}: metadata.json, manifest list, manifest. Nothing was listed."
    if answer == requests.requests["GET"]:
        return ExerciseResult(True, "Yes.", facts)
    if answer >= PARTITIONS:
        return ExerciseResult(False, "A plan opens no data file: their bounds stand in the manifest.", facts)
    return ExerciseResult(False, "From metadata.json to the entries each layer is a file: count the layers.", facts)


def _judge_statistics(bench: Bench, answer: str | Sequence[str]) -> ExerciseResult:
    statements = (answer,) if isinstance(answer, str) else answer
    for statement in statements:
        check_keeping(statement)
    table = AnalyzedTable(bench)
    try:
        table.add()
        stale = table.row_counts()["statistics"]
        for statement in statements:
            table.run(statement)
        counts = table.row_counts()
    finally:
        table.drop()
    now = counts["statistics"]
    counts_text = f"The statistics had {stale} rows and have {now or 'no number'}; "
    counts_text += f"there are {counts['files']}, which Iceberg knew."
    if now == counts["files"]:
        return ExerciseResult(True, counts_text)
    if now == stale:
        return ExerciseResult(False, f"{counts_text} Which files there are was looked up, their rows were not counted.")
    if any("noscan" in statement.lower() for statement in statements):
        return ExerciseResult(False, f"{counts_text} The files' sizes were added up, their rows were not counted.")
    return ExerciseResult(
        False, f"{counts_text} Spark counted by the listing that it keeps from before: it must list anew first."
    )


CATALOG_EXERCISES = (
    Exercise(
        "A catalog keeps pointers in iceberg_tables (table_name, metadata_location). A writer has read :base of the "
        "table 't' and wrote :new. With which UPDATE does it commit, so that no other commit is lost?",
        _judge_pointer_update,
        "UPDATE iceberg_tables SET metadata_location = :new WHERE table_name = 't' AND metadata_location = :base",
        StatementsEntry(),
        nudge="Another writer may have committed since. What must the row still have?",
        look="`icedive catalog pointer demo.three_inserts`: the row of a table, and its columns.",
        reason="The WHERE compares and the SET swaps, in one statement. If another writer was first, no row matches, "
        "and "
        "this writer knows that it lost.",
        needs_lab=True,
    ),
    Exercise(
        "A commit was wrong. The catalog has iceberg_tables (table_name, metadata_location, "
        "previous_metadata_location), the table is 't'. With which UPDATE do readers see the version before?",
        _judge_rollback_update,
        "UPDATE iceberg_tables SET metadata_location = previous_metadata_location WHERE table_name = 't'",
        StatementsEntry(),
        nudge="Which location do readers open, and where is the one before?",
        look="`icedive catalog pointer demo.three_inserts`: the fields of the row.",
        reason="Readers open metadata_location. The older metadata file is still there, and has the version before.",
        needs_lab=True,
    ),
    Exercise(
        "A table without a catalog, in a store whose rename replaces what is there. A and B each append a row, in four "
        f"steps: {', '.join(RENAME_STEPS)}. Give an order of all eight on which both commit and one row is lost.",
        _judge_rename_order,
        "AAABBBAB",
        StepsEntry("AB", "both commit, and one row is lost.", 8, _rename_state),
        nudge="When must both have looked?",
        look="the text above: which of the four steps notices another writer?",
        reason="Both look before either renames, so both see that the next version is free. The second rename replaces "
        "the file of the first.",
        needs_lab=True,
    ),
    Exercise(
        "A reader has planned the first snapshot of `t`, whose id is {first}; an INSERT OVERWRITE came. Then "
        "all snapshots but the last expire. Which statement before it lets the reader end well? Write "
        "{first} for the id.",
        _judge_tag,
        "ALTER TABLE t CREATE TAG reader AS OF VERSION {first}",
        StatementsEntry(),
        nudge="What keeps a snapshot from expiry?",
        look="`icedive inspect refs demo.branches_and_tags`: what names a snapshot.",
        reason="Expiry keeps a snapshot that a branch or tag names, with its files. A tag without AS OF VERSION names "
        "the current snapshot, not the reader's.",
        needs_lab=True,
    ),
    Exercise(
        f"A Hive table's prices are updated in four steps: {', '.join(HiveFolder.UPDATE)}. After how many must the "
        "writer be killed, so that readers see every row, but of two versions?",
        _judge_step_of_kill,
        2,
        NumberEntry(),
        nudge="When are there files for both partitions, but one of them is old?",
        look="the steps, one by one: which files does each partition have after it?",
        reason="After two steps p=a has its new file and p=b still has its old one. Nothing in a folder says which "
        "files "
        "belong together.",
        needs_lab=True,
    ),
    Exercise(
        f"A folder in a store has {PARTITIONS} partitions of {FILES} files each. An engine lists it folder by folder. "
        "How many LIST requests does it send?",
        _judge_list_requests,
        PARTITIONS + 1,
        NumberEntry(),
        nudge="How does the engine know which partitions there are?",
        look="your object store's documentation: what one LIST with a delimiter returns.",
        reason="One request lists the data folder and finds the partitions, and one lists each partition.",
        needs_lab=True,
    ),
    Exercise(
        "The same files are an Iceberg table, which one commit wrote. How many requests does a plan of id = 7 send?",
        _judge_get_requests,
        3,
        NumberEntry(),
        nudge="Which files does a plan open, from the pointer's target to the entries?",
        look="notebook 01, *What is where*: from the metadata file to the bounds of a data file.",
        reason="The plan reads metadata.json, the manifest list and one manifest. The entries have the bounds, so no "
        "data "
        "file is opened and no folder listed.",
        needs_lab=True,
    ),
    Exercise(
        "Spark has analyzed and read a table of Parquet, t, with 4 rows. Another program puts a file of 2 rows into "
        "its folder. Which statements let the statistics have 6?",
        _judge_statistics,
        ("REFRESH TABLE t", "ANALYZE TABLE t COMPUTE STATISTICS"),
        StatementsEntry(),
        nudge="Spark keeps the listing of the folder from before.",
        look="Spark's documentation: ANALYZE TABLE, and what refreshes Spark's listing of a folder.",
        reason="REFRESH TABLE lets Spark list the folder again, and ANALYZE TABLE then counts the rows of all files.",
        needs_lab=True,
    ),
    Exercise(
        "The metastore renames that table's column price to cost, and no file. What does a reader that goes by name "
        "find in cost?",
        _judge_value_by_name,
        None,
        NumberEntry(or_null=True),
        nudge="Which names do the files have?",
        look="notebook 07, *Columns are ids*: how Iceberg does it.",
        reason="The files have price and no cost, so the reader finds null. Iceberg finds the column by its field id.",
        needs_lab=True,
    ),
)  # fmt: skip
"""The exercises of notebook 08, from the catalog pointer to tables without a catalog."""
