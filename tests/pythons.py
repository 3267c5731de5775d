"""The tests that need neither Spark nor a browser, on every Python that is supported and that this machine has.

    python -m tests.pythons [3.10 3.12 3.13]

Each gets its own environment, .venv-3.x, with the pinned requirements. A Python that is not here is told and passed
over; the exit code is 1 when a test fails, or when none is here."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
VERSIONS = ("3.10", "3.12", "3.13")
TESTS = ("tests/unit", "tests/properties", "tests/security/test_places.py", "tests/security/test_web.py")
BUILD, ALL = ROOT / "requirements" / "build.txt", ROOT / "requirements" / "all.txt"


def candidates(version: str) -> Iterator[Path]:
    """Where a Python of this version may be: on the PATH, or among pyenv's."""
    if on_path := shutil.which(f"python{version}"):
        yield Path(on_path)
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    yield from sorted(pyenv.glob(f"versions/{version}.*/bin/python{version}"), reverse=True)


def interpreter(version: str) -> Path | None:
    """A Python of this version that runs: pyenv puts names on the PATH for those that are not chosen, too."""
    ask = "import sys; print('%d.%d' % sys.version_info[:2])"
    for path in candidates(version):
        answer = subprocess.run([str(path), "-c", ask], capture_output=True, text=True)
        if answer.stdout.strip() == version:
            return path
    return None


def environment(version: str, base: Path) -> Path:
    """The Python of .venv-3.x, with what is pinned; it is installed again when the pins change."""
    folder = ROOT / f".venv-{version}"
    python, stamp = folder / "bin" / "python", folder / ".installed"
    pins = hashlib.sha256(BUILD.read_bytes() + ALL.read_bytes()).hexdigest()
    if not stamp.exists() or stamp.read_text() != pins:
        subprocess.run([str(base), "-m", "venv", "--clear", str(folder)], check=True)
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--require-hashes"]
        subprocess.run([*pip, "-r", str(BUILD)], check=True)
        subprocess.run([*pip, "--no-build-isolation", "-r", str(ALL)], check=True)
        stamp.write_text(pins)
    return python


def main() -> None:
    failed, ran = [], []
    for version in sys.argv[1:] or VERSIONS:
        base = interpreter(version)
        if base is None:
            print(f"Python {version}: not on this machine, skipped", flush=True)
            continue
        began = time.monotonic()
        python = environment(version, base)
        command = [str(python), "-m", "pytest", "-q", "-p", "no:cacheprovider", *TESTS]
        code = subprocess.run(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}).returncode
        ran.append(version)
        failed += [version] if code else []
        print(f"Python {version}: {'failed' if code else 'passed'}, {time.monotonic() - began:.0f} s", flush=True)
    sys.exit(1 if failed or not ran else 0)


if __name__ == "__main__":
    main()
