"""What one server gives to all who use it, and what it writes down of their statements."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, fields
from pathlib import Path

from explorer.errors import ExplorerError
from explorer.spec.secrets.redaction import redact

VARIABLE, AUDIT_VARIABLE = "ICEDIVE_QUOTAS", "ICEDIVE_AUDIT"
WAIT_S = 0.25


@dataclass(frozen=True)
class Quotas:
    """Reads by Spark that run at once, over all sessions; rows and seconds of one (None: any number); reads of one
    session that may wait."""

    reads: int = 8
    rows: int | None = None
    seconds: int | None = None
    queue: int = 4


@functools.cache
def quotas() -> Quotas:
    """Those of the environment, a JSON object such as {"rows": 100000, "seconds": 120}. Raises ExplorerError."""
    text = os.environ.get(VARIABLE) or "{}"
    names = [f.name for f in fields(Quotas)]
    try:
        given = json.loads(text)
    except ValueError as error:
        raise ExplorerError(f"{VARIABLE} is not JSON: {error}") from error
    if not isinstance(given, dict) or any(n not in names or type(v) is not int or v < 1 for n, v in given.items()):
        raise ExplorerError(f"{VARIABLE} is {text!r}: a JSON object of whole numbers above 0, named {', '.join(names)}")
    return Quotas(**given)


@functools.cache
def _slots() -> threading.Semaphore:
    return threading.Semaphore(quotas().reads)


@contextlib.contextmanager
def slot(waits: threading.Event) -> Iterator[bool]:
    """One of the reads that run at once; False where `waits` was set before it was its turn."""
    slots = _slots()
    has_slot = False
    while not has_slot and not waits.is_set():
        has_slot = slots.acquire(timeout=WAIT_S)
    try:
        yield has_slot
    finally:
        if has_slot:
            slots.release()


# -- the audit log ----------------------------------------------------------------------------------------------------
_ACTING: ContextVar[str] = ContextVar("acting", default="")
_lock = threading.Lock()
outcomes: Counter[tuple[str, str]] = Counter()
"""Statements by kind and outcome, since this process began."""


@contextlib.contextmanager
def acting(person: str) -> Iterator[None]:
    """What this thread does in the block is done for that person."""
    token = _ACTING.set(person)
    try:
        yield
    finally:
        _ACTING.reset(token)


def person() -> str:
    """Whom this thread acts for; empty where nobody said."""
    return _ACTING.get()


def check_audit() -> None:
    """Raises ExplorerError when the audit log cannot be written."""
    if path := os.environ.get(AUDIT_VARIABLE):
        _append(path, "")


def audit(kind: str, who: str, statement: str, tables: Sequence[str], outcome: str, seconds: float, rows: int) -> None:
    """Count a statement that is over, and `note` it."""
    with _lock:
        outcomes[kind, outcome.partition(":")[0]] += 1
    note(kind, who, statement, tables, outcome, seconds, rows)


def note(
    kind: str,
    who: str,
    statement: str,
    tables: Sequence[str] = (),
    outcome: str = "began",
    seconds: float = 0,
    rows: int = 0,
) -> None:
    """Add a line to the audit log, if there is one: JSON, without credentials; of a text of a person's one also before
    it runs, which may never end. Raises ExplorerError when it cannot be written."""
    if path := os.environ.get(AUDIT_VARIABLE):
        line = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "who": who, "kind": kind,
            "statement": redact(statement), "tables": [redact(table) for table in tables],
            "outcome": redact(outcome), "seconds": round(seconds, 3), "rows": rows,
        }  # fmt: skip
        _append(path, json.dumps(line, ensure_ascii=True) + "\n")


def _append(path: str, text: str) -> None:
    try:
        with _lock:
            file = os.open(Path(path), os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            try:
                os.write(file, text.encode())
            finally:
                os.close(file)
    except OSError as error:
        raise ExplorerError(f"{AUDIT_VARIABLE}: {path} cannot be written: {error.strerror}") from error
