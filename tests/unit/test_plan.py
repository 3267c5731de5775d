"""Plans of small tables: stages, reasons, tasks, metrics modes, clustering, and their pictures."""

from __future__ import annotations

import datetime
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from pyiceberg.expressions import EqualTo

import explorer
from explorer.app.answer_states import PlanState
from explorer.cli import main
from explorer.errors import NotFoundInTable, NotSupported
from explorer.model.manifest import FieldSummary
from explorer.model.problem import Problem
from explorer.progress import Cancelled
from explorer.questions.answers import JSON_FORMAT
from explorer.render.plan_pictures import LINES, funnel_svg, intervals_svg, partitions_svg
from explorer.render.plans import answer_rows, plan_json, plan_lines, summary_lines
from explorer.spec.deletes.delete_pairs import DeletePairs
from explorer.spec.entries.live_files import LiveFile
from explorer.spec.filters.binding import bind
from explorer.spec.filters.expressions import TRUE, FilterColumn
from explorer.spec.filters.filter_text import parse
from explorer.spec.filters.pushdown import advice
from explorer.spec.layout.metrics_modes import column_modes
from explorer.spec.scan.plan import PLANNERS, Plan, PlannerAnswer
from explorer.spec.scan.plan_parts import files_to_read as files_read
from explorer.spec.scan.scan import READ, Scan, evaluate
from explorer.spec.scan.tasks import CHOSEN, TASKS, Packing, Split, splits, tasks
from tests.cases.mini import Table as Written
from tests.robustness.editing import edit_avro
from tests.support import direct
from tests.support.paper_tables import applicability, entries, on_paper
from tests.support.paper_tables import manifest as listed
from tests.support.small_tables import edit_metadata, make_table, new_table, writable


@pytest.fixture(scope="module")
def days(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three days of rows, a commit each, by day; the last day has a row without a name."""
    folder = tmp_path_factory.mktemp("days")
    schema = pa.schema([("day", pa.date32()), ("ts", pa.timestamp("us")), ("name", pa.string()), ("n", pa.int64())])
    table = new_table(folder / "t", schema)
    with table.update_spec() as spec:
        spec.add_identity("day")
    for day in (1, 2, 3):
        rows = {
            "day": [datetime.date(2024, 3, day)] * 2,
            "ts": [datetime.datetime(2024, 3, day, hour) for hour in (1, 23)],
            "name": ["anna", "<b>zoe</b>" if day < 3 else None],
            "n": [day, day * 10],
        }
        table.append(pa.table(rows, schema))
    return folder / "t"


def planned(folder: Path, where: str, at: str | None = None) -> tuple[direct.Table, Plan, list[dict[str, Any]]]:
    table = direct.open_table(str(folder))
    plan = table.plan(where, at)
    return table, plan, [row for part in plan.files.read() for row in part.to_pylist()]


@pytest.mark.parametrize(
    ("where", "files", "sure"),
    [("", 3, 3), ("day >= '2024-03-02'", 2, 2), ("day = '2024-03-02' and n > 0", 1, 0), ("name = 'anna'", 3, 0)],
)
def test_counts_and_bounds_are_decoded_only_where_they_could_add_something(
    days: Path, where: str, files: int, sure: int
) -> None:
    table = direct.open_table(str(days))
    plan = table.plan(where)
    assert (plan.left.files, sum(v.surely for v in plan.manifests)) == (files, sure)
    decoded = [metrics for _, metrics in table.reader._entries]
    assert sorted(decoded) == [False] * sure + [True] * (files - sure)
    assert [row["wholly"] for part in plan.files.read() for row in part.to_pylist() if row["verdict"] == "read"].count(
        True
    ) == plan.wholly


def left(plan: Plan) -> list[tuple[int, int | None]]:
    return [(s.left.manifests, s.left.files) for s in plan.stages]


def test_stages_and_reasons(days: Path) -> None:
    _, plan, files = planned(days, "day > '2024-03-01' AND n < 25")
    assert left(plan) == [(3, 3), (2, 2), (2, 2), (2, 2)]
    assert [v.keeps for v in plan.manifests] == [True, True, False]
    assert str(plan.manifests[2].reason) == "day > '2024-03-01': its values end at '2024-03-01'"
    assert {f["verdict"] for f in files} == {"read"}
    assert plan.residuals == {"n < 25": 2}
    _, plan, files = planned(days, "n = 2")
    assert left(plan) == [(3, 3), (3, 3), (3, 3), (3, 2)]
    assert [f["reason"] for f in files] == [
        "its values begin at 3", "its values lie between 2 and 20", "its values lie between 1 and 10",
    ]  # fmt: skip
    assert {f["term"] for f in files} == {"n = 2"}


def test_what_bounds_cannot_exclude_is_said_with_the_bounds_there_are(days: Path, tmp_path: Path) -> None:
    _, _, files = planned(days, "n != 5")
    assert files[0]["reason"] == "its values lie between 3 and 30: that does not exclude it"
    _, _, files = planned(make_table(tmp_path, 1, **{"write.metadata.metrics.default": "counts"}), "id != 5")
    assert files[0]["reason"] == "no bounds of id: that does not exclude it"


def test_why_manifests_are_read_or_not(days: Path) -> None:
    assert {str(v.reason) for v in planned(days, "")[1].manifests} == {"Iceberg is asked for every row"}
    assert {str(v.reason) for v in planned(days, "n = 2")[1].manifests} == {"the filter says nothing of its partitions"}
    [skipped] = [v for v in planned(days, "day != '2024-03-01'")[1].manifests if not v.keeps]
    assert str(skipped.reason) == "day != '2024-03-01': all rows have '2024-03-01'"


def test_bounds_say_nothing_of_buckets_but_nulls_do(tmp_path: Path) -> None:
    folder = make_table(tmp_path, 2)
    first = min((folder / "metadata").glob("*-m0.avro"))
    edit_avro(first, lambda rows: rows[0]["data_file"].update(null_value_counts=rows[0]["data_file"]["value_counts"]))
    _, _, files = planned(folder, "bucket(4, id) = 1")
    told = {file["reason"]: file["verdict"] for file in files}
    assert told.pop("no lower and no upper bound of bucket(4, id)") == "read"
    assert told == {"bucket(4, id) is null in all rows": "skipped by column metrics"}


def test_what_excludes_null_is_that_there_is_none(days: Path) -> None:
    _, _, files = planned(days, "n IS NULL")
    assert {(file["verdict"], file["reason"]) for file in files} == {("skipped by column metrics", "n has no nulls")}


def test_what_matches_wholly(days: Path) -> None:
    for where, wholly in (("day = '2024-03-02'", 1), ("n < 25", 2), ("name IS NOT NULL", 2), ("name LIKE 'z%'", 0)):
        assert planned(days, where)[1].wholly == wholly, where


def test_what_cannot_be_read_is_said_to_be_missing(tmp_path: Path) -> None:
    folder = make_table(tmp_path)
    first, second, _ = sorted((folder / "metadata").glob("*-m0.avro"))
    second.write_bytes(second.read_bytes()[:-20])
    assert planned(folder, "id > 0")[1].missing == 1
    second.unlink()
    first.write_text("no manifest at all")
    _, plan, files = planned(folder, "id > 0")
    assert (plan.missing, plan.damaged_list, len(files)) == (2, False, 1)
    assert next(iter(summary_lines(plan))) == "⚠ 2 files that the manifest list counts are not found in its manifests"
    assert plan_json(plan)["missing_files"] == 2
    assert plan.stages[0].left.bytes is None  # which manifest lists do not count


def test_a_list_that_cannot_be_read_whole_is_told(tmp_path: Path) -> None:
    folder = make_table(tmp_path)
    current = json.loads(max((folder / "metadata").glob("*.metadata.json")).read_text())["snapshots"][-1]
    listed = Path(current["manifest-list"].removeprefix("file://"))
    listed.write_bytes(listed.read_bytes()[:-40])
    _, plan, _ = planned(folder, "id > 0")
    assert plan.damaged_list
    assert next(iter(summary_lines(plan))).startswith("⚠ the manifest list could not be read whole")
    assert plan_json(plan)["manifest_list_damaged"]


def test_no_planner_is_asked_of_a_table_with_a_damaged_manifest(tmp_path: Path) -> None:
    """A read of it might open what nobody knows; both say so."""
    folder = make_table(tmp_path)
    min((folder / "metadata").glob("*-m0.avro")).write_text("no manifest")
    table, plan, _ = planned(folder, "id > 0")
    assert [str(table.ask_planners(plan)[planner]).count("m0.avro") for planner in PLANNERS] == [1, 1]


def test_a_manifest_without_counts_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    """Counts are optional in a v1 manifest list, and where it names manifests by itself."""
    folder = make_table(tmp_path)
    newest = max((folder / "metadata").glob("*.metadata.json"))
    metadata = json.loads(newest.read_text())
    manifests = sorted((folder / "metadata").glob("*-m0.avro"))
    metadata["format-version"] = 1
    snapshot = metadata["snapshots"][-1]
    del snapshot["manifest-list"]
    snapshot["manifests"] = [path.as_uri() for path in manifests]
    newest.write_text(json.dumps(metadata))
    whole = planned(folder, "id > 0")[1]
    assert (whole.left.files, whole.missing, whole.uncounted, whole.damaged_list) == (3, 0, 0, False)
    damaged = manifests[0].read_bytes()
    manifests[0].write_bytes(damaged[:-20])  # its header is whole
    plan = planned(folder, "id > 0")[1]
    assert (plan.left.files, plan.uncounted, plan.damaged_list) == (2, 1, False)
    assert next(iter(summary_lines(plan))).startswith("⚠ 1 manifest could not be read whole")
    assert plan.stages[0].left.bytes is None
    manifests[0].write_text("no manifest")
    _, plan, _ = planned(folder, "id > 0")
    assert plan.damaged_list


def test_counts_that_cannot_be_hide_no_lost_manifest(tmp_path: Path) -> None:
    folder = make_table(tmp_path)
    current = json.loads(max((folder / "metadata").glob("*.metadata.json")).read_text())["snapshots"][-1]
    listed = Path(current["manifest-list"].removeprefix("file://"))
    edit_avro(listed, lambda records: records[0].update(existing_files_count=-1))
    min((folder / "metadata").glob("*-m0.avro")).write_text("no manifest")
    plan = planned(folder, "id > 0")[1]
    assert (plan.missing, plan.uncounted, plan.stages[0].left.bytes) == (0, 1, None)


def test_a_question_to_the_planners_can_be_cancelled(days: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table, plan, _ = planned(days, "n = 2")

    def cancelled(*_: Any) -> Any:
        raise Cancelled

    monkeypatch.setattr("explorer.table.check_readable", cancelled)
    with pytest.raises(Cancelled):
        table.ask_planners(plan)


def test_what_another_question_could_not_read_is_not_missing(tmp_path: Path) -> None:
    """Sizes of columns, say, which a plan does not look at."""
    folder = make_table(tmp_path)
    [first, *_] = sorted((folder / "metadata").glob("*-m0.avro"))
    table = direct.open_table(str(folder))
    table.tree.note([Problem(first.as_uri(), "its sizes of columns are none")])
    plan = table.plan("id > 0")
    assert (plan.missing, plan.damaged_list) == (0, False)


def test_no_filter_reads_all(days: Path) -> None:
    _, plan, files = planned(days, "")
    assert left(plan) == [(3, 3)] * 4
    assert {f["reason"] for f in files} == {"Iceberg is asked for every row"}
    assert "all rows match in 3 of 3 files: Iceberg is asked for every row" in summary_lines(plan)
    assert "all rows match in 3 of 3 files: Iceberg is asked for every row" in summary_lines(planned(days, "true")[1])
    assert plan.left.rows == 6
    assert (plan.missing, plan.damaged_list) == (0, False)
    assert plan.left.bytes == sum(f["file_size_in_bytes"] for f in files)
    assert plan.tasks.count == 1


def test_a_planner_that_fails_is_named(days: Path) -> None:
    plan = planned(days, "n = 2")[1]
    assert plan.left.files
    same = PlannerAnswer(plan.left.files, None, None)
    _, java, python = answer_rows(plan, dict(zip(PLANNERS, (same, NotSupported("no such filter")), strict=True)))
    assert (java["planner"], java["data_files"], java["difference"]) == ("Iceberg (Java)", plan.left.files, "none")
    assert (python["planner"], python["data_files"]) == ("pyiceberg", None)
    assert python["difference"] == "it failed: no such filter"


def test_an_older_snapshot_and_none(days: Path, tmp_path: Path) -> None:
    assert left(planned(days, "n = 2", "snapshot-2")[1])[0] == (2, 2)
    table, plan, files = planned(make_table(tmp_path, 0), "id = 1")
    assert (left(plan)[-1], files) == ((0, 0), [])
    assert table.metrics()[0].agreement == "there are no files"


def test_a_filter_that_does_not_fit_is_said(days: Path) -> None:
    for where, says in (
        ("nam = 'a'", "is 'name' meant"),
        ("n = 'a'", "is no long"),
        ("jack", "a comparison is expected"),
    ):
        with pytest.raises(NotFoundInTable, match=says):
            planned(days, where)


def test_deleted_files_are_not_read(tmp_path: Path) -> None:
    folder = make_table(tmp_path)
    writable(folder).delete(EqualTo("fruit", "fruit-1"))
    _, plan, files = planned(folder, "id >= 0")
    assert left(plan)[-1][1] == len(files) == 3
    assert plan.left.rows == 5


def test_a_bad_manifest_is_a_problem_and_the_rest_is_planned(tmp_path: Path) -> None:
    folder = make_table(tmp_path)
    broken = sorted((folder / "metadata").glob("*-m0.avro"))[0]
    broken.write_bytes(b"no avro")
    table, plan, _ = planned(folder, "id >= 0")
    assert left(plan)[1] == (3, 2)
    assert [p.file.rsplit("/", 1)[-1] for p in table.problems] == [broken.name]


def test_metrics_modes(tmp_path: Path) -> None:
    folder = make_table(tmp_path)

    def modes(**properties: str) -> dict[str, tuple[str, str]]:
        edit_metadata(folder, lambda data: data.update({"properties": properties}))
        return {m.name: (m.mode, m.rule) for m in direct.open_table(str(folder)).metrics()}

    assert modes()["id"][0] == "truncate(16)"
    assert modes(**{"write.metadata.metrics.default": "none"})["id"] == (
        "none",
        "write.metadata.metrics.default = none",
    )
    own = modes(**{"write.metadata.metrics.default": "none", "write.metadata.metrics.column.fruit": "full"})
    assert own["fruit"] == ("full", "write.metadata.metrics.column.fruit = full")
    limited = modes(**{"write.metadata.metrics.max-inferred-column-defaults": "1"})
    assert limited["id"] == ("truncate(16)", "among the first 1 columns")
    assert limited["fruit"][0] == "none"
    assert "only the first 1 get statistics" in limited["fruit"][1]
    fruit = next(m for m in direct.open_table(str(folder)).metrics() if m.name == "fruit")
    assert (fruit.files, fruit.lower) == (3, 3)
    assert fruit.skips == "nothing in new files; comparisons, where 3 older files have bounds"
    assert "those with bounds are older" in fruit.agreement


def test_modes_of_what_lies_inside() -> None:
    """Statistics are of primitive values alone, whose names go on from those around them."""
    text = {"type": "list", "element-id": 4, "element": "string", "element-required": True}
    inside = {"type": "struct", "fields": [{"id": 6, "name": "x", "type": "int", "required": True}]}
    kinds = {"type": "map", "key-id": 2, "key": inside, "value-id": 3, "value": text, "value-required": True}
    metadata = on_paper(
        [None], properties={"write.metadata.metrics.column.m.value.element": "full"},
        change=lambda data: data["schemas"][0].update(fields=[{"id": 1, "name": "m", "type": kinds, "required": True}]),
    )  # fmt: skip
    found = [(m.field_id, m.name, m.mode) for m in column_modes(metadata, metadata.schemas[0])]
    assert found == [(6, "m.key.x", "truncate(16)"), (4, "m.value.element", "full")]


def test_clustering(days: Path) -> None:
    table = direct.open_table(str(days))
    found = {c.name: c for c in table.clustering()}
    assert found["ts"].average == 1.0  # no two files share a day
    assert found["n"].quantiles[-1] == 3  # 1 to 10, 2 to 20, 3 to 30
    assert [c.name for c in table.clustering(["n"])] == ["n"]
    with pytest.raises(NotFoundInTable, match="no column 'm'"):
        table.clustering(["m"])


def chosen(
    *sizes: int, file_format: str = "PARQUET", offsets: list[int | None] | None = None, deletes: int = 0, more: int = 0
) -> pa.Table:
    rows = [(str(n), size, file_format, offsets, deletes, more) for n, size in enumerate(sizes)]
    return pa.Table.from_pylist([dict(zip(CHOSEN.names, row, strict=True)) for row in rows], schema=CHOSEN)


def parts(files: pa.Table, packing: Packing) -> list[tuple[int, int]]:
    made = splits(files, packing)
    return list(zip(made.start.tolist(), made.length.tolist(), strict=True))


def test_columns_without_bounds_are_told_last(tmp_path: Path) -> None:
    folder = make_table(tmp_path, 1, **{"write.metadata.metrics.column.id": "none"})
    found = direct.open_table(str(folder)).clustering()
    assert [(c.name, c.bounded, c.average) for c in found] == [("fruit", 1, 1.0), ("id", 0, 1.0)]


def test_splits_and_packing() -> None:
    packing = Packing(100, 2, 10)
    assert parts(chosen(250), packing) == [(0, 100), (100, 100), (200, 50)]
    assert parts(chosen(250, offsets=[4, 90]), packing) == [(4, 86), (90, 160)]
    assert parts(chosen(250, offsets=[90, 4]), packing) == [(0, 100), (100, 100), (200, 50)]
    assert parts(chosen(250, offsets=[4, 250]), packing) == [(0, 100), (100, 100), (200, 50)]  # it ends before
    assert parts(chosen(250, file_format="PUFFIN", offsets=[4, 90]), packing) == [(0, 250)]
    assert parts(chosen(100), packing) == [(0, 100)]
    several = pa.concat_tables([chosen(250, offsets=[4, 90]), chosen(250), chosen(0), chosen(250, offsets=[4, 90])])
    made = splits(several, packing)
    assert made.file.tolist() == [0, 0, 1, 1, 1, 3, 3]
    assert made.length.tolist() == [86, 160, 100, 100, 50, 86, 160]
    assert splits(chosen(5, file_format="ORC", deletes=2, more=1), packing).weight.tolist() == [30]  # three to open
    assert splits(chosen(95, file_format="ORC", deletes=2, more=7), packing).weight.tolist() == [102]
    found = tasks(packing, [chosen(60, 60, 60), chosen(30, 30, 30, deletes=1)])  # in parts, as they are read
    assert [[s.length for s in t.splits] for t in found.first] == [[60], [60, 30], [60, 30], [30]]
    assert [[(s.path, s.deletes) for s in t.splits] for t in found.first] == [
        [("0", 0)], [("1", 0), ("0", 1)], [("2", 0), ("1", 1)], [("2", 1)]
    ]  # fmt: skip
    assert (found.count, found.largest, found.first[1].bytes, found.first[1].weight) == (4, 90, 90, 90)


def test_deletes_of_each_kind_come_along_with_a_file() -> None:
    vector = {"referenced_data_file": "a", "file_format": "PUFFIN", "content_offset": 4, "content_size": 7}
    deletes = [
        LiveFile("e", "equality_deletes", 0, {}, 7, 7, 1, 10, "m", equality_ids=(1,)),
        LiveFile("v", "deletion_vector", 0, {}, 6, 6, 1, 50, "m", **vector),
        LiveFile("p", "position_deletes", 0, {}, 6, 6, 1, 10, "m"),
    ]
    stored = entries(*({"status": 1, "file_path": path, "sequence_number": 5, "snapshot_id": 1} for path in "ab"))
    metadata, none = on_paper([None]), pa.nulls(2, pa.map_(pa.int32(), pa.int64()))
    for name in ("null_value_counts", "value_counts", "nan_value_counts", "lower_bounds", "upper_bounds"):
        stored = stored.append_column(name, none)
    pairs = DeletePairs(applicability(metadata, deletes))
    found = files_read(Scan(metadata, TRUE, frozenset()), pairs, listed("m", 1), stored)
    assert found["deletes"].to_pylist() == [2, 2]  # a vector takes the place of position deletes


def test_more_tasks_than_are_kept_are_counted() -> None:
    found = tasks(Packing(100, 1, 100), [chosen(*range(1, 700), file_format="PUFFIN")] * 2)
    assert (found.count, len(found.first)) == (1398, TASKS)
    assert found.first[999].splits == (Split("301", 0, 302, 302, 0),)


def test_packing_of_properties() -> None:
    assert Packing.of({"read.split.target-size": "7", "read.split.open-file-cost": "x"}) == Packing(7)


def test_sizes_and_properties_of_strangers() -> None:
    huge = Packing.of({"read.split.target-size": "1", "read.split.planning-lookback": "9" * 5000})
    assert huge == Packing(1)
    assert parts(chosen(2**62), huge) == [(0, 2**62)]
    assert parts(chosen(250, offsets=[4, None]), Packing(100)) == [(0, 100), (100, 100), (200, 50)]
    assert parts(chosen(250, offsets=[5, -(2**63)]), Packing(100)) == [(0, 100), (100, 100), (200, 50)]
    assert parts(chosen(-5), Packing()) == []
    huge = Packing(2**80, 10, 2**80)
    assert parts(chosen(2**63 - 1), huge) == [(0, 2**63 - 1)]
    assert splits(chosen(2**63 - 1, deletes=2**62, more=2**63 - 1), huge).weight[0] > 2**61


def test_null_comes_before_all_values_but_not_for_sure() -> None:
    columns = {"day": FilterColumn(1, "day", "date")}
    for op, may, must in (("!=", True, True), ("<", True, False), ("<=", True, False), ("=", False, False)):
        leaf = bind(parse(f"day {op} '2024-03-01'"), columns)
        assert (evaluate(leaf, {1: None}), evaluate(leaf, {1: None}, sure=True)) == (may, must), op


def test_partition_values_of_another_type_are_in_doubt() -> None:
    columns = {"day": FilterColumn(1, "day", "date")}
    for where in ("day = '2024-03-01'", "day < '2024-03-01'"):
        leaf = bind(parse(where), columns)
        for partition in ({1: "10183-09-21"}, {}):
            assert evaluate(leaf, partition)
            assert not evaluate(leaf, partition, sure=True)


def test_summaries_that_tell_nothing_and_those_of_nothing_but_nulls() -> None:
    specs = [{"spec-id": 0, "fields": [{"field-id": 1000, "name": "p", "transform": "identity", "source-id": 1}]}]
    metadata = on_paper([None], change=lambda data: data.update({"partition-specs": specs}))
    manifests = [
        listed("untold", 1, partitions=None),
        listed("nulls", 1, partitions=(FieldSummary(True, *[None] * 3),)),
    ]

    def verdicts(where: str) -> list[tuple[bool, bool]]:
        bound = bind(parse(where), {"id": FilterColumn(1, "id", "long")})
        return [(v.keeps, v.surely) for v in Scan(metadata, bound, frozenset()).manifests(manifests)]

    assert verdicts("id IS NULL") == [(True, False), (True, True)]
    assert verdicts("id IS NOT NULL") == [(True, False), (False, False)]


def test_pictures_are_xml_and_text_stays_text(days: Path) -> None:
    table, plan, _ = planned(days, "name = '<b>zoe</b>' AND n > 5")
    for picture in (
        funnel_svg(plan),
        intervals_svg(table.intervals(plan, "name")),
        intervals_svg(table.intervals(plan, "n")),
    ):
        drawn = ElementTree.fromstring(picture)
        assert not [e for e in drawn.iter() if e.tag.endswith("}b") or "script" in e.tag]
    found = table.intervals(plan, "n")
    assert [(i.low, i.high) for i in found.items] == [(1, 10), (2, 20), (3, 30)]
    assert [str(p) for p in found.comparisons] == ["n > 5"]


def test_thousands_of_files_fit_a_picture(days: Path) -> None:
    """In a page's height, and those that are read lie above the others, thicker."""
    table = direct.open_table(str(days))
    found = table.intervals(table.plan("n = 30"), "n")
    read = [item for item in found.items if item.outcome == READ]
    assert (len(read), len(found.items)) == (1, 3)
    many = replace(found, items=(*read, *found.items[:2] * 1000))
    picture = ElementTree.fromstring(drawn := intervals_svg(many))
    assert float(picture.attrib["viewBox"].split()[3]) < 600
    lines = [group[1] for group in picture.findall("{http://www.w3.org/2000/svg}g")]
    assert 100 < len(lines) <= LINES
    assert sum(int(m or 1) for m in re.findall(r"<title>(?:([\d,]+) files, the first )?[^<]*parquet", drawn)) == 2001
    assert all(float(lines[-1].attrib["height"]) > float(line.attrib["height"]) for line in lines[:-1])


def test_a_plan_in_a_notebook(days: Path) -> None:
    """HTML without scripts, in which text is text; the same in words."""
    shown = direct.show_plan(direct.open_table(str(days)), "name = '<b>zoe</b>' and n < 20 and day > '2024-03-01'")
    html = shown._repr_html_()
    picture = ElementTree.fromstring(html)[0]
    assert len(picture.findall("{http://www.w3.org/2000/svg}svg")) == 3
    reasons = [tuple(row.values()) for row in shown.reasons()]
    assert [tuple("".join(cell.itertext()) for cell in row) for row in picture.findall("table/tr")][1:] == reasons
    assert {r[1] for r in reasons} == {"read", "skipped by its summaries", "skipped by column metrics"}
    assert "<b>zoe" not in html
    assert "<script" not in html
    assert all(verdict in repr(shown) for _, verdict, _ in reasons)
    none = direct.show_plan(direct.open_table(str(days)), "")
    assert none.intervals is None
    assert ElementTree.fromstring(none._repr_html_())[0].findall("{http://www.w3.org/2000/svg}svg")


def test_the_command_prints_what_the_plan_is(days: Path) -> None:
    plan = planned(days, "n = 2")[1]
    asked = ["plan", str(days), "n = 2"]
    printed = json.loads(CliRunner().invoke(main, [*asked, "-o", "json"]).output)
    assert printed == json.loads(json.dumps({"json_format": JSON_FORMAT, **plan_json(plan)}))
    text = CliRunner().invoke(main, asked)
    assert (text.exit_code, text.output.rstrip()) == (0, "\n".join(plan_lines(plan)).rstrip())
    for stage, rows in (("filter", 1), ("manifests", 3), ("files", 3), ("tasks", 1)):
        told = json.loads(CliRunner().invoke(main, [*asked, "--stage", stage, "-o", "json"]).output)
        assert len(told) == rows
    for show in ("metrics", "clustering"):
        columns = ["inspect", "columns", str(days), "--show", show, "-o", "json"]
        told = json.loads(CliRunner().invoke(main, columns).output)
        assert {row["column"] for row in told} == {"day", "ts", "name", "n"}


@pytest.mark.parametrize(
    ("kept", "says"),
    [
        ("(year(CAST(ts AS DATE)) = 2024)", "a part of a date"), ("endswith(name, 'x')", "the beginning of a text"),
        ("(lower(name) = 'x')", "the text is changed"), ("((id + 1) = 4)", "computed for each row"),
        ("(CAST(id AS STRING) = '4')", "converted"), ("born < TIMESTAMP '2024-01-02 00:00:00'", ""), ("ok", ""),
    ],
)  # fmt: skip
def test_advice(kept: str, says: str) -> None:
    assert says in advice(kept)
    assert bool(says) == bool(advice(kept))


def test_row_groups(tmp_path: Path) -> None:
    schema = pa.schema([("id", pa.int64()), ("day", pa.date32()), ("name", pa.string()), ("x", pa.float64())])
    table = new_table(tmp_path / "t", schema, **{"write.parquet.row-group-limit": "2"})
    days = [datetime.date(2024, 3, d) for d in (1, 2, 3, 4)]
    values = {"id": [1, 2, 3, 4], "day": days, "name": ["a", "b", None, None], "x": [1.0, 2.0, 5.0, float("nan")]}
    table.append(pa.table(values, schema))
    opened = direct.open_table(str(tmp_path / "t"))
    for where, kept in (
        ("id = 3", [False, True]), ("day < '2024-03-03'", [True, False]), ("name = 'b'", [True, False]),
        ("name IS NULL", [False, True]), ("x > 2.5", [False, True]), ("id > 2 AND name LIKE 'a%'", [False, False]),
        ("truncate(2, id) = 2", [True, True]),
    ):  # fmt: skip
        groups = list(opened.row_groups(opened.plan(where)))
        assert [g.keeps for g in groups] == kept, where
    assert [str(g.reason) for g in opened.row_groups(opened.plan("id = 3"))] == [
        "id = 3: its values end at 2",
        "id = 3: its values lie between 3 and 4; dictionary of 2 values: 3, 4; 3 matches; no bloom filter",
    ]  # fmt: skip
    Path(opened.files()[0]["file_path"].removeprefix("file://")).write_bytes(b"PAR1")
    assert list(opened.row_groups(opened.plan("id = 3"))) == []
    assert "too short" in str(opened.problems[0])


def test_partitions_by_what_is_read_of_them(days: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of skipped manifests too; as bars with names, or as a heat map where they are many."""
    table, plan, _ = planned(days, "day > '2024-03-01' AND n > 20")
    found = table.partition_verdicts(plan)
    assert [(r["partition"], r["read"], r["by_partition"], r["by_metrics"]) for r in found] == [
        ("day=2024-03-01", 0, 1, 0), ("day=2024-03-02", 0, 0, 1), ("day=2024-03-03", 1, 0, 0),
    ]  # fmt: skip
    assert sum(r["record_count"] for r in found) == 6
    svg = partitions_svg(found.to_arrow())
    said = [t.text for t in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}title")]
    assert "day=2024-03-02, spec 1: 1 file skipped by bounds" in said
    monkeypatch.setattr("explorer.render.plan_pictures.NAMED", 2)
    cells = ElementTree.fromstring(partitions_svg(found.to_arrow()))
    told = [str(t.text) for t in cells.iter("{http://www.w3.org/2000/svg}title")][1:]
    assert told == [str(line).replace(", spec 1", "") for line in said[1:]]
    assert partitions_svg(found.to_arrow().slice(0, 0))


def test_a_plan_as_a_graph(days: Path) -> None:
    """What is skipped is told apart and says why; an open manifest shows its files."""
    table, plan, _ = planned(days, "day > '2024-03-01' AND n > 20")
    state = PlanState(table, plan)
    graph = state.graph
    assert [(n.kind, n.status) for n in graph.nodes] == [
        ("manifest_list", ""), ("data_manifest", "read"), ("data_file", "read"), ("data_manifest", "read"),
        ("data_file", "skipped"), ("data_manifest", "skipped"),
    ]  # fmt: skip
    skipped = graph.nodes[-1]
    state.handle({"type": "select", "ids": [skipped.id]})
    details = state.details()
    assert details is not None
    assert details["sections"][0]["fields"] == [["skipped", "day > '2024-03-01': its values end at '2024-03-01'", ""]]
    assert {s["title"] for s in details["sections"][1:]}
    for size in (5, 6):
        state.handle({"type": "toggle", "id": graph.nodes[1].id})
        assert len(state.graph.nodes) == size
    state.handle({"type": "toggle", "id": skipped.id})
    assert len(state.graph.nodes) == 6
    empty = PlanState(table, table.plan("n = 1", "snapshot-1"))
    assert [n.status for n in empty.graph.nodes] == ["", "read", "read"]


def test_a_plan_travels_as_a_page_or_a_picture(days: Path, tmp_path: Path) -> None:
    for name in ("plan.html", "plan.svg"):
        ran = CliRunner().invoke(main, ["plan", str(days), "name = '<b>zoe</b>'", "--picture", str(tmp_path / name)])
        assert ran.exit_code == 0, ran.output
    page, picture = ((tmp_path / name).read_text() for name in ("plan.html", "plan.svg"))
    assert "<b>zoe" not in page
    assert "<script" not in page
    assert len(list(ElementTree.fromstring(picture).iter("{http://www.w3.org/2000/svg}svg"))) == 4
    ran = CliRunner().invoke(main, ["plan", str(days), "n = 1", "--picture", str(tmp_path / "plan.pdf")])
    assert ran.exit_code == 2
    ran = CliRunner().invoke(main, ["plan", str(days), "n = 1", "--stage", "partitions", "--output", "json"])
    assert [row["read"] for row in json.loads(ran.stdout)] == [1, 0, 0]


def table_of(folder: Path, rows: pa.Table, by: str) -> Any:
    """A pyiceberg table, partitioned by the identity of a column."""
    table = new_table(folder / "t", rows.schema)
    with table.update_spec() as spec:
        spec.add_identity(by)
    table.append(rows)
    return table


def test_partitions_of_one_name_are_two(tmp_path: Path) -> None:
    """The text 'null' and null."""
    made = table_of(tmp_path, pa.table({"id": [1, 2, 3], "kind": ["null", None, "a"]}), "kind")
    table = direct.open_table(made.location())
    found = table.partition_verdicts(table.plan("kind = 'null'"))
    told = sorted((r["partition"], r["read"], r["by_partition"]) for r in found)
    assert told == [("kind=a", 0, 1), ("kind=null", 0, 1), ("kind=null", 1, 0)]


def test_row_groups_are_asked_what_is_left_to_ask(tmp_path: Path) -> None:
    """A file that lacks its partition's column has the partition's value in all rows (spec: "Column Projection")."""
    made = table_of(tmp_path, pa.table({"id": [1, 2, 3], "kind": ["a", "a", "a"]}), "kind")
    table = direct.open_table(made.location())
    [file] = table.files()
    path = file["file_path"].removeprefix("file://")
    field = pa.field("id", pa.int64(), metadata={"PARQUET:field_id": "1"})
    pq.write_table(pa.table({"id": [1, 2, 3]}, pa.schema([field])), path)
    for where, keeps in (("kind = 'a' AND id > 1", True), ("kind = 'a' AND id > 3", None), ("kind = 'a'", True)):
        plan = table.plan(where)
        groups = list(table.row_groups(plan))
        assert [g.keeps for g in groups] == ([] if keeps is None else [keeps]), where
        assert not any("kind" in str(g.reason) for g in groups)


def test_a_filter_on_a_branch_is_bound_to_its_snapshots_schema_by_java(tmp_path: Path) -> None:
    written = Written(tmp_path / "t", [(1, "id", "long"), (2, "c", "int")])
    written.append(written.parquet("a.parquet", {"id": [1, 2], "c": [10, 20]}))
    written.md["refs"] |= {name: {"snapshot-id": 101, "type": name} for name in ("branch", "tag")}
    written.set_schema([(1, "id", "long"), (2, "renamed", "int"), (3, "d", "string")])
    written.append(written.parquet("b.parquet", {"id": [3], "renamed": [30], "d": ["x"]}))
    table = direct.open_table(tmp_path / "t")
    names = table.plan("renamed = 10 and id = 1", "branch").other_names
    assert names is not None
    assert (names.absent, names.taken) == (("renamed",), ())
    assert "which has no 'renamed'" in "\n".join(summary_lines(table.plan("renamed = 10", "branch")))
    for where, version in (("id = 1", "branch"), ("c = 10", "tag"), ("renamed = 30", "main"), ("renamed = 30", None)):
        assert table.plan(where, version).other_names is None
    assert len(table.row_history("c = 10", snapshot="tag").rows) == 1
    assert len(table.row_history("renamed = 10", snapshot="branch").rows) == 1
    with pytest.raises(explorer.NotFoundInTable, match="no column 'renamed'"):
        table.row_history("renamed = 10", snapshot="tag")


def test_many_partitions_are_a_heat_map_by_two_fields() -> None:
    rows = [
        {"partition": f"day=2024-{month:02}-{day:02}/region={region}", "spec_id": 0, "read": int(region == "eu"),
         "by_metrics": 0, "by_partition": int(region != "eu")}
        for month in range(1, 7) for day in range(1, 29) for region in ("eu", "us", "asia/pacific")
    ]  # fmt: skip
    drawn = partitions_svg(pa.Table.from_pylist(rows))
    titles = re.findall(r"<title>(day=[^<]*)</title>", drawn)
    assert len(titles) == 3 * 56  # 168 days, three of each share a column
    assert "day=2024-01-01 … 2024-01-03, region=eu (3 partitions): 3 files read" in titles
    assert re.findall(r">(eu|us|asia/pacific)</text>", drawn) == ["asia/pacific", "eu", "us"]
    odd = [{**row, "partition": f"x={at}" if at % 2 else f"y={at}"} for at, row in enumerate(rows)]
    assert "partition=x=1: 1 file" in partitions_svg(pa.Table.from_pylist(odd))
