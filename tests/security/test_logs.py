"""What strangers send is in no log, terminal or answer as they wrote it: cut, printable, and without credentials."""

from __future__ import annotations

import asyncio
import io
import json
import logging
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

import panel as pn
import pytest
from bokeh.util.token import generate_jwt_token, generate_session_id
from click.testing import CliRunner
from tornado.httpclient import AsyncHTTPClient, HTTPRequest
from tornado.httpserver import HTTPServer
from tornado.testing import bind_unused_port
from tornado.web import Application, RequestHandler
from tornado.websocket import websocket_connect

from explorer.app.hosts.component import ExplorerComponent
from explorer.app.hosts.panel_door import PanelDoorkeeper
from explorer.cli import main
from explorer.errors import EngineError
from explorer.serving import logs
from explorer.serving.logs import LINES, LONGEST
from explorer.spark_engine import java
from explorer.spark_engine.java import Java
from tests.support.helpers import run_apart

PASSWORD, ESCAPE = "hunter2hunter2", "\x1b]0;evil\x07\x9b31m"
PLACE = quote(f"s3://reader:{PASSWORD}@bucket/t", safe="")


@pytest.fixture
def written() -> Iterator[io.StringIO]:
    """What the server's packages log, as it is written down."""
    text = io.StringIO()
    handler = logging.StreamHandler(text)
    loggers = [logging.getLogger(name) for name in ("tornado", "bokeh", "explorer", "panel")]
    for logger in loggers:
        logger.addHandler(handler)
    yield text
    for logger in loggers:
        logger.removeHandler(handler)


class Broken(RequestHandler):
    """A page that fails."""

    def get(self) -> None:
        raise ValueError(f"{Path(__file__)} token={PASSWORD} {ESCAPE}")


ASKED = [
    ("GET", "/?token={token}x&table={place}"), ("GET", "/?table={place}"), ("GET", "/nowhere?table={place}"),
    ("POST", "/?token={token}&table={place}"), ("GET", "/ws?token={token}"), ("GET", "/static/x?table={place}&b"),
    ("GET", "//{token}?{place}"),
]  # fmt: skip


@pytest.mark.parametrize(("method", "path"), ASKED)
def test_no_token_and_no_table_of_a_refused_request_is_logged(method: str, path: str, written: io.StringIO) -> None:
    async def ask() -> str:
        access, application = PanelDoorkeeper(), Application([("/.*", Broken)])
        application.prefix, application.app_paths = "", ["/"]  # type: ignore[attr-defined]
        access.guard(application)
        own, port = bind_unused_port()
        with closing(own):
            server = HTTPServer(application)
            server.add_socket(own)
            url = f"http://localhost:{port}" + path.format(token=access.token, place=PLACE)
            body = "x" if method == "POST" else None
            answer = await AsyncHTTPClient(force_instance=True).fetch(
                HTTPRequest(url, method, body=body, follow_redirects=False), raise_error=False
            )
            assert answer.code >= 400
            server.stop()
        return access.token

    token = run_apart(ask)
    log = written.getvalue()
    assert "40" in log
    assert PASSWORD not in log
    assert token not in log or path.startswith("//")  # it was no query there
    assert "?(hidden)" in log


def test_a_page_that_fails_tells_nobody_why(written: io.StringIO) -> None:
    async def ask() -> bytes:
        access, application = PanelDoorkeeper(oauth=True), Application([("/.*", Broken)], debug=True, autoreload=False)
        application.prefix, application.app_paths = "", ["/"]  # type: ignore[attr-defined]
        access.guard(application)
        own, port = bind_unused_port()
        with closing(own):
            HTTPServer(application).add_socket(own)
            answer = await AsyncHTTPClient(force_instance=True).fetch(
                f"http://localhost:{port}/?table={PLACE}", raise_error=False
            )
        assert answer.code == 500
        return answer.body

    body = run_apart(ask).decode()
    assert not [word for word in ("Traceback", "ValueError", __file__, PASSWORD) if word in body]
    log = written.getvalue()
    assert "ValueError" in log
    assert not [word for word in (PASSWORD, "\x1b", "\x9b") if word in log]


MESSAGES = [
    ("Unhandled exception receiving a message: %r: %r", (ValueError(ESCAPE), ESCAPE + "x" * 19_000_000)),
    ("%s", (ESCAPE + "x" * 5_000,)),
    ("%s", ("\n".join(["2026-11-27 a line of another's"] * 90),)),
    ("%s", ("\u202e\u2066\r\x08\x85",)),
    (f"{ESCAPE} token={PASSWORD}", ()),
    ("%s", (f"{'x' * (LONGEST - 20)} ?token={PASSWORD}",)),
    ("%d of what is no number", (PASSWORD,)),
]


@pytest.mark.parametrize("number", range(len(MESSAGES)))
@pytest.mark.parametrize("name", ["bokeh.server.views.ws", "tornado.application", "explorer.app.hosts.panel_socket"])
def test_a_logged_message_is_one_short_line(number: int, name: str, written: io.StringIO) -> None:
    logs.guard()
    message, values = MESSAGES[number]
    logging.getLogger(name).error(message, *values)
    told = written.getvalue().removesuffix("\n")
    assert len(told) <= LONGEST
    assert told.isprintable()
    assert PASSWORD[:7] not in told


@pytest.mark.parametrize("text", [ESCAPE + "y" * 5_000_000, f"password={PASSWORD}", "\n".join([ESCAPE] * 10_000)])
def test_a_logged_traceback_is_short_and_printable(text: str, written: io.StringIO) -> None:
    logs.guard()
    try:
        raise ValueError(text)
    except ValueError:
        logging.getLogger("bokeh.server").exception("it failed")
    told = written.getvalue()
    assert len(told) <= LINES * (LONGEST + 1) + LONGEST
    assert told.replace("\n", "").isprintable()
    assert PASSWORD not in told


def test_the_log_goes_on_where_it_went(written: io.StringIO) -> None:
    """With the format of whoever runs the server, once."""
    [handler] = [h for h in logging.getLogger("explorer").handlers if getattr(h, "stream", None) is written]
    handler.setFormatter(logging.Formatter("%(levelname)s: %(message)s"))
    logs.guard()
    logs.guard()
    logging.getLogger("explorer").warning("a%s", "?b=1 why? because")
    assert written.getvalue() == "WARNING: a?(hidden) why? because\n"


BAD = [
    [{"kind": "ModelChanged", "model": {"id": "{id}"}, "attr": "outbox", "new": 5}],
    [{"kind": "ModelChanged", "model": {"id": "{id}"}, "attr": "outbox", "new": {"type": "map", "entries": [[1]]}}],
    [
        {"kind": "MessageSent", "msg_type": "bokeh_event",
         "msg_data": {"type": "event", "name": "esm_event", "values": 1}}
    ],
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(BAD)))
def test_a_browser_is_told_nothing_of_what_failed(number: int, written: io.StringIO) -> None:
    async def talk() -> list[str]:
        server: Any = pn.serve(
            {"/": lambda: ExplorerComponent()}, port=0, start=False, show=False, verbose=False, threaded=False
        )
        access = PanelDoorkeeper()
        access.guard(server._tornado)
        server.start()
        token = generate_jwt_token(generate_session_id())
        headers = {"Cookie": f"icedive-{server.port}={access.cookie}"}
        request = HTTPRequest(f"ws://localhost:{server.port}/ws", headers=headers)
        socket = await websocket_connect(request, subprotocols=["bokeh", token])
        said = [str(await socket.read_message()) for _ in range(3)]  # ACK
        [session] = server.get_sessions("/")
        known = next(
            id
            for id, made in session.document.models._models.items()
            if type(made).__name__.startswith("ExplorerComponent")
        )
        for part in (
            {"msgid": "1", "msgtype": "PATCH-DOC"},
            {},
            {"events": json.loads(json.dumps(BAD[number]).replace("{id}", known))},
        ):
            await socket.write_message(json.dumps(part))
        while (answer := await asyncio.wait_for(socket.read_message(), 20)) is not None and len(said) < 6:
            said.append(str(answer))
            if len(said) == 6:
                break
        socket.close()
        server.stop()
        return [*said, str(socket.close_reason)]

    said = run_apart(talk)[3:]
    assert '"ERROR"' in said[0] or len(said) == 1, said
    assert not [word for word in ("Traceback", "site-packages", ".py", "Error(") if word in " ".join(said)], said
    assert written.getvalue()


@pytest.mark.parametrize(
    "typed",
    [
        ["show", "a.b", ESCAPE], [f"--{ESCAPE}"], ["show", f"--{ESCAPE}=x"], [ESCAPE], ["show", "t", "-p", ESCAPE],
        ["show", "t", "-o", ESCAPE], ["show", "t", "--relocate", ESCAPE],
        ["plan", "t", "x", ESCAPE, f"password={PASSWORD}"],
        ["diff", "t", "a", "b", ESCAPE], ["maintain", "preview", "t", ESCAPE], ["maintain", ESCAPE],
    ],
)  # fmt: skip
def test_what_was_typed_commands_no_terminal(typed: list[str]) -> None:
    done = CliRunner().invoke(main, typed)
    assert done.exit_code == 2, done.output
    assert done.output.replace("\n", "").isprintable()
    assert PASSWORD not in done.output


def test_panics_say_little(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.security.panicking", str(tmp_path / "t")],
        capture_output=True, text=True, cwd=Path(__file__).parents[2],
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2_000:]
    assert 0 < done.stderr.count("panicked at") <= 6


@pytest.mark.parametrize("place", ["", "jars", "jars/g_a-1.jar"])
@pytest.mark.parametrize("mode", [0o020, 0o002])
def test_jars_that_others_may_change_are_not_run(
    place: str, mode: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = tmp_path / "cache"
    (cache / "jars").mkdir(parents=True, mode=0o755)
    jar = cache / "jars" / "g_a-1.jar"
    jar.write_bytes(b"PK")
    jar.chmod(0o644)
    monkeypatch.setenv("ICEDIVE_CACHE", str(cache))
    resolve = lambda: java.resolve_jars(Java("java", 17, "here"), ("g:a:1",))  # noqa: E731
    assert resolve() == [jar]
    (cache / place).chmod((cache / place).stat().st_mode | mode)
    with pytest.raises(EngineError, match="chmod go-w"):
        resolve()
