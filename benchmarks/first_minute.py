"""From nothing to the first graph: `make demo` in a clone of an older commit and in one of this, in turns.

    python -m benchmarks.first_minute [--old ab84dd4] [--orders cold kept]

Each run has a fresh clone, an empty HOME and a PATH without Java, Node and cargo. `cold` has nothing, `kept` has the
PIP_CACHE_DIR that the cold run left. A run ends when a browser, given the URL that `make demo` printed, shows the
graph of a teaching table. Prints the seconds and the ratios; they hold for this machine and its package index, now."""

from __future__ import annotations

import argparse
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import sync_playwright

from benchmarks.clients import ROOT
from tests.browser.find_browser import FLAGS, find
from tests.support.ports import free_port

TABLE = "demo.three_inserts"
LEFT_OUT = ("java", "cargo", "rustc", "node", "npm", "dot", "uv")
LONGEST_S = 1800


@dataclass(frozen=True)
class Contender:
    """A commit, the rest of the URL of a table's graph, and what the graph is made of."""

    commit: str
    query: str
    node: str


def programs(folder: Path) -> str:
    """A PATH with what a machine has, but without LEFT_OUT."""
    folder.mkdir()
    for place in (*os.environ["PATH"].split(":"), "/usr/bin", "/bin"):
        if "/.venv/" in place or not Path(place).is_dir():
            continue
        for program in Path(place).iterdir():
            link = folder / program.name
            if not program.name.startswith(LEFT_OUT) and not link.exists() and not link.is_symlink():
                link.symlink_to(program)
    return str(folder)


def first_graph(contender: Contender, work: Path, cache: Path) -> float:
    """Seconds from `make demo` in a fresh clone until a browser shows the graph."""
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    clone, port = work / "clone", free_port()
    subprocess.run(["git", "clone", "-q", "--no-hardlinks", str(ROOT), str(clone)], check=True)
    subprocess.run(["git", "checkout", "-q", contender.commit], cwd=clone, check=True)
    kept = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "SSL_", "LANG"))}
    environment = {**kept, "HOME": str(work), "PATH": programs(work / "bin"), "PIP_CACHE_DIR": str(cache)}
    log, began = work / "log", time.perf_counter()
    with log.open("wb") as out:
        demo = subprocess.Popen(
            ["make", "demo", f"PORT={port}"], cwd=clone, env=environment, stdout=out, stderr=out, start_new_session=True
        )
    try:
        while not (url := re.search(rb"http://(?:127\.0\.0\.1|localhost):\d+/\S*", log.read_bytes())):
            if demo.poll() is not None or time.perf_counter() - began > LONGEST_S:
                raise RuntimeError(log.read_text()[-3000:])
            time.sleep(0.1)
        entry = url[0].decode().rstrip(".,")
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=find(), args=FLAGS)
            page = browser.new_page()
            page.set_default_timeout(300_000)
            page.goto(entry)
            page.goto(f"{entry.split('?')[0]}?table={TABLE}{contender.query}")
            page.locator(contender.node).first.wait_for()
            seconds = time.perf_counter() - began
            browser.close()
    finally:
        os.killpg(demo.pid, signal.SIGTERM)
        demo.wait(60)
    return seconds


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--old", default="ab84dd4")
    options.add_argument("--orders", nargs="+", choices=["cold", "kept"], default=["cold", "kept"])
    given = options.parse_args()
    contenders = {
        "old": Contender(given.old, "&view=graph", ".ix-node"),
        "new": Contender("HEAD", "", "[role=treeitem]"),
    }
    with tempfile.TemporaryDirectory(prefix="first-minute-") as folder:
        place = Path(folder)
        for order in given.orders:
            took = {}
            for name, contender in contenders.items():
                cache = place / f"cache-{name}"
                if order == "cold":
                    shutil.rmtree(cache, ignore_errors=True)
                cache.mkdir(exist_ok=True)
                took[name] = first_graph(contender, place / "home", cache)
                print(f"{order:<5} {name:<4} {contender.commit:<8} {took[name]:7.1f} s", flush=True)
            print(f"{order:<5} ratio {took['new'] / took['old']:.3f}", flush=True)


if __name__ == "__main__":
    main()
