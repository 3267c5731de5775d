"""How many wrong rules do the quick tests notice? Changes explorer/core in one place at a time (a comparison, an
and/or, a `not`, a sum, a constant, a condition, a returned value), and runs the tests that need neither Spark nor a
browser on it.

    python -m tests.mutants [--count 100] [--seed 1] [--only commit,values] [--jobs 2]

Prints each survivor, and how many were killed. Nothing on disk is changed: each run is a fork of this process, which
loads the changed module in place of the real one. POSIX only."""

from __future__ import annotations

import argparse
import ast
import importlib.abc
import importlib.machinery
import importlib.util
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import fastavro  # noqa: F401  (each fork finds the heavy libraries loaded)
import hypothesis  # noqa: F401
import polars  # noqa: F401
import pyarrow.compute
import pyarrow.parquet  # noqa: F401
import pyiceberg.catalog.sql
import pyiceberg.table  # noqa: F401
import pytest

ROOT = Path(__file__).parents[1]
CORE = ROOT / "explorer" / "core"
DRAWING = ("graph", "layout", "delete_graph", "diff_graph", "uncommitted")
"""Modules that draw: no rule of the spec is in them."""
QUICK = ("tests/unit", "tests/properties")
TIMEOUT_S = 300

COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Eq: "!=", ast.NotEq: "==", ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">",
    ast.Is: "is not", ast.IsNot: "is", ast.In: "not in", ast.NotIn: "in",
}  # fmt: skip
ARITHMETIC: dict[type[ast.operator], str] = {ast.Add: "-", ast.Sub: "+", ast.Mult: "+", ast.FloorDiv: "*"}


@dataclass(frozen=True)
class Mutant:
    """One change of a module: where, its text before and after, and the module's whole source."""

    module: str
    line: int
    before: str
    after: str
    source: str

    def __str__(self) -> str:
        before, after = (" ".join(text.split()) for text in (self.before, self.after))
        return f"{self.module}.py:{self.line}: {before[:90]}  ->  {after[:90]}"


def _changed(node: ast.AST) -> str | None:
    """Other source for a node; None where there is nothing to change."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in COMPARISONS:
        left, right = ast.unparse(node.left), ast.unparse(node.comparators[0])
        return f"({left}) {COMPARISONS[type(node.ops[0])]} ({right})"
    if isinstance(node, ast.BoolOp):
        other = " or " if isinstance(node.op, ast.And) else " and "
        return other.join(f"({ast.unparse(v)})" for v in node.values)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return f"bool({ast.unparse(node.operand)})"
    if isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC and not (_text(node.left) or _text(node.right)):
        return f"({ast.unparse(node.left)}) {ARITHMETIC[type(node.op)]} ({ast.unparse(node.right)})"
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        return str(not node.value)
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return str(node.value + 1)
    if isinstance(node, ast.IfExp):
        test, body, other = (ast.unparse(n) for n in (node.test, node.body, node.orelse))
        return f"({other}) if ({test}) else ({body})"
    if isinstance(node, ast.Return) and node.value is not None and not isinstance(node.value, ast.Constant):
        return "return None"
    return None


def _text(node: ast.AST) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _idle(tree: ast.AST) -> set[int]:
    """Ids of nodes where a change does nothing (annotations), or that have no place of their own in the source before
    Python 3.12 (in f-strings)."""
    idle: set[int] = set()
    for node in ast.walk(tree):
        parts: list[ast.AST | None] = []
        if isinstance(node, (ast.arg, ast.AnnAssign)):
            parts.append(node.annotation)
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            parts += [*node.decorator_list, getattr(node, "returns", None)]
        elif isinstance(node, ast.JoinedStr):
            parts += node.values
        idle |= {id(below) for part in parts if part is not None for below in ast.walk(part)}
    return idle


def mutants_of(path: Path) -> Iterator[Mutant]:
    """Every mutant of a module."""
    text = path.read_bytes()
    begins = [0]
    for line in text.splitlines(keepends=True):
        begins.append(begins[-1] + len(line))
    tree = ast.parse(text)
    idle = _idle(tree)
    for node in ast.walk(tree):
        after = None if id(node) in idle else _changed(node)
        if after is None:
            continue
        place: Any = node
        start = begins[place.lineno - 1] + place.col_offset
        end = begins[place.end_lineno - 1] + place.end_col_offset
        whole = after if isinstance(node, ast.Return) else f"({after})"
        source = text[:start] + whole.encode() + text[end:]
        yield Mutant(path.stem, place.lineno, text[start:end].decode(), after, source.decode())


class _Replaced(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Loads one module of core from changed source."""

    def __init__(self, mutant: Mutant) -> None:
        self.mutant = mutant

    def find_spec(self, name: str, path: Any, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if name != f"explorer.core.{self.mutant.module}":
            return None
        return importlib.util.spec_from_loader(name, self, origin=str(CORE / f"{self.mutant.module}.py"))

    def exec_module(self, module: Any) -> None:
        exec(compile(self.mutant.source, module.__spec__.origin, "exec"), module.__dict__)


def _start(mutant: Mutant | None, folder: Path) -> int:
    """Run the quick tests in a fork, on a mutant or on what is there; its exit code is 0 when they pass."""
    pid = os.fork()
    if pid:
        return pid
    os.setsid()
    silence = os.open(os.devnull if mutant else str(folder / "unchanged.log"), os.O_WRONLY | os.O_CREAT)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    if mutant:
        sys.meta_path.insert(0, _Replaced(mutant))
    options = ["-x", "-q", "-p", "no:cacheprovider", "--basetemp", str(folder / str(os.getpid()))]
    code = 1
    try:
        code = int(pytest.main([*QUICK, *options]))
    finally:
        os._exit(code)


def survivors(mutants: list[Mutant], jobs: int, folder: Path) -> list[Mutant]:
    """Those that no test notices. One that does not end in time is noticed."""
    waiting, running, alive = list(reversed(mutants)), dict[int, tuple[Mutant, float]](), list[Mutant]()
    done = 0
    while waiting or running:
        while waiting and len(running) < jobs:
            mutant = waiting.pop()
            running[_start(mutant, folder)] = (mutant, time.monotonic())
        for pid, (mutant, began) in list(running.items()):
            ended, status = os.waitpid(pid, os.WNOHANG)
            late = time.monotonic() - began > TIMEOUT_S
            if not ended and not late:
                continue
            if late and not ended:
                os.killpg(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
            del running[pid]
            shutil.rmtree(folder / str(pid), ignore_errors=True)
            done += 1
            if ended and status == 0:
                alive.append(mutant)
                print(f"[{done}/{len(mutants)}] survives: {mutant}", flush=True)
        time.sleep(0.05)
    return alive


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="modules of core, separated by commas")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    os.chdir(ROOT)
    only = [name for name in options.only.split(",") if name]
    paths = [p for p in sorted(CORE.glob("*.py")) if (p.stem in only if only else p.stem not in DRAWING)]
    every = [mutant for path in paths for mutant in mutants_of(path)]
    chosen = random.Random(options.seed).sample(every, min(options.count, len(every)))
    folder = Path(tempfile.mkdtemp(prefix="mutants-"))
    try:
        _, status = os.waitpid(_start(None, folder), 0)
        if status:
            sys.exit(f"the tests fail on the unchanged package:\n{(folder / 'unchanged.log').read_text()[-2000:]}")
        began = time.monotonic()
        alive = survivors(chosen, options.jobs, folder)
        killed = len(chosen) - len(alive)
        print(f"{killed} of {len(chosen)} killed, of {len(every)} possible, in {time.monotonic() - began:.0f} s")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
