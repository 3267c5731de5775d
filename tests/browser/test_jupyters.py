"""Our extension in a real Notebook 7, and in a real JupyterHub with a server for each user. `make test-jupyters` makes
an environment for both; elsewhere these tests are skipped."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

import explorer
from tests.browser.conftest import Watched
from tests.browser.test_jupyter_extension import READY, RUN, THEME, app, into, open_with
from tests.browser.test_jupyter_extension import SOURCES as NOTEBOOK_CELLS
from tests.support.jupyter import TOKEN, Jupyter, environment_of, jupyter, running
from tests.support.ports import free_port

PYTHON, PROXY = os.environ.get("ICEDIVE_JUPYTERS", ""), shutil.which("configurable-http-proxy")
PASSWORD = "password-of-the-hub"
pytestmark = pytest.mark.skipif(
    not PYTHON, reason="ICEDIVE_JUPYTERS names no Python with notebook and jupyterhub: make test-jupyters"
)
CELL = """
from pathlib import Path
from tests.spark.users_session import start
spark = start(True, Path({folder!r}))
print("started")
"""
SOURCES = """() => window.jupyterapp.shell.currentWidget.content.model.sharedModel.cells
  .map((cell) => cell.getSource())"""
IDLE = "() => window.jupyterapp.shell.currentWidget?.sessionContext?.session?.kernel?.status === 'idle'"
CONFIG = """
import os
c.JupyterHub.bind_url = "http://127.0.0.1:{ports[0]}/hubs/"
c.JupyterHub.hub_bind_url = "http://127.0.0.1:{ports[1]}"
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:{ports[2]}"
c.ConfigurableHTTPProxy.command = [{proxy!r}]
c.JupyterHub.authenticator_class = "dummy"
c.DummyAuthenticator.password = {password!r}
c.Authenticator.allow_all = True
c.JupyterHub.spawner_class = "simple"
c.JupyterHub.db_url = "sqlite:///{folder}/hub.sqlite"
c.JupyterHub.cookie_secret_file = "{folder}/secret"
c.JupyterHub.pid_file = "{folder}/pid"
c.Spawner.cmd = [{python!r}, "-m", "jupyterhub.singleuser"]
c.Spawner.args = ["--allow-root", "--LabApp.expose_app_in_browser=True", "--LabApp.news_url="]
c.Spawner.http_timeout = c.Spawner.start_timeout = 180
c.Spawner.env_keep = [name for name in os.environ if not name.startswith("CONFIGPROXY")]
c.Spawner.environment = {{
    name: lambda spawner, part=part: "{folder}/own/" + spawner.user.name + part
    for name, part in (("JUPYTERLAB_WORKSPACES_DIR", "/workspaces"), ("JUPYTERLAB_SETTINGS_DIR", "/settings"))
}}
c.SimpleLocalProcessSpawner.home_dir_template = "{folder}/home/{{username}}"
"""


def with_table(folder: Path, sandbox: Path) -> None:
    """A folder of files with a table."""
    shutil.copytree(sandbox / "warehouse" / "demo" / "manifest_lifecycle", folder / "lake" / "fruit")


def with_spark_kernel(folder: Path) -> None:
    """A kernel in a folder of Jupyter's data: that of these tests, which has pyspark."""
    kernel = folder / "data" / "kernels" / "spark"
    kernel.mkdir(parents=True)
    started_by = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    told = {"argv": started_by, "display_name": "Spark", "language": "python"}
    (kernel / "kernel.json").write_text(json.dumps(told))


def with_spark_notebook(folder: Path, place: Path) -> None:
    """A notebook whose first cell starts a person's own Spark."""
    cell = nbformat.v4.new_code_cell(CELL.format(folder=str(place)))
    spark = {"kernelspec": {"name": "spark", "display_name": "Spark"}}
    nbformat.write(nbformat.v4.new_notebook(cells=[cell], metadata=spark), folder / "mine.ipynb")


# ---- Notebook 7 ------------------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def notebook7(sandbox: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Jupyter]:
    folder = tmp_path_factory.mktemp("notebook7")
    with_table(folder / "root", sandbox)
    with_spark_kernel(folder)
    with jupyter(folder, module="notebook", python=PYTHON, base="/seven/", page="tree") as started:
        yield started


def test_notebook_7_opens_the_page_in_a_tab_of_the_browser(
    notebook7: Jupyter, watched: Watched, artifacts: Path
) -> None:
    page = watched.page
    page.goto(f"{notebook7.url}tree?token={TOKEN}")
    page.wait_for_function(READY, arg="icedive:open")
    into(page, "lake")
    with page.context.expect_page() as opened:
        open_with(page, "fruit")
    other = Watched(opened.value)
    expect(other.page.locator(".facts")).to_contain_text("5 snapshots")
    expect(other.page.locator("html")).to_have_attribute("data-theme", "light")
    expect(other.page.locator(".graph-card").first).to_be_visible()
    other.page.screenshot(path=artifacts / "notebook7-page.png")
    other.clean()
    page.evaluate(THEME, "Dark")
    page.wait_for_function("document.body.dataset.jpThemeLight === 'false'")
    page.get_by_role("menuitem", name="File").click()
    page.locator(".lm-Menu-item:visible", has_text="New").first.hover()
    page.screenshot(path=artifacts / "notebook7-menu.png")
    with page.context.expect_page() as opened:
        page.locator(".lm-Menu-item:visible", has_text="Iceberg Explorer").click()
    expect(opened.value.locator(".welcome")).to_be_visible()
    expect(opened.value.locator("html")).to_have_attribute("data-theme", "dark")
    opened.value.screenshot(path=artifacts / "notebook7-dark.png")
    page.evaluate(RUN, "apputils:activate-command-palette")
    page.locator(".lm-CommandPalette-input:visible").fill("Iceberg")
    with page.context.expect_page() as opened:
        page.locator(".lm-CommandPalette-item:visible", has_text="Open the Iceberg Explorer").click()
    expect(opened.value.locator(".welcome")).to_be_visible()
    opened.value.close()
    fruit = explorer.open_table(notebook7.folder / "lake" / "fruit")
    lists = [Path(snapshot.manifest_list or "").name for snapshot in fruit.metadata.snapshots]
    into(page, "fruit", "metadata")
    for name, told in (
        (re.compile("^00002-.*metadata.json"), "2 snapshots"),
        (lists[1], "5 snapshots"),
        (Path(str(fruit.inspect.manifests()[0]["manifest_path"])).name, "5 snapshots"),
    ):
        with page.context.expect_page() as opened:
            open_with(page, name)
        expect(opened.value.locator(".facts")).to_contain_text(told)
        expect(opened.value.locator(".graph-card").first).to_be_visible()
        opened.value.screenshot(path=artifacts / "notebook7-open-with.png")
        opened.value.close()
    assert not watched.outside
    assert TOKEN not in notebook7.log


def test_notebook_7_has_the_tables_in_its_left_sidebar(
    notebook7: Jupyter, watched: Watched, artifacts: Path, tmp_path: Path
) -> None:
    """In its view of files, and beside a notebook, where the kernel's Spark is asked too."""
    page = watched.page
    page.goto(f"{notebook7.url}tree?token={TOKEN}")
    page.wait_for_function(READY, arg="icedive:show-tables")
    page.get_by_role("menuitem", name="View").click()
    page.locator(".lm-Menu-item:visible", has_text="Left Sidebar").click()
    page.locator(".lm-Menu-item:visible", has_text="Show Iceberg tables").click()
    tables = page.get_by_role("region", name="Iceberg tables")
    server = tables.get_by_role("tree", name="On this server")
    server.get_by_role("treeitem", name="sandbox").click()
    server.get_by_role("treeitem", name="demo", exact=True).click()
    with page.context.expect_page() as opened:
        server.get_by_role("treeitem", name="deletion_vectors").click()
    expect(opened.value.locator(".header")).to_contain_text("deletion_vectors")
    opened.value.close()
    page.screenshot(path=artifacts / "notebook7-tables.png")
    with_spark_notebook(notebook7.folder, tmp_path)
    page.goto(f"{notebook7.url}notebooks/mine.ipynb")
    page.wait_for_function(READY, arg="icedive:show-tables")
    page.wait_for_function(IDLE)
    page.evaluate(RUN, "notebook:run-cell-and-insert-below")
    expect(page.locator(".jp-OutputArea-output", has_text="started")).to_be_visible()
    page.evaluate(RUN, "icedive:show-tables")
    kernel = tables.get_by_role("tree", name="In the notebook's Spark")
    kernel.get_by_role("treeitem", name="own").click()
    kernel.get_by_role("treeitem", name="db").click()
    kernel.get_by_role("treeitem", name="t", exact=True).click()
    page.wait_for_function(f"({SOURCES})().at(-1).includes('own.db.t')")
    page.screenshot(path=artifacts / "notebook7-kernel.png")
    page.evaluate(THEME, "Dark")
    page.wait_for_function("document.body.dataset.jpThemeLight === 'false'")
    page.get_by_role("button", name="Collapse left side panel").click()
    page.evaluate(RUN, "icedive:show-tables")  # and what was unfolded is
    page.wait_for_timeout(1000)  # the kernel is asked again
    expect(kernel.get_by_role("treeitem", name="t", exact=True)).to_be_visible()
    page.screenshot(path=artifacts / "notebook7-kernel-dark.png")
    assert not watched.outside
    assert not [error for error in watched.errors if "icedive" in error]


def test_notebook_7_shows_tables_in_cells_in_its_theme(notebook7: Jupyter, watched: Watched, artifacts: Path) -> None:
    """The widget and answers, light as Notebook 7 begins, dark, and light again."""
    page = watched.page
    sources = [
        "import explorer\nexplorer.open_table('demo.manifest_lifecycle')",
        "%load_ext explorer\n%iceberg plan demo.manifest_lifecycle \"fruit = 'apple'\"",
    ]
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    spark = {"kernelspec": {"name": "spark", "display_name": "Spark"}}
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=spark), notebook7.folder / "light.ipynb")
    page.goto(f"{notebook7.url}notebooks/light.ipynb?token={TOKEN}")
    page.wait_for_function(READY, arg="icedive:show-tables")
    page.evaluate(THEME, "Light")
    page.wait_for_function(IDLE)
    page.wait_for_timeout(2000)  # cells sent while the kernel's first messages are under way are never run
    page.evaluate(RUN, "notebook:run-all-cells")
    widget = page.locator(".icedive").first
    expect(widget.locator(".graph-card").nth(5)).to_be_visible()
    expect(page.locator(".jp-OutputArea-output").last).to_be_visible()
    page.evaluate(RUN, "icedive:show-tables")
    for name in ("Light", "Dark", "Light"):
        page.evaluate(THEME, name)
        page.wait_for_function("name => document.body.dataset.jpThemeLight === String(name === 'Light')", arg=name)
        expect(widget.locator(".ice")).to_have_attribute("data-theme", name.lower())
        own, around = (brightness(one) for one in (widget.locator(".ice"), page.locator("#jp-left-stack")))
        assert [own > 128, around > 128] == [name == "Light"] * 2, (name, own, around)
        widget.scroll_into_view_if_needed()
        page.screenshot(path=artifacts / f"notebook7-cells-{name.lower()}.png")
    assert not watched.outside
    assert not [error for error in watched.errors if "icedive" in error]


def brightness(element: Locator) -> float:
    """How bright the ground of an element is, from 0 to 255: its own, or that of what it is in."""
    told = element.evaluate("""(one) => {
      for (let at = one; at; at = at.parentElement ?? at.getRootNode().host) {
        const parts = getComputedStyle(at).backgroundColor.match(/[\\d.]+/g).map(Number);
        if ((parts[3] ?? 1) > 0.5) return (parts[0] + parts[1] + parts[2]) / 3;
      }
      return 255;
    }""")
    return float(told)


# ---- JupyterHub ------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Hub:
    """A JupyterHub at a path."""

    url: str
    folder: Path

    @property
    def log(self) -> str:
        """What it, its proxy and its users' servers have written."""
        return (self.folder / "log").read_text()


@pytest.fixture(scope="module")
def hub(sandbox: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hub]:
    if not PROXY:
        pytest.skip("configurable-http-proxy is not installed: make test-jupyters")
    folder, ports = tmp_path_factory.mktemp("hub"), [free_port() for _ in range(3)]
    for user in ("ann", "bob", "cleo", "dora"):
        with_table(folder / "home" / user, sandbox)
    with_spark_kernel(folder)
    config = folder / "config.py"
    config.write_text(CONFIG.format(ports=ports, proxy=PROXY, password=PASSWORD, folder=folder, python=PYTHON))
    url = f"http://127.0.0.1:{ports[0]}/hubs/"
    command = [PYTHON, "-m", "jupyterhub", "-f", str(config)]
    own = {name: text for name, text in environment_of(folder).items() if name != "HOME"}
    with running(command, f"{url}hub/login", folder / "log", {**own, "ICEDIVE_HOME": str(sandbox.parent)}):
        yield Hub(url, folder)


def log_in(browser: Browser, hub: Hub, user: str) -> Page:
    """JupyterLab of a user's own server."""
    page = browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
    page.set_default_timeout(180_000)
    page.goto(f"{hub.url}hub/login")
    page.locator("#username_input").fill(user)
    page.locator("#password_input").fill(PASSWORD)
    page.locator("#login_submit").click()
    page.wait_for_function(READY, arg="icedive:open")
    assert f"/user/{user}/lab" in page.url
    return page


def test_each_user_of_a_jupyterhub_has_the_app_and_no_other_user_has_it(
    hub: Hub, browser: Browser, artifacts: Path
) -> None:
    page = log_in(browser, hub, "ann")
    watched = Watched(page)
    into(page, "lake")
    open_with(page, "fruit")
    expect(app(page).locator(".facts")).to_contain_text("5 snapshots")
    page.evaluate(RUN, "icedive:show-tables")
    tables = page.get_by_role("region", name="Iceberg tables")
    expect(tables.get_by_role("treeitem", name="sandbox")).to_be_visible()
    expect(app(page).locator(".graph-card").first).to_be_visible()
    page.screenshot(path=artifacts / "jupyterhub-light.png")
    page.evaluate(THEME, "Dark")
    expect(app(page).locator(".ice")).to_have_attribute("data-theme", "dark")
    expect(page.locator("#jupyterlab-splash")).to_have_count(0)
    page.screenshot(path=artifacts / "jupyterhub-dark.png")
    app(page).get_by_role("tab", name="Files").click()
    with page.expect_download() as saved:
        app(page).get_by_role("link", name="CSV").click()
    assert "data-4.parquet" in Path(saved.value.path()).read_text()
    own = f"{hub.url}user/ann/icedive/"
    page.goto(f"{own}?table={hub.folder}/home/ann/lake/fruit")
    expect(page.locator(".facts")).to_contain_text("5 snapshots")
    page.evaluate(
        "() => import(document.querySelector('script').src.replace('app.js', 'code-editor.js')).then(() => 1)"
    )
    watched.clean()
    other = log_in(browser, hub, "bob")
    stranger = browser.new_context()
    for context, user in ((other.context, "bob"), (stranger, "nobody")):
        refused(context, own, user)
    assert f"{hub.folder}/home/bob" not in page.content()
    frame = f"() => {{ const f = document.createElement('iframe'); f.src = {own!r}; document.body.append(f); }}"
    page.goto(f"{hub.url}user/ann/lab")
    page.wait_for_function(READY, arg="icedive:open")
    expect(app(page).locator(".facts")).to_contain_text("5 snapshots")  # the tab is there again
    page.screenshot(path=artifacts / "jupyterhub-again.png")
    page.evaluate(frame)
    page.wait_for_timeout(1000)
    assert all("Iceberg" not in (one.title() or "") for one in page.frames[1:])
    assert not watched.outside
    for one in (page.context, other.context, stranger):
        one.close()
    for secret in (PASSWORD, "three_inserts"):
        assert secret not in hub.log


def test_the_launcher_the_left_tab_and_open_with_on_a_jupyterhub(hub: Hub, browser: Browser, artifacts: Path) -> None:
    page = log_in(browser, hub, "cleo")
    watched = Watched(page)
    page.locator(".jp-LauncherCard", has_text="Iceberg Explorer").first.click()
    expect(app(page).locator(".welcome")).to_be_visible()
    page.screenshot(path=artifacts / "jupyterhub-launcher.png")
    page.evaluate(RUN, "icedive:show-tables")
    tables = page.get_by_role("region", name="Iceberg tables")
    server = tables.get_by_role("tree", name="On this server")
    for name in ("sandbox", "demo", "deletion_vectors"):
        server.get_by_role("treeitem", name=name, exact=True).click()
    expect(app(page).locator(".header")).to_contain_text("deletion_vectors")
    expect(app(page).locator(".graph-card").first).to_be_visible()
    page.screenshot(path=artifacts / "jupyterhub-tables.png")
    page.evaluate(RUN, "filebrowser:activate")
    into(page, "lake", "fruit", "metadata")
    fruit = explorer.open_table(hub.folder / "home" / "cleo" / "lake" / "fruit")
    listed = [Path(snapshot.manifest_list or "").name for snapshot in fruit.metadata.snapshots]
    open_with(page, re.compile("^00002-.*metadata.json"))
    expect(app(page).locator(".facts")).to_contain_text("2 snapshots")
    open_with(page, listed[1])
    expect(app(page).locator(".header .version input").first).to_have_value("snapshot-2")
    open_with(page, Path(str(fruit.inspect.manifests()[0]["manifest_path"])).name)
    expect(app(page).locator(".graph-card.graph-found")).to_contain_text("manifest-")
    page.screenshot(path=artifacts / "jupyterhub-open-with.png")
    page.get_by_role("button", name="Insert code").click()
    page.wait_for_function(f"({NOTEBOOK_CELLS})().some((text) => text.includes('explorer.open_table'))")
    watched.clean()
    assert not watched.outside
    page.context.close()


def test_the_palette_and_a_kernels_spark_on_a_jupyterhub(
    hub: Hub, browser: Browser, artifacts: Path, tmp_path: Path
) -> None:
    with_spark_notebook(hub.folder / "home" / "dora", tmp_path)
    page = log_in(browser, hub, "dora")
    watched = Watched(page)
    page.evaluate(THEME, "Dark")
    page.wait_for_function("document.body.dataset.jpThemeLight === 'false'")
    page.locator(".jp-LauncherCard", has_text="Iceberg Explorer").first.scroll_into_view_if_needed()
    page.screenshot(path=artifacts / "jupyterhub-launcher-dark.png")
    page.evaluate(RUN, "apputils:activate-command-palette")
    page.locator(".lm-CommandPalette-input:visible").fill("Iceberg")
    page.locator(".lm-CommandPalette-item:visible", has_text="Open the Iceberg Explorer").click()
    expect(app(page).locator(".welcome")).to_be_visible()
    expect(app(page).locator(".ice")).to_have_attribute("data-theme", "dark")
    page.screenshot(path=artifacts / "jupyterhub-palette-dark.png")
    into(page, "lake", "fruit", "metadata")
    open_with(page, re.compile("^00002-.*metadata.json"))
    expect(app(page).locator(".facts")).to_contain_text("2 snapshots")
    page.screenshot(path=artifacts / "jupyterhub-open-with-dark.png")
    page.evaluate("() => { window.jupyterapp.commands.execute('docmanager:open', { path: 'mine.ipynb' }); }")
    page.wait_for_function(IDLE)
    page.evaluate(RUN, "notebook:run-cell-and-insert-below")
    expect(page.locator(".jp-OutputArea-output", has_text="started")).to_be_visible()
    page.evaluate(RUN, "icedive:show-tables")
    tables = page.get_by_role("region", name="Iceberg tables")
    kernel = tables.get_by_role("tree", name="In the notebook's Spark")
    for name in ("own", "db"):
        kernel.get_by_role("treeitem", name=name, exact=True).click()
    expect(kernel.get_by_role("treeitem", name="t", exact=True)).to_be_visible()
    page.screenshot(path=artifacts / "jupyterhub-kernel-dark.png")
    page.evaluate(THEME, "Light")
    page.wait_for_function("document.body.dataset.jpThemeLight === 'true'")
    expect(page.locator("#jupyterlab-splash")).to_have_count(0)
    page.screenshot(path=artifacts / "jupyterhub-kernel.png")
    assert not watched.outside
    page.context.close()


def refused(context: BrowserContext, own: str, user: str) -> None:
    """Somebody gets nothing of another user's server."""
    for path in (
        "",
        "ws",
        "folder?path=",
        "code?table=demo.three_inserts",
        "place?table=demo.three_inserts",
        "static/app.js",
        "download",
        "static/x/app.js",
    ):
        answer = context.request.get(own + path, max_redirects=0)
        assert answer.status in (302, 403, 404), (user, path)
        assert "lake" not in answer.text(), (user, path)
