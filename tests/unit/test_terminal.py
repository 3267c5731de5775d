"""What people type in the terminal: what is displayed is taken as a filter, and as the name of a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from click.testing import CliRunner

from explorer.cli import main
from explorer.errors import NotFoundInTable
from explorer.spec.text.names import file_label, shorten
from explorer.spec.text.path_lookup import closeness
from tests.support import direct


def run(*arguments: str) -> Any:
    return CliRunner().invoke(main, list(arguments))


def test_filters_take_what_is_displayed(table: Path) -> None:
    opened = direct.open_table(table)
    assert len(opened.entries(view="all").select("stored.status = 'ADDED' and logical_status = 'EXISTING'")) == 2
    entries = opened.entries()
    assert len(entries.select("status = 'ADDED'")) == len(entries.select("status = 1")) == 3
    assert len(entries.select("status IN ('deleted', 'EXISTING') or content = 'position deletes'")) == 0
    assert len(opened.manifests().select("content = 'data'")) == 3
    times = [row["timestamp-ms"] for row in opened.snapshots]
    shown = [line.split("UTC")[0].split()[-2:] for line in repr(opened.snapshots).splitlines() if "UTC" in line]
    assert len(shown) == 3
    for n, time in enumerate(times):
        text = f"{' '.join(shown[n])} UTC"
        assert [row["timestamp-ms"] for row in opened.snapshots.select(f"timestamp-ms = '{text}'")] == [time]
        assert len(opened.snapshots.select(f"snapshot-id = {opened.snapshots[n]['snapshot-id']}")) == 1
        assert [row["snapshot"] for row in opened.snapshots.select(f"snapshot = 'snapshot-{n + 1}'")]
    with pytest.raises(NotFoundInTable, match="status is one of 'EXISTING', 'ADDED', 'DELETED', not 'ADED'"):
        entries.select("status = 'ADED'")
    with pytest.raises(NotFoundInTable, match="is no time"):
        opened.snapshots.select("timestamp-ms > 'yesterday'")


def test_snapshots_have_names_and_times(table: Path) -> None:
    lines = run("inspect", "snapshots", str(table)).stdout.splitlines()
    assert lines[0].split()[:2] == ["snapshot", "snapshot-id"]
    assert lines[1].startswith("snapshot-1 ")
    assert " UTC " in lines[1]
    rows = json.loads(run("inspect", "snapshots", str(table), "-o", "json").stdout)
    assert [row["snapshot"] for row in rows] == ["snapshot-1", "snapshot-2", "snapshot-3"]
    assert all(isinstance(row["timestamp-ms"], int) for row in rows)


def test_how_close_a_path_is() -> None:
    spark = "file:///t/data/p=1/00003-12-8d031c1e-1111-4111-8111-222222222222-00001.parquet"
    paths = pa.array(["file:///t/data/a.parquet", "file:///t/data/a.parquet.old", "file:///t/data/ba.parquet", spark])

    def told(text: str) -> list[int | None]:
        return closeness(paths, text).to_pylist()  # type: ignore[no-any-return]

    assert told("a.parquet") == [0, 3, 2, None]  # the last part, a beginning, an end
    assert told("data/a.parquet") == [0, 3, None, None]
    assert told("file:///t/data/ba.parquet") == [None, None, 0, None]
    assert told("00003") == [None, None, None, 3]
    assert told(file_label(spark)) == [None, None, None, 1]
    assert told(shorten(spark, 30)) == [None, None, None, 1]
    assert told("") == told("p=2/") == told("\ud800") == [None] * 4


def test_a_file_goes_by_any_part_that_only_it_has(table: Path) -> None:
    paths = direct.open_table(table).files().to_arrow()["file_path"].to_pylist()
    name = paths[0].rsplit("/", 1)[-1]
    for text in (paths[0], name, name[:-8], name[4:], file_label(paths[0]), shorten(paths[0], 40)):
        for show in ("life", "footer", "rows"):
            told = run("inspect", "file", str(table), text, "--show", show, "-o", "json")
            assert told.exit_code == 0, (show, text, told.output)
    told = run("inspect", "file", str(table), ".parquet", "--show", "rows")
    assert told.exit_code != 0
    assert "3 live data file of this snapshot goes by '.parquet': file://" in told.output
    assert "may mean 3 files" in run("inspect", "file", str(table), "parquet").output
