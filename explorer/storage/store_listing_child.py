"""What the child process of storage.store_listing does: limits on itself, then one listing. Only it imports this."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from typing import Any, BinaryIO

from explorer.storage.store_listing import MEMORY, SECONDS
from explorer.storage.stores import split_uri, store_of

PAGE, TEXT = 1000, 10_000
"""Files of a line; and the longest text of an error."""


def list_folder(request: dict[str, Any], answers: BinaryIO) -> None:
    """Write the files at any depth below a folder, a page in each line."""
    uri = request["uri"]
    folder = split_uri(uri)[2].rstrip("/")
    store = store_of(uri, request["properties"])
    assert store is not None
    for page in store.list(f"{folder}/" if folder else None, chunk_size=PAGE):
        files = [(f"{item['path']}"[len(folder) :], item["last_modified"].timestamp(), item["size"]) for item in page]
        _write(answers, files=files)


def _write(answers: BinaryIO, **fields: object) -> None:
    answers.write(json.dumps(fields).encode() + b"\n")
    answers.flush()


def _limit_itself() -> None:
    with contextlib.suppress(ImportError):  # Windows
        import resource

        for kind, most in (("RLIMIT_DATA", MEMORY), ("RLIMIT_CPU", SECONDS), ("RLIMIT_CORE", 0)):
            with contextlib.suppress(ValueError, OSError):
                resource.setrlimit(getattr(resource, kind), (most, resource.getrlimit(getattr(resource, kind))[1]))


def main() -> None:
    """Answer one request."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what libraries print is no answer
    _limit_itself()
    try:
        list_folder(json.loads(sys.stdin.buffer.read()), answers)
    except BaseException as error:  # clients raise all kinds, and a panic is not even an Exception
        _write(answers, error=(type(error).__name__, str(error)[:TEXT]))
    else:
        _write(answers, end=True)


if __name__ == "__main__":
    main()
