"""Dates, times and decimals that Python has no objects for: every command answers."""

from __future__ import annotations

import struct
from decimal import Context, Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import explorer
from explorer.cli import main
from tests.cases.mini import Table
from tests.support import direct

LAST, FIRST = (1 << 63) - 1, -(1 << 63)
HOUR = 3_600_000_000
NINES = Decimal("9" * 36 + ".99")
FIELDS = [
    (1, "id", "long"), (2, "d", "date"), (3, "t", "timestamp"), (4, "z", "timestamptz"), (5, "n", "decimal(38,2)"),
    (6, "tm", "time"),
]  # fmt: skip
TYPES = [
    pa.int64(), pa.date32(), pa.timestamp("us"), pa.timestamp("us", "UTC"), pa.decimal128(38, 2), pa.time64("us"),
]  # fmt: skip


def unscaled(value: Decimal) -> bytes:
    number = int(value.scaleb(2, Context(prec=60)))
    return number.to_bytes(number.bit_length() // 8 + 1, "big", signed=True)


def wrapped(hours: int) -> int:
    """An hour as 32 bits hold it."""
    return (hours + (1 << 31)) % (1 << 32) - (1 << 31)


def data_file(table: Table, name: str, days: int, micros: int, number: Decimal) -> dict[str, Any]:
    """A file of one row whose times are these."""
    raw = [pa.array([0]), pa.array([days], pa.int32()), *[pa.array([micros], pa.int64())] * 2]
    arrays = [*raw, pa.array([number]), pa.array([86_399_999_999], pa.int64())]
    schema = pa.schema(
        [pa.field(f[1], kind, metadata={"PARQUET:field_id": str(f[0])}) for f, kind in zip(FIELDS, TYPES, strict=True)]
    )
    path = table.folder / "data" / name
    columns = [a.cast(kind) for a, kind in zip(arrays, TYPES, strict=True)]
    pq.write_table(pa.table(columns, schema=schema), path)
    long = struct.Struct("<q").pack
    bounds = {1: long(0), 2: struct.pack("<i", days), 3: long(micros), 4: long(micros), 5: unscaled(number),
              6: long(86_399_999_999)}  # fmt: skip
    return {
        "content": 0, "file_path": f"{table.location}/data/{name}", "file_format": "PARQUET", "record_count": 1,
        "partition": {"d": days, "t_hour": wrapped(micros // HOUR), "z": micros}, "split_offsets": [4],
        "file_size_in_bytes": path.stat().st_size, "value_counts": dict.fromkeys(range(1, 7), 1),
        "null_value_counts": dict.fromkeys(range(1, 7), 0), "lower_bounds": bounds, "upper_bounds": bounds,
    }  # fmt: skip


@pytest.fixture(scope="module")
def extreme(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three snapshots: two of data, one of an equality delete."""
    spec = [(2, 1000, "d", "identity"), (3, 1001, "t_hour", "hour"), (4, 1002, "z", "identity")]
    table = Table(tmp_path_factory.mktemp("extreme") / "t", FIELDS, spec)
    table.append(data_file(table, "a.parquet", (1 << 31) - 1, LAST, NINES))
    later = data_file(table, "c.parquet", 4_000_000, 300_000_000_000_000_000, Decimal("0.00"))
    table.append(data_file(table, "b.parquet", -(1 << 31), FIRST, NINES.copy_negate()), later)
    gone = data_file(table, "e.parquet", 4_000_000, 300_000_000_000_000_000, Decimal("0.00"))
    table.delta(deletes=[{**gone, "content": 2, "equality_ids": [2, 3, 4, 5, 6]}], operation="delete")
    return table.folder


COMMANDS = """
show T|inspect metadata T|inspect snapshots T|inspect refs T|inspect manifests T|inspect entries T
inspect entries T --view all|inspect files T|diff T snapshot-1 snapshot-3|overview T|history lifecycle T
history lineage T|history commits T|inspect partitions T|inspect file T a.parquet|doctor T|doctor T --deep|health T
count T|inspect deletes T|inspect file T a.parquet --show rows|inspect file T b.parquet --show rows
inspect file T a.parquet --show footer|inspect file T e.parquet --show deletes|data diff T snapshot-1 snapshot-2
data diff T snapshot-2 snapshot-3|data history T id=0|data history T d>'2000-01-01'|plan T n>5|plan T d>'2000-01-01'
plan T t<'1900-01-01T00:00:00'|plan T day(t)='2024-01-01'|inspect map T|inspect columns T
inspect columns T --show clustering|scan estimate T d>'2000-01-01'|maintain preview T compact|maintain preview T expire
maintain preview T rewrite-manifests|export graph T --format svg|maintain preview T dangling-deletes
maintain preview T remove-orphans|export graph T --format json|inspect files T --filter partition.d>'2000-01-01'
inspect entries T --filter partition.d>'2000-01-01'|inspect schema T|inspect properties T
inspect deletes T --show layers
"""


@pytest.mark.parametrize("command", COMMANDS.strip().replace("\n", "|").split("|"))
def test_every_command_answers(command: str, extreme: Path) -> None:
    words = [str(extreme) if word == "T" else word for word in command.split()]
    for output in ([], ["-o", "json"]) if words[0] != "export" else ([],):
        result = CliRunner().invoke(main, words + output)
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exc_info
        assert result.exit_code == 0 or words[0] == "doctor", result.output


def test_lists_become_pandas_and_pages(extreme: Path, tmp_path: Path) -> None:
    table = direct.open_table(str(extreme))
    assert table.files().to_pandas()["partition"][0]["d"] == "5881580-07-11"
    for rows in (table.files(), table.entries(), table.partitions()):
        assert len(rows.to_pandas()) == len(list(rows))
    explorer.export_html(table, str(tmp_path / "page.html"))
    assert "a.parquet" in (tmp_path / "page.html").read_text()
    assert [v.applies for v in table.deletes().verdicts] == [True]


def test_the_doctor_tells_of_the_hours_that_wrapped_round(extreme: Path) -> None:
    report = direct.doctor(str(extreme), deep=True)
    wrong = [f for f in report.findings if f.severity != "info" and f.rule != "readers-differ"]
    assert [(f.rule, f.columns) for f in wrong] == [("partition-value", ("t_hour",))], report
    assert report.not_checked == ()
