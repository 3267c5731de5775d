"""Listings of folders of object stores, in a child process with a limit of memory: obstore holds a page of a listing as
a whole, and reserves what a store says of its length, so a store that lies would end this process.

The child gets one line of JSON, and answers in lines of JSON. Nothing is unpickled."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from explorer.errors import UnreadableFile
from explorer.progress import check_cancellation, when_cancelled
from explorer.storage import limits
from explorer.storage.python_children import KILLED, bare_command

MEMORY = 512 << 20
"""Bytes of memory of a child. An honest page has a thousand names, or five."""
SECONDS = 60
"""Seconds of the processor that a child takes at most."""


class ListedFile(NamedTuple):
    """A file as a listing has it: when it was last `written`, in seconds since 1970, and its length in `bytes`."""

    written: float
    bytes: int


class ListingError(OSError):
    """What a store's client raised in the child; `kind` is the name of its class."""

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(text)
        self.kind = kind


def names_in(uri: str, properties: Mapping[str, str]) -> list[str]:
    """Return the names of the files in a folder, without those in folders below it. Raises as `list_files` does."""
    return [rest[1:] for rest in list_files(uri, properties) if "/" not in rest[1:]]


def list_files(uri: str, properties: Mapping[str, str]) -> dict[str, ListedFile]:
    """List the files at any depth below a folder of a store that `stores.store_of` opens.

    Args:
        uri: The folder's URI.
        properties: The properties with which its store opens.

    Returns:
        Each file by what stands after the folder in its key, a slash first.

    Raises:
        UnreadableFile: There are too many, or the store sends more than an honest one.
        FileNotFoundError: The store has no such bucket.
        ListingError: The store's client said something else.
        Cancelled: Nobody waits for it any more.
    """
    files: dict[str, ListedFile] = {}
    size = 0
    for page in _pages(uri, properties):
        files.update((rest, ListedFile(written, length)) for rest, written, length in page)
        size += sum(len(rest) for rest, _, _ in page)
        limits.within(len(files), limits.NAMES, uri, "files below it")
        limits.within(size, limits.share(4), uri, "bytes of names of files below it")
    return files


def _pages(uri: str, properties: Mapping[str, str]) -> Iterator[list[tuple[str, float, int]]]:
    with subprocess.Popen(
        bare_command("explorer.storage.store_listing_child"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "TOKIO_WORKER_THREADS": "2"},  # each has a stack, which is memory
        start_new_session=True,  # Ctrl-C in a terminal is for us
    ) as child:
        try:
            assert child.stdin is not None
            assert child.stdout is not None
            with contextlib.suppress(BrokenPipeError), child.stdin as request:  # then its end tells
                request.write(json.dumps({"uri": uri, "properties": dict(properties)}).encode())
            with when_cancelled(child.kill):
                for line in child.stdout:
                    answer = json.loads(line)
                    if "end" in answer:
                        return
                    if "error" in answer:
                        raise _error(*answer["error"])
                    yield answer["files"]
            check_cancellation()
            raise UnreadableFile(uri, f"its files cannot be listed: {_end(child.wait())}")
        finally:
            child.kill()


def _error(kind: str, text: str) -> Exception:
    return FileNotFoundError(text) if kind == "FileNotFoundError" else ListingError(kind, text)


def _end(status: int) -> str:
    if status in (-signal.SIGABRT, -signal.SIGSEGV):
        return f"that took more than {MEMORY:,} bytes of memory, or its client broke off: no honest store sends so much"
    if status in KILLED:
        return f"that took more than {SECONDS} s of the processor"
    return f"the child that lists them ended with status {status}"
