"""One contender a process, so that times and peak memory are its own. Prints one JSON line.

python -m benchmarks.contenders NAME TABLE_FOLDER"""

from __future__ import annotations

import json
import os
import resource
import shutil
import sys
import time
from collections.abc import Callable
from typing import Any

import explorer
from explorer import native_module
from explorer.render.row_formats import table_pieces
from explorer.storage.formats import avro
from explorer.table import open_table


def table_and_manifests(folder: str) -> tuple[Any, list[Any]]:
    table = open_table(folder)
    return table, table.tree.manifests(table.metadata.current_snapshot)


def decode(folder: str, metrics: bool) -> int:
    table, listed = table_and_manifests(folder)
    return sum(read.value.num_rows for _, read in table.reader.many_entries(listed, metrics))


def ours_full(folder: str) -> int:
    return decode(folder, True)


def ours_narrow(folder: str) -> int:
    return decode(folder, False)


def ours_threads_1(folder: str) -> int:
    table, listed = table_and_manifests(folder)
    return sum(table.reader.entries(m, True).value.num_rows for m in listed)


def files(folder: str) -> int:
    return int(open_table(folder).files().to_arrow().num_rows)


def files_full(folder: str) -> int:
    return int(open_table(folder).files(metrics=True).to_arrow().num_rows)


def files_without(folder: str) -> int:
    native_module.module = None
    return files(folder)


def files_full_without(folder: str) -> int:
    native_module.module = None
    return files_full(folder)


def _written(folder: str, form: str) -> int:
    """Entries with all columns as the command line prints them."""
    rows = open_table(folder).entries(metrics=True)
    with open(os.devnull, "wb") as file:
        if form == "jsonl":
            for piece in table_pieces(rows.iter_tables(), is_array=False):
                file.write(piece.encode())
        else:
            (rows.to_csv if form == "csv" else rows.to_parquet)(file)
    return 0


def jsonl(folder: str) -> int:
    return _written(folder, "jsonl")


def csv(folder: str) -> int:
    return _written(folder, "csv")


def parquet(folder: str) -> int:
    return _written(folder, "parquet")


def warm_diff(folder: str) -> Callable[[], int]:
    """The last two snapshots, of which the later one changed one manifest; the libraries are loaded before, the table
    is not."""

    def run() -> int:
        change = open_table(folder).diff("snapshot-1", "snapshot-2")
        return len(change.added) + len(change.removed)

    run()
    shutil.rmtree(os.environ["ICEDIVE_CACHE"], ignore_errors=True)
    return run


def first_screen(folder: str) -> int:
    table = open_table(folder)
    return len(table.graph().nodes)


def floor(folder: str) -> int:
    """Reading and inflating the blocks, no decoding at all."""
    table, listed = table_and_manifests(folder)
    return sum(avro.open_container(table.reader.storage.read(m.manifest_path), m.manifest_path).count for m in listed)


def fastavro(folder: str) -> int:
    import fastavro as library

    _, listed = table_and_manifests(folder)
    count = 0
    for manifest in listed:
        with open(manifest.manifest_path.removeprefix("file:"), "rb") as file:
            count += sum(1 for _ in library.reader(file))
    return count


def _static(folder: str) -> Any:
    from pyiceberg.table import StaticTable

    return StaticTable.from_metadata(open_table(folder).metadata.metadata_location)


def pyiceberg_entries(folder: str) -> int:
    table = _static(folder)
    snapshot = table.current_snapshot()
    return sum(len(m.fetch_manifest_entry(table.io)) for m in snapshot.manifests(table.io))


def pyiceberg_inspect_files(folder: str) -> int:
    return int(_static(folder).inspect.files().num_rows)


def _spark(folder: str, columns: str) -> Callable[[], int]:
    session = explorer.spark()
    frame = (
        session.read.format("iceberg").load(f"file:{os.path.abspath(folder)}#entries").selectExpr(*columns.split("; "))
    )

    def run() -> int:
        frame.write.format("noop").mode("overwrite").save()
        current = open_table(folder).metadata.current_snapshot
        return int(current.summary["total-data-files"])  # type: ignore[union-attr]

    run()  # warm
    return run


def spark_full(folder: str) -> Callable[[], int]:
    return _spark(folder, "*")


def spark_narrow(folder: str) -> Callable[[], int]:
    columns = [
        "content",
        "file_path",
        "file_format",
        "partition",
        "record_count",
        "file_size_in_bytes",
        "split_offsets",
        "equality_ids",
        "sort_order_id",
    ]
    return _spark(
        folder,
        "; ".join(
            ["status", "snapshot_id", "sequence_number", "file_sequence_number", *(f"data_file.{c}" for c in columns)]
        ),
    )


def duckdb(folder: str) -> int:
    import duckdb as library  # type: ignore[import-not-found]

    connection = library.connect()
    connection.execute("LOAD iceberg")
    return int(
        connection.execute(
            f"SELECT count(*) FROM iceberg_metadata('{open_table(folder).metadata.metadata_location}')"
        ).fetchone()[0]
    )


def main() -> None:
    name, folder = sys.argv[1:]
    contender = globals()[name]
    action: Callable[[], int] = contender(folder) if name.startswith(("spark", "warm")) else lambda: contender(folder)
    began = time.perf_counter()
    result = action()
    seconds = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"name": name, "seconds": round(seconds, 3), "result": result, "peak_mib": round(peak)}))


if __name__ == "__main__":
    main()
