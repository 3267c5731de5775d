"""Each command of icedive that a document, a notebook, a remedy or a message names is one that there is, with the
options that it has."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest

from explorer.cli import main
from explorer.spec.doctor import remedies
from explorer.spec.doctor.remedy_texts import TEXTS, TEXTS_OF
from explorer.spec.health.measures import MEASURES, helps

ROOT = Path(__file__).parents[2]
DOCUMENTS = [
    path
    for pattern in ("*.md", "docs/**/*.md", "notebooks/*.ipynb", "Makefile", "benchmarks/*.py", "explorer/**/*.py")
    for path in sorted(ROOT.glob(pattern))
    if "icedive" in path.read_text()
]
SPANS = (r"`icedive ([^`]+)`", r"^[ \t]*\$? ?(?:\w+=\S+ )*icedive (.+)$", r"\$\(BIN\)/icedive (.+)$")
"""A command inside a sentence, and one that has a line of its own."""
VERBS = "prints|tells|shows|names|lists|has"
IN_SENTENCES = re.compile(rf"icedive ([a-z]+(?: (?:[a-z]+(?:-[a-z]+)*|[A-Z]+|-O \S+|--\w+))*?) (?:{VERBS})\b|"
                          r"icedive ([a-z ]+TABLE [a-z-]+)")  # fmt: skip


STANDS_FOR = ("OPERATION", "TEXT", "$")


def commands(text: str) -> list[str]:
    """The commands that a text names."""
    found = [match for span in SPANS for match in re.findall(span, text, flags=re.MULTILINE)]
    return [one.replace('\\"', '"').split("  #")[0] for one in found]


def parse(words: list[str]) -> None:
    """Read a command as the command line does, and run nothing; words in capitals, $ and … stand for values, and what
    follows may be left out where a sentence names an option. Raises UsageError."""
    group: click.Command = main
    while isinstance(group, click.Group):
        context = click.Context(group)
        if not words or words[0].startswith("-"):
            return
        name, command, words = group.resolve_command(context, words)
        assert command is not None
        group = command
    if words:
        try:
            group.make_context(name, list(words))
        except (click.BadParameter, click.BadOptionUsage) as error:
            named_alone = isinstance(error, (click.MissingParameter, click.BadOptionUsage)) and len(words) < 3
            if not named_alone and not any(text in word for text in STANDS_FOR for word in words):
                raise


def check(command: str) -> None:
    """Fail for a command that there is not."""
    plain = command.replace("[", "").replace("]", "").replace("…", "TEXT").replace("...", "TEXT")
    try:
        parse(shlex.split(plain))
    except click.UsageError as error:
        pytest.fail(f"icedive {command}: {error.format_message()}")
    except click.exceptions.Exit:  # --version
        pass


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda p: str(p.relative_to(ROOT)))
def test_documents_name_commands_that_there_are(path: Path) -> None:
    if path.name == "serving.md" or path.suffix == ".py":
        text = re.sub(r"^.*docker (?:build|run).*$", "", path.read_text(), flags=re.MULTILINE)
    else:
        text = path.read_text()
    for command in commands(text):
        check(command)


def test_remedies_name_commands_that_there_are() -> None:
    said = [*TEXTS.values(), *TEXTS_OF.values(), *map(helps, MEASURES), remedies.UNKNOWN_DELETES]
    said += [remedies.may_be_needed(2, "why")]
    named = [a or b for text in said for a, b in IN_SENTENCES.findall(text)]
    assert len(named) == sum(text.count("icedive ") for text in said) > 10
    for command in named:
        check(command)
