"""Build the native decoder and put it into the package, with the licences of what is in it: `make native`.

crates.lock is Cargo.lock without the addresses of the registry, which are no part of this repository: they are written
back here, from what this machine's cargo writes."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
STORAGE = HERE.parent / "explorer" / "storage"
BUILT = {"linux": "libicedive_native.so", "darwin": "libicedive_native.dylib", "win32": "icedive_native.dll"}
MODULE = "icedive_native.pyd" if sys.platform == "win32" else "icedive_native.abi3.so"
LICENSES = "icedive_native.licenses.txt"


def cargo(*arguments: str) -> str:
    """Run cargo. Return what it prints."""
    return subprocess.run(["cargo", *arguments], cwd=HERE, check=True, stdout=subprocess.PIPE, text=True).stdout


def restore_lock() -> None:
    """Write Cargo.lock."""
    lock = HERE / "Cargo.lock"
    pinned = (HERE / "crates.lock").read_text()
    if lock.exists() and without_sources(lock.read_text()) == pinned:
        return
    lock.unlink(missing_ok=True)
    cargo("generate-lockfile", "--quiet")
    [source] = set(re.findall(r"^source = .*\n", lock.read_text(), re.MULTILINE))
    lock.write_text(re.sub(r"^(?=checksum = )", lambda _: source, pinned, flags=re.MULTILINE))


def without_sources(lock: str) -> str:
    """Cargo.lock as it is committed."""
    return re.sub(r"^source = .*\n", "", lock, flags=re.MULTILINE)


def licenses() -> str:
    """The licences of all crates that are in the module."""
    tree = cargo("tree", "--locked", "--edges", "normal", "--prefix", "none", "--format", "{p}")
    names = {tuple(line.split()[:2]) for line in tree.splitlines() if line}
    texts = []
    for package in json.loads(cargo("metadata", "--locked", "--format-version", "1"))["packages"]:
        if (package["name"], f"v{package['version']}") not in names or package["source"] is None:
            continue
        folder = Path(package["manifest_path"]).parent
        files = sorted(
            f for f in folder.iterdir() if re.match(r"(?i)(licen[cs]e|copying|notice)", f.name) and f.is_file()
        )
        head = f"{package['name']} {package['version']}: {package['license']}"
        texts.append("\n\n".join([head, *(file.read_text(errors="replace").strip() for file in files)]))
    rule = "\n\n" + "=" * 100 + "\n\n"
    return rule.join(sorted(texts)) + "\n"


def main() -> None:
    """Build, and copy."""
    restore_lock()
    cargo("build", "--release", "--locked", "--quiet")
    scratch = STORAGE / f"{MODULE}.new"
    shutil.copy(HERE / "target" / "release" / BUILT.get(sys.platform, "libicedive_native.so"), scratch)
    scratch.replace(STORAGE / MODULE)  # one that is loaded stays as it is
    (STORAGE / LICENSES).write_text(licenses())


if __name__ == "__main__":
    main()
