"""How many wrong rules do the quick tests notice? Changes explorer/spec in one place at a time (a comparison, an
and/or, a `not`, a sum, a constant, a condition, a returned value), and runs the tests that need neither Spark nor a
browser on it.

    python -m tests.mutants [--count 100] [--first 1] [--seed 1] [--only commit,values] [--jobs 2] [--tests FILE...]

Prints of each whether it was killed, and how many were; what was broken off is taken up with --first. Nothing on disk
is changed: the tests are collected once, and run in a fork of this process for each mutant, whose functions are changed
there; of the tests those that call the changed function, as a first run has seen. POSIX only."""

from __future__ import annotations

import argparse
import ast
import os
import pickle
import random
import re
import signal
import sys
import time
import types
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, TypeAlias

import pytest

ROOT = Path(__file__).parents[1]
CORE = ROOT / "explorer" / "spec"
QUICK = ("tests/unit", "tests/properties", "tests/security/test_places.py", "tests/security/test_web.py")
TIMEOUT_S = 300

COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Eq: "!=", ast.NotEq: "==", ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">",
    ast.Is: "is not", ast.IsNot: "is", ast.In: "not in", ast.NotIn: "in",
}  # fmt: skip
ARITHMETIC: dict[type[ast.operator], str] = {ast.Add: "-", ast.Sub: "+", ast.Mult: "+", ast.FloorDiv: "*"}


FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True)
class Mutant:
    """One change of a module: where (`function` is the line of the innermost one around it, 0 of none), its text before
    and after, and the module's whole source."""

    module: str
    line: int
    function: int
    before: str
    after: str
    source: str

    def __str__(self) -> str:
        before, after = (" ".join(text.split()) for text in (self.before, self.after))
        return f"{self.module}.py:{self.line}: {before[:90]}  ->  {after[:90]}"


def _change(node: ast.AST) -> str | None:
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
    idle, function = _idle(tree), dict[int, int]()
    for node in ast.walk(tree):  # inner ones come later
        if isinstance(node, FUNCTIONS):
            function |= {id(below): node.lineno for below in ast.walk(node)}
    for node in ast.walk(tree):
        after = None if id(node) in idle else _change(node)
        if after is None:
            continue
        place: Any = node
        start = begins[place.lineno - 1] + place.col_offset
        end = begins[place.end_lineno - 1] + place.end_col_offset
        whole = after if isinstance(node, ast.Return) else f"({after})"
        source = text[:start] + whole.encode() + text[end:]
        yield Mutant(
            path.stem, place.lineno, function.get(id(node), 0), text[start:end].decode(), after, source.decode()
        )


def _functions(holder: Any) -> dict[str, Any]:
    """The functions of a module or class by name, those below properties and caches too."""
    by_name: dict[str, Any] = {}
    for name, value in vars(holder).items():
        value = value.fget if isinstance(value, property) else getattr(value, "__wrapped__", value)
        value = value.func if isinstance(value, cached_property) else value
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


def _put_all(module: types.ModuleType, changed: types.ModuleType) -> None:
    """The same for a module and its classes."""
    _put(module, changed)
    for name, value in vars(changed).items():
        if isinstance(value, type) and value.__module__ == module.__name__:
            _put(vars(module)[name], value)


def apply(mutant: Mutant) -> None:
    """Change a module that is loaded already: its functions in place, its constants wherever they were imported."""
    module = sys.modules[f"explorer.spec.{mutant.module}"]
    changed = types.ModuleType(module.__name__)
    changed.__file__ = module.__file__
    exec(compile(mutant.source, str(module.__file__), "exec"), changed.__dict__)
    _put_all(module, changed)
    ours = [m for name, m in sys.modules.items() if name.split(".")[0] in ("explorer", "tests")]
    for name, value in vars(changed).items():
        old = vars(module).get(name)
        if not name.startswith("__") and not callable(value) and not isinstance(value, types.ModuleType):
            for holder in ours:
                if vars(holder).get(name) is old:
                    setattr(holder, name, value)


Reached: TypeAlias = set[tuple[str, int]]
"""Functions by their module and line."""


def watch(path: Path, reached: Reached) -> None:
    """Have each function of a module say that it was called."""
    module = sys.modules.get(f"explorer.spec.{path.stem}")
    if module is None:
        return
    tree = ast.parse(path.read_bytes())
    for node in ast.walk(tree):
        if isinstance(node, FUNCTIONS):
            node.body.insert(0, ast.parse(f"_reached.add({(path.stem, node.lineno)})").body[0])
    vars(module)["_reached"] = reached
    changed = types.ModuleType(module.__name__)
    exec(compile(ast.fix_missing_locations(tree), str(path), "exec"), changed.__dict__)
    _put_all(module, changed)


@cache
def _count_mentions(path: Path, module: str) -> int:
    """How often a file of tests names a module of core: most likely the one that notices does so most."""
    return len(re.findall(rf"\b{module}\b", path.read_text()))


class Mutating:
    """A pytest plugin: the tests are collected once, then run in a fork for each mutant, those that name its module
    most often first."""

    def __init__(self, mutants: list[tuple[int, Mutant]], jobs: int) -> None:
        self.waiting, self.jobs = [(0, None), *mutants], jobs
        self.running: dict[int, tuple[int, Mutant, float]] = {}
        self.alive: list[Mutant] = []
        self.in_fork = self.watching = False
        self.kept = Path(mkdtemp()) / "reached"
        self.reached: Reached = set()
        self.by_fixture: dict[object, Reached] = {}
        self.by_test: dict[str, Reached] = {}

    @contextmanager
    def _record_calls(self) -> Iterator[Reached]:
        """What is called meanwhile."""
        before, seen = set(self.reached), Reached()
        self.reached.clear()
        yield seen
        seen |= self.reached
        self.reached |= before

    @pytest.hookimpl(hookwrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Iterator[None]:
        with self._record_calls() as self.by_fixture[fixturedef]:
            yield

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: Any) -> Iterator[None]:
        with self._record_calls() as seen:
            yield
        fixtures = (some[-1] for some in item._fixtureinfo.name2fixturedefs.values())
        self.by_test[item.nodeid] = seen.union(*(self.by_fixture.get(f, set()) for f in fixtures))

    def pytest_sessionfinish(self) -> None:
        if self.watching:
            self.kept.write_bytes(pickle.dumps(self.by_test))

    def _choose(self, session: pytest.Session, mutant: Mutant) -> None:
        """Have those tests run that call the function, if it is in one."""
        place = (mutant.module, mutant.function)
        items = [item for item in session.items if not mutant.function or place in self.by_test[item.nodeid]]
        session.items[:] = sorted(items, key=lambda item: -_count_mentions(item.path, mutant.module))

    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        """None in a fork, where pytest then runs the tests; True here, where it does not."""
        while self.waiting or self.running:
            while self.waiting and len(self.running) < self.jobs:
                number, mutant = self.waiting.pop(0)
                pid = os.fork()
                if not pid:
                    self._begin(mutant)
                    if mutant:
                        self._choose(session, mutant)
                    return None
                if mutant is None:
                    if os.waitpid(pid, 0)[1]:
                        raise pytest.UsageError("the tests fail on what is there, too")
                    self.by_test = pickle.loads(self.kept.read_bytes())
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
        self.in_fork, self.watching = True, mutant is None
        os.setsid()
        if mutant:
            silence = os.open(os.devnull, os.O_WRONLY)
            os.dup2(silence, 1)
            os.dup2(silence, 2)
            try:
                apply(mutant)
            except Exception:
                os._exit(1)  # it cannot even be loaded
        else:
            for path in CORE.rglob("*.py"):
                watch(path, self.reached)


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
    os.environ["ICEDIVE_QUICK"] = "1"
    only = [name for name in options.only.split(",") if name]
    paths = [p for p in sorted(CORE.rglob("*.py")) if not only or p.stem in only]
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
