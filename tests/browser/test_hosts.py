"""The app in an exported file and in Panel. (tests/browser/test_jupyterlab.py: in a notebook.)"""

from __future__ import annotations

import contextlib
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import Browser, Page, expect

import explorer
from explorer.app.hosts.file import export
from tests.browser.conftest import PATIENCE_MS, Watched
from tests.browser.test_access import ask
from tests.security.web_cases import REQUESTS
from tests.support.helpers import open_demo
from tests.support.ports import free_port

HOST = Path(__file__).parents[2] / "explorer" / "app" / "hosts" / "panel.py"
THEIRS = """
import explorer, panel as pn
pn.extension()
tables = [explorer.open_table("demo.three_inserts"), "demo.manifest_lifecycle"]
parts = [explorer.panel_component(table, height="420px") for table in tables]
pn.Column("# Their app", pn.widgets.TextInput(name="Their field"), pn.Row(*parts)).servable()
"""


def card(page: Page, label: str) -> object:
    return page.locator(f'.graph-card[data-label="{label}"]')


def test_a_file_opens_from_disk(sandbox: Path, watched: Watched, tmp_path: Path, artifacts: Path) -> None:
    page, table, file = watched.page, open_demo("manifest_lifecycle"), tmp_path / "table.html"
    page.context.set_offline(True)
    explorer.export_html(table, file)
    page.goto(file.as_uri())
    expect(page.locator(".tiles")).to_contain_text("3 rows")
    page.get_by_label("Previous snapshot").click()
    said = "snapshot-4 rewrote manifest-2 as manifest-4: data-2.parquet DELETED"
    expect(page.locator(".caption")).to_have_text(said)
    card(page, "data-3.parquet").click()
    side = page.locator(".inspector")
    for words in ("entry: stored and logical", "stored ADDED, reads as EXISTING", "inherited: the manifest list's"):
        expect(side).to_contain_text(words)
    page.screenshot(path=artifacts / "exported.png")
    card(page, "manifest-4").locator(".graph-fold").click()
    expect(card(page, "data-2.parquet")).to_have_count(0)
    page.get_by_label("Search the graph").fill("data-2.parquet")  # unfolds what has it
    expect(page.locator(".graph-card.graph-found")).to_have_attribute("data-label", "data-2.parquet")
    page.get_by_label("Next snapshot").click()
    expect(page.locator(".message")).to_contain_text("it is in snapshot-1, snapshot-2, snapshot-3, snapshot-4")
    page.get_by_label("Previous snapshot").click()
    page.get_by_role("tab", name="What this snapshot changed").click()
    expect(card(page, "data-2.parquet")).to_have_attribute("data-status", "removed")
    page.get_by_text("Other questions", exact=True).click()
    expect(page.locator(".file-more")).to_contain_text("icedive serve")
    vectors = explorer.export_html(open_demo("deletion_vectors"), tmp_path / "vectors.html")
    page.goto(Path(vectors["file"]).as_uri())
    expect(page.locator("footer")).to_contain_text("Nothing of its metadata graph was left out.")
    expect(page.locator("footer")).not_to_contain_text("error")
    one = tmp_path / "graph.html"
    one.write_bytes(export(table.graph("snapshot-3"), "html"))
    page.goto(one.as_uri())
    card(page, "manifest-3").click()
    expect(side).to_contain_text("added here")
    watched.clean()


def test_a_file_shows_its_picture_without_scripts(sandbox: Path, browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "table.html"
    explorer.export_html(open_demo("manifest_lifecycle"), file)
    page = browser.new_context(java_script_enabled=False).new_page()
    page.goto(file.as_uri())
    expect(page.locator("#still > svg")).to_be_visible()
    expect(page.locator("#still > svg")).to_contain_text("manifest-5")
    page.context.close()


def address_of_this_machine() -> str:
    """An address that is not loopback, if there is one; nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as found:
        try:
            found.connect(("192.0.2.1", 9))
        except OSError:
            return ""
        return str(found.getsockname()[0])


@contextlib.contextmanager
def panel_serve(app: Path, log: Path) -> Iterator[str]:
    """A server of Panel's, and the URL of its page."""
    port = free_port()
    command = [sys.executable, "-u", "-m", "panel", "serve", str(app), "--port", str(port)]
    with log.open("wb") as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT)
    try:
        deadline = time.time() + 90
        while "app running" not in log.read_text().lower():
            assert time.time() < deadline, log.read_text()
            time.sleep(0.3)
        yield f"http://localhost:{port}/{app.stem}"
    finally:
        process.terminate()
        process.wait(30)


def test_panel_serve_goes_through_the_door(sandbox: Path, watched: Watched, tmp_path: Path, artifacts: Path) -> None:
    page, log = watched.page, tmp_path / "log"
    with panel_serve(HOST, log) as base:
        _, _, first = ask(base, "/panel?table=demo.three_inserts")  # which puts the door there, and stays outside
        assert "three_inserts" not in first
        assert ask(base, "/panel")[0] == 401
        assert ask(base, "/panel", Host="evil.example")[0] == 403
        if outward := address_of_this_machine():
            where = urlsplit(base)
            assert ask(f"http://{outward}:{where.port}/", "/panel", Host=where.netloc)[0] == 403
        assert ask(base, "/static/js/bokeh.min.js")[0] == 401
        entry = re.search(r"explorer: (http\S+)", log.read_text())
        assert entry
        _, given, _ = ask(base, entry[1].partition("panel")[2].join(("/panel", "")))
        known = given["Set-Cookie"].partition(";")[0]
        assert ask(base, "/panel", Cookie=known)[0] == 200
        for name, headers, path in REQUESTS:
            below = path if path.startswith(("//", "/%", "/metadata")) else f"/panel{path}"
            assert 400 <= ask(base, below, Cookie=known, **headers)[0] < 500, name
        page.goto(entry[1] + "&table=demo.three_inserts&mode=compare")
        expect(page.get_by_role("button", name="sandbox / demo / three_inserts")).to_be_visible(timeout=PATIENCE_MS)
        expect(card(page, "snapshot-3")).to_be_visible()
        assert "token" not in page.url
        policy = page.request.get(page.url).headers["content-security-policy"]
        assert "'nonce-" in policy
        assert "unsafe-eval" not in policy
        page.get_by_role("tab", name="Files").last.click()
        expect(page.get_by_role("grid").last).to_contain_text("parquet")
        page.screenshot(path=artifacts / "panel.png")
        watched.clean()


def test_two_components_in_somebody_elses_app(sandbox: Path, watched: Watched, tmp_path: Path, artifacts: Path) -> None:
    page, app = watched.page, tmp_path / "theirs.py"
    app.write_text(THEIRS)
    with panel_serve(app, tmp_path / "log") as base:
        page.goto(base)
        ours = page.locator(".icedive")
        expect(ours.nth(0).get_by_role("button", name="three_inserts")).to_be_visible(timeout=PATIENCE_MS)
        expect(ours.nth(1).get_by_role("button", name="manifest_lifecycle")).to_be_visible()
        ours.nth(1).get_by_role("button", name="Health").click()
        expect(ours.nth(1)).to_contain_text("within their thresholds")
        expect(ours.nth(0).locator(".graph-card").first).to_be_visible()  # each is where it was
        page.get_by_label("Their field").click()
        page.keyboard.type("f?[")
        expect(page.get_by_label("Their field")).to_have_value("f?[")
        page.screenshot(path=artifacts / "panel-theirs.png")
        assert not watched.errors
