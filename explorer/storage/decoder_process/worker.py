"""What the child process of storage.decoder_process.client does: limits on itself, then one request after the other.
Only it imports this."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Callable, Mapping
from typing import Any, BinaryIO

import pyarrow as pa

from explorer.errors import UnreadableFile
from explorer.storage import limits as budget
from explorer.storage.decoder_process.client import to_json

RESERVED = 1 << 30
"""Address space that libraries take, which is no memory: polars reserves most of it when it is loaded."""


def entries(data: bytes, path: str, limits: Mapping[str, int], metrics: bool) -> pa.Table:
    """storage.manifests.entries, by whichever decoder can."""
    from explorer.storage import manifests
    from explorer.storage.formats import avro

    return manifests.entries_here(avro.open_container(data, path), metrics)


def records(data: bytes, path: str, limits: Mapping[str, int], start: int, limit: int | None) -> pa.Table:
    """storage.formats.avro.records, each as JSON (see storage.decoder_process.client.to_json)."""
    from explorer.storage.formats import avro

    texts, size = [], 0
    for record in avro.records_here(avro.open_container(data, path), start, limit):
        texts.append(to_json(record))
        size += len(texts[-1])
        budget.within(size, limits["decoded"] // 8, path, "bytes of JSON once decoded", "read it through Spark")
    return pa.table({"record": pa.array(texts, pa.string())})


def columns(data: bytes, path: str, limits: Mapping[str, int], **arguments: Any) -> pa.Table:
    """storage.column_reader.columns."""
    from explorer.storage import column_reader

    return column_reader.columns(data, path, limits, **arguments)


def footer(
    data: bytes, path: str, limits: Mapping[str, int], columns: list[int], ids: Mapping[str, Any] | None
) -> pa.Table:
    """storage.formats.parquet.read_footer's plain data as one JSON text; `data` is the end of the file."""
    from explorer.storage.formats.parquet import plain_footer

    return pa.table({"footer": pa.array([to_json(plain_footer(data, columns, ids))], pa.string())})


def part(data: bytes, path: str, limits: Mapping[str, int], **arguments: Any) -> pa.Table:
    """storage.formats.parquet_chunks.decode_part as one JSON text."""
    from explorer.storage.formats import parquet_chunks

    return pa.table({"part": pa.array([to_json(parquet_chunks.decode_part(data, **arguments))], pa.string())})


def parquet_manifest(data: bytes, path: str, limits: Mapping[str, int], metrics: bool) -> pa.Table:
    """storage.parquet_manifests.entries."""
    from explorer.storage import parquet_manifests

    return parquet_manifests.entries_here(_manifest_columns(data, path, limits), path, metrics)


def parquet_records(data: bytes, path: str, limits: Mapping[str, int], start: int, limit: int | None) -> pa.Table:
    """storage.parquet_manifests.records, each as JSON."""
    rows = _manifest_columns(data, path, limits).slice(start, limit)
    budget.within(rows.nbytes, limits["decoded"] // 8, path, "bytes once decoded", "read it through Spark")
    return pa.table({"record": pa.array([to_json(row) for row in rows.to_pylist()], pa.string())})


def parquet_columns(data: bytes, path: str, limits: Mapping[str, int]) -> pa.Table:
    """storage.parquet_manifests.columns."""
    return _manifest_columns(data, path, limits)


def _manifest_columns(data: bytes, path: str, limits: Mapping[str, int]) -> pa.Table:
    """All columns of a Parquet manifest that have a field id."""
    import pyarrow.parquet as pq

    from explorer.storage import column_reader
    from explorer.storage.projection import field_id

    schema = pq.read_schema(pa.BufferReader(data))
    ids = [own for field in schema if (own := field_id(field)) is not None]
    most = {**limits, "rows": budget.ENTRIES, "decoded": min(limits["decoded"] // 2, budget.unpack_limit(len(data)))}
    return column_reader.columns(data, path, most, "PARQUET", ids, None)


TASKS: dict[str, Callable[..., pa.Table]] = {
    "entries": entries, "records": records, "columns": columns, "footer": footer,
    "part": part, "parquet_manifest": parquet_manifest, "parquet_records": parquet_records,
    "parquet_columns": parquet_columns,
}  # fmt: skip


def _limit(limits: Mapping[str, int]) -> None:
    """Memory once, and the CPU time of each request anew."""
    with contextlib.suppress(ImportError):  # Windows
        import resource

        used = resource.getrusage(resource.RUSAGE_SELF)
        seconds = int(used.ru_utime + used.ru_stime) + limits["seconds"] + 1
        memory = limits["memory"]
        space = memory + RESERVED
        for kind, most in (
            ("RLIMIT_DATA", memory), ("RLIMIT_AS", space), ("RLIMIT_CPU", seconds), ("RLIMIT_CORE", 0),
        ):  # fmt: skip
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
            _refuse(answers, _too_much(request["limits"]["memory"]), False)
        except BaseException as error:  # decoders raise all kinds, a panic of polars is not even an Exception
            _refuse(answers, f"cannot be decoded: {type(error).__name__}: {error}")
        else:
            answers.write(b"{}\n")
            with pa.ipc.new_stream(answers, table.schema) as stream:
                stream.write_table(table, max_chunksize=1 << 16)
            del table
        answers.flush()
        del data


def _too_much(memory: int) -> str:
    return f"decoding it takes more than {memory:,} bytes of memory; set {budget.VARIABLE} to more"


def _refuse(answers: BinaryIO, cause: str, again: bool = True) -> None:
    """`again`: whether this process may be asked again."""
    answers.write(json.dumps({"error": cause[:400], "again": again}).encode() + b"\n")


if __name__ == "__main__":
    serve()
