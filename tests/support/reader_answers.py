"""What readers answer of the tables of feature_tables, as the data file of the question `readers` has it."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.support.feature_tables import FeatureTable

PROGRAM = Path(__file__).with_name("ask_reader.py")
MOST_WORDS = 160
"""Characters of a refusal that are kept."""


def ask(python: str, reader: str, tables: Sequence[FeatureTable]) -> tuple[str, dict[str, dict[str, str]]]:
    """Ask a reader, in a process of its own, for all tables.

    Args:
        python: The interpreter of the environment that has it.
        reader: Its name in ask_reader.READERS.
        tables: What it is asked for.

    Returns:
        Its version; and by feature what `outcome` says. A reader that ends its process is asked for the rest anew.
    """
    version, answers, left = "", {}, list(tables)
    while left:
        asked = "\n".join(table.metadata for table in left)
        done = subprocess.run(
            [python, str(PROGRAM), reader], input=asked, capture_output=True, text=True, timeout=500, cwd="/",
            env={**os.environ, "PYTHONPATH": ""},
        )  # fmt: skip
        lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        assert lines, done.stderr[-2000:]
        version = lines[0]["version"]
        for table, line in zip(left, lines[1:], strict=False):
            answers[table.feature] = outcome(table, line)
        left = left[len(lines) - 1 :]
        if left:
            words = f"its process ends: {done.stderr.strip().splitlines()[-1].strip()}"
            answers[left[0].feature] = outcome(left[0], {"refusal": words})
            left = left[1:]
    return version, answers


def outcome(table: FeatureTable, answer: dict[str, Any]) -> dict[str, str]:
    """Return what an answer means: yes, no with the refusal's words, or wrong with what it shows instead."""
    if "rows" not in answer:
        return {"reads": "no", "words": first_words(answer["refusal"])}
    if table.is_right(answer["rows"]):
        return {"reads": "yes"}
    shown, right = ("; ".join(f"{i}: {x}" for i, x in rows) for rows in (answer["rows"], table.rows))
    return {"reads": "wrong", "words": f"shows {shown or 'no rows'} for {right}"[:MOST_WORDS]}


def first_words(refusal: str) -> str:
    """Return the line of a refusal that says why, without paths."""
    lines = [line.strip() for line in refusal.splitlines() if line.strip()]
    causes = [line.partition("Caused by: ")[2] for line in lines if line.startswith("Caused by: ")]
    line = (causes or lines)[-1 if causes else 0]
    return " ".join(word for word in line.split() if "/tmp" not in word and ".py4j" not in word)[:MOST_WORDS]
