"""Record docs/steps.gif, the picture of the first page: `python -m website.picture`, which needs Pillow and a browser.

It opens the teaching table of Part 1's figure 8 as an exported page, steps through its five snapshots, and looks at a
manifest."""

from __future__ import annotations

import io
import os
import re
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

import explorer
from explorer.lab.scenarios import SCENARIOS, unpack_all
from tests.browser.find_browser import FLAGS, find

TARGET = Path(__file__).parents[1] / "docs" / "steps.gif"
VIEW = {"width": 1200, "height": 840}
SHOWN = {"x": 0, "y": 0, "width": 1200, "height": 640}
"""Without the foot of the page, which names a folder of this machine."""
STEP_MS, LAST_MS = 1700, 3500


def frames(page: Page) -> list[Image.Image]:
    """One picture of each snapshot, and one of the inspector."""
    taken = []

    def take() -> None:
        page.wait_for_timeout(1200)  # the cards move
        taken.append(Image.open(io.BytesIO(page.screenshot(clip=SHOWN))))  # type: ignore[arg-type]

    page.get_by_label("First snapshot").click()
    take()
    for _ in range(4):
        page.get_by_label("Next snapshot").click()
        take()
    page.get_by_label("Previous snapshot").click()
    page.get_by_label("Previous snapshot").click()
    page.get_by_role("treeitem", name=re.compile("^manifest-2,")).click()
    take()
    return taken


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="icedive-") as folder, sync_playwright() as playwright:
        os.environ["ICEDIVE_HOME"] = folder  # the picture names it
        unpack_all([scenario for scenario in SCENARIOS if scenario.name == "manifest_lifecycle"])
        file = Path(folder) / "table.html"
        explorer.export_html(explorer.open_table("demo.manifest_lifecycle"), file)
        browser = playwright.chromium.launch(executable_path=find(), args=FLAGS)
        page = browser.new_page(viewport=VIEW)
        page.goto(file.as_uri())
        pictures = frames(page)
        browser.close()
    first, *others = [picture.convert("RGB").quantize(64, dither=Image.Dither.NONE) for picture in pictures]
    times = [STEP_MS] * len(others) + [LAST_MS]
    first.save(TARGET, save_all=True, append_images=others, duration=times, loop=0, optimize=True)


if __name__ == "__main__":
    main()
