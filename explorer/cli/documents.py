"""The documents, which are in the wheel too."""

from __future__ import annotations

import re
from importlib.resources import files

import click

from explorer.cli.base import COMMAND, main
from explorer.cli.screen import show
from explorer.errors import NotFoundInTable

COMMENT = re.compile(r"^<!--.*?-->\n", re.MULTILINE)
"""What a page says to tests and benchmarks, and not to its readers."""


def pages() -> dict[str, str]:
    """Return the text of each document by its name, those in folders after the others."""
    folder = files("explorer") / "docs"
    folders = sorted((one for one in folder.iterdir() if one.is_dir()), key=lambda one: one.name)
    return {
        one.name.removesuffix(".md"): COMMENT.sub("", one.read_text("utf-8"))
        for place in (folder, *folders)
        for one in sorted(place.iterdir(), key=lambda one: one.name)
        if one.name.endswith(".md")
    }


@main.command()
@click.argument("page", required=False)
def docs(page: str | None) -> None:
    """Show a PAGE of the documents, or list them."""
    known = pages()
    if page is None:
        titles = {name: text.partition("\n")[0].lstrip("# ") for name, text in known.items()}
        wide = max(map(len, titles))
        show([*(f"{name:<{wide}}  {title}" for name, title in titles.items()), "", f"{COMMAND} docs PAGE shows one."])
        return
    if page not in known:
        from explorer.spec.text.names import similar_names

        near = similar_names(page, known)
        raise NotFoundInTable(f"there is no page {page!r}{f'; did you mean {near[0]}?' if near else ''}")
    show(known[page].splitlines())
