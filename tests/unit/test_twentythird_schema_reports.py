"""Troubles of a twenty-third round of public reports, of lost schemas and of aggregates, on tables that are built
here."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyiceberg.catalog.sql import SqlCatalog

from explorer.reports.landed import find_landed
from explorer.reports.maintenance import preview
from explorer.reports.maintenance.procedure_calls import LOOKS, PROCEDURES
from explorer.reports.maintenance.runs import preview_undo
from explorer.reports.readers import find_readers
from explorer.spec.doctor.findings import RuleChoice, finding
from explorer.spec.doctor.loading import explain_not_loaded
from explorer.spec.doctor.metadata_rules import current_schema
from explorer.spec.secrets.redaction import HIDDEN, without_secrets
from tests.cases.mini import Table, single
from tests.support import direct
from tests.support.report_tables import found
from tests.support.small_tables import edit_metadata, make_table
from tests.unit.test_cli import run

FIELDS: list[Any] = [(1, "id", "long"), (2, "state", "string")]


def lose_schema(folder: Path, name: str = "c6") -> Path:
    """linkedin/openhouse#541: a commit of a schema and of rows, whose schema did not get into `schemas`."""
    table = Table(folder, FIELDS)
    table.append(table.parquet("a.parquet", {"id": [1, 2, 3], "state": ["x", "y", "z"]}))
    table.set_schema([*FIELDS, (8, name, "string")])
    data = table.parquet("b.parquet", {"id": [4, 5], "state": ["x", "y"], name: ["q", "r"]})
    whole, save = table.md["schemas"], table.save

    def save_without(*args: Any, **more: Any) -> None:
        table.md["schemas"] = whole[:-1]
        save(*args, **more)

    table.save = save_without  # type: ignore[method-assign]
    table.append(data)
    return folder


def test_a_lost_schema_is_one_finding_that_says_what_is_lost_and_what_has_it(tmp_path: Path) -> None:
    [finding] = direct.doctor(str(lose_schema(tmp_path / "t"))).findings
    assert finding.rule == "current-schema-missing"
    assert {effect.rule for effect in finding.explains} == {"snapshot-schema-missing"}
    assert "loses 1 column (c6), and 1 snapshot (102), which by its summary added 2 rows" in finding.remedy
    manifest = next((tmp_path / "t" / "metadata").glob("*0002-m0.avro"))
    assert f"the header of the manifest file://{manifest} has schema 1 whole" in finding.remedy
    assert "-mended.metadata.json" in finding.remedy
    assert "run neither expire_snapshots nor remove_orphan_files while there are two" in finding.remedy
    assert "rewrite_manifests" not in finding.remedy


def test_the_way_back_without_loss_is_one(tmp_path: Path) -> None:
    [finding] = direct.doctor(str(lose_schema(tmp_path / "t"))).findings
    schema = json.loads(re.findall(r"of the copy this: (\{.*\})\. See", finding.remedy)[0])
    copy = Path(re.findall(r"metadata_file => 'file://([^']*)'", finding.remedy)[0])
    raw = json.loads(Path(finding.file.removeprefix("file://")).read_text())
    raw["schemas"].append(schema)
    copy.write_text(json.dumps(raw))
    mended = direct.open_table(str(copy))
    assert direct.doctor(mended).findings == ()
    assert [field.name for field in mended.metadata.schema(1).fields] == ["id", "state", "c6"]  # type: ignore[union-attr]


def test_all_schemas_may_be_lost(tmp_path: Path) -> None:
    folder = make_table(tmp_path, 2)
    edit_metadata(folder, lambda raw: raw.update(schemas=[]))
    findings = direct.doctor(str(folder)).findings
    assert "schema-rebound" not in {finding.rule for finding in findings}
    [finding] = [one for one in findings if one.rule == "current-schema-missing"]
    assert "has schema 0 whole" in finding.remedy


def test_a_long_schema_is_shown_by_a_command(tmp_path: Path) -> None:
    folder = str(lose_schema(tmp_path / "t", f"c{'6' * 5000}"))
    [finding] = direct.doctor(folder).findings
    assert "add to `schemas` of the copy that schema (icedive doctor TABLE --each --output json)" in finding.remedy
    [told] = json.loads(run("doctor", folder, "--each", "--output", "json").stdout)["findings"]
    [held] = [effect["found"] for effect in told["explained"] if effect["location"] == "header schema"]
    assert json.loads(held)["fields"][2]["name"] == f"c{'6' * 5000}"


def test_headers_that_contradict_each_other_are_no_way_back(tmp_path: Path) -> None:
    table = Table(tmp_path / "t", FIELDS)
    schema = {"type": "struct", "schema-id": 1, "fields": [{"id": 9, "name": "x", "required": False, "type": "int"}]}
    other = {**schema, "fields": [{**schema["fields"][0], "name": "y"}]}  # type: ignore[index,dict-item]
    table.md["current-schema-id"] = 1
    table.md["schemas"].append(schema)
    headers = [{"schema": json.dumps(one), "schema-id": "1"} for one in (schema, other)]
    manifests = [table.manifest(f"m{at}.avro", [], header=header) for at, header in enumerate(headers)]
    table.md["schemas"].pop()
    table.snapshot("append", manifests)
    [finding] = found(tmp_path / "t", "current-schema-missing")
    assert "whole" not in finding.remedy


def test_a_schema_that_an_expiry_dropped_is_no_fault(tmp_path: Path) -> None:
    """clean_expired_metadata drops schemas that no snapshot uses; manifests of these times stay."""
    table = Table(tmp_path / "t", FIELDS)
    old = {"type": "struct", "schema-id": 7, "fields": [{"id": 9, "name": "gone", "required": False, "type": "int"}]}
    data = table.parquet("a.parquet", {"id": [1], "state": ["x"]})
    table.snapshot(
        "append", [table.manifest("m0.avro", [(1, data)], header={"schema": json.dumps(old), "schema-id": "7"})]
    )
    assert direct.doctor(str(tmp_path / "t")).findings == ()


def test_the_older_metadata_file_that_is_named_is_one_that_iceberg_loads(tmp_path: Path) -> None:
    folder = lose_schema(tmp_path / "t")
    [finding] = direct.doctor(str(folder)).findings
    broken = Path(finding.file.removeprefix("file://"))
    raw = json.loads(broken.read_text())
    raw["metadata-log"].append({"metadata-file": f"file://{broken}", "timestamp-ms": raw["last-updated-ms"]})
    newer = broken.with_name("00099-00000000-0000-0000-0000-000000000099.metadata.json")
    newer.write_text(json.dumps(raw))
    [finding] = found(newer, "current-schema-missing")
    assert f"Going back to {broken.name}" not in finding.remedy
    assert "Going back to 00001-" in finding.remedy or "Going back to 00002-" in finding.remedy


def test_no_command_prints_a_statement_for_a_table_that_iceberg_cannot_load(tmp_path: Path) -> None:
    folder = str(lose_schema(tmp_path / "t"))
    table = direct.open_table(folder)
    commands = [
        *(["maintain", "preview", folder, operation] for operation in (*PROCEDURES, *LOOKS)),
        ["maintain", "all", folder], ["maintain", "all", folder, "--statements", "trino"], ["storage", folder],
        ["maintain", "file", folder, "a.parquet"], ["readers", folder, "--upgrade", "3"],
        ["refs", "preview", folder, "tag", "--name", "x", "--snapshot", "snapshot-1"],
        ["refs", "preview", folder, "rollback", "--snapshot", "snapshot-1"],
    ]  # fmt: skip
    for command in commands:
        output = run(*command).output
        assert "Iceberg would refuse" in output or command[1] == "file" or "trino" in command, (command, output)
        assert not re.search(r"CALL |ALTER TABLE|EXECUTE ", output), (command, output)
    assert not preview_undo(table, "tag", "x", "snapshot-1").allowed
    upgrade = find_readers(table, upgrade=3).upgrade
    assert upgrade is not None
    assert upgrade.statement == ""


OTHER_FAULTS: dict[str, Any] = {
    "metadata-field": lambda raw: raw.pop("last-updated-ms"),
    "uuid-changed": lambda raw: raw.pop("table-uuid"),
    "schema-rebound": lambda raw: raw["schemas"].append(raw["schemas"][0]),
    "default-missing": lambda raw: raw.update({"default-spec-id": 4}),
    "ref-dangling": lambda raw: raw["refs"].update({"x": {"type": "tag", "snapshot-id": 5}}),
    "current-unlike-main": lambda raw: raw["refs"]["main"].update({"snapshot-id": raw["snapshots"][0]["snapshot-id"]}),
    "time-out-of-order": lambda raw: raw.update({"last-updated-ms": 7}),
}


@pytest.mark.parametrize("rule", OTHER_FAULTS)
def test_whatever_keeps_iceberg_from_loading_a_table_keeps_statements_back(rule: str, tmp_path: Path) -> None:
    folder = make_table(tmp_path, 3)
    assert preview(direct.open_table(str(folder)), "rewrite-manifests").call
    edit_metadata(folder, OTHER_FAULTS[rule])
    seen = preview(direct.open_table(str(folder)), "rewrite-manifests")
    assert seen.call == ""
    assert rule in seen.refusal


def test_a_statement_is_not_advised_before_the_table_can_be_loaded(tmp_path: Path) -> None:
    """A header's schema is another one, and Iceberg cannot load the table for another reason."""
    table = Table(tmp_path / "t", FIELDS)
    data = table.parquet("a.parquet", {"id": [1], "state": ["x"]})
    schema = {"type": "struct", "schema-id": 0, "fields": [{"id": 7, "name": "x", "required": False, "type": "int"}]}
    table.snapshot("append", [table.manifest("m0.avro", [(1, data)], header={"schema": json.dumps(schema)})])
    table.md["default-spec-id"] = 4
    table.write()
    [finding] = found(tmp_path / "t", "schema-rebound")
    assert finding.remedy == "First mend default-missing: until then Iceberg fails on this table."


def test_a_remedy_that_a_rule_brings_waits_too(tmp_path: Path) -> None:
    """As that of a commit that the table does not have: add_files needs a table that Iceberg can load."""
    metadata = direct.open_table(str(lose_schema(tmp_path / "t"))).metadata
    adds = "add_files adds them: CALL c.system.add_files(table => 't')"
    unnamed = finding("commit-unnamed", "a commit", "snap-1.avro", remedy=adds)
    missing = next(iter(current_schema(metadata)))
    told = {f.rule: f.remedy for f in RuleChoice().choose_findings([unnamed, missing], "c.t", metadata)}
    assert told["commit-unnamed"] == "First mend current-schema-missing: until then Iceberg fails on this table."
    [alone] = RuleChoice().choose_findings([unnamed], "c.t", metadata)
    assert alone.remedy == adds


def test_the_pointer_to_a_file_that_iceberg_cannot_load_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = {"type": "sql", "uri": f"sqlite:///{tmp_path}/catalog.db", "warehouse": str(tmp_path)}
    for key, value in own.items():
        monkeypatch.setenv(f"PYICEBERG_CATALOG__LOSING__{key.upper()}", value)
    catalog = SqlCatalog("losing", **own)
    catalog.create_namespace("db")
    catalog.create_table("db.t", pa.schema([("id", pa.int64())]))
    assert "cannot load" not in run("catalog", "pointer", "losing.db.t").output
    path = Path(catalog.load_table("db.t").metadata_location.removeprefix("file://"))
    path.write_text(json.dumps(json.loads(path.read_text()) | {"current-schema-id": 6}))
    output = run("catalog", "pointer", "losing.db.t").output
    assert "schema 6 is not in `schemas` (current-schema-missing)" in output
    assert "icedive doctor TABLE has the way back" in output
    assert not re.search(r"^beside\s*$", output, re.MULTILINE)
    told = json.loads(run("catalog", "pointer", "losing.db.t", "--output", "json").stdout)
    assert told["opened"]["refused"]


def test_readers_are_known_to_refuse_it(tmp_path: Path) -> None:
    answers = {
        verdict.reader.id: verdict.answer
        for verdict in find_readers(direct.open_table(str(lose_schema(tmp_path / "t")))).verdicts
    }
    assert {answers[one] for one in ("spark", "pyiceberg", "trino", "duckdb", "clickhouse", "iceberg-rust")} == {"no"}


def test_a_sound_table_is_loaded(tmp_path: Path) -> None:
    table = Table(tmp_path / "t", FIELDS)
    table.append(table.parquet("a.parquet", {"id": [1], "state": ["x"]}))
    assert explain_not_loaded(direct.open_table(str(tmp_path / "t")).metadata) == ""
    assert "current-schema-missing" in explain_not_loaded(direct.open_table(str(lose_schema(tmp_path / "u"))).metadata)


# -- aggregates that Spark answers from manifests ----------------------------------------------------------------------
def make_doubles(folder: Path, values: list[float], **over: Any) -> Path:
    table = Table(folder, [(1, "x", "double")])
    table.append(table.parquet("a.parquet", {"x": values}) | over)
    return folder


def test_nan_says_that_max_may_leave_it_out(tmp_path: Path) -> None:
    """apache/iceberg#15069."""
    folder = make_doubles(tmp_path / "t", [1.0, float("nan")], nan_value_counts={1: 1})
    [finding] = found(folder, "readers-differ")
    assert finding.source == "#15069"
    assert "answers MAX from bounds" in finding.what
    assert "SET `spark.sql.iceberg.aggregate-push-down.enabled` = false" in finding.remedy
    output = run("doctor", str(folder)).output
    assert "what would help: A session after SET `spark.sql.iceberg" in output
    assert "of a.parquet" in output


def test_nan_that_no_manifest_counts_is_told(tmp_path: Path) -> None:
    folder = make_doubles(tmp_path / "t", [1.0, float("nan")])
    assert found(folder, "readers-differ") == []
    [finding] = found(folder, "readers-differ", deep=True)
    assert "its manifest does not count it" in finding.what
    wrong = make_doubles(tmp_path / "u", [1.0, float("nan")], nan_value_counts={1: 0})
    [finding] = found(wrong, "metrics-wrong", deep=True)
    assert (finding.found, finding.expected) == (1, "nan_value_counts: 0")


@pytest.mark.parametrize(("bound", "told"), [(9.0, True), (2.0, False)])
def test_a_bound_that_is_no_value_is_told(bound: float, told: bool, tmp_path: Path) -> None:
    folder = make_doubles(tmp_path / "t", [1.0, 2.0], upper_bounds={1: single("double", bound)})
    findings = found(folder, "readers-differ", deep=True)
    assert bool(findings) == told
    if told:
        assert "above all its values, which the spec allows: Spark answers MAX from it" in findings[0].what
        assert "rewrite_data_files" in findings[0].remedy
        assert findings[0].source == "docs/readers.md"


def test_zeros_of_both_signs_are_one_value(tmp_path: Path) -> None:
    bounds = {"lower_bounds": {1: single("double", -0.0)}, "upper_bounds": {1: single("double", 0.0)}}
    assert found(make_doubles(tmp_path / "t", [0.0, 0.0], **bounds), "readers-differ", deep=True) == []


def test_wrong_counts_say_what_is_answered_from_them(tmp_path: Path) -> None:
    [finding] = found(make_doubles(tmp_path / "t", [1.0, 2.0], record_count=20), "metrics-wrong", deep=True)
    assert "Until then Spark answers MIN, MAX and COUNT of the whole table by it" in finding.remedy
    table = Table(tmp_path / "u", [(1, "x", "double")])
    data = table.parquet("a.parquet", {"x": [1.0, 2.0]}) | {"upper_bounds": {1: single("double", 1.0)}}
    table.append(data)
    table.delta(deletes=[table.position_delete("d.parquet", [(data["file_path"], 0)])])
    [finding] = found(tmp_path / "u", "metrics-wrong", deep=True)
    assert "answers MIN" not in finding.remedy, "Spark reads the rows where there are deletes"


# -- more --------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("name", "value", "hidden"), [
    ("write.parquet.bloom-filter-enabled.column._source_metadata_key", "true", False),
    ("write.parquet.bloom-filter-fpp.column.api_token", "0.01", False),
    ("write.metadata.metrics.column.user_token", "truncate(16)", False),
    ("write.parquet.bloom-filter-enabled.column.api_token", "AKIA123", True),
    ("my.secret.enabled", "false", False),
    ("my.api-key", "12345678", True),
    ("my.password", "hunter2", True),
])  # fmt: skip
def test_flags_and_numbers_of_known_properties_are_no_secrets(name: str, value: str, hidden: bool) -> None:
    assert without_secrets({name: value})[name] == (HIDDEN if hidden else value)


def test_counts_and_bounds_of_files_are_columns_with_metrics(tmp_path: Path) -> None:
    folder = str(make_doubles(tmp_path / "t", [1.0, float("nan")], nan_value_counts={1: 1}))
    refused = run("inspect", "files", folder, "--columns", "nan_value_counts").output
    assert "--metrics (metrics=True) shows counts and bounds" in refused
    assert '{"1": 1}' in run("inspect", "files", folder, "--metrics", "--columns", "nan_value_counts").output


def test_a_file_that_is_newer_than_every_snapshot_has_not_expired(tmp_path: Path) -> None:
    table = Table(tmp_path / "t", FIELDS)
    table.append(table.parquet("a.parquet", {"id": [1], "state": ["x"]}))
    table.parquet("new.parquet", {"id": [2], "state": ["y"]})
    table.parquet("old.parquet", {"id": [2], "state": ["y"]})
    os.utime(tmp_path / "t" / "data" / "old.parquet", (1_000_000_000, 1_000_000_000))
    opened = direct.open_table(str(tmp_path / "t"))
    new = find_landed(opened, "new.parquet").words
    assert "after the newest snapshot" in new
    assert "may have expired" not in new
    assert "it was never committed" in find_landed(opened, "old.parquet").words
    assert "no file of that name" in find_landed(opened, "none.parquet").words
    assert "after the newest snapshot" in run("inspect", "file", str(tmp_path / "t"), "new.parquet").output
