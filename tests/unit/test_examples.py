"""The examples in docstrings that need no Spark (the others: tests/spark/test_examples.py)."""

import doctest
from pathlib import Path

import pytest

from explorer.questions import QUESTIONS
from tests.support import examples

ALL = list(examples.docstring_examples())


@pytest.mark.parametrize("example", [pytest.param(e, id=e.name) for e in ALL if not examples.is_slow(e)])
def test_an_example_runs(example: doctest.DocTest, sandbox: Path) -> None:
    examples.check(example)


def test_every_question_has_an_example() -> None:
    assert not [" ".join(q.path) for q in QUESTIONS.values() if ">>> " not in q.example]
