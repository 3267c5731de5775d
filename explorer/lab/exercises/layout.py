"""Exercises about layout and evolution: partitions, sort orders, formats, write modes, columns. The lab runs each
answer on tables of the sandbox's `lab` namespace."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from explorer.lab.exercises.entries import NamesEntry, NumberEntry, RowsEntry, StatementsEntry, TextEntry
from explorer.lab.exercises.exercise import Exercise, ExerciseResult
from explorer.lab.exercises.tables import note_table
from explorer.lab.observe import observe
from explorer.lab.sandbox import Bench
from explorer.lab.scenarios.build import LAB
from explorer.spark_engine.sql_guard.quoting import literal
from explorer.spec.text.units import count
from explorer.storage.catalogs.sandbox_entries import SANDBOX
from explorer.storage.locate import locate
from explorer.storage.reader import TableReader
from explorer.table import Table

FEBRUARY = "ts >= '2024-02-01' AND ts < '2024-03-01'"
_DAYS = "CAST(id AS INT), CAST(id % 3 AS INT), timestamp_seconds(1704110400 + id * 259200) FROM range(31)"
"""Noon of every third day from January to March 2024, for three users in turn."""
_HOURS = "CAST(id AS INT), timestamp_seconds(1717200000 + id * 3600) FROM range({}, {})"
"""Hours of the first and second of June 2024."""
_FRUITS = "* FROM VALUES (1, 'apple', 'red'), (2, 'banana', 'yellow') AS f(id, name, color)"
_TOYS = "* FROM VALUES (1, 'teddy'), (2, 'terrier'), (3, 'koala'), (4, 'kobold') AS f(id, name)"
_READINGS = "* FROM VALUES (1, 'Bern'), (3, 'Basel'), (2, 'Bern'), (1, 'Basel'), (2, 'Basel') AS f(day, city)"
ORDERED = [("Basel", 3), ("Basel", 2), ("Basel", 1), ("Bern", 2), ("Bern", 1)]


def _name(table: Table) -> str:
    return table.name.removeprefix(f"{SANDBOX}.")


def new_table(bench: Bench, columns: str, select: str = "", by: str = "") -> Table:
    """Make a table, partitioned by `by`, with the rows of a SELECT in one file per partition."""
    name, spark = f"layout_{uuid.uuid4().hex[:8]}", bench.engine.session()
    spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {SANDBOX}.{LAB}")
    spark.sql(
        f"CREATE TABLE {SANDBOX}.{LAB}.{name} ({columns}) USING iceberg {f'PARTITIONED BY ({by})' if by else ''} "
        f"LOCATION '{bench.engine.sandbox}/warehouse/{LAB}/{name}' TBLPROPERTIES ('format-version' = '2')"
    )
    table = Table(TableReader(locate(note_table(f"{LAB}.{name}"))))
    return insert(bench, table, select) if select else table


def insert(bench: Bench, table: Table, select: str) -> Table:
    """Insert the rows of a SELECT, in one file per partition; return the refreshed table."""
    bench.engine.session().sql(f"INSERT INTO {SANDBOX}.{_name(table)} SELECT /*+ COALESCE(1) */ {select}")
    return table.refresh()


def run_statements(bench: Bench, table: Table, answer: str | Sequence[str]) -> Table:
    """Run the statements of an answer; return the table afterwards."""
    for statement in (answer,) if isinstance(answer, str) else answer:
        table = observe(table, statement, bench.engine).table
    return table


def _judge_partition_fields(bench: Bench, answer: Sequence[str]) -> ExerciseResult:
    table = new_table(bench, "id INT, user_id INT, ts TIMESTAMP")
    fields = (answer,) if isinstance(answer, str) else answer
    table = insert(
        bench, run_statements(bench, table, [f"ALTER TABLE t ADD PARTITION FIELD {f}" for f in fields]), _DAYS
    )
    plan = table.plan(FEBRUARY)
    files, read = len(table.files()), plan.left.rows or 0
    counts_text = (
        f"Partitioned by {', '.join(fields)} the 31 rows lie in {count(files, 'file')}, and February reads {read}."
    )
    if read > 9:
        return ExerciseResult(
            False, f"{counts_text} A field made of ts must tell months apart.", plan=table.plan_pictures(plan)
        )
    if files > 6:
        return ExerciseResult(
            False, f"{counts_text} That is too fine: a file for each partition.", plan=table.plan_pictures(plan)
        )
    return ExerciseResult(True, counts_text, plan=table.plan_pictures(plan))


def _judge_transform(bench: Bench, answer: str) -> ExerciseResult:
    table = run_statements(
        bench, new_table(bench, "id INT, name STRING"), f"ALTER TABLE t ADD PARTITION FIELD {answer}"
    )
    table = insert(bench, table, _TOYS)
    places = [sorted(row["name"] for row in table.file_rows(f["file_path"])) for f in table.files()]
    groups_text = f"By {answer} these lie together: {'; '.join(', '.join(names) for names in sorted(places))}."
    right = sorted(places) == [["koala", "kobold"], ["teddy", "terrier"]]
    hint = "" if right else " How long is the beginning that two share, and the others do not?"
    return ExerciseResult(right, groups_text + hint)


def _judge_new_spec(bench: Bench, answer: str) -> ExerciseResult:
    table = new_table(bench, "id INT, ts TIMESTAMP", _HOURS.format(0, 4), "hours(ts)")
    old = {f["file_path"] for f in table.files()}
    table = insert(bench, run_statements(bench, table, answer), _HOURS.format(24, 28))
    files = {f["file_path"]: f["partition"] for f in table.files()}
    fields = [f.transform for f in table.metadata.partition_specs[-1].fields]
    plan = table.plan("ts >= '2024-06-02'")
    spec_text = f"The new spec is by {', '.join(fields) or 'nothing'}; the next day's rows lie in "
    spec_text += f"{count(len(files) - len(old), 'file')}, and {len(old & files.keys())} of the 4 old files are there."
    if "hour" in fields:
        return ExerciseResult(
            False, f"{spec_text} The hour still splits them: it must go.", plan=table.plan_pictures(plan)
        )
    if fields != ["day"]:
        return ExerciseResult(
            False, f"{spec_text} Nothing tells a day's files by their partition.", plan=table.plan_pictures(plan)
        )
    return ExerciseResult(old <= files.keys() and len(files) == len(old) + 1, spec_text, plan=table.plan_pictures(plan))


def _judge_rename(bench: Bench, answer: str | Sequence[str]) -> ExerciseResult:
    table = new_table(bench, "id INT, name STRING, color STRING", _FRUITS)
    before = table.metadata.current_snapshot_id
    table = run_statements(bench, table, answer)
    names = {f.name: f.id for f in table.metadata.schemas[-1].fields}
    if "fruit" not in names:
        return ExerciseResult(False, f"There is no column fruit: the columns are {', '.join(names)}.")
    read = sorted(str(row["fruit"]) for row in table.rows(None, ("fruit",)))
    column_text = f"fruit has field id {names['fruit']}, and reads {', '.join(read)}"
    if table.metadata.current_snapshot_id != before:
        return ExerciseResult(False, f"{column_text}; but data were written, and a rename needs none.")
    if read != ["apple", "banana"]:
        return ExerciseResult(False, f"{column_text}: a new column has a new id, which no old file has.")
    return ExerciseResult(True, f"{column_text}; no file was written.")


def _judge_wider_type(bench: Bench, answer: str) -> ExerciseResult:
    table = new_table(bench, "id INT, name STRING, color STRING", _FRUITS)
    before = table.metadata.current_snapshot_id
    table = run_statements(bench, table, answer)
    kind = {f.name: f.type for f in table.metadata.schemas[-1].fields}.get("id")
    if kind != "long":
        return ExerciseResult(False, f"id is {kind}, and cannot hold 3000000000.")
    if table.metadata.current_snapshot_id != before:
        return ExerciseResult(False, "id is long; but data were written, and a wider type needs none.")
    table = insert(bench, table, "3000000000, 'cherry', 'red'")
    ids = sorted(row["id"] for row in table.rows(None, ("id",)))
    return ExerciseResult(
        True, f"id is long, reads {', '.join(map(str, ids))}, and the old file still has four bytes a value."
    )


def _judge_field_id(bench: Bench, answer: int) -> ExerciseResult:
    table = new_table(bench, "id INT, name STRING, color STRING", _FRUITS)
    table = run_statements(bench, table, ["ALTER TABLE t DROP COLUMN color", "ALTER TABLE t ADD COLUMN color STRING"])
    field_id = {f.name: f.id for f in table.metadata.schemas[-1].fields}["color"]
    read = ["null" if row["color"] is None else row["color"] for row in table.rows(None, ("color",))]
    facts = f"It was done: color has id {field_id}, and the old rows read {', '.join(read)}."
    if answer == field_id:
        return ExerciseResult(True, "Yes.", facts)
    hint = "An id is never given again" if answer == 3 else f"The table's last-column-id was {field_id - 1}"
    return ExerciseResult(False, f"{hint}.", facts)


def _judge_sort_order(bench: Bench, answer: str) -> ExerciseResult:
    table = run_statements(bench, new_table(bench, "day INT, city STRING"), answer)
    bench.engine.session().sql(f"INSERT INTO {SANDBOX}.{_name(table)} SELECT {_READINGS}")
    table = table.refresh()
    if table.metadata.default_sort_order_id == 0:
        return ExerciseResult(False, "The table has no sort order: ALTER TABLE t WRITE ORDERED BY ... gives it one.")
    rows = [(r["city"], r["day"]) for f in table.files() for r in table.file_rows(f["file_path"])]
    order_text = f"Written so, the rows lie as {', '.join(f'{city} {day}' for city, day in rows)}."
    if rows == ORDERED:
        return ExerciseResult(True, order_text)
    by_city = [city for city, _ in rows] == [city for city, _ in ORDERED]
    hint = "Within a city the newest day comes first." if by_city else "Cities come first."
    return ExerciseResult(False, f"{order_text} {hint}")


def _judge_property(
    sql: str, wanted: str, describe: Callable[[Table], str], hint: str, bench: Bench, answer: tuple[str, str]
) -> ExerciseResult:
    """Set the property on a new table, run a statement, and describe what its commit wrote."""
    name, value = answer
    given = f"ALTER TABLE t SET TBLPROPERTIES ({literal(name)} = {literal(value)})"
    table = run_statements(bench, new_table(bench, "id INT, name STRING, color STRING", _FRUITS), (given, sql))
    effect = describe(table)
    sentence = f"With {name} = {value} the statement wrote {effect}."
    return ExerciseResult(effect == wanted, sentence if effect == wanted else f"{sentence} {hint}")


def _file_format(table: Table) -> str:
    return f"{table.files()[0]['file_format'].lower()} files" if len(table.files()) else "nothing"


def _delete_result(table: Table) -> str:
    summary: Mapping[str, Any] = table.snapshots[-1]["summary"]
    return "a delete file" if "added-delete-files" in summary else "the rows that are left, anew"


PROPERTY = RowsEntry(("property", "value"), (TextEntry(), TextEntry()))
PARTITION_FIELDS = Exercise(
    f"31 rows (id, user_id, ts), one every third day of January to March 2024. Partition them so that {FEBRUARY} "
    "reads only the 9 rows of February, and there are 6 files at most. Give the fields as ALTER TABLE ADD "
    "PARTITION "
    "FIELD has them, such as user_id.",
    _judge_partition_fields,
    ("months(ts)",),
    NamesEntry(),
    nudge="How many days, and how many months, do the rows have?",
    look="`icedive inspect metadata demo.orders`: which transform does the first field of its spec have?",
    reason="A month each makes three files, and February is one of them. Days make a file for each row.",
    needs_lab=True,
)
TRANSFORM = Exercise(
    "teddy, terrier, koala, kobold. Which one partition field on name puts the first two into one partition, and "
    "the other two into another?",
    _judge_transform,
    "truncate(1, name)",
    TextEntry(),
    nudge="What have the first two in common that the others do not have?",
    look="`icedive inspect files demo.hidden_partitioning --columns partition`: the field of name there.",
    reason="truncate(1, name) takes the first letter: t for two of them, k for the others.",
    needs_lab=True,
)
NEW_SPEC = Exercise(
    "A table (id, ts) is partitioned by hours(ts), its field is ts_hour, four hours make four files. Write the "
    "statement after which the rows of the next day lie in one file, which its partition tells, and the old files "
    "stay. `t` is the table.",
    _judge_new_spec,
    "ALTER TABLE t REPLACE PARTITION FIELD ts_hour WITH days(ts)",
    StatementsEntry(),
    nudge="The field of hours must go, and a field of days must come.",
    look="`icedive inspect metadata demo.partition_evolution`: partition-specs.",
    reason="REPLACE PARTITION FIELD makes a new spec for new files. Old files keep the spec that they were written "
    "with, so nothing is rewritten.",
    needs_lab=True,
)
RENAME = Exercise(
    "A table (id, name, color) has two fruits. Let the column name be called fruit, with its values, and write no "
    "data. `t` is the table.",
    _judge_rename,
    "ALTER TABLE t RENAME COLUMN name TO fruit",
    StatementsEntry(),
    nudge="Files know columns by their ids. Which change keeps the id?",
    look="`icedive history metadata demo.schema_evolution 2 3`.",
    reason="A rename changes the name in the schema, and the field id stays. Old files have that id.",
    needs_lab=True,
)
WIDER_TYPE = Exercise(
    "The column id of that table is an int. Let it hold 3000000000, and write no data.",
    _judge_wider_type,
    "ALTER TABLE t ALTER COLUMN id TYPE BIGINT",
    StatementsEntry(),
    nudge="Which type holds every int, and larger numbers too?",
    look="the spec, *Schema Evolution*: int may become long.",
    reason="Readers promote the int of old files to long. The metadata file alone changes.",
    needs_lab=True,
)
FIELD_ID = Exercise(
    "The columns id, name, color of that table have the field ids 1, 2, 3. color is dropped, and a column color is "
    "added. Which field id has it?",
    _judge_field_id,
    4,
    NumberEntry(),
    nudge="Old files still have the old color. Would a reader find it?",
    look="`icedive inspect metadata demo.orders`: last-column-id.",
    reason="A new column gets last-column-id plus one. An id is never given again, so the old values do not come back.",
    needs_lab=True,
)
WRITE_ORDER = Exercise(
    "A table (day, city). Give it the order by which every writer from now on puts cities in the alphabet's order, "
    "and the newest day of each first.",
    _judge_sort_order,
    "ALTER TABLE t WRITE ORDERED BY city, day DESC",
    StatementsEntry(),
    nudge="What comes first, and in which direction goes each column?",
    look="the spec, *Sorting*, and Iceberg's SQL extension ALTER TABLE … WRITE ORDERED BY.",
    reason="Writers sort by the fields of the sort order in turn: city ascending, then day descending.",
    needs_lab=True,
)
FILE_FORMAT = Exercise(
    "Which property, with which value, lets an INSERT write ORC files?",
    partial(
        _judge_property, "INSERT OVERWRITE t VALUES (3, 'cherry', 'red')", "orc files", _file_format,
        "The format of data files is asked for.",
    ),
    ("write.format.default", "orc"),
    PROPERTY,
    nudge="The format is a default of the table's writers.",
    look="Iceberg's documentation, *Write properties*: write.format….",
    reason="write.format.default is the format of data files, if the writer does not choose another.",
    needs_lab=True,
)  # fmt: skip
DELETE_MODE = Exercise(
    "DELETE FROM t WHERE id = 1 rewrites the file of two rows. Which property, with which value, lets it write a "
    "delete file instead?",
    partial(
        _judge_property, "DELETE FROM t WHERE id = 1", "a delete file", _delete_result,
        "Each of DELETE, UPDATE and MERGE has a property of its own.",
    ),
    ("write.delete.mode", "merge-on-read"),
    PROPERTY,
    nudge="There are two modes, and a property for each kind of statement.",
    look="`icedive inspect metadata demo.mixed_modes`: its properties.",
    reason="write.delete.mode is the mode of DELETE alone. merge-on-read writes a delete file and leaves the data "
    "file.",
    needs_lab=True,
)  # fmt: skip
LAYOUT_EXERCISES = (
    PARTITION_FIELDS,
    TRANSFORM,
    NEW_SPEC,
    RENAME,
    WIDER_TYPE,
    FIELD_ID,
    WRITE_ORDER,
    FILE_FORMAT,
    DELETE_MODE,
)
"""The exercises of notebook 07, from the place of rows to the identity of a column."""
