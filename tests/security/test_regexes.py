"""No regular expression of the package takes more than linear time, whatever a stranger writes: `re` holds the
interpreter while it searches, and nothing can stop it."""

from __future__ import annotations

import ast
import importlib
import itertools
import os
import pkgutil
import random
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import explorer
from tests.security.matcher import Matcher, words

SIZE = 8
"""How often a text is repeated."""
LINEAR = 3
"""From twice the size to four times it, the steps grow by twice what they grow by before; in quadratic time by four."""
TEXTS = 600 if "ICEDIVE_EVERY_SIZE" in os.environ else 60
"""Texts that each pattern meets, beside the repeats of each of its words."""
MOST = 100_000
"""Steps that no text of such a size takes."""
ONCE = {"match", "fullmatch"}
"""What looks at one place only."""
PACKAGE = Path(explorer.__file__).parent
Regex = tuple["str | bytes", int, bool]
"""A pattern, its flags, and whether it is searched for at each place."""


@cache
def trees() -> dict[str, ast.Module]:
    names = [m.name for m in pkgutil.walk_packages([str(PACKAGE)], "explorer.") if not m.name.endswith("__main__")]
    paths = {name: PACKAGE.joinpath(*name.split(".")[1:]) for name in names}
    files = {
        name: path.with_suffix(".py") if not path.is_dir() else path / "__init__.py" for name, path in paths.items()
    }
    return {name: ast.parse(file.read_text()) for name, file in files.items() if file.exists()}  # native code has none


def _patterns() -> Iterator[tuple[re.Pattern[str], bool]]:
    """Compiled patterns that modules hold, and whether each is searched for."""
    for name, tree in trees().items():
        if "re.compile" in ast.unparse(tree):
            for held, value in vars(importlib.import_module(name)).items():
                modules = [name] if held.startswith("_") else [*trees()]
                once = isinstance(value, re.Pattern) and {use for m in modules for use in _uses(m, held)} <= ONCE
                yield from ((pattern, not once) for pattern in _held(value))


def _held(value: Any) -> Iterator[re.Pattern[str]]:
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from _held(item)


@cache
def _named(module: str) -> dict[str, set[str]]:
    """The attributes of each name in a module."""
    uses: dict[str, set[str]] = {}
    for node in ast.walk(trees()[module]):
        match node:
            case ast.Attribute(value=ast.Name(id=name) | ast.Attribute(attr=name), attr=method):
                uses.setdefault(name, set()).add(method)
    return uses


def _uses(module: str, name: str) -> set[str]:
    return _named(module).get(name, set())


def _calls() -> Iterator[tuple[str, ast.Call]]:
    """The calls of the module `re`, each with the name of the function."""
    for tree in trees().values():
        for node in ast.walk(tree):
            match node:
                case ast.Call(func=ast.Attribute(value=ast.Name(id="re"), attr=name)) if node.args and name != "escape":
                    yield name, node


@cache
def regexes() -> dict[str, Regex]:
    found: dict[str, Regex] = {}
    for pattern, search in _patterns():
        found[repr(pattern.pattern)] = (pattern.pattern, pattern.flags, search)
    known = {pattern for pattern, _, _ in found.values()}
    for name, call in _calls():
        if isinstance(call.args[0], ast.Constant) and call.args[0].value not in known:
            pattern = call.args[0].value
            flags = next((eval(ast.unparse(k.value), {"re": re}) for k in call.keywords if k.arg == "flags"), 0)
            found[repr(pattern)] = (pattern, flags, name not in ONCE)
    return found


def texts(regex: Regex) -> Iterator[tuple[str, str, str]]:
    """What is before, what is repeated, and what is after: made of the pattern's own words."""
    known = [*words(regex[0], regex[1]), "\n", "€"]
    repeats = known + [a + b for a, b in itertools.permutations(known, 2)]
    draw = random.Random(7)
    for repeat in repeats if len(repeats) < TEXTS else draw.sample(repeats, TEXTS):
        yield "", repeat, "\0"
    for _ in range(TEXTS):
        before = "".join(draw.choices(known, k=draw.randrange(3)))
        yield before, "".join(draw.choices(known, k=draw.randrange(1, 4))), draw.choice(("", "\0", "\n", *known))


def growth(regex: Regex, before: str, repeat: str, after: str, size: int = SIZE) -> float:
    """How much more steps are added when the size doubles again."""
    matcher, search = Matcher(regex[0], regex[1]), regex[2]
    one, two = (matcher.work(before + repeat * n + after, search, MOST) for n in (size, 2 * size))
    four = matcher.work(before + repeat * 4 * size + after, search, two + (LINEAR + 1) * max(1, two - one))
    return (four - two) / max(1, two - one)


def test_the_matcher_counts_what_is_known() -> None:
    def of(pattern: str, repeat: str, search: bool = True) -> float:
        return growth((pattern, 0, search), "", repeat, "\0")

    assert of(r"a+b", "a") > LINEAR
    assert of(r"a+b", "a", search=False) < LINEAR
    assert of(r"(a+)+b", "a", search=False) > LINEAR
    assert of(r"(?<!a)a+b", "a") < LINEAR
    assert of(r"\s*=", " ") > LINEAR
    assert of(r"(?:a|a)*b", "a", search=False) > LINEAR
    assert of(r"a{1,1000}b", "a") < LINEAR
    for pattern, text, found in ((r"(?<!x)(a|bc)+?d\b", "xabcd abcd", 2), (r"[^\W\d]+|\d{2}", "ab 12 3", 2)):
        assert len(re.findall(pattern, text)) == found


def test_each_takes_linear_time() -> None:
    sys.setrecursionlimit(max(20_000, sys.getrecursionlimit()))
    slow = {}
    for name, regex in regexes().items():
        worst = max(texts(regex), key=lambda text: growth(regex, *text))
        if growth(regex, *worst) > LINEAR and growth(regex, *worst, 4 * SIZE) > LINEAR:  # not of small sizes alone
            slow[name] = worst
    assert not slow, "\n".join(f"{name}: {worst}" for name, worst in slow.items())


def test_all_patterns_are_known() -> None:
    """No pattern is made of what a stranger wrote; one that is made of constants is compiled by its module."""
    made = [
        ast.unparse(call.args[0]) for name, call in _calls() if name != "compile" and not _is_constant(call.args[0])
    ]
    assert not made
    assert len(regexes()) > 100


def _is_constant(node: ast.expr) -> bool:
    """Whether a pattern is a text, or made of the names of constants."""
    names = [inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)]
    return all(name.isupper() for name in names)
