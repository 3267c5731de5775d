from tests.cases.mini import *

# After day(ts) became hour(ts) a DELETE wrote its manifest under the current spec, but with the old partition's value.
t = Table(target(), [(1, "id", "int"), (2, "ts", "timestamp"), (3, "val", "string")], [(2, 1000, "ts_day", "day")])
a = t.parquet(
    "a.parquet",
    {"id": [1, 2], "ts": [datetime(2021, 5, 1, 9), datetime(2021, 5, 1, 10, 30)], "val": ["a", "b"]},
    partition={"ts_day": date(2021, 5, 1)},
)
t.append(a)
t.set_spec([(2, 1001, "ts_hour", "hour")])
t.save()
p = t.position_delete("p.parquet", [(a["file_path"], 1)], partition={"ts_hour": 18748})
t.delta(deletes=[p], operation="delete")
