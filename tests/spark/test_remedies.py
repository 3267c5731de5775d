"""Every remedy that the doctor prints is run as it is printed, on a table that was damaged for its rule; where it
prints no statement, no procedure mends the table."""

from __future__ import annotations

import contextlib
import copy
import json
import re
import sqlite3
from collections.abc import Callable, Iterator
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pytest

from explorer.lab import scenarios
from explorer.spark_engine.spark import SparkEngine
from explorer.spec.doctor.findings import Finding
from explorer.spec.doctor.remedy_texts import REMEDY_OF
from explorer.spec.doctor.rules import RULES
from explorer.storage.data_dirs import sandbox_home
from explorer.storage.paths import local_path
from tests.cases import build_case
from tests.cases.mini import Table
from tests.robustness.editing import edit_avro, edit_json
from tests.statements.printed import statements
from tests.support import direct
from tests.support.small_tables import make_table, newest_metadata
from tests.unit.test_doctor import ENTRIES, LISTS, METADATA, current

DAYS = 86_400_000
ELSEWHERE = {
    "delete-dangling", "position-deletes-v3", "delete-names-nothing", "orphan-files", "statistics-stale",
    "property-unsafe", "file-missing", "vector-wrong", "two-vectors", "partition-value", "record-count",
    "row-ids-overlap", "next-row-id", "delete-partition", "equality-id-unknown", "manifest-missing",
    "partition-summary", "copied-or-edited", "metadata-choice", "path-outside", "equality-id-old",
    "column-type", "delete-repeated", "row-ids-changed", "commit-unnamed", "log-incomplete",
}  # fmt: skip
"""Rules with remedies whose tables are damaged in other tests: of this file, test_doctor.py, test_stored_types.py,
test_twelfth_reports.py, test_thirteenth_reports.py, test_twentyfirst_reports.py, test_thirtieth_engine_reports.py."""
NOT_TRIED = {"metadata-unreadable"}
"""Rules that need another kind of table, in tests of their own."""
UNMENDED = ("I", "N", "P", "W", "X", "Y", "Z", "H")
"""Remedies that say that nothing in Spark mends the fault."""
DAMAGES: list[tuple[str, str, Callable[[Path], Any]]] = [
    *(
        (f"metadata-{n}", rule, lambda t, edit=edit: edit_json(newest_metadata(t), lambda d: (edit(d), None)[1]))
        for n, (rule, edit) in enumerate(METADATA)
    ),
    *(
        (f"list-{n}", rule, lambda t, change=change: edit_avro(current(t)[0], change))
        for n, (rule, change) in enumerate(LISTS)
        if rule != "manifest-missing"  # which is outside the folders that may be read
    ),
    *(
        (f"entry-{n}", rule, lambda t, change=change: edit_avro(current(t)[1][0], change))
        for n, (rule, change) in enumerate(ENTRIES)
    ),
]


def found(name: str, rule: str, **options: Any) -> list[Finding]:
    findings = direct.doctor(name, **options).findings
    return [f for f in findings if f.rule == rule or any(e.rule == rule for e in f.explains)]


def expire_others(engine: SparkEngine, own: str) -> None:
    engine.session().sql(
        f"CALL sandbox.system.expire_snapshots(table => '{own}', older_than => TIMESTAMP '2999-01-01 00:00:00 UTC', "
        "retain_last => 1)"
    )


def place(path: Any) -> Path:
    return Path(str(local_path(str(path))))


def edited(path: Any, change: Callable[[Any], Any]) -> None:
    """Change a file of a table that Spark reads: its checksum goes."""
    file = place(path)
    (edit_json if file.name.endswith(".json") else edit_avro)(file, lambda data: (change(data), None)[1])
    file.with_name(f".{file.name}.crc").unlink(missing_ok=True)


def test_every_rule_has_a_remedy_that_is_tried() -> None:
    damaged = {rule for _, rule, _ in DAMAGES}
    untried = {rule.id for rule in RULES} - damaged - ELSEWHERE - NOT_TRIED - {rule for _, rule, *_ in CASES}
    assert not untried - {rule for rule, *_ in FAULTS}
    assert set(REMEDY_OF) == {rule.id for rule in RULES}


@pytest.fixture(scope="module")
def namespace(engine: SparkEngine) -> Iterator[str]:
    """Whose tables leave the catalog afterwards: Spark cannot drop those that it cannot load."""
    engine.session().sql("CREATE NAMESPACE IF NOT EXISTS sandbox.mended")
    yield "mended"
    with contextlib.closing(sqlite3.connect(sandbox_home() / "catalog.db")) as catalog:
        catalog.execute("DELETE FROM iceberg_tables WHERE table_namespace = 'mended'")
        catalog.commit()


@pytest.mark.parametrize(("label", "rule", "damage"), DAMAGES, ids=[label for label, *_ in DAMAGES])
def test_a_damaged_table(
    label: str, rule: str, damage: Callable[[Path], Any], namespace: str, engine: SparkEngine, tmp_path: Path
) -> None:
    spark, own = engine.session(), f"{namespace}.{label.replace('-', '_')}"
    name = f"sandbox.{own}"
    folder = make_table(tmp_path)
    if REMEDY_OF[rule] == "E" or rule == "totals-differ":  # its remedy takes what is old enough
        _age(folder)
    spark.sql(f"CALL sandbox.system.register_table('{own}', 'file:{newest_metadata(folder)}')")
    damage(folder)
    sick = found(name, rule)
    sick = [f for f in sick if "Restore the metadata file" in f.remedy] or sick
    assert sick
    letter, printed = REMEDY_OF[rule], statements(sick[0].remedy)
    letter = "E" if "the fault goes with the snapshots" in sick[0].remedy else letter
    rows = 6
    if "Restore the metadata file" in sick[0].remedy:
        spark.sql(printed[0])
        assert not found(f"{name}_restored", rule)
        assert spark.table(f"{name}_restored").count() in (4, 6)
    elif letter in ("G", "T", "L", "F") and "rollback_to_snapshot" in sick[0].remedy:
        spark.sql(printed[0])
        assert not found(name, rule, snapshot="main")
        assert spark.table(name).count() == 4  # the snapshot before
    elif letter in ("B", "R", "O", "C") and printed:
        spark.sql(printed[0])
        spark.sql(f"CALL sandbox.system.rewrite_manifests('{own}')")
        expire_others(engine, own)
        assert not found(name, rule)
        assert spark.table(name).count() == rows
    elif letter == "E":
        spark.sql(printed[0])
        assert not found(name, rule)
        assert spark.table(name).count() == rows
    elif letter == "S":
        spark.sql(printed[0])
        assert not found(name, rule)
    elif letter == "U":
        for finding in sick:
            spark.sql(statements(finding.remedy)[0])
        assert not found(name, rule)
    elif letter in UNMENDED and rule != "partition-source-dropped":
        assert re.search("[Nn]othing in Spark|[Nn]o procedure", sick[0].remedy)
        assert not printed
        for attempt in (
            f"CALL sandbox.system.rewrite_data_files(table => '{own}', options => map('rewrite-all', 'true'))",
            f"ALTER TABLE {name} SET TBLPROPERTIES ('touched' = 'yes')",
        ):
            spark.sql(attempt)
            assert found(name, rule)
    else:
        assert not printed, sick[0].remedy
        assert re.search("[Nn]othing in Spark|[Nn]o procedure", sick[0].remedy)


def _age(folder: Path) -> None:
    """All but the current snapshot are older than the days that expiry keeps."""

    current = json.loads(newest_metadata(folder).read_text())["current-snapshot-id"]

    def older(data: dict[str, Any]) -> None:
        for item in (*data.get("snapshots", ()), *data.get("snapshot-log", ())):
            if item["snapshot-id"] != current:
                item["timestamp-ms"] -= 9 * DAYS

    for path in (folder / "metadata").glob("*.metadata.json"):  # or the older ones would have other times
        edit_json(path, older)


def _vectors(table: direct.Table) -> str:
    listed = table.tree.manifests(table.metadata.current_snapshot)
    return next(m.manifest_path for m in listed if m.content == 1)


def _data(table: direct.Table) -> str:
    listed = table.tree.manifests(table.metadata.current_snapshot)
    return next(m.manifest_path for m in listed if m.content == 0)


def _two_vectors(table: direct.Table) -> None:
    def twice(records: list[dict[str, Any]]) -> None:
        other = copy.deepcopy(records[0])
        other["data_file"]["content_offset"] += 1
        records.append(other)

    edited(_vectors(table), twice)


def _fewer_rows(table: direct.Table) -> None:
    """A data file has a row more than is recorded: compaction refuses it."""

    def fewer(records: list[dict[str, Any]]) -> None:
        largest = max((r["data_file"] for r in records), key=lambda file: file["record_count"])
        assert largest["record_count"] > 1
        largest["record_count"] -= 1

    edited(_data(table), fewer)


def _overlap(table: direct.Table) -> None:
    current = table.metadata.current_snapshot
    assert current is not None
    edited(current.manifest_list, lambda records: [r.update(first_row_id=0) for r in records if not r["content"]])


def _wrong_day(table: direct.Table) -> None:
    def shift(records: list[dict[str, Any]]) -> None:
        partition = records[0]["data_file"]["partition"]
        name = next(name for name, value in partition.items() if not isinstance(value, str))
        partition[name] = partition[name] + type(partition[name] - partition[name])(1)

    edited(_data(table), shift)


def _count_seven(table: direct.Table) -> None:
    """The manifest list counts seven files in each delete manifest."""
    current = table.metadata.current_snapshot
    assert current is not None
    edited(current.manifest_list, lambda records: [r.update(added_files_count=7) for r in records if r["content"]])


def _more_deletes(table: direct.Table) -> None:
    def more(records: list[dict[str, Any]]) -> None:
        records[0]["data_file"]["record_count"] += 5

    edited(_vectors(table), more)


TEACHING: list[tuple[str, str, bool, Callable[[direct.Table], Any]]] = [
    ("two-vectors", "deletion_vectors", False, _two_vectors),
    ("vector-wrong", "deletion_vectors", True, lambda t: edited(
        _vectors(t), lambda r: r[0]["data_file"].update(record_count=r[0]["data_file"]["record_count"] + 1)
    )),
    ("row-ids-overlap", "deletion_vectors", False, _overlap),
    ("partition-value", "hidden_partitioning", True, _wrong_day),
    ("next-row-id", "deletion_vectors", False, lambda t: edited(
        t.metadata.metadata_location, lambda d: d.update({"next-row-id": 1})
    )),
    ("equality-id-unknown", "equality_deletes", False, lambda t: edited(
        _vectors(t), lambda r: r[0]["data_file"].update(equality_ids=[99])
    )),
    ("record-count", "compaction_sort", True, _fewer_rows),
    ("manifest-counts", "position_deletes", False, _count_seven),
    ("manifest-counts", "equality_deletes", False, _count_seven),
    ("manifest-counts", "deletion_vectors", False, _count_seven),
    ("record-count", "position_deletes", True, _more_deletes),
    ("record-count", "equality_deletes", True, _more_deletes),
    ("manifest-missing", "three_inserts", False, lambda t: place(_data(t)).unlink()),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "scenario", "deep", "damage"), TEACHING, ids=[f"{f[0]}-{f[1]}" for f in TEACHING])
def test_a_damaged_teaching_table(
    rule: str, scenario: str, deep: bool, damage: Callable[[direct.Table], Any], sandbox: Path, engine: SparkEngine
) -> None:
    table = direct.open_table(scenarios.fresh_copy(scenario))
    own, spark = table.name.removeprefix("sandbox."), engine.session()
    rows = spark.table(table.name).count()
    damage(table)
    spark.catalog.clearCache()
    sick = found(table.name, rule, deep=deep)
    assert sick
    printed = statements(sick[0].remedy)
    if not printed:
        assert "No procedure mends it" in sick[0].remedy or "no procedure mends it" in sick[0].remedy
        if REMEDY_OF[rule] == "N":
            spark.sql(
                f"CALL sandbox.system.rewrite_data_files(table => '{own}', options => map('rewrite-all', 'true'))"
            )
            assert found(table.name, rule)
        return
    for statement in printed if "rewrite_position_delete_files" in printed[0] else printed[:1]:
        spark.sql(statement)
    if "rollback_to_snapshot" in printed[0]:  # which loses what was committed since
        assert not found(table.name, rule, snapshot="main", deep=deep)
        return
    if REMEDY_OF[rule] in ("R", "O"):
        spark.sql(f"CALL sandbox.system.rewrite_manifests('{own}')")
        expire_others(engine, own)
        assert spark.table(table.name).count() == rows
    assert not found(table.name, rule, deep=deep, snapshot="main")
    assert spark.table(table.name).collect()


CASES = [
    ("01", "file-twice"), ("02", "file-twice"), ("04", "manifest-list-missing"), ("16", "partition-summary"),
    ("18", "metrics-wrong"),
]  # fmt: skip
ROWS = {"01": (5, 5), "02": (2, 2), "04": (2,), "16": (1,), "18": (3,)}
"""After each statement of the remedy, on a table of its own."""


@pytest.mark.parametrize(("case", "rule"), CASES)
def test_a_table_of_a_public_report(case: str, rule: str, namespace: str, engine: SparkEngine, tmp_path: Path) -> None:
    spark, number = engine.session(), 0
    while True:
        folder = build_case(case, tmp_path / str(number))
        own = f"{namespace}.case_{case}_{number}"
        spark.sql(f"CALL sandbox.system.register_table('{own}', 'file:{newest_metadata(folder)}')")
        printed = statements(found(f"sandbox.{own}", rule)[0].remedy)
        assert len(printed) == len(ROWS[case])
        spark.sql(printed[number])
        assert spark.table(f"sandbox.{own}").count() == ROWS[case][number]
        if "rewrite_data_files" in printed[number]:
            spark.sql(f"CALL sandbox.system.rewrite_manifests('{own}')")
        assert not found(f"sandbox.{own}", rule, snapshot="main")
        number += 1
        if number == len(printed):
            break


Change = Callable[[Path], Any]
FAULTS: list[tuple[str, str, Change | None, tuple[Any, ...] | None]] = [
    # rule, case (empty for three appends), what is changed, the first column afterwards (None: as before)
    ("field-ids-absent", "07", None, None),
    ("sequence-twice", "30", None, (1, 2, 3)),
    ("commit-cut-off", "45", None, None),
    ("metadata-fork", "10", None, None),
    ("delete-dropped", "12", None, (1, 3, 4)),
    ("value-suspect", "33", None, None),
    ("partition-value", "35", None, None),
    ("readers-differ", "early", None, None),
    ("metrics-wrong", "64", None, (2, 3)),
    ("metrics-wrong", "21", None, None),
    ("avro-schema", "60", None, None),
    ("avro-schema", "61", None, None),
    ("readers-differ", "20", None, None),
    ("delete-misplaced", "13", None, None),
    ("delete-misplaced", "14", None, None),
    ("required-absent", "", lambda t: [
        edit_json(path, lambda d: d["schemas"][0]["fields"][1].update({"required": True}))
        for path in (t / "metadata").glob("*.metadata.json")
    ], None),
    ("records-differ", "", lambda t: edit_avro(current(t)[0], _says_otherwise), None),
    ("property-refused", "", lambda t: edit_json(
        newest_metadata(t), lambda d: d["properties"].update({"read.split.target-size": "x"})
    ), None),
    ("property-refused", "", lambda t: edit_json(
        newest_metadata(t), lambda d: d["properties"].update({"schema.name-mapping.default": "{"})
    ), None),
    ("partition-source-dropped", "", lambda t: edit_json(newest_metadata(t), _unused_spec), None),
    ("deleted-file-live", "", lambda t: _deleted_again(t), (0, 1, 100, 101)),
    ("deletes-in-v1", "deletes", lambda t: [
        edit_json(path, _of_version_one) for path in (t / "metadata").glob("*.metadata.json")
    ], None),
]  # fmt: skip
"""Faults that statements mend, or that the remedy says nothing in Spark mends."""
STAY = ("readers-differ", "delete-misplaced", "commit-cut-off", "metadata-fork")
"""Rules whose finding stays: the remedy says so."""


def _says_otherwise(records: list[dict[str, Any]]) -> None:
    records[-1]["min_sequence_number"] = 0


def _of_version_one(data: dict[str, Any]) -> None:
    data["format-version"] = 1
    for item in (data, *data.get("snapshots", ())):
        for name in ("last-sequence-number", "sequence-number"):
            item.pop(name, None)


def _deleted_again(table: Path) -> None:
    """The newest manifest says that a file was deleted which another manifest has."""
    _, manifests = current(table)
    others: list[dict[str, Any]] = []
    edit_avro(manifests[1], lambda records: others.extend(map(dict, records)))
    gone = [{**record, "status": 2, "sequence_number": 2, "file_sequence_number": 2} for record in others]
    edit_avro(manifests[0], lambda records: [*records, *gone])


def faulty_table(case: str, folder: Path) -> Path:
    """The table of a fault, before it is changed."""
    builders = {"early": build_early, "deletes": build_deletes}
    return (
        builders[case](folder / "t") if case in builders else build_case(case, folder) if case else make_table(folder)
    )


def build_deletes(folder: Path) -> Path:
    """A table with a position delete."""
    table = Table(folder, [(1, "id", "long")])
    data = table.parquet("a.parquet", {"id": [1, 2]})
    table.append(data)
    table.delta(deletes=[table.position_delete("p.parquet", [(data["file_path"], 0)])], operation="delete")
    return folder


def build_early(folder: Path) -> Path:
    """A table of a day before 1970 as Iceberg up to 0.10.0 wrote it."""
    table = Table(folder, [(1, "id", "long"), (2, "t", "timestamp")], [(2, 1000, "p", "day")])
    row = {"id": [1], "t": [datetime(1969, 12, 31, 10)]}
    table.append(table.parquet("a.parquet", row, partition={"p": date(1970, 1, 1)}))
    return folder


def _unused_spec(data: dict[str, Any]) -> None:
    fields = [{"source-id": 8, "field-id": 1000, "name": "x", "transform": "identity"}]
    data["partition-specs"].append({"spec-id": 1, "fields": fields})
    data["last-partition-id"] = 1000


@pytest.mark.parametrize(
    ("number", "rule", "case", "damage", "after"),
    [(number, *fault) for number, fault in enumerate(FAULTS)],
    ids=[f"{rule}-{case or number}" for number, (rule, case, *_) in enumerate(FAULTS)],
)
def test_a_fault_that_is_mended_or_said_to_stay(
    number: int, rule: str, case: str, damage: Change | None, after: tuple[Any, ...] | None, namespace: str,
    engine: SparkEngine, tmp_path: Path,
) -> None:  # fmt: skip
    spark, own = engine.session(), f"{namespace}.fault_{number}"
    folder = faulty_table(case, tmp_path)
    spark.sql(f"CALL sandbox.system.register_table('{own}', 'file:{newest_metadata(folder)}')")
    name = f"sandbox.{own}"

    def first_column() -> tuple[Any, ...]:
        table = spark.table(name)
        return tuple(sorted(row[0] for row in table.select(table.columns[0]).collect()))

    before = first_column()
    if damage is not None:
        damage(folder)
        spark.sql(f"REFRESH TABLE {name}")
    sick = found(name, rule, deep=True)
    printed = statements(sick[0].remedy)
    assert printed or re.search("[Nn]othing in Spark|[Nn]o procedure", sick[0].remedy)
    for statement in printed:
        spark.sql(statement)
    if not printed or (rule in STAY and case != "early"):
        assert re.search("[Nn]othing in Spark|[Nn]o procedure", sick[0].remedy)
        assert found(name, rule, deep=True)
    else:
        if REMEDY_OF[rule] in ("B", "R") or case == "early":
            spark.sql(f"CALL sandbox.system.rewrite_manifests('{own}')")
        assert not found(name, rule, deep=True, snapshot="main")
        spark.sql(
            f"CALL sandbox.system.expire_snapshots(table => '{own}', older_than => TIMESTAMP '2999-01-01 00:00:00 "
            "UTC', retain_last => 1)"
        )
        assert not found(name, rule, deep=True)
    assert first_column() == (before if after is None else after)


def test_the_files_of_a_lost_manifest_are_added_again(namespace: str, engine: SparkEngine, tmp_path: Path) -> None:
    spark, own = engine.session(), f"{namespace}.added_again"
    folder = build_case("05", tmp_path)
    spark.sql(f"CALL sandbox.system.register_table('{own}', 'file:{newest_metadata(folder)}')")
    [sick] = found(f"sandbox.{own}", "manifest-missing")
    assert f"{folder}/data/f1.parquet." in sick.remedy
    printed = statements(sick.remedy)
    assert [re.split(r"[.(]", statement)[2] for statement in printed] == [
        "rollback_to_snapshot", "cherrypick_snapshot", "cherrypick_snapshot", "add_files"
    ]  # fmt: skip
    for statement in printed:
        spark.sql(statement)
    assert not found(f"sandbox.{own}", "manifest-missing", snapshot="main", deep=True)
    assert [row.id for row in spark.table(f"sandbox.{own}").orderBy("id").collect()] == [0, 1, 2, 3]


def test_files_of_a_lost_manifest_that_do_not_fit_are_only_named(tmp_path: Path) -> None:
    folder = build_case("05", tmp_path)
    (folder / "data" / "f9.parquet").write_bytes((folder / "data" / "f1.parquet").read_bytes())
    [sick] = found(str(folder), "manifest-missing")
    assert "2 data files of the table's folder may be of it" in sick.remedy
    assert "check that they are of no failed write" in sick.remedy
    assert "add_files(" not in sick.remedy


def test_what_was_lost_is_seen_by_what_is_printed(namespace: str, engine: SparkEngine, tmp_path: Path) -> None:
    spark = engine.session()
    for case, rule in (("10", "metadata-fork"), ("45", "commit-cut-off")):
        folder, own = build_case(case, tmp_path), f"{namespace}.lost_{case}"
        spark.sql(f"CALL sandbox.system.register_table('{own}', 'file:{newest_metadata(folder)}')")
        [printed] = statements(found(f"sandbox.{own}", rule)[0].remedy)
        spark.sql(printed)
        if rule == "metadata-fork":
            lost = spark.sql(f"SELECT id FROM sandbox.{own}_fork EXCEPT SELECT id FROM sandbox.{own}").collect()
            assert [row.id for row in lost] == [33]
            continue
        kept = spark.sql(f"SELECT id FROM sandbox.{own} VERSION AS OF 'cut_off' ORDER BY id").collect()
        assert [row.id for row in kept] == [0, 1, 2]
        assert "branch" not in (again := found(f"sandbox.{own}", rule)[0].remedy).lower() or not statements(again)


def test_statistics_of_partitions_that_are_gone(namespace: str, engine: SparkEngine) -> None:
    spark, own = engine.session(), f"{namespace}.parts"
    spark.sql(f"CREATE TABLE sandbox.{own} (id INT, p STRING) USING iceberg PARTITIONED BY (p)")
    spark.sql(f"INSERT INTO sandbox.{own} VALUES (1, 'a'), (2, 'b')")
    spark.sql(f"CALL sandbox.system.compute_partition_stats('{own}')")
    place(direct.open_table(f"sandbox.{own}").metadata.statistics[0].path).unlink()
    [printed] = statements(found(f"sandbox.{own}", "statistics-file")[0].remedy)
    assert "compute_partition_stats" in printed
    spark.sql(f"INSERT INTO sandbox.{own} VALUES (3, 'a')")
    spark.sql(printed)
    assert direct.open_table(f"sandbox.{own}").metadata.statistics


def test_a_lost_data_file_is_dropped_by_going_back(sandbox: Path, engine: SparkEngine) -> None:
    table = direct.open_table(scenarios.fresh_copy("three_inserts"))
    last = table.metadata.current_snapshot
    assert last is not None
    place(next(f["file_path"] for f in table.files() if f["snapshot_id"] == last.snapshot_id)).unlink()
    [sick] = found(table.name, "file-missing", files=True)
    assert "it has 2 data files and 2 rows, the current one 3 and 3" in sick.remedy
    engine.session().sql(statements(sick.remedy)[0])
    assert not found(table.name, "file-missing", files=True, snapshot="main")
    assert engine.session().table(table.name).count() == 2


def test_a_field_added_where_the_last_id_is_low_does_harm(namespace: str, engine: SparkEngine, tmp_path: Path) -> None:
    folder = make_table(tmp_path)
    edit_json(newest_metadata(folder), lambda d: d.update({"last-column-id": 1}))
    own, spark = f"{namespace}.low", engine.session()
    spark.sql(f"CALL sandbox.system.register_table('{own}', 'file:{newest_metadata(folder)}')")
    sick = found(f"sandbox.{own}", "last-column-id-low")[0]
    assert sick.remedy.startswith("Add no column")
    with pytest.raises(Exception, match="multiple fields"):
        spark.sql(f"ALTER TABLE sandbox.{own} ADD COLUMN extra INT")


def test_a_broken_metadata_file_is_replaced_under_another_name(
    namespace: str, engine: SparkEngine, tmp_path: Path
) -> None:
    folder = make_table(tmp_path)
    newest_metadata(folder).write_text('{"format-version": 2, ')
    [sick] = direct.doctor(str(folder)).findings
    [printed] = statements(sick.remedy)
    spark = engine.session()
    spark.sql(printed.replace("your_catalog", "sandbox").replace("your_db.your_table", f"{namespace}.broken"))
    assert spark.table(f"sandbox.{namespace}.broken_restored").count() == 4
