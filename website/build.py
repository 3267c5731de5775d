"""Build the documentation site: `make docs`.

    .venv-docs/bin/python website/build.py ICEDIVE

The pages are those of docs/, which GitHub and `icedive docs` show as well. A copy of them becomes the site, in
build/website: with the teaching tables as live pages, which ICEDIVE exports, with the page that reads dropped metadata
(frontend/src/dropped), with the documents of the repository's root, and with the reference of the Python API. A broken
link or anchor ends the build with an error. The site is in site/."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
WORK = ROOT / "build" / "website"
PAGES = WORK / "docs"
ROOT_PAGES = ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")
TABLE_LINK = re.compile(r"\]\((?:\.\./)*teaching-tables\.md#demo(\w+)\)")
API = """# The Python API

`import explorer` gives all of this. The questions that `table` and `catalog` answer are in the
[reference](reference.md): each is a command, too. Every answer has `to_text()` and `to_json()`.

"""


def site_text(text: str, depth: int) -> str:
    """Return a page as the site has it.

    Args:
        text: The page as GitHub shows it.
        depth: In how many folders below docs/ it is.
    """
    up = "../" * depth
    for name in ROOT_PAGES:
        text = text.replace(f"]({'../' * (depth + 1)}{name}", f"]({up}{name.lower()}")
    text = text.replace(f"]({'../' * (depth + 1)}website/dropped/", f"]({up}dropped/")
    text = TABLE_LINK.sub(rf"]({up}tables/sandbox.demo.\1.html)", text)
    parts = re.split(r"(^```.*?^```$)", text, flags=re.MULTILINE | re.DOTALL)
    return "".join(part if part.startswith("```") else _deeper_lists(part) for part in parts)


def _deeper_lists(text: str) -> str:
    """Indent nested lists by four spaces, which the site's Markdown needs and GitHub's does not."""
    return re.sub(r"^( +)(?=[-*] |\d+\. )", lambda match: match[1] * 2, text, flags=re.MULTILINE)


def live_table(match: re.Match[str]) -> str:
    """Return the section of a teaching table with a link to its live page."""
    return f"{match[0]}\n[Open it](tables/sandbox.demo.{match[1]}.html){{ .md-button }}\n"


def write_pages() -> None:
    shutil.copytree(ROOT / "docs", PAGES)
    for path in PAGES.rglob("*.md"):
        path.write_text(site_text(path.read_text("utf-8"), len(path.relative_to(PAGES).parts) - 1), "utf-8")
    for name in ROOT_PAGES:
        text = (ROOT / name).read_text("utf-8").replace("](docs/", "](")
        (PAGES / name.lower()).write_text(site_text(text, 0), "utf-8")
    tables = PAGES / "teaching-tables.md"
    tables.write_text(
        re.sub(r"^## demo\.(\w+)\n\n.+\n\n.+\n", live_table, tables.read_text("utf-8"), flags=re.MULTILINE), "utf-8"
    )
    (PAGES / "api.md").write_text(API + "\n".join(f"::: explorer.{name}\n" for name in public_names()), "utf-8")
    shutil.copy(ROOT / "website" / "site.css", PAGES)
    shutil.copytree(ROOT / "website" / "dropped", PAGES / "dropped")


def write_modules() -> None:
    """Copy the modules whose docstrings become the Python API. Examples have the heading that mkdocstrings knows."""
    for path in (ROOT / "explorer").rglob("*.py"):
        copy = WORK / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(re.sub(r"^( +)Example:$", r"\1Examples:", path.read_text("utf-8"), flags=re.MULTILINE), "utf-8")


def public_names() -> list[str]:
    """Return the names that `explorer` exports, in their order."""
    tree = ast.parse((ROOT / "explorer" / "__init__.py").read_text("utf-8"))
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return [name for name in ast.literal_eval(node.value) if not name.startswith("__")]
    raise AssertionError("explorer has no __all__")


def write_tables(icedive: str) -> None:
    """Export the teaching tables as pages of their own, from a sandbox that is made for it: pages name its folder."""
    with tempfile.TemporaryDirectory(prefix="icedive-") as home:
        environment = {**os.environ, "ICEDIVE_HOME": home}
        for words in (["demo"], ["export", "gallery", str(PAGES / "tables")]):
            subprocess.run([icedive, *words], env=environment, check=True, stdout=subprocess.DEVNULL)


def write_configuration() -> Path:
    """Write mkdocs.yml beside the pages, with every decision in its list of pages."""
    text = (ROOT / "mkdocs.yml").read_text("utf-8")
    indent = re.search(r"^( *)- decisions/\*$", text, re.MULTILINE)
    assert indent, "mkdocs.yml lists no decisions"
    decisions = sorted(path.name for path in (PAGES / "decisions").glob("*.md"))
    text = text.replace(indent[0], "\n".join(f"{indent[1]}- decisions/{name}" for name in decisions))
    file = WORK / "mkdocs.yml"
    file.write_text(text, "utf-8")
    return file


def main(icedive: str) -> None:
    shutil.rmtree(WORK, ignore_errors=True)
    write_pages()
    write_modules()
    write_tables(icedive)
    zensical = str(Path(sys.executable).with_name("zensical"))
    subprocess.run([zensical, "build", "--strict", "--clean", "-f", str(write_configuration())], cwd=WORK, check=True)
    shutil.rmtree(ROOT / "site", ignore_errors=True)
    shutil.move(WORK / "site", ROOT / "site")


if __name__ == "__main__":
    main(sys.argv[1])
