"""What changes objects of other libraries: assignments to their attributes, setattr, and methods in place of their
private ones. All of it is in one folder, and there are at most two such modules (ADR 37)."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import explorer

PACKAGE = Path(explorer.__file__).parent
STANDARD = {
    "daemon",
    "daemon_threads",
    "filename",
    "filename2",
    "msg",
    "args",
    "exc_info",
    "exc_text",
    "propagate",
    "size",
    "disabled",
}
"""Attributes of threads, errors, log records, loggers and members of archives: of the standard library."""
FOLDER, MOST = "patches/", 2
"""Where patches are, each a module, and how many there may be."""
HOOKS = "lab/"
"""The lab steps through Iceberg's own commits: it stands in their way on purpose."""
PROTOCOLS = {"_repr_html_", "_repr_svg_", "_repr_mimebundle_"}
"""Private by name, and IPython's public protocol."""


def trees() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        yield path.relative_to(PACKAGE).as_posix(), ast.parse(path.read_text())


def is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


def own_attributes() -> set[str]:
    """Names of attributes that classes of this package declare."""
    names = set()
    for _, tree in trees():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                for part in node.body:
                    targets = part.targets if isinstance(part, ast.Assign) else [getattr(part, "target", None)]
                    names |= {one.id for target in targets for one in ast.walk(target or ast.Pass())
                              if isinstance(one, ast.Name)}  # fmt: skip
            elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and is_self(node.value):
                names.add(node.attr)
    return names


def changed(tree: ast.Module, own: set[str]) -> Iterator[str]:
    """What a module assigns to attributes that none of our classes has, and what it sets by name."""
    foreign = {name.asname or name.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)
               for name in node.names if not (node.module or "").startswith(("explorer", "__future__"))}  # fmt: skip
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store | ast.Del):
            is_foreign = isinstance(node.value, ast.Name) and node.value.id in foreign
            if is_foreign or (not is_self(node.value) and node.attr not in own | STANDARD):
                yield ast.unparse(node)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("setattr", "delattr"):
            yield ast.unparse(node)


def overridden(module: str) -> Iterator[str]:
    """Private methods of other libraries that classes of a module have their own of."""
    imported = importlib.import_module(module)
    written = {node.name for node in ast.walk(ast.parse(inspect.getsource(imported)))
               if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}  # fmt: skip
    for kind in vars(imported).values():
        if not inspect.isclass(kind) or kind.__module__ != module:
            continue
        for name in vars(kind).keys() & written:
            theirs = [base for base in kind.__mro__[1:] if not base.__module__.startswith(("explorer", "builtins"))]
            if name.startswith("_") and not name.startswith("__") and any(name in vars(base) for base in theirs):
                yield f"{kind.__name__}.{name}"


def mixed_in() -> Iterator[str]:
    """Private methods that go on to `super()`, of which no class of ours is the first: where the bases are known only
    when it runs, too."""
    ours, further = set[str](), dict[str, str]()
    for path, tree in trees():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("_") and not node.name.startswith("__"):
                called = [one for one in ast.walk(node) if isinstance(one, ast.Attribute) and one.attr == node.name]
                if any(ast.unparse(one.value) == "super()" for one in called):
                    further[node.name] = path
                else:
                    ours.add(node.name)
    yield from (f"{path}: {name}" for name, path in further.items() if name not in ours | PROTOCOLS)


def test_objects_of_other_libraries_are_changed_in_one_folder_only() -> None:
    own = own_attributes()
    found = {path: list(changed(tree, own)) for path, tree in trees() if not path.startswith(HOOKS)}
    assert {path: names for path, names in found.items() if names and not path.startswith(FOLDER)} == {}


def test_private_methods_of_other_libraries_are_replaced_nowhere() -> None:
    found = {}
    for path, _ in trees():
        module = f"explorer.{path.removesuffix('.py').replace('/', '.')}".removesuffix(".__init__")
        if path.startswith(HOOKS) or path.endswith("__main__.py") or path == "app/hosts/panel.py":
            continue
        if names := [name for name in overridden(module) if name.partition(".")[2] not in PROTOCOLS]:
            found[path] = names
    assert found == {}


def test_private_methods_are_not_mixed_in() -> None:
    assert [*mixed_in()] == []


def test_there_are_at_most_two_patches_and_each_says_why() -> None:
    own = own_attributes()
    patches = {path: tree for path, tree in trees() if path.startswith(FOLDER) and not path.endswith("__init__.py")}
    assert 0 < len(patches) <= MOST
    for path, tree in patches.items():
        assert list(changed(tree, own)), path
        reason = ast.get_docstring(tree) or ""
        assert re.match(r"[a-z0-9]+ \d+\.\d+ to \d+\.\d+: ", reason), f"{path} does not begin with library and versions"
        assert re.search(r"SPARK-\d+|#\d+", reason), f"{path} names no issue"
