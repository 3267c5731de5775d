"""Every question, asked of thirty tables that other writers left with faults: each answers, or says why it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

import explorer
from tests.cases import NAMES, build_case
from tests.golden.every_question import ask_all


@pytest.mark.parametrize("name", NAMES)
def test_every_question_answers_or_refuses(name: str, tmp_path: Path) -> None:
    folder = build_case(name, tmp_path)
    try:
        table = explorer.open_table(str(folder))
    except explorer.ExplorerError as error:
        assert str(folder) in str(error)
        return
    ask_all(table)
