"""Build the wheel, install it with each extra into an environment of its own, and use it as its owner would.

    python -m tests.extras [core spark notebook ...]

Each environment is made in a temporary folder and holds the pinned versions. It prints a line for each extra: what the
environment weighs, and what was tried. The exit code is 1 where something fails."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from explorer.extras import PACKAGES

ROOT = Path(__file__).parents[1]
SIZE_MB = 1_000_000
OURS = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
"""The environment variables, without a tree that pip would take for installed."""
OPEN = "import explorer; table = explorer.open_table('demo.three_inserts'); "
ASK_AS_AN_AGENT = """
import asyncio, os
from mcp import Client, StdioServerParameters
async def ask():
    program = StdioServerParameters(command="icedive", args=["mcp"], env=dict(os.environ))
    async with Client(program) as client:
        answer = await client.call_tool("count", {"table": "sandbox.demo.three_inserts"})
        assert not answer.is_error, answer
asyncio.run(ask())
"""
HAS_EXTENSION = """
import subprocess, sys
for command in (["labextension", "list"], ["server", "extension", "list"]):
    told = "icedive" if command[0] == "labextension" else "explorer.app.hosts.jupyter"
    done = subprocess.run([sys.executable, "-m", "jupyter", *command], capture_output=True, text=True, check=True)
    [line] = [line for line in (done.stdout + done.stderr).splitlines() if told in line and "enabled" in line]
"""
CORE: Sequence[Sequence[str]] = (
    ("icedive", "--version"), ("icedive", "demo"), ("icedive", "show", "demo.three_inserts"),
    ("icedive", "doctor", "demo.three_inserts"), ("icedive", "plan", "demo.three_inserts", "fruit = 'apple'"),
    ("icedive", "export", "page", "demo.three_inserts", "page.html"),
)  # fmt: skip
TRIES: Mapping[str, Sequence[Sequence[str]]] = {
    "core": (),
    "spark": (("icedive", "rows", "demo.three_inserts"), ("icedive", "lab", "run", "append", "append")),
    "notebook": (
        ("python", "-c", f"{OPEN}assert 'application/vnd.jupyter.widget-view+json' in table._repr_mimebundle_()"),
        ("jupyter", "lab", "--version"),
        ("python", "-c", HAS_EXTENSION),
    ),
    "panel": (("python", "-c", f"{OPEN}print(explorer.panel_component(table))"),),
    "graphviz": (
        ("icedive", "export", "graph", "demo.three_inserts", "--format", "png", "-f", "graph.png"),
        ("icedive", "export", "graph", "demo.three_inserts", "--format", "dot", "-f", "graph.dot"),
    ),
    "polars": (
        ("python", "-c", f"{OPEN}assert table.inspect.files().to_polars().height == 3"),
        ("python", "-c", "import explorer; assert explorer.about()['decoder'] == 'polars'"),
    ),
    "mcp": (("python", "-c", ASK_AS_AN_AGENT),),
    "s3": (("python", "-c", "import obstore.store"),),
    "gcs": (("python", "-c", "import obstore.store"),),
    "azure": (("python", "-c", "import obstore.store"),),
    "glue": (("python", "-c", "from pyiceberg.catalog.glue import GlueCatalog"),),
    "hive": (("python", "-c", "from pyiceberg.catalog.hive import HiveCatalog"),),
    "postgres": (("python", "-c", "import psycopg2; from pyiceberg.catalog.sql import SqlCatalog"),),
}
"""What is tried in each environment, after CORE."""
REFUSED = {"spark": ("rows", "demo.three_inserts"), "notebook": ("course", "course"),
           "graphviz": ("export", "graph", "demo.three_inserts", "--format", "png"), "mcp": ("mcp",)}  # fmt: skip
"""What says, where the extra is not installed, how to install it."""


def build_wheel(folder: Path) -> Path:
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "-w", str(folder)]
    subprocess.run([*pip, str(ROOT)], check=True)
    (wheel,) = folder.glob("*.whl")
    return wheel


def pins(folder: Path) -> Path:
    """The pinned versions as constraints, which pip takes without hashes."""
    pinned = re.findall(r"^([\w.-]+==[^\\\n]+)", (ROOT / "requirements" / "run.txt").read_text(), re.MULTILINE)
    file = folder / "constraints.txt"
    file.write_text("\n".join(pinned))
    return file


def weight(environment: Path) -> int:
    """Bytes of an environment's packages, without pip and setuptools, which came with it."""
    (packages,) = environment.glob("lib/python*/site-packages")
    own = re.compile(r"(pip|setuptools|pkg_resources|_distutils_hack)\b")
    return sum(
        path.stat().st_size
        for path in packages.rglob("*")
        if path.is_file() and not own.match(path.relative_to(packages).parts[0])
    )


def run(words: Sequence[str], binaries: Path, home: Path) -> subprocess.CompletedProcess[str]:
    environment = {**OURS, "ICEDIVE_HOME": str(home / "data"), "PATH": f"{binaries}{os.pathsep}{OURS['PATH']}"}
    command = [str(binaries / words[0]), *words[1:]]
    return subprocess.run(command, cwd=home, env=environment, capture_output=True, text=True)


def check(extra: str, wheel: Path, constraints: Path, work: Path) -> list[str]:
    """Install and try one extra. Returns what failed."""
    environment, home = work / extra, work / f"{extra}-home"
    home.mkdir()
    subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
    wanted = str(wheel) if extra == "core" else f"{wheel}[{extra}]"
    pip = [str(environment / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    began = time.monotonic()
    subprocess.run([*pip, "-c", str(constraints), wanted], check=True, env=OURS)
    took = time.monotonic() - began
    failed = []
    for words in (*CORE, *TRIES[extra]):
        done = run(words, environment / "bin", home)
        if done.returncode:
            failed.append(f"{' '.join(words)}: {done.returncode}: {(done.stderr or done.stdout)[-500:]}")
    here = {name for name in PACKAGES if [*environment.glob(f"lib/python*/site-packages/{name}")]}
    for other, words in REFUSED.items():
        if not here & {name for name, theirs in PACKAGES.items() if theirs == other and name != "pandas"}:
            done = run(("icedive", *words), environment / "bin", home)
            if done.returncode != 4 or f"Install the extra [{other}]" not in done.stderr:
                failed.append(f"without [{other}]: {' '.join(words)}: {done.returncode}: {done.stderr[-500:]}")
    print(f"{extra:<9} {weight(environment) / SIZE_MB:6,.0f} MB  {took:4.0f} s to install  "
          f"{'; '.join(failed) or 'works'}", flush=True)  # fmt: skip
    return failed


def check_uvx(wheel: Path, work: Path) -> list[str]:
    """Try the wheel without installing it, by uvx. Returns what failed."""
    environment, home = work / "uv", work / "uv-home"
    home.mkdir()
    subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
    pip = [str(environment / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "uv"], check=True, env=OURS)
    failed = []
    for words in CORE:
        done = run(("uvx", "--from", str(wheel), *words), environment / "bin", home)
        if done.returncode:
            failed.append(f"uvx {' '.join(words)}: {done.returncode}: {(done.stderr or done.stdout)[-500:]}")
    refused = run(("uvx", "--from", str(wheel), "icedive", *REFUSED["spark"]), environment / "bin", home)
    if refused.returncode != 4 or "Install the extra [spark]: give uvx --with" not in refused.stderr:
        failed.append(f"uvx without [spark]: {refused.returncode}: {refused.stderr[-500:]}")
    print(f"uvx: {'; '.join(failed) or 'works'}", flush=True)
    return failed


def main() -> None:
    failed = []
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        wheel, constraints = build_wheel(work), pins(work)
        print(f"{wheel.name}: {wheel.stat().st_size / SIZE_MB:.1f} MB", flush=True)
        for extra in sys.argv[1:] or (*TRIES, "uvx"):
            failed += check_uvx(wheel, work) if extra == "uvx" else check(extra, wheel, constraints, work)
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
