"""The examples in docstrings that need Spark, or take long (the others: tests/unit/test_examples.py)."""

import doctest
from pathlib import Path

import pytest

from tests.support import examples

SLOW = [pytest.param(e, id=e.name) for e in examples.docstring_examples() if examples.is_slow(e)]


@pytest.mark.parametrize("example", SLOW)
def test_an_example_runs(example: doctest.DocTest, sandbox: Path) -> None:
    examples.check(example)
