"""The lesson of docs/lesson.md as slides: each question, with a picture from before its answer, and then the answer."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

LESSON = Path(__file__).parents[1] / "docs" / "lesson.md"
_LINK = re.compile(r"\?table=demo\.(\w+)(?:&snapshot=([\w-]+))?")
_ROW = re.compile(r"^\| (\d+) \| (.*?) \| (.*?) \| ?([\d, ]*?) ?\|$", re.MULTILINE)
_ITEM = re.compile(r"^(?:> )?(\d+)\. ", re.MULTILINE)
_BLANK = re.compile(r"(?: \d)? _{3,}")


@dataclass(frozen=True)
class Slide:
    """A slide: its title, its lines (Markdown's code and emphasis in them), and a snapshot of a teaching table to be
    drawn; an empty `table` draws nothing, an empty `snapshot` the current one."""

    title: str
    lines: tuple[str, ...]
    table: str = ""
    snapshot: str = ""


def slides() -> list[Slide]:
    """Return the lesson's slides, in the order of its minutes."""
    text = LESSON.read_text(encoding="utf-8")
    aims, answers = _items(_section(text, "Aims")), _items(_section(text, "The answers, with reasons"))
    questions = _items(_section(text, "The students' sheet"))
    made = [Slide("After this lesson you can", tuple(aims.values()))]
    table = ""
    asked: set[str] = set()
    for minute, shows, _, numbers in _ROW.findall(text):
        first = ("", "")
        if link := _LINK.search(shows):
            table = link[1]
            asked_at = shows.find("asks for")
            first = (table, link[2] or "") if asked_at < 0 or link.start() < asked_at else ("", "")
        elif "*Lab*" in shows:
            table = ""
        new = [number for number in numbers.split(", ") if number and number not in asked]
        asked.update(new)
        made += [Slide(f"Minute {minute}: question {n}", (questions[n],), *first) for n in new]
        made += [Slide(f"Answer {n}", (answers[n],), table) for n in new]
        if not numbers and link:
            made.append(Slide(f"Minute {minute}", (_without_link(shows),), *first))
    return made


def _section(text: str, title: str) -> str:
    return text.partition(f"## {title}\n")[2].partition("\n## ")[0]


def _items(text: str) -> dict[str, str]:
    """The items of a numbered list by their numbers, each on one line."""
    _, *parts = _ITEM.split(text)
    pairs = zip(parts[::2], parts[1::2], strict=True)
    return {number: _one_line(item) for number, item in pairs}


def _one_line(item: str) -> str:
    lines = [line.removeprefix(">").strip() for line in item.partition("\n\n")[0].splitlines()]
    return _BLANK.sub(" …", " ".join(lines)).strip(" …")


def _without_link(shows: str) -> str:
    """What the teacher shows, without the address."""
    told = re.sub(r"^`[^`]*`:? ?", "", shows)
    return f"{told[:1].upper()}{told[1:]}."
