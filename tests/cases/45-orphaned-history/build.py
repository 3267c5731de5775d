from tests.cases.mini import *

# A writer did not find the current snapshot and began anew: the new snapshot has no parent and lists only its own file.
t = Table(target(), [(1, "id", "long")])
for i in range(3):
    t.append(t.parquet(f"a{i}.parquet", {"id": [i]}))
m = t.manifest(f"{t.uid()}-m0.avro", [(1, t.parquet("z.parquet", {"id": [99]}))])
t.snapshot(
    "append",
    [m],
    {"added-data-files": "1", "added-records": "1", "total-data-files": "1", "total-records": "1"},
    parent=None,
)
