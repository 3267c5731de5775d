"""A row diff says which keys several rows of one side have."""

from __future__ import annotations

from pathlib import Path

from explorer.render.row_views import row_diff_json, row_diff_words
from tests.cases.mini import Table
from tests.support import direct


def upserted(folder: Path) -> Path:
    """A table whose last commit left a row that it should have replaced, and wrote another one twice."""
    table = Table(folder, [(1, "id", "long"), (2, "v", "string")])
    old = table.parquet("a.parquet", {"id": [1, 2, 3], "v": ["a", "b", "c"]})
    table.append(old)
    table.append(table.parquet("other.parquet", {"id": [9, 9], "v": ["y", "z"]}))
    gone = [(2, old, {"sequence_number": 1}), (1, table.parquet("b.parquet", {
        "id": [1, 1, 2, 2, 3, None, None], "v": ["a", "x", "b", "b", "d", "e", "f"]}))]  # fmt: skip
    table.snapshot("overwrite", [table.manifest("r.avro", gone), *table.lists[102][1:]])
    return folder


def test_keys_of_several_rows_are_told(tmp_path: Path) -> None:
    table = direct.open_table(str(upserted(tmp_path / "t")))
    found = table.row_diff("snapshot-2", "snapshot-3", keys=["id"])
    assert found.counts == {"inserted": 4, "deleted": 0, "updated": 1}
    assert (found.repeated.number, found.repeated.at_least) == (2, True)
    assert [(key.values, key.before, key.after) for key in found.repeated.first] == [
        ({"id": 1}, 1, 2),
        ({"id": 2}, 1, 2),
    ]
    words = row_diff_words(found)
    assert (
        "⚠ At least 2 keys, in the files that were read, have several rows on one side: id=1 (1 row before, 2 after)"
        in words
    )
    shown = row_diff_json(found)["repeated_keys"]
    assert shown["first"][0] == {"key": {"id": 1}, "before": 1, "after": 2}
    whole = table.row_diff(None, "snapshot-2", keys=["id"]).repeated
    assert (whole.number, whole.at_least, whole.first[0].values) == (1, False, {"id": 9})
    assert "⚠ 1 key has several rows on one side: id=9 (0 rows before, 2 after)." in row_diff_words(
        table.row_diff(None, "snapshot-2", keys=["id"])
    )
    assert table.row_diff("snapshot-2", "snapshot-3").repeated.number == 0
    assert table.row_diff("snapshot-2", "snapshot-3", keys=["id", "v"]).repeated.first[0].values == {"id": 2, "v": "b"}


def test_of_many_keys_of_several_rows_the_first_are_told(tmp_path: Path) -> None:
    table = Table(tmp_path / "t", [(1, "id", "long")])
    table.append(table.parquet("a.parquet", {"id": [*range(30), *range(30), 7]}))
    found = direct.open_table(str(tmp_path / "t")).row_diff(None, "main", keys=["id"])
    assert found.repeated.number == 30
    assert [key.values["id"] for key in found.repeated.first] == [7, 0, 1, 2, 3, 4, 5, 6, 8, 9]
    assert "and 20 more. Rows of such a key" in row_diff_words(found)
