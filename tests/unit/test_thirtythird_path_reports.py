"""What public reports of trouble with Iceberg tables told, a thirty-third time: of paths with empty segments, of
snapshots of one transaction, and of keys that several rows have."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from explorer.cli import main
from explorer.errors import UnreadableFile
from explorer.extras import missing_package
from explorer.questions.parameters import TableAt
from explorer.questions.registry import QUESTIONS
from explorer.render.doctor import ShownReport
from explorer.reports.duplicate_keys import explain_keys
from explorer.spec.doctor.findings import Finding
from explorer.storage.storage import Storage
from explorer.storage.stores import split_at_empty
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


# -- keys with empty segments (apache/iceberg-python#606) --------------------------------------------------------------
PLACE = "s3://lake/db/orders"


def with_empty_segments(folder: Path, location: str = f"{PLACE}/", inner: str = "") -> Table:
    """A table of two appends, whose paths are as one makes them that adds a slash to the location."""
    table = Table(str(folder), [(1, "id", "long")], location=location)
    for start in (0, 3):
        path = f"{location}{inner}/data/{start}.parquet"
        table.append(table.parquet("x", {"id": [start, start + 1, start + 2]}, path=path))
    return table


def told(table: str, *words: str, **options: Any) -> list[Finding]:
    return [f for f in direct.doctor(table, *words, **options).findings if "one slash" in f.what or "a//b" in f.what]


def test_one_finding_tells_of_all_paths_with_an_empty_segment(tmp_path: Path) -> None:
    [finding] = told(str(with_empty_segments(tmp_path / "t").folder), deep=True)
    assert finding.severity == "warning"
    assert finding.what.startswith(
        "2 data or delete files, 2 manifests, 2 manifest lists with an empty segment in the path: in S3 and GCS a//b"
    )
    assert finding.what.endswith("; the table's location ends in a slash")
    assert (finding.count, finding.found, finding.location) == (6, f"{PLACE}/", "/location")
    assert finding.examples[0] == f"{PLACE}//data/0.parquet"
    assert "SET LOCATION" not in finding.remedy  # Java takes a slash at the end off by itself
    assert "map('rewrite-all', 'true')) writes files and manifests whose paths have one slash" in finding.remedy


def test_a_location_with_an_empty_segment_is_set_first(tmp_path: Path) -> None:
    [finding] = told(str(with_empty_segments(tmp_path / "t", "s3://lake/wh//t").folder), deep=True)
    assert "location ends" not in finding.what
    assert (
        "first ALTER TABLE your_catalog.your_db.your_table SET LOCATION 's3://lake/wh/t'. Then CALL" in finding.remedy
    )


def test_data_files_alone_and_older_snapshots(tmp_path: Path) -> None:
    table = with_empty_segments(tmp_path / "t", PLACE, "/")
    [finding] = told(str(table.folder))
    assert finding.what.startswith("2 data or delete files with an empty segment")
    table.snapshot("overwrite", [table.manifest("new-m0.avro", [(1, table.parquet("new.parquet", {"id": [1]}))])])
    table.write()
    [finding] = told(str(table.folder))
    assert "rewrite_data_files" not in finding.remedy  # the current snapshot reads none of them


def test_a_slash_at_the_end_alone_is_an_info(tmp_path: Path) -> None:
    table = Table(str(tmp_path / "t"), [(1, "id", "long")], location=PLACE)
    table.append(table.parquet("a.parquet", {"id": [1]}))
    assert not told(str(table.folder))
    table.md["location"] += "/"
    table.save()
    [finding] = told(str(table.folder))
    assert (finding.severity, finding.found) == ("info", f"{PLACE}/")
    assert finding.remedy == "Nothing has to be done: the next commit by Spark takes the slash off."


def test_a_local_file_is_the_same_file(tmp_path: Path) -> None:
    assert not told(str(with_empty_segments(tmp_path / "t", f"file://{tmp_path}/t/").folder), files=True)


def test_the_overview_shows_the_location_as_it_is_stored(tmp_path: Path) -> None:
    table = with_empty_segments(tmp_path / "t")
    told_text = CliRunner().invoke(main, ["overview", str(table.folder)]).output
    assert f"location  {PLACE}/\n" in told_text


@pytest.mark.parametrize(
    ("uri", "place", "key"),
    [
        ("s3://b/a/c", "b", "a/c"), ("s3://b/a//c d/e", "b/a/", "c d/e"), ("s3a://b//c", "b/", "c"),
        ("s3://b/a b//c//d", "b/a%20b//c/", "d"), ("s3://b/a///c", "b/a//", "c"), ("gs://b/a//c", "b", "a//c"),
        ("s3://b/../other//c", "b", "../other//c"), ("s3://b/a/.//c", "b", "a/.//c"),
    ],
)  # fmt: skip
def test_what_is_up_to_an_empty_segment_stands_for_the_bucket(uri: str, place: str, key: str) -> None:
    assert split_at_empty(uri) == (place, key)


@pytest.fixture(scope="module")
def s3() -> Iterator[dict[str, str]]:
    """A server of S3 with the bucket `lake`: the properties that open it."""
    moto = pytest.importorskip("moto.server", reason="moto, which serves S3 here, is not installed")
    server = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    put(url := f"http://{host}:{port}", "lake", b"")
    yield {
        "s3.endpoint": url, "s3.access-key-id": "key", "s3.secret-access-key": "hush", "s3.region": "us-east-1",
    }  # fmt: skip
    server.stop()


def doctor_at(place: str, properties: dict[str, str]) -> ShownReport:
    report: ShownReport = QUESTIONS["doctor",].ask(TableAt(place, properties=properties), files=True).value
    return report


def put(url: str, key: str, data: bytes) -> None:
    kind = {"Content-Type": "application/octet-stream"}
    urllib.request.urlopen(urllib.request.Request(f"{url}/{key}", data, kind, method="PUT"))


def upload(table: Table, url: str, place: str, data_in: str) -> None:
    """Put a table's files into the bucket, those of data below another key."""
    for file in table.folder.rglob("*.*"):
        inner = file.relative_to(table.folder).as_posix()
        put(url, f"lake/{place}/{data_in if inner.startswith('data') else ''}{inner}", file.read_bytes())


def test_such_a_key_is_read_and_a_missing_one_is_missing(s3: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    put(s3["s3.endpoint"], "lake/x//a%20b//c.txt", b"two")
    put(s3["s3.endpoint"], "lake/x/a%20b/c.txt", b"other")
    with monkeypatch.context() as patched:
        patched.setenv("AWS_VIRTUAL_HOSTED_STYLE_REQUEST", "true")  # a place in a bucket is no host
        assert Storage(["s3://lake/x"], s3).read("s3://lake/x//a b//c.txt") == b"two"
    storage = Storage(["s3://lake/x"], s3)
    assert (storage.size("s3://lake/x//a b//c.txt"), storage.size("s3://lake/x/a b/c.txt")) == (3, 5)
    with pytest.raises(UnreadableFile, match="does not exist"):
        storage.size("s3://lake/x//a b/c.txt")


@pytest.mark.parametrize("data_in", ["/", ""])
def test_files_are_there_or_under_the_key_with_one_slash(s3: dict[str, str], data_in: str, tmp_path: Path) -> None:
    place = f"files{len(data_in)}"
    table = with_empty_segments(tmp_path / "t", f"s3://lake/{place}", "/")
    upload(table, s3["s3.endpoint"], place, data_in)
    report = doctor_at(f"s3://lake/{place}", s3)
    assert report.checked["files"] == 2
    missing = [f for f in report.findings if f.rule == "file-missing"]
    if data_in:
        assert not missing
    else:
        [finding] = missing
        assert finding.what == "the file does not exist, and a file of that size is there under the key with one slash"
        assert finding.remedy.startswith("Copy each such file to the key that the metadata names")
        assert "deleteFile" not in finding.remedy


def test_what_no_client_lists_is_said_plainly(s3: dict[str, str], tmp_path: Path) -> None:
    table = with_empty_segments(tmp_path / "t", "s3://lake/listed/")
    upload(table, s3["s3.endpoint"], "listed/", "")
    options = [word for name, value in s3.items() for word in ("-p", f"{name}={value}")]
    answer = CliRunner().invoke(main, ["show", "s3://lake/listed/", *options])
    assert "a key has an empty segment (two slashes in a row), which the client of the store refuses" in answer.output
    assert "Name its metadata.json instead" in answer.output
    newest = max(table.folder.joinpath("metadata").glob("0*.metadata.json")).name
    assert json.loads(Storage(["s3://lake/listed"], s3).read(f"s3://lake/listed//metadata/{newest}"))
    report = doctor_at(f"s3://lake/listed//metadata/{newest}", s3)
    assert [f.rule for f in report.findings] == ["readers-differ"]


@pytest.mark.parametrize("is_asked_for", [True, False])
def test_the_package_that_helps_is_named(is_asked_for: bool) -> None:
    """obstore, which is installed here, does not make pyiceberg's FsspecFileIO work."""
    words = str(missing_package(ModuleNotFoundError("No module named 's3fs'", name="s3fs"), is_asked_for))
    assert words.startswith("s3fs is not installed. Install it: ")
    assert words.endswith("install s3fs")
