"""Findings of a rule that have a remedy of their own, by words of theirs."""

from __future__ import annotations

from collections.abc import Mapping

from explorer.spec.schemas.stored_types import RIGHT

HIVE_NULL = "__HIVE_DEFAULT_PARTITION__"
ONE_TOO_HIGH = (
    "a partition field is one above the {} of a time before 1970, as Iceberg up to 0.10.0 wrote it: Iceberg Java "
    "allows for it, and pyiceberg skips its rows"
)
WRAPPED = "has no place in {} bits, and wrapped round"
NO_SUMMARY = "its summary is missing, or empty"
ZERO = "has field id 0"
DROPPED_SOURCE = (
    "comes from a column that was dropped: all readers read the rows, but Iceberg Java's metadata tables lack that "
    "field, and pyiceberg's inspect fails"
)
GREAT_VERSION = "Iceberg Java takes versions of files in a folder for 32-bit numbers, and finds no table here"
OTHER_HEADER_SPEC = "its header's partition-spec is not that of the table metadata"
NOT_MENDED = "not even without its vectorized reader"
CASES: Mapping[tuple[str, str], str] = {
    ("readers-differ", ONE_TOO_HIGH.rpartition("{}")[2]): "early-partition",
    ("partition-value", WRAPPED.rpartition("{}")[2]): "wrapped-partition",
    ("metadata-field", NO_SUMMARY): "no-summary",
    ("readers-differ", ZERO): "field-id-zero",
    ("readers-differ", DROPPED_SOURCE): "dropped-source",
    ("metadata-choice", GREAT_VERSION): "great-version",
    ("spec-unknown", OTHER_HEADER_SPEC): "header-spec",
    ("value-suspect", HIVE_NULL): "hive-null",
    ("column-type", RIGHT): "type-read-right",
    ("column-type", NOT_MENDED): "type-misread",
}
"""By rule and words: the case."""
