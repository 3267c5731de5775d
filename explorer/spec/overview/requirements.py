"""What a reader must know beyond plain Parquet files to read a snapshot right, in a few words: for a first look. The
question `readers` says who knows it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from explorer.model.manifest import FileKind, ManifestFile
from explorer.model.metadata import TableMetadata
from explorer.spec.readers.table_features import DELETE_FEATURES, FEATURES, MOST_PLACES, V3_TYPES, table_features
from explorer.spec.text.names import first_of
from explorer.spec.text.units import count


def requirements(
    metadata: TableMetadata, listed: Sequence[ManifestFile], deletes: Collection[FileKind] | None
) -> Iterator[str]:
    """Name what a reader needs.

    Args:
        metadata: The table's.
        listed: The manifests of the snapshot that is read.
        deletes: The kinds of its delete files; None where they are not known.

    Yields:
        Each in a few words.
    """
    used = {one.feature: one for one in table_features(metadata, listed, None)}
    if metadata.format_version >= 3:
        yield f"version {metadata.format_version}"
    kinds = [FEATURES[feature] for kind, feature in DELETE_FEATURES.items() if deletes and kind in deletes]
    yield from kinds or (["delete files"] if deletes is None and any(m.content for m in listed) else [])
    if default := used.get("initial-default"):
        yield f"initial defaults ({first_of(default.places, MOST_PLACES)})"
    if types := [
        path for feature in dict.fromkeys(V3_TYPES.values()) if feature in used for path in used[feature].places
    ]:
        yield f"types of version 3 ({first_of(types, MOST_PLACES)})"
    if changed := used.get("columns-by-id"):
        yield f"columns by field id, not by name ({first_of(changed.places, MOST_PLACES)})"
    if "name-mapping" in used:
        yield "the name mapping, for files without field ids"
    if "several-specs" in used:
        yield f"files of {count(len({m.partition_spec_id for m in listed}), 'partition spec')}"
    for feature, words in OTHERS.items():
        if feature in used:
            yield words


OTHERS = {
    "transform-void": "the transform void",
    "transform-several-columns": "transforms of several columns",
    "metadata-gzip": "gzipped metadata files",
    "parquet-manifests": "manifests in Parquet",
    "encryption": "encryption",
}
