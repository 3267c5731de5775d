"""The committed bundle is that of the committed sources, and asks nobody outside."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from explorer.app.hosts.page import TYPES

ROOT = Path(__file__).parents[2]
FRONTEND, STATIC, DROPPED = ROOT / "frontend", ROOT / "explorer" / "app" / "static", ROOT / "website" / "dropped"


def digest() -> str:
    """As frontend/build.mjs computes it."""
    sources = [path for path in (FRONTEND / "src").rglob("*") if path.is_file()]
    sources += [FRONTEND / name for name in ("build.mjs", "package.json", "package-lock.json")]
    of = hashlib.sha256()
    for name in sorted(path.relative_to(FRONTEND).as_posix() for path in sources):
        of.update(f"{name}\n".encode() + (FRONTEND / name).read_bytes().replace(b"\r\n", b"\n"))
    return of.hexdigest()


def test_the_bundle_is_of_these_sources() -> None:
    assert (STATIC / "sources.sha256").read_text().strip() == digest(), "run `make frontend`"


def test_the_bundle_names_no_address_outside() -> None:
    for path in (*STATIC.glob("*.[jc]s*"), *DROPPED.glob("*.[jc]s*")):
        addresses = set(re.findall(r"(?:https?:)?//[a-z0-9.-]+\.[a-z]{2,}[^\s\"'`)]*", path.read_text("utf-8")))
        assert {address for address in addresses if "www.w3.org" not in address} == set()


def test_every_file_of_the_bundle_is_served() -> None:
    """Hosts that are no page take the other scripts from the package."""
    others = {"sources.sha256", "loader.js", "notebook.js", "file.js"}
    assert {path.name for path in STATIC.iterdir()} - others == set(TYPES)


def test_the_lock_file_has_hashes_and_no_addresses() -> None:
    packages = json.loads((FRONTEND / "package-lock.json").read_text())["packages"]
    assert not [name for name, one in packages.items() if "resolved" in one]
    assert not [name for name, one in packages.items() if name and not one.get("integrity")]


def test_what_the_bundle_contains_has_its_licence_beside_it() -> None:
    text = "".join((folder / "licenses.txt").read_text("utf-8") for folder in (STATIC, DROPPED))
    direct = json.loads((FRONTEND / "package.json").read_text())["dependencies"]
    for name in direct:
        assert re.search(rf"^{re.escape(name)} \S+ \((?:MIT|Apache-2.0|BSD-\d-Clause|ISC)\)$", text, re.MULTILINE), name


@pytest.mark.skipif(
    not (FRONTEND / "node_modules").is_dir() or shutil.which("node") is None, reason="needs Node: make frontend"
)
def test_building_again_makes_the_same_bundle(tmp_path: Path) -> None:
    copy = tmp_path / "frontend"
    shutil.copytree(FRONTEND, copy, ignore=shutil.ignore_patterns("node_modules"))
    (copy / "node_modules").symlink_to(FRONTEND / "node_modules")
    subprocess.run(["node", "build.mjs"], cwd=copy, check=True, env=os.environ)
    made = tmp_path / "explorer" / "app" / "static"
    for path in (*made.iterdir(), *(tmp_path / "website" / "dropped").iterdir()):
        assert path.read_bytes() == (ROOT / path.relative_to(tmp_path)).read_bytes(), path.name
