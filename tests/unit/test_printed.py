"""What a notebook prints of plain results is what the command line prints of them."""

from __future__ import annotations

import base64
import itertools
import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from IPython.core.interactiveshell import InteractiveShell

import explorer
from explorer.app.printed import LONG, Shown, teach
from explorer.lab.stepper import Run
from explorer.render.history import render_diff, render_file_life, render_lifecycle, render_lineage
from explorer.render.history_pictures import MANIFESTS, SNAPSHOTS, diff_svg, lifecycle_svg
from explorer.render.row_views import delete_lines, render_row_diff
from explorer.render.text import render_fields, render_table
from explorer.spec.commits.lab_runs import Event, WriterState
from explorer.spec.commits.operations import Operation
from explorer.spec.snapshots.file_changes import FileChanges
from explorer.spec.snapshots.lifecycle import LifecycleCell
from tests.support import direct
from tests.support.small_tables import edit_metadata


@pytest.fixture(scope="module")
def shell() -> InteractiveShell:
    made = InteractiveShell()
    teach(made)
    return made


def test_results_are_told_and_not_represented(shell: InteractiveShell, whole: Path) -> None:
    table = direct.open_table(str(whole))
    fate = table.row_history("id = 1")
    for result, text in {
        "diff": (table.diff("snapshot-1", "snapshot-3"), render_diff),
        "lifecycle": (table.lifecycle(), render_lifecycle),
        "history": (table.lineage(), lambda lines: render_lineage(lines, [])),
        "deletes": (table.deletes(), lambda deletes: "\n".join(delete_lines(deletes))),
        "row diff": (table.row_diff("snapshot-1", "snapshot-3"), render_row_diff),
        "file": (table.file_life(table.files()[0]["file_path"]), render_file_life),
        "plan": (table.plan("id = 1"), lambda plan: "filter: "),
        "fate": (fate, lambda fate: fate.explain(table.metadata.current_snapshot)[0]),
        "a list": ([1, "two"], lambda _: "[1, 'two']"),
        "an empty one": ([], lambda _: "[]"),
    }.values():
        printed, _ = shell.display_formatter.format(result)
        assert text(result).strip() in printed["text/plain"]
        assert " object at 0x" not in printed["text/plain"]


def pictured(shell: InteractiveShell, result: object) -> list[str]:
    """All text of the picture that is stored with a result, which stands in its page as an <img> too."""
    bundle, _ = shell.display_formatter.format(result)
    root = ElementTree.fromstring(bundle["image/svg+xml"])
    data = re.search(
        r'<img class="ix-picture" src="data:image/svg\+xml;base64,([^"]+)" alt="[^"<>]+"', bundle["text/html"]
    )
    assert data
    assert base64.b64decode(data[1]).decode() == bundle["image/svg+xml"]
    assert "<svg" not in bundle["text/html"]
    assert "<script" not in bundle["text/html"]
    return [text for element in root.iter() if (text := element.text)]


def test_results_are_pictures_too(shell: InteractiveShell, whole: Path) -> None:
    table = direct.open_table(str(whole))
    for result, word in (
        (table.lifecycle(), "manifest-2"),
        (table.lineage(), "snapshot-3"),
        (table.diff("snapshot-1", "snapshot-3"), "manifests: 1 kept, 2 added, 0 rewritten, 0 dropped"),
        (table.deletes(), "No deletes are live"),
        (table.plan("id = 1"), "after column metrics"),
        (direct.show_plan(table, "id = 1"), "data files by the bounds of id"),
        (direct.overview(table), "snapshot-1, append: +2 rows, +1 file"),
        (table.graph(), "snapshot-3"),
    ):
        assert any(word in text for text in pictured(shell, result)), word
    assert "image/svg+xml" not in shell.display_formatter.format([1, 2])[0]


def test_a_run_of_the_lab_is_a_picture(shell: InteractiveShell, monkeypatch: pytest.MonkeyPatch) -> None:
    run = Run.__new__(Run)
    run.writers = [WriterState("A", Operation("append"))]  # type: ignore[list-item]
    run.events = [Event(1, "A", "load", "ok", "loads <b>", ())]
    monkeypatch.setattr(Run, "rows", lambda self: [])
    assert {"A: append", "loads <b>"} <= set(pictured(shell, run))


def test_a_name_is_text_in_pictures(shell: InteractiveShell, table: Path) -> None:
    evil = "<image href='http://127.0.0.1/x'/>]]>"
    edit_metadata(table, lambda data: data["refs"].update({evil: {**data["refs"]["main"], "type": "tag"}}))
    opened = direct.open_table(str(table))
    assert any(evil in text for text in pictured(shell, opened.lineage()))
    assert "<image" not in shell.display_formatter.format(direct.overview(opened))[0]["text/html"]


def test_the_text_below_a_picture_is_not_endless(shell: InteractiveShell, whole: Path) -> None:
    cell = direct.open_table(str(whole)).lifecycle()[0]
    many = [replace(cell, manifest=f"manifest-{at}", manifest_path=f"{at}.avro") for at in range(2000)]
    html = shell.display_formatter.format(many)[0]["text/html"]
    assert "… 1,800 older manifests" in html
    assert len(html) < 3 * LONG
    endless = Shown("numbers", lambda first: map(str, itertools.count(first))).text(7, LONG)  # no more lines are made
    assert endless.endswith("… and more: icedive prints all of it\n")
    assert LONG - 100 < len(endless) < LONG + 100
    assert "… 1,960 older manifests not drawn" in pictured(shell, many)


def test_a_lifecycle_of_branches_that_take_turns_is_drawn_to_its_end_only() -> None:
    cells = [
        LifecycleCell(
            f"{branch}{m}.avro", f"manifest-{branch}{m}", at, f"snapshot-{at}", "carried" if at > 1 else "created"
        )
        for at in range(400)
        for branch in ("ab"[at % 2],)
        for m in range(5)
    ]
    assert 0 < lifecycle_svg(cells).count("<line") <= MANIFESTS * SNAPSHOTS / 2
    told = explorer.show(cells)
    assert repr(told).startswith("… 340 older snapshots\n")


def test_a_file_without_a_number_of_rows_is_drawn(whole: Path) -> None:
    diff = direct.open_table(str(whole)).diff("snapshot-1", "snapshot-3")
    changes = [replace(change, record_count=number) for change in diff.added for number in (None, -5)]
    svg = diff_svg(replace(diff, added=FileChanges.of(changes)))
    assert svg.count("0 rows") == len(changes) > 1


def test_an_error_is_told_and_commands_no_terminal(shell: InteractiveShell) -> None:
    printed, _ = shell.display_formatter.format(explorer.NotPossible("t.json: cut\x1b]0;owned\x07 off"))
    assert printed["text/plain"].startswith("NotPossible: t.json: cut")
    assert "\x1b" not in printed["text/plain"]


def test_what_names_say_commands_no_terminal() -> None:
    evil = "\x1b]0;owned\x07\u202e"
    for text in (render_table([{evil: 1}]), render_fields({evil: 1})):
        assert "\x1b" not in text
        assert "\u202e" not in text


def test_a_host_that_is_no_ipython_shows_the_same(shell: InteractiveShell, whole: Path) -> None:
    table = direct.open_table(str(whole))
    for result in (table.lifecycle(), table.diff("snapshot-1", "snapshot-3")):
        shown, told = explorer.show(result), shell.display_formatter.format(result)[0]
        assert (shown._repr_html_(), shown._repr_svg_()) == (told["text/html"], told["image/svg+xml"])
        assert repr(shown).strip() == told["text/plain"].strip()
    assert explorer.show(table.file_life(table.files()[0]["file_path"]))._repr_html_().startswith("<pre ")
    with pytest.raises(explorer.NotPossible):
        explorer.show(7)
