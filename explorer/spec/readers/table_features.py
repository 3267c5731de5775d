"""The features that a table uses and that not every reader knows, by its metadata alone: the one definition of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from explorer.model.manifest import FileKind, ManifestFile
from explorer.model.metadata import Field, PartitionField, TableMetadata
from explorer.spec.schemas.schema_fields import walk_fields
from explorer.spec.text.names import file_label, first_of, shorten, snapshot_name
from explorer.spec.text.units import count

FEATURES: Mapping[str, str] = {
    **{f"format-version-{number}": f"format version {number}" for number in (1, 2, 3, 4)},
    "position-deletes": "position deletes",
    "equality-deletes": "equality deletes",
    "deletion-vectors": "deletion vectors",
    "row-lineage": "row lineage",
    "initial-default": "initial defaults",
    "promotion-int-long": "int promoted to long",
    "promotion-float-double": "float promoted to double",
    "promotion-decimal": "decimal of more digits",
    "promotion-date-timestamp": "date promoted to timestamp",
    "type-timestamp-ns": "type timestamp_ns",
    "type-variant": "type variant",
    "type-geometry": "type geometry",
    "type-geography": "type geography",
    "type-unknown": "type unknown",
    "type-uuid": "type uuid",
    "transform-identity": "partition transform identity",
    "transform-bucket": "partition transform bucket",
    "transform-truncate": "partition transform truncate",
    "transform-year": "partition transform year",
    "transform-month": "partition transform month",
    "transform-day": "partition transform day",
    "transform-hour": "partition transform hour",
    "transform-void": "partition spec of void alone",
    "transform-void-beside": "partition transform void beside others",
    "transform-several-columns": "partition transform of several columns",
    "transform-other": "another partition transform",
    "several-specs": "several partition specs",
    "columns-by-id": "columns renamed, or dropped and added again",
    "name-mapping": "name mapping",
    "file-format-parquet": "data files in Parquet",
    "file-format-orc": "data files in ORC",
    "file-format-avro": "data files in Avro",
    "file-format-other": "data files in another format",
    "codec-zstd": "Parquet codec zstd",
    "codec-gzip": "Parquet codec gzip",
    "codec-snappy": "Parquet codec snappy",
    "codec-lz4": "Parquet codec lz4",
    "codec-brotli": "Parquet codec brotli",
    "codec-uncompressed": "Parquet without a codec",
    "codec-other": "another Parquet codec",
    "metadata-gzip": "gzipped metadata file",
    "parquet-manifests": "manifests in Parquet",
    "encryption": "encryption",
    "fault-no-current-id": "no current-snapshot-id",
    "fault-no-schema-id": "snapshot without schema-id",
    "fault-no-field-ids": "manifest list or manifest without field ids",
    "fault-header-schema": "manifest whose header has another schema",
    "fault-no-v1-schema": "version 1 without `schema`",
    "fault-no-live-counted": "manifest whose live files the list does not count",
    "fault-no-uuid": "version 1 without a UUID",
    "fault-no-current-schema": "current schema that is not in `schemas`",
    "fault-dropped-source": "partition field whose column was dropped",
    "fault-field-id-zero": "field id 0",
    "fault-delete-as-data": "delete file in a data manifest",
}
"""Every feature, and what it is called; in the order in which a table's are told. Faults are what the doctor finds."""
DELETE_FEATURES: Mapping[FileKind, str] = {
    "position_deletes": "position-deletes",
    "equality_deletes": "equality-deletes",
    "deletion_vector": "deletion-vectors",
}
V3_TYPES: Mapping[str, str] = {
    "variant": "type-variant", "unknown": "type-unknown", "timestamp_ns": "type-timestamp-ns",
    "timestamptz_ns": "type-timestamp-ns", "geometry": "type-geometry", "geography": "type-geography",
}  # fmt: skip
"""What begins the types that version 3 brought."""
PROMOTIONS: Mapping[tuple[str, str], str] = {
    ("int", "long"): "promotion-int-long",
    ("float", "double"): "promotion-float-double",
    ("decimal", "decimal"): "promotion-decimal",
    ("date", "timestamp"): "promotion-date-timestamp",
    ("date", "timestamp_ns"): "promotion-date-timestamp",
}
NAME_MAPPING, CODEC = "schema.name-mapping.default", "write.parquet.compression-codec"
METADATA_CODEC = "write.metadata.compression-codec"
MOST_PLACES = 3
"""Columns, fields and files that a sentence names."""


@dataclass(frozen=True)
class AlikeFiles:
    """Live files that are alike: how many, the path of one of them, and the id of the snapshot that added that one."""

    files: int
    path: str
    snapshot_id: int | None


@dataclass(frozen=True)
class FileFacts:
    """What the manifests of a snapshot say of its live files.

    Attributes:
        kinds: Delete files by kind.
        formats: Data files by format, in small letters.
        schema_ids: The schemas of the snapshots that added data files; None for one that is expired.
        has_row_ids: Whether a data file has a first row id.
    """

    kinds: Mapping[FileKind, AlikeFiles]
    formats: Mapping[str, AlikeFiles]
    schema_ids: frozenset[int | None]
    has_row_ids: bool


@dataclass(frozen=True)
class TableFeature:
    """A feature that a table uses.

    Attributes:
        feature: Its key in FEATURES.
        where: Where the table uses it, in words.
        places: The columns that have it, where it is one of columns.
        is_certain: Whether metadata proves it. What only files could prove is not certain.
        spark: What Spark 4.1 makes of a fault, by the doctor; None of what is no fault.
        own_title: What it is called, if FEATURES does not say.
    """

    feature: str
    where: str
    places: tuple[str, ...] = ()
    is_certain: bool = True
    spark: Literal["yes", "no", "wrong"] | None = None
    own_title: str = ""

    @property
    def title(self) -> str:
        """What it is called."""
        return self.own_title or FEATURES[self.feature]


def table_features(
    metadata: TableMetadata, listed: Sequence[ManifestFile], facts: FileFacts | None
) -> list[TableFeature]:
    """Find the features that a reader of a table's current snapshot meets.

    Args:
        metadata: The table's.
        listed: The manifests of the current snapshot.
        facts: What they say; None where nobody read them. Features of files are then left out.

    Returns:
        The features, in the order of FEATURES.
    """
    found = [
        *_of_table(metadata, listed, facts),
        *_of_files(metadata, facts),
        *_of_columns(metadata, facts),
        *_of_partitions(metadata, listed),
    ]
    order = list(FEATURES)
    return sorted(found, key=lambda one: order.index(one.feature))


# -- the table itself --------------------------------------------------------------------------------------------------
def _of_table(
    metadata: TableMetadata, listed: Sequence[ManifestFile], facts: FileFacts | None
) -> Iterator[TableFeature]:
    file = file_label(metadata.metadata_location)
    if f"format-version-{metadata.format_version}" in FEATURES:
        yield TableFeature(f"format-version-{metadata.format_version}", f"in {file}")
    first = min((s for s in metadata.by_number if s.first_row_id is not None), default=None, key=_number)
    if metadata.format_version >= 3 and (first or (facts and facts.has_row_ids)):
        since = f"since {snapshot_name(first.snapshot_id, metadata.ordinals)}" if first else "in manifests"
        yield TableFeature("row-lineage", f"rows have ids {since}")
    if NAME_MAPPING in metadata.properties:
        yield TableFeature("name-mapping", f"property {NAME_MAPPING}, for files without field ids")
    if metadata.metadata_location.endswith((".gz.metadata.json", ".metadata.json.gz")):
        plain = f"with the property {METADATA_CODEC} = none the next commit writes a plain one"
        yield TableFeature("metadata-gzip", f"{file}; {plain}")
    if parquet := [m.manifest_path for m in listed if m.manifest_path.endswith(".parquet")]:
        yield TableFeature("parquet-manifests", _such_as(len(parquet), "manifest", parquet[0]))
    keys = "encryption-keys in the metadata file" if metadata.raw.get("encryption-keys") else ""
    if keys or any(m.key_metadata for m in listed):
        yield TableFeature("encryption", keys or "key metadata in the manifest list")


def _number(snapshot: Any) -> int:
    return int(snapshot.sequence_number)


def _such_as(number: int, what: str, path: str) -> str:
    return f"{count(number, what)}, such as {file_label(path)}" if number > 1 else file_label(path)


# -- files -------------------------------------------------------------------------------------------------------------
def _of_files(metadata: TableMetadata, facts: FileFacts | None) -> Iterator[TableFeature]:
    if facts is None:
        return
    for kind, feature in DELETE_FEATURES.items():
        if group := facts.kinds.get(kind):
            yield TableFeature(feature, _group(metadata, group, "delete file"))
    for name, group in facts.formats.items():
        own = f"file-format-{name}"
        yield TableFeature(own if own in FEATURES else "file-format-other", _group(metadata, group, "data file"))
    codec = metadata.properties.get(CODEC, "").lower()
    if codec and "parquet" in facts.formats:
        own = f"codec-{codec}"
        where = f"property {CODEC} = {shorten(codec, 40)}; files' footers were not read"
        yield TableFeature(own if own in FEATURES else "codec-other", where, is_certain=False)


def _group(metadata: TableMetadata, group: AlikeFiles, what: str) -> str:
    added = group.snapshot_id if group.snapshot_id in metadata.ordinals else None
    by = f", which {snapshot_name(added, metadata.ordinals)} added" if added is not None else ""
    return f"{_such_as(group.files, what, group.path)}{by}"


# -- columns -----------------------------------------------------------------------------------------------------------
def _of_columns(metadata: TableMetadata, facts: FileFacts | None) -> Iterator[TableFeature]:
    schema = metadata.schema(metadata.current_schema_id)
    if schema is None:
        return
    fields = list(walk_fields(schema.raw["fields"]))
    if names := [path for path, field in fields if field.get("initial-default") is not None]:
        yield _columns("initial-default", names)
    by_type: dict[str, list[str]] = {}
    for path, field in fields:
        if feature := _type_feature(field["type"]):
            by_type.setdefault(feature, []).append(path)
    for feature, paths in by_type.items():
        yield _columns(feature, paths)
    if changed := _changed_names(metadata, fields):
        yield _columns("columns-by-id", changed)
    yield from _promotions(metadata, schema.by_id, facts)


def _columns(feature: str, paths: Sequence[str], more: str = "", is_certain: bool = True) -> TableFeature:
    word = "column" if len(paths) == 1 else "columns"
    return TableFeature(feature, f"{word} {first_of(paths, MOST_PLACES)}{more}", tuple(paths), is_certain)


def _type_feature(kind: Any) -> str | None:
    name = str(kind)
    if name == "uuid":
        return "type-uuid"
    return next((feature for begin, feature in V3_TYPES.items() if name.startswith(begin)), None)


def _changed_names(metadata: TableMetadata, fields: Sequence[tuple[str, Any]]) -> list[str]:
    """Columns that had another name, or whose name another column had."""
    own = {field["id"]: path for path, field in fields}
    names_by_id: dict[int, set[str]] = {}
    ids_by_name: dict[str, set[int]] = {}
    for own_id, former in ((i, f.name) for each in metadata.schemas for i, f in each.by_id.items()):
        names_by_id.setdefault(own_id, set()).add(former)
        ids_by_name.setdefault(former, set()).add(own_id)
    return [p for i, p in own.items() if names_by_id.get(i, {p}) != {p} or ids_by_name.get(p, {i}) != {i}]


def _promotions(
    metadata: TableMetadata, current: Mapping[int, Field], facts: FileFacts | None
) -> Iterator[TableFeature]:
    """Promotions of columns. Files prove one that were written by a schema with the narrower type."""
    found: dict[tuple[str, bool], list[str]] = {}
    for schema in metadata.schemas:
        is_certain = facts is not None and schema.schema_id in facts.schema_ids
        if not is_certain and facts is not None and None not in facts.schema_ids:
            continue
        for own, field in schema.by_id.items():
            now = current.get(own)
            if now is None or now.type == field.type:
                continue
            feature = PROMOTIONS.get((_plain(field.type), _plain(now.type)))
            if feature and (feature != "promotion-decimal" or _digits(field.type) < _digits(now.type)):
                found.setdefault((feature, is_certain), []).append(now.name)
    for (feature, is_certain), names in found.items():
        if is_certain or (feature, True) not in found:
            more = "" if is_certain else "; the snapshots that wrote the files are expired"
            yield _columns(feature, list(dict.fromkeys(names)), more, is_certain)


def _plain(kind: Any) -> str:
    return str(kind).partition("(")[0].partition("[")[0]


def _digits(kind: Any) -> int:
    digits = str(kind).partition("(")[2].partition(",")[0].strip()
    return int(digits) if digits.isdecimal() and len(digits) < 9 else 0


# -- partitions --------------------------------------------------------------------------------------------------------
def _of_partitions(metadata: TableMetadata, listed: Sequence[ManifestFile]) -> Iterator[TableFeature]:
    ids = {m.partition_spec_id for m in listed}
    if len(ids) > 1:
        yield TableFeature("several-specs", f"files of {count(len(ids), 'partition spec')}")
    by_transform: dict[str, list[str]] = {}
    for spec in metadata.partition_specs:
        if spec.spec_id in {*ids, metadata.default_spec_id}:
            is_void = all(field.transform == "void" for field in spec.fields)
            for field in spec.fields:
                name = f"{shorten(field.name, 60)} of spec {spec.spec_id}"
                feature = "transform-void-beside" if field.transform == "void" and not is_void else _transform(field)
                by_transform.setdefault(feature, []).append(name)
    for feature, names in by_transform.items():
        word = "field" if len(names) == 1 else "fields"
        yield TableFeature(feature, f"{word} {first_of(names, MOST_PLACES)}")


def _transform(field: PartitionField) -> str:
    if len(field.source_ids) > 1:
        return "transform-several-columns"
    own = f"transform-{field.transform.partition('[')[0]}"
    return own if own in FEATURES else "transform-other"
