"""Frames a second while a graph of 10,000 nodes is panned: slowly, fast, zoomed, as titles, and from afar as boxes. It
needs Node and a browser, and prints what it measured."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from explorer.render.svg import vocabulary
from tests.browser.find_browser import FLAGS, find

FRONTEND = Path(__file__).parents[1] / "frontend"
NODES, MANIFESTS, SECONDS = 10_000, 40, 4


def main(nodes: int = NODES, manifests: int = MANIFESTS) -> None:
    """Bundle the page, open it and print its numbers as JSON."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        bundle = ["npx", "esbuild", "bench/graph.ts", "--bundle", "--format=iife", f"--outdir={folder}"]
        subprocess.run([*bundle, "--log-level=warning"], cwd=FRONTEND, check=True)
        page_file = Path(folder) / "page.html"
        page_file.write_text(
            '<!doctype html><meta charset="utf-8"><link rel="stylesheet" href="graph.css"><body>'
            '<script src="graph.js"></script>'
        )
        browser = playwright.chromium.launch(executable_path=find(), args=FLAGS)
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.goto(page_file.as_uri())
        told = page.evaluate("(values) => bench(...values)", [vocabulary(), nodes, manifests, SECONDS])
        browser.close()
    print(json.dumps({"nodes": nodes, "manifests": manifests, **told}, indent=1))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
