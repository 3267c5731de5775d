"""What the child process of io.isolated does: limits on itself, then one request after the other. Only it imports
this."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Callable, Mapping
from typing import BinaryIO

import pyarrow as pa

from explorer.errors import UnreadableFile
from explorer.io.isolated import to_json


def entries(data: bytes, path: str, limits: Mapping[str, int], metrics: bool) -> pa.Table:
    """io.manifests.entries, by whichever decoder can."""
    from explorer.io import avro, manifests

    return manifests.entries_here(avro.open_container(data, path), metrics)


def records(data: bytes, path: str, limits: Mapping[str, int], start: int, limit: int | None) -> pa.Table:
    """io.avro.records, each as JSON (see io.isolated.to_json)."""
    from explorer.io import avro

    texts, size = [], 0
    for record in avro.records_here(avro.open_container(data, path), start, limit):
        texts.append(to_json(record))
        size += len(texts[-1])
        _within(size, limits["decoded"] // 8, path, "bytes of JSON once decoded")
    return pa.table({"record": pa.array(texts, pa.string())})


def parquet(data: bytes, path: str, limits: Mapping[str, int], ids: list[int], names: list[str]) -> pa.Table:
    """The rows of a Parquet file: the top-level columns that hold a field of these ids, or have one of these names
    where the file has no ids. The schema's metadata has the file's whole Arrow schema as `file_schema`, and its number
    of rows as `file_rows`."""
    import pyarrow.parquet as pq

    opened = pq.ParquetFile(pa.BufferReader(data))
    schema, meta = opened.schema_arrow, opened.metadata
    _within(meta.num_rows, limits["rows"], path, "rows")
    columns = [f.name for f in schema if _ids(f) & set(ids) or (f.name in names and not _ids(f))]
    tops = [meta.schema.column(i).path.split(".")[0] for i in range(meta.num_columns)]
    groups = [meta.row_group(i) for i in range(meta.num_row_groups)]
    size = sum(g.column(i).total_uncompressed_size for g in groups for i, top in enumerate(tops) if top in columns)
    _within(size, limits["decoded"], path, "bytes in these columns, uncompressed")
    table = opened.read(columns=columns, use_threads=False)
    # The writer may ask for dictionaries, which hide how much they are: one text, a thousand times.
    plain = pa.schema([f.with_type(_without_dictionaries(f.type)) for f in schema])
    table = table.cast(pa.schema([plain.field(name) for name in table.column_names]))
    _within(table.nbytes, limits["decoded"], path, "bytes once decoded")
    whole = {"file_schema": plain.serialize().to_pybytes(), "file_rows": str(meta.num_rows)}
    return table.replace_schema_metadata(whole)


def _without_dictionaries(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_dictionary(kind):
        return _without_dictionaries(kind.value_type)
    if pa.types.is_struct(kind):
        inner = [kind.field(i) for i in range(kind.num_fields)]
        return pa.struct([f.with_type(_without_dictionaries(f.type)) for f in inner])
    if pa.types.is_map(kind):
        return pa.map_(
            kind.key_field.with_type(_without_dictionaries(kind.key_type)),
            kind.item_field.with_type(_without_dictionaries(kind.item_type)),
        )
    if pa.types.is_list(kind):
        return pa.list_(kind.value_field.with_type(_without_dictionaries(kind.value_type)))
    return kind


def _ids(field: pa.Field) -> set[int]:
    """Field ids of a column and of everything in it."""
    text = (field.metadata or {}).get(b"PARQUET:field_id")
    kind = field.type
    inner = [kind.field(i) for i in range(kind.num_fields)] if pa.types.is_nested(kind) else []
    return {int(text)} if text and text.lstrip(b"-").isdigit() else set().union(*map(_ids, inner))


def footer(data: bytes, path: str, limits: Mapping[str, int]) -> pa.Table:
    """io.parquet.read_footer's plain data as one JSON text; `data` is the end of the file."""
    from explorer.io.parquet import plain_footer

    return pa.table({"footer": pa.array([to_json(plain_footer(data))], pa.string())})


TASKS: dict[str, Callable[..., pa.Table]] = {
    "entries": entries, "records": records, "parquet": parquet, "footer": footer,
}  # fmt: skip


def _within(size: int, limit: int, path: str, what: str) -> None:
    if size > limit:
        raise UnreadableFile(path, f"has {size:,} {what}; at most {limit:,} are read here; read it through Spark")


def _limit(limits: Mapping[str, int]) -> None:
    """Memory once, and the CPU time of each request anew."""
    with contextlib.suppress(ImportError):  # Windows
        import resource

        used = resource.getrusage(resource.RUSAGE_SELF)
        seconds = int(used.ru_utime + used.ru_stime) + limits["seconds"] + 1
        for kind, most in (("RLIMIT_AS", limits["memory"]), ("RLIMIT_CPU", seconds), ("RLIMIT_CORE", 0)):
            with contextlib.suppress(ValueError, OSError):  # macOS takes no limit of address space
                resource.setrlimit(getattr(resource, kind), (most, resource.getrlimit(getattr(resource, kind))[1]))


def serve() -> None:
    """Answer requests until there are no more."""
    requests, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what libraries print is no answer
    import pyarrow.parquet  # noqa: F401  # most requests need it

    answers.write(b"ready\n")
    answers.flush()
    while line := requests.readline():
        request = json.loads(line)
        _limit(request["limits"])
        data = requests.read(request["length"])
        try:
            table = TASKS[request["task"]](data, request["path"], request["limits"], **request["arguments"])
        except UnreadableFile as error:
            _refuse(answers, error.cause)
        except MemoryError:
            _refuse(answers, f"decoding it takes more than {request['limits']['memory']:,} bytes of memory", False)
        except BaseException as error:  # decoders raise all kinds, a panic of polars is not even an Exception
            _refuse(answers, f"cannot be decoded: {type(error).__name__}: {error}")
        else:
            answers.write(b"{}\n")
            with pa.ipc.new_stream(answers, table.schema) as stream:
                stream.write_table(table, max_chunksize=1 << 16)
            del table
        answers.flush()
        del data


def _refuse(answers: BinaryIO, cause: str, again: bool = True) -> None:
    """`again`: whether this process may be asked again."""
    answers.write(json.dumps({"error": cause[:400], "again": again}).encode() + b"\n")
