"""Several faults in one table: as many findings, and the node of each a click away."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, expect

from explorer.graph.finding_nodes import node_of
from explorer.storage.paths import local_path
from tests.browser.conftest import Served, card, rail
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
DRAWN = ("manifest-counts", "entry-snapshot")
"""Those whose node is drawn without metadata files and manifest lists."""


def test_a_click_on_a_finding_goes_to_its_node(page: Page, app: Served, tmp_path: Path, artifacts: Path) -> None:
    table = five_faults(tmp_path)
    report = direct.doctor(str(table))
    found = {f.rule: f for f in reversed(report.findings)}
    assert set(WANTED) <= set(found)
    nodes = {rule: node_of(found[rule]) for rule in WANTED}
    assert len(set(nodes.values())) == 5, nodes
    page.goto(f"{app}?table={table}")
    expect(card(page, "^snapshot-3,")).to_be_visible()
    rail(page, "Findings")
    findings = page.get_by_role("region", name="Findings").get_by_role("listitem")
    for rule in WANTED:
        expect(findings.filter(has=page.get_by_text(rule)).first).to_be_visible()
    page.screenshot(path=artifacts / "doctor.png")
    for rule in DRAWN:
        one = findings.filter(has=page.get_by_role("heading", name=re.compile(rf" {rule} "))).first
        one.get_by_role("button", name=re.compile("^Show ")).click()
        expect(page.get_by_role("treeitem", selected=True)).to_have_id(re.compile(f"-{nodes[rule]}$"))
        expect(page.get_by_role("complementary", name="Inspector")).to_be_visible()
        expect(page.get_by_role("region", name="Findings")).to_be_visible()
    page.get_by_role("button", name="Read footers, deletes and data, too").click()
    expect(page).to_have_url(re.compile("question=doctor"))
    expect(page.get_by_role("main")).to_contain_text("manifest-counts")
