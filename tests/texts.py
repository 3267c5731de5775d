"""What the three texts claim, and where each claim is seen, run and asked: docs/coverage.yaml, and docs/coverage.md
made of it.

    python -m tests.texts"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import yaml

DOCS = Path(__file__).parents[1] / "docs"
TABLE, PAGE = DOCS / "coverage.yaml", DOCS / "coverage.md"
COMMAND = "$ "


@dataclass(frozen=True)
class Claim:
    """A claim of a text, by its line. `seen` and `run` are a command (`$ show demo.three_inserts`) or a cell of a
    notebook (`04 lab08`), `asked` is an exercise (`04 ex02`); `why` it is not seen."""

    text: str
    line: int
    claim: str
    seen: str = ""
    run: str = ""
    asked: str = ""
    why: str = ""

    @property
    def places(self) -> tuple[str, ...]:
        """Where it is seen, run and asked."""
        return tuple(filter(None, (self.seen, self.run, self.asked)))


def claims() -> list[Claim]:
    """The table, in the order of the texts."""
    return [Claim(**row) for row in yaml.safe_load(TABLE.read_text())]


def _place(place: str) -> str:
    if not place.startswith(COMMAND):
        return place
    return f"`{place.removeprefix(COMMAND)}`".replace("|", "\\|")


def page(all_claims: list[Claim]) -> str:
    """docs/coverage.md."""
    texts = list(dict.fromkeys(c.text for c in all_claims))
    lines = [
        "# Every claim of the texts: seen, run and asked",
        "",
        "`make coverage` makes this page from [coverage.yaml](coverage.yaml). It lists the claims of the",
        "[three texts](texts.md), paragraph by paragraph, with the line of the text. A paragraph with two claims has",
        "two rows.",
        "",
        "- *Seen*: a teaching table shows it.",
        "- *Run*: the reader makes it happen or computes it again: a commit, a plan, a read by Spark.",
        "- *Asked*: an exercise of the notebooks asks for it, and judges the answer; several claims share one.",
        "",
        "`show …` is a command of `icedive`. `04 lab08` is the cell of that id in notebook 04, and",
        "`04 ex02` its exercise 4.2. The errors of the texts are in [errata.md](errata.md).",
        "",
        "| text | claims | seen | run | asked | not seen |",
        "|---|---|---|---|---|---|",
    ]
    for name in (*texts, "all"):
        of = [c for c in all_claims if name in (c.text, "all")]
        counts = (len(of), *(sum(bool(getattr(c, part)) for c in of) for part in ("seen", "run", "asked", "why")))
        lines.append(f"| {name} | {' | '.join(map(str, counts))} |")
    for name in texts:
        lines += ["", f"## {name}", "", "| line | claim | seen | run | asked |", "|---|---|---|---|---|"]
        for c in (c for c in all_claims if c.text == name):
            seen = _place(c.seen) or f"not: {c.why}"
            lines.append(f"| {c.line} | {c.claim} | {seen} | {_place(c.run)} | {_place(c.asked)} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(claims()))
