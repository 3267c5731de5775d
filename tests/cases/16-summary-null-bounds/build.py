from tests.cases.mini import *

# The list's partition summary has no bounds and no nulls: every reader takes the manifest for empty of values.
t = Table(
    target(),
    [(1, "id", "int"), (2, "ts", "timestamp")],
    [(2, 1000, "ts_day", "day"), (1, 1001, "id_bucket", "bucket[4]")],
)
a = t.parquet(
    "a.parquet", {"id": [1], "ts": [datetime(2024, 3, 1, 5)]}, partition={"ts_day": date(2024, 3, 1), "id_bucket": 0}
)
m = t.manifest(
    f"{t.uid()}.avro",
    [(1, a)],
    partitions=[{"contains_null": False, "contains_nan": None, "lower_bound": None, "upper_bound": None}] * 2,
)
t.snapshot("append", [m], {"added-data-files": "1", "added-records": "1"})
