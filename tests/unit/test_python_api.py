"""What the Python functions take for a table, and what their rows can be handed to."""

from __future__ import annotations

import pickle
import re
from pathlib import Path

import polars
import pyarrow as pa
import pytest

import explorer
from explorer.errors import TableNotFound
from tests.support.small_tables import writable


def test_a_table_opens_by_a_path_and_as_pyiceberg_has_it(whole: Path) -> None:
    known = explorer.open_table(str(whole)).metadata.metadata_location
    assert explorer.open_table(whole).metadata.metadata_location == known
    theirs = writable(whole)
    opened = explorer.open_table(theirs)
    assert opened.metadata.metadata_location.removeprefix("file://") == theirs.metadata_location.removeprefix("file://")
    for wrong in (3, None, ["t"]):
        with pytest.raises(TableNotFound, match="is no table: give a name"):
            explorer.open_table(wrong)


def test_an_open_table_opens_again_with_what_it_has_read(whole: Path) -> None:
    table = explorer.open_table(whole)
    for again in (explorer.open_table(table), explorer.open_table(table.engine)):
        assert again.engine.tree is table.engine.tree
        assert again._repr_mimebundle_().keys() == table._repr_mimebundle_().keys()


def test_functions_take_what_open_table_takes(whole: Path, tmp_path: Path) -> None:
    table = explorer.open_table(whole)
    shown = [re.sub(r"\d+ (second|minute)s?", "", repr(t.overview())) for t in (table, explorer.open_table(str(whole)))]
    assert shown[0] == shown[1]  # but for its age
    assert table.count().value.rows == 6
    for one in (whole, str(whole), table, table.engine):
        assert not explorer.doctor(one).value.findings
    assert explorer.export_html(whole, tmp_path / "page.html")["snapshots"] == 3
    with pytest.raises(explorer.NotPossible, match="no catalog points to it"):
        explorer.pointer(whole)
    assert table.history.watch(interval=0.1).notes[0].endswith("looking every 0.1 s")


def test_rows_are_handed_on_as_arrow(whole: Path) -> None:
    files = explorer.open_table(whole).inspect.files()
    assert polars.DataFrame(files).height == 3
    assert pa.table(files).num_rows == 3


def test_a_pickled_table_is_of_the_same_metadata_file(whole: Path) -> None:
    table = explorer.open_table(whole)
    again = pickle.loads(pickle.dumps(table))
    assert again.metadata == table.metadata
    assert again.inspect.files().to_arrow() == table.inspect.files().to_arrow()
