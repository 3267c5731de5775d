"""What an attacker found, a nineteenth time."""

from __future__ import annotations

import re
import runpy
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from explorer.errors import UnreadableFile
from explorer.progress import Cancelled, Watch
from explorer.spec.doctor.findings import Finding
from explorer.spec.doctor.remedy_cases import BY_TIME_TRAVEL
from explorer.spec.text.names import file_in_sql
from explorer.storage import limits
from explorer.storage.storage import Storage
from explorer.storage.store_listing import list_files, names_in
from tests.cases.mini import Table
from tests.robustness.editing import edit_avro
from tests.statements.printed import statements
from tests.support import direct
from tests.support.thirtieth_tables import current_list, uncounted

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "broken-tables.md"


# -- paths that Spark takes for patterns ------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "name", ["[12].parquet", "?.parquet", "*.parquet", "{a,b}.parquet", "a\\b.parquet", "`.parquet"]
)
def test_a_path_with_signs_of_a_pattern_is_in_no_statement_that_reads_rows(name: str) -> None:
    assert file_in_sql(f"file:///t/data/{name}") == ""
    assert file_in_sql("s3://b/t/dt=2026-11-30/1.parquet")


@pytest.mark.parametrize("name", ["[12].parquet", "?.parquet", "{1,2}.parquet"])
def test_an_insert_that_would_read_other_files_is_not_printed(name: str, tmp_path: Path) -> None:
    table = Table(str(tmp_path / "t"), [(1, "id", "long"), (2, "p", "string")])
    table.append(table.parquet("1.parquet", {"id": [1, 2], "p": ["x", "x"]}))
    table.append(table.parquet(name, {"id": [3, 4], "p": ["x", "x"]}))
    concerned = table.lists[table.md["current-snapshot-id"]][-1]["manifest_path"]

    def uncount(records: list[dict[str, Any]]) -> None:
        for record in records:
            if record["manifest_path"] == concerned:
                record["added_files_count"] = 0

    edit_avro(current_list(table), uncount)
    [finding] = [f for f in direct.doctor(str(table.folder), deep=True).findings if f.rule == "manifest-counts"]
    assert not statements(finding.remedy)
    assert "a path has signs of a pattern" in finding.remedy


def shown_otherwise(folder: Path, name: str = "1.parquet") -> Table:
    """A file whose rows have another value than its partition, which Spark shows."""
    table = Table(str(folder), [(1, "id", "string"), (2, "p", "string")], [(2, 1000, "p", "identity")])
    table.append(table.parquet(name, {"id": ["a", "gone"], "p": ["y", "y"]}, partition={"p": "x"}))
    table.append(table.parquet("2.parquet", {"id": ["b"], "p": ["x"]}, partition={"p": "x"}))
    return table


def remedy_of(table: Table) -> str:
    [finding] = [f for f in direct.doctor(str(table.folder), deep=True).findings if f.rule == "partition-value"]
    return finding.remedy


def test_rows_are_written_anew_by_path_only_where_spark_reads_the_same(tmp_path: Path) -> None:
    table = shown_otherwise(tmp_path / "sound")
    insert = "(id, p) SELECT id, p FROM parquet.`"  # by name: a file may have its columns in another order
    assert insert in remedy_of(table)
    assert remedy_of(table).index("INSERT INTO") < remedy_of(table).index("DELETE FROM")
    assert "no statement is safe" in remedy_of(shown_otherwise(tmp_path / "pattern", "[12].parquet"))
    deleted = shown_otherwise(tmp_path / "deleted")
    path = f"{deleted.location}/data/1.parquet"
    deleted.delta(deletes=[deleted.position_delete("d.parquet", [(path, 1)], partition={"p": "x"})], operation="delete")
    assert "deletes of the table may hide some of them" in remedy_of(deleted)
    dropped = shown_otherwise(tmp_path / "dropped")
    dropped.md["last-column-id"] = 3
    dropped.save()
    assert "the columns were changed" in remedy_of(dropped)


# -- names that choose advice -----------------------------------------------------------------------------------------
def test_a_name_that_repeats_our_words_chooses_no_advice(tmp_path: Path) -> None:
    def of_branch(folder: Path, name: str) -> Finding:
        table = uncounted(folder)
        last = table.md["current-snapshot-id"]
        table.md["refs"][name] = {"snapshot-id": last, "type": "branch"}
        table.md["refs"]["main"]["snapshot-id"] = table.md["current-snapshot-id"] = 101
        table.save()
        [finding] = [f for f in direct.doctor(str(table.folder)).findings if f.rule == "manifest-counts"]
        return finding

    assert of_branch(tmp_path / "honest", "prod").remedy.startswith("Stop all writers of branch prod")
    said = of_branch(tmp_path / "strange", BY_TIME_TRAVEL).remedy
    assert said.startswith("A name in this table repeats words")
    assert "Writers may go on" not in said


# -- programs of the documents ----------------------------------------------------------------------------------------
def programs() -> list[str]:
    return re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)


@pytest.mark.parametrize("ending", [".new", ".old"])
@pytest.mark.parametrize("dangling", [True, False])
def test_a_program_of_the_documents_writes_through_no_link(
    ending: str, dangling: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = uncounted(tmp_path / "t")
    listed, other = current_list(table), tmp_path / "mine"
    if not dangling:
        other.write_text("mine")
    listed.with_name(listed.name + ending).symlink_to(other)
    [program] = [one for one in programs() if "manifest lists" in one]
    (tmp_path / "mend.py").write_text(program)
    monkeypatch.setattr(sys, "argv", ["mend.py", str(listed)])
    if ending == ".new":
        with pytest.raises(FileExistsError):
            runpy.run_path(str(tmp_path / "mend.py"), run_name="__main__")
    else:
        runpy.run_path(str(tmp_path / "mend.py"), run_name="__main__")
    assert other.exists() is not dangling
    assert dangling or other.read_text() == "mine"


def test_programs_of_the_documents_open_new_files_alone() -> None:
    modes = [mode for program in programs() for mode in re.findall(r'open\([^)]*?, "(\w+)"', program)]
    assert modes
    assert set(modes) <= {"rb", "xb", "x"}


# -- partition statistics ---------------------------------------------------------------------------------------------
def test_values_of_partition_statistics_are_limited_before_they_are_read(tmp_path: Path) -> None:
    table = Table(str(tmp_path / "t"), [(1, "id", "long"), (2, "p", "int")], [(2, 1000, "p", "identity")])
    table.append(table.parquet("1.parquet", {"id": [1], "p": [1]}, partition={"p": 1}))
    rows = limits.PARTITION_VALUES // 10 + 1
    path = tmp_path / "t" / "metadata" / "ps.parquet"
    pq.write_table(pa.table({"a": pa.nulls(rows, pa.int32())}), path)
    table.md["partition-statistics"] = [
        {"snapshot-id": table.md["current-snapshot-id"], "statistics-path": f"{table.location}/metadata/ps.parquet",
         "file-size-in-bytes": path.stat().st_size},
    ]  # fmt: skip
    table.save()
    report = direct.doctor(str(table.folder))
    assert any("values of partitions; at most 4,000,000 are read here" in words for words in report.not_checked)


# -- a store that sends more than it was asked for --------------------------------------------------------------------
SENT = 64 << 20


class Endless(BaseHTTPRequestHandler):
    """A store whose answers say the right range, and a body that does not end."""

    protocol_version = "HTTP/1.1"
    sent = 0

    def do_GET(self) -> None:
        first, last = 0, 99
        if asked := re.match(r"bytes=(\d*)-(\d*)", self.headers.get("Range") or ""):
            first = int(asked[1]) if asked[1] else 100 - int(asked[2])
            last = min(99, int(asked[2])) if asked[1] and asked[2] else 99
        self.send_response(206 if asked else 200)
        for name, value in {
            "Content-Range": f"bytes {first}-{last}/100", "Content-Length": str(1 << 40), "ETag": '"x"',
            "Last-Modified": "Mon, 01 Jan 2024 00:00:00 GMT",
        }.items():  # fmt: skip
            self.send_header(name, value)
        self.end_headers()
        with suppress(OSError):
            while type(self).sent < SENT:
                self.wfile.write(bytes(1 << 16))
                type(self).sent += 1 << 16
        self.close_connection = True

    def log_message(self, *_: Any) -> None:
        pass


@pytest.mark.parametrize("how", ["whole", "part", "end"])
def test_no_more_of_an_answer_is_read_than_was_asked_for(how: str) -> None:
    Endless.sent = 0
    server = ThreadingHTTPServer(("127.0.0.1", 0), Endless)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    access = {"s3.endpoint": f"http://127.0.0.1:{server.server_port}", "s3.access-key-id": "a",
              "s3.secret-access-key": "b", "s3.region": "us-east-1"}  # fmt: skip
    storage, path = Storage(["s3://b/t"], access), "s3://b/t/1.parquet"
    asks = {
        "whole": lambda: storage.read(path), "part": lambda: storage.read(path, 10, 20),
        "end": lambda: storage.tail(path, 30),
    }  # fmt: skip
    try:
        with pytest.raises(
            UnreadableFile, match=r"the store sends more than the (20|30) bytes|has 1,099,511,627,776 bytes; at most"
        ):
            asks[how]()
    finally:
        server.shutdown()
        server.server_close()
    assert Endless.sent < SENT


PAGE_OF_NAMES = """<?xml version="1.0" encoding="UTF-8"?><ListBucketResult><Name>b</Name><Prefix>t/</Prefix>
<MaxKeys>1000</MaxKeys><IsTruncated>{more}</IsTruncated>{token}{files}
</ListBucketResult>"""
LISTED_FILE = """<Contents><Key>{}</Key><LastModified>2026-11-30T00:00:00.000Z</LastModified><ETag>"e"</ETag>
<Size>1</Size><StorageClass>STANDARD</StorageClass></Contents>"""


def page_of_names(keys: Iterable[str], more: bool = False) -> bytes:
    files = "".join(map(LISTED_FILE.format, keys))
    token = "<NextContinuationToken>x</NextContinuationToken>" if more else ""
    return PAGE_OF_NAMES.format(more=str(more).lower(), token=token, files=files).encode()


class Lists(BaseHTTPRequestHandler):
    """A store whose listings are as `how` says."""

    how, asked = "", 0

    def do_GET(self) -> None:
        cls = type(self)
        cls.asked += 1
        body = page_of_names(["t/a", "t/b/c"])
        if cls.how == "pages without end":
            body = page_of_names([f"t/{cls.asked}-{n}" for n in range(1000)], more=True)
        if cls.how == "empty pages without end":
            body = page_of_names([], more=True)
        endless = cls.how in ("a claim", "a page without end")
        self.send_response(200)
        if cls.how != "a page without end":
            self.send_header("Content-Length", str(1 << 41 if endless else len(body)))
        self.end_headers()
        with suppress(OSError):
            self.wfile.write(body)
            while endless:
                self.wfile.write(bytes(1 << 20))

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def lists() -> Iterator[dict[str, str]]:
    """The properties of a store whose listings are as Lists.how says."""
    Lists.asked = 0
    server = ThreadingHTTPServer(("127.0.0.1", 0), Lists)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield {"s3.endpoint": f"http://127.0.0.1:{server.server_port}", "s3.access-key-id": "a",
           "s3.secret-access-key": "b", "s3.region": "us-east-1"}  # fmt: skip
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("listing", [names_in, list_files])
def test_a_listing_without_end_is_refused(listing: Any, lists: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "NAMES", 10_000)
    Lists.how = "pages without end"
    with pytest.raises(UnreadableFile, match=r"has 11,000 files below it; at most 10,000 are read here"):
        listing("s3://b/t", lists)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits the memory of a child")
@pytest.mark.parametrize("how", ["a claim", "a page without end"])
def test_a_listing_larger_than_memory_ends_a_child(how: str, lists: dict[str, str]) -> None:
    Lists.how = how
    with pytest.raises(UnreadableFile, match="no honest store sends so much"):
        list_files("s3://b/t", lists)


def test_a_listing_that_nobody_waits_for_ends(lists: dict[str, str]) -> None:
    """Of pages without names, none comes back: only who waits can end it."""
    Lists.how = "empty pages without end"
    watch = Watch()

    def cancel() -> None:
        while not Lists.asked:
            time.sleep(0.01)
        watch.cancel()

    threading.Thread(target=cancel).start()
    with watch.listening(), pytest.raises(Cancelled):
        list_files("s3://b/t", lists)


@pytest.mark.parametrize("folder", ["s3://b", "s3://b/t", "s3://b/t/"])
def test_names_of_a_folder_are_whole(folder: str, lists: dict[str, str]) -> None:
    Lists.how = "two files"
    below = {"s3://b": ["t/a", "t/b/c"]}.get(folder, ["a", "b/c"])
    assert [name.lstrip("/") for name in list_files(folder, lists)] == below
    assert names_in(folder, lists) == [name for name in below if "/" not in name]


def test_a_command_that_waits_for_a_silent_store_ends_when_it_is_interrupted(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(120)
        words = [
            sys.executable, "-m", "explorer.cli", "show", "s3://b/t", "-p", "s3.access-key-id=a", "-p",
            f"s3.endpoint=http://127.0.0.1:{server.getsockname()[1]}", "-p", "s3.secret-access-key=b",
        ]  # fmt: skip
        with subprocess.Popen(words, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as command:
            connection, _ = server.accept()
            with connection:
                command.send_signal(signal.SIGINT)
                assert command.wait(120) == 130
