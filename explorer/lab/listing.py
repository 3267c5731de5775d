"""Find files by listing a folder and by planning: the same files, in a slow store."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator
from typing import Any

import pyarrow.parquet as pq
from pyarrow import fs

from explorer.lab.sandbox import Bench
from explorer.lab.slow_s3 import BUCKET, FarStore
from explorer.spec.commits.lab_runs import FileSearch
from explorer.storage.locate import locate
from explorer.storage.reader import TableReader
from explorer.table import Table

EACH = 10
"""Rows of a file: file n has the ids from 10 n."""
SCHEMA = (
    '{"type": "struct", "fields": [{"id": 1, "name": "id", "required": false, "type": "int"}, '
    '{"id": 2, "name": "p", "required": false, "type": "int"}]}'
)


class FarTable:
    """An Iceberg table, partitioned by p, with `files` files in each partition, written in one commit. Its data folder
    is also a Hive table: p=0/..., p=1/..."""

    def __init__(self, bench: Bench, partitions: int = 40, files: int = 2) -> None:
        self.bench, jvm, workshop = bench, bench.workshop.jvm, bench.workshop
        session: Any = bench.spark._jsparkSession  # type: ignore[attr-defined]
        tables = jvm.org.apache.iceberg.hadoop.HadoopTables(session.sessionState().newHadoopConf())
        self.home = bench.home / "far" / uuid.uuid4().hex
        schema = jvm.org.apache.iceberg.SchemaParser.fromJson(SCHEMA)
        spec = jvm.org.apache.iceberg.PartitionSpec.builderFor(schema).identity("p").build()
        java = tables.create(schema, spec, f"file:{self.home}/t")
        append = java.newAppend()
        for number in range(partitions * files):
            p = number // files
            rows = [{"id": number * EACH + n, "p": p} for n in range(EACH)]
            append.appendFile(workshop.data_file(java, f"part-{number % files}.parquet", rows, f"p={p}"))
        append.commit()

    def list_files(self, one: int, delay: float) -> FileSearch:
        """Find the files that may have `id = one` without metadata: list folders level by level, then read the
        statistics in each file's footer."""
        with FarStore(self.home, delay) as store:
            began = time.perf_counter()
            far = fs.S3FileSystem(
                access_key="lab", secret_key="lab", region="us-east-1", scheme="http", endpoint_override=store.address
            )
            files = list(_below(far, f"{BUCKET}/t/data"))
            kept = [path for path in files if _may_hold(far, path, one)]
            return _finding("listing", store, began, len(files), len(kept))

    def plan_files(self, one: int, delay: float) -> FileSearch:
        """Find them by metadata: metadata.json, manifest list, manifests."""
        with FarStore(self.home, delay) as store:
            began = time.perf_counter()
            place = f"s3://{BUCKET}/t"
            moved = {f"file:{self.home}/t": place}.items()
            table = Table(TableReader(locate(f"{place}/metadata/v2.metadata.json", None, store.properties, moved)))
            plan = table.plan(f"id = {one}")
            return _finding("planning", store, began, plan.stages[0].left.files or 0, plan.left.files or 0)


def _finding(how: str, store: FarStore, began: float, files: int, kept: int) -> FileSearch:
    return FileSearch(how, dict(store.requests), time.perf_counter() - began, files, kept)


def _below(far: fs.S3FileSystem, folder: str) -> Iterator[str]:
    for info in far.get_file_info(fs.FileSelector(folder)):
        if info.type == fs.FileType.Directory:
            yield from _below(far, info.path)
        elif info.path.endswith(".parquet"):
            yield info.path


def _may_hold(far: fs.S3FileSystem, path: str, one: int) -> bool:
    with far.open_input_file(path) as file:
        footer = pq.ParquetFile(file).metadata
    ids = [footer.row_group(n).column(0).statistics for n in range(footer.num_row_groups)]
    return any(bounds is None or bounds.min <= one <= bounds.max for bounds in ids)
