"""How many wrong rules do the quick tests notice? Changes explorer/core in one place at a time (a comparison, an
and/or, a `not`, a sum, a constant, a condition, a returned value), and runs the tests that need neither Spark nor a
browser on it.

    python -m tests.mutants [--count 100] [--first 1] [--seed 1] [--only commit,values] [--jobs 2] [--tests FILE...]

Prints of each whether it was killed, and how many were; what was broken off is taken up with --first. Nothing on disk
is changed: the tests are collected once, and run in a fork of this process for each mutant, whose functions are changed
there. POSIX only."""

from __future__ import annotations

import argparse
import ast
import os
import random
import re
import signal
import sys
import time
import types
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
CORE = ROOT / "explorer" / "core"
QUICK = ("tests/unit", "tests/properties", "tests/security/test_places.py", "tests/security/test_web.py")
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


def _functions(holder: Any) -> dict[str, Any]:
    """The functions of a module or class by name, those below properties and caches too."""
    by_name: dict[str, Any] = {}
    for name, value in vars(holder).items():
        value = value.fget if isinstance(value, property) else getattr(value, "__wrapped__", value)
        value = getattr(value, "__func__", value)
        if isinstance(value, types.FunctionType):
            by_name[name] = value
    return by_name


def _put(original: Any, changed: Any) -> None:
    """Give the functions of a module or class the code and defaults of the changed ones."""
    functions = _functions(changed)
    for name, function in _functions(original).items():
        if name in functions and function.__code__.co_freevars == functions[name].__code__.co_freevars:
            function.__code__ = functions[name].__code__
            function.__defaults__, function.__kwdefaults__ = (
                functions[name].__defaults__,
                functions[name].__kwdefaults__,
            )


def apply(mutant: Mutant) -> None:
    """Change a module that is loaded already: its functions in place, its constants wherever they were imported."""
    module = sys.modules[f"explorer.core.{mutant.module}"]
    changed = types.ModuleType(module.__name__)
    changed.__file__ = module.__file__
    exec(compile(mutant.source, str(module.__file__), "exec"), changed.__dict__)
    _put(module, changed)
    ours = [m for name, m in sys.modules.items() if name.split(".")[0] in ("explorer", "tests")]
    for name, value in vars(changed).items():
        old = vars(module).get(name)
        if isinstance(value, type) and value.__module__ == module.__name__:
            _put(old, value)
        elif not name.startswith("__") and not callable(value) and not isinstance(value, types.ModuleType):
            for holder in ours:
                if vars(holder).get(name) is old:
                    setattr(holder, name, value)


@cache
def _named(path: Path, module: str) -> int:
    """How often a file of tests names a module of core: most likely the one that notices does so most."""
    return len(re.findall(rf"\b{module}\b", path.read_text()))


class Mutating:
    """A pytest plugin: the tests are collected once, then run in a fork for each mutant, those that name its module
    most often first."""

    def __init__(self, mutants: list[tuple[int, Mutant]], jobs: int) -> None:
        self.waiting, self.jobs = [(0, None), *mutants], jobs
        self.running: dict[int, tuple[int, Mutant, float]] = {}
        self.alive: list[Mutant] = []
        self.in_fork = False

    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        """None in a fork, where pytest then runs the tests; True here, where it does not."""
        while self.waiting or self.running:
            while self.waiting and len(self.running) < self.jobs:
                number, mutant = self.waiting.pop(0)
                pid = os.fork()
                if not pid:
                    self._begin(mutant)
                    if mutant:
                        module = mutant.module
                        session.items.sort(key=lambda item: -_named(item.path, module))
                    return None
                if mutant is None:
                    if os.waitpid(pid, 0)[1]:
                        raise pytest.UsageError("the tests fail on what is there, too")
                else:
                    self.running[pid] = (number, mutant, time.monotonic())
            for pid, (number, mutant, began) in list(self.running.items()):
                ended, status = os.waitpid(pid, os.WNOHANG)
                if not ended and time.monotonic() - began > TIMEOUT_S:  # it is noticed that it does not end
                    os.killpg(pid, signal.SIGKILL)
                    ended, status = os.waitpid(pid, 0)
                if ended:
                    del self.running[pid]
                    if status == 0:
                        self.alive.append(mutant)
                    print(f"[{number}] {'killed' if status else 'survives'}: {mutant}", flush=True)
            time.sleep(0.01)
        return True

    def _begin(self, mutant: Mutant | None) -> None:
        self.in_fork = True
        os.setsid()
        if mutant:
            silence = os.open(os.devnull, os.O_WRONLY)
            os.dup2(silence, 1)
            os.dup2(silence, 2)
            try:
                apply(mutant)
            except Exception:
                os._exit(1)  # it cannot even be loaded


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--first", type=int, default=1, help="the number of the first one that is tried")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="modules of core, separated by commas")
    parser.add_argument("--tests", nargs="+", default=QUICK)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    os.chdir(ROOT)
    os.environ["ICEBERG_EXPLORER_QUICK"] = "1"
    only = [name for name in options.only.split(",") if name]
    paths = [p for p in sorted(CORE.glob("*.py")) if not only or p.stem in only]
    every = [mutant for path in paths for mutant in mutants_of(path)]
    drawn = random.Random(options.seed).sample(every, min(options.count, len(every)))
    chosen = list(enumerate(drawn, 1))[options.first - 1 :]
    plugin, began = Mutating(chosen, options.jobs), time.monotonic()
    code = pytest.main([*options.tests, "-x", "-q", "-s", "-p", "no:cacheprovider"], [plugin])
    if plugin.in_fork:
        os._exit(int(code))
    if code in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        killed = len(chosen) - len(plugin.alive)
        print(f"{killed} of {len(chosen)} killed, of {len(every)} possible, in {time.monotonic() - began:.0f} s")
    sys.exit(int(code))


if __name__ == "__main__":
    main()
