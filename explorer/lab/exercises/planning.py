"""Exercises about planning. The lab checks an answer: it writes tables, plans queries and runs them."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from explorer.lab.exercises.answers import words
from explorer.lab.exercises.entries import NamesEntry, RowsEntry, TextEntry
from explorer.lab.exercises.exercise import Exercise, ExerciseResult, WrongForm
from explorer.lab.sandbox import CATALOG, NAMESPACE, Bench
from explorer.render.plan_result import ShownPlan
from explorer.spark_engine.sql_guard.quoting import literal
from explorer.spec.filters.pushdown import advice
from explorer.spec.layout.metrics_modes import PREFIX
from explorer.spec.scan.plan import Plan
from explorer.storage.locate import locate
from explorer.storage.reader import TableReader
from explorer.table import Table

Row = Mapping[str, Any]
ONE_DAY = "date_format(ts, 'yyyy-MM-dd') = '2024-06-03'"
STATIONS: tuple[tuple[Row, ...], ...] = (
    (
        {"id": 1, "place": "weather station Bern", "note": "a"},
        {"id": 2, "place": "weather station Chur", "note": "b"},
    ),
    ({"id": 3, "place": "weather station Davos", "note": "x"},),
    ({"id": 4, "place": "harbour", "note": "y"}, {"id": 5, "place": "zoo", "note": "z"}),
)
"""The rows of demo.column_statistics, one tuple per file."""
NO_NOTES = {f"{PREFIX}note": "counts"}
CITIES = ("Basel", "Bern", "Chur", "Davos")
READINGS = tuple(
    {"id": (7 * i) % 32, "city": city, "day": day} for i, (day, city) in enumerate(itertools.product(range(8), CITIES))
)
QUERIES = ("city = 'Bern' AND day = 3", "city = 'Chur'", "city IN ('Basel', 'Davos') AND day = 5")
FILES, ENOUGH = 8, 5
"""The number of files of READINGS, and how many files the QUERIES may open together."""
_numbers = itertools.count(1)


def _write_table(bench: Bench, columns: str, properties: Mapping[str, str], files: Sequence[Sequence[Row]]) -> Table:
    """Make a table of the lab with these data files, in one commit."""
    name = f"planned_{next(_numbers)}"
    listed = ", ".join(f"{literal(k)} = {literal(v)}" for k, v in {"format-version": "2", **properties}.items())
    bench.spark.sql(f"CREATE TABLE {CATALOG}.{NAMESPACE}.{name} ({columns}) USING iceberg TBLPROPERTIES ({listed})")
    java = bench.load(name)
    append = java.newAppend()
    for i, rows in enumerate(files, 1):
        append.appendFile(bench.workshop.data_file(java, f"data-{i}.parquet", rows))
    append.commit()
    return bench.table(name)


def _file_count(plan: Plan) -> int:
    return plan.left.files or 0


def _judge_condition(bench: Bench, answer: str) -> ExerciseResult:
    """Check that the condition finds the same rows and opens only the file of that day."""
    table = Table(TableReader(locate("demo.partition_evolution")))
    plan, pushed = table.plan_sql(answer)
    shown = ShownPlan(plan, table.intervals(plan, "ts"), pushed)
    meant, given = (sorted(r["id"] for r in table.rows(None, ("id",), w)) for w in (ONE_DAY, answer))
    if meant != given:
        return ExerciseResult(False, f"Those are other rows: ids {given}, and {meant} are meant.", plan=shown)
    counts_text = f"The same rows, and {_file_count(plan)} of {plan.stages[0].left.files} files are opened."
    if _file_count(plan) > 1:
        hints = [
            f"Spark keeps {kept} for itself: {advice(kept) or 'it is computed for each row'}." for kept in pushed.kept
        ]
        return ExerciseResult(False, " ".join([counts_text, *hints]), plan=shown)
    return ExerciseResult(True, counts_text, plan=shown)


def _judge_property(where: str, most: int, bench: Bench, answer: tuple[str, str]) -> ExerciseResult:
    """Write the files again with the property; the query may open at most `most` of them."""
    name, value = (text.strip() for text in answer)
    if not name.startswith("write.metadata.metrics."):
        return ExerciseResult(
            False, "Which statistics are kept is said by properties that begin with write.metadata.metrics."
        )
    table = _write_table(bench, "id INT, place STRING, note STRING", NO_NOTES | {name: value}, STATIONS)
    plan = table.plan(where)
    metric = next(m for m in table.metrics() if m.name == plan.columns[0])
    counts_text = f"Written anew with {name} = {value}, {_file_count(plan)} of {len(STATIONS)} files are opened"
    mode_text = f"the mode of {metric.name} is {metric.mode}, by {metric.rule}, which skips by: {metric.skips}."
    verdict = f"{counts_text}: {mode_text}"
    return ExerciseResult(_file_count(plan) <= most, verdict, plan=table.plan_pictures(plan))


def _judge_sort_order(bench: Bench, answer: Sequence[str]) -> ExerciseResult:
    """Write the rows again in that order, and plan the three queries."""
    columns = list(READINGS[0])
    if isinstance(answer, str) or not answer or not set(answer) <= set(columns):
        raise WrongForm(f"give columns, such as ('id',), of {', '.join(columns)}")
    rows = sorted(READINGS, key=lambda row: [row[c] for c in answer])
    each = len(rows) // FILES
    files = [rows[at : at + each] for at in range(0, len(rows), each)]
    table = _write_table(bench, "id INT, city STRING, day INT", {}, files)
    plans = [table.plan(where) for where in QUERIES]
    counts = [_file_count(plan) for plan in plans]
    counts_by_query = "; ".join(f"{where}: {files}" for where, files in zip(QUERIES, counts, strict=True))
    verdict = f"Sorted by {', '.join(answer)} the queries open {sum(counts)} files ({counts_by_query})."
    right = sum(counts) <= ENOUGH
    hint = "" if right else " What every query asks of comes first, then what is asked of beside it."
    return ExerciseResult(right, verdict + hint, plan=table.plan_pictures(plans[counts.index(max(counts))]))


PROPERTY = RowsEntry(("property", "value"), (TextEntry(), TextEntry()))
CONDITION = Exercise(
    f"demo.partition_evolution, in Spark SQL: WHERE {ONE_DAY} opens all 5 files. Write a condition for the same "
    "rows that opens one.",
    _judge_condition,
    "ts >= '2024-06-03' AND ts < '2024-06-04'",
    TextEntry(),
    nudge="Iceberg can use a comparison of the column itself, not of a text made of it.",
    look="`icedive plan demo.partition_evolution --sql` with your condition: what Spark hands over, and what it keeps.",
    reason="A range of ts is handed over to Iceberg, which projects it onto the partition fields. date_format is "
    "computed for each row by Spark, so Iceberg sees no filter.",
    needs_lab=True,
)
LOST_STATISTICS = Exercise(
    "demo.column_statistics: note = 'x' opens all 3 files. Which property, with which value, would have kept what "
    "skips two of them?",
    partial(_judge_property, "note = 'x'", 1),
    (f"{PREFIX}note", "full"),
    PROPERTY,
    nudge="The mode of a column says what is kept of it. Which mode has note?",
    look="`icedive inspect columns demo.column_statistics`: the rule of note.",
    reason="note has mode counts, so no bounds are written. Any mode with bounds skips the files, but the "
    "property of "
    "the column goes before the default.",
    needs_lab=True,
)
CUT_BOUNDS = Exercise(
    "The same table: place = 'weather station Davos' opens all 3 files, though place has bounds. Which property, "
    "with which value, lets it open two?",
    partial(_judge_property, "place = 'weather station Davos'", 2),
    (f"{PREFIX}place", "truncate(32)"),
    PROPERTY,
    nudge="How long are the bounds, and how long is the beginning that the places share?",
    look="`icedive plan demo.column_statistics \"place = 'weather station Davos'\"`: the bounds of each file.",
    reason="Bounds are cut to 16 characters, and 'weather station ' has 16. Longer ones tell the places apart.",
    needs_lab=True,
)
SORT_ORDER = Exercise(
    f"{len(READINGS)} readings (id, city, day) lie in {FILES} files, and three queries are asked: "
    f"{'; '.join(QUERIES)}. By which columns are the rows to be sorted, so that together the queries open at most "
    f"{ENOUGH} files?",
    _judge_sort_order,
    ("city", "day"),
    NamesEntry(),
    nudge="Which column do all three queries ask for?",
    look="the plan of your answer: the bounds of which column overlap in all files?",
    reason="All queries ask for a city, so cities must be apart first. Within a city the day tells files apart.",
    words=words(*READINGS[0]),
    needs_lab=True,
)
PLAN_EXERCISES = (CONDITION, LOST_STATISTICS, CUT_BOUNDS, SORT_ORDER)
"""The exercises of notebook 05, from a filter to its files."""
