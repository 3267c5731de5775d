"""The history of a table's schemas, partition specs and sort orders: what changed, by field id, since which snapshot,
what it means for older files, and how many files of the current snapshot were written under each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from explorer.model.metadata import PartitionField, PartitionSpec, Schema, TableMetadata
from explorer.progress import steps
from explorer.spec.commits.commit_writers import commit_writer
from explorer.spec.overview.overview import order_words, spec_words, transform_words, type_words
from explorer.spec.schemas.name_mapping import TakenName, taken_names
from explorer.spec.schemas.schema_fields import absent_required_fields
from explorer.spec.schemas.sort_columns import SHOWN, dropped_columns
from explorer.spec.text.names import first_of, shorten, snapshot_name

VersionKind = Literal["schema", "partition spec", "sort order"]
MOST_CHANGES = 1_000
"""Changes of one version that are told."""
LONG = 200
"""Characters of a name or type in a sentence."""


@dataclass(frozen=True)
class VersionChange:
    """One change from the version before: `what` happened to a field, and what it `means` for files that are older."""

    field_id: int | None
    field: str
    what: str
    means: str


@dataclass(frozen=True)
class SchemaVersion:
    """A schema, partition spec or sort order.

    Attributes:
        kind: Which of them it is.
        number: Its id.
        is_current: Whether the next commit uses it.
        first: The first snapshot that is left and used it; empty where none did.
        first_ms: When that was committed.
        writer: Who committed it, as far as it is recorded.
        snapshots: How many snapshots that are left used it; None for a sort order, of which snapshots say nothing.
        files: Live files of the current snapshot that were written under it; None where nobody counted.
        words: What it is, in a sentence.
        changes: What is new in it.
        more: How many changes there are beside these.
    """

    kind: VersionKind
    number: int
    is_current: bool
    first: str
    first_ms: int | None
    writer: str
    snapshots: int | None
    files: int | None
    words: str
    changes: tuple[VersionChange, ...]
    more: int = 0


@dataclass(frozen=True)
class UsedVersions:
    """How often versions are used: live files by the id of each kind (None: unknown), and the snapshots that wrote
    manifests of each partition spec."""

    files: Mapping[VersionKind, Mapping[int | None, int]]
    spec_snapshots: Mapping[int, Sequence[int]]


def schema_history(metadata: TableMetadata, used: UsedVersions) -> list[SchemaVersion]:
    """Return the versions of a table's layout.

    Args:
        metadata: The table's.
        used: How often each is used.

    Returns:
        Schemas, then partition specs, then sort orders, each in the order in which the metadata file has them.
    """
    return [*_schemas(metadata, used), *_specs(metadata, used), *_orders(metadata, used)]


# -- schemas -----------------------------------------------------------------------------------------------------------
def _schemas(metadata: TableMetadata, used: UsedVersions) -> Iterator[SchemaVersion]:
    by_schema: dict[int | None, list[int]] = {}
    for snapshot in metadata.by_number:
        by_schema.setdefault(snapshot.schema_id, []).append(snapshot.snapshot_id)
    before: Schema | None = None
    taken = taken_names(metadata)
    for schema in steps(metadata.schemas, "schemas"):
        changes = list(_field_changes(before, schema, taken)) if before else []
        number = len(schema.by_id)
        words = f"{number:,} field{'' if number == 1 else 's'}"
        yield _version(
            metadata, "schema", schema.schema_id, metadata.current_schema_id, by_schema.get(schema.schema_id, []),
            used, words, changes,
        )  # fmt: skip
        before = schema


def _field_changes(before: Schema, after: Schema, taken: Sequence[TakenName]) -> Iterator[VersionChange]:
    defaults = _defaults(after)
    gained = {one.now: one for one in taken}
    lost = {one.former: one for one in taken}
    unread = set(absent_required_fields(after.raw["fields"], before.by_id, ()))
    for own, field in after.by_id.items():
        name, old = shorten(field.name, LONG), before.by_id.get(own)
        if old is None:
            value = defaults.get(own)
            told = "null" if value is None else f"its initial default, {shorten(repr(value), LONG)}"
            means = f"rows of older files have {told}"
            if field.name in unread:
                means = (
                    "it has no initial default, so Spark 4.1 and pyiceberg 0.12 fail on queries of older files that "
                )
                means += "read it"
            if one := gained.get(own):
                means += f", but {_reads(one)}, which was field {one.former}"
            what = f"added as {'required ' if field.required else ''}{_type(field.type)}"
            yield VersionChange(own, name, what, means)
            continue
        if old.name != field.name:
            was = f"renamed from {shorten(old.name, LONG)}"
            means = "older files keep the old name, and readers find the column by its id"
            if (one := lost.get(own)) and one.name == old.name:
                means += f"; but {_reads(one)}"
            yield VersionChange(own, name, was, means)
        if _plain(old.type) != _plain(field.type):
            what = f"type from {_type(old.type)} to {_type(field.type)}"
            yield VersionChange(own, name, what, "older files keep the old type, and readers widen their values")
        if old.required != field.required:
            what, means = (
                ("required", "older files may have nulls, which a reader may refuse")
                if field.required
                else ("optional", "older files have no nulls")
            )
            yield VersionChange(own, name, f"now {what}", means)
    for own, field in before.by_id.items():
        if own not in after.by_id:
            means = (
                "older files keep its values, which time travel to a snapshot of an earlier schema alone reads; a "
                "column of that name later is another one"
            )
            if one := lost.get(own):
                means += f"; but {_reads(one)}"
            yield VersionChange(own, shorten(field.name, LONG), "dropped", means)

    own_order = ([f.id for f in one.fields if f.id in other.by_id] for one, other in ((before, after), (after, before)))
    if next(own_order) != next(own_order):
        yield VersionChange(None, "columns", "in another order", "nothing: readers find columns of older files by id")


def _reads(taken: TakenName) -> str:
    """What the name mapping does with a name that it takes from one field and gives to another."""
    name = shorten(taken.name, LONG)
    return f"by the name mapping field {taken.now} has what files without field ids have in a column {name}"


def _defaults(schema: Schema) -> dict[int, Any]:
    return {
        field["id"]: field["initial-default"]
        for field in schema.raw.get("fields", ())
        if isinstance(field, Mapping) and "initial-default" in field and isinstance(field.get("id"), int)
    }


def _plain(kind: Any) -> Any:
    """A type without what is inside, whose fields are compared themselves."""
    return kind.get("type") if isinstance(kind, Mapping) else kind


def _type(kind: Any) -> str:
    return shorten(type_words(kind), LONG)


# -- partition specs ---------------------------------------------------------------------------------------------------
def _specs(metadata: TableMetadata, used: UsedVersions) -> Iterator[SchemaVersion]:
    before: PartitionSpec | None = None
    names = _column_names(metadata)
    for spec in steps(metadata.partition_specs, "partition specs"):
        words = shorten(spec_words(spec, metadata), LONG)
        changes = list(_spec_changes(before, spec, names)) if before else []
        snapshots = list(used.spec_snapshots.get(spec.spec_id, ()))
        yield _version(
            metadata, "partition spec", spec.spec_id, metadata.default_spec_id, snapshots, used, words, changes
        )
        before = spec


def _spec_changes(before: PartitionSpec, after: PartitionSpec, names: Mapping[int, str]) -> Iterator[VersionChange]:
    old, new = (
        {(f.transform, f.source_ids): f for f in spec.fields if f.transform != "void"} for spec in (before, after)
    )
    for key, field in new.items():
        if key not in old:
            means = "it prunes no file that was written before, until that is rewritten"
            yield VersionChange(
                field.field_id, shorten(field.name, LONG), f"adds {_partition_field(field, names)}", means
            )
    for key, field in old.items():
        if key not in new:
            means = "files that were written before keep its values, and are still pruned by them"
            yield VersionChange(
                field.field_id, shorten(field.name, LONG), f"drops {_partition_field(field, names)}", means
            )


def _partition_field(field: PartitionField, names: Mapping[int, str]) -> str:
    source = ", ".join(names.get(own, f"field {own}") for own in field.source_ids)
    return shorten(transform_words(field.transform, source), LONG)


def _column_names(metadata: TableMetadata) -> dict[int, str]:
    """Names of columns by id, of the newest schema that has them."""
    current = metadata.schema(metadata.current_schema_id)
    schemas = [*metadata.schemas, *([current] if current else [])]
    return {own: shorten(field.name, LONG) for schema in schemas for own, field in schema.by_id.items()}


# -- sort orders -------------------------------------------------------------------------------------------------------
def _orders(metadata: TableMetadata, used: UsedVersions) -> Iterator[SchemaVersion]:
    for order in steps(metadata.sort_orders, "sort orders"):
        words, default = shorten(order_words(order, metadata), LONG), metadata.default_sort_order_id
        if gone := dropped_columns(order, metadata):
            words = f"{words}; dropped since: {first_of(gone, SHOWN)}"
        yield _version(metadata, "sort order", order.order_id, default, None, used, words, [])


def _version(
    metadata: TableMetadata,
    kind: VersionKind,
    number: int,
    current: int | None,
    snapshots: Sequence[int] | None,
    used: UsedVersions,
    words: str,
    changes: Sequence[VersionChange],
) -> SchemaVersion:
    first = min(snapshots or (), key=lambda own: metadata.ordinals.get(own, 0), default=None)
    snapshot = metadata.snapshot(first) if first is not None else None
    name = "" if snapshot is None else snapshot_name(snapshot.snapshot_id, metadata.ordinals)
    return SchemaVersion(
        kind, number, number == current, name, snapshot.timestamp_ms if snapshot else None,
        commit_writer(snapshot, name).writer if snapshot else "",
        None if snapshots is None else len(snapshots), used.files.get(kind, Counter()).get(number, 0), words,
        tuple(changes[:MOST_CHANGES]), max(0, len(changes) - MOST_CHANGES),
    )  # fmt: skip
