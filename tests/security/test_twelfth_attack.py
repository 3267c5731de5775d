"""What `make attacks` and a look at what was known found: each hole, and others of its kind."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from explorer.reports.doctor import examination
from explorer.reports.doctor.examination import Examination, ExaminationDepth, diagnose
from explorer.spark_engine.sql_guard import patterns
from explorer.spec.doctor.cross_file_rules import CrossFileRules
from explorer.spec.doctor.manifest_list_rules import Lists
from explorer.table import open_table
from tests.security.dimensions import data_file, make
from tests.security.test_regexes import LINEAR, growth
from tests.support.small_tables import edit_metadata
from tests.unit.test_screen import run


# -- a filter, and many partition fields of one column -----------------------------------------------------------------
@pytest.mark.parametrize("transform", ["identity", "bucket[7]", "truncate[3]"])
def test_a_filter_is_projected_onto_thousands_of_fields(transform: str, tmp_path: Path) -> None:
    """Joined one by one the comparisons were as deep as there are fields, and each was passed on through all above."""
    folder = make(tmp_path / "t", "fields of a spec", 3_000)

    def change(metadata: dict[str, Any]) -> None:
        for field in metadata["partition-specs"][-1]["fields"]:
            field["transform"] = transform
        metadata["default-spec-id"] = 1

    edit_metadata(folder, change)
    for words in (["plan", "id = 1"], ["scan", "estimate", "id = 1"], ["data", "history", "id = 1"]):
        answer = run(*words[:-1], str(folder), words[-1])
        assert answer.exit_code in (0, 3), (words, answer.output, answer.exception)


def test_a_count_of_repeats_is_read_once() -> None:
    """Where it is not closed, its digits were dealt out to its two numbers in every way."""
    for before in ("{", "{1,"):
        assert growth((patterns._REPEAT.pattern, 0, False), before, "0", "\n", 32) <= LINEAR
    for text in ("*", "+?", "{3}", "{3,}", "{0,7}?"):
        assert patterns._REPEAT.fullmatch(text)


# -- a bit of each snapshot, for each manifest and each snapshot -------------------------------------------------------
def masks_of(lists: Lists) -> int:
    """Bytes of all the sets of snapshots that the doctor keeps."""
    every = {id(mask): mask for mask in (*lists.masks.values(), *lists.descendants.values())}
    return sum(sys.getsizeof(mask) for mask in every.values())


@pytest.mark.parametrize("name", ["snapshots", "commits, a manifest each", "snapshots whose parents have expired"])
def test_what_the_doctor_keeps_of_snapshots_grows_linearly(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(examination, "MOST_LISTS", 60)
    sizes = []
    for n in (100, 400):
        table = open_table(str(make(tmp_path / str(n), name, n)))
        looked = Examination(table, ExaminationDepth())
        list(looked.findings())
        assert len(looked.lists.snapshots) == 60
        assert f"{len(table.metadata.snapshots) - 60:,} older snapshots" in looked.not_checked[0]
        sizes.append(masks_of(looked.lists))
    assert sizes[1] <= 5 * sizes[0]


def test_the_current_snapshot_is_examined_however_many_are_newer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(examination, "MOST_LISTS", 5)
    table = open_table(str(make(tmp_path / "t", "snapshots without a ref", 50)))
    looked = Examination(table, ExaminationDepth())
    list(looked.findings())
    assert table.metadata.current_snapshot_id in looked.lists.lists
    report = diagnose(table)
    assert report.level != "ok"
    assert "older snapshots" in run("doctor", str(tmp_path / "t")).output
    one = Examination(table, ExaminationDepth(snapshot=101))
    assert [s.snapshot_id for s in one.snapshots] == [101]
    assert not one.not_checked


def test_the_first_manifest_that_shares_a_snapshot_is_found_without_asking_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of two manifests that hold one file is with the other in a snapshot, and with none of all others."""
    from tests.security.dimensions import base

    asked = 0
    together = CrossFileRules._together

    def counted(rules: CrossFileRules, one: int, other: int) -> int:
        nonlocal asked
        asked += 1
        return together(rules, one, other)

    monkeypatch.setattr(CrossFileRules, "_together", counted)
    counts = []
    for n in (10, 40):
        table = base(tmp_path / str(n))
        for i in range(n):
            both = [table.manifest(f"m{i}-{j}.avro", [(1, data_file(table, 1))]) for j in range(2)]
            table.snapshot("overwrite", both)
        asked = 0
        report = diagnose(open_table(str(tmp_path / str(n))))
        assert any(f.rule == "file-twice" for f in report.findings)
        counts.append(asked)
    assert counts[1] <= 5 * counts[0]
