"""The extension of JupyterLab is committed as built from the committed sources, asks nobody outside, and is in the
wheel where Jupyter looks for it."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import explorer

ROOT = Path(__file__).parents[2]
FRONTEND = ROOT / "frontend"
LAB, JUPYTER = FRONTEND / "lab", ROOT / "packaging" / "jupyter"
BUILT = JUPYTER / "share" / "jupyter" / "labextensions" / "icedive"
SHARED = ("protocol.ts", "place.ts")
"""What it takes of the page's sources."""


def digest() -> str:
    """As frontend/lab/build.mjs computes it."""
    sources = [path for name in ("src", "schema", "style") for path in (LAB / name).rglob("*") if path.is_file()]
    sources += [
        LAB / name for name in ("build.mjs", "package.json", "package-lock.json", "tsconfig.json", "webpack.config.js")
    ]
    sources += [FRONTEND / "src" / name for name in SHARED]
    of = hashlib.sha256()
    for name in sorted(path.relative_to(FRONTEND).as_posix() for path in sources):
        of.update(f"{name}\n".encode() + (FRONTEND / name).read_bytes().replace(b"\r\n", b"\n"))
    return of.hexdigest()


def test_it_is_built_of_these_sources() -> None:
    assert (BUILT / "sources.sha256").read_text().strip() == digest(), "run `make frontend`"


def test_it_takes_no_more_of_the_pages_sources() -> None:
    taken = {
        name for path in (LAB / "src").glob("*.ts") for name in re.findall(r'"\.\./\.\./src/(.*?)"', path.read_text())
    }
    assert {f"{name}.ts" for name in taken} == set(SHARED)
    assert not [name for name in SHARED if re.search(r"^import ", (FRONTEND / "src" / name).read_text(), re.MULTILINE)]


def test_it_names_no_address_outside() -> None:
    for path in (BUILT / "static").glob("*.js"):
        addresses = set(re.findall(r"(?:https?:)?//[a-z0-9.-]+\.[a-z]{2,}[^\s\"'`)]*", path.read_text("utf-8")))
        assert {address for address in addresses if "www.w3.org" not in address} == set()


def test_the_lock_file_has_hashes_and_no_addresses() -> None:
    packages = json.loads((LAB / "package-lock.json").read_text())["packages"]
    assert not [name for name, one in packages.items() if "resolved" in one]
    assert not [name for name, one in packages.items() if name and not one.get("integrity") and not one.get("inBundle")]


def test_it_brings_no_package_and_says_what_it_shares() -> None:
    """Everything that it imports is JupyterLab's own."""
    brought = json.loads((BUILT / "static" / "third-party-licenses.json").read_text())["packages"]
    assert {one["name"] for one in brought} <= {"css-loader", "style-loader"}
    assert all(one["licenseId"] == "MIT" and one["extractedText"] for one in brought)


def test_its_version_and_files_are_those_of_the_package() -> None:
    built = json.loads((BUILT / "package.json").read_text())
    assert built["version"] == explorer.__version__
    assert (BUILT / built["jupyterlab"]["_build"]["load"]).is_file()
    [server] = (JUPYTER / "etc").rglob("*.json")
    assert json.loads(server.read_text())["ServerApp"]["jpserver_extensions"] == {"explorer.app.hosts.jupyter": True}


def test_a_wheel_has_all_of_it_below_the_prefix() -> None:
    block = (ROOT / "pyproject.toml").read_text().partition("[tool.setuptools.data-files]\n")[2].partition("\n\n")[0]
    placed = {}
    for target, listed in re.findall(r'^"(.+?)" = \[(.+)\]$', block, re.MULTILINE):
        for pattern in re.findall(r'"(.+?)"', listed):
            placed |= {path: f"{target}/{path.name}" for path in ROOT.glob(pattern)}
    there = [path for path in JUPYTER.rglob("*") if path.is_file()]
    assert {path.relative_to(JUPYTER).as_posix() for path in there} == set(placed.values())
    assert all(path.relative_to(JUPYTER).as_posix() == target for path, target in placed.items())


def link_or_copy(source: str, target: str) -> None:
    """Have a file in two folders. A link to the folder of modules would not do: the builder follows it, and shortens
    names by how often letters stand in paths from one folder to the other."""
    try:
        os.link(source, target)
    except OSError:  # on another disk
        shutil.copy2(source, target)


@pytest.mark.skipif(
    not (LAB / "node_modules").is_dir() or shutil.which("node") is None, reason="needs Node: make frontend"
)
def test_building_again_makes_the_same(tmp_path: Path) -> None:
    shutil.copytree(FRONTEND / "src", tmp_path / "frontend" / "src")
    copy = tmp_path / "frontend" / "lab"
    shutil.copytree(LAB, copy, ignore=shutil.ignore_patterns("node_modules", "lib"))
    shutil.copytree(LAB / "node_modules", copy / "node_modules", symlinks=True, copy_function=link_or_copy)
    subprocess.run(["node", "build.mjs"], cwd=copy, check=True, stdout=subprocess.DEVNULL)
    made = tmp_path / BUILT.relative_to(ROOT)
    names = {path.relative_to(BUILT) for path in BUILT.rglob("*") if path.is_file()}
    assert {path.relative_to(made) for path in made.rglob("*") if path.is_file()} == names
    assert not [name for name in names if (made / name).read_bytes() != (BUILT / name).read_bytes()]
