from tests.cases.mini import *

# The same path live twice in one manifest (double append, then rewrite_manifests).
t = Table(target(), [(1, "id", "long"), (2, "v", "string")])
a = t.parquet("a.parquet", {"id": [1, 2], "v": ["a", "b"]})
t.append(a)
t.append(a)
m = t.manifest(
    f"{t.uid()}-m0.avro",
    [(0, a, {"snapshot_id": 101, "sequence_number": 1}), (0, a, {"snapshot_id": 102, "sequence_number": 2})],
)
t.snapshot(
    "replace",
    [m],
    {"manifests-created": "1", "manifests-kept": "0", "manifests-replaced": "2", "entries-processed": "2"},
)
