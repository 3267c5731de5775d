"""Exercises about planning and about sick tables are judged by running them: a right answer passes, typical wrong ones
fail and say why."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from explorer.errors import NotFoundInTable
from explorer.lab.engines import SharedTable
from explorer.lab.exercises import articles, commit_runs, doctor, tables
from explorer.lab.exercises.commits import EXERCISES
from explorer.lab.exercises.doctor import DOCTOR_EXERCISES
from explorer.lab.exercises.exercise import Exercise
from explorer.lab.exercises.layout import LAYOUT_EXERCISES
from explorer.lab.exercises.planning import PLAN_EXERCISES
from explorer.lab.sandbox import Bench
from explorer.spark_engine.spark import SparkEngine
from explorer.storage.catalogs.sandbox_entries import catalog_entries

COLUMN = "write.metadata.metrics.column."
WRONG: list[tuple[tuple[Any, str], ...]] = [
    (
        ("CAST(ts AS STRING) LIKE '2024-06-03%'", "write the value in the column's own type"),
        ("day(ts) = 3", "5 of 5 files are opened"),
        ("ts BETWEEN '2024-06-03' AND '2024-06-03 12:00:00'", "other rows: ids [3], and [3, 13] are meant"),
        ("tss = 1", "cannot be run"),
    ),
    (
        (("write.metadata.metrics.default", "full"), f"is counts, by {COLUMN}note = counts"),
        ((f"{COLUMN}note", "none"), "skips by: nothing"),
        (("write.parquet.compression-codec", "zstd"), "begin with write.metadata.metrics."),
        (5, "cannot be run"),
    ),
    (
        ((f"{COLUMN}place", "truncate(8)"), "3 of 3 files are opened"),
        ((f"{COLUMN}note", "full"), "by the first 16 characters"),
    ),
    (
        (("day", "city"), "open 10 files"),
        (("id",), "What every query asks of comes first"),
        (("town",), "of id, city, day"),
        ("city", "give columns"),
    ),
]
SICK: list[tuple[tuple[Any, str], ...]] = [
    (
        (3, "not JSON"),
        (1, "with apple: a newer version can be read"),
        (9, "there are 0, 1, 2, 3"),
    ),
    (
        ("DELETE FROM t WHERE fruit = 'apple'", "still finds: file-missing"),
        ("TRUNCATE TABLE t", "rows are lost that lay in files which are there: apple, cherry"),
        ("SELECT * FROM t", "cannot be run"),
    ),
    (
        (("day >= 'd3'"), "rewrites 350 files of 500"),
        (("dya = 'd3'"), "is 'day' meant"),
    ),
    (
        ("DELETE FROM t WHERE fruit = 'banana'", "still finds: delete-names-nothing"),
        (DOCTOR_EXERCISES[3].example[1], "rows are there that should not be: banana"),
    ),
]


@pytest.fixture(scope="module")
def bench(sandbox: Path, engine: SparkEngine) -> Bench:
    return Bench(engine)


@pytest.mark.parametrize(
    ("exercise", "wrong"),
    [*zip(PLAN_EXERCISES, WRONG, strict=True), *zip(DOCTOR_EXERCISES, SICK, strict=True)],
)
def test_a_right_answer_and_wrong_ones(
    exercise: Exercise, wrong: tuple[tuple[Any, str], ...], bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "A_DAY", 50)
    empty = exercise.check(bench=bench)
    assert empty.right is None
    assert exercise.question in empty.words
    right = exercise.check(exercise.example, bench)
    assert right.right, right.words
    assert "<svg" in right._repr_html_() or exercise in DOCTOR_EXERCISES
    for answer, says in wrong:
        marked = exercise.check(answer, bench)
        assert marked.right is False, answer
        assert says in marked.words, marked.words


RUNS = (
    commit_runs.ONE_COMMIT, commit_runs.INTERFACE, commit_runs.TWO_WRITERS, commit_runs.CONFLICT, articles.COMMIT_ERROR,
    commit_runs.TWO_ENGINES,
)  # fmt: skip


@pytest.mark.parametrize("number", range(len(RUNS)))
def test_a_quiz_is_judged_by_a_run(number: int, bench: Bench) -> None:
    exercise = RUNS[number]
    right = exercise.check(exercise.example, bench)
    assert right.right, right.words
    wrong = "a" if isinstance(exercise.example, str) else exercise.example[::-1]
    assert exercise.check(wrong, bench).right is False


def test_two_engines_delete_and_read_each_other(bench: Bench) -> None:
    shared = SharedTable(bench)
    shared.delete("pyiceberg", "fig")
    shared.delete("Spark", "apple")
    copied, merged = shared.deletes()
    assert (copied["delete files"], copied["data files"]) == (
        "none",
        "1 file added (3 rows), 1 file removed (4 rows)",
    )
    assert "copy-on-write" in copied["says"]
    assert (merged["delete files"], merged["data files"]) == ("1 position delete", "left as they are")
    assert merged["says"] == ""
    for read in shared.reads():
        assert read["Spark reads"] == read["pyiceberg reads"]
    assert shared.read("pyiceberg", "snapshot-3") == ["banana", "cherry"]
    for act in (lambda: shared.delete("Flink", "fig"), lambda: shared.read("Flink", "snapshot-1")):
        with pytest.raises(NotFoundInTable, match="there are Spark and pyiceberg"):
            act()
    with pytest.raises(NotFoundInTable):
        shared.read("Spark", "snapshot-9")
    folder = bench.home / "warehouse" / "runs" / shared.name
    assert folder.exists()
    shared.drop()
    assert not folder.exists()


def test_more_than_one_way_is_right(bench: Bench) -> None:
    rewrite, lost, cut, order = PLAN_EXERCISES
    for exercise, answer in (
        (rewrite, "CAST(ts AS DATE) = DATE '2024-06-03'"),
        (rewrite, "ts BETWEEN '2024-06-03' AND '2024-06-03 23:59:59.999999'"),
        (lost, (f"{COLUMN}note", "truncate(1)")),
        (cut, ("write.metadata.metrics.default", "full")),
        (order, ("city", "day", "id")),
    ):
        marked = exercise.check(answer, bench)
        assert marked.right, (answer, marked.words)


def test_exercises_leave_no_table(engine: SparkEngine, sandbox: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bench, removed = Bench(engine), set[str]()
    forget = tables.forget_entries

    def note(folder: Path, names: Iterable[str]) -> None:  # other processes make tables in this sandbox meanwhile
        names = list(names)
        assert set(names) <= catalog_entries(folder).keys()
        removed.update(names)
        forget(folder, names)

    monkeypatch.setattr(tables, "forget_entries", note)
    assert DOCTOR_EXERCISES[0].check("2", bench).right
    assert not DOCTOR_EXERCISES[0].check(1, bench).right
    marked = LAYOUT_EXERCISES[0].check("months(ts)", bench)
    assert marked.right
    assert "<svg" in marked._repr_html_()  # its table is gone from the catalog, and can be drawn still
    assert LAYOUT_EXERCISES[5].check(" 4 ", bench).right
    assert len(removed) >= 3
    assert not removed & catalog_entries(sandbox).keys()
    assert EXERCISES[0].check("Snapshot", bench).right
    assert EXERCISES[2].check("3", bench).right
