"""A REST catalog that knows people by their tokens, for tests of credentials."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

SECRETS = {"ann": "canary-of-ann-5521", "bob": "canary-of-bob-9087", "server": "canary-of-server-1177"}


class TokenCatalog(ThreadingHTTPServer):
    """A REST catalog in which each person has a namespace of their own."""

    daemon_threads = True

    def __init__(self, metadata: Path) -> None:
        self.metadata, self.tokens = metadata, list[str]()
        super().__init__(("127.0.0.1", 0), Handler)

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    server: TokenCatalog

    def do_GET(self) -> None:
        token = str(self.headers.get("Authorization")).removeprefix("Bearer ")
        self.server.tokens.append(token)
        who = next((name for name, secret in SECRETS.items() if secret == token), "")
        path = self.path.split("?")[0]
        if path == "/v1/config":
            self.say({"defaults": {}, "overrides": {}})
        elif not who:
            self.say({"error": {"message": f"no such token: {token}", "type": "NotAuthorized", "code": 401}}, 401)
        elif path == "/v1/namespaces":
            self.say({"namespaces": [] if "parent" in self.path else [[who]]})
        elif path == f"/v1/namespaces/{who}/tables":
            self.say({"identifiers": [{"namespace": [who], "name": "t"}]})
        elif path == f"/v1/namespaces/{who}/tables/t":
            metadata = json.loads(self.server.metadata.read_text())
            self.say({"metadata-location": str(self.server.metadata), "metadata": metadata, "config": {}})
        else:
            self.say({"error": {"message": "not yours", "type": "NoSuchTableException", "code": 404}}, 404)

    def say(self, data: Any, status: int = 200) -> None:
        body = json.dumps(data).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


@contextlib.contextmanager
def token_catalog(metadata: Path) -> Iterator[TokenCatalog]:
    """The catalog, in which everyone's table `t` has this metadata file."""
    serving = TokenCatalog(metadata)
    threading.Thread(target=serving.serve_forever, daemon=True).start()
    yield serving
    serving.shutdown()
    serving.server_close()
