"""The doctor's rules that read files: footers, deletes and data against what manifests say of them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from explorer.errors import MISSING, AccessRefused, ExplorerError, NotNow, NotReadHere, UnreadableFile
from explorer.model.manifest import ManifestFile
from explorer.model.metadata import PartitionField, Schema
from explorer.progress import steps
from explorer.reports.doctor.repeated_deletes import repeated_delete_rules
from explorer.reports.doctor.row_id_rules import repeated_row_rules
from explorer.spec.deletes.deletes import PATH_ID
from explorer.spec.deletes.snapshot_deletes import MOVED
from explorer.spec.doctor.findings import Finding, finding
from explorer.spec.doctor.manifest_list_rules import Lists
from explorer.spec.doctor.metrics_rules import is_nan
from explorer.spec.doctor.promotions import PROMOTED_DATE, rebound
from explorer.spec.doctor.remedies import may_be_needed
from explorer.spec.doctor.remedy_cases import (
    BY_NAME,
    NAME_TAKEN,
    NAN_UNCOUNTED,
    NOT_MENDED,
    OF_PARTITION_ALONE,
    ONE_TOO_HIGH,
    WIDE_BOUND,
    effect_of_wrong_partition,
)
from explorer.spec.doctor.remedy_parts import of_gone_snapshot
from explorer.spec.doctor.source_column_rules import TIMES, apply_transform, is_one_too_high, overflow_words
from explorer.spec.entries.entries import live_entries
from explorer.spec.entries.live_files import LiveFile, live_files
from explorer.spec.schemas.column_places import taken_by_place
from explorer.spec.schemas.name_mapping import taken_names
from explorer.spec.schemas.schema_fields import absent_required_fields, kinds_by_id
from explorer.spec.schemas.stored_types import (
    RIGHT,
    TypeDifference,
    date_promotion,
    is_int96,
    type_differences,
    with_values,
)
from explorer.spec.text.names import ending_below, endings_elsewhere, without_place
from explorer.spec.values.ordering import comparable
from explorer.spec.values.stored_values import count_beyond_nanos
from explorer.spec.values.transforms import as_java, from_bytes, is_narrow, parse_transform
from explorer.spec.values.values import (
    internal_scalar,
    internal_value,
    partition_value,
    primitive_type,
    readable,
    result_type,
)
from explorer.storage.formats.encryption import refuse_encrypted
from explorer.storage.formats.puffin import MAGIC, NoPuffin
from explorer.storage.rows import MAPPED, ROW_ID, read_schema
from explorer.table import Table

EXACT = ("int", "long", "float", "double", "decimal", "date", "timestamp")
"""Types of which Iceberg's writers record bounds that are values."""
OURS = ("its rows cannot be read", "its schema is not one")
"""What begins the words for files that we cannot read, though others may."""
LACKS = ("it lacks the required column ", ", which has no initial default")
"""What stands around the column that a file lacks."""
ABSENT_IN_JAVA = "'Missing required field'"
BY_PLACE = "a column has no field id, and Spark does not find it by its place"
FORMATS = {b"PAR1": "PARQUET", b"ORC": "ORC", b"Obj\x01": "AVRO", MAGIC: "PUFFIN"}
"""By what files begin with."""
DISTINCT = 100_000
"""Values of a column in one file that are each transformed, where the least and the greatest do not tell."""


def deep_rules(
    table: Table, lists: Lists, not_checked: list[str], checked: dict[str, int], idle: Collection[Any] = ()
) -> Iterator[Finding]:
    """Rules 39 to 42, 44, 50, 58, 59, 61 and 74 to 76 over every file that some snapshot reads, each once. `idle` are
    the keys of deletes of which metadata tells that they hide nothing in the current snapshot."""
    deep = _Deep(table, lists, not_checked, idle)
    yield from deep.findings()
    checked["files read"] = deep.looked


class _Deep:
    def __init__(self, table: Table, lists: Lists, not_checked: list[str], idle: Collection[Any]) -> None:
        self.table, self.lists, self.not_checked, self.idle = table, lists, not_checked, idle
        self.looked = 0
        self.rows: dict[str, tuple[int, int]] = {}
        """Of each data file: its rows, and the snapshots that read it."""
        self.with_ids: set[str] = set()
        """The data files whose rows have row ids of their own."""
        self.manifest_claims: set[int] = set()
        """What manifests say of data files that were read."""
        self.splits: Mapping[str, list[int]] = {}
        self.taken = taken_names(table.metadata)
        self.added: Mapping[str, int | None] = {}
        """Which snapshot added each file of the manifest at hand, where that is asked."""
        self.absent_partition: tuple[str, ...] = ()
        """The columns of its identity partition that the data file at hand does not have."""
        self.by_place: set[str] = set()
        """Columns of the file at hand that Spark does not find."""
        self.int96: dict[str, TypeDifference] = {}
        """Columns of the file at hand that are stored as INT96."""
        try:
            self.schema: Schema | None = read_schema(table.metadata, None)
        except UnreadableFile as error:
            self.schema = None
            not_checked.append(f"data: {error}")

    def findings(self) -> Iterator[Finding]:
        deletes: dict[Any, tuple[LiveFile, int]] = {}
        storage = self.table.reader.storage
        with storage.reading_ahead(self._data_files()):
            yield from self._data_findings(deletes)
        listed = steps(list(deletes.values()), "delete files")
        for file, mask in storage.read_ahead(listed, lambda one: (one[0].path, one[0].size)):
            yield from self._check(file, partial(self._delete, mask))
        yield from repeated_delete_rules(self.table, self.lists, deletes.values())
        yield from repeated_row_rules(self.table, self.lists, self.rows, self.with_ids)
        yield from self._statistics()

    def _data_files(self) -> Iterator[tuple[str, int]]:
        """The paths and sizes of the data files in the order in which they are looked into."""
        listed = (self.lists.records[path] for path in self.lists.held)
        for manifest, stored in self.table.tree.stored_entries([m for m in listed if m.content == 0]):
            live = live_entries(stored, manifest)
            yield from zip(live["file_path"].to_pylist(), live["file_size_in_bytes"].to_pylist(), strict=True)

    def _data_findings(self, deletes: dict[Any, tuple[LiveFile, int]]) -> Iterator[Finding]:
        """Look into the data files, and gather the delete files, each with the snapshots that read it as a mask."""
        splits: dict[str, list[int]] = {}
        records = [self.lists.records[path] for path in self.lists.held]
        newest, replaced = self.schema, bool(rebound(self.table.metadata))
        for manifest, stored in self.table.tree.stored_entries(records, metrics=True):
            self.schema = self._schema_then(manifest) if replaced else newest
            mask = self.lists.masks[manifest.manifest_path]
            entries = live_entries(stored, manifest)
            paths, offsets = stored["file_path"].to_pylist(), stored["split_offsets"].to_pylist()
            self.splits = dict(zip(paths, offsets, strict=True))
            if self.taken:
                added = entries["inherited_snapshot_id"].to_pylist()
                self.added = dict(zip(entries["file_path"].to_pylist(), added, strict=True))
            for file in steps(live_files(entries, manifest.partition_spec_id, manifest.manifest_path), "files"):
                if file.kind != "data_file":
                    _, seen = deletes.get(file.key, (file, 0))
                    deletes[file.key] = (file, seen | mask)
                    splits.setdefault(file.path, []).extend(self.splits.get(file.path) or ())
                    continue
                rows, seen = self.rows.get(file.path, (file.record_count, 0))
                self.rows[file.path] = (rows, seen | mask)
                if (claims := hash(_claims(file, self.splits.get(file.path)))) not in self.manifest_claims:
                    self.manifest_claims.add(claims)
                    yield from self._check(file, self._data)
        self.splits, self.schema = splits, newest

    def _schema_then(self, manifest: ManifestFile) -> Schema | None:
        """The schema with which a manifest was written, of a table that was replaced since."""
        snapshot = self.table.metadata.snapshot(manifest.added_snapshot_id)
        with contextlib.suppress(UnreadableFile):
            return read_schema(self.table.metadata, snapshot.schema_id if snapshot else None)
        return None

    def _check(self, file: LiveFile, ask: Callable[[LiveFile], Iterator[Finding]]) -> Iterator[Finding]:
        self.looked += 1
        try:
            if (stored_as := self._format(file)) not in ("", file.file_format):
                refused = "scan" if file.kind == "data_file" else "part"
                yield self._of(file, "entry-invalid", "its file_format is not that of the file", file.file_format,
                               stored_as, refused=refused)  # fmt: skip
                return
            yield from ask(file)
        except (NotNow, AccessRefused, NotReadHere) as error:
            self.looked -= 1
            self.not_checked.append(str(error))
        except UnreadableFile as error:
            rule = "vector-wrong" if file.kind == "deletion_vector" else "file-missing"
            if error.cause.startswith(MISSING):
                return  # reports.doctor.file_rules tells of it
            if error.cause.startswith(OURS):
                self.not_checked.append(str(error))
                lacks = error.cause.partition(LACKS[0])[2].rpartition(LACKS[1])[0]
                if lacks and file.file_format != "PARQUET":  # whose footer tells
                    yield self._absent_column(file, lacks)
            else:  # what a library cannot decode, another may
                more: dict[str, Any] = {"severity": "warning"} if "cannot be decoded: " in error.cause else {}
                more |= {"refused": "part"} if file.kind == "deletion_vector" else {}
                yield self._of(file, rule, error.cause, **more)
        except ExplorerError as error:
            self.not_checked.append(f"{file.path}: {error}")

    def _of(
        self, file: LiveFile, rule: str, what: str, value: Any = None, expected: Any = None, **more: Any
    ) -> Finding:
        mask = self.lists.masks.get(file.manifest_path, 0)
        return finding(rule, what, file.path, f"named in {file.manifest_path}", found=value, expected=expected,
                       snapshots=self.lists.listing(mask), node=("file", file.path), **more)  # fmt: skip

    def _format(self, file: LiveFile) -> str:
        """The format that a file begins as; empty where that is none that is known, or it cannot be read."""
        if file.kind == "deletion_vector":
            return ""
        try:
            start = self.table.reader.storage.read(file.path, 0, 4)
        except UnreadableFile:  # whoever reads it says why
            return ""
        refuse_encrypted(start, file.path)
        return next((name for begin, name in FORMATS.items() if start.startswith(begin)), "")

    # -- data ---------------------------------------------------------------------------------------------------------
    def _data(self, file: LiveFile) -> Iterator[Finding]:
        self.absent_partition = ()
        self.by_place.clear()
        self.int96.clear()
        if file.file_format == "PARQUET":
            yield from self._footer(file)
        if self.schema is None:
            return
        try:
            rows = self.table.row_reader.rows(file, self.schema)
        except ExplorerError:
            yield from (self._of_type(file, name, difference) for name, difference in self.int96.items())
            raise
        yield from self._int96(file, rows)
        mapped = MAPPED in (rows.schema.metadata or {})
        if self.absent_partition and not mapped:
            yield self._of(file, "readers-differ", OF_PARTITION_ALONE, severity="info", columns=self.absent_partition)
        if rows.num_rows != file.record_count and file.file_format != "PARQUET":
            yield self._of(file, "record-count", "the file has another number of rows", rows.num_rows,
                           f"record_count {file.record_count} in the manifest")  # fmt: skip
        if mapped:
            yield from list(self._taken_names(file, rows)) or [
                self._of(file, "readers-differ", BY_NAME, severity="info")
            ]
        columns = {field.id: rows.column(at) for at, field in enumerate(self.schema.fields)}
        for field in self.schema.fields:  # one may have the name of a column that is added to the rows
            is_read = isinstance(field.type, str) and primitive_type(field.type) is not None
            if is_read and field.name not in self.by_place:  # its counts are those of the values that Spark misses
                yield from self._column(file, field.id, field.name, field.type, columns[field.id])
        spec = self.table.metadata.spec(file.spec_id)
        for part in spec.fields if spec else ():
            yield from self._partition(file, part, columns)

    def _taken_names(self, file: LiveFile, rows: pa.Table) -> Iterator[Finding]:
        """Of columns that have values in a file without ids by a name that was another column's when it was added."""
        meta = self.table.metadata
        snapshot = meta.snapshot(self.added.get(file.path))
        then = meta.schema(snapshot.schema_id) if snapshot else None
        if then is None or self.schema is None:
            return
        names = {field.id: field.name for field in self.schema.fields}
        places = {field.id: place for place, field in enumerate(self.schema.fields)}  # a name may be there twice
        for one in self.taken:
            if one.now not in names or one.now in then.by_id or one.former not in then.by_id:
                continue
            name, column = names[one.now], rows.column(places[one.now])
            if column.null_count < len(column):
                yield self._of(
                    file, "readers-differ",
                    f"{NAME_TAKEN} {name} (field {one.now}) has the values of field {one.former}, which was their "
                    f"column {one.name} (#4930)", columns=(one.name,),
                )  # fmt: skip

    def _footer(self, file: LiveFile) -> Iterator[Finding]:
        self._head(file.path, b"PAR1")
        footer = self.table.reader.parquet_footer(file.path, as_read=True)
        if footer["num_rows"] != file.record_count:
            yield self._of(file, "record-count", "the file has another number of rows", footer["num_rows"],
                           f"record_count {file.record_count} in the manifest")  # fmt: skip
        starts = [group["offset"] for group in footer["row_groups"]]
        splits = self.splits.get(file.path)
        if splits and any(at not in starts for at in splits):
            yield self._of(file, "split-offsets", "no row group begins there", splits, starts)
        if file.kind == "data_file":
            yield from self._row_ids(file, footer["field_ids"])
        if self.schema is None or file.kind == "position_deletes":
            return
        if file.kind == "data_file":
            constants = self._constants(file)
            for name in absent_required_fields(self.schema.raw["fields"], footer["field_ids"], constants):
                yield self._absent_column(file, name)
            there = footer["field_ids"] if footer["num_rows"] else constants
            absent = (f.name for f in self.schema.fields if f.id in constants and f.id not in there)
            self.absent_partition = tuple(absent)
        by_place = taken_by_place(footer, self.table.metadata, self.schema, file.file_sequence_number)
        for name, difference in by_place if file.kind == "data_file" else ():
            self.by_place.add(name)
            yield self._of(file, "field-ids-absent", f"{BY_PLACE}: {difference.effect}", difference.stored,
                           difference.expected, severity="error", columns=(name,))  # fmt: skip
        kinds = kinds_by_id(self.schema)
        for column in footer["columns"] if file.kind == "data_file" else ():
            name, kind = kinds.get(column["field_id"], ("", None))
            if date_promotion(column, kind):
                more = {"refused": "part", "columns": (name,)}
                yield self._of(file, "readers-differ", PROMOTED_DATE, kind, "date", **more)
        for name, difference in type_differences(footer["columns"], kinds):
            if file.kind == "data_file" and is_int96(difference):
                self.int96[name] = difference
            else:
                yield self._of_type(file, name, difference)

    def _int96(self, file: LiveFile, rows: pa.Table) -> Iterator[Finding]:
        """Rule 74, of columns whose values tell whether all readers take them."""
        for place, field in enumerate(self.schema.fields if self.int96 and self.schema else ()):
            for path, beyond in count_beyond_nanos(rows.column(place), field.name):
                if difference := self.int96.get(path):
                    yield self._of_type(file, path, with_values(difference, beyond))

    def _row_ids(self, file: LiveFile, field_ids: Collection[int]) -> Iterator[Finding]:
        """Rule 76, of a file that a rewrite added."""
        meta = self.table.metadata
        if ROW_ID in field_ids:
            self.with_ids.add(file.path)
            return
        adders = [s for s in meta.snapshots if s.sequence_number == file.file_sequence_number]
        before = meta.snapshot(adders[0].parent_snapshot_id) if len(adders) == 1 else None
        if before and before.first_row_id is not None and adders[0].operation == "replace" and file.record_count:
            what = (
                "a rewrite wrote rows without their row ids, so they have new ones: who follows rows by _row_id or "
                "_last_updated_sequence_number takes each of them for a new row"
            )
            found = None if file.first_row_id is None else f"row ids from {file.first_row_id} on"
            yield self._of(file, "row-ids-changed", what, found, f"a column _row_id (field id {ROW_ID})")

    def _absent_column(self, file: LiveFile, name: str) -> Finding:
        what = f"a required column is not in the file: Spark 4.1 fails on queries that read it ({ABSENT_IN_JAVA})"
        told = self._of(file, "required-absent", what, severity="error", refused="part", columns=(name,))
        ids = tuple(own for own, field in self.schema.by_id.items() if field.name == name) if self.schema else ()
        known = self.lists.masks.get(file.manifest_path, 0) & self.lists.readers_know(ids)
        return replace(told, snapshots=self.lists.listing(known)) if known else told

    def _of_type(self, file: LiveFile, name: str, difference: TypeDifference) -> Finding:
        severity = "error" if difference.fails or difference.misread else "warning"
        is_right = difference.effect.startswith(RIGHT)
        more: dict[str, Any] = {"severity": "info" if is_right else severity}
        more |= {"refused": "part"} if difference.fails else {}
        what = f"a column is not stored in the spec's type: {difference.effect}"
        if severity == "error" and not difference.mended_by_rows:
            what += f" ({NOT_MENDED})"
        return self._of(file, "column-type", what, difference.stored, difference.expected, columns=(name,), **more)

    def _head(self, path: str, magic: bytes) -> None:
        """Raises UnreadableFile when a file does not start as those of its format do."""
        start = self.table.reader.storage.read(path, 0, len(magic))
        if start != magic:
            refuse_encrypted(start, path)
            raise UnreadableFile(path, f"it starts with {start!r}, not with {magic!r}")

    def _constants(self, file: LiveFile) -> set[int]:
        """The columns whose values a partition gives."""
        spec = self.table.metadata.spec(file.spec_id)
        return {i for f in (spec.fields if spec else ()) if f.transform == "identity" for i in f.source_ids}

    def _column(
        self, file: LiveFile, field_id: int, name: str, kind: str, values: pa.ChunkedArray
    ) -> Iterator[Finding]:
        nulls = file.nulls.get(field_id)
        if nulls is not None and nulls != values.null_count:
            yield self._of(file, "metrics-wrong", "a column has another number of nulls", values.null_count,
                           f"null_value_counts: {nulls}", columns=(name,))  # fmt: skip
        yield from self._nans(file, field_id, name, values)
        lower, upper = file.lower.get(field_id), file.upper.get(field_id)
        least, most = _ends(values)
        if least is None or (lower is None and upper is None):
            return
        primitive = primitive_type(kind)
        wide, is_within = list[Finding](), True
        for bound, own, below in ((lower, least, True), (upper, most, False)):
            if bound is None or primitive is None:
                continue
            try:
                if kind == "uuid" or (kind in ("float", "double") and is_nan(bound)):
                    continue  # readers differ in their order; a NaN bound says nothing
                limit, value = (comparable(v, kind) for v in (internal_value(from_bytes(primitive, bound)), own))
                outside = value < limit if below else value > limit
                is_exact = kind.startswith(EXACT) and file.kind == "data_file" and not kind.endswith("_ns")
                is_wide = is_exact and internal_value(own) != internal_value(from_bytes(primitive, bound))
            except Exception:  # of another type, or damaged: rule 40 tells of that from the manifest
                continue
            is_within &= not outside
            if outside:
                side = "below its lower" if below else "above its upper"
                shown = (str(readable(internal_value(v), kind))[:200] for v in (own, from_bytes(primitive, bound)))
                yield self._of(file, "metrics-wrong", f"a value is {side} bound: filters skip it", *shown,
                               columns=(name,))  # fmt: skip
            elif is_wide:
                side, aggregate = ("below all its values", "MIN") if below else ("above all its values", "MAX")
                shown = (str(readable(internal_value(v), kind))[:200] for v in (from_bytes(primitive, bound), own))
                what = f"a bound of a column is {side}, {WIDE_BOUND.format(aggregate)}"
                wide.append(self._of(file, "readers-differ", what, *shown, columns=(name,)))
        if is_within:
            yield from wide

    def _nans(self, file: LiveFile, field_id: int, name: str, values: pa.ChunkedArray) -> Iterator[Finding]:
        """Whether a manifest counts the NaN of a column."""
        if file.kind != "data_file" or not pa.types.is_floating(values.type):
            return
        own, counted = pc.sum(pc.is_nan(values)).as_py() or 0, file.nans.get(field_id)
        if counted is not None and counted != own:
            yield self._of(file, "metrics-wrong", "a column has another number of NaN", own,
                           f"nan_value_counts: {counted}", columns=(name,))  # fmt: skip
        elif counted is None and own and (most := file.upper.get(field_id)) and not is_nan(most):
            yield self._of(file, "readers-differ", NAN_UNCOUNTED, own, severity="info", columns=(name,))

    def _partition(
        self, file: LiveFile, part: PartitionField, columns: Mapping[int, pa.ChunkedArray]
    ) -> Iterator[Finding]:
        field = next((f for f in (self.schema.fields if self.schema else ()) if f.id in part.source_ids), None)
        key, kind = str(part.field_id), field.type if field else None
        if len(part.source_ids) != 1 or field is None or part.transform == "void" or key not in file.partition:
            return
        if not isinstance(kind, str) or result_type(part.transform, kind) is None:
            return
        try:
            results = _results(columns[field.id], part.transform, kind)
        except Exception:  # types that pyiceberg's transforms do not take
            return
        own = internal_value(file.partition[key])
        if isinstance(own, str) and kind != "string":  # a date that Python has none for
            return
        wrong = [value for value in results if value != own]
        if not wrong:
            return
        shown = [partition_value(value, part.transform, kind) for value in (own, wrong[0])]
        claim = f"a partition field is not what {part.transform} makes of the column: "
        claim += effect_of_wrong_partition(part.transform)
        about: dict[str, Any] = {"columns": (part.name,)}
        if type(own) is int and is_one_too_high(own, part.transform, kind) and results <= {own, own - 1}:
            yield self._of(file, "readers-differ", ONE_TOO_HIGH.format(part.transform), *shown, **about)
        elif is_narrow(part.transform, kind) and own in _as_java(columns[field.id], part.transform, kind):
            yield self._of(file, "partition-value", f"{claim}; {overflow_words(part.transform, kind)}", *shown, **about)
        else:
            yield self._of(file, "partition-value", claim, *shown, **about)

    # -- deletes and statistics ---------------------------------------------------------------------------------------
    def _delete(self, mask: int, file: LiveFile) -> Iterator[Finding]:
        reader = self.table.row_reader
        if file.kind == "equality_deletes":
            rows = reader.equality_rows(file).num_rows
        elif file.kind == "deletion_vector":
            if file.content_offset is None or file.content_size is None:
                return  # entry-invalid tells of it, and the file may be intact
            with contextlib.suppress(NoPuffin):  # vectors may stand in a file without the container
                self.table.reader.puffin_footer(file.path)
                self._head(file.path, MAGIC)
            positions = reader.vector(file)
            rows = len(positions)
            yield from self._beyond(file, file.referenced_data_file, positions)
        else:
            table = reader.position_deletes(file)
            rows = table.num_rows
            named = pc.unique(table["file_path"]).to_pylist()
            yield from self._path_bounds(file, named)
            hits = [path for path in named if path in self.rows and self.rows[path][1] & mask]
            if named and not hits:
                claim = "none of the data files that it names is in a snapshot that lists it: it hides nothing"
                about: dict[str, Any] = {"severity": "info"} if self._was_compacted(named) else {}
                if reason := self._elsewhere(named):
                    claim += f" ({reason})"
                    about = {"remedy": may_be_needed(1, reason)}
                yield self._of(file, "delete-names-nothing", claim, named[0], **about)
            now = mask & self.lists.bit(self.table.metadata.current_snapshot_id)
            if now and hits and file.key not in self.idle and not any(self.rows[path][1] & now for path in hits):
                claim = "the current snapshot has none of the data files that it names any more: it hides nothing there"
                yield self._of(file, "delete-names-nothing", claim, named[0], severity="info")
            for path in hits:
                own_positions = table.filter(pc.equal(table["file_path"], path))["pos"]
                yield from self._beyond(file, path, own_positions)
        if file.kind != "deletion_vector" and file.file_format == "PARQUET":
            yield from self._footer(file)
        elif rows != file.record_count:
            yield self._of(file, "record-count", "the delete file has another number of rows", rows,
                           f"record_count {file.record_count} in the manifest",
                           refused="part" if file.kind == "deletion_vector" else "")  # fmt: skip

    def _elsewhere(self, named: list[str | None]) -> str:
        """Say that the data files which a position delete names are there by other paths; empty where they are not."""
        location = self.table.metadata.location
        if {without_place(path or "") for path in named} & {without_place(path) for path in self.rows}:
            return "its data files are there under another scheme or authority, which readers tell apart"
        endings = {ending_below(path, location) for path in self.rows} - {""}
        if any(end in endings for path in named for end in endings_elsewhere(path or "", location)):
            return f"its data files are there, in another place{MOVED}"
        return ""

    def _path_bounds(self, file: LiveFile, paths: list[str | None]) -> Iterator[Finding]:
        """Whether the paths that position deletes name lie within their own bounds."""
        low, high = file.lower.get(PATH_ID), file.upper.get(PATH_ID)
        named = [path.encode() for path in paths if path is not None]
        outside = [path for path in named if (low is not None and path < low) or (high is not None and path > high)]
        if outside:
            ends = " to ".join("?" if bound is None else repr(bound.decode(errors="replace")) for bound in (low, high))
            what = "it names data files outside its own bounds of paths: readers skip it, and its rows are not deleted"
            yield self._of(file, "metrics-wrong", what, outside[0].decode(), ends, columns=("file_path",))

    def _was_compacted(self, named: list[str]) -> bool:
        """Whether it names data files that some snapshot reads, or did: a rewrite left it, as rewrites do."""
        return any(path in self.rows for path in named)

    def _beyond(self, file: LiveFile, path: str | None, positions: Any) -> Iterator[Finding]:
        most = pc.max(positions).as_py()
        if path in self.rows and most is not None and most >= self.rows[path or ""][0]:
            yield self._of(file, "vector-wrong", f"it deletes a row that {path} does not have", most,
                           f"positions below {self.rows[path or ''][0]}")  # fmt: skip

    def _partition_statistics(self, path: str) -> None:
        """Raises UnreadableFile."""
        if path.endswith(".parquet"):
            self._head(path, b"PAR1")
            self.table.reader.parquet_footer(path)

    def _statistics(self) -> Iterator[Finding]:
        there_are = self.table.tree.sizes([s.path for s in self.table.metadata.statistics])
        for statistics in self.table.metadata.statistics:
            if statistics.path not in there_are:  # which is told without a look into files
                continue
            about: dict[str, Any] = {"node": ("statistics", statistics.path), "snapshots": (statistics.snapshot_id,)}
            try:
                if statistics.kind != "statistics":
                    self._partition_statistics(statistics.path)
                    continue
                self._head(statistics.path, MAGIC)
                blobs = self.table.reader.puffin_footer(statistics.path)["blobs"]
            except (NotNow, NotReadHere) as error:
                self.not_checked.append(str(error))
                continue
            except UnreadableFile as error:
                yield finding(
                    "statistics-file",
                    error.cause,
                    statistics.path,
                    **about,
                    **of_gone_snapshot(self.table.metadata, statistics),
                )
                continue
            metadata_blobs, footer_blobs = ([(b.get("type"), list(b.get("fields", ()))) for b in some]
                           for some in (statistics.blob_metadata, blobs))  # fmt: skip
            if metadata_blobs != footer_blobs:
                yield finding("statistics-file", "the metadata tells of other blobs than its footer", statistics.path,
                              found=metadata_blobs, expected=footer_blobs, **about)  # fmt: skip


def _claims(file: LiveFile, splits: list[int] | None) -> tuple[Any, ...]:
    """What a manifest says of a data file; several may."""
    maps = (file.partition, file.lower, file.upper, file.nulls)
    return file.path, file.spec_id, file.record_count, tuple(splits or ()), repr([sorted(m.items()) for m in maps])


def _ends(values: pa.ChunkedArray) -> tuple[Any, Any]:
    """The least and the greatest value, as Iceberg keeps them; None where there is none."""
    try:
        if pa.types.is_floating(values.type):
            values = values.filter(pc.invert(pc.fill_null(pc.is_nan(values), True)))
        ends = pc.min_max(values)
    except pa.ArrowException:  # a type without an order
        return None, None
    return internal_scalar(ends["min"]), internal_scalar(ends["max"])


def _as_java(values: pa.ChunkedArray, transform: str, kind: str) -> list[int]:
    """What Java makes of the least and the greatest value."""
    ends = [value for value in _ends(values) if value is not None]
    results: list[int] = as_java(np.array(ends, np.int64), transform, kind).tolist()
    return results


def _results(values: pa.ChunkedArray, transform: str, kind: str) -> set[Any]:
    """What a transform makes of a file's values: of those that keep order of the ends, and of null. Raises what
    pyiceberg's transforms raise."""
    ends = [value for value in _ends(values) if value is not None]
    if transform in TIMES and (kind == "date" or kind.startswith("timestamp")):
        results: set[Any] = set(apply_transform(np.array(ends, np.int64), transform, kind).tolist()) if ends else set()
    else:
        primitive = primitive_type(kind)
        if primitive is None:
            return set()
        apply = parse_transform(transform).transform(primitive)
        if transform.startswith("bucket"):
            ends = [internal_scalar(value) for value in pc.unique(values).slice(0, DISTINCT)]
        results = {apply(value) for value in ends if value is not None}
    return results | ({None} if values.null_count else set())
