"""The script in its parts: they join to one module and know none of the vocabulary; Node tests the pure one."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import panel
import pytest

from explorer.graph.vocabulary import EDGES, KINDS, MARKS, OPERATIONS, STATUSES
from explorer.ui.assets import FIRST, PARTS, first_script, script, style

STATIC = Path(__file__).parents[2] / "explorer" / "ui" / "static"
TESTS = Path(__file__).with_name("pure.test.mjs")
NODE = (20, 19)
"""The first version that takes a .js file with imports for a module, without a package.json."""
TOP_LEVEL = re.compile(r"^(?:export )?(?:async )?(function|class|const|let) (.+)", re.MULTILINE)


def node() -> str:
    """Node's path, if it is here and new enough: only tests need it."""
    path = shutil.which("node")
    if path is None:
        pytest.skip("Node is not on the PATH: the script's own tests are not run")
    version = subprocess.run([path, "--version"], capture_output=True, text=True, check=True).stdout
    if tuple(map(int, re.findall(r"\d+", version)[:2])) < NODE:
        pytest.skip(f"Node {version.strip()} is older than {NODE[0]}.{NODE[1]}: the script's own tests are not run")
    return path


def declared(text: str) -> list[str]:
    """Names that a part declares for all that are joined with it."""
    names = []
    for what, declaration in TOP_LEVEL.findall(text):
        names += re.findall(r"(\w+)(?= = )" if what in ("const", "let") else r"^\w+", declaration)
    return names


def test_every_part_is_joined_once_and_after_what_it_imports() -> None:
    of_panel = {"drawn.js", "modules.js"}
    on_the_dashboard = {*of_panel, "browser.js", "figures.js", "grids.js", "kept.js", "palette.js", "statement.js"}
    assert sorted({*PARTS, *on_the_dashboard, FIRST}) == sorted(p.name for p in STATIC.glob("*.js"))
    for i, part in enumerate(PARTS):
        imported = re.findall(r'from "\./([\w.]+)"', (STATIC / part).read_text())
        assert set(imported) <= set(PARTS[:i])


def test_no_name_is_declared_by_two_parts() -> None:
    names = [name for part in (*PARTS, FIRST) for name in declared((STATIC / part).read_text())]
    assert {"edgePath", "Canvas", "mount", "MOVE_MS", "FLASH_MS"} <= set(names)
    assert sorted(names) == sorted(set(names))


def test_what_is_joined_imports_nothing_and_exports_what_hosts_take() -> None:
    lines = script().splitlines()
    assert not [line for line in lines if line.startswith("import") or re.match(r"\} from", line)]
    assert [line for line in lines if line.startswith("export")] == ["export default { render };"]


@pytest.mark.parametrize("path", sorted(STATIC.iterdir()), ids=lambda p: p.name)
def test_parts_are_short_and_so_are_their_lines(path: Path) -> None:
    lines = path.read_text().splitlines()
    assert len(lines) < 400
    assert [line for line in lines if len(line) > 120] == []


@pytest.mark.parametrize("name", [*PARTS, "view.css"])
def test_the_vocabulary_is_said_in_python_only(name: str) -> None:
    text = (STATIC / name).read_text()
    things = (*KINDS.values(), *STATUSES.values(), *MARKS.values(), *EDGES.values())
    colours = {thing.color for thing in things} | set(OPERATIONS.values()) - {""}
    assert [c for c in colours - {"", MARKS["conflict"].color} if c in text] == []  # that red is any error's too
    own = {"snapshot", "parent"}  # of requests, and of a group of hidden nodes
    names = {*KINDS, *STATUSES, *MARKS, *EDGES, *OPERATIONS} - {"filtered", "replace", "append", "delete"}
    quoted = set(re.findall(r"""["'`]([\w ]+)["'`]""", text)) | set(re.findall(r"\.ix-\w-([\w-]+)", text))
    assert (quoted & names) - own == set()
    assert not re.search("|".join(k.title for k in KINDS.values() if " " in k.title), text)


def test_the_style_sheet_has_a_rule_for_every_look() -> None:
    things = (*KINDS.values(), *STATUSES.values(), *MARKS.values())
    looks = {thing.look for thing in things} - {"", "round"}  # the script rounds
    assert looks == {"tint", "new", "gone", "out", "loose", "bold"}
    assert [look for look in looks if f".ix-look-{look} " not in style()] == []


def test_the_joined_script_is_a_module(tmp_path: Path) -> None:
    whole = tmp_path / "whole.mjs"
    whole.write_text(first_script())
    done = subprocess.run([node(), "--check", whole], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_pure_part_by_nodes_own_tests() -> None:
    done = subprocess.run([node(), "--test", TESTS], capture_output=True, text=True, cwd=TESTS.parent)
    assert done.returncode == 0, done.stdout + done.stderr
    assert int(re.findall(r"^# pass (\d+)|^ℹ pass (\d+)", done.stdout, re.MULTILINE)[0][0] or 0) >= 10


def test_panels_text_is_the_one_that_is_changed() -> None:
    """What its components write back (static/drawn.js) would be as it was."""
    theirs = (Path(panel.__file__).parent / "dist" / "panel.min.js").read_text()
    texts = re.findall(r'\[\s*"([^"]+)",\s*"', (STATIC / "drawn.js").read_text())
    assert len(texts) == 5
    assert [theirs.count(text) for text in texts] == [1] * 5
