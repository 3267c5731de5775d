"""What would be seen from outside if a statement, a page or a file reached out of where it belongs."""

from __future__ import annotations

import ctypes
import os
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import psutil

IN_ACCESS, IN_OPEN, IN_CREATE = 0x1, 0x20, 0x100


class Canary:
    """A folder with a secret whose every opening is noticed (inotify, on Linux), a loopback address that counts
    requests, and the programs that a process starts meanwhile, as often as one can look."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "secret.txt").write_text("secret")
        (folder / "metadata.json").write_text("{}")
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._watch = self._libc.inotify_init1(os.O_NONBLOCK) if hasattr(self._libc, "inotify_init1") else -1
        if self._watch >= 0:
            self._libc.inotify_add_watch(self._watch, str(folder).encode(), IN_ACCESS | IN_OPEN | IN_CREATE)
        self.requests: list[str] = []
        self.programs: set[str] = set()
        canary = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                canary.requests.append(self.path)
                self.send_error(404)

            do_HEAD = do_POST = do_OPTIONS = do_PUT = do_GET

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def files(self) -> list[str]:
        """Names of the files in the folder that were opened or made since the last call."""
        if self._watch < 0:
            return [p.name for p in self.folder.iterdir() if p.name not in ("secret.txt", "metadata.json")]
        names = []
        try:
            while data := os.read(self._watch, 65536):
                at = 0
                while at < len(data):
                    _, mask, _, size = struct.unpack_from("iIII", data, at)
                    name = data[at + 16 : at + 16 + size].rstrip(b"\0").decode()
                    if name or mask & IN_CREATE:  # opening the folder itself, as we do here, has no name
                        names.append(name)
                    at += 16 + size
        except BlockingIOError:
            pass
        return names

    @contextmanager
    def programs_of(self, pid: int) -> Iterator[None]:
        """Notice what a process starts, looking a few hundred times a second. What it had started before, as Spark's
        Python workers of an earlier test, is not noticed."""
        over = threading.Event()
        process = psutil.Process(pid)
        before = {child.pid for child in process.children(recursive=True)}
        own_words = process.cmdline()

        def look() -> None:
            while not over.is_set():
                for child in process.children(recursive=True):
                    if child.pid in before:
                        continue
                    try:
                        # between fork and exec a child has its parent's words, and then those of Java's helper
                        while (words := child.cmdline()) and (
                            words == own_words or Path(words[0]).name == "jspawnhelper"
                        ):
                            continue
                        self.programs.add(" ".join(words))
                    except psutil.Error:
                        continue
                time.sleep(0.003)

        thread = threading.Thread(target=look, daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()

    def filled(self, statement: str, table: str = "sandbox.lab.x") -> str:
        """A statement of the attack table with its places."""
        name = table.split(".", 1)[1]
        return statement.format(dir=self.folder, url=self.url, t=table, name=name)

    def close(self) -> None:
        """Stop listening."""
        self._server.shutdown()
        if self._watch >= 0:
            os.close(self._watch)
