"""Each rule finds what it is for, names the file, and finds nothing in a table that is whole."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from click.testing import CliRunner
from pyiceberg.table import StaticTable

from explorer.cli import main
from explorer.errors import NotFoundInTable
from explorer.queries.orphans import orphans
from explorer.render.doctor import ShownReport, finding_row, lines
from explorer.reports.conflicts import explain_conflict
from explorer.reports.maintenance import runs
from explorer.spec.doctor import cross_file_rules
from explorer.spec.doctor.finding_groups import MEMBERS
from explorer.spec.doctor.findings import ORDER, Finding, RuleChoice
from explorer.spec.doctor.remedy_texts import REMEDY_OF, TEXTS, TEXTS_OF
from explorer.spec.doctor.rules import RULES
from explorer.storage.paths import local_path
from tests.cases.mini import Table
from tests.robustness.editing import edit_avro, edit_json
from tests.support import direct
from tests.support.small_tables import edit_metadata, in_catalog, make_table, newest_metadata, partitioned, writable

ROOT = Path(__file__).parents[2]
Edit = Callable[[dict[str, Any]], Any]


def by_rule(report: ShownReport) -> dict[str, Finding]:
    """The first finding of each rule."""
    return {f.rule: f for f in reversed(report.findings)}


def ids(folder: Path, **options: Any) -> dict[str, Finding]:
    return by_rule(direct.doctor(str(folder), **options))


def test_a_whole_table_is_clean(whole: Path) -> None:
    report = direct.doctor(str(whole), files=True, deep=True)
    assert report.findings == ()
    assert (report.exit_code, report.worst, report.checked["snapshots"], report.not_checked) == (0, None, 3, ())


def snapshot(n: int, **fields: Any) -> Edit:
    return lambda d: d["snapshots"][n].update(fields)


FIELD = {"id": 9, "name": "more", "type": "long", "required": False}
METADATA: list[tuple[str, Edit]] = [
    ("metadata-field", lambda d: d.pop("last-updated-ms")),
    ("metadata-field", lambda d: d["refs"]["main"].update({"type": "twig"})),
    ("metadata-field", lambda d: d["schemas"][0]["fields"][0].update({"type": "thing"})),
    ("format-version-unknown", lambda d: d.update({"format-version": 9})),
    ("uuid-changed", lambda d: d.pop("table-uuid")),
    ("uuid-changed", lambda d: d.update({"table-uuid": "9c12d441-03fe-4693-9a96-a0705ddf69c1"})),
    ("current-schema-missing", lambda d: d.update({"current-schema-id": 7})),
    ("schema-rebound", lambda d: d["schemas"].append(d["schemas"][0])),
    ("schema-rebound", lambda d: d["schemas"][0]["fields"][1].update({"name": "other"})),
    ("field-id-conflict", lambda d: d["schemas"][0]["fields"][1].update({"id": 1})),
    ("field-id-conflict", lambda d: d["schemas"][0]["fields"].append({**FIELD, "id": 2147483546})),
    ("last-column-id-low", lambda d: d.update({"last-column-id": 1})),
    ("default-missing", lambda d: d.update({"default-spec-id": 4})),
    ("default-missing", lambda d: d.update({"default-sort-order-id": 4})),
    ("partition-field-conflict", lambda d: d["partition-specs"].extend(
        {"spec-id": i, "fields": [{"source-id": i, "field-id": 1000, "name": "x", "transform": "identity"}]}
        for i in (1, 2)
    )),
    ("last-partition-id-low", lambda d: d["partition-specs"].append(
        {"spec-id": 1, "fields": [{"source-id": 1, "field-id": 1000, "name": "x", "transform": "identity"}]}
    )),
    ("partition-source-dropped", lambda d: d["partition-specs"].append(
        {"spec-id": 1, "fields": [{"source-id": 8, "field-id": 1000, "name": "x", "transform": "identity"}]}
    )),
    ("snapshot-twice", lambda d: d["snapshots"].append(d["snapshots"][0])),
    ("current-unlike-main", lambda d: d["refs"]["main"].update({"snapshot-id": d["snapshots"][0]["snapshot-id"]})),
    ("ref-dangling", lambda d: d["refs"].update({"x": {"type": "tag", "snapshot-id": 5}})),
    ("parent-cycle", lambda d: d["snapshots"][0].update({"parent-snapshot-id": d["snapshots"][2]["snapshot-id"]})),
    ("parent-expired", lambda d: d["snapshots"][0].update({"parent-snapshot-id": 5})),
    ("sequence-above-last", lambda d: d.update({"last-sequence-number": 1})),
    ("sequence-regresses", snapshot(2, **{"sequence-number": 1})),
    ("time-out-of-order", snapshot(2, **{"timestamp-ms": 7})),
    ("time-out-of-order", lambda d: d.update({"last-updated-ms": 7})),
    ("time-out-of-order", lambda d: d["snapshot-log"][0].update({"timestamp-ms": 1 << 45})),
    ("log-of-expired", lambda d: d["snapshot-log"].insert(0, {"snapshot-id": 5, "timestamp-ms": 1})),
    ("metadata-log-file-missing", lambda d: d["metadata-log"][0].update({"metadata-file": "/none.metadata.json"})),
    ("snapshot-schema-missing", snapshot(1, **{"schema-id": 9})),
    ("property-unsafe", lambda d: d["properties"].update({"s3.secret-access-key": "hunter2"})),
    ("property-unsafe", lambda d: d["properties"].update({"py-io-impl": "evil.Loader"})),
    ("id-beyond-64-bits", snapshot(0, **{"snapshot-id": 1 << 64})),
    ("manifest-list-missing", lambda d: d["snapshots"][1].update({"manifest-list": d["location"] + "/x.avro"})),
    ("totals-differ", lambda d: d["snapshots"][1]["summary"].update({"total-records": "5000"})),
    ("totals-differ", lambda d: d["snapshots"][1]["summary"].update({"added-records": "5000"})),
    ("operation-contradicts", lambda d: d["snapshots"][1]["summary"].update({"operation": "delete"})),
    ("statistics-file", lambda d: d.update({"statistics": [
        {"snapshot-id": d["current-snapshot-id"], "statistics-path": d["location"] + "/metadata/none.stats",
         "file-size-in-bytes": 9, "file-footer-size-in-bytes": 9, "blob-metadata": []}
    ]})),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "edit"), METADATA, ids=[f"{n}-{rule}" for n, (rule, _) in enumerate(METADATA)])
def test_rules_over_metadata(rule: str, edit: Edit, table: Path) -> None:
    path = newest_metadata(table)
    edit_json(path, lambda d: (edit(d), None)[1])
    report = direct.doctor(str(table))
    found = by_rule(report)
    assert rule in found, found
    assert found[rule].file
    assert "hunter2" not in json.dumps(report.to_json())


def current(table: Path) -> tuple[Path, list[Path]]:
    """The current snapshot's list, and its manifests."""
    opened = direct.open_table(str(table))
    at = opened.metadata.current_snapshot
    assert at is not None
    assert at.manifest_list
    listed = [Path(str(local_path(m.manifest_path))) for m in opened.tree.manifests(at)]
    return Path(str(local_path(at.manifest_list))), listed


def of_list(**fields: Any) -> Callable[[Any], Any]:
    return lambda records: records[0].update(fields)


def of_file(n: int = 0, **fields: Any) -> Callable[[Any], Any]:
    return lambda records: records[n]["data_file"].update(fields)


LISTS: list[tuple[str, Any]] = [
    ("manifest-list-empty", lambda records: records.clear() or [*records, *[]]),
    ("manifest-twice", lambda records: [*records, records[0]]),
    ("manifest-length", of_list(manifest_length=7)),
    ("manifest-counts", of_list(added_files_count=7)),
    ("manifest-counts", of_list(added_rows_count=1)),
    ("spec-unknown", of_list(partition_spec_id=7)),
    ("manifest-content", of_list(content=1)),
    ("min-sequence", of_list(min_sequence_number=70)),
    ("sequence-above-last", of_list(sequence_number=70)),
    ("manifest-missing", of_list(manifest_path="file:///none.avro")),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "change"), LISTS[1:], ids=[f"{n}-{rule}" for n, (rule, _) in enumerate(LISTS[1:])])
def test_rules_over_manifest_lists(rule: str, change: Any, table: Path) -> None:
    path, _ = current(table)
    edit_avro(path, change)
    found = ids(table)
    if rule == "manifest-missing":  # which lies outside what may be read
        assert "path-outside" in found
    else:
        assert rule in found, found
        assert found[rule].snapshots


ENTRIES: list[tuple[str, Any]] = [
    ("null-sequence", lambda records: records[0].update({"status": 0, "sequence_number": None})),
    ("entry-snapshot", lambda records: records[0].update({"snapshot_id": 77})),
    ("entry-invalid", lambda records: records[0].update({"status": 7})),
    ("entry-invalid", of_file(record_count=-1)),
    ("entry-invalid", of_file(file_format="PUFFIN")),
    ("manifest-content", of_file(content=2, equality_ids=[1])),
    ("equality-id-unknown", of_file(content=2, equality_ids=[99])),
    ("metrics-wrong", of_file(record_count=3)),
    ("metrics-wrong", of_file(null_value_counts=[{"key": 1, "value": 9}])),
    ("metrics-wrong", of_file(lower_bounds=[{"key": 1, "value": b"\x7f" * 8}])),
    ("metrics-wrong", of_file(lower_bounds=[{"key": 1, "value": b"\x7f" * 3}])),
    ("split-offsets", of_file(split_offsets=[1 << 40])),
    ("file-twice", lambda records: [*records, records[0]]),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "change"), ENTRIES, ids=[f"{n}-{rule}" for n, (rule, _) in enumerate(ENTRIES)])
def test_rules_over_entries(rule: str, change: Any, table: Path) -> None:
    _, manifests = current(table)
    edit_avro(manifests[0], change)
    found = ids(table)
    assert rule in found, found
    assert found[rule].file.endswith(manifests[0].name)
    assert found[rule].location.startswith("record ") or rule == "equality-id-unknown"


def test_a_table_that_cannot_be_opened_is_diagnosed(table: Path) -> None:
    newest_metadata(table).write_text('{"format-version": 2, ')
    report = direct.doctor(str(table))
    assert [(f.rule, f.severity) for f in report.findings] == [("metadata-unreadable", "fatal")]
    assert report.exit_code == 6
    assert "00002-" in report.findings[0].remedy  # the file before it


def test_copied_or_edited_is_one_finding(table: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(table, copy)
    for name in (copy / "metadata").glob("snap-*.avro"):
        edit_avro(
            name, lambda records: [r.update({"manifest_length": 1 + r["manifest_length"]}) for r in records] and None
        )
    report = direct.doctor(str(copy))
    told = [(f.rule, f.severity, f.count) for f in report.findings if f.rule != "metadata-log-file-missing"]
    assert told == [("copied-or-edited", "info", 3)]
    assert report.exit_code == 0


def test_rounded_snapshot_ids_are_an_edit(table: Path) -> None:
    def rounded(data: dict[str, Any]) -> None:
        text = json.dumps(data)
        for snapshot in data["snapshots"]:
            own = snapshot["snapshot-id"]
            text = text.replace(f": {own}", f": {int(Decimal(repr(float(own))))}")
        data.update(json.loads(text))

    before = {s.snapshot_id for s in direct.open_table(str(table)).metadata.snapshots}
    for path in (table / "metadata").glob("*.metadata.json"):
        edit_json(path, rounded)
    changed = len(before - {s.snapshot_id for s in direct.open_table(str(table)).metadata.snapshots})
    assert changed  # one id in two hundred stays as it is
    wrong = [f for f in direct.doctor(str(table)).findings if f.severity != "info"]
    assert [(f.rule, f.severity, f.count) for f in wrong] == [("copied-or-edited", "warning", changed)]


def test_missing_files_say_who_needs_them_and_orphans_are_told(table: Path) -> None:
    opened = direct.open_table(str(table))
    first = opened.files("snapshot-1")[0]["file_path"]
    local = Path(str(local_path(first)))
    local.unlink()
    (local.parent / "stray.parquet").write_text("x")
    assert ids(table) == {}
    found = ids(table, files=True)
    assert found["file-missing"].file == first
    assert found["file-missing"].snapshots == tuple(s.snapshot_id for s in opened.metadata.snapshots)
    assert found["file-missing"].refs == ("main",)
    assert found["orphan-files"].examples[0].endswith("stray.parquet")
    last = direct.doctor(str(table), files=True, snapshot="snapshot-1")
    assert [f.snapshots for f in last.findings] == [(opened.metadata.snapshots[0].snapshot_id,)]


def test_deep_looks_into_files(table: Path) -> None:
    _, manifests = current(table)
    edit_avro(manifests[0], lambda records: records[0]["data_file"].update({"split_offsets": [5]}))
    data = Path(str(local_path(direct.open_table(str(table)).files()[1]["file_path"])))
    whole = data.read_bytes()
    data.write_bytes(whole[:40] + bytes([whole[40] ^ 1]) + whole[41:])
    assert not set(ids(table, files=True)) - {"manifest-length"}
    found = ids(table, deep=True)
    assert "split-offsets" in found
    assert any(f.file.endswith(data.name) for f in found.values()), found


def test_rules_are_skipped_and_severities_set(table: Path) -> None:
    edit_json(newest_metadata(table), lambda d: d["properties"].update({"password": "x"}))
    run = CliRunner().invoke
    assert run(main, ["doctor", str(table)]).exit_code == 5
    assert run(main, ["doctor", str(table), "--skip", "23"]).exit_code == 0
    assert run(main, ["doctor", str(table), "--severity", "property-unsafe=fatal"]).exit_code == 6
    assert run(main, ["doctor", str(table), "--severity", "property-unsafe=bad"]).exit_code == 1
    assert run(main, ["doctor", str(table.parent / "none")]).exit_code == 1
    told = json.loads(run(main, ["doctor", str(table), "-o", "sarif"]).stdout)
    assert [r["ruleId"] for r in told["runs"][0]["results"]] == ["property-unsafe"]
    with pytest.raises(NotFoundInTable):
        RuleChoice.of(["none"])


def test_the_document_has_every_rule_as_it_is() -> None:
    text = (ROOT / "docs" / "doctor.md").read_text()
    rows = [
        f"| {r.number} | `{r.id}` | {r.severity} | {r.title} | {r.source} | {r.depth} | {REMEDY_OF[r.id]} |"
        for r in RULES
    ]
    assert [line for line in text.splitlines() if re.match(r"\| \d", line)] == rows
    assert len({r.id for r in RULES}) == len(RULES)
    assert all(r.severity in ORDER and REMEDY_OF[r.id] in TEXTS for r in RULES)
    letters = set(re.findall(r"^- \*\*([A-Z])\*\*", text, re.MULTILINE))
    assert letters == set(TEXTS) >= set(REMEDY_OF.values())
    assert f"[{max(r.number for r in RULES)} rules]" in (ROOT / "README.md").read_text()


def test_no_remedy_is_empty() -> None:
    for rule in RULES:
        text = TEXTS_OF.get(rule.id, TEXTS[REMEDY_OF[rule.id]])
        statement = re.search(r"CALL |ALTER TABLE |INSERT |\{(back|previous|fitted|regained|corrected|renewed)\}", text)
        assert statement or re.search(r"[Nn]othing in Spark|[Nn]o procedure", text), rule.id
    assert set(REMEDY_OF) == {rule.id for rule in RULES}


def test_a_link_among_orphans_has_its_own_age(table: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "old"
    elsewhere.write_text("")
    os.utime(elsewhere, (0, 0))
    (table / "data" / "stray.parquet").symlink_to(elsewhere)
    ages = orphans(direct.open_table(str(table)).tree)
    assert [hours < 1 for path, hours in ages.items() if path.endswith("stray.parquet")] == [True]
    (table / "data" / "stray.parquet").unlink()
    live = direct.open_table(str(table)).files()[0]["file_path"].removeprefix("file://")
    (table / "data" / "twin.parquet").symlink_to(live)
    (table / "data" / "p=1").symlink_to(tmp_path)
    assert not orphans(direct.open_table(str(table)).tree)  # a live file, by another name, and a folder


def test_orphans_are_not_told_where_a_manifest_is_missing(table: Path) -> None:
    """Its files would be among them."""
    (table / "data" / "stray.parquet").write_text("x")
    opened = direct.open_table(str(table))
    Path(str(local_path(opened.manifests()[0]["manifest_path"]))).unlink()
    report = direct.doctor(str(table), files=True)
    assert "manifest-missing" in {f.rule for f in report.findings}
    assert "orphan-files" not in {f.rule for f in report.findings}
    assert any("orphan files" in said and "nobody knows" in said for said in report.not_checked)


@pytest.mark.parametrize("statuses", [(1,), (2, 1)])
def test_one_path_a_thousand_times_is_told_in_a_few_findings(statuses: tuple[int, ...], table: Path) -> None:
    """Live, or deleted and live: pairs of manifests are told, not pairs of entries."""
    _, manifests = current(table)
    edit_avro(manifests[0], lambda records: [records[0] | {"status": s} for s in statuses for _ in range(1000)])
    rules = [f.rule for f in direct.doctor(str(table)).findings]
    assert "file-twice" in rules
    assert len(rules) < 30


def test_files_dealt_out_are_told_as_when_held_together(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In one manifest twice, in two at once, and live after it was deleted."""
    _, manifests = current(table)
    others: list[dict[str, Any]] = []
    edit_avro(manifests[1], lambda records: others.extend(map(dict, records)))
    for path in (manifests[0], manifests[2]):  # the oldest is one of them
        edit_avro(path, lambda records: [*records, records[0], *others, *({**r, "status": 2} for r in others)])
    together = direct.doctor(str(table)).to_json()
    assert {"file-twice", "deleted-file-live"} <= {finding["rule"] for finding in together["findings"]}
    monkeypatch.setattr(cross_file_rules, "AT_ONCE", 1)
    assert direct.doctor(str(table)).to_json() == together


def test_a_strange_name_becomes_no_sql(table: Path) -> None:
    name = "x'); DROP TABLE prod.payroll; --token"
    edit_json(newest_metadata(table), lambda data: data["properties"].update({name: "secret"}) or data)
    [finding] = [f for f in direct.doctor(str(table)).findings if f.rule == "property-unsafe"]
    assert "DROP" not in finding.remedy
    assert "UNSET TBLPROPERTIES" in finding.remedy


def test_a_finding_of_a_moved_table_says_where_it_was_looked_for(tmp_path: Path) -> None:
    table = make_table(tmp_path / "old")
    copy = tmp_path / "new" / "t"
    shutil.copytree(table, copy)
    victim = min((copy / "metadata").glob("*-m0.avro"))
    victim.write_text("no manifest")
    found = next(f for f in direct.doctor(str(copy)).findings if f.rule == "manifest-missing")
    assert (found.file, found.read_at) == ((table / "metadata" / victim.name).as_uri(), str(victim))
    assert f"looked for at {victim}" in lines(found)
    assert finding_row(found)["read_at"] == str(victim)
    here = direct.doctor(str(table))
    assert not any(f.read_at for f in here.findings)


def test_many_missing_files_are_one_finding(tmp_path: Path) -> None:
    table = Table(tmp_path / "t", [(1, "id", "long")])
    one = table.parquet("a.parquet", {"id": [1]})
    table.append(*[{**one, "file_path": f"{table.location}/data/{n}.parquet"} for n in range(11_001)])
    report = direct.doctor(str(tmp_path / "t"), deep=True)
    [missing] = [f for f in report.findings if f.rule == "file-missing"]
    assert (missing.count, missing.refused) == (11_001, "scan")
    assert missing.what.startswith("the file does not exist, nor do 11,000 others of its manifest: a writer that took")
    assert len(json.dumps(report.to_json())) < 10_000
    told = repr(report)
    assert len(told) < 3000
    assert "11,001 times" in told
    listed = report.to_json(every=True)["findings"][0]["members"]
    assert len(listed) == MEMBERS  # and more: as text says
    run = CliRunner().invoke(main, ["doctor", str(tmp_path / "t"), "--deep", "--each"])
    assert f"{MEMBERS:,} of 11,001 are listed" in run.stdout


def test_an_overwritten_file_is_one_finding(tmp_path: Path) -> None:
    """Another size, other rows, values outside its bounds, another partition."""
    table = Table(tmp_path / "t", [(1, "id", "long"), (2, "p", "string")], [(2, 1000, "p", "identity")])
    table.append(table.parquet("a.parquet", {"id": [1, 2, 3], "p": ["x"] * 3}, partition={"p": "x"}))
    table.parquet("a.parquet", {"id": list(range(100, 200)), "p": ["y"] * 100})
    report = direct.doctor(str(tmp_path / "t"), deep=True)
    [finding] = report.findings
    assert (finding.rule, finding.refused) == ("file-missing", "scan")
    assert {f.rule for f in finding.explains} == {"record-count", "metrics-wrong", "partition-value"}
    assert "this explains: record-count: found " in repr(report)
    [other] = direct.doctor(str(tmp_path / "t"), deep=True, skip=["file-missing"]).findings
    assert other.rule == "record-count"


def test_a_rule_that_is_broken_in_many_ways_is_told_once(tmp_path: Path) -> None:
    columns = [(n, f"c{n}", "long") for n in range(1, 41)]
    table = Table(tmp_path / "t", columns)
    file = table.parquet("a.parquet", {f"c{n}": [1, 5] for n in range(1, 41)})
    table.append({**file, "lower_bounds": file["upper_bounds"], "upper_bounds": file["lower_bounds"]})
    report = direct.doctor(str(tmp_path / "t"), deep=True)
    [finding] = report.findings
    assert (finding.rule, finding.count, len(finding.columns)) == ("metrics-wrong", 40, 40)


def test_a_commit_that_replaced_the_table_is_not_cut_off(tmp_path: Path) -> None:
    """The metadata file before it has no current snapshot, as CREATE OR REPLACE TABLE leaves it."""
    table = Table(tmp_path / "t", [(1, "id", "long")])
    table.append(table.parquet("a.parquet", {"id": [1]}))
    kept = dict(table.md["refs"])
    table.md["refs"], table.md["current-snapshot-id"] = {}, None
    table.md["last-updated-ms"] = table.clock = table.clock + 1000
    table.save()
    assert kept
    manifest = table.manifest(f"{table.uid()}-m0.avro", [(1, table.parquet("b.parquet", {"id": [2]}))])
    counts = {"added-data-files": "1", "added-records": "1"}
    table.snapshot("append", [manifest], counts, parent=None)
    assert [f.rule for f in direct.doctor(str(tmp_path / "t")).findings] == []


@pytest.mark.parametrize(("factor", "rules"), [(1, ["value-suspect"]), (1000, ["value-suspect"]), (10**6, [])])
def test_times_in_a_mistaken_unit(factor: int, rules: list[str], tmp_path: Path) -> None:
    table = Table(tmp_path / "t", [(1, "t", "timestamp")])
    seconds = [1_750_000_000 * factor, 1_750_000_500 * factor]
    rows = {"t": [datetime(1970, 1, 1) + timedelta(microseconds=s) for s in seconds]}
    table.append(table.parquet("a.parquet", rows))
    assert [f.rule for f in direct.doctor(str(tmp_path / "t")).findings] == rules


def test_hidden_files_are_no_orphans(table: Path) -> None:
    """Such as the log of Delta, of a table that is both."""
    (table / "_delta_log").mkdir()
    (table / "_delta_log" / "0.json").write_text("{}")
    assert "orphan-files" not in ids(table, files=True)


def test_a_view_is_called_a_view(tmp_path: Path) -> None:
    place = tmp_path / "v" / "metadata"
    place.mkdir(parents=True)
    view = {"view-uuid": "fa6506c3-7681-40c8-86dc-e36561f83385", "format-version": 1, "versions": [], "schemas": []}
    (place / "00001-x.metadata.json").write_text(json.dumps(view))
    for command in ("show", "doctor"):
        result = CliRunner().invoke(main, [command, str(tmp_path / "v")])
        assert result.exit_code == 1
        assert "the metadata of an Iceberg view, not of a table" in result.output
        assert "restore" not in result.output


def test_the_pointer_is_told_when_its_metadata_file_is_gone(tmp_path: Path) -> None:
    place = make_table(tmp_path)
    options = [x for k, v in in_catalog(place).items() for x in ("-p", f"{k}={v}")]
    gone = newest_metadata(place)
    gone.unlink()
    for output in ([], ["-o", "json"]):
        result = CliRunner().invoke(main, ["catalog", "pointer", "db.t", "--catalog", "small", *options, *output])
        assert result.exit_code == 3, result.output
        assert gone.name in "".join(result.output.split())
        assert "the file does not exist" in result.output


@pytest.mark.parametrize(
    ("kind", "transform", "value", "partition", "rules"),
    [
        ("timestamp", "day", datetime(1969, 12, 31, 10), date(1970, 1, 1), [("readers-differ", "warning")]),
        ("timestamp", "month", datetime(1960, 5, 3), -115, [("readers-differ", "warning")]),
        ("date", "year", date(1960, 5, 3), -9, [("readers-differ", "warning")]),
        ("date", "year", date(1960, 5, 3), -10, []),
        ("date", "year", date(1960, 5, 3), -8, [("partition-value", "error")]),
        ("timestamp", "hour", datetime(1970, 1, 1, 5), 6, [("partition-value", "error")]),
    ],
)
def test_times_before_1970_as_iceberg_once_wrote_them(
    kind: str, transform: str, value: Any, partition: Any, rules: list[tuple[str, str]], tmp_path: Path
) -> None:
    table = Table(tmp_path / "t", [(1, "t", kind)], [(1, 1000, "p", transform)])
    table.append(table.parquet("a.parquet", {"t": [value]}, partition={"p": partition}))
    for deep in (False, True):
        findings = direct.doctor(str(tmp_path / "t"), deep=deep).findings
        assert [(f.rule, f.severity) for f in findings] == rules


def test_statistics_of_a_snapshot_that_is_gone_are_told_once_and_stay(table: Path) -> None:
    gone = {
        "snapshot-id": 55, "statistics-path": f"{table}/metadata/55.stats", "file-size-in-bytes": 413,
        "file-footer-size-in-bytes": 42, "blob-metadata": [],
    }  # fmt: skip
    edit_metadata(table, lambda data: data.update(statistics=[gone]))
    for deep in (False, True):
        [finding] = [f for f in direct.doctor(str(table), deep=deep).findings if f.rule == "statistics-file"]
        assert finding.severity == "info"
        assert "table.update_statistics().remove_statistics(55).commit()" in finding.remedy
        assert "CALL" not in finding.remedy
    now = {"older_than": "2999-01-01"}
    seen = runs.preview(direct.open_table(table), "expire", retain_last=1, options=now)
    assert "statistics" not in " ".join(seen.words)


@pytest.mark.parametrize("change", [{"partition-spec": None}, {"schema": None}])
def test_what_version_1_requires_and_java_does_not_ask_for(change: dict[str, Any], tmp_path: Path) -> None:
    written = Table(tmp_path / "t", [(1, "id", "long")], version=1)
    written.append(written.parquet("a.parquet", {"id": [1]}))
    edit_metadata(tmp_path / "t", lambda data: data.update({"schema": data["schemas"][0], "partition-spec": []}))
    assert "metadata-field" not in {f.rule for f in direct.doctor(tmp_path / "t").findings}
    edit_metadata(tmp_path / "t", lambda data: data.update(change))
    [finding] = [f for f in direct.doctor(tmp_path / "t").findings if f.rule == "metadata-field"]
    assert (finding.severity, finding.refused) == ("warning", "")
    assert "pyiceberg 0.12 cannot open it" in finding.what


def test_version_1_allows_a_table_without_a_uuid(tmp_path: Path) -> None:
    written = Table(tmp_path / "t", [(1, "id", "long")], version=1)
    written.append(written.parquet("a.parquet", {"id": [1]}))
    edit_metadata(
        tmp_path / "t",
        lambda data: (data.update(schema=data["schemas"][0], **{"partition-spec": []}), data.pop("table-uuid")),
    )
    [finding] = direct.doctor(tmp_path / "t").findings
    assert (finding.rule, finding.severity, finding.refused) == ("uuid-changed", "error", "table")
    assert finding.what.startswith("the table has no UUID, which version 1 allows")
    read = StaticTable.from_metadata(str(newest_metadata(tmp_path / "t"))).scan().to_arrow()
    assert read["id"].to_pylist() == [1]


def test_what_removes_files_is_first_allowed(table: Path) -> None:
    """Iceberg refuses to expire snapshots, and to remove orphans, where gc.enabled is false."""
    stray = table / "data" / "stray.parquet"
    stray.write_bytes(b"x")
    os.utime(stray, (0, 0))
    assert "gc.enabled" not in ids(table, files=True)["orphan-files"].remedy
    edit_metadata(table, lambda raw: raw["properties"].update({"gc.enabled": "false"}))
    remedy = ids(table, files=True)["orphan-files"].remedy
    assert remedy.startswith("Iceberg refuses this now: the table's property gc.enabled is not true")
    assert remedy.index("'gc.enabled'='true'") < remedy.index("remove_orphan_files")


def test_a_parent_that_pyiceberg_expired_is_no_fault(tmp_path: Path) -> None:
    """Its expiry writes null for a parent that it removes; Iceberg Java leaves the id."""
    place = make_table(tmp_path, commits=5)
    table = writable(place)
    table.maintenance.expire_snapshots().by_ids([s.snapshot_id for s in table.metadata.snapshots[:-1]]).commit()
    assert table.metadata.snapshots[0].parent_snapshot_id is None
    report = direct.doctor(str(place))
    assert [f.rule for f in report.findings if f.severity != "info"] == []


def test_places_outside_the_tables_folder_are_not_searched_for_orphans(table: Path, tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    stray = shared / "of-another-table.parquet"
    stray.write_bytes(b"x")
    os.utime(stray, (0, 0))
    edit_metadata(table, lambda raw: raw["properties"].update({"write.data.path": f"file://{shared}"}))
    [not_checked] = direct.doctor(str(table), files=True).not_checked
    assert "write.data.path" in not_checked
    assert "outside the table's folder" in not_checked
    opened = direct.open_table(str(table), roots=[str(shared)])
    own = runs.preview(opened, "remove-orphans")
    assert any("Not looked at" in words and "write.data.path" in words for words in own.words)
    there = runs.preview(opened, "remove-orphans", options={"location": str(shared)})
    assert there.call == ""
    assert any("Do not run this before you know that no other table writes below" in words for words in there.words)
    assert not any("write.data.path" in words for words in there.words)


def test_a_merge_conflicts_with_what_its_filter_may_concern(tmp_path: Path) -> None:
    """Spark pushes what stands in ON beside the join; without it, every file that was added counts."""
    place = partitioned(tmp_path)
    writable(place).append(pa.table({"id": [500], "kind": ["new"]}))
    table = direct.open_table(str(place))
    first = table.metadata.snapshots[0].snapshot_id
    for kind, checks in (("cow-merge", ["validateFromSnapshot", "validateNoConflictingData"]),
                         ("mor-merge", ["validateFromSnapshot", "validateNoConflictingDataFiles"])):  # fmt: skip
        assert explain_conflict(table, first, kind, checks).outcome == "refused"
        assert explain_conflict(table, first, kind, checks, "id = 1").outcome == "retry"
