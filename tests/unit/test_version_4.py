"""Tables of format version 4, as Iceberg Java 1.12 writes them: an Avro manifest list and Parquet manifests; and files
that are encrypted. tests/spark/test_version_4.py has those that Spark writes."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from explorer.errors import NotReadHere, UnreadableFile
from explorer.storage import limits
from tests.support import direct
from tests.support.parquet_manifests import as_version_4, parquet_of, rewrite_lists
from tests.support.small_tables import make_table, partitioned


@pytest.fixture
def twins(tmp_path: Path) -> tuple[Any, Any]:
    """A table, and the same one with Parquet manifests."""
    place = partitioned(tmp_path)
    before = direct.open_table(str(place))
    stored = before.entries(view="stored", metrics=True).to_arrow(), before.entries().to_arrow()
    as_version_4(place)
    return stored, direct.open_table(str(place))


def without_places(entries: pa.Table) -> list[dict[str, Any]]:
    return [{k: v for k, v in row.items() if k != "manifest_path"} for row in entries.to_pylist()]


def test_parquet_manifests_give_the_same_entries(twins: tuple[Any, Any]) -> None:
    (stored, logical), table = twins
    assert table.metadata.format_version == 4
    assert not table.problems
    ours = table.entries(view="stored", metrics=True).to_arrow()
    assert without_places(ours) == without_places(stored)
    assert without_places(table.entries().to_arrow()) == without_places(logical)
    assert ours.schema.field("partition").type == stored.schema.field("partition").type
    assert all(path.endswith(".parquet") for path in ours["manifest_path"].to_pylist())


def test_every_question_of_a_reader_has_its_answer(twins: tuple[Any, Any]) -> None:
    _, table = twins
    assert not direct.doctor(table, deep=True).findings
    manifest = table.tree.manifests(table.metadata.current_snapshot)[0]
    header = table.manifest_header(manifest.manifest_path)
    assert header["avro.codec"].startswith("parquet, ")
    assert header["content"] == "data"
    [record] = table.reader.read_records(manifest.manifest_path, 0, 1)
    assert record["data_file"]["file_path"].endswith(".parquet")
    assert table.reader.header_alone(manifest.manifest_path).metadata["partition-spec-id"] == "1"


def only_manifest(place: Path) -> Path:
    [manifest] = (place / "metadata").glob("*.parquet")
    return manifest


def problem(place: Path) -> str:
    table = direct.open_table(str(place))
    assert table.entries().to_arrow().num_rows == 0
    [one] = {p.cause for p in table.problems}
    return one


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda data: data[:-100], "cannot be decoded"),
        (lambda data: data[:200] + b"\xff" * 400 + data[600:], "cannot be decoded"),
        (lambda data: b"PAR1", "cannot be decoded"),
        (lambda data: parquet_file(pa.table({"a": [1]})), "no column with fields has the field id 2"),
    ],
)  # fmt: skip
def test_a_damaged_manifest_is_named(change: Any, words: str, tmp_path: Path) -> None:
    place = make_table(tmp_path, 1)
    as_version_4(place)
    manifest = only_manifest(place)
    manifest.write_bytes(change(manifest.read_bytes()))
    rewrite_lists(place)
    assert words in problem(place)


def parquet_file(table: pa.Table) -> bytes:
    out = io.BytesIO()
    pq.write_table(table, out)
    return out.getvalue()


def test_an_entry_without_a_path_or_status_is_named(tmp_path: Path) -> None:
    place = make_table(tmp_path, 1)
    as_version_4(place)
    manifest = only_manifest(place)
    rows = pq.read_table(manifest)
    at = rows.schema.get_field_index("status")
    field = rows.schema.field(at)
    empty = rows.set_column(at, pa.field("status", pa.int32(), metadata=field.metadata), pa.nulls(1, pa.int32()))
    manifest.write_bytes(parquet_file(empty))
    rewrite_lists(place)
    assert "entry 0 has no status" in problem(place)


def test_more_entries_than_an_avro_manifest_may_have_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = make_table(tmp_path, 1)
    as_version_4(place)
    monkeypatch.setattr(limits, "ENTRIES", 0)
    assert "has 1 entries; at most 0 are read here" in problem(place)


def test_one_text_a_million_times_takes_no_gigabytes(tmp_path: Path) -> None:
    """A dictionary hides how much its rows are: they are counted once they are decoded, in the child."""
    place = make_table(tmp_path, 1)
    as_version_4(place)
    manifest = only_manifest(place)
    one = pq.read_table(manifest)
    long = one.to_pylist()[0]
    long["data_file"]["file_path"] = "x" * 10_000
    table = pa.concat_tables([pa.Table.from_pylist([long] * 1000, one.schema)] * 100)
    pq.write_table(table, manifest, compression="zstd")
    assert manifest.stat().st_size < 4 << 20
    rewrite_lists(place)
    words = problem(place)
    assert "bytes once decoded" in words or "more than" in words or "uncompressed" in words


# -- encryption --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("mark", [b"AGS1", b"PARE"])
def test_an_encrypted_manifest_is_not_damaged(mark: bytes, tmp_path: Path) -> None:
    place = make_table(tmp_path, 2)
    manifest = min((place / "metadata").glob("*-m0.avro"), key=lambda path: path.stat().st_mtime_ns)
    data = manifest.read_bytes()
    manifest.write_bytes(mark + data[4:])
    table = direct.open_table(str(place))
    assert table.entries().to_arrow().num_rows == 1
    assert "it is encrypted" in problem_of(table, manifest.name)
    report = direct.doctor(table)
    assert not [f for f in report.findings if f.file.endswith(manifest.name)], report
    assert any("it is encrypted" in words and manifest.name in words for words in report.not_checked)
    with pytest.raises(UnreadableFile, match=r"it is encrypted .* this answer depends on it"):
        direct.live_rows(table)


def problem_of(table: Any, name: str) -> str:
    [one] = [p.cause for p in table.problems if p.file.endswith(name)]
    return str(one)


def test_an_encrypted_manifest_list_shows_what_is_known(tmp_path: Path) -> None:
    place = make_table(tmp_path, 1)
    [file] = (place / "metadata").glob("snap-*.avro")
    file.write_bytes(b"AGS1" + file.read_bytes()[4:])
    report = direct.doctor(str(place))
    assert [f.rule for f in report.findings] == []
    assert any("it is encrypted" in words for words in report.not_checked)
    assert direct.open_table(str(place)).metadata.snapshots


def test_a_root_manifest_is_told(tmp_path: Path) -> None:
    place = make_table(tmp_path, 1)
    [file] = (place / "metadata").glob("snap-*.avro")
    file.write_bytes(parquet_of(pa.table({"a": [1]})))
    report = direct.doctor(str(place))
    assert [f.rule for f in report.findings] == []
    assert any("a root manifest" in words for words in report.not_checked)


def test_an_encrypted_data_file_is_not_damaged(tmp_path: Path) -> None:
    place = make_table(tmp_path, 1)
    [file] = (place / "data").rglob("*.parquet")
    data = file.read_bytes()
    file.write_bytes(b"PARE" + data[4:-4] + b"PARE")
    table = direct.open_table(str(place))
    with pytest.raises(NotReadHere, match="Parquet with an encrypted footer"):
        table.reader.parquet_footer(str(file))
    report = direct.doctor(table, deep=True)
    assert [f.rule for f in report.findings] == []
    assert any("it is encrypted" in words for words in report.not_checked)


def test_the_twin_keeps_what_the_list_says(tmp_path: Path) -> None:
    """The helper itself: the list is Avro, and names Parquet files with their lengths."""
    place = make_table(tmp_path, 1)
    as_version_4(place)
    [file] = (place / "metadata").glob("snap-*.avro")
    with file.open("rb") as opened:
        [record] = list(fastavro.reader(opened))
    assert record["manifest_length"] == only_manifest(place).stat().st_size
    assert json.loads(max((place / "metadata").glob("*.json")).read_text())["format-version"] == 4
    assert parquet_of(pa.table({"a": [1]}))[:4] == b"PAR1"
