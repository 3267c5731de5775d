from tests.cases.mini import *

# A commit whose answer was lost is done again: the same file is live twice, in two manifests of two snapshots.
t = Table(target(), [(1, "id", "long"), (2, "v", "string")])
t.append(t.parquet("a.parquet", {"id": [1, 2], "v": ["a", "b"]}))
b = t.parquet("b.parquet", {"id": [3, 4, 5], "v": ["c", "d", "e"]})
t.append(b)
t.append(b)
