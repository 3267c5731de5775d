"""Write docs/reference.md from the registry: `python -m tests.reference`."""

from __future__ import annotations

from pathlib import Path

from explorer.cli.base import FIRST, LAST
from explorer.questions import GROUPS, QUESTIONS, Parameter, Question

TARGET = Path(__file__).parents[1] / "docs" / "reference.md"
HEAD = """# Reference

Each question has a command and a method. Both have the same parameters and return the same answer.
`python -m tests.reference` writes this page.

- An answer shows itself as text and, in a notebook, as a picture. `to_json()`, `to_text()` and, if it has rows,
  `to_arrow()` return it as data. `save_picture(file)` writes its picture. A list of rows also has `to_csv(file)`,
  `to_parquet(file)`, `to_pandas()`, `to_polars()` and `to_spark()`.
- In Python, `table` is `explorer.open_table(...)`, and `catalog` is `explorer.catalog(...)`.
- [cli.md](cli.md) explains what all commands share: tables, snapshots, options of lists, exit codes.
"""
EVERYDAY = (*FIRST, *LAST)
"""Everyday questions in the order of the command line's help."""
SUBJECTS = {"table": "TABLE", "place": "TABLE", "catalog": "[CATALOG]", "": ""}


def text() -> str:
    """Return the page."""
    parts = [HEAD]
    for group, about in GROUPS.items():
        parts.append(f"## {group.capitalize() or 'Everyday'}\n\n{about}\n")
        listed = [q for q in QUESTIONS.values() if q.group == group]
        parts += map(_section, listed if group else sorted(listed, key=lambda q: EVERYDAY.index(q.name)))
    return "\n".join(parts)


def _section(question: Question) -> str:
    places = [SUBJECTS[question.subject], *(p.place for p in question.parameters if p.is_positional)]
    command = " ".join(filter(None, ("icedive", *question.path, *places)))
    lines = [f"### {' '.join(question.path)}\n", f"`{command}`{_method(question)}\n", f"{question.summary}\n"]
    if question.description:
        lines.append(f"{' '.join(question.description.split())}\n")
    if question.is_writing:
        lines.append("It writes.\n")
    if question.parameters:
        lines += ["| parameter | meaning | default |", "|---|---|---|", *map(_row, question.parameters), ""]
    if question.returns:
        lines.append(f"Answer: {question.returns[0].lower()}{question.returns[1:]}\n")
    kinds = ["a list of rows"] * question.has_rows + ["a picture"] * question.has_picture
    if kinds:
        lines.append(f"The answer has {' and '.join(kinds)}.\n")
    if question.example:
        lines.append(f"```python\n{question.example}\n```\n")
    return "\n".join(lines)


def _method(question: Question) -> str:
    if not question.subject:
        return f" · `{question.function.__module__}.{question.function.__name__}()`"
    words = ("catalog",) if question.subject == "catalog" else ("table", question.group)
    return f" · `{'.'.join(filter(None, (*words, question.name.replace('-', '_'))))}()`"


def _row(parameter: Parameter) -> str:
    name = parameter.name.upper() if parameter.is_positional else parameter.option
    choices = [f"`{choice}`" for choice in parameter.kind.choices if choice]
    meaning = parameter.help + (f" One of {', '.join(choices)}." if choices else "")
    default = parameter.default
    shown = f"`{default}`" if isinstance(default, (str, int, float)) and default not in ("", False) else ""
    return f"| `{name}` | {meaning.replace('|', chr(92) + '|')} | {'required' if parameter.is_required else shown} |"


if __name__ == "__main__":
    TARGET.write_text(text())
