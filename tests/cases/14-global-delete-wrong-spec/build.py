from tests.cases.mini import *

# A "global" equality delete was written with PartitionSpec.unpartitioned(), whose id 0 is the table's partitioned spec: partition null.
t = Table(target(), [(1, "id", "long"), (2, "ts", "timestamp"), (3, "name", "string")], [(2, 1000, "ts_day", "day")])
t.append(
    t.parquet(
        "a.parquet",
        {"id": [1, 2], "ts": [datetime(2024, 5, 1)] * 2, "name": ["a", "b"]},
        partition={"ts_day": date(2024, 5, 1)},
    )
)
t.delta(deletes=[t.equality_delete("e.parquet", {"id": [1]}, partition={})], operation="delete")
