"""Serve a folder as a slow S3 store on loopback, with only what listing and reading need. Each request is delayed and
counted."""

from __future__ import annotations

import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

BUCKET = "lab"
PAGE = 1000
"""The number of names in the answer to one LIST, as in S3."""


class FarStore:
    """Serves a folder as the bucket BUCKET in a `with` block. `delay` is the delay of each request in seconds;
    `requests` counts LIST, HEAD and GET."""

    def __init__(self, folder: Path, delay: float) -> None:
        self.folder, self.delay = folder.resolve(), delay
        self.requests: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._server.daemon_threads = True
        self._server.store = self  # type: ignore[attr-defined]

    @property
    def address(self) -> str:
        """The host and port."""
        return f"127.0.0.1:{self._server.server_address[1]}"

    @property
    def properties(self) -> dict[str, str]:
        """The properties that open the store; it accepts any keys."""
        keys = {"access-key-id": "lab", "secret-access-key": "lab", "region": "us-east-1"}
        return {"s3.endpoint": f"http://{self.address}"} | {f"s3.{k}": v for k, v in keys.items()}

    def __enter__(self) -> FarStore:
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._server.shutdown()
        self._server.server_close()

    def count_request(self, what: str) -> None:
        """Count a request and delay it."""
        with self._lock:
            self.requests[what] += 1
        time.sleep(self.delay)

    def listing(self, prefix: str, delimiter: str, after: str) -> str:
        """One page of names, as in S3's ListObjectsV2."""
        sizes = {str(p.relative_to(self.folder)): p.stat().st_size for p in self.folder.rglob("*") if p.is_file()}
        entries: dict[str, int | None] = {}
        for key in sorted(key for key in sizes if key.startswith(prefix)):
            below, cut, _ = key[len(prefix) :].partition(delimiter) if delimiter else (key, "", "")
            entries[prefix + below + cut if cut else key] = None if cut else sizes[key]
        names = [name for name in entries if name > after]
        page, more = names[:PAGE], len(names) > PAGE
        each = "".join(_item(name, entries[name]) for name in page)
        last = f"<NextContinuationToken>{escape(page[-1])}</NextContinuationToken>" if more else ""
        return (
            f'<?xml version="1.0"?><ListBucketResult><Name>{BUCKET}</Name><Prefix>{escape(prefix)}</Prefix>'
            f"<KeyCount>{len(page)}</KeyCount><MaxKeys>{PAGE}</MaxKeys><IsTruncated>{str(more).lower()}</IsTruncated>"
            f"{last}{each}</ListBucketResult>"
        )

    def file(self, key: str) -> Path | None:
        """The file of a key; None if it does not exist or lies outside the folder."""
        path = (self.folder / key).resolve()
        return path if path.is_file() and path.is_relative_to(self.folder) else None


def _item(name: str, size: int | None) -> str:
    if size is None:
        return f"<CommonPrefixes><Prefix>{escape(name)}</Prefix></CommonPrefixes>"
    when = "<LastModified>2024-01-01T00:00:00.000Z</LastModified>"
    return f'<Contents><Key>{escape(name)}</Key>{when}<ETag>"0"</ETag><Size>{size}</Size></Contents>'


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_HEAD(self) -> None:
        """Send the size of a file."""
        self._file(False)

    def do_GET(self) -> None:
        """Send a page of names, or bytes of a file."""
        url = urlsplit(self.path)
        parameters = {name: values[0] for name, values in parse_qs(url.query).items()}
        if "list-type" not in parameters:
            self._file(True)
            return
        self._store.count_request("LIST")
        after = parameters.get("continuation-token") or parameters.get("start-after", "")
        text = self._store.listing(parameters.get("prefix", ""), parameters.get("delimiter", ""), after)
        self._answer(200, text.encode(), {"Content-Type": "application/xml"})

    @property
    def _store(self) -> FarStore:
        store: FarStore = self.server.store  # type: ignore[attr-defined]
        return store

    def _file(self, body: bool) -> None:
        self._store.count_request("GET" if body else "HEAD")
        path = self._store.file(unquote(urlsplit(self.path).path).removeprefix(f"/{BUCKET}/"))
        if path is None:
            self._answer(404, b"<Error><Code>NoSuchKey</Code></Error>", {"Content-Type": "application/xml"})
            return
        data, wanted = path.read_bytes(), self.headers.get("Range", "")
        headers = {"ETag": '"0"', "Last-Modified": "Mon, 01 Jan 2024 00:00:00 GMT", "Accept-Ranges": "bytes"}
        if not wanted.startswith("bytes="):
            self._answer(200, data, headers)
            return
        first, _, last = wanted.removeprefix("bytes=").partition("-")
        start = int(first) if first else max(0, len(data) - int(last))
        end = min(int(last), len(data) - 1) if first and last else len(data) - 1
        headers["Content-Range"] = f"bytes {start}-{end}/{len(data)}"
        self._answer(206, data[start : end + 1], headers)

    def _answer(self, status: int, data: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        """Log nothing; requests are only counted."""
