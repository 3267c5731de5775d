"""A store as it is from far away, and on a bad day: what stands behind it is delayed, counted, throttled, cut, or never
answers."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

from tornado.httpclient import AsyncHTTPClient, HTTPRequest
from tornado.httputil import HTTPServerRequest
from tornado.web import Application, RequestHandler

Fault = Callable[[HTTPServerRequest], str]
"""What befalls a request: "" nothing, "throttle", "refuse", "cut" or "hang" (for as long as it says so)."""


class Proxy:
    """Stands before the server at `upstream`, on a free port of loopback, on a thread of its own."""

    def __init__(self, upstream: str) -> None:
        self.upstream, self.delay = upstream, 0.0
        self.fault: Fault = lambda request: ""
        self.reset()
        ready = threading.Event()
        threading.Thread(target=self._serve, args=(ready,), daemon=True).start()
        ready.wait()

    def reset(self) -> None:
        """Count anew, from now on. `of_kind` counts requests by the ending of the file's name, and `together` how many
        of these were under way at once."""
        self.requests, self.under_way, self.peak, self.methods = 0, 0, 0, Counter[str]()
        self.of_kind, self.together = Counter[str](), Counter[str]()
        self._under_way = Counter[str]()

    def note(self, kind: str, change: int) -> None:
        """Count a request for a file of a kind that begins (1) or ends (-1)."""
        self.of_kind[kind] += max(0, change)
        self._under_way[kind] += change
        self.together[kind] = max(self.together[kind], self._under_way[kind])

    def _serve(self, ready: threading.Event) -> None:
        asyncio.run(self._run(ready))

    async def _run(self, ready: threading.Event) -> None:
        AsyncHTTPClient.configure(None, max_clients=200)
        server = Application([(r".*", _Handler, {"proxy": self})]).listen(0, "127.0.0.1")
        self.url = f"http://127.0.0.1:{next(iter(server._sockets.values())).getsockname()[1]}"
        ready.set()
        await asyncio.Event().wait()


class _Handler(RequestHandler):
    SUPPORTED_METHODS = ("GET", "HEAD", "PUT", "POST", "DELETE")  # type: ignore[assignment]

    def initialize(self, proxy: Proxy) -> None:
        self.proxy = proxy

    async def forward(self, *_: Any) -> None:
        proxy, request = self.proxy, self.request
        proxy.requests += 1
        proxy.methods[str(request.method)] += 1
        proxy.under_way += 1
        proxy.peak = max(proxy.peak, proxy.under_way)
        kind = str(request.path).rpartition(".")[2]
        proxy.note(kind, 1)
        try:
            await asyncio.sleep(proxy.delay)
            fault = proxy.fault(request)
            while fault == "hang":
                await asyncio.sleep(0.05)
                fault = proxy.fault(request)
            if fault in ("throttle", "refuse"):
                self.set_status(503 if fault == "throttle" else 403)
                code = "SlowDown" if fault == "throttle" else "ExpiredToken"
                asked = request.headers.get("X-Amz-Security-Token", "as asked for")
                self.finish(f"<Error><Code>{code}</Code><Message>{asked}</Message></Error>")
                return
            headers = {k: v for k, v in request.headers.get_all() if k.lower() != "transfer-encoding"}
            answer = await AsyncHTTPClient().fetch(
                HTTPRequest(
                    proxy.upstream + str(request.uri), str(request.method), headers, request.body or None,
                    allow_nonstandard_methods=True, decompress_response=False,
                ),
                raise_error=False,
            )  # fmt: skip
            self.set_status(answer.code, answer.reason)
            for name, value in answer.headers.get_all():
                if name.lower() not in ("content-length", "transfer-encoding", "connection"):
                    self.set_header(name, value)
            if request.method == "HEAD":
                self.set_header("Content-Length", answer.headers.get("Content-Length", "0"))
            elif fault == "cut":
                self.set_header("Content-Length", str(len(answer.body)))
                self.write(answer.body[: len(answer.body) // 2])
                await self.flush()
                request.connection.stream.close()  # type: ignore[union-attr]
                return
            elif answer.body:
                self.write(answer.body)
        finally:
            proxy.under_way -= 1
            proxy.note(kind, -1)

    get = head = put = post = delete = forward
