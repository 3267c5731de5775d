"""Execute the steps of the Dockerfile without Docker, and ask its health check: `python -m tests.image`.

Each instruction is done in an empty folder, with an empty environment in place of the image's Python. Files are copied
from what .dockerignore lets through. What changes the machine is left out, and told: users, and owners of folders. The
exit code is 1 where a step fails or the server does not become healthy."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.extras import OURS, ROOT
from tests.support.ports import free_port

LEFT_OUT = ("useradd", "chown")
PATIENCE_S = 120


def instructions() -> Iterator[tuple[str, str]]:
    """The instructions of the Dockerfile, each as its word and the rest."""
    text = re.sub(r"^#.*\n", "", (ROOT / "Dockerfile").read_text(), flags=re.M).replace("\\\n", " ")
    for line in filter(None, text.splitlines()):
        word, _, rest = line.partition(" ")
        yield word, rest.strip()


def context(folder: Path) -> Path:
    """What is sent to the builder: what .dockerignore lets through."""
    for line in (ROOT / ".dockerignore").read_text().splitlines():
        if line.startswith("!"):
            source = ROOT / line[1:]
            ignore = shutil.ignore_patterns("__pycache__")
            copy = shutil.copytree if source.is_dir() else shutil.copy
            copy(source, folder / line[1:], **({"symlinks": True, "ignore": ignore} if source.is_dir() else {}))
    return folder


def run(command: str, place: Path, environment: Mapping[str, str]) -> None:
    """Do what a RUN says, but for what would change the machine."""
    for part in command.split("&&"):
        words = shlex.split(part)
        if words[0] in LEFT_OUT:
            print(f"left out: {part.strip()}")
            continue
        words = [str(place.parent / word[1:]) if word.startswith("/data") else word for word in words]
        print(f"RUN {shlex.join(words)}", flush=True)
        subprocess.run(words, cwd=place, env=environment, check=True)


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        for folder in ("context", "image"):
            (root / folder).mkdir()
        sent, place = context(root / "context"), root / "image"
        subprocess.run([sys.executable, "-m", "venv", str(root / "python")], check=True)
        environment = {**OURS, "PATH": f"{root / 'python' / 'bin'}{os.pathsep}{OURS['PATH']}"}
        commands: dict[str, str] = {}
        for word, rest in instructions():
            if word == "COPY":
                *sources, target = rest.split()
                for source in sources:
                    to = place / source if target == "./" else place / target
                    copy = shutil.copytree if (sent / source).is_dir() else shutil.copy
                    copy(sent / source, to, **({"symlinks": True} if (sent / source).is_dir() else {}))
            elif word == "RUN":
                run(rest, place, environment)
            elif word == "ENV":
                pairs = (pair.partition("=") for pair in shlex.split(rest))
                environment |= {key: value.replace("/data", str(root / "data"), 1) for key, _, value in pairs}
            elif word in ("CMD", "HEALTHCHECK"):
                commands[word] = rest
        sys.exit(serve(commands, place, environment))


def serve(commands: Mapping[str, str], place: Path, environment: dict[str, str]) -> int:
    """Start what CMD says, on a free port, until what HEALTHCHECK says succeeds. Returns the exit code."""
    port = str(free_port())
    words = [port if word == "5006" else word for word in json.loads(commands["CMD"])]
    check = commands["HEALTHCHECK"].removeprefix("CMD ").replace("5006", port)
    environment["ICEDIVE_PASSWORD"] = "of this test"
    server = subprocess.Popen(words, cwd=place.parent, env=environment)
    try:
        for _ in range(PATIENCE_S):
            if subprocess.run(check, shell=True, env=environment, stderr=subprocess.DEVNULL).returncode == 0:
                print("healthy")
                return 0
            if server.poll() is not None:
                break
            time.sleep(1)
        print("not healthy")
        return 1
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    main()
