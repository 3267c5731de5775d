"""Where the bytes of a table are, and which statement frees which of them."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from functools import reduce
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from explorer.model.metadata import TableMetadata
from explorer.queries.stored_files import StoredFiles, add_up_files
from explorer.reports.maintenance.previews import Preview, preview
from explorer.reports.maintenance.procedure_calls import is_printable, table_in_sql
from explorer.reports.maintenance.refusals import check_readable_by_iceberg
from explorer.spark_engine.engine_choice import Engine
from explorer.spec.commits.whole_file_commits import copy_on_write_words
from explorer.spec.layout.file_origins import ORIGINS
from explorer.spec.layout.storage_ledger import By, Cleanup, LedgerGroup, LedgerLine, StorageLedger
from explorer.spec.layout.stored_files import GROUPS, KINDS, OLDER_METADATA, Ranks, StorageGroup
from explorer.spec.snapshots.retention import DELETES_OLD, MOST_OLD, Retention, RetentionRule, retention_or_refusal
from explorer.spec.text.names import first_of, snapshot_name, snapshot_ordinals
from explorer.spec.text.units import count, instant, whole
from explorer.table import Table

LOG_KEPT = 10
"""Older metadata files that a table keeps after the statement that removes them."""
MOST_PREVIEWED = 200_000
"""Files in the folders of a table for which a preview of remove_orphan_files is made beside."""
IN_DOUBT = " (maybe in use)"
"""What is added to a group whose files may be of what could not be read."""
KEPT_SINCE: Mapping[RetentionRule, str] = {
    "ref": "a branch or tag names their snapshots",
    "age": "their snapshots are younger than the policy's age",
    "youngest": "they are among the youngest snapshots of a branch",
    "unreferenced": "their snapshots are young, though in no branch or tag",
}
"""Why snapshots stay, by the rule that keeps them."""
MAY_BE_ROWS = (
    "No commit listed {} of them, though all commits are there: such rows may be nowhere else, as those of an insert "
    "that was refused, or in the table, as those of a compaction that was. icedive doctor TABLE --files says what to "
    "do."
)
"""What is said of data files that no commit listed, before any advice to remove them."""
REFS = 3
"""Branches and tags of one snapshot that are named."""


def storage_ledger(table: Table, by: By = "", price: float | None = None, engine: Engine = "auto") -> StorageLedger:
    """Add up all files of a table.

    Args:
        table: The table.
        by: Also add up by `partition`, or by the `month` in which files were written.
        price: What a GiB costs in a month.
        engine: What decodes manifests.

    Returns:
        The ledger. What cannot be read or listed is told, and the statements that depend on it are left out.
    """
    now, meta = int(time.time() * 1000), table.metadata
    decided, refusal = retention_or_refusal(meta, now)
    kept = decided.snapshots_to_keep if decided else meta.snapshots
    ranks = Ranks.of(meta, {snapshot.snapshot_id for snapshot in kept})
    stored = add_up_files(table.tree.by(engine, "storage"), ranks, by, now)
    sums = stored.sums
    kept_words = _cleanup_of_kept(decided, refusal, _needing(ranks, sums))
    held = next((name for name in ("kept", "expired") if name in pc.unique(sums["group"]).to_pylist()), "")
    groups = []
    for name in GROUPS:
        own = sums.filter(pc.equal(sums["group"].cast(pa.string()), name))
        if lines := _lines(name, own):
            title = GROUPS[name] + (IN_DOUBT if stored.unknown and name in ("unused", "young") else "")
            size = sum(line.bytes for line in lines)
            cleanup = _cleanup(table, name, size, stored, kept_words, engine)
            if name == held and (words := _copy_on_write(table)):
                cleanup = replace(cleanup, words=(*cleanup.words, words))
            groups.append(LedgerGroup(name, title, lines, cleanup))
    elsewhere = sums.filter(sums["elsewhere"])
    outside = (_total(elsewhere, "files"), _total(elsewhere, "bytes"))
    return StorageLedger(
        tuple(stored.folders), tuple(groups), outside, tuple(_snapshot_rows(meta, ranks, sums, now)),
        tuple(_origin_rows(sums)), tuple(_part_rows(sums, by)) if by else (), tuple(stored.unknown), price,
    )  # fmt: skip


def _lines(group: StorageGroup, sums: pa.Table) -> tuple[LedgerLine, ...]:
    kinds: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0])
    for kind, files, size in zip(*(sums[n].to_pylist() for n in ("kind", "files", "bytes")), strict=True):
        kinds[kind][0] += files
        kinds[kind][1] += size
    lines = (LedgerLine(group, kind, *amounts) for kind, amounts in kinds.items())
    return tuple(sorted(lines, key=lambda line: (-line.bytes, line.kind)))


def _total(sums: pa.Table, name: str) -> int:
    return int(pc.sum(sums[name]).as_py() or 0)


# -- what frees a group ------------------------------------------------------------------------------------------------
OUT_OF_LOG = "metadata.json that the log does not have"
NOT_BY_PROPERTY = (
    f"{DELETES_OLD} never removes {{}}: with it, a commit removes what it takes out of the log, and what was taken out "
    "before stays."
)
FIXED: Mapping[StorageGroup, Cleanup] = {
    "young": Cleanup(
        ("Nothing refers to them. They may be of a commit under way: remove_orphan_files leaves them until they are "
         "older.",)
    ),
    "hidden": Cleanup(
        ("Nothing refers to them. remove_orphan_files passes over names, and folders, that begin with `_` or `.`.",)
    ),
    "missing": Cleanup(
        ("Metadata refers to them, and they are not there. The bytes are those that metadata records.",
         "The doctor, with its check of files, says what this breaks.")
    ),
}  # fmt: skip
"""What is said of groups whatever the table is."""


def _cleanup(
    table: Table, group: StorageGroup, size: int, stored: StoredFiles, kept: Cleanup, engine: Engine
) -> Cleanup:
    own = _cleanup_of_group(table, group, size, stored, kept, engine)
    number = _number(stored.sums, group, OUT_OF_LOG)
    return replace(own, words=(*own.words, NOT_BY_PROPERTY.format(_out_of_log(number)))) if number else own


def _cleanup_of_group(
    table: Table, group: StorageGroup, size: int, stored: StoredFiles, kept: Cleanup, engine: Engine
) -> Cleanup:
    if group == "kept":
        return kept
    if group == "expired":
        seen = preview(table, "expire", engine=engine)
        return Cleanup(seen.words, seen.call, size if seen.call else 0)
    if group == "unused":
        return _cleanup_of_unused(table, stored, engine)
    if group == "metadata":
        return _cleanup_of_old_metadata(table, stored)
    if group == "others":
        return Cleanup(tuple(f"{why}." for why in stored.others))
    fixed = FIXED.get(group, Cleanup())
    refused = _refused(stored.sums) if group == "young" and not stored.unknown else 0
    return replace(fixed, words=(*fixed.words, MAY_BE_ROWS.format(count(refused, "data file")))) if refused else fixed


def _out_of_log(number: int) -> str:
    return (
        "the metadata file that the log does not have"
        if number == 1
        else (f"the {number:,} metadata files that the log does not have")
    )


def _number(sums: pa.Table, group: StorageGroup, kind: str) -> int:
    """How many files of a kind a group has."""
    return _total(
        sums.filter(reduce(pc.and_kleene, (pc.equal(sums[name].cast(pa.string()), value)
                                           for name, value in (("group", group), ("kind", kind))))), "files"
    )  # fmt: skip


def _refused(sums: pa.Table) -> int:
    """How many young data files no commit can have listed."""
    texts = {name: sums[name].cast(pa.string()) for name in ("group", "origin", "kind")}
    wanted = {"group": "young", "origin": "refused", "kind": KINDS[0]}
    return _total(
        sums.filter(reduce(pc.and_kleene, (pc.equal(texts[n], value) for n, value in wanted.items()))), "files"
    )


def _needing(ranks: Ranks, sums: pa.Table) -> set[int]:
    """The older snapshots that stay and need files that no newer one needs."""
    own = sums.filter(pc.equal(sums["group"].cast(pa.string()), "kept"))
    return {ranks.snapshots[rank].snapshot_id for rank in pc.unique(own["rank"]).to_pylist()}


def _cleanup_of_kept(decided: Retention | None, refusal: str, needing: Collection[int]) -> Cleanup:
    """Why the files stay that older snapshots need, by the rules that keep these snapshots."""
    kept = {
        keeper.rule
        for one in (decided.snapshots if decided else ())
        if one.snapshot.snapshot_id in needing
        for keeper in one.keepers
    }
    why = "; ".join(words for rule, words in KEPT_SINCE.items() if rule in kept) or refusal
    words = f"No newer snapshot needs these files. An expiry leaves them: {why}."
    more = "maintain preview expire says why for each snapshot, and with -O older_than=TIME what goes if fewer stay."
    return Cleanup((words, more) if decided else (words,))


def _copy_on_write(table: Table) -> str:
    """What commits cost that replaced whole files; empty where there are none, or the statement cannot be printed."""
    name = table_in_sql(table)
    return copy_on_write_words(table.metadata, name) if is_printable(table, f"ALTER TABLE {name}") else ""


def _cleanup_of_unused(table: Table, stored: StoredFiles, engine: Engine) -> Cleanup:
    if stored.unknown:
        return Cleanup(("No statement is printed: files in use may be among them, since not all could be read.",))
    if _total(stored.sums, "files") > MOST_PREVIEWED:
        return Cleanup(("There are many files: maintain preview remove-orphans looks at each, and has the statement.",))
    seen = preview(table, "remove-orphans", engine=engine)
    return Cleanup(seen.words, seen.call, _bytes_removed(seen) if seen.call else 0)


def _bytes_removed(seen: Preview) -> int:
    rows = (row for part in seen.tables["files"].iter_tables() for row in part.to_pylist())
    return sum(row["bytes"] or 0 for row in rows if row["becomes"] == "removed" and not row["live"])


def _cleanup_of_old_metadata(table: Table, stored: StoredFiles) -> Cleanup:
    """The properties by which the next commit removes all but the newest of the older metadata files: of a sound table,
    since who recovers another one may need them."""
    meta, log = table.metadata, table.metadata.metadata_log
    missing = stored.sums.filter(pc.equal(stored.sums["group"].cast(pa.string()), "missing"))
    try:
        check_readable_by_iceberg(meta)
        is_sound = not (stored.unknown or stored.others or set(missing["kind"].to_pylist()) - {OLDER_METADATA})
    except ValueError:
        is_sound = False
    if not is_sound:
        return Cleanup(("No statement is printed: older metadata files may be what this table is recovered from.",))
    most = whole(meta.properties.get(MOST_OLD, "100"))
    gone = log[: max(0, len(log) - LOG_KEPT + 1)]
    statement = (
        f"ALTER TABLE {table_in_sql(table)} SET TBLPROPERTIES ('{DELETES_OLD}' = 'true', '{MOST_OLD}' = '{LOG_KEPT}')"
    )
    size = sum(table.tree.sizes(entry.metadata_file for entry in gone).values())
    if not size or most is None or most < LOG_KEPT or not is_printable(table, statement):
        return Cleanup()
    words = (
        f"The statement removes {count(len(gone), 'older metadata file')} of the log, and keeps {LOG_KEPT}. From then "
        "on each commit removes the oldest (those of Trino since version 469, trinodb/trino#19582). Who opens the "
        "table by an older metadata file no longer can."
    )
    if len(log) > most:
        words += (
            f" Run it before any other: each commit cuts the log to {most:,} files, and leaves those before them as "
            "files that nothing leads to."
        )
    return Cleanup((words,), statement, size)


# -- details -----------------------------------------------------------------------------------------------------------
def _snapshot_rows(meta: TableMetadata, ranks: Ranks, sums: pa.Table, now: int) -> Iterator[dict[str, Any]]:
    """What each older snapshot needs that no snapshot before it in the order of ranks needs, the most bytes first."""
    some = sums.filter(pc.is_in(sums["group"].cast(pa.string()), pa.array(["kept", "expired"])))
    grouped = some.select(["rank", "files", "bytes"]).group_by("rank").aggregate([("files", "sum"), ("bytes", "sum")])
    ordinals = snapshot_ordinals(meta)
    refs: defaultdict[int, list[str]] = defaultdict(list)
    for ref in meta.refs:
        refs[ref.snapshot_id].append(ref.name)
    rows = sorted(grouped.to_pylist(), key=lambda row: (-row["bytes_sum"], row["rank"]))
    for row in rows:
        snapshot = ranks.snapshots[row["rank"]]
        yield {
            "snapshot": snapshot_name(snapshot.snapshot_id, ordinals),
            "refs": first_of(refs[snapshot.snapshot_id], REFS),
            "becomes": "kept" if row["rank"] < ranks.kept else "expired",
            "age_days": round((now - (snapshot.timestamp_ms or now)) / 86_400_000, 1),
            "timestamp": instant(snapshot.timestamp_ms, "seconds"), "files": row["files_sum"],
            "bytes": row["bytes_sum"], "snapshot_id": snapshot.snapshot_id,
        }  # fmt: skip


def _origin_rows(sums: pa.Table) -> list[dict[str, Any]]:
    """Files that nothing names, by their likely origin and kind, the most bytes first."""
    some = sums.filter(pc.is_valid(sums["origin"])).select(["origin", "kind", "files", "bytes"])
    texts = pa.table({n: some[n].cast(pa.string()) if n in ("origin", "kind") else some[n] for n in some.column_names})
    rows = texts.group_by(["origin", "kind"]).aggregate([("files", "sum"), ("bytes", "sum")]).to_pylist()
    return [
        {
            "written": ORIGINS[row["origin"]][0], "kind": row["kind"], "files": row["files_sum"],
            "bytes": row["bytes_sum"], "likely_origin": ORIGINS[row["origin"]][1],
        }
        for row in sorted(rows, key=lambda row: (-row["bytes_sum"], row["origin"], row["kind"]))
    ]  # fmt: skip


def _part_rows(sums: pa.Table, by: By) -> list[dict[str, Any]]:
    """A row for each partition or month: all files that are there, and their bytes by group."""
    parts: dict[str | None, dict[str, Any]] = {}
    columns = (sums[name].to_pylist() for name in ("part", "group", "files", "bytes"))
    for part, group, files, size in zip(*columns, strict=True):
        if group != "missing":
            row = parts.setdefault(part, {by: part, "files": 0, "bytes": 0, **dict.fromkeys(GROUPS, 0)})
            row["files"] += files
            row["bytes"] += size
            row[group] += size
    there = {group for row in parts.values() for group in GROUPS if row[group]}
    rows = [{n: v for n, v in row.items() if n not in GROUPS or n in there} for row in parts.values()]
    return sorted(rows, key=lambda row: (row[by] or "") if by == "month" else (-row["bytes"], row[by] or ""))
