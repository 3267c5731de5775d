"""Count what issue 40 asks about the texts: the length of sentences in the documents, and names in the package.

    python -m tests.text_counts              the counts
    python -m tests.text_counts --list       and every name behind them
    python -m tests.text_counts FILE ...     only the sentences of these Markdown files, longest first

Rules for sentences:
- Fenced code, tables, headings, HTML and images do not count. Of a link, only its text counts.
- `code in backticks` counts as one word.
- A list item is a paragraph of its own.
- A text of fewer than three words is not a sentence.

Rules for functions named by a participle. A function counts if the first or the last word of its name is one of these:
- a word that ends in -ed (`named`, `rows_skipped`), but for the words of `NOT_PARTICIPLES`;
- an irregular participle or past tense of `IRREGULAR` (`told`, `chosen`, `took`).
`read`, `set`, `put`, `cut` and `split` do not count, since they are infinitives too. Names that start with an auxiliary
(`is_expired`, `was_added`) do not count either, since such a name is a question."""

from __future__ import annotations

import argparse
import ast
import re
import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "explorer"
VAGUE = frozenset({"told", "said", "asked", "made", "known", "found", "mine"})
"""Names that do not tell what they hold."""
IRREGULAR = frozenset(
    """became began begun borne bound broken brought built came chosen dealt done drawn driven drew fallen fed felt
    forgotten fought found froze frozen gave given gone got grew grown heard held hidden kept knew known laid led left
    lent lit lost made meant met overridden paid ran rewritten rewrote risen rose said sat saw seen sent shown shrunk
    sold sought spent spoken spun stood struck swept swum taken taught thought thrown told took torn undone unknown
    went woken won worn wound written wrote""".split()  # noqa: SIM905
)
NOT_PARTICIPLES = frozenset("bed embed exceed feed indeed need proceed red seed shed speed succeed".split())  # noqa: SIM905
AUXILIARIES = frozenset("are can did does had has have is may must should was were will".split())  # noqa: SIM905
PUBLIC_MODULES = ("explorer",)
"""Modules whose `__all__` is the public interface."""

_SKIPPED = re.compile(r"<!--.*?-->|^(```|~~~).*?^\1[^\n]*$|\A---\n.*?^---$", re.M | re.S)
_NO_PROSE = re.compile(r"^\s*(?:\||#{1,6} |<|!\[|-{3,}\s*$)")
_ITEM = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+")
_LINK = re.compile(r"!?\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])")
_CODE = re.compile(r"(`+)(.+?)\1", re.S)
_END = re.compile(r"(?<=[.!?])(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\bvs\.)[)\"'”*_]*\s+(?=[\"'“(*_\[]*[A-Z0-9§])")


def paragraphs(text: str) -> Iterator[str]:
    """The paragraphs and list items of a Markdown text.

    Args:
        text: The Markdown source.

    Returns:
        One string per paragraph, without code blocks, tables, headings and images.
    """
    lines: list[str] = []
    for line in [*_SKIPPED.sub("\n", text).splitlines(), ""]:
        line = line.removeprefix("> ")
        item = _ITEM.match(line)
        if item or not line.strip() or _NO_PROSE.match(line):
            if lines:
                yield " ".join(lines)
            lines = [line[item.end() :]] if item else []
        else:
            lines.append(line.strip())


def sentences(text: str) -> list[str]:
    """The sentences of a Markdown text, in order, each `piece of code` as the word Code.

    Args:
        text: The Markdown source.

    Returns:
        Sentences of three words or more.
    """
    plain = [_CODE.sub("Code", _LINK.sub(r"\1", paragraph)) for paragraph in paragraphs(text)]
    return [sentence for paragraph in plain for sentence in _END.split(paragraph) if words(sentence) >= 3]


def words(sentence: str) -> int:
    """How many words a sentence has: parts between spaces that contain a letter or a digit."""
    return sum(bool(re.search(r"\w", part)) for part in sentence.split())


def documents() -> list[Path]:
    """The Markdown files of the root, of docs/ and of its folders, without docs/decisions."""
    pages = (path for path in sorted((ROOT / "docs").rglob("*.md")) if path.parent.name != "decisions")
    return [*sorted(ROOT.glob("*.md")), *pages]


def lengths(paths: list[Path]) -> list[int]:
    """The number of words of every sentence in these files."""
    return [words(s) for path in paths for s in sentences(path.read_text())]


def percentiles(numbers: list[int]) -> tuple[float, int]:
    """The median and the 90th percentile."""
    ordered = sorted(numbers)
    return statistics.median(ordered), ordered[min(len(ordered) - 1, len(ordered) * 9 // 10)]


@dataclass(frozen=True)
class Place:
    """A name in the source.

    Attributes:
        path: Its file.
        line: Its line, from 1.
        name: The name.
    """

    path: Path
    line: int
    name: str

    def __str__(self) -> str:
        return f"{self.path.relative_to(ROOT)}:{self.line} {self.name}"


Function = ast.FunctionDef | ast.AsyncFunctionDef


def sources() -> list[tuple[Path, ast.Module]]:
    """Every module of the package, with its syntax tree."""
    paths = sorted(PACKAGE.rglob("*.py"))
    return [(p, ast.parse(p.read_text())) for p in paths]


def is_participle(name: str) -> bool:
    """Whether a function's name is a participle by the rules at the top of this file."""
    parts = [part for part in name.split("_") if part]
    if not parts or parts[0] in AUXILIARIES:
        return False
    return any(
        part in IRREGULAR or (len(part) > 3 and part.endswith("ed") and part not in NOT_PARTICIPLES)
        for part in (parts[0], parts[-1])
    )


def participles(modules: list[tuple[Path, ast.Module]]) -> list[Place]:
    """Functions and methods that a participle names."""
    return [
        Place(path, node.lineno, node.name)
        for path, tree in modules
        for node in ast.walk(tree)
        if isinstance(node, Function) and is_participle(node.name)
    ]


def vague_names(modules: list[tuple[Path, ast.Module]]) -> list[Place]:
    """Uses of the names in `VAGUE`: variables where they are set or read, arguments, functions, and attributes where
    they are defined (a class's fields, `self.found = …`)."""
    places = []
    for path, tree in modules:
        for node in ast.walk(tree):
            if isinstance(node, ast.Name):
                name = node.id
            elif isinstance(node, ast.arg):
                name = node.arg
            elif isinstance(node, Function):
                name = node.name
            elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                name = node.attr
            else:
                continue
            if name in VAGUE:
                places.append(Place(path, node.lineno, name))
    return places


def public_functions() -> list[tuple[Path, Function, bool]]:
    """Functions that `__all__` of `PUBLIC_MODULES` names, and public methods of the classes that it names.

    Returns:
        The file, the function, and whether it is a property.
    """
    by_name: dict[str, list[tuple[Path, ast.ClassDef | Function]]] = {}
    for path, tree in sources():
        for node in tree.body:
            if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
                by_name.setdefault(node.name, []).append((path, node))
    functions: list[tuple[Path, Function, bool]] = []
    for module in PUBLIC_MODULES:
        path = PACKAGE.joinpath(*module.split(".")[1:])
        path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
        for name in _exports(path):
            candidates = by_name.get(name, [])
            own = [c for c in candidates if c[0] == path] or candidates[:1]
            for where, node in own:
                if isinstance(node, Function):
                    functions.append((where, node, False))
                else:
                    functions += [
                        (where, n, any("property" in ast.unparse(d) for d in n.decorator_list))
                        for n in node.body
                        if isinstance(n, Function) and not n.name.startswith("_")
                    ]
    return functions


def _exports(path: Path) -> list[str]:
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return [str(name) for name in ast.literal_eval(node.value)]
    return []


def lacks_sections(function: Function, is_property: bool) -> bool:
    """Whether a docstring lacks `Args:` for its parameters, or `Returns:` (`Yields:`) for what it returns. A property
    needs neither: its first line says what it is."""
    text = ast.get_docstring(function) or ""
    if is_property:
        return not text
    arguments = function.args
    names = [a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    has_parameters = bool([n for n in names if n not in ("self", "cls")] or arguments.vararg or arguments.kwarg)
    returns = function.returns is not None and ast.unparse(function.returns) != "None"
    return (has_parameters and "Args:" not in text) or (returns and not re.search("(Returns|Yields):", text))


def questions() -> list[tuple[Path, Function]]:
    """The functions of explorer/questions that answer a question."""
    return [
        (path, node)
        for path, tree in sources()
        if path.parent.name == "questions"
        for node in tree.body
        if isinstance(node, Function) and any(ast.unparse(d).startswith("question(") for d in node.decorator_list)
    ]


def count_sections(functions: list[Function]) -> str:
    """How many docstrings have each section, in words."""
    texts = [ast.get_docstring(function) or "" for function in functions]
    counts = [f"{title} {sum(f'{title}:' in text for text in texts)}" for title in ("Returns", "Raises", "Example")]
    return f"{', '.join(counts)} of {len(texts)}"


def main() -> None:
    """Print the counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="list every name behind the counts")
    parser.add_argument("files", nargs="*", type=Path, help="Markdown files: print only their sentences")
    options = parser.parse_args()
    if options.files:
        _print_sentences(options.files)
        return
    for path in documents():
        numbers = lengths([path])
        if numbers:
            median, most = percentiles(numbers)
            print(f"{median:6.1f} {most:4} {len(numbers):5} sentences  {path.relative_to(ROOT)}")
    median, most = percentiles(lengths(documents()))
    print(f"sentences in the documents: median {median:g} words, 90th percentile {most}")
    modules = sources()
    roots = [p for p in sorted(PACKAGE.glob("*.py")) if p.stem != "__init__"]
    named, vague = participles(modules), vague_names(modules)
    public = public_functions()
    lacking = [Place(path, f.lineno, f.name) for path, f, is_property in public if lacks_sections(f, is_property)]
    lines = sum(len(p.read_text().splitlines()) for p in (PACKAGE / "cli").rglob("*.py"))
    print(f"modules in the package root: {len(roots)}")
    print(f"functions named by a participle: {len(named)}")
    print(f"uses of {', '.join(sorted(VAGUE))} as names: {len(vague)}")
    print(f"public functions without Args or Returns: {len(lacking)} of {len(public)}")
    print(f"docstrings of public functions: {count_sections([f for _, f, is_property in public if not is_property])}")
    print(f"docstrings of questions: {count_sections([function for _, function in questions()])}")
    print(f"lines in explorer/cli: {lines}")
    if options.list:
        for title, places in (("participles", named), ("vague names", vague), ("without sections", lacking)):
            print(f"\n{title}")
            print(*places, sep="\n")


def _print_sentences(paths: list[Path]) -> None:
    for path in paths:
        all_sentences = sentences(path.read_text())
        median, most = percentiles([words(s) for s in all_sentences])
        print(f"{path}: {len(all_sentences)} sentences, median {median:g}, 90th percentile {most}")
        for sentence in sorted(all_sentences, key=words, reverse=True)[:10]:
            print(f"  {words(sentence):3} {sentence}")


if __name__ == "__main__":
    main()
