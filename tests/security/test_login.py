"""Passwords: wrong ones wait, the right one does not, and nobody has endless attempts."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from contextlib import closing

import pytest
from tornado.httpclient import AsyncHTTPClient, HTTPResponse
from tornado.httpserver import HTTPServer
from tornado.web import Application

from explorer.serving import access
from explorer.serving.access import Doorkeeper, Login
from explorer.serving.attempts import ADDRESSES, SUPPLY, Attempts
from tests.support.helpers import run_apart

PASSWORD = "a b&c"


@pytest.fixture
def listening() -> Iterator[socket.socket]:
    with closing(socket.create_server(("127.0.0.1", 0), backlog=200)) as own:
        own.setblocking(False)
        yield own


def post(port: int, password: str) -> asyncio.Future[HTTPResponse]:
    client = AsyncHTTPClient(force_instance=True, max_clients=200)
    body = f"password={password.replace(' ', '+').replace('&', '%26')}"
    return client.fetch(
        f"http://127.0.0.1:{port}/", method="POST", body=body, follow_redirects=False, raise_error=False
    )


def serve(own: socket.socket) -> int:
    door = Doorkeeper(password=PASSWORD)
    server = HTTPServer(Application([("/", Login, {"access": door, "cookie": "c", "path": "/"})]))
    server.add_socket(own)
    return int(own.getsockname()[1])


def test_the_right_password_does_not_wait_for_wrong_ones(
    listening: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(access, "WAIT_S", 20)

    async def attack() -> None:
        port = serve(listening)
        wrong = [post(port, "wrong") for _ in range(40)]
        await asyncio.sleep(0.5)
        right = await post(port, PASSWORD)
        assert (right.code, "Set-Cookie" in right.headers) == (303, True)
        assert not any(answer.done() for answer in wrong)
        codes = [(await post(port, "wrong" if n % 2 else PASSWORD)).code for n in range(SUPPLY - 41) if not n % 2]
        assert codes[0] == 303

    run_apart(attack)


def test_whoever_has_no_attempts_left_is_told_so_unchecked(
    listening: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(access, "WAIT_S", 0.001)

    async def attack() -> None:
        port = serve(listening)
        codes = [(await post(port, "wrong")).code for _ in range(SUPPLY + 20)]
        assert set(codes[:SUPPLY]) == {401}
        assert 429 in codes[SUPPLY:]

    run_apart(attack)


def test_who_has_gone_is_not_waited_for(listening: socket.socket, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access, "WAIT_S", 3600)
    answered: list[object] = []
    monkeypatch.setattr(access, "_page", lambda *given: answered.append(given))

    async def attack() -> None:
        port = serve(listening)
        heads = ("Host: x", "Content-Type: application/x-www-form-urlencoded", "Content-Length: 9")
        text = "\r\n".join(("POST / HTTP/1.1", *heads, "", "password="))
        for _ in range(20):
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(text.encode())
            await writer.drain()
            await asyncio.sleep(0.01)
            writer.close()
        for _ in range(200):
            waiting = [task for task in asyncio.all_tasks() if "Login" in repr(task) or "_execute" in repr(task)]
            if not waiting:
                break
            await asyncio.sleep(0.02)
        assert not waiting

    run_apart(attack)
    assert not answered


def test_attempts_come_back_with_time_and_are_each_networks_own() -> None:
    now = [0.0]
    attempts = Attempts(lambda: now[0])
    assert [attempts.take("192.0.2.1") for _ in range(SUPPLY + 1)] == [True] * SUPPLY + [False]
    assert attempts.take("192.0.2.2")
    assert not attempts.take("::ffff:192.0.2.1")
    now[0] = 2.5
    assert [attempts.take("192.0.2.1") for _ in range(3)] == [True, True, False]
    assert all(attempts.take(f"2001:db8::{n:x}") for n in range(SUPPLY))
    assert not attempts.take("2001:db8::ffff")
    assert attempts.take("2001:db8:0:1::1")


def test_few_addresses_are_remembered() -> None:
    attempts = Attempts(lambda: 0.0)
    for number in range(ADDRESSES + 100):
        attempts.take(f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}")
    assert len(attempts._left) == ADDRESSES
