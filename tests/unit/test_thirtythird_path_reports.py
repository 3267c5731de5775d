"""What public reports of trouble with Iceberg tables told, a thirty-third time: of paths with empty segments, of
snapshots of one transaction, and of keys that several rows have."""

from __future__ import annotations

from pathlib import Path

from explorer.reports.duplicate_keys import explain_keys
from tests.cases.mini import Table
from tests.support import direct


# -- a race is told of the commit that has the key (datazip-inc/olake#1189) --------------------------------------------
def test_a_race_is_told_only_of_the_commit_that_added_the_older_row(tmp_path: Path) -> None:
    table = Table(str(tmp_path / "t"), [(1, "id", "long")])
    for name, ids in (("load", [1, 2, 3]), ("first", [9, 10]), ("second", [3, 10])):
        table.append(table.parquet(f"{name}.parquet", {"id": ids}), step=700)
    opened = direct.open_table(str(table.folder))
    of_load, of_first = (explain_keys(opened, [({"id": key}, 2)], ["id"], None)[0].why for key in (3, 10))
    assert "an append deletes nothing, so that the older row stays" in of_load
    assert "two writers" not in of_load
    assert "snapshot-2, an append too, added an older row 0.7 s before: two writers that begin at one" in of_first
