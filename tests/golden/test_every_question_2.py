"""Every question of the second, fourth, … teaching table (tests/golden/every_question.py)."""

from __future__ import annotations

from pathlib import Path

import pytest

from explorer.questions import Question
from tests.golden.every_question import cases, compare_answers


@pytest.mark.parametrize(("one", "name"), cases(1))
def test_python_and_the_command_line_agree(one: Question, name: str, sandbox: Path) -> None:
    compare_answers(one, name)
