"""The widget in a real JupyterLab with a real kernel."""

from __future__ import annotations

import json
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbconvert import HTMLExporter
from playwright.sync_api import Page, expect

from tests.browser.conftest import PATIENCE_MS, Watched

NEW_CELL = """async (source) => {
  const { commands, shell } = window.jupyterapp, notebook = shell.currentWidget.content;
  notebook.activeCellIndex = notebook.widgets.length - 1;
  await commands.execute("notebook:insert-cell-below");
  notebook.activeCell.model.sharedModel.setSource(source);
  commands.execute("notebook:run-cell");
}"""


def wait_for_pictures(page: Page, which: str = 'img[src^="data:image/svg"]') -> None:
    """Wait until each of some pictures that are in sight is decoded, which a browser does in its own time."""
    page.wait_for_function(
        """(which) => [...document.querySelectorAll(which)].filter((one) => one.offsetParent !== null)
        .every((one) => one.naturalWidth > 300)""",
        arg=which,
    )


def test_notebook_01_runs_and_the_widget_answers(jupyter: str, watched: Watched, artifacts: Path) -> None:
    page = watched.page
    page.set_default_timeout(PATIENCE_MS)
    page.goto(f"{jupyter}/tree/01-first-look.ipynb")
    page.wait_for_selector(".jp-NotebookPanel .jp-Cell")
    page.wait_for_function("window.jupyterapp && window.jupyterapp.commands.hasCommand('notebook:run-all-cells')")
    page.wait_for_function("window.jupyterapp.shell.currentWidget?.sessionContext?.isReady")
    page.wait_for_selector(".jp-Notebook-ExecutionIndicator[data-status=idle]")
    page.wait_for_timeout(2000)  # cells sent while the kernel's first messages are under way are never run
    # not awaited: the promise ends with the last cell, and an evaluate has no time limit
    page.evaluate("() => { window.jupyterapp.commands.execute('notebook:run-all-cells'); }")
    widget = page.locator(".icedive").nth(2)
    expect(widget).to_be_attached(timeout=60_000)
    widget.scroll_into_view_if_needed()
    expect(widget.get_by_role("button", name="sandbox / demo / manifest_lifecycle")).to_be_visible()
    widget.get_by_label("Previous snapshot").click()
    expect(widget.locator(".facts")).to_contain_text("2 rows")
    deleted = widget.locator(".graph-card", has_text="data-2.parquet")
    expect(deleted).to_contain_text("deleted")
    widget.locator(".graph-card", has_text="manifest-4").click()
    expect(widget.locator(".inspector-title")).to_have_text("manifest-4")
    expect(widget.locator(".inspector")).to_contain_text("deleted_files_count")
    before = page.locator(".jp-NotebookPanel .jp-Cell").count()
    for key in ("d", "d", "a", "x"):  # which delete, insert and cut cells where Lab hears them
        page.keyboard.press(key)
    page.wait_for_timeout(500)
    assert page.locator(".jp-NotebookPanel .jp-Cell").count() == before
    page.screenshot(path=artifacts / "jupyterlab.png")
    for mode in ("Plan", "Compare", "Deletes", "Findings", "Health", "All questions", "Graph"):
        widget.get_by_role("navigation", name="Modes").get_by_role("button", name=mode).click()
        expect(widget.locator(".message-error")).to_have_count(0)
    widget.get_by_role("tab", name="Files").click()
    expect(widget.get_by_role("grid")).to_contain_text("data-3.parquet")
    page.evaluate("() => window.jupyterapp.commands.execute('apputils:change-theme', {theme: 'JupyterLab Dark'})")
    expect(widget.locator(".ice")).to_have_attribute("data-theme", "dark")
    page.screenshot(path=artifacts / "jupyterlab-dark.png")
    page.evaluate("() => window.jupyterapp.commands.execute('apputils:change-theme', {theme: 'JupyterLab Light'})")
    expect(widget.locator(".ice")).to_have_attribute("data-theme", "light")
    panel = page.locator(".icedive", has=page.locator(".shows-question"))
    panel.scroll_into_view_if_needed()
    expect(panel.locator(".picture svg")).to_contain_text("manifest-5")
    expect(panel.get_by_role("grid")).to_contain_text(".avro")
    page.screenshot(path=artifacts / "jupyterlab-panel.png")
    exercise = page.locator(".icedive-exercise").nth(8)
    exercise.scroll_into_view_if_needed()
    for number, status in enumerate(("ADDED", "ADDED", "EXISTING", "DELETED"), 1):
        exercise.get_by_role("combobox", name=f"snapshot-{number}").select_option(label=status)
    exercise.get_by_role("button", name="Check").click()
    expect(exercise).to_contain_text("Your answer has a gap")
    exercise.get_by_role("combobox", name="snapshot-5").select_option(label="no reader sees it")
    exercise.get_by_role("button", name="Check").click()
    expect(exercise).to_contain_text("You have ADDED more than once")
    expect(exercise).to_contain_text("Think: ")
    exercise.get_by_role("combobox", name="snapshot-2").select_option(label="EXISTING")
    exercise.get_by_role("button", name="Check").click()
    expect(exercise).to_contain_text("✔")
    page.screenshot(path=artifacts / "jupyterlab-exercise.png")
    page.evaluate(NEW_CELL, 'explorer.panel(fruit, "diff")')
    diff = page.locator(".icedive", has=page.locator(".shows-question")).nth(1)
    diff.get_by_label("after").fill("snapshot-1")
    page.keyboard.press("Enter")
    expect(diff.locator("pre")).to_contain_text("-> snapshot-1 (")
    expect(diff.get_by_label("after")).to_be_focused()
    assert not watched.outside
    ours = ("explorer", "anywidget", "icedive", "AnyView", "create_view", "reading 'then'")
    assert not [e for e in watched.errors if any(word in e for word in ours)]
    assert page.locator(".ix-still:visible").count() == 0

    # saved, and opened again when its kernel is gone
    page.evaluate("() => window.jupyterapp.commands.execute('docmanager:save')")
    base = jupyter.removesuffix("/lab")
    saved = page.context.request.get(f"{base}/api/contents/01-first-look.ipynb").json()
    text = json.dumps(saved["content"])
    assert "application/vnd.jupyter.widget-view+json" in text
    assert text.count("graph-card") == 0  # the script
    own = {"X-XSRFToken": next(c["value"] for c in page.context.cookies() if c["name"] == "_xsrf"), "Referer": jupyter}
    for session in page.context.request.get(f"{base}/api/sessions").json():
        assert page.context.request.delete(f"{base}/api/sessions/{session['id']}", headers=own).ok
    page.reload()
    still = page.locator(".ix-still img").first
    expect(still).to_be_attached(timeout=60_000)
    still.scroll_into_view_if_needed()
    expect(still).to_be_visible()
    assert still.evaluate("image => image.naturalWidth") > 500
    page.wait_for_timeout(1000)
    assert page.get_by_text("model not found").locator("visible=true").count() == 0
    page.screenshot(path=artifacts / "jupyterlab-reopened.png")


IN_SIGHT = """box => {
  const root = box.shadowRoot, stage = root.querySelector(".stage-graph").getBoundingClientRect();
  const caption = root.querySelector(".caption");
  return {
    out: [...root.querySelectorAll(".graph-card")].map((card) => [card.dataset.label, card.getBoundingClientRect()])
      .filter(([, at]) => at.right > stage.right || at.bottom > stage.bottom || at.left < stage.left)
      .map(([name]) => name),
    cut: caption.scrollWidth > caption.clientWidth, height: box.getBoundingClientRect().height,
  };
}"""
"""Which cards of a widget are not within its graph at first, and whether the sentence above is cut."""
SHOWN = """(side, words) => {
  const box = side.getBoundingClientRect(), lines = document.createTreeWalker(side, NodeFilter.SHOW_TEXT);
  for (let line; (line = lines.nextNode());) {
    const range = document.createRange();
    range.selectNodeContents(line);
    const at = range.getBoundingClientRect();
    if (line.textContent.startsWith(words)) return at.bottom <= box.bottom && at.right <= box.left + side.clientWidth;
  }
  return null;
}"""
"""Whether words of the inspector are in sight, without scrolling."""


def test_at_1280_pixels_a_notebook_shows_the_whole_graph_and_where_values_come_from(
    jupyter: str, watched: Watched, artifacts: Path
) -> None:
    page = watched.page
    page.set_default_timeout(PATIENCE_MS)
    page.goto(jupyter)
    own = {"X-XSRFToken": next(c["value"] for c in page.context.cookies() if c["name"] == "_xsrf"), "Referer": jupyter}
    sources = ["import explorer"] + [
        f'explorer.open_table("demo.{name}")'
        for name in ("manifest_lifecycle", "branches_and_tags", "streaming_upserts")
    ]
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    notebook = nbformat.v4.new_notebook(cells=cells)
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
    put = f"{jupyter.removesuffix('/lab')}/api/contents/wide.ipynb"
    assert page.context.request.put(put, data={"type": "notebook", "content": notebook}, headers=own).ok
    page.goto(f"{jupyter}/tree/wide.ipynb")
    page.wait_for_function(OPEN, arg="wide.ipynb")
    page.wait_for_function(
        "() => window.jupyterapp.shell.currentWidget.sessionContext?.session?.kernel?.status === 'idle'"
    )
    page.evaluate("() => { window.jupyterapp.commands.execute('notebook:run-all-cells'); }")
    widgets = page.locator(".jp-NotebookPanel:visible .icedive")
    for number in range(3):
        widgets.nth(number).scroll_into_view_if_needed()
        expect(widgets.nth(number).locator(".graph-card").nth(5)).to_be_visible()
        page.wait_for_timeout(500)
        told = widgets.nth(number).evaluate(IN_SIGHT)
        assert (told["out"], told["cut"]) == ([], False)
        assert told["height"] <= 680
    page.screenshot(path=artifacts / "jupyterlab-whole-graph.png")
    widget = widgets.first
    widget.scroll_into_view_if_needed()
    side = widget.locator(".inspector")
    for card, words in (
        ("data-3.parquet", "stored ADDED, reads as EXISTING: an earlier snapshot"),
        ("data-3.parquet", "inherited: the manifest list"),
        ("manifest-3", "inherited"),
    ):
        widget.locator(f'.graph-card[data-label="{card}"]').click()
        expect(widget.locator(".inspector-title")).to_have_text(card)
        assert side.evaluate(SHOWN, words), (card, words)
    page.screenshot(path=artifacts / "jupyterlab-inspector.png")
    widget = widgets.nth(1)  # its files have names as Spark gives them
    widget.scroll_into_view_if_needed()
    for card in ("manifest-1", "manifest-4"):
        widget.locator(f'.graph-card[data-label="{card}"]').click()
        expect(widget.locator(".inspector-title")).to_have_text(card)
        for words in ("stored", "as of snapshot-5", "inherited"):
            assert widget.locator(".inspector").evaluate(SHOWN, words), (card, words)
        entries = widget.locator(".inspector-scroll").first
        assert entries.evaluate("(box) => box.scrollWidth <= box.clientWidth"), card
    page.screenshot(path=artifacts / "jupyterlab-long-names.png")


def test_a_converted_notebook_shows_pictures_without_network(sandbox: Path, watched: Watched, tmp_path: Path) -> None:
    source = "import explorer\ntable = explorer.open_table('demo.three_inserts')\ntable"
    cells = [
        nbformat.v4.new_code_cell(source),
        nbformat.v4.new_code_cell("explorer.compare(table, 'snapshot-1', 'main')"),
    ]
    notebook = nbformat.v4.new_notebook(cells=cells)
    NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    bundles = [o["data"] for cell in cells for o in cell["outputs"]]
    assert sum("application/vnd.jupyter.widget-view+json" in b and "image/svg+xml" in b for b in bundles) == 2
    assert "graph-card" not in json.dumps(notebook)  # the script
    page = watched.page
    page.context.set_offline(True)
    for name, kept in (("with-state", notebook.metadata), ("without", {})):
        file = tmp_path / f"{name}.html"
        html, _ = HTMLExporter().from_notebook_node(nbformat.from_dict({**notebook, "metadata": kept}))
        file.write_text(html)
        page.goto(file.as_uri(), wait_until="domcontentloaded")
        stills = page.locator(".ix-still img:visible")
        expect(stills).to_have_count(2)
        wait_for_pictures(page, ".ix-still img")
        assert page.locator(".jp-OutputArea-output:visible").count() == 2  # nothing twice


OPEN = "(name) => window.jupyterapp?.shell.currentWidget?.context?.path === name"
ASKED = (
    "import explorer; table = explorer.open_table('demo.manifest_lifecycle'); table.history.lifecycle()",
    "table.diff('snapshot-1', 'snapshot-5')",
    "table.history.lineage()",
    "explorer.open_table('demo.equality_deletes').inspect.deletes()",
    "table.plan(\"fruit = 'apple'\")",
    "table.overview()",
    "explorer.show_plan_graph(table, \"fruit = 'apple'\")",
)


def test_every_answer_is_a_picture_converted_and_not_trusted(
    sandbox: Path, jupyter: str, watched: Watched, tmp_path: Path, artifacts: Path
) -> None:
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in ASKED])
    NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    for cell in notebook.cells:
        data = cell["outputs"][-1]["data"]
        assert "<svg" in data["image/svg+xml"], cell["source"]
        assert data["text/plain"].strip(), cell["source"]
    page = watched.page
    page.set_default_timeout(PATIENCE_MS)
    page.goto(jupyter)  # which gives the cookie that its API asks for
    own = {"X-XSRFToken": next(c["value"] for c in page.context.cookies() if c["name"] == "_xsrf"), "Referer": jupyter}
    put = f"{jupyter.removesuffix('/lab')}/api/contents/answers.ipynb"
    assert page.context.request.put(put, data={"type": "notebook", "content": notebook}, headers=own).ok
    page.goto(f"{jupyter}/tree/answers.ipynb")
    page.wait_for_function(OPEN, arg="answers.ipynb")  # not one that was open before
    pictures = page.locator('.jp-NotebookPanel:visible img[src^="data:image/svg"]')
    expect(pictures.nth(4)).to_be_attached(timeout=60_000)  # those below are drawn when they come into view
    assert page.evaluate("() => !window.jupyterapp.shell.currentWidget.content.model.cells.get(0).trusted")
    wait_for_pictures(page)
    page.screenshot(path=artifacts / "jupyterlab-not-trusted.png")
    page.context.set_offline(True)
    file = tmp_path / "answers.html"
    file.write_text(HTMLExporter().from_notebook_node(notebook)[0])
    page.goto(file.as_uri(), wait_until="domcontentloaded")
    pictures = page.locator('img[src^="data:image/svg"]:visible')
    expect(pictures).to_have_count(len(ASKED))
    wait_for_pictures(page)
    page.screenshot(path=artifacts / "converted-answers.png", full_page=True)
    looks = "all => all.map(image => getComputedStyle(image).filter)"
    assert set(pictures.evaluate_all(looks)) == {"none"}
    page.evaluate("() => (document.body.dataset.jpThemeLight = 'false')")  # as JupyterLab says that it is dark
    assert all(filter.startswith("invert") for filter in pictures.evaluate_all(looks))
