"""A regular expression's work, counted: a matcher that tries what Python's `re` tries, in its order, and counts the
steps. Python's own cannot be asked, and seconds say little on a machine that others use."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from typing import Any

if sys.version_info >= (3, 11):
    from re import _constants as c
    from re import _parser as parser
else:
    import sre_constants as c
    import sre_parse as parser

BOUND = 4
"""A repeat with a limit counts as one with this limit at most: it costs so much more, whatever the text."""
ATOMIC = {getattr(c, name, None) for name in ("ATOMIC_GROUP", "POSSESSIVE_REPEAT")} - {None}
Node = tuple[Any, Any]
CATEGORIES = {"DIGIT": str.isdigit, "SPACE": str.isspace, "WORD": lambda x: x.isalnum() or x == "_"}
SAMPLES = {"DIGIT": "0", "SPACE": " ", "WORD": "a"}


class TooMuch(Exception):
    """More steps than were allowed."""


class Matcher:
    """One pattern. `steps` is the work so far."""

    def __init__(self, pattern: str | bytes, flags: int) -> None:
        text = pattern.decode("latin-1") if isinstance(pattern, bytes) else pattern
        self.tree = parser.parse(text, flags & ~re.DEBUG)
        self.nodes: Sequence[Node] = list(self.tree)
        self.flags = self.tree.state.flags
        self.steps, self.most = 0, sys.maxsize

    def work(self, text: str, search: bool, most: int = sys.maxsize) -> int:
        """Count the steps of finding all matches (`search`) or of one match at the beginning; `most` ends it."""
        self.steps, self.most, self.text = 0, most, text
        at = 0
        try:
            while at <= len(text):
                end = next(self._run(self.nodes, 0, at), None)
                if not search:
                    break
                at = at + 1 if end is None else max(end, at + 1)
        except TooMuch:
            pass
        return self.steps

    def _step(self) -> None:
        self.steps += 1
        if self.steps > self.most:
            raise TooMuch

    def _run(self, nodes: Sequence[Node], i: int, at: int) -> Iterator[int]:
        """The ends of what the nodes from the i-th on match, in the order they are tried."""
        if i == len(nodes):
            yield at
            return
        for end in self._node(*nodes[i], at):
            yield from self._run(nodes, i + 1, end)

    def _node(self, op: Any, value: Any, at: int) -> Iterator[int]:
        self._step()
        if op in (c.LITERAL, c.NOT_LITERAL, c.ANY, c.IN):
            if at < len(self.text) and self._one(op, value, self.text[at]):
                yield at + 1
        elif op is c.BRANCH:
            for branch in value[1]:
                yield from self._run(list(branch), 0, at)
        elif op is c.SUBPATTERN:
            yield from self._run(list(value[3]), 0, at)
        elif op in (c.MAX_REPEAT, c.MIN_REPEAT):
            least, most, inner = value
            limit = len(self.text) + 1 if most is c.MAXREPEAT else min(most, BOUND)
            yield from self._repeat(list(inner), min(least, BOUND), limit, at, op is c.MAX_REPEAT)
        elif op in ATOMIC:
            least, most, inner = value if isinstance(value, tuple) else (1, 1, value)
            ends = self._repeat(list(inner), least, len(self.text) + 1 if most is c.MAXREPEAT else most, at, True)
            yield from [end for end in [next(ends, None)] if end is not None]
        elif op in (c.ASSERT, c.ASSERT_NOT):
            direction, inner = value
            start = at if direction > 0 else at - inner.getwidth()[0]
            found = start >= 0 and any(direction > 0 or end == at for end in self._run(list(inner), 0, start))
            if found == (op is c.ASSERT):
                yield at
        elif op is c.AT:
            if self._at(value, at):
                yield at
        else:
            raise NotImplementedError(f"{op} is not counted")

    def _repeat(self, inner: Sequence[Node], least: int, most: int, at: int, greedy: bool) -> Iterator[int]:
        if len(inner) == 1 and inner[0][0] in (c.LITERAL, c.NOT_LITERAL, c.ANY, c.IN):
            yield from self._repeat_one(inner[0], least, most, at, greedy)
            return
        if least <= 0 and not greedy:
            yield at
        if most > 0:
            for end in self._run(inner, 0, at):
                if end > at or least > 0:
                    yield from self._repeat(inner, least - 1, most - 1, end, greedy)
        if least <= 0 and greedy:
            yield at

    def _repeat_one(self, node: Node, least: int, most: int, at: int, greedy: bool) -> Iterator[int]:
        end = at
        while True:
            self._step()
            if not greedy and end - at >= least:
                yield end
            if end == len(self.text) or end - at == most or not self._one(*node, self.text[end]):
                break
            end += 1
        for place in range(end, at + least - 1, -1) if greedy else ():
            self._step()
            yield place

    def _one(self, op: Any, value: Any, char: str) -> bool:
        """Whether one character is the literal, or of the class."""
        if op is c.ANY:
            return char != "\n" or bool(self.flags & re.DOTALL)
        if self.flags & re.IGNORECASE:
            return any(_in_class(op, value, form) for form in (char.lower(), char.upper()))
        return _in_class(op, value, char)

    def _at(self, where: Any, at: int) -> bool:
        before = at > 0 and CATEGORIES["WORD"](self.text[at - 1])
        after = at < len(self.text) and CATEGORIES["WORD"](self.text[at])
        name = str(where)
        if "BEGINNING" in name:
            return at == 0 or ("LINE" in name and bool(self.flags & re.MULTILINE) and self.text[at - 1] == "\n")
        if "END" in name:
            return at == len(self.text) or (name == "AT_END" and self.text[at:] == "\n")
        return (before != after) == ("NON" not in name)


def _in_class(op: Any, value: Any, char: str) -> bool:
    if op is c.LITERAL:
        return ord(char) == value
    if op is c.NOT_LITERAL:
        return ord(char) != value
    negated = value[0][0] is c.NEGATE
    return negated != any(_is_member(item, char) for item in value[negated:])


def _is_member(item: Node, char: str) -> bool:
    op, value = item
    if op is c.LITERAL:
        return ord(char) == value
    if op is c.RANGE:
        return value[0] <= ord(char) <= value[1]
    name = str(value).removeprefix("CATEGORY_")
    return CATEGORIES[name.removeprefix("NOT_")](char) != name.startswith("NOT_")


def words(pattern: str | bytes, flags: int) -> list[str]:
    """Texts that a pattern may meet: its literals, as long as they are, and a member of each of its classes."""
    found: dict[str, None] = {}

    def walk(nodes: Any) -> None:
        literal = ""
        for op, value in [*nodes, (None, None)]:
            if op is c.LITERAL:
                literal += chr(value)
                continue
            if literal:
                found[literal] = None
            literal = ""
            for part in _inside(op, value):
                walk(part)
            if op is c.IN:
                found.update(dict.fromkeys(map(_sample, value)))
            elif op in (c.ANY, c.NOT_LITERAL):
                found["x"] = None

    walk(Matcher(pattern, flags).tree)
    return [word for word in found if word]


def _inside(op: Any, value: Any) -> list[Any]:
    """The patterns in a node."""
    if op is c.BRANCH:
        return list(value[1])
    if op is c.SUBPATTERN:
        return [value[3]]
    if op in (c.MAX_REPEAT, c.MIN_REPEAT) or (op in ATOMIC and isinstance(value, tuple)):
        return [value[2]]
    return [value[1]] if op in (c.ASSERT, c.ASSERT_NOT) else [value] if op in ATOMIC else []


def _sample(item: Node) -> str:
    op, value = item
    if op is c.LITERAL:
        return chr(value)
    if op is c.RANGE:
        return chr(value[0])
    if op is c.CATEGORY:
        name = str(value).removeprefix("CATEGORY_")
        return "~" if name.startswith("NOT_") else SAMPLES[name]
    return "x"  # negated
