"""What could not be read, or contradicts something else: attached to its node while the rest of the tree still
opens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

ProblemSeverity = Literal["error", "warning", "info"]
SEVERITIES: tuple[ProblemSeverity, ...] = ("error", "warning", "info")
"""The worst first."""
LISTED = 100
"""Problems of one file that are listed."""
ANYWHERE = "several places"
"""The location of what sums up the others."""


@dataclass(frozen=True)
class Problem:
    """`file` is the file concerned, `location` a JSON pointer, byte offset or record within it, `cause` what is wrong
    and `unaffected` what can be trusted all the same. `rule` is the doctor's that it breaks, if one is known."""

    file: str
    cause: str
    location: str = ""
    unaffected: str = ""
    severity: ProblemSeverity = "error"
    rule: str = ""

    def __str__(self) -> str:
        place = f" at {self.location}" if self.location else ""
        return f"{self.file}{place}: {self.cause}" + (f" ({self.unaffected})" if self.unaffected else "")


class Problems:
    """The problems of one file: the first `LISTED`, and how many more there are.

    A file can have a problem for every two bytes, and each takes a thousand bytes of memory."""

    def __init__(self, file: str) -> None:
        self.file = file
        self._listed: list[Problem] = []
        self._more = 0
        self._worst: ProblemSeverity = "info"

    def add(
        self, cause: str, location: str = "", unaffected: str = "", severity: ProblemSeverity = "error", rule: str = ""
    ) -> None:
        """Add a problem; see `Problem` for what each argument says."""
        if len(self._listed) < LISTED:
            self._listed.append(Problem(self.file, cause, location, unaffected, severity, rule))
            return
        self._more += 1
        self._worst = min(severity, self._worst, key=SEVERITIES.index)

    def as_list(self) -> list[Problem]:
        """Return the problems in order; the last one says how many more there are, and is as severe as the worst of
        them."""
        if not self._more:
            return list(self._listed)
        problems = "problem" if self._more == 1 else "problems"
        cause = f"has {self._more:,} more {problems}, which are not listed"
        return [*self._listed, Problem(self.file, cause, ANYWHERE, severity=self._worst)]
