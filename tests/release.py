"""Build what is released, and use it as its owner would on every Python that is here.

    python -m tests.release

It writes the wheel, the source distribution and the notes of the release to dist/, has twine check how their
descriptions render, and installs each into an empty environment of each Python (VERSIONS). A Python that is not here is
told and passed over. The exit code is 1 where something fails."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import explorer
from tests.extras import CORE, OURS, ROOT, pins, run
from tests.pythons import interpreter

VERSIONS = ("3.10", "3.11", "3.12", "3.13", "3.14")
DIST = ROOT / "dist"


def build() -> list[Path]:
    """Write the wheel and the source distribution."""
    shutil.rmtree(DIST, ignore_errors=True)
    DIST.mkdir()
    code = f"from setuptools import build_meta as b; print(b.build_sdist({str(DIST)!r}), b.build_wheel({str(DIST)!r}))"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    shutil.rmtree(ROOT / "build", ignore_errors=True)
    return sorted(DIST.iterdir())


def notes() -> str:
    """What CHANGELOG.md says of this version."""
    sections = re.split(r"^## ", (ROOT / "CHANGELOG.md").read_text("utf-8"), flags=re.MULTILINE)[1:]
    (own,) = [text for text in sections if text.split()[0] == explorer.__version__]
    return own.partition("\n")[2].strip() + "\n"


def environment(folder: Path, base: Path) -> Path:
    """The folder of the commands of a new, empty environment."""
    subprocess.run([str(base), "-m", "venv", str(folder)], check=True)
    return folder / "bin"


def check(version: str, base: Path, file: Path, work: Path) -> list[str]:
    """Install a file on a Python and use it. Returns what failed."""
    folder = Path(tempfile.mkdtemp(dir=work))
    binaries, home = environment(folder / "venv", base), folder / "home"
    home.mkdir()
    pip = [str(binaries / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "-c", str(pins(work)), str(file)], check=True, env=OURS)
    failed = []
    for words in CORE:
        done = run(words, binaries, home)
        if done.returncode:
            failed.append(f"{version}, {file.name}: {' '.join(words)}: {(done.stderr or done.stdout)[-500:]}")
    print(f"Python {version}, {file.name}: {'; '.join(failed) or 'works'}", flush=True)
    return failed


def main() -> None:
    files, failed = build(), []
    (DIST / "NOTES.md").write_text(notes(), "utf-8")
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        twine = environment(work / "twine", Path(sys.executable))
        subprocess.run([str(twine / "python"), "-m", "pip", "install", "--quiet", "twine"], check=True, env=OURS)
        subprocess.run([str(twine / "twine"), "check", "--strict", *map(str, files)], check=True)
        for version in VERSIONS:
            if (base := interpreter(version)) is None:
                print(f"Python {version} is not here")
                continue
            for file in files:
                failed += check(version, base, file, work)
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
