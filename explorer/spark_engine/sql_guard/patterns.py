"""Which regular expressions of a statement are run. Java's matcher tries one way after another, nothing interrupts it,
and Spark runs it while it plans where all is constant: one with many ways through a text may never end."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

LONGEST, MOST = 1_000, 12
"""Characters of a pattern, and places of it where one of several ways is taken."""
_ESCAPE = re.compile(r"\\(?:[pPxN]\{[^}]*\}|c.|.)", re.DOTALL)
_QUOTED = re.compile(r"\\Q(?:[^\\]|\\(?!E))*(?:\\E)?")
_OPENING = re.compile(r"\((?:\?(?:<?[=!]|[:>]|<\w+>|(?P<flags>[\w-]*):?))?")
_REPEAT = re.compile(r"(?:[*+?]|\{(?P<least>\d+)(?:(?P<comma>,)\d*)?\})[+?]?")


@dataclass
class _Group:
    """What is known of a group so far: the places in it where one of several ways is taken, and how its alternatives
    begin."""

    ways: int = 0
    begins: list[str] = field(default_factory=lambda: [""])

    def add(self, begin: str) -> None:
        """Note a part of the present alternative."""
        self.begins[-1] = self.begins[-1] or begin

    @property
    def all_ways(self) -> int:
        """Those, and one if the text does not tell by its next character which alternative it is."""
        is_distinct = all(len(begin) == 1 for begin in self.begins) and len(set(self.begins)) == len(self.begins)
        return self.ways + (len(self.begins) > 1 and not is_distinct)


def why_slow(pattern: str) -> str | None:
    """Say why a pattern may take very long, in words; None where it does not."""
    if len(pattern) > LONGEST:
        return f"it has more than {LONGEST:,} characters"
    groups, last, at = [_Group()], 0, 0  # `last`: the ways within what a quantifier would repeat
    while at < len(pattern):
        char = pattern[at]
        if quoted := _QUOTED.match(pattern, at):
            groups[-1].add(pattern[at + 2 : at + 3].lower())
            last, at = 0, quoted.end()
        elif char == "\\":
            if (pattern[at + 1 : at + 2].isdigit() and pattern[at + 1] != "0") or pattern[at + 1 : at + 2] == "k":
                return "it refers back to a group"
            groups[-1].add("any")
            escape = _ESCAPE.match(pattern, at)
            last, at = 0, escape.end() if escape else at + 1
        elif char == "[":
            groups[-1].add("any")
            last, at = 0, _class_ends(pattern, at)
            if not at:
                return "it cannot be told where a class in brackets ends"
        elif opening := _OPENING.match(pattern, at):
            if "x" in (opening["flags"] or ""):
                return "it has comments"
            groups[-1].add("any")
            groups.append(_Group())
            last, at = 0, opening.end()
        elif char == ")" and len(groups) > 1:
            last = groups.pop().all_ways
            groups[-1].ways += last
            at += 1
        elif char == "|":
            groups[-1].begins.append("")
            last, at = 0, at + 1
        elif repeat := _REPEAT.match(pattern, at):
            if last and char != "?" and (repeat["least"], repeat["comma"]) not in (("0", None), ("1", None)):
                return "what it repeats can itself be matched in several ways, as in (a+)+ or (a|ab)*"
            if repeat["least"] is None or repeat["comma"]:
                groups[-1].ways += 1
                groups[-1].begins[-1] = "any"
            last, at = 0, repeat.end()
        else:
            groups[-1].add("any" if char in ".^$" else char.lower())
            last, at = 0, at + 1
    if sum(group.all_ways for group in groups) > MOST:
        return f"it has more than {MOST} parts that can be matched in several ways"
    return None


def _class_ends(pattern: str, at: int) -> int:
    """Where a class in brackets ends, which may hold others; 0 where that cannot be told."""
    depth = 0
    while at < len(pattern):
        if pattern.startswith("\\Q", at):
            return 0
        if pattern[at] == "\\":
            at += 2 if pattern.startswith("\\c", at) else 1
        elif pattern[at] == "[":
            depth += 1
            at += pattern.startswith("[^", at)
            at += pattern.startswith("]", at + 1)  # the first is one of its characters
        elif pattern[at] == "]":
            depth -= 1
            if not depth:
                return at + 1
        at += 1
    return 0
