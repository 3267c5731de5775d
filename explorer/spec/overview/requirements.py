"""What a reader must know beyond plain Parquet files to read a snapshot right: engines differ in what they have."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from explorer.model.manifest import FileKind, ManifestFile
from explorer.model.metadata import TableMetadata
from explorer.spec.schemas.schema_fields import walk_fields
from explorer.spec.text.names import first_of
from explorer.spec.text.units import count

KIND_WORDS: dict[FileKind, str] = {
    "position_deletes": "position deletes",
    "equality_deletes": "equality deletes",
    "deletion_vector": "deletion vectors",
}
V3_TYPES = ("variant", "unknown", "timestamp_ns", "timestamptz_ns", "geometry", "geography")
"""What begins the types that version 3 brought."""


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
    if metadata.format_version >= 3:
        yield f"version {metadata.format_version}"
    kinds = [words for kind, words in KIND_WORDS.items() if deletes and kind in deletes]
    yield from kinds or (["delete files"] if deletes is None and any(m.content for m in listed) else [])
    schema = metadata.schema(metadata.current_schema_id)
    fields = list(walk_fields(schema.raw["fields"])) if schema else []
    if names := [path for path, field in fields if field.get("initial-default") is not None]:
        yield f"initial defaults ({first_of(names, 3)})"
    if types := [path for path, field in fields if str(field["type"]).startswith(V3_TYPES)]:
        yield f"types of version 3 ({first_of(types, 3)})"
    own = {field["id"]: path for path, field in fields}
    names_by_id: dict[int, set[str]] = {}
    ids_by_name: dict[str, set[int]] = {}
    for own_id, former in ((i, f.name) for each in metadata.schemas for i, f in each.by_id.items()):
        names_by_id.setdefault(own_id, set()).add(former)
        ids_by_name.setdefault(former, set()).add(own_id)
    changed = [p for i, p in own.items() if names_by_id.get(i, {p}) != {p} or ids_by_name.get(p, {i}) != {i}]
    if changed:
        yield f"columns by field id, not by name ({first_of(changed, 3)})"
    if "schema.name-mapping.default" in metadata.properties:
        yield "the name mapping, for files without field ids"
    specs = {m.partition_spec_id for m in listed}
    if len(specs) > 1:
        yield f"files of {count(len(specs), 'partition spec')}"
    used = [spec for spec in metadata.partition_specs if spec.spec_id in {*specs, metadata.default_spec_id}]
    if any(field.transform == "void" for spec in used for field in spec.fields):
        yield "the transform void"
    if any(len(field.source_ids) > 1 for spec in used for field in spec.fields):
        yield "transforms of several columns"
    if metadata.metadata_location.endswith((".gz.metadata.json", ".metadata.json.gz")):
        yield "gzipped metadata files"
    if metadata.raw.get("encryption-keys"):
        yield "encryption"
