"""What a twenty-sixth round of public reports led to, held against Spark and Iceberg's own API."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyiceberg.table import StaticTable

from explorer.lab.sandbox import Bench
from explorer.reports.conflicts import explain_conflict
from explorer.spark_engine.spark import SparkEngine
from explorer.spec.commits.operations import Operation
from tests.spark.test_lab import meet
from tests.statements.printed import statements
from tests.support import direct
from tests.support.feature_tables import OURS
from tests.support.report_tables import found, java_table, live_files
from tests.support.small_tables import newest_metadata
from tests.unit.test_twentysixth_reports import WRONG_METRICS, four_commits, with_wrong_metrics

SPACE = "sandbox.twentysixth"


# -- a commit without a starting snapshot (apache/iceberg#2482) --------------------------------------------------------
class Commits:
    """Commits of a table by Iceberg's API, none of which names a starting snapshot."""

    def __init__(self, session: Any, name: str) -> None:
        self.java = session._jvm
        self.iceberg = session._jvm.org.apache.iceberg
        self.table = java_table(session, name)
        self.file = live_files(session, name)[0]
        self.paths = self.java.java.util.ArrayList()
        self.paths.add(self.file.location())
        self.one_row = self.iceberg.expressions.Expressions.equal("id", 0)

    def delta(self) -> Any:
        path = f"{self.table.location()}/data/deletes.parquet"
        delete = self.iceberg.FileMetadata.deleteFileBuilder(self.table.spec()).ofPositionDeletes().withPath(path)
        delete = delete.withFormat("PARQUET").withFileSizeInBytes(10).withRecordCount(1).build()
        return self.table.newRowDelta().addDeletes(delete).conflictDetectionFilter(self.one_row)

    def new_file(self) -> Any:
        path = self.file.location() + ".new.parquet"
        return self.iceberg.DataFiles.builder(self.table.spec()).copy(self.file).withPath(path).build()

    def rewrite(self) -> Any:
        old, new = self.java.java.util.HashSet(), self.java.java.util.HashSet()
        old.add(self.file)
        new.add(self.new_file())
        return self.table.newRewrite().rewriteFiles(old, new, self.table.currentSnapshot().sequenceNumber())

    def overwrite(self, removes: bool = True) -> Any:
        pending = self.table.newOverwrite().conflictDetectionFilter(self.one_row)
        return pending.deleteFile(self.file) if removes else pending.addFile(self.new_file())


Make = Callable[[Commits], Any]
MADE: dict[str, tuple[Make, str, tuple[str, ...]]] = {
    "delta": (lambda c: c.delta(), "mor-delete", ()),
    "delta-exist": (lambda c: c.delta().validateDataFilesExist(c.paths), "mor-delete", ("validateDataFilesExist",)),
    "sink": (
        lambda c: c.delta().validateDataFilesExist(c.paths).validateDeletedFiles(),
        "equality-delete",
        ("validateDataFilesExist", "validateDeletedFiles"),
    ),
    "delta-data": (
        lambda c: c.delta().validateNoConflictingDataFiles(),
        "mor-delete",
        ("conflictDetectionFilter", "validateNoConflictingDataFiles"),
    ),
    "delta-deletes": (
        lambda c: c.delta().validateNoConflictingDeleteFiles(),
        "equality-delete",
        ("conflictDetectionFilter", "validateNoConflictingDeleteFiles"),
    ),
    "delta-deleted": (lambda c: c.delta().validateDeletedFiles(), "mor-delete", ("validateDeletedFiles",)),
    "overwrite": (lambda c: c.overwrite(), "cow-update", ()),
    "overwrite-data": (
        lambda c: c.overwrite(removes=False).validateNoConflictingData(),
        "cow-update",
        ("conflictDetectionFilter", "validateNoConflictingData"),
    ),
    "overwrite-deletes": (
        lambda c: c.overwrite().validateNoConflictingDeletes(),
        "cow-update",
        ("conflictDetectionFilter", "validateNoConflictingDeletes"),
    ),
    "rewrite": (lambda c: c.rewrite(), "compaction", ("dataSequenceNumber",)),
    "partitions": (lambda c: c.table.newReplacePartitions().addFile(c.new_file()), "replace-partitions", ()),
    "partitions-deletes": (
        lambda c: c.table.newReplacePartitions().addFile(c.new_file()).validateNoConflictingDeletes(),
        "replace-partitions",
        ("validateNoConflictingDeletes",),
    ),
    "delete": (
        lambda c: c.table.newDelete().deleteFile(c.file).validateFilesExist(),
        "delete-files",
        ("validateFilesExist",),
    ),
}


WALKS = set(MADE) - {"delta", "delta-deleted", "overwrite", "partitions", "delete"}
DELETES_ALONE = {"overwrite-deletes", "rewrite"}
"""Version 1 has no deletes to look for."""


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("expired", [True, False])
def test_who_needs_the_whole_history(version: int, expired: bool, session: Any, tmp_path: Path) -> None:
    place = four_commits(tmp_path / "t", expired, version)
    name = f"{SPACE}.history_{version}_{expired}"
    metadata = newest_metadata(place)
    session.sql(f"CALL sandbox.system.register_table('{name.removeprefix('sandbox.')}', 'file:{metadata}')")
    for case, (make, kind, checks) in MADE.items():
        if version == 1 and (kind.startswith("mor") or kind == "equality-delete"):
            continue
        try:
            make(Commits(session, name)).apply()
            said = "ok"
        except Exception as error:
            said = str(error)
        told = explain_conflict(direct.open_table(str(place)), None, kind, checks, "id = 0")
        found = [conflict.check for conflict in told.conflicts]
        ends = "Cannot determine history between starting snapshot null and the last known ancestor" in said
        assert (found == ["validationHistory"]) == ends, (case, said)
        assert (not found) == (said == "ok"), (case, told, said)
        assert ends == (expired and case in WALKS - (DELETES_ALONE if version == 1 else set())), (case, said)


# -- the column of a partition field is dropped (Altinity/ClickHouse#2084) ---------------------------------------------
def test_going_back_brings_the_column_back(session: Any, tmp_path: Path) -> None:
    OURS["fault-dropped-source"](tmp_path / "t")
    with pytest.raises(Exception, match="Cannot find source column for partition field"):
        session.read.format("iceberg").load(f"file:{newest_metadata(tmp_path / 't')}")
    [finding] = found(tmp_path / "t", "partition-source-dropped")
    [call] = statements(finding.remedy)
    name = "your_table_restored"
    session.sql(call.replace("your_catalog", "sandbox").replace("your_db", "twentysixth"))
    assert session.table(f"{SPACE}.{name}").columns == ["id", "x", "p"]
    assert sorted(tuple(row) for row in session.table(f"{SPACE}.{name}").collect()) == [(1, "a", "c"), (2, "b", "c")]
    static = StaticTable.from_metadata(str(newest_metadata(tmp_path / "t")))
    assert static.scan().to_arrow()["id"].to_pylist() == [1, 2]
    for inspected in (static.inspect.files, static.inspect.partitions, static.inspect.entries):
        with pytest.raises(ValueError, match="Could not find field"):
            inspected()


# -- counts and bounds that are wrong (apache/iceberg#17558) -----------------------------------------------------------
@pytest.mark.parametrize("deletes", [False, True])
@pytest.mark.parametrize("case", WRONG_METRICS)
def test_filters_miss_rows_until_the_file_is_rewritten(
    case: str, deletes: bool, session: Any, tmp_path: Path
) -> None:  # fmt: skip
    """The remedy read as if a setting for aggregates were enough."""
    _, condition, number = WRONG_METRICS[case]
    place = with_wrong_metrics(tmp_path / "t", case, deletes)
    name = f"{SPACE}.metrics_{case}_{deletes}".lower()
    register = f"'{name.removeprefix('sandbox.')}', 'file:{newest_metadata(place)}'"
    session.sql(f"CALL sandbox.system.register_table({register})")
    finding = found(name, "metrics-wrong", deep=True)[0]
    count = f"SELECT count(*) FROM {name} WHERE {condition}"
    told = statements(finding.remedy)
    if set_statement := re.findall(r"SET `[a-z.-]+` = false", finding.remedy):
        session.sql(set_statement[0])
    try:
        assert session.sql(count).collect()[0][0] == 0
        session.sql(next(one for one in told if one.startswith("CALL")))
        assert session.sql(count).collect()[0][0] == number
    finally:
        session.sql("RESET `spark.sql.iceberg.aggregate-push-down.enabled`")


def test_a_writer_without_a_start_is_refused_once_snapshots_expire(engine: SparkEngine, sandbox: Path) -> None:
    """In the lab, step by step and by Iceberg's own commit()."""
    bench = Bench(engine)
    for kind in ("mor-update", "cow-update", "compaction", "equality-delete"):
        checks = tuple(v for v in Operation(kind).validations if v != "validateFromSnapshot")
        happened, decision = meet(bench, Operation(kind, chosen=checks), Operation("expire"))
        found = [conflict.check for conflict in decision.conflicts]
        assert (happened, found) == (
            ("retry", []) if kind == "equality-delete" else ("refused", ["validationHistory"])
        ), kind


def test_the_sink_of_an_old_flink_in_the_lab(engine: SparkEngine, sandbox: Path) -> None:
    bench, checks = Bench(engine), ("validateDataFilesExist", "validateDeletedFiles")
    for early, expected in {"compaction": "retry", "cow-delete": "retry", "expire": "refused"}.items():
        happened, _ = meet(bench, Operation("equality-delete", chosen=checks), Operation(early))
        assert happened == expected, early
    begun = Operation("equality-delete", chosen=("validateFromSnapshot", *checks))
    assert meet(bench, begun, Operation("compaction"))[0] == "retry"
