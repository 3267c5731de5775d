"""The examples of public docstrings: those of the package's root, its classes, and questions that are no method."""

from __future__ import annotations

import doctest
import inspect
from collections.abc import Iterator

import explorer
from explorer.queries import collection
from explorer.questions import QUESTIONS, answers, facade

MODULES = (explorer, facade, collection, answers)
SLOW = (
    "OpenTable.rows", "OpenTable.sql", "Questions.run", "LabQuestions.", "Collection.to_spark", "explorer.spark",
    "explorer.metadata_view", "explorer.gallery", "questions.lab.", "DataQuestions.duplicates",
)  # fmt: skip
"""Parts of the names of examples that need Spark, or take long."""


def docstring_examples() -> Iterator[doctest.DocTest]:
    """Every docstring with an example; `explorer` is imported in each."""
    finder = doctest.DocTestFinder(exclude_empty=True)
    names = {"explorer": explorer}
    for module in MODULES:
        yield from (test for test in finder.find(module, extraglobs=names) if test.examples)
    for question in QUESTIONS.values():
        if not question.subject:  # those with a subject are methods
            name = f"{question.function.__module__}.{question.function.__name__}"
            yield from finder.find(question.function, name, inspect.getmodule(question.function), extraglobs=names)


def is_slow(example: doctest.DocTest) -> bool:
    """Whether an example needs Spark, or takes long."""
    return any(part in example.name for part in SLOW)


def check(example: doctest.DocTest) -> None:
    """Run an example; the lines it prints are those that it shows."""
    report: list[str] = []
    outcome = doctest.DocTestRunner(verbose=False).run(example, out=report.append)
    assert outcome.failed == 0, "".join(report)
