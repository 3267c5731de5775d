"""What `make attacks` and a look at what was known found: each hole, and others of its kind."""

from __future__ import annotations

import asyncio
import io
import json
import logging
import socket
import subprocess
import sys
from contextlib import closing, suppress
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from tornado.websocket import WebSocketClosedError

from explorer.app import downloads
from explorer.app.blocks import ShownAnswer
from explorer.app.hosts import page
from explorer.app.hosts.page import DownloadHandler, Server, SocketHandler
from explorer.app.rights import Rights
from explorer.app.session import Session
from explorer.errors import NotPossible
from explorer.questions import QUESTIONS
from explorer.reports.doctor import examination
from explorer.reports.doctor.examination import Examination, ExaminationDepth, diagnose
from explorer.serving import logs
from explorer.serving.access import Doorkeeper
from explorer.serving.connections import Connections, LimitedServer
from explorer.serving.monitoring import HANDLERS
from explorer.spark_engine.sql_guard import patterns
from explorer.spec.doctor.cross_file_rules import CrossFileRules
from explorer.spec.doctor.manifest_list_rules import Lists
from explorer.table import open_table
from tests.security.dimensions import data_file, make
from tests.security.test_app_page import Visitor, ask, listening, visit
from tests.security.test_regexes import LINEAR, growth
from tests.support.helpers import run_apart
from tests.support.small_tables import edit_metadata
from tests.unit.test_screen import run

__all__ = ["listening"]


# -- a filter, and many partition fields of one column -----------------------------------------------------------------
@pytest.mark.parametrize("transform", ["identity", "bucket[7]", "truncate[3]"])
def test_a_filter_is_projected_onto_thousands_of_fields(transform: str, tmp_path: Path) -> None:
    """Joined one by one the comparisons were as deep as there are fields, and each was passed on through all above."""
    folder = make(tmp_path / "t", "fields of a spec", 3_000)

    def change(metadata: dict[str, Any]) -> None:
        for field in metadata["partition-specs"][-1]["fields"]:
            field["transform"] = transform
        metadata["default-spec-id"] = 1

    edit_metadata(folder, change)
    for words in (["plan", "id = 1"], ["scan", "estimate", "id = 1"], ["data", "history", "id = 1"]):
        answer = run(*words[:-1], str(folder), words[-1])
        assert answer.exit_code in (0, 3), (words, answer.output, answer.exception)


def test_a_count_of_repeats_is_read_once() -> None:
    """Where it is not closed, its digits were dealt out to its two numbers in every way."""
    for before in ("{", "{1,"):
        assert growth((patterns._REPEAT.pattern, 0, False), before, "0", "\n", 32) <= LINEAR
    for text in ("*", "+?", "{3}", "{3,}", "{0,7}?"):
        assert patterns._REPEAT.fullmatch(text)


# -- a bit of each snapshot, for each manifest and each snapshot -------------------------------------------------------
def masks_of(lists: Lists) -> int:
    """Bytes of all the sets of snapshots that the doctor keeps."""
    every = {id(mask): mask for mask in (*lists.masks.values(), *lists.descendants.values())}
    return sum(sys.getsizeof(mask) for mask in every.values())


@pytest.mark.parametrize("name", ["snapshots", "commits, a manifest each", "snapshots whose parents have expired"])
def test_what_the_doctor_keeps_of_snapshots_grows_linearly(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(examination, "MOST_LISTS", 60)
    sizes = []
    for n in (100, 400):
        table = open_table(str(make(tmp_path / str(n), name, n)))
        looked = Examination(table, ExaminationDepth())
        list(looked.findings())
        assert len(looked.lists.snapshots) == 60
        assert f"{len(table.metadata.snapshots) - 60:,} older snapshots" in looked.not_checked[0]
        sizes.append(masks_of(looked.lists))
    assert sizes[1] <= 5 * sizes[0]


def test_the_current_snapshot_is_examined_however_many_are_newer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(examination, "MOST_LISTS", 5)
    table = open_table(str(make(tmp_path / "t", "snapshots without a ref", 50)))
    looked = Examination(table, ExaminationDepth())
    list(looked.findings())
    assert table.metadata.current_snapshot_id in looked.lists.lists
    report = diagnose(table)
    assert report.level != "ok"
    assert "older snapshots" in run("doctor", str(tmp_path / "t")).output
    one = Examination(table, ExaminationDepth(snapshot=101))
    assert [s.snapshot_id for s in one.snapshots] == [101]
    assert not one.not_checked


def test_the_first_manifest_that_shares_a_snapshot_is_found_without_asking_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of two manifests that hold one file is with the other in a snapshot, and with none of all others."""
    from tests.security.dimensions import base

    asked = 0
    together = CrossFileRules._together

    def counted(rules: CrossFileRules, one: int, other: int) -> int:
        nonlocal asked
        asked += 1
        return together(rules, one, other)

    monkeypatch.setattr(CrossFileRules, "_together", counted)
    counts = []
    for n in (10, 40):
        table = base(tmp_path / str(n))
        for i in range(n):
            both = [table.manifest(f"m{i}-{j}.avro", [(1, data_file(table, 1))]) for j in range(2)]
            table.snapshot("overwrite", both)
        asked = 0
        report = diagnose(open_table(str(tmp_path / str(n))))
        assert any(f.rule == "file-twice" for f in report.findings)
        counts.append(asked)
    assert counts[1] <= 5 * counts[0]


# -- connections, and what waits for them ------------------------------------------------------------------------------
def test_who_only_connects_keeps_nobody_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Connections over which nobody asks for anything end for new ones; those of pages and their visitors stay."""
    with closing(socket.create_server(("127.0.0.1", 0))) as listening:
        listening.setblocking(False)
        port = listening.getsockname()[1]
        door = Doorkeeper(["127.0.0.1"], "", False, HANDLERS, False)

        async def test() -> None:
            server = Server(door, Rights())
            server.connections = Connections(20)
            http = LimitedServer(server, server.connections)
            http.add_sockets([listening])
            visitor = Visitor(door, port)
            page_socket = await visitor.connect()
            kept, kept_writer = await asyncio.open_connection("127.0.0.1", port)
            request = f"GET / HTTP/1.1\r\nHost: localhost:{port}\r\nCookie: {visitor.cookie}\r\n\r\n".encode()
            kept_writer.write(request)
            assert b"200 OK" in await kept.readline()
            idle = [await asyncio.open_connection("127.0.0.1", port) for _ in range(100)]
            while len(server.connections._strangers) < 19:
                await asyncio.sleep(0.01)
            assert await idle[0][0].read() == b""  # which was the first to end
            assert len(server.connections._strangers) + len(server.connections._known) <= 20
            assert (await visitor.get("/")).code == 200
            assert (await ask(page_socket, type="hello"))["type"] == "answer"
            kept_writer.write(request)
            while b"200 OK" not in (line := await kept.readline()):
                assert line, "the connection of somebody who may come in was ended"
            for _, writer in (*idle, (kept, kept_writer)):
                writer.close()
            while server.connections._strangers or server.connections._known:
                await asyncio.sleep(0.01)
            http.stop()

        run_apart(test)


def test_of_those_who_may_come_in_the_one_ends_who_has_not_asked_for_longest() -> None:
    """With OAuth everybody comes to the page that asks who they are."""

    class Stream:
        def __init__(self, name: str) -> None:
            self.name, self.has_ended = name, False

        def close(self) -> None:
            self.has_ended = True

    streams: list[Any] = [Stream(name) for name in "abcde"]
    connections = Connections(3)
    for one in streams[:3]:
        connections.add(one)
        connections.admit(one)
    connections.admit(streams[0])  # asks again
    connections.add(streams[3])
    assert [one.name for one in streams if one.has_ended] == ["b"]
    connections.add(streams[4])
    assert [one.name for one in streams if one.has_ended] == ["b", "d"]  # a stranger goes first


def test_the_system_gives_the_server_as_many_files_as_it_may() -> None:
    code = """
import resource
from explorer.serving.connections import MOST_FILES, SHARE, connection_limit
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
most = connection_limit()
soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
assert soft == (MOST_FILES if hard == resource.RLIM_INFINITY else min(MOST_FILES, hard)), soft
assert most == soft // SHARE
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


def test_a_log_does_not_grow_with_each_of_many_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    written, now = io.StringIO(), [0.0]
    monkeypatch.setattr(logs.time, "monotonic", lambda: now[0])
    handler = logging.StreamHandler(written)
    handler.setFormatter(logs.Careful(None))
    handler.addFilter(logs.Seldom())
    logger = logging.getLogger("explorer.test_twelfth_attack")
    monkeypatch.setattr(logger, "handlers", [handler])
    monkeypatch.setattr(logger, "propagate", False)

    def refuse(times: int) -> None:
        for number in range(times):
            logger.warning("refused: %s", number)

    refuse(100_000)
    logger.warning("something else")
    lines = written.getvalue().splitlines()
    assert len(lines) == logs.MOST + 1
    assert lines[-2:] == [
        f"refused: {logs.MOST - 1} (more of these within a minute are left out)",
        "something else",
    ]
    now[0] += logs.PERIOD_S
    refuse(2)
    assert len(written.getvalue().splitlines()) == logs.MOST + 3


def test_pages_of_one_visitor_together_take_their_answers(
    listening: socket.socket, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """However many they are; another page, which takes its answers, stays."""
    monkeypatch.setattr(page, "MOST_UNSENT", 400_000)

    async def test(visitor: Visitor) -> None:
        pages = [await visitor.connect() for _ in range(20)]
        for number in count():  # each answer has sixty kilobytes, and none is read; until the server has had enough
            for one in pages:
                with suppress(WebSocketClosedError):
                    await one.write_message(json.dumps({"type": "hello", "id": number + 1}))
            await asyncio.sleep(0.05)
            if "does not take its answers" in caplog.text:
                break
        for one in pages:
            one.close()
        while SocketHandler._unsent:
            await asyncio.sleep(0.02)
        assert (await ask(await visitor.connect(), type="hello"))["type"] == "answer"

    visit(listening, test)


def test_a_browser_that_takes_no_file_leaves_its_place(
    listening: socket.socket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(page, "PATIENCE_S", 0.3)
    monkeypatch.setattr(page, "SLOWEST", 1 << 40)
    monkeypatch.setattr(Session, "_answered", lambda *_: None)
    monkeypatch.setattr("explorer.app.session.file_of", lambda *_: io.BytesIO(b"x" * (64 << 20)))
    query = urlencode({"question": "inspect files", "table": str(tmp_path), "format": "csv"})

    async def test(visitor: Visitor) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", listening.getsockname()[1], limit=1 << 10)
        asked = f"GET /download?{query} HTTP/1.1\r\nHost: localhost:{listening.getsockname()[1]}\r\n"
        writer.write(f"{asked}Cookie: {visitor.cookie}\r\n\r\n".encode())
        assert b"200 OK" in await reader.readline()
        while DownloadHandler._saves:
            await asyncio.sleep(0.02)
        assert "takes a file too slowly" in caplog.text
        writer.close()

    visit(listening, test)


def test_a_file_leaves_room_on_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = open_table(str(make(tmp_path / "t", "entries", 3)))
    answer = ShownAnswer(QUESTIONS[("inspect", "files")].ask(table), table)
    monkeypatch.setattr(downloads, "SMALL", -1)
    with downloads.file_of(answer, "csv") as file:
        assert file.read()
    monkeypatch.setattr(downloads, "LEAST_FREE", 1 << 62)
    for form in ("csv", "json", "txt", "parquet"):
        with pytest.raises(NotPossible, match="too little room on its disk"):
            downloads.file_of(answer, form)
