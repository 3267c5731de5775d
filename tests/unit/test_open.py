"""The command without the name of a command: it opens the page, with the teaching tables or with a table."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from tornado.httpclient import AsyncHTTPClient, HTTPRequest
from tornado.ioloop import IOLoop
from tornado.websocket import websocket_connect

from tests.support.small_tables import make_table


@contextmanager
def opened(home: Path, *words: str) -> Iterator[str]:
    """The URL that the command prints."""
    environment = {**os.environ, "ICEDIVE_HOME": str(home), "BROWSER": "true"}
    log = home.with_suffix(".log")
    with log.open("wb") as output:
        command = [sys.executable, "-m", "explorer.cli", *words]
        process = subprocess.Popen(command, stdout=output, stderr=output, env=environment)
    try:
        until = time.monotonic() + 120
        while not (url := re.search(r"http\S+token=\S+", log.read_text())):
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < until, log.read_text()
            time.sleep(0.1)
        yield url[0]
    finally:
        process.terminate()
        process.wait(60)


def greeting(url: str) -> dict[str, object]:
    """What the server tells a page first."""

    async def ask() -> str:
        door = await AsyncHTTPClient().fetch(HTTPRequest(url, follow_redirects=False), raise_error=False)
        base, cookie = url.split("?")[0], door.headers["Set-Cookie"].split(";")[0]
        address = f"{base.replace('http', 'ws', 1)}ws"
        socket = await websocket_connect(HTTPRequest(address, headers={"Origin": base[:-1], "Cookie": cookie}))
        await socket.write_message(json.dumps({"type": "hello", "id": 1}))
        return str(await socket.read_message())

    answer: dict[str, object] = json.loads(IOLoop(make_current=False).run_sync(ask))["data"]
    return answer


@pytest.mark.parametrize("named", [False, True], ids=["teaching tables", "a table"])
def test_it_opens_the_page(named: bool, tmp_path: Path) -> None:
    words = [str(make_table(tmp_path))] if named else []
    with opened(tmp_path / "home", *words) as url:
        told = greeting(url)
    assert told["table"] == (words[0] if named else "")
    assert len(told["teaching"]) == (0 if named else 26)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["/nowhere/at/all", "demo.nothing"])
def test_what_is_not_there_is_told_and_no_server_starts(name: str, tmp_path: Path) -> None:
    environment = {**os.environ, "ICEDIVE_HOME": str(tmp_path / "home"), "BROWSER": "true"}
    command = [sys.executable, "-m", "explorer.cli", name]
    told = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert told.returncode == 1
    assert told.stderr
    assert "http" not in told.stdout


def test_a_second_one_takes_another_port(tmp_path: Path) -> None:
    table = str(make_table(tmp_path))
    with ExitStack() as stack:
        urls = [stack.enter_context(opened(tmp_path / f"home-{number}", table)) for number in range(2)]
        assert len({url.split("?")[0] for url in urls}) == 2
