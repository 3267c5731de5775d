"""Whether Iceberg Java loads a metadata file at all: the one place where that is decided."""

from __future__ import annotations

from explorer.model.metadata import TableMetadata
from explorer.spec.doctor.findings import Finding
from explorer.spec.doctor.metadata_rules import table_rules
from explorer.spec.doctor.remedies import keeps_from_loading
from explorer.spec.doctor.snapshot_rules import history_rules

OF_SPARK_ALONE = frozenset({"readers-differ", "property-refused"})
"""Rules by which Iceberg Java loads the table, and Spark cannot read its rows."""


def find_load_faults(metadata: TableMetadata) -> list[Finding]:
    """Return what keeps Iceberg Java from loading a metadata file.

    Args:
        metadata: The file.
    """
    return [found for found in _all_faults(metadata) if found.rule not in OF_SPARK_ALONE]


def _all_faults(metadata: TableMetadata) -> list[Finding]:
    return [
        found
        for found in (*table_rules(metadata), *history_rules(metadata))
        if found.refused == "table" or keeps_from_loading(found.rule, found.location)
    ]


def explain_not_loaded(metadata: TableMetadata) -> str:
    """Return why Iceberg Java cannot load a metadata file, with the rule that tells of it; empty where it can.

    Args:
        metadata: The file.
    """
    faults = find_load_faults(metadata)
    return f"{faults[0].what} ({faults[0].rule})" if faults else ""


def explain_not_opened(metadata: TableMetadata) -> str:
    """Return why Spark cannot open a table, with the file and the rule that tells of it; empty where it can.

    Args:
        metadata: The table's.
    """
    faults = _all_faults(metadata)
    if not faults:
        return ""
    return f"Spark cannot open {metadata.metadata_location}: {faults[0].what} (icedive doctor TABLE, {faults[0].rule})"
