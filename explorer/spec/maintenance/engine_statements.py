"""The statements by which other engines than Spark maintain a table, and which of Spark's options do the same."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from explorer.model.metadata import TableMetadata
from explorer.spec.snapshots.retention import DEFAULTS, MAX_SNAPSHOT_AGE
from explorer.spec.text.names import is_plain

DAY_MS = 24 * 3600 * 1000
TRINO_LEAST_AGE_MS = 7 * DAY_MS
"""What Trino takes at least for the age of snapshots and of files, unless its administrator allows less
(iceberg.expire-snapshots.min-retention, iceberg.remove-orphan-files.min-retention)."""
TRINO_SMALL = 100 << 20
"""Up to which size Trino's optimize takes a data file, in bytes (file_size_threshold)."""
ATHENA_AGE, ATHENA_LEAST = "vacuum_max_snapshot_age_seconds", "vacuum_min_snapshots_to_keep"
"""The table properties that Athena's VACUUM goes by."""
ATHENA_AGE_SECONDS = 432_000
MOST_IDS = 200
"""Snapshots that a statement lists by their ids."""
_LONG_MAX = str(2**63 - 1)
_TRINO_OPTIMIZES = (
    "Trino has no statement for this. Its optimize drops a delete once each data file that is left is newer than it."
)


@dataclass(frozen=True)
class EngineStatement:
    """What an engine has for an operation.

    Attributes:
        statement: The statement, with {table} where the table's name stands; empty where the engine has none.
        options: The options with which Spark's procedure does the same; None where nobody knows what the engine does.
        words: How it differs from Spark's procedure; where there is no statement, why.
    """

    statement: str = ""
    options: Mapping[str, str] | None = field(default_factory=dict)
    words: str = ""


@dataclass(frozen=True)
class OtherEngine:
    """An engine that maintains tables.

    Attributes:
        title: Its name.
        known: How its statements are known, and how they are run.
        of: What it has for an operation, of a table, at a time in milliseconds.
        has_sql: Whether its statements are SQL, with a name of the form db.table.
        needs_data: Whether it must be able to read the table's files; else its metadata is enough.
        store: The beginning of the locations that it reads; empty for any.
    """

    title: str
    known: str
    of: Callable[[str, TableMetadata, int], EngineStatement]
    has_sql: bool = True
    needs_data: bool = True
    store: str = ""


def engine_table_name(parts: Sequence[str], is_lower: bool) -> str:
    """Return a table's name as all engines read it; empty where one would read it in another way.

    Args:
        parts: The parts of the name, without the catalog.
        is_lower: Whether the engine looks up names in lower case.
    """
    if len(parts) != 2 or not all(map(is_plain, parts)):
        return ""
    name = ".".join(parts)
    return "" if is_lower and name != name.lower() else name


def _trino(operation: str, metadata: TableMetadata, now_ms: int) -> EngineStatement:
    if operation == "compact":
        same = {
            "min-file-size-bytes": str(TRINO_SMALL + 1), "max-file-size-bytes": _LONG_MAX,
            "target-file-size-bytes": str(max(TRINO_SMALL + 2, 1 << 30)), "min-input-files": "2",
            "delete-file-threshold": "1", "max-file-group-size-bytes": _LONG_MAX,
        }  # fmt: skip
        words = "It takes files of up to 100 MB, if there are two in a partition, and all that have deletes."
        if len(metadata.partition_specs) > 1:  # it takes files that are alone in their partition, too
            return EngineStatement("ALTER TABLE {table} EXECUTE optimize", None, words)
        return EngineStatement("ALTER TABLE {table} EXECUTE optimize", same, words)
    if operation == "rewrite-manifests":
        return EngineStatement(
            "ALTER TABLE {table} EXECUTE optimize_manifests",
            words="It takes all manifests of data files, and leaves those of deletes as they are.",
        )
    if operation == "expire":
        age_ms = max(TRINO_LEAST_AGE_MS, _max_age_ms(metadata))
        same = {"older_than": str(now_ms - age_ms)}
        words = "Trino takes no age below 7 days, unless its administrator allows it."
        return EngineStatement(
            f"ALTER TABLE {{table}} EXECUTE expire_snapshots(retention_threshold => '{_duration(age_ms)}')", same, words
        )
    if operation == "remove-orphans":
        same = {"older_than": str(now_ms - TRINO_LEAST_AGE_MS)}
        words = "It looks below the table's location, and keeps every file that has the name of a file in use."
        return EngineStatement(
            "ALTER TABLE {table} EXECUTE remove_orphan_files(retention_threshold => '7d')", same, words
        )
    return EngineStatement(words=_TRINO_OPTIMIZES)


def clean_expiry(metadata: TableMetadata) -> EngineStatement:
    """Return Trino's expiry that also drops the schemas and partition specs that no snapshot uses."""
    age = _duration(max(TRINO_LEAST_AGE_MS, _max_age_ms(metadata)))
    return EngineStatement(
        f"ALTER TABLE {{table}} EXECUTE expire_snapshots(retention_threshold => '{age}', "
        "clean_expired_metadata => true)",
        words=f"In Trino, from 479 on, this keeps the snapshots of {age}, and what they use:",
    )


def _athena(operation: str, metadata: TableMetadata, now_ms: int) -> EngineStatement:
    if operation == "compact":
        return EngineStatement("OPTIMIZE {table} REWRITE DATA USING BIN_PACK", None)
    if operation == "expire":
        age = _whole(metadata.properties.get(ATHENA_AGE), ATHENA_AGE_SECONDS)
        same = {
            "older_than": str(now_ms - age * 1000),
            "retain_last": str(_whole(metadata.properties.get(ATHENA_LEAST), 1)),
        }
        words = f"It goes by the table properties {ATHENA_AGE} and {ATHENA_LEAST}, and removes orphan files as well."
        return EngineStatement("VACUUM {table}", same, words)
    if operation == "remove-orphans":
        return EngineStatement(words="Athena's VACUUM removes orphan files as well, with the snapshots that expire.")
    return EngineStatement(words="Athena has no statement for this.")


def _flink(operation: str, metadata: TableMetadata, now_ms: int) -> EngineStatement:
    if operation == "compact":
        return EngineStatement("Actions.forTable(table).rewriteDataFiles().execute();", None)
    if operation == "expire":
        return EngineStatement("table.expireSnapshots().cleanExpiredFiles(true).commit();")
    if operation == "remove-orphans":
        return EngineStatement(words="Flink has this in streaming jobs alone: TableMaintenance, DeleteOrphanFiles.")
    return EngineStatement(words="Flink has no statement for this.")


def _pyiceberg(operation: str, metadata: TableMetadata, now_ms: int) -> EngineStatement:
    if operation != "expire":
        return EngineStatement(words="pyiceberg has no call for this.")
    return EngineStatement(
        "table.maintenance.expire_snapshots().by_ids({ids}).commit()",
        words="It removes snapshots from the metadata alone: their files stay, as orphans.",
    )


def _snowflake(operation: str, metadata: TableMetadata, now_ms: int) -> EngineStatement:
    words = "Snowflake maintains the tables of its own catalog by itself, and has no statement for others."
    return EngineStatement(words=words)


OTHER_ENGINES: Mapping[str, OtherEngine] = {
    "trino": OtherEngine("Trino", "Its session is in the table's catalog. They were tried with Trino 483.", _trino),
    "athena": OtherEngine("Athena", "They go by Athena's documentation, and were not tried.", _athena, store="s3://"),
    "flink": OtherEngine(
        "Flink", "They are Java, of the table that TableLoader.loadTable gives. The compaction was not tried.", _flink,
        has_sql=False,
    ),
    "pyiceberg": OtherEngine(
        "pyiceberg", "They are Python, of the table that load_table gives, and were tried with pyiceberg 0.12.",
        _pyiceberg, has_sql=False, needs_data=False,
    ),
    "snowflake": OtherEngine("Snowflake", "Snowflake has none.", _snowflake),
}  # fmt: skip
"""The engines that have statements of their own."""


def _max_age_ms(metadata: TableMetadata) -> int:
    """The age at which snapshots expire, by the table's policy."""
    return _whole(metadata.properties.get(MAX_SNAPSHOT_AGE), DEFAULTS[MAX_SNAPSHOT_AGE])


def _whole(text: object, default: int) -> int:
    """A number as a property has it; what holds without it, where it is none."""
    words = str(text)
    return int(words) if words.isascii() and words.isdigit() and len(words) <= 18 else default


def _duration(age_ms: int) -> str:
    """An age as Trino writes it, rounded up to seconds."""
    return f"{age_ms // DAY_MS}d" if age_ms % DAY_MS == 0 else f"{math.ceil(age_ms / 1000)}s"
