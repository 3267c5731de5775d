"""The faults that the doctor finds in a table, as features that not every reader can read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from explorer.spec.doctor.findings import Finding
from explorer.spec.doctor.remedy_cases import (
    ENTRIES_SCHEMA,
    NO_CURRENT_ID,
    NO_SCHEMA_FIELD,
    NO_SCHEMA_ID,
    NO_SOURCE,
    NO_UUID,
    ZERO,
)
from explorer.spec.doctor.remedy_texts import MISREAD_BY
from explorer.spec.entries.entries import NO_LIVE
from explorer.spec.readers.table_features import TableFeature
from explorer.spec.schemas.required_nulls import NOT_WRITTEN
from explorer.spec.text.names import base_name

FAULTS: Mapping[tuple[str, str], str] = {
    ("metadata-field", NO_CURRENT_ID): "fault-no-current-id",
    ("manifest-counts", NO_LIVE): "fault-no-live-counted",
    ("readers-differ", NO_SCHEMA_ID): "fault-no-schema-id",
    ("avro-schema", "no field of its Avro schema has a field id"): "fault-no-field-ids",
    ("avro-schema", ENTRIES_SCHEMA): "fault-header-schema",
    ("metadata-field", NO_SCHEMA_FIELD): "fault-no-v1-schema",
    ("uuid-changed", NO_UUID): "fault-no-uuid",
    ("partition-source-dropped", NO_SOURCE): "fault-dropped-source",
    ("current-schema-missing", "is not in `schemas`"): "fault-no-current-schema",
    ("readers-differ", ZERO): "fault-field-id-zero",
    ("manifest-content", "Spark reads the rows of the delete file as rows of the table"): "fault-delete-as-data",
}
"""Faults that readers were asked for, by their rule and words."""
NOT_READ = frozenset({
    "commit-cut-off", "copied-or-edited", "delete-dangling", "delete-repeated", "last-column-id-low",
    "last-partition-id-low", "log-incomplete", "log-of-expired", "metadata-choice", "metadata-fork",
    "metadata-log-file-missing", "next-row-id", "operation-contradicts", "orphan-files", "parent-expired",
    "position-deletes-v3", "property-unsafe", "row-ids-changed", "sequence-regresses", "snapshot-schema-missing",
    "statistics-file", "statistics-stale", "time-out-of-order", "totals-differ", "uuid-changed", "value-suspect",
})  # fmt: skip
"""Rules whose findings change nothing of what readers read, unless Iceberg Java refuses the table for them."""

WRONG_RESULTS = frozenset({
    "deleted-file-live", "delete-dropped", "delete-partition", "entry-invalid", "equality-id-unknown", "file-twice",
    "manifest-content", "manifest-counts", "manifest-twice", "metrics-wrong", "min-sequence", "null-sequence",
    "partition-summary", "partition-value", "record-count", "two-vectors", "vector-wrong",
})  # fmt: skip
"""Rules whose errors let Spark lose rows, or show rows or values that are wrong, where it does not refuse the table."""


def fault_features(findings: Iterable[Finding]) -> list[TableFeature]:
    """Find the faults that readers meet.

    Args:
        findings: What the doctor finds in the current snapshot.

    Returns:
        A feature for each kind of fault, in the order of the findings.
    """
    kinds: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        feature = _feature(finding)
        is_told = feature != "fault" or finding.severity in ("fatal", "error", "warning")
        if finding.refused in ("table", "scan") or (is_told and finding.rule not in NOT_READ):
            kinds.setdefault((feature, finding.rule), []).append(finding)
    return [_of(feature, alike) for (feature, _), alike in kinds.items()]


def _feature(finding: Finding) -> str:
    known = (feature for (rule, words), feature in FAULTS.items() if rule == finding.rule and words in finding.what)
    return next(known, "fault")


def _of(feature: str, alike: Sequence[Finding]) -> TableFeature:
    first = alike[0]
    more = f", and {len(alike) - 1} more" if len(alike) > 1 else ""
    spark: Literal["yes", "no", "wrong"] = "yes"
    if any(finding.refused in ("table", "scan") for finding in alike):
        spark = "no"
    elif feature == "fault-delete-as-data" or any(f.refused == "part" or _is_misread(f) for f in alike):
        spark = "wrong"
    title = f"fault {first.rule}" if feature == "fault" else ""
    is_certain = any(finding.what != NOT_WRITTEN for finding in alike)
    where = f"{base_name(first.file)}: {first.what}{more}"
    return TableFeature(feature, where, is_certain=is_certain, spark=spark, own_title=title)


def _is_misread(finding: Finding) -> bool:
    """Whether Spark shows other rows or values than the files have: files without field ids may be read right by their
    places."""
    is_error = finding.severity in ("fatal", "error")
    return (finding.rule in MISREAD_BY and (finding.rule != "field-ids-absent" or is_error)) or (
        finding.rule in WRONG_RESULTS and is_error
    )
