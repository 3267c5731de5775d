"""One statement, observed: which files it wrote in which order, what the catalog swapped for what, and what changed."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from explorer.core.costs import CommitCost
from explorer.core.diff import SnapshotDiff
from explorer.engines.reads import explain
from explorer.engines.spark import SANDBOX, SparkEngine, shared_engine
from explorer.errors import AccessRefused, EngineError, UnreadableFile
from explorer.io.storage import local_path
from explorer.maintenance import check_writable
from explorer.table import Table

_WRITES = re.compile(r"^\s*(insert|update|delete|merge|alter\s+table|call|truncate)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Written:
    """A file that a statement wrote; `what` is its part in the table."""

    path: str
    what: str
    size: int
    after_ms: float


@dataclass(frozen=True)
class Observation:
    """What a statement did to a table. `swapped` is (old, new) metadata location, or None when nothing was committed; `diff` and
    `cost` are of the last commit, where it made a snapshot."""

    sql: str
    files: tuple[Written, ...]
    swapped: tuple[str, str] | None
    commits: int
    table: Table
    diff: SnapshotDiff | None
    cost: CommitCost | None
    answer: tuple[dict[str, Any], ...]
    seconds: float


def observe(table: Table, sql: str, engine: SparkEngine | None = None) -> Observation:
    """Run one writing statement on a sandbox table through Spark, in which `t` is the table, and look at what was written. The teaching
    tables are not written to. Raises AccessRefused, EngineError."""
    check_writable(table)
    if not _WRITES.match(sql):
        raise AccessRefused("only INSERT, UPDATE, DELETE, MERGE, ALTER TABLE, TRUNCATE and CALL are run here; the Rows tab runs queries")
    root = local_path(table.reader.storage.resolve(table.metadata.location))
    if root is None:
        raise EngineError("commits are observed on local tables only")
    folder = Path(root)
    before = _listing(folder)
    session = (engine or shared_engine()).session()
    short = table.name.removeprefix(f"{SANDBOX}.")
    statement = re.sub(r"\{t\}|(?<![\w.`'])t(?![\w.`'])", table.name, sql.strip().rstrip(";"))
    statement = statement.replace("{name}", short)
    began_at, began = time.time(), time.perf_counter()
    try:
        answer = tuple(session.sql(statement).toArrow().to_pylist())
    except Exception as error:  # Spark raises many kinds
        raise EngineError(explain(error, (engine or shared_engine()).lost)) from error
    seconds = time.perf_counter() - began
    after = table.refresh()
    made = {p: s for p, s in _listing(folder).items() if p not in before}
    kinds = _kinds(after)
    files = []
    for path, (written, size) in sorted(made.items(), key=lambda item: item[1]):
        files.append(
            Written(str(Path(path).relative_to(folder)), kinds.get(path, "not reachable"), size, (written / 1e9 - began_at) * 1000)
        )
    old, new = table.metadata.metadata_location, after.metadata.metadata_location
    known = {s.snapshot_id for s in table.metadata.snapshots}
    fresh = [s for s in after.metadata.snapshots if s.snapshot_id not in known]
    diff = cost = None
    if fresh and after.metadata.snapshot(fresh[-1].parent_snapshot_id) is not None:
        diff = after.diff(fresh[-1].parent_snapshot_id, fresh[-1].snapshot_id)
        cost = after.commits(fresh[-1].parent_snapshot_id, fresh[-1].snapshot_id).commits[-1]
    commits = len(after.metadata_log) - len(table.metadata_log)
    return Observation(statement, tuple(files), (old, new) if old != new else None, commits, after, diff, cost, answer, seconds)


def _listing(folder: Path) -> dict[str, tuple[int, int]]:
    """(time of writing in ns, size) of every file."""
    found = {}
    for path in folder.rglob("*"):
        if path.is_file() and path.suffix != ".crc":
            state = path.stat()
            found[str(path)] = (state.st_mtime_ns, state.st_size)
    return found


def _kinds(table: Table) -> dict[str, str]:
    """What each file of a table's newest snapshots is."""
    kinds = {e["metadata-file"]: "metadata file" for e in table.metadata_log}
    for snapshot in table.metadata.snapshots[-3:]:
        if snapshot.manifest_list:
            kinds[snapshot.manifest_list] = "manifest list"
        try:
            kinds |= {m.manifest_path: "delete manifest" if m.content else "data manifest" for m in table.manifest_files(snapshot)}
            for row in table.entries(snapshot.snapshot_id, "stored"):
                kinds[row["file_path"]] = "data file" if not row["content"] else "delete file"
        except UnreadableFile:
            continue
    kinds |= {s.path: "statistics file" for s in table.metadata.statistics}
    return {local_path(path) or path: what for path, what in kinds.items()}
