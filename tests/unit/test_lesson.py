"""The lesson's slides: every question of the sheet, before its answer, and nothing of the machine."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from explorer.lab.lesson import LESSON, slides
from tests.unit.test_cli import run


def test_each_question_stands_before_its_answer() -> None:
    titles = [one.title for one in slides()]
    for number in range(1, 15):
        [question] = [i for i, title in enumerate(titles) if title.endswith(f"question {number}")]
        assert question < titles.index(f"Answer {number}")
    assert len(titles) == 1 + 1 + 2 * 14
    for one in slides():
        assert all(line and "___" not in line and ">" not in line for line in one.lines)
    assert [one.snapshot for one in slides() if one.title.startswith("Answer") and one.snapshot] == []


def test_the_minutes_are_those_of_the_document() -> None:
    minutes = [int(match[1]) for one in slides() if (match := re.match(r"Minute (\d+)", one.title))]
    assert minutes == sorted(minutes)
    assert {f"| {minute} |" for minute in minutes} <= set(re.findall(r"^\| \d+ \|", LESSON.read_text(), re.MULTILINE))


@pytest.mark.usefixtures("sandbox")
def test_the_page_has_a_section_a_slide_no_script_and_no_local_path(tmp_path: Path) -> None:
    file = tmp_path / "slides.html"
    done = run("export", "slides", str(file))
    assert done.exit_code == 0, done.output
    text = file.read_text()
    assert text.count("<section>") == len(slides())
    assert "<script" not in text
    assert " style=" not in text.partition("<body")[2]
    assert text.count("<svg") == sum(bool(one.table) for one in slides()) > 10
    assert str(Path.home()) not in text
    assert "file:/" not in text
    assert "<em>One</em> forgets" in text
    assert run("export", "slides", str(tmp_path / "none" / "slides.html")).exit_code == 2
