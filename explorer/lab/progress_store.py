"""The exercises that a person has solved: one line for each in a private file of the data folder."""

from __future__ import annotations

import json
import os
from datetime import datetime, timezone
from pathlib import Path

from explorer.errors import AccessRefused
from explorer.storage.data_dirs import data_home, private

_LONGEST = 4_000_000


def _file() -> Path:
    return data_home() / "solved.jsonl"


def keep(question: str) -> str:
    """Save that a question was solved; return the reason if that failed, else an empty string. Lines are appended, so
    several kernels may do it at the same time."""
    try:
        if question in solution_times():
            return ""
        line = json.dumps({"question": question, "at": datetime.now(timezone.utc).isoformat(timespec="seconds")})
        file = _file()
        private(file.parent)
        place = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(place, f"\n{line}\n".encode())  # the last line may be cut off
        finally:
            os.close(place)
    except (OSError, AccessRefused) as error:
        return str(error)
    return ""


def solution_times() -> dict[str, str]:
    """The time when each question was first solved. Lines that are cut off are skipped. Raises OSError."""
    times: dict[str, str] = {}
    file = _file()
    if not file.exists():
        return times
    with file.open(encoding="utf-8", errors="replace") as lines:
        for line in lines.read(_LONGEST).splitlines():
            try:
                record = json.loads(line)
                times.setdefault(str(record["question"]), str(record["at"]))
            except (ValueError, KeyError, TypeError):
                continue
    return times
