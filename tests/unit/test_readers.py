"""Who can read a table: what decides, what the data files hold, and what an upgrade changes."""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path
from typing import Any, get_args

import pytest

import explorer
from explorer.errors import WrongUsage
from explorer.render.readers import render_readers, upgrade_words, verdict_lines
from explorer.reports.readers import find_readers, reader_support
from explorer.spec.readers.reader_support import ReaderAnswer, ReaderVersion, Support, judge
from explorer.spec.readers.table_features import FEATURES, TableFeature
from explorer.table import open_table
from tests import reader_matrix
from tests.cases.mini import Table
from tests.support.small_tables import edit_metadata, make_table

LONG, TEXT = (1, "id", "long"), (2, "x", "string")


def features_of(place: Path, **options: Any) -> dict[str, str]:
    """What a table uses, and where."""
    return {one.feature: one.where for one in find_readers(open_table(str(place)), **options).features}


def plain(folder: Path, *fields: Any, version: int = 2, spec: Any = (), **options: Any) -> Table:
    """A table of one data file."""
    table = Table(folder, fields or [LONG, TEXT], spec, version, **options)
    table.append(table.parquet("a.parquet", {"id": [1, 2]}))
    return table


# -- the data files ----------------------------------------------------------------------------------------------------
def test_each_cell_has_a_source_and_a_date() -> None:
    for reader, known in reader_support().items():
        assert known, reader
        for feature, cell in known.items():
            assert feature in FEATURES
            assert cell.reads in get_args(ReaderAnswer)
            assert date.fromisoformat(cell.date) <= date.today()
            assert cell.source == "tests/reader_support.py" if cell.is_tried else cell.source.startswith("https://")
            assert cell.words or cell.reads == "yes", f"{reader.title}: {feature}"
            assert not re.search(r"/tmp/|/root/|0x[0-9a-f]{6}", cell.words)


def test_what_was_tried_goes_before_what_is_written() -> None:
    readers = {one.id: known for one, known in reader_support().items()}
    assert len(readers) == len(reader_support())
    assert readers["trino"]["format-version-3"].is_tried
    assert not readers["trino"]["encryption"].is_tried


# -- verdicts ----------------------------------------------------------------------------------------------------------
SURE, MAYBE = TableFeature("deletion-vectors", ""), TableFeature("codec-lz4", "", is_certain=False)


@pytest.mark.parametrize(
    ("sure", "maybe", "answer", "because"),
    [
        ("yes", "yes", "yes", []),
        ("no", "wrong", "no", ["deletion-vectors"]),
        ("wrong", "unknown", "wrong", ["deletion-vectors"]),
        ("yes", "no", "unknown", ["codec-lz4"]),  # the table may have no such file
        ("unknown", "yes", "unknown", ["deletion-vectors"]),
    ],
)
def test_the_worst_feature_decides(
    sure: ReaderAnswer, maybe: ReaderAnswer, answer: ReaderAnswer, because: list[str]
) -> None:
    known = {"deletion-vectors": Support(sure, "s", "d", "w"), "codec-lz4": Support(maybe, "s", "d", "w")}
    [verdict] = judge([SURE, MAYBE], {ReaderVersion("r", "R", "1"): known})
    assert (verdict.answer, [one.feature for one in verdict.because]) == (answer, because)
    assert len(verdict_lines(verdict)) >= 1


def test_a_reader_of_which_nothing_is_known_is_unknown() -> None:
    [verdict] = judge([SURE], {ReaderVersion("r", "R", "1"): {}})
    assert (verdict.answer, verdict.known_from) == ("unknown", "nothing")
    assert verdict_lines(verdict) == ["R 1: not known for deletion vectors"]


# -- features ----------------------------------------------------------------------------------------------------------
def test_a_table_of_pyiceberg(tmp_path: Path) -> None:
    found = features_of(make_table(tmp_path))
    assert list(found)[:2] == ["format-version-2", "file-format-parquet"]
    assert found["file-format-parquet"].startswith("3 data files, such as ")
    assert found["file-format-parquet"].endswith(", which snapshot-3 added")


def test_a_table_without_a_snapshot_and_one_of_version_1(tmp_path: Path) -> None:
    Table(tmp_path / "empty", [LONG])
    found = find_readers(open_table(str(tmp_path / "empty")))
    assert found.snapshot == ""
    assert [one.feature for one in found.features] == ["fault-no-current-id", "format-version-2"]
    assert set(features_of(plain(tmp_path / "v1", LONG, version=1).folder)) == {
        "format-version-1",
        "file-format-parquet",
        "fault-no-v1-schema",
        "fault",
    }


def test_columns_inside_others_count(tmp_path: Path) -> None:
    inside = {"type": "list", "element-id": 3, "element": "timestamptz_ns", "element-required": False}
    found = features_of(plain(tmp_path, LONG, (2, "times", inside), (4, "u", "uuid"), version=3).folder)
    assert (found["type-timestamp-ns"], found["type-uuid"]) == ("column times.element", "column u")


def test_a_promotion_is_one_of_older_files(tmp_path: Path) -> None:
    table = plain(tmp_path, LONG, (2, "x", "int"), (3, "d", "decimal(4,2)"))
    table.set_schema([LONG, (2, "x", "long"), (3, "d", "decimal(9,2)")])
    table.write()
    found = features_of(tmp_path)
    assert (found["promotion-int-long"], found["promotion-decimal"]) == ("column x", "column d")
    table.snapshot("overwrite", [], {}, parent=None)  # no file is left of the time before
    assert not [feature for feature in features_of(tmp_path) if feature.startswith("promotion")]


def test_a_promotion_is_not_certain_when_its_snapshot_is_expired(tmp_path: Path) -> None:
    table = plain(tmp_path, LONG, (2, "x", "int"))
    table.set_schema([LONG, (2, "x", "long")])
    table.append(table.parquet("b.parquet", {"id": [3], "x": [1]}))
    del table.md["snapshots"][0]
    table.write()
    [promotion] = [f for f in find_readers(open_table(str(tmp_path))).features if f.feature == "promotion-int-long"]
    assert (promotion.is_certain, promotion.where) == (
        False,
        "column x; the snapshots that wrote the files are expired",
    )


@pytest.mark.parametrize(
    ("change", "feature"),
    [
        ({"properties": {"schema.name-mapping.default": "[]"}}, "name-mapping"),
        ({"properties": {"write.parquet.compression-codec": "LZ4"}}, "codec-lz4"),
        ({"properties": {"write.parquet.compression-codec": "\x1b[31m"}}, "codec-other"),
        ({"encryption-keys": [{"key-id": "k", "encrypted-key-metadata": "AA=="}]}, "encryption"),
    ],
)
def test_what_the_metadata_file_says(tmp_path: Path, change: dict[str, Any], feature: str) -> None:
    table = plain(tmp_path, version=3)
    table.md |= change
    table.write()
    assert feature in features_of(tmp_path)
    assert "\x1b" not in explorer.open_table(str(tmp_path)).readers().to_text()


def test_transforms_are_those_of_specs_in_use(tmp_path: Path) -> None:
    table = Table(tmp_path, [LONG, TEXT], [(2, 1000, "x_trunc", "truncate[3]")])
    table.set_spec([(1, 1001, "id_bucket", "bucket[4]")])
    table.append(table.parquet("a.parquet", {"id": [1]}, partition={"id_bucket": 1}))
    found = features_of(tmp_path)
    assert found["transform-bucket"] == "field id_bucket of spec 1"
    assert "transform-truncate" not in found


def test_what_cannot_be_read_may_hide_features(tmp_path: Path) -> None:
    table = plain(tmp_path)
    next((tmp_path / "metadata").glob("*-m0.avro")).write_bytes(b"no manifest")
    with pytest.warns(explorer.errors.IncompleteAnswer):
        found = find_readers(open_table(str(table.folder)))
    assert "There may be more features than these" in found.notes[0]
    assert found.notes[0] in "\n".join(render_readers(found))


def test_strangers_names_command_no_terminal(tmp_path: Path) -> None:
    place = make_table(tmp_path, 1)

    def rename(metadata: dict[str, Any]) -> None:
        metadata["schemas"][-1]["fields"][0] |= {"name": "a\x1b[2Jb\n", "type": "uuid"}

    edit_metadata(place, rename)
    answer = explorer.open_table(str(place)).readers()
    assert "\x1b" not in answer.to_text()
    assert "type uuid: column a" in answer.to_text()


# -- upgrades ----------------------------------------------------------------------------------------------------------
def test_an_upgrade_goes_up(tmp_path: Path) -> None:
    plain(tmp_path, version=3)
    for version in (2, 3, 5):
        with pytest.raises(WrongUsage, match="the table has format version 3; choose a higher one, up to 4"):
            find_readers(open_table(str(tmp_path)), version)


def test_an_upgrade_of_a_table_with_position_deletes(tmp_path: Path) -> None:
    table = plain(tmp_path)
    data = f"{table.location}/data/a.parquet"
    table.delta(deletes=[table.position_delete("d.parquet", [(data, 0)])])
    found = find_readers(open_table(str(tmp_path)), 3)
    assert found.upgrade is not None
    new = [one.feature for one in found.upgrade.new_features]
    assert new == ["format-version-3", "row-lineage", "deletion-vectors"]
    assert {one.id for one in found.upgrade.locked_out} == {"clickhouse"}
    assert {one.id for one in found.upgrade.refusing} == {"athena"}
    assert "locks out ClickHouse" in upgrade_words(found.upgrade)
    assert found.upgrade.statement.endswith("SET TBLPROPERTIES ('format-version' = '3')")


def test_copy_on_write_gets_no_deletion_vectors(tmp_path: Path) -> None:
    plain(tmp_path)
    found = find_readers(open_table(str(tmp_path)), 3)
    assert found.upgrade is not None
    assert [one.feature for one in found.upgrade.new_features] == ["format-version-3", "row-lineage"]
    assert [one.id for one in found.upgrade.locked_out] == ["athena"]  # by its document
    assert "locks out Athena engine version 3, which can read the table now." in upgrade_words(found.upgrade)


def test_the_matrix_in_the_documents_is_of_today() -> None:
    assert reader_matrix.PAGE.read_text("utf-8") == reader_matrix.page(), "run python -m tests.reader_matrix"
