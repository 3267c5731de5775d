"""The documents are readable on GitHub and on the site: links lead to files and headings, and the site lists each
page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
LINK = re.compile(r"\]\(([^)\s]+)\)")
ROOT_PAGES = {"changelog.md", "contributing.md", "security.md", "api.md"}
"""Pages that the site has of files elsewhere (website/build.py)."""


def prose(path: Path) -> str:
    """The text of a page without its blocks and spans of code."""
    return re.sub(r"`[^`\n]*`", "", re.sub(r"^```.*?^```", "", path.read_text("utf-8"), flags=re.M | re.S))


def anchors(path: Path) -> set[str]:
    """The anchors that GitHub makes of the headings of a page."""
    text = re.sub(r"^```.*?^```", "", path.read_text("utf-8"), flags=re.M | re.S)
    headings = [heading.replace("`", "").strip() for heading in re.findall(r"^#+ (.+)$", text, re.M)]
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_to_files_and_headings_of_the_repository(path: Path) -> None:
    for link in LINK.findall(prose(path)):
        if re.match(r"\w+:", link):
            continue
        target, _, anchor = link.partition("#")
        file = (path.parent / target).resolve() if target else path
        assert file.exists(), link
        if anchor:
            assert anchor in anchors(file), link


def test_the_site_lists_every_page_once() -> None:
    listed = re.findall(r"- (?:[^:\n]+: )?([\w/-]+\.md|decisions/\*)$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE)
    there = {path.relative_to(ROOT / "docs").as_posix() for path in PAGES if path.is_relative_to(ROOT / "docs")}
    decisions = {name for name in there if name.startswith("decisions/")}
    assert {"decisions/*", *ROOT_PAGES, *there - decisions} == set(listed)
    twice = {name for name in listed if listed.count(name) > 1}
    assert twice == {"teaching-tables.md"}, "for those who look, and for those who teach"


def test_a_page_loads_nothing_from_elsewhere() -> None:
    for path in PAGES:
        assert not re.search(r"!\[[^\]]*\]\(\w+:", path.read_text("utf-8")), path
