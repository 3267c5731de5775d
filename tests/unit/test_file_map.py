"""The map of all files: every file in one cell, those of a partition together, and the rare not lost among many."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyiceberg.catalog.sql import SqlCatalog

from explorer.model.metadata import Snapshot, TableMetadata
from explorer.render.map_picture import MapColor, cell_words, map_svg, partition_ends, place_cells, size_classes
from explorer.render.pictures import WIDTH
from explorer.spec.layout.file_map import ASKED, CELLS, STATUS, VERDICTS, FileMap, MapRows
from explorer.spec.rows.spilled_rows import RowParts
from explorer.spec.scan.scan import OUTCOMES
from explorer.spec.text.names import natural
from explorer.spec.values.values import partition_path_by_name
from tests.support import direct
from tests.support.paper_tables import HOUR, on_paper
from tests.support.small_tables import partitioned


def entries(status: pa.Array, paths: pa.Array, snapshot_id: pa.Array, number: pa.Array | None = None) -> pa.Table:
    """Logical entries of an unpartitioned table, as many rows as their place."""
    nothing, rows = pa.repeat(pa.scalar(0, pa.int32()), len(paths)), pa.array(range(len(paths)), pa.int64())
    partition = pa.array([{}] * len(paths), pa.struct([]))
    columns = (status, paths, nothing, partition, nothing, rows, nothing, snapshot_id, number or snapshot_id)
    return pa.table(dict(zip(ASKED, columns, strict=True)))


def mapped(
    known: pa.Table, metadata: TableMetadata, snapshot: Snapshot | None, deletes: Any = None,
    planned: pa.Table | None = None, at_once: int = 7_777,
) -> FileMap:  # fmt: skip
    """The map of entries that come a few at a time."""
    files = MapRows(metadata, snapshot, deletes is not None)
    rows = [
        files.add(known.slice(at, at_once), None if deletes is None else deletes[at : at + at_once])
        for at in range(0, len(known), at_once)
    ]
    return FileMap(RowParts.of(pa.concat_tables(rows)), files, planned)


def test_many_files_are_a_few_thousand_cells_in_which_the_rare_one_shows() -> None:
    number = 100_003
    paths = pa.array(range(number), pa.int64()).cast(pa.string())
    status = pa.DictionaryArray.from_arrays(pa.array([0] * number, pa.int32()), pa.array(["EXISTING", "DELETED"]))
    status = pa.concat_arrays([status.slice(1), pa.array(["DELETED"]).dictionary_encode().cast(status.type)])
    metadata = on_paper([None])
    by = pa.repeat(pa.scalar(1, pa.int64()), number)
    applied = np.where(np.arange(number) == 500, 3, 0)
    known = mapped(entries(status, paths, by), metadata, metadata.current_snapshot, applied)
    cells = known.every
    assert len(cells) <= CELLS
    assert sum(cell.files for cell in cells) == len(known) == number
    assert [cell.status for cell in cells].count("DELETED") == 1
    assert (cells[-1].status, cells[-1].mixed, cells[500 // cells[0].files].deletes) == ("DELETED", True, 3)
    inner = known.cells(cells[-1].first, number)
    assert [cell.path for cell in inner if cell.status == "DELETED"] == [str(number - 1)]
    assert known.counts() == dict(zip(STATUS, (number - 1, 0, 1), strict=True))


COLORS: tuple[MapColor, ...] = ("status", "partition", "size", "age", "deletes", "scan")


def legend(drawn: str) -> list[str]:
    """What the colors of a map mean."""
    return re.findall(r'height="12" fill="[^"]*"/>\n<text [^>]*>([^<]*)', drawn)


Row = dict[str, Any]


def told_of(some: list[Row], named: Callable[[Row], str], said: dict[str, str] | None, counted: bool) -> list[Any]:
    """What a cell tells of files, but for its first place and their age."""
    names, statuses = {named(row) for row in some}, {STATUS.index(row["logical_status"]) for row in some}
    data = [row for row in some if row["content"] == 0 and row["logical_status"] != "DELETED"]
    verdicts = [VERDICTS.index((said or {}).get(row["file_path"], VERDICTS[1])) for row in data]
    return [
        len(some), sum(row["record_count"] for row in some), sum(row["file_size_in_bytes"] for row in some),
        some[0]["file_path"], names.pop() if len(names) == 1 else None, STATUS[max(statuses)], len(statuses) > 1,
        max(row["deletes"] for row in some) if counted else None, sum(row["content"] for row in some),
        None if said is None else VERDICTS[max(verdicts, default=0)],
    ]  # fmt: skip


@pytest.mark.parametrize("seed", range(24))
def test_a_cell_tells_of_its_files_what_they_say_one_by_one(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("explorer.spec.layout.file_map.CELLS", 7)
    draw = random.Random(seed)
    by = [{"field-id": 1000, "name": "part", "transform": "identity", "source-id": 1}]
    specs = [{"spec-id": 0, "fields": []}, {"spec-id": 1, "fields": by}]
    metadata = on_paper([None, 1], change=lambda data: data.update({"partition-specs": specs}))
    partitions, number = draw.choice([2, 60]), draw.choice([1, 9, 150])
    rows = [
        {"logical_status": draw.choice([*STATUS, None]), "file_path": f"{at}.parquet", "content": draw.randrange(2),
         "partition": {"part": draw.randrange(partitions) if spec else None}, "spec_id": spec,
         "record_count": draw.randrange(1000), "file_size_in_bytes": draw.randrange(1 << 40), "snapshot_id": 1,
         "file_sequence_number": 1, "deletes": draw.choice([0, 0, 1, 300])}
        for at in range(number) for spec in [draw.randrange(2)]
    ]  # fmt: skip
    known = pa.Table.from_pylist(rows)
    counted, asked = draw.random() < 0.5, [row["file_path"] for row in rows if draw.random() < 0.5]
    said = {path: draw.choice(OUTCOMES) for path in asked} if draw.random() < 0.7 else None
    planned = None if said is None else pa.table(
        {"file_path": pa.array(said, pa.string()), "verdict": pa.array(said.values(), pa.string())}
    )  # fmt: skip
    deletes = np.array(known["deletes"]) if counted else None
    made = mapped(known.select(ASKED), metadata, metadata.current_snapshot, deletes, planned, draw.randrange(1, 40))

    def named(row: Row) -> str:
        return partition_path_by_name(row["partition"], metadata.spec(row["spec_id"]), metadata)

    live = sorted((row for row in rows if row["logical_status"]), key=lambda row: natural(named(row)))
    assert len(made) == len(live)
    spans = [(0, len(live)), *((low, draw.randrange(low, len(live) + 1)) for low in range(0, len(live), 11))]
    for start, stop in spans:
        each = max(1, -(-(stop - start) // 7))
        cells = [
            [c.files, c.rows, c.bytes, c.path, c.partition, c.status, c.mixed, c.deletes, c.delete_files, c.verdict]
            for c in made.cells(start, stop)
        ]
        runs = [live[at : min(at + each, stop)] for at in range(start, stop, each)]
        assert cells == [told_of(run, named, said, counted) for run in runs]


@pytest.mark.parametrize("deletes", [False, True])
def test_a_snapshot_without_a_file_has_a_map_without_a_cell(deletes: bool, tmp_path: Path) -> None:
    for table in (
        in_nothing(tmp_path / "none"),
        in_nothing(tmp_path / "empty", pa.table({"id": pa.array([], pa.int64())})),
    ):
        assert direct.file_map(table, deletes=deletes).every == []
        assert table.delete_layers(table.deletes()) == []


def in_nothing(folder: Path, *appended: pa.Table) -> direct.Table:
    """A table to which nothing was written, or tables of no rows."""
    folder.mkdir()
    catalog = SqlCatalog("none", uri=f"sqlite:///{folder}/c.db", warehouse=f"file://{folder}/w")
    catalog.create_namespace("db")
    table = catalog.create_table("db.t", pa.schema([("id", pa.int64())]))
    for rows in appended:
        table.append(rows)
    catalog.engine.dispose()
    return direct.open_table(table.location().removeprefix("file://"))


def test_files_of_a_partition_lie_together_as_large_as_their_bytes(tmp_path: Path) -> None:
    table = direct.open_table(str(partitioned(tmp_path)))
    cells = direct.file_map(table).every
    assert {(cell.deletes, cell.verdict) for cell in cells} == {(None, None)}  # nobody asked
    assert [cell.partition for cell in cells][:3] == ["id=0/kind=<b>", "id=1/kind=$$x$$", "id=2/kind=$$x$$"]
    places, names = place_cells(cells)
    assert len(names) <= len(places) == 130
    assert all(wide > 0 and high > 0 for _, _, wide, high in places)
    for color in COLORS:
        drawn = map_svg(cells, color)
        assert drawn.count("data-key=") == 130
        assert all(f'data-key="{cell.path}"' in drawn for cell in cells)


def test_among_many_cells_it_is_seen_where_a_partition_ends_and_which_it_is(tmp_path: Path) -> None:
    one = direct.file_map(direct.open_table(str(partitioned(tmp_path)))).every[0]
    names = ["day=1"] * 400 + ["day=2"] * 5 + ["day=$$3$$"] * 595
    cells = [replace(one, first=at, partition=name) for at, name in enumerate(names)]
    places, named = place_cells(cells)
    assert len(set(places)) == len(cells)
    assert [name for name, _ in named] == ["day=1", "day=$$3$$"]  # the five fill no row
    for name, (left, top, _, _) in named:
        beside = [
            cells[at].partition for at, place in enumerate(places) if place[:2] >= (left, top) and place[1] == top
        ]
        assert set(beside) == {name}
    lines = partition_ends(cells)
    assert [line[1] for line in lines] == [places[400][:2], places[405][:2]]
    assert all((line[0][0], line[-1][0]) == (WIDTH, 0) for line in lines)
    drawn = map_svg(cells, "partition")
    assert drawn.count("<polyline") == 4  # a dark line on a light one
    assert re.findall(r">(day=[^<]*)</text>", drawn) == ["day=1", "day=2", "day=$$3$$", "day=1", "day=$$3$$"]
    each = [replace(cell, partition=str(at // 40)) for at, cell in enumerate(cells)]  # none fills a row
    assert partition_ends(each) == []


def test_with_a_plan_every_file_says_what_the_scan_does_with_it(tmp_path: Path) -> None:
    table = direct.open_table(str(partitioned(tmp_path)))
    plan = table.plan("id = 7")
    cells = direct.file_map(table, plan=plan, deletes=True).every
    assert {cell.deletes for cell in cells} == {0}
    verdicts = {cell.path: cell.verdict for cell in cells}
    said = {row["file_path"]: row["verdict"] for part in plan.files.read() for row in part.to_pylist()}
    assert said.items() <= verdicts.items()
    assert {verdicts[path] for path in verdicts.keys() - said.keys()} <= {VERDICTS[1]}
    assert len([v for v in verdicts.values() if v == "read"]) == plan.left.files == 1
    assert legend(map_svg(cells, "scan")) == [v for v in VERDICTS if v in verdicts.values()]
    assert "; read" in cell_words(next(cell for cell in cells if cell.verdict == "read"))


def test_of_files_of_which_one_is_read_the_cell_is_read_and_what_is_no_live_data_file_is_told_apart() -> None:
    number, metadata = 10_000, on_paper([None])
    paths = pa.array(range(number), pa.int64()).cast(pa.string())
    by = pa.repeat(pa.scalar(1, pa.int64()), number)
    status = pa.array(["DELETED"] * 6 + ["EXISTING"] * (number - 6))
    planned = pa.table({"file_path": ["0", "7", "100", "200"], "verdict": [OUTCOMES[0], *OUTCOMES]})
    cells = mapped(entries(status, paths, by), metadata, metadata.current_snapshot, None, planned).every
    each = cells[0].files
    assert each == 3
    wanted = {0: VERDICTS[0], 1: VERDICTS[0], 7 // each: "read", 100 // each: OUTCOMES[1], 200 // each: OUTCOMES[2]}
    assert {at: cells[at].verdict for at in wanted} == wanted
    assert cells[-1].verdict == "skipped with its manifest"


def test_age_is_that_of_the_snapshot_that_added_a_file_also_where_another_deleted_it() -> None:
    metadata = on_paper([None, 1, 2, 3])
    status = pa.array(["ADDED", "EXISTING", "EXISTING", "EXISTING", "DELETED", "DELETED"])
    paths = pa.array(["own", "of 3", "of 1", "of an expired one", "deleted, of 2", "deleted, of v1"])
    stored = entries(status, paths, pa.array([4, 3, 1, 99, 4, 4]), pa.array([4, 3, 1, 5, 2, 0]))
    ages = [cell.age_ms for cell in mapped(stored, metadata, metadata.snapshot(4)).every]
    assert ages == [0, HOUR, 3 * HOUR, None, 2 * HOUR, None]
    back = [cell.age_ms for cell in mapped(stored.slice(1, 1), metadata, metadata.snapshot(2)).every]
    assert back == [1]  # by clocks that went back
    every = mapped(stored, metadata, metadata.snapshot(4)).every
    assert [cell_words(cell).rpartition("; ")[2] for cell in every][:5] == [
        "added with this snapshot", "added 1 hour before", "added 3 hours before", "added at an unknown time",
        "added 2 hours before",
    ]  # fmt: skip
    drawn = map_svg(mapped(stored, metadata, metadata.snapshot(4)).every, "age")
    assert legend(drawn) == ["with this snapshot", "up to 1 hour before", "up to 6 hours before", "age unknown"]


def test_of_many_files_the_age_is_that_of_the_newest() -> None:
    metadata, number = on_paper([None, 1, 2]), 10_000
    paths = pa.array(range(number), pa.int64()).cast(pa.string())
    by = pa.array([99] * 100 + [1] * 4900 + [2] * 5000, pa.int64())
    cells = mapped(entries(pa.array(["EXISTING"] * number), paths, by), metadata, metadata.current_snapshot).every
    assert [cells[at].age_ms for at in (0, 100, -1)] == [None, 2 * HOUR, HOUR]
    assert "; the newest added 1 hour before" in cell_words(cells[-2])


@pytest.mark.parametrize("sizes", [[], [0], [5, 6], [1, 10**9], [100, 1_000, 10_000]])
def test_every_size_has_a_class(sizes: list[int]) -> None:
    bounds = size_classes(sizes)
    assert bounds == sorted(bounds)
    assert max(sizes, default=0) <= bounds[-1]
