"""Tables of the thirty-second reports of trouble with Iceberg tables."""

from __future__ import annotations

from pathlib import Path

from tests.cases.mini import Table


def with_appends(folder: Path, commits: int, version: int = 2) -> Table:
    """A table to which each commit added a row; the ids of its snapshots begin with 101."""
    table = Table(str(folder), [(1, "id", "long")], version=version)
    for number in range(commits):
        table.append(table.parquet(f"f{number}.parquet", {"id": [number]}))
    return table


def expire(table: Table, *ids: int, forgets_parents: bool = False) -> None:
    """Expire snapshots as Iceberg Java does: it drops all lines of the snapshot log before that of one that goes. Or as
    pyiceberg does, which drops its own lines alone, and forgets that it was a parent."""
    log = []
    for line in table.md["snapshot-log"]:
        if line["snapshot-id"] not in ids:
            log.append(line)
        elif not forgets_parents:
            log.clear()
    table.md["snapshots"] = [one for one in table.md["snapshots"] if one["snapshot-id"] not in ids]
    for one in table.md["snapshots"]:
        if forgets_parents and one.get("parent-snapshot-id") in ids:
            del one["parent-snapshot-id"]
    table.md["snapshot-log"] = log
    table.md["last-updated-ms"] += 60_000
    table.clock += 60_000
    table.save()
