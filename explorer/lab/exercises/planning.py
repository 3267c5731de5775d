"""Exercises about planning. The lab checks an answer: it writes tables, plans queries and runs them."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from explorer.lab.exercises.answers import words
from explorer.lab.exercises.commits import Exercise, ExerciseResult
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
        raise ValueError(f"give columns, such as ('id',), of {', '.join(columns)}")
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


PLAN_EXERCISES = (
    Exercise(
        f"demo.partition_evolution, in Spark SQL: WHERE {ONE_DAY} opens all 5 files. Write a condition for the same "
        "rows that opens one.",
        _judge_condition,
        "ts >= '2024-06-03' AND ts < '2024-06-04'",
    ),
    Exercise(
        "demo.column_statistics: note = 'x' opens all 3 files. Which property, with which value, would have kept what "
        "skips two of them? Give both: ('write...', '...').",
        partial(_judge_property, "note = 'x'", 1),
        (f"{PREFIX}note", "full"),
    ),
    Exercise(
        "The same table: place = 'weather station Davos' opens all 3 files, though place has bounds. Which property, "
        "with which value, lets it open two?",
        partial(_judge_property, "place = 'weather station Davos'", 2),
        (f"{PREFIX}place", "truncate(32)"),
    ),
    Exercise(
        f"{len(READINGS)} readings (id, city, day) lie in {FILES} files, and three queries are asked: "
        f"{'; '.join(QUERIES)}. In which order are the rows to be written, so that together they open at most {ENOUGH} "
        "files? Give columns: ('id',).",
        _judge_sort_order,
        ("city", "day"),
        words(*READINGS[0]),
    ),
)
"""The exercises of notebook 05, from a filter to its files."""
