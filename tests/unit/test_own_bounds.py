"""Partition values against the counts and bounds in their own manifest entry, without a look at data files."""

from __future__ import annotations

from datetime import date, datetime, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyiceberg.transforms import parse_transform

from explorer.spec.values.values import internal_value, primitive_type
from tests.cases import mini
from tests.cases.mini import Table
from tests.support import direct

Findings = list[tuple[str, str]]


def transform_of(value: Any, kind: str, transform: str) -> Any:
    """What pyiceberg makes of a value, as partitions are written."""
    primitive = primitive_type(kind)
    assert primitive is not None
    made = parse_transform(transform).transform(primitive)(internal_value(value))
    return date.fromordinal(made + date(1970, 1, 1).toordinal()) if transform == "day" else made


def findings_of(
    folder: Path, kind: str, transform: str, values: list[Any], partition: Any, required: bool = False, **entry: Any
) -> Findings:
    """What the quick doctor finds of one file."""
    table = Table(folder, [(1, "id", "long"), (2, "x", kind, required)], [(2, 1000, "p", transform)])
    file = table.parquet("a.parquet", {"id": list(range(len(values))), "x": values}, partition={"p": partition})
    table.append({**file, **entry})
    return [(f.rule, f.severity) for f in direct.doctor(str(folder)).findings]


SOUND = [
    ("int", "truncate[10]", [-1, -4]), ("int", "truncate[10]", [15]), ("long", "truncate[7]", [-21, -15]),
    ("string", "truncate[2]", ["äöü", "äöz"]), ("string", "truncate[3]", ["ab"]), ("string", "bucket[4]", ["abc"]),
    ("string", "truncate[20]", ["a" * 40]), ("int", "bucket[4]", [5]), ("long", "bucket[5]", [7]),
    ("date", "bucket[8]", [date(2020, 1, 1)]), ("date", "year", [date(1969, 5, 1)]), ("string", "identity", ["x"]),
    ("timestamp", "bucket[8]", [datetime(2020, 1, 1)]), ("timestamp", "hour", [datetime(1969, 12, 31, 23, 5)]),
    ("timestamp", "day", [datetime(1969, 12, 31, 23, 5)]), ("timestamp", "month", [datetime(2024, 2, 29)]),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "transform", "values"), SOUND)
def test_values_that_are_the_transform_of_the_data(
    kind: str, transform: str, values: list[Any], tmp_path: Path
) -> None:
    partition = transform_of(values[0], kind, transform)
    assert findings_of(tmp_path / "t", kind, transform, values, partition) == []
    nulls = [None] * len(values)
    assert findings_of(tmp_path / "nulls", kind, transform, nulls, None) == []


@pytest.mark.parametrize(("kind", "transform", "values"), SOUND)
def test_a_null_for_a_column_that_has_values(kind: str, transform: str, values: list[Any], tmp_path: Path) -> None:
    assert findings_of(tmp_path / "t", kind, transform, values, None) == [("partition-value", "error")]


@pytest.mark.parametrize(
    ("kind", "transform", "values", "wrong"),
    [
        ("int", "truncate[10]", [-1, -4], -6),  # ClickHouse#119534
        ("long", "truncate[10]", [15, 18], 20),
        ("string", "truncate[2]", ["abc", "abd"], "ac"),
        ("string", "identity", ["abc"], "abd"),
        ("int", "bucket[4]", [5, 5], 2),
        ("string", "bucket[4]", ["abc"], 0),
        ("date", "year", [date(2020, 1, 1)], 51),
        ("int", "truncate[10]", [11, None], 10),  # a null has a partition of its own
    ],
)
def test_a_value_that_the_bounds_exclude(
    kind: str, transform: str, values: list[Any], wrong: Any, tmp_path: Path
) -> None:
    assert findings_of(tmp_path / "t", kind, transform, values, wrong) == [("partition-value", "error")]


def test_buckets_of_several_values_may_be_any(tmp_path: Path) -> None:
    assert findings_of(tmp_path / "t", "long", "bucket[5]", [7, 9], 4) == []


def test_bounds_that_are_cut_exclude_no_value(tmp_path: Path) -> None:
    """Lower bounds are cut, upper bounds are cut and then raised."""
    cut = {"lower_bounds": {2: b"abc"}, "upper_bounds": {2: b"abd"}}
    assert findings_of(tmp_path / "t", "string", "truncate[6]", ["abcdefgh"], "abcdef", **cut) == []
    assert findings_of(tmp_path / "i", "string", "identity", ["abcdefgh"], "abcdefgh", **cut) == []
    same = {"lower_bounds": {2: b"0123456789abcdef"}, "upper_bounds": {2: b"0123456789abcdef"}}
    own = transform_of("0123456789abcdefgh", "string", "bucket[64]")
    assert findings_of(tmp_path / "b", "string", "bucket[64]", ["0123456789abcdefgh"], own, **same) == []


def test_bounds_that_were_those_of_a_date_say_nothing(tmp_path: Path) -> None:
    """Of a column that became a timestamp they have four bytes (spec: "Schema Evolution")."""
    days = mini.single("date", date(2020, 5, 1))
    short = {"lower_bounds": {2: days}, "upper_bounds": {2: days}}
    found = findings_of(tmp_path / "t", "timestamp", "day", [datetime(2020, 5, 1)], date(2020, 5, 1), **short)
    assert "partition-value" not in {rule for rule, _ in found}


def test_a_required_column_needs_no_counts(tmp_path: Path) -> None:
    none: dict[str, Any] = dict.fromkeys(("value_counts", "null_value_counts", "lower_bounds", "upper_bounds"))
    assert findings_of(tmp_path / "t", "int", "bucket[4]", [5], None, True, **none) == [("partition-value", "error")]
    assert findings_of(tmp_path / "o", "int", "bucket[4]", [5], None, False, **none) == []


def test_void_fields_are_null(tmp_path: Path) -> None:
    found = findings_of(tmp_path / "t", "int", "void", [5], None)
    assert found == [("readers-differ", "info")]  # of the transform itself, which not every reader takes


def test_decimals(tmp_path: Path) -> None:
    table = Table(tmp_path / "t", [(1, "x", "decimal(9,2)")])
    file = table.parquet("a.parquet", {"x": [Decimal("10.65")]})
    table.set_spec([(1, 1000, "p", "truncate[50]")])
    avro = {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}
    original = mini.avro_of
    mini.avro_of = lambda kind: avro if kind.startswith("decimal") else original(kind)
    try:
        table.append({**file, "partition": {"p": Decimal("10.50")}}, {**file, "partition": {"p": Decimal("10.00")}})
    finally:
        mini.avro_of = original
    wrong = [f for f in direct.doctor(str(tmp_path / "t")).findings if f.rule == "partition-value"]
    assert [(f.found, f.expected, f.count) for f in wrong] == [("10.00", "10.50", 1)]


def test_a_fate_says_which_of_them_is_wrong(tmp_path: Path) -> None:
    """The summary of the manifest list is right about a partition value that is wrong (trinodb/trino#18580)."""
    table = Table(tmp_path / "t", [(1, "ts", "timestamp", True)], [(1, 1000, "ts_year", "year")])
    table.append(table.parquet("a.parquet", {"ts": [datetime(2023, 8, 2)]}, partition={"ts_year": None}))
    opened = direct.open_table(str(tmp_path / "t"))
    current = opened.metadata.current_snapshot
    assert current is not None
    said = " ".join(opened.row_history("ts > '2023-08-01'").explain(current))
    assert (
        "ts_year is null (its manifest entry says so); the file has the row, so this partition value is wrong" in said
    )


def test_suspect_bounds_are_not_told_as_found_and_expected(tmp_path: Path) -> None:
    table = Table(tmp_path / "t", [(1, "t", "timestamp")])
    table.append(
        table.parquet("a.parquet", {"t": pa.array([1_750_000_000, 1_750_000_500], pa.timestamp("us")).to_pylist()})
    )
    [finding] = direct.doctor(str(tmp_path / "t")).findings
    assert (finding.rule, finding.expected) == ("value-suspect", None)
    assert finding.found == "1970-01-01 00:29:10 to 1970-01-01 00:29:10.000500"


def test_a_quick_report_says_that_files_were_not_opened(tmp_path: Path) -> None:
    table = Table(tmp_path / "t", [(1, "id", "long")])
    table.append(table.parquet("a.parquet", {"id": [1]}))
    quick, deep = (direct.doctor(str(tmp_path / "t"), deep=deep) for deep in (False, True))
    assert "Data files were not opened; --deep opens them." in repr(quick)
    assert "Data files were not opened" in quick._repr_html_()
    assert "not opened" not in repr(deep) + deep._repr_html_()


@pytest.mark.parametrize("transform", ["truncate[0]", "truncate[x]", "truncate[", "bucket[0]", "bucket[-1]", "other"])
def test_transforms_that_are_none_are_not_asked(transform: str, tmp_path: Path) -> None:
    assert ("partition-value", "error") not in findings_of(tmp_path / "t", "int", transform, [5], None)


@pytest.mark.parametrize("wrong", ["bounds", "partition"])
def test_only_files_tell_whether_the_partition_value_or_the_bounds_are_wrong(wrong: str, tmp_path: Path) -> None:
    """Altinity/ice#85: bounds in milliseconds of microseconds."""
    year, day = datetime(2025, 12, 16, 5), date(2025, 12, 16)
    early = datetime.fromtimestamp(year.timestamp() / 1000, timezone.utc).replace(tzinfo=None)
    table = Table(tmp_path / "t", [(1, "t", "timestamp")], [(1, 1000, "t_day", "day")])
    of_year, of_early = (
        table.parquet(f"{name}.parquet", {"t": [t]}, partition={"t_day": t.date()})
        for name, t in (("year", year), ("early", early))
    )
    bounds = ("lower_bounds", "upper_bounds")
    if wrong == "bounds":
        file = {**of_year, **{name: of_early[name] for name in bounds}}
    else:
        file = {**of_early, "partition": {"t_day": day}}
    sound = table.parquet("sound.parquet", {"t": [year]}, partition={"t_day": day})
    table.append(file, sound)
    quick = direct.doctor(str(tmp_path / "t")).findings
    assert {f.rule for f in quick} == {"partition-value", "value-suspect"}
    for f in quick:
        assert f.remedy.startswith("Run doctor --deep: it opens the files")
    Path(str(tmp_path / "t" / "data" / ("early" if wrong == "bounds" else "year"))).with_suffix(".parquet").unlink()
    deep = direct.doctor(str(tmp_path / "t"), deep=True).findings
    if wrong == "bounds":
        [cause] = deep
        assert (cause.rule, {f.rule for f in cause.explains}) == ("metrics-wrong", {"partition-value", "value-suspect"})
    else:
        assert {f.rule for f in deep} == {"partition-value", "value-suspect"}
        assert not any(f.remedy.startswith("Run doctor") for f in deep)


@pytest.mark.parametrize(("partition", "stored", "shown"), [(None, "hot", "null"), ("cold", "hot", "'cold'")])
def test_iceberg_java_shows_the_value_of_an_identity_partition(
    partition: str | None, stored: str, shown: str, tmp_path: Path
) -> None:
    table = Table(tmp_path / "t", [(1, "id", "long"), (2, "temp", "string")], [(2, 1000, "temp", "identity")])
    values = {"id": [1, 2], "temp": [stored, stored]}
    table.append(table.parquet("a.parquet", values, partition={"temp": partition}))
    table.append(table.parquet("b.parquet", {"id": [3], "temp": ["mild"]}, partition={"temp": "mild"}))
    opened = direct.open_table(str(table.folder))

    def explained(where: str) -> str:
        return "\n".join(opened.row_history(where).explain(opened.metadata.snapshots[-1]))

    words = f"Iceberg Java shows temp = {shown} in every row of this file"
    assert words in explained("id = 1")
    assert "Iceberg Java" not in explained("id = 3")
    opened.file_rows("a.parquet")
    assert any(words in problem.cause for problem in opened.tree.problems)
    [finding] = [f for f in direct.doctor(str(table.folder), deep=True).findings if f.rule == "partition-value"]
    assert "Spark shows the partition's value in each row" in str(finding)
    assert "while nobody else writes: INSERT INTO your_catalog.your_db.your_table (id, temp) SELECT" in finding.remedy
    assert "a.parquet`" in finding.remedy
