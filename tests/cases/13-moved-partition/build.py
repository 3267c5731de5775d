from tests.cases.mini import *

# CDC: an update moves key 1 from region eu to us; the equality delete was written to the new partition only.
t = Table(target(), [(1, "id", "long"), (2, "region", "string")], [(2, 1000, "region", "identity")])
t.append(t.parquet("region=eu/a.parquet", {"id": [1, 2], "region": ["eu"] * 2}, partition={"region": "eu"}))
t.delta(
    data=[t.parquet("region=us/b.parquet", {"id": [1], "region": ["us"]}, partition={"region": "us"})],
    deletes=[t.equality_delete("e.parquet", {"id": [1]}, partition={"region": "us"})],
)
