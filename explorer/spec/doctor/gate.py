"""Checks of tables as a pipeline takes them: what passed, what did not, and from which level on that is a failure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from explorer.spec.doctor.rules import Level

FailOn = Literal["never", "error", "warning"]
FAIL_ON: Sequence[FailOn] = ("never", "error", "warning")
CaseLevel = Literal["ok", "not judged", "info", "warning", "error"]


@dataclass(frozen=True)
class CheckCase:
    """One check of one table.

    Attributes:
        table: The table's name.
        name: The rule or measure.
        title: What it checks.
        level: How it came out.
        text: What is to be said of it, a line each.
    """

    table: str
    name: str
    title: str
    level: CaseLevel
    text: str = ""


def fails(level: Level | CaseLevel, fail_on: FailOn) -> bool:
    """Return whether a level is a failure."""
    return (level == "error" and fail_on != "never") or (level == "warning" and fail_on == "warning")


def level_of_exit(level: Level, fail_on: FailOn) -> Level:
    """Return the level by which a command exits: warnings and errors that are no failures are none."""
    return level if level not in ("warning", "error") or fails(level, fail_on) else "ok"
