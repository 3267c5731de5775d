from tests.cases.mini import *

# hour() of the year 250000 does not fit an int: it wrapped round to a negative value.
t = Table(target(), [(1, "id", "long"), (2, "ts", "timestamp")], [(2, 1000, "ts_hour", "hour")])
us = 7_826_723_145_600_000_000  # beyond 240,000
rows = pa.table({"id": pa.array([1], pa.int64()), "ts": pa.array([us], pa.int64()).cast(pa.timestamp("us"))})
f = t.current()
a = {"content": 0}
tbl = rows.cast(
    pa.schema(
        [
            pa.field("id", pa.int64(), metadata={"PARQUET:field_id": "1"}),
            pa.field("ts", pa.timestamp("us"), metadata={"PARQUET:field_id": "2"}),
        ]
    )
)
p = t.folder / "data" / "a.parquet"
pq.write_table(tbl, p)
h = us // 3_600_000_000
h = (h + 2**31) % 2**32 - 2**31
b = struct.pack("<q", us)
t.append(
    {
        "content": 0,
        "file_path": f"{t.location}/data/a.parquet",
        "file_format": "PARQUET",
        "partition": {"ts_hour": h},
        "record_count": 1,
        "file_size_in_bytes": p.stat().st_size,
        "split_offsets": [4],
        "sort_order_id": 0,
        "value_counts": {1: 1, 2: 1},
        "null_value_counts": {1: 0, 2: 0},
        "lower_bounds": {1: single("long", 1), 2: b},
        "upper_bounds": {1: single("long", 1), 2: b},
    }
)
