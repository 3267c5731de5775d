from tests.cases.mini import *

# Hive migration: the identity partition column is not in the data files; the partition field has the id 1 (below 1000).
t = Table(target(), [(1, "a", "long"), (2, "p", "long")], [(2, 1, "p", "identity")])
t.md["last-partition-id"] = 1
f1 = t.parquet("p=1/f.parquet", {"a": [10, 11]}, partition={"p": 1})
f2 = t.parquet("p=__null/f.parquet", {"a": [12]}, partition={"p": None})
t.append(f1, f2)
