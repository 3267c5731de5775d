"""The map of all files: every file in one cell, those of a partition together, and the rare not lost among many."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import explorer
from explorer.core.file_map import ASKED, CELLS, STATUS, FileMap, size_classes
from explorer.ui.file_map import MANY, map_figure, map_words, placed
from tests.unit.paper import on_paper
from tests.unit.small import partitioned


def test_many_files_are_a_few_thousand_cells_in_which_the_rare_one_shows() -> None:
    number = 100_003
    paths = pa.array(range(number), pa.int64()).cast(pa.string())
    status = pa.DictionaryArray.from_arrays(pa.array([0] * number, pa.int32()), pa.array(["EXISTING", "DELETED"]))
    status = pa.concat_arrays([status.slice(1), pa.array(["DELETED"]).dictionary_encode().cast(status.type)])
    nothing = pa.repeat(pa.scalar(0, pa.int32()), number)
    columns = (
        status,
        paths,
        nothing,
        pa.array([{}] * number, pa.struct([])),
        nothing,
        nothing,
        pa.array(range(number)),
    )
    known = FileMap(pa.table(dict(zip(ASKED, columns, strict=True))), on_paper([None]), {"500": 3})
    cells = known.every
    assert len(cells) <= CELLS
    assert sum(cell.files for cell in cells) == len(known) == number
    assert [cell.status for cell in cells].count("DELETED") == 1
    assert (cells[-1].status, cells[-1].mixed, cells[500 // cells[0].files].deletes) == ("DELETED", True, 3)
    inner = known.cells(cells[-1].first, number)
    assert [cell.path for cell in inner if cell.status == "DELETED"] == [str(number - 1)]
    assert known.counts() == dict(zip(STATUS, (number - 1, 0, 1), strict=True))


def test_files_of_a_partition_lie_together_as_large_as_their_bytes(tmp_path: Path) -> None:
    table = explorer.open_table(str(partitioned(tmp_path)))
    known = FileMap(table.entries().select(columns=ASKED).to_arrow(), table.metadata)
    cells = known.every
    assert [cell.partition for cell in cells][:3] == ["id=0/kind=<b>", "id=1/kind=$$x$$", "id=2/kind=$$x$$"]
    places, names = placed(cells)
    assert len(names) <= len(places) == 130
    assert all(right > 0 and high > 0 for _, _, right, high in places)
    clicked: list[str] = []
    for by in MANY:
        drawn = map_figure(cells, by, lambda cell: clicked.append(cell.path))
        drawn.renderers[0].data_source.selected.indices = [0]
        assert sum(len(r.data_source.data["left"]) for r in drawn.renderers if "left" in r.data_source.data) == 130
    assert len(clicked) == len(MANY)
    assert map_words(cells).startswith("130 files as 130 cells")


@pytest.mark.parametrize("sizes", [[], [0], [5, 6], [1, 10**9], [100, 1_000, 10_000]])
def test_every_size_has_a_class(sizes: list[int]) -> None:
    bounds = size_classes(sizes)
    assert bounds == sorted(bounds)
    assert max(sizes, default=0) <= bounds[-1]
