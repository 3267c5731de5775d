"""Find a Chromium or Chrome for the browser tests, or install one: by apt as root on Debian, else Playwright's own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
MAC = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


def find() -> str | None:
    """Path of a browser that is installed, or None."""
    for name in NAMES:
        if found := shutil.which(name):
            return found
    if Path(MAC).is_file():
        return MAC
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        own = playwright.chromium.executable_path
    return own if Path(own).is_file() else None


def install() -> None:
    """Install a browser, by whichever way works here."""
    if hasattr(os, "geteuid") and os.geteuid() == 0 and shutil.which("apt-get"):
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        subprocess.run(["apt-get", "update", "-qq"], check=False, env=environment)
        subprocess.run(
            ["apt-get", "install", "-y", "-qq", "chromium"], check=False, env=environment, stdout=subprocess.DEVNULL
        )
    if not find():
        subprocess.run([sys.executable, "-m", "playwright", "install", "chromium"], check=False)


if __name__ == "__main__":
    if not find() and "--install" in sys.argv:
        install()
    browser = find()
    if not browser:
        sys.exit("no Chromium or Chrome was found, nor could one be installed: install one, then run `make test` again")
    print(browser)
