"""Build what is released, and use it as its owner would on every Python that is here.

    python -m tests.release

It writes the wheel, the one with the native decoder, the source distribution and the notes of the release to dist/, has
twine check how their descriptions render, and installs each into an empty environment of each Python (VERSIONS). A
Python that is not here is told and passed over. The exit code is 1 where something fails."""

from __future__ import annotations

import base64
import hashlib
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from pathlib import Path

import explorer
from tests.extras import CORE, OURS, ROOT, pins, run
from tests.pythons import interpreter

VERSIONS = ("3.10", "3.11", "3.12", "3.13", "3.14")
DIST = ROOT / "dist"
MODULE, LICENSES = "icedive_native.abi3.so", "icedive_native.licenses.txt"


def build() -> list[Path]:
    """Write the wheel, the one with the native decoder where cargo is, and the source distribution."""
    shutil.rmtree(DIST, ignore_errors=True)
    DIST.mkdir()
    code = f"from setuptools import build_meta as b; print(b.build_sdist({str(DIST)!r}), b.build_wheel({str(DIST)!r}))"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    shutil.rmtree(ROOT / "build", ignore_errors=True)
    if shutil.which("cargo"):
        add_native(next(DIST.glob("*-none-any.whl")))
    else:
        print("cargo is not here: there is no wheel with the native decoder")
    return sorted(DIST.iterdir())


def add_native(pure: Path) -> Path:
    """A wheel for this platform: the pure one with the native decoder and its licences (native/build.py)."""
    subprocess.run([sys.executable, str(ROOT / "native" / "build.py")], check=True)
    folder = Path("explorer", "storage")
    added = {str(folder / name): (ROOT / folder / name).read_bytes() for name in (MODULE, LICENSES)}
    tag = f"cp310-abi3-{platform_tag(added[str(folder / MODULE)])}"
    wheel = pure.with_name(pure.name.replace("py3-none-any", tag))
    with zipfile.ZipFile(pure) as given, zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as made:
        for name in given.namelist():
            content = given.read(name)
            if name.endswith(".dist-info/WHEEL"):
                content = content.replace(b"py3-none-any", tag.encode()).replace(b"Purelib: true", b"Purelib: false")
                added[name] = content
            if not name.endswith(".dist-info/RECORD"):
                made.writestr(name, content)
                continue
            lines = [line for line in content.decode().splitlines() if line.partition(",")[0] not in added]
            record = name, "\n".join([*lines, *(_recorded(file, data) for file, data in added.items())]) + "\n"
        for name in (str(folder / MODULE), str(folder / LICENSES)):
            made.writestr(name, added[name])
        made.writestr(*record)
    return wheel


def _recorded(name: str, data: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(data)}"


def platform_tag(module: bytes) -> str:
    """The tag of the platforms that a module runs on: on Linux, of glibc of its newest symbols or newer (PEP 600)."""
    tag = re.sub(r"[.-]", "_", sysconfig.get_platform())
    newest = max((int(minor) for minor in re.findall(rb"GLIBC_2\.(\d+)", module)), default=0)
    return re.sub("^linux", f"manylinux_2_{max(newest, 17)}", tag) if newest else tag


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
