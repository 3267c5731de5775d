"""Maintenance through Spark's procedures, on sandbox tables: a preview from metadata alone, then the run, with before
and after."""

from __future__ import annotations

import contextlib
import datetime
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from explorer.core.names import runs, snapshot_ordinals
from explorer.core.reach import Holdings, holdings, reach
from explorer.core.refs import RefPreview, preview_refs
from explorer.core.retention import Retention, gc_refusal, retention
from explorer.core.units import count, human_bytes
from explorer.engines import quoting
from explorer.engines.guard import check_write
from explorer.engines.guard import run as run_checked
from explorer.engines.reads import failure
from explorer.engines.spark import SANDBOX, SparkEngine, shared_engine
from explorer.errors import AccessRefused, NotFoundInTable, NotPossible, UnreadableFile
from explorer.model.metadata import TableMetadata
from explorer.progress import steps
from explorer.scenarios import NAMESPACE
from explorer.table import Table

ALL = "options => map('rewrite-all', 'true')"
OPERATIONS: Mapping[str, tuple[str, str]] = {
    "compact": ("rewrite_data_files", ALL),
    "compact-sort": ("rewrite_data_files", "strategy => 'sort', sort_order => {columns}, " + ALL),
    "compact-z-order": ("rewrite_data_files", "strategy => 'sort', sort_order => {z-order}, " + ALL),
    "rewrite-manifests": ("rewrite_manifests", ""),
    "rewrite-position-deletes": ("rewrite_position_delete_files", ALL),
    "expire": ("expire_snapshots", "older_than => TIMESTAMP_MILLIS({now}L), retain_last => {retain_last}"),
    "remove-orphans": ("remove_orphan_files", ""),
}
"""Each operation: Spark's procedure and its arguments beside the table."""

RULES_SHOWN = 12
"""Of the rules that keep snapshots, in a preview: a table may have hundreds of tags."""


@dataclass(frozen=True)
class Preview:
    """What an operation would do, from metadata alone: sentences, and the files that would become unreachable or be
    removed."""

    operation: str
    words: tuple[str, ...]
    files: tuple[str, ...]


@dataclass(frozen=True)
class Outcome:
    """What an operation did: the procedure's own answer, and the table's holdings before and after."""

    operation: str
    sql: str
    answer: tuple[Mapping[str, Any], ...]
    before: Holdings
    after: Holdings


def table_holdings(table: Table) -> Holdings:
    """What the current snapshot holds."""
    snapshot = table.metadata.current_snapshot
    return holdings(table.metadata, table.tree.read(table.tree.entries(snapshot)).read())


def preview(table: Table, operation: str, columns: str = "", retain_last: int = 1) -> Preview:
    """What an operation would do to a table; nothing is written, and any table may be asked. Raises NotFoundInTable for
    an unknown operation or column."""
    _arguments(table, operation, columns, retain_last)
    if operation == "expire":
        return _preview_expire(table, retain_last)
    if operation == "remove-orphans":
        return _preview_orphans(table)
    now = table_holdings(table)
    known = table.deletes()
    if operation.startswith("compact"):
        applied = len(known.files.deletes) - len(known.dangling)
        sentences = (
            (
                f"{count(now.data_files, 'data file')} ({human_bytes(now.data_bytes)}) would be written anew, less the "
                "rows that deletes hide."
            ),
            f"{count(applied, 'delete')} apply now; after it equality and position deletes dangle until they "
            "are removed, "
            "vectors go with their data files.",
            "The old files stay as long as a snapshot that reads them does: expire it to free them.",
        )
        return Preview(operation, sentences, tuple(sorted(known.files.data.paths())))
    if operation == "rewrite-manifests":
        listed = table.tree.manifests(table.metadata.current_snapshot)
        data = [m.manifest_path for m in listed if m.content == 0]
        one = (
            (
                f"{count(len(data), 'data manifest')} of {len(listed)} would be written anew, sorted by partition. No "
                "file changes."
            ),
        )
        return Preview(operation, one, tuple(data))
    deletes = [d for d in known.files.deletes if d.kind == "position_deletes"]
    gone = [d for d in known.dangling if d.kind == "position_deletes"]
    text = (
        f"{count(len(deletes), 'position delete file')} would be written anew, {len(gone)} of them dangle and "
        "would be dropped."
    )
    return Preview(operation, (text,), tuple(d.path for d in deletes))


def _preview_expire(table: Table, retain_last: int) -> Preview:
    """What Spark's procedure would do with `older_than` now: its arguments stand in for the table's properties, and
    what branches and tags say of themselves stands."""
    meta, now = table.metadata, int(time.time() * 1000)
    try:
        decided = retention(meta, now, now, retain_last)
    except ValueError as error:
        return Preview("expire", (f"Iceberg would refuse: {error}.",), ())
    gone = reach(table.tree, meta.snapshots, without=decided.kept)
    ids = {s.snapshot_id for s in decided.kept}
    statistics = {s.path for s in meta.statistics} - {s.path for s in meta.statistics if s.snapshot_id in ids}
    sentences = (
        f"{count(len(decided.expired), 'snapshot')} of {len(meta.snapshots)} would expire; time travel to them ends.",
        f"{count(len(gone.files), 'data or delete file')}, {count(len(gone.manifests), 'manifest')} and "
        f"{count(len(gone.manifest_lists), 'manifest list')} would become unreachable: {human_bytes(gone.bytes)} "
        "at least.",
        *([f"{count(len(statistics), 'statistics file')} of them would be removed."] if statistics else []),
        *(f"The {r.ref.type} {r.ref.name} would go: {r.reason}." for r in decided.refs if not r.kept),
        *_kept_words(meta, decided),
    )
    return Preview("expire", sentences, tuple(sorted({*gone.paths, *statistics})))


def _kept_words(meta: TableMetadata, decided: Retention) -> list[str]:
    """Which rule keeps which snapshots, a rule a sentence."""
    ordinals = snapshot_ordinals(meta)
    kept: dict[str, list[int]] = {}
    for verdict in decided.snapshots:
        for keeper in verdict.keepers:
            kept.setdefault(keeper.reason, []).append(ordinals[verdict.snapshot.snapshot_id])
    sentences = [f"Kept: {runs(f'snapshot-{n}' for n in sorted(ns))}, since {why}." for why, ns in kept.items()]
    more = len(sentences) - RULES_SHOWN
    return sentences if more <= 0 else [*sentences[:RULES_SHOWN], f"{count(more, 'rule')} more keep snapshots."]


def named_files(table: Table) -> set[str]:
    """Every file that a table's metadata leads to: metadata files, manifest lists, manifests, files and statistics."""
    meta = table.metadata
    return set(reach(table.tree, meta.snapshots).paths) | {
        meta.metadata_location,
        *(e.metadata_file for e in meta.metadata_log),
        *(s.path for s in meta.statistics),
    }


def orphans(table: Table) -> dict[str, float]:
    """Files below a table's folder that its metadata does not reach, with their age in hours. Raises UnreadableFile
    where the folder cannot be listed."""
    storage, location = table.reader.storage, table.metadata.location
    root = storage.folder(location)
    written = storage.changed(location) if root is None else {}
    if root is not None:
        for file in steps(sorted(Path(root).rglob("*")), "files"):
            with contextlib.suppress(FileNotFoundError):  # gone meanwhile
                if file.is_file():
                    written[str(file)] = file.stat().st_mtime
    there = set()
    for path in named_files(table):
        with contextlib.suppress(UnreadableFile):  # names nothing that could be below the folder
            there.add(storage.canonical(storage.resolve(path)))
    return {
        path: (time.time() - at) / 3600
        for path, at in written.items()
        if storage.canonical(path) not in there and not path.endswith((".crc", "/version-hint.text"))
    }


def _preview_orphans(table: Table) -> Preview:
    if refusal := gc_refusal(table.metadata):
        return Preview("remove-orphans", (f"Iceberg would refuse: {refusal}.",), ())
    unreached = orphans(table)
    old = [p for p, hours in unreached.items() if hours > 72]
    sentences = (
        f"{count(len(unreached), 'file')} in the table's folder are reached by no snapshot or metadata file that is "
        "left.",
        (
            f"Spark's procedure removes those older than three days: {count(len(old), 'file')}. Younger ones may be of "
            "a commit under way."
        ),
    )
    return Preview("remove-orphans", sentences, tuple(unreached))


def _arguments(table: Table, operation: str, columns: str, retain_last: int) -> str:
    if operation not in OPERATIONS:
        raise NotFoundInTable(f"no operation {operation!r}: there are {', '.join(OPERATIONS)}")
    procedure, arguments = OPERATIONS[operation]
    schema = table.metadata.schema(table.metadata.current_schema_id)
    names = [f.name for f in schema.fields] if schema else []
    wanted = [c.strip() for c in columns.split(",") if c.strip()] or names[:1]
    if unknown := [c for c in wanted if c not in names]:
        raise NotFoundInTable(f"no column {unknown[0]!r} to sort by: there are {', '.join(names)}")
    listed = ", ".join(quoting.identifier([c]) for c in wanted)
    places = {"columns": quoting.literal(listed), "z-order": quoting.literal(f"zorder({listed})")}
    places |= {"retain_last": str(int(retain_last)), "now": str(int(time.time() * 1000))}
    filled = re.sub(r"\{([a-z_-]+)\}", lambda match: places[match.group(1)], arguments)
    return _call(table, procedure, f"table => {quoting.literal(catalog_and_name(table)[1])}", filled)


def _call(table: Table, procedure: str, *arguments: str) -> str:
    catalog, _ = catalog_and_name(table)
    return f"CALL {quoting.identifier([catalog, 'system', procedure])}({', '.join(filter(None, arguments))})"


def is_teaching(table: Table) -> bool:
    """Whether it is one of the teaching tables, whose claims a change would break."""
    return table.name.startswith(f"{SANDBOX}.{NAMESPACE}.")


def is_writable(table: Table) -> bool:
    """Whether statements may be run on it without `allow_writes`: a sandbox table that is no teaching table."""
    return table.reader.location.catalog == SANDBOX and not is_teaching(table)


def catalog_and_name(table: Table) -> tuple[str, str]:
    """Its catalog, and its name there."""
    catalog = table.reader.location.catalog or SANDBOX
    return catalog, table.name.removeprefix(f"{catalog}.")


def check_writable(table: Table, allow_writes: bool = False) -> None:
    """Raises AccessRefused when nothing may be written to a table. Without `allow_writes` that is all but sandbox
    tables that are no teaching tables; with it, tables that no catalog holds."""
    catalog = table.reader.location.catalog
    if catalog is None:
        raise AccessRefused(
            f"{table.name} was opened by its path: it is not in the sandbox, nor in a catalog that a commit could "
            "go through"
        )
    if catalog != SANDBOX and not allow_writes:
        raise AccessRefused(
            f"{table.name} is not in the sandbox catalog: nothing is written to it unless allow_writes=True is passed"
        )
    if is_teaching(table) and not allow_writes:
        raise AccessRefused(
            f"{table.name} is a teaching table: work on a copy (scenarios.fresh_copy), or pass allow_writes=True"
        )


def check_known(table: Table, engine: SparkEngine) -> None:
    """Raises NotPossible when Spark has no catalog of the name of the table's."""
    catalog, _ = catalog_and_name(table)
    if catalog != SANDBOX and engine.session().conf.get(f"spark.sql.catalog.{catalog}", None) is None:
        raise NotPossible(
            f"Spark does not know the catalog {catalog}: set spark.sql.catalog.{catalog} and its options in spark.json"
        )


def checked_write(table: Table, sql: str, engine: SparkEngine) -> tuple[Any, Any]:
    """A session for a statement that writes to a table, and its plan, for guard.run. Raises AccessRefused, EngineError,
    StatementFailed, UnreadableFile."""
    own = tuple(table.name.split("."))
    table.check_readable(own)
    session = engine.person_session()
    return session, check_write(session, sql, own, table.check_readable)


def _sql(table: Table, sql: str, what: str, engine: SparkEngine | None) -> list[dict[str, Any]]:
    """Run a statement of ours on a table, checked like a person's: its names are strangers', too."""
    spark = engine or shared_engine()
    session, plan = checked_write(table, sql, spark)
    try:
        answer: list[dict[str, Any]] = run_checked(session, plan).toArrow().to_pylist()
    except Exception as error:  # Spark raises many kinds
        raise failure(error, spark.lost, what) from error
    return answer


def run(
    table: Table,
    operation: str,
    columns: str = "",
    retain_last: int = 1,
    allow_writes: bool = False,
    engine: SparkEngine | None = None,
) -> tuple[Outcome, Table]:
    """Carry out an operation, and return what it did and the table as it is then. On tables of the sandbox catalog; on
    those of another catalog that Spark knows, and on the teaching tables (whose claims it would break), only with
    `allow_writes`. Raises AccessRefused, EngineError, NotFoundInTable, StatementFailed."""
    check_writable(table, allow_writes)
    check_known(table, engine or shared_engine())
    sql = _arguments(table, operation, columns, retain_last)
    before = table_holdings(table)
    answer = _sql(table, sql, operation, engine)
    after = table.refresh()
    return Outcome(operation, sql, tuple(answer), before, table_holdings(after)), after


def preview_undo(table: Table, operation: str, name: str = "", snapshot: str | int | None = None) -> RefPreview:
    """What an operation on branches, tags or the current snapshot would do (see core.refs). `snapshot` is an id,
    branch, tag, `snapshot-3`, or for rollback-to-time a time. Raises NotFoundInTable."""
    outcome = _preview_refs(table, operation, name, snapshot)
    sentences, files = list(outcome.words), list[str]()
    if outcome.allowed and outcome.current != table.metadata.current_snapshot_id and outcome.current is not None:
        now, then = (_live(table, i) for i in (table.metadata.current_snapshot_id, outcome.current))
        sentences.append(
            f"Readers of main would see {count(len(then), 'file')} instead of {len(now)}: {len(then - now)} come, "
            f"{len(now - then)} go."
        )
    if outcome.abandoned:
        gone = [s for s in table.metadata.snapshots if s.snapshot_id in outcome.abandoned]
        rest = [s for s in table.metadata.snapshots if s.snapshot_id not in outcome.abandoned]
        only = reach(table.tree, gone, without=rest)
        files = only.paths
        sentences.append(
            f"Only they reach {count(len(only.files), 'data or delete file')} and "
            f"{count(len(only.manifests), 'manifest')}."
        )
    return replace(outcome, words=tuple(sentences), files=tuple(files))


def _preview_refs(table: Table, operation: str, name: str, snapshot: str | int | None) -> RefPreview:
    """What metadata.json alone says of it."""
    at, moment = None, None
    if operation == "rollback-to-time":
        moment = _moment(snapshot)
    elif snapshot is not None:
        at = table.resolve(snapshot).snapshot
    try:
        return preview_refs(table.metadata, operation, name, at, moment)
    except ValueError as error:
        raise NotFoundInTable(str(error)) from error


def _live(table: Table, snapshot_id: int | None) -> set[str]:
    return set(table.files(snapshot_id).to_arrow()["file_path"].to_pylist()) if snapshot_id is not None else set()


def _moment(text: str | int | None) -> int:
    """Milliseconds of a time given in ISO 8601 (UTC) or in milliseconds."""
    if str(text).isdigit():
        return int(str(text))
    try:
        moment = datetime.datetime.fromisoformat(str(text).replace("Z", "+00:00"))
    except ValueError as error:
        raise NotFoundInTable(
            f"{text!r} is no time: give milliseconds, or ISO 8601 such as 2026-11-21 05:00:00"
        ) from error
    return int((moment if moment.tzinfo else moment.replace(tzinfo=datetime.timezone.utc)).timestamp() * 1000)


def run_undo(
    table: Table,
    operation: str,
    name: str = "",
    snapshot: str | int | None = None,
    allow_writes: bool = False,
    engine: SparkEngine | None = None,
) -> tuple[str, Table]:
    """Carry out such an operation on a sandbox table (on others see `run`); returns the statement and the table as it
    is then. Raises AccessRefused, EngineError, NotFoundInTable, StatementFailed (with
    Iceberg's reason)."""
    check_writable(table, allow_writes)
    check_known(table, engine or shared_engine())
    _preview_refs(table, operation, name, snapshot)
    at = None if operation == "rollback-to-time" or snapshot is None else table.resolve(snapshot).snapshot.snapshot_id
    own, quoted = quoting.identifier(table.name.split(".")), quoting.identifier([name])
    if operation in ("tag", "branch"):
        sql = f"ALTER TABLE {own} CREATE {operation.upper()} {quoted} AS OF VERSION {at}"
    elif operation == "drop":
        kind = next((r.type for r in table.metadata.refs if r.name == name), "branch")
        sql = f"ALTER TABLE {own} DROP {kind.upper()} {quoted}"
    else:
        branches = [r.name for r in table.metadata.refs if r.type == "branch"]
        target = str(snapshot) if str(snapshot) in branches else ""
        if operation == "fast-forward" and not target:
            raise NotFoundInTable(
                f"Iceberg fast-forwards a branch to another branch, and {snapshot!r} is none: there are "
                f"{', '.join(branches)}"
            )
        literal = quoting.literal(name)
        moment = _moment(snapshot) if operation == "rollback-to-time" else 0
        procedure, arguments = {
            "fast-forward": ("fast_forward", f"{literal}, {quoting.literal(target)}"),
            "rollback": ("rollback_to_snapshot", f"{at}"),
            "rollback-to-time": ("rollback_to_timestamp", f"TIMESTAMP_MILLIS({moment}L)"),
            "set-current": ("set_current_snapshot", f"{at}"),
            "cherry-pick": ("cherrypick_snapshot", f"{at}"),
            "publish": ("publish_changes", literal),
        }[operation]
        sql = _call(table, procedure, quoting.literal(catalog_and_name(table)[1]), arguments)
    _sql(table, sql, operation, engine)
    return sql, table.refresh()
