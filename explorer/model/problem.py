"""What could not be read, or contradicts something else: attached to its node while the rest of the tree still
opens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning", "info"]


@dataclass(frozen=True)
class Problem:
    """`file` is the file concerned, `location` a JSON pointer, byte offset or record within it, `cause` what is wrong
    and `unaffected` what can be trusted all the same. `rule` is the doctor's that it breaks, if one is known."""

    file: str
    cause: str
    location: str = ""
    unaffected: str = ""
    severity: Severity = "error"
    rule: str = ""

    def __str__(self) -> str:
        place = f" at {self.location}" if self.location else ""
        return f"{self.file}{place}: {self.cause}" + (f" ({self.unaffected})" if self.unaffected else "")
