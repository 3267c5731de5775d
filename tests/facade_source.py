"""Write explorer/questions/facade.py from the registry: `python -m tests.facade_source`."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
import textwrap
from collections import defaultdict
from itertools import chain
from pathlib import Path
from types import ModuleType

from explorer.questions import GROUPS, QUESTIONS, Question

TARGET = Path(__file__).parents[1] / "explorer" / "questions" / "facade.py"
HEAD = '''"""What `open_table` and `catalog` return: every question as a method.

The command `icedive inspect entries TABLE` and the method `table.inspect.entries()` are one question, and so are all
others. tests/facade_source.py generates this module from the registry."""

from __future__ import annotations
'''
TABLE = '''
class OpenTable:
    """An open table. Its methods ask questions; each returns an answer, which shows itself as text, JSON, rows or, in a
    notebook, as a picture. In a notebook the table itself shows as the live graph."""

    def __init__(self, engine: Table) -> None:
        self.engine = engine
        """What answers: the open table as this package uses it."""
{groups}

    @property
    def name(self) -> str:
        """`catalog.db.table`, or the name of the table's folder."""
        return self.engine.name

    @property
    def metadata(self) -> TableMetadata:
        """The metadata file with which the table was opened."""
        return self.engine.metadata

    @property
    def why(self) -> str:
        """Which metadata file was chosen, and why; what else its folder contains."""
        return self.engine.why

    @property
    def problems(self) -> list[Problem]:
        """Everything that was wrong so far: in the metadata file, and in what was read since."""
        return self.engine.problems

    def refresh(self) -> OpenTable:
        """Open the table again, as its catalog or folder has it now.

        Returns:
            The table. This one stays as it is.

        Raises:
            TableNotFound: The table is gone.
            UnreadableFile: Its metadata file cannot be read.

        Example:
            >>> explorer.open_table("demo.three_inserts").refresh().name
            'sandbox.demo.three_inserts'
        """
        return OpenTable(self.engine.refresh())

    def __repr__(self) -> str:
        return repr(self.engine)

    def _repr_mimebundle_(self, **options: Any) -> Any:
        return self.engine._repr_mimebundle_(**options)

    def _ipython_display_(self) -> None:
        self.engine._ipython_display_()

    def __panel__(self) -> Any:
        return self.engine.__panel__()

    def _at(self) -> TableAt:
        return TableAt(self.engine.name, opened=self.engine)
'''
CATALOG = '''
class OpenCatalog:
    """A catalog. Its methods ask questions about all its tables."""

    def __init__(self, place: CatalogAt) -> None:
        self._place = place

    def __repr__(self) -> str:
        return f"the catalog {self._place.name}"
'''
GROUP = '''
class {name}:
    """{about}"""

    def __init__(self, table: {of}) -> None:
        self._{of_name} = table
'''


def source() -> str:
    """Return the source of the facade, formatted."""
    imports: defaultdict[str, set[str]] = defaultdict(set)
    by_group: defaultdict[str, list[Question]] = defaultdict(list)
    for question in QUESTIONS.values():
        if question.subject in ("table", "place"):
            by_group[question.group].append(question)
    catalog = [q for q in QUESTIONS.values() if q.subject == "catalog"]
    groups = [group for group in GROUPS if group and group in by_group]
    modules = sorted({q.function.__module__.rpartition(".")[2] for q in (*chain(*by_group.values()), *catalog)})
    parts = []
    for group in groups:
        parts.append(GROUP.format(name=_class(group), about=GROUPS[group], of="OpenTable", of_name="table"))
        parts += [_method(q, "self._table", imports) for q in by_group[group]]
    opened = "\n".join(f"        self.{group} = {_class(group)}(self)" for group in groups)
    parts.append(TABLE.format(groups=opened))
    parts += [_method(q, "self", imports) for q in by_group[""]]
    parts.append(CATALOG)
    parts += [_method(q, "self._place", imports) for q in catalog]
    imports["explorer.questions.parameters"] |= {"CatalogAt", "TableAt"}
    imports["typing"] |= {"Any", "TYPE_CHECKING"}
    typing_only = {"explorer.table": {"Table"}, "explorer.model.metadata": {"TableMetadata"},
                   "explorer.model.problem": {"Problem"}}  # fmt: skip
    heavy = [name for name in imports if name.startswith("explorer.") and not name.startswith("explorer.questions")]
    for name in heavy:
        typing_only.setdefault(name, set()).update(imports.pop(name))
    lines = [HEAD]
    lines += [f"from {name} import {', '.join(sorted(names))}" for name, names in sorted(imports.items())]
    lines.append("".join(f"from explorer.questions import {name} as {name}_questions\n" for name in modules))
    lines.append("if TYPE_CHECKING:")
    lines += [f"    from {name} import {', '.join(sorted(names))}" for name, names in sorted(typing_only.items())]
    text = "\n".join([*lines, *parts])
    for command in (["check", "--fix", "-q", "--select", "I", "-"], ["format", "-"]):
        run = subprocess.run(
            [sys.executable, "-m", "ruff", *command, "--stdin-filename", str(TARGET)], input=text, text=True,
            capture_output=True, check=True,
        )  # fmt: skip
        text = run.stdout
    return text


def _class(group: str) -> str:
    return f"{group.capitalize()}Questions"


def _method(question: Question, subject: str, imports: defaultdict[str, set[str]]) -> str:
    module = sys.modules[question.function.__module__]
    node = next(
        n for n in ast.parse(inspect.getsource(module)).body
        if isinstance(n, ast.FunctionDef) and n.name == question.function.__name__
    )  # fmt: skip
    _collect(module, node, imports)
    rest = node.args.args[1:]
    node.args.args = [ast.arg("self"), *rest]
    node.decorator_list = []
    name = question.name.replace("-", "_")
    passed = [a.arg for a in rest] + [f"{a.arg}={a.arg}" for a in node.args.kwonlyargs]
    at = subject + {"place": "._at()", "table": ".engine", "catalog": ""}[question.subject]
    call = f"{module.__name__.rpartition('.')[2]}_questions.{node.name}({', '.join([at, *passed])})"
    returns = ast.unparse(node.returns) if node.returns else "Any"
    doc = _narrow(_documentation(question))
    args = ast.unparse(node.args)
    return (
        f"    def {name}({args}) -> {returns}:\n"
        + "\n".join(f"        {line}".rstrip() for line in f'"""{doc}\n"""'.split("\n"))
        + f"\n        return {call}\n"
    )


def _documentation(question: Question) -> str:
    """Return a question's docstring with all of its parameters: those, too, that their kind describes."""
    doc = inspect.getdoc(question.function) or ""
    before, _, after = doc.partition("Returns:\n")
    head = before.partition("Args:\n")[0].rstrip()
    described = "\n".join(f"    {parameter.name}: {parameter.help}" for parameter in question.parameters)
    return "\n\n".join(filter(None, (head, described and f"Args:\n{described}", f"Returns:\n{after}")))


def _narrow(doc: str) -> str:
    """Wrap a docstring for a method, which stands deeper than a function. Its example stays as it is."""
    text, heading, example = doc.partition("\nExample:\n")
    joined = re.sub(r"(?<=\S)\n        (?=\S)", " ", text)  # what goes on about a parameter
    lines: list[str] = []
    for line in joined.split("\n"):
        more = "        " if re.match(r" +\w+: ", line) else ""
        lines += textwrap.wrap(line, 108, subsequent_indent=more, break_long_words=False, break_on_hyphens=False) or [
            ""
        ]
    return "\n".join(lines) + heading + example


def _collect(module: ModuleType, node: ast.FunctionDef, imports: defaultdict[str, set[str]]) -> None:
    """Note where the names of a signature are imported from."""
    places: dict[str, str] = {}
    for one in ast.walk(ast.parse(inspect.getsource(module))):
        if isinstance(one, ast.ImportFrom) and one.module and one.col_offset <= 4:
            places |= {alias.asname or alias.name: one.module for alias in one.names}
    signature = [a.annotation for a in (*node.args.args[1:], *node.args.kwonlyargs)] + [node.returns]
    defaults = [*node.args.defaults, *[d for d in node.args.kw_defaults if d]]
    for part in filter(None, [*signature, *defaults]):
        for name in (n.id for n in ast.walk(part) if isinstance(n, ast.Name)):
            if name in places:
                imports[places[name]].add(name)
            elif name in vars(module):
                imports[module.__name__].add(name)


if __name__ == "__main__":
    TARGET.write_text(source())
