"""Five faults in one table: five findings, on five nodes, a click away."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, expect

from explorer.graph.finding_nodes import node_of
from explorer.storage.paths import local_path
from tests.browser.conftest import Watched, to
from tests.robustness.editing import edit_avro, edit_json
from tests.support import direct
from tests.support.small_tables import make_table, newest_metadata


def five_faults(folder: Path) -> Path:
    """A tag that dangles, a snapshot with a wrong total, one whose list is gone, a manifest's counts, an entry."""
    table = make_table(folder)
    opened = direct.open_table(str(table))
    first, _, last = opened.metadata.snapshots
    listed = [Path(str(local_path(m.manifest_path))) for m in opened.tree.manifests(last)]

    def metadata(data: dict[str, Any]) -> None:
        data["schemas"][0]["fields"][1]["type"] = "thing"
        data["snapshots"][1]["summary"]["total-records"] = "5000"

    edit_json(newest_metadata(table), metadata)
    Path(str(local_path(str(first.manifest_list)))).unlink()
    edit_avro(Path(str(local_path(str(last.manifest_list)))), lambda some: some[0].update({"added_files_count": 7}))
    edit_avro(listed[1], lambda some: some[0].update({"snapshot_id": 77}))
    return table


WANTED = ("manifest-list-missing", "metadata-field", "manifest-counts", "entry-snapshot", "snapshot-twice")


def test_a_click_on_a_finding_goes_to_its_node(
    dashboard: str, watched: Watched, tmp_path: Path, artifacts: Path
) -> None:
    table = five_faults(tmp_path)
    report = direct.doctor(str(table))
    found = {f.rule: f for f in reversed(report.findings)}
    assert set(WANTED) <= set(found)
    nodes = {rule: node_of(found[rule]) for rule in WANTED}
    assert len(set(nodes.values())) == 5, nodes
    page: Page = watched.page
    page.goto(f"{dashboard}?table={table}&view=problems")
    for rule in WANTED:
        chosen = page.locator(f'[data-id="{nodes[rule]}"]')
        for _ in range(6):  # a row that is drawn anew at that moment takes no notice of a click
            page.get_by_role("gridcell", name=rule, exact=True).first.click()
            with suppress(AssertionError):
                expect(chosen).to_be_visible(timeout=15_000)
                break
        expect(chosen).to_be_visible()
        expect(page).to_have_url(re.compile(f"node={nodes[rule]}"))
        if rule == "manifest-counts":
            page.screenshot(path=artifacts / "doctor-node.png")
        to(page, "problems")
    expect(page.get_by_role("gridcell", name="manifest-list-missing", exact=True)).to_be_visible()
    page.screenshot(path=artifacts / "doctor.png")
    watched.clean()
