"""Deletion vectors in a table of format version 2, whose entries lack some of the fields 143 to 145: what is said of
them, and what Spark cannot do (tests/spark/test_unplaced_vectors.py asks it)."""

from __future__ import annotations

from pathlib import Path

import pytest

from explorer.errors import UnreadableFile
from explorer.render.plans import plan_json, plan_lines
from explorer.render.row_views import delete_lines
from explorer.reports.maintenance import runs
from tests.cases.vectors import FIELDS, with_vector
from tests.support import direct

OFFSET, SIZE, NAMED = FIELDS


@pytest.mark.parametrize(
    ("missing", "refused"),
    [(FIELDS, ""), ((OFFSET, SIZE), "scan"), ((SIZE,), "scan"), ((OFFSET,), "part"), ((NAMED,), ""), ((), "")],
)
def test_the_doctor_names_what_is_missing_and_the_version(
    missing: tuple[str, ...], refused: str, tmp_path: Path
) -> None:
    report = direct.doctor(with_vector(tmp_path / "t", missing), deep=True)
    [finding] = [f for f in report.findings if f.severity == "error"]
    assert (finding.rule, finding.refused) == ("entry-invalid", refused)
    named = f" without {', '.join(missing)}" if missing else ""
    assert finding.what == (
        f"a deletion vector{named} in a table of version 2: deletion vectors are of version 3 and later"
    )
    assert "Restore the file" not in finding.remedy
    assert not any("CALL" in f.remedy for f in report.findings if f.rule == "delete-dangling")


def test_of_version_3_only_what_is_missing_is_told(tmp_path: Path) -> None:
    for number, missing in enumerate(((), (OFFSET,))):
        report = direct.doctor(with_vector(tmp_path / str(number), missing, version=3), deep=True)
        words = [f.what for f in report.findings if f.rule == "entry-invalid"]
        assert words == ["a deletion vector without content_offset"] * len(missing)


def test_a_vector_that_names_no_data_file(tmp_path: Path) -> None:
    table = direct.open_table(with_vector(tmp_path / "t", FIELDS))
    known = table.deletes()
    [vector] = known.dangling
    assert known.doubt(vector) == known.why_alone(vector)
    assert "no referenced_data_file" in known.doubt(vector)
    lines = "\n".join(delete_lines(known))
    assert "its entry has no referenced_data_file" in lines
    assert "None" not in lines
    assert not runs.preview(table, "compact", options={"rewrite-all": "true"}).refusal
    asked = {"rewrite-all": "true", "remove-dangling-deletes": "true"}
    assert "no content_size_in_bytes" in runs.preview(table, "compact", options=asked).refusal
    looked = runs.preview(table, "dangling-deletes")
    assert (looked.call, [row["dropped_by"] for row in looked.tables["deletes"]]) == ("", ["nothing now"])
    assert not any("would be dropped" in words for words in looked.words)


@pytest.mark.parametrize("missing", [(OFFSET, SIZE), (SIZE,), (OFFSET,)])
def test_what_depends_on_a_vector_without_its_place_is_refused(missing: tuple[str, ...], tmp_path: Path) -> None:
    table = direct.open_table(with_vector(tmp_path / "t", missing))
    with pytest.raises(UnreadableFile, match=f"gives no {' and no '.join(missing)} for this deletion vector"):
        direct.live_rows(table)
    for operation in ("compact", "compact-sort"):
        seen = runs.preview(table, operation, options={"rewrite-all": "true"})
        assert (seen.call, "Spark would fail: the deletion vector" in seen.refusal) == ("", True)


@pytest.mark.parametrize("missing", [(OFFSET, SIZE), (SIZE,), (OFFSET,), (NAMED,), ()])
@pytest.mark.parametrize("version", [2, 3])
def test_a_plan_says_that_spark_fails(missing: tuple[str, ...], version: int, tmp_path: Path) -> None:
    table = direct.open_table(with_vector(tmp_path / "t", missing, version))
    plan = table.plan("id = 2")
    lacks = [name for name in (OFFSET, SIZE) if name in missing]
    said = [line for line in plan_lines(plan) if "Spark 4.1 with Iceberg Java 1.12 fails on data files" in line]
    assert len(said) == bool(lacks)
    assert all(line.endswith(f"(dv.puffin): its manifest entry has no {' and no '.join(lacks)}") for line in said)
    assert [v["lacks"] for v in plan_json(plan)["vectors_without_place"]] == [" and no ".join(lacks)] * len(said)
    assert not any("fails on data files" in line for line in plan_lines(table.plan("id = 7")))
    assert ("fails on data files" in "\n".join(delete_lines(table.deletes()))) == bool(lacks)
