"""What readers answer of the tables of feature_tables, as the data file of the question `readers` has it."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from explorer.spec.text.names import shorten
from tests.support.ask_reader import spark_rows, text
from tests.support.feature_tables import FeatureTable

PROGRAM = Path(__file__).with_name("ask_reader.py")
TRINO = Path(__file__).with_name("trino") / "AskTrino.java"
FLINK = Path(__file__).with_name("flink") / "AskFlink.java"
OPENED = ("lang", "lang.reflect", "util", "util.concurrent", "net", "io", "nio", "text", "time")
"""Packages of java.base that Flink looks into."""
MOST_WORDS = 200
"""Characters of a refusal that are kept."""
Answers = dict[str, dict[str, str]]
"""By feature: `reads`, and `words` where that is not yes."""


def ask(command: Sequence[str], tables: Sequence[FeatureTable]) -> tuple[str, Answers]:
    """Ask a reader, in a process of its own, for all tables.

    Args:
        command: What asks it, as ask_reader does.
        tables: What it is asked for.

    Returns:
        Its version; and by feature what `outcome` says. A reader that ends its process is asked for the rest anew.
    """
    version, answers, left = "", {}, list(tables)
    while left:
        asked = "\n".join(table.metadata for table in left)
        own = ("PYSPARK", "SPARK", "PYTHONPATH")  # of a Spark that runs here
        environment = {name: value for name, value in os.environ.items() if not name.startswith(own)}
        done = subprocess.run(
            command, input=asked, capture_output=True, text=True, timeout=500, cwd="/", env=environment
        )
        lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        assert lines, done.stderr[-2000:]
        version = lines[0]["version"]
        for table, line in zip(left, lines[1:], strict=False):
            answers[table.feature] = outcome(table, line)
        left = left[len(lines) - 1 :]
        if left:
            said = done.stderr.strip().splitlines() or [f"signal {-done.returncode}"]
            words = f"its process ends: {said[-1].strip()}"
            answers[left[0].feature] = outcome(left[0], {"refusal": words})
            left = left[1:]
    check(answers)
    return version, answers


def check(answers: Answers) -> None:
    """A reader that does not read the plainest table is asked in a wrong way: its refusals say nothing."""
    assert answers["format-version-2"]["reads"] == "yes", answers["format-version-2"]


def ask_python(python: str, reader: str, tables: Sequence[FeatureTable]) -> tuple[str, Answers]:
    """Ask a reader of ask_reader.READERS in the environment of an interpreter."""
    return ask([python, str(PROGRAM), reader], tables)


def ask_trino(java: str, classpath: str, version: str, tables: Sequence[FeatureTable]) -> tuple[str, Answers]:
    """Ask Trino, which needs Java 25."""
    options = ["-Xmx2g", "--add-modules=jdk.incubator.vector", "--sun-misc-unsafe-memory-access=allow"]
    return ask([java, *options, "-cp", classpath, f"-Dtrino.version={version}", str(TRINO)], tables)


def ask_flink(java: str, classpath: str, version: str, tables: Sequence[FeatureTable]) -> tuple[str, Answers]:
    """Ask Flink with Iceberg Java, which runs with Java 17."""
    options = ["-Xmx2g", *(f"--add-opens=java.base/java.{name}=ALL-UNNAMED" for name in OPENED)]
    return ask([java, *options, "-cp", classpath, f"-Dflink.version={version}", str(FLINK)], tables)


def ask_session(spark: SparkSession, tables: Sequence[FeatureTable]) -> Answers:
    """Ask Iceberg Java in a session of Spark that runs."""
    answers = {}
    for table in tables:
        try:
            answer: dict[str, Any] = {"rows": spark_rows(spark, table.metadata)}
        except Exception as error:  # a refusal is an answer
            answer = {"refusal": f"{type(error).__name__}: {error}"}
        answers[table.feature] = outcome(table, answer)
    check(answers)
    return answers


def outcome(table: FeatureTable, answer: dict[str, Any]) -> dict[str, str]:
    """Return what an answer means: yes, no with the refusal's words, or wrong with what it shows instead."""
    if "rows" not in answer:
        return {"reads": "no", "words": first_words(answer["refusal"])}
    rows = sorted(((i, text(x)) for i, x in answer["rows"]), key=lambda row: (row[0], str(row[1])))
    if table.is_right(rows):
        return {"reads": "yes"}
    shown, right = ("; ".join(f"x = {'null' if x is None else x}" for _, x in some) for some in (rows, table.rows))
    return {"reads": "wrong", "words": f"shows {shown or 'no rows'} instead of {right}"}


def first_words(refusal: str) -> str:
    """Return the line of a refusal that says why, without paths."""
    lines = [line.strip() for line in refusal.splitlines() if line.strip()]
    causes = [line.partition("Caused by: ")[2] for line in lines if line.startswith("Caused by: ")]
    line = causes[-1] if causes else lines[0]
    if line.startswith("Py4JJavaError") and lines[1].startswith(": "):  # Java's own words follow
        line = lines[1].removeprefix(": ")
    if "validation error" in line:  # pydantic's: what is wrong follows
        why = next(line for line in lines if " [type=" in line)
        line = f"{line.partition(':')[0]}: {why.partition(' [type=')[0]}"
    line = line.rpartition("DB::Exception: ")[2].partition(", Stack trace")[0].rpartition(" => ")[2]
    return shorten(" ".join(word for word in line.split() if "/tmp" not in word), MOST_WORDS)
