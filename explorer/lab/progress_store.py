"""What a person has reached in each exercise (tried, looked up or solved): lines in a private file of the data
folder."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

from explorer.errors import AccessRefused
from explorer.storage.data_dirs import data_home, private

_LONGEST = 4_000_000
TRIED, LOOKED_UP, SOLVED = "tried", "looked up", "solved"
STATES = (TRIED, LOOKED_UP, SOLVED)


@dataclass(frozen=True)
class Reached:
    """The state of an exercise, one of STATES, and the time when it was reached."""

    state: str
    at: str


def _file() -> Path:
    return data_home() / "solved.jsonl"


def keep(question: str, state: str = SOLVED) -> str:
    """Save the state of a question, unless it has gone that far already; return the reason if that failed, else an
    empty string. Lines are appended, so several kernels may do it at the same time."""
    try:
        if not _is_further(state, states_by_question().get(question)):
            return ""
        now = datetime.now(timezone.utc).isoformat(timespec="seconds")
        line = json.dumps({"question": question, "at": now, "state": state})
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


def states_by_question() -> dict[str, Reached]:
    """The state of each question that was answered. The first of looked up and solved stays: who has seen the answer
    did not find it. Lines that are cut off are skipped. Raises OSError."""
    states: dict[str, Reached] = {}
    file = _file()
    if not file.exists():
        return states
    with file.open(encoding="utf-8", errors="replace") as lines:
        for line in lines.read(_LONGEST).splitlines():
            try:
                record = json.loads(line)
                question, one = str(record["question"]), Reached(str(record.get("state", SOLVED)), str(record["at"]))
            except (ValueError, KeyError, TypeError, AttributeError):
                continue
            if one.state in STATES and _is_further(one.state, states.get(question)):
                states[question] = one
    return states


def _is_further(state: str, before: Reached | None) -> bool:
    return before is None or (before.state == TRIED and state != TRIED)
