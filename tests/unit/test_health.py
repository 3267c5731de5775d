"""Each measure says what it is for, under the thresholds that were given; a catalog's tables fail alone."""

from __future__ import annotations

import json
import re
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from click.testing import CliRunner

from explorer.cli import main
from explorer.errors import NotFoundInTable
from explorer.render.bar_picture import bars_svg
from explorer.render.health import amount, section_html, summary, verdict
from explorer.render.treemap import treemap
from explorer.reports.health import checkup
from explorer.reports.maintenance import runs
from explorer.spec.health.measures import MEASURES, Health, Measure, MeasuredValue, helps
from explorer.spec.text.names import NOWHERE, in_sql
from tests.cases.mini import Table
from tests.support import direct
from tests.support.small_tables import edit_metadata, make_table, partitioned
from tests.unit.test_sweeping import catalog as catalog  # a fixture: good, broken, gone and wrong tables

DOCS = (Path(__file__).parents[2] / "docs" / "health.md").read_text()
DAY, HOUR = 86_400_000, 3_600_000


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three appends of a file each."""
    return make_table(tmp_path_factory.mktemp("small"))


def of(health: Health, name: str) -> MeasuredValue:
    return next(m for m in health.measures if m.id == name)


def number(health: Health, name: str) -> Any:
    return next(n.value for s in health.sections for n in s.numbers if n.name == name)


def test_strange_names_and_thresholds(small: Path) -> None:
    for name in (
        "a--.db.t",
        "..x",
        "a.b.c; DROP TABLE x",
        "a.b.${c}",
        "a.b\n.c",
        "/a.b/c.d",
        "a.b.s3://c",
        "a.b.\u202ec",
    ):
        assert in_sql(name) == NOWHERE
    assert in_sql("a.```b```.it's") == ("a", "```b```.`it's`")
    assert in_sql('a"b.c.d$') == ('`a"b`', "c.`d$`")
    assert in_sql("my-cat.db.t") == ("`my-cat`", "db.t")
    assert in_sql("ä.1.2") == ("`ä`", "`1`.`2`")
    assert in_sql("cat.db.t") == ("cat", "db.t")
    with pytest.raises(NotFoundInTable, match="small-files"):
        direct.health(str(small), limits={"small-files": 1e307})


def test_its_numbers(small: Path) -> None:
    health = direct.health(str(small))
    files = direct.open_table(str(small)).files()
    assert (health.data_files, health.data_bytes) == (3, sum(f["file_size_in_bytes"] for f in files))
    assert of(health, "small-files").value == 2  # one file would do
    assert of(health, "small-manifests").value == 2
    assert (of(health, "files-per-partition").value, of(health, "tiny-partitions").value) == (3, 0)
    assert (number(health, "snapshots"), number(health, "commits"), number(health, "schemas")) == (3, 3, 1)
    cost = direct.open_table(str(small)).commits()
    assert number(health, "metadata written") == cost.metadata_bytes
    assert number(health, "data and delete files written") == cost.bytes_written == health.data_bytes
    assert (health.worst, health.beyond, health.not_read) == ("ok", [], 0)
    file = next(s for s in health.sections if s.id == "metadata-file")
    assert file.bars is not None
    assert sum(file.bars.series["bytes"]) == number(health, "as plain JSON")


def test_a_threshold_decides_the_level_and_what_helps_is_said(small: Path) -> None:
    told = {limit: direct.health(str(small), limits={"small-files": limit}) for limit in (2, 1.5, 0.01)}
    assert [of(h, "small-files").level for h in told.values()] == ["ok", "warning", "error"]
    again = told[2].under({"small-files": 1.5})
    assert again.to_json()["measures"] == told[1.5].to_json()["measures"]
    assert told[1.5].measures[0].id == "small-files"
    assert "small-files 2 (above 1.5)" in repr(told[1.5])
    words = (
        "compaction merges small files, where a partition has at least five of them; of fewer with min-input-files=2. "
        "Preview it: icedive maintain preview TABLE compact"
    )
    assert f"what would help: {words}" in repr(told[1.5])
    assert words in told[1.5]._repr_html_()
    assert runs.preview(direct.open_table(str(small)), "compact").call == ""  # so health prints none
    for limits, words in (({"large-files": 1.0}, "no measure 'large-files'"), ({"small-files": 0.0}, "above 0")):
        with pytest.raises(NotFoundInTable, match=words):
            direct.health(str(small), limits=limits)


def test_files_that_the_target_fills_are_not_small(small: Path, tmp_path: Path) -> None:
    table = make_table(tmp_path / "other", **{"write.target-file-size-bytes": "1000"})
    health = direct.health(str(table))
    assert (of(health, "small-files").value, number(health, "files below 75% of it")) == (0, 0)
    sizes = next(s for s in health.sections if s.id == "file-sizes")
    assert sizes.bars is not None
    assert (sizes.bars.labels, sizes.bars.marked) == (("512 B+",), 0)  # the target lies there, too


def test_what_expires_by_the_tables_policy(small: Path) -> None:
    table = direct.open_table(str(small))
    last = max(s.timestamp_ms or 0 for s in table.metadata.snapshots)
    for days, gone in ((4, 0), (6, 2)):
        health = checkup(table, now_ms=last + days * DAY)
        assert of(health, "expirable-snapshots").value == gone
        assert (number(health, "what expiry would take out of it now") > 0) is (gone > 0)


def test_many_partitions_are_drawn_by_a_field_that_has_few_values(tmp_path: Path) -> None:
    table = partitioned(tmp_path)
    health = direct.health(str(table), limits={"files-per-partition": 0.5})
    partitions = next(s for s in health.sections if s.id == "partitions")
    assert [(t.label, t.files, t.partitions) for t in partitions.tiles] == [
        ("kind=$$x$$", 120, 120),
        ("kind=<b>", 10, 10),
    ]
    assert (number(health, "partitions"), of(health, "tiny-partitions").value) == (130, 130)
    assert of(health, "manifests-per-partition").value is None  # its manifests are too small to matter
    told = health._repr_html_()
    assert ("kind=&lt;b&gt;" in told, "kind=<b>" in told) == (True, False)


def test_what_cannot_be_read_is_counted(small: Path, tmp_path: Path) -> None:
    table = make_table(tmp_path / "damaged")
    opened = direct.open_table(str(table))
    Path(opened.manifests()[0]["manifest_path"].removeprefix("file://")).unlink()
    health = direct.health(str(table))
    assert (health.data_files, health.not_read) == (2, 1)
    assert "1 thing could not be read" in repr(health)


def test_no_snapshot(tmp_path: Path) -> None:
    health = direct.health(str(make_table(tmp_path, commits=0)))
    assert (health.snapshot, health.data_files, health.worst) == ("no snapshot", 0, "ok")
    assert {m.id for m in MEASURES} - {m.id for m in health.measures} == {"unbounded", "unclustered"}


def test_a_catalog_the_worst_first(catalog: dict[str, str]) -> None:
    rows = direct.catalog_health("small", catalog, limits={"schemas": 0.5}, namespace="db")
    assert [(r["table"], r["level"]) for r in rows] == [
        ("small.db.broken", "failed"), ("small.db.gone", "failed"),
        ("small.db.good", "warning"), ("small.db.wrong", "warning"),
    ]  # fmt: skip
    assert "/db/broken/metadata/" in rows[0]["error"]
    assert (rows[2]["worst"], rows[2]["schemas"], rows[2]["error"]) == ("schemas 1 (above 0.5)", 1, None)
    options = [text for pair in catalog.items() for text in ("-p", "=".join(pair))]
    run = CliRunner().invoke(main, ["catalog", "health", "small", *options, "-o", "json"])
    assert (run.exit_code, "2 of the tables could not be read" in run.stderr) == (3, True)
    assert sorted(row["table"] for row in json.loads(run.stdout))[-1] == "small.other.t"
    wrong = CliRunner().invoke(main, ["catalog", "health", "--threshold", "nothing=1"])
    assert (wrong.exit_code, "no measure 'nothing'" in wrong.stderr) == (1, True)


def test_the_doctor_goes_through_a_catalog(catalog: dict[str, str]) -> None:
    """What cannot be opened is a finding that names the file; the others have their reports."""
    options = [text for pair in catalog.items() for text in ("-p", "=".join(pair))]
    run = CliRunner().invoke(main, ["catalog", "doctor", "small", *options, "-o", "json"])
    found = {r["table"]: [f["rule"] for f in r["findings"]] for r in json.loads(run.stdout)}
    assert run.exit_code == 6, run.output
    assert (found["small.db.broken"], found["small.db.good"]) == (["metadata-unreadable"], [])
    assert "totals-differ" in found["small.db.wrong"]
    assert set(found) == {f"small.db.{n}" for n in ("good", "broken", "gone", "wrong")} | {"small.other.t"}


def test_a_table_on_the_command_line(small: Path) -> None:
    run = CliRunner().invoke(main, ["health", str(small), "--clustering", "-o", "json", "--threshold", "schemas=.5"])
    told = json.loads(run.stdout)
    assert (run.exit_code, told["level"], told["measures"][0]["measure"]) == (0, "warning", "schemas")
    assert [s["section"] for s in told["sections"]][-1] == "clustering"
    text = CliRunner().invoke(main, ["health", str(small)])
    assert "Commits (retained history)" in text.stdout
    for wrong in ([], [str(small), "--threshold", "schemas=many"]):
        assert CliRunner().invoke(main, ["health", *wrong]).exit_code == 2


def test_the_metadata_file_by_what_fills_it(tmp_path: Path) -> None:
    table = make_table(tmp_path)
    edit_metadata(table, lambda d: d["properties"].update({"note": "x" * 20_000}))
    health = direct.health(str(table))
    assert of(health, "metadata-size").words.endswith("of it is properties")


def test_docs_have_every_measure() -> None:
    listed = re.findall(r"^\| `([\w-]+)` \| ([^|]+) \| ([^|]+) \| ([^|]+) \|", DOCS, flags=re.MULTILINE)
    wanted = [(m.id, m.scope, amount(m.threshold, m.unit), amount(m.threshold * m.error, m.unit)) for m in MEASURES]
    assert [tuple(text.strip() for text in row) for row in listed] == wanted


@pytest.mark.parametrize("sizes", [[1], [6, 6, 4, 3, 2, 2, 1], [1000, 1, 1, 1], [5] * 50])
def test_tiles_fill_their_rectangle_by_size(sizes: list[float]) -> None:
    places = treemap(sizes, 460, 230)
    areas = [wide * high for *_, wide, high in places]
    assert areas == pytest.approx([size * 460 * 230 / sum(sizes) for size in sizes])
    assert all(x >= -1e-6 and y >= -1e-6 and x + w <= 460.001 and y + h <= 230.001 for x, y, w, h in places)


def test_what_says_nothing_of_a_small_table_is_not_called_ok(small: Path) -> None:
    health = checkup(direct.open_table(str(small)))
    silent = [m for m in health.measures if m.value is None]
    assert silent
    assert f"{len(health.measures) - len(silent)} ok, {len(silent)} not judged" in summary(health)
    told = "".join(map(section_html, health.sections))
    assert (told.count(">ok<"), told.count(">not judged<")) == (len(health.measures) - len(silent), len(silent))
    known = len(health.measures) - len(silent)
    assert verdict(health) == f"{known} measures within their thresholds, {len(silent)} not judged"


@pytest.mark.parametrize("measure", MEASURES, ids=lambda m: m.id)
def test_health_prints_no_statement_that_nobody_looked_at(measure: Measure) -> None:
    """Health opens no data file, so that it cannot know whether Spark would write what it misreads, or fail."""
    assert "CALL" not in helps(measure)
    if measure.preview:
        assert helps(measure).endswith(f"icedive maintain preview TABLE {measure.preview}")
        run = CliRunner().invoke(main, ["maintain", "preview", "your_table", *measure.preview.split()])
        assert run.exit_code != 2, run.output  # a table that there is none of, no wrong usage
        assert "no such option" not in run.output.lower()


def test_what_a_measure_names_prints_a_statement_where_it_may_be_run(tmp_path: Path) -> None:
    """Ten small files are compacted, but not where Spark takes a column for other values, or fails on it."""
    for number, kind in enumerate((pa.timestamp("us"), pa.timestamp("ms"), pa.date32())):
        table = Table(tmp_path / str(number), [(1, "id", "long"), (2, "x", "timestamp")])
        for at in range(10):
            rows = pa.table({"id": [at], "x": pa.array([datetime(2020, 1, 1)], kind)})
            fields = [*table.current()[:1], table.current()[1] | {"type": "date" if number == 2 else "timestamp"}]
            table.append(table.parquet(f"{at}.parquet", rows, fields=fields))
        place = str(tmp_path / str(number))
        assert [m.id for m in direct.health(place, limits={"small-files": 5}).beyond] == ["small-files"]
        seen = runs.preview(direct.open_table(place), "compact")
        assert bool(seen.call) == (number == 0)
        starts = ("", "Do not run this: column 'x'", "Spark would fail: column 'x'")[number]
        assert seen.refusal.startswith(starts)


@pytest.mark.parametrize(("positions", "value"), [(0, None), (1, None), (4, 0.4)])
def test_the_share_that_equality_deletes_hide_is_unknown(positions: int, value: float | None, tmp_path: Path) -> None:
    """What no metadata counts is not 0 (memiiso/debezium-server-iceberg#466)."""
    table = Table(tmp_path / "t", [(1, "id", "long")])
    file = table.parquet("a.parquet", {"id": list(range(10))})
    table.append(file)
    deletes = [table.equality_delete("e.parquet", {"id": [1, 2, 3, 4, 5, 6, 7]})]
    if positions:
        deletes.append(table.position_delete("p.parquet", [(file["file_path"], i) for i in range(positions)]))
    table.delta(deletes=deletes)
    (share,) = [m for m in direct.health(tmp_path / "t").measures if m.id == "deleted-share"]
    assert share.value == value
    assert share.words.startswith(f"at least {positions} of 10 rows")
    assert share.level == ("ok" if value is None else "warning")
    table.delta(data=[table.parquet("b.parquet", {"id": [1]})])
    table.snapshot("delete", [m for m in table.lists[table.md["current-snapshot-id"]] if not m["content"]])
    (share,) = [m for m in direct.health(tmp_path / "t").measures if m.id == "deleted-share"]
    assert (share.value, share.words) == (0, "0 of 11 rows, by the counts of delete files")


def test_bars_that_differ_by_far_have_a_logarithmic_axis() -> None:
    near = bars_svg("Sizes", ("a", "b"), {"files": (10.0, 500.0)}, str)
    far = bars_svg("Sizes", ("a", "b"), {"files": (10.0, 500_000.0)}, str)
    heights = [[float(h) for h in re.findall(r'height="([\d.]+)" fill=', drawn)] for drawn in (near, far)]
    assert "logarithmic" not in near
    assert "Sizes (logarithmic axis)" in far
    assert heights[0][0] / heights[0][1] == pytest.approx(10 / 500, abs=0.01)
    assert heights[1][0] / heights[1][1] > 0.15


def test_freshness_is_told_where_a_threshold_is_given(small: Path) -> None:
    """From the last commit that added rows; a compaction adds none."""
    table = direct.open_table(str(small))
    last = max(s.timestamp_ms or 0 for s in table.metadata.snapshots)
    assert of(checkup(table), "freshness").value is None
    late = of(checkup(table, limits={"freshness": 6}, now_ms=last + 9 * HOUR), "freshness")
    assert (round(late.value or 0, 3), late.level) == (9.0, "warning")


def test_branches_and_tags_that_nothing_ends(tmp_path: Path) -> None:
    small = make_table(tmp_path)

    def change(raw: dict[str, Any]) -> None:
        own = raw["current-snapshot-id"]
        raw["refs"] |= {
            "kept": {"snapshot-id": own, "type": "tag"},
            "ends": {"snapshot-id": own, "type": "tag", "max-ref-age-ms": 1},
        }

    edit_metadata(small, change)
    table = direct.open_table(str(small))
    last = table.metadata.current_snapshot.timestamp_ms  # type: ignore[union-attr]
    for days, old in ((89, 0), (91, 1)):
        measured = of(checkup(table, now_ms=last + days * DAY), "old-refs")
        assert (measured.value, measured.words) == (old, "kept" if old else "")


def test_commits_that_divide_a_files_worth_of_bytes(tmp_path: Path) -> None:
    """Of commits that wrote more than a file's worth: files against those that their bytes and partitions need."""
    place = make_table(tmp_path / "t", **{"write.target-file-size-bytes": "100"})
    measured = of(direct.health(str(place)), "written-files")
    commits = direct.open_table(str(place)).commits().commits
    filled = sum(-(-commit.bytes_added // 100) for commit in commits)
    assert measured.value == sum(commit.data_files_added for commit in commits) / filled
    assert "to 3 partitions" in measured.words
    assert of(direct.health(str(make_table(tmp_path / "other"))), "written-files").value is None


def test_files_that_do_not_record_the_tables_order(tmp_path: Path) -> None:
    """Judged where some file records an order: not every writer does."""
    table = Table(tmp_path / "t", [(1, "id", "long")])
    order = {"order-id": 3, "fields": [
        {"source-id": 1, "transform": "identity", "direction": "asc", "null-order": "nulls-first"}]}  # fmt: skip
    table.md["sort-orders"].append(order)
    table.md["default-sort-order-id"] = 3
    files = [table.parquet(f"{n}.parquet", {"id": [n]}) for n in range(12)]
    table.append(*files)
    assert of(direct.health(str(tmp_path / "t")), "unsorted-files").value is None
    more = table.parquet("sorted.parquet", {"id": [1]}) | {"sort_order_id": 3}
    table.append(more)
    measured = of(direct.health(str(tmp_path / "t")), "unsorted-files")
    assert (measured.value, measured.level) == (12 / 13, "error")


def test_files_without_bounds(tmp_path: Path) -> None:
    """Of the column that most files have bounds of."""
    table = Table(tmp_path / "t", [(1, "id", "long")])
    bare = table.parquet("bare.parquet", {"id": [1]}) | {"lower_bounds": None, "upper_bounds": None}
    table.append(table.parquet("a.parquet", {"id": [1]}), bare)
    health = checkup(direct.open_table(str(tmp_path / "t")), clustering=True)
    assert (of(health, "unbounded").value, of(health, "unbounded").level) == (0.5, "warning")
