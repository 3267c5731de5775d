"""Collections as DataFrames: what is chosen of them stays with Spark's workers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from explorer.lab.scenarios import NAMESPACE
from explorer.queries.collection import Collection
from explorer.spark_engine.spark import SparkEngine
from explorer.spec.entries.lazy_table import Batches
from tests.support import direct

NAMES = ("manifest_lifecycle", "partition_evolution", "equality_deletes")


def in_any_order(rows: Collection) -> list[str]:
    return sorted(json.dumps(row, default=str) for row in rows.to_json())


def told(frame: Any) -> list[str]:
    """A DataFrame's rows, as those of a Collection."""
    return in_any_order(Collection(frame.toArrow(), "rows"))


def framed(rows: Collection, spark: Any) -> Any:
    """A collection as a DataFrame, for which nothing was read here."""
    frame = rows.to_spark(spark)
    assert isinstance(rows._rows, Batches), "its rows were read in the driver"
    return frame


CHOSEN = (("", ("file_path", "partition")), ("record_count > 1 and status = 1", ()), ("status != 1", ("status",)))


@pytest.mark.parametrize(("name", "limit"), [*((name, None) for name in NAMES), (NAMES[0], 2)])
def test_what_is_chosen_stays_a_dataframe(name: str, limit: int | None, sandbox: Path, engine: SparkEngine) -> None:
    table = direct.open_table(f"{NAMESPACE}.{name}")
    spark = engine.session()
    for where, columns in CHOSEN:
        ours = table.entries(engine="local").select(where, columns)
        frame = framed(table.entries(engine="spark").select(where, columns, limit), spark)
        assert frame.columns == ours.columns
        rows, every = told(frame), in_any_order(ours)
        if limit is None:
            assert rows == every
        else:
            assert len(rows) == min(limit, len(every))
            assert set(rows) <= set(every)
    twice = table.entries(engine="spark").select("record_count > 0", ["status", "file_path"])
    true = table.entries(engine="local").select("status = 1 and record_count > 0", ["file_path"])
    assert told(framed(twice.select("status = 1", ["file_path"]), spark)) == in_any_order(true)


@pytest.mark.parametrize("name", NAMES)
def test_partitions_are_added_up_by_the_workers(name: str, sandbox: Path, engine: SparkEngine) -> None:
    table = direct.open_table(f"{NAMESPACE}.{name}")
    ours, spark = table.partitions(engine="local"), engine.session()
    assert in_any_order(table.partitions(engine="spark")) == in_any_order(ours)
    frame = framed(table.partitions(engine="spark"), spark)
    assert frame.columns == ours.columns
    assert told(frame) == in_any_order(ours)
    chosen = ("file_count > 0", ["partition", "file_count"])
    some = framed(table.partitions(engine="spark").select(*chosen), spark)
    assert told(some) == in_any_order(ours.select(*chosen))
