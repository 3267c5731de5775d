"""Rows for a page: some at a time, in any order, filtered where they are."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from explorer.app.row_pages import MOST, RowPages
from explorer.errors import ExplorerError
from explorer.queries.collection import Collection
from explorer.spec.entries.lazy_table import Batches
from tests.support import direct


def rows(count: int = 2_500) -> Collection:
    numbers = list(range(count))
    table = pa.table({
        "record_count": pa.array([(n * 7919) % count if n % 10 else None for n in numbers], pa.int64()),
        "file_path": [f"s3://b/data/{n:05}.parquet" for n in numbers],
        "file_size_in_bytes": pa.array(numbers, pa.int64()),
        "tags": pa.array([[n % 3] for n in numbers], pa.list_(pa.int64())),
    })  # fmt: skip
    return Collection(table, "files")


def names(pages: RowPages) -> list[str]:
    return [column["name"] for column in pages.columns()]


def test_pages_together_are_all_rows() -> None:
    pages = RowPages(rows())
    parts = [pages.page(start, MOST)["rows"] for start in range(0, 3_000, MOST)]
    at = names(pages).index("file_path")
    assert [row[at] for part in parts for row in part] == [f"s3://b/data/{n:05}.parquet" for n in range(2_500)]
    assert pages.page(0, 10**9)["rows"] == parts[0]


@pytest.mark.parametrize("column", ["record_count", "file_path", "file_size_in_bytes", "tags"])
def test_any_column_sorts_both_ways_with_nulls_last(column: str) -> None:
    pages = RowPages(rows())
    at = names(pages).index("file_path")
    up = [row[at] for start in range(0, 2_500, MOST) for row in pages.page(start, MOST, column)["rows"]]
    down = [row[at] for start in range(0, 2_500, MOST) for row in pages.page(start, MOST, column, True)["rows"]]
    assert sorted(up) == sorted(down) == [f"s3://b/data/{n:05}.parquet" for n in range(2_500)]
    shown = names(pages).index(column)
    last = pages.page(2_499, 1, column)["rows"][0][shown], pages.page(2_499, 1, column, True)["rows"][0][shown]
    assert (last[0] is None) == (last[1] is None) == (column == "record_count")


def test_a_filter_looks_at_all_rows_not_at_those_that_were_sent() -> None:
    pages = RowPages(rows())
    page = pages.page(0, 10, where="file_size_in_bytes >= 2490")
    assert (len(page["rows"]), pages.page(0, 0, where="file_size_in_bytes >= 2490")["total"]) == (10, 10)
    assert pages.page(0, 5, "file_size_in_bytes", True, "file_size_in_bytes >= 2490")["total"] == 10
    with pytest.raises(ExplorerError):
        pages.page(0, 10, where="no_such = 1")
    with pytest.raises(ExplorerError):
        pages.page(0, 10, "no_such")


def test_the_first_page_reads_no_more_than_it_shows() -> None:
    read: list[int] = []

    def parts() -> object:
        for n in range(100):
            read.append(n)
            yield pa.table({"n": list(range(n * 50, n * 50 + 50))})

    pages = RowPages(Collection(Batches(pa.schema([("n", pa.int64())]), parts), "rows"))  # type: ignore[arg-type]
    page = pages.page(0, 60)
    assert (len(page["rows"]), page["total"], page["more"]) == (60, None, True)
    assert len(read) <= 4
    assert pages.page(0, 0)["total"] == 5_000


def test_values_are_shown_as_people_read_them(table: Path) -> None:
    opened = direct.open_table(table)
    pages = RowPages(opened.entries(), opened.metadata)
    shown = dict(zip(names(pages), pages.page(0, 1)["rows"][0], strict=True))
    assert shown["status"] in ("ADDED", "EXISTING", "DELETED")
    assert shown["content"] == "data"
    assert str(shown["file_size_in_bytes"]).endswith("B")
    kinds = {column["name"]: (column["kind"], column["link"]) for column in pages.columns()}
    assert kinds["file_path"] == ("text", "file")
    assert kinds["record_count"] == ("number", "")
    assert kinds["snapshot_id"] == ("text", "snapshot")


def test_lists_of_objects_are_said_in_words() -> None:
    """The clauses of a delete, those that do not hold first; a column of a user's table stays as it is."""
    clauses = [
        {"clause": "partition", "holds": True, "words": "it is global"},
        {"clause": "sequence", "holds": False, "words": "3 is not < 2"},
    ]
    splits = [{"file_path": "s3://b/data/a.parquet", "start": 4096, "length": 2048, "delete_files": 0}]
    pairs = RowPages(Collection.of_rows([{"data_file": "a", "reasons": clauses}], "pairs"))
    assert pages_cell(pairs, "reasons") == "3 is not < 2; it is global"
    tasks = RowPages(Collection.of_rows([{"task": 1, "splits": splits}], "tasks"))
    assert pages_cell(tasks, "splits") == "a.parquet from byte 4,096: 2.0 KiB"
    users = RowPages(Collection.of_rows([{"id": 1, "reasons": [1, 2]}], "rows"))
    assert pages_cell(users, "reasons") == "[1, 2]"


def pages_cell(pages: RowPages, column: str) -> str:
    [row] = pages.page(0, 1)["rows"]
    return str(row[names(pages).index(column)])
