"""Loops over what a table's author can write more of end when somebody cancels, and answers that are drawn in part say
so."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from explorer.app.graph_state import REFS_TOLD, ViewState
from explorer.app.start import MOST_VERSIONS, header
from explorer.graph.lanes import MOST_LANES
from explorer.model.problem import Problems
from explorer.progress import Cancelled, Watch
from explorer.render.history import SNAPSHOTS_SHOWN, render_lifecycle, render_lineage
from explorer.spec.secrets.redaction import redact
from explorer.spec.snapshots.ancestors import Ancestors
from explorer.spec.snapshots.lineage import current_log, lineage
from explorer.spec.snapshots.retention import retention
from explorer.storage.formats.avro import open_container
from explorer.storage.formats.json_text import load_json
from explorer.storage.manifests import manifest_files
from tests.security.build import avro_file, text
from tests.support import direct
from tests.support.paper_tables import HOUR, on_paper
from tests.support.small_tables import edit_metadata, make_table

NOW = 1_000 * HOUR
RECORD = {"type": "record", "name": "m", "fields": [{"name": "manifest_path", "type": "string", "field-id": 500}]}
LIST = avro_file(RECORD, *[(1, text(f"/m{i}".encode())) for i in range(50)])
TABLE = on_paper([None, *range(1, 50)], {"main": {"snapshot-id": 50, "type": "branch"}}, None, NOW)
LOOPS: dict[str, Callable[[], Any]] = {
    "blocks": lambda: open_container(avro_file(RECORD, *[(0, b"")] * 50), "m.avro"),
    "blocks with records": lambda: open_container(LIST, "m.avro"),
    "JSON": lambda: load_json(json.dumps(["a"] * 5000).encode(), "m.json", Problems("m.json")),
    "history": lambda: lineage(TABLE),
    "the log": lambda: current_log(TABLE),
    "retention": lambda: retention(TABLE, NOW),
    "descent": lambda: Ancestors(TABLE.snapshots),
}


@pytest.mark.parametrize("name", LOOPS)
def test_a_loop_ends_when_it_is_cancelled(name: str) -> None:
    LOOPS[name]()
    watch = Watch()
    watch.cancel()
    with watch.listening(), pytest.raises(Cancelled):
        LOOPS[name]()


def test_records_of_a_list_end_when_they_are_cancelled() -> None:
    container, watch = open_container(LIST, "l.avro"), Watch()
    watch.cancel()
    with watch.listening(), pytest.raises(Cancelled):
        manifest_files(container, {})  # type: ignore[arg-type]


@pytest.mark.parametrize("blocks", [2, 5000])
def test_empty_blocks_are_told(blocks: int) -> None:
    container = open_container(avro_file(RECORD, *[(0, b"")] * blocks, (1, text(b"/m"))), "m.avro")
    assert container.count == len(container.blocks) == 1
    assert [p.cause for p in container.problems] == [f"{blocks:,} of its blocks have no records, which no writer makes"]
    assert not open_container(avro_file(RECORD, (0, b"")), "m.avro").problems  # as pyiceberg's list without manifests


def test_a_circle_of_parents_expires_nothing() -> None:
    circle = on_paper([2, 1], {"main": {"snapshot-id": 2, "type": "branch"}}, None, NOW)
    with pytest.raises(ValueError, match="run in a circle"):
        retention(circle, NOW)


def test_lines_of_descent_that_are_not_drawn_are_told() -> None:
    for many, told in ((MOST_LANES - 2, False), (MOST_LANES + 2, True)):
        forks = on_paper([None, *[1] * many], {"main": {"snapshot-id": 1, "type": "branch"}}, None, NOW)
        drawn = render_lineage(lineage(forks), current_log(forks))
        assert (f"at most {MOST_LANES} are drawn side by side" in drawn) is told
        assert all(f"snapshot-{i} " in drawn for i in range(1, many + 2))


@pytest.mark.parametrize("hidden", ["--password abc9", "--.--.--password abc9 x", "a --token=abc9", "-- --secret abc9"])
def test_options_are_still_redacted(hidden: str) -> None:
    assert "abc9" not in redact(hidden)


def test_snapshots_that_the_lifecycle_leaves_out_are_told() -> None:
    from explorer.spec.snapshots.lifecycle import LifecycleCell

    def cells(n: int) -> list[LifecycleCell]:
        return [
            LifecycleCell(f"/m{i}", f"manifest-{i}", i, f"snapshot-{i}", "created", (), "", 1, 0, 0, "data")
            for i in range(n)
        ]  # type: ignore[arg-type]

    assert "left out" not in render_lifecycle(cells(SNAPSHOTS_SHOWN))
    drawn = render_lifecycle(cells(SNAPSHOTS_SHOWN + 3))
    assert "3 older snapshots" in drawn
    assert "manifest-2 " not in drawn
    assert "manifest-3 " in drawn


def test_the_page_is_sent_some_of_many_refs(tmp_path: Path) -> None:
    """Two hundred thousand tags kept its event loop for seconds."""
    folder = make_table(tmp_path, 1)
    tag = {"type": "tag", "snapshot-id": 0}

    def add(data: dict[str, Any]) -> None:
        tag["snapshot-id"] = data["current-snapshot-id"]
        data["refs"] |= {f"t{i}": tag for i in range(5_000)}

    edit_metadata(folder, add)
    table = direct.open_table(str(folder))
    assert len(header(table, "t")["refs"]) == MOST_VERSIONS
    [told] = ViewState(table).timeline()["refs"]
    assert told[REFS_TOLD:] == [f"{5_001 - REFS_TOLD:,} more branches and tags"]
