"""Real Jupyter servers with our extension, as it is in this working tree: an installed wheel has the same files below
its prefix (tests/unit/test_labextension.py)."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil

from tests.support.ports import free_port

ROOT = Path(__file__).parents[2]
PARTS = ROOT / "packaging" / "jupyter"
TOKEN = "token-of-this-server"
"""What Jupyter is started with."""
PATIENCE_S = 180


@dataclass(frozen=True)
class Jupyter:
    """A Jupyter server.

    Args:
        url: Its address, with base_url and a slash at the end.
        folder: Its root folder.
        log_file: What it writes.
    """

    url: str
    folder: Path
    log_file: Path

    @property
    def log(self) -> str:
        """What it has written."""
        return self.log_file.read_text()


def environment_of(folder: Path) -> dict[str, str]:
    """The environment of a Jupyter that has settings of its own in a folder, and our extension."""
    own = {f"JUPYTER_{name}_DIR": str(folder / name.lower()) for name in ("CONFIG", "DATA", "RUNTIME")}
    return os.environ | own | {
        "JUPYTER_PATH": str(PARTS / "share" / "jupyter"),
        "JUPYTER_CONFIG_PATH": str(PARTS / "etc" / "jupyter"),
        "JUPYTERLAB_SETTINGS_DIR": str(folder / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(folder / "workspaces"),
        "HOME": str(folder),
        "PYTHONPATH": str(ROOT),
    }  # fmt: skip


@contextlib.contextmanager
def running(command: list[str], url: str, log_file: Path, environment: dict[str, str]) -> Iterator[None]:
    """A server in a process of its own, from when it answers."""
    with log_file.open("wb") as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, env=environment)
        try:
            deadline = time.time() + PATIENCE_S
            while True:
                try:
                    urllib.request.urlopen(url, timeout=5).close()
                    break
                except urllib.error.HTTPError as error:
                    if error.code in (401, 403):  # it answers, if not to us
                        break
                    assert time.time() < deadline, log_file.read_text()
                    time.sleep(0.2)
                except OSError:
                    assert process.poll() is None, log_file.read_text()
                    assert time.time() < deadline, log_file.read_text()
                    time.sleep(0.2)
            yield
        finally:
            begun = psutil.Process(process.pid).children(recursive=True) if process.poll() is None else []
            process.terminate()
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
            for child in begun:  # a hub leaves its users' servers running
                with contextlib.suppress(psutil.Error):
                    child.kill()


@contextlib.contextmanager
def jupyter(
    folder: Path,
    *options: str,
    module: str = "jupyterlab",
    python: str = sys.executable,
    base: str = "/",
    page: str = "",
) -> Iterator[Jupyter]:
    """JupyterLab, or another program of Jupyter, with a root folder below the folder.

    Args:
        folder: Where its settings and its root folder are.
        options: More of its options.
        module: The program.
        python: The Python that runs it.
        base: Its base_url.
        page: The path below base_url that says whether it answers.
    """
    root, port = folder / "root", free_port()
    root.mkdir(exist_ok=True)
    command = [
        python, "-m", module, "--no-browser", "--allow-root", "--ip=127.0.0.1", f"--port={port}",
        f"--ServerApp.root_dir={root}", f"--ServerApp.base_url={base}", f"--IdentityProvider.token={TOKEN}",
        "--LabApp.expose_app_in_browser=True", "--JupyterNotebookApp.expose_app_in_browser=True",
        "--LabApp.news_url=", "--ServerApp.port_retries=0", *options,
    ]  # fmt: skip
    url = f"http://localhost:{port}{base}"
    with running(command, f"{url}{page}", folder / "log", environment_of(folder)):
        yield Jupyter(url, root, folder / "log")
