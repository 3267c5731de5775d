"""The row diff of two snapshots of which 1% of the data files differ, against EXCEPT ALL over both whole versions
through warm Spark.

400 files of 10,000 rows; an UPDATE in copy-on-write mode rewrites four of them. Prints one JSON line.

    python -m benchmarks.rowdiff"""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Callable
from typing import Any

from explorer.table import open_table

FILES, ROWS, CHANGED = 400, 10_000, 4


def time_of(action: Callable[[], Any]) -> tuple[float, Any]:
    began = time.perf_counter()
    result = action()
    return round(time.perf_counter() - began, 3), result


def measure() -> dict[str, float | int]:
    import explorer

    session = explorer.spark()
    session.sql("CREATE NAMESPACE IF NOT EXISTS sandbox.bench")
    session.sql(
        "CREATE TABLE sandbox.bench.t (id BIGINT, name STRING, amount DOUBLE, region STRING) USING iceberg "
        "TBLPROPERTIES ('format-version' = '2', 'write.update.mode' = 'copy-on-write', 'write.distribution-mode' = "
        "'none')"
    )
    rows = session.range(0, FILES * ROWS, numPartitions=FILES)
    rows = rows.selectExpr("id", "concat('name-', id) AS name", "rand(7) AS amount", "concat('r', id % 17) AS region")
    rows.writeTo("sandbox.bench.t").append()
    step = FILES // CHANGED * ROWS
    ids = ", ".join(str(i * step + 5) for i in range(CHANGED))
    session.sql(f"UPDATE sandbox.bench.t SET amount = -1 WHERE id IN ({ids})")
    first, last = (s.snapshot_id for s in open_table("bench.t").metadata.snapshots)
    sides = [f"SELECT * FROM sandbox.bench.t VERSION AS OF {i}" for i in (first, last)]

    def naive() -> int:
        return sum(session.sql(f"{sides[a]} EXCEPT ALL {sides[b]}").toArrow().num_rows for a, b in ((0, 1), (1, 0)))

    def ours() -> Any:
        return open_table("bench.t").row_diff("snapshot-1", "snapshot-2", ["id"])

    session.sql("SELECT * FROM sandbox.bench.t LIMIT 1").collect()
    ours()  # the libraries are loaded; the table is opened anew each time
    cold, diff = time_of(ours)
    warm_up, _ = time_of(naive)
    slow, expected = time_of(naive)
    changes = diff.changes
    assert changes.updated_after.num_rows * 2 == expected == CHANGED * 2
    return {
        "files": FILES,
        "files_read": diff.files_read,
        "row_diff": cold,
        "naive_first": warm_up,
        "naive": slow,
        "ratio": round(slow / cold, 1),
    }


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as home:
        os.environ["ICEDIVE_HOME"] = home
        print(json.dumps(measure()))
