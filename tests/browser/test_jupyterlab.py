"""The widget in a real JupyterLab with a real kernel."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import expect

from tests.browser.conftest import Watched


def test_notebook_01_runs_and_the_widget_answers(jupyter: str, watched: Watched, artifacts: Path) -> None:
    page = watched.page
    page.set_default_timeout(30_000)
    page.goto(f"{jupyter}/tree/01-first-look.ipynb")
    page.wait_for_selector(".jp-NotebookPanel .jp-Cell")
    page.wait_for_function("window.jupyterapp && window.jupyterapp.commands.hasCommand('notebook:run-all-cells')")
    page.wait_for_function("window.jupyterapp.shell.currentWidget?.sessionContext?.isReady")
    page.wait_for_selector(".jp-Notebook-ExecutionIndicator[data-status=idle]")
    page.wait_for_timeout(2000)  # cells sent while the kernel's first messages are under way are never run
    # not awaited: the promise ends with the last cell, and an evaluate has no time limit
    page.evaluate("() => { window.jupyterapp.commands.execute('notebook:run-all-cells'); }")
    widget = page.locator(".ix-root").nth(2)
    expect(widget).to_be_attached(timeout=60_000)
    widget.scroll_into_view_if_needed()
    expect(widget.locator(".ix-name")).to_have_text("sandbox.demo.manifest_lifecycle")
    widget.get_by_label("Previous snapshot").click()
    expect(widget.locator(".ix-where")).to_contain_text("snapshot-4 of 5")
    expect(widget.locator('.ix-node[data-label="data-2.parquet"]')).to_have_attribute("data-status", "DELETED")
    widget.locator('.ix-node[data-label="manifest-4"] .ix-head').click()
    expect(widget.locator(".ix-side h3")).to_have_text("manifest-4")
    expect(widget.locator(".ix-side")).to_contain_text("deleted_files_count")
    page.wait_for_timeout(500)
    page.screenshot(path=artifacts / "jupyterlab.png")
    assert not watched.outside
    assert not [e for e in watched.errors if "explorer" in e or "anywidget" in e or "ix-" in e]
