"""The page within a real Jupyter server: who comes in, what is opened, what is told. A server for all tests."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import pytest
from tornado.httpclient import AsyncHTTPClient, HTTPClientError, HTTPRequest
from tornado.websocket import WebSocketClientConnection, WebSocketClosedError, websocket_connect

from explorer.app.hosts.jupyter_pages import HANDLERS
from explorer.app.hosts.page import TYPES
from tests.security.test_app_page import ask
from tests.security.test_credentials import KEY, SECRETS, folder
from tests.security.web_cases import REQUESTS
from tests.support.helpers import run_apart
from tests.support.jupyter import TOKEN, Jupyter, jupyter
from tests.support.small_tables import make_table

BASE = "/user/ann/"
PLACES = ["", *(path for path in HANDLERS if path), "/folder", "/static/app.js", "/static/notebook.js", "/none"]
"""What the extension answers."""
LINKS = [
    "/?table=demo.three_inserts", "/download?question=overview&format=json&table=demo.three_inserts",
    "/code?table=demo.three_inserts", "/place?table=demo.three_inserts", "/folder?path=", "/static/app.js", "/",
]  # fmt: skip
"""What who has logged in may get."""
assert folder, "a fixture"


@pytest.fixture(scope="module")
def server(sandbox: Path, folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Jupyter]:
    """A Jupyter server whose root folder has two tables, one with credentials, and a link out of it."""
    place = tmp_path_factory.mktemp("jupyter")
    root = place / "root"
    root.mkdir()
    for name in ("root/own", "private", "more"):
        make_table(tmp_path_factory.mktemp("tables")).rename(place / name)
    shutil.copytree(folder, root / "named")
    (root / "link").symlink_to(place / "private")
    with jupyter(place, f"--IcebergExplorer.roots={place}/more", base=BASE, page="api") as started:
        yield started


def get(server: Jupyter, path: str, method: str = "GET", **headers: str) -> http.client.HTTPResponse:
    """An answer, whose body is read; without headers of somebody who has logged in."""
    where = urlsplit(server.url)
    connection = http.client.HTTPConnection("localhost", where.port or 80, timeout=120)
    connection.request(method, f"{BASE}icedive{path}", headers={n.replace("_", "-"): v for n, v in headers.items()})
    answer = connection.getresponse()
    answer.text = answer.read().decode(errors="replace")  # type: ignore[attr-defined]
    return answer


def told(server: Jupyter, path: str, **headers: str) -> Any:
    """The JSON that somebody who has logged in gets."""
    answer = get(server, path, Authorization=f"token {TOKEN}", **headers)
    return json.loads(answer.text)  # type: ignore[attr-defined]


async def connect(server: Jupyter, **headers: str) -> WebSocketClientConnection:
    address = f"{server.url.replace('http', 'ws', 1)}icedive/ws"
    return await websocket_connect(HTTPRequest(address, headers=headers), max_message_size=1 << 28)


def talk(server: Jupyter, *messages: dict[str, Any]) -> list[dict[str, Any]]:
    """The answers that somebody who has logged in gets, over the socket."""

    async def run() -> list[dict[str, Any]]:
        connection = await connect(server, Authorization=f"token {TOKEN}")
        answers = [await ask(connection, **{**message, "id": n}) for n, message in enumerate(messages, 1)]
        connection.close()
        return answers

    return run_apart(run)


@pytest.mark.parametrize("path", PLACES)
def test_nothing_is_answered_without_log_in(path: str, server: Jupyter) -> None:
    for more in ("", "?token=wrong", "?token="):
        answer = get(server, path + more)
        if path in ("", "/"):
            assert answer.status == 302
            assert answer.headers["Location"].startswith(f"{BASE}login?next=")
        else:
            assert answer.status == 403
        assert "three_inserts" not in answer.text  # type: ignore[attr-defined]
        assert "Content-Security-Policy" in answer.headers


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "HEAD"])
def test_nothing_else_than_get_is_answered(method: str, server: Jupyter) -> None:
    for path in PLACES:
        assert get(server, path, method, Authorization=f"token {TOKEN}").status in (403, 404, 405)


def test_who_has_logged_in_gets_the_page_and_its_policy(server: Jupyter) -> None:
    for path in LINKS:
        answer = get(server, path, Authorization=f"token {TOKEN}")
        assert answer.status == 200, path
        policy = answer.headers["Content-Security-Policy"]
        assert "script-src 'self';" in policy
        assert "frame-ancestors 'none'" in policy
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert get(server, "", Authorization=f"token {TOKEN}").headers["Location"] == f"{BASE}icedive/"
    for name in (*TYPES, "notebook.js"):
        assert get(server, f"/static/{name}", Authorization=f"token {TOKEN}").status == 200
    for name in ("file.js", "..%2fsession.py", "sources.sha256"):
        assert get(server, f"/static/{name}", Authorization=f"token {TOKEN}").status == 404


def test_the_token_is_taken_out_of_the_address(server: Jupyter) -> None:
    answer = get(server, f"/?table=demo.three_inserts&token={TOKEN}")
    assert answer.status == 302
    assert answer.headers["Location"] == f"{BASE}icedive/?table=demo.three_inserts"


def cookies(server: Jupyter) -> str:
    """What a browser has that was let in by the token."""
    given = get(server, f"/?token={TOKEN}").headers.get_all("Set-Cookie") or []
    return "; ".join(one.partition(";")[0] for one in given)


@pytest.mark.parametrize(
    "headers",
    [*(case[1] for case in REQUESTS if case[1].keys() - {"Bokeh-Session-Id"}), {"Referer": "http://evil.example/page"}],
    ids=str,
)
def test_no_other_site_opens_anything(headers: dict[str, str], server: Jupyter) -> None:
    own = cookies(server)
    for path in LINKS:
        assert get(server, path, Cookie=own, Referer=f"{server.url}icedive/").status == 200
        answer = get(server, path, Cookie=own, **headers)
        assert answer.status in (400, 403), path
        assert "three_inserts" not in answer.text  # type: ignore[attr-defined]


def test_no_link_without_a_sender_runs_a_question(server: Jupyter) -> None:
    """Over plain HTTP to another machine a browser says nothing of who asks, and a page may hide its Referer."""
    own, link = cookies(server), LINKS[1]
    assert link.startswith("/download?")
    assert get(server, link, Cookie=own).status == 403
    for headers in ({"Sec-Fetch-Site": "same-origin"}, {"Referer": f"{server.url}icedive/"}):
        assert get(server, link, Cookie=own, **headers).status == 200


@pytest.mark.parametrize("headers", [
    {}, {"Authorization": "token wrong"}, {"Cookie": "username-localhost=x"}, {"Origin": "null", "Cookie": "own"},
    {"Origin": "http://evil.example", "Cookie": "own"}, {"Sec-Fetch-Site": "cross-site", "Cookie": "own"},
    {"Host": "evil.example", "Cookie": "own"},
])  # fmt: skip
def test_a_socket_is_for_who_has_logged_in_and_for_its_own_page(headers: dict[str, str], server: Jupyter) -> None:
    given = {**headers, "Cookie": cookies(server)} if headers.get("Cookie") == "own" else headers

    async def run() -> None:
        with pytest.raises(HTTPClientError) as refused:
            await connect(server, **given)
        assert refused.value.code == 403

    run_apart(run)
    own = cookies(server)
    assert run_apart(lambda: _answers(server, Cookie=own, Origin=server.url.partition("/user")[0]))


async def _answers(server: Jupyter, **headers: str) -> bool:
    connection = await connect(server, **headers)
    told = await ask(connection, type="hello")
    connection.close()
    return bool(told["data"])


def test_tables_open_below_the_root_folder_and_what_is_named(server: Jupyter) -> None:
    root, beside = server.folder, server.folder.parent
    opened = [f"{root}/own", f"file://{root}/own", f"{beside}/more", "demo.three_inserts"]
    refused = [f"{beside}/private", f"{root}/link", f"{root}/../private", "/etc", f"file://{beside}/private"]
    answers = talk(server, *({"type": "open", "table": table} for table in [*opened, *refused]))
    assert [answer["type"] for answer in answers] == ["answer"] * len(opened) + ["error"] * len(refused)
    assert all("is not below any of them" in answer["text"] for answer in answers[len(opened) :])
    [moved] = talk(server, {"type": "open", "table": opened[0], "moves": ["/a=/b"]})
    assert "follows no tables that have moved" in moved["text"]


@pytest.mark.parametrize("path", ["", "own", "/", "//", "./own"])
def test_a_folder_says_where_it_is_and_which_tables_it_has(path: str, server: Jupyter) -> None:
    answer = told(server, f"/folder?path={quote(path)}")
    assert answer["folder"] == str((server.folder / path.strip("/")).resolve())
    assert answer["tables"]


@pytest.mark.parametrize("path", ["..", "../private", "/../../", "link", "own/../../private", "/etc", "\ud800"])
def test_no_folder_outside_is_looked_at(path: str, server: Jupyter) -> None:
    answer = get(server, f"/folder?path={quote(path, errors='surrogatepass')}", Authorization=f"token {TOKEN}")
    if answer.status == 200:
        assert json.loads(answer.text)["tables"] == []  # type: ignore[attr-defined]
        assert json.loads(answer.text)["folder"].startswith(str(server.folder))  # type: ignore[attr-defined]
    assert str(server.folder.parent / "private") not in answer.text  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "text", ["", "{}", "[1]", "x" * 2_000_000, '{"type": "open"}', '{"type": "open", "id": 0}', "[" * 99_999]
)
def test_a_message_that_no_page_sends_ends_its_connection(text: str, server: Jupyter) -> None:
    """And nobody else's."""

    async def run() -> None:
        connection = await connect(server, Authorization=f"token {TOKEN}")
        with contextlib.suppress(WebSocketClosedError):  # ended before all of a long message was sent
            await connection.write_message(text)
        assert await asyncio.wait_for(connection.read_message(), 30) is None

    run_apart(run)
    assert talk(server, {"type": "hello"})[0]["data"]["questions"]


def test_a_kernel_is_not_bound_by_what_the_page_opens(server: Jupyter) -> None:
    """Nor has it anything else that the extension would have put into its environment."""
    talk(server, {"type": "hello"})
    own = {"Authorization": f"token {TOKEN}"}
    kernels = f"{server.url}api/kernels"
    names = "[n for n in __import__('os').environ if 'ICEDIVE' in n]"
    header = {
        "msg_id": "1",
        "msg_type": "execute_request",
        "session": "1",
        "username": "",
        "version": "5.3",
        "date": "",
    }
    content = {
        "code": "",
        "silent": True,
        "store_history": False,
        "user_expressions": {"own": names},
        "allow_stdin": False,
    }
    message = {"header": header, "parent_header": {}, "metadata": {}, "content": content, "channel": "shell"}

    async def run() -> str:
        client = AsyncHTTPClient(force_instance=True)
        begun = await client.fetch(HTTPRequest(kernels, "POST", own, "{}", request_timeout=120))
        kernel = f"{kernels}/{json.loads(begun.body)['id']}"
        socket = await websocket_connect(HTTPRequest(f"{kernel.replace('http', 'ws', 1)}/channels", headers=own))
        await socket.write_message(json.dumps(message))
        while True:
            reply = json.loads(await asyncio.wait_for(socket.read_message(), 120) or "{}")
            if reply.get("msg_type") == "execute_reply":
                break
        socket.close()
        await client.fetch(HTTPRequest(kernel, "DELETE", own))
        return str(reply["content"]["user_expressions"]["own"]["data"]["text/plain"])

    told = run_apart(run)
    assert "ICEDIVE_HOME" in told
    assert "SERVED" not in told
    assert "HIDE" not in told


def test_no_credential_of_a_table_is_told_or_logged(server: Jupyter) -> None:
    """By no answer over the socket, no file, no cell; and what is asked is in no log."""
    named = str(server.folder / "named")
    questions = ["overview", "inspect snapshots", "inspect refs", "inspect files", "inspect entries", "doctor", "plan"]
    asked = [{"type": "ask", "question": one, "table": named, "arguments": {"where": "id > 0"} if one == "plan" else {}}
             for one in questions]  # fmt: skip
    texts = [json.dumps(answer) for answer in talk(server, {"type": "open", "table": named}, *asked)]
    assert not [text for text in texts if '"type": "error"' in text]
    own = f"token {TOKEN}"
    for question in questions[:-1]:
        path = f"/download?question={quote(question)}&format=txt&table={quote(named)}"
        texts.append(get(server, path, Authorization=own).text)  # type: ignore[attr-defined]
    url = f"s3://{KEY}:hunter2hunter2@bucket/t"
    for table in (url, f"{named}?token=hunter2hunter2"):
        told = get(server, f"/code?table={quote(table)}", Authorization=own)
        assert told.status == 400
        texts.append(told.text)  # type: ignore[attr-defined]
        texts += map(json.dumps, talk(server, {"type": "open", "table": table}))
        kept = get(server, f"/place?table={quote(table)}&filter={quote(table)}", Authorization=own)
        texts.append(kept.text)  # type: ignore[attr-defined]
        get(server, f"/?table={quote(table)}", Authorization=own)
        get(server, f"/none?table={quote(table)}", Authorization=own, Referer=f"{server.url}icedive/?table={table}")
    assert not [text[:2000] for text in texts if any(secret in text for secret in SECRETS)]
    log = server.log
    assert not any(secret in log for secret in SECRETS)
    assert "three_inserts" not in log
    assert TOKEN not in log
    assert re.search(r"GET /user/ann/icedive/none", log)


def test_who_may_not_execute_may_not_run_sql_here(server: Jupyter, sandbox: Path, tmp_path: Path) -> None:
    """As Jupyter's authorizer says."""
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "only_reads.py").write_text(
        "from jupyter_server.auth import Authorizer\n"
        "class OnlyReads(Authorizer):\n"
        "    def is_authorized(self, handler, user, action, resource):\n"
        "        return action == 'read'\n"
    )
    (tmp_path / "config" / "jupyter_server_config.py").write_text(
        f"import sys\nsys.path.insert(0, {str(tmp_path / 'config')!r})\nfrom only_reads import OnlyReads\n"
        "c.ServerApp.authorizer_class = OnlyReads\n"
    )
    with jupyter(tmp_path, base=BASE, page="api") as limited:
        [hello] = talk(limited, {"type": "hello"})
    assert hello["data"]["rights"]["sql"] is False
    assert hello["data"]["rights"]["lab"] is False
    [free] = talk(server, {"type": "hello"})
    assert free["data"]["rights"]["sql"] is True


def test_the_server_ends_while_it_works(sandbox: Path, tmp_path: Path) -> None:
    """What is under way does not keep it."""
    with jupyter(tmp_path, base=BASE, page="api") as started:
        talk(started, {"type": "open", "table": "demo.long_history"})
    assert "Traceback" not in started.log
