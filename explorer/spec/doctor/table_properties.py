"""Of rule 65: properties that Iceberg does not know, and values that it refuses when somebody writes."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping

from explorer.spec.doctor.java_schema import Refusal
from explorer.spec.doctor.remedy_cases import UNKNOWN_PROPERTY
from explorer.spec.text.names import shorten

KNOWN = frozenset(
    {
        "commit.manifest-merge.enabled", "commit.manifest.min-count-to-merge", "commit.manifest.target-size-bytes",
        "commit.retry.max-wait-ms", "commit.retry.min-wait-ms", "commit.retry.num-retries",
        "commit.retry.total-timeout-ms", "commit.status-check.max-wait-ms", "commit.status-check.min-wait-ms",
        "commit.status-check.num-retries", "commit.status-check.total-timeout-ms",
        "compatibility.snapshot-id-inheritance.enabled", "encryption.data-key-length", "encryption.key-id",
        "gc.enabled", "history.expire.max-ref-age-ms", "history.expire.max-snapshot-age-ms",
        "history.expire.min-snapshots-to-keep", "read.data-planning-mode", "read.delete-planning-mode",
        "read.orc.vectorization.batch-size", "read.orc.vectorization.enabled", "read.parquet.vectorization.batch-size",
        "read.parquet.vectorization.enabled", "read.split.adaptive-size.enabled", "read.split.metadata-target-size",
        "read.split.open-file-cost", "read.split.planning-lookback", "read.split.target-size",
        "schema.name-mapping.default", "write.avro.compression-codec", "write.avro.compression-level",
        "write.data.path", "write.delete.avro.compression-codec", "write.delete.avro.compression-level",
        "write.delete.distribution-mode", "write.delete.format.default", "write.delete.granularity",
        "write.delete.isolation-level", "write.delete.mode", "write.delete.orc.block-size-bytes",
        "write.delete.orc.compression-codec", "write.delete.orc.compression-strategy",
        "write.delete.orc.stripe-size-bytes", "write.delete.orc.vectorized.batch-size",
        "write.delete.parquet.compression-codec", "write.delete.parquet.compression-level",
        "write.delete.parquet.dict-size-bytes", "write.delete.parquet.page-row-limit",
        "write.delete.parquet.page-size-bytes", "write.delete.parquet.page-version",
        "write.delete.parquet.row-group-check-max-record-count",
        "write.delete.parquet.row-group-check-min-record-count", "write.delete.parquet.row-group-size-bytes",
        "write.delete.target-file-size-bytes", "write.distribution-mode", "write.folder-storage.path",
        "write.format.default", "write.location-provider.impl", "write.manifest.compression-codec",
        "write.manifest.compression-level", "write.merge.distribution-mode", "write.merge.isolation-level",
        "write.merge.mode", "write.metadata.compression-codec", "write.metadata.delete-after-commit.enabled",
        "write.metadata.metrics.default", "write.metadata.metrics.max-inferred-column-defaults", "write.metadata.path",
        "write.metadata.previous-versions-max", "write.object-storage.enabled",
        "write.object-storage.partitioned-paths", "write.object-storage.path", "write.orc.block-size-bytes",
        "write.orc.bloom.filter.columns", "write.orc.bloom.filter.fpp", "write.orc.compression-codec",
        "write.orc.compression-strategy", "write.orc.stripe-size-bytes", "write.orc.vectorized.batch-size",
        "write.parquet.bloom-filter-adaptive-enabled", "write.parquet.bloom-filter-max-bytes",
        "write.parquet.compression-codec", "write.parquet.compression-level", "write.parquet.dict-size-bytes",
        "write.parquet.page-row-limit", "write.parquet.page-size-bytes", "write.parquet.page-version",
        "write.parquet.row-group-check-max-record-count", "write.parquet.row-group-check-min-record-count",
        "write.parquet.row-group-limit", "write.parquet.row-group-size-bytes",
        "write.parquet.row-group-size-track-uncompressed", "write.parquet.shred-variants",
        "write.parquet.variant-inference-buffer-size", "write.py-location-provider.impl",
        "write.spark.accept-any-schema", "write.spark.advisory-partition-size-bytes",
        "write.spark.auto-schema-evolution.enabled", "write.spark.fanout.enabled", "write.summary.partition-limit",
        "write.target-file-size-bytes", "write.update.distribution-mode", "write.update.isolation-level",
        "write.update.mode", "write.upsert.enabled", "write.wap.enabled",
    }
)  # fmt: skip
"""Of Iceberg Java 1.12 with Spark and Flink (TableProperties, SparkTableProperties), and of pyiceberg 0.12."""
OF_COLUMNS = (
    "write.metadata.metrics.column.", "write.parquet.bloom-filter-enabled.column.",
    "write.parquet.bloom-filter-fpp.column.", "write.parquet.bloom-filter-ndv.column.",
    "write.parquet.dict-encoding-enabled.column.", "write.parquet.stats-enabled.column.",
)  # fmt: skip
"""What begins the names of properties of a column."""
OURS = ("commit.", "compatibility.", "encryption.", "gc.", "history.", "read.", "schema.", "write.")
"""What begins the names of Iceberg's properties; engines and people have others."""
_MODES, _LEVELS = ("copy-on-write", "merge-on-read"), ("serializable", "snapshot")
_DISTRIBUTIONS, _FORMATS = ("none", "hash", "range"), ("parquet", "orc", "avro")
VALUES: Mapping[str, tuple[str, ...]] = {
    **{f"write.{kind}.mode": _MODES for kind in ("delete", "update", "merge")},
    **{f"write.{kind}.isolation-level": _LEVELS for kind in ("delete", "update", "merge")},
    **{f"write.{kind}distribution-mode": _DISTRIBUTIONS for kind in ("", "delete.", "update.", "merge.")},
    "write.format.default": _FORMATS, "write.delete.format.default": _FORMATS,
    "write.delete.granularity": ("partition", "file"),
}  # fmt: skip
"""The values, in small letters, of properties for which Iceberg refuses others."""
REFUSED_VALUE = "Spark refuses it whenever it writes so"
ALIKE = 0.8
"""How much alike names must be for one to be taken for what was meant."""
MOST_NAME = 100
"""Characters of a name that is compared."""


def unknown_properties(properties: Mapping[str, str]) -> Iterator[Refusal]:
    """Find properties whose names are like Iceberg's, but not among them.

    Args:
        properties: The table's.

    Yields:
        The property, and the one that may have been meant.
    """
    for name in properties:
        known = name.lower() in KNOWN or name.startswith(OF_COLUMNS)
        if known or not name.startswith(OURS) or len(name) > MOST_NAME:
            continue
        begun = sorted(one for one in KNOWN if one.startswith(f"{name}.") or one.startswith(f"{name}-"))
        similar = begun[:1] or difflib.get_close_matches(name, sorted(KNOWN), 1, ALIKE)
        if similar:
            words = f"there is a property {name!r}, {UNKNOWN_PROPERTY} ({similar[0]} is one)"
            yield Refusal(f"/properties/{name}", words)


def refused_values(properties: Mapping[str, str]) -> Iterator[Refusal]:
    """Find values that Iceberg Java refuses when it writes.

    Args:
        properties: The table's.
    """
    for name, values in VALUES.items():
        value = properties.get(name)
        if isinstance(value, str) and value.lower() not in values:
            words = f"the property {name} has a value that is none of {', '.join(values)}: {REFUSED_VALUE}"
            yield Refusal(f"/properties/{name}", words, shorten(value, 60))
