"""What public reports of trouble with Iceberg tables told, a thirty-second time: histories that maintenance cut."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

from explorer.cli import main
from explorer.spec.doctor.findings import Finding
from tests.cases.mini import Table
from tests.support import direct
from tests.support.thirtysecond_tables import expire, with_appends


def run(*words: str) -> str:
    return CliRunner().invoke(main, list(words)).output


def found(table: Table, rule: str) -> list[Finding]:
    return [finding for finding in direct.doctor(str(table.folder)).findings if finding.rule == rule]


# -- reasons of other snapshots (apache/iceberg#8378) ------------------------------------------------------------------
def test_older_snapshots_stay_for_their_own_reasons(tmp_path: Path) -> None:
    table = with_appends(tmp_path / "t", 2)
    now = run("storage", str(table.folder))
    assert "An expiry leaves them" not in now  # all is old: only the current snapshot stays
    table.md["properties"]["history.expire.max-snapshot-age-ms"] = str(10**14)
    table.write()
    told = run("storage", str(table.folder))
    assert "An expiry leaves them: their snapshots are younger than the policy's age.\n" in told
    table.md["refs"]["old"] = {"snapshot-id": 101, "type": "tag"}
    table.write()
    told = run("storage", str(table.folder))
    assert "An expiry leaves them: a branch or tag names their snapshots; their snapshots are younger than the" in told


# -- statistics that went with their snapshots (trinodb/trino#19992) ---------------------------------------------------
def with_statistics(folder: Path, kind: str) -> Table:
    table = with_appends(folder, 2)
    file = {"statistics-path": f"{table.location}/metadata/a.stats", "file-size-in-bytes": 1}
    table.md[kind] = [{"snapshot-id": 101, **file, "file-footer-size-in-bytes": 1, "blob-metadata": []}]
    table.save()
    table.md[kind] = []
    expire(table, 101)
    return table


def test_statistics_that_an_expiry_took_are_missed(tmp_path: Path) -> None:
    for kind, call in (("statistics", "compute_table_stats"), ("partition-statistics", "compute_partition_stats")):
        table = with_statistics(tmp_path / kind, kind)
        [finding] = found(table, "statistics-stale")
        name = kind.replace("-", " ")
        assert finding.severity == "info"
        assert finding.what == (
            f"the table has no {name} file any more: metadata-3 has 1, and metadata-4 has none: its snapshot has "
            "expired"
        )
        assert finding.remedy == f"CALL your_catalog.system.{call}('your_db.your_table') writes new ones."
        assert finding.location == f"/{kind}"


def test_statistics_that_the_table_never_had_are_not_missed(tmp_path: Path) -> None:
    table = with_appends(tmp_path / "t", 3)
    expire(table, 101)
    assert not found(table, "statistics-stale")


def test_an_expiry_that_takes_all_statistics_says_so(tmp_path: Path) -> None:
    table = with_appends(tmp_path / "t", 2)
    file = {"statistics-path": f"{table.location}/metadata/a.stats", "file-size-in-bytes": 1}
    own = {"snapshot-id": 101, **file, "file-footer-size-in-bytes": 1, "blob-metadata": []}
    table.md["statistics"] = [own]
    table.write()
    said = run("maintain", "preview", str(table.folder), "expire")
    assert "1 statistics file of them would be removed, and the table would have none." in said
    table.md["statistics"].append(own | {"snapshot-id": 102, "statistics-path": f"{table.location}/metadata/b.stats"})
    table.write()
    said = run("maintain", "preview", str(table.folder), "expire")
    assert "1 statistics file of them would be removed.\n" in said
