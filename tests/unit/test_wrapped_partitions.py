"""Partition values that have no place in 32 or 64 bits (apache/iceberg#13105): the plan, row history and the doctor
(tests/spark/test_wrapped_partitions.py asks Spark)."""

from __future__ import annotations

from pathlib import Path

import pytest

from explorer.spec.values.transforms import transform_function
from explorer.spec.values.values import primitive_type
from tests.cases import build_case
from tests.cases.wrapped import INT, LONG, TABLES, with_wrapped
from tests.support import direct


@pytest.mark.parametrize(
    ("where", "files", "pyiceberg"),
    [("a = {}", 1, 0), ("a <= {}", 1, 0), ("a IN ({}, 5)", 2, 1), ("a < 0", 0, 0), ("a < {}", 0, 0), ("a != 5", 2, 2),
     ("a > 100", 0, 0)],
)  # fmt: skip
def test_a_plan_looks_the_filter_up_as_java_wrote_the_partition(
    where: str, files: int, pyiceberg: int, tmp_path: Path
) -> None:
    plan = direct.open_table(with_wrapped(tmp_path / "t", "long").folder).plan(where.format(LONG))
    assert plan.left.files == files
    others = {o.difference.rule: o.files for o in plan.other_readers}
    assert others == ({"wraps-round": pyiceberg} if files != pyiceberg else {}), where


@pytest.mark.parametrize(
    ("where", "seen", "skipped"), [("a = {}", 1, 0), ("a <= {}", 1, 0), ("a IN ({}, 5)", 2, 0), ("a < 0", 2, 2)]
)
def test_fate_does_not_deny_what_spark_returns(where: str, seen: int, skipped: int, tmp_path: Path) -> None:
    table = direct.open_table(with_wrapped(tmp_path / "t", "long").folder)
    (standing,) = table.row_history(where.format(LONG)).by_snapshot.values()
    assert (len(standing.visible), len(standing.skipped)) == (seen, skipped)


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("deep", [False, True])
def test_the_doctor_finds_what_wrapped_round_and_how_it_goes(name: str, deep: bool, tmp_path: Path) -> None:
    table = with_wrapped(tmp_path / "t", name)
    found = [f for f in direct.doctor(str(table.folder), deep=deep).findings if f.rule == "partition-value"]
    assert found, name
    for finding in found:
        assert "bits, and wrapped round" in finding.what
        assert "INSERT OVERWRITE" not in finding.remedy
        assert "DROP PARTITION FIELD a_trunc" in finding.remedy


def test_transforms_of_the_ends() -> None:
    long, int_ = primitive_type("long"), primitive_type("int")
    assert long is not None
    assert int_ is not None
    assert [transform_function("truncate[10]", long)(v) for v in (LONG, LONG + 8, -1, None)] == [
        9223372036854775806, LONG + 8, -10, None,
    ]  # fmt: skip
    assert [transform_function("truncate[10]", int_)(v) for v in (INT, INT + 8, 19)] == [2147483646, INT + 8, 10]
    assert [transform_function("truncate[2000000000]", int_)(v) for v in (1_500_000_000, 7)] == [-2_000_000_000, 0]
    timestamp = primitive_type("timestamp")
    assert timestamp is not None
    assert transform_function("hour", timestamp)(7_826_723_145_600_000_000) == -2120877534


def test_a_truncated_term_is_asked_of_rows_without_a_crash(tmp_path: Path) -> None:
    table = direct.open_table(with_wrapped(tmp_path / "t", "long").folder)
    (standing,) = table.row_history("truncate(10, a) = 9223372036854775806").by_snapshot.values()
    assert (len(standing.visible), len(standing.skipped)) == (2, 0)


def test_hours_wrap_round_too(tmp_path: Path) -> None:
    """apache/iceberg#9713: the filter's hour wraps round as the partition's did."""
    table = direct.open_table(build_case("35", tmp_path / "t"))
    for where in ("ts = 7826723145600000000", "ts > 7826723145599999999", "hour(ts) = -2120877534"):
        plan = table.plan(where)
        (standing,) = table.row_history(where).by_snapshot.values()
        assert (plan.left.files, len(standing.visible), len(standing.skipped)) == (1, 1, 0), where
        others = {o.difference.rule: o.files for o in plan.other_readers}
        assert others.get("wraps-round") == (None if where.startswith("hour") else 0)
