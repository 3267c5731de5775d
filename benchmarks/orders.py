"""How long all orders of two and of three operations take on Iceberg, with their serial orders and the drawing; Spark
is warm.

`python -m benchmarks.orders` prints one line of JSON."""

from __future__ import annotations

import json
import time

from explorer.lab.interleave import interleave
from explorer.lab.sandbox import Bench
from explorer.render.state_graph import state_svg
from explorer.spark_engine.spark import SparkEngine
from explorer.spec.commits.operations import Operation

CASES = {
    "append, append": ("append", "append"),
    "merge-on-read update, compaction": ("mor-update", "compaction"),
    "copy-on-write update, merge-on-read delete": ("cow-update", "mor-delete"),
    "append, equality delete, compaction": ("append", "equality-delete", "compaction"),
}


def main() -> None:
    bench = Bench(SparkEngine())
    interleave(bench, [Operation("append"), Operation("append")])
    results = {}
    for name, kinds in CASES.items():
        began = time.perf_counter()
        orders = interleave(bench, [Operation(kind) for kind in kinds])
        ran = time.perf_counter()
        state_svg(orders)
        results[name] = {
            "orders": len(orders.outcomes),
            "run": round(ran - began, 1),
            "draw": round(time.perf_counter() - ran, 2),
        }
    print(json.dumps(results))


if __name__ == "__main__":
    main()
