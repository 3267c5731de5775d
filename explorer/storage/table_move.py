"""The files of a table as if it had been written in another folder, and at another time.

All paths that a table's files hold of its own folder are replaced: in metadata files, manifest lists, manifests,
position deletes, deletion vectors' footers, and path bounds; and so are the sizes that are recorded of files which
become longer or shorter by that (spec: "Table Metadata", "Manifests", "Position Delete Files"; Puffin:
"deletion-vector-v1")."""

from __future__ import annotations

import gzip
import io
import json
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import fastavro
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from explorer.spec.deletes.deletes import PATH_ID
from explorer.spec.entries.entries import DELETED, EXISTING
from explorer.storage.formats.puffin import MAGIC
from explorer.storage.metadata import gunzip
from explorer.storage.rows import POSITION_ID

TIMED = ("snapshots", "snapshot-log", "metadata-log")
"""Lists of a metadata file whose items have a `timestamp-ms`."""
Files = dict[str, bytes]
"""By path below the table's folder."""


def move_table(files: Mapping[str, bytes], old: str, new: str, later_ms: int = 0) -> Files:
    """Return a table's files with the paths that they would have in another folder. Its UUID is a new one.

    Args:
        files: All files of the table, by path below its folder.
        old: The folder as the table's files name it.
        new: The folder as they are to name it.
        later_ms: Milliseconds by which the times of its commits are moved.

    Returns:
        The files, by the same paths.

    Raises:
        ValueError: For a position delete file that is not Parquet, and for a compressed Puffin footer.
    """
    return _Move(files, old, new, later_ms).files()


@dataclass
class _Avro:
    """An Avro file's records, its header, and what else writing it again takes."""

    records: list[dict[str, Any]]
    header: Mapping[str, str]
    codec: str
    sync: bytes

    @classmethod
    def read(cls, data: bytes) -> _Avro:
        reader = fastavro.reader(io.BytesIO(data))
        sync: bytes = reader._header["sync"]  # so that the same files are made again
        return cls(list(reader), reader.metadata, reader.codec, sync)  # type: ignore[arg-type]

    def to_bytes(self) -> bytes:
        out = io.BytesIO()
        own = {key: value for key, value in self.header.items() if not key.startswith("avro.")}
        schema = _schema(self.header["avro.schema"])
        fastavro.writer(out, schema, self.records, codec=self.codec, metadata=own, sync_marker=self.sync)
        return out.getvalue()


@lru_cache(maxsize=64)
def _schema(text: str) -> Any:
    return fastavro.parse_schema(json.loads(text))


class _Move:
    def __init__(self, files: Mapping[str, bytes], old: str, new: str, later_ms: int) -> None:
        self.given, self.old, self.new, self.later_ms = files, old.rstrip("/"), new.rstrip("/"), later_ms
        self.moved: Files = dict(files)
        self.manifests: dict[str, _Avro] = {}
        self.lists: dict[str, _Avro] = {}
        for name, data in files.items():
            if name.startswith("metadata/") and data.startswith(b"Obj\x01"):
                avro = _Avro.read(data)
                some = self.lists if '"manifest_path"' in avro.header["avro.schema"] else self.manifests
                some[name] = avro
        self.grown: dict[str, int] = {}
        """By path below the folder: the bytes by which a position delete file became longer."""

    def files(self) -> Files:
        """All files, moved."""
        for avro in self.manifests.values():
            for record in avro.records:
                self._delete_file(record["data_file"])
        for avro in self.manifests.values():
            for record in avro.records:
                self._entry(record["data_file"])
        for name, avro in self.manifests.items():
            self.moved[name] = avro.to_bytes()
        sizes = self._growth_by_snapshot() if any(self.grown.values()) else {}
        for name, avro in self.lists.items():
            for record in avro.records:
                own = self._below(record["manifest_path"])
                record["manifest_path"] = self._path(record["manifest_path"])
                record["manifest_length"] = len(self.moved[own]) if own in self.moved else record["manifest_length"]
            self.moved[name] = avro.to_bytes()
        own_id = str(uuid.uuid4())
        for name, data in self.given.items():
            if name.endswith(".metadata.json"):
                packed = name.endswith(".gz.metadata.json")
                metadata = json.loads(gunzip(data, name) if packed else data)
                text = json.dumps(self._metadata(metadata, sizes, own_id), separators=(",", ":"), ensure_ascii=False)
                self.moved[name] = gzip.compress(text.encode(), mtime=0) if packed else text.encode()
        return self.moved

    def _path(self, path: str) -> str:
        return self.new + path[len(self.old) :] if path == self.old or path.startswith(f"{self.old}/") else path

    def _below(self, path: str) -> str:
        """The path of a file below the table's folder; empty for one elsewhere."""
        return path[len(self.old) + 1 :] if path.startswith(f"{self.old}/") else ""

    # -- deletes ------------------------------------------------------------------------------------------------------
    def _delete_file(self, file: Mapping[str, Any]) -> None:
        """Write a position delete file or deletion vectors anew."""
        name = self._below(file["file_path"])
        if file.get("content", 0) != 1 or name in self.grown or name not in self.given:
            return
        if file["file_format"].upper() == "PUFFIN":
            self.moved[name] = self._puffin(self.given[name])
        elif file["file_format"].upper() == "PARQUET":
            self.moved[name] = self._position_deletes(self.given[name])
        else:
            raise ValueError(f"{name}: position deletes of format {file['file_format']} are not moved")
        vectors = file["file_format"].upper() == "PUFFIN"  # summaries count their blobs, which stay as they are
        self.grown[name] = 0 if vectors else len(self.moved[name]) - len(self.given[name])

    def _position_deletes(self, data: bytes) -> bytes:
        file = pq.ParquetFile(pa.BufferReader(data))
        table = file.read()
        at = table.schema.get_field_index("file_path")
        begin, end = pc.starts_with(table[at], f"{self.old}/"), pc.utf8_slice_codeunits(table[at], len(self.old))
        paths = pc.if_else(begin, pc.binary_join_element_wise(self.new, end, ""), table[at])
        out = io.BytesIO()
        codec = file.metadata.row_group(0).column(0).compression if file.metadata.num_row_groups else "zstd"
        moved = table.set_column(at, table.schema.field(at), paths.cast(table.schema.field(at).type))
        pairs = {key: value for key, value in (file.metadata.metadata or {}).items() if not key.startswith(b"ARROW:")}
        schema = moved.schema.remove_metadata()
        with pq.ParquetWriter(out, schema, compression=codec, use_dictionary=False, store_schema=False) as writer:
            writer.write_table(moved.cast(schema))
            writer.add_key_value_metadata(pairs)
        return out.getvalue()

    def _puffin(self, data: bytes) -> bytes:
        length = int.from_bytes(data[-12:-8], "little")
        payload = data[len(data) - 12 - length : -12]
        if data[-8] & 1:
            raise ValueError("a compressed Puffin footer is not moved")
        footer = json.loads(payload)
        for blob in footer["blobs"]:
            own = blob.get("properties", {})
            if "referenced-data-file" in own:
                own["referenced-data-file"] = self._path(own["referenced-data-file"])
        text = json.dumps(footer, separators=(",", ":"), ensure_ascii=False).encode()
        return data[: len(data) - 12 - length] + text + len(text).to_bytes(4, "little") + data[-8:-4] + MAGIC

    # -- manifests ----------------------------------------------------------------------------------------------------
    def _entry(self, file: dict[str, Any]) -> None:
        name = self._below(file["file_path"])
        file["file_path"] = self._path(file["file_path"])
        if file.get("referenced_data_file"):
            file["referenced_data_file"] = self._path(file["referenced_data_file"])
        if name not in self.grown:
            return
        file["file_size_in_bytes"] = len(self.moved[name])
        for bounds in ("lower_bounds", "upper_bounds"):
            for item in file.get(bounds) or ():
                if item["key"] == PATH_ID:
                    item["value"] = self._path(item["value"].decode()).encode()
        if file["file_format"].upper() == "PARQUET":
            self._footer_facts(file, pq.ParquetFile(pa.BufferReader(self.moved[name])).metadata)

    def _footer_facts(self, file: dict[str, Any], footer: Any) -> None:
        """What an entry says of a Parquet file's layout."""
        groups = [footer.row_group(n) for n in range(footer.num_row_groups)]
        columns = [group.column(n) for group in groups for n in range(group.num_columns)]
        for item in file.get("column_sizes") or ():
            own = {PATH_ID: "file_path", POSITION_ID: "pos"}.get(item["key"])
            item["value"] = sum(c.total_compressed_size for c in columns if c.path_in_schema == own) or item["value"]
        if file.get("split_offsets"):
            firsts = [group.column(0) for group in groups]
            file["split_offsets"] = [c.dictionary_page_offset or c.data_page_offset for c in firsts]

    def _growth_by_snapshot(self) -> dict[int, dict[str, int]]:
        """By snapshot: the bytes by which its added, removed and live files became longer. Called before the lists are
        moved."""
        sizes: dict[int, dict[str, int]] = {}
        for avro in self.lists.values():
            snapshot = int(avro.header["snapshot-id"])
            sums = sizes.setdefault(snapshot, {"added": 0, "removed": 0, "total": 0})
            for record in avro.records:
                for status, adder, grown in self._entry_growth(record):
                    sums["total"] += grown * (status != DELETED)
                    if adder == snapshot and status != EXISTING:
                        sums["removed" if status == DELETED else "added"] += grown
        return sizes

    def _entry_growth(self, record: Mapping[str, Any]) -> Iterator[tuple[int, int, int]]:
        """Status, snapshot and growth of the entries of a manifest."""
        avro = self.manifests.get(self._below(record["manifest_path"]))
        for entry in avro.records if avro else ():
            path = entry["data_file"]["file_path"]
            grown = self.grown.get(path[len(self.new) + 1 :], 0) if path.startswith(f"{self.new}/") else 0
            adder = entry["snapshot_id"] if entry["snapshot_id"] is not None else record["added_snapshot_id"]
            yield entry["status"], adder, grown

    # -- metadata files -----------------------------------------------------------------------------------------------
    def _metadata(self, metadata: Any, sizes: Mapping[int, Mapping[str, int]], own_id: str) -> Any:
        moved = _map_texts(metadata, self._path)
        moved["table-uuid"] = own_id
        moved["last-updated-ms"] += self.later_ms
        for items in TIMED:
            for item in moved.get(items, ()):
                item["timestamp-ms"] += self.later_ms
        for snapshot in moved.get("snapshots", ()):
            for kind, grown in sizes.get(snapshot["snapshot-id"], {}).items():
                key = "total-files-size" if kind == "total" else f"{kind}-files-size"
                if grown and key in snapshot["summary"]:
                    snapshot["summary"][key] = str(int(snapshot["summary"][key]) + grown)
        return moved


def _map_texts(value: Any, change: Callable[[str], str]) -> Any:
    """JSON with all its texts changed."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [_map_texts(item, change) for item in value]
    if isinstance(value, dict):
        return {key: _map_texts(item, change) for key, item in value.items()}
    return value
