"""A table's metadata as a zip without its secrets, which people attach to a report of a bug."""

from __future__ import annotations

import gzip
import json
import re
import shutil
import tempfile
import zipfile
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from typing import IO, Any

from explorer.errors import NotPossible, UnreadableFile
from explorer.model.problem import Problems
from explorer.progress import steps
from explorer.queries.filters import filter_columns, parse_filter
from explorer.queries.metadata_tree import MetadataTree
from explorer.spec.bundle.manifest_document import ManifestDocument
from explorer.spec.bundle.metadata_document import UNLIKE_SPEC, MetadataDocument
from explorer.spec.bundle.ordered_values import CALENDAR
from explorer.spec.bundle.replacements import Replacements
from explorer.spec.filters.expressions import BoundTerm, Expression, Predicate, rebuilt
from explorer.spec.text.names import base_name
from explorer.storage import limits, parquet_manifests
from explorer.storage.allowed_roots import metadata_folder
from explorer.storage.folder_state import HINT, METADATA_NAME
from explorer.storage.formats import avro
from explorer.storage.formats.avro_writer import without_logical_types, write_avro
from explorer.storage.formats.json_text import load_json
from explorer.storage.manifest_layout import LIST_IDS
from explorer.storage.metadata import gunzip
from explorer.storage.parquet_documents import avro_schema, write_parquet
from explorer.storage.parquet_documents import records as parquet_records
from explorer.storage.paths import normal_path
from explorer.storage.replaced_values import ReplacedValues
from explorer.storage.scratch import scratch
from explorer.storage.whole_files import whole_file

FOLDER = "table"
"""The table's folder in the zip."""
README = """This is the metadata of an Apache Iceberg table, without its secrets.

Unzip it, and open the folder `table` with an Iceberg tool:

    icedive show table

Replaced, each time by the same: names of columns, partition fields, branches and tags; paths; partition values and
bounds; the table's UUID. New texts, numbers and bytes have the order of the old ones, and texts and bytes their
length. Of dates and times the order and the months are as they were. Left out: comments, properties and keys of
summaries that Iceberg does not know, and the data, delete and statistics files themselves.
As it was: the ids of snapshots and fields, the times of commits, sizes, counts, buckets, booleans.
What `bucket` gives of a new value is not what it gave of the old one: a filter on such a column skips other files.
Nor is what `truncate` gives of a new number, where another width is no multiple of this one.
Where the bounds of such a column are equal, they are left out. What was wrong with a value itself, such as a date far
off or a word that a writer left there, is no longer seen.
"""


@dataclass(frozen=True)
class TableBundle:
    """What was written: the zip and its size; how many files of each kind; in words what was replaced and left out and
    how often; the files that are not in it, and why; for whoever made it, the new names of columns and the filters in
    words of the bundle."""

    file: str
    bytes: int
    metadata_files: int
    manifest_lists: int
    manifests: int
    replaced: Mapping[str, int]
    left_out: Sequence[Mapping[str, str]]
    columns: Mapping[str, str]
    filters: Mapping[str, str]
    notes: Sequence[str] = field(default=())


def write_bundle(tree: MetadataTree, file: Path, filters: Sequence[str] = ()) -> TableBundle:
    """Write a table's metadata files, manifest lists and manifests without its secrets.

    Args:
        tree: The table.
        file: The zip to write.
        filters: Filters whose values are to be replaced too, so that they can be asked of the bundle.

    Returns:
        What was written.

    Raises:
        NotFoundInTable: A filter does not fit.
        OSError: The file cannot be written.
    """
    schema = tree.metadata.schema(tree.metadata.current_schema_id)
    columns = filter_columns(schema) if schema else {}
    bound = {text: parse_filter(text, columns) for text in filters}
    with scratch("bundle") as folder:
        values = ReplacedValues(folder)
        try:
            return _Bundle(tree, Replacements(tree.metadata, values), bound).write(values, file)
        finally:
            values.close()


class _Bundle:
    def __init__(self, tree: MetadataTree, new: Replacements, filters: Mapping[str, Expression]) -> None:
        self.reader, self.new, self.filters = tree.reader, new, filters
        self.document = MetadataDocument(new)
        self.manifest_document = ManifestDocument(self.document, LIST_IDS, self._new_length)
        self.location = tree.metadata.location
        self.inside = f"{normal_path(self.location).rstrip('/')}/"
        self.elsewhere: set[str] = set()
        """Metadata files, manifest lists and manifests outside the table's folder."""
        self.left_out: dict[str, str] = {}
        self.lengths: dict[str, tuple[int, int]] = {}
        """Of each manifest, by its path: how long it is, and how long the new one is."""

    def write(self, values: ReplacedValues, file: Path) -> TableBundle:
        """Read the table twice: to collect its values, and to write the new ones."""
        names = self._metadata_names()
        lists, inline = self._named_in(names)
        manifests = dict.fromkeys(inline)
        for path in steps(lists, "manifest lists", len(lists)):
            manifests |= dict.fromkeys(self._manifests_of(path))
        self.elsewhere |= {path for path in (*lists, *manifests) if not normal_path(path).startswith(self.inside)}
        work = (*((path, False) for path in manifests), *((path, True) for path in lists))
        for path, is_list in steps(work, "files read", len(work)):
            self._copy(path, is_list, None)
        for name in names:
            self._metadata(name)
            self.new.file_name(base_name(name))
        try:
            self._new_filters()
            self._move()  # for its names
        except ValueError as error:
            raise NotPossible(f"the table's location, or a filter, cannot be replaced: {error}") from error
        self.new.moved.clear()
        values.decide()
        self._move()
        self.new.counts.clear()
        with whole_file(file) as out, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
            written = [0, 0]
            for path, is_list in steps(work, "files written", len(work)):
                with tempfile.TemporaryFile() as part:
                    if self._copy(path, is_list, part):
                        written[is_list] += 1
                        part.seek(0)
                        name = self._member(self.new.path(path))
                        if name not in archive.NameToInfo:  # a path may be written in two ways
                            with archive.open(zipfile.ZipInfo(name), "w") as member:
                                shutil.copyfileobj(part, member)
            metadata_files = 0
            for name in steps(names, "metadata files", len(names)):
                if (text := self._metadata(name)) is not None:
                    metadata_files += 1
                    _add(archive, f"{FOLDER}/metadata/{self.new.file_name(base_name(name))}", text)
            if (hint := self._hint()) is not None:
                _add(archive, f"{FOLDER}/metadata/{HINT}", hint.encode())
            filters = self._new_filters()
            report = {"replaced": +self.new.counts, "left_out": len(self.left_out), "filters": [*filters.values()]}
            _add(archive, "README.txt", README.encode())
            _add(archive, "report.json", json.dumps(report, indent=1).encode())
        return TableBundle(
            str(file), file.stat().st_size, metadata_files, written[1], written[0], dict(+self.new.counts),
            [{"file": path, "why": why} for path, why in self.left_out.items()], dict(self.new.columns), filters,
            self._notes(),
        )  # fmt: skip

    def _notes(self) -> list[str]:
        buckets = [f for spec in self.new.metadata.partition_specs for f in spec.fields if "bucket" in f.transform]
        notes = ["data, delete and statistics files are not in it"]
        if buckets:
            notes.append("buckets stay as they are: a filter on their column skips other files in the bundle")
        if self.new.has_loose_widths:
            notes.append("a column is truncated to widths of which none is a multiple of another: one of them holds")
        return notes

    # -- what there is ------------------------------------------------------------------------------------------------
    def _metadata_names(self) -> list[str]:
        """The metadata files that are there, the opened one among them."""
        opened = self.reader.metadata.metadata_location
        folder = metadata_folder(opened)
        try:
            names = [name for name in self.reader.storage.names(folder) if METADATA_NAME.match(name)]
        except UnreadableFile as error:
            self.left_out[error.path] = error.cause
            names = []
        return sorted({opened, *(f"{folder}/{name}" for name in names)})

    def _named_in(self, names: Sequence[str]) -> tuple[list[str], list[str]]:
        """The manifest lists that snapshots of metadata files name, and the manifests that they name themselves."""
        lists: dict[str, None] = {}
        manifests: dict[str, None] = {}
        there = set(map(base_name, names))
        for name in steps(names, "metadata files", len(names)):
            raw = self._document(name) or {}
            for snapshot in _objects(raw.get("snapshots")):
                inline = snapshot.get("manifests")
                if isinstance(snapshot.get("manifest-list"), str):
                    lists[snapshot["manifest-list"]] = None
                elif isinstance(inline, list):
                    manifests |= dict.fromkeys(path for path in inline if isinstance(path, str))
            for entry in _objects(raw.get("metadata-log")):
                path = entry.get("metadata-file")
                inside = f"{self.inside}metadata/"
                if isinstance(path, str) and base_name(path) in there and not normal_path(path).startswith(inside):
                    self.elsewhere.add(path)
        return list(lists), list(manifests)

    def _document(self, path: str) -> dict[str, Any] | None:
        """The JSON of a metadata file; None, and a note, for one that cannot be read."""
        try:
            data = self.reader.storage.read(path, limit=limits.METADATA)
            text = gunzip(data, path) if data[:2] == b"\x1f\x8b" else data
            raw = load_json(text, path, Problems(path))
            if not isinstance(raw, dict) or "format-version" not in raw:
                raise UnreadableFile(path, "is no table metadata")
            return raw
        except UnreadableFile as error:
            self.left_out[path] = error.cause
            return None

    def _container(self, path: str) -> avro.Container | None:
        """An Avro file; None, and a note, for one that cannot be read whole."""
        try:
            data = self.reader.storage.read_through_cache(path, limit=limits.MANIFEST)
            container = avro.open_container(data, path, room=limits.unpack_limit(len(data)))
            if container.problems:
                raise UnreadableFile(path, container.problems[0].cause)
            self.lengths.setdefault(path, (len(data), len(data)))
            return container
        except UnreadableFile as error:
            self.left_out[path] = error.cause
            return None

    def _manifests_of(self, path: str) -> Iterator[str]:
        container = self._container(path)
        if container is None:
            return
        field_name = next((f["name"] for f in container.schema["fields"] if f.get("field-id") == 500), "manifest_path")
        try:
            for record in avro.records(container):
                if isinstance(record.get(field_name), str):
                    yield record[field_name]
        except UnreadableFile as error:
            self.left_out[path] = error.cause

    # -- where it goes ------------------------------------------------------------------------------------------------
    def _move(self) -> None:
        """Say where the files are in the bundle that are not inside the table's folder."""
        folder = f"{self.new.path(self.location).rstrip('/')}/metadata"
        for n, path in enumerate(sorted(self.elsewhere), 1):  # two folders may have files of one name
            name = base_name(path)
            prefix = "" if METADATA_NAME.match(name) else f"elsewhere-{n}-"
            self.new.moved[path] = f"{folder}/{prefix}{self.new.file_name(name)}"

    def _member(self, new_path: str) -> str:
        inside = f"{normal_path(self.new.path(self.location)).rstrip('/')}/"
        return f"{FOLDER}/{normal_path(new_path).removeprefix(inside)}"

    def _new_length(self, path: str, recorded: int) -> int:
        """The length that a list states, with the same difference from the real one as before."""
        old, new = self.lengths.get(path, (0, 0))
        return new + (recorded - old) if old else recorded

    # -- copies -------------------------------------------------------------------------------------------------------
    def _copy(self, path: str, is_list: bool, part: IO[bytes] | None) -> bool:
        """Make the new records of a manifest list or manifest, and write them, where that is asked for. Return whether
        that went."""
        if path in self.left_out:
            return False
        try:
            data = b"" if is_list else self.reader.storage.read_through_cache(path, limit=limits.MANIFEST)
            if parquet_manifests.is_parquet(data):
                self._copy_parquet(path, data, part)
                return True
            container = self._container(path)
            if container is None:
                return False
            plan = self.manifest_document.manifest_list if is_list else self.manifest_document.manifest
            document = plan(container.schema, container.metadata)
            plain = replace(container, schema=without_logical_types(container.schema))
            records = steps(avro.records(plain), "records", container.count)
            if part is None:
                deque(map(document.collect, records), maxlen=0)
            else:
                new = map(document.record, records)
                length = write_avro(part, document.schema, document.header, container.codec, new)
                self.lengths[path] = (self.lengths[path][0], length)
            return True
        except UnreadableFile as error:
            self.left_out[path] = error.cause
        except (*UNLIKE_SPEC, StopIteration) as error:
            self.left_out[path] = f"its schema or a record is not as the spec has it ({type(error).__name__})"
        return False

    def _copy_parquet(self, path: str, data: bytes, part: IO[bytes] | None) -> None:
        """Do the same with a Parquet manifest of format version 4."""
        header = parquet_manifests.header(data, path)
        columns = parquet_manifests.columns(data, path)
        document = self.manifest_document.manifest(avro_schema(columns.schema), header.metadata)
        records = steps(parquet_records(columns), "records", columns.num_rows)
        self.lengths.setdefault(path, (len(data), len(data)))
        if part is None:
            deque(map(document.collect, records), maxlen=0)
        else:
            codec = header.codec.rpartition(" ")[2]
            length = write_parquet(part, document.schema, document.header, codec, map(document.record, records))
            self.lengths[path] = (len(data), length)

    def _metadata(self, path: str) -> bytes | None:
        raw = None if path in self.left_out else self._document(path)
        if raw is None:
            return None
        text = json.dumps(self.document.table(raw)).encode()
        if not re.search(r"\.gz\.metadata\.json$|\.metadata\.json\.gz$", path):
            return text
        return gzip.compress(text, mtime=0)

    def _hint(self) -> str | None:
        try:
            data = self.reader.storage.read(f"{metadata_folder(self.reader.metadata.metadata_location)}/{HINT}")
        except UnreadableFile:
            return None
        text = data[:20].decode("ascii", "replace").strip()
        return text if re.fullmatch(r"\d{1,10}", text) else None

    # -- filters ------------------------------------------------------------------------------------------------------
    def _new_filters(self) -> dict[str, str]:
        return {text: str(rebuilt(bound, self._new_predicate)) for text, bound in self.filters.items()}

    def _new_predicate(self, predicate: Predicate) -> Expression:
        term = predicate.term
        assert isinstance(term, BoundTerm)
        column = replace(term.column, name=self.new.columns.get(term.column.name, term.column.name))
        literals = tuple(self._new_literal(term, value) for value in predicate.literals)
        return Predicate(predicate.op, replace(term, column=column), literals)

    def _new_literal(self, term: BoundTerm, value: Any) -> Any:
        name, kind = term.transform.partition("[")[0], term.column.kind
        if name == "bucket":
            return value
        if isinstance(value, Decimal):
            scale = int(kind.rpartition(",")[2].rstrip(") "))
            return Decimal(self.new.value(term.column.field_id, int(value.scaleb(scale)), kind)).scaleb(-scale)
        return self.new.value(term.column.field_id, value, kind, name if name in CALENDAR else "identity")


def _add(archive: zipfile.ZipFile, name: str, data: bytes) -> None:
    """Add a file, without the time of this machine."""
    archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)


def _objects(values: Any) -> list[dict[str, Any]]:
    return [value for value in values if isinstance(value, dict)] if isinstance(values, list) else []
