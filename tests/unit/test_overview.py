"""A table at a glance says what other questions answer, and what is silent stays silent."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from click.testing import CliRunner
from pyiceberg.transforms import BucketTransform, IdentityTransform

from explorer.cli import main
from explorer.render.overview import moment_words, tiles
from explorer.spec.overview.overview import transform_words, type_words
from explorer.spec.text.units import span
from tests.cases.mini import Table
from tests.support import direct
from tests.support.small_tables import edit_metadata, make_table, new_table


def test_it_agrees_with_other_questions(tmp_path: Path) -> None:
    table = direct.open_table(str(make_table(tmp_path, commits=3)))
    told = direct.overview(table, now_ms=(table.metadata.current_snapshot.timestamp_ms or 0) + 7_200_000)
    files = table.files()
    assert (told.data_files, told.bytes) == (len(files), sum(f["file_size_in_bytes"] for f in files))
    assert told.rows_counted == told.rows_recorded == direct.live_rows(table).rows
    assert (told.is_current, span(told.age_ms), told.refs) == (True, "2 hours", ("branch main: snapshot-3",))
    assert [m.added["rows"] for m in told.moments] == [2, 2, 2]
    assert sum(m.added["bytes"] or 0 for m in told.moments) == told.bytes
    assert told.judged is not None
    assert told.judged.doctor == "nothing wrong was found"
    assert told.judged.sizes is not None
    older = direct.overview(table, "snapshot-1")
    assert (older.rows_counted, older.is_current, older.judged) == (2, False, None)


def test_rows_that_were_not_counted_are_at_most_what_is_listed(tmp_path: Path) -> None:
    """Deletes take some of them, and of a damaged table nobody knows which."""
    folder = make_table(tmp_path, commits=2)
    told = direct.overview(direct.open_table(str(folder)))
    assert tiles(told)[0] == ("rows", "4", "as recorded")
    unknown = replace(told, rows_counted=None)
    assert tiles(unknown)[0] == ("rows", "≤ 4", "4 recorded; deletes are not subtracted")


def test_quick_reads_no_manifest(tmp_path: Path) -> None:
    folder = make_table(tmp_path, commits=2)
    for manifest in (folder / "metadata").glob("*-m0.avro"):
        manifest.write_text("none")
    table = direct.open_table(str(folder))
    assert direct.overview(table, quick=True).data_files == 2
    assert table.problems == []


def test_silence_is_not_zero(tmp_path: Path) -> None:
    folder = make_table(tmp_path, commits=2)
    edit_metadata(folder, lambda data: data["snapshots"][0].update(summary={"operation": "append"}))
    told = direct.overview(direct.open_table(str(folder)), quick=True)
    assert [m.added["rows"] for m in told.moments] == [None, 2]
    assert [moment_words(m).split(",")[0] for m in told.moments] == ["not told", "+2 rows"]
    empty = direct.overview(direct.open_table(str(make_table(tmp_path / "empty", commits=0))))
    assert (empty.snapshot, empty.rows_counted, empty.moments) == ("no snapshot", 0, ())


def test_words_of_specs_orders_and_types(tmp_path: Path) -> None:
    table = new_table(tmp_path / "t", pa.schema([("id", pa.int64()), ("tags", pa.list_(pa.string()))]))
    with table.update_spec() as spec:
        spec.add_field("id", BucketTransform(16))
    with table.update_sort_order() as order:
        order.desc("id", IdentityTransform())
    told = CliRunner().invoke(main, ["overview", str(tmp_path / "t")]).output
    assert "id long, tags list of string\n" in told
    assert "partitioned by  id hashed into 16 buckets (spec 1; 2 are kept)\n" in told
    assert "sorted by  id, descending, nulls last (sort order 1; 2 are kept)\n" in told
    strange = ["zorder[3]", "bucket[x]"]
    assert [transform_words(t, "a") for t in strange] == ["zorder[3] of a", "bucket[x] of a"]
    assert type_words({"type": "map", "key": "int", "value": {"type": "struct", "fields": []}}).startswith("map of int")
    assert type_words(None) == type_words({"type": 3}) == "unknown type"


def test_what_a_stranger_wrote_stays_text(tmp_path: Path) -> None:
    folder = make_table(tmp_path, commits=1)
    evil = "<img src=x onerror=alert(1)>\x1b[2J"
    edit_metadata(folder, lambda data: data["schemas"][0]["fields"][0].update(name=evil))
    told = direct.overview(direct.open_table(str(folder)))
    assert "\x1b" not in repr(told)
    assert "<img" not in told._repr_html_()
    assert (
        json.loads(CliRunner().invoke(main, ["overview", str(folder), "-o", "json"]).output)["columns"][0]["name"]
        == evil
    )


@pytest.mark.parametrize(
    ("ms", "words"), [(None, "?"), (999, "0 seconds"), (90_000, "1 minute"), (2**43, "101,806 days")]
)
def test_spans(ms: int | None, words: str) -> None:
    assert span(ms) == words


def rolled_to_nothing(folder: Path) -> Path:
    """A table of two snapshots, of which none is current, as CREATE OR REPLACE TABLE leaves it."""
    table = Table(folder, [(1, "id", "long")])
    for name in "ab":
        table.append(table.parquet(f"{name}.parquet", {"id": [1]}))
    table.md["current-snapshot-id"], table.md["refs"] = None, {}
    table.save()
    return folder


THERE = "no current snapshot, so that readers see no rows; its metadata has 2 snapshots, the last of them snapshot-2"


def test_a_table_without_a_current_snapshot_says_what_is_there(tmp_path: Path) -> None:
    place = str(rolled_to_nothing(tmp_path / "t"))
    run = CliRunner().invoke(main, ["history", "commits", place])
    assert f"The table has {THERE}" in run.stdout
    assert "0 commits" not in run.stdout
    told = CliRunner().invoke(main, ["overview", place]).stdout
    assert told.startswith("t, which has no current snapshot\n")
    assert "the last of 2 snapshots, none of them current: snapshot-2 at 2025-06-15 15:08:40" in told
    assert "never" not in told
    assert "as recorded" not in told
    of_metadata = [f"inspect {what}" for what in ("files", "partitions", "manifests", "deletes", "columns")]
    for command in (*of_metadata, "health", "count"):
        run = CliRunner().invoke(main, [*command.split(), place])
        assert (run.exit_code, THERE in run.stderr) == (0, True), command
    assert not direct.doctor(place).findings
    assert "2 commits" in CliRunner().invoke(main, ["history", "commits", place, "--last", "snapshot-2"]).stdout


def test_a_new_table_says_no_more_than_that(tmp_path: Path) -> None:
    Table(tmp_path / "t", [(1, "id", "long")])
    table = direct.open_table(str(tmp_path / "t"))
    assert not table.problems
    assert "committed  never" in str(direct.overview(table))
