from tests.cases.mini import *

# Compaction started before an equality delete and ended after it; its file keeps data sequence 1, but the delete was dropped by that commit.
t = Table(target(), [(1, "id", "long"), (2, "v", "string")])
a = t.parquet("a.parquet", {"id": [1, 2], "v": ["a", "b"]})
b = t.parquet("b.parquet", {"id": [3], "v": ["c"]})
t.append(a, b)
t.delta(deletes=[t.equality_delete("e.parquet", {"id": [2]})], operation="delete")
d = t.parquet("d.parquet", {"id": [4], "v": ["d"]})
t.append(d)
big = t.parquet("compacted.parquet", {"id": [1, 2, 3], "v": ["a", "b", "c"]})
ms = t.lists[103]
e = t.equality_delete("e.parquet", {"id": [2]})
new = t.manifest(f"{t.uid()}-m0.avro", [(1, big, {"sequence_number": 1})])
old = t.manifest(f"{t.uid()}-m1.avro", [(2, a, {"sequence_number": 1}), (2, b, {"sequence_number": 1})])
gone = t.manifest(f"{t.uid()}-m2.avro", [(2, e, {"sequence_number": 2})], content=1)
t.snapshot(
    "replace",
    [new, ms[2], old, gone],
    {
        "added-data-files": "1",
        "deleted-data-files": "2",
        "added-records": "3",
        "deleted-records": "3",
        "removed-delete-files": "1",
        "removed-equality-delete-files": "1",
    },
)
