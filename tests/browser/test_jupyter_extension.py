"""Our extension in a real JupyterLab: each way to the app, the tables at the left, cells, the theme."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

import explorer
from tests.browser.conftest import AXE, VIOLATIONS, Watched
from tests.support.jupyter import TOKEN, Jupyter, jupyter

READY = "name => window.jupyterapp?.commands.hasCommand(name) && window.jupyterapp.restored.then(() => true)"
"""Its workspace is there, too: one that is reset until then would lose a tab that is opened before."""
THEME = "name => window.jupyterapp.commands.execute('apputils:change-theme', {theme: `JupyterLab ${name}`})"
RUN = "name => { window.jupyterapp.commands.execute(name); }"
OPEN = "table => { window.jupyterapp.commands.execute('icedive:open', {table}); }"
NEW_NOTEBOOK = "() => window.jupyterapp.commands.execute('notebook:create-new', {kernelName: 'python3'}).then(() => 1)"
CELL = """async (source) => {
  const { commands, shell } = window.jupyterapp;
  const notebook = [...shell.widgets("main")].find((one) => one.content?.activeCell);
  shell.activateById(notebook.id);
  notebook.content.activeCell.model.sharedModel.setSource(source);
  await commands.execute("notebook:run-cell-and-insert-below");
}"""
SOURCES = """() => [...window.jupyterapp.shell.widgets("main")].find((one) => one.content?.activeCell)
  ?.content.model.sharedModel.cells.map((cell) => cell.getSource()) ?? []"""
SAVE = """() => [...window.jupyterapp.shell.widgets("main")].find((one) => one.content?.activeCell)
  .context.save().then(() => 1)"""
"""Without the command's dialog, which asks for a name."""
OUTPUTS = """() => [...document.querySelectorAll(".jp-OutputArea-output")].map((one) => one.textContent)"""
KERNEL = """
import json, sys
from pathlib import Path
from tests.spark.users_session import start, state
spark = start(True, Path({folder!r}))
spark.conf.set("spark.sql.catalog.own.s3.secret-access-key", {secret!r}[::-1])
before = state(spark)
"""
SAME = """
kept = {n: v for n, v in globals().items() if not n.startswith("_") and n not in ("In", "Out", "kept", "names")}
print("same", state(spark) == before, sorted(kept) == names, len(Out), get_ipython().execution_count)
"""
SECRET = "canary-secret-of-a-catalog"


@pytest.fixture(scope="module")
def lab(sandbox: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Jupyter]:
    """JupyterLab below a path, with a table in a folder of its files."""
    folder = tmp_path_factory.mktemp("lab")
    lake = folder / "root" / "lake"
    lake.mkdir(parents=True)
    shutil.copytree(sandbox / "warehouse" / "demo" / "manifest_lifecycle", lake / "fruit")
    (lake / "plain").mkdir()
    (lake / "notes.json").write_text("{}")
    with jupyter(folder, base="/user/ann/", page="lab") as started:
        yield started


@pytest.fixture
def page(lab: Jupyter, watched: Watched) -> Iterator[Page]:
    """JupyterLab without a tab, for who has logged in."""
    page = watched.page
    page.goto(f"{lab.url}lab?token={TOKEN}&reset")
    page.wait_for_function(READY, arg="icedive:open")
    yield page
    assert not watched.outside
    assert not [error for error in watched.errors if "icedive" in error]


def files(page: Page) -> Locator:
    return page.locator(".jp-DirListing-item")


def open_with(page: Page, name: str | re.Pattern[str]) -> None:
    """Open something of the file browser with the explorer.

    The server says which folders are tables after they are listed: a menu that is opened before lacks the entry.
    """
    items = page.locator(".lm-Menu-item:visible")
    entry = items.filter(has_text="Open with Iceberg explorer")
    for _ in range(100):
        files(page).filter(has_text=name).first.click(button="right")
        expect(items.filter(has_text="Rename")).to_be_visible()
        if entry.count():
            break
        page.keyboard.press("Escape")
        page.wait_for_timeout(100)
    entry.click()


def into(page: Page, *names: str) -> None:
    """Go into folders of the file browser."""
    for name in names:
        files(page).filter(has_text=name).dblclick()
        expect(page.locator(".jp-BreadCrumbs-item").filter(has_text=name)).to_be_visible()


def app(page: Page) -> Locator:
    """The app in the tab that is seen."""
    return page.locator(".icedive-tab:visible")


def test_the_launcher_and_the_palette_open_the_app(page: Page, artifacts: Path) -> None:
    page.locator(".jp-LauncherCard", has_text="Iceberg Explorer").first.click()
    expect(app(page).locator(".welcome")).to_be_visible()
    app(page).get_by_label("Open a table").fill("demo.three_inserts")
    page.keyboard.press("Enter")
    expect(app(page).locator(".graph-card").first).to_be_visible()
    page.evaluate(RUN, "apputils:activate-command-palette")
    page.locator(".lm-CommandPalette-input").fill("Iceberg")
    palette = page.locator(".lm-CommandPalette-item:visible")
    expect(palette.filter(has_text="Show Iceberg Tables")).to_be_visible()
    expect(palette.filter(has_text="Insert Code for What the Iceberg Explorer Shows")).to_be_visible()
    palette.filter(has_text="Open the Iceberg Explorer").click()
    labels = page.locator(".lm-TabBar-tabLabel")
    expect(labels.filter(has_text="Iceberg Explorer")).to_have_count(1)
    expect(labels.filter(has_text="demo.three_inserts")).to_have_count(1)


def test_a_tab_opens_where_the_browser_trusts_no_connection(page: Page) -> None:
    """Over plain HTTP to another machine a browser has no `crypto.randomUUID`."""
    page.evaluate("() => { delete Crypto.prototype.randomUUID; }")
    page.evaluate(OPEN, "demo.three_inserts")
    expect(app(page).locator(".graph-card").first).to_be_visible()


def test_tabs_are_there_again_when_the_page_is_loaded_again(lab: Jupyter, page: Page, artifacts: Path) -> None:
    """Where they stood, on the same table and state. What has a credential is not written to the workspace."""
    secret = f"s3://AKIAIOSFODNN7EXAMPLE:{SECRET}@bucket/t"
    page.evaluate(OPEN, secret)
    expect(app(page).locator(".message-error").first).to_be_visible()
    page.evaluate(OPEN, "")
    expect(app(page).locator(".welcome")).to_be_visible()
    app(page).get_by_label("Open a table").fill("demo.three_inserts")
    page.keyboard.press("Enter")
    app(page).get_by_label("Previous snapshot").click()
    expect(app(page).locator(".header .version input").first).to_have_value("snapshot-2")
    app(page).get_by_role("treeitem", name=re.compile("^manifest-2")).first.click()
    expect(app(page).locator(".inspector-title")).to_have_text("manifest-2")
    page.evaluate(OPEN, "demo.manifest_lifecycle")
    app(page).get_by_role("navigation", name="Modes").get_by_role("button", name="Plan").click()
    app(page).get_by_role("textbox").first.fill("fruit = 'apple'")
    page.keyboard.press("Enter")
    expect(app(page).locator(".mode-answer")).to_be_visible()
    page.evaluate(RUN, "icedive:show-tables")
    labels = page.locator("#jp-main-dock-panel .lm-TabBar-tabLabel")
    assert labels.all_inner_texts() == ["t", "demo.three_inserts", "demo.manifest_lifecycle"]

    def workspace() -> str:
        return "".join(path.read_text() for path in lab.folder.parent.joinpath("workspaces").iterdir())

    for wanted in ("apple", "snapshot=", "node=", '"current":"icedive-tables"'):
        for _ in range(100):
            if wanted in workspace():
                break
            page.wait_for_timeout(100)
        assert wanted in workspace()
    page.goto(f"{lab.url}lab")
    page.wait_for_function(READY, arg="icedive:open")
    expect(labels).to_have_text(["Iceberg Explorer", "demo.three_inserts", "demo.manifest_lifecycle"])
    expect(app(page).locator(".mode-answer")).to_be_visible()
    expect(app(page).get_by_role("textbox").first).to_have_value("fruit = 'apple'")
    expect(page.get_by_role("region", name="Iceberg tables")).to_be_visible()
    page.screenshot(path=artifacts / "jupyter-extension-again.png")
    labels.filter(has_text="demo.three_inserts").click()
    expect(app(page).locator(".header .version input").first).to_have_value("snapshot-2")
    expect(app(page).locator(".inspector-title")).to_have_text("manifest-2")
    assert SECRET not in workspace()


def test_the_file_browser_opens_tables_and_their_files(lab: Jupyter, page: Page, artifacts: Path) -> None:
    fruit = explorer.open_table(lab.folder / "lake" / "fruit")
    listed = [Path(snapshot.manifest_list or "").name for snapshot in fruit.metadata.snapshots]
    live = Path(str(fruit.inspect.manifests()[0]["manifest_path"])).name
    into(page, "lake")
    open_with(page, "fruit")
    expect(app(page).locator(".facts")).to_contain_text("5 snapshots")
    menu = page.locator(".lm-Menu-item:visible")
    for name in ("plain", "notes.json"):
        files(page).filter(has_text=name).click(button="right")
        expect(menu.filter(has_text="Rename")).to_be_visible()
        expect(menu.filter(has_text="Open with Iceberg explorer")).to_have_count(0)
        page.keyboard.press("Escape")
    into(page, "fruit")
    open_with(page, "metadata")
    expect(app(page).locator(".facts")).to_contain_text("5 snapshots")
    page.screenshot(path=artifacts / "jupyter-extension-light.png")
    into(page, "metadata")
    open_with(page, re.compile("^00002-.*metadata.json"))
    expect(app(page).locator(".facts")).to_contain_text("2 snapshots")
    for number, name in enumerate(listed, 1):
        if number in (2, 5):
            open_with(page, name)
            expect(app(page).locator(".header .version input").first).to_have_value(f"snapshot-{number}")
    found = app(page).locator(".graph-card.graph-found")
    open_with(page, live)
    expect(found).to_contain_text("manifest-")
    [dropped] = {m["manifest_path"] for m in fruit.inspect.manifests(snapshot="snapshot-4")} - {
        m["manifest_path"] for m in fruit.inspect.manifests()
    }
    open_with(page, Path(str(dropped)).name)  # no snapshot after the one that wrote it has it
    expect(found).to_contain_text("manifest-4")
    page.screenshot(path=artifacts / "jupyter-extension-manifest.png")
    app(page).get_by_role("navigation", name="Modes").get_by_role("button", name="Compare").click()
    expect(app(page).get_by_role("tablist", name="Compare")).to_be_visible()
    expect(app(page).locator(".found")).to_be_empty()


def test_a_cell_asks_what_is_on_screen(page: Page, artifacts: Path) -> None:
    """Also where there is no notebook yet; the cell runs, and answers the same."""
    page.evaluate("() => window.jupyterapp.commands.execute('icedive:open', {table: 'demo.manifest_lifecycle'})")
    expect(app(page).locator(".graph-card").first).to_be_visible()
    app(page).get_by_role("navigation", name="Modes").get_by_role("button", name="Compare").click()
    expect(app(page).get_by_role("tablist", name="Compare").get_by_role("tab", name="Files")).to_be_visible()
    insert = page.get_by_role("button", name="Insert code")
    insert.click()
    page.wait_for_function(f"({SOURCES})().length === 1 && ({SOURCES})()[0]")
    ids = [row["snapshot-id"] for row in explorer.open_table("demo.manifest_lifecycle").inspect.snapshots()]
    opened = "import explorer\n\ntable = explorer.open_table('demo.manifest_lifecycle')\n"
    assert page.evaluate(SOURCES) == [f"{opened}table.diff(before='{ids[3]}', after='{ids[4]}')"]
    page.locator(".lm-TabBar-tab", has_text="manifest_lifecycle").click()
    app(page).get_by_role("navigation", name="Modes").get_by_role("button", name="Plan").click()
    app(page).get_by_role("textbox").first.fill("fruit = 'it''s \\ \"'")
    page.keyboard.press("Enter")
    expect(app(page).locator(".mode-answer")).to_be_visible()
    insert.click()
    page.wait_for_function(f"({SOURCES})().length === 2")
    told = page.evaluate(SOURCES)[1]
    assert "table.plan(where=" in told
    page.wait_for_function("window.jupyterapp.shell.currentWidget?.sessionContext?.isReady")
    page.wait_for_selector(".jp-Notebook-ExecutionIndicator[data-status=idle]:visible")
    page.wait_for_timeout(2000)  # cells sent while the kernel's first messages are under way are never run
    # not awaited: the promise ends with the last cell, and an evaluate has no time limit
    page.evaluate("() => { window.jupyterapp.commands.execute('notebook:run-all-cells'); }")
    expect(page.locator(".jp-OutputArea-output:visible").first).to_be_visible()
    page.screenshot(path=artifacts / "jupyter-extension-cell.png")
    assert "Error" not in "".join(page.evaluate(OUTPUTS))
    names: dict[str, object] = {}
    exec(told, names)  # what the notebook has run
    assert names["table"].plan(where="fruit = 'it''s \\ \"'").to_text()  # type: ignore[attr-defined]


def test_the_app_follows_the_theme(page: Page, artifacts: Path) -> None:
    page.evaluate("() => window.jupyterapp.commands.execute('icedive:open', {table: 'demo.position_deletes'})")
    page.evaluate(RUN, "icedive:show-tables")
    root = app(page).locator(".ice")
    expect(app(page).locator(".graph-card").first).to_be_visible()
    expect(root).to_have_attribute("data-theme", "light")
    page.evaluate(THEME, "Dark")
    expect(root).to_have_attribute("data-theme", "dark")
    expect(page.locator("#jupyterlab-splash")).to_have_count(0)
    page.screenshot(path=artifacts / "jupyter-extension-dark.png")
    page.evaluate(THEME, "Light")
    expect(root).to_have_attribute("data-theme", "light")


def test_the_left_tab_has_the_tables_of_the_server_and_of_the_kernels_spark(
    lab: Jupyter, page: Page, artifacts: Path, tmp_path: Path
) -> None:
    """Nothing in the kernel changes: neither Spark's settings, nor variables, history or the count of executions."""
    frames: list[str] = []
    page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: frames.append(str(frame))))
    page.evaluate(NEW_NOTEBOOK)
    page.wait_for_function(
        "() => window.jupyterapp.shell.currentWidget?.sessionContext?.session?.kernel?.status === 'idle'"
    )
    page.evaluate(CELL, KERNEL.format(folder=str(tmp_path), secret=SECRET[::-1]))
    page.evaluate(CELL, SAME.replace("print(", "names = sorted(kept)\nprint("))
    expect(page.locator(".jp-OutputArea-output", has_text="same True").first).to_be_visible()
    page.evaluate(RUN, "icedive:show-tables")
    tables = page.get_by_role("region", name="Iceberg tables")
    server, kernel = (
        tables.get_by_role("tree", name="On this server"),
        tables.get_by_role("tree", name="In the notebook's Spark"),
    )
    server.get_by_role("treeitem", name="sandbox").click()
    server.get_by_role("treeitem", name="demo", exact=True).click()
    expect(server.get_by_role("treeitem", name="deletion_vectors")).to_be_visible()
    kernel.get_by_role("treeitem", name="own").click()
    kernel.get_by_role("treeitem", name="db").click()
    expect(kernel.get_by_role("treeitem", name="t", exact=True)).to_be_visible()
    page.screenshot(path=artifacts / "jupyter-extension-tables.png")
    page.evaluate(AXE)
    assert not [one for one in page.evaluate(VIOLATIONS) if "icedive" in one]
    page.evaluate(CELL, SAME)
    expect(page.locator(".jp-OutputArea-output", has_text="same True True").first).to_be_visible()
    same = [text.split() for text in page.evaluate(OUTPUTS) if text.startswith("same")]
    assert [line[1] for line in same] == ["True", "True"]
    assert [line[3:] for line in same] == [["0", "3"], ["0", "4"]]
    kernel.get_by_role("treeitem", name="t", exact=True).click()
    page.wait_for_function(f"({SOURCES})().at(-1).includes('own.db.t')")
    page.evaluate(RUN, "notebook:run-cell")
    expect(page.locator(".icedive .graph-card, .jp-OutputArea-output .icedive").first).to_be_visible()
    page.evaluate(SAVE)
    saved = max(lab.folder.glob("Untitled*.ipynb"), key=lambda path: path.stat().st_mtime)  # others have one, too
    assert "own.db.t" in saved.read_text()
    assert any("own.db.t" in frame for frame in frames)
    assert not any(SECRET in text for text in [*frames, page.content(), saved.read_text(), lab.log])
