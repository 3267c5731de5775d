"""Statements that a real Trino runs, one after the other, in a catalog of its own."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PROGRAM = Path(__file__).with_name("trino") / "RunTrino.java"
OPTIONS = ["-Xmx2g", "--add-modules=jdk.incubator.vector", "--sun-misc-unsafe-memory-access=allow"]


class Trino:
    """A Trino that runs, with the schema demo in its catalog iceberg."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process

    def run(self, sql: str) -> list[str]:
        """Run a statement, and return its rows as text. Raises AssertionError where Trino refuses it."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(sql.replace("\n", " ") + "\n")
        self.process.stdin.flush()
        outcome, *rows = self.process.stdout.readline().rstrip("\n").split("\t")
        assert outcome == "yes", rows
        return rows


@contextmanager
def trino(folder: Path) -> Iterator[Trino]:
    """Start a Trino whose catalog has its tables below a folder; $ICEDIVE_TRINO names its Java and its class path."""
    java, class_path, _ = os.environ["ICEDIVE_TRINO"].split()
    command = [java, *OPTIONS, "-cp", Path(class_path).read_text().strip(), str(PROGRAM), str(folder)]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    try:
        yield Trino(process)
    finally:
        process.kill()
        process.wait()
