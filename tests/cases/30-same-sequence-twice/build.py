from tests.cases.mini import *

# A catalog that did not check let two commits have one sequence number; the second's parent is not the first.
t = Table(target(), [(1, "id", "long")])
t.append(t.parquet("a.parquet", {"id": [1]}))
t.append(t.parquet("b.parquet", {"id": [2]}))
base = t.lists[101]
f = t.parquet("c.parquet", {"id": [3]})
m = t.manifest(f"{t.uid()}-m0.avro", [(1, f)], seq=2)
t.md["last-sequence-number"] = 1
t.snapshot("append", [*base, m], {"added-data-files": "1", "added-records": "1"}, parent=101)
