"""Plans of maintenance without Spark: statements, options, words, and tables that come in parts."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from explorer.cli import main
from explorer.errors import NotFoundInTable
from explorer.reports.maintenance import preview
from explorer.reports.maintenance.procedure_calls import PROCEDURES, call, check_request
from explorer.spec.entries.live_files import LiveFile
from explorer.spec.entries.numpy_columns import MOST
from explorer.spec.maintenance.dangling_deletes import oldest_data, operations_that_drop
from explorer.spec.maintenance.manifest_merges import next_append
from explorer.spec.maintenance.orphan_rules import EQUAL, Listing, flatten, orphan_verdicts, spellings
from explorer.spec.maintenance.rewrite_options import rule
from tests.robustness.editing import edit_avro
from tests.support import direct
from tests.support.paper_tables import manifest as listed
from tests.support.paper_tables import on_paper
from tests.support.small_tables import edit_metadata, partitioned


@pytest.fixture
def opened(whole: Path) -> direct.Table:
    return direct.open_table(str(whole))


def test_strangers_names_stay_text_in_the_statement(opened: direct.Table) -> None:
    field = opened.metadata.schemas[-1].fields[0].name
    options = {"min-input-files": "2", "rewrite-all": "true', where => 'x"}
    seen = preview(opened, "compact", options=options, where=f"{field} is not null")
    assert "map('min-input-files', '2', 'rewrite-all', 'true\\', where => \\'x')" in seen.call
    assert f"where => '`{field}` IS NOT NULL'" in seen.call
    orphans = call(opened, check_request(opened, "remove-orphans", {"equal_schemes": '{"s3a\'": "s3"}'}))
    assert "equal_schemes => map('s3a\\'', 's3')" in orphans


@pytest.mark.parametrize("operation", [*PROCEDURES, "next-append", "dangling-deletes"])
def test_an_option_that_there_is_not_is_refused_with_those_there_are(operation: str, opened: direct.Table) -> None:
    with pytest.raises(NotFoundInTable, match=r"no option 'older-than'.* there are"):
        preview(opened, operation, options={"older-than": "1"})


@pytest.mark.parametrize(
    ("operation", "options"),
    [
        ("expire", {"snapshot_ids": "1,two"}), ("expire", {"older_than": "soon"}), ("expire", {"older_than": "²"}),
        ("expire", {"retain_last": "x"}),
        ("expire", {"clean_expired_metadata": "yes"}), ("remove-orphans", {"equal_schemes": "s3a=s3"}),
        ("rewrite-manifests", {"spec_id": "day"}),
    ],
)  # fmt: skip
def test_an_argument_that_does_not_fit_is_refused(
    operation: str, options: dict[str, str], opened: direct.Table
) -> None:
    with pytest.raises(NotFoundInTable, match=f"{next(iter(options))} is|is no time"):
        preview(opened, operation, options=options)


@pytest.mark.parametrize("target", ["7000000000000000000", "9223372036854775807", "abc", "-5", "1e400", "0", ""])
def test_a_target_that_a_stranger_wrote(target: str, table: Path) -> None:
    edit_metadata(table, lambda d: d["properties"].update({"write.target-file-size-bytes": target}))
    opened = direct.open_table(str(table))
    seen = preview(opened, "compact")
    assert len(seen.tables.get("groups", ())) == (target[0:1] == "7")
    assert seen.words[0].startswith("Iceberg would refuse") == (target[0:1] != "7")
    assert seen.call == ""  # one small group is left as it is
    assert direct.health(opened).worst == "ok"


def test_sizes_that_no_file_has(table: Path) -> None:
    for manifest, size in zip(sorted((table / "metadata").glob("*-m0.avro")), (2**63 - 1, 2**62, -1), strict=True):
        edit_avro(manifest, lambda rows, size=size: rows[0]["data_file"].update(file_size_in_bytes=size))
    opened = direct.open_table(str(table))
    assert direct.health(opened).data_bytes == 2 * MOST
    assert sum(row["bytes"] for row in preview(opened, "compact", options={"rewrite-all": "true"}).tables["groups"]) > 0
    options = {"rewrite-all": "true", "max-file-group-size-bytes": str(2**63 - 1), "max-file-group-input-files": "2"}
    assert [row["files"] for row in preview(opened, "compact", options=options).tables["groups"]] == [2, 1]


def test_a_group_is_of_a_hundred_gibibytes_at_most(table: Path) -> None:
    """Where no option says otherwise, as in Iceberg's SizeBasedFileRewritePlanner."""
    for manifest in (table / "metadata").glob("*-m0.avro"):
        edit_avro(manifest, lambda rows: rows[0]["data_file"].update(file_size_in_bytes=50 << 30))
    groups = preview(direct.open_table(str(table)), "compact").tables["groups"]
    assert [row["bytes"] >> 30 for row in groups] == [100, 50]
    for manifest in (table / "metadata").glob("*-m0.avro"):
        edit_avro(manifest, lambda rows: rows[0]["data_file"].update(file_size_in_bytes=(50 << 30) + 1))
    groups = preview(direct.open_table(str(table)), "compact").tables["groups"]
    assert [row["bytes"] >> 30 for row in groups] == [50, 50, 50]


def test_each_file_of_a_manifest_has_the_group_of_its_partition(tmp_path: Path) -> None:
    seen = preview(direct.open_table(str(partitioned(tmp_path))), "compact", options={"rewrite-all": "true"})
    group_of = {row["partition"]: row["group"] for row in seen.tables["groups"]}
    assert {row["partition"]: row["group"] for row in seen.tables["files"]} == group_of


def test_a_group_is_cut_where_no_more_files_may_be_rewritten(opened: direct.Table) -> None:
    seen = preview(opened, "compact", options={"rewrite-all": "true", "max-files-to-rewrite": "2"})
    assert [row["files"] for row in seen.tables["groups"]] == [2]
    assert [row["becomes"] for row in seen.tables["files"]] == ["rewritten", "rewritten", "left"]


def test_no_group_is_begun_when_as_many_files_as_may_be_are_rewritten(tmp_path: Path) -> None:
    options = {"rewrite-all": "true", "max-files-to-rewrite": "2"}
    seen = preview(direct.open_table(str(partitioned(tmp_path))), "compact", options=options)
    assert [row["becomes"] for row in seen.tables["groups"]].count("rewritten") == 2
    assert [row["becomes"] for row in seen.tables["files"]].count("rewritten") == 2


def test_the_command_prints_all_of_it_as_json(opened: direct.Table, tmp_path: Path) -> None:
    for operation in (*PROCEDURES, "next-append", "dangling-deletes"):
        seen = preview(opened, operation)
        asked = ["maintain", "preview", opened.metadata.metadata_location, operation]
        told = json.loads(CliRunner().invoke(main, [*asked, "-o", "json"]).stdout)
        assert list(told) == ["json_format", "operation", "call", "refusal", "words", *seen.tables]
        assert {name: len(told[name]) for name in seen.tables} == {n: len(rows) for n, rows in seen.tables.items()}
        text = CliRunner().invoke(main, asked).stdout
        assert all(f"\n{name}:\n" in text for name in seen.tables)


def test_schemes_that_are_the_same_by_default_or_by_word() -> None:
    def told(location: str, named: str, schemes: dict[str, str] | None = None) -> list[tuple[str, bool]]:
        listing = Listing(location, 10, 20, "DELETE", {**EQUAL, **flatten(schemes or {})}, {})
        written = {"/data/a": 1.0}
        known = spellings(listing, written, [named])
        return [(f.becomes, f.live) for f in orphan_verdicts(listing, written, known, {"/data/a"}, (), {})]

    assert told("s3://b/t", "s3a://b/t/data/a") == []
    assert told("s3://b/t", "/b/t/data/a") == [("removed", True)]  # another path: the bucket is no part of it
    assert told("/t", "file:///t/data/a") == told("file:/t", "/t/data/a") == []
    assert told("s3://b/t", "gs://b/t/data/a") == [("removed", True)]
    assert told("s3://b/t", "gs://b/t/data/a", {"gs, gcs": "s3"}) == []
    assert told("/link/t", "/real/t/data/a") == [("removed", True)]


def test_tasks_read_their_share_and_a_little_more() -> None:
    by = rule(on_paper([None]), "binpack", {"target-file-size-bytes": "100000"})
    sizes = np.array([50_000, 210_000, 380_000])  # one file; two, the rest is spread over them; four
    assert by.count_output_files(sizes).tolist() == [1, 2, 4]
    assert by.split_bytes(sizes).tolist() == [100_000, 105_000 + 5 * 1024, 95_000 + 5 * 1024]


def test_deletes_that_are_older_than_all_data_of_their_place_are_dropped() -> None:
    manifests = [replace(listed("m", 1), min_sequence_number=n) for n in (7, 5, 6)]
    gone = replace(manifests[0], min_sequence_number=1, added_files_count=0, existing_files_count=0)
    oldest = oldest_data([*manifests, gone, replace(gone, content=1, added_files_count=1)])
    assert oldest == 5
    assert oldest_data([gone]) is None
    always = "rewrite_data_files"
    for kind, number, ways in (
        ("position_deletes", 4, [always, "rewrite_position", "the next commit"]),
        ("position_deletes", 5, [always, "rewrite_position"]),
        ("equality_deletes", 4, [always, "the next commit"]),
        ("equality_deletes", 5, [always]),
        ("deletion_vector", 6, [always]),
    ):
        said = operations_that_drop(LiveFile("d", kind, 0, {}, number, 0, 1, 10, "m"), oldest)
        assert len(said) == len(ways)
        assert all(text.startswith(way) for text, way in zip(said, ways, strict=True))


def test_manifests_without_room_for_each_other_stay(opened: direct.Table) -> None:
    [manifest, *_] = opened.tree.manifests(opened.metadata.current_snapshot)
    long = [replace(manifest, manifest_path=str(n), manifest_length=60) for n in range(5)]
    properties = {"commit.manifest.target-size-bytes": "100", "commit.manifest.min-count-to-merge": "2"}
    assert [b.merged for b in next_append(long, properties, 0, 50)] == [False] * 6
    bins = next_append(long, properties | {"commit.manifest.target-size-bytes": "120"}, 0, 50)
    assert [(len(b.manifests), b.with_new, b.merged) for b in bins] == [
        (1, True, True),
        (2, False, True),
        (2, False, True),
    ]


def test_an_expiry_that_would_not_end_is_not_printed(table: Path) -> None:
    def close(data: dict[str, Any]) -> None:
        data["snapshots"][0]["parent-snapshot-id"] = data["snapshots"][-1]["snapshot-id"]

    opened = direct.open_table(str(table))
    assert preview(opened, "expire", retain_last=1, options={"older_than": "2999-01-01"}).call
    edit_metadata(table, close)
    opened = direct.open_table(str(table))
    seen = preview(opened, "expire", retain_last=1, options={"older_than": "2999-01-01"})
    assert seen.call == ""
    assert seen.refusal.startswith("Do not run this: the parents of branch main run in a circle (snapshot-3 -> ")
    told = {measure.id: measure for measure in direct.health(opened).measures}
    assert told["expirable-snapshots"].value is None
    assert "run in a circle" in told["expirable-snapshots"].words
    for finding in direct.doctor(opened).findings:
        assert "system.expire_snapshots(" not in finding.remedy
        assert "system.rollback_to_snapshot(" not in finding.remedy
