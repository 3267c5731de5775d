"""Answers of a table with a lost manifest or manifest list: each is refused or says what it lacks."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from explorer.cli import main
from explorer.errors import IncompleteAnswer
from explorer.spec.health.measures import MEASURES
from tests.cases import build_case
from tests.support import direct

OF_MANIFESTS = {
    "show": (),
    "inspect entries": (),
    "inspect files": (),
    "inspect partitions": (),
    "overview": (),
    "health": (),
    "inspect deletes": (),
    "history commits": (),
    "inspect columns": (),
    "inspect columns --show clustering": (),
    "inspect map": (),
    "plan": ("id = 1",),
    "data history": ("id = 1",),
    "count": (),
    "diff": ("snapshot-1", "main"),
    "scan estimate": ("id = 1",),
    "maintain preview": ("dangling-deletes",),
}
"""Commands whose answers come from manifests, and what they need after the table."""
OF_LISTS = {"inspect manifests": (), "history lifecycle": ()}
"""Commands whose answers come from manifest lists."""


def run(command: str, table: Path, *arguments: str) -> Result:
    return CliRunner().invoke(main, [*command.split(), str(table), *arguments])


@pytest.mark.parametrize(
    ("case", "command"),
    [("04", command) for command in (*OF_MANIFESTS, *OF_LISTS)] + [("05", command) for command in OF_MANIFESTS],
)
def test_each_answer_says_what_it_lacks(case: str, command: str, tmp_path: Path) -> None:
    table = build_case(case, tmp_path)
    result = run(command, table, *(OF_MANIFESTS | OF_LISTS)[command])
    if result.exit_code == 1:
        assert "depends on it" in result.stderr, result.stderr
    else:
        assert result.exit_code == 3, result.output
        assert "could not be read whole" in result.stdout


def test_answers_of_the_metadata_file_alone_are_whole(tmp_path: Path) -> None:
    table = build_case("05", tmp_path)
    for command in ("inspect metadata", "inspect snapshots", "inspect refs", "history lineage"):
        result = run(command, table)
        assert (result.exit_code, "could not" in result.output) == (0, False), command


@pytest.mark.parametrize("case", ["04", "05"])
def test_health_does_not_judge_what_it_does_not_know(case: str, tmp_path: Path) -> None:
    table = direct.open_table(build_case(case, tmp_path))
    judged = {m.id: m for m in direct.health(table, limits={"files-per-partition": 0.5}).measures}
    of_files = {
        m.id
        for m in MEASURES
        if m.scope != "metadata file" and m.id not in ("commits-per-hour", "small-manifests", "planning-bytes")
    }
    beyond = {m for m in of_files if m in judged and judged[m].value is not None}
    assert beyond == ({"files-per-partition"} if case == "05" else set())
    if case == "05":
        assert judged["files-per-partition"].value == 3
        assert judged["files-per-partition"].words.startswith("at least")
        assert judged["small-manifests"].value == 3
    else:
        assert judged["small-manifests"].value is None


def test_an_overview_without_its_list_has_no_numbers_of_it(tmp_path: Path) -> None:
    lost = direct.overview(build_case("04", tmp_path))
    assert (lost.rows_recorded, lost.rows_listed, lost.rows_counted, lost.data_files) == (3, None, None, None)
    assert "3 recorded" in str(lost)
    assert "(as recorded)" not in str(lost)


def test_python_warns_once(tmp_path: Path) -> None:
    table = direct.open_table(build_case("05", tmp_path))
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        assert len(table.files()) == 3
        table.partitions()
    (warning,) = [w for w in heard if w.category is IncompleteAnswer]
    assert str(warning.message).startswith("1 file of this table could not be read whole")
    with warnings.catch_warnings():
        warnings.simplefilter("error", IncompleteAnswer)
        assert len(direct.open_table(build_case("54", tmp_path)).files())
