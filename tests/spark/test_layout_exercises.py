"""Exercises about layout and evolution, and about catalogs and folders: a right answer passes, typical wrong ones fail
with a hint that names the mistake, an empty one asks for an answer."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from explorer.lab.exercises.catalogs import CATALOG_EXERCISES
from explorer.lab.exercises.layout import LAYOUT_EXERCISES
from explorer.lab.exercises.layout_costs import COMPACTION_STRATEGY
from explorer.lab.sandbox import Bench
from explorer.spark_engine.spark import SparkEngine

WRONG: list[tuple[tuple[Any, str], ...]] = [
    (
        ("days(ts)", "too fine"),
        (("user_id",), "must tell months apart"),
        ("months(tss)", "cannot be run"),
    ),
    (
        ("truncate(3, name)", "How long is the beginning"),
        ("name", "How long is the beginning"),
    ),
    (
        ("ALTER TABLE t ADD PARTITION FIELD days(ts)", "The hour still splits them"),
        ("ALTER TABLE t DROP PARTITION FIELD ts_hour", "Nothing tells a day's files"),
    ),
    (
        (
            ("ALTER TABLE t DROP COLUMN name", "ALTER TABLE t ADD COLUMN fruit STRING"),
            "a new column has a new id",
        ),
        (("ALTER TABLE t ADD COLUMN fruit STRING", "UPDATE t SET fruit = name"), "a rename needs none"),
    ),
    (
        ("ALTER TABLE t ALTER COLUMN id TYPE STRING", "cannot be run"),
        ("ALTER TABLE t ALTER COLUMN id COMMENT 'large'", "cannot hold 3000000000"),
    ),
    (
        (3, "An id is never given again"),
        (5, "last-column-id was 3"),
    ),
    (
        ("ALTER TABLE t WRITE ORDERED BY day DESC, city", "Cities come first"),
        ("ALTER TABLE t WRITE ORDERED BY city, day", "Within a city the newest day"),
        ("ALTER TABLE t WRITE DISTRIBUTED BY PARTITION", "has no sort order"),
    ),
    (
        (("write.delete.format.default", "orc"), "The format of data files is asked for"),
        (("write.parquet.compression-codec", "zstd"), "The format of data files is asked for"),
        (("write.format.default", "csv"), "cannot be run"),
    ),
    (
        (("write.update.mode", "merge-on-read"), "a property of its own"),
        (("write.delete.mode", "copy-on-write"), "a property of its own"),
    ),
    (
        (("sort", "x"), "one filter alone: y is in no order"),
        (("binpack", ""), "Fewer files alone"),
        (("sort", "zorder(y)"), "one filter alone: x is in no order"),
        (("zorder", "x, y"), "cannot be run"),
    ),
    (
        ("UPDATE iceberg_tables SET metadata_location = :new WHERE table_name = 't'", "other writer's commit is lost"),
        ("UPDATE iceberg_tables SET metadata_location = :new", "must name the table"),
        ("DELETE FROM iceberg_tables", "give one UPDATE"),
    ),
    (
        ("UPDATE iceberg_tables SET previous_metadata_location = metadata_location", "it is what it was"),
        ("UPDATE iceberg_tables SET metadata_location = previous_metadata_location", "went back too"),
        ("UPDATE iceberg_tables SET metadata_location = 'v1' WHERE table_name = 't'", "no metadata file of that name"),
        ("DELETE FROM iceberg_tables", "give one UPDATE"),
    ),
    (
        ("AAAABBBB", "goes on from it"),
        ("AABBAABB", "both must look before"),
        ("AAABBB", "their four steps"),
        ("AXB", "no writer 'X'"),
    ),
    (
        ("ALTER TABLE t CREATE TAG reader", "holds another snapshot"),
        ("ALTER TABLE t SET TBLPROPERTIES ('history.expire.min-snapshots-to-keep' = '5')", "says itself how many"),
    ),
    (
        (1, "Rows are missing"),
        (4, "one version of all rows"),
        (5, "has 4 steps"),
    ),
    (
        (12, "gives all names of a folder"),
        (6, "The data folder itself"),
        (1, "Each folder is listed"),
    ),
    (
        (12, "opens no data file"),
        (1, "count the layers"),
    ),
    (
        ("ANALYZE TABLE t COMPUTE STATISTICS", "must list anew first"),
        (("REFRESH TABLE t", "ANALYZE TABLE t COMPUTE STATISTICS NOSCAN"), "sizes were added up"),
        ("DROP TABLE t", "cannot be run"),
    ),
    (
        (10, "No field id says"),
        ("price", "another form"),
    ),
]
EVERY = bool(os.environ.get("ICEDIVE_EVERY_PAIR"))
EXERCISES = (*LAYOUT_EXERCISES, COMPACTION_STRATEGY, *CATALOG_EXERCISES)


@pytest.fixture(scope="module")
def bench(sandbox: Path, engine: SparkEngine) -> Bench:
    return Bench(engine)


@pytest.mark.parametrize("number", range(len(EXERCISES)))
def test_a_right_answer_and_wrong_ones(number: int, bench: Bench) -> None:
    exercise = EXERCISES[number]
    empty = exercise.check(bench=bench)
    assert empty.right is None
    assert exercise.question in empty.words
    right = exercise.check(exercise.example, bench)
    assert right.right, right.words
    for answer, says in WRONG[number][: None if EVERY else 1]:
        marked = exercise.check(answer, bench)
        assert marked.right is False, answer
        assert says in marked.words, marked.words
