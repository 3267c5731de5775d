"""Which property spreads the rows of a statement over the tasks that write them, by the commits that it made: each task
writes a file for each partition that it gets rows of.

As Iceberg 1.12 decides it: SparkWriteConf and SparkWriteUtil, and FlinkWriteConf."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from explorer.model.metadata import Snapshot, TableMetadata
from explorer.spec.commits.commit_writers import commit_writer
from explorer.spec.deletes.deletes import is_unpartitioned
from explorer.spec.text.units import count, whole

_Kinds = tuple[str, ...]
_STATEMENTS = {"": "INSERT", "merge": "MERGE", "update": "UPDATE", "delete": "DELETE"}
"""The statements of Spark that have a property of their own; INSERT and all else have the table's."""
_MERGE_COUNTS = "spark.merge-into."
"""How keys begin that Spark 4.1 writes into the summary of each MERGE."""
FEWER_TASKS = "fewer tasks that write"


def distribution_advice(metadata: TableMetadata, commits: Iterable[Snapshot]) -> str:
    """Say how the next commits of some writers make fewer files.

    Args:
        metadata: The table's.
        commits: Snapshots that added more data files than their partitions and bytes need.

    Returns:
        Which property helps for which of them, or that none does, and why; then what helps whatever wrote them.
    """
    groups = Counter((commit_writer(s, "").engine, _kinds(s), _adds_deletes(s)) for s in commits)
    told = [
        f"for {count(number, 'commit')} of {' or '.join(_STATEMENTS[kind] for kind in kinds)} by "
        f"{engine.capitalize()}: {_group_advice(metadata, engine, kinds, on_read)}"
        for (engine, kinds, on_read), number in groups.most_common()
        if kinds
    ]
    return "; ".join([*told, FEWER_TASKS])


def _kinds(snapshot: Snapshot) -> _Kinds:
    """The statements that may have made a commit, by the name in their property; none of a writer that asks no property
    how it distributes rows."""
    summary, engine = snapshot.summary, commit_writer(snapshot, "").engine
    if engine not in ("flink", "spark") or snapshot.operation == "replace":
        return ()
    if engine == "flink":
        return ("",)
    if any(key.startswith(_MERGE_COUNTS) for key in summary):
        return ("merge",)
    if snapshot.operation == "append" or summary.get("replace-partitions") == "true":
        return ("",)
    merge = () if _tells_merges(summary) else ("merge",)
    if _adds_deletes(snapshot):
        return (*merge, "update")  # a DELETE adds no data file then
    added, removed = (whole(summary.get(f"{what}-records")) for what in ("added", "deleted"))
    of_rows = [kind for kind, fits in (("update", added == removed), ("delete", added != removed)) if fits]
    return (*merge, *of_rows, "")


def _tells_merges(summary: Mapping[str, str]) -> bool:
    """Whether a writer counts the rows of each MERGE in its summary: Spark 4.1 with Iceberg 1.12 does."""
    library = summary.get("iceberg-version", "").removeprefix("Apache Iceberg ").partition(" ")[0]
    versions = summary.get("engine-version", ""), library
    numbers = [[int(part) for part in version.split(".")[:2] if part.isdecimal()] for version in versions]
    return numbers[0] >= [4, 1] and numbers[1] >= [1, 12]


def _adds_deletes(snapshot: Snapshot) -> bool:
    return bool(whole(snapshot.summary.get("added-delete-files")))


def _group_advice(metadata: TableMetadata, engine: str, kinds: Sequence[str], on_read: bool) -> str:
    """Say which of the properties of some statements help, and where none does, why not."""
    modes = {kind: _mode(metadata, engine, kind, on_read) for kind in kinds}
    helpful = [f"{_property(kind)}=hash (it is {mode} now)" for kind, mode in modes.items() if mode not in ("", "hash")]
    if helpful:
        return f"{' or '.join(helpful)}{', by which of them it was' if len(kinds) > 1 else ''}"
    flat, hashed = (" and ".join(_property(kind) for kind in kinds if modes[kind] == mode) for mode in ("", "hash"))
    reasons = (
        hashed
        and f"{hashed} is hash now: later commits show whether that is enough. If not, an option of the write, the "
        "session (spark.sql.iceberg.distribution-mode) or an older Iceberg decides otherwise",
        flat and f"{flat} cannot help, as the table has no partitions",
    )
    return ", and ".join(filter(None, reasons))


def _mode(metadata: TableMetadata, engine: str, kind: str, on_read: bool) -> str:
    """The mode that a statement's next commit goes by: hash, range or none; empty where hash would distribute
    nothing."""
    flat = is_unpartitioned(metadata.spec(metadata.default_spec_id))
    by_partition_alone = not kind or (kind == "merge" and not on_read)
    if flat and by_partition_alone:
        return ""
    by_default = "hash"
    if not kind:
        by_default = "none" if engine == "flink" else "range" if metadata.default_sort_order_id else "hash"
    return metadata.properties.get(_property(kind), by_default).lower()


def _property(kind: str) -> str:
    return f"write.{kind}.distribution-mode" if kind else "write.distribution-mode"
