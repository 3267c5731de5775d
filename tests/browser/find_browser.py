"""Find a Chromium or Chrome for the browser tests, or install one: by apt as root on Debian, else Playwright's own. The
headless shell is preferred: a page costs a third less of the processor where no window is made around it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

SHELL = "chromium-headless-shell"
NAMES = (SHELL, "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
MAC = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup,"
    "DestroyProfileOnBrowserClose,HttpsUpgrades,MediaRouter,NetworkTimeServiceQuerying,OptimizationHints,PaintHolding,"
    "PreconnectToSearch,ThirdPartyStoragePartitioning,AimEnabled,AvoidUnnecessaryBeforeUnloadCheckSync",
]
"""Of the features the first two draw what an address bar suggests, a page each for every page; the others are those
that Playwright turns off for its own sake, since the last list of a command line is the one that is heeded."""


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


def _apt(*command: str) -> None:
    environment, quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}, subprocess.DEVNULL
    soon = ("-o", "Acquire::Retries=0", "-o", "Acquire::http::Timeout=20", "-o", "DPkg::Lock::Timeout=20")
    subprocess.run(["apt-get", "-y", "-qq", *soon, *command], check=False, env=environment, stdout=quiet, stderr=quiet)


def install() -> None:
    """Install a browser, by whichever way works here; of apt the headless shell, if it has one."""
    if hasattr(os, "geteuid") and os.geteuid() == 0 and shutil.which("apt-get"):
        _apt("install", "--no-remove", SHELL)
        if not find():
            _apt("update")
            _apt("install", SHELL)
        if not find():
            _apt("install", "chromium")
    if not find():
        subprocess.run([sys.executable, "-m", "playwright", "install", "chromium"], check=False)


if __name__ == "__main__":
    if "--install" in sys.argv and not shutil.which(SHELL):
        install()
    browser = find()
    if not browser:
        sys.exit("no Chromium or Chrome was found, nor could one be installed: install one, then run `make test` again")
    print(browser)
