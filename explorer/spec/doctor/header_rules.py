"""The headers of manifests: what contradicts the manifest list or the table's metadata, and what no reader can use.
Iceberg Java 1.12 and pyiceberg take all of it from the list and the metadata; others read the header."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from explorer.model.manifest import ManifestFile
from explorer.model.metadata import TableMetadata
from explorer.spec.doctor.remedy_cases import (
    ENTRIES_SCHEMA,
    HAS_LOST_SCHEMA,
    HEADER_ALONE,
    IN_HEADER,
    OLD_MANIFEST,
    OTHER_HEADER_SCHEMA,
    OTHER_HEADER_SPEC,
)
from explorer.spec.entries.manifest_headers import HeaderCheck, check_header, parse_json
from explorer.spec.text.units import parse_int64

Told = tuple[str, str, str, dict[str, Any]]
"""A rule, what it found, where in the file, and more of the finding."""
OF_ENTRIES = {"status", "data_file"}
"""Columns of the schema that manifests themselves have."""
SHOWN = 10
"""Columns of a schema that are named."""
SCHEMA = "schema field ids in no schema"
MOST_SCHEMA = 100_000
"""Characters of a schema that a finding holds."""


def header_rules(
    header: Mapping[str, str], record: ManifestFile, metadata: TableMetadata, agreed: bool
) -> Iterator[Told]:
    """Find what is wrong with a manifest's header.

    Args:
        header: The header.
        record: What a manifest list says of the manifest.
        metadata: The table's.
        agreed: Whether all entries have the content that the list says.

    Yields:
        What to tell, by rule.
    """
    checks = {check.name: check for check in check_header(header, record, metadata) if check.agrees is False}
    odd = dict(_unreadable(header))
    yield from (("avro-schema", words, f"header {key}", more) for key, (words, more) in odd.items())
    if "content" in checks:
        yield _of_content(checks["content"], agreed)
    if "partition-spec-id" in checks and "partition-spec-id" not in odd:
        yield _of_spec_id(checks["partition-spec-id"], _names_its_spec(header, record, metadata))
    if (spec := checks.get("partition-spec")) and _other_spec(spec.header, spec.other):
        yield _contradiction("spec-unknown", OTHER_HEADER_SPEC, spec)
    if "schema" not in odd:
        yield from _of_schema(checks, lost_schema(header, metadata), metadata)
    if metadata.format_version > 1 and parse_int64(header.get("format-version")) == 1:
        more = {"found": 1, "expected": metadata.format_version, "severity": "info"}
        yield "readers-differ", OLD_MANIFEST, "header format-version", more
    if version := checks.get("format-version"):
        what = f"its header has a later format version than the table: {HEADER_ALONE}"
        yield _contradiction("manifest-content", what, version, severity="info")


def _contradiction(rule: str, what: str, check: HeaderCheck, **more: Any) -> Told:
    return rule, what, f"header {check.name}", {"found": check.header, "expected": check.other, **more}


def _of_content(check: HeaderCheck, agreed: bool) -> Told:
    what = "its header's content is not that of the manifest list"
    if not agreed:
        return _contradiction("manifest-content", what, check)
    what += f", nor of its entries: {HEADER_ALONE}, iceberg-go compares both and refuses the manifest"
    return _contradiction("manifest-content", what, check, severity="warning")


def _of_spec_id(check: HeaderCheck, agreed: bool) -> Told:
    what = "its header's partition-spec-id is not that of the manifest list"
    if not agreed:
        return _contradiction("spec-unknown", what, check)
    what += f", whose spec its header has: {HEADER_ALONE}, readers that do may refuse the manifest"
    return _contradiction("spec-unknown", what, check, severity="warning")


def _names_its_spec(header: Mapping[str, str], record: ManifestFile, metadata: TableMetadata) -> bool:
    """Whether the header's partition-spec is the spec that the manifest list says."""
    checks = {check.name: check for check in check_header(header, record, metadata)}
    spec = checks["partition-spec"]
    return spec.agrees is not None and not _other_spec(spec.header, spec.other)


def _of_schema(
    checks: Mapping[str, HeaderCheck], lost: Mapping[str, Any] | None, metadata: TableMetadata
) -> Iterator[Told]:
    """Of rule 5: another schema under an id of the table's. Of rule 21: one that the metadata has under no id, though
    it names that. A schema that nothing names may have been dropped by an expiry (clean_expired_metadata)."""
    if lost is not None:
        if lost["schema-id"] in _named_schemas(metadata):
            found = json.dumps(lost)
            more = {"found": found if len(found) <= MOST_SCHEMA else None, "severity": "info"}
            yield "snapshot-schema-missing", f"its header {HAS_LOST_SCHEMA} {lost['schema-id']}", IN_HEADER, more
    elif check := checks.get("schema") or checks.get(SCHEMA):
        shown = [_names(columns) if check.name == "schema" else columns for columns in (check.header, check.other)]
        more = {"found": shown[0], "expected": shown[1] or "ids of the table's schemas", "severity": "info"}
        yield "schema-rebound", OTHER_HEADER_SCHEMA, IN_HEADER, more


def lost_schema(header: Mapping[str, str], metadata: TableMetadata) -> Mapping[str, Any] | None:
    """Return the schema of a manifest's header whose id none of the table's schemas has; None where there is none."""
    schema = parse_json(header.get("schema"))
    if not isinstance(schema, Mapping):
        return None
    own = parse_int64(header["schema-id"]) if "schema-id" in header else schema.get("schema-id")
    if type(own) is not int or metadata.schema(own) is not None or schema.get("schema-id", own) != own:
        return None
    return {**schema, "schema-id": own}


def _named_schemas(metadata: TableMetadata) -> set[int | None]:
    return {metadata.current_schema_id, *(snapshot.schema_id for snapshot in metadata.snapshots)}


def _names(columns: Sequence[Sequence[Any]]) -> str:
    """Columns of a schema in words: ids, names and types."""
    words = [" ".join(str(part) for part in column[:3] if part is not None) for column in columns[:SHOWN]]
    return ", ".join(words + ["..."] * (len(columns) > SHOWN))


def _other_spec(header: Sequence[Any], other: Sequence[Any]) -> bool:
    """Whether two specs differ in more than the names of fields."""
    return [(f[0], f[2]) for f in header] != [(f[0], f[2]) for f in other]


def _unreadable(header: Mapping[str, str]) -> Iterator[tuple[str, tuple[str, dict[str, Any]]]]:
    """Which keys of a header hold something else than they are for, in words."""
    for key in ("partition-spec-id", "schema-id", "format-version"):
        if key in header and parse_int64(header[key]) is None:
            yield key, (f"its header's {key} is no number: {HEADER_ALONE}", {"found": header[key][:60]})
    spec = parse_json(header.get("partition-spec"))
    fields = spec.get("fields") if isinstance(spec, Mapping) else spec
    if "partition-spec" in header and not isinstance(fields, list):
        what = f"its header's partition-spec cannot be read: {HEADER_ALONE}, readers that do refuse the manifest"
        yield "partition-spec", (what, {"found": header["partition-spec"][:60]})
    schema = parse_json(header.get("schema"))
    columns = schema.get("fields") if isinstance(schema, Mapping) else None
    names = {c.get("name") for c in columns if isinstance(c, Mapping)} if isinstance(columns, list) else None
    refused = f"{HEADER_ALONE}, iceberg-rust does and refuses the manifest"
    if "schema" in header and names is None:
        yield "schema", (f"its header's schema cannot be read: {refused}", {"found": header["schema"][:60]})
    elif names is not None and names >= OF_ENTRIES:
        more = {"found": ", ".join(sorted(map(str, names))), "expected": "the table's schema"}
        yield "schema", (f"{ENTRIES_SCHEMA}: {refused}", more)
