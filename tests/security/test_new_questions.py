"""What strangers may put into tables and checkpoints, for the questions about readers, duplicates and files."""

from __future__ import annotations

import gzip
import json
import struct
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import explorer
from explorer.errors import NotFoundInTable
from explorer.queries.reader_positions import reader_positions
from explorer.spec.filters.filter_text import FilterError, parse
from explorer.spec.rows.duplicate_keys import key_filter
from explorer.spec.snapshots.reader_positions import oldest_needed_ms
from tests.support import direct
from tests.support.paper_tables import HOUR, table_metadata
from tests.support.small_tables import make_table

NOW = 400_000 * HOUR
LONG_TEXTS = ["'" + "a" * 900_000 + "'", "X'" + "00" * 400_000 + "'", '"' + "a" * 900_000 + '"']


def most_memory(work: Callable[[], Any]) -> int:
    """Bytes that Python allocates at most."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("text", LONG_TEXTS, ids=["text", "bytes", "name"])
def test_a_long_text_in_a_filter_takes_its_own_length(text: str) -> None:
    assert most_memory(lambda: parse(f"{text} = 1" if text[0] == '"' else f"id = {text}")) < 20 * len(text)


def test_a_filter_has_an_end() -> None:
    with pytest.raises(FilterError, match="is longer than"):
        parse(key_filter({"k": "'" * 2_000_000}))
    for odd in ("k = X'0'", "k = X'000'"):
        with pytest.raises(FilterError, match="bytes are pairs of digits"):
            parse(odd)
    assert str(parse("k = X'00ff'")) == str(parse("k = x'00FF'"))
    for value in ("it's", "", "a''b", "'"):
        assert parse(key_filter({"k": value})).literals == (value,)  # type: ignore[union-attr]


def preview(table: Path, reader: Path) -> Any:
    option = {"older_than": "2999-01-01"}
    return explorer.open_table(str(table)).maintain.preview("expire", option=option, reader=[str(reader)]).value


def test_a_checkpoint_in_the_tables_own_folder_is_no_way_to_the_memory(tmp_path: Path) -> None:
    table = make_table(tmp_path, 2)
    flink = table / "flink"
    flink.mkdir()
    position = b"\x00\x00\x00\x01\x00\x00\x00\x0a\x01%s\x00"
    (flink / "_metadata").write_bytes(b"".join(position % struct.pack(">q", n) for n in range(1, 100_001)))
    line = '{"snapshot_id":%d,"scan_all_files":false}\n'
    spark = table / "offsets-of-many"
    spark.write_text("".join(line % n for n in range(1, 20_001)))
    alike = table / "offsets-alike"
    alike.write_text(line % 1 * 20_000)
    many = table / "many"
    for number in range(101):
        (many / f"sources/{number}/offsets").mkdir(parents=True)
        (many / f"sources/{number}/offsets/0").write_text(line % 1)
    (many / "offsets").mkdir()
    for place in (flink, spark, many):
        with pytest.raises(NotFoundInTable, match="has more than 100 positions: it is no checkpoint"):
            preview(table, place)
    assert len(preview(table, alike).tables["readers"]) == 1
    full = table / "full"
    (full / "offsets").mkdir(parents=True)
    for number in range(10_001):
        (full / f"{number}").touch()
    with pytest.raises(NotFoundInTable, match="has more than 10,000 files"):
        preview(table, full)


def test_positions_of_a_long_history_are_looked_at_one_by_one(tmp_path: Path) -> None:
    folder = tmp_path / "t"
    (folder / "metadata").mkdir(parents=True)
    parents: list[int | None] = [None, *range(1, 5_000)]
    made = json.loads(table_metadata(parents, {"main": {"snapshot-id": 5_000, "type": "branch"}}, {}, NOW))
    made["location"] = str(folder)
    (folder / "metadata/v1.gz.metadata.json").write_bytes(gzip.compress(json.dumps(made).encode()))
    checkpoint = folder / "offsets"
    checkpoint.write_text("".join(f'{{"snapshot_id":{n},"scan_all_files":false}}\n' for n in range(1, 100)))
    table = direct.open_table(str(folder))
    positions = reader_positions(table.metadata, table.reader.storage, [str(checkpoint)])
    assert len(positions) == 99
    assert most_memory(lambda: oldest_needed_ms(table.metadata, positions)) < 10 << 20
